// SPDX-License-Identifier: GPL-2.0
/*
 * The subject of a verdict: shared memory, page tables, the memory of a group, address
 * space. Also an alert about one subject when another one begins to grow.
 */
#include <math.h>
#include "sim.h"

/* Shared memory grows: with that of the system, or only in this process. */
static void run_shared(struct sim *m, double pool_mb_min, double seconds)
{
	sim_init(m, 4 * GB);
	m->s.error = 0;
	for (double t = 0; t < seconds; t += 10) {
		m->s.shmem = (u64)(10.0 * MB * t / 60);
		m->s.shmem_total = 600 * MB + (u64)(pool_mb_min * MB * t / 60);
		m->limit = 4 * GB - m->s.shmem;
		feed(m, t, 20 * MB, true);
	}
}

static void test_shared_memory_of_others_is_no_growth(void **state)
{
	struct sim m;

	(void)state;
	run_shared(&m, 10, 2 * 3600);
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
	run_shared(&m, 0, 2 * 3600);
	assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);
	assert_false(gate(&m.v, SEEPAGE_GATE_ORIGIN)->passed);
}

/*
 * What the system gained may be gone again with others who let go of theirs; and
 * both figures step where they will.
 */
static void test_others_who_let_go_hide_no_leak(void **state)
{
	struct sim m;
	u64 pages, others;

	(void)state;
	sim_init(&m, 512 * MB);
	m.s.error = 0;
	for (u32 i = 0; i < 4 * 360; i++) {
		pages = 40ULL * i;
		others = i % 3 ? 0 : (4 * 360 - i) * MB / 2;	/* they come and go */
		m.s.shmem = pages * 4096 + 3 * 4096;
		m.s.shmem_total = 900 * MB + 5 * 4096 + pages * 4096 + others;
		m.limit = 512 * MB - m.s.shmem;
		feed(&m, i * 10, 20 * MB, true);
	}
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
	assert_true(gate(&m.v, SEEPAGE_GATE_ORIGIN)->passed);
	assert_in_range(m.d.shmem_preexisting, 0, 4 << 6);

	/* a page a sample, read before the system's figure or after it */
	for (int late = 0; late < 2; late++) {
		sim_init(&m, 256 * MB);
		m.s.error = 0;
		for (u32 i = 1; i < 20000; i++) {
			m.s.shmem = 4096ULL * (i + 1);
			m.s.shmem_total = 900 * MB + 4096ULL * (i + (late ? 0 : 2));
			m.limit = 256 * MB - m.s.shmem;
			feed(&m, i * 10, 20 * MB, true);
		}
		assert_true(m.worst >= SEEPAGE_STATE_SUSPECTED);
		assert_in_range(m.d.shmem_preexisting, 0, 1 << 6);
	}
}

/* A group: 8 of 10 grow by themselves, or 2. */
static void test_a_group_is_for_what_is_spread(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	m.s.group = true;
	m.s.peers = 10;
	m.s.peers_growing = 8;
	run(&m, leak_20mb_min, 3600);
	assert_int_equal(m.worst, SEEPAGE_STATE_WATCH);
	assert_false(gate(&m.v, SEEPAGE_GATE_SPREAD)->passed);
	sim_init(&m, 4 * GB);
	m.s.group = true;
	m.s.peers = 10;
	m.s.peers_growing = 2;
	run(&m, leak_20mb_min, 3600);
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
}

/* Returns a factor of the verdict that an explain gets, NULL if it has none of that kind. */
static const struct seep_factor *explained(const struct sim *m, u8 id)
{
	static struct seep_verdict v;

	seep_det_explain(&m->d, &m->s, &m->c, &v);
	for (int i = 0; i < v.nfactors; i++)
		if (v.factor[i].id == id)
			return &v.factor[i];
	return NULL;
}

/*
 * 20 MB a minute, a share of which is of each kind, while it works for a second of ten:
 * what it had before it came under watch, 60 MB of each, is none of its growth.
 */
static void run_kinds(struct sim *m, double heap, double shmem, double pgtables)
{
	double mb = MB, rate = 20 * mb / 60, t;

	sim_init(m, 4 * GB);
	m->s.error = 0;
	for (t = 0; t < 900; t++) {
		double grown = rate * t;
		u64 anon = (u64)(60 * mb + grown * (1 - shmem - pgtables));

		m->s.shmem = (u64)(60 * mb + grown * shmem);
		m->s.shmem_total = m->s.shmem;
		m->s.pgtables = (u64)(60 * mb + grown * pgtables);
		m->s.heap = seep_granules((u64)(60 * mb + grown * heap));
		m->s.cpu_ms = m->v.state == SEEPAGE_STATE_OK ? 0 : (u32)(500 + t * 100);
		if (m->v.state != SEEPAGE_STATE_OK || (u32)t % 10 == 0)
			feed(m, t, anon, (u32)t % 10 == 0);
	}
}

