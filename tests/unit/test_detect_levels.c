// SPDX-License-Identifier: GPL-2.0
/* The levels of the ladder: floors, spans and their packing. */
#include "sim.h"

struct ladder {			/* one series */
	u32 epochs;
	struct seep_clock clk[SEEP_SLOW_LEVELS];
	struct seep_ladder s;
	struct seep_level r[SEEP_SLOW_LEVELS];
	struct seep_run run[SEEP_SLOW_LEVELS];
};

/*
 * The tests count in units: UNIT granules are a quarter of the least rise that counts, and up to
 * 4095 units are packed without a rest.
 */
#define UNIT	(SEEP_LEAST_RISE / 4)

static void ladder_init(struct ladder *l)
{
	memset(l, 0, sizeof(*l));
	seep_clock_reset(l->clk, SEEP_SLOW_LEVELS, &l->epochs, 0);
	seep_ladder_reset(&l->s, l->r, SEEP_SLOW_LEVELS, SEEP_STRICT);
}

static void ladder_push(struct ladder *l, u32 v, u32 t, u32 need)
{
	l->epochs++;
	seep_clock_push(l->clk, SEEP_SLOW_LEVELS, l->epochs, t);
	seep_ladder_push(&l->s, l->r, l->run, l->clk, SEEP_SLOW_LEVELS, l->epochs, v, need);
}

static u32 level_min(const struct ladder *l, u32 j, u32 i)
{
	return seep_floor(&l->r[j], l->epochs >> j, i);
}

/*
 * Floors that rise by 5 MiB are no run where the counters may be off by more, but the level
 * shows that exact counters are worth reading. One that rises by 3 MiB does not.
 */
static void test_a_rise_within_the_error_shows(void **state)
{
	struct ladder l;

	(void)state;
	ladder_init(&l);
	for (u32 i = 0; i < 9; i++)
		ladder_push(&l, 1000 + i * 5 * SEEP_MIB / 7, i * 100, 128 * SEEP_MIB);
	assert_int_equal(l.s.runs, 0);
	assert_int_equal(l.s.rose & 1, 1);
	ladder_push(&l, 1000 + 6 * SEEP_MIB, 900, SEEP_LEAST_RISE);
	assert_int_equal(l.s.runs & 1, 1);
	ladder_init(&l);
	for (u32 i = 0; i < 9; i++)
		ladder_push(&l, 1000 + i * 3 * SEEP_MIB / 7, i * 100, 128 * SEEP_MIB);
	assert_int_equal(l.s.rose, 0);
}

/* What is taken at once at the start is the floor of no level. */
static void test_start_is_no_floor(void **state)
{
	struct ladder l;

	(void)state;
	ladder_init(&l);
	for (u32 i = 0; i < 64; i++)
		ladder_push(&l, i ? 1000 + 100 * i : 1, (i + 1) * 100, 256);
	for (u32 j = 1; j <= 3; j++)	/* begins half an epoch late, and is a floor from then on */
		assert_int_equal(seep_floor_unpack(l.run[j].v0), 1000 + (100U << (j - 1)));
}

static void test_levels_keep_minima(void **state)
{
	struct ladder l;
	u32 i;

	(void)state;
	ladder_init(&l);
	for (i = 0; i < 64; i++)	/* 100 99 102 101 104 103 ... */
		ladder_push(&l, (100 + (i ^ 1)) * 4 * UNIT, i * 100, SEEP_LEAST_RISE);
	assert_int_equal(level_min(&l, 0, 0), (100 + 62) * 4 * UNIT);
	assert_int_equal(level_min(&l, 1, 0), (100 + 62) * 4 * UNIT);
	assert_int_equal(level_min(&l, 2, 0), (100 + 60) * 4 * UNIT);
	assert_int_equal(level_min(&l, 3, 0), (100 + 56) * 4 * UNIT);
	/* 800, but the first push was at once */
	assert_in_range(seep_epoch(&l.clk[3], seep_known(l.epochs, 3)), 787, 800);
	assert_int_equal(l.s.runs & 1, 0);	/* falls at every other step */
	assert_int_equal(l.s.runs >> 1 & 7, 7);	/* floors of pairs rise */
	assert_int_equal(seep_known(l.epochs, 4), 4);
	assert_int_equal(level_min(&l, 4, 4), 0);
}

