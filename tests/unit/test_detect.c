// SPDX-License-Identifier: GPL-2.0
/*
 * The detector on made-up series: the same files as in the module. Shapes are
 * those of the contract (DETECTION.md); real programs are in the VM cases.
 */
#include <math.h>
#include <stdlib.h>
#include "sim.h"

static double noise(double t)
{
	static u32 x = 12345;

	(void)t;
	x = x * 1664525U + 1013904223U;
	return (double)(x >> 8) / (1 << 24);
}

/* ---- ladder: shapes ---- */

static void test_leak_is_named_early(void **state)
{
	struct sim m;
	double runway = 1800.0 / 20 * 60;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, leak_20mb_min, 3600);
	assert_true(m.at[SEEPAGE_STATE_WATCH] >= 0 && m.at[SEEPAGE_STATE_WATCH] <= 120);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] > 0);
	assert_true(m.at[SEEPAGE_STATE_SUSPECTED] <= runway / 10);
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] <= runway / 5);
	assert_int_equal(m.v.confidence, 100);
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
static void test_an_eighth_of_the_room_is_no_alert(void **state)
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

/* Long growing when it is big enough to count: it is watched before it is accused. */
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

static double sawtooth(double t)
{
	return 50.0 * MB + 200.0 * MB * fmod(t, 480) / 480;
}

static void test_gc_sawtooth_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, sawtooth, 8 * 3600);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
}

static double flat_noise(double t)
{
	return 500.0 * MB + 100.0 * MB * noise(t);
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

static double saturating(double t)
{
	return 10.0 * MB + 400.0 * MB * (1 - exp(-t / 600));
}

static void test_saturating_growth_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, saturating, 4 * 3600);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
}

static double given_back(double t)
{
	return t < 1200 ? leak_20mb_min(t) : 5.0 * MB;
}

static void test_released_growth_recovers(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, given_back, 1800);
	assert_true(m.worst >= SEEPAGE_STATE_SUSPECTED);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] >= 1200);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] <= 1240);
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
}

/* A leak of hours that is then freed recovers once, and stays so. */
static double long_then_freed(double t)
{
	return t < 6 * 3600 ? 20.0 * MB + 600.0 * MB / 3600 * t : 380.0 * MB;
}

static void count_changes(struct sim *m, shape f, double seconds, int *recovered, int *alerts)
{
	u8 prev = SEEPAGE_STATE_OK;

	*recovered = *alerts = 0;
	for (double t = 0; t <= seconds; t += 10) {
		feed(m, t, (u64)f(t), true);
		if (m->v.state != prev && m->v.state == SEEPAGE_STATE_RECOVERED)
			++*recovered;
		if (m->v.state != prev && m->v.state == SEEPAGE_STATE_SUSPECTED)
			++*alerts;
		prev = m->v.state;
	}
}

static void test_long_leak_recovers_once(void **state)
{
	int recovered, alerts;
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	count_changes(&m, long_then_freed, 12 * 3600, &recovered, &alerts);
	assert_int_equal(alerts, 1);
	assert_int_equal(recovered, 1);
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
}

static double long_then_flat(double t)
{
	return 20.0 * MB + 600.0 * MB / 3600 * (t < 6 * 3600 ? t : 6 * 3600);
}

static void test_stopped_leak_recovers_in_time(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	run(&m, long_then_flat, 10 * 3600);
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] > 0);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] >= 7 * 3600);
	/*
	 * The longest level that saw it has epochs of 2^8 * 10 s: its floor may
	 * rise for two more, and two without a rise are asked for.
	 */
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] <= 6 * 3600 + 4 * 2560 + 10);
}

static double leak_600mb_h(double t)
{
	return 20.0 * MB + 600.0 * MB / 3600 * t;
}

/* An alert after six hours at 10 s; from then on another interval. */
static void alert_then_interval(struct sim *m, u32 interval_ms)
{
	sim_init(m, 16 * GB);
	run(m, leak_600mb_h, 6 * 3600);
	assert_in_range(m->v.state, SEEPAGE_STATE_SUSPECTED, SEEPAGE_STATE_RUNAWAY);
	m->c.v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] = interval_ms;
}

static void test_interval_change_does_not_end_an_alert(void **state)
{
	static const u32 interval_s[] = { 1, 7, 60, 900, 3600 };
	struct sim m;

	(void)state;
	for (size_t i = 0; i < sizeof(interval_s) / sizeof(interval_s[0]); i++) {
		alert_then_interval(&m, interval_s[i] * 1000);
		for (double t = 6 * 3600 + interval_s[i]; t < 24 * 3600; t += interval_s[i]) {
			feed(&m, t, (u64)leak_600mb_h(t), true);
			assert_true(m.at[SEEPAGE_STATE_RECOVERED] < 0);
			assert_true(m.d.t_run <= seep_ds(m.s.time_ns));
		}
	}
}

/* One dip at the very first sample is no release; memory given back is one. */
static void test_interval_change_does_not_hide_a_release(void **state)
{
	struct sim m;

	(void)state;
	alert_then_interval(&m, 60000);
	feed(&m, 6 * 3600 + 60, 30 * MB, true);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] < 0);
	feed(&m, 6 * 3600 + 120, (u64)leak_600mb_h(6 * 3600 + 120), true);
	feed(&m, 6 * 3600 + 180, (u64)leak_600mb_h(6 * 3600 + 180), true);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] < 0);
	for (double t = 6 * 3600 + 240; t <= 6 * 3600 + 420; t += 60)
		feed(&m, t, 30 * MB, true);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] > 0);
}

/* Growth that stops with the change: eight epochs of the new length later. */
static void test_interval_change_and_stop_recovers(void **state)
{
	struct sim m;
	double t;

	(void)state;
	alert_then_interval(&m, 3600000);
	for (t = 7 * 3600; t <= 18 * 3600; t += 3600)
		feed(&m, t, (u64)leak_600mb_h(6 * 3600), true);
	assert_in_range(m.at[SEEPAGE_STATE_RECOVERED], 14 * 3600, 17 * 3600);
}

/* From t on, so many samples a second apart under watch as the worker takes them. */
static double go_on(struct sim *m, shape f, double t, int n)
{
	while (n--) {
		t++;
		feed(m, t, (u64)f(t), (u64)t % 10 == 0);
	}
	return t;
}

/* What classic does not accuse is over for it, and found again at once by the ladder. */
static void test_policy_switch_keeps_the_floors(void **state)
{
	struct sim m;
	u8 before;
	double t;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, leak_20mb_min, 1200);
	assert_true(seep_alert_is(m.v.state));
	before = m.v.state;
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_CLASSIC;
	m.c.v[SEEPAGE_CFG_WARMUP_S] = 86400;
	t = go_on(&m, leak_20mb_min, 1200, 10);
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] > 1200);
	t = go_on(&m, leak_20mb_min, t, 50);
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_LADDER;
	t = go_on(&m, leak_20mb_min, t, 1);
	assert_int_equal(m.v.state, SEEPAGE_STATE_WATCH);
	t = go_on(&m, leak_20mb_min, t, 1);
	assert_int_equal(m.v.state, before);
}

