/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ladder: one level per epoch length, with the last eight floors of each. The
 * drawing is in detect.h, the algorithm at the head of ladder.c.
 *
 * All figures of a process are pushed at the same times. Each level therefore has one
 * clock for all figures, and each figure has its own floors.
 *
 * Context: any; pure. The caller serialises calls on one history (detect.h).
 */
#ifndef SEEP_DETECT_LADDER_H
#define SEEP_DETECT_LADDER_H

#include "units.h"

#define SEEP_MINIMA		8	/* epochs that a level remembers */

/* When the epochs of one length closed; shared by all figures. */
struct seep_clock {
	u32 t_close;		/* ds, when the newest one closed */
	u32 sum;		/* ds, length of the last eight, or of all if fewer */
};

/* One level of one figure: the floors of its last eight epochs. */
struct seep_level {
	u16 min[SEEP_MINIMA];	/* ring; granules, packed by seep_floor_pack() */
	u16 half;		/* packed floor of the first epoch of an open pair */
};

/* The run of one level of one figure. */
struct seep_run {
	u32 t0, t1;		/* ds: close of the oldest epoch, last strict rise */
	u16 v0;			/* packed floor at t0 */
	u8 strict;		/* steps that rise strictly, of SEEP_MINIMA - 1 */
};

/* One figure: what all of its levels have in common. */
struct seep_ladder {
	u16 runs;		/* bit j: level j has a run */
	u16 rose;		/* bit j: its floors rose by what counts with exact counters */
	u32 same;		/* how many of the newest floors of level 0 are equal */
	u16 last;		/* the newest of them, packed */
	u8 strict;		/* strict steps that a run needs: SEEP_STRICT or SEEP_FAST_STRICT */
};

/* ladder.c */
u16 seep_floor_pack(u32 v);
u32 seep_floor_unpack(u16 code);
u32 seep_floor(const struct seep_level *r, u32 closed, u32 i);
void seep_clock_reset(struct seep_clock *clk, u32 nlev, u32 *epochs, u32 t);
#define SEEP_STRICT		6	/* of seven steps */
#define SEEP_FAST_STRICT	4	/* of seven: not every process takes memory each second */
void seep_ladder_reset(struct seep_ladder *s, struct seep_level *r, u32 nlev, u8 strict);

/**
 * seep_clock_close() - an epoch of one level has closed
 * @clk: the clock of the level
 * @t: now, ds
 * @more_than_eight: the level had eight closed epochs before this one
 *
 * Keeps a moving sum of the lengths of the last eight epochs without keeping the
 * lengths. Epochs are unequal when a pass was late or the interval was stretched. The
 * oldest length is not known, so the mean of the eight is dropped instead.
 *
 * For example eight epochs of 100 ds make a sum of 800 ds. A late epoch of 180 ds makes
 * it 800 - 800 / 8 + 180 = 880, which is exact. A tenth epoch of 100 ds makes it
 * 880 - 110 + 100 = 870, where the true sum is still 880. The sum is exact while the
 * epochs are equal; an error shrinks by an eighth with each epoch.
 */
static inline void seep_clock_close(struct seep_clock *clk, u32 t, bool more_than_eight)
{
	u32 epoch = t - clk->t_close;

	clk->t_close = t;
	if (more_than_eight)
		clk->sum -= clk->sum / SEEP_MINIMA;
	clk->sum += epoch;
}

/*
 * A level changes nothing when its floor is the same as in the last SEEP_STILL epochs,
 * and neither do the levels below. That is the case for most processes most of the time.
 */
#define SEEP_STILL	(SEEP_MINIMA + 1)

/**
 * seep_ladder_still() - push a floor that equals the floor before
 * @s: the ladder
 * @nlev: its levels
 * @closed: epochs of level 0 that have closed, with this one
 *
 * Return: true when seep_ladder_push() would change nothing but @s->same, because every
 * level that closes with this epoch has seen the same floor for SEEP_STILL epochs. False
 * when the caller must call seep_ladder_push().
 */
static inline bool seep_ladder_still(struct seep_ladder *s, u32 nlev, u32 closed)
{
	u32 closes = closed & -closed;	/* lowest bit set: level j closes when 2^j divides closed */

	if (s->same / SEEP_STILL < closes || closes >= 1U << (nlev - 1))
		return false;
	s->same++;
	return true;
}

/* seep_clock_push() after seep_ladder_still(): every level has had its eight epochs. */
static inline void seep_clock_still(struct seep_clock *clk, u32 epochs, u32 t)
{
	for (epochs &= -epochs; epochs; epochs >>= 1)
		seep_clock_close(clk++, t, true);
}

void seep_clock_push(struct seep_clock *clk, u32 nlev, u32 epochs, u32 t);
void seep_ladder_push(struct seep_ladder *s, struct seep_level *r, struct seep_run *run,
		      const struct seep_clock *clk, u32 nlev, u32 closed, u32 v, u32 least);

/* Floors that a level knows, when @epochs epochs of level 0 have closed. */
static inline u32 seep_known(u32 epochs, u32 level)
{
	u32 closed = epochs >> level;

	return closed < SEEP_MINIMA ? closed : SEEP_MINIMA;
}

/* Mean length of an epoch over @known floors, ds; 0: none yet. */
static inline u32 seep_epoch(const struct seep_clock *clk, u32 known)
{
	return known ? clk->sum / known : 0;
}

/*
 * Time from the oldest floor that a level knows to the newest, ds: eight floors span
 * seven epochs.
 */
static inline u32 seep_span(const struct seep_clock *clk, u32 closed)
{
	u32 known = closed < SEEP_MINIMA ? closed : SEEP_MINIMA;

	return known ? clk->sum - clk->sum / known : 0;
}

#endif /* SEEP_DETECT_LADDER_H */
