// SPDX-License-Identifier: GPL-2.0
/*
 * From the floors that rise to a growth: since when, by how much, how long until
 * memory is exhausted, and how long it has to go on to be an accusation.
 */
#include "growth.h"

#define DS_PER_S		10U
#define HOUR_DS			(3600 * DS_PER_S)
#define PATIENCE_SHARE		12	/* of the time to exhaustion, at least; 6 of a long one */
#define PATIENCE_LESS_SHARE	48	/* off, of what is short: a sixteenth */
#define PATIENCE_LESS_DS	(600 * DS_PER_S)
#define PATIENCE_MORE_SHARE	12	/* on top, of what is longer than this */
#define PATIENCE_MORE_DS	(2 * HOUR_DS)
#define PATIENCE_MIN_DS		(20 * DS_PER_S)
#define PATIENCE_MAX_DS		(14 * HOUR_DS)	/* longer than what half a day brings */
#define PATIENCE_VSZ_DS		(6 * HOUR_DS)	/* where nothing limits address space */
#define ONSET_DS		(3 * DS_PER_S)

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
		g->top = r;
		g->closed = epochs >> j;
		g->window = seep_span(&clk[j], SEEP_MINIMA);
		g->seen = true;
	}
}

/*
 * How long growth must go on before it is an accusation: the later memory ends,
 * the longer; a twelfth of the time that is left, a sixth where that is long
 * and there is time to see whether it levels off, a sixteenth within ten minutes.
 */
static u32 patience(u64 tte_ds)
{
	u64 wait = seep_div(tte_ds, PATIENCE_SHARE);

	wait -= (tte_ds < PATIENCE_LESS_DS ? (u32)tte_ds : PATIENCE_LESS_DS) / PATIENCE_LESS_SHARE;
	if (tte_ds > PATIENCE_MORE_DS)
		wait += seep_div(tte_ds - PATIENCE_MORE_DS, PATIENCE_MORE_SHARE);
	if (wait < PATIENCE_MIN_DS)
		return PATIENCE_MIN_DS;
	return wait < PATIENCE_MAX_DS ? (u32)wait : PATIENCE_MAX_DS;
}

/* Time to exhaustion at a rise of g->floor - g->v0 since g->t0, deciseconds. */
static void project(struct seep_growth *g, u64 room)
{
	g->tte_ds = SEEP_UNKNOWN;
	g->patience = PATIENCE_MAX_DS;
	if (!seep_rise(g))
		return;
	/* both below 2^32: the product fits */
	g->tte_ds = seep_div((u64)seep_granules(room) * (g->t1 - g->t0), seep_rise(g));
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
