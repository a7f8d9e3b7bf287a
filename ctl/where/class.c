// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks in use by size class, and a sample of those that are new.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define CHUNK_HEAD	8	/* bytes of a chunk that are not the block's */
#define LARGE_BITS	16	/* chunks of 2^16 bytes and more are large */
#define JE_TINY_BITS	3	/* the smallest class of jemalloc has 2^3 bytes */
#define JE_MOST_BITS	63	/* sizes are less than 2^63 */

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
	return id >= CLASS_EXACT + CLASS_LARGE && id < CLASS_OF_JE;
}

static bool is_je(unsigned int id)
{
	return id >= CLASS_OF_JE;
}

/* Has each block of the class the same size, which is less than 64 KiB? */
bool class_is_small(unsigned int id)
{
	return id < CLASS_EXACT || class_is_pool(id) ||
	       (is_je(id) && class_size(id) < 1U << LARGE_BITS);
}

/**
 * class_je_size() - the size of a class of jemalloc
 * @quantum_bits: 4, or 3 if it was built so: sizes below are then multiples of 8 and not of 16
 * @index: of the class
 *
 * The first four sizes are multiples of the quantum, behind one of 8 bytes if that is smaller. Then
 * each power of two and the next one have three more between them.
 *
 * Return: bytes, or 0 if there is no such class.
 */
u64 class_je_size(unsigned int quantum_bits, unsigned int index)
{
	unsigned int tiny = quantum_bits > JE_TINY_BITS, group;
	u64 size;

	if (index < tiny)
		return 1ULL << JE_TINY_BITS;
	index -= tiny;
	if (index < 4)
		return (u64)(index + 1) << quantum_bits;
	group = (index - 4) / 4;
	if (group + quantum_bits > JE_MOST_BITS - 3)
		return 0;
	size = (4ULL + (index - 4) % 4 + 1) << (group + quantum_bits);
	return size >> JE_MOST_BITS ? 0 : size;
}

/* Returns the class of a block of jemalloc for which @size bytes are there. */
unsigned int class_of_je(u64 size)
{
	unsigned int bits, i;

	if (size <= 32)
		return CLASS_OF_JE + (size ? (unsigned int)(size + 7) / 8 - 1 : 0);
	bits = 63 - (unsigned int)__builtin_clzll(size - 1);
	i = 4 * (bits - 4) + (unsigned int)((size - 1 - (1ULL << bits)) >> (bits - 2));
	return CLASS_OF_JE + (i < CLASS_JE ? i : CLASS_JE - 1);
}

/* May the class be that of a request of @bytes? */
bool class_serves(unsigned int id, u64 bytes)
{
	if (class_is_pool(id) || is_je(id))
		return bytes >= class_least(id) && bytes <= class_size(id);
	return id == class_of_request(bytes);
}

/* Returns the largest request that the class serves. */
u64 class_size(unsigned int id)
{
	if (is_je(id))
		return class_je_size(JE_TINY_BITS, id - CLASS_OF_JE);
	if (class_is_pool(id))
		return (id - CLASS_EXACT - CLASS_LARGE + 1) * 16;
	if (id >= CLASS_EXACT)
		return 1ULL << (id - CLASS_EXACT + LARGE_BITS + 1);
	return (u64)id * 16 - CHUNK_HEAD;
}

/*
 * The same of jemalloc. That there are classes of 24, 40 and 56 bytes as well is not known here,
 * so that the next ones begin below them.
 */
static u64 je_least(unsigned int id)
{
	u64 size = class_size(id);

	if (id == CLASS_OF_JE)
		return 0;
	if (size > 16 && size <= 64 && !(size % 16))
		return size - 15;
	return class_size(id - 1) + 1;
}

/* Returns the smallest request that the class serves. */
u64 class_least(unsigned int id)
{
	if (is_je(id))
		return je_least(id);
	if (class_is_pool(id))
		return class_size(id) - 15;
	if (id >= CLASS_EXACT)
		return class_size(id) / 2 - CHUNK_HEAD + 1;
	return id == 2 ? 0 : class_size(id) - 15;
}

/* Returns the size at which the class of large blocks begins, as it is shown. */
u64 class_above(unsigned int id)
{
	return is_je(id) ? class_size(id - 1) : class_size(id) / 2;
}

/* Returns the bytes that each block of the class has, whatever was asked for. */
u64 class_room(unsigned int id)
{
	return id < CLASS_EXACT || class_is_pool(id) || is_je(id) ? class_size(id) :
	       class_least(id);
}

/*
 * The other way round: class_size() differs between any two classes of jemalloc, if @je says so, or
 * of all others.
 */
bool class_from_size(u64 size_bytes, bool je, unsigned int *id)
{
	unsigned int end = je ? CLASSES : CLASS_OF_JE;

	for (*id = je ? CLASS_OF_JE : 2; *id < end; (*id)++)
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

/* Forgets what was counted. The time of the look, and what it compares with, stay. */
void look_restart(struct look *l)
{
	const struct look *earlier = l->earlier;
	const struct seen *before = l->before;
	bool remember = l->seen;
	u64 ns = l->ns;

	look_free(l);
	look_begin(l, remember, before);
	l->earlier = earlier;
	l->ns = ns;
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

/*
 * By how many blocks a class grew from one look to another. A block may be in the next class, as
 * glibc gives one of 16 bytes more where the rest of a free one would be too small.
 */
s64 class_gained(const struct look *a, const struct look *b, unsigned int id)
{
	s64 own = (s64)(b->c[id].blocks - a->c[id].blocks), next = 0;

	if (id + 1 < CLASS_EXACT)
		next = (s64)(b->c[id + 1].blocks - a->c[id + 1].blocks);
	return next > 0 ? own + next : own;
}

void look_free(struct look *l)
{
	unsigned int i;

	for (i = 0; i < CLASSES; i++)
		free(l->c[i].sample);
	seen_free(l->seen);
	memset(l, 0, sizeof(*l));
}