/* What both accuse has been an alert all the time, and is over when memory comes back. */
static void test_policy_switch_keeps_an_alert(void **state)
{
	struct sim m;
	double t;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, leak_20mb_min, 1200);
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_CLASSIC;
	m.c.v[SEEPAGE_CFG_ALERT_CONFIDENCE] = 10;
	t = go_on(&m, leak_20mb_min, 1200, 30);
	assert_int_equal(m.v.state, SEEPAGE_STATE_SUSPECTED);
	assert_int_equal(m.v.policy, SEEPAGE_POLICY_CLASSIC);
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_LADDER;
	t = go_on(&m, leak_20mb_min, t, 1);
	assert_true(m.v.state >= SEEPAGE_STATE_CONFIRMED);
	assert_int_equal(m.v.policy, SEEPAGE_POLICY_LADDER);
	assert_true(m.at[SEEPAGE_STATE_RECOVERED] < 0);
	t = go_on(&m, leak_20mb_min, t, 60);
	assert_true(m.v.state >= SEEPAGE_STATE_CONFIRMED);
	while (m.v.state != SEEPAGE_STATE_RECOVERED && t < 2000) {
		t++;
		feed(&m, t, 10 * MB, (u64)t % 10 == 0);
	}
	assert_in_range((u64)t, 1300, 1340);
	/* it stays so for a while: its floors are new */
	for (int i = 0; i < 30; i++, t += 10)
		feed(&m, t, 10 * MB, true);
	assert_int_equal(m.v.state, SEEPAGE_STATE_RECOVERED);
}

/* What only classic accused is over with it; the ladder goes on as it would have. */
static void test_policy_switch_ends_an_alert(void **state)
{
	struct sim m;
	double t;

	(void)state;
	sim_init(&m, 1800 * MB);
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_CLASSIC;
	m.c.v[SEEPAGE_CFG_WARMUP_S] = 0;
	m.c.v[SEEPAGE_CFG_ALERT_CONFIDENCE] = 10;
	t = go_on(&m, saturating, 0, 3000);
	assert_int_equal(m.v.state, SEEPAGE_STATE_SUSPECTED);
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_LADDER;
	t = go_on(&m, saturating, t, 1);
	assert_int_equal(m.v.state, SEEPAGE_STATE_RECOVERED);
	m.worst = SEEPAGE_STATE_OK;
	go_on(&m, saturating, t, 12000);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
}

static double leak_after_hours(double t)
{
	return t < 30 ? 100.0 * MB : t < 4 * 3600 ? 1000.0 * MB :
	       1000.0 * MB + 100.0 * MB / 3600 * (t - 4 * 3600);
}

static double only_the_cache(double t)
{
	(void)t;
	return 1000.0 * MB;
}

/* Given back while the other policy looked: floors of long epochs have not seen it yet. */
static void given_back_under_classic(u32 alert_confidence)
{
	struct sim m;
	double t;

	sim_init(&m, 4 * GB);
	run(&m, leak_after_hours, 12 * 3600);
	assert_true(seep_alert_is(m.v.state));
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_CLASSIC;
	m.c.v[SEEPAGE_CFG_ALERT_CONFIDENCE] = alert_confidence;
	t = go_on(&m, leak_after_hours, 12 * 3600, 30);
	assert_int_equal(seep_alert_is(m.v.state), alert_confidence < 100);
	t = go_on(&m, only_the_cache, t, 60);
	m.c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_LADDER;
	for (int i = 0; i < 3600; i++, t += 10) {
		feed(&m, t, 1000 * MB, true);
		assert_false(seep_alert_is(m.v.state));
	}
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
}

static void test_policy_switch_does_not_hide_a_release(void **state)
{
	(void)state;
	given_back_under_classic(100);
	given_back_under_classic(10);
}

static void test_swapped_leak_still_grows(void **state)
{
	struct sim m;
	double t;

	(void)state;
	sim_init(&m, 1800 * MB);
	for (t = 0; t < 1200; t += 10) {
		u64 total = (u64)leak_20mb_min(t), resident = total < 50 * MB ? total : 50 * MB;

		m.s.swap = total - resident;	/* RSS stands still from 50 MB on */
		feed(&m, t, resident, true);
	}
	assert_true(m.worst >= SEEPAGE_STATE_SUSPECTED);
}

static s64 own;		/* permille of its growth, as last said; -1: never */

/* One sample of a process that maps and faults as it is said to. */
static void feed_mapped(struct sim *m, double t, u64 anon, u64 vsz, u64 faults)
{
	const struct seep_gate *g;

	m->s.vsz = vsz;
	m->s.faults = faults;
	m->s.faults_anon = faults;
	sample(m, t, anon, fmod(t, 10) == 0);
	g = gate(&m->v, SEEPAGE_GATE_OWN);
	own = g ? g->value : t == 0 ? -1 : own;
}

/* What a process does for so many seconds: each second it gains, maps and faults so much. */
struct deed {
	u32 seconds;
	double gains, maps;	/* MB; less than none: gives back, unmaps */
	u32 faults;
};

/* After half an hour at rest. */
static void run_deeds(struct sim *m, const struct deed *deed)
{
	double anon = 50, vsz = 400;
	u64 faults = 100000;
	u32 t;

	sim_init(m, 1 * GB);
	for (t = 0; t <= 1800; t += 10)
		feed_mapped(m, t, 50 * MB, 400 * MB, faults);
	for (t = 1801; deed->seconds; deed++)
		for (u32 i = 0; i < deed->seconds; i++, t++) {
			anon += deed->gains;
			vsz += deed->maps;
			faults += deed->faults;
			feed_mapped(m, t, (u64)(anon * MB), (u64)(vsz * MB), faults);
		}
}

/*
 * khugepaged makes whole pages of what is sparse, without a fault, of old mappings.
 * What somebody maps and populates, or faults in, pages or huge pages, is his own.
 */
