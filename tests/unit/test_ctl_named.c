// SPDX-License-Identifier: GPL-2.0
/* seepage where: which sites are named, with blocks of a burst and of probes at call sites */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "where/site.h"
#include <cmocka.h>
#include "said.h"

void unwind_frame_add(struct unwinder *u, const struct frame *f, struct json_object *stack)
{
}

static struct block blocks[400];
static struct site sites[4];
static struct bins bins;
static struct survivors v;

/* A burst of 5 s within 60 s, in which calls have 20000 blocks a second, all of site 0 but one */
static void begin(void)
{
	size_t i;

	memset(sites, 0, sizeof(sites));
	memset(blocks, 0, sizeof(blocks));
	v = (struct survivors){ .block = blocks, .site = sites, .bins = &bins, .sites = 2,
				.armed = 5, .own = 4, .calls = 20000 };
	for (i = 0; i < 300; i++)
		blocks[v.n++] = (struct block){ .size = 4000, .drawn = true };
	blocks[v.n++] = (struct block){ .size = 4000, .site = 1, .alive = true, .unchanged = true };
}

/* Probes see @n blocks of site 1 in so many seconds. */
static void probe(unsigned int n, double seconds)
{
	v.at_sites = seconds;
	while (n--)
		blocks[v.n++] = (struct block){ .size = 4000, .site = 1, .alive = true,
						.unchanged = true, .drawn = true, .at_site = true };
}

static unsigned int named(s64 growth_blocks)
{
	const struct growth g = { .class_bytes = 4008, .blocks = growth_blocks, .seconds = 60,
				  .bytes_per_hour = 1000000, .recent = true };
	struct result r = { .sites = json_object_new_array() };
	unsigned int n;

	*said = '\0';
	n = survivors_sites(&v, &r, &g, 10);
	json_object_put(r.sites);
	return n;
}

static bool few(s64 growth_blocks, bool pages)
{
	const struct growth g = { .class_bytes = 4008, .blocks = growth_blocks, .seconds = 60,
				  .recent = true, .pages = pages };

	return survivors_few(&v, &g);
}

static void one_block_is_too_few(void **state)
{
	begin();
	assert_true(few(4, false));
	assert_int_equal(named(4), 0);
	assert_non_null(strstr(said, "1 keeps all blocks, but too few were seen"));
	begin();
	assert_false(few(4, true));
	blocks[300].alive = false;
	assert_false(few(4, false));
}

static void with_those_of_probes_it_is_named(void **state)
{
	begin();
	probe(4, 60);
	assert_false(few(4, false));
	assert_int_equal(named(4), 1);
	/* Half of what the growth leads to expect in 65 s is two; of ten blocks it is five. */
	begin();
	probe(1, 60);
	assert_int_equal(named(4), 1);
	begin();
	probe(3, 60);
	assert_int_equal(named(10), 0);
}

/* The probes see each call of their site: no other calls are among what they draw. */
static void blocks_of_probes_are_no_part_of_the_calls_that_were_drawn(void **state)
{
	begin();
	probe(30, 420);
	assert_int_equal(named(4), 1);
}

static void a_site_that_keeps_ten_times_the_growth_is_not_named(void **state)
{
	begin();
	probe(45, 60);
	assert_int_equal(named(4), 0);
	assert_non_null(strstr(said, "does not grow by a tenth of what stays"));
	begin();
	probe(35, 60);
	assert_int_equal(named(4), 1);
}

static void a_site_whose_blocks_are_freed_is_not_named(void **state)
{
	begin();
	probe(10, 140);
	blocks[305].alive = false;
	blocks[306].alive = false;
	assert_int_equal(named(4), 0);
}

/*
 * Ten rounds of half a second. Of each site @kept[site][round] blocks stay, all of which are drawn.
 */
static void rounds(const unsigned int kept[][BURST_ROUNDS], unsigned int n)
{
	unsigned int r, i, k;

	begin();
	v.n = 0;
	v.sites = n;
	v.rounds = BURST_ROUNDS;
	v.calls = 0;
	for (r = 0; r < BURST_ROUNDS; r++) {
		v.round[r].armed_ns = 500000000;
		for (i = 0; i < n; i++)
			for (k = 0; k < kept[i][r]; k++) {
				blocks[v.n++] = (struct block){
					.size = 200, .site = i, .round = r, .alive = true,
					.unchanged = true, .drawn = true,
				};
				v.round[r].matched++;
				v.calls += 1.0 / v.armed;
			}
	}
	/* They say which site they were after these are sorted. */
	for (i = 0; i < n; i++)
		sites[i].frames = i;
}

