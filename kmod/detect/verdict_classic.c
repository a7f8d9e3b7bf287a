// SPDX-License-Identifier: GPL-2.0
/*
 * Policy "classic": the score that this product was specified with, kept unchanged as a
 * reference to compare with. Four factors add up to a confidence: fault rate, RSS over
 * the first RSS, anonymous share of the faults, VSZ over RSS. Two rules and a hint raise
 * a state without the confidence. docs/detection.md tells why it is not the default.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "detect.h"

#define MB			(1ULL << 20)
#define MIN_FAULTS		1000	/* below it the anonymous share is not computed */
#define SUSPECTED_FOR_DS	(5 * SEEP_MINUTE_DS)
#define CONFIRMED_FOR_DS	SEEP_MINUTE_DS
#define PRESSURE_FOR_DS		(10 * SEEP_MINUTE_DS)
#define PRESSURE_RATE		200
#define MAX_SLOT_RISE		(1 << 16)	/* granules, 1 GiB: squares stay in 64 bits */

/* The point of the window that is @back before the newest. */
static const struct seep_point *point(const struct seep_det *d, u32 back)
{
	return &d->window[(d->wpos + SEEP_WINDOW - 1 - back) % SEEP_WINDOW];
}

/* Growth of RSS over the window, bytes a minute; 0 where it does not grow. */
static u64 growth_per_minute(const struct seep_det *d, const struct seep_sample *s)
{
	const struct seep_point *old;
	u32 now = seep_ds(s->time_ns), rss = seep_granules(seep_rss(s));

	if (d->wn < 2)
		return 0;
	old = point(d, d->wn - 1);
	if (now <= old->t || rss <= old->rss)
		return 0;
	return seep_div(seep_bytes(rss - old->rss) * SEEP_MINUTE_DS, now - old->t);
}

/*
 * RSS grows faster than in warm-up, by more than two standard deviations. A process that
 * was not seen in warm-up is compared with 1 MiB a minute.
 */
static bool beyond_two_sigma(const struct seep_det *d, u64 growth)
{
	const struct seep_classic *k = &d->classic;
	s64 over;
	u64 var;

	if (k->nsum < 2)
		return growth > MB;
	/* n * growth - sum is n * (growth - mean); n^2 * variance needs no root, no division */
	over = (s64)seep_granules(growth) * k->nsum - k->sum;
	if (over <= 0)
		return false;
	var = k->nsum * k->sumsq - (u64)((s64)k->sum * k->sum);
	if (over >= 1LL << 31)
		return true;
	return (u64)over * (u64)over > 4 * var;
}

/* Learn the growth of the newest slot of the window. */
static void learn(struct seep_classic *k, const struct seep_point *new,
		  const struct seep_point *old)
{
	s64 rise = (s64)new->rss - old->rss;

	if (new->t <= old->t)
		return;
	k->nsum++;
	if (!rise)
		return;
	if (rise > MAX_SLOT_RISE)
		rise = MAX_SLOT_RISE;
	if (rise < -MAX_SLOT_RISE)
		rise = -MAX_SLOT_RISE;
	/* at most 2^16 * 600; slots last ten seconds at least: so does the sum fit 32 bits */
	rise = (int)(rise * (s64)SEEP_MINUTE_DS) / (int)(new->t - old->t);
	k->sum += rise;
	k->sumsq += (u64)(rise * rise);
}

/* Anonymous share of all faults so far, percent; 0 with too few faults. */
static u32 anon_percent(const struct seep_sample *s)
{
	if (s->faults <= MIN_FAULTS)
		return 0;
	return (u32)seep_div(s->faults_anon * 100, s->faults);
}

/* Keep in @since when a rule began to hold, ds; 0 while it does not. */
static void hold(u32 *since, bool holds, u32 now)
{
	if (!holds)
		*since = 0;
	else if (!*since)
		*since = now ? now : 1;
}

/* The rule has held for @for_ds. */
static bool held(u32 since, u32 now, u32 for_ds)
{
	return since && now - since >= for_ds;
}

/* The fault rate of the newer half of the window exceeds that of the older half. */
static bool rate_rising(const struct seep_det *d)
{
	const struct seep_point *a, *b, *c;
	u32 half = d->wn / 2;

	if (d->wn < 4)
		return false;
	a = point(d, d->wn - 1);
	b = point(d, half);
	c = point(d, 0);
	return (u64)(c->faults - b->faults) * (b->t - a->t) >
	       (u64)(b->faults - a->faults) * (c->t - b->t);
}

/**
 * seep_classic_forget() - forget how long the rules have held
 * @d: history
 *
 * Needed when the policy changes: nothing checks the rules under another policy.
 *
 * Context: any.
 */
void seep_classic_forget(struct seep_det *d)
{
	d->classic.suspected_since = 0;
	d->classic.confirmed_since = 0;
	d->classic.pressure_since = 0;
}

/* How long each rule has held. Apart: under the other policy a process only learns. */
static seep_noinline void follow_rules(struct seep_det *d, const struct seep_sample *s,
				       const struct seep_conf *c)
{
	u32 now = seep_ds(s->time_ns), rate;
	struct seep_classic *k = &d->classic;
	u64 growth = growth_per_minute(d, s);

	rate = seep_det_fault_rate(d, s, c->v[SEEPAGE_CFG_MONITORING_WINDOW_S]);
	hold(&k->suspected_since,
	     (rate > c->v[SEEPAGE_CFG_FAULT_RATE_WARNING] && beyond_two_sigma(d, growth)) ||
	     (anon_percent(s) > 80 && growth > 5 * MB), now);
	hold(&k->confirmed_since,
	     rate > c->v[SEEPAGE_CFG_FAULT_RATE_CRITICAL] && growth > 10 * MB &&
	     s->vsz * 2 > seep_rss(s) * 5, now);
	hold(&k->pressure_since, rate > PRESSURE_RATE && rate_rising(d), now);
}