static void test_what_comes_by_itself_is_no_alert(void **state)
{
	static const struct {
		struct deed deed[4];
		u32 least, most;	/* permille of its own, at the end */
	} row[] = {
		{ { { 120, 1, 0, 0 } }, 0, 0 },
		{ { { 120, 1, 0, 256 } }, 1000, 1000 },
		{ { { 120, 1, 0, 1 } }, 1000, 1000 },
		{ { { 120, 1, 1, 0 } }, 1000, 1000 },
		{ { { 120, 1, .25, 0 } }, 150, 350 },
		/* what it did before explains nothing now */
		{ { { 40, 1, 0, 256 }, { 120, 1, 0, 0 } }, 0, 300 },
		{ { { 40, 1, 10, 0 }, { 1, 0, -400, 0 }, { 120, 1, 0, 0 } }, 0, 300 },
		/* nor does what is gone again make less its own */
		{ { { 60, 1, 0, 0 }, { 1, -30, 0, 0 }, { 200, 1, 0, 256 } }, 950, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sim m;

		run_deeds(&m, row[i].deed);
		assert_in_range(own, row[i].least, row[i].most);
		assert_int_equal(seep_alert_is(m.worst), row[i].least >= 500);
	}
}

/*
 * Lumps that come further apart than a watch lasts, some by themselves: the one that
 * a watch begins with counts, or there would be nothing yet to say whose it is.
 */
static void test_lumps_count_by_whose_they_are(void **state)
{
	static const struct {
		u32 every;		/* seconds */
		double lump;		/* MB */
		u32 limit;		/* MB */
		u64 faults, maps;	/* with each; MB */
		bool told;
	} row[] = {
		{ 120, 16, 512, 0, 0, false },
		{ 120, 16, 512, 4096, 0, true },
		{ 120, 16, 512, 0, 16, true },
		{ 300, 32, 1024, 0, 0, false },
		{ 300, 32, 1024, 16, 0, true },
		{ 90, 8, 512, 0, 0, false },
		{ 600, 64, 4096, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		u64 anon = 50, vsz = 5000, faults = 100000;
		bool full, told = false;
		struct sim m;

		sim_init(&m, row[i].limit * MB);
		for (u32 t = 0; anon < row[i].limit / 10 * 7; t++) {
			if (t > 1800 && t % row[i].every == 3) {
				anon += row[i].lump;
				faults += row[i].faults;
				vsz += row[i].maps;
			}
			full = t % 10 == 0;
			if (!full && !seep_watched(m.d.state))
				continue;
			feed_mapped(&m, t, anon * MB, vsz * MB, faults);
			told |= seep_alert_is(m.v.state);
		}
		if (told != row[i].told)
			fail_msg("row %zu: told %d", i, told);
	}
}

/* Who was accused and recovered: what comes then is looked at like anybody's. */
static void test_recovered_is_watched_again(void **state)
{
	u64 anon = 50, faults = 100000;
	struct sim m;
	u8 before;
	u32 t;

	(void)state;
	sim_init(&m, 1 * GB);
	for (t = 0; !seep_alert_is(m.d.state); t++) {
		feed_mapped(&m, t, ++anon * MB, 2000 * MB, faults += 256);
		assert_true(t < 600);
	}
	for (; m.d.state != SEEPAGE_STATE_RECOVERED; t++) {
		feed_mapped(&m, t, 50 * MB, 2000 * MB, faults);
		assert_true(t < 2000);
	}
	/* without a fault: not its own, and nobody steps from here to an alert */
	for (anon = 50; anon < 300; t++) {
		before = m.d.state;
		feed_mapped(&m, t, ++anon * MB, 2000 * MB, faults);
		assert_false(before == SEEPAGE_STATE_RECOVERED && seep_alert_is(m.d.state));
		assert_false(seep_alert_is(m.d.state));
	}
	/* and with faults it is told of again */
	for (; !seep_alert_is(m.d.state); t++) {
		feed_mapped(&m, t, ++anon * MB, 2000 * MB, faults += 256);
		assert_true(anon < 900);
	}
}

/* A huge page is 2 MB of 4 KB pages, 32 MB of 16 KB ones, 512 MB of 64 KB ones. */
static void test_what_a_fault_explains_goes_by_page_size(void **state)
{
	static const struct {
		u8 page_shift;
		u32 mb;			/* gained with one fault */
		bool own;
	} row[] = {
		{ 12, 2, true }, { 12, 5, false }, { 14, 32, true }, { 14, 65, false },
		{ 16, 100, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		u64 anon = 50, faults = 0xfffffff0;	/* and over the edge of 32 bits */
		struct sim m;

		sim_init(&m, 8 * GB);
		m.s.page_shift = row[i].page_shift;
		own = -1;
		for (u32 t = 0; t < 600; t++) {
			if (t > 300 && anon < 4000) {
				anon += row[i].mb;
				faults++;
			}
			feed_mapped(&m, t, anon * MB, 8000 * MB, faults);
		}
		if (row[i].own)
			assert_int_equal(own, 1000);
		else
			assert_in_range(own, 0, 499);
	}
}

/* Who locks his memory never faults: what he leaks is told of at last. */
static void test_nothing_comes_by_itself_for_ever(void **state)
{
	struct sim m;
	double at = -1;

	(void)state;
	sim_init(&m, 1 * GB);
	for (u32 t = 0; t <= 2000; t += 10) {
		feed_mapped(&m, t, 50 * MB + t * MB / 2, 1000 * MB, 0);
		if (at < 0 && seep_alert_is(m.worst))
			at = t;
	}
	assert_in_range(at, .7 * 1948, .8 * 1948);
}

/* A leak of sparse pages that are made whole later: what was mapped for it is its own. */
static void test_sparse_leak_made_whole_is_told(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 1 * GB);
	for (u32 t = 0; t <= 3 * 3600; t += 10) {
		u64 areas = t / 300 + 1, in = t % 300, full = in > 60 ? 16 * MB : 2 * MB;

		feed_mapped(&m, t, 40 * MB + (areas - 1) * 16 * MB + full,
			    60 * MB + areas * 16 * MB, 10000 + areas * 512);
	}
	assert_true(seep_alert_is(m.worst));
	assert_int_equal(own, 1000);
}

static void test_small_processes_raise_nothing(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 1800 * MB);
	m.c.v[SEEPAGE_CFG_MIN_PROCESS_SIZE_MB] = 4096;
	run(&m, leak_20mb_min, 3600);
	assert_int_equal(m.worst, SEEPAGE_STATE_OK);
	assert_int_equal(m.v.confidence, 0);
	assert_int_equal(m.v.gate[0].id, SEEPAGE_GATE_SIZE);
	assert_false(m.v.gate[0].passed);
}

static void test_confidence_threshold_holds_back(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 1800 * MB);
	m.c.v[SEEPAGE_CFG_ALERT_CONFIDENCE] = 100;
	run(&m, leak_20mb_min, 3600);
	assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);
}

/* What is not growing has no time to exhaustion, and no invented growth. */
static void test_unknown_is_said(void **state)
{
	struct sim m;
	s64 growth;

	(void)state;
	sim_init(&m, GB);
	feed(&m, 0, 20 * MB, true);
	assert_false(seep_det_growth(&m.d, &m.v, &growth));
	assert_true(m.v.tte_s == SEEP_UNKNOWN);
	feed(&m, 10, 20 * MB, true);
	feed(&m, 20, 20 * MB, true);
	assert_true(seep_det_growth(&m.d, &m.v, &growth));
	assert_true(growth == 0);
}

static void test_growth_is_what_it_is(void **state)
{
	struct sim m;
	s64 growth = 0;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, leak_20mb_min, 900);
	assert_true(seep_det_growth(&m.d, &m.v, &growth));
	assert_in_range(growth / (s64)MB, 1140, 1260);	/* 1200 MB/h */
}

