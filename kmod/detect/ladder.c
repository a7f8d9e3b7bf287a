// SPDX-License-Identifier: GPL-2.0
/*
 * The ladder: floors of a series over epochs of doubling length.
 *
 * The minimum of an epoch is the floor below whatever goes up and down inside
 * it: garbage collection, batches, request bursts. Level 0 has one epoch a
 * push; level j joins two epochs of level j - 1, so a push costs two level
 * updates on average, whatever the number of levels. All series of a process
 * are pushed at the same times, so these are kept once, in the clock.
 *
 * A level has a "run" while its last eight floors rise: none below the one
 * before, at least six of the seven steps strictly up (four at the fast levels),
 * and by enough in all. Under exchangeable noise eight ordered floors have p = 1/8!.
 *
 * What a program takes at once when it starts is no growth: of the first epoch of
 * a level the first half is left out.
 */
#include "detect.h"

#define STEPS		(SEEP_MINIMA - 1)
#define MANTISSA_BITS	11

/*
 * A floor takes 16 bits: below 2^12 granules it is exact, above it is rounded
 * down by less than 1/2048. The order of two floors is kept, but for such that
 * become equal: a rise that counts is at least 2 % over seven steps.
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

u32 seep_floor_unpack(u16 code)
{
	u32 shift = code >> MANTISSA_BITS;

	if (shift < 2)
		return code;
	shift--;
	return (code - (shift << MANTISSA_BITS)) << shift;
}

/* i counts back from the newest (0) of the @closed epochs of the level */
static u16 packed(const struct seep_rung *r, u32 closed, u32 i)
{
	return r->min[(closed - 1 - i) % SEEP_MINIMA];
}

/**
 * seep_floor() - a floor that a level remembers
 * @r: the level
 * @closed: epochs of it that have closed
 * @i: counted back from the newest (0), less than SEEP_MINIMA
 *
 * Return: granules; 0 for one from before the first.
 */
u32 seep_floor(const struct seep_rung *r, u32 closed, u32 i)
{
	return i < closed ? seep_floor_unpack(packed(r, closed, i)) : 0;
}

void seep_rungs_reset(struct seep_rungs *s, struct seep_rung *r, u32 nlev, u8 strict)
{
	memset(s, 0, sizeof(*s));
	s->strict = strict;
	memset(r, 0, nlev * sizeof(*r));
}

void seep_clock_reset(struct seep_clock *clk, u32 nlev, u32 *epochs, u32 t)
{
	*epochs = 0;
	for (; nlev--; clk++) {
		clk->t_close = t;
		clk->sum = 0;
	}
}

/* An epoch of the lowest level has closed at @t, the @epochs-th. */
void seep_clock_push(struct seep_clock *clk, u32 nlev, u32 epochs, u32 t)
{
	for (; nlev--; clk++, epochs >>= 1) {
		seep_clock_close(clk, t, epochs > SEEP_MINIMA);
		if (epochs & 1)
			break;
	}
}

/* Strict rises among the remembered floors, or 0 when one of them falls. */
static u32 rising_steps(const struct seep_rung *r, u32 closed)
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

/* An epoch closes with the floor @code: does the level have a run? */
static seep_noinline bool rung_close(struct seep_rung *r, const struct seep_clock *clk,
				     u32 closed, u16 code, u32 least, u8 strict)
{
	u32 oldest, v, back;

	r->min[(closed - 1) % SEEP_MINIMA] = code;
	if (closed < SEEP_MINIMA)
		return false;
	oldest = seep_floor(r, closed, STEPS);
	v = seep_floor_unpack(code);
	r->strict = 0;
	if (v > oldest && v - oldest >= seep_needed_rise(least, v))
		r->strict = (u8)rising_steps(r, closed);
	if (r->strict < strict) {
		r->run = false;
		return false;
	}
	if (!r->run) {
		back = seep_span(clk, closed);
		r->run = true;
		r->run_t0 = back < clk->t_close ? clk->t_close - back : 0;
		r->run_v0 = packed(r, closed, STEPS);
		r->run_t1 = clk->t_close;
	}
	if (code > packed(r, closed, 1))
		r->run_t1 = clk->t_close;
	return true;
}

/**
 * seep_ladder_push() - the epoch of a series' lowest level has closed
 * @s: the series
 * @r: its levels
 * @clk: their clock, which has gone on already
 * @nlev: how many
 * @closed: epochs of the lowest one, this one included
 * @v: the floor of the epoch, granules
 * @least: rise over a level's window that counts as one, however small v is
 */
void seep_ladder_push(struct seep_rungs *s, struct seep_rung *r, const struct seep_clock *clk,
		      u32 nlev, u32 closed, u32 v, u32 least)
{
	u16 code = seep_floor_pack(v);
	u32 bit = 1;

	s->same = s->last == code ? s->same + 1 : 1;
	s->last = code;
	for (; nlev--; r++, clk++, bit <<= 1, closed >>= 1) {
		if (s->same / SEEP_STILL < bit) {
			s->runs &= ~bit;
			if (rung_close(r, clk, closed, code, least, s->strict))
				s->runs |= bit;
		}
		if (closed & 1) {
			r->half = code;
			break;
		}
		if (r->half < code && closed > 2)
			code = r->half;
	}
}
