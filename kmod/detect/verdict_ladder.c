// SPDX-License-Identifier: GPL-2.0
/*
 * Policy "ladder": gates first, points behind them.
 *
 * A process is under watch while a floor rises. It is suspected when the rise
 * does not level off, has gone on for as long as its time to exhaustion asks
 * for, and would exhaust memory within a horizon a person plans in. No sum of
 * points can stand in for a gate that is closed.
 */
#include "detect.h"

#define DS_PER_S		10U
#define PATIENCE_SHARE		12	/* of the time to exhaustion */
#define PATIENCE_MIN_DS		(20 * DS_PER_S)
#define PATIENCE_MAX_DS		(24 * 3600 * DS_PER_S)
#define CONFIRM_PATIENCES	2
#define RUNAWAY_TTE_S		900
#define HORIZON_S		(180ULL * 24 * 3600)
#define SATURATION_PERMILLE	850
#define EARLY_TTE_S		7200
#define EARLY_STEPS		64	/* samples to exhaustion at this step */
#define EARLY_MIN_RISE		(4U << (20 - SEEP_GRANULE_SHIFT))
#define ONSET_DS		(3 * DS_PER_S)
#define CLOSED_CONFIDENCE	50	/* most that points show behind a closed gate */

struct growth {			/* what the running levels say together */
	const struct seep_level *top;	/* the longest one */
	u32 t0, t1;
	u32 v0, floor;
	u8 strict;		/* of the one whose floors rise most strictly */
	u64 tte_ds;
	u32 patience;		/* ds */
};

static void look(struct growth *g, const struct seep_level *lev, u32 runs,
		 u32 nlev, bool *seen)
{
	u32 j;

	for (j = 0; j < nlev; j++, lev++) {
		if (!(runs >> j & 1))
			continue;
		if (!*seen || lev->run_t0 < g->t0) {
			g->t0 = lev->run_t0;
			g->v0 = lev->run_v0;
		}
		if (!*seen || lev->run_t1 > g->t1) {
			g->t1 = lev->run_t1;
			g->floor = seep_level_min(lev, 0);
		}
		if (lev->strict > g->strict)
			g->strict = lev->strict;
		g->top = lev;
		*seen = true;
	}
}

/* Time to exhaustion at a rise of g->floor - g->v0 since g->t0, deciseconds. */
static void project(struct growth *g, u64 headroom)
{
	u64 rise = g->floor > g->v0 ? g->floor - g->v0 : 0, wait;

	g->tte_ds = SEEP_UNKNOWN;
	g->patience = PATIENCE_MAX_DS;
	if (!rise)
		return;
	/* both below 2^32: the product fits */
	g->tte_ds = seep_div((u64)seep_granules(headroom) * (g->t1 - g->t0), rise);
	wait = g->tte_ds / PATIENCE_SHARE;
	if (wait < PATIENCE_MIN_DS)
		wait = PATIENCE_MIN_DS;
	if (wait < g->patience)
		g->patience = (u32)wait;
}

/* Fast levels first: a longer one that runs is the better judge of the shape. */
static bool find_growth(const struct seep_det *d, const struct seep_sample *s,
			struct growth *g)
{
	bool seen = false;

	look(g, d->fast_lev, d->fast.runs, SEEP_FAST_LEVELS, &seen);
	if (seen && g->t0 <= d->t_watch + ONSET_DS && d->onset_v <= g->v0) {
		g->t0 = d->onset_t;	/* rising ever since the watch began */
		g->v0 = d->onset_v;
	}
	look(g, d->slow_lev, d->slow.runs, SEEP_SLOW_LEVELS, &seen);
	if (seen)
		project(g, s->headroom);
	return seen;
}

/* What a new process has it took itself: not what a fork gave it. */
static bool gained_since_birth(const struct seep_sample *s, u32 step_ms)
{
	return seep_div(s->age_ns, 1000000) <= 2ULL * step_ms &&
	       s->faults_anon >= (s->anon >> s->page_shift) / 2;
}

/**
 * seep_ladder_early() - is this growth too fast to wait for eight floors?
 * @d: history of the process
 * @s: the sample
 * @c: configuration in force
 *
 * Return: true when the last step alone, or three steps in a row, would
 * exhaust memory soon. Enough for the state watch and its faster samples,
 * never for an alert.
 */
