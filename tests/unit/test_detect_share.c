// SPDX-License-Identifier: GPL-2.0
/* Shared limits: tallies, the nearest limit by time, the machine as a whole. */
#include "sim.h"
#include "../../kmod/detect/share.h"

#define HOUR	3600.0

static void test_tally_has_the_sums_of_the_last_full_pass(void **state)
{
	struct seep_growers own = { 60 * SEEP_MIB, 1 }, none = { 0 };
	struct seep_tally p = { .sum = { 0 } };
	struct seep_sample s = { 0 };

	(void)state;
	for (int i = 0; i < 6; i++)
		seep_growers_add(&p.sum, 60 * SEEP_MIB);
	seep_growers_add(&p.sum, 0);		/* does not grow: no member */
	seep_tally_others(&p, &own, &s);		/* the pass is not over yet */
	assert_int_equal(s.others_rate, 0);
	assert_int_equal(s.others, 0);
	seep_tally_close(&p);
	seep_tally_others(&p, &own, &s);
	assert_int_equal(s.others_rate, 300 * SEEP_MIB);
	assert_int_equal(s.others, 5);
	seep_tally_others(&p, &none, &s);
	assert_int_equal(s.others_rate, 360 * SEEP_MIB);
	assert_int_equal(s.others, 6);
	seep_tally_close(&p);
	seep_tally_others(&p, &own, &s);		/* its own rate is older than the sums */
	assert_int_equal(s.others_rate, 0);
	assert_int_equal(s.others, 0);
}

static void test_sums_saturate(void **state)
{
	struct seep_growers g = { 0 };

	(void)state;
	seep_growers_add(&g, 0xfffffff0U);
	seep_growers_add(&g, 0x20);
	assert_int_equal(g.rate, 0xffffffffU);
	assert_int_equal(g.n, 2);
}

/*
 * 1000 MB of RAM are shared with others that grow by 900 MB an hour, 300 MB of address space
 * are its own. It grows by 100 MB an hour: RAM ends in one hour, its address space in three.
 */
static void test_the_limit_that_is_met_first_counts(void **state)
{
	struct seep_growers own = { 100 * SEEP_MIB, 1 }, unknown = { 0 };
	struct seep_sample ram = { .headroom = 1000 * MB, .limit = SEEPAGE_LIMIT_RAM,
				   .others_rate = 900 * SEEP_MIB, .others = 3 }, s = ram;

	(void)state;
	seep_sample_confine(&s, 300 * MB, SEEPAGE_LIMIT_AS, NULL, &own);
	assert_int_equal(s.limit, SEEPAGE_LIMIT_RAM);
	assert_int_equal(s.headroom, 1000 * MB);
	assert_int_equal(s.others_rate, 900 * SEEP_MIB);
	seep_sample_confine(&s, 90 * MB, SEEPAGE_LIMIT_AS, NULL, &own);
	assert_int_equal(s.limit, SEEPAGE_LIMIT_AS);
	assert_int_equal(s.headroom, 90 * MB);
	assert_int_equal(s.others_rate, 0);
	assert_int_equal(s.others, 0);
	s = ram;		/* its pace is not known yet: what leaves less counts */
	seep_sample_confine(&s, 300 * MB, SEEPAGE_LIMIT_AS, NULL, &unknown);
	assert_int_equal(s.limit, SEEPAGE_LIMIT_AS);
}

/* A cgroup of 500 MB for itself is met later than RAM of 1000 MB with ten others. */
static void test_of_two_shared_limits_the_sooner_one_counts(void **state)
{
	struct seep_growers own = { 100 * SEEP_MIB, 1 };
	struct seep_tally cgroup = { .last = { 200 * SEEP_MIB, 2 } };
	struct seep_sample s = { .headroom = 1000 * MB, .others_rate = 900 * SEEP_MIB,
				 .others = 9 };

	(void)state;
	seep_sample_confine(&s, 500 * MB, SEEPAGE_LIMIT_CGROUP, &cgroup, &own);
	assert_int_equal(s.limit, SEEPAGE_LIMIT_RAM);
	seep_sample_confine(&s, 150 * MB, SEEPAGE_LIMIT_CGROUP, &cgroup, &own);
	assert_int_equal(s.limit, SEEPAGE_LIMIT_CGROUP);
	assert_int_equal(s.others_rate, 100 * SEEP_MIB);
	assert_int_equal(s.others, 1);
}

/* The largest figures that can come do not overflow into a wrong order. */
static void test_no_product_overflows(void **state)
{
	struct seep_growers own = { 0xffffffffU, 1 };
	struct seep_sample s = { .headroom = 1ULL << 60, .others_rate = 0xffffffffU };

	(void)state;
	seep_sample_confine(&s, 1ULL << 44, SEEPAGE_LIMIT_AS, NULL, &own);
	assert_int_equal(s.limit, SEEPAGE_LIMIT_AS);
	assert_int_equal(s.headroom, 1ULL << 44);
}

