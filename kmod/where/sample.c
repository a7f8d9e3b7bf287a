// SPDX-License-Identifier: GPL-2.0
/*
 * Which samples of a burst are kept. The first set is a reservoir: each call has the same chance,
 * whenever it was. The second one has the latest call for each address, found by a walk through
 * up to 4096 words: only calls for the sizes that are asked for come here.
 *
 * Example: 12 000 calls take turns with 70 blocks that are freed, and one block stays. The first
 * set has it by luck; the second one has 71 samples, and that one is among them.
 */
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "where.h"

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

	b->random = get_random_u64() | 1;
	b->sample = kvcalloc(b->how.samples + b->how.latest, sizeof(*b->sample), gfp);
	b->call = kvcalloc(WHERE_PENDING, sizeof(*b->call), gfp);
	b->addr = kvcalloc(b->how.latest + 1, sizeof(*b->addr), gfp);
	return b->sample && b->call && b->addr ? 0 : -ENOMEM;
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
	b->sample = NULL;
	b->call = NULL;
	b->addr = NULL;
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

static u32 find(const struct where_burst *b, u64 addr)
{
	u32 i;

	for (i = 0; i < b->latest && b->addr[i] != addr; i++)
		;
	return i;
}

static void drop(struct where_burst *b, u32 i)
{
	struct seepage_where_sample *set = b->sample + b->how.samples;
	u32 last = --b->latest;

	b->addr[i] = b->addr[last];
	if (i != last)
		set[i] = set[last];
}

/*
 * The block that a call returned lies where others were freed. What realloc() resized goes on
 * under its new address.
 */
static void leave_old(struct where_burst *b, struct where_call *call, bool resizes)
{
	const struct seepage_where_sample *set = b->sample + b->how.samples;
	struct seepage_where_sample *s = &call->s;
	u32 i;

	s->first_size = s->size;
	s->resized = 0;
	i = resizes && call->arg ? find(b, call->arg) : b->latest;
	if (i < b->latest) {
		s->first_size = set[i].first_size;
		s->resized = set[i].resized + 1;
		drop(b, i);
	}
	i = find(b, s->addr);
	if (i < b->latest)
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
	i = b->latest < b->how.latest ? b->latest++ : random_below(b, b->latest);
	b->addr[i] = s->addr;
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