static void test_what_grew_is_a_factor(void **state)
{
	static const struct {
		double heap, shmem, pgtables;
		s64 grew, permille;
	} kinds[] = {
		{ 1, 0, 0, SEEPAGE_GREW_HEAP, 1000 },
		{ 5, 0, 0, SEEPAGE_GREW_HEAP, 1000 },	/* not all of it touched */
		{ .2, 0, 0, SEEPAGE_GREW_MAPPED, 800 },
		{ .1, .6, 0, SEEPAGE_GREW_SHMEM, 600 },
		{ 0, .1, .7, SEEPAGE_GREW_PGTABLES, 700 },
	};
	const struct seep_factor *f;
	struct sim m;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		run_kinds(&m, kinds[i].heap, kinds[i].shmem, kinds[i].pgtables);
		assert_true(m.worst >= SEEPAGE_STATE_WATCH);
		f = explained(&m, SEEPAGE_FACTOR_KIND);
		assert_non_null(f);
		assert_int_equal(f->baseline, kinds[i].grew);
		assert_in_range(f->value, kinds[i].permille - 4, kinds[i].permille + 4);
		assert_int_equal(f->points, 0);
		f = explained(&m, SEEPAGE_FACTOR_WORK);
		assert_non_null(f);
		assert_in_range(f->value, 10 * 20 * MB / 60 - MB / 20, 10 * 20 * MB / 60 + MB / 20);
		assert_in_range(f->baseline, 89000, 90000);
	}
	/* so many threads that nobody asked them: what grew is known all the same */
	m.s.cpu_ms = SEEP_CPU_UNKNOWN;
	feed(&m, 900, m.s.anon, false);
	assert_non_null(explained(&m, SEEPAGE_FACTOR_KIND));
	assert_null(explained(&m, SEEPAGE_FACTOR_WORK));
	/* nobody said what it worked: as in recordings from before */
	m.s.cpu_ms = 0;
	feed(&m, 901, m.s.anon, false);
	assert_null(explained(&m, SEEPAGE_FACTOR_KIND));
	assert_null(explained(&m, SEEPAGE_FACTOR_WORK));
	assert_null(explained(&m, SEEPAGE_FACTOR_POP));
}

/* Much that was there before, and little that comes: nothing is rounded. */
static void test_little_of_much_is_a_factor(void **state)
{
	const struct seep_factor *f;
	struct sim m;

	(void)state;
	sim_init(&m, 64 * GB);
	m.s.error = 0;
	m.s.shmem = 8 * GB - (16 << 10);
	m.s.shmem_total = m.s.shmem;
	for (int t = 0; t < 400; t += 10) {
		m.s.cpu_ms = m.v.state == SEEPAGE_STATE_OK ? 0 : (u32)(500 + t);
		m.s.heap = seep_granules(60 * MB + (u64)t * MB);
		feed(&m, t, 60 * MB + (u64)t * MB, true);
		f = explained(&m, SEEPAGE_FACTOR_KIND);
		if (f) {
			assert_int_equal(f->baseline, SEEPAGE_GREW_HEAP);
			assert_int_equal(f->value, 1000);
		}
	}
	assert_non_null(explained(&m, SEEPAGE_FACTOR_KIND));
}

/* CPU time of many cores wraps in a day: what it came to is counted anew then. */
static void test_cpu_time_wraps(void **state)
{
	const struct seep_factor *f;
	struct sim m;
	u32 most = 0;

	(void)state;
	sim_init(&m, 64 * GB);
	m.s.error = 0;
	for (int t = 0; t < 20 * 3600; t += 10) {
		/* 128 cores */
		m.s.cpu_ms = m.v.state == SEEPAGE_STATE_OK ? 0 : (u32)((u64)t * 128000);
		feed(&m, t, (u64)(60 * MB + 10.0 * MB / 60 * t), true);
		f = explained(&m, SEEPAGE_FACTOR_WORK);
		if (!f)
			continue;
		/* 10 MB in 60 * 128 seconds */
		assert_in_range(f->value, 10 * MB / 7680 * 9 / 10, 10 * MB / 7680 * 11 / 10);
		assert_in_range(f->baseline, 1, 1U << 31);
		if (f->baseline > most)
			most = (u32)f->baseline;
	}
	assert_true(most > 1U << 30);
	f = explained(&m, SEEPAGE_FACTOR_WORK);
	assert_non_null(f);
}