/* One of six workers of 60 MB an hour; @others of them are told to the detector. */
static void worker(struct sim *m, u32 others, double seconds)
{
	u64 all = 1400 * MB;

	sim_init(m, 0);
	for (double t = 0; t <= seconds; t += 10) {
		double held = 60.0 * MB / HOUR * t, used = held * 6;

		m->s.others_rate = m->d.state ? others * 60 * SEEP_MIB : 0;
		m->s.others = m->d.state ? (u16)others : 0;
		m->limit = (u64)(all - used + held);	/* sample() takes off what it holds */
		feed(m, t, (u64)held, true);
		if (seep_alert_is(m->v.state))
			return;
	}
	fail_msg("no alert in %.0f s", seconds);
}

/*
 * One of six workers, each of which grows by 600 KB an hour while @left bytes are left to all: the
 * rise that it is accused for, granules. The gate RISING asks for @asked bytes.
 */
static u32 accused_rise(u64 left, u64 asked)
{
	const struct seep_gate *g;
	struct sim m;

	sim_init(&m, 0);
	for (double t = 0; t <= 48 * HOUR && !seep_alert_is(m.v.state); t += 10) {
		double held = 20.0 * MB + 0.6 * MB / HOUR * t;

		m.s.others = m.d.state ? 5 : 0;
		m.s.others_rate = m.s.others * 6 * SEEP_MIB / 10;
		m.limit = left + (u64)held;
		feed(&m, t, (u64)held, true);
	}
	assert_true(seep_alert_is(m.v.state));
	g = gate(&m.v, SEEPAGE_GATE_RISING);
	assert_non_null(g);
	assert_int_equal(g->limit, asked);
	return m.v.floor - m.v.v0;
}

/*
 * Nobody is accused for less than a tenth of what is left, shared with the others, or 12 MiB: of
 * 8 GB 12 MiB, of 660 MiB 11 MiB, of 120 MiB what each rise needs, 4 MiB.
 */
static void test_a_little_growth_is_no_alert(void **state)
{
	(void)state;
	assert_in_range(accused_rise(8 * GB, 12 * MB), 12 * SEEP_MIB, 13 * SEEP_MIB);
	assert_in_range(accused_rise(660 * MB, 11 * MB), 11 * SEEP_MIB, 12 * SEEP_MIB);
	assert_in_range(accused_rise(120 * MB, 4 * MB), 4 * SEEP_MIB, 9 * SEEP_MIB);
}

/* 1400 MB at 360 MB an hour: 14000 s. */
static void test_a_worker_is_told_when_all_of_them_are_counted(void **state)
{
	struct sim m;
	double at, real;

	(void)state;
	worker(&m, 5, 14000);
	at = (double)(m.s.time_ns - START_NS) / 1e9;
	real = 14000 - at;
	assert_true(at < 0.2 * 14000);
	assert_true(fabs((double)m.v.tte_s - real) < 0.05 * real);
	assert_in_range(m.v.rate, 59 * SEEP_MIB, 61 * SEEP_MIB);
	worker(&m, 0, 14000);		/* as if it were alone: late, and wrong */
	at = (double)(m.s.time_ns - START_NS) / 1e9;
	assert_true(at > 0.4 * 14000);
	assert_true((double)m.v.tte_s > 3 * (14000 - at));
}

static double leak_60mb_hour(double t)
{
	return 60.0 * MB / HOUR * t;
}

/* A growth that has ended has no rate. */
static void test_rate_ends_with_the_growth(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	for (double t = 0; t < 3600; t += 10)
		feed(&m, t, (u64)leak_60mb_hour(t), true);
	assert_in_range(m.v.rate, 58 * SEEP_MIB, 62 * SEEP_MIB);
	for (double t = 3600; t < 2 * 3600; t += 10)
		feed(&m, t, (u64)leak_60mb_hour(3600), true);
	assert_int_equal(m.v.rate, 0);
}

/*
 * 60 MB an hour beside a runaway of 6000 MB an hour, on 4 GB: memory ends in 40 minutes, and
 * that is said. But what grows slowly is not accused in the haste of the fast one.
 */
static void test_a_slow_one_is_not_accused_for_a_fast_one(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	for (double t = 0; t < 1200; t += 10) {
		m.s.others_rate = m.d.state ? 6000 * SEEP_MIB : 0;
		m.s.others = m.d.state ? 1 : 0;
		feed(&m, t, (u64)leak_60mb_hour(t), true);
	}
	assert_int_equal(m.v.state, SEEPAGE_STATE_WATCH);
	assert_in_range(m.v.tte_s, 2000, 2500);
	/* of two that grow: three times its own pace at most beside it, 240 MB an hour in all */
	assert_true(m.v.patience > 3 * SEEP_HOUR_DS);
}