/* The class grows by so many blocks a second before the burst, and from it on; 0: not counted. */
static struct growth grows(double before, double later)
{
	return (struct growth){
		.class_bytes = 200, .blocks = (s64)(before * 60), .seconds = 60, .recent = true,
		.bytes_per_hour = 3600000, .later_blocks = (s64)(later * 120),
		.later_seconds = later > 0 ? 120 : 0,
	};
}

static s64 member(struct json_object *list, size_t i, const char *name)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(json_object_array_get_idx(list, i), name, &value));
	return json_object_get_int64(value);
}

/* Which site is first? @last: how many of them are said to turn over */
static unsigned int first(double before, double later, unsigned int last)
{
	struct result r = { .sites = json_object_new_array() };
	struct growth g = grows(before, later);
	unsigned int n, i;

	g.measured = v.measured_rounds;
	*said = '\0';
	n = survivors_sites(&v, &r, &g, 10);
	for (i = 0; i < n; i++) {
		assert_int_equal(member(r.sites, i, "turns_over"), i >= n - last);
		if (i >= n - last)
			assert_int_equal(member(r.sites, i, "bytes_per_hour"), 0);
	}
	assert_int_equal(!strstr(said, "keeps more than the class grows by"), !last);
	json_object_put(r.sites);
	return v.site[0].frames;
}

#define EACH(n)	{ n, n, n, n, n, n, n, n, n, n }

static void a_leak_comes_before_a_cache_that_keeps_more(void **state)
{
	/* 20 blocks a second, and 10 */
	static const unsigned int both[][BURST_ROUNDS] = {
		EACH(10), { 5, 4, 6, 5, 5, 6, 4, 5, 5, 5 },
	};
	static const unsigned int alike[][BURST_ROUNDS] = { EACH(6), EACH(5) };
	struct growth g = grows(10, 0);

	rounds(both, 2);
	assert_true(survivors_rivals(&v, &g));
	assert_int_equal(first(10, 10, 1), 1);
	/* It grows faster meanwhile: the first one may be all of it. Or that is not known. */
	rounds(both, 2);
	assert_int_equal(first(10, 19, 0), 0);
	rounds(both, 2);
	assert_int_equal(first(10, 0, 0), 0);
	/* It did before. */
	rounds(both, 2);
	assert_int_equal(first(19, 10, 0), 0);
	g = grows(27, 0);
	rounds(both, 2);
	assert_false(survivors_rivals(&v, &g));
	/* What there was before is not known. */
	g.recent = false;
	assert_true(survivors_rivals(&v, &g));
	g.pages = true;
	assert_false(survivors_rivals(&v, &g));
	rounds(alike, 2);
	assert_int_equal(first(10, 10, 0), 0);
}

static void nobody_is_put_behind_what_does_not_explain_the_growth(void **state)
{
	static const unsigned int small[][BURST_ROUNDS] = { EACH(10), EACH(1) };
	static const unsigned int alone[][BURST_ROUNDS] = { EACH(10) };
	const struct growth g = grows(10, 0);

	rounds(small, 2);
	assert_int_equal(first(10, 10, 0), 0);
	/* Of a class that grows by four a second two are enough. */
	rounds(small, 2);
	assert_int_equal(first(4, 4, 1), 1);
	rounds(alone, 1);
	assert_false(survivors_rivals(&v, &g));
	assert_int_equal(first(10, 10, 0), 0);
}

