// SPDX-License-Identifier: GPL-2.0
/*
 * From a sample to a verdict: note it, judge it, remember what was said.
 */
#include "detect.h"

#define SLOT_DS		100U	/* between two points of the window */
#define POOL_LEFT	(1U << (20 - SEEP_GRANULE_SHIFT))	/* granules: 1 MB */

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
	seep_reset_slow(d, d->t_state);
	seep_reset_fast(d, d->t_state);
	d->wpos = 1;
	d->wn = 1;
}

/**
 * seep_det_inherit() - what others of its name are known to do
 * @d: as seep_det_init() left it
 * @rise: the highest of their climbs, granules
 * @span: the longest, ds
 */
void seep_det_inherit(struct seep_det *d, u32 rise, u32 span)
{
	d->known_rise = rise;
	d->known_span = span;
	d->inherited = true;
}

/* The fault-rate window takes a point every ten seconds, not at every sample. */
static bool note_window(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	struct seep_point *p;

	if (d->samples == 1)	/* what was there when counting began is no growth */
		d->window[0].rss = seep_granules(seep_rss(s));
	if (now - seep_point(d, 0)->t < SLOT_DS)
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
	if (rise >= need && rise > d->known_rise) {
		d->known_rise = rise;
		d->inherited = false;
	}
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

static u32 over(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

/*
 * Shared memory that was there before somebody mapped it is not this process's
 * growth: of what it maps more, sample by sample, at most what the whole system
 * gained meanwhile is its own. Others who let go of theirs change nothing about
 * that, but in the same sample. Both figures are rounded down, and read one after
 * the other: a little that the system gained is left for the next sample, and
 * what seems foreign is not if the system is found to have gained it then.
 */
static void note_shared(struct seep_det *d, const struct seep_sample *s)
{
	u32 shared = seep_granules(s->shmem), pool = seep_granules(s->pool);
	u32 came = d->pool_left + over(pool, d->pool);
	u32 grew = over(shared, d->shared), gone = over(d->shared, shared);
	u32 early = d->foreign_new < came ? d->foreign_new : came, own;

	came -= early;
	own = grew < came ? grew : came;
	came -= own;
	grew -= own;
	d->foreign = over(over(d->foreign, early), gone) + grew;
	d->foreign_new = grew < 0xffff ? (u16)grew : 0xffff;
	d->pool_left = came < POOL_LEFT ? (u16)came : POOL_LEFT;
	d->shared = shared;
	d->pool = pool;
}

/*
 * Memory that comes without a page fault into what was mapped before is not the
 * process's doing: khugepaged makes whole pages of it. A fault gives a huge page at
 * most, and what is mapped since may be populated, or made whole, at any time.
 */
static void note_filled(struct seep_det *d, const struct seep_sample *s, u32 held, u32 vsz)
{
	u64 huge = 1ULL << (2 * s->page_shift - 3 - SEEP_GRANULE_SHIFT);	/* granules */
	u32 faults = (u32)s->faults - d->faults_seen;
	u32 grew = over(held, d->last_v), left;
	u64 faulted = faults * huge;

	d->faults_seen = (u32)s->faults;
	d->unfilled += over(vsz, d->last_vsz);
	d->unfilled = over(d->unfilled, over(d->last_vsz, vsz));
	left = over(d->unfilled, grew);
	if (grew > faulted)
		d->filled += over(grew - (u32)faulted, d->unfilled);
	d->unfilled = left;
	d->filled = over(d->filled, over(d->last_v, held));
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

/*
 * What it has when it is first seen under watch: what it gains is counted from there.
 * Once more when the CPU time since then no longer fits, or seems to run backwards.
 */
static bool then_is_over(const struct seep_det *d, const struct seep_sample *s)
{
	if (!d->then.cpu_ms)
		return true;
	return s->cpu_ms && s->cpu_ms != SEEP_CPU_UNKNOWN && d->then.cpu_ms != SEEP_CPU_UNKNOWN &&
	       s->cpu_ms - d->then.cpu_ms > 1U << 31;
}

static void note_then(struct seep_det *d, const struct seep_sample *s, u32 held)
{
	d->then.cpu_ms = s->cpu_ms;
	d->then.held = held;
	d->then.heap = s->heap;
	d->then.shmem = seep_granules(s->shmem);
	d->then.pgtables = seep_granules(s->pgtables);
}

/*
 * Whose growth is. Of who is not under watch that of the last growth is kept: a watch
 * goes on from there, or it would know nothing until the next, which may be long in
 * coming. Faults, and what the system gained, are then those since the change before.
 */
static void note_origin(struct seep_det *d, const struct seep_sample *s, u32 held, u32 vsz)
{
	if (d->samples == 1) {
		seep_origin_begin(d, s);
		d->own_v0 = held;
		return;
	}
	if (!seep_watched(d->state) && held > d->last_v) {
		d->own_v0 = d->last_v;
		d->filled = 0;
		d->foreign = 0;
		d->foreign_new = 0;
	}
	note_filled(d, s, held, vsz);
	note_shared(d, s);
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
	bool changed = held != d->last_v || vsz != d->last_vsz || d->samples == 1;
	bool watched = seep_watched(d->state);

	if (watched || changed)
		note_origin(d, s, held, vsz);
	if (changed)
		note_change(d, s, held, vsz, now);
	if (held < d->slow_min)
		d->slow_min = held;
	unheld = seep_det_unheld(d);
	if (unheld < d->vsz_min)
		d->vsz_min = unheld;
	if (watched && then_is_over(d, s))
		note_then(d, s, held);
	if (watched)
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

/* A level's epochs must be of one length. */
static void new_interval(struct seep_det *d, u32 ms, u32 now)
{
	if (d->interval_ms) {
		seep_start_over(d, now);
		d->t_run = now;
	}
	d->interval_ms = ms;
}

/**
 * seep_det_feed() - one more sample of a process
 * @d: its history, updated
 * @s: the sample; time must not go back
 * @c: configuration in force
 * @v: verdict out, its state the one the process is in from now on; for a
 *	process at rest without gates and factors, and without those that only tell
 *	unless the state is another; seep_det_explain() has them
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
		if (!seep_watched(d->state))
			seep_reset_fast(d, now);
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
	if (seep_alert_is(d->state) && v->policy == SEEPAGE_POLICY_LADDER &&
	    v->series != d->accused)
		;	/* growth of another kind does not keep an alert alive */
	else if (v->t1 > d->t_run)
		d->t_run = v->t1;
	else if (!v->t1 && v->state != SEEPAGE_STATE_OK)
		d->t_run = now;
	state = seep_next_state(d, v, now);
	d->policy = (u8)c->v[SEEPAGE_CFG_POLICY];
	if (state != d->state) {
		seep_points_tell(v, d, s);
		d->overruled = other_policy;
		if (state == SEEPAGE_STATE_RECOVERED && !classic && !other_policy)
			seep_start_over(d, now);
		if (d->state == SEEPAGE_STATE_OK || d->state == SEEPAGE_STATE_RECOVERED)
			seep_watch_begin(d, s, now);
		d->state = state;
		d->t_state = now;
	}
	if (!seep_alert_is(state) || v->policy == SEEPAGE_POLICY_CLASSIC || other_policy ||
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
	seep_points_tell(v, d, s);
	v->state = d->state;
	if (d->policy == v->policy || !d->samples)	/* not the points of another policy */
		v->confidence = d->confidence;
}
