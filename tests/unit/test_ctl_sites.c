// SPDX-License-Identifier: GPL-2.0
/* seepage where: which classes a burst is taken of */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "where/callsite.h"
#include <cmocka.h>

static char said[400];		/* the last failure, or note about pools */
static u64 sampled;		/* lo of the last burst */
static u64 sampled_to[8];	/* hi of each */
static unsigned int named;	/* sites of each burst */
static struct trend trend;	/* of the memory of the process, at the next look */
static unsigned int counted;	/* looks at its pages */
static struct page_count last;
static bool is_open;		/* a longer look may tell more */
static bool has_burst = true;	/* its pages were counted often enough */
static u64 longer;		/* seconds that it took */
static u64 now = 1;
static struct growth judged;	/* what the last burst is judged by */
static unsigned int bursts;
static bool has_pool_probe;
static bool has_rivals;		/* a third look at the class may tell more */
static unsigned int thirds, measured;	/* of these looks; times that rates were */
static bool is_few;		/* too few blocks were seen of some sites */
static unsigned int found;	/* call sites that can have a probe */
static unsigned int taken;	/* rounds of probes at call sites */
static unsigned int looks, closed;

#undef fail
int fail(const struct ctx *ctx, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	return 1;
}

void *must(void *p)
{
	return p;
}

void result_note(struct result *r, const char *fmt, ...)
{
	va_list args;
	char text[400];

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (strstr(text, "pools was found") || strstr(text, "looked for"))
		strcpy(said, text);
}

s64 result_per_hour(const struct result *r, s64 bytes)
{
	return bytes;
}

u64 clock_ns(void)
{
	return now;
}

bool target_alive(const struct target *t)
{
	return true;
}

const char *probes_find(struct target *t, const struct object *o, struct probes *p)
{
	p->n = 0;
	return o->file ? "no probe" : NULL;
}

bool pool_probe_find(struct target *t, u64 interpreter, struct probes *p)
{
	return has_pool_probe;
}

void probes_close(struct probes *p)
{
}

struct unwinder *unwinder_new(struct target *t)
{
	return (struct unwinder *)said;
}

u64 unwinder_python(const struct unwinder *u)
{
	return 0x1000;
}

void unwinder_note(const struct unwinder *u, struct result *r)
{
}

void unwinder_free(struct unwinder *u)
{
}

int burst_take(struct target *t, const struct bins *bins, const struct probes *p,
	       const struct burst_limits *l, bool (*wait)(void *arg, u64 ms, int fd), void *arg,
	       struct burst *b)
{
	sampled_to[bursts++ % 8] = l->hi;
	sampled = l->lo;
	/* A round, of which the descriptor is, then a pause */
	wait(arg, 5000, 3);
	wait(arg, 20, -1);
	wait(arg, 0, -1);
	wait(arg, 5000, -1);
	return 0;
}

const char *burst_reason(u32 reason)
{
	return "";
}

void burst_free(struct burst *b)
{
}

struct survivors *survivors_new(struct target *t, const struct bins *bins, struct unwinder *u,
				const struct burst *b)
{
	return NULL;
}

void again_look(struct target *t, struct survivors *v, const struct again *again,
		bool (*wait)(void *arg, u64 ms, int fd), void *arg)
{
	looks++;
}

int target_maps(struct target *t)
{
	return 0;
}

bool survivors_rivals(struct survivors *v, const struct growth *g)
{
	return has_rivals;
}

bool survivors_few(struct survivors *v, const struct growth *g)
{
	return is_few;
}

void callsites_find(const struct survivors *v, struct callsites *c)
{
	c->n = found;
}

void callsites_take(struct target *t, const struct bins *bins, struct callsites *c,
		    const struct burst_limits *l, bool (*wait)(void *arg, u64 ms, int fd),
		    void *arg, struct burst *b)
{
	assert_int_equal(c->lo, l->lo);
	assert_int_equal(c->hi, l->hi);
	taken++;
	now += 70 * 1000000000ULL;
	c->traps = 6;
	b->functions = b->n;
	b->n += 5;
	named = 1;
}

bool excess_may_be(const struct survivors *v, const struct growth *g)
{
	return has_rivals;
}

