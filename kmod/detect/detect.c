// SPDX-License-Identifier: GPL-2.0
/*
 * The entry points: seep_det_feed() notes a sample, judges it and remembers the verdict;
 * seep_det_explain() shows the verdict again.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised, in the module by
 * seep_table_mutex.
 */
#include "detect.h"

#define SHMEM_UNCLAIMED_MAX	SEEP_MIB

/**
 * seep_det_init() - start the history of a new process
 * @d: all members are overwritten
 * @w: the same, or NULL
 * @seen_ns: when its faults began to be counted, CLOCK_MONOTONIC
 *
 * Context: any.
 */
void seep_det_init(struct seep_det *d, struct seep_watch *w, u64 seen_ns)
{
	memset(d, 0, sizeof(*d));
	if (w)
		memset(w, 0, sizeof(*w));
	d->w = w;
	d->t_state = seep_ds(seen_ns);
	d->t_begin = d->t_state;
	d->window[0].t = d->t_state;
	seep_reset_slow(d, d->t_state);
	seep_reset_fast(d, d->t_state);
	d->wpos = 1;
	d->wn = 1;
}

/**
 * seep_det_inherit() - start with what other members of the group are known to do
 * @d: as seep_det_init() left it
 * @rise: their highest released climb, granules
 * @span: their longest released climb, ds
 *
 * Context: any.
 */
void seep_det_inherit(struct seep_det *d, u32 rise, u32 span)
{
	d->known_rise = rise;
	d->known_span = span;
	d->inherited = true;
}

/*
 * Add a point to the fault-rate window, every ten seconds at most. As pass_window() of rest.c.
 *
 * Return: true when a point was added.
 */
