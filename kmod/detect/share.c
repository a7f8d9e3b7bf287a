// SPDX-License-Identifier: GPL-2.0
/*
 * Shared limits: which limit is met first, and how fast the machine as a whole is used up.
 *
 * Context: any; pure. Lock: the caller serialises calls on one tally, machine or sample.
 */
#include "share.h"

#define MACHINE_ERROR_SHIFT	9	/* a rise of 1/128 of the most left counts */
#define MACHINE_RISE_SHIFT	3	/* a fall counts when it took 1/8 of what is left */

/**
 * seep_tally_others() - enter into a sample what else grows below its limit
 * @p: the tally of the limit
 * @own: growth of the process or group itself, as the tally knows it
 * @s: others and others_rate are set
 *
 * Context: any.
 */
void seep_tally_others(const struct seep_tally *p, const struct seep_growers *own,
		       struct seep_sample *s)
{
	u32 n = seep_minus(p->last.n, own->n);

	s->others_rate = seep_minus(p->last.rate, own->rate);
	s->others = n < 0xffff ? (u16)n : 0xffff;
}

/*
 * Limit a leaves @a bytes and limit b @b bytes; others grow below them by @rate_a and
 * @rate_b granules an hour, and the process itself by @own. Is a met before b? While @own
 * is not known, the one that leaves less counts: at a limit of its own the process alone
 * decides about time.
 */
static bool sooner(u64 a, u32 rate_a, u64 b, u32 rate_b, u32 own)
{
	/* a rate is below 2^32: twice the sum of two would not fit the product */
	u64 all_a = ((u64)own + rate_a) / 2 + 1, all_b = ((u64)own + rate_b) / 2 + 1;

	if (!own || rate_a == rate_b)
		return a < b;
	return seep_granules(a) * all_b < seep_granules(b) * all_a;
}

/**
 * seep_sample_confine() - take a further limit as the nearest one, if it is met first
 * @s: headroom, limit and others are those of the nearest limit so far
 * @left: bytes that the further limit leaves
 * @limit: enum seepage_limit
 * @tally: what grows below it; NULL: a limit of the process alone
 * @own: growth of the process or group itself, as the tallies know it
 *
 * Context: any.
 */
void seep_sample_confine(struct seep_sample *s, u64 left, u8 limit, const struct seep_tally *tally,
			 const struct seep_growers *own)
{
	u32 rate = s->others_rate;
	u16 n = s->others;

	s->others_rate = 0;
	s->others = 0;
	if (tally)
		seep_tally_others(tally, own, s);
	if (sooner(left, s->others_rate, s->headroom, rate, own->rate)) {
		s->headroom = left;
		s->limit = limit;
	} else {
		s->others_rate = rate;
		s->others = n;
	}
}

/**
 * seep_machine_feed() - follow the memory that is left on the machine
 * @m: history, zeroed before the first call
 * @now_ns: CLOCK_MONOTONIC, never goes back
 * @left: bytes of available memory and free swap
 * @c: configuration in force
 *
 * The figure is what is used of the most that was ever left. More than that begins a new
 * history: nothing grows then.
 *
 * What is taken once, by programs that start or by the kernel for them, is part of the first
 * rises, and makes their rate too high. It is small beside an eighth of what is left.
 *
 * Context: any.
 * Return: rate at which the floors of what is used rise, granules an hour; 0: they do not.
 */
u32 seep_machine_feed(struct seep_machine *m, u64 now_ns, u64 left, const struct seep_conf *c)
{
	struct seep_sample s = {
		.time_ns = now_ns, .headroom = left, .full = true, .page_shift = 12
	};
	struct seep_verdict v;

	if (left > m->most) {
		m->most = left;
		seep_det_init(&m->det, &m->watch, now_ns);
	}
	s.anon = m->most - left;
	s.vsz = s.anon;
	s.error = (u32)(m->most >> MACHINE_ERROR_SHIFT < 0xffffffffU ?
			m->most >> MACHINE_ERROR_SHIFT : 0xffffffffU);
	seep_det_feed(&m->det, &s, c, &v);
	return seep_bytes(v.floor - v.v0) < left >> MACHINE_RISE_SHIFT ? 0 : v.rate;
}
