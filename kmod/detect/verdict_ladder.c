// SPDX-License-Identifier: GPL-2.0
/*
 * Policy "ladder": gates first, points behind them.
 *
 * A process is under watch while a floor rises. It is suspected when the rise
 * does not level off, has gone on for as long as its time to exhaustion asks
 * for, and would exhaust memory within a horizon a person plans in. No sum of
 * points can stand in for a gate that is closed.
 */
#include "growth.h"

#define DS_PER_S		10U
#define HOUR_DS			(3600 * DS_PER_S)
#define CONFIRM_PERCENT		110	/* of patience */
#define CONFIRM_VSZ_PERCENT	130	/* of that of address space, which costs nothing yet */
#define RUNAWAY_TTE_S		900
#define HORIZON_S		(180ULL * 24 * 3600)
#define SATURATION_PERMILLE	850
#define NOVEL_PERCENT		150	/* of what was released before */
#define OWN_PERMILLE		500
#define SPREAD_PERMILLE		500
#define HOT_PERMILLE		500	/* less cold than that: a working set, perhaps */
#define HOT_MAX_DS		(14 * HOUR_DS)
#define EARLY_TTE_S		7200
#define EARLY_STEPS		64	/* samples to exhaustion at this step */
#define EARLY_MIN_RISE		(4U << (20 - SEEP_GRANULE_SHIFT))
#define CLOSED_CONFIDENCE	50	/* most that points show behind a closed gate */

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
	u32 step_ms = c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS];
	u32 now = seep_mem_floor(d, 0), then, room = seep_granules(s->headroom);

	then = seep_mem_floor(d, 1);	/* 0 before the first sample of a new process */
	if (!d->epochs || now <= then || now - then < EARLY_MIN_RISE / 4)
		return false;
	if (d->epochs == 1 && (d->restarted || !gained_since_birth(s, step_ms)))
		return false;
	if (now - then >= EARLY_MIN_RISE && now - then >= room / EARLY_STEPS)
		return true;
	if (d->epochs < 4 || then <= seep_mem_floor(d, 2) ||
	    seep_mem_floor(d, 2) <= seep_mem_floor(d, 3))
		return false;
	then = seep_mem_floor(d, 3);
	return now - then >= EARLY_MIN_RISE &&
	       seep_div((u64)room * 3 * step_ms, now - then) <= EARLY_TTE_S * 1000ULL;
}

/*
 * Of the rise in the first half of a level's floors, what the second half rises by.
 * The very first floor is half an epoch late (ladder.c): of three steps it lacks half.
 */
static u32 second_half(const struct seep_level *l)
{
	u32 first = seep_floor(l->r, l->closed, 4) - seep_floor(l->r, l->closed, 7);
	u32 second = seep_floor(l->r, l->closed, 0) - seep_floor(l->r, l->closed, 3);
	u64 share;

	if (l->closed == SEEP_MINIMA)
		first += first / 5;
	share = first ? seep_div(1000ULL * second, first) : 1000;
	return share < 10000 ? (u32)share : 10000;
}

/*
 * A working set that levels off rises less in the second half of the window
 * than in the first, and so it does in the half as long one that ends with it: what
 * levels off is seen there first. Even growth with the logarithm of time, which
 * never ends but need not end badly, keeps the share (2a + 2h) / (2a + 3h) for a
 * process that was a old when the window of two halves h began (half way between
 * that growth and a straight line); an old process needs 85 %.
 */
static bool saturation(const struct seep_growth *g, const struct seep_sample *s,
		       s64 *value, s64 *limit)
{
	u64 age = seep_div(s->age_ns, 100000000), a, h = g->window / 2, share;
	u32 later;

	a = age > g->window ? age - g->window : 0;
	share = seep_div(1000 * (2 * a + 2 * h), 2 * a + 3 * h + 1);
	*limit = share < SATURATION_PERMILLE ? (s64)share : SATURATION_PERMILLE;
	*value = second_half(&g->top);
	if (g->below.r) {
		later = second_half(&g->below);
		if (later < *value)
			*value = later;
	}
	return *value >= *limit;
}

/* What others did is no licence to take more than three eighths of what is left. */
static u32 known_rise(const struct seep_det *d, const struct seep_sample *s)
{
	u32 most = seep_granules(s->headroom) / 4;

	return d->inherited && d->known_rise > most ? most : d->known_rise;
}

