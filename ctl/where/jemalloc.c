// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the blocks of jemalloc 5, from its own tree of extents. Each record of an extent has to
 * agree with the place that led to it, and that of a slab with itself: the number of its free
 * regions is that of the bits in its map.
 *
 * Blocks that a thread keeps for reuse (its tcache) count as in use: jemalloc marks them nowhere
 * else. These are no more than some hundred for each thread and class.
 */
#include <stdlib.h>
#include <unistd.h>
#include "where/jemalloc.h"

#define READ_AT_ONCE	(64 * KIB)	/* of records */
#define AGAIN		6U	/* rounds of reads of what was being changed, */
#define AGAIN_US	2000U	/* the first one after so long, each other after twice that */
#define GOOD_MIN	4U
#define BAD_PART	64U	/* one in so many extents may be lost, and another one */

/* An extent that is to be read */
struct extent {
	u64 record, page;	/* addresses */
	u64 at, word;		/* its element */
};

struct walk {
	struct target *t;
	const struct jemalloc *je;
	struct look *l;
	struct extent *list;	/* of one leaf */
	size_t n;
	u64 last;		/* the record of the element before */
	u64 good, bad;		/* extents */
	struct extent *late;	/* those that were changed while they were read */
	size_t late_n, room;
};

/* Counts the blocks of an extent that is sound. */
static void take(struct walk *w, const struct je_record *r)
{
	u64 size = class_je_size(w->je->quantum_bits, r->index);
	unsigned int id = class_of_je(size), n, i;

	w->good++;
	if (!r->slab) {
		look_add(w->l, id, r->addr, size);
		w->l->chunks++;
		return;
	}
	n = je_regions(r, w->je->quantum_bits);
	for (i = 0; i < n; i++)
		if (!je_is_free(r, i))
			look_add(w->l, id, r->addr + i * size, size);
	w->l->chunks += n - r->free;
	w->l->free_bytes += r->free * size;
}

/*
 * Takes an extent with the record that was read. Returns false if both do not agree. One that is
 * not in use, and has memory, is free memory of the heap.
 */
static bool take_record(struct walk *w, const struct extent *x, const struct je_record *r)
{
	struct je_element e;

	if (je_page(r->addr) != x->page || !r->size)
		return false;
	je_element(w->je->layout, x->word, &e);
	if (r->active && (r->index != e.index || r->slab != e.slab ||
			  !je_is_sound(r, w->je->quantum_bits)))
		return false;
	if (r->active)
		take(w, r);
	else if (r->kept)
		w->l->free_bytes += r->size;
	if (r->active || r->kept)
		w->l->walked_bytes += r->size;
	return true;
}

static void add_late(struct walk *w, const struct extent *x)
{
	if (w->late_n == w->room) {
		w->room = w->room ? 2 * w->room : 64;
		w->late = must(realloc(w->late, w->room * sizeof(*w->late)));
	}
	w->late[w->late_n++] = *x;
}

/* Reads an extent once more, which may be none by now. Returns false if it does not agree. */
static bool take_again(struct walk *w, struct extent *x)
{
	struct je_element e;
	struct je_record r;

	if (!used_read(w->t, x->at, &x->word, sizeof(x->word)))
		return false;
	je_element(w->je->layout, x->word, &e);
	if (!e.record)
		return true;
	if (!je_read(w->t, w->je, e.record, &r))
		return false;
	w->l->retries++;
	/* The leaf is not read at once: the page has become one within an extent that is newer. */
	return (je_page(r.addr) < x->page && x->page - je_page(r.addr) < r.size) ||
	       take_record(w, x, &r);
}

/*
 * A thread of the process may have to wait for a CPU while it changes a slab: what did not agree is
 * read again some time later.
 */
static void take_late(struct walk *w)
{
	unsigned int round;
	size_t i, n;

	for (round = 0; round < AGAIN && w->late_n && !target_over(w->t); round++) {
		usleep(AGAIN_US << round);
		for (i = 0, n = 0; i < w->late_n; i++)
			if (!take_again(w, &w->late[i]))
				w->late[n++] = w->late[i];
		w->late_n = n;
	}
	for (i = 0; i < w->late_n; i++)
		look_lose(w->l, w->late[i].page, w->late[i].page + JE_PAGE);
	w->bad += w->late_n;
	free(w->late);
}

static int by_record(const void *x, const void *y)
{
	const struct extent *a = x, *b = y;

	return a->record < b->record ? -1 : a->record > b->record;
}

