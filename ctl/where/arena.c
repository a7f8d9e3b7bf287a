// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the regions in which glibc's malloc keeps chunks: the data segment (main arena), the
 * heaps of other arenas, which begin at multiples of 64 MiB, and mappings of single chunks.
 */
#include <stdlib.h>
#include <unistd.h>
#include "where/where.h"

#define HEAP_ALIGN	(64 * MIB)
#define HEAPS_MAX	65536U	/* addresses tried in all */
#define STATE_SIZE	0x898
#define PAGE		4096U
#define IS_MMAPPED	2U
#define CHUNK_MIN	32U
#define MMAPPED_TRIES	4U
#define SCAN_PAGES	(1ULL << 18)	/* read one by one, in one look: 1 GiB */
#define SCAN_SWAPPED	1024U	/* of these, swapped out: each is read from the disk */
#define SCAN_RANGE	(1ULL << 26)	/* that may be present; a larger mapping is a reservation */
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
static bool read_heap_info(struct target *t, u64 lo, u64 info[4])
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

	if (!read_heap_info(a->t, lo, info))
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

/* Reads the size of the chunk at @addr, 0: there is none. Returns false if it cannot be read. */
static bool mmapped_size(struct target *t, u64 addr, u64 *size)
{
	u64 head[2];

	*size = 0;
	if (!target_read(t, addr, head, sizeof(head)))
		return false;
	if (!head[0] && (head[1] & 7) == IS_MMAPPED && head[1] >= PAGE &&
	    !(head[1] & (PAGE - 1) & ~7ULL))
		*size = head[1] & ~7ULL;
	return true;
}

/* Pages of which the first words are looked at */
struct scan {
	int pagemap;		/* -1: none */
	u64 range, left;	/* pages that may be looked for, and read */
	u64 swapped;		/* of the latter, swapped out */
	u64 *unused;		/* where a chunk might begin, in pages that are not there */
	size_t unused_n, room;
	struct look *l;		/* is told what was not read; or NULL */
	unsigned int lost_n;	/* ranges that it knew before */
};

/* The size of what begins at the page @addr. A chunk is added, a heap has been walked before. */
static u64 take_page(struct target *t, u64 addr, u64 hi, struct mmapped *list)
{
	u64 size, info[4];

	if (mmapped_size(t, addr, &size) && size && size <= hi - addr) {
		add_mmapped(list, addr, size);
		return size;
	}
	if (!(addr & (HEAP_ALIGN - 1)) && read_heap_info(t, addr, info))
		return (info[2] + PAGE - 1) & ~(u64)(PAGE - 1);
	return PAGE;
}

/* May the page be read, by its entry in the page map? One that was never used is not. */
static bool may_read(struct scan *s, u64 entry, u64 addr)
{
	if (entry & PAGE_SWAPPED) {
		if (!s->swapped) {
			look_skip(s->l, addr, addr + PAGE);
			return false;
		}
		s->swapped--;
	} else if (!(entry & PAGE_PRESENT)) {
		return false;
	}
	s->left--;
	return true;
}

/*
 * Adds the chunks behind what is none: the kernel joins a chunk with what is mapped just below it,
 * as the stack of a thread. Only pages are read that were used. The size of a chunk is in its
 * first page, which is read also if it is swapped out: else the block would count as freed.
 */
static void mmapped_behind(struct target *t, u64 addr, u64 hi, struct scan *s, struct mmapped *list)
{
	u64 v[512], n, i;

	if ((hi - addr) / PAGE > SCAN_RANGE)
		return;
	if ((hi - addr) / PAGE > s->range) {
		s->l->unscanned_bytes += hi - addr;
		return;
	}
	s->range -= (hi - addr) / PAGE;
	for (; addr < hi && s->left && !target_over(t); addr += i * PAGE) {
		n = (hi - addr) / PAGE < ARRAY_SIZE(v) ? (hi - addr) / PAGE : ARRAY_SIZE(v);
		n = there_read(s->pagemap, addr / PAGE, v, n);
		if (!n)
			return;
		for (i = 0; i < n && s->left;)
			i += may_read(s, v[i], addr + i * PAGE) ?
			     take_page(t, addr + i * PAGE, hi, list) / PAGE : 1;
	}
	if (addr < hi && !s->left)
		s->l->unscanned_bytes += hi - addr;
}

