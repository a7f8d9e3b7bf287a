// SPDX-License-Identifier: GPL-2.0
/* Policy classic. */
#include "sim.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic_points),
		cmocka_unit_test(test_classic_needs_more_than_70),
		cmocka_unit_test(test_classic_accuses_at_first_sight),
		cmocka_unit_test(test_classic_small_or_young_is_silent),
		cmocka_unit_test(test_classic_confirmed_rule),
		cmocka_unit_test(test_classic_suspected_rule),
		cmocka_unit_test(test_classic_flat_process_does_not_grow),
		cmocka_unit_test(test_classic_two_sigma_is_of_growth),
		cmocka_unit_test(test_classic_severity_is_of_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
