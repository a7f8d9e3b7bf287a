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
static seep_noinline bool level_close(struct seep_level *lev, u32 v, u32 t, u32 need)
{
	u32 oldest, back;

	lev->epoch = t - lev->t_close;
	lev->t_close = t;
	lev->same = lev->n && v == seep_level_min(lev, 0) ? lev->same + 1 : 1;
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
		back = (SEEP_MINIMA - 1) * lev->epoch;
		lev->run = 1;
		lev->run_t0 = back < t ? t - back : 0;
		lev->run_v0 = oldest;
		lev->run_t1 = t;
	}
	if (v > seep_level_min(lev, 1))
		lev->run_t1 = t;
	return true;
}

/*
 * One more of the same when all are the same already, as of most processes most
 * of the time: only the clock goes on. What level_close() would come to.
 */
static inline bool still_flat(struct seep_level *lev, u32 v, u32 t)
{
	if (lev->same < SEEP_MINIMA || v != lev->min[0])
		return false;
	lev->epoch = t - lev->t_close;
	lev->t_close = t;
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
	u32 n = ++l->pushes, bit = 1;

	for (; nlev--; lev++, bit <<= 1) {
		if (!still_flat(lev, v, t)) {
			l->runs &= ~bit;
			if (level_close(lev, v, t, need))
				l->runs |= bit;
		}
		if (n & bit) {
			lev->half = v;
			break;
		}
		if (lev->half < v)
			v = lev->half;
	}
}