/*
 * The last climb that a process released, again: it does that. A longer or a
 * higher one is news.
 */
static bool novel(const struct seep_det *d, const struct seep_sample *s,
		  const struct seep_growth *g, s64 *value, s64 *limit)
{
	u64 higher = seep_div((u64)known_rise(d, s) * NOVEL_PERCENT, 100);
	u64 longer = seep_div((u64)d->known_span * NOVEL_PERCENT, 100);

	*value = (s64)seep_bytes(seep_rise(g));
	*limit = (s64)(higher << SEEP_GRANULE_SHIFT);
	return seep_rise(g) > higher || g->t1 - g->t0 > longer;
}

/*
 * A working set, or a leak of small objects that share their pages with live ones:
 * which of them nobody can tell from pages. It is told when three quarters of the
 * runway are gone, or it has gone on for longer than any load of a day.
 */
static bool used_up(const struct seep_growth *g)
{
	u32 span = g->t1 - g->t0;

	return span >= HOT_MAX_DS || span / 3 >= g->tte_ds;
}

/*
 * Of its growth under watch, and of the last one before, what is neither shared
 * memory that was there before nor came by itself. Nothing comes by itself for ever:
 * what is locked may never fault.
 */
static u32 own_permille(const struct seep_det *d, const struct seep_sample *s,
			const struct seep_growth *g)
{
	u32 gained = d->last_v > d->own_v0 ? d->last_v - d->own_v0 : 0;
	u32 foreign = s->pool ? d->foreign : 0, filled = used_up(g) ? 0 : d->filled;
	u32 others = foreign > filled ? foreign : filled;

	if (!others || !seep_watched(d->state))
		return 1000;
	if (others >= gained)
		return 0;
	return (u32)seep_div(1000ULL * (gained - others), gained);
}

/* What only memory has: it can be shared, and looked at for use. */
static bool memory_gates(struct seep_verdict *v, const struct seep_det *d,
			 const struct seep_sample *s, const struct seep_growth *g)
{
	bool fresh, own, cold = true, spread = true;
	s64 value, limit;

	fresh = novel(d, s, g, &value, &limit);
	seep_add_gate(v, SEEPAGE_GATE_NOVELTY, fresh, value, limit);
	value = own_permille(d, s, g);
	own = value >= OWN_PERMILLE;
	seep_add_gate(v, SEEPAGE_GATE_OWN, own, value, OWN_PERMILLE);
	if (seep_cold_known(s, g)) {
		cold = s->cold >= HOT_PERMILLE || used_up(g);
		seep_add_gate(v, SEEPAGE_GATE_COLD, cold, s->cold, HOT_PERMILLE);
	}
	if (s->group && s->peers) {	/* where most grow, each is judged by itself */
		value = s->peers_growing < s->peers ?
			(s64)(1000U * (s->peers - s->peers_growing) / s->peers) : 0;
		spread = value >= SPREAD_PERMILLE;
		seep_add_gate(v, SEEPAGE_GATE_SPREAD, spread, value, SPREAD_PERMILLE);
	}
	return fresh && own && cold && spread;
}

static bool gates(struct seep_verdict *v, const struct seep_det *d,
		  const struct seep_sample *s, const struct seep_conf *c,
		  const struct seep_growth *g)
{
	u64 tte_s = g->tte_ds == SEEP_UNKNOWN ? SEEP_UNKNOWN : seep_div(g->tte_ds, DS_PER_S);
	bool memory = g->series == SEEPAGE_SERIES_MEMORY, open, passed;
	u32 span = g->t1 - g->t0, need;
	s64 value, limit;

	/* one level may have seen a rise that another has seen end */
	need = seep_needed_rise(memory ? seep_least_rise(s) : SEEP_LEAST_VSZ, g->floor);
	open = seep_rise(g) >= need;
	seep_add_gate(v, SEEPAGE_GATE_RISING, open, (s64)seep_bytes(seep_rise(g)),
		      (s64)seep_bytes(need));
	passed = saturation(g, s, &value, &limit);
	seep_add_gate(v, SEEPAGE_GATE_SATURATION, passed, value, limit);
	open &= passed;
	passed = span >= g->patience;
	seep_add_gate(v, SEEPAGE_GATE_PATIENCE, passed, span / DS_PER_S,
		      g->patience / DS_PER_S);
	open &= passed;
	if (memory) {
		open &= memory_gates(v, d, s, g);
		passed = tte_s <= HORIZON_S;
		seep_add_gate(v, SEEPAGE_GATE_HORIZON, passed,
			      (s64)(tte_s > 1ULL << 62 ? 1ULL << 62 : tte_s), HORIZON_S);
		open &= passed;
	}
	if (!open) {
		if (v->confidence > CLOSED_CONFIDENCE)
			v->confidence = CLOSED_CONFIDENCE;
		return false;
	}
	passed = v->confidence > c->v[SEEPAGE_CFG_ALERT_CONFIDENCE];
	seep_add_gate(v, SEEPAGE_GATE_CONFIDENCE, passed, v->confidence,
		      c->v[SEEPAGE_CFG_ALERT_CONFIDENCE]);
	return passed;
}

