// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the regions in which glibc's malloc keeps chunks: the data segment (main arena), the
 * heaps of other arenas, which begin at multiples of 64 MiB, and mappings of single chunks.
 */
#include <stdlib.h>
#include "where/where.h"

#define HEAP_ALIGN	(64 * MIB)
#define HEAPS_MAX	65536U	/* addresses tried in all */
#define STATE_SIZE	0x898
#define PAGE		4096U
#define IS_MMAPPED	2U
#define MMAPPED_TRIES	4U
#define FIRST_WORDS	8192U	/* of the data segment, in which the first chunk begins */

struct arena_walk {
	struct target *t;
	struct bins *b;
	struct look *l;
	u64 lo;			/* where the heap begins that is walked */
};

static bool read_source(void *arg, u64 addr, void *buf, size_t n)
{
	struct arena_walk *a = arg;

	return target_read(a->t, addr, buf, n);
}

static void take_used(void *arg, u64 addr, u64 size)
{
	struct arena_walk *a = arg;

	look_add(a->l, class_of_chunk(size), addr + 16, size);
}

/* The main arena has grown with the data segment: its mapping ends where that ends by now. */
static u64 main_end(struct arena_walk *a)
{
	const struct where_map *m = target_maps(a->t) ? NULL : target_at(a->t, a->lo);

	return m ? m->hi : 0;
}

/* The size of a heap is its third word. */
static u64 heap_end_of(struct arena_walk *a)
{
	u64 size;

	if (!target_read(a->t, a->lo + 16, &size, sizeof(size)) || size > HEAP_ALIGN)
		return 0;
	return a->lo + (size & ~15ULL);
}

/*
 * Walks from @lo to @hi. The process may make the heap longer meanwhile, and then a chunk lies
 * across the old end: the walk goes on from there to the new one. Returns the address of the
 * top chunk, 0: none was found.
 */
static u64 walk(struct arena_walk *a, u64 lo, u64 hi, bool main)
{
	struct heap_walk w = {
		.read = read_source, .used = take_used, .arg = a, .lo = lo, .hi = hi,
		.main = main, .keys = a->b->keys, .keys_n = a->b->keys_n,
	};
	struct look *l = a->l;
	enum heap_end end;
	int tries;

	for (tries = 0; tries < 4; tries++) {
		end = heap_walk(&w);
		l->walked_bytes += w.end_addr - w.lo;
		if (end == HEAP_AT_TOP)
			break;
		hi = main ? main_end(a) : heap_end_of(a);
		if (hi <= w.hi)
			break;
		w.lo = w.end_addr;
		w.hi = hi;
	}
	if (end != HEAP_AT_TOP)
		look_lose(l, w.end_addr, w.hi);
	l->chunks += w.chunks;
	l->free_bytes += w.free_bytes + w.top_bytes;
	l->cached_bytes += w.cached_bytes;
	l->retries += w.retries;
	return w.top_addr;
}

/*
 * The first chunk is the cache of the first thread. In a program that is linked statically the
 * variables of that thread lie in front of it. Returns @lo if it is not found.
 */
static u64 first_chunk(struct arena_walk *a, u64 lo, u64 hi)
{
	size_t n = (hi - lo) / 8 < FIRST_WORDS ? (size_t)((hi - lo) / 8) : FIRST_WORDS, i;
	u64 *word, found = lo;

	if (bins_thread_cache(a->t, a->b, lo))
		return lo;
	word = must(calloc(n + 1, sizeof(*word)));
	if (target_read(a->t, lo, word, n * sizeof(*word)))
		for (i = 1; i < n && found == lo; i += 2)
			if ((word[i] == 0x291 || word[i] == 0x251) &&
			    bins_thread_cache(a->t, a->b, lo + 8 * (i - 1)))
				found = lo + 8 * (i - 1);
	free(word);
	return found;
}

/*
 * The main arena begins at the start of the data segment and not at the mapping "[heap]":
 * the C library may have used the first bytes before malloc() was called.
 */
static void main_arena(struct arena_walk *a)
{
	u64 lo = (a->t->start_brk + 15) & ~15ULL, top, system, size;
	const struct where_map *m = lo ? target_at(a->t, lo) : NULL;

	if (!m || !m->anon || !m->write)
		return;
	lo = first_chunk(a, lo, m->hi);
	a->l->arenas++;
	a->lo = lo;
	top = walk(a, lo, m->hi, true);
	if (top)
		bins_find_main(a->t, a->b, top);
	a->l->no_fastbins = !a->b->main_arena;
	m = target_at(a->t, lo);
	if (!a->b->main_arena || !m)
		return;
	bins_fast(a->t, a->b->main_arena, a->l);
	system = bins_system_bytes(a->t, a->b->main_arena);
	size = m->hi - lo;
	if (system > size && system - size > MIB)
		a->l->outside_bytes = system - size;
}

/*
 * The heap of an arena at @lo: a heap_info (arena, older heap, size, writable size; 32 bytes,
 * 48 from glibc 2.35 on), in the first one the head of the arena, then chunks. It may have
 * grown since the mappings were read.
 */