u64 callsites_measure(struct target *t, const struct bins *bins, const struct burst_limits *l,
		      bool (*wait)(void *arg, u64 ms, int fd), void *arg, struct survivors *v,
		      bool *is)
{
	*is = true;
	measured++;
	return 7;
}

void callsites_note(const struct callsites *c, u64 armed_ns, struct result *r)
{
}

void callsites_close(struct callsites *c)
{
	closed += c->n;
	c->n = 0;
}

unsigned int survivors_sites(struct survivors *v, struct result *r, const struct growth *g,
			     size_t top)
{
	judged = *g;
	return named;
}

size_t survivors_sizes(const struct survivors *v, struct size_range *range, size_t most)
{
	assert_int_equal(most, 2);
	range[0] = (struct size_range){ 64, 127 };
	range[1] = (struct size_range){ 256, 511 };
	return most;
}

bool survivors_open(struct survivors *v, const struct growth *g)
{
	return is_open;
}

void again_longer(struct target *t, struct survivors *v, u64 after, u64 seconds,
		  bool (*wait)(void *arg, u64 ms, int fd), void *arg)
{
	assert_int_equal(after, 60);
	longer = seconds;
	trend.bytes *= 2;
}

const char *allocator_note(enum block_rule rule)
{
	return NULL;
}

void series_begin(struct page_series *s, u64 seconds)
{
	s->n = 0;
}

void series_look(const struct target *t, struct page_series *s, bool at_once)
{
	counted++;
	s->at[s->n++ % SERIES] = last;
	s->next = now + 1000000000;
}

void series_mark(struct page_series *s, u64 seconds)
{
	assert_true(s->n > 0 || !counted);
}

bool series_has_burst(const struct page_series *s)
{
	return has_burst;
}

struct trend series_trend(const struct page_series *s)
{
	return trend;
}

void series_free(struct page_series *s)
{
}

static bool wait_not(void *arg, u64 ms, int fd)
{
	now += ms * 1000000;
	return true;
}

void survivors_free(struct survivors *v)
{
}

/* Three classes of pymalloc grew most, then one of malloc, of which there are @n in all. */
static int sites(size_t n, u64 class_bytes)
{
	struct where_row row[4] = {
		{ .id = class_of_pool(48) }, { .id = class_of_pool(64) },
		{ .id = class_of_pool(96) }, { .id = class_of_request(1000) },
	};
	struct result r = { .method = "census", .row = row, .rows = n };
	struct target t = { 0 };
	struct object o = { 0 };
	struct bins bins = { 0 };
	struct sites_how how = { .top = 1, .wait = wait_not };
	size_t i;

	for (i = 0; i < n; i++) {
		row[i].growth_blocks = 1000;
		row[i].growth_bytes = 1000000 - (s64)i;
	}
	*said = '\0';
	bursts = 0;
	sampled = 0;
	named = 1;
	return sites_find(&t, &o, &bins, &how, class_bytes, &r);
}

static struct sites_how how = { .top = 1, .recent = true, .wait = wait_not,
				.again = { 1, { 60 } } };
static s64 between;		/* growth between the two looks */

/* Of an allocator without a census: so many pages more than at the first look */
static int sizes(u64 first, u64 class_bytes)
{
	struct result r = { .method = "pages", .pages = true, .growth = between };
	struct target t = { 0 };
	struct object o = { 0 };
	struct bins bins = { .rule = BLOCK_PLAIN };

	how.first = (struct page_count){ .pages = first, .ns = first ? 10000000000 : 0 };
	last = (struct page_count){ .pages = 1600, .ns = 40000000000 };
	*said = '\0';
	bursts = 0;
	memset(&judged, 0, sizeof(judged));
	return sites_find(&t, &o, &bins, &how, class_bytes, &r);
}

static void all_sizes_then_those_that_stay(void **state)
{
	trend = (struct trend){ .bytes = 1228800, .error = 1000, .seconds = 20 };
	named = 0;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(bursts, 3);
	assert_true(sampled_to[0] == UINT64_MAX && sampled_to[1] == 127 && sampled_to[2] == 511);
	assert_int_equal(sampled, 256);
	/* If the process does not grow, sizes tell nothing. */
	trend.error = 1228800;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(bursts, 1);
	trend.error = 1000;
	named = 1;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(bursts, 1);
	assert_true(judged.pages && !judged.class_bytes);
	assert_int_equal(judged.trend.bytes, 1228800);
	assert_int_equal(judged.bytes, 600 * 4096);
	named = 0;
	assert_int_equal(sizes(1000, 100), 0);
	assert_int_equal(bursts, 1);
	assert_int_equal(judged.class_bytes, class_size(class_of_request(100)));
	assert_int_equal(sampled, class_least(class_of_request(100)));
}

