// SPDX-License-Identifier: GPL-2.0
/*
 * The factors of the policy ladder: what is known of a growth, and its points. The points
 * add up to the confidence. They cannot outvote a gate (verdict_ladder.c).
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "growth.h"
#include "pmu.h"

/*
 * The points of each factor. FLOOR, PERSIST, RELEASE and RETAIN are known of every growth
 * of memory and add up to 100. COLD and PMC come on top where they are known. KIND, WORK
 * and POP inform the reader and have no points.
 */
#define FLOOR_POINTS		30	/* all seven steps of a level rise */
#define FLOOR_POINTS_EQUAL	24	/* none of the seven falls, and one or more are equal */
#define PERSIST_POINTS_DUE	38	/* the growth has lasted for its patience */
#define PERSIST_POINTS_MORE	10	/* more, at PERSIST_FULL permille of it */
#define PERSIST_POINTS		(PERSIST_POINTS_DUE + PERSIST_POINTS_MORE)
#define RELEASE_POINTS		10	/* nothing was released */
#define RETAIN_POINTS		12	/* RETAIN_FULL of the faulted pages are kept */
#define COLD_POINTS		12	/* SEEP_COLD_PERMILLE of the growth is not used again */
/* SEEP_PMU_POINTS		 6 when misses do not rise, -6 when they do (pmu.h) */

/* Permille at which a factor has all of its points, or none. */
#define PERSIST_DUE		1000
#define PERSIST_FULL		1500
#define RELEASE_NONE		500
#define RETAIN_FULL		800

#define COLD_FRESH_DS		(14 * SEEP_HOUR_DS)
#define LEAST_GAINED		SEEP_MIB	/* granules; below it KIND and WORK are noise */

/**
 * seep_cold_known() - is there a valid measurement of coldness?
 * @s: the sample
 * @g: the growth
 *
 * User space measures at growing intervals. A measurement is valid when it was made after
 * the growth began, and is not older than twice the longest of: an hour, the patience, the
 * age of the growth when it was measured (14 hours at most).
 *
 * Context: any.
 * Return: false: s->cold says nothing about this growth.
 */
bool seep_cold_known(const struct seep_sample *s, const struct seep_growth *g)
{
	u32 at = seep_ds(s->cold_ns), now = seep_ds(s->time_ns), fresh = SEEP_HOUR_DS;

	if (!s->cold_ns || at < g->t0)
		return false;
	if (at > now)		/* an old sample is shown with a newer measurement */
		return true;
	if (g->patience > fresh)
		fresh = g->patience;
	if (at - g->t0 > fresh)
		fresh = at - g->t0 < COLD_FRESH_DS ? at - g->t0 : COLD_FRESH_DS;
	return now - at <= 2 * fresh;
}

/*
 * The factors that each growth of memory has, in this order: their places in v->factor. Of
 * address space it has FLOOR and PERSIST.
 */
enum { AT_FLOOR, AT_PERSIST, AT_RELEASE, AT_RETAIN, AT_NR };

/* seep_add_factor() at a fixed place, which is written without a call. Return: @points. */
static inline int put_factor(struct seep_verdict *v, u32 at, u8 id, u32 points, u8 max,
			     s64 value, s64 baseline)
{
	v->factor[at].id = id;
	v->factor[at].points = (s8)points;
	v->factor[at].max = max;
	v->factor[at].value = value;
	v->factor[at].baseline = baseline;
	return (int)points;
}

/*
 * Points for floors in order. The strictest level counts: a longer level that confirms
 * the rise may have equal steps where a shorter one has none.
 */
static int factor_floor(struct seep_verdict *v, const struct seep_growth *g)
{
	return put_factor(v, AT_FLOOR, SEEPAGE_FACTOR_FLOOR,
			  g->strict >= SEEP_MINIMA - 1 ? FLOOR_POINTS : FLOOR_POINTS_EQUAL,
			  FLOOR_POINTS, (s64)seep_bytes(seep_rise(g)), (s64)seep_bytes(g->v0));
}