static void thread_heap(struct arena_walk *a, u64 lo)
{
	u64 info[4], first, head;
	bool is_first;

	if (!target_read(a->t, lo, info, sizeof(info)))
		return;
	head = info[0] & (HEAP_ALIGN - 1);
	if ((head != 0x20 && head != 0x30) || info[2] < PAGE || info[2] > HEAP_ALIGN ||
	    (info[2] & 15) || info[3] < info[2])
		return;
	is_first = info[0] == lo + head;
	if (!is_first && (!info[1] || (info[1] & (HEAP_ALIGN - 1))))
		return;
	first = lo + head;
	if (is_first) {
		first = (first + STATE_SIZE + 15) & ~15ULL;
		a->l->arenas++;
		bins_thread_cache(a->t, a->b, first);
	}
	a->lo = lo;
	walk(a, first, lo + info[2], false);
	if (is_first)
		bins_fast(a->t, info[0], a->l);
}

static void thread_heaps(struct arena_walk *a)
{
	unsigned int tried = 0;
	size_t i;
	u64 lo;

	for (i = 0; i < a->t->maps; i++) {
		const struct where_map *m = &a->t->map[i];

		if (!m->anon || !m->write)
			continue;
		for (lo = (m->lo + HEAP_ALIGN - 1) & ~(HEAP_ALIGN - 1);
		     lo >= m->lo && lo < m->hi && tried < HEAPS_MAX; lo += HEAP_ALIGN, tried++)
			thread_heap(a, lo);
	}
}

struct mmapped {
	struct mmapped_chunk {
		u64 addr, size;
	} *c;
	size_t n, room;
};

static void add_mmapped(struct mmapped *list, u64 addr, u64 size)
{
	if (list->n == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->c = must(realloc(list->c, list->room * sizeof(*list->c)));
	}
	list->c[list->n++] = (struct mmapped_chunk){ addr, size };
}

/*
 * Adds the chunks that begin the mapping. Neighbours are one mapping for the kernel: one chunk is
 * followed by the next one. Returns false if the mapping is another one by now: it is gone, or a
 * chunk is longer than it was, as after realloc().
 */
static bool mmapped_in(struct target *t, const struct where_map *m, struct mmapped *list)
{
	u64 addr, head[2], size;

	for (addr = m->lo; addr < m->hi; addr += size) {
		if (!target_read(t, addr, head, sizeof(head)))
			return false;
		size = head[1] & ~7ULL;
		if (head[0] || (head[1] & 7) != IS_MMAPPED || size < PAGE || (size & (PAGE - 1)))
			break;
		if (size > m->hi - addr)
			return false;
		add_mmapped(list, addr, size);
	}
	return true;
}

/* Returns false if the mappings are not those of now. */
static bool mmapped_list(struct target *t, struct mmapped *list)
{
	bool same = true;
	size_t i;

	list->n = 0;
	for (i = 0; i < t->maps; i++)
		if (t->map[i].anon && t->map[i].write)
			same = mmapped_in(t, &t->map[i], list) && same;
	return same;
}

/* A number that differs, but for chance, if the mappings do */
static u64 ranges(const struct target *t)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < t->maps; i++)
		sum = ((sum ^ t->map[i].lo) * 0x100000001b3ULL ^ t->map[i].hi) * 0x100000001b3ULL;
	return sum;
}

/**
 * arena_mmapped() - find the blocks that have mappings of their own
 * @t: the process; its mappings are read anew if they have changed
 * @each: called for each, with the address of the block and the size of its chunk
 * @arg: for @each
 *
 * A block that realloc() makes larger outgrows its mapping, or moves, while it is looked for.
 */
void arena_mmapped(struct target *t, void (*each)(void *arg, u64 addr, u64 size), void *arg)
{
	struct mmapped list = { 0 };
	unsigned int tries;
	u64 before;
	size_t i;

	/* Some mappings can never be read, as a stack that begins with a guard page. */
	for (tries = 0; !mmapped_list(t, &list) && tries < MMAPPED_TRIES; tries++) {
		before = ranges(t);
		target_maps(t);
		if (ranges(t) == before)
			break;
	}
	for (i = 0; i < list.n; i++)
		each(arg, list.c[i].addr + 16, list.c[i].size);
	free(list.c);
}

static void take_mmapped(void *arg, u64 addr, u64 size)
{
	struct look *l = arg;

	look_add(l, class_of_chunk(size), addr, size);
	l->mmapped_bytes += size;
	l->chunks++;
}

/**
 * arena_look() - count the blocks in use in all heaps of glibc
 * @t: the process; its mappings are up to date
 * @b: what is known of free lists, kept from look to look
 * @l: to add to
 */
void arena_look(struct target *t, struct bins *b, struct look *l)
{
	struct arena_walk a = { .t = t, .b = b, .l = l };

	main_arena(&a);
	thread_heaps(&a);
	arena_mmapped(t, take_mmapped, l);
}
