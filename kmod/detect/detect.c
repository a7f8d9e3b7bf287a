// SPDX-License-Identifier: GPL-2.0
/*
 * From a sample to a verdict: note it, judge it, remember what was said.
 */
#include "detect.h"

#define DS_PER_S		10U
#define SLOT_DS			(10 * DS_PER_S)	/* between two points of the window */
#define WATCH_LINGER_DS		(60 * DS_PER_S)
#define RECOVERED_FOR_DS	(300 * DS_PER_S)
#define HOUR_DS			(3600 * DS_PER_S)
#define SHOWN_DS		(600 * DS_PER_S)
#define STALLED_FOR_DS		HOUR_DS
#define SOON_S			3600

static void reset_fast(struct seep_det *d, u32 t)
{
	seep_clock_reset(d->fast_clock, SEEP_FAST_LEVELS, &d->fast_epochs, t);
	seep_rungs_reset(&d->fast, d->fast_rung, SEEP_FAST_LEVELS);
}

static void reset_slow(struct seep_det *d, u32 t)
{
	seep_clock_reset(d->clock, SEEP_SLOW_LEVELS, &d->epochs, t);
	seep_rungs_reset(&d->mem, d->mem_rung, SEEP_SLOW_LEVELS);
	seep_rungs_reset(&d->vsz, d->vsz_rung, SEEP_VSZ_LEVELS);
	d->slow_min = ~0U;
	d->vsz_min = ~0U;
}

/**
 * seep_det_init() - a process nothing is known of yet
 * @d: zeroed here
 * @seen_ns: when its faults began to be counted
 */
void seep_det_init(struct seep_det *d, u64 seen_ns)
{
	memset(d, 0, sizeof(*d));
	d->t_state = seep_ds(seen_ns);
	d->t_begin = d->t_state;
	d->window[0].t = d->t_state;
	reset_slow(d, d->t_state);
	reset_fast(d, d->t_state);
	d->wpos = 1;
	d->wn = 1;
}

static const struct seep_point *point(const struct seep_det *d, u32 back)
{
	return &d->window[(d->wpos + SEEP_WINDOW - 1 - back) % SEEP_WINDOW];
}

/* The fault-rate window takes a point every ten seconds, not at every sample. */
static bool note_window(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	struct seep_point *p;

	if (d->samples == 1)	/* what was there when counting began is no growth */
		d->window[0].rss = seep_granules(seep_rss(s));
	if (now - point(d, 0)->t < SLOT_DS)
		return false;
	p = &d->window[d->wpos];
	p->t = now;
	p->faults = (u32)s->faults;
	p->rss = seep_granules(seep_rss(s));
	d->wpos = (u8)((d->wpos + 1) % SEEP_WINDOW);
	if (d->wn < SEEP_WINDOW)
		d->wn++;
	return true;
}

/**
 * seep_det_fault_rate() - faults per second up to the sample @s
 * @d: history, not changed
 * @s: the sample that was fed last, or a newer one
 * @window_s: over this many seconds, or as many as are known; at most 150
 */
u32 seep_det_fault_rate(const struct seep_det *d, const struct seep_sample *s,
			u32 window_s)
{
	const struct seep_point *old = point(d, 0);
	u32 now = seep_ds(s->time_ns), faults, i;

	for (i = 0; i < d->wn; i++) {
		old = point(d, i);
		if (now - old->t >= window_s * DS_PER_S)
			break;
	}
	faults = (u32)s->faults - old->faults;
	if (!faults || now <= old->t)
		return 0;
	return (u32)seep_div((u64)faults * DS_PER_S, now - old->t);
}

/* Growth over the floors that a level remembers, two at least; bytes per hour. */
static s64 level_growth(const struct seep_det *d, u32 j)
{
	u32 closed = d->epochs >> j, n = seep_known(d->epochs, j);
	u32 new = seep_floor(&d->mem_rung[j], closed, 0);
	u32 old = seep_floor(&d->mem_rung[j], closed, n - 1);
	u32 span = seep_span(&d->clock[j], closed);
	u64 rate;

	if (n < 2 || !span)
		return 0;
	rate = seep_div(seep_bytes(new > old ? new - old : old - new) * HOUR_DS, span);
	return new >= old ? (s64)rate : -(s64)rate;
}

