// SPDX-License-Identifier: GPL-2.0
/* What a verdict says beside the state: growth, time left, severity; and any input is survived. */
#include "sim.h"

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
		double early, late;	/* MB/min */
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
			mb += (t < 1200 ? row[i].early : row[i].late) / 6;
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
			seep_verdict_init(&v);
			seep_ladder_verdict(&m.d, &m.s, &m.c, &v, false);
			assert_int_equal(v.state, m.v.state);
			assert_int_equal(v.confidence, m.v.confidence);
			assert_int_equal(v.t1, m.v.t1);
			assert_int_equal(v.floor, m.v.floor);
			assert_int_equal(m.d.state, SEEPAGE_STATE_OK);
		}
	}
	assert_true(rests > 2000);
}

static double leaks(double t)
{
	return 20.0 * MB + MB * t / 10;
}

/*
 * A brief verdict is the whole one without gates after the first closed one. A sample that
 * changes the state has all of them.
 */
static void test_brief_verdict_is_the_whole_one(void **state)
{
	static const shape shapes[] = { leaks, step_then_flat, given_back, sawtooth };
	int shorter = 0, changes = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct sim m;

		sim_init(&m, 1800 * MB);
		m.s.brief = true;
		for (double t = 0; t < 3 * 3600; t += 10) {
			u8 before = m.d.state;
			struct seep_verdict v;

			feed(&m, t, (u64)shapes[i](t), true);
			if (!m.v.ngates)
				continue;
			seep_verdict_init(&v);
			seep_ladder_verdict(&m.d, &m.s, &m.c, &v, true);
			assert_in_range(v.ngates, 1, SEEP_MAX_GATES);
			if (m.d.state == before) {
				struct seep_verdict whole;

				seep_verdict_init(&whole);
				seep_ladder_verdict(&m.d, &m.s, &m.c, &whole, false);
				assert_int_equal(v.state, whole.state);
				assert_int_equal(v.confidence, whole.confidence);
				assert_int_equal(v.rate, whole.rate);
				assert_int_equal(v.nfactors, whole.nfactors);
				assert_memory_equal(v.gate, whole.gate,
						    v.ngates * sizeof(v.gate[0]));
				assert_true(v.ngates == whole.ngates ||
					    !v.gate[v.ngates - 1].passed ||
					    v.ngates == 2);
				assert_int_equal(m.v.ngates, v.ngates);
				shorter += v.ngates < whole.ngates;
			} else if (m.d.state == SEEPAGE_STATE_SUSPECTED) {
				assert_true(m.v.ngates > 5);
				changes++;
			}
		}
	}
	assert_true(shorter > 50);
	assert_true(changes > 0);
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
			assert_int_equal(seep_severity(&v, rss[k], false), row[i].unknown);
			v.tte_s = 3600;
			assert_int_equal(seep_severity(&v, rss[k], false), row[i].hour);
			v.tte_s = 3599;
			assert_int_equal(seep_severity(&v, rss[k], false), row[i].soon);
		}
}

/* A small process is no more urgent for a limit that it set itself. */
static void test_severity_of_an_own_limit(void **state)
{
	static const u8 limits[] = { SEEPAGE_LIMIT_AS, SEEPAGE_LIMIT_DATA };
	static const u8 others[] = { SEEPAGE_LIMIT_RAM, SEEPAGE_LIMIT_CGROUP };
	struct seep_sample s = { .anon = 8 * MB, .swap = 2 * MB, .headroom = 6 * MB };
	struct seep_verdict v = { .policy = SEEPAGE_POLICY_LADDER,
				  .state = SEEPAGE_STATE_RUNAWAY, .tte_s = 10 };

	(void)state;
	for (size_t i = 0; i < sizeof(limits); i++) {
		s.limit = limits[i];
		/* 16 MB at most: an eighth of 128 MB */
		assert_true(seep_own_limit(&s, 129 * MB));
		assert_true(seep_own_limit(&s, ~0ULL));
		assert_false(seep_own_limit(&s, 128 * MB));
		assert_false(seep_own_limit(&s, 0));
		s.headroom = 0;		/* known, and used up */
		assert_true(seep_own_limit(&s, 81 * MB));
		assert_false(seep_own_limit(&s, 80 * MB));
		s.headroom = 6 * MB;
	}
	for (size_t i = 0; i < sizeof(others); i++) {
		s.limit = others[i];
		assert_false(seep_own_limit(&s, ~0ULL));
	}
	assert_int_equal(seep_severity(&v, 8 * MB, true), 6);
	v.state = SEEPAGE_STATE_CONFIRMED;
	assert_int_equal(seep_severity(&v, 8 * MB, true), 6);
	v.state = SEEPAGE_STATE_SUSPECTED;
	assert_int_equal(seep_severity(&v, 8 * MB, true), 6);
	v.state = SEEPAGE_STATE_WATCH;
	assert_int_equal(seep_severity(&v, 8 * MB, true), 2);
	v.state = SEEPAGE_STATE_RECOVERED;
	assert_int_equal(seep_severity(&v, 8 * MB, true), 1);
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
		cmocka_unit_test(test_small_processes_raise_nothing),
		cmocka_unit_test(test_confidence_threshold_holds_back),
		cmocka_unit_test(test_unknown_is_said),
		cmocka_unit_test(test_growth_is_what_it_is),
		cmocka_unit_test(test_growth_ends_with_the_growth),
		cmocka_unit_test(test_growth_is_what_both_windows_say),
		cmocka_unit_test(test_explain_is_pure),
		cmocka_unit_test(test_rest_is_what_the_full_verdict_says),
		cmocka_unit_test(test_brief_verdict_is_the_whole_one),
		cmocka_unit_test(test_severity_follows_the_state),
		cmocka_unit_test(test_severity_of_an_own_limit),
		cmocka_unit_test(test_fault_rate_window),
		cmocka_unit_test(test_classify),
		cmocka_unit_test(test_any_input_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