/*
 * Points for duration, compared with patience. For example growth of 90 s with a patience
 * of 120 s has a ratio of 750 and 38 * 750 / 1000 = 28 points; growth of 150 s has a
 * ratio of 1250 and 38 + 10 * 250 / 500 = 43 points.
 */
static int factor_persist(struct seep_verdict *v, const struct seep_growth *g)
{
	u32 span = g->t1 - g->t0;
	u64 ratio = seep_div(1000ULL * span, g->patience);
	u32 points;

	if (ratio <= PERSIST_DUE)
		points = PERSIST_POINTS_DUE * (u32)ratio / PERSIST_DUE;
	else if (ratio < PERSIST_FULL)
		points = PERSIST_POINTS_DUE + PERSIST_POINTS_MORE * ((u32)ratio - PERSIST_DUE) /
					      (PERSIST_FULL - PERSIST_DUE);
	else
		points = PERSIST_POINTS;
	return put_factor(v, AT_PERSIST, SEEPAGE_FACTOR_PERSIST, points, PERSIST_POINTS,
			  span / SEEP_DS_PER_S, g->patience / SEEP_DS_PER_S);
}

/* Points for memory that is not released: share of the bytes gained that came back. */
static int factor_release(struct seep_verdict *v, const struct seep_det *d)
{
	u64 up = d->up >> SEEP_GRANULE_SHIFT, down = d->down >> SEEP_GRANULE_SHIFT;
	u64 share = up ? seep_div(down < up ? down * 1000 : up * 1000, up) : 0;

	return put_factor(v, AT_RELEASE, SEEPAGE_FACTOR_RELEASE,
			  share >= RELEASE_NONE ? 0 :
			  RELEASE_POINTS - (u32)share / (RELEASE_NONE / RELEASE_POINTS),
			  RELEASE_POINTS, (s64)share, 0);
}

/* Pages kept of the pages faulted in since the watch began: churn keeps none, a leak all. */
static int factor_retain(struct seep_verdict *v, const struct seep_det *d,
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
	return put_factor(v, AT_RETAIN, SEEPAGE_FACTOR_RETAIN,
			  share >= RETAIN_FULL ? RETAIN_POINTS :
			  RETAIN_POINTS * (u32)share / RETAIN_FULL, RETAIN_POINTS, (s64)share,
			  1000);
}

/* Growth that is not used again. An unknown coldness gives no points and no veto. */
static int factor_cold(struct seep_verdict *v, const struct seep_sample *s,
		       const struct seep_growth *g)
{
	if (!seep_cold_known(s, g))
		return 0;
	return seep_add_factor(v, SEEPAGE_FACTOR_COLD,
			       s->cold >= SEEP_COLD_PERMILLE ? COLD_POINTS : 0, COLD_POINTS,
			       s->cold, SEEP_COLD_PERMILLE);
}

/* Growth without more LLC or TLB misses is not used. Unknown: no points. */
static int factor_pmc(struct seep_verdict *v, const struct seep_sample *s)
{
	if (!s->pmc)
		return 0;
	return seep_add_factor(v, SEEPAGE_FACTOR_PMC, seep_pmu_points(s->pmc), SEEP_PMU_POINTS,
			       s->pmc, SEEP_PMU_FLAT);
}

