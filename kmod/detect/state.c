// SPDX-License-Identifier: GPL-2.0
/*
 * The state a process is in: what is said of one sample, and what was said before.
 */
#include "detect.h"

#define DS_PER_S		10U
#define WATCH_LINGER_DS		(60 * DS_PER_S)
#define RECOVERED_FOR_DS	(300 * DS_PER_S)
#define STALLED_FOR_DS		(3600 * DS_PER_S)

void seep_reset_fast(struct seep_det *d, u32 t)
{
	seep_clock_reset(d->fast_clock, SEEP_FAST_LEVELS, &d->fast_epochs, t);
	seep_rungs_reset(&d->fast, d->fast_rung, SEEP_FAST_LEVELS, SEEP_FAST_STRICT);
}

void seep_reset_slow(struct seep_det *d, u32 t)
{
	seep_clock_reset(d->clock, SEEP_SLOW_LEVELS, &d->epochs, t);
	seep_rungs_reset(&d->mem, d->mem_rung, SEEP_SLOW_LEVELS, SEEP_STRICT);
	seep_rungs_reset(&d->vsz, d->vsz_rung, SEEP_VSZ_LEVELS, SEEP_STRICT);
	d->slow_min = ~0U;
	d->vsz_min = ~0U;
}

/* Who mapped and faulted what so far is not asked: what comes is compared with this. */
void seep_origin_begin(struct seep_det *d, const struct seep_sample *s)
{
	d->shared = seep_granules(s->shmem);
	d->pool = seep_granules(s->pool);
	d->pool_left = 0;
	d->foreign_new = 0;
	d->unfilled = 0;
	d->faults_seen = (u32)s->faults;
}

/* The growth under watch began after the last sample that was not above. */
void seep_watch_begin(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	u32 before = seep_mem_floor(d, 1);

	d->up = 0;
	d->down = 0;
	d->faults_anon0 = s->faults_anon;
	d->watch_v0 = d->last_v;
	seep_origin_begin(d, s);
	d->then.cpu_ms = 0;
	d->t_watch = now;
	d->onset_t = now;
	d->onset_v = d->last_v;
	if (d->last_v > before) {
		d->onset_t = d->epochs > 1 ? now - seep_epoch(d->clock, seep_known(d->epochs, 0)) :
					     d->window[0].t;
		d->onset_v = before;
	}
	seep_reset_fast(d, now);
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
void seep_start_over(struct seep_det *d, u32 now)
{
	seep_reset_slow(d, now);
	seep_reset_fast(d, now);
	d->restarted = true;
	d->t_begin = now;
}

/*
 * False: it has been given back, while another policy did not look. The floors of the
 * long epochs go on to rise until their next end.
 */
static bool accuse(struct seep_det *d, const struct seep_verdict *v)
{
	d->accused = v->series;
	d->accused_v0 = v->v0;
	d->accused_top = v->floor;
	d->accused_epoch = v->epoch;
	return !given_back(d);
}

/* An alert stays an alert until the memory comes back; it never steps down. */
static u8 alert_goes_on(struct seep_det *d, const struct seep_verdict *v, u32 now)
{
	if (v->policy == SEEPAGE_POLICY_CLASSIC)
		return seep_alert_is(v->state) ? v->state : SEEPAGE_STATE_RECOVERED;
	/* a leak of memory matters more than one of address space, not the reverse */
	if (v->series == SEEPAGE_SERIES_MEMORY && d->accused != v->series &&
	    seep_alert_is(v->state))
		accuse(d, v);
	if (v->series == d->accused && v->floor > d->accused_top)
		d->accused_top = v->floor;
	if (v->series == d->accused && v->epoch > d->accused_epoch)
		d->accused_epoch = v->epoch;
	if (recovered(d, now))
		return SEEPAGE_STATE_RECOVERED;
	return v->series == d->accused && v->state > d->state ? v->state : d->state;
}

u8 seep_next_state(struct seep_det *d, const struct seep_verdict *v, u32 now)
{
	bool alert = seep_alert_is(d->state);

	if (alert && d->policy == v->policy)
		return alert_goes_on(d, v, now);
	/*
	 * Of an alert of another policy: to this one as well, or none. The floors are kept
	 * under any of them, so that the next one need not wait for its own.
	 */
	if (seep_alert_is(v->state)) {
		/* whether it uses what it gained is looked at of those under watch */
		if (!seep_watched(d->state) && v->policy == SEEPAGE_POLICY_LADDER)
			return SEEPAGE_STATE_WATCH;
		if (accuse(d, v))
			return v->state;
		return alert ? SEEPAGE_STATE_RECOVERED : SEEPAGE_STATE_WATCH;
	}
	if (alert)
		return SEEPAGE_STATE_RECOVERED;
	if (d->state == SEEPAGE_STATE_RECOVERED && !d->overruled &&
	    now - d->t_state < RECOVERED_FOR_DS)
		return d->state;
	if (d->state == SEEPAGE_STATE_WATCH && v->state == SEEPAGE_STATE_OK &&
	    now - d->t_run < WATCH_LINGER_DS)
		return d->state;
	return v->state;
}
