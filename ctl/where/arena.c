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
#define PAGE		4096U
#define CHUNK_MIN	32U
#define FIRST_WORDS	8192U	/* of the data segment, in which the first chunk begins */
#define CHAIN		8U	/* chunks in a row that tell where the first one begins */
#define KEY_TRIES	4096U	/* chunks that may be the cache of a thread */
#define CACHED_MAX	1040U	/* largest chunk in it */
#define EARLY_MAX	65536U	/* chunks that are remembered until there is a key, */
#define EARLY_MORE	(HEAP_WINDOW / CHUNK_MIN)	/* and those of its window */

struct arena_walk {
	struct target *t;
	struct bins *b;
	struct look *l;
	u64 lo;			/* where the heap begins that is walked */
	struct heap_walk walk;
	unsigned int tries;	/* chunks that were taken for the cache of a thread */
	struct early_chunk {
		u64 addr, size;
	} *early;		/* those before the first key; NULL: there was a key */
	size_t early_n, more;
};

static bool read_source(void *arg, u64 addr, void *buf, size_t n)
{
	struct arena_walk *a = arg;

	return used_read(a->t, addr, buf, n);
}

/*
 * The cache of a thread may be any chunk: from glibc 2.42 on it is made when the thread first frees
 * a block. Before that it is the first chunk of a heap, which has been looked at. Chunks in front
 * of it are remembered, as they may be in the cache.
 */
static void take_early(struct arena_walk *a, u64 addr, u64 size)
{
	if (!a->b->keys_n && bins_may_be_cache(size) && a->tries++ < KEY_TRIES) {
		bins_thread_cache(a->t, a->b, addr);
		a->walk.keys_n = a->b->keys_n;
	}
	if (size <= CACHED_MAX && a->early_n < EARLY_MAX &&
	    (!a->b->keys_n || a->more++ < EARLY_MORE))
		a->early[a->early_n++] = (struct early_chunk){ addr, size };
}

static void take_used(void *arg, u64 addr, u64 size)
{
	struct arena_walk *a = arg;

	look_add(a->l, class_of_chunk(size), addr + 16, size);
	if (a->early)
		take_early(a, addr, size);
}

/* Takes those of the chunks before the first key out of the blocks in use that have it. */
static void early_end(struct arena_walk *a)
{
	const struct early_chunk *e;
	u64 word;

	for (e = a->early; a->b->keys_n && e < a->early + a->early_n; e++)
		if (used_read(a->t, e->addr + 24, &word, sizeof(word)) && bins_is_key(a->b, word))
			look_remove(a->l, class_of_chunk(e->size), e->addr + 16, e->size);
	free(a->early);
	a->early = NULL;
	a->early_n = 0;
	a->more = 0;
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
	struct heap_walk *w = &a->walk;
	struct look *l = a->l;
	enum heap_end end;
	int tries;

	*w = (struct heap_walk){
		.read = read_source, .used = take_used, .arg = a, .lo = lo, .hi = hi,
		.main = main, .keys = a->b->keys, .keys_n = a->b->keys_n,
	};
	if (!w->keys_n)
		a->early = must(calloc(EARLY_MAX, sizeof(*a->early)));
	for (tries = 0; tries < 4; tries++) {
		end = heap_walk(w);
		l->walked_bytes += w->again_addr - w->lo;
		if (end == HEAP_AT_TOP || target_over(a->t))
			break;
		hi = main ? main_end(a) : heap_end_of(a);
		w->lo = w->again_addr;
		if (!hi || hi == w->hi)
			break;
		w->hi = hi;
		if (hi - w->lo < CHUNK_MIN || hi < w->lo)
			break;
	}
	early_end(a);
	if (end != HEAP_AT_TOP && w->hi > w->lo && !target_over(a->t))
		look_lose(l, w->lo, w->hi);
	l->chunks += w->chunks;
	l->free_bytes += w->free_bytes + w->top_bytes;
	l->cached_bytes += w->cached_bytes;
	l->retries += w->retries;
}

/* Are there chunks from @at on, one behind the other, or up to the end @hi? */
static bool is_chain(struct arena_walk *a, u64 at, u64 hi)
{
	unsigned int i;
	u64 head, size;

	for (i = 0; i < CHAIN && hi - at >= 16; i++, at += size) {
		if (!used_read(a->t, at + 8, &head, sizeof(head)))
			return false;
		size = head & ~7ULL;
		/* of the main arena, with the chunk in front of the first one in use */
		if (size < CHUNK_MIN || (size & 15) || size > hi - at || (head & 6) ||
		    (!i && !(head & 1)))
			return false;
	}
	return true;
}

/*
 * In a program that is linked statically the variables of the first thread lie in front of the
 * first chunk. Returns @lo if it is not found.
 */
static u64 first_chunk(struct arena_walk *a, u64 lo, u64 hi)
{
	size_t n = (hi - lo) / 8 < FIRST_WORDS ? (size_t)((hi - lo) / 8) : FIRST_WORDS, i;
	u64 *word, found = lo;

	if (bins_thread_cache(a->t, a->b, lo) || is_chain(a, lo, hi))
		return lo;
	word = must(calloc(n + 1, sizeof(*word)));
	if (used_read(a->t, lo, word, n * sizeof(*word)))
		for (i = 1; i < n && found == lo; i += 2)
			if ((word[i] & 15) == 1 && word[i] > CHUNK_MIN && word[i] <= hi - lo &&
			    is_chain(a, lo + 8 * (i - 1), hi))
				found = lo + 8 * (i - 1);
	free(word);
	bins_thread_cache(a->t, a->b, found);
	return found;
}

/*
 * The data segment may have grown since the mappings were read, and the top with it: up to the
 * next mapping, and no further.
 */
static u64 top_most(const struct target *t, const struct where_map *m)
{
	return m + 1 < t->map + t->maps && m[1].lo > m->hi ? m[1].lo : m->hi;
}

/* Bytes that the main arena has from the system, beyond the data segment as it is now */
static u64 outside(struct arena_walk *a, u64 hi)
{
	u64 system = state_system_bytes(a->t, a->b->main_top);

	if (system > hi - a->lo)
		hi = main_end(a);
	return hi > a->lo && system > hi - a->lo ? system - (hi - a->lo) : 0;
}

/*
 * The main arena begins at the start of the data segment and not at the mapping "[heap]":
 * the C library may have used the first bytes before malloc() was called.
 */
static void main_arena(struct arena_walk *a)
{
	u64 lo = (a->t->start_brk + 15) & ~15ULL, more;
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
		state_find_main(a->t, a->b, lo, top_most(a->t, m));
	a->l->no_fastbins = !a->b->main_top;
	if (!a->b->main_top || !m)
		return;
	bins_fast(a->t, a->b->main_top, a->b->layout, a->l);
	more = outside(a, m->hi);
	if (more > MIB)
		a->l->outside_bytes = more;
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
	u64 info[4], first, layout = 0;
	bool is_first;

	if (!arena_heap_info(a->t, lo, info))
		return;
	first = lo + (info[0] & (HEAP_ALIGN - 1));
	is_first = info[0] == first;
	if (is_first) {
		layout = state_of_heap(a->t, a->b, first);
		first = (first + state_bytes(layout) + 15) & ~15ULL;
		a->l->arenas++;
		bins_thread_cache(a->t, a->b, first);
	}
	a->lo = lo;
	walk(a, first, lo + info[2], false);
	if (is_first)
		bins_fast(a->t, info[0] + layout, layout, a->l);
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
