// SPDX-License-Identifier: GPL-2.0
/* What may hold an alert back: what was released before, facts from user space, misses. */
#include "sim.h"

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

/*
 * Others released 1600 MB, of which a quarter of headroom counts. An own climb that is lower, but
 * higher than that, takes its place.
 */
static void test_own_climb_below_inherited(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 2 * GB);
	seep_det_inherit(&m.d, 1600 << 6, 3600);
	run(&m, two_climbs, 7 * 3600 - 60);
	assert_false(m.d.inherited);
	assert_in_range(m.d.known_rise, 850 << 6, 950 << 6);
	assert_false(gate(&m.v, SEEPAGE_GATE_NOVELTY)->passed);
}

/* One that counts for less than that does not. */
static void test_small_own_climb(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 8 * GB);
	seep_det_inherit(&m.d, 1600 << 6, 3600);
	run(&m, two_climbs, 7 * 3600 - 60);
	assert_true(m.d.inherited);
	assert_int_equal(m.d.known_rise, 1600 << 6);
}

/* Caches that are folded into a counter while it is added up count once. */
static void test_exact_counts_once(void **state)
{
	(void)state;
	assert_int_equal(seep_exact(1000, 1000, 1300), 1300);	/* 300 are cached */
	assert_int_equal(seep_exact(1300, 1000, 1300), 1300);	/* all of it was folded */
	assert_int_equal(seep_exact(1200, 1000, 1300), 1300);	/* a part of it was */
	assert_int_equal(seep_exact(1500, 1000, 1300), 1500);	/* and it has grown since */
	assert_int_equal(seep_exact(1000, 1000, 900), 900);	/* what was freed is cached */
	assert_int_equal(seep_exact(900, 1000, 900), 900);
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

/*
 * Hours until the first alert of a process of @permille unused growth, whose rate rises from
 * @begin to @end MB an hour within 16 hours. 0: there is none.
 */
static double told_after(int permille, u64 shmem, double begin, double end)
{
	struct sim m;

	sim_init(&m, 64 * GB);
	for (double t = 0; t < 16 * 3600; t += 60) {
		double h = t / 3600, grown = begin * h + (end - begin) * h * h / 32;

		if (permille >= 0) {
			m.s.cold_ns = m.t0 + (u64)(t * 1e9);
			m.s.cold = (u16)permille;
		}
		m.s.shmem = shmem;
		feed(&m, t, 20 * MB + (u64)(grown * MB), true);
	}
	return first_alert(&m) / 3600.0;
}

/* Memory lasts for weeks. A daily load that swells is given the whole time, and shared memory. */
static void test_even_growth_out_of_use_is_told_after_7_hours(void **state)
{
	double plain = told_after(-1, 0, 20, 20);

	(void)state;
	assert_true(plain >= 14 && plain < 15);
	assert_true(told_after(900, 0, 20, 20) >= 7 && told_after(900, 0, 20, 20) < 8);
	assert_true(told_after(1000, 0, 22, 18) >= 7 && told_after(1000, 0, 22, 18) < 8);
	assert_true(told_after(899, 0, 20, 20) == plain);
	assert_true(told_after(1000, GB, 20, 20) >= 14);
	assert_true(told_after(1000, 0, 4, 60) >= 14);
}

/* 40 hours are left: a third of that is not waited for */
static void test_slow_growth_in_use_is_told_after_12_hours(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	for (double t = 0; t < 16 * 3600; t += 60) {
		m.s.cold_ns = m.t0 + (u64)(t * 1e9);
		m.s.cold = 0;
		feed(&m, t, 20 * MB + (u64)(100.0 * MB * t / 3600), true);
	}
	assert_in_range(first_alert(&m), 12 * 3600, 13 * 3600);
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
static void test_facts_hold_as_long_as_it_took(void **state)
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

static void test_old_facts_count_no_more(void **state)
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
static void test_facts_count_at_once(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_even_growth_out_of_use_is_told_after_7_hours),
		cmocka_unit_test(test_slow_growth_in_use_is_told_after_12_hours),
		cmocka_unit_test(test_others_climbs_are_no_news),
		cmocka_unit_test(test_ten_minutes_left_are_told_of_in_one_sixteenth),
		cmocka_unit_test(test_own_climbs_count_in_full),
		cmocka_unit_test(test_own_climb_below_inherited),
		cmocka_unit_test(test_small_own_climb),
		cmocka_unit_test(test_exact_counts_once),
		cmocka_unit_test(test_what_was_released_before_is_no_news),
		cmocka_unit_test(test_more_than_was_released_before_is),
		cmocka_unit_test(test_rest_is_no_climb),
		cmocka_unit_test(test_growth_in_use_is_no_alert),
		cmocka_unit_test(test_facts_hold_as_long_as_it_took),
		cmocka_unit_test(test_misses_are_worth_a_few_points),
		cmocka_unit_test(test_old_facts_count_no_more),
		cmocka_unit_test(test_facts_count_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
