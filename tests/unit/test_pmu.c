// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: figures by hand, signals on made-up processes, and what
 * holds for any input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "detect/pmu.h"

#define SECOND	1000000000ULL
#define ALL	((1U << __SEEPAGE_PMC_SIGNAL_MAX) - 1)
#define HAS(mask, signal)	((mask) >> SEEPAGE_PMC_SIGNAL_##signal & 1)

static struct seepage_pmc_value counted[__SEEP_PMU_MAX];
static struct seep_pmu_figures f;

static void nothing(void)
{
	memset(counted, 0, sizeof(counted));
}

/* @n of an event, all of the time */
static void count(enum seep_pmu_event event, u64 n)
{
	counted[event] = (struct seepage_pmc_value){ n, SECOND, SECOND };
}

static u64 scale(u64 n, u64 enabled, u64 running)
{
	struct seepage_pmc_value c = { n, enabled, running };

	return seep_pmu_scale(&c);
}

/* A generator of its own: the same everywhere, and with values of any size. */
static u64 any(void)
{
	static u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> (x & 63);
}

static void scaling(void **state)
{
	(void)state;
	assert_int_equal(scale(1000, 10, 10), 1000);
	assert_int_equal(scale(1000, 100, 25), 4000);
	assert_int_equal(scale(1000, 3, 2), 1500);
	assert_int_equal(scale(7, 5 * SECOND, 2 * SECOND), 17);		/* 17.5 */
	assert_int_equal(scale(123456789, 3000 * SECOND, 1000 * SECOND), 370370367);
	assert_int_equal(scale(1ULL << 40, 50000 * SECOND, 10000 * SECOND), 5ULL << 40);
	assert_int_equal(scale(0, 100, 1), 0);
	/* times are read one after the other: more than all of the time is all of it */
	assert_int_equal(scale(1000, 99, 100), 1000);
	assert_true(scale(1000, 100, 0) == SEEP_UNKNOWN);
	assert_true(scale(0, 0, 0) == SEEP_UNKNOWN);
	assert_true(scale(1ULL << 60, 1000, 1) == SEEP_UNKNOWN - 1);
	assert_true(scale(SEEP_UNKNOWN, 1, 1) == SEEP_UNKNOWN - 1);
	assert_true(scale(SEEP_UNKNOWN, SEEP_UNKNOWN, 1) == SEEP_UNKNOWN - 1);
	/* a half of a long time: 31 bits of it count */
	assert_in_range(scale(1000000000, 1ULL << 63, 1ULL << 62), 1999999999, 2000000001);
}

static void figures(void **state)
{
	(void)state;
	nothing();
	count(SEEP_PMU_CYCLES, 2000000);
	count(SEEP_PMU_INSTRUCTIONS, 3000000);
	count(SEEP_PMU_LLC_REFERENCES, 40000);
	count(SEEP_PMU_LLC_MISSES, 10000);
	count(SEEP_PMU_LOADS, 800000);
	count(SEEP_PMU_DTLB_MISSES, 6000);
	count(SEEP_PMU_PAGE_WALK_CYCLES, 150000);
	count(SEEP_PMU_NODE_LOCAL, 6000);
	count(SEEP_PMU_NODE_REMOTE, 2000);
	seep_pmu_figures(counted, 2 * SECOND, &f);
	assert_int_equal(f.ipc, 1500);			/* 1.5 */
	assert_int_equal(f.llc_miss_share, 250000);	/* 25 % */
	assert_int_equal(f.llc_mpmi, 3333);		/* 3.333 in 1000 */
	assert_int_equal(f.dtlb_mpmi, 2000);		/* 2 in 1000 */
	assert_int_equal(f.tlb_efficiency, 992500);	/* 99.25 % */
	assert_int_equal(f.walk_share, 75000);		/* 7.5 % */
	assert_int_equal(f.remote_share, 250000);	/* 25 % */
	assert_int_equal(f.read_bytes, 640000);
	assert_int_equal(f.read_rate, 320000);
	/* instructions had a counter a quarter of the time */
	counted[SEEP_PMU_INSTRUCTIONS] = (struct seepage_pmc_value){ 750000, SECOND, SECOND / 4 };
	seep_pmu_figures(counted, 2 * SECOND, &f);
	assert_int_equal(f.ipc, 1500);
	assert_int_equal(f.n[SEEP_PMU_INSTRUCTIONS], 3000000);
}

