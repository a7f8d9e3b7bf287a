// SPDX-License-Identifier: GPL-2.0
/*
 * The ladder: floors of a series over epochs of doubling length.
 *
 * The minimum of an epoch is the floor below whatever goes up and down inside
 * it: garbage collection, batches, request bursts. Level 0 has one epoch a
 * push; level j joins two epochs of level j - 1, so a push costs two level
 * updates on average, whatever the number of levels.
 *
 * A level has a "run" while its last eight floors rise: none below the one
 * before, at least six of the seven steps strictly up, and by enough in all.
 * Under exchangeable noise eight ordered floors have p = 1/8!.
 */
#include "detect.h"

#define STRICT_STEPS	6
#define MIN_RISE	(4U << (20 - SEEP_GRANULE_SHIFT))

/* i counts back from the newest (0) */
u32 seep_level_min(const struct seep_level *lev, u32 i)
{
	return lev->min[(lev->pos + SEEP_MINIMA - 1 - i) % SEEP_MINIMA];
}

void seep_ladder_reset(struct seep_ladder *l, struct seep_level *lev, u32 nlev, u32 t)
{
	memset(l, 0, sizeof(*l));
	memset(lev, 0, nlev * sizeof(*lev));
	for (; nlev--; lev++)
		lev->t_close = t;
}

/**
 * seep_needed_rise() - growth worth the name
 * @s: the sample
 * @v: floor, granules
 *
 * Return: granules; the most of 4 MB, 2 % of what there is and four times what
 * the counters may be off.
 */
u32 seep_needed_rise(const struct seep_sample *s, u32 v)
{
	u32 need = MIN_RISE, error = seep_granules(4ULL * s->error);

	if (v / 50 > need)
		need = v / 50;
	return error > need ? error : need;
}

/* Strict rises among the remembered floors, or 0 when one of them falls. */
static u32 rising_steps(const struct seep_level *lev)
{
	u32 newer = seep_level_min(lev, 0), older, i, strict = 0;

	for (i = 1; i < SEEP_MINIMA; i++, newer = older) {
		older = seep_level_min(lev, i);
		if (older > newer)
			return 0;
		strict += older < newer;
	}
	return strict;
}

/*
 * An epoch closes with the floor v. The epochs of a level are taken as equally
 * long, as the last one was: the first of the eight floors is seven old.
 */
static bool level_close(struct seep_level *lev, u32 v, u32 t, u32 need)
{
	u32 prev = seep_level_min(lev, 0), oldest;

	lev->epoch = t - lev->t_close;
	lev->t_close = t;
	lev->min[lev->pos] = v;
	lev->pos = (u8)((lev->pos + 1) % SEEP_MINIMA);
	if (lev->n < SEEP_MINIMA && ++lev->n < SEEP_MINIMA)
		return false;

	oldest = seep_level_min(lev, SEEP_MINIMA - 1);
	lev->strict = 0;
	if (v > oldest && v - oldest >= need)
		lev->strict = (u8)rising_steps(lev);
	if (lev->strict < STRICT_STEPS) {
		lev->run = 0;
		return false;
	}
	if (!lev->run) {
		u32 back = (SEEP_MINIMA - 1) * lev->epoch;

		lev->run = 1;
		lev->run_t0 = back < t ? t - back : 0;
		lev->run_v0 = oldest;
		lev->run_t1 = t;
	}
	if (v > prev)
		lev->run_t1 = t;
	return true;
}

/**
 * seep_ladder_push() - one more epoch of the lowest level
 * @l: counts of the ladder
 * @lev: its levels
 * @nlev: how many
 * @v: floor of the epoch, granules
 * @t: when it closed, deciseconds
 * @need: rise over a level's window that counts as one, granules
 */
void seep_ladder_push(struct seep_ladder *l, struct seep_level *lev, u32 nlev,
		      u32 v, u32 t, u32 need)
{
	u32 n = ++l->pushes, j;

	for (j = 0; j < nlev; j++, lev++) {
		if (level_close(lev, v, t, need))
			l->runs |= 1U << j;
		else
			l->runs &= ~(1U << j);
		if (n >> j & 1) {
			lev->half = v;
			return;
		}
		if (lev->half < v)
			v = lev->half;
	}
}
