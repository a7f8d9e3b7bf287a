// SPDX-License-Identifier: GPL-2.0
/*
 * Policy "ladder": gates first, points behind them.
 *
 * A process with a run is under watch. It is suspected when its growth does not level
 * off, has lasted for its patience, and would exhaust memory within the next half year.
 * Points cannot outvote a gate that is not passed.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "growth.h"

#define RUNAWAY_TTE_S		900
#define HORIZON_S		(180ULL * 24 * 3600)
#define SATURATION_PERMILLE	850
#define ACCUSED_SHARE		10	/* of headroom; less growth than that is not accused */
#define ACCUSED_MAX		(12 * SEEP_MIB)	/* granules; more than that always is */
#define NOVEL_PERCENT		150	/* of the climb released before */
#define ORIGIN_PERMILLE		500
#define SPREAD_PERMILLE		500
#define HOT_PERMILLE		500	/* less cold: perhaps a working set */
#define HOT_MAX_DS		(12 * SEEP_HOUR_DS)
#define EARLY_TTE_S		7200
#define EARLY_STEPS		64	/* samples to exhaustion, at the last step each */
#define EARLY_MIN_RISE		(4 * SEEP_MIB)
#define CLOSED_CONFIDENCE	50	/* shown confidence, while a gate is not passed */

/* A new process allocated what it has: fork() did not give it most of its pages. */
static bool gained_since_birth(const struct seep_sample *s, u32 step_ms)
{
	return seep_div(s->age_ns, 1000000) <= 2ULL * step_ms &&
	       s->faults_anon >= (s->anon >> s->page_shift) / 2;
}

/**
 * seep_ladder_early() - is growth too fast to wait for eight floors?
 * @d: history, not changed
 * @s: the sample
 * @c: configuration in force
 *
 * True when the last step alone would exhaust headroom within 64 samples, or the last
 * three steps rise and would exhaust it within two hours. Both need a rise of 4 MiB.
 * That is enough for the state watch with its faster samples, never for an alert.
 *
 * Context: any.
 * Return: true when it is.
 */
bool seep_ladder_early(const struct seep_det *d, const struct seep_sample *s,
		       const struct seep_conf *c)
{
	u32 step_ms = c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS];
	u32 now = seep_mem_floor(d, 0), before, headroom = seep_granules(s->headroom);

	before = seep_mem_floor(d, 1);	/* 0 before the first sample of a new process */
	if (!d->epochs || now <= before || now - before < EARLY_MIN_RISE / 4)
		return false;
	if (d->epochs == 1 && (d->history_restarted || !gained_since_birth(s, step_ms)))
		return false;
	if (now - before >= EARLY_MIN_RISE && now - before >= headroom / EARLY_STEPS)
		return true;
	if (d->epochs < 4 || before <= seep_mem_floor(d, 2) ||
	    seep_mem_floor(d, 2) <= seep_mem_floor(d, 3))
		return false;
	before = seep_mem_floor(d, 3);
	return now - before >= EARLY_MIN_RISE &&
	       seep_div((u64)headroom * 3 * step_ms, now - before) <= EARLY_TTE_S * 1000ULL;
}

/*
 * The saturation gate. A working set that levels off rises less in the second half of the
 * window than in the first. The same shows in the level below, which ends with the same
 * floor and sees it first; the smaller of both figures counts.
 *
 * The limit is 850 permille, less for a young process. Growth with the logarithm of time
 * never ends, but need not exhaust memory. For a process of age a at the begin of a
 * window with two halves of length h, such growth has a figure of about
 * (2a + h) / (2a + 3h), a straight line has 1; the limit is half way between them:
 * (2a + 2h) / (2a + 3h).
 *
 * For example:
 *
 *	a = 0		666 permille: growth since birth may slow down by a third
 *	a = h		799 permille
 *	a = 2h		857, above 850: from here on the limit is 850
 */
