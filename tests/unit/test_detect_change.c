// SPDX-License-Identifier: GPL-2.0
/* What ends an alert, and what must not: memory given back, a new interval, another policy. */
#include "sim.h"

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

/*
 * An alert that classic does not raise ends when classic is set. Set back to ladder, it is
 * raised again within two samples, because the floors were kept.
 */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