/* 4 GB of which the machine loses 100 MB an hour, after six hours without a change. */
static void test_machine_falls(void **state)
{
	struct seep_machine m = { .most = 0 };
	struct seep_conf c;
	u32 rate = 0;

	(void)state;
	defaults(&c);
	for (u64 t = 0; t < 6 * 3600; t += 10)
		assert_int_equal(seep_machine_feed(&m, START_NS + t * S_NS,
						   4 * GB - (t % 100) * (MB / 32), &c), 0);
	for (u64 t = 0; t < 6 * 3600; t += 10) {
		rate = seep_machine_feed(&m, START_NS + (t + 6 * 3600) * S_NS,
					 4 * GB - 100 * MB * t / 3600, &c);
		if (t < 4.5 * 3600)	/* 455 MB are an eighth of the rest, after 4 h 33 min */
			assert_int_equal(rate, 0);
	}
	assert_in_range(rate, 80 * SEEP_MIB, 110 * SEEP_MIB);
	/* more than ever before is left: nothing grows, whatever was before */
	assert_int_equal(seep_machine_feed(&m, START_NS + 12 * 3600 * S_NS, 5 * GB, &c), 0);
	assert_int_equal(m.most, 5 * GB);
}

/*
 * A process takes 20 MB a minute, and programs that start take 24 MB once, in its first four
 * minutes: the machine does not fall by 30 MB a minute, which ends memory a third too soon.
 */
static void test_what_is_taken_once_is_no_rate(void **state)
{
	struct seep_machine m = { .most = 0 };
	struct seep_conf c;
	u32 rate = 0;

	(void)state;
	defaults(&c);
	for (u64 t = 0; t < 3000; t += 40) {
		u64 since = t > 240 ? t - 240 : 0, once = since < 240 ? since : 240;
		u64 left = 1330 * MB - 20 * MB * since / 60 - 24 * MB * once / 240;

		rate = seep_machine_feed(&m, START_NS + t * S_NS, left, &c);
		assert_true(rate <= 1200 * SEEP_MIB * 115ULL / 100);
	}
	assert_in_range(rate, 1140 * SEEP_MIB, 1260 * SEEP_MIB);
}

/*
 * 8 GB: five are used at 600 MB an hour, six hours of rest, then the last three go at 300. The
 * second fall counts when it took an eighth of what is still left, not of what there was once.
 */
static void test_a_fall_counts_by_what_is_left(void **state)
{
	const u64 rest = 5 * GB / (600 * MB / 3600), again = rest + 6 * 3600;
	struct seep_machine m = { .most = 0 };
	struct seep_conf c;
	u32 rate = 0, found = 0;

	(void)state;
	defaults(&c);
	for (u64 t = 0; t < again + 2 * 3600; t += 10) {
		u64 left = t < rest  ? 8 * GB - 600 * MB * t / 3600 :
			   t < again ? 3 * GB :
				       3 * GB - 300 * MB * (t - again) / 3600;

		rate = seep_machine_feed(&m, START_NS + t * S_NS, left, &c);
		if (t > again && !found && rate)
			found = (u32)(t - again);
		if (t > rest + 5 * 3600 && t < again)
			assert_int_equal(rate, 0);
	}
	assert_in_range(found, 3600, 5400);	/* 341 MB are an eighth of the rest: 68 minutes */
	assert_in_range(rate, 240 * SEEP_MIB, 330 * SEEP_MIB);
}

/* 4 TB of which 100 GB an hour go: 455 GB are an eighth of the rest, after 4 h 33 min. */
static void test_a_fall_of_a_big_machine(void **state)
{
	struct seep_machine m = { .most = 0 };
	struct seep_conf c;

	(void)state;
	defaults(&c);
	for (u64 t = 0; t < 6 * 3600; t += 10) {
		u32 rate = seep_machine_feed(&m, START_NS + t * S_NS,
					     4096 * GB - 100 * GB * t / 3600, &c);

		if (t < 4.5 * 3600)
			assert_int_equal(rate, 0);
		if (t > 5 * 3600 + 1800)
			assert_in_range(rate, (80 * GB) >> SEEP_GRANULE_SHIFT,
					(110 * GB) >> SEEP_GRANULE_SHIFT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tally_has_the_sums_of_the_last_full_pass),
		cmocka_unit_test(test_sums_saturate),
		cmocka_unit_test(test_the_limit_that_is_met_first_counts),
		cmocka_unit_test(test_of_two_shared_limits_the_sooner_one_counts),
		cmocka_unit_test(test_no_product_overflows),
		cmocka_unit_test(test_a_little_growth_is_no_alert),
		cmocka_unit_test(test_a_worker_is_told_when_all_of_them_are_counted),
		cmocka_unit_test(test_rate_ends_with_the_growth),
		cmocka_unit_test(test_a_slow_one_is_not_accused_for_a_fast_one),
		cmocka_unit_test(test_machine_falls),
		cmocka_unit_test(test_what_is_taken_once_is_no_rate),
		cmocka_unit_test(test_a_fall_counts_by_what_is_left),
		cmocka_unit_test(test_a_fall_of_a_big_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