static bool saturation(const struct seep_growth *g, const struct seep_sample *s,
		       s64 *value, s64 *limit)
{
	u64 age = seep_div(s->age_ns, 100000000), a, h = g->window / 2, share;
	u32 later;

	a = age > g->window ? age - g->window : 0;
	share = seep_div(1000 * (2 * a + 2 * h), 2 * a + 3 * h + 1);
	*limit = share < SATURATION_PERMILLE ? (s64)share : SATURATION_PERMILLE;
	*value = seep_second_half(&g->top);
	if (g->below.level) {
		later = seep_second_half(&g->below);
		if (later < *value)
			*value = later;
	}
	return *value >= *limit;
}

/**
 * seep_known_rise() - the highest climb released before
 * @d: history, not changed
 * @s: the sample that was fed last
 *
 * One that other members of the group released counts up to a quarter of headroom: with
 * NOVEL_PERCENT it excuses no growth beyond three eighths.
 *
 * Context: any.
 * Return: granules.
 */
u32 seep_known_rise(const struct seep_det *d, const struct seep_sample *s)
{
	u32 most = seep_granules(s->headroom) / 4;

	return d->inherited && d->known_rise > most ? most : d->known_rise;
}

/*
 * The novelty gate. A climb like one that the process has released before is known
 * behaviour. The growth is novel when it is 1.5 times as high or as long.
 */
static bool novel(const struct seep_det *d, const struct seep_sample *s,
		  const struct seep_growth *g, s64 *value, s64 *limit)
{
	u64 higher = seep_div((u64)seep_known_rise(d, s) * NOVEL_PERCENT, 100);
	u64 longer = seep_div((u64)d->known_span * NOVEL_PERCENT, 100);

	*value = (s64)seep_bytes(seep_rise(g));
	*limit = (s64)(higher << SEEP_GRANULE_SHIFT);
	return seep_rise(g) > higher || g->t1 - g->t0 > longer;
}

/*
 * Growth that is used again is a working set, or a leak of small objects that share pages
 * with live ones. Page figures cannot tell these apart. The cold gate therefore opens when
 * three quarters of the runway are used up (span / 3 >= tte, without strangers), or when the
 * growth has lasted longer than the load of a day. Growth without faults then counts as
 * caused, too.
 */
static bool used_up(const struct seep_growth *g)
{
	u32 span = g->t1 - g->t0;

	return span >= HOT_MAX_DS || span / 3 >= g->fair_ds;
}

/*
 * The origin gate: permille of the growth, since origin_v0, that the process caused. The
 * larger one of two parts is taken off: shared memory that existed before
 * (detect.c:note_shmem()), and growth without faults (detect.c:note_faultless()).
 * The second one counts until used_up(): locked memory never faults.
 *
 * For example of 300 granules gained 200 existed before: 100 / 300 is 333 permille, below
 * the 500 that are needed.
 */
static u32 origin_permille(const struct seep_det *d, const struct seep_sample *s,
			   const struct seep_growth *g)
{
	u32 gained = seep_minus(d->last_v, d->origin_v0);
	u32 preexisting = s->shmem_total ? d->shmem_preexisting : 0;
	u32 faultless = used_up(g) ? 0 : d->faultless;
	u32 others = preexisting > faultless ? preexisting : faultless;

	if (!others || !seep_watched(d->state))
		return 1000;
	if (others >= gained)
		return 0;
	return (u32)seep_div(1000ULL * (gained - others), gained);
}

/* Gates of memory only: address space is not shared and not looked at for use. */
static bool memory_gates(struct seep_verdict *v, const struct seep_det *d,
			 const struct seep_sample *s, const struct seep_growth *g)
{
	bool fresh, origin, cold = true, spread = true;
	s64 value, limit;

	fresh = novel(d, s, g, &value, &limit);
	seep_add_gate(v, SEEPAGE_GATE_NOVELTY, fresh, value, limit);
	value = origin_permille(d, s, g);
	origin = value >= ORIGIN_PERMILLE;
	seep_add_gate(v, SEEPAGE_GATE_ORIGIN, origin, value, ORIGIN_PERMILLE);
	if (seep_cold_known(s, g)) {
		cold = s->cold >= HOT_PERMILLE || used_up(g);
		seep_add_gate(v, SEEPAGE_GATE_COLD, cold, s->cold, HOT_PERMILLE);
	}
	if (s->group && s->peers) {	/* where most members grow, each one is judged by itself */
		value = s->peers_growing < s->peers ?
			(s64)(1000U * (s->peers - s->peers_growing) / s->peers) : 0;
		spread = value >= SPREAD_PERMILLE;
		seep_add_gate(v, SEEPAGE_GATE_SPREAD, spread, value, SPREAD_PERMILLE);
	}
	return fresh && origin && cold && spread;
}