static void add_unused(struct scan *s, u64 addr)
{
	if (s->unused_n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->unused = must(realloc(s->unused, s->room * sizeof(*s->unused)));
	}
	s->unused[s->unused_n++] = addr;
}

/* Is what was not used still mapped? Else it was not read because it is gone. */
static bool are_mapped(const struct target *t, const struct scan *s)
{
	size_t i;

	for (i = 0; i < s->unused_n; i++)
		if (!target_at(t, s->unused[i]))
			return false;
	return true;
}

/*
 * Adds the chunks of a mapping. Neighbours are one mapping for the kernel: one chunk is followed by
 * the next one. Returns false if the mapping is another one by now: it is gone, or a chunk is
 * longer than it was, as after realloc().
 */
static bool mmapped_in(struct target *t, const struct where_map *m, struct scan *s,
		       struct mmapped *list)
{
	u64 addr, size;

	for (addr = m->lo; addr < m->hi; addr += size) {
		if (!used_has(t, addr)) {
			add_unused(s, addr);
			break;
		}
		if (!mmapped_size(t, addr, &size))
			return false;
		if (!size)
			break;
		if (size > m->hi - addr)
			return false;
		add_mmapped(list, addr, size);
	}
	/* The data segment has been walked. */
	if (s->pagemap >= 0 && (t->start_brk < m->lo || t->start_brk >= m->hi))
		mmapped_behind(t, addr, m->hi, s, list);
	return true;
}

/* Returns false if the mappings are not those of now. */
static bool mmapped_list(struct target *t, struct scan *s, struct mmapped *list)
{
	bool same = true;
	size_t i;

	list->n = 0;
	s->unused_n = 0;
	/* Each try may read as much as the first: what is found depends on none before. */
	s->range = SCAN_RANGE;
	s->left = SCAN_PAGES;
	if (s->l) {
		s->l->lost_n = s->lost_n;
		s->l->skipped_bytes = 0;
		s->l->unscanned_bytes = 0;
	}
	for (i = 0; i < t->maps; i++)
		if (t->map[i].anon && t->map[i].write)
			same = mmapped_in(t, &t->map[i], s, list) && same;
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
 * @l: find also those that do not begin a mapping, for which each page is looked at, and tell the
 *	look where pages were not read; NULL: do not
 * @each: called for each, with the address of the block and the size of its chunk
 * @arg: for @each
 *
 * A block that realloc() makes larger outgrows its mapping, or moves, while it is looked for.
 */
void arena_mmapped(struct target *t, struct look *l,
		   void (*each)(void *arg, u64 addr, u64 size), void *arg)
{
	struct scan s = {
		.pagemap = l ? there_open(t) : -1, .l = l, .lost_n = l ? l->lost_n : 0,
		.swapped = SCAN_SWAPPED,	/* in all tries: what was read is there */
	};
	struct mmapped list = { 0 };
	unsigned int tries;
	u64 before;
	bool same;
	size_t i;

	/* Some mappings can never be read, as a stack that begins with a guard page. */
	for (tries = 0; tries <= MMAPPED_TRIES; tries++) {
		same = mmapped_list(t, &s, &list);
		if ((same && !s.unused_n) || tries == MMAPPED_TRIES || target_over(t))
			break;
		before = ranges(t);
		target_maps(t);
		if (ranges(t) == before || (same && are_mapped(t, &s)))
			break;
	}
	for (i = 0; i < list.n; i++)
		each(arg, list.c[i].addr + 16, list.c[i].size);
	free(list.c);
	free(s.unused);
	if (s.pagemap >= 0)
		close(s.pagemap);
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
	arena_mmapped(t, l, take_mmapped, l);
}