static void the_growth_of_a_site_is_no_more_than_was_measured(void **state)
{
	named = 1;
	/* 61 440 bytes a second from the burst on, 81 920 from the first look on */
	trend = (struct trend){ .bytes = 1228800, .error = 1000, .seconds = 20 };
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(judged.bytes_per_hour, 61440 * 3600);
	trend.bytes = 2457600;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(judged.bytes_per_hour, 81920 * 3600);
	/* Nor more than the answer has for the process */
	between = 50000;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(judged.bytes_per_hour, 50000);
	between = 0;
	/* Without a first look, as with --diff, it counts from the burst on. */
	assert_int_equal(sizes(0, 0), 0);
	assert_int_equal(judged.bytes, 2457600);
	assert_int_equal(judged.bytes_per_hour, 122880 * 3600);
	trend.bytes = -4096;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(judged.bytes_per_hour, 0);
}

static void pages_are_counted_between_rounds(void **state)
{
	trend = (struct trend){ .bytes = 1228800, .error = 1000, .seconds = 20 };
	counted = 0;
	assert_int_equal(sizes(1000, 0), 0);
	/* At both ends, after the burst, between rounds, some times in a pause of five seconds */
	assert_in_range(counted, 8, 9);
	counted = 0;
	assert_int_equal(sites(4, 1000), 0);
	assert_int_equal(counted, 0);
}

static void a_longer_look_where_it_may_tell_more(void **state)
{
	trend = (struct trend){ .bytes = 1228800, .error = 1000, .seconds = 20 };
	is_open = true;
	longer = 0;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(longer, 0);
	how.longer = true;
	assert_int_equal(sizes(1000, 0), 0);
	/* As long as the burst took, whatever could be counted meanwhile */
	assert_int_equal(longer, 11);
	assert_string_equal(said, "sites: not clear after the looks, looked for 11 s more");
	assert_int_equal(judged.trend.bytes, 2457600);
	trend.seconds = 0;
	longer = 0;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(longer, 11);
	has_burst = false;
	longer = 0;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(longer, 0);
	has_burst = true;
	is_open = false;
	longer = 0;
	assert_int_equal(sizes(1000, 0), 0);
	assert_int_equal(longer, 0);
	how.longer = false;
}

/* Of a process with pages that grow, and three classes of malloc beside */
static int mixed(enum block_rule rule, u64 class_bytes)
{
	struct where_row row[3] = {
		{ .id = class_of_request(500), .growth_blocks = 2, .growth_bytes = 6000 },
		{ .id = class_of_request(640), .growth_blocks = 8, .growth_bytes = 5120 },
		{ .id = class_of_request(100), .growth_blocks = 9, .growth_bytes = 900 },
	};
	struct where_row pages = { .id = class_of_request(4096), .growth_bytes = 1000000 };
	struct result r = { .method = "pages", .pages = true, .row = &pages, .rows = 1,
			    .block = row, .blocks = 3, .seconds = 60 };
	struct target t = { 0 };
	struct object o = { 0 };
	struct bins bins = { .rule = rule };

	trend = (struct trend){ .bytes = 1228800, .error = 1000, .seconds = 20 };
	bursts = 0;
	counted = 0;
	memset(&judged, 0, sizeof(judged));
	return sites_find(&t, &o, &bins, &how, class_bytes, &r);
}