/*
 * The rise that an accusation needs beside seep_needed_rise(), granules: a tenth of headroom,
 * shared with all others that grow below the limit, and 12 MiB at most. Heaps of small workers
 * warm up for longer than the longest patience. What leaks has ten elevenths of its runway left
 * when it has grown by so much.
 *
 * For example a worker and five others have 660 MiB left: 66 / 6 are 11 MiB.
 */
static u32 least_accused(const struct seep_sample *s)
{
	u32 share = seep_granules(s->headroom) / (ACCUSED_SHARE * (s->others + 1U));

	return share < ACCUSED_MAX ? share : ACCUSED_MAX;
}

/* A gate is closed. Return: false. */
static bool closed(struct seep_verdict *v)
{
	if (v->confidence > CLOSED_CONFIDENCE)
		v->confidence = CLOSED_CONFIDENCE;
	return false;
}

/*
 * Add the gates to the verdict: all, or with @brief none after it is known that one is closed.
 * Return: each of them has passed.
 */
static bool gates(struct seep_verdict *v, const struct seep_det *d,
		  const struct seep_sample *s, const struct seep_conf *c,
		  const struct seep_growth *g, bool brief)
{
	bool memory = g->subject == SEEPAGE_SUBJECT_MEMORY, open, passed;
	u32 span = g->t1 - g->t0, need, least;
	s64 value, limit;

	/* a run may be left on one level while another has seen the floor fall */
	need = seep_needed_rise(memory ? seep_least_rise(s) : SEEP_LEAST_VSZ, g->floor);
	least = memory ? least_accused(s) : 0;
	if (need < least)
		need = least;
	open = seep_rise(g) >= need;
	seep_add_gate(v, SEEPAGE_GATE_RISING, open, (s64)seep_bytes(seep_rise(g)),
		      (s64)seep_bytes(need));
	if (brief && (!open || span < g->patience))
		return closed(v);
	passed = saturation(g, s, &value, &limit);
	seep_add_gate(v, SEEPAGE_GATE_SATURATION, passed, value, limit);
	open &= passed;
	passed = span >= g->patience;
	seep_add_gate(v, SEEPAGE_GATE_PATIENCE, passed, span / SEEP_DS_PER_S,
		      g->patience / SEEP_DS_PER_S);
	open &= passed;
	if (brief && !open)
		return closed(v);
	if (memory) {
		open &= memory_gates(v, d, s, g);
		passed = v->tte_s <= HORIZON_S;
		seep_add_gate(v, SEEPAGE_GATE_HORIZON, passed,
			      (s64)(v->tte_s > 1ULL << 62 ? 1ULL << 62 : v->tte_s), HORIZON_S);
		open &= passed;
	}
	if (!open)
		return closed(v);
	passed = v->confidence > c->v[SEEPAGE_CFG_ALERT_CONFIDENCE];
	seep_add_gate(v, SEEPAGE_GATE_CONFIDENCE, passed, v->confidence,
		      c->v[SEEPAGE_CFG_ALERT_CONFIDENCE]);
	return passed;
}

