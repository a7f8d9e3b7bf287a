// SPDX-License-Identifier: GPL-2.0
/*
 * The heap profile that the runtime of Go keeps: a list of buckets, one for each stack that
 * allocated. It begins at the variable runtime.mbuckets, and a bucket is
 *
 *	+0 next in the hash table, +8 next in the list, +16 kind (1: memory), +24 hash,
 *	+32 size of the blocks, +40 number of frames, +48 frames (return addresses),
 *	then blocks allocated, blocks freed, bytes allocated, bytes freed
 *
 * as of the last collection but one. Samples are scaled as pprof scales them: a block of s
 * bytes is taken with the chance 1 - exp(-s / rate).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "where/profile.h"

#define GO_ARENA	0xc000000000ULL	/* where the heap begins on 64-bit machines */
#define KIND_MEMORY	1
#define BUCKETS_MAX	200000U
#define GO_FRAMES	128U
#define HEAD_WORDS	6U
#define COUNT_MAX	(1ULL << 48)

/* Does the process have the heap of Go? */
bool go_is(const struct target *t)
{
	const struct where_map *m = target_at(t, GO_ARENA);

	return m && m->lo == GO_ARENA && m->anon;
}

/* What a bucket of a forged profile stands for may be infinite, or no number: it counts nothing. */
static void scale(struct profile_site *s, u64 blocks, u64 bytes, u64 rate)
{
	double chance = 1, all_blocks, all_bytes;

	if (rate > 1 && blocks)
		chance = 1 - exp(-(double)bytes / (double)blocks / (double)rate);
	all_blocks = (double)blocks / chance;
	all_bytes = (double)bytes / chance;
	if (!(all_blocks < COUNT_MAX && all_bytes < COUNT_MAX))
		return;
	s->samples = blocks;
	s->blocks = (u64)all_blocks;
	s->bytes = (u64)all_bytes;
}

/* Reads the bucket at @addr. Returns the address of the next one, 0: none, or no bucket. */
static u64 bucket(struct target *t, u64 addr, u64 rate, struct profile_site *s)
{
	u64 h[HEAD_WORDS], count[4];

	memset(s, 0, sizeof(*s));
	if (!target_read(t, addr, h, sizeof(h)) || h[2] != KIND_MEMORY || h[5] > GO_FRAMES ||
	    !target_read(t, addr + sizeof(h) + 8 * h[5], count, sizeof(count)))
		return 0;
	s->id = addr;
	s->stack = addr + sizeof(h);
	s->frames = (unsigned int)h[5];
	if (count[0] >= count[1] && count[2] >= count[3] && count[0] < COUNT_MAX &&
	    count[2] < COUNT_MAX)
		scale(s, count[0] - count[1], count[2] - count[3], rate);
	return h[1];
}

/**
 * go_look() - read the profile
 * @t: the process; its mappings are up to date
 * @p: out, zeroed
 *
 * Return: false if the program has no symbols, or does not profile.
 */
bool go_look(struct target *t, struct profile *p)
{
	u64 list, rate, addr, at;
	struct profile_site s;

	if (!symbol_find(t, "runtime.mbuckets", &list) ||
	    !symbol_find(t, "runtime.MemProfileRate", &at) ||
	    !target_read(t, list, &addr, sizeof(addr)) ||
	    !target_read(t, at, &rate, sizeof(rate)) || !rate || rate >> 40)
		return false;
	while (addr && p->n < BUCKETS_MAX) {
		addr = bucket(t, addr, rate, &s);
		if (!s.id)
			break;
		profile_add(p, &s);
	}
	return p->n;
}