/* The growth that a verdict is about, gates and points, and the state. */
static void judge(struct seep_verdict *v, const struct seep_det *d,
		  const struct seep_sample *s, const struct seep_conf *c,
		  const struct seep_growth *g, bool big)
{
	u32 span = g->t1 - g->t0;

	v->series = g->series;
	v->v0 = g->v0;
	v->floor = g->floor;
	v->t0 = g->t0;
	v->t1 = g->t1;
	v->epoch = g->window / (SEEP_MINIMA - 1);
	v->patience = g->patience;
	if (g->tte_ds != SEEP_UNKNOWN)
		v->tte_s = seep_div(g->tte_ds, DS_PER_S);
	seep_points_add(v, d, s, g);
	if (!big) {
		v->confidence = 0;
		return;
	}
	v->state = SEEPAGE_STATE_WATCH;
	if (!gates(v, d, s, c, g))
		return;
	v->state = SEEPAGE_STATE_SUSPECTED;
	if (span < seep_div((u64)g->patience * (g->series == SEEPAGE_SERIES_VSZ ?
						CONFIRM_VSZ_PERCENT : CONFIRM_PERCENT), 100))
		return;
	v->state = v->tte_s <= RUNAWAY_TTE_S ? SEEPAGE_STATE_RUNAWAY :
					       SEEPAGE_STATE_CONFIRMED;
}

/* The verdict on address space, where it says more than the one on memory. */
static void vsz_verdict(const struct seep_det *d, const struct seep_sample *s,
			const struct seep_conf *c, struct seep_verdict *v, u64 size)
{
	u64 used = seep_bytes(seep_det_unheld(d));
	bool big = used >= size;
	struct seep_verdict own;
	struct seep_growth g;

	seep_growth_find_vsz(d, s, &g);
	if (g.t1 - g.t0 < g.patience)
		return;
	seep_verdict_init(&own);
	seep_add_gate(&own, SEEPAGE_GATE_SIZE, big, (s64)used, (s64)size);
	judge(&own, d, s, c, &g, big);
	if (own.state > v->state)
		*v = own;
}

/**
 * seep_ladder_verdict() - gates, points and state of the policy ladder
 * @d: history, not changed
 * @s: the sample
 * @c: configuration in force
 * @v: as seep_verdict_init() left it; gates, factors, confidence and state are
 *	added
 *
 * The state is that of this sample alone; seep_det_feed() adds the memory
 * (an alert stays until the memory is given back). Address space is judged
 * where memory raises no alert.
 */
void seep_ladder_verdict(const struct seep_det *d, const struct seep_sample *s,
			 const struct seep_conf *c, struct seep_verdict *v)
{
	u64 size = (u64)c->v[SEEPAGE_CFG_MIN_PROCESS_SIZE_MB] << 20;
	u64 used = seep_rss(s) + s->swap;
	bool big = used >= size;
	struct seep_growth g;

	v->policy = SEEPAGE_POLICY_LADDER;
	v->state = SEEPAGE_STATE_OK;
	seep_growth_find(d, s, &g);
	seep_add_gate(v, SEEPAGE_GATE_SIZE, big, (s64)used, (s64)size);
	if (g.seen)
		judge(v, d, s, c, &g, big);
	if (v->state < SEEPAGE_STATE_SUSPECTED && d->vsz.runs)
		vsz_verdict(d, s, c, v, size);
	if (!g.seen && v->series == SEEPAGE_SERIES_MEMORY) {
		seep_add_gate(v, SEEPAGE_GATE_RISING, false, 0, 0)->reached = false;
		seep_points_none(v);
		if (big && seep_ladder_early(d, s, c))
			v->state = SEEPAGE_STATE_WATCH;
	}
}
