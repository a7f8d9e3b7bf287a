// SPDX-License-Identifier: GPL-2.0
/*
 * What a process does beside the class of blocks that is sampled: does it free what it allocates?
 */
#include <math.h>
#include "where/burst.h"

/**
 * burst_add() - add what a burst took to the answer
 * @b: the burst
 * @g: growth of the class that it sampled
 * @r: the answer of the census; its others are filled in, unless pages are counted
 *
 * The traps of a burst are those of calls for all sizes, two of a call at most. What other classes
 * gained in the same time is their part of what they gained between the looks. What one of them
 * lost makes up for nothing.
 */
void burst_add(const struct burst *b, const struct growth *g, struct result *r)
{
	double gained = 0, armed = (double)b->armed_ns / 1e9;
	u64 calls = b->traps / 2;
	size_t i;

	r->traps += b->traps;
	r->samples += b->n;
	r->sampled[r->bursts++ % BURSTS_MAX] = g->class_bytes;
	r->has_others = false;
	if (g->pages || class_is_pool(g->id) || !(r->seconds > 0))
		return;
	for (i = 0; i < r->rows; i++)
		if (r->row[i].id != g->id && r->row[i].growth_blocks > 0)
			gained += (double)r->row[i].growth_blocks;
	r->has_others = true;
	r->other_calls = calls > b->matched ? calls - b->matched : 0;
	r->other_blocks = (u64)ceil(gained * armed / r->seconds);
}