/**
 * seep_classic_feed() - update the baseline and how long each rule has held
 * @d: history
 * @s: the sample
 * @c: configuration in force
 * @learns: the fault-rate window has a new point, and seep_classic_learns()
 *
 * To be called after the window was updated. Not needed when nothing is left to learn
 * and another policy is in force.
 *
 * Context: any.
 */
void seep_classic_feed(struct seep_det *d, const struct seep_sample *s,
		       const struct seep_conf *c, bool learns)
{
	struct seep_classic *k = &d->classic;

	if (d->samples <= 1)
		k->base_rss = seep_granules(seep_rss(s));
	if (learns && d->wn >= 2)
		learn(k, point(d, 0), point(d, 1));
	if (c->v[SEEPAGE_CFG_POLICY] == SEEPAGE_POLICY_CLASSIC)
		follow_rules(d, s, c);
}

static void factor_rate(const struct seep_det *d, const struct seep_sample *s,
			const struct seep_conf *c, struct seep_verdict *v)
{
	u32 rate = seep_det_fault_rate(d, s, c->v[SEEPAGE_CFG_MONITORING_WINDOW_S]);
	u32 warning = c->v[SEEPAGE_CFG_FAULT_RATE_WARNING];
	u32 critical = c->v[SEEPAGE_CFG_FAULT_RATE_CRITICAL];

	seep_add_factor(v, SEEPAGE_FACTOR_FAULT_RATE,
			rate > critical ? 30 : rate > warning ? 15 : 0, 30, rate,
			rate > critical ? critical : warning);
}

static void factor_growth(const struct seep_det *d, const struct seep_sample *s,
			  const struct seep_conf *c, struct seep_verdict *v)
{
	u64 base = seep_bytes(d->classic.base_rss), rss = seep_rss(s), percent = 0;
	u32 limit = c->v[SEEPAGE_CFG_RSS_GROWTH_PERCENT];

	if (rss > base)
		percent = seep_div((rss - base) * 100, base ? base : 1);
	if (percent > 1000000)
		percent = 1000000;
	seep_add_factor(v, SEEPAGE_FACTOR_RSS_GROWTH,
			percent > limit ? 25 : percent > 50 ? 12 : 0, 25,
			(s64)percent, percent > limit ? limit : 50);
}

static void factor_anon(const struct seep_sample *s, struct seep_verdict *v)
{
	u32 share = anon_percent(s);

	seep_add_factor(v, SEEPAGE_FACTOR_ANON_SHARE,
			share > 80 ? 20 : share > 60 ? 10 : 0, 20, share,
			share > 80 ? 80 : 60);
}

static void factor_vsz(const struct seep_sample *s, struct seep_verdict *v)
{
	u64 rss = seep_rss(s), percent = seep_div(s->vsz * 100, rss ? rss : 1);

	if (percent > 1000000)
		percent = 1000000;
	seep_add_factor(v, SEEPAGE_FACTOR_VSZ_RSS,
			s->vsz > 3 * rss ? 25 : s->vsz > 2 * rss ? 12 : 0, 25,
			(s64)percent, s->vsz > 3 * rss ? 300 : 200);
}

/**
 * seep_classic_verdict() - score and state of the policy classic
 * @d: history, not changed
 * @s: the sample
 * @c: configuration in force
 * @v: as seep_verdict_init() left it; gates, factors, confidence and state are set
 *
 * Context: any.
 */
void seep_classic_verdict(const struct seep_det *d, const struct seep_sample *s,
			  const struct seep_conf *c, struct seep_verdict *v)
{
	const struct seep_classic *k = &d->classic;
	u32 now = seep_ds(s->time_ns), i;
	u64 size = (u64)c->v[SEEPAGE_CFG_MIN_PROCESS_SIZE_MB] << 20;
	u64 warmup = c->v[SEEPAGE_CFG_WARMUP_S], age = seep_div(s->age_ns, 1000000000ULL);
	bool big = seep_rss(s) >= size, warm = age >= warmup, sure;

	v->policy = SEEPAGE_POLICY_CLASSIC;
	factor_rate(d, s, c, v);
	factor_growth(d, s, c, v);
	factor_anon(s, v);
	factor_vsz(s, v);
	for (i = 0; big && i < v->nfactors; i++)
		v->confidence += v->factor[i].points;
	sure = v->confidence > c->v[SEEPAGE_CFG_ALERT_CONFIDENCE];

	seep_add_gate(v, SEEPAGE_GATE_SIZE, big, (s64)seep_rss(s), (s64)size);
	seep_add_gate(v, SEEPAGE_GATE_WARMUP, warm, (s64)age, (s64)warmup);
	seep_add_gate(v, SEEPAGE_GATE_CONFIDENCE, sure, v->confidence,
		      c->v[SEEPAGE_CFG_ALERT_CONFIDENCE]);

	v->state = SEEPAGE_STATE_OK;
	if (!big || !warm)
		return;
	if (held(k->confirmed_since, now, CONFIRMED_FOR_DS))
		v->state = SEEPAGE_STATE_CONFIRMED;
	else if (sure || held(k->suspected_since, now, SUSPECTED_FOR_DS))
		v->state = SEEPAGE_STATE_SUSPECTED;
	else if (held(k->pressure_since, now, PRESSURE_FOR_DS))
		v->state = SEEPAGE_STATE_WATCH;
}