/* What is not counted is not known, and never 0. */
static void unknown(void **state)
{
	u32 i;

	(void)state;
	nothing();
	seep_pmu_figures(counted, SECOND, &f);
	for (i = 0; i < sizeof(f) / sizeof(u64); i++)
		assert_true(((u64 *)&f)[i] == SEEP_UNKNOWN);
	count(SEEP_PMU_LLC_MISSES, 100);
	count(SEEP_PMU_NODE_REMOTE, 100);
	count(SEEP_PMU_INSTRUCTIONS, 0);
	seep_pmu_figures(counted, SECOND, &f);
	assert_true(f.llc_miss_share == SEEP_UNKNOWN);	/* of how many? */
	assert_true(f.remote_share == SEEP_UNKNOWN);
	assert_true(f.llc_mpmi == SEEP_UNKNOWN);	/* of no instructions */
	assert_int_equal(f.read_rate, 6400);
	seep_pmu_figures(counted, 0, &f);
	assert_true(f.read_rate == SEEP_UNKNOWN);
	/* none is known to be none */
	count(SEEP_PMU_LLC_MISSES, 0);
	count(SEEP_PMU_INSTRUCTIONS, 1000);
	seep_pmu_figures(counted, SECOND, &f);
	assert_int_equal(f.llc_mpmi, 0);
}

/* ---- a process: misses of 10^6 references, 10^7 instructions and loads a sample ---- */

static u8 feed(struct seep_pmu_model *b, u64 llc, u64 dtlb, bool growing)
{
	nothing();
	count(SEEP_PMU_INSTRUCTIONS, 10000000);
	count(SEEP_PMU_LOADS, 10000000);
	count(SEEP_PMU_LLC_REFERENCES, 1000000);
	count(SEEP_PMU_LLC_MISSES, llc);
	count(SEEP_PMU_DTLB_MISSES, dtlb);
	seep_pmu_figures(counted, 10 * SECOND, &f);
	return seep_pmu_model_feed(b, &f, growing);
}

static u8 feed_n(struct seep_pmu_model *b, u64 llc, u64 dtlb, bool growing, int n)
{
	u8 all = 0;

	while (n--)
		all |= feed(b, llc, dtlb, growing);
	return all;
}

static void steady(void **state)
{
	struct seep_pmu_model b = { 0 };
	int i;

	(void)state;
	assert_int_equal(sizeof(b), 48);
	assert_int_equal(seep_pmu_model_rise(&b), 0);
	for (i = 0; i < 1000; i++)	/* 20 % give or take 1 % */
		assert_int_equal(feed(&b, 190000 + any() % 20001, 9500 + any() % 1001, false), 0);
	assert_in_range(b.llc_mean >> 8, 196000, 204000);
	assert_int_equal(seep_pmu_model_rise(&b), 0);		/* it did not grow yet */
	for (i = 0; i < 20; i++)
		feed(&b, 190000 + any() % 20001, 9500 + any() % 1001, true);
	assert_in_range(seep_pmu_model_rise(&b), 950, 1050);
}

/* The mean and variance of 1..10, in ten thousands: 5.5 and 8.25 */
static void welford(void **state)
{
	struct seep_pmu_model b = { 0 };
	u64 i;

	(void)state;
	for (i = 1; i <= 10; i++)
		feed(&b, i * 10000, 0, false);
	assert_in_range(b.llc_mean >> 8, 54999, 55000);
	assert_in_range(b.llc_var, 824000000, 826000000);
}

static void llc_signals(void **state)
{
	struct seep_pmu_model b = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 32; i++)
		feed(&b, i & 1 ? 201000 : 199000, 0, false);
	/* deviation 0.1 %: at three of them not yet, at four it is */
	assert_int_equal(feed(&b, 202900, 0, false), 0);
	assert_true(HAS(feed(&b, 210000, 0, false), LLC_Z_SCORE));
	memset(&b, 0, sizeof(b));
	feed_n(&b, 100000, 0, false, 16);
	assert_false(HAS(feed_n(&b, 130000, 0, true, 8), LLC_DIVERGENCE));	/* 1.3 */
	assert_true(HAS(feed_n(&b, 170000, 0, true, 8), LLC_DIVERGENCE));
	assert_true(HAS(b.signals, LLC_DIVERGENCE));	/* until the next half is full */
	assert_true(HAS(feed_n(&b, 170000, 0, true, 7), LLC_DIVERGENCE));
	assert_false(HAS(feed(&b, 170000, 0, true), LLC_DIVERGENCE));
	/* what is hardly a miss at all is none ten times over */
	memset(&b, 0, sizeof(b));
	feed_n(&b, 50, 0, false, 16);
	assert_int_equal(feed_n(&b, 500, 0, false, 16), 0);
}

