// SPDX-License-Identifier: GPL-2.0
/*
 * Full samples: what each of them adds to the history, also where nothing has changed.
 *
 * A process at rest gets one equal sample after another. When its ladders are still, such a
 * sample adds a point to the fault-rate window, and lengths of epochs to clocks. The caller may
 * therefore put off samples for as long as seep_det_rest() says, and account for them later
 * with seep_det_rested(). The history is then the same, bit for bit, as if seep_det_feed()
 * had got each of them.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "detect.h"

#define SLOT_DS		100U	/* between two points of the fault-rate window */
#define VSZ_MASK	((1U << SEEP_VSZ_SHIFT) - 1)

/**
 * seep_note_window() - add a point to the fault-rate window, every ten seconds at most
 * @d: history
 * @s: the sample
 * @now: its time, ds
 *
 * Context: any.
 * Return: true when a point was added.
 */
bool seep_note_window(struct seep_det *d, const struct seep_sample *s, u32 now)
{
	struct seep_point *p;

	if (d->samples == 1)	/* memory that existed before counting began is no growth */
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

/**
 * seep_push_slow() - close an epoch of memory held, and of address space where its turn has come
 * @d: history
 * @s: the full sample
 * @now: its time, ds
 *
 * Context: any.
 */
void seep_push_slow(struct seep_det *d, const struct seep_sample *s, u32 now)
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
	if (!(d->epochs & VSZ_MASK))
		push_vsz(d);
}

/*
 * Epochs of the lowest level to come, with the floor of the last one, for which
 * seep_ladder_still() is true; @most at most. When it is true for the next epoch of a level,
 * it is true for all later ones, because s->same grows.
 */
static seep_noinline u32 still_for(const struct seep_ladder *s, u32 nlev, u32 closed, u32 most)
{
	u32 need = SEEP_STILL, j, still;

	for (j = 0; j < nlev; j++, need *= 2) {
		if (need <= s->same && j < nlev - 1)
			continue;
		still = ~closed & ((1U << j) - 1);	/* before level j closes an epoch */
		if (still >= most)
			break;			/* those above it close no sooner */
		if (s->same + still < need || j == nlev - 1)
			most = still;
	}
	return most;
}

/**
 * seep_det_rest() - how many samples may be put off?
 * @d: history, not changed
 * @s: the full sample that was fed last
 * @c: configuration in force
 * @most: no more than so many, below SEEP_RESTS
 *
 * Equal are samples that differ in time, age, error, shmem_total, and in the nearest limit,
 * its headroom and what others take of it only. The configuration must not change either.
 *
 * Context: any.
 * Return: so many full samples that are equal to @s change no state, floor or run.
 */
u32 seep_det_rest(const struct seep_det *d, const struct seep_sample *s,
		  const struct seep_conf *c, u32 most)
{
	u32 unheld = seep_det_unheld(d), vsz = 0;

	if (!seep_det_plain(d) || d->slow_rose || d->slow_min != ~0U || d->slow_v != d->last_v ||
	    d->policy != SEEPAGE_POLICY_LADDER ||
	    c->v[SEEPAGE_CFG_POLICY] != SEEPAGE_POLICY_LADDER ||
	    d->interval_ms != c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] ||
	    seep_classic_learns(d, s, c))
		return 0;
	most = still_for(&d->mem, SEEP_SLOW_LEVELS, d->epochs, most);
	if (d->vsz_v == unheld && d->vsz_min >= unheld)
		vsz = still_for(&d->vsz, SEEP_VSZ_LEVELS, d->epochs >> SEEP_VSZ_SHIFT,
				(most >> SEEP_VSZ_SHIFT) + 1);
	vsz = (vsz << SEEP_VSZ_SHIFT) + (~d->epochs & VSZ_MASK);
	return vsz < most ? vsz : most;
}

/* seep_note_window() for samples at the times @t to @end. */
static void pass_window(struct seep_det *d, const struct seep_sample *s, const u32 *t,
			const u32 *end)
{
	struct seep_point *p = &d->window[d->wpos];
	u32 last = seep_point(d, 0)->t, faults = (u32)s->faults;
	u32 rss = seep_granules(seep_rss(s)), wn = d->wn;

	for (; t < end; t++) {
		if (*t - last < SLOT_DS)
			continue;
		last = *t;
		p->t = last;
		p->faults = faults;
		p->rss = rss;
		wn++;
		if (++p == d->window + SEEP_WINDOW)
			p = d->window;
	}
	d->wpos = (u8)(p - d->window);
	d->wn = wn < SEEP_WINDOW ? (u8)wn : SEEP_WINDOW;
}

/* seep_clock_still() for @n epochs. */
static void pass_epochs(struct seep_det *d, const u32 *t, u32 n)
{
	u32 step, k, before = d->epochs, close, sum;
	struct seep_clock *clk = d->clock;

	d->epochs += n;
	d->mem.same += n;
	for (step = 1; step < 1U << SEEP_SLOW_LEVELS; step *= 2, clk++) {
		k = ~before & (step - 1);	/* the level closes its next epoch */
		if (k >= n)
			break;
		close = clk->t_close;
		sum = clk->sum - close;		/* minus the newest close, for the loop */
		for (; k < n; k += step) {
			sum -= (sum + close) / SEEP_MINIMA;
			close = t[k];
		}
		clk->t_close = close;
		clk->sum = sum + close;
	}
}

/**
 * seep_det_rested() - account for samples that were put off
 * @d: history
 * @s: the sample that was fed last, equal to all of them
 * @t: their times, ds
 * @n: how many, as far as seep_det_rest() allowed
 *
 * Context: any.
 */
void seep_det_rested(struct seep_det *d, const struct seep_sample *s, const u32 *t, u32 n)
{
	u32 unheld = seep_det_unheld(d), vsz = d->epochs >> SEEP_VSZ_SHIFT;

	if (!n)
		return;
	pass_window(d, s, t, t + n);
	pass_epochs(d, t, n);
	vsz = (d->epochs >> SEEP_VSZ_SHIFT) - vsz;
	d->vsz.same += vsz;
	if (vsz || unheld < d->vsz_min)
		d->vsz_min = d->epochs & VSZ_MASK ? unheld : ~0U;
	d->samples = d->samples + n < 255 ? (u8)(d->samples + n) : 255;
	d->confidence = 0;
}
