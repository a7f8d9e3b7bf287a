// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the blocks of glibc's malloc that have mappings of their own. The head of the chunk is the
 * first of the mapping, or of a page within one: the kernel joins neighbours.
 */
#include <stdlib.h>
#include <unistd.h>
#include "where/where.h"

#define PAGE		4096U
#define IS_MMAPPED	2U
#define HEAD		16U
#define MMAPPED_TRIES	4U
#define SCAN_PAGES	(1ULL << 18)	/* read one by one, in one look: 1 GiB */
#define SCAN_SWAPPED	1024U	/* of these, swapped out: each is read from the disk */
#define SCAN_RANGE	(1ULL << 26)	/* that may be present; a larger mapping is a reservation */

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
 * Reads the size of the mapping of the chunk at @addr, 0: there is none. Up to glibc 2.42 that is
 * the size in the head of the chunk, later the head itself is left out of it. Returns false if it
 * cannot be read.
 */
static bool mmapped_size(struct target *t, u64 addr, u64 *size)
{
	u64 head[2], bytes;

	*size = 0;
	if (!target_read(t, addr, head, sizeof(head)))
		return false;
	bytes = head[1] & ~7ULL;
	bytes += bytes % PAGE == PAGE - HEAD ? HEAD : 0;
	if (!head[0] && (head[1] & 7) == IS_MMAPPED && bytes >= PAGE && !(bytes % PAGE))
		*size = bytes;
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
	if (!(addr & (HEAP_ALIGN - 1)) && arena_heap_info(t, addr, info))
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
 * mmapped_find() - find the blocks that have mappings of their own
 * @t: the process; its mappings are read anew if they have changed
 * @l: find also those that do not begin a mapping, for which each page is looked at, and tell the
 *	look where pages were not read; NULL: do not
 * @each: called for each, with the address of the block and the size of its chunk
 * @arg: for @each
 *
 * A block that realloc() makes larger outgrows its mapping, or moves, while it is looked for.
 */
void mmapped_find(struct target *t, struct look *l,
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
 * mmapped_look() - count the blocks that have mappings of their own
 * @t: the process
 * @l: to add to, after arena_look(): heaps are passed over
 */
void mmapped_look(struct target *t, struct look *l)
{
	mmapped_find(t, l, take_mmapped, l);
}
