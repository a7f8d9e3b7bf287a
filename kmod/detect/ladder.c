// SPDX-License-Identifier: GPL-2.0
/*
 * The ladder: floors of a figure over epochs of doubling length (drawing in detect.h).
 *
 * The minimum of an epoch is the floor below whatever goes up and down inside the epoch:
 * garbage collection, batches, bursts of requests. Level 0 closes an epoch with each
 * push. Level j joins two epochs of level j - 1. A push therefore costs two level
 * updates on average, for any number of levels.
 *
 * A level has a run while its last eight floors rise: no floor is below the one before,
 * at least six of the seven steps are strict (four at the fast levels), and the rise in
 * all is worth the name (seep_needed_rise()). If the floors were exchangeable noise, eight
 * of them would be in ascending order with a probability of 1/8!, or 1 in 40320.
 *
 * What a program allocates while it starts is no growth. The first half of the first
 * epoch of each level is therefore left out.
 *
 * Context: any; pure. Calls on one history are serialised.
 */
#include "detect.h"

#define STEPS		(SEEP_MINIMA - 1)
#define MANTISSA_BITS	11

/**
 * seep_floor_pack() - a floor in 16 bits
 * @v: granules
 *
 * Exact below 4096 granules (64 MiB). Above, 12 bits of mantissa are kept, rounded down
 * by less than 1/2048. For example 5000 and 5001 granules both become 4548, which
 * unpacks to 5000. The order of two floors is kept, except that they may become equal.
 * That hides no run: a rise that counts is at least 2 % over seven steps.
 *
 * Context: any.
 * Return: the code; a larger floor never has a smaller code.
 */
u16 seep_floor_pack(u32 v)
{
	u32 shift = 0;

	if (v < 2U << MANTISSA_BITS)
		return (u16)v;
	while (v >> shift >= 2U << MANTISSA_BITS)
		shift++;
	/* the leading bit of the mantissa adds 1 to the exponent */
	return (u16)((shift << MANTISSA_BITS) + (v >> shift));
}

/* seep_floor_unpack(), for the loop over the levels. */
static inline u32 unpacked(u16 code)
{
	u32 shift;

	if (code < 2U << MANTISSA_BITS)
		return code;
	shift = (code >> MANTISSA_BITS) - 1U;
	return (code - (shift << MANTISSA_BITS)) << shift;
}

/**
 * seep_floor_unpack() - the floor that a code stands for
 * @code: from seep_floor_pack()
 *
 * Context: any.
 * Return: granules.
 */
u32 seep_floor_unpack(u16 code)
{
	return unpacked(code);
}

/* @i counts back from the newest (0) of the @closed epochs of the level. */
static u16 packed(const struct seep_level *r, u32 closed, u32 i)
{
	return r->min[(closed - 1 - i) % SEEP_MINIMA];
}

/**
 * seep_floor() - one of the floors that a level remembers
 * @r: the level
 * @closed: its epochs that have closed
 * @i: counts back from the newest (0), less than SEEP_MINIMA
 *
 * Context: any.
 * Return: granules; 0 for an epoch before the first.
 */
u32 seep_floor(const struct seep_level *r, u32 closed, u32 i)
{
	return i < closed ? seep_floor_unpack(packed(r, closed, i)) : 0;
}

/**
 * seep_ladder_reset() - forget the floors of a ladder
 * @s: the ladder
 * @r: its levels
 * @nlev: how many
 * @strict: strict steps that a run needs, of seven
 *
 * Context: any.
 */
void seep_ladder_reset(struct seep_ladder *s, struct seep_level *r, u32 nlev, u8 strict)
{
	memset(s, 0, sizeof(*s));
	s->strict = strict;
	memset(r, 0, nlev * sizeof(*r));
}

/**
 * seep_clock_reset() - restart the clock of all levels
 * @clk: one clock a level
 * @nlev: how many
 * @epochs: closed epochs of level 0, set to 0
 * @t: now, ds
 *
 * Context: any.
 */
void seep_clock_reset(struct seep_clock *clk, u32 nlev, u32 *epochs, u32 t)
{
	*epochs = 0;
	for (; nlev--; clk++) {
		clk->t_close = t;
		clk->sum = 0;
	}
}