/* A job that came in two of ten rounds may come less often than it seems. */
static void a_rate_that_varies_is_known_less_well(void **state)
{
	static const unsigned int job[][BURST_ROUNDS] = {
		{ 0, 0, 60, 0, 0, 0, 0, 60, 0, 0 }, { 4, 5, 4, 4, 5, 4, 5, 4, 5, 5 },
	};
	static const unsigned int steady[][BURST_ROUNDS] = {
		{ 13, 11, 12, 12, 13, 12, 11, 12, 12, 12 }, { 4, 5, 4, 4, 5, 4, 5, 4, 5, 5 },
	};

	rounds(job, 2);
	assert_int_equal(first(10, 10, 0), 0);
	rounds(steady, 2);
	assert_int_equal(first(10, 10, 1), 1);
	/* A single round says nothing of that. */
	rounds(steady, 2);
	v.rounds = 1;
	assert_int_equal(first(10, 10, 0), 0);
}

/* What probes have seen of both sites: so many calls in each round */
static void measured(double seconds, double first, double second)
{
	unsigned int round;

	for (round = 0; round < BURST_ROUNDS; round++) {
		v.measured_seconds[round] = seconds;
		sites[0].measured[round] = first;
		sites[1].measured[round] = second;
	}
	v.measured_rounds = BURST_ROUNDS;
	sites[0].is_measured = true;
	sites[1].is_measured = true;
}

/* Probes at their calls say how often both come where the process is not slowed down by traps. */
static void what_probes_measured_counts(void **state)
{
	static const unsigned int slow[][BURST_ROUNDS] = { EACH(5), EACH(2) };
	static const unsigned int large[][BURST_ROUNDS] = { EACH(20), EACH(1) };
	struct result r = { .sites = json_object_new_array() };
	unsigned int round, k;
	struct growth g;

	rounds(slow, 2);
	assert_int_equal(first(10, 10, 0), 0);
	rounds(slow, 2);
	for (round = 0; round < BURST_ROUNDS; round++) {
		v.measured_seconds[round] = 0.5;
		sites[0].measured[round] = 10 + round % 2;
		sites[1].measured[round] = 5 - round % 2;
	}
	v.measured_rounds = BURST_ROUNDS;
	sites[0].is_measured = true;
	sites[1].is_measured = true;
	assert_int_equal(first(10, 10, 1), 1);
	/* The growth meanwhile counts, and not that of before; no site but these is put behind. */
	rounds(slow, 2);
	measured(0.5, 10, 5);
	assert_int_equal(first(100, 10, 1), 1);
	rounds(slow, 2);
	v.measured_rounds = BURST_ROUNDS;
	assert_int_equal(first(1, 1, 0), 0);
	/* All calls were seen while the class was counted: that they come in jobs is no error. */
	for (k = 0; k < 2; k++) {
		rounds(slow, 2);
		for (round = 0; round < BURST_ROUNDS; round++) {
			v.measured_seconds[round] = 12;
			sites[0].measured[round] = round == 3 ? 2400 : 0;
			sites[1].measured[round] = round == 3 ? 1200 : 0;
		}
		v.measured_rounds = BURST_ROUNDS;
		v.measured_traps = 3600;
		/* Of a few calls it is not sure which site they were of. */
		v.measured_drawn = k ? 10 : 1000;
		sites[0].is_measured = true;
		sites[1].is_measured = true;
		assert_int_equal(first(10, 10, !k), !k);
	}
	/* A cache that replaces more than ten times as much hides no leak. */
	rounds(large, 2);
	g = grows(1, 0);
	assert_true(survivors_rivals(&v, &g));
	assert_int_equal(survivors_sites(&v, &r, &g, 10), 0);
	rounds(large, 2);
	measured(1, 20, 1);
	assert_int_equal(first(1, 1, 1), 1);
	json_object_put(r.sites);
	/* Calls of which not all blocks stay count by that. */
	rounds(slow, 2);
	for (round = 0; round < BURST_ROUNDS; round++) {
		v.measured_seconds[round] = 0.5;
		sites[0].measured[round] = 7;
		sites[1].measured[round] = 5;
		blocks[v.n++] = (struct block){ .size = 200, .round = round, .drawn = round % 2 };
	}
	v.measured_rounds = BURST_ROUNDS;
	sites[0].is_measured = true;
	sites[1].is_measured = true;
	assert_int_equal(first(11, 11, 0), 0);
}