/* The one that is nearer to zero, which lies between two that disagree. */
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
 * @v: its verdict: growth that is under judgement is shown as it is judged
 * @bytes_per_hour: else what both the last ten minutes (or what is known of a
 *	younger process) and the last seven samples agree on: the lesser of the
 *	two, 0 when one of them does not rise (or fall) as the other does. What
 *	has come to rest is shown so after eight samples.
 *
 * Return: false when too little is known.
 */
bool seep_det_growth(const struct seep_det *d, const struct seep_verdict *v,
		     s64 *bytes_per_hour)
{
	u32 j, lev = 0;

	if (v->t1 > v->t0 && v->floor > v->v0) {
		*bytes_per_hour = (s64)seep_div(seep_bytes(v->floor - v->v0) * HOUR_DS,
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

static u8 severity_by_size(u64 mb)
{
	return mb > 8192 ? 10 : mb > 4096 ? 8 : mb > 1024 ? 6 :
	       mb > 512 ? 4 : mb > 128 ? 2 : 1;
}

/**
 * seep_severity() - how much it matters
 * @v: what is said of the process; its state counts, be it that of an alert
 * @rss_bytes: resident set
 *
 * Return: by the state, an alert one step higher when memory is exhausted
 * within an hour; under the policy classic by the size alone.
 */
u8 seep_severity(const struct seep_verdict *v, u64 rss_bytes)
{
	bool soon = v->tte_s < SOON_S;	/* SEEP_UNKNOWN is the largest */

	if (v->policy == SEEPAGE_POLICY_CLASSIC)
		return severity_by_size(rss_bytes >> 20);
	switch (v->state) {
	case SEEPAGE_STATE_RUNAWAY:
		return 10;
	case SEEPAGE_STATE_CONFIRMED:
		return soon ? 10 : 8;
	case SEEPAGE_STATE_SUSPECTED:
		return soon ? 8 : 6;
	case SEEPAGE_STATE_WATCH:
		return 2;
	default:
		return 1;
	}
}

/*
 * A climb is over when half of it is given back. The highest and the longest
 * one are what this process is known to do: the next like them is no news.
 */
static void note_climb(struct seep_det *d, u32 v, u32 now, u32 need)
{
	u32 rise = d->high_v - d->low_v;

	if (d->samples > 1 && v > d->low_v + rise / 2) {
		if (rise < need)	/* it begins only now */
			d->low_t = now;
		if (v >= d->high_v) {
			d->high_v = v;
			d->high_t = now;
		}
		return;
	}
	if (rise >= need && rise > d->known_rise)
		d->known_rise = rise;
	if (rise >= need && d->high_t - d->low_t > d->known_span)
		d->known_span = d->high_t - d->low_t;
	d->low_v = v;
	d->low_t = now;
	d->high_v = v;
	d->high_t = now;
}

static void push_vsz(struct seep_det *d)
{
	u32 closed = d->epochs >> SEEP_VSZ_SHIFT;

	if (d->vsz_min != d->vsz_v || !seep_ladder_still(&d->vsz, SEEP_VSZ_LEVELS, closed))
		seep_ladder_push(&d->vsz, d->vsz_rung, d->clock + SEEP_VSZ_SHIFT,
				 SEEP_VSZ_LEVELS, closed, d->vsz_min, SEEP_LEAST_VSZ);
	d->vsz_v = d->vsz_min;
	d->vsz_min = ~0U;
}

static void push_fast(struct seep_det *d, const struct seep_sample *s, u32 held, u32 now)
{
	d->fast_epochs++;
	seep_clock_push(d->fast_clock, SEEP_FAST_LEVELS, d->fast_epochs, now);
	seep_ladder_push(&d->fast, d->fast_rung, d->fast_clock, SEEP_FAST_LEVELS,
			 d->fast_epochs, held, seep_least_rise(s));
}

static void push_slow(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	d->epochs++;
	if (d->slow_min == d->slow_v &&
	    seep_ladder_still(&d->mem, SEEP_SLOW_LEVELS, d->epochs)) {
		seep_clock_still(d->clock, d->epochs, now);
		d->slow_rose = false;
	} else {
		seep_clock_push(d->clock, SEEP_SLOW_LEVELS, d->epochs, now);
		seep_ladder_push(&d->mem, d->mem_rung, d->clock, SEEP_SLOW_LEVELS, d->epochs,
				 d->slow_min, seep_least_rise(s));
		d->slow_rose = d->slow_min > d->slow_v;
		d->slow_v = d->slow_min;
	}
	d->slow_min = ~0U;
	if (!(d->epochs & ((1U << SEEP_VSZ_SHIFT) - 1)))
		push_vsz(d);
}

/* What is held and the address space, both in granules, where one has changed. */
static seep_noinline void note_change(struct seep_det *d, const struct seep_sample *s,
				      u32 held, u32 vsz, u32 now)
{
	u32 need = seep_needed_rise(seep_least_rise(s), held);

	if (held > d->last_v)
		d->up += seep_bytes(held - d->last_v);
	else
		d->down += seep_bytes(d->last_v - held);
	note_climb(d, held, now, need);
	d->last_v = held;
	d->last_vsz = vsz;
	if (held > d->held_top)
		d->held_top = held;
	if (vsz < d->held_top)
		d->held_top = vsz;
}

/**
 * seep_det_unheld() - the series of address space
 * @d: history, not changed
 *
 * Return: granules of address space that never held memory at the same time:
 * reserved and not touched, or of files. What a heap keeps of its address space
 * when it gives memory back is none of that.
 */
u32 seep_det_unheld(const struct seep_det *d)
{
	return d->last_vsz - d->held_top;
}

/* Swapping a leak out must not look like release: swap is part of what is held. */
static void note_ladder(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	u32 held = seep_granules(seep_held(s)), vsz = seep_granules(s->vsz), unheld;

	if (held != d->last_v || vsz != d->last_vsz || d->samples == 1)
		note_change(d, s, held, vsz, now);
	if (held < d->slow_min)
		d->slow_min = held;
	unheld = seep_det_unheld(d);
	if (unheld < d->vsz_min)
		d->vsz_min = unheld;
	if (d->state >= SEEPAGE_STATE_WATCH && d->state <= SEEPAGE_STATE_RUNAWAY)
		push_fast(d, s, held, now);
	if (s->full)
		push_slow(d, s, now);
}

/* Not memset: most verdicts are of processes that do nothing. */
void seep_verdict_init(struct seep_verdict *v)
{
	v->state = SEEPAGE_STATE_OK;
	v->confidence = 0;
	v->policy = SEEPAGE_POLICY_LADDER;
	v->series = SEEPAGE_SERIES_MEMORY;
	v->ngates = 0;
	v->nfactors = 0;
	v->tte_s = SEEP_UNKNOWN;
	v->v0 = 0;
	v->floor = 0;
	v->t0 = 0;
	v->t1 = 0;
	v->epoch = 0;
	v->patience = 0;
}

/* No floor rises, none did, and nothing grew fast: the verdict is known. */
static bool at_rest(const struct seep_det *d, const struct seep_sample *s,
		    const struct seep_conf *c)
{
	return d->state == SEEPAGE_STATE_OK &&
	       !(d->mem.runs | d->fast.runs | d->vsz.runs) &&
	       !(d->slow_rose && seep_ladder_early(d, s, c));
}

static void judge(const struct seep_det *d, const struct seep_sample *s,
		  const struct seep_conf *c, struct seep_verdict *v)
{
	seep_verdict_init(v);
	if (c->v[SEEPAGE_CFG_POLICY] == SEEPAGE_POLICY_CLASSIC)
		seep_classic_verdict(d, s, c, v);
	else
		seep_ladder_verdict(d, s, c, v);
}

static bool is_alert(u8 state)
{
	return state >= SEEPAGE_STATE_SUSPECTED && state <= SEEPAGE_STATE_RUNAWAY;
}

/* The growth under watch began after the last sample that was not above. */
static void watch_begin(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	u32 before = seep_mem_floor(d, 1);

	d->up = 0;
	d->down = 0;
	d->faults_anon0 = s->faults_anon;
	d->watch_v0 = d->last_v;
	d->watch_shared0 = seep_granules(s->shmem);
	d->watch_pool0 = seep_granules(s->pool);
	d->t_watch = now;
	d->onset_t = now;
	d->onset_v = d->last_v;
	if (d->last_v > before) {
		d->onset_t = d->epochs > 1 ? now - seep_epoch(d->clock, seep_known(d->epochs, 0)) :
					     d->window[0].t;
		d->onset_v = before;
	}
	reset_fast(d, now);
}

/* What has not been exceeded for two epochs: one dip in a sample does not count. */
static u32 recent_top(const struct seep_det *d)
{
	u32 a = seep_mem_floor(d, 0), b = seep_mem_floor(d, 1), top = a > b ? a : b;

	return d->last_v > top ? d->last_v : top;
}

static u32 recent_vsz(const struct seep_det *d)
{
	u32 n = d->epochs >> SEEP_VSZ_SHIFT;
	u32 a = seep_floor(d->vsz_rung, n, 0), b = seep_floor(d->vsz_rung, n, 1);

	return a > b ? a : b;
}

/* Of the level that sees what was accused at the interval in force, ds. */
static u32 epoch_needed(const struct seep_det *d)
{
	u32 epoch = d->interval_ms / 100, j;

	for (j = 1; j < SEEP_SLOW_LEVELS && epoch < d->accused_epoch; j++)
		epoch *= 2;
	return epoch > d->accused_epoch ? epoch : d->accused_epoch;
}

static bool given_back(const struct seep_det *d)
{
	u32 half = d->accused_v0;

	if (d->accused_top > d->accused_v0)
		half += (d->accused_top - d->accused_v0) / 2;
	if (d->accused == SEEPAGE_SERIES_VSZ)
		return d->epochs >> SEEP_VSZ_SHIFT >= 2 && recent_vsz(d) < half;
	return d->epochs >= 2 && recent_top(d) < half;
}

/*
 * Half of the accused growth given back, or no growth for long, which is as
 * long as the levels that saw it need to tell: not a leak, or not any more.
 * Levels begun anew say nothing yet: of release after two epochs, of growth
 * when the one that is needed has all its floors.
 */
static bool recovered(const struct seep_det *d, u32 now)
{
	u32 stalled = STALLED_FOR_DS, epoch = epoch_needed(d);

	if (given_back(d))
		return true;
	if (epoch > stalled / 2)
		stalled = 2 * epoch;
	return now - d->t_run > stalled && now - d->t_begin >= SEEP_MINIMA * epoch;
}

/*
 * Floors from before say nothing of what comes: those of the long epochs would
 * go on to rise until their next end, and accuse again.
 */
static void start_over(struct seep_det *d, u32 now)
{
	reset_slow(d, now);
	reset_fast(d, now);
	d->restarted = true;
	d->t_begin = now;
}

/* A level's epochs must be of one length. */
static void new_interval(struct seep_det *d, u32 ms, u32 now)
{
	if (d->interval_ms) {
		start_over(d, now);
		d->t_run = now;
	}
	d->interval_ms = ms;
}

static void accuse(struct seep_det *d, const struct seep_verdict *v)
{
	d->accused = v->series;
	d->accused_v0 = v->v0;
	d->accused_top = v->floor;
	d->accused_epoch = v->epoch;
}

/* An alert stays an alert until the memory comes back; it never steps down. */
static u8 alert_goes_on(struct seep_det *d, const struct seep_verdict *v, u32 now)
{
	if (v->policy == SEEPAGE_POLICY_CLASSIC)
		return is_alert(v->state) ? v->state : SEEPAGE_STATE_RECOVERED;
	/* a leak of memory matters more than one of address space, not the reverse */
	if (v->series == SEEPAGE_SERIES_MEMORY && d->accused != v->series && is_alert(v->state))
		accuse(d, v);
	if (v->series == d->accused && v->floor > d->accused_top)
		d->accused_top = v->floor;
	if (v->series == d->accused && v->epoch > d->accused_epoch)
		d->accused_epoch = v->epoch;
	if (recovered(d, now))
		return SEEPAGE_STATE_RECOVERED;
	return v->series == d->accused && v->state > d->state ? v->state : d->state;
}

static u8 next_state(struct seep_det *d, const struct seep_verdict *v, u32 now)
{
	if (is_alert(d->state))
		return alert_goes_on(d, v, now);
	if (is_alert(v->state)) {
		accuse(d, v);
		return v->state;
	}
	if (d->state == SEEPAGE_STATE_RECOVERED && now - d->t_state < RECOVERED_FOR_DS)
		return d->state;
	if (d->state == SEEPAGE_STATE_WATCH && v->state == SEEPAGE_STATE_OK &&
	    now - d->t_run < WATCH_LINGER_DS)
		return d->state;
	return v->state;
}

/**
 * seep_det_feed() - one more sample of a process
 * @d: its history, updated
 * @s: the sample; time must not go back
 * @c: configuration in force
 * @v: verdict out, its state the one the process is in from now on; for a
 *	process at rest without gates and factors, which seep_det_explain() has
 */
void seep_det_feed(struct seep_det *d, const struct seep_sample *s,
		   const struct seep_conf *c, struct seep_verdict *v)
{
	u32 now = seep_ds(s->time_ns);
	bool classic = c->v[SEEPAGE_CFG_POLICY] == SEEPAGE_POLICY_CLASSIC;
	bool other_policy = d->policy != c->v[SEEPAGE_CFG_POLICY], new_slot;
	u8 state;

	if (d->samples < 255)
		d->samples++;
	if (d->interval_ms != c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS])
		new_interval(d, c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS], now);
	new_slot = note_window(d, s, now);
	if (other_policy) {
		seep_classic_forget(d);
		/* not pushed while classic says ok: they are of another time */
		reset_fast(d, now);
	}
	if (classic || d->samples == 1 || (new_slot && seep_classic_learns(d, s, c)))
		seep_classic_feed(d, s, c, new_slot);
	note_ladder(d, s, now);
	if (!classic && !other_policy && at_rest(d, s, c)) {
		seep_verdict_init(v);
		d->confidence = 0;
		return;
	}
	judge(d, s, c, v);
	if (is_alert(d->state) && v->policy == SEEPAGE_POLICY_LADDER && v->series != d->accused)
		;	/* growth of another kind does not keep an alert alive */
	else if (v->t1 > d->t_run)
		d->t_run = v->t1;
	else if (!v->t1 && v->state != SEEPAGE_STATE_OK)
		d->t_run = now;
	if (other_policy && is_alert(d->state))	/* the old one's alert is over */
		state = SEEPAGE_STATE_RECOVERED;
	else
		state = next_state(d, v, now);
	d->policy = (u8)c->v[SEEPAGE_CFG_POLICY];
	if (state != d->state) {
		if (state == SEEPAGE_STATE_RECOVERED)
			start_over(d, now);
		if (d->state == SEEPAGE_STATE_OK || d->state == SEEPAGE_STATE_RECOVERED)
			watch_begin(d, s, now);
		d->state = state;
		d->t_state = now;
	}
	if (!is_alert(state) || v->policy == SEEPAGE_POLICY_CLASSIC ||
	    v->confidence > d->confidence)
		d->confidence = v->confidence;
	v->state = d->state;
	v->confidence = d->confidence;
}

/**
 * seep_det_explain() - the verdict of the last sample once more, for display
 * @d: history, not changed
 * @s: the sample that was fed last
 * @c: configuration in force
 * @v: verdict out
 */
void seep_det_explain(const struct seep_det *d, const struct seep_sample *s,
		      const struct seep_conf *c, struct seep_verdict *v)
{
	judge(d, s, c, v);
	v->state = d->state;
	if (d->policy == v->policy || !d->samples)	/* not the points of another policy */
		v->confidence = d->confidence;
}