static void tlb_signals(void **state)
{
	struct seep_pmu_model b = { 0 };

	(void)state;
	assert_int_equal(feed_n(&b, 0, 10000, false, 16), 0);
	assert_int_equal(feed(&b, 0, 20000, true), 0);
	assert_int_equal(feed(&b, 0, 20100, true), 1U << SEEPAGE_PMC_SIGNAL_TLB_PRESSURE);
	/* one load in twenty walks; fewer than a tenth of it is usual */
	assert_false(HAS(feed(&b, 0, 500000, true), TLB_EFFICIENCY));
	assert_true(HAS(feed(&b, 0, 500020, true), TLB_EFFICIENCY));
	/* nothing is known before it is learned */
	memset(&b, 0, sizeof(b));
	feed_n(&b, 0, 10000, false, 15);
	assert_int_equal(feed(&b, 0, 40000, false), 0);
}

static void other_signals(void **state)
{
	struct seep_pmu_model b = { 0 };

	(void)state;
	nothing();
	count(SEEP_PMU_LLC_MISSES, 10000000);		/* 640 MB in 10 s */
	seep_pmu_figures(counted, 10 * SECOND, &f);
	assert_int_equal(seep_pmu_model_feed(&b, &f, false), 0);
	assert_int_equal(b.read_mean >> 4, 62500);
	count(SEEP_PMU_LLC_MISSES, 20000000);
	seep_pmu_figures(counted, 10 * SECOND, &f);
	assert_int_equal(seep_pmu_model_feed(&b, &f, false), 0);
	assert_int_equal(b.read_mean >> 4, 68750);	/* a tenth of the way */
	count(SEEP_PMU_LLC_MISSES, 22100000);
	seep_pmu_figures(counted, 10 * SECOND, &f);
	assert_int_equal(seep_pmu_model_feed(&b, &f, false), 1U << SEEPAGE_PMC_SIGNAL_BANDWIDTH);
	nothing();
	count(SEEP_PMU_NODE_LOCAL, 5000);
	count(SEEP_PMU_NODE_REMOTE, 5000);
	seep_pmu_figures(counted, 10 * SECOND, &f);
	assert_int_equal(seep_pmu_model_feed(&b, &f, false), 0);
	count(SEEP_PMU_NODE_REMOTE, 5001);
	seep_pmu_figures(counted, 10 * SECOND, &f);
	assert_int_equal(seep_pmu_model_feed(&b, &f, false),
			 1U << SEEPAGE_PMC_SIGNAL_NODE_IMBALANCE);
	count(SEEP_PMU_NODE_LOCAL, 1);			/* of a handful */
	count(SEEP_PMU_NODE_REMOTE, 900);
	seep_pmu_figures(counted, 10 * SECOND, &f);
	assert_int_equal(seep_pmu_model_feed(&b, &f, false), 0);
}

/* Growth that is not used, growth that is, and one since birth. */
static void rise(void **state)
{
	struct seep_pmu_model b = { 0 };

	(void)state;
	feed_n(&b, 100000, 10000, false, 15);
	assert_int_equal(seep_pmu_model_rise(&b), 0);		/* not learned yet */
	feed_n(&b, 100000, 10000, false, 25);
	feed_n(&b, 100000, 10000, true, 7);
	/* some of the last samples are older */
	assert_int_equal(seep_pmu_model_rise(&b), 0);
	feed(&b, 100000, 10000, true);
	assert_int_equal(seep_pmu_model_rise(&b), 1000);
	feed_n(&b, 100000, 10000, true, 92);
	assert_int_equal(seep_pmu_model_rise(&b), 1000);
	assert_int_equal(seep_pmu_points(1000), SEEP_PMU_POINTS);
	feed_n(&b, 200000, 10000, true, 16);		/* (20 + 0.1) / (10 + 0.1) */
	assert_int_equal(seep_pmu_model_rise(&b), 1990);
	feed_n(&b, 100000, 40000, true, 100);		/* of the TLB: 41 / 11 */
	assert_in_range(seep_pmu_model_rise(&b), 3700, 3728);
	assert_int_equal(seep_pmu_points(3700), -SEEP_PMU_POINTS);
	feed_n(&b, 100000, 10000, true, 100);		/* the baseline is still that */
	assert_in_range(seep_pmu_model_rise(&b), 1000, 1010);
	feed_n(&b, 300000, 10000, false, 400);		/* and learns again */
	assert_int_equal(seep_pmu_model_rise(&b), 0);
	feed_n(&b, 300000, 10000, true, 16);
	assert_in_range(seep_pmu_model_rise(&b), 1000, 1010);
	memset(&b, 0, sizeof(b));
	feed_n(&b, 100000, 10000, true, 16);
	feed_n(&b, 200000, 10000, true, 100);
	assert_int_equal(seep_pmu_model_rise(&b), 1990);
	/* fewer misses than ever are known, and flat */
	feed_n(&b, 0, 0, true, 1000);
	assert_in_range(seep_pmu_model_rise(&b), 1, 100);
}

