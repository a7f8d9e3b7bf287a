// SPDX-License-Identifier: GPL-2.0
/*
 * Which samples of a burst are kept. The first set is a reservoir: each call has the same chance,
 * whenever it was. The second one has the latest call for each address, found by a hash of it:
 * chains of indices, one for each sample.
 *
 * Example: 12 000 calls take turns with 70 blocks that are freed, and one block stays. The first
 * set has it by luck; the second one has 71 samples, and that one is among them.
 */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "where.h"

#define END	U16_MAX		/* of a chain; above any index, which is below 4096 */

/**
 * where_sample_new() - allocate what a burst needs for samples
 * @b: a burst, with how filled in
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; then where_sample_free() has to be called as well.
 */
int where_sample_new(struct where_burst *b)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT;
	const size_t chains = roundup_pow_of_two(b->how.latest + 1);

	b->random = get_random_u64() | 1;
	b->sample = kvcalloc(b->how.samples + b->how.latest, sizeof(*b->sample), gfp);
	b->call = kvcalloc(WHERE_PENDING, sizeof(*b->call), gfp);
	b->addr = kvcalloc(b->how.latest + 1, sizeof(*b->addr), gfp);
	b->next = kvcalloc(b->how.latest + 1, sizeof(*b->next), gfp);
	b->chain = kvcalloc(chains, sizeof(*b->chain), gfp);
	if (!b->sample || !b->call || !b->addr || !b->next || !b->chain)
		return -ENOMEM;
	b->chain_bits = ilog2(chains);
	memset(b->chain, 0xff, chains * sizeof(*b->chain));	/* END */
	return 0;
}

/**
 * where_sample_free() - free the samples
 * @b: a burst; no handler runs
 *
 * Context: may sleep.
 */
void where_sample_free(struct where_burst *b)
{
	kvfree(b->sample);
	kvfree(b->call);
	kvfree(b->addr);
	kvfree(b->next);
	kvfree(b->chain);
	b->sample = NULL;
	b->call = NULL;
	b->addr = NULL;
	b->next = NULL;
	b->chain = NULL;
}

static u32 random_calls(const struct where_burst *b)
{
	return min(b->matched, b->how.samples);
}

/**
 * where_samples() - the number of samples in both sets
 * @b: the burst; the caller holds its lock, or no handler runs
 *
 * Context: any.
 * Return: the number.
 */
u32 where_samples(const struct where_burst *b)
{
	return random_calls(b) + b->latest;
}

static u32 random_below(struct where_burst *b, u32 n)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return reciprocal_scale(b->random >> 32, n);
}

static u16 *chain_of(const struct where_burst *b, u64 addr)
{
	/* hash_64() of 0 bits shifts by 64, which is undefined */
	return &b->chain[b->chain_bits ? hash_64(addr, b->chain_bits) : 0];
}

/* Returns what holds the index of the sample at addr, or END. */
static u16 *find(const struct where_burst *b, u64 addr)
{
	u16 *i = chain_of(b, addr);

	while (*i != END && b->addr[*i] != addr)
		i = &b->next[*i];
	return i;
}

static void put_at(struct where_burst *b, u16 i, u64 addr)
{
	u16 *first = chain_of(b, addr);

	b->addr[i] = addr;
	b->next[i] = *first;
	*first = i;
}

static void take_out(struct where_burst *b, u16 i)
{
	*find(b, b->addr[i]) = b->next[i];
}

/* The last one moves to the place of the one that goes. */
static void drop(struct where_burst *b, u16 i)
{
	struct seepage_where_sample *set = b->sample + b->how.samples;
	u16 last = b->latest - 1;

	take_out(b, i);
	if (i != last) {
		take_out(b, last);
		put_at(b, i, b->addr[last]);
		set[i] = set[last];
	}
	b->latest = last;
}

/*
 * Take samples of earlier blocks out of the second set: of the one that had the address which the
 * call returned, and of the one that realloc() resized, of which the call's sample is the
 * successor. Another thread may be given the old address before this realloc() returns to its
 * probe; the sample of that call is newer than the begin of this one, and stays.
 */
static void leave_old(struct where_burst *b, struct where_call *call, bool resizes)
{
	const struct seepage_where_sample *set = b->sample + b->how.samples;
	struct seepage_where_sample *s = &call->s;
	u16 i;

	s->first_size = s->size;
	s->resized = 0;
	i = resizes && call->arg ? *find(b, call->arg) : END;
	if (i != END && set[i].ns < s->ns) {
		s->first_size = set[i].first_size;
		s->resized = set[i].resized + 1;
		drop(b, i);
	}
	i = *find(b, s->addr);
	if (i != END)
		drop(b, i);
}

/**
 * where_keep() - keep the sample of a call that returned, or not
 * @b: the burst
 * @call: the call, its sample complete
 * @resizes: it is a realloc()
 *
 * Context: the caller holds the lock of the burst.
 */
void where_keep(struct where_burst *b, struct where_call *call, bool resizes)
{
	struct seepage_where_sample *s = &call->s;
	u32 i;

	lockdep_assert_held(&b->lock);
	leave_old(b, call, resizes);
	b->matched++;
	i = b->matched <= b->how.samples ? b->matched - 1 : random_below(b, b->matched);
	s->set = 0;
	if (i < b->how.samples)
		b->sample[i] = *s;
	if (!b->how.latest)
		return;
	s->set = 1;
	if (b->latest < b->how.latest) {
		i = b->latest++;
	} else {
		i = random_below(b, b->latest);
		take_out(b, i);
	}
	put_at(b, i, s->addr);
	b->sample[b->how.samples + i] = *s;
}

/**
 * where_sample_pack() - put the second set behind the first one, which may not be full
 * @b: a burst without probes
 *
 * Context: may sleep; no handler runs.
 */
void where_sample_pack(struct where_burst *b)
{
	memmove(b->sample + random_calls(b), b->sample + b->how.samples,
		b->latest * sizeof(*b->sample));
}