/* Of a process that grows mostly elsewhere a class is counted a third time in any case. */
static void a_class_that_grows_no_more_names_nobody(void **state)
{
	static const unsigned int alone[][BURST_ROUNDS] = { EACH(5) };
	struct result r = { .sites = json_object_new_array() };
	struct growth g = grows(10, 0);

	g.mixed = true;
	rounds(alone, 1);
	assert_true(survivors_rivals(&v, &g));
	assert_int_equal(survivors_sites(&v, &r, &g, 10), 1);
	*said = '\0';
	g = grows(10, 2);
	g.mixed = true;
	rounds(alone, 1);
	assert_int_equal(survivors_sites(&v, &r, &g, 10), 0);
	assert_non_null(strstr(said, "the class grew, but does not go on to"));
	g.later_blocks = -100;
	rounds(alone, 1);
	assert_int_equal(survivors_sites(&v, &r, &g, 10), 0);
	g = grows(10, 3);
	g.mixed = true;
	rounds(alone, 1);
	assert_int_equal(survivors_sites(&v, &r, &g, 10), 1);
	g = grows(10, 2);
	rounds(alone, 1);
	assert_int_equal(survivors_sites(&v, &r, &g, 10), 1);
	json_object_put(r.sites);
}

#define MARGIN(g, bytes, alive) \
	margin_of(&v, &sites[1], &sites[1].drawn, g, bytes, alive, 1000000)

/* The error of a growth of 1000000, as a part of it, in permille */
static unsigned int margin(s64 blocks, unsigned int samples, const u64 *matched)
{
	const struct growth g = { .class_bytes = 200, .blocks = blocks, .seconds = 60 };
	unsigned int r;

	begin();
	v.rounds = matched ? BURST_ROUNDS : 0;
	for (r = 0; r < v.rounds; r++)
		v.round[r] = (struct burst_round){ 500000000, matched[r] };
	sites[1].drawn = (struct site_counts){ .samples = samples, .alive = samples };
	sites[1].bytes = 4000;
	return (unsigned int)(MARGIN(&g, 4000, samples) / 1000);
}

static void what_is_counted_more_often_is_known_better(void **state)
{
	static const u64 even[BURST_ROUNDS] = { 20, 20, 20, 20, 20, 20, 20, 20, 20, 20 };
	static const u64 odd[BURST_ROUNDS] = { 6, 38, 8, 30, 6, 35, 10, 36, 7, 24 };
	const struct growth pages = { .pages = true, .trend = { .bytes = 1000, .error = 300 } };

	/* 1.96 / sqrt(2000) is 4.4 %, 1.96 / sqrt(20) is 43.8 %; of 10000 samples all stay. */
	assert_in_range(margin(2000, 10000, even), 43, 44);
	assert_in_range(margin(20, 10000, even), 438, 439);
	assert_in_range(margin(2000, 30, even), 70, 90);
	assert_in_range(margin(2000, 10000, odd), 450, 550);
	assert_in_range(margin(2000, 10000, NULL), 43, 44);
	/* Nothing is known of a class that did not grow, or of no samples. */
	assert_true(margin(0, 10000, even) >= 1960);
	assert_true(margin(2000, 0, even) >= 1960);
	begin();
	sites[1].drawn = (struct site_counts){ .samples = 10000, .alive = 10000 };
	assert_in_range(MARGIN(&pages, 0, 0), 300000, 301000);
	/* A tenth of 100 blocks is known to 1.96 * sqrt(.9 / 10): 58 %. */
	sites[1].bytes = 400;
	assert_in_range(MARGIN(&pages, 4000, 100), 600000, 680000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_block_is_too_few),
		cmocka_unit_test(with_those_of_probes_it_is_named),
		cmocka_unit_test(blocks_of_probes_are_no_part_of_the_calls_that_were_drawn),
		cmocka_unit_test(a_site_that_keeps_ten_times_the_growth_is_not_named),
		cmocka_unit_test(a_site_whose_blocks_are_freed_is_not_named),
		cmocka_unit_test(a_leak_comes_before_a_cache_that_keeps_more),
		cmocka_unit_test(nobody_is_put_behind_what_does_not_explain_the_growth),
		cmocka_unit_test(what_probes_measured_counts),
		cmocka_unit_test(a_class_that_grows_no_more_names_nobody),
		cmocka_unit_test(a_rate_that_varies_is_known_less_well),
		cmocka_unit_test(what_is_counted_more_often_is_known_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