/* What the growth consists of. Leaks exist of every kind, so it has no points. */
static void factor_kind(struct seep_verdict *v, const struct seep_det *d,
			const struct seep_sample *s)
{
	const struct seep_baseline *base = &d->w->baseline;
	u32 all = seep_minus(d->last_v, base->held), part[__SEEPAGE_GREW_MAX], rest, most = 0, i;
	u64 share;

	if (!base->cpu_ms || !s->cpu_ms || all < LEAST_GAINED)
		return;
	part[SEEPAGE_GREW_SHMEM] = seep_minus(seep_granules(s->shmem), base->shmem);
	part[SEEPAGE_GREW_PGTABLES] = seep_minus(seep_granules(s->pgtables), base->pgtables);
	rest = seep_minus(seep_minus(all, part[SEEPAGE_GREW_SHMEM]), part[SEEPAGE_GREW_PGTABLES]);
	part[SEEPAGE_GREW_HEAP] = seep_minus(s->heap, base->heap);
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
 * Growth for the CPU time spent. No recording shows yet what that is worth, so it has no
 * points.
 */
static void factor_work(struct seep_verdict *v, const struct seep_det *d,
			const struct seep_sample *s)
{
	const struct seep_baseline *base = &d->w->baseline;
	u32 all = seep_minus(d->last_v, base->held), ms = s->cpu_ms - base->cpu_ms;

	if (!base->cpu_ms || !s->cpu_ms || all < LEAST_GAINED || !ms)
		return;
	if (base->cpu_ms == SEEP_CPU_UNKNOWN || s->cpu_ms == SEEP_CPU_UNKNOWN)
		return;
	seep_add_factor(v, SEEPAGE_FACTOR_WORK, 0, 0,
			(s64)seep_div(1000 * seep_bytes(all), ms), ms);
}

/*
 * How many other members of the group grow. They grow both when the program is designed
 * to grow and when every instance leaks, so it has no points.
 */
static void factor_pop(struct seep_verdict *v, const struct seep_sample *s)
{
	if (s->peers && !s->group)
		seep_add_factor(v, SEEPAGE_FACTOR_POP, 0, 0, s->peers_growing, s->peers);
}

/**
 * seep_points_none() - the factors of a process that does not grow
 * @v: factors are added, with no points
 *
 * Context: any.
 */
void seep_points_none(struct seep_verdict *v)
{
	static const u8 max[AT_NR] = {
		[AT_FLOOR] = FLOOR_POINTS, [AT_PERSIST] = PERSIST_POINTS,
		[AT_RELEASE] = RELEASE_POINTS, [AT_RETAIN] = RETAIN_POINTS,
	};
	u8 i;

	_Static_assert(SEEPAGE_FACTOR_RETAIN - SEEPAGE_FACTOR_FLOOR == AT_RETAIN, "in this order");
	for (i = 0; i < AT_NR; i++)
		seep_add_factor(v, SEEPAGE_FACTOR_FLOOR + i, 0, max[i], 0,
				i == AT_RETAIN ? 1000 : 0);
}

/**
 * seep_points_add() - the factors of a growth, and the confidence
 * @v: has no factors yet; factors and confidence are added
 * @d: history, not changed
 * @s: the sample
 * @g: the growth
 *
 * Context: any.
 */
void seep_points_add(struct seep_verdict *v, const struct seep_det *d,
		     const struct seep_sample *s, const struct seep_growth *g)
{
	int sum = factor_floor(v, g);

	sum += factor_persist(v, g);
	v->nfactors = AT_RELEASE;
	if (g->subject == SEEPAGE_SUBJECT_MEMORY) {
		sum += factor_release(v, d);
		sum += factor_retain(v, d, s);
		v->nfactors = AT_NR;
		sum += factor_cold(v, s, g);
		sum += factor_pmc(v, s);
	}
	v->confidence = sum < 0 ? 0 : sum < 100 ? (u8)sum : 100;
}

/**
 * seep_points_inform() - the factors without points, for display
 * @v: factors are added
 * @d: history, not changed
 * @s: the sample
 *
 * Not part of seep_points_add(), because most verdicts are never displayed.
 *
 * Context: any.
 */
void seep_points_inform(struct seep_verdict *v, const struct seep_det *d,
			const struct seep_sample *s)
{
	if (v->policy != SEEPAGE_POLICY_LADDER || v->subject != SEEPAGE_SUBJECT_MEMORY || !v->t1)
		return;
	factor_kind(v, d, s);
	factor_work(v, d, s);
	factor_pop(v, s);
}
