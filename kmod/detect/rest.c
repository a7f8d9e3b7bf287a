// SPDX-License-Identifier: GPL-2.0
/*
 * Rest: full samples that need not be taken.
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

#define VSZ_MASK	((1U << SEEP_VSZ_SHIFT) - 1)

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

/* note_window() of detect.c for samples at the @n times @t. */
static void pass_window(struct seep_det *d, const struct seep_sample *s, const u32 *t, u32 n)
{
	struct seep_point *p = &d->window[d->wpos];
	u32 last = seep_point(d, 0)->t, faults = (u32)s->faults;
	u32 rss = seep_granules(seep_rss(s)), wn = d->wn + n;
	const u32 *end = t + n;

	for (; t < end; t++) {
		if (*t - last < SEEP_SLOT_DS) {
			wn--;
			continue;
		}
		last = *t;
		p->t = last;
		p->faults = faults;
		p->rss = rss;
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
	pass_window(d, s, t, n);
	pass_epochs(d, t, n);
	vsz = (d->epochs >> SEEP_VSZ_SHIFT) - vsz;
	d->vsz.same += vsz;
	if (vsz || unheld < d->vsz_min)
		d->vsz_min = d->epochs & VSZ_MASK ? unheld : ~0U;
	d->samples = d->samples + n < 255 ? (u8)(d->samples + n) : 255;
	d->confidence = 0;
}