bool seep_ladder_early(const struct seep_det *d, const struct seep_sample *s,
		       const struct seep_conf *c)
{
	const struct seep_level *lev = d->slow_lev;
	u32 step_ms = c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS];
	u32 now = seep_level_min(lev, 0), then, room = seep_granules(s->headroom);

	then = seep_level_min(lev, 1);	/* 0 before the first sample of a new process */
	if (!lev->n || now <= then || now - then < EARLY_MIN_RISE / 4)
		return false;
	if (lev->n == 1 && (d->restarted || !gained_since_birth(s, step_ms)))
		return false;
	if (now - then >= EARLY_MIN_RISE && now - then >= room / EARLY_STEPS)
		return true;
	if (lev->n < 4 || then <= seep_level_min(lev, 2) ||
	    seep_level_min(lev, 2) <= seep_level_min(lev, 3))
		return false;
	then = seep_level_min(lev, 3);
	return now - then >= EARLY_MIN_RISE &&
	       seep_div((u64)room * 3 * step_ms, now - then) <= EARLY_TTE_S * 1000ULL;
}

/*
 * A working set that levels off rises less in the second half of the window
 * than in the first. Even growth with the logarithm of time, which never ends
 * but need not end badly, keeps the share (2a + 2h) / (2a + 3h) for a process
 * that was a old when the window of two halves h began (half way between that
 * growth and a straight line); an old process needs 85 %.
 */
static bool saturation(const struct seep_level *lev, const struct seep_sample *s,
		       u32 window, s64 *value, s64 *limit)
{
	u32 first = seep_level_min(lev, 4) - seep_level_min(lev, 7);
	u32 second = seep_level_min(lev, 0) - seep_level_min(lev, 3);
	u64 age = seep_div(s->age_ns, 100000000), a, h = window / 2, share;

	a = age > window ? age - window : 0;
	share = seep_div(1000 * (2 * a + 2 * h), 2 * a + 3 * h + 1);
	*limit = share < SATURATION_PERMILLE ? (s64)share : SATURATION_PERMILLE;
	if (!first) {
		*value = 1000;
		return true;
	}
	share = seep_div(1000ULL * second, first);
	*value = share < 10000 ? (s64)share : 10000;
	return *value >= *limit;
}

/*
 * Points for floors in order. A longer level that begins to confirm the rise
 * may have one equal step where a shorter one has none: that is no less.
 */
static void factor_floor(struct seep_verdict *v, const struct growth *g)
{
	u32 rise = g->floor > g->v0 ? g->floor - g->v0 : 0;

	seep_add_factor(v, SEEPAGE_FACTOR_FLOOR, g->strict >= SEEP_MINIMA - 1 ? 30 : 24, 30,
			(s64)seep_bytes(rise), (s64)seep_bytes(g->v0));
}

/* And for how long, beyond what was asked for. */
static void factor_persist(struct seep_verdict *v, const struct growth *g)
{
	u32 span = g->t1 - g->t0;
	u64 ratio = seep_div(1000ULL * span, g->patience), points;

	if (ratio <= 1000)
		points = 30 * ratio / 1000;
	else
		points = 30 + (ratio >= 2000 ? 15 : 15 * (ratio - 1000) / 1000);
	seep_add_factor(v, SEEPAGE_FACTOR_PERSIST, (u8)points, 45, span / DS_PER_S,
			g->patience / DS_PER_S);
}

static void factor_release(struct seep_verdict *v, const struct seep_det *d)
{
	u64 up = d->up >> SEEP_GRANULE_SHIFT, down = d->down >> SEEP_GRANULE_SHIFT;
	u64 share = up ? seep_div(down < up ? down * 1000 : up * 1000, up) : 0;

	seep_add_factor(v, SEEPAGE_FACTOR_RELEASE,
			share >= 500 ? 0 : (u8)(10 - share / 50), 10, (s64)share, 0);
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
			share >= 800 ? 15 : (u8)(15 * share / 800), 15, (s64)share, 1000);
}

static void no_growth(struct seep_verdict *v)
{
	struct seep_gate *g = seep_add_gate(v, SEEPAGE_GATE_RISING, false, 0, 0);

	g->reached = false;
	seep_add_factor(v, SEEPAGE_FACTOR_FLOOR, 0, 30, 0, 0);
	seep_add_factor(v, SEEPAGE_FACTOR_PERSIST, 0, 45, 0, 0);
	seep_add_factor(v, SEEPAGE_FACTOR_RELEASE, 0, 10, 0, 0);
	seep_add_factor(v, SEEPAGE_FACTOR_RETAIN, 0, 15, 0, 1000);
}