static void classes_of_malloc_before_all_sizes(void **state)
{
	named = 1;
	assert_int_equal(mixed(BLOCK_CHUNK, 0), 0);
	assert_int_equal(bursts, 1);
	assert_int_equal(sampled_to[0], class_size(class_of_request(640)));
	assert_true(judged.mixed && !judged.pages);
	assert_int_equal(judged.blocks, 8);
	/* Three in all */
	named = 0;
	assert_int_equal(mixed(BLOCK_CHUNK, 0), 0);
	assert_int_equal(bursts, 3);
	assert_int_equal(sampled_to[1], class_size(class_of_request(100)));
	assert_true(sampled_to[2] == UINT64_MAX);
	assert_true(judged.pages && !judged.mixed);
	/* The one that is asked for, whatever it grew by */
	assert_int_equal(mixed(BLOCK_CHUNK, 500), 0);
	assert_int_equal(bursts, 1);
	assert_int_equal(sampled_to[0], class_size(class_of_request(500)));
	assert_true(judged.mixed);
	/* Blocks of another library are not counted. */
	assert_int_equal(mixed(BLOCK_LINKED, 0), 0);
	assert_int_equal(bursts, 3);
	assert_true(sampled_to[0] == UINT64_MAX && judged.pages);
}

/* One class of malloc, with limits; @probes: they are wanted. Returns traps and samples. */
static struct result few_blocks(bool probes)
{
	struct where_row row = {
		.id = class_of_request(1000), .growth_blocks = 4, .growth_bytes = 4096,
	};
	struct result r = { .method = "census", .row = &row, .rows = 1 };
	struct sites_how few = { .top = 1, .wait = wait_not, .probes = probes,
				 .again = { 1, { 60 } } };
	struct target t = { 0 };
	struct object o = { 0 };
	struct bins bins = { 0 };

	taken = 0;
	looks = 0;
	closed = 0;
	named = 0;
	counted = 0;
	assert_int_equal(sites_find(&t, &o, &bins, &few, 0, &r), 0);
	return r;
}

static void sites_of_few_blocks_get_probes(void **state)
{
	struct result r;

	is_few = true;
	found = 2;
	r = few_blocks(true);
	assert_int_equal(taken, 1);
	assert_int_equal(looks, 2);
	assert_int_equal(closed, 2);
	assert_int_equal(r.traps, 6);
	assert_int_equal(r.samples, 5);
	r = few_blocks(false);
	assert_int_equal(taken, 0);
	assert_int_equal(looks, 1);
	is_few = false;
	r = few_blocks(true);
	assert_int_equal(taken, 0);
	is_few = true;
	found = 0;
	r = few_blocks(true);
	assert_int_equal(taken, 0);
	assert_int_equal(looks, 1);
	assert_int_equal(r.traps, 0);
	is_few = false;
}

/* 30 s after the second look, which is all zeros, the class has ten blocks more. */
static bool count_blocks(void *arg, struct look *l)
{
	memset(l, 0, sizeof(*l));
	l->ns = 30000000000 + measured * 6000000000;
	l->c[class_of_request(1000)].blocks = 7 + measured;
	l->c[class_of_request(1000) + 1].blocks = 3;
	thirds++;
	return true;
}

static void a_class_is_counted_once_more_where_sites_are_rivals(void **state)
{
	static struct look second;
	struct where_row row = { .id = class_of_request(1000), .growth_blocks = 4,
				 .growth_bytes = 4096 };
	struct result r = { .method = "census", .row = &row, .rows = 1 };
	struct sites_how third = { .top = 1, .wait = wait_not, .count = count_blocks,
				   .second = &second, .again = { 1, { 60 } } };
	struct target t = { 0 };
	struct object o = { 0 };
	struct bins bins = { 0 };

	thirds = 0;
	counted = 0;
	assert_int_equal(sites_find(&t, &o, &bins, &third, 0, &r), 0);
	assert_int_equal(thirds, 0);
	assert_true(judged.later_seconds == 0);
	has_rivals = true;
	assert_int_equal(sites_find(&t, &o, &bins, &third, 0, &r), 0);
	assert_int_equal(thirds, 1);
	assert_int_equal(measured, 0);
	assert_int_equal(judged.later_blocks, 10);
	assert_true(judged.later_seconds == 30);
	/* Blocks of the next class that went are no loss of this one. */
	second.c[class_of_request(1000) + 1].blocks = 5;
	assert_int_equal(sites_find(&t, &o, &bins, &third, 0, &r), 0);
	assert_int_equal(judged.later_blocks, 7);
	third.probes = true;
	r.traps = 0;
	assert_int_equal(sites_find(&t, &o, &bins, &third, 0, &r), 0);
	assert_int_equal(measured, 1);
	assert_int_equal(r.traps, 7);
	/* It is counted from the begin of that on. */
	assert_int_equal(thirds, 4);
	assert_true(judged.measured && judged.later_seconds == 6);
	assert_int_equal(judged.later_blocks, 1);
	third.count = NULL;
	assert_int_equal(sites_find(&t, &o, &bins, &third, 0, &r), 0);
	assert_true(judged.later_seconds == 0);
	has_rivals = false;
}