static bool note_window(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	struct seep_point *p;

	if (d->samples == 1)	/* memory that existed before counting began is no growth */
		d->window[0].rss = seep_granules(seep_rss(s));
	if (now - seep_point(d, 0)->t < SEEP_SLOT_DS)
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
 * Follow the climbs of memory held. A climb ends when the process has released half of
 * it. The highest and the longest climb that ended are known behaviour: the next climb
 * like them is not novel. An own one takes the place of one of others that counts for less.
 */
static void note_climb(struct seep_det *d, const struct seep_sample *s, u32 v, u32 now, u32 need)
{
	u32 rise = d->high_v - d->low_v;

	if (d->samples > 1 && v > d->low_v + rise / 2) {
		if (rise < need)	/* not worth the name yet: it begins now */
			d->low_t = now;
		if (v >= d->high_v) {
			d->high_v = v;
			d->high_t = now;
		}
		return;
	}
	if (rise >= need && rise > seep_known_rise(d, s)) {
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

/* Close an epoch of address space, at every 2^SEEP_VSZ_SHIFT-th full sample. */
static void push_vsz(struct seep_det *d)
{
	u32 closed = d->epochs >> SEEP_VSZ_SHIFT;

	if (d->vsz_min != d->vsz_v || !seep_ladder_still(&d->vsz, SEEP_VSZ_LEVELS, closed))
		seep_ladder_push(&d->vsz, d->vsz_level, d->w->vsz_run, d->clock + SEEP_VSZ_SHIFT,
				 SEEP_VSZ_LEVELS, closed, d->vsz_min, SEEP_LEAST_VSZ);
	d->vsz_v = d->vsz_min;
	d->vsz_min = ~0U;
}

/*
 * Origin, part 1: shared memory. A process that maps existing shared memory has not
 * allocated it. Of what it maps in addition at most as much is its own as the whole
 * system gained since the last sample; the rest existed before.
 *
 * For example (granules), for a process that maps 300 in addition:
 *
 *	system gains 300	300 are its own, shmem_preexisting stays
 *	system gains 0		shmem_preexisting += 300
 *	system gains 100	100 are its own, shmem_preexisting += 200
 *
 * Both figures are rounded down and read one after the other, so memory may show in one
 * figure a sample before the other:
 *
 * - The system gained memory that no process has mapped yet: up to 1 MiB of it stays in
 *   shmem_unclaimed for the next sample.
 * - The process mapped memory that the system has not gained yet: shmem_preexisting_new
 *   is undone when the next sample shows the gain. For example the process maps 300 and
 *   the system gains 250: shmem_preexisting is 50. The next sample shows 50 more for the
 *   system: shmem_preexisting is 0 again.
 *
 * Memory that other processes release in the same sample hides a gain of this one.
 */
static void note_shmem(struct seep_det *d, const struct seep_sample *s)
{
	u32 mapped = seep_granules(s->shmem), shmem_total = seep_granules(s->shmem_total);
	u32 came, grew, gone, early, gained;

	if (mapped == d->shmem_mapped && shmem_total == d->shmem_total &&
	    !d->shmem_preexisting_new)
		return;		/* nothing came, and nothing is undone */
	came = d->shmem_unclaimed + seep_minus(shmem_total, d->shmem_total);
	grew = seep_minus(mapped, d->shmem_mapped);
	gone = seep_minus(d->shmem_mapped, mapped);
	early = d->shmem_preexisting_new < came ? d->shmem_preexisting_new : came;
	came -= early;
	gained = grew < came ? grew : came;
	came -= gained;
	grew -= gained;
	d->shmem_preexisting = seep_minus(seep_minus(d->shmem_preexisting, early), gone) + grew;
	d->shmem_preexisting_new = grew < 0xffff ? (u16)grew : 0xffff;
	d->shmem_unclaimed = came < SHMEM_UNCLAIMED_MAX ? (u16)came : SHMEM_UNCLAIMED_MAX;
	d->shmem_mapped = mapped;
	d->shmem_total = shmem_total;
}

/*
 * Origin, part 2: memory that comes without a page fault, because khugepaged replaced
 * small pages by a huge page. The process did not cause that growth. One fault may
 * allocate one huge page at most; new mappings may be populated by mmap() itself or be
 * collapsed at any time, so growth up to their size counts as caused.
 *
 * For example, with huge pages of 128 granules, held grows by 120:
 *
 *	no fault, no new mapping	faultless += 120
 *	one fault			faultless stays, the fault explains up to 128
 *	no fault, 50 newly mapped	faultless += 70, and unpopulated is 0 again
 */
static void note_faultless(struct seep_det *d, const struct seep_sample *s, u32 held, u32 vsz)
{
	u64 huge = 1ULL << (2 * s->page_shift - 3 - SEEP_GRANULE_SHIFT);	/* granules */
	u32 faults = (u32)s->faults - d->faults_seen;
	u32 grew = seep_minus(held, d->last_v), left;
	u64 faulted = faults * huge;

	d->faults_seen = (u32)s->faults;
	d->unpopulated += seep_minus(vsz, d->last_vsz);
	d->unpopulated = seep_minus(d->unpopulated, seep_minus(d->last_vsz, vsz));
	left = seep_minus(d->unpopulated, grew);
	if (grew > faulted)
		d->faultless += seep_minus(grew - (u32)faulted, d->unpopulated);
	d->unpopulated = left;
	d->faultless = seep_minus(d->faultless, seep_minus(d->last_v, held));
}

/* Close an epoch of the fast ladder: one a sample under watch. */
static void push_fast(struct seep_det *d, const struct seep_sample *s, u32 held, u32 now)
{
	struct seep_watch *w = d->w;

	w->fast_epochs++;
	seep_clock_push(w->fast_clock, SEEP_FAST_LEVELS, w->fast_epochs, now);
	seep_ladder_push(&w->fast, w->fast_level, w->fast_run, w->fast_clock, SEEP_FAST_LEVELS,
			 w->fast_epochs, held, seep_least_rise(s));
}

/*
 * Close an epoch of memory held, and of address space where its turn has come. As
 * seep_det_rested() of rest.c.
 */
static void push_slow(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	d->epochs++;
	if (d->slow_min == d->slow_v &&
	    seep_ladder_still(&d->mem, SEEP_SLOW_LEVELS, d->epochs)) {
		seep_clock_still(d->clock, d->epochs, now);
		d->slow_rose = false;
	} else {
		seep_clock_push(d->clock, SEEP_SLOW_LEVELS, d->epochs, now);
		seep_ladder_push(&d->mem, d->mem_level, d->w->mem_run, d->clock,
				 SEEP_SLOW_LEVELS, d->epochs, d->slow_min, seep_least_rise(s));
		d->slow_rose = d->slow_min > d->slow_v;
		d->slow_v = d->slow_min;
	}
	d->slow_min = ~0U;
	if (!(d->epochs & ((1U << SEEP_VSZ_SHIFT) - 1)))
		push_vsz(d);
}

/*
 * The first sample under watch becomes the baseline that later gains are counted from.
 * It is taken again when the CPU time since then exceeds 2^31 ms (25 days), or seems to
 * run backwards.
 */
static bool baseline_is_stale(const struct seep_det *d, const struct seep_sample *s)
{
	if (!d->w->baseline.cpu_ms)
		return true;
	return s->cpu_ms && s->cpu_ms != SEEP_CPU_UNKNOWN &&
	       d->w->baseline.cpu_ms != SEEP_CPU_UNKNOWN &&
	       s->cpu_ms - d->w->baseline.cpu_ms > 1U << 31;
}

static void note_baseline(struct seep_det *d, const struct seep_sample *s, u32 held)
{
	d->w->baseline.cpu_ms = s->cpu_ms;
	d->w->baseline.held = held;
	d->w->baseline.heap = s->heap;
	d->w->baseline.shmem = seep_granules(s->shmem);
	d->w->baseline.pgtables = seep_granules(s->pgtables);
}

/*
 * Origin: what the process itself caused of its growth. While a process is not under
 * watch, only the last step up is kept, so that a watch can start from it. Otherwise
 * the origin of a slow leak would be unknown until its next step, which may take hours.
 * Faults and system-wide gains are then counted from the previous change on.
 */
static void note_origin(struct seep_det *d, const struct seep_sample *s, u32 held, u32 vsz)
{
	if (d->samples == 1) {
		seep_origin_begin(d, s);
		d->origin_v0 = held;
		return;
	}
	if (!seep_watched(d->state) && held > d->last_v) {
		d->origin_v0 = d->last_v;
		d->faultless = 0;
		d->shmem_preexisting = 0;
		d->shmem_preexisting_new = 0;
	}
	note_faultless(d, s, held, vsz);
	note_shmem(d, s);
}

/* Account a change of memory held or of address space; @held, @vsz in granules. */
static seep_noinline void note_change(struct seep_det *d, const struct seep_sample *s,
				      u32 held, u32 vsz, u32 now)
{
	u32 need = seep_needed_rise(seep_least_rise(s), held);

	if (held > d->last_v)
		d->up += seep_bytes(held - d->last_v);
	else
		d->down += seep_bytes(d->last_v - held);
	note_climb(d, s, held, now, need);
	d->last_v = held;
	d->last_vsz = vsz;
	if (held > d->held_top)
		d->held_top = held;
	if (vsz < d->held_top)
		d->held_top = vsz;
}

/* Swap is part of memory held: swapping a leak out must not look like a release. */
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
	if (watched && baseline_is_stale(d, s))
		note_baseline(d, s, held);
	if (watched)
		push_fast(d, s, held, now);
	if (s->full)
		push_slow(d, s, now);
}

/* Assignments, not memset(): most verdicts are on idle processes and must be cheap. */
void seep_verdict_init(struct seep_verdict *v)
{
	v->state = SEEPAGE_STATE_OK;
	v->confidence = 0;
	v->policy = SEEPAGE_POLICY_LADDER;
	v->subject = SEEPAGE_SUBJECT_MEMORY;
	v->ngates = 0;
	v->nfactors = 0;
	v->dropped = false;
	v->tte_s = SEEP_UNKNOWN;
	v->v0 = 0;
	v->floor = 0;
	v->t0 = 0;
	v->t1 = 0;
	v->epoch = 0;
	v->patience = 0;
	v->rate = 0;
}

/* No level has a run and nothing grew fast: the verdict is ok without a closer look. */
static bool at_rest(const struct seep_det *d, const struct seep_sample *s,
		    const struct seep_conf *c)
{
	return seep_det_plain(d) && !(d->slow_rose && seep_ladder_early(d, s, c));
}

/* What the configured policy makes of the last sample. */
static void policy_verdict(const struct seep_det *d, const struct seep_sample *s,
			   const struct seep_conf *c, struct seep_verdict *v, bool brief)
{
	seep_verdict_init(v);
	if (c->v[SEEPAGE_CFG_POLICY] == SEEPAGE_POLICY_CLASSIC)
		seep_classic_verdict(d, s, c, v);
	else
		seep_ladder_verdict(d, s, c, v, brief);
}

/* All epochs of a level have the same length: a new interval restarts the levels. */
static void new_interval(struct seep_det *d, u32 ms, u32 now)
{
	if (d->interval_ms) {
		seep_start_over(d, now);
		d->t_run = now;
	}
	d->interval_ms = ms;
}

/**
 * seep_det_feed() - add a sample and decide the state
 * @d: history with a struct seep_watch, updated. That one may be any without a fast run
 *     where there was none before, and may be taken away while seep_det_plain().
 * @s: the sample; its time must not go back
 * @c: configuration in force
 * @v: verdict out; its state is the state of the process from now on
 *
 * @v has no gates and factors for a process at rest. It has the factors without points
 * (KIND, WORK, POP) only when the state has changed, and only then the gates that a brief
 * sample leaves out. seep_det_explain() has all of them.
 *
 * Context: any.
 */
void seep_det_feed(struct seep_det *d, const struct seep_sample *s,
		   const struct seep_conf *c, struct seep_verdict *v)
{
	u32 now = seep_ds(s->time_ns);
	bool classic = c->v[SEEPAGE_CFG_POLICY] == SEEPAGE_POLICY_CLASSIC;
	bool other_policy = d->policy != c->v[SEEPAGE_CFG_POLICY], learns;
	u8 state;

	if (d->samples < 255)
		d->samples++;
	if (d->interval_ms != c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS])
		new_interval(d, c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS], now);
	learns = note_window(d, s, now) && seep_classic_learns(d, s, c);
	if (other_policy) {
		seep_classic_forget(d);
		/* its floors are from before classic, which pushes none while it says ok */
		if (!seep_watched(d->state))
			seep_reset_fast(d, now);
	}
	if (classic || learns || d->samples == 1)
		seep_classic_feed(d, s, c, learns);
	note_ladder(d, s, now);
	if (!classic && !other_policy && at_rest(d, s, c)) {
		seep_verdict_init(v);
		d->confidence = 0;
		return;
	}
	policy_verdict(d, s, c, v, s->brief);
	if (seep_alert_is(d->state) && v->policy == SEEPAGE_POLICY_LADDER &&
	    v->subject != d->accused)
		;	/* growth of another subject does not keep this alert alive */
	else if (v->t1 > d->t_run)
		d->t_run = v->t1;
	else if (!v->t1 && v->state != SEEPAGE_STATE_OK)
		d->t_run = now;
	state = seep_next_state(d, v, now);
	d->policy = (u8)c->v[SEEPAGE_CFG_POLICY];
	/* an alert may be sent later than the state changes */
	if (s->brief && (state != d->state || seep_alert_is(state)))
		policy_verdict(d, s, c, v, false);
	if (state != d->state) {
		seep_points_inform(v, d, s);
		d->state_of_other_policy = other_policy;
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
 * seep_det_explain() - the verdict of the last sample again, for display
 * @d: history, not changed
 * @s: the sample that was fed last
 * @c: configuration in force
 * @v: verdict out, with all gates and factors
 *
 * Context: any.
 */
void seep_det_explain(const struct seep_det *d, const struct seep_sample *s,
		      const struct seep_conf *c, struct seep_verdict *v)
{
	policy_verdict(d, s, c, v, false);
	seep_points_inform(v, d, s);
	v->state = d->state;
	/* the confidence remembered belongs to the policy that made it */
	if (d->policy == v->policy || !d->samples)
		v->confidence = d->confidence;
}
