// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the heaps in which glibc's malloc keeps chunks: the data segment (main arena), and the
 * heaps of other arenas, which begin at multiples of 64 MiB. mmapped.c finds chunks outside of
 * them.
 */
#include <stdlib.h>
#include <unistd.h>
#include "where/where.h"

#define HEAPS_MAX	65536U	/* addresses tried in all */
#define STATE_SIZE	0x898
#define PAGE		4096U
#define CHUNK_MIN	32U
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

	return used_read(a->t, addr, buf, n);
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
 * across the old end, or shorter, and then what is behind the new end cannot be read: the walk goes
 * on to the new end.
 */
static void walk(struct arena_walk *a, u64 lo, u64 hi, bool main)
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
		l->walked_bytes += w.again_addr - w.lo;
		if (end == HEAP_AT_TOP || target_over(a->t))
			break;
		hi = main ? main_end(a) : heap_end_of(a);
		w.lo = w.again_addr;
		if (!hi || hi == w.hi)
			break;
		w.hi = hi;
		if (hi - w.lo < CHUNK_MIN || hi < w.lo)
			break;
	}
	if (end != HEAP_AT_TOP && w.hi > w.lo && !target_over(a->t))
		look_lose(l, w.lo, w.hi);
	l->chunks += w.chunks;
	l->free_bytes += w.free_bytes + w.top_bytes;
	l->cached_bytes += w.cached_bytes;
	l->retries += w.retries;
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
	if (used_read(a->t, lo, word, n * sizeof(*word)))
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
	u64 lo = (a->t->start_brk + 15) & ~15ULL, system, size;
	const struct where_map *m = lo ? target_at(a->t, lo) : NULL;

	if (!m || !m->anon || !m->write)
		return;
	lo = first_chunk(a, lo, m->hi);
	a->l->arenas++;
	a->lo = lo;
	walk(a, lo, m->hi, true);
	/* The mappings may have been read anew. */
	m = target_at(a->t, lo);
	if (m)
		bins_find_main(a->t, a->b, lo, m->hi);
	a->l->no_fastbins = !a->b->main_arena;
	if (!a->b->main_arena || !m)
		return;
	bins_fast(a->t, a->b->main_arena, a->l);
	system = bins_system_bytes(a->t, a->b->main_arena);
	size = m->hi - lo;
	if (system > size && system - size > MIB)
		a->l->outside_bytes = system - size;
}

/*
 * Reads the head of an arena's heap at @lo: a heap_info (arena, older heap, size, writable size; 32
 * bytes, 48 from glibc 2.35 on). Returns false if there is none.
 */
bool arena_heap_info(struct target *t, u64 lo, u64 info[4])
{
	u64 head;

	if (!target_read(t, lo, info, 4 * sizeof(*info)))
		return false;
	head = info[0] & (HEAP_ALIGN - 1);
	if ((head != 0x20 && head != 0x30) || info[2] < PAGE || info[2] > HEAP_ALIGN ||
	    (info[2] & 15) || info[3] < info[2])
		return false;
	return info[0] == lo + head || (info[1] && !(info[1] & (HEAP_ALIGN - 1)));
}

/*
 * The heap of an arena at @lo: its head, in the first one the head of the arena, then chunks. It
 * may have grown since the mappings were read.
 */
static void thread_heap(struct arena_walk *a, u64 lo)
{
	u64 info[4], first;
	bool is_first;

	if (!arena_heap_info(a->t, lo, info))
		return;
	first = lo + (info[0] & (HEAP_ALIGN - 1));
	is_first = info[0] == first;
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
	int pagemap = there_open(a->t);
	unsigned int tried = 0;
	size_t i;
	u64 lo;

	for (i = 0; i < a->t->maps; i++) {
		const struct where_map *m = &a->t->map[i];

		if (!m->anon || !m->write)
			continue;
		for (lo = (m->lo + HEAP_ALIGN - 1) & ~(HEAP_ALIGN - 1);
		     lo >= m->lo && lo < m->hi && tried < HEAPS_MAX && !target_over(a->t);
		     lo += HEAP_ALIGN, tried++)
			if (there_has(pagemap, lo, lo + PAGE))
				thread_heap(a, lo);
	}
	if (pagemap >= 0)
		close(pagemap);
}

/**
 * arena_look() - count the blocks in use in all heaps of glibc; mmapped_look() counts the others
 * @t: the process; its mappings are up to date
 * @b: what is known of free lists, kept from look to look
 * @l: to add to
 */
void arena_look(struct target *t, struct bins *b, struct look *l)
{
	struct arena_walk a = { .t = t, .b = b, .l = l };

	main_arena(&a);
	thread_heaps(&a);
}
