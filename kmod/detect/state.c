// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine: from the verdict on one sample and the state before to the state
 * now, and what restarts with a change of state.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "detect.h"

#define WATCH_LINGER_DS		SEEP_MINUTE_DS
#define RECOVERED_FOR_DS	(5 * SEEP_MINUTE_DS)
#define STALLED_FOR_DS		SEEP_HOUR_DS

/**
 * seep_reset_fast() - forget the floors of the fast ladder
 * @d: history
 * @t: now, ds
 *
 * Context: any.
 */
void seep_reset_fast(struct seep_det *d, u32 t)
{
	if (!d->w)
		return;
	seep_clock_reset(d->w->fast_clock, SEEP_FAST_LEVELS, &d->w->fast_epochs, t);
	seep_ladder_reset(&d->w->fast, d->w->fast_level, SEEP_FAST_LEVELS, SEEP_FAST_STRICT);
}

/**
 * seep_reset_slow() - forget the floors of the mem and vsz ladders
 * @d: history
 * @t: now, ds
 *
 * Context: any.
 */
void seep_reset_slow(struct seep_det *d, u32 t)
{
	seep_clock_reset(d->clock, SEEP_SLOW_LEVELS, &d->epochs, t);
	seep_ladder_reset(&d->mem, d->mem_level, SEEP_SLOW_LEVELS, SEEP_STRICT);
	seep_ladder_reset(&d->vsz, d->vsz_level, SEEP_VSZ_LEVELS, SEEP_STRICT);
	d->slow_min = ~0U;
	d->vsz_min = ~0U;
}

/**
 * seep_origin_begin() - start to compare shared memory and faults
 * @d: history
 * @s: the sample that later ones are compared with
 *
 * What was mapped or faulted in before @s has no known origin and is not asked about.
 *
 * Context: any.
 */
void seep_origin_begin(struct seep_det *d, const struct seep_sample *s)
{
	d->shmem_mapped = seep_granules(s->shmem);
	d->shmem_total = seep_granules(s->shmem_total);
	d->shmem_unclaimed = 0;
	d->shmem_preexisting_new = 0;
	d->unpopulated = 0;
	d->faults_seen = (u32)s->faults;
}

/**
 * seep_watch_begin() - a watch begins
 * @d: history
 * @s: the sample that put the process under watch
 * @now: its time, ds
 *
 * The onset of the growth is the last full sample that was not above the one before.
 *
 * Context: any.
 */
void seep_watch_begin(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	u32 before = seep_mem_floor(d, 1);
	struct seep_watch *w = d->w;

	d->up = 0;
	d->down = 0;
	d->faults_anon0 = s->faults_anon;
	d->watch_v0 = d->last_v;
	seep_origin_begin(d, s);
	d->w->baseline.cpu_ms = 0;
	w->t_watch = now;
	w->onset_t = now;
	w->onset_v = d->last_v;
	if (d->last_v > before) {
		w->onset_t = d->epochs > 1 ? now - seep_epoch(d->clock, seep_known(d->epochs, 0)) :
					     d->window[0].t;
		w->onset_v = before;
	}
	seep_reset_fast(d, now);
}

/* The most held in the last two epochs: one dip in a sample is no release, granules. */
static u32 recent_top(const struct seep_det *d)
{
	u32 a = seep_mem_floor(d, 0), b = seep_mem_floor(d, 1), top = a > b ? a : b;

	return d->last_v > top ? d->last_v : top;
}

/* The same of unheld address space, granules. */
static u32 recent_vsz(const struct seep_det *d)
{
	u32 n = d->epochs >> SEEP_VSZ_SHIFT;
	u32 a = seep_floor(d->vsz_level, n, 0), b = seep_floor(d->vsz_level, n, 1);

	return a > b ? a : b;
}

/*
 * Epoch length, ds, of the level on which the accused growth has to end. The level that
 * showed it had epochs of accused_epoch. After a change of the interval no level may have
 * these; then the next longer one counts. For example accused_epoch is 400 (40 s) and
 * samples now come every 15 s: epochs are 15, 30, 60 s, and 600 is returned.
 */
static u32 epoch_needed(const struct seep_det *d)
{
	u32 epoch = d->interval_ms / 100, j;

	for (j = 1; j < SEEP_SLOW_LEVELS && epoch < d->w->accused_epoch; j++)
		epoch *= 2;
	return epoch > d->w->accused_epoch ? epoch : d->w->accused_epoch;
}

