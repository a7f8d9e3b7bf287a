// SPDX-License-Identifier: GPL-2.0
/*
 * The evidence of the policy ladder: what is known of a growth, and how many points
 * that is worth. Behind a closed gate (verdict_ladder.c) no points help.
 */
#include "growth.h"
#include "pmc.h"

#define DS_PER_S		10U
#define HOUR_DS			(3600 * DS_PER_S)
#define COLD_PERMILLE		900
#define COLD_FRESH_DS		(14 * HOUR_DS)

/*
 * Whether the growth is used was looked at since it began, and not too long ago:
 * looks are the further apart the longer the growth has been looked at.
 */
bool seep_cold_known(const struct seep_sample *s, const struct seep_growth *g)
{
	u32 at = seep_ds(s->cold_ns), now = seep_ds(s->time_ns), fresh = HOUR_DS;

	if (!s->cold_ns || at < g->t0)
		return false;
	if (at > now)		/* it came after the sample that is shown once more */
		return true;
	if (g->patience > fresh)
		fresh = g->patience;
	if (at - g->t0 > fresh)
		fresh = at - g->t0 < COLD_FRESH_DS ? at - g->t0 : COLD_FRESH_DS;
	return now - at <= 2 * fresh;
}

/*
 * Points for floors in order. A longer level that begins to confirm the rise
 * may have equal steps where a shorter one has none: that is no less.
 */
static void factor_floor(struct seep_verdict *v, const struct seep_growth *g)
{
	seep_add_factor(v, SEEPAGE_FACTOR_FLOOR, g->strict >= SEEP_MINIMA - 1 ? 30 : 24, 30,
			(s64)seep_bytes(seep_rise(g)), (s64)seep_bytes(g->v0));
}

/* And for how long, beyond what was asked for. */
static void factor_persist(struct seep_verdict *v, const struct seep_growth *g)
{
	u32 span = g->t1 - g->t0;
	u64 ratio = seep_div(1000ULL * span, g->patience), points;

	if (ratio <= 1000)
		points = 38 * (u32)ratio / 1000;
	else
		points = 38 + (ratio >= 1500 ? 10 : 10 * ((u32)ratio - 1000) / 500);
	seep_add_factor(v, SEEPAGE_FACTOR_PERSIST, (s8)points, 48, span / DS_PER_S,
			g->patience / DS_PER_S);
}

static void factor_release(struct seep_verdict *v, const struct seep_det *d)
{
	u64 up = d->up >> SEEP_GRANULE_SHIFT, down = d->down >> SEEP_GRANULE_SHIFT;
	u64 share = up ? seep_div(down < up ? down * 1000 : up * 1000, up) : 0;

	seep_add_factor(v, SEEPAGE_FACTOR_RELEASE,
			share >= 500 ? 0 : (s8)(10 - (u32)share / 50), 10, (s64)share, 0);
}

/* Pages kept of each page that was faulted in: churn keeps none, a leak all. */
static void factor_retain(struct seep_verdict *v, const struct seep_det *d,
			  const struct seep_sample *s)
{
	u64 faults = s->faults_anon - d->faults_anon0, pages = 0, share = 1000;

	if (d->last_v > d->watch_v0)
		pages = seep_bytes(d->last_v - d->watch_v0) >> s->page_shift;
	if (faults)
		share = seep_div(pages < 1ULL << 50 ? pages * 1000 : 0, faults);
	else if (!pages)
		share = 0;
	if (share > 1000000)
		share = 1000000;
	seep_add_factor(v, SEEPAGE_FACTOR_RETAIN,
			share >= 800 ? 12 : (s8)(12 * (u32)share / 800), 12, (s64)share, 1000);
}

/* Growth that nobody uses again; not known is no points and no veto. */
static void factor_cold(struct seep_verdict *v, const struct seep_sample *s,
			const struct seep_growth *g)
{
	if (seep_cold_known(s, g))
		seep_add_factor(v, SEEPAGE_FACTOR_COLD, s->cold >= COLD_PERMILLE ? 12 : 0, 12,
				s->cold, COLD_PERMILLE);
}

/* Growth that brings no misses is not used; not known is no points. */
static void factor_pmc(struct seep_verdict *v, const struct seep_sample *s)
{
	if (s->pmc)
		seep_add_factor(v, SEEPAGE_FACTOR_PMC, seep_pmc_points(s->pmc), SEEP_PMC_POINTS,
				s->pmc, SEEP_PMC_FLAT);
}

/* Gained in its pages since its first sample under watch, granules. */
static u32 gained(u32 now, u32 then)
{
	return now > then ? now - then : 0;
}

