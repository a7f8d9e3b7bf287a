// SPDX-License-Identifier: GPL-2.0
/*
 * Figures for display: fault rate, growth, severity. None of them has a part in a
 * verdict of the policy ladder; the fault rate has in one of classic.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "detect.h"

#define SHOWN_DS	(10 * SEEP_MINUTE_DS)
#define SOON_S		3600
#define OWN_LIMIT_MOST	6	/* severity */
#define OWN_LIMIT_SHIFT	3	/* all that a small process may hold is an eighth of RAM left */

/**
 * seep_det_fault_rate() - page faults a second, up to the sample @s
 * @d: history, not changed
 * @s: the sample that was fed last, or a newer one
 * @window_s: over so many seconds, or over as many as are known; at most 150
 *
 * Context: any.
 * Return: faults a second; 0 when no time has passed.
 */
u32 seep_det_fault_rate(const struct seep_det *d, const struct seep_sample *s,
			u32 window_s)
{
	const struct seep_point *old = seep_point(d, 0);
	u32 now = seep_ds(s->time_ns), faults, i;

	for (i = 0; i < d->wn; i++) {
		old = seep_point(d, i);
		if (now - old->t >= window_s * SEEP_DS_PER_S)
			break;
	}
	faults = (u32)s->faults - old->faults;
	if (!faults || now <= old->t)
		return 0;
	return (u32)seep_div((u64)faults * SEEP_DS_PER_S, now - old->t);
}

/* Growth over the floors that level @j remembers, bytes an hour; 0: fewer than two. */
static s64 level_growth(const struct seep_det *d, u32 j)
{
	u32 closed = d->epochs >> j, n = seep_known(d->epochs, j);
	u32 new = seep_floor(&d->mem_level[j], closed, 0);
	u32 old = seep_floor(&d->mem_level[j], closed, n - 1);
	u32 span = seep_span(&d->clock[j], closed);
	u64 rate;

	if (n < 2 || !span)
		return 0;
	rate = seep_div(seep_bytes(new > old ? new - old : old - new) * SEEP_HOUR_DS, span);
	return new >= old ? (s64)rate : -(s64)rate;
}

/* The one nearer to 0; 0 where one rises and the other does not. */
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
 * @v: its verdict
 * @bytes_per_hour: the growth out
 *
 * Growth that the verdict is about is shown as it is judged. Other growth is shown as
 * the lesser of two rates: that of the last ten minutes, and that of the last seven full
 * samples. It is 0 where one of the two does not rise (or fall) as the other does.
 * A process that has come to rest therefore shows 0 after eight full samples.
 *
 * Context: any.
 * Return: false when too few samples are known.
 */
bool seep_det_growth(const struct seep_det *d, const struct seep_verdict *v,
		     s64 *bytes_per_hour)
{
	u32 j, lev = 0;

	if (v->t1 > v->t0 && v->floor > v->v0) {
		*bytes_per_hour = (s64)seep_div(seep_bytes(v->floor - v->v0) * SEEP_HOUR_DS,
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

/* Policy classic: by RSS in MiB. */
static u8 severity_by_size(u64 mb)
{
	return mb > 8192 ? 10 : mb > 4096 ? 8 : mb > 1024 ? 6 :
	       mb > 512 ? 4 : mb > 128 ? 2 : 1;
}

/**
 * seep_own_limit() - does a limit of its own keep a process small?
 * @s: its sample, with the limit that it meets first
 * @left: bytes that RAM and cgroup leave
 *
 * A process may set RLIMIT_AS and RLIMIT_DATA for itself, and a 32-bit one has 4 GB of
 * addresses at most. It can exhaust no more than that then, whatever its pace. Close to the
 * end of the machine it is small no more.
 *
 * For example a process holds 10 MB and may take another 6 MB. It is small while more than
 * 128 MB are left.
 *
 * Context: any.
 */
bool seep_own_limit(const struct seep_sample *s, u64 left)
{
	return (s->limit == SEEPAGE_LIMIT_AS || s->limit == SEEPAGE_LIMIT_DATA ||
		s->limit == SEEPAGE_LIMIT_TASK_SIZE) &&
	       left >> OWN_LIMIT_SHIFT > seep_held(s) + s->headroom;
}

static u8 severity_by_state(const struct seep_verdict *v)
{
	bool soon = v->tte_s < SOON_S;	/* SEEP_UNKNOWN is the largest value */

	switch ((enum seepage_state)v->state) {
	case SEEPAGE_STATE_RUNAWAY:
		return 10;
	case SEEPAGE_STATE_CONFIRMED:
		return soon ? 10 : 8;
	case SEEPAGE_STATE_SUSPECTED:
		return soon ? 8 : 6;
	case SEEPAGE_STATE_WATCH:
		return 2;
	case SEEPAGE_STATE_OK:
	case SEEPAGE_STATE_RECOVERED:
	case SEEPAGE_STATE_EXITED:
	case __SEEPAGE_STATE_MAX:
		break;
	}
	return 1;
}

/**
 * seep_severity() - how urgent a verdict is
 * @v: the verdict, or that of an alert; its state counts
 * @rss_bytes: RSS; counts under the policy classic alone
 * @own_limit: seep_own_limit(); does not count under classic
 *
 * An alert is one step more severe when memory is exhausted within an hour. What a process
 * does to its own limit alone has a severity of 6 at most.
 *
 * Context: any.
 * Return: 1, 2, 4, 6, 8 or 10.
 */
u8 seep_severity(const struct seep_verdict *v, u64 rss_bytes, bool own_limit)
{
	u8 severity;

	if (v->policy == SEEPAGE_POLICY_CLASSIC)
		return severity_by_size(rss_bytes >> 20);
	severity = severity_by_state(v);
	return own_limit && severity > OWN_LIMIT_MOST ? OWN_LIMIT_MOST : severity;
}