/* A cache that fills in 30 s: shown while it does, not once it is flat for 90 s. */
static void test_growth_ends_with_the_growth(void **state)
{
	struct sim m;
	s64 growth = 0;
	double t;

	(void)state;
	sim_init(&m, 8 * GB);
	for (t = 0; t < 640; t += 10)
		feed(&m, t, 10 * MB, true);
	for (; t < 670; t += 10)
		feed(&m, t, 10 * MB + (u64)((t - 630) / 30 * 100) * MB, true);
	for (; t < 720; t += 10)
		feed(&m, t, 110 * MB, true);
	assert_int_equal(m.v.t1, 0);	/* no floor rises: shown as measured */
	assert_true(seep_det_growth(&m.d, &m.v, &growth));
	assert_in_range(growth / (s64)MB, 200, 220);	/* as far as it is a floor yet */
	for (; t < 800; t += 10)
		feed(&m, t, 110 * MB, true);
	assert_int_equal(m.v.t1, 0);
	assert_true(seep_det_growth(&m.d, &m.v, &growth));
	assert_int_equal(growth, 0);
}

/* Falls for a minute and rises for ten, or the reverse: nothing is agreed on. */
static void test_growth_is_what_both_windows_say(void **state)
{
	static const struct {
		double first, then;	/* MB/min */
		bool zero;
	} row[] = { { -10, -10, false }, { -10, 10, true }, { 10, -10, true }, { -10, 0, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		double mb = 500, t;
		s64 growth = 0;
		struct sim m;

		sim_init(&m, 8 * GB);
		for (t = 0; t <= 1300; t += 10) {
			feed(&m, t, (u64)(mb * MB), true);
			mb += (t < 1200 ? row[i].first : row[i].then) / 6;
		}
		memset(&m.v, 0, sizeof(m.v));	/* not as judged */
		assert_true(seep_det_growth(&m.d, &m.v, &growth));
		if (row[i].zero)
			assert_int_equal(growth, 0);
		else
			assert_true(growth / (s64)MB < -550 && growth / (s64)MB > -650);
	}
}

/* Explaining twice changes nothing and repeats the state. */
static void test_explain_is_pure(void **state)
{
	struct seep_verdict v;
	struct seep_det copy;
	struct sim m;

	(void)state;
	sim_init(&m, 1800 * MB);
	run(&m, leak_20mb_min, 700);
	memcpy(&copy, &m.d, sizeof(copy));
	seep_det_explain(&m.d, &m.s, &m.c, &v);
	assert_memory_equal(&copy, &m.d, sizeof(copy));
	assert_int_equal(v.state, m.v.state);
	assert_int_equal(v.confidence, m.v.confidence);
}

static double step_then_flat(double t)
{
	return t < 300 ? 20.0 * MB : t < 400 ? 20.0 * MB + MB * (t - 300) / 2 : 70.0 * MB;
}

/* A process at rest is not judged: the verdict is what judging it would say. */
static void test_rest_is_what_the_full_verdict_says(void **state)
{
	static const shape shapes[] = { flat_noise, step_then_flat, given_back, sawtooth };

	int rests = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct sim m;

		sim_init(&m, 1800 * MB);
		for (double t = 0; t < 3 * 3600; t += 10) {
			struct seep_verdict v;

			feed(&m, t, (u64)shapes[i](t), true);
			if (m.v.ngates)
				continue;
			rests++;
			seep_ladder_verdict(&m.d, &m.s, &m.c, memset(&v, 0, sizeof(v)));
			assert_int_equal(v.state, m.v.state);
			assert_int_equal(v.confidence, m.v.confidence);
			assert_int_equal(v.t1, m.v.t1);
			assert_int_equal(v.floor, m.v.floor);
			assert_int_equal(m.d.state, SEEPAGE_STATE_OK);
		}
	}
	assert_true(rests > 2000);
}

/* ---- ladder: what else may veto ---- */

/* Every two hours: an hour up by a gigabyte, then given back. */
static double batch(double t)
{
	double in = fmod(t, 7200);

	return 50.0 * MB + (in < 3600 ? 1024.0 * MB * in / 3600 : 0);
}

static u32 alerts_of(struct sim *m, shape f, double from, double to)
{
	u32 alerts = 0;
	u8 prev = m->v.state;

	for (double t = from; t < to; t += 10) {
		feed(m, t, (u64)f(t), true);
		alerts += seep_alert_is(m->v.state) && !seep_alert_is(prev);
		prev = m->v.state;
	}
	return alerts;
}

static void test_what_was_released_before_is_no_news(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	assert_int_equal(alerts_of(&m, batch, 0, 7200), 1);	/* nobody can know yet */
	assert_int_equal(alerts_of(&m, batch, 7200, 48 * 3600), 0);
	assert_in_range(m.d.known_rise, 1000U << 6, 1024U << 6);
	assert_in_range(m.d.known_span, 35000, 36100);
}

static double batch_then_leak(double t)
{
	return t < 8 * 3600 ? batch(t) : 50.0 * MB + 1024.0 * MB * (t - 8 * 3600) / 3600;
}

static void test_more_than_was_released_before_is(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	alerts_of(&m, batch_then_leak, 0, 8 * 3600);
	assert_int_equal(alerts_of(&m, batch_then_leak, 8 * 3600, 9.4 * 3600), 0);
	assert_false(gate(&m.v, SEEPAGE_GATE_NOVELTY)->passed);
	assert_int_equal(alerts_of(&m, batch_then_leak, 9.4 * 3600, 9.7 * 3600), 1);
}

/* A process that rests for hours and then steps up has not climbed for hours. */
static void test_rest_is_no_climb(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	for (double t = 0; t < 36000; t += 10)
		feed(&m, t, 50 * MB, true);
	feed(&m, 36000, 500 * MB, true);
	feed(&m, 36010, 600 * MB, true);
	feed(&m, 36020, 50 * MB, true);
	assert_int_equal(m.d.known_rise, 550 << 6);
	assert_in_range(m.d.known_span, 100, 200);
}

static u32 first_alert(const struct sim *m)
{
	double first = -1;

	for (u8 i = SEEPAGE_STATE_SUSPECTED; i <= SEEPAGE_STATE_RUNAWAY; i++)
		if (m->at[i] >= 0 && (first < 0 || m->at[i] < first))
			first = m->at[i];
	return (u32)first;
}

static double mb_100_an_hour(double t)
{
	return 20.0 * MB + 100.0 * MB / 3600 * t;
}

/* What others of its name did is no news, but hides no more than 3/8 of what is left. */
static void test_others_climbs_are_no_news(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 2 * GB);
	run(&m, mb_100_an_hour, 8 * 3600);
	assert_in_range(first_alert(&m), 3 * 3600, 4 * 3600);
	/* a tenth more than what it takes to be suspected, not more */
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] <= .193 * 2048 / 100 * 3600);
	sim_init(&m, 2 * GB);
	seep_det_inherit(&m.d, 300 << 6, 9 * 36000);
	run(&m, mb_100_an_hour, 8 * 3600);	/* higher by half than 300 MB */
	assert_in_range(first_alert(&m), 4.2 * 3600, 5.5 * 3600);
	sim_init(&m, 2 * GB);
	seep_det_inherit(&m.d, 1900 << 6, 90 * 36000);
	run(&m, mb_100_an_hour, 8 * 3600);
	assert_in_range(first_alert(&m), 5 * 3600, 6 * 3600);
}

