// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks in use by size class, and a sample of those that are new.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define CHUNK_HEAD	8	/* bytes of a chunk that are not the block's */
#define LARGE_BITS	16	/* chunks of 2^16 bytes and more are large */

/* Returns the class of a chunk of @size bytes, which is a multiple of 16. */
unsigned int class_of_chunk(u64 size)
{
	unsigned int bits;

	if (size < CLASS_EXACT * 16)
		return (unsigned int)(size / 16);
	bits = 63 - (unsigned int)__builtin_clzll(size) - LARGE_BITS;
	return CLASS_EXACT + (bits < CLASS_LARGE ? bits : CLASS_LARGE - 1);
}

/* Returns the class of a block of pymalloc of @size bytes, 16 to 512. */
unsigned int class_of_pool(u32 size)
{
	return CLASS_EXACT + CLASS_LARGE + size / 16 - 1;
}

/* Returns the class of the chunk that malloc(@bytes) makes. */
unsigned int class_of_request(u64 bytes)
{
	u64 size = (bytes + CHUNK_HEAD + 15) & ~15ULL;

	return class_of_chunk(size < 32 ? 32 : size);
}

bool class_is_pool(unsigned int id)
{
	return id >= CLASS_EXACT + CLASS_LARGE;
}

/* Returns the largest request that the class serves. */
u64 class_size(unsigned int id)
{
	if (class_is_pool(id))
		return (id - CLASS_EXACT - CLASS_LARGE + 1) * 16;
	if (id >= CLASS_EXACT)
		return 1ULL << (id - CLASS_EXACT + LARGE_BITS + 1);
	return (u64)id * 16 - CHUNK_HEAD;
}

/* Returns the smallest request that the class serves. */
u64 class_least(unsigned int id)
{
	if (class_is_pool(id))
		return class_size(id) - 15;
	if (id >= CLASS_EXACT)
		return class_size(id) / 2 - CHUNK_HEAD + 1;
	return id == 2 ? 0 : class_size(id) - 15;
}

/* Returns the bytes that each block of the class has, whatever was asked for. */
u64 class_room(unsigned int id)
{
	return id < CLASS_EXACT || class_is_pool(id) ? class_size(id) : class_least(id);
}

/* The other way round: class_size() differs between any two classes. */
bool class_from_size(u64 size_bytes, unsigned int *id)
{
	for (*id = 2; *id < CLASSES; (*id)++)
		if (class_size(*id) == size_bytes)
			return true;
	return false;
}

/* @remember: keep the addresses of the blocks. @before: those of the earlier look, or NULL */
void look_begin(struct look *l, bool remember, const struct seen *before)
{
	memset(l, 0, sizeof(*l));
	l->ns = clock_ns();
	l->seen = remember ? seen_new() : NULL;
	l->before = before;
	l->random = 88172645463325252ULL;
}

static u64 next_random(struct look *l)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return l->random;
}

/* Each fresh block of a class is in its sample with the same chance (reservoir sampling). */
static void sample(struct look *l, struct where_class *c, u64 addr)
{
	u64 at = c->fresh++;

	if (!c->sample)
		c->sample = must(calloc(CLASS_SAMPLES, sizeof(*c->sample)));
	if (c->samples < CLASS_SAMPLES) {
		c->sample[c->samples++] = addr;
		return;
	}
	at = next_random(l) % (at + 1);
	if (at < CLASS_SAMPLES)
		c->sample[at] = addr;
}

/*
 * Where the parts behind the first LOST_RANGES are is not remembered: what the second look finds
 * in them counts as growth.
 */
static void remember_lost(struct look *l, u64 lo, u64 hi)
{
	if (l->lost_n < LOST_RANGES)
		l->lost[l->lost_n++] = (struct lost_range){ lo, hi };
}

/* Takes notice of a part of a heap that was not walked. */
void look_lose(struct look *l, u64 lo, u64 hi)
{
	l->torn++;
	l->torn_bytes += hi - lo;
	remember_lost(l, lo, hi);
}

/* Takes notice of memory that was not read, and is no part of a heap that was walked. */
void look_skip(struct look *l, u64 lo, u64 hi)
{
	l->skipped_bytes += hi - lo;
	if (l->lost_n && l->lost[l->lost_n - 1].hi == lo)
		l->lost[l->lost_n - 1].hi = hi;
	else
		remember_lost(l, lo, hi);
}

static bool is_lost(const struct look *l, u64 addr)
{
	unsigned int i;

	for (i = 0; l && i < l->lost_n; i++)
		if (addr >= l->lost[i].lo && addr < l->lost[i].hi)
			return true;
	return false;
}

/* @addr: of the block, a multiple of 16. @bytes: what it takes, its chunk's head included */
void look_add(struct look *l, unsigned int id, u64 addr, u64 bytes)
{
	struct where_class *c = &l->c[id];

	c->blocks++;
	c->bytes += bytes;
	l->heap_bytes += bytes;
	if (is_lost(l->earlier, addr)) {
		c->old_blocks++;
		c->old_bytes += bytes;
		return;
	}
	if (l->seen)
		seen_add(l->seen, addr);
	else if (!l->before || !seen_has(l->before, addr))
		sample(l, c, addr);
}

/* Takes back look_add() of a block that is found to be free. */
void look_remove(struct look *l, unsigned int id, u64 addr, u64 bytes)
{
	struct where_class *c = &l->c[id];
	unsigned int i;

	if (!c->blocks || c->bytes < bytes || is_lost(l, addr))
		return;
	c->blocks--;
	c->bytes -= bytes;
	l->heap_bytes -= bytes;
	l->cached_bytes += bytes;
	if (is_lost(l->earlier, addr) && c->old_blocks && c->old_bytes >= bytes) {
		c->old_blocks--;
		c->old_bytes -= bytes;
	}
	if (l->seen)
		seen_remove(l->seen, addr);
	for (i = 0; i < c->samples; i++)
		if (c->sample[i] == addr)
			c->sample[i] = c->sample[--c->samples];
}

void look_free(struct look *l)
{
	unsigned int i;

	for (i = 0; i < CLASSES; i++)
		free(l->c[i].sample);
	seen_free(l->seen);
	memset(l, 0, sizeof(*l));
}