static void add_points(struct seep_verdict *v, const struct seep_det *d,
		       const struct seep_sample *s, const struct growth *g)
{
	u32 i, sum = 0;

	factor_floor(v, g);
	factor_persist(v, g);
	factor_release(v, d);
	factor_retain(v, d, s);
	for (i = 0; i < v->nfactors; i++)
		sum += v->factor[i].points;
	v->confidence = (u8)sum;
}

static bool gates(struct seep_verdict *v, const struct seep_sample *s,
		  const struct seep_conf *c, const struct growth *g)
{
	u32 span = g->t1 - g->t0, window = (SEEP_MINIMA - 1) * g->top->epoch;
	u64 tte_s = g->tte_ds == SEEP_UNKNOWN ? SEEP_UNKNOWN : g->tte_ds / DS_PER_S;
	bool flat, patient, near, sure;
	s64 value, limit;

	seep_add_gate(v, SEEPAGE_GATE_RISING, true,
		      (s64)seep_bytes(g->floor > g->v0 ? g->floor - g->v0 : 0),
		      (s64)seep_bytes(seep_needed_rise(s, g->floor)));
	flat = !saturation(g->top, s, window, &value, &limit);
	seep_add_gate(v, SEEPAGE_GATE_SATURATION, !flat, value, limit);
	patient = span >= g->patience;
	seep_add_gate(v, SEEPAGE_GATE_PATIENCE, patient, span / DS_PER_S,
		      g->patience / DS_PER_S);
	near = tte_s <= HORIZON_S;
	seep_add_gate(v, SEEPAGE_GATE_HORIZON, near,
		      (s64)(tte_s > 1ULL << 62 ? 1ULL << 62 : tte_s), HORIZON_S);
	if (flat || !patient || !near) {
		if (v->confidence > CLOSED_CONFIDENCE)
			v->confidence = CLOSED_CONFIDENCE;
		return false;
	}
	sure = v->confidence > c->v[SEEPAGE_CFG_ALERT_CONFIDENCE];
	seep_add_gate(v, SEEPAGE_GATE_CONFIDENCE, sure, v->confidence,
		      c->v[SEEPAGE_CFG_ALERT_CONFIDENCE]);
	return sure;
}

/**
 * seep_ladder_verdict() - gates, points and state of the policy ladder
 * @d: history, not changed
 * @s: the sample
 * @c: configuration in force
 * @v: zeroed; gates, factors, confidence and state are added
 *
 * The state is that of this sample alone; seep_det_feed() adds the memory
 * (an alert stays until the memory is given back).
 */
void seep_ladder_verdict(const struct seep_det *d, const struct seep_sample *s,
			 const struct seep_conf *c, struct seep_verdict *v)
{
	u64 size = (u64)c->v[SEEPAGE_CFG_MIN_PROCESS_SIZE_MB] << 20;
	u64 used = seep_rss(s) + s->swap;
	struct growth g = { 0 };
	bool big = used >= size;

	v->policy = SEEPAGE_POLICY_LADDER;
	v->state = SEEPAGE_STATE_OK;
	seep_add_gate(v, SEEPAGE_GATE_SIZE, big, (s64)used, (s64)size);
	if (!find_growth(d, s, &g)) {
		no_growth(v);
		if (big && seep_ladder_early(d, s, c))
			v->state = SEEPAGE_STATE_WATCH;
		return;
	}
	v->v0 = g.v0;
	v->floor = g.floor;
	v->t0 = g.t0;
	v->t1 = g.t1;
	v->epoch = g.top->epoch;
	v->patience = g.patience;
	if (g.tte_ds != SEEP_UNKNOWN)
		v->tte_s = g.tte_ds / DS_PER_S;
	add_points(v, d, s, &g);
	if (!big) {
		v->confidence = 0;
		return;
	}
	v->state = SEEPAGE_STATE_WATCH;
	if (!gates(v, s, c, &g))
		return;
	v->state = SEEPAGE_STATE_SUSPECTED;
	if (g.t1 - g.t0 < CONFIRM_PATIENCES * g.patience)
		return;
	v->state = v->tte_s <= RUNAWAY_TTE_S ? SEEPAGE_STATE_RUNAWAY :
					       SEEPAGE_STATE_CONFIRMED;
}