/* A second watch counts from its own begin. */
static void test_what_grew_is_of_this_watch(void **state)
{
	const struct seep_factor *f;
	struct sim m;
	double t;

	(void)state;
	run_kinds(&m, 1, 0, 0);
	for (t = 900; m.v.state != SEEPAGE_STATE_OK && t < 9000; t++) {
		m.s.cpu_ms += 100;
		feed(&m, t, 60 * MB, (u32)t % 10 == 0);
	}
	assert_int_equal(m.v.state, SEEPAGE_STATE_OK);
	m.s.heap = seep_granules(60 * MB);
	for (double t0 = t; t < t0 + 900; t++) {
		m.s.cpu_ms = m.v.state == SEEPAGE_STATE_OK ? 0 : (u32)(1000000 + t * 10);
		if (m.v.state != SEEPAGE_STATE_OK || (u32)t % 10 == 0)
			feed(&m, t, (u64)(60 * MB + 20.0 * MB / 60 * (t - t0)), (u32)t % 10 == 0);
	}
	f = explained(&m, SEEPAGE_FACTOR_KIND);
	assert_non_null(f);
	assert_int_equal(f->baseline, SEEPAGE_GREW_MAPPED);
	f = explained(&m, SEEPAGE_FACTOR_WORK);
	assert_non_null(f);
	assert_in_range(f->baseline, 7500, 9000);
}

static void test_peers_of_a_process_veto_nothing(void **state)
{
	const struct seep_factor *f;
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	m.s.peers = 10;
	m.s.peers_growing = 9;
	run(&m, leak_20mb_min, 3600);
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
	f = explained(&m, SEEPAGE_FACTOR_POP);
	assert_non_null(f);
	assert_int_equal(f->value, 9);
	assert_int_equal(f->baseline, 10);
	assert_int_equal(f->max, 0);
}

static void test_page_tables_count(void **state)
{
	struct sim m;

	(void)state;
	sim_init(&m, 4 * GB);
	for (double t = 0; t < 7200; t += 10) {
		m.s.pgtables = (u64)(10.0 * MB * t / 60);
		m.limit = 4 * GB - m.s.pgtables;
		feed(&m, t, 20 * MB, true);
	}
	assert_true(m.worst >= SEEPAGE_STATE_CONFIRMED);
}

/* Address space alone: hours of it, and never what memory gave back. */
static void feed_vsz(struct sim *m, double t, u64 anon, u64 vsz)
{
	m->s.time_ns = m->t0 + (u64)(t * 1e9);
	m->s.age_ns = m->s.time_ns - m->t0;
	m->s.anon = anon;
	m->s.vsz = vsz;
	m->s.headroom = 4 * GB;
	m->s.full = true;
	seep_det_feed(&m->d, &m->s, &m->c, &m->v);
	if (m->v.state <= SEEPAGE_STATE_RUNAWAY && m->v.state > m->worst)
		m->worst = m->v.state;
}

static void test_address_space_leaks_are_named(void **state)
{
	struct sim m;
	double t;

	(void)state;
	sim_init(&m, 0);
	for (t = 0; t < 20 * 3600; t += 10)
		feed_vsz(&m, t, 20 * MB, 100 * MB + (u64)(60.0 * MB * t / 3600));
	assert_true(m.worst >= SEEPAGE_STATE_SUSPECTED);
	assert_int_equal(m.v.subject, SEEPAGE_SUBJECT_VSZ);
	assert_true(m.v.tte_s == SEEP_UNKNOWN);

	sim_init(&m, 0);		/* a heap that breathes keeps its address space */
	for (t = 0; t < 72 * 3600; t += 10)
		feed_vsz(&m, t, (u64)((300 + 200 * sin(t / 13751)) * MB), 600 * MB);
	assert_in_range(m.worst, SEEPAGE_STATE_OK, SEEPAGE_STATE_WATCH);
}

/* ---- an alert about memory while address space grows, and the reverse ---- */

#define HOUR	3600

/* Ten seconds more, in which so many megabytes an hour are added. */
static void step(struct sim *m, double anon, double unheld)
{
	u64 more = (u64)(anon * MB / 360);

	feed_vsz(m, (double)(m->s.time_ns - m->t0) / 1e9 + 10, m->s.anon + more,
		 m->s.vsz + more + (u64)(unheld * MB / 360));
}