static double mb_200_a_minute(double t)
{
	return 20.0 * MB + 200.0 * MB / 60 * t;
}

static void test_ten_minutes_left_are_told_of_in_one_sixteenth(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 2 * GB);
	run(&m, mb_200_a_minute, 300);
	assert_in_range(first_alert(&m), 20, 42);
}

static double two_climbs(double t)
{
	t = fmod(t, 4 * 3600);
	return 20.0 * MB + (t < 3 * 3600 ? 900.0 * MB / (3 * 3600) * t : 0);
}

/* What it did and gave back itself counts in full, whatever others did. */
static void test_own_climbs_count_in_full(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 2 * GB);
	seep_det_inherit(&m.d, 100 << 6, 3600);
	run(&m, two_climbs, 7 * 3600 - 60);
	assert_false(m.d.inherited);
	assert_false(gate(&m.v, SEEPAGE_GATE_NOVELTY)->passed);
}

/* 10 MB/min, as half of a GB is looked at every ten minutes. */
static void run_cold(struct sim *m, u16 cold, double seconds)
{
	sim_init(m, 4 * GB);
	for (double t = 0; t < seconds; t += 10) {
		if (fmod(t, 600) == 300) {
			m->s.cold_ns = m->t0 + (u64)(t * 1e9);
			m->s.cold = cold;
		}
		feed(m, t, 20 * MB + (u64)(10.0 * MB * t / 60), true);
	}
}

/* 40 hours are left: a third of that is not waited for */
static void test_slow_growth_in_use_is_told_after_14_hours(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	for (double t = 0; t < 16 * 3600; t += 60) {
		m.s.cold_ns = m.t0 + (u64)(t * 1e9);
		m.s.cold = 0;
		feed(&m, t, 20 * MB + (u64)(100.0 * MB * t / 3600), true);
	}
	assert_in_range(first_alert(&m), 13.5 * 3600, 15 * 3600);
}

static void test_growth_in_use_is_no_alert(void **state)
{
	struct sim m;

	(void)state;
	run_cold(&m, 300, 3 * 3600);
	assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);
	assert_false(gate(&m.v, SEEPAGE_GATE_COLD)->passed);
	run_cold(&m, 300, 6 * 3600);		/* of 6.8 hours: told when a quarter is left */
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
	assert_true(gate(&m.v, SEEPAGE_GATE_COLD)->passed);
	assert_in_range((u32)(m.at[SEEPAGE_STATE_CONFIRMED] + m.at[SEEPAGE_STATE_SUSPECTED] + 1),
			5 * 3600, 5 * 3600 + 600);
	assert_true(m.at[SEEPAGE_STATE_CONFIRMED] > 0);
	run_cold(&m, 950, 4 * 3600);
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
	assert_int_equal(points(&m.v, SEEPAGE_FACTOR_COLD), 12);
	run_cold(&m, 700, 4 * 3600);	/* neither: as if not known */
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
}

/*
 * Looked at after two hours and never again: that holds for four hours more, less
 * what it took until it was seen to grow.
 */
static void test_evidence_holds_as_long_as_it_took(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	for (double t = 0; t < 12 * 3600; t += 10) {
		m.s.cold_ns = t < 900 ? m.t0 : m.t0 + (u64)(t < 2 * 3600 ? t : 2 * 3600) * S_NS;
		m.s.cold = 300;
		feed(&m, t, 20 * MB + (u64)(5.0 * MB * t / 60), true);
	}
	assert_in_range((u32)m.at[SEEPAGE_STATE_SUSPECTED] + (u32)m.at[SEEPAGE_STATE_CONFIRMED] + 1,
			6 * 3600 - 600, 6 * 3600);
}

/* 10 MB/min, and so many of the usual misses. */
static void run_misses(struct sim *m, u16 pmc)
{
	sim_init(m, 4 * GB);
	m->s.pmc = pmc;
	for (double t = 0; t < 4 * 3600; t += 10)
		feed(m, t, 20 * MB + (u64)(10.0 * MB * t / 60), true);
}

static void test_misses_are_worth_a_few_points(void **state)
{
	struct sim none, flat, rising;

	(void)state;
	run_misses(&none, 0);
	run_misses(&flat, 1000);
	run_misses(&rising, 3000);
	assert_int_equal(points(&flat.v, SEEPAGE_FACTOR_PMC), 6);
	assert_int_equal(points(&rising.v, SEEPAGE_FACTOR_PMC), -6);
	assert_int_equal(none.v.nfactors + 1, flat.v.nfactors);
	/* earlier and later; all of them are alerts in the end */
	assert_true(flat.at[SEEPAGE_STATE_SUSPECTED] <= none.at[SEEPAGE_STATE_SUSPECTED]);
	assert_true(none.at[SEEPAGE_STATE_SUSPECTED] <= rising.at[SEEPAGE_STATE_SUSPECTED]);
	assert_true(rising.worst >= SEEPAGE_STATE_CONFIRMED);
	assert_int_equal(flat.v.confidence, 100);
	assert_in_range(rising.v.confidence, 80, 94);
}

static void test_old_evidence_counts_no_more(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	m.s.cold_ns = START_NS / 2;	/* of another growth */
	m.s.cold = 0;
	run(&m, leak_20mb_min, 3600);
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
}

/* Who asks between a look and the next sample is told of the look. */
static void test_evidence_counts_at_once(void **state)
{
	struct seep_verdict v;
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	run(&m, leak_20mb_min, 3600);
	assert_null(gate(&m.v, SEEPAGE_GATE_COLD));
	m.s.cold_ns = m.s.time_ns + 5 * S_NS;
	m.s.cold = 0;
	seep_det_explain(&m.d, &m.s, &m.c, &v);
	assert_non_null(gate(&v, SEEPAGE_GATE_COLD));
	assert_false(gate(&v, SEEPAGE_GATE_COLD)->passed);
}

/* ---- ladder: the levels ---- */

struct ladder {			/* one series */
	u32 epochs;
	struct seep_clock clk[SEEP_SLOW_LEVELS];
	struct seep_rungs s;
	struct seep_rung r[SEEP_SLOW_LEVELS];
};

static void ladder_init(struct ladder *l)
{
	memset(l, 0, sizeof(*l));
	seep_clock_reset(l->clk, SEEP_SLOW_LEVELS, &l->epochs, 0);
	seep_rungs_reset(&l->s, l->r, SEEP_SLOW_LEVELS, SEEP_STRICT);
}

static void ladder_push(struct ladder *l, u32 v, u32 t, u32 need)
{
	l->epochs++;
	seep_clock_push(l->clk, SEEP_SLOW_LEVELS, l->epochs, t);
	seep_ladder_push(&l->s, l->r, l->clk, SEEP_SLOW_LEVELS, l->epochs, v, need);
}