/* The process has released half of the accused growth. */
static bool given_back(const struct seep_det *d)
{
	u32 half = d->w->accused_v0;

	if (d->w->accused_top > d->w->accused_v0)
		half += (d->w->accused_top - d->w->accused_v0) / 2;
	if (d->accused == SEEPAGE_SUBJECT_VSZ)
		return d->epochs >> SEEP_VSZ_SHIFT >= 2 && recent_vsz(d) < half;
	return d->epochs >= 2 && recent_top(d) < half;
}

/*
 * An alert ends when half of the accused growth was released, or when nothing has grown
 * for an hour. Where the level that showed the growth has long epochs, it is two of them.
 * After a restart of the levels a release needs two epochs to show, and a standstill all
 * eight epochs of that level.
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

/**
 * seep_start_over() - restart the levels of all ladders
 * @d: history
 * @now: ds
 *
 * Old floors say nothing about new growth: those of long epochs would go on to rise until
 * their next epoch closes, and raise the same alert again.
 *
 * Context: any.
 */
void seep_start_over(struct seep_det *d, u32 now)
{
	seep_reset_slow(d, now);
	seep_reset_fast(d, now);
	d->history_restarted = true;
	d->t_begin = now;
}

/*
 * Remember the growth that an alert is about.
 *
 * Return: false when that memory was released already, while another policy was in force.
 * Floors of long epochs go on to rise until their next epoch closes.
 */
static bool accuse(struct seep_det *d, const struct seep_verdict *v)
{
	d->accused = v->subject;
	d->w->accused_v0 = v->v0;
	d->w->accused_top = v->floor;
	d->w->accused_epoch = v->epoch;
	return !given_back(d);
}

/* An alert stays until the memory is released. It may get worse, never better. */
static u8 alert_goes_on(struct seep_det *d, const struct seep_verdict *v, u32 now)
{
	if (v->policy == SEEPAGE_POLICY_CLASSIC)
		return seep_alert_is(v->state) ? v->state : SEEPAGE_STATE_RECOVERED;
	/* an alert about address space turns into one about memory, never the reverse */
	if (v->subject == SEEPAGE_SUBJECT_MEMORY && d->accused != v->subject &&
	    seep_alert_is(v->state))
		accuse(d, v);
	if (v->subject == d->accused && v->floor > d->w->accused_top)
		d->w->accused_top = v->floor;
	if (v->subject == d->accused && v->epoch > d->w->accused_epoch)
		d->w->accused_epoch = v->epoch;
	if (recovered(d, now))
		return SEEPAGE_STATE_RECOVERED;
	return v->subject == d->accused && v->state > d->state ? v->state : d->state;
}

/**
 * seep_next_state() - the state after one more verdict
 * @d: history; what is accused is updated
 * @v: verdict on the sample alone
 * @now: time of the sample, ds
 *
 * Context: any.
 * Return: enum seepage_state; the caller stores it in @d.
 */
u8 seep_next_state(struct seep_det *d, const struct seep_verdict *v, u32 now)
{
	bool alert = seep_alert_is(d->state);

	if (alert && d->policy == v->policy)
		return alert_goes_on(d, v, now);
	/*
	 * The policy has changed. An alert stays only if this policy raises one as well.
	 * Floors are kept under both policies, so it can tell at once.
	 */
	if (seep_alert_is(v->state)) {
		/* coldness is measured under watch only: at least one sample of it first */
		if (!seep_watched(d->state) && v->policy == SEEPAGE_POLICY_LADDER)
			return SEEPAGE_STATE_WATCH;
		if (accuse(d, v))
			return v->state;
		return alert ? SEEPAGE_STATE_RECOVERED : SEEPAGE_STATE_WATCH;
	}
	if (alert)
		return SEEPAGE_STATE_RECOVERED;
	if (d->state == SEEPAGE_STATE_RECOVERED && !d->state_of_other_policy &&
	    now - d->t_state < RECOVERED_FOR_DS)
		return d->state;
	if (d->state == SEEPAGE_STATE_WATCH && v->state == SEEPAGE_STATE_OK &&
	    now - d->t_run < WATCH_LINGER_DS)
		return d->state;
	return v->state;
}