/* Seconds until that state, or until so many have gone by */
static u32 steps_until(struct sim *m, u8 state, u32 seconds, double anon, double unheld)
{
	u32 t;

	for (t = 0; t < seconds && m->v.state != state; t += 10)
		step(m, anon, unheld);
	return t;
}

static void begin(struct sim *m)
{
	sim_init(m, 0);
	feed_vsz(m, 0, 20 * MB, 200 * MB);
}

/* A leak of memory takes over the alert of address space, which goes on. */
static void test_memory_takes_an_alert_over(void **state)
{
	struct sim m;
	u32 t;

	(void)state;
	begin(&m);
	steps_until(&m, SEEPAGE_STATE_SUSPECTED, 20 * HOUR, 0, 60);
	assert_int_equal(m.v.state, SEEPAGE_STATE_SUSPECTED);
	assert_int_equal(m.d.accused, SEEPAGE_SUBJECT_VSZ);
	assert_true(m.w.accused_v0 >= 150 << 6);
	for (t = 0; t < HOUR && m.d.accused == SEEPAGE_SUBJECT_VSZ; t += 10) {
		step(&m, 1200, 60);
		assert_in_range(m.v.state, SEEPAGE_STATE_SUSPECTED, SEEPAGE_STATE_RUNAWAY);
	}
	assert_int_equal(m.d.accused, SEEPAGE_SUBJECT_MEMORY);
	assert_int_equal(m.v.subject, SEEPAGE_SUBJECT_MEMORY);
	assert_in_range(m.w.accused_v0, 19 << 6, 25 << 6);
	assert_true(m.w.accused_top >= 100 << 6);
	/* given back, that ends it, whatever address space does */
	m.s.anon = 20 * MB;
	t = steps_until(&m, SEEPAGE_STATE_RECOVERED, HOUR, 0, 60);
	assert_in_range(t, 10, 60);
}

/* Address space that grows does not keep an alert of memory alive, nor take it over. */
static void test_address_space_does_not_keep_memory_accused(void **state)
{
	struct sim m;
	u32 t;

	(void)state;
	begin(&m);
	/* both grow, for longer than address space needs to be accused by itself */
	steps_until(&m, SEEPAGE_STATE_RECOVERED, 8 * HOUR, 600, 3000);
	assert_int_equal(m.v.state, SEEPAGE_STATE_CONFIRMED);
	assert_int_equal(m.d.accused, SEEPAGE_SUBJECT_MEMORY);
	t = steps_until(&m, SEEPAGE_STATE_RECOVERED, 20 * HOUR, 0, 3000);
	assert_int_equal(m.d.accused, SEEPAGE_SUBJECT_MEMORY);
	assert_in_range(t, HOUR, 4 * HOUR);
	/* what it does after that is judged anew */
	steps_until(&m, SEEPAGE_STATE_SUSPECTED, 20 * HOUR, 0, 600);
	assert_int_equal(m.v.state, SEEPAGE_STATE_SUSPECTED);
	assert_int_equal(m.d.accused, SEEPAGE_SUBJECT_VSZ);
}

/*
 * Page tables or stacks of threads grow with the address space that is accused: 4 GB are left,
 * and 10 MB an hour take them in 409.6 hours.
 */
static void test_address_space_tells_when_memory_ends(void **state)
{
	struct sim m;

	(void)state;
	begin(&m);
	steps_until(&m, SEEPAGE_STATE_SUSPECTED, 13 * HOUR, 10, 600);
	assert_int_equal(m.v.state, SEEPAGE_STATE_SUSPECTED);
	assert_int_equal(m.v.subject, SEEPAGE_SUBJECT_VSZ);
	assert_in_range(m.v.tte_s, 400 * HOUR, 420 * HOUR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_memory_of_others_is_no_growth),
		cmocka_unit_test(test_others_who_let_go_hide_no_leak),
		cmocka_unit_test(test_a_group_is_for_what_is_spread),
		cmocka_unit_test(test_what_grew_is_a_factor),
		cmocka_unit_test(test_little_of_much_is_a_factor),
		cmocka_unit_test(test_cpu_time_wraps),
		cmocka_unit_test(test_what_grew_is_of_this_watch),
		cmocka_unit_test(test_peers_of_a_process_veto_nothing),
		cmocka_unit_test(test_page_tables_count),
		cmocka_unit_test(test_address_space_leaks_are_named),
		cmocka_unit_test(test_address_space_tells_when_memory_ends),
		cmocka_unit_test(test_memory_takes_an_alert_over),
		cmocka_unit_test(test_address_space_does_not_keep_memory_accused),
	};

	return cmocka_run_group_tests_name("detect_series", tests, NULL, NULL);
}