static u32 level_min(const struct ladder *l, u32 j, u32 i)
{
	return seep_floor(&l->r[j], l->epochs >> j, i);
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
		assert_int_equal(seep_floor_unpack(l.r[j].run_v0), 1000 + (100U << (j - 1)));
}

static void test_levels_keep_minima(void **state)
{
	struct ladder l;
	u32 i;

	(void)state;
	ladder_init(&l);
	for (i = 0; i < 64; i++)	/* 100 99 102 101 104 103 ... */
		ladder_push(&l, 100 + (i ^ 1), i * 100, 1);
	assert_int_equal(level_min(&l, 0, 0), 100 + 62);
	assert_int_equal(level_min(&l, 1, 0), 100 + 62);
	assert_int_equal(level_min(&l, 2, 0), 100 + 60);
	assert_int_equal(level_min(&l, 3, 0), 100 + 56);
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
		ladder_push(&l, i * 10, t += 100, 1);
	assert_int_equal(seep_span(&l.clk[0], 7), 600);
	ladder_push(&l, 80, t += 700, 1);
	assert_int_equal(l.clk[0].sum, 1400);
	assert_true(l.r[0].run);
	/* 100; not seven times the last epoch before now */
	assert_in_range(l.r[0].run_t0, 100, 200);
	for (i = 9; i < 60; i++)
		ladder_push(&l, i * 10, t += 100, 1);
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
		ladder_push(&l, one[i], i * 10, 1);
	assert_int_equal(l.s.runs, 1);
	ladder_init(&l);
	for (i = 0; i < 8; i++)
		ladder_push(&l, two[i], i * 10, 1);
	assert_int_equal(l.s.runs, 0);
}

/* All that can be seen of the levels; what the ring holds beyond it cannot. */
static void assert_ladders_equal(const struct ladder *a, const struct ladder *b)
{
	assert_int_equal(a->s.runs, b->s.runs);
	for (u32 j = 0; j < SEEP_SLOW_LEVELS; j++) {
		for (u32 i = 0; i < SEEP_MINIMA; i++)
			assert_int_equal(level_min(a, j, i), level_min(b, j, i));
		assert_int_equal(a->r[j].run, b->r[j].run);
		assert_int_equal(a->r[j].strict, b->r[j].strict);
		assert_int_equal(a->r[j].run_t0, b->r[j].run_t0);
		assert_int_equal(a->r[j].run_t1, b->r[j].run_t1);
		assert_int_equal(a->r[j].run_v0, b->r[j].run_v0);
	}
}

/* Flat, one step, flat again, a leak, one dip, flat. */
static u32 mostly_flat(u32 i)
{
	return i < 300 ? 100 : i < 900 ? 200 : i < 1100 ? 200 + i - 900 : i == 1500 ? 399 : 400;
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
			ladder_push(&a, v, t, 4);
		}
		ladder_push(&b, v, t, 4);
		assert_memory_equal(a.clk, b.clk, sizeof(a.clk));
		assert_ladders_equal(&a, &b);
		runs |= a.s.runs;
	}
	assert_in_range(short_cuts, 1500, 2900);
	assert_int_equal(runs & 15, 15);
}

/* ---- classic: DETECTION.md section 1, table and rules ---- */

static void classic_init(struct sim *m)
{
	sim_init(m, 8 * GB);
	m->c.v[SEEPAGE_CFG_POLICY] = SEEPAGE_POLICY_CLASSIC;
	m->c.v[SEEPAGE_CFG_WARMUP_S] = 0;
}

/* One sample at t seconds of just these figures. */
static void classic_feed(struct sim *m, double t, double faults, double faults_anon,
			 u64 anon, u64 vsz)
{
	m->s.time_ns = m->t0 + (u64)(t * 1e9);
	m->s.age_ns = m->older + (u64)(t * 1e9);
	m->s.faults = (u64)faults;
	m->s.faults_anon = (u64)faults_anon;
	m->s.anon = anon;
	m->s.vsz = vsz;
	m->s.full = true;
	seep_det_feed(&m->d, &m->s, &m->c, &m->v);
}

/* rate faults/s, anon share in percent, for long enough to fill the window */
static void classic_steady(struct sim *m, u32 rate, u32 anon_percent, u64 first, u64 rss,
			   u64 vsz)
{
	double t;

	for (t = 0; t <= 80; t += 10)
		classic_feed(m, t, rate * t, rate * t * anon_percent / 100,
			     t == 0 ? first : rss, vsz);
}

static void test_classic_points(void **state)
{
	static const struct {
		u32 rate, anon;
		u64 first, rss, vsz;
		u8 p_rate, p_growth, p_anon, p_vsz;
	} row[] = {
		{  400, 50, 100 * MB, 100 * MB, 150 * MB,  0,  0,  0,  0 },
		{  500, 60, 100 * MB, 150 * MB, 300 * MB,  0,  0,  0,  0 },
		{  501, 62, 100 * MB, 152 * MB, 305 * MB, 15, 12, 10, 12 },
		{ 1000, 80, 100 * MB, 300 * MB, 900 * MB, 15, 12, 10, 12 },
		{ 1001, 82, 100 * MB, 302 * MB, 907 * MB, 30, 25, 20, 25 },
		{   10, 99, 100 * MB, 400 * MB, 2000 * MB, 0, 25,  0, 25 },	/* 800 faults */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sim m;

		classic_init(&m);
		classic_steady(&m, row[i].rate, row[i].anon, row[i].first, row[i].rss, row[i].vsz);
		assert_int_equal(points(&m.v, SEEPAGE_FACTOR_FAULT_RATE), row[i].p_rate);
		assert_int_equal(points(&m.v, SEEPAGE_FACTOR_RSS_GROWTH), row[i].p_growth);
		assert_int_equal(points(&m.v, SEEPAGE_FACTOR_ANON_SHARE), row[i].p_anon);
		assert_int_equal(points(&m.v, SEEPAGE_FACTOR_VSZ_RSS), row[i].p_vsz);
		assert_int_equal(m.v.confidence, row[i].p_rate + row[i].p_growth +
				 row[i].p_anon + row[i].p_vsz);
	}
}

static void test_classic_needs_more_than_70(void **state)
{
	struct sim m;

	(void)state;
	classic_init(&m);	/* 25 + 20 + 25 = 70, below 500 faults/s */
	classic_steady(&m, 400, 90, 100 * MB, 400 * MB, 2 * GB);
	assert_int_equal(m.v.confidence, 70);
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
	classic_init(&m);
	classic_steady(&m, 600, 90, 100 * MB, 400 * MB, 2 * GB);
	assert_int_equal(m.v.confidence, 85);
	assert_int_equal(m.v.state, SEEPAGE_STATE_SUSPECTED);
}

