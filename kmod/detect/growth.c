// SPDX-License-Identifier: GPL-2.0
/*
 * From the floors that rise to a growth: since when, by how much, how long until
 * memory is exhausted, and how long it has to go on to be an accusation.
 */
#include "growth.h"

#define DS_PER_S		10U
#define HOUR_DS			(3600 * DS_PER_S)
#define PATIENCE_SHARE		12	/* of the time to exhaustion, at least */
#define PATIENCE_LESS_SHARE	48	/* off, of what is short: a sixteenth */
#define PATIENCE_LESS_DS	(600 * DS_PER_S)
#define PATIENCE_MORE_SHARE	3	/* on top, of what is longer than this */
#define PATIENCE_MORE_DS	(5400 * DS_PER_S)
#define PATIENCE_PERCENT	21	/* of it at most: 17 of the runway */
#define PATIENCE_MIN_DS		(20 * DS_PER_S)
#define PATIENCE_MAX_DS		(14 * HOUR_DS)	/* longer than what half a day brings */
#define PATIENCE_VSZ_DS		(6 * HOUR_DS)	/* where nothing limits address space */
#define ONSET_DS		(3 * DS_PER_S)
#define LATE_STEPS		4	/* the second half of seven, and a little more */

static void look(struct seep_growth *g, const struct seep_rungs *s, const struct seep_rung *r,
		 const struct seep_clock *clk, u32 nlev, u32 epochs)
{
	u32 j;

	for (j = 0; j < nlev; j++, r++) {
		if (!(s->runs >> j & 1))
			continue;
		if (!g->seen || r->run_t0 < g->t0) {
			g->t0 = r->run_t0;
			g->v0 = seep_floor_unpack(r->run_v0);
		}
		if (!g->seen || r->run_t1 > g->t1) {
			g->t1 = r->run_t1;
			g->floor = seep_floor(r, epochs >> j, 0);
		}
		if (r->strict > g->strict)
			g->strict = r->strict;
		g->below.r = NULL;
		if (j && s->runs >> (j - 1) & 1)
			g->below = (struct seep_level){ r - 1, epochs >> (j - 1) };
		g->top = (struct seep_level){ r, epochs >> j };
		g->window = seep_span(&clk[j], SEEP_MINIMA);
		g->seen = true;
	}
}

/*
 * How long growth must go on before it is an accusation: the longer, the later memory
 * ends. Who is told of what ends within an hour and a half is to have nine tenths of
 * its runway left. Beyond that it is as long as can be, for what levels off to do so,
 * if four fifths are to be left when it is confirmed.
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
 * Time to exhaustion, deciseconds: at the rise since g->t0, or at that of the second
 * half of the window where it is slower.
 */
static void project(struct seep_growth *g, u64 room)
{
	u32 rise = seep_rise(g), span = g->t1 - g->t0, late;
	u64 tte, left = seep_granules(room);

	g->tte_ds = SEEP_UNKNOWN;
	g->patience = PATIENCE_MAX_DS;
	if (!rise)
		return;
	/* factors below 2^32, of epochs below 2^29: the products fit */
	g->tte_ds = seep_div(left * span, rise);
	late = seep_floor(g->top.r, g->top.closed, 0) -
	       seep_floor(g->top.r, g->top.closed, LATE_STEPS);
	if (late) {
		tte = seep_div(left * LATE_STEPS * (g->window / (SEEP_MINIMA - 1)), late);
		if (tte > g->tte_ds)
			g->tte_ds = tte;
	}
	g->patience = patience(g->tte_ds);
}

/* Fast levels first: a longer one that runs is the better judge of the shape. */
void seep_growth_find(const struct seep_det *d, const struct seep_sample *s,
		      struct seep_growth *g)
{
	memset(g, 0, sizeof(*g));
	g->series = SEEPAGE_SERIES_MEMORY;
	look(g, &d->fast, d->fast_rung, d->fast_clock, SEEP_FAST_LEVELS, d->fast_epochs);
	if (g->seen && g->t0 <= d->t_watch + ONSET_DS && d->onset_v <= g->v0) {
		g->t0 = d->onset_t;	/* rising ever since the watch began */
		g->v0 = d->onset_v;
	}
	look(g, &d->mem, d->mem_rung, d->clock, SEEP_SLOW_LEVELS, d->epochs);
	if (g->seen)
		project(g, s->headroom);
}

/* Address space that is never touched ends at a limit of its own, or nowhere. */
void seep_growth_find_vsz(const struct seep_det *d, const struct seep_sample *s,
			  struct seep_growth *g)
{
	memset(g, 0, sizeof(*g));
	g->series = SEEPAGE_SERIES_VSZ;
	look(g, &d->vsz, d->vsz_rung, d->clock + SEEP_VSZ_SHIFT, SEEP_VSZ_LEVELS,
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
