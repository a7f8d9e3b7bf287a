// SPDX-License-Identifier: GPL-2.0
/*
 * Walks the chunks of malloc(3) of glibc 2.26 and newer, 64 bits, by their own headers:
 *
 *	+0	size of the chunk before, if that is free
 *	+8	size, a multiple of 16; bit 0: the chunk before is in use, bit 1: a mapping of
 *		its own, bit 2: not of the main arena
 *	+16	the block; in a free one pointers, in a thread's cache at +24 a key
 *
 * The memory is read in windows while the process runs. If the chunk behind a window does
 * not fit, the window is read again: something was freed or joined between two reads. The
 * chunks of a window are handed out only when the head behind it has been found to fit.
 * Only the head of a chunk is read that is larger than the rest of its window. Each step goes
 * at least 32 bytes forward, so that no content can make the walk endless.
 */
#include <string.h>
#include "where/where.h"

#define CHUNK_MIN	32U
#define PREV_INUSE	1U
#define IS_MMAPPED	2U
#define NON_MAIN	4U
#define FLAGS		7U
#define CACHED_MAX	1040U	/* largest chunk of a thread's cache */
#define HEAD_BYTES	32U	/* up to the key */
#define PAGE		4096U
#define RETRIES		3

struct window_chunk {
	u64 addr, size;
	bool cached;
};

struct window {
	u64 addr;
	size_t bytes;
	unsigned char data[HEAP_WINDOW] __attribute__((aligned(16)));
	struct window_chunk used[HEAP_WINDOW / CHUNK_MIN + 2];
	size_t used_n;
	u64 free_bytes, cached_bytes, doubts, chunks;
	struct window_chunk last;	/* its successor says whether it is in use */
};

static u64 word(const struct window *v, u64 addr)
{
	u64 w;

	memcpy(&w, v->data + (addr - v->addr), sizeof(w));
	return w;
}

static bool is_key(const struct heap_walk *w, u64 v)
{
	unsigned int i;

	for (i = 0; i < w->keys_n; i++)
		if (w->keys[i] == v)
			return true;
	return false;
}

/* Decides about the chunk before the one at @addr, which has this @head. */
static void settle(struct window *v, u64 addr, u64 head)
{
	struct window_chunk *c = &v->last;

	if (!c->size)
		return;
	v->chunks++;
	if (!(head & PREV_INUSE)) {
		v->free_bytes += c->size;
		v->doubts += word(v, addr) != c->size;
	} else if (c->cached) {
		v->cached_bytes += c->size;
	} else {
		v->used[v->used_n++] = *c;
	}
	c->size = 0;
}

/* May a chunk of the region have this head? */
static bool fits(const struct heap_walk *w, u64 addr, u64 head)
{
	u64 size = head & ~(u64)FLAGS;

	return size >= CHUNK_MIN && !(size & 15) && size <= w->hi - addr &&
	       !(head & IS_MMAPPED) && !(w->main && (head & NON_MAIN));
}

/*
 * The end of an older heap of an arena is a fence of chunks of 16 and 0 bytes. Behind the top
 * chunk of the main arena less than a page of zeros may follow.
 */
static bool is_end(const struct heap_walk *w, u64 addr, u64 head)
{
	u64 size = head & ~(u64)FLAGS, left = w->hi - addr;

	return (left <= 2 * CHUNK_MIN && (size == 16 || !size)) || (left < PAGE && !head);
}

enum step {
	STEP_ON,
	STEP_NEXT_WINDOW,
	STEP_TOP,
	STEP_FENCE,
	STEP_BAD,
};

/* Takes the chunk at *@addr, and moves *@addr behind it. */
static enum step step(const struct heap_walk *w, struct window *v, u64 *addr)
{
	u64 end = v->addr + v->bytes, left = *addr < end ? end - *addr : 0, head, size;