/**
 * seep_clock_push() - an epoch of level 0 has closed
 * @clk: one clock a level
 * @nlev: how many
 * @epochs: closed epochs of level 0, with this one
 * @t: now, ds
 *
 * Context: any.
 */
void seep_clock_push(struct seep_clock *clk, u32 nlev, u32 epochs, u32 t)
{
	for (; nlev--; clk++, epochs >>= 1) {
		seep_clock_close(clk, t, epochs > SEEP_MINIMA);
		if (epochs & 1)
			break;
	}
}

/* Strict rises among the remembered floors; 0 when one of them is below the one before. */
static u32 rising_steps(const struct seep_level *r, u32 closed)
{
	u16 newer = packed(r, closed, 0), older;
	u32 i, strict = 0;

	for (i = 1; i < SEEP_MINIMA; i++, newer = older) {
		older = packed(r, closed, i);
		if (older > newer)
			return 0;
		strict += older < newer;
	}
	return strict;
}

/* The same of a level that had a run before floor @gone made room: two steps have changed. */
static u32 rising_on(const struct seep_level *r, const struct seep_run *run, u32 closed, u16 gone)
{
	u16 newer = packed(r, closed, 0), older = packed(r, closed, 1);

	if (older > newer)
		return 0;
	return run->strict + (older < newer) - (gone < packed(r, closed, STEPS));
}

/* Bits of level 0 in both masks of a ladder: the one of runs, and above it the one of rose. */
#define RUN	1U
#define ROSE	0x10000U

/*
 * An epoch has closed with a floor that rose by enough above the oldest, which took the place of
 * @gone. @runs: the level has had a run. @run is written where it has one now. Return: RUN | ROSE
 * then, else ROSE.
 */
static seep_noinline u32 level_rises(const struct seep_level *r, struct seep_run *run,
				     const struct seep_clock *clk, u32 closed, u32 runs, u8 need,
				     u16 gone)
{
	u32 back, strict = runs ? rising_on(r, run, closed, gone) : rising_steps(r, closed);

	if (strict < need)
		return ROSE;
	run->strict = (u8)strict;
	if (!runs) {
		back = seep_span(clk, closed);
		run->t0 = back < clk->t_close ? clk->t_close - back : 0;
		run->v0 = packed(r, closed, STEPS);
		run->t1 = clk->t_close;
	}
	if (packed(r, closed, 0) > packed(r, closed, 1))
		run->t1 = clk->t_close;
	return RUN | ROSE;
}

/**
 * seep_ladder_push() - an epoch of the lowest level of a ladder has closed
 * @s: the ladder
 * @r: its levels
 * @run: their runs
 * @clk: their clock, after seep_clock_push()
 * @nlev: how many
 * @closed: closed epochs of the lowest level, with this one
 * @v: the floor of the epoch, granules
 * @least: the least rise over a level's window that counts, granules; SEEP_LEAST_RISE or more
 *
 * Context: any.
 */
void seep_ladder_push(struct seep_ladder *s, struct seep_level *r, struct seep_run *run,
		      const struct seep_clock *clk, u32 nlev, u32 closed, u32 v, u32 least)
{
	u32 bit = 1, how, still, rise, both = s->runs | (u32)s->rose << 16;
	u16 code = seep_floor_pack(v), gone, oldest, *min;

	s->same = s->last == code ? s->same + 1 : 1;
	s->last = code;
	still = s->same / SEEP_STILL;
	for (; nlev--; r++, run++, clk++, bit <<= 1, closed >>= 1) {
		if (still < bit) {
			min = &r->min[(closed - 1) % SEEP_MINIMA];
			gone = *min;
			*min = code;
			how = 0;
			oldest = packed(r, closed, STEPS);
			if (closed >= SEEP_MINIMA && code > oldest) {
				v = unpacked(code);
				rise = v - unpacked(oldest);
				if (rise >= seep_needed_rise(SEEP_LEAST_RISE, v))
					how = rise < seep_needed_rise(least, v) ? ROSE :
					      level_rises(r, run, clk, closed, both & bit,
							  s->strict, gone);
			}
			both = (both & ~(bit * (RUN | ROSE))) | how * bit;
		}
		if (closed & 1) {
			r->half = code;
			break;
		}
		if (r->half < code && closed > 2)
			code = r->half;
	}
	s->runs = (u16)both;
	s->rose = (u16)(both >> 16);
}