/* The packed floor: exact where it can be, never above, and in order. */
static void test_packed_floors_keep_their_order(void **state)
{
	u32 v, step;
	u16 last = 0;

	(void)state;
	for (v = 0; v < 4096; v++)
		assert_int_equal(seep_floor_unpack(seep_floor_pack(v)), v);
	for (v = 4096, step = 1; v < 0xfff00000U; v += step, step = v / 3000) {
		u16 code = seep_floor_pack(v);
		u32 back = seep_floor_unpack(code);

		assert_true(code >= last);
		assert_true(back <= v && v - back <= v / 2048);
		assert_int_equal(seep_floor_pack(back), code);
		last = code;
	}
	assert_true(seep_floor_unpack(seep_floor_pack(~0U)) > 0xffe00000U);
}

/* A late pass makes an epoch longer: the window grows by that, and forgets it. */
static void test_span_is_of_the_epochs_there_were(void **state)
{
	struct ladder l;
	u32 i, t = 0;

	(void)state;
	ladder_init(&l);
	for (i = 1; i <= 7; i++)
		ladder_push(&l, i * 40 * UNIT, t += 100, SEEP_LEAST_RISE);
	assert_int_equal(seep_span(&l.clk[0], 7), 600);
	ladder_push(&l, 320 * UNIT, t += 700, SEEP_LEAST_RISE);
	assert_int_equal(l.clk[0].sum, 1400);
	assert_true(l.s.runs & 1);
	/* 100; not seven times the last epoch before now */
	assert_in_range(l.run[0].t0, 100, 200);
	for (i = 9; i < 60; i++)
		ladder_push(&l, i * 40 * UNIT, t += 100, SEEP_LEAST_RISE);
	assert_in_range(seep_span(&l.clk[0], 60), 700, 710);
}

static void test_one_equal_step_is_allowed_two_are_not(void **state)
{
	static const u32 one[] = { 1, 2, 3, 3, 5, 6, 7, 8 }, two[] = { 1, 2, 3, 3, 5, 5, 7, 8 };
	struct ladder l;
	u32 i;

	(void)state;
	ladder_init(&l);
	for (i = 0; i < 8; i++)
		ladder_push(&l, one[i] * 4 * UNIT, i * 10, SEEP_LEAST_RISE);
	assert_int_equal(l.s.runs, 1);
	ladder_init(&l);
	for (i = 0; i < 8; i++)
		ladder_push(&l, two[i] * 4 * UNIT, i * 10, SEEP_LEAST_RISE);
	assert_int_equal(l.s.runs, 0);
}

/* All that can be seen of the levels; what the ring holds beyond it cannot. */
static void assert_ladders_equal(const struct ladder *a, const struct ladder *b)
{
	assert_int_equal(a->s.runs, b->s.runs);
	for (u32 j = 0; j < SEEP_SLOW_LEVELS; j++) {
		for (u32 i = 0; i < SEEP_MINIMA; i++)
			assert_int_equal(level_min(a, j, i), level_min(b, j, i));
		assert_int_equal(a->run[j].strict, b->run[j].strict);
		assert_int_equal(a->run[j].t0, b->run[j].t0);
		assert_int_equal(a->run[j].t1, b->run[j].t1);
		assert_int_equal(a->run[j].v0, b->run[j].v0);
	}
}

/* Flat, one step, flat again, a leak, one dip, flat. Granules. */
static u32 mostly_flat(u32 i)
{
	return UNIT * (i < 300 ? 100 : i < 900 ? 200 : i < 1100 ? 200 + i - 900 :
		       i == 1500 ? 399 : 400);
}