	if (!left || (left < HEAD_BYTES && w->hi - *addr > left))
		return STEP_NEXT_WINDOW;
	head = word(v, *addr + 8);
	size = head & ~(u64)FLAGS;
	if (is_end(w, *addr, head)) {
		if (head)
			settle(v, *addr, head);
		return STEP_FENCE;
	}
	if (!fits(w, *addr, head))
		return STEP_BAD;
	settle(v, *addr, head);
	v->last = (struct window_chunk){ *addr, size, size <= CACHED_MAX && left >= HEAD_BYTES &&
		is_key(w, word(v, *addr + 24)) };
	*addr += size;
	return w->hi - *addr < 16 ? STEP_TOP : STEP_ON;
}

/* Reads the window at @addr. What lies behind it may have been unmapped: then one page. */
static bool fill(struct heap_walk *w, struct window *v, u64 addr)
{
	u64 left = w->hi - addr;

	v->addr = addr;
	v->bytes = left < HEAP_WINDOW ? (size_t)left : HEAP_WINDOW;
	if (w->read(w->arg, addr, v->data, v->bytes))
		return true;
	v->bytes = PAGE - addr % PAGE;
	return v->bytes < left && v->bytes >= HEAD_BYTES &&
	       w->read(w->arg, addr, v->data, v->bytes);
}

static void drop(struct window *v)
{
	v->used_n = 0;
	v->chunks = 0;
	v->free_bytes = 0;
	v->cached_bytes = 0;
	v->doubts = 0;
}

static void hand_out(struct heap_walk *w, struct window *v)
{
	size_t i;

	for (i = 0; i < v->used_n; i++)
		w->used(w->arg, v->used[i].addr, v->used[i].size);
	w->chunks += v->chunks;
	w->free_bytes += v->free_bytes;
	w->cached_bytes += v->cached_bytes;
	w->doubts += v->doubts;
	drop(v);
}

/* Walks to the end of one window. STEP_BAD as well if the head behind it does not fit. */
static enum step walk_window(struct heap_walk *w, struct window *v, u64 *addr)
{
	unsigned char head[16];
	enum step s;
	u64 v8;

	do
		s = step(w, v, addr);
	while (s == STEP_ON);
	if (s != STEP_NEXT_WINDOW)
		return s;
	if (!w->read(w->arg, *addr, head, sizeof(head)))
		return STEP_BAD;
	memcpy(&v8, head + 8, sizeof(v8));
	return is_end(w, *addr, v8) || fits(w, *addr, v8) ? s : STEP_BAD;
}

/* A walk ends at @addr. The last chunk is not handed out if what is behind it was not read. */
static enum heap_end ends(struct heap_walk *w, u64 addr, const struct window_chunk *last,
			  enum heap_end how)
{
	w->end_addr = addr;
	w->again_addr = last->size ? last->addr : addr;
	return how;
}

/**
 * heap_walk() - count the chunks of one region
 * @w: the region, with the callbacks that read it and take the chunks in use
 *
 * Context: keeps its window in static memory; one walk at a time.
 * Return: how the walk ended; chunks before @w->end_addr were handed out in any case.
 */
enum heap_end heap_walk(struct heap_walk *w)
{
	static struct window v;
	struct window_chunk last = { 0 };
	u64 addr = w->lo;
	unsigned int tries = 0;
	enum step s;

	if (w->hi < addr || w->hi - addr < HEAD_BYTES)
		return ends(w, addr, &last, HEAP_UNREADABLE);
	while (w->hi - addr >= 16) {
		w->end_addr = addr;
		drop(&v);
		v.last = last;
		if (!fill(w, &v, addr))
			return ends(w, addr, &last, HEAP_UNREADABLE);
		s = walk_window(w, &v, &addr);
		if (s == STEP_BAD && tries++ < RETRIES) {
			w->retries++;
			addr = w->end_addr;
			continue;
		}
		hand_out(w, &v);
		last = v.last;
		if (s == STEP_BAD)
			return ends(w, addr, &last, HEAP_TORN);
		if (s != STEP_NEXT_WINDOW)
			break;
		tries = 0;
	}
	w->end_addr = addr;
	w->again_addr = addr;
	if (v.last.size) {
		w->top_addr = v.last.addr;
		w->top_bytes = v.last.size;
	}
	return HEAP_AT_TOP;
}
