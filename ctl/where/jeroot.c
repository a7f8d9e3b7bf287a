// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the tree of extents of jemalloc 5, without symbols. It has two levels: a root with an
 * element for each GiB of addresses, in the static data of the file that has jemalloc, and leaves
 * with an element for each page. A word is taken for an element of the root if it is the address of
 * a leaf for the very GiB to which its place in the root belongs: elements of that leaf lead to
 * records of extents at the pages that they stand for.
 */
#include <string.h>
#include "where/jemalloc.h"

#define SPAN_MAX	(256 * MIB)	/* of static data that is searched */
#define WINDOW		8192U	/* words of it that are read at once */
#define GIBS		256U	/* with memory of the process, that are known */
#define TRIES		4096U	/* words that may be elements of the root */
#define PROBES		256U	/* elements of a leaf that are tried */
#define AGREE_MIN	4U	/* records that have to agree */

static bool is_heap(const struct target *t, u64 addr)
{
	const struct where_map *m = target_at(t, addr);

	return m && m->anon && m->write;
}

/* What was found of a leaf, by layout */
struct probe {
	unsigned int agree, all;
	unsigned int usual[2];	/* with a quantum of 8, and of 16 */
};

static void try_element(struct target *t, enum je_layout layout, u64 word, u64 page,
			struct probe *p)
{
	struct jemalloc je = { .layout = layout };
	struct je_element e;
	struct je_record r;

	je_element(layout, word, &e);
	if (!e.record || !is_heap(t, e.record) || !je_read(t, &je, e.record, &r))
		return;
	/*
	 * The other pages of a slab lead to it as well. The element of the last page of a large
	 * block may be out of date.
	 */
	if (!r.active || (!e.slab && page != je_page(r.addr)) || page < je_page(r.addr) ||
	    page - je_page(r.addr) >= r.size)
		return;
	p->all++;
	p->agree += r.index == e.index && r.slab == e.slab;
	p->usual[0] += je_is_usual(&r, 3);
	p->usual[1] += je_is_usual(&r, 4);
}

/* Takes what most of the extents speak for. Returns false if they speak for nothing. */
static bool judge(const struct probe probe[JE_LAYOUTS], struct jemalloc *je)
{
	const struct probe *p = &probe[JE_5_2];

	if (probe[JE_5_3].agree > p->agree)
		p = &probe[JE_5_3];
	je->layout = (unsigned int)(p - probe);
	je->quantum_bits = p->usual[0] > p->usual[1] ? 3 : 4;
	return p->agree >= AGREE_MIN && p->agree * 10 >= p->all * 9;
}

/* Reads the elements of a leaf for the memory of the process. Returns how many are not empty. */
static unsigned int probe_leaf(struct target *t, u64 leaf, u64 gib, struct probe *p)
{
	u64 lo = gib << JE_GIB_BITS, hi = lo + (1ULL << JE_GIB_BITS), at, end, word[512];
	unsigned int n = 0, i, layout;
	size_t k, part;

	for (k = 0; k < t->maps && n < PROBES && !target_over(t); k++) {
		const struct where_map *m = &t->map[k];

		at = m->lo > lo ? m->lo : lo;
		end = m->hi < hi ? m->hi : hi;
		for (; m->anon && m->write && at < end && n < PROBES; at += part * JE_PAGE) {
			part = (end - at) / JE_PAGE;
			part = part < ARRAY_SIZE(word) ? part : ARRAY_SIZE(word);
			if (!used_read(t, leaf + (at - lo) / JE_PAGE * 8, word, part * 8))
				return 0;
			for (i = 0; i < part && n < PROBES; i++) {
				n += word[i] != 0;
				for (layout = 0; word[i] && layout < JE_LAYOUTS; layout++)
					try_element(t, layout, word[i], at + i * JE_PAGE,
						    &p[layout]);
			}
		}
	}
	return n;
}

/* Where the root may be, and the GiB of addresses in which the process has memory */
struct search {
	struct target *t;
	struct jemalloc *je;
	u64 lo, hi;
	u64 gib[GIBS];
	unsigned int gibs, tries;
};

static void find_gibs(struct search *s)
{
	const struct where_map *m;
	size_t i;
	u64 gib;

	for (i = 0; i < s->t->maps; i++) {
		m = &s->t->map[i];
		if (!m->anon || !m->write)
			continue;
		for (gib = m->lo >> JE_GIB_BITS;
		     gib <= (m->hi - 1) >> JE_GIB_BITS && s->gibs < GIBS; gib++)
			if (!s->gibs || s->gib[s->gibs - 1] != gib)
				s->gib[s->gibs++] = gib;
	}
}

/* May the word at @addr be the element of the root for one of these GiB? */
static bool try_word(struct search *s, u64 addr, u64 word)
{
	struct probe p[JE_LAYOUTS];
	unsigned int i;
	u64 base;

	if ((word & 63) || !is_heap(s->t, word))
		return false;
	for (i = 0; i < s->gibs && s->tries < TRIES; i++) {
		base = addr - 8 * s->gib[i];
		if (base > addr || base < s->lo || base + JE_ROOT_BYTES > s->hi)
			continue;
		s->tries++;
		memset(p, 0, sizeof(p));
		if (!probe_leaf(s->t, word, s->gib[i], p) || !judge(p, s->je))
			continue;
		s->je->root = base;
		return true;
	}
	return false;
}

static bool search(struct search *s)
{
	static u64 word[WINDOW];
	u64 at, n;
	size_t i;

	for (at = s->lo; at < s->hi && !target_over(s->t); at += n * 8) {
		n = (s->hi - at) / 8 < WINDOW ? (s->hi - at) / 8 : WINDOW;
		if (!used_read(s->t, at, word, n * 8))
			return false;
		for (i = 0; i < n; i++)
			if (word[i] && try_word(s, at + 8 * i, word[i]))
				return true;
	}
	return false;
}

/**
 * je_find() - find the root of the tree
 * @t: the process; its mappings are up to date
 * @file: that has jemalloc, as the mappings have it; its data that may be written is searched, and
 *	the memory behind that
 * @je: out
 *
 * Return: false if there is none, or it is that of a build that is not known.
 */
bool je_find(struct target *t, const char *file, struct jemalloc *je)
{
	struct search s = { .t = t, .je = je };
	const struct where_map *m, *next;
	size_t i;

	je->root = 0;
	find_gibs(&s);
	for (i = 0; file && i < t->maps; i++) {
		m = &t->map[i];
		if (!m->file || !m->write || strcmp(m->file, file))
			continue;
		next = i + 1 < t->maps ? m + 1 : m;
		s.lo = m->lo;
		s.hi = m->hi;
		if (next->lo == m->hi && next->anon && next->write)
			s.hi = next->hi;
		s.hi = s.hi - s.lo < SPAN_MAX ? s.hi : s.lo + SPAN_MAX;
		if (search(&s))
			return true;
	}
	return false;
}

