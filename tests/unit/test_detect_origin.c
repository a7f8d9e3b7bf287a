// SPDX-License-Identifier: GPL-2.0
/* What a growth comes from: faults of its own, what was mapped before, what comes by itself. */
#include "sim.h"

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

/* Share of new memory in the growth, at the last sample; -1: not known */
static s64 new_permille;

/* One sample of a process that maps and faults as it is said to. */
static void feed_mapped(struct sim *m, double t, u64 anon, u64 vsz, u64 faults)
{
	const struct seep_gate *g;

	m->s.vsz = vsz;
	m->s.faults = faults;
	m->s.faults_anon = faults;
	sample(m, t, anon, fmod(t, 10) == 0);
	g = gate(&m->v, SEEPAGE_GATE_ORIGIN);
	new_permille = g ? g->value : t == 0 ? -1 : new_permille;
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
		assert_in_range(new_permille, row[i].least, row[i].most);
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
		bool alert;
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
		bool full, alert = false;
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
			alert |= seep_alert_is(m.v.state);
		}
		if (alert != row[i].alert)
			fail_msg("row %zu: alert %d", i, alert);
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
		bool new_memory;
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
		new_permille = -1;
		for (u32 t = 0; t < 600; t++) {
			if (t > 300 && anon < 4000) {
				anon += row[i].mb;
				faults++;
			}
			feed_mapped(&m, t, anon * MB, 8000 * MB, faults);
		}
		if (row[i].new_memory)
			assert_int_equal(new_permille, 1000);
		else
			assert_in_range(new_permille, 0, 499);
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
static void test_sparse_leak_made_whole_is_an_alert(void **state)
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
	assert_int_equal(new_permille, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_swapped_leak_still_grows),
		cmocka_unit_test(test_what_comes_by_itself_is_no_alert),
		cmocka_unit_test(test_nothing_comes_by_itself_for_ever),
		cmocka_unit_test(test_lumps_count_by_whose_they_are),
		cmocka_unit_test(test_recovered_is_watched_again),
		cmocka_unit_test(test_what_a_fault_explains_goes_by_page_size),
		cmocka_unit_test(test_sparse_leak_made_whole_is_an_alert),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