/* A process that hardly runs teaches nothing and raises nothing. */
/* What is known of it, in whole units; what is not is not 0. */
static void shown(void **state)
{
	struct seep_pmu_model b = { 0 };
	struct seepage_pmc_baseline s;

	(void)state;
	memset(&s, 0x5a, sizeof(s));
	seep_pmu_model_show(&b, &s);
	assert_int_equal(s.signals, 0);
	assert_int_equal(s.llc_samples, 0);
	assert_int_equal(s.dtlb_samples, 0);
	assert_int_equal(s.llc_mean, SEEPAGE_PMC_UNKNOWN);
	assert_int_equal(s.llc_older, SEEPAGE_PMC_UNKNOWN);
	assert_int_equal(s.llc_newer, SEEPAGE_PMC_UNKNOWN);
	assert_int_equal(s.dtlb_mean, SEEPAGE_PMC_UNKNOWN);
	assert_int_equal(s.dtlb_now, SEEPAGE_PMC_UNKNOWN);
	assert_int_equal(s.read_mean, SEEPAGE_PMC_UNKNOWN);
	feed_n(&b, 100000, 10000, false, 8);
	seep_pmu_model_show(&b, &s);
	assert_int_equal(s.llc_samples, 8);
	assert_int_equal(s.dtlb_samples, 8);
	assert_int_equal(s.llc_mean, 100000);
	assert_int_equal(s.llc_older, SEEPAGE_PMC_UNKNOWN);
	assert_int_equal(s.llc_newer, 100000);
	assert_int_equal(s.dtlb_mean, 1000);
	assert_int_equal(s.dtlb_now, 1000);
	feed_n(&b, 200000, 20000, false, 8);
	seep_pmu_model_show(&b, &s);
	assert_int_equal(s.llc_older, 100000);
	assert_int_equal(s.llc_newer, 200000);
	assert_in_range(s.llc_mean, 149999, 150000);	/* it is rounded down */
	assert_in_range(s.dtlb_now, 1500, 2000);
	assert_true(HAS(s.signals, LLC_DIVERGENCE));
	/* none of no misses is known, and 0 */
	memset(&b, 0, sizeof(b));
	feed_n(&b, 0, 0, false, 8);
	seep_pmu_model_show(&b, &s);
	assert_int_equal(s.llc_mean, 0);
	assert_int_equal(s.llc_newer, 0);
	assert_int_equal(s.dtlb_mean, 0);
}

static void idle(void **state)
{
	struct seep_pmu_model b = { 0 }, before;

	(void)state;
	feed_n(&b, 100000, 10000, false, 40);
	before = b;
	nothing();
	count(SEEP_PMU_INSTRUCTIONS, 90000);
	count(SEEP_PMU_LOADS, 9000);
	count(SEEP_PMU_DTLB_MISSES, 9000);
	count(SEEP_PMU_LLC_REFERENCES, 900);
	seep_pmu_figures(counted, 10 * SECOND, &f);
	assert_int_equal(seep_pmu_model_feed(&b, &f, false), 0);
	assert_memory_equal(&b, &before, sizeof(b));
}

static void points(void **state)
{
	int last = SEEP_PMU_POINTS, v;

	(void)state;
	assert_int_equal(seep_pmu_points(1), 6);
	assert_int_equal(seep_pmu_points(1100), 6);
	assert_int_equal(seep_pmu_points(1150), 3);
	assert_int_equal(seep_pmu_points(1200), 0);
	assert_int_equal(seep_pmu_points(1250), -3);
	assert_int_equal(seep_pmu_points(1300), -6);
	for (v = 1; v <= 0xffff; v++) {
		assert_true(seep_pmu_points((u16)v) <= last);
		last = seep_pmu_points((u16)v);
		assert_in_range(last + SEEP_PMU_POINTS, 0, 2 * SEEP_PMU_POINTS);
	}
}

/* ---- what holds for any input ---- */