/* What the ladder only watches at first sight, classic says at once. */
static void test_classic_accuses_at_first_sight(void **state)
{
	struct sim m;
	u8 before = SEEPAGE_STATE_OK;

	(void)state;
	classic_init(&m);
	for (double t = 0; t <= 80 && m.v.confidence <= 70; t += 10) {
		before = m.v.state;
		classic_feed(&m, t, 600 * t, 540 * t, t == 0 ? 100 * MB : 400 * MB, 2 * GB);
	}
	assert_int_equal(m.v.confidence, 85);
	assert_int_equal(before, SEEPAGE_STATE_OK);
	assert_int_equal(m.v.state, SEEPAGE_STATE_SUSPECTED);
}

static void test_classic_small_or_young_is_silent(void **state)
{
	struct sim m;

	(void)state;
	classic_init(&m);
	classic_steady(&m, 2000, 90, 1 * MB, 9 * MB, 2 * GB);
	assert_int_equal(m.v.confidence, 0);
	classic_init(&m);
	m.c.v[SEEPAGE_CFG_WARMUP_S] = 300;
	classic_steady(&m, 2000, 90, 100 * MB, 400 * MB, 2 * GB);
	assert_int_equal(m.v.confidence, 100);
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
}

/* > 1000 faults/s, > 10 MB/min, VSZ over 2.5 RSS for one minute */
static void test_classic_confirmed_rule(void **state)
{
	struct sim m;
	double t, confirmed = -1;

	(void)state;
	classic_init(&m);
	for (t = 0; t < 400; t += 10) {
		u64 rss = 100 * MB + (u64)(t * 20 * MB / 60);

		classic_feed(&m, t, 1500 * t, 0, rss, rss * 13 / 5);
		if (confirmed < 0 && m.v.state == SEEPAGE_STATE_CONFIRMED)
			confirmed = t;
	}
	assert_true(confirmed >= 60 && confirmed <= 90);
}

/* anonymous > 80 % and > 5 MB/min for five minutes, whatever the score */
static void test_classic_suspected_rule(void **state)
{
	struct sim m;
	double t, suspected = -1;

	(void)state;
	classic_init(&m);
	for (t = 0; t < 600; t += 10) {
		u64 rss = 1 * GB + (u64)(t * 8 * MB / 60);

		classic_feed(&m, t, 100 * t, 100 * t, rss, rss);
		if (suspected < 0 && m.v.state == SEEPAGE_STATE_SUSPECTED)
			suspected = t;
	}
	assert_true(suspected >= 300 && suspected <= 340);
}

/* An old process with flat memory that is seen for the first time. */
static void test_classic_flat_process_does_not_grow(void **state)
{
	struct sim m;
	double t;

	(void)state;
	classic_init(&m);
	m.older = 86400 * S_NS;
	for (t = 0; t < 400; t += 10) {
		classic_feed(&m, t, 1500 * t, 0, 1 * GB, 4 * GB);
		assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
	}
}

/* growth is compared with the growth of the warm-up, not with its level */
static void test_classic_two_sigma_is_of_growth(void **state)
{
	struct sim m;
	double t, suspected = -1;

	(void)state;
	classic_init(&m);
	m.c.v[SEEPAGE_CFG_WARMUP_S] = 300;
	for (t = 0; t < 1800; t += 10) {
		/* 1 MB/min for ten minutes, then 4 MB/min; 50 % anonymous, 700 faults/s */
		double grown = t < 600 ? t / 60 : 10 + (t - 600) / 15;
		u64 rss = 100 * MB + (u64)(grown * MB);

		classic_feed(&m, t, 700 * t, 350 * t, rss, rss);
		if (suspected < 0 && m.v.state == SEEPAGE_STATE_SUSPECTED)
			suspected = t;
	}
	assert_true(suspected >= 900 && suspected <= 1000);
}

static void test_classic_severity_is_of_size(void **state)
{
	struct seep_verdict v = { .policy = SEEPAGE_POLICY_CLASSIC, .tte_s = 60,
				  .state = SEEPAGE_STATE_RUNAWAY };

	(void)state;
	assert_int_equal(seep_severity(&v, 128 * MB), 1);
	assert_int_equal(seep_severity(&v, 129 * MB), 2);
	assert_int_equal(seep_severity(&v, 513 * MB), 4);
	assert_int_equal(seep_severity(&v, 1025 * MB), 6);
	assert_int_equal(seep_severity(&v, 4097 * MB), 8);
	assert_int_equal(seep_severity(&v, 8193 * MB), 10);
}

static void test_severity_follows_the_state(void **state)
{
	static const struct {
		u8 state, unknown, hour, soon;
	} row[] = {
		{ SEEPAGE_STATE_OK, 1, 1, 1 },
		{ SEEPAGE_STATE_WATCH, 2, 2, 2 },
		{ SEEPAGE_STATE_SUSPECTED, 6, 6, 8 },
		{ SEEPAGE_STATE_CONFIRMED, 8, 8, 10 },
		{ SEEPAGE_STATE_RUNAWAY, 10, 10, 10 },
		{ SEEPAGE_STATE_RECOVERED, 1, 1, 1 },
		{ SEEPAGE_STATE_EXITED, 1, 1, 1 },
	};
	static const u64 rss[] = { MB, 100 * GB };

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (size_t k = 0; k < sizeof(rss) / sizeof(rss[0]); k++) {
			struct seep_verdict v = { .policy = SEEPAGE_POLICY_LADDER,
						  .state = row[i].state };

			v.tte_s = SEEP_UNKNOWN;
			assert_int_equal(seep_severity(&v, rss[k]), row[i].unknown);
			v.tte_s = 3600;
			assert_int_equal(seep_severity(&v, rss[k]), row[i].hour);
			v.tte_s = 3599;
			assert_int_equal(seep_severity(&v, rss[k]), row[i].soon);
		}
}

static void test_fault_rate_window(void **state)
{
	struct sim m;
	double t;

	(void)state;
	sim_init(&m, GB);
	for (t = 0; t <= 100; t += 10) {
		m.s.faults = t <= 50 ? (u64)(100 * t) : 5000;	/* stops after 50 s */
		feed(&m, t, 20 * MB, true);
	}
	/* over the last 60 s: 10 s of 100 faults/s */
	assert_in_range(seep_det_fault_rate(&m.d, &m.s, 60), 16, 17);
	assert_int_equal(seep_det_fault_rate(&m.d, &m.s, 30), 0);
}

/* ---- classify ---- */