/* A granule or two that come and go say nothing of what it gains. */
#define LEAST_GAINED		(1U << (20 - SEEP_GRANULE_SHIFT))

/* What its growth is made of. Leaks are of all kinds: no points. */
static void factor_kind(struct seep_verdict *v, const struct seep_det *d,
			const struct seep_sample *s)
{
	const struct seep_then *then = &d->then;
	u32 all = gained(d->last_v, then->held), part[__SEEPAGE_GREW_MAX], rest, most = 0, i;
	u64 share;

	if (!then->cpu_ms || !s->cpu_ms || all < LEAST_GAINED)
		return;
	part[SEEPAGE_GREW_SHMEM] = gained(seep_granules(s->shmem), then->shmem);
	part[SEEPAGE_GREW_PGTABLES] = gained(seep_granules(s->pgtables), then->pgtables);
	rest = gained(gained(all, part[SEEPAGE_GREW_SHMEM]), part[SEEPAGE_GREW_PGTABLES]);
	part[SEEPAGE_GREW_HEAP] = gained(s->heap, then->heap);
	if (part[SEEPAGE_GREW_HEAP] > rest)
		part[SEEPAGE_GREW_HEAP] = rest;
	part[SEEPAGE_GREW_MAPPED] = rest - part[SEEPAGE_GREW_HEAP];
	for (i = 1; i < __SEEPAGE_GREW_MAX; i++)
		if (part[i] > part[most])
			most = i;
	share = seep_div(1000ULL * part[most], all);
	seep_add_factor(v, SEEPAGE_FACTOR_KIND, 0, 0, share < 1000 ? (s64)share : 1000, most);
}

/*
 * How much it gains for the work it does. What that is worth no recording tells yet: no
 * points.
 */
static void factor_work(struct seep_verdict *v, const struct seep_det *d,
			const struct seep_sample *s)
{
	u32 all = gained(d->last_v, d->then.held), ms = s->cpu_ms - d->then.cpu_ms;

	if (!d->then.cpu_ms || !s->cpu_ms || all < LEAST_GAINED || !ms)
		return;
	if (d->then.cpu_ms == SEEP_CPU_UNKNOWN || s->cpu_ms == SEEP_CPU_UNKNOWN)
		return;
	seep_add_factor(v, SEEPAGE_FACTOR_WORK, 0, 0,
			(s64)seep_div(1000 * seep_bytes(all), ms), ms);
}

/*
 * Whether the others of its name grow as well: what a program does by design they do,
 * and so they do if all of them leak. No points.
 */
static void factor_pop(struct seep_verdict *v, const struct seep_sample *s)
{
	if (s->peers && !s->group)
		seep_add_factor(v, SEEPAGE_FACTOR_POP, 0, 0, s->peers_growing, s->peers);
}

/* The points of one that does not grow. */
void seep_points_none(struct seep_verdict *v)
{
	seep_add_factor(v, SEEPAGE_FACTOR_FLOOR, 0, 30, 0, 0);
	seep_add_factor(v, SEEPAGE_FACTOR_PERSIST, 0, 48, 0, 0);
	seep_add_factor(v, SEEPAGE_FACTOR_RELEASE, 0, 10, 0, 0);
	seep_add_factor(v, SEEPAGE_FACTOR_RETAIN, 0, 12, 0, 1000);
}

/**
 * seep_points_add() - what a growth has for and against it
 * @v: factors and confidence are added
 * @d: history, not changed
 * @s: the sample
 * @g: the growth
 */
void seep_points_add(struct seep_verdict *v, const struct seep_det *d,
		     const struct seep_sample *s, const struct seep_growth *g)
{
	int sum = 0;
	u32 i;

	factor_floor(v, g);
	factor_persist(v, g);
	if (g->series == SEEPAGE_SERIES_MEMORY) {
		factor_release(v, d);
		factor_retain(v, d, s);
		factor_cold(v, s, g);
		factor_pmc(v, s);
	}
	for (i = 0; i < v->nfactors; i++)
		sum += v->factor[i].points;
	v->confidence = sum < 0 ? 0 : sum < 100 ? (u8)sum : 100;
}

/**
 * seep_points_tell() - what has no points, for who reads the verdict
 * @v: factors are added
 * @d: history, not changed
 * @s: the sample
 *
 * Most verdicts are read by nobody: this is not part of seep_points_add().
 */
void seep_points_tell(struct seep_verdict *v, const struct seep_det *d,
		      const struct seep_sample *s)
{
	if (v->policy != SEEPAGE_POLICY_LADDER || v->series != SEEPAGE_SERIES_MEMORY || !v->t1)
		return;
	factor_kind(v, d, s);
	factor_work(v, d, s);
	factor_pop(v, s);
}
