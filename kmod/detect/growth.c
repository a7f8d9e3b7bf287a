// SPDX-License-Identifier: GPL-2.0
/*
 * Growth: from the runs of all levels to begin, rise, time to exhaustion and patience.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "growth.h"

#define PATIENCE_SHARE		12	/* 1/12 of the time to exhaustion at least */
#define PATIENCE_LESS_SHARE	48	/* minus 1/48 of its first ten minutes: 1/16 in all */
#define PATIENCE_LESS_DS	(10 * SEEP_MINUTE_DS)
#define PATIENCE_MORE_SHARE	3	/* plus 1/3 of what exceeds this */
#define PATIENCE_MORE_DS	(90 * SEEP_MINUTE_DS)
#define PATIENCE_PERCENT	21	/* of tte, at most; that is 17 % of the runway */
#define PATIENCE_MIN_DS		(20 * SEEP_DS_PER_S)
#define PATIENCE_MAX_DS		(14 * SEEP_HOUR_DS)	/* longer than half of a day's load */
#define PATIENCE_VSZ_DS		(6 * SEEP_HOUR_DS)	/* where nothing limits address space */
#define ONSET_DS		(3 * SEEP_DS_PER_S)
#define LATE_STEPS		4	/* of the seven steps of a level: its second half */

/* Add the levels of one series that have a run to the growth @g. */
static void look(struct seep_growth *g, const struct seep_ladder *s, const struct seep_level *r,
		 const struct seep_run *run, const struct seep_clock *clk, u32 nlev, u32 epochs)
{
	u32 j;

	for (j = 0; j < nlev; j++, r++, run++) {
		if (!(s->runs >> j & 1))
			continue;
		if (!g->seen || run->t0 < g->t0) {
			g->t0 = run->t0;
			g->v0 = seep_floor_unpack(run->v0);
		}
		if (!g->seen || run->t1 > g->t1) {
			g->t1 = run->t1;
			g->floor = seep_floor(r, epochs >> j, 0);
		}
		if (run->strict > g->strict)
			g->strict = run->strict;
		g->below.level = NULL;
		if (j && s->runs >> (j - 1) & 1)
			g->below = (struct seep_level_view){ r - 1, epochs >> (j - 1) };
		g->top = (struct seep_level_view){ r, epochs >> j };
		g->window = seep_span(&clk[j], SEEP_MINIMA);
		g->seen = true;
	}
}

/*
 * How long growth must have lasted before it is suspected, by its time to exhaustion
 * @tte_ds. The later memory ends, the longer the detector may wait for growth to level
 * off. It must leave enough of the runway, which is the time from the begin of the growth
 * to exhaustion: nine tenths up to one and a half hours, four fifths beyond, counted when
 * the growth is confirmed.
 *
 * For example a leak that fills memory in 20 minutes (12000 ds):
 *
 *	at its begin	12000 / 12 - 6000 / 48 = 875 ds of patience, 88 s
 *	suspected	after 81 s, when 1119 s are left (93 % of the runway)
 *	confirmed	after 88 s, at 110 % of patience
 *
 * A leak that needs a day (864000 ds):
 *
 *	at its begin	864000 / 12 - 125 + (864000 - 54000) / 3 = 341875 ds, above the
 *			limit of 21 %: 181440 ds of patience, 5 h
 *	suspected	after 4 h 10 min, when 83 % of the runway are left
 *	confirmed	after 4 h 30 min, when 81 % are left
 *
 * A leak that needs a week has the longest patience, 14 h.
 */
static u32 patience(u64 tte_ds)
{
	u64 wait = seep_div(tte_ds, PATIENCE_SHARE), most;

	wait -= (tte_ds < PATIENCE_LESS_DS ? (u32)tte_ds : PATIENCE_LESS_DS) / PATIENCE_LESS_SHARE;
	if (tte_ds > PATIENCE_MORE_DS)
		wait += seep_div(tte_ds - PATIENCE_MORE_DS, PATIENCE_MORE_SHARE);
	most = seep_div(tte_ds, 100) * PATIENCE_PERCENT;
	if (wait > most)
		wait = most;
	if (wait < PATIENCE_MIN_DS)
		return PATIENCE_MIN_DS;
	return wait < PATIENCE_MAX_DS ? (u32)wait : PATIENCE_MAX_DS;
}

/*
 * Set time to exhaustion and patience. The rate is that since g->t0, or that of the
 * second half of the longest level where this is slower. @headroom in bytes.
 */
static void project(struct seep_growth *g, u64 headroom)
{
	u32 rise = seep_rise(g), span = g->t1 - g->t0, late;
	u64 tte, left = seep_granules(headroom);

	g->tte_ds = SEEP_UNKNOWN;
	g->patience = PATIENCE_MAX_DS;
	if (!rise)
		return;
	/* factors are below 2^32 and those of epochs below 2^29: the products fit 64 bits */
	g->tte_ds = seep_div(left * span, rise);
	late = seep_floor(g->top.level, g->top.closed, 0) -
	       seep_floor(g->top.level, g->top.closed, LATE_STEPS);
	if (late) {
		tte = seep_div(left * LATE_STEPS * (g->window / (SEEP_MINIMA - 1)), late);
		if (tte > g->tte_ds)
			g->tte_ds = tte;
	}
	g->patience = patience(g->tte_ds);
}

/**
 * seep_growth_find() - growth of memory held
 * @d: history, not changed
 * @s: the sample that was fed last
 * @g: the growth out; g->seen tells whether there is one
 *
 * The fast levels come first: a longer level with a run overrides their shape.
 *
 * Context: any.
 */
void seep_growth_find(const struct seep_det *d, const struct seep_sample *s,
		      struct seep_growth *g)
{
	const struct seep_watch *w = d->w;

	memset(g, 0, sizeof(*g));
	g->subject = SEEPAGE_SUBJECT_MEMORY;
	if (!w)
		return;
	look(g, &w->fast, w->fast_level, w->fast_run, w->fast_clock, SEEP_FAST_LEVELS,
	     w->fast_epochs);
	if (g->seen && g->t0 <= w->t_watch + ONSET_DS && w->onset_v <= g->v0) {
		g->t0 = w->onset_t;	/* it has risen ever since the watch began */
		g->v0 = w->onset_v;
	}
	look(g, &d->mem, d->mem_level, w->mem_run, d->clock, SEEP_SLOW_LEVELS, d->epochs);
	if (g->seen)
		project(g, s->headroom);
}

/**
 * seep_growth_find_vsz() - growth of unheld address space
 * @d: history, not changed
 * @s: the sample that was fed last
 * @g: the growth out; g->seen tells whether there is one
 *
 * Address space that is never touched costs no memory. It is exhausted at RLIMIT_AS, or
 * never; then its patience is fixed.
 *
 * Context: any.
 */
void seep_growth_find_vsz(const struct seep_det *d, const struct seep_sample *s,
			  struct seep_growth *g)
{
	memset(g, 0, sizeof(*g));
	g->subject = SEEPAGE_SUBJECT_VSZ;
	if (!d->w)
		return;
	look(g, &d->vsz, d->vsz_level, d->w->vsz_run, d->clock + SEEP_VSZ_SHIFT, SEEP_VSZ_LEVELS,
	     d->epochs >> SEEP_VSZ_SHIFT);
	if (!g->seen)
		return;
	if (s->limit == SEEPAGE_LIMIT_AS) {
		project(g, s->headroom);
	} else {
		g->tte_ds = SEEP_UNKNOWN;
		g->patience = PATIENCE_VSZ_DS;
	}
}
