// SPDX-License-Identifier: GPL-2.0
/*
 * The detector on made-up series: which shapes of growth are named, and which are no alert.
 * Shapes are those of the contract (DETECTION.md); real programs are in the VM cases.
 */
#include "sim.h"

static void test_leak_is_named_early(void **state)
{
	struct sim m;
	double runway = 1800.0 / 20 * 60;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, leak_20mb_min, 3600);
	assert_true(m.at[SEEPAGE_STATE_WATCH] >= 0 && m.at[SEEPAGE_STATE_WATCH] <= 120);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 0);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] <= runway / 5);
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] <= runway / 5);
	assert_int_equal(m.v.confidence, 100);
}

static double fills_in_20_min(double t)
{
	return 20.0 * MB + 1780.0 * MB / 1200 * t;
}

static void test_twenty_minute_filler_within_two(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, fills_in_20_min, 600);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 0 && m.at[SEEPAGE_STATE_SUSPECTED] <= 120);
}

static double begins, lasts;

/* 20 MB a minute on 1800 MB: memory lasts for 89 minutes. */
static double grows_for_a_while(double t)
{
	double grown = t < begins ? 0 : t - begins < lasts ? t - begins : lasts;

	return 20.0 * MB + 20.0 * MB / 60 * grown;
}

/*
 * Growth that begins with the process may be its start, and is waited for until 18 % of the
 * runway are used: 16 minutes. The same growth is named sooner where it begins later.
 */
static void test_start_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	begins = 0;
	lasts = 15 * 60;
	sim_init(&m, 1800 * MB);
	run(&m, grows_for_a_while, 7200);
	assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);

	lasts = 7200;
	sim_init(&m, 1800 * MB);
	run(&m, grows_for_a_while, 7200);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 15 * 60);
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] > 0);
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] <= .2 * 89 * 60);

	begins = 3600;
	sim_init(&m, 1800 * MB);
	run(&m, grows_for_a_while, 7200);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 3600);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] <= 3600 + .1 * 89 * 60);
}

static double leak_100mb_min(double t)
{
	return 20.0 * MB + 100.0 * MB / 60 * t;
}

static void test_runaway_is_named_within_a_tenth(void **state)
{
	double runway = 8.0 * GB / (100 * MB) * 60;
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, leak_100mb_min, 1200);
	assert_true(m.at[SEEPAGE_STATE_WATCH] >= 0 && m.at[SEEPAGE_STATE_WATCH] <= 60);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 0);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] <= runway / 10);
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] <= runway / 5);
}

static double gb_in_38_min(double t)
{
	return 20.0 * MB + (t < 2280 ? 1024.0 * MB / 2280 * t : 1024.0 * MB);
}

/* There are hours left, of which an eighth is used: it may level off yet. */
static void test_an_eighth_of_the_headroom_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, gb_in_38_min, 7200);
	assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);
}

static double tau, height;

static double levels_off(double t)
{
	return 20.0 * MB + height * (1 - exp(-t / tau));
}

/* A working set that levels off is seen to, whatever level looks at it first. */
static void test_levelling_growth_is_no_alert(void **state)
{
	static const struct {
		double tau, share;
	} sets[] = { { 300, .15 }, { 900, .2 }, { 2700, .35 }, { 5400, .35 }, { 10800, .4 } };
	struct sim m;

	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		tau = sets[i].tau;
		height = 2.0 * GB * sets[i].share;
		sim_init(&m, 2 * GB);
		run(&m, levels_off, 12 * tau);
		assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);
	}
}

static double half_a_day, swing;

static double s_shape(double t)
{
	return 20.0 * MB + swing * (1 - cos(t < half_a_day ? t / half_a_day * M_PI : M_PI)) / 2;
}

/* A load of half a day, which is seen to level off before its top is reached. */
static void test_load_of_a_day_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	for (half_a_day = 9 * 3600; half_a_day <= 12 * 3600; half_a_day += 1800) {
		swing = 220.0 * MB;
		sim_init(&m, 1200 * MB);
		run(&m, s_shape, 86400);
		assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);
	}
}

static double quick_then_slow(double t)
{
	return 20.0 * MB + (t < 7200 ? 50.0 * MB / 3600 * t : 100.0 * MB + 20.0 * MB / 3600 *
			    (t - 7200));
}

/* How long memory lasts goes by what it takes now, not by what it took at first. */
static void test_time_left_goes_by_the_slower_half(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	run(&m, quick_then_slow, 12 * 3600);
	assert_true(m.v.t1 > 0);
	assert_true((double)m.v.tte_s > .9 * (4 * GB - m.s.anon) / (20.0 * MB / 3600));
}

static double in_steps(double t)
{
	return 20.0 * MB + 20.0 * MB * floor(t / 3);
}

/* Memory that comes every three seconds only: no run of steps that all rise. */
static void test_steps_are_growth_too(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 2 * GB);
	run(&m, in_steps, 60);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 0 && m.at[SEEPAGE_STATE_SUSPECTED] <= 30);
}

static double slow_and_small(double t)
{
	return 0.5 * MB + 1.0 * MB / 60 * t;
}

/*
 * A process that has grown for long when it reaches the least size is under watch before it
 * is accused.
 */