static void why_there_are_no_probes(void **state)
{
	struct result r = { .method = "pages", .pages = true };
	struct object o = { .file = said };
	struct bins bins = { .rule = BLOCK_PLAIN };
	struct target t = { 0 };

	assert_int_equal(sites_find(&t, &o, &bins, &how, 0, &r), 1);
	assert_string_equal(said, "--burst: no probe");
}

static void classes_of_pymalloc_are_sampled_first(void **state)
{
	has_pool_probe = true;
	assert_int_equal(sites(4, 0), 0);
	assert_string_equal(said, "");
	assert_int_equal(bursts, 1);
	assert_int_equal(sampled, 48 / 16 - 1);
}

static void without_a_probe_for_them_others_are(void **state)
{
	has_pool_probe = false;
	assert_int_equal(sites(4, 0), 0);
	assert_string_equal(said, "no function that begins pools was found in this python: "
			    "its classes are not sampled");
	assert_int_equal(bursts, 1);
	assert_int_equal(sampled, class_least(class_of_request(1000)));
	assert_int_equal(sites(4, 1000), 0);
	assert_string_equal(said, "");
	assert_int_equal(bursts, 1);
}

static void no_class_that_can_be_sampled_is_a_failure(void **state)
{
	has_pool_probe = false;
	assert_int_equal(sites(3, 0), 1);
	assert_int_equal(bursts, 0);
	assert_non_null(strstr(said, "no function that begins pools was found in this python; see "
			       "--class"));
	assert_int_equal(sites(4, 48), 1);
	assert_int_equal(bursts, 0);
}

/* 5000 traps are of 2500 calls at most, of which 700 were for the class. */
static void what_other_classes_do(void **state)
{
	struct where_row row[] = {
		{ .id = class_of_request(200), .growth_blocks = 4000 },
		{ .id = class_of_request(56), .growth_blocks = 90 },
		{ .id = class_of_request(40), .growth_blocks = -500 },
		{ .id = class_of_request(900), .growth_blocks = 31 },
	};
	struct result r = { .row = row, .rows = 4, .seconds = 60 };
	struct growth g = { .id = class_of_request(200), .class_bytes = 200 };
	struct burst b = { .traps = 5000, .matched = 700, .n = 300, .armed_ns = 6000000000 };

	burst_add(&b, &g, &r);
	assert_int_equal(r.traps, 5000);
	assert_int_equal(r.samples, 300);
	assert_int_equal(r.bursts, 1);
	assert_int_equal(r.sampled[0], 200);
	assert_true(r.has_others);
	assert_int_equal(r.other_calls, 1800);
	/* 121 in 60 s, of which the burst was armed for six */
	assert_int_equal(r.other_blocks, 13);
	b.matched = 2500;
	burst_add(&b, &g, &r);
	assert_int_equal(r.other_calls, 0);
	g.pages = true;
	burst_add(&b, &g, &r);
	assert_false(r.has_others);
	assert_int_equal(r.bursts, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_pymalloc_are_sampled_first),
		cmocka_unit_test(without_a_probe_for_them_others_are),
		cmocka_unit_test(no_class_that_can_be_sampled_is_a_failure),
		cmocka_unit_test(all_sizes_then_those_that_stay),
		cmocka_unit_test(the_growth_of_a_site_is_no_more_than_was_measured),
		cmocka_unit_test(pages_are_counted_between_rounds),
		cmocka_unit_test(a_longer_look_where_it_may_tell_more),
		cmocka_unit_test(sites_of_few_blocks_get_probes),
		cmocka_unit_test(classes_of_malloc_before_all_sizes),
		cmocka_unit_test(a_class_is_counted_once_more_where_sites_are_rivals),
		cmocka_unit_test(why_there_are_no_probes),
		cmocka_unit_test(what_other_classes_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
