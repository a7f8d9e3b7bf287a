// SPDX-License-Identifier: GPL-2.0
/*
 * What is shown of a history: rate of faults, growth, severity.
 */
#include "detect.h"

#define DS_PER_S	10U
#define HOUR_DS		(3600 * DS_PER_S)
#define SHOWN_DS	(600 * DS_PER_S)
#define SOON_S		3600

/**
 * seep_det_fault_rate() - faults per second up to the sample @s
 * @d: history, not changed
 * @s: the sample that was fed last, or a newer one
 * @window_s: over this many seconds, or as many as are known; at most 150
 */
u32 seep_det_fault_rate(const struct seep_det *d, const struct seep_sample *s,
			u32 window_s)
{
	const struct seep_point *old = seep_point(d, 0);
	u32 now = seep_ds(s->time_ns), faults, i;

	for (i = 0; i < d->wn; i++) {
		old = seep_point(d, i);
		if (now - old->t >= window_s * DS_PER_S)
			break;
	}
	faults = (u32)s->faults - old->faults;
	if (!faults || now <= old->t)
		return 0;
	return (u32)seep_div((u64)faults * DS_PER_S, now - old->t);
}

/* Growth over the floors that a level remembers, two at least; bytes per hour. */
static s64 level_growth(const struct seep_det *d, u32 j)
{
	u32 closed = d->epochs >> j, n = seep_known(d->epochs, j);
	u32 new = seep_floor(&d->mem_rung[j], closed, 0);
	u32 old = seep_floor(&d->mem_rung[j], closed, n - 1);
	u32 span = seep_span(&d->clock[j], closed);
	u64 rate;

	if (n < 2 || !span)
		return 0;
	rate = seep_div(seep_bytes(new > old ? new - old : old - new) * HOUR_DS, span);
	return new >= old ? (s64)rate : -(s64)rate;
}

/* The one that is nearer to zero, which lies between two that disagree. */
static s64 lesser(s64 a, s64 b)
{
	bool rises = a > 0, other_rises = b > 0;

	if (rises != other_rises)
		return 0;
	return rises == (a < b) ? a : b;
}

/**
 * seep_det_growth() - growth of the floor, for display
 * @d: history, not changed
 * @v: its verdict: growth that is under judgement is shown as it is judged
 * @bytes_per_hour: else what both the last ten minutes (or what is known of a
 *	younger process) and the last seven samples agree on: the lesser of the
 *	two, 0 when one of them does not rise (or fall) as the other does. What
 *	has come to rest is shown so after eight samples.
 *
 * Return: false when too little is known.
 */
bool seep_det_growth(const struct seep_det *d, const struct seep_verdict *v,
		     s64 *bytes_per_hour)
{
	u32 j, lev = 0;

	if (v->t1 > v->t0 && v->floor > v->v0) {
		*bytes_per_hour = (s64)seep_div(seep_bytes(v->floor - v->v0) * HOUR_DS,
						v->t1 - v->t0);
		return true;
	}
	if (d->epochs < 3 || !d->clock[0].sum)
		return false;
	for (j = 1; j < SEEP_SLOW_LEVELS; j++)
		if (d->epochs >> j >= SEEP_MINIMA &&
		    seep_span(&d->clock[j], SEEP_MINIMA) <= SHOWN_DS)
			lev = j;
	*bytes_per_hour = lesser(level_growth(d, lev), level_growth(d, 0));
	return true;
}

static u8 severity_by_size(u64 mb)
{
	return mb > 8192 ? 10 : mb > 4096 ? 8 : mb > 1024 ? 6 :
	       mb > 512 ? 4 : mb > 128 ? 2 : 1;
}

/**
 * seep_severity() - how much it matters
 * @v: what is said of the process; its state counts, be it that of an alert
 * @rss_bytes: resident set
 *
 * Return: by the state, an alert one step higher when memory is exhausted
 * within an hour; under the policy classic by the size alone.
 */
u8 seep_severity(const struct seep_verdict *v, u64 rss_bytes)
{
	bool soon = v->tte_s < SOON_S;	/* SEEP_UNKNOWN is the largest */

	if (v->policy == SEEPAGE_POLICY_CLASSIC)
		return severity_by_size(rss_bytes >> 20);
	switch (v->state) {
	case SEEPAGE_STATE_RUNAWAY:
		return 10;
	case SEEPAGE_STATE_CONFIRMED:
		return soon ? 10 : 8;
	case SEEPAGE_STATE_SUSPECTED:
		return soon ? 8 : 6;
	case SEEPAGE_STATE_WATCH:
		return 2;
	default:
		return 1;
	}
}