static void test_nobody_is_accused_at_first_sight(void **state)
{
	struct sim m;
	u8 before = SEEPAGE_STATE_OK;

	(void)state;
	sim_init(&m, 30 * MB);
	for (double t = 0; t <= 1200; t += 10) {
		feed(&m, t, (u64)slow_and_small(t), true);
		assert_true(before != SEEPAGE_STATE_OK || m.v.state <= SEEPAGE_STATE_WATCH);
		before = m.v.state;
	}
	assert_true(before >= SEEPAGE_STATE_SUSPECTED);
}

/* Flat for its first seconds: longer levels begin to rise with an equal step. */
static double flat_then_leak(double t)
{
	return 20.0 * MB + (t < 130 ? 0 : 20.0 * MB / 60 * (t - 130));
}

static void test_floor_points_do_not_fall_while_it_rises(void **state)
{
	s8 points = 0, most = 0;
	struct sim m;

	(void)state;
	sim_init(&m, 1800 * MB);
	for (double t = 0; t <= 3600; t += 10) {
		feed(&m, t, (u64)flat_then_leak(t), true);
		for (int i = 0; m.v.t1 && i < m.v.nfactors; i++)
			if (m.v.factor[i].id == SEEPAGE_FACTOR_FLOOR)
				points = m.v.factor[i].points;
		assert_true(points >= most);
		most = points;
	}
	assert_int_equal(most, 30);
}

static double cache_100mb_3min(double t)
{
	return 10.0 * MB + (t < 175 ? 100.0 * MB / 175 * t : 100.0 * MB);
}

static void test_filled_cache_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, cache_100mb_3min, 7200);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
}

static void test_gc_sawtooth_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, sawtooth, 8 * 3600);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
}

static void test_noise_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, flat_noise, 48 * 3600);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
}

static double slow_leak_under_sawtooth(double t)
{
	return 50.0 * MB + 100.0 * MB * fmod(t, 480) / 480 + 60.0 * MB / 3600 * t;
}

static void test_leak_below_a_sawtooth_is_found(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, slow_leak_under_sawtooth, 24 * 3600);
	assert_true(m.worst >= SEEPAGE_STATE_SUSPECTED);
	/* 8 GB at 60 MB/h are 136 h: 80 % left means within 27 h */
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] < 24 * 3600);
}

static double filler(double t)
{
	return 5.0 * MB + 2.0 * GB / 300 * t;
}

static void test_five_minute_filler_within_30_s(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 2 * GB);
	run(&m, filler, 200);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 0);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] <= 30);
	assert_int_equal(m.worst, SEEPAGE_STATE_RUNAWAY);
}

static void test_saturating_growth_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, saturating, 4 * 3600);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
}

/* A leak of 20 MB a minute, with pages of 1 << @shift bytes: of its size, and whole faults. */
static void leak_in_pages(struct sim *m, u8 shift)
{
	sim_init(m, 2 * GB);
	m->s.page_shift = shift;
	m->s.error = 0;
	for (double t = 0; t < 1800; t += m->v.state ? 1 : 10) {
		u64 anon = (u64)leak_20mb_min(t) >> 16 << 16;	/* whole pages of both sizes */

		m->s.faults_anon = anon >> shift;
		m->s.faults = m->s.faults_anon;
		m->s.vsz = anon + 10 * MB;
		sample(m, t, anon, fmod(t, 10) == 0);
	}
}

/* Pages of 64 KiB (arm64, ppc64) change no verdict. */
static void test_64k_pages(void **state)
{
	struct sim small, large;

	(void)state;
	leak_in_pages(&small, 12);
	leak_in_pages(&large, 16);
	assert_true(small.worst >= SEEPAGE_STATE_CONFIRMED);
	assert_memory_equal(small.at, large.at, sizeof(small.at));
	assert_int_equal(small.v.confidence, large.v.confidence);
	assert_int_equal(small.v.tte_s, large.v.tte_s);
	assert_int_equal(small.v.rate, large.v.rate);
	assert_int_equal(small.d.faultless, 0);
	assert_int_equal(large.d.faultless, 0);
	/* a huge page of 512 MiB: one fault explains all of it, and no more */
	large.s.faults++;
	sample(&large, 1801, large.s.anon + 512 * MB, false);
	assert_int_equal(large.d.faultless, 0);
	sample(&large, 1802, large.s.anon + 512 * MB, false);
	assert_int_equal(large.d.faultless, seep_granules(512 * MB));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leak_is_named_early),
		cmocka_unit_test(test_twenty_minute_filler_within_two),
		cmocka_unit_test(test_start_is_no_alert),
		cmocka_unit_test(test_runaway_is_named_within_a_tenth),
		cmocka_unit_test(test_an_eighth_of_the_headroom_is_no_alert),
		cmocka_unit_test(test_levelling_growth_is_no_alert),
		cmocka_unit_test(test_load_of_a_day_is_no_alert),
		cmocka_unit_test(test_time_left_goes_by_the_slower_half),
		cmocka_unit_test(test_steps_are_growth_too),
		cmocka_unit_test(test_nobody_is_accused_at_first_sight),
		cmocka_unit_test(test_floor_points_do_not_fall_while_it_rises),
		cmocka_unit_test(test_filled_cache_is_no_alert),
		cmocka_unit_test(test_gc_sawtooth_is_no_alert),
		cmocka_unit_test(test_noise_is_no_alert),
		cmocka_unit_test(test_leak_below_a_sawtooth_is_found),
		cmocka_unit_test(test_five_minute_filler_within_30_s),
		cmocka_unit_test(test_saturating_growth_is_no_alert),
		cmocka_unit_test(test_64k_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