static void test_short_cut_of_flat_levels_changes_nothing(void **state)
{
	u32 i, short_cuts = 0, runs = 0;
	struct ladder a, b;

	(void)state;
	ladder_init(&a);
	ladder_init(&b);
	for (i = 0; i < 3000; i++) {
		u32 v = mostly_flat(i), t = i * 100 + i % 3;

		b.s.same = 0;
		if (i && v == mostly_flat(i - 1) &&
		    seep_ladder_still(&a.s, SEEP_SLOW_LEVELS, a.epochs + 1)) {
			seep_clock_still(a.clk, ++a.epochs, t);
			short_cuts++;
		} else {
			ladder_push(&a, v, t, SEEP_LEAST_RISE);
		}
		ladder_push(&b, v, t, SEEP_LEAST_RISE);
		assert_memory_equal(a.clk, b.clk, sizeof(a.clk));
		assert_ladders_equal(&a, &b);
		runs |= a.s.runs;
	}
	assert_in_range(short_cuts, 1500, 2900);
	assert_int_equal(runs & 15, 15);
}

/* Strict steps of the floors that a level has, counted anew; 0: they are no run. */
static u32 steps_of(const struct ladder *l, u32 j, u32 least)
{
	u32 i, strict = 0;

	if (l->epochs >> j < SEEP_MINIMA ||
	    level_min(l, j, 0) < level_min(l, j, SEEP_MINIMA - 1) + least)
		return 0;
	for (i = 1; i < SEEP_MINIMA; i++) {
		if (level_min(l, j, i) > level_min(l, j, i - 1))
			return 0;
		strict += level_min(l, j, i) < level_min(l, j, i - 1);
	}
	return strict;
}

/* A level counts its strict steps on while it has a run. */
static void test_strict_steps_counted_on_are_those_of_the_floors(void **state)
{
	static u32 seen[SEEP_MINIMA];
	u32 i, j, v = 1000, seed = 1, ends = 0, strict;
	struct ladder l;

	ladder_init(&l);
	l.s.strict = SEEP_FAST_STRICT;
	for (i = 1; i < 20000; i++) {
		u16 before = l.s.runs;

		seed = seed * 1664525 + 1013904223;
		if (v > 3900 || seed >> 24 < 4)
			v = v > 1100 ? v - 1000 : 100;	/* exact floors are below 4096 */
		else if (seed >> 24 < 16)
			v--;
		else if (seed >> 24 > 80)
			v += 3;
		ladder_push(&l, v * UNIT, 100 * i, SEEP_LEAST_RISE);
		for (j = 0; j < 4 && !(l.epochs & ((1U << j) - 1)); j++) {
			strict = steps_of(&l, j, SEEP_LEAST_RISE);
			assert_int_equal(l.s.runs >> j & 1,
					 strict >= SEEP_FAST_STRICT &&
					 level_min(&l, j, 0) - level_min(&l, j, 7) >=
					 seep_needed_rise(SEEP_LEAST_RISE, level_min(&l, j, 0)));
			if (l.s.runs >> j & 1)
				assert_int_equal(l.run[j].strict, strict);
			seen[l.s.runs >> j & 1 ? strict : 0]++;
			ends += before & ~l.s.runs & 1U << j ? 1 : 0;
		}
	}
	for (i = SEEP_FAST_STRICT; i < SEEP_MINIMA; i++)
		assert_in_range(seen[i], 20, 20000);
	assert_in_range(ends, 100, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rise_within_the_error_shows),
		cmocka_unit_test(test_start_is_no_floor),
		cmocka_unit_test(test_levels_keep_minima),
		cmocka_unit_test(test_packed_floors_keep_their_order),
		cmocka_unit_test(test_span_is_of_the_epochs_there_were),
		cmocka_unit_test(test_one_equal_step_is_allowed_two_are_not),
		cmocka_unit_test(test_short_cut_of_flat_levels_changes_nothing),
		cmocka_unit_test(test_strict_steps_counted_on_are_those_of_the_floors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