/* Reads records that lie close to each other at once. */
static void take_list(struct walk *w)
{
	static u64 word[READ_AT_ONCE / 8];
	struct je_record r;
	size_t i, k, n;
	bool read;
	u64 lo;

	qsort(w->list, w->n, sizeof(*w->list), by_record);
	for (i = 0; i < w->n && !target_over(w->t); i += n) {
		lo = w->list[i].record;
		for (n = 1; i + n < w->n && w->list[i + n].record - lo + 8 * JE_RECORD <=
		     sizeof(word); n++)
			;
		read = used_read(w->t, lo, word, w->list[i + n - 1].record - lo + 8 * JE_RECORD);
		for (k = i; k < i + n; k++) {
			if (read)
				je_record(w->je->layout, word + (w->list[k].record - lo) / 8, &r);
			if (!read || !take_record(w, &w->list[k], &r))
				add_late(w, &w->list[k]);
		}
	}
}

/* Extents have an element for the first page and for the last one, slabs for each page. */
static void take_leaf(struct walk *w, u64 leaf, u64 gib, u64 *word)
{
	struct je_element e;
	u64 i;

	if (!used_read(w->t, leaf, word, 8ULL * JE_LEAF)) {
		w->bad++;
		return;
	}
	w->n = 0;
	for (i = 0; i < JE_LEAF; i++) {
		if (!word[i])
			continue;
		je_element(w->je->layout, word[i], &e);
		if (!e.record || e.record == w->last)
			continue;
		w->last = e.record;
		w->list[w->n++] = (struct extent){
			.record = e.record, .word = word[i], .at = leaf + 8 * i,
			.page = (gib << JE_GIB_BITS) + i * JE_PAGE,
		};
	}
	take_list(w);
}

static void take_root(struct walk *w)
{
	u64 *root = must(malloc(JE_ROOT_BYTES)), *leaf = must(malloc(8ULL * JE_LEAF)), gib;

	w->list = must(calloc(JE_LEAF, sizeof(*w->list)));
	if (used_read(w->t, w->je->root, root, JE_ROOT_BYTES))
		for (gib = 0; gib < JE_ROOT && !target_over(w->t); gib++)
			if (root[gib])
				take_leaf(w, root[gib], gib, leaf);
	take_late(w);
	free(w->list);
	free(leaf);
	free(root);
}

/**
 * jemalloc_look() - count the blocks in use of jemalloc 5
 * @t: the process; its mappings are up to date
 * @file: that has jemalloc, as the mappings have it
 * @je: out, for jemalloc_is_used()
 * @l: to add to, before others do; its @je says whether the blocks were counted
 */
void jemalloc_look(struct target *t, const char *file, struct jemalloc *je, struct look *l)
{
	struct walk w = { .t = t, .je = je, .l = l };

	l->je = JE_NOT_FOUND;
	if (je_find(t, file, je))
		take_root(&w);
	if (target_over(t))
		l->je = JE_NONE;	/* It was cut, which others say. */
	if (target_over(t) || !je->root)
		return;
	if (w.good < GOOD_MIN || w.bad > w.good / BAD_PART + 1) {
		look_restart(l);
		l->je = JE_UNSOUND;
		je->root = 0;
		return;
	}
	l->je = JE_COUNTED;
	l->arenas = 1;
}

/**
 * jemalloc_is_used() - is a block of jemalloc in use, as far as its extent tells?
 * @t: the process
 * @je: from jemalloc_look(), which counted the blocks
 * @addr: of the block
 * @size: that was asked for, in bytes
 *
 * One that a thread keeps for reuse is in use.
 *
 * Return: false as well if there is no block of that size there.
 */
bool jemalloc_is_used(struct target *t, const struct jemalloc *je, u64 addr, u64 size)
{
	u64 leaf, word, room, region;
	struct je_element e;
	struct je_record r;

	if (addr >> JE_GIB_BITS >= JE_ROOT ||
	    !used_read(t, je->root + 8 * (addr >> JE_GIB_BITS), &leaf, sizeof(leaf)) || !leaf ||
	    !used_read(t, leaf + 8 * (addr / JE_PAGE % JE_LEAF), &word, sizeof(word)))
		return false;
	je_element(je->layout, word, &e);
	if (!e.record || !je_read(t, je, e.record, &r) || !r.active || addr < r.addr)
		return false;
	room = class_je_size(je->quantum_bits, r.index);
	if (!r.slab)
		return addr == r.addr && size <= room;
	region = room ? (addr - r.addr) / room : JE_REGIONS;
	return region < je_regions(&r, je->quantum_bits) && size <= room &&
	       addr == r.addr + region * room && !je_is_free(&r, (unsigned int)region);
}

/* Says what was counted in two looks, or why nothing was. */
void jemalloc_note(struct result *r, const struct look *a, const struct look *b)
{
	enum je_end end = a->je > b->je ? a->je : b->je;

	if (end == JE_COUNTED)
		result_note(r, "jemalloc: blocks that threads keep for reuse (tcache) count as in "
			    "use");
	else if (end == JE_NOT_FOUND)
		result_note(r, "jemalloc: its table of extents was not found, as in a build that "
			    "is not known: pages are counted, not blocks");
	else if (end == JE_UNSOUND)
		result_note(r, "jemalloc: its extents do not agree with each other: pages are "
			    "counted, not blocks");
}