/* The verdict on one growth: subject, figures, points, gates, state. */
static void growth_verdict(struct seep_verdict *v, const struct seep_det *d,
			   const struct seep_sample *s, const struct seep_conf *c,
			   const struct seep_growth *g, bool big, bool brief)
{
	u32 span = g->t1 - g->t0;

	v->subject = g->subject;
	v->v0 = g->v0;
	v->floor = g->floor;
	v->t0 = g->t0;
	v->t1 = g->t1;
	v->epoch = g->window / (SEEP_MINIMA - 1);
	v->patience = g->patience;
	v->rate = g->rate;
	if (g->tte_ds != SEEP_UNKNOWN)
		v->tte_s = seep_div(g->tte_ds, SEEP_DS_PER_S);
	seep_points_add(v, d, s, g);
	if (!big) {
		v->confidence = 0;
		return;
	}
	v->state = SEEPAGE_STATE_WATCH;
	if (!gates(v, d, s, c, g, brief))
		return;
	v->state = SEEPAGE_STATE_SUSPECTED;
	if (span < seep_div((u64)g->patience * g->confirm_percent, 100))
		return;
	v->state = seep_div(g->fair_ds, SEEP_DS_PER_S) <= RUNAWAY_TTE_S ?
		   SEEPAGE_STATE_RUNAWAY : SEEPAGE_STATE_CONFIRMED;
}

/*
 * The verdict on address space; replaces @v where it is the worse one. Stacks of threads and
 * page tables grow together with address space: the time to exhaustion is that of memory then,
 * where memory ends first.
 */
static void vsz_verdict(const struct seep_det *d, const struct seep_sample *s,
			const struct seep_conf *c, struct seep_verdict *v, u64 size, bool brief)
{
	u64 used = seep_bytes(seep_det_unheld(d));
	bool big = used >= size;
	struct seep_verdict vsz;
	struct seep_growth g = { 0 };

	seep_growth_find_vsz(d, s, &g);
	if (g.t1 - g.t0 < g.patience)
		return;
	seep_verdict_init(&vsz);
	seep_add_gate(&vsz, SEEPAGE_GATE_SIZE, big, (s64)used, (s64)size);
	growth_verdict(&vsz, d, s, c, &g, big, brief);
	vsz.rate = v->rate;
	v->dropped |= vsz.dropped;
	if (vsz.state > v->state) {
		if (v->tte_s < vsz.tte_s)
			vsz.tte_s = v->tte_s;
		vsz.dropped = v->dropped;
		*v = vsz;
	}
}

/**
 * seep_ladder_verdict() - gates, points and state of the policy ladder
 * @d: history, not changed
 * @s: the sample
 * @c: configuration in force
 * @v: as seep_verdict_init() left it; gates, factors, confidence and state are set
 * @brief: leave out the gates after the first one that is closed; all else is the same
 *
 * The state is that of this sample alone. seep_det_feed() combines it with the state
 * before: an alert stays until the memory is released. Address space is judged where
 * memory raises no alert.
 *
 * Context: any.
 */
void seep_ladder_verdict(const struct seep_det *d, const struct seep_sample *s,
			 const struct seep_conf *c, struct seep_verdict *v, bool brief)
{
	u64 size = (u64)c->v[SEEPAGE_CFG_MIN_PROCESS_SIZE_MB] << 20;
	u64 used = seep_rss(s) + s->swap;
	bool big = used >= size;
	struct seep_growth g = { 0 };

	v->policy = SEEPAGE_POLICY_LADDER;
	v->state = SEEPAGE_STATE_OK;
	seep_growth_find(d, s, &g);
	seep_add_gate(v, SEEPAGE_GATE_SIZE, big, (s64)used, (s64)size);
	if (g.seen)
		growth_verdict(v, d, s, c, &g, big, brief);
	if (v->state < SEEPAGE_STATE_SUSPECTED && d->vsz.runs)
		vsz_verdict(d, s, c, v, size, brief);
	if (!g.seen && v->subject == SEEPAGE_SUBJECT_MEMORY) {
		seep_add_gate_unreached(v, SEEPAGE_GATE_RISING);
		seep_points_none(v);
		if (big && seep_ladder_early(d, s, c))
			v->state = SEEPAGE_STATE_WATCH;
	}
}