/* Against 128 bits: exact while times fit 32 bits, else to one part in 2^30. */
static void exact(void **state)
{
	unsigned __int128 wanted;
	u64 a, b, unit, got, off;
	int i;

	(void)state;
	for (i = 0; i < 300000; i++) {
		a = any();
		b = any() + 1;
		unit = i & 1 ? 1000000 : any();
		if (!b || a == SEEP_UNKNOWN)
			continue;
		got = seep_pmu_ratio(a, b, unit);
		wanted = (unsigned __int128)a * unit / b;
		if (wanted > SEEP_UNKNOWN - 1)
			wanted = SEEP_UNKNOWN - 1;
		off = (u64)(wanted > got ? wanted - got : got - wanted);
		if (b >> 32)
			assert_true(off <= (u64)(wanted >> 30) + (unit >> 30) + 1);
		else
			assert_true(off == 0);
	}
}

static void scale_invariant(void **state)
{
	u64 a, b, k;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		a = any() >> 40;
		b = (any() >> 40) + 1;
		k = (any() >> 56) + 1;
		assert_int_equal(seep_pmu_ratio(a, b, 1000000),
				 seep_pmu_ratio(k * a, k * b, 1000000));
		/* counted in a part of the time, or all of it */
		assert_int_equal(scale(a, k * b, b), k * a);
	}
}

static void monotone(void **state)
{
	u64 a, b, n, running;
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		a = any() >> 1;
		b = any() | 1;
		n = any();
		assert_true(seep_pmu_ratio(a, b, 1000000) <= seep_pmu_ratio(a + 1, b, 1000000));
		assert_true(scale(n, a, b) <= scale(n, a + 1, b));
		running = (b >> 32) + 1;
		assert_true(scale(n, a, running) >= scale(n, a, running + 1));
	}
}

/* More misses in the last samples never make the rise smaller. */
static void rise_monotone(void **state)
{
	struct seep_pmu_model b = { 0 }, c;
	u16 last = 0;
	u64 misses;

	(void)state;
	feed_n(&b, 100000, 10000, false, 40);
	for (misses = 0; misses <= 1000000; misses += 1000) {
		c = b;
		feed_n(&c, misses, 10000, true, 16);
		assert_true(seep_pmu_model_rise(&c) >= last);
		last = seep_pmu_model_rise(&c);
	}
	assert_int_equal(last, 9910);			/* 100.1 / 10.1 */
}

/* The sanitizers watch; what is known stays in its bounds. */
static void any_input(void **state)
{
	struct seep_pmu_model b;
	int i, j;

	(void)state;
	memset(&b, 0, sizeof(b));
	for (i = 0; i < 100000; i++) {
		for (j = 0; j < __SEEP_PMU_MAX; j++)
			counted[j] = (struct seepage_pmc_value){ any(), any(), any() };
		seep_pmu_figures(counted, any(), &f);
		assert_true(f.llc_miss_share == SEEP_UNKNOWN || f.llc_miss_share <= 1000000);
		assert_true(f.tlb_efficiency == SEEP_UNKNOWN || f.tlb_efficiency <= 1000000);
		assert_true(f.walk_share == SEEP_UNKNOWN || f.walk_share <= 1000000);
		assert_true(f.remote_share == SEEP_UNKNOWN || f.remote_share <= 1000000);
		assert_true(seep_pmu_model_feed(&b, &f, any() & 1) <= ALL);
		assert_true(b.half_n < 8 && b.newer <= 1000001 && b.older <= 1000001);
		assert_true(b.llc_mean >> 8 <= 1000000);
		seep_pmu_model_rise(&b);
	}
	for (i = 0; i < 100000; i++) {			/* even of what it never is */
		for (j = 0; j < (int)sizeof(b); j++)
			((u8 *)&b)[j] = (u8)any();
		b.llc_mean %= 1000001U << 8;
		seep_pmu_model_rise(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scaling), cmocka_unit_test(figures), cmocka_unit_test(unknown),
		cmocka_unit_test(steady), cmocka_unit_test(welford),
		cmocka_unit_test(llc_signals), cmocka_unit_test(tlb_signals),
		cmocka_unit_test(other_signals), cmocka_unit_test(rise), cmocka_unit_test(shown),
		cmocka_unit_test(idle),
		cmocka_unit_test(points), cmocka_unit_test(exact),
		cmocka_unit_test(scale_invariant), cmocka_unit_test(monotone),
		cmocka_unit_test(rise_monotone), cmocka_unit_test(any_input),
	};

	return cmocka_run_group_tests_name("pmc", tests, NULL, NULL);
}