static void test_classify(void **state)
{
	static const struct {
		struct seep_fault_delta f;
		u64 anon;
	} row[] = {
		/* reads, writes, known, anon, file, shmem, around */
		{ { 0, 1000, true, 1000, 0, 0, 16 }, 1000 },		/* heap */
		{ { 100, 0, true, 0, 1600, 0, 16 }, 0 },		/* mapped file, read */
		{ { 0, 1000, true, 0, 0, 1000, 16 }, 0 },		/* tmpfs, written */
		{ { 0, 2000, true, 1000, 0, 1000, 16 }, 1000 },	/* both */
		{ { 0, 1000, true, 0, 1000, 0, 16 }, 0 },		/* shared file, written */
		{ { 10, 1000, true, 1000, 160, 0, 16 }, 1000 },
		{ { 0, 5000, true, 0, 0, 0, 16 }, 5000 },		/* churn */
		{ { 30, 5000, true, 20, 200, 0, 16 }, 5000 },	/* the same, and its start */
		{ { 125, 2000, true, 2000, 0, 2000, 16 }, 2000 },	/* shmem read */
		{ { 30, 824, true, 24, 1000, 0, 16 }, 304 },	/* file written, and its start */
		{ { 5000, 0, false, 20, 200, 0, 16 }, 4800 },
		{ { 0, 10, true, -500, -5, -5, 16 }, 10 },		/* shrinking */
		{ { 1000, 0, false, 1000, 0, 0, 16 }, 1000 },
		{ { 100, 0, false, 0, 1600, 0, 16 }, 0 },
		{ { 1100, 0, false, 1000, 1600, 0, 16 }, 1000 },
		{ { 700, 0, false, 0, 0, 0, 16 }, 700 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(seep_classify_anon(&row[i].f), row[i].anon);
}

/* Any input at all: no undefined behaviour (the build has UBSan), sane output. */
static void test_any_input_is_survived(void **state)
{
	struct sim m;
	u64 x = 88172645463325252ULL;

	(void)state;
	for (int round = 0; round < 200; round++) {
		sim_init(&m, GB);
		m.c.v[SEEPAGE_CFG_POLICY] = round & 1;
		for (int i = 0; i < 200; i++) {
			u64 *field[] = { &m.s.age_ns, &m.s.anon, &m.s.file, &m.s.shmem, &m.s.swap,
					 &m.s.vsz, &m.s.faults, &m.s.faults_anon, &m.s.headroom };
			for (size_t k = 0; k < sizeof(field) / sizeof(field[0]); k++) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				*field[k] = x >> (x % 64);
			}
			m.s.error = (u32)x;
			m.s.full = x & 1;
			m.s.time_ns += x >> (20 + x % 40);
			seep_det_feed(&m.d, &m.s, &m.c, &m.v);
			assert_in_range(m.v.state, 0, SEEPAGE_STATE_MAX);
			assert_in_range(m.v.confidence, 0, 100);
			assert_in_range(m.v.ngates, 0, SEEP_MAX_GATES);
			assert_in_range(m.v.nfactors, 0, SEEP_MAX_FACTORS);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leak_is_named_early),
		cmocka_unit_test(test_runaway_is_named_within_a_tenth),
		cmocka_unit_test(test_an_eighth_of_the_room_is_no_alert),
		cmocka_unit_test(test_levelling_growth_is_no_alert),
		cmocka_unit_test(test_load_of_a_day_is_no_alert),
		cmocka_unit_test(test_time_left_goes_by_the_slower_half),
		cmocka_unit_test(test_slow_growth_in_use_is_told_after_14_hours),
		cmocka_unit_test(test_others_climbs_are_no_news),
		cmocka_unit_test(test_start_is_no_floor),
		cmocka_unit_test(test_ten_minutes_left_are_told_of_in_one_sixteenth),
		cmocka_unit_test(test_own_climbs_count_in_full),
		cmocka_unit_test(test_steps_are_growth_too),
		cmocka_unit_test(test_nobody_is_accused_at_first_sight),
		cmocka_unit_test(test_floor_points_do_not_fall_while_it_rises),
		cmocka_unit_test(test_filled_cache_is_no_alert),
		cmocka_unit_test(test_gc_sawtooth_is_no_alert),
		cmocka_unit_test(test_noise_is_no_alert),
		cmocka_unit_test(test_leak_below_a_sawtooth_is_found),
		cmocka_unit_test(test_five_minute_filler_within_30_s),
		cmocka_unit_test(test_saturating_growth_is_no_alert),
		cmocka_unit_test(test_released_growth_recovers),
		cmocka_unit_test(test_long_leak_recovers_once),
		cmocka_unit_test(test_stopped_leak_recovers_in_time),
		cmocka_unit_test(test_interval_change_does_not_end_an_alert),
		cmocka_unit_test(test_interval_change_does_not_hide_a_release),
		cmocka_unit_test(test_interval_change_and_stop_recovers),
		cmocka_unit_test(test_policy_switch_keeps_the_floors),
		cmocka_unit_test(test_policy_switch_keeps_an_alert),
		cmocka_unit_test(test_policy_switch_ends_an_alert),
		cmocka_unit_test(test_policy_switch_does_not_hide_a_release),
		cmocka_unit_test(test_swapped_leak_still_grows),
		cmocka_unit_test(test_what_comes_by_itself_is_no_alert),
		cmocka_unit_test(test_nothing_comes_by_itself_for_ever),
		cmocka_unit_test(test_lumps_count_by_whose_they_are),
		cmocka_unit_test(test_recovered_is_watched_again),
		cmocka_unit_test(test_what_a_fault_explains_goes_by_page_size),
		cmocka_unit_test(test_sparse_leak_made_whole_is_told),
		cmocka_unit_test(test_small_processes_raise_nothing),
		cmocka_unit_test(test_confidence_threshold_holds_back),
		cmocka_unit_test(test_unknown_is_said),
		cmocka_unit_test(test_growth_is_what_it_is),
		cmocka_unit_test(test_growth_ends_with_the_growth),
		cmocka_unit_test(test_growth_is_what_both_windows_say),
		cmocka_unit_test(test_explain_is_pure),
		cmocka_unit_test(test_rest_is_what_the_full_verdict_says),
		cmocka_unit_test(test_what_was_released_before_is_no_news),
		cmocka_unit_test(test_more_than_was_released_before_is),
		cmocka_unit_test(test_rest_is_no_climb),
		cmocka_unit_test(test_growth_in_use_is_no_alert),
		cmocka_unit_test(test_evidence_holds_as_long_as_it_took),
		cmocka_unit_test(test_misses_are_worth_a_few_points),
		cmocka_unit_test(test_old_evidence_counts_no_more),
		cmocka_unit_test(test_evidence_counts_at_once),
		cmocka_unit_test(test_levels_keep_minima),
		cmocka_unit_test(test_packed_floors_keep_their_order),
		cmocka_unit_test(test_span_is_of_the_epochs_there_were),
		cmocka_unit_test(test_one_equal_step_is_allowed_two_are_not),
		cmocka_unit_test(test_short_cut_of_flat_levels_changes_nothing),
		cmocka_unit_test(test_classic_points),
		cmocka_unit_test(test_classic_needs_more_than_70),
		cmocka_unit_test(test_classic_accuses_at_first_sight),
		cmocka_unit_test(test_classic_small_or_young_is_silent),
		cmocka_unit_test(test_classic_confirmed_rule),
		cmocka_unit_test(test_classic_suspected_rule),
		cmocka_unit_test(test_classic_flat_process_does_not_grow),
		cmocka_unit_test(test_classic_two_sigma_is_of_growth),
		cmocka_unit_test(test_classic_severity_is_of_size),
		cmocka_unit_test(test_severity_follows_the_state),
		cmocka_unit_test(test_fault_rate_window),
		cmocka_unit_test(test_classify),
		cmocka_unit_test(test_any_input_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
