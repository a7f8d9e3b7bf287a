// SPDX-License-Identifier: GPL-2.0
/* seepage where: which blocks stay that have no head of a chunk, and which sites are named then */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "where/block.c"
#include "where/judge.c"
#include "where/named.c"
#include <cmocka.h>
#include "said.h"

#define BASE	0x7f0000001000ULL
#define LINK	0x7f0000002340ULL

static unsigned char memory[4096];

bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	if (addr < BASE || addr + n > BASE + sizeof(memory))
		return false;
	memcpy(buf, memory + (addr - BASE), n);
	return true;
}

bool pool_is_used(struct target *t, u64 addr, u64 size)
{
	return true;
}

static bool is_in_use;		/* by the records of mallocng */

bool mallocng_is_used(struct target *t, const struct bins *b, u64 addr)
{
	return is_in_use;
}

bool bins_is_key(const struct bins *b, u64 word)
{
	return false;
}

static bool bit;

bool jemalloc_is_used(struct target *t, const struct jemalloc *je, u64 addr, u64 size)
{
	assert_int_equal(size, 100);
	return bit;
}

static unsigned int searches;

void mmapped_find(struct target *t, struct look *l,
		  void (*each)(void *arg, u64 addr, u64 size), void *arg)
{
	searches++;
}

void unwind_frame_add(struct unwinder *u, const struct frame *f, struct json_object *stack)
{
	json_object_array_add(stack, json_object_new_object());
}

static bool is_used(enum block_rule rule, u64 addr)
{
	struct bins bins = { .rule = rule };
	struct early now;
	u64 head;

	return block_read(NULL, &bins, addr, 100, &head, &now);
}

static void musl_says_what_is_free(void **state)
{
	memset(memory, 'x', sizeof(memory));
	assert_true(is_used(BLOCK_MUSL, BASE + 64));
	memcpy(memory + 61, "\xff\0\0", 3);
	assert_false(is_used(BLOCK_MUSL, BASE + 64));
	assert_true(is_used(BLOCK_PLAIN, BASE + 64));
	/* The last slot that may be, of a group at a distance; the first one of a group */
	memcpy(memory + 61, "\xff\1\0", 3);
	assert_true(is_used(BLOCK_MUSL, BASE + 64));
	memcpy(memory + 61, "\0\0\0", 3);
	assert_true(is_used(BLOCK_MUSL, BASE + 64));
}

/* Where the heap is known its records tell, whatever is in front of the block. */
static void records_of_musl_say_what_is_free(void **state)
{
	struct bins bins = { .rule = BLOCK_MUSL, .mallocng = 1 };
	struct early now;
	u64 head;

	memcpy(memory + 61, "\xff\0\0", 3);
	is_in_use = true;
	assert_true(block_read(NULL, &bins, BASE + 64, 100, &head, &now));
	assert_int_equal(now.bytes, BLOCK_KEEP);
	is_in_use = false;
	assert_false(block_read(NULL, &bins, BASE + 64, 100, &head, &now));
}

static void jemalloc_says_what_is_free(void **state)
{
	bit = true;
	assert_true(is_used(BLOCK_BITMAP, BASE + 64));
	assert_false(is_used(BLOCK_BITMAP, BASE + 4096));
	bit = false;
	assert_false(is_used(BLOCK_BITMAP, BASE + 64));
	assert_true(is_used(BLOCK_PLAIN, BASE + 64));
}

static void memory_that_went_away_is_free(void **state)
{
	assert_true(is_used(BLOCK_PLAIN, BASE));
	assert_false(is_used(BLOCK_PLAIN, BASE + 4096));
	assert_false(is_used(BLOCK_LINKED, BASE - 8));
	/* No head of glibc is looked for, which is not there. */
	memset(memory, 0, sizeof(memory));
	assert_false(is_used(BLOCK_CHUNK, BASE + 64));
	assert_true(is_used(BLOCK_LINKED, BASE + 64));
}

static bool is_linked(enum block_rule rule, u64 before, u64 now, unsigned int bytes)
{
	struct bins bins = { .rule = rule };
	struct early a = { .bytes = bytes }, b = { .bytes = bytes };

	memcpy(a.data, &before, sizeof(before));
	memcpy(b.data, &now, sizeof(now));
	return block_is_linked(&bins, &a, &b);
}

static void a_new_pointer_in_the_first_word(void **state)
{
	struct bins pools = { .rule = BLOCK_LINKED, .pool_block = 48 };
	struct early a = { .bytes = 16 }, b = { .bytes = 16, .data = { 0, 0x23, 0x45 } };

	assert_true(is_linked(BLOCK_LINKED, 1, LINK, 64));
	assert_true(is_linked(BLOCK_LINKED, LINK + 64, LINK, 8));
	assert_false(is_linked(BLOCK_LINKED, LINK, LINK, 64));
	/* A counter, the colour of a node, the end of a list: programs write these as well. */
	assert_false(is_linked(BLOCK_LINKED, 1, 2, 64));
	assert_false(is_linked(BLOCK_LINKED, LINK, 0, 64));
	assert_false(is_linked(BLOCK_LINKED, 0, LINK + 1, 64));
	assert_false(is_linked(BLOCK_LINKED, 0, 1ULL << 63, 64));
	assert_false(is_linked(BLOCK_LINKED, 0, LINK, 7));
	assert_false(is_linked(BLOCK_PLAIN, 0, LINK, 64));
	assert_false(is_linked(BLOCK_CHUNK, 0, LINK, 64));
	assert_false(is_linked(BLOCK_MUSL, 0, LINK, 64));
	assert_false(block_is_linked(&pools, &a, &b));
}

char *fmt_growth(char *buf, size_t size, s64 bytes_per_hour)
{
	snprintf(buf, size, "%+lld B/h", bytes_per_hour);
	return buf;
}

#define WINDOW	100	/* seconds in which the process is seen to grow */

/* Sites with blocks of 100 bytes, which count as 112, all drawn from 100 calls a second */
struct of_site {
	unsigned int samples, alive;
};

static struct growth growth = {
	.pages = true, .recent = true, .trend.seconds = WINDOW, .trend.burst_seconds = WINDOW / 2,
};

static double own = 2;		/* seconds of 2 in which it does not trap */
static s64 burst;		/* what of the growth is of the burst; 0: half of it */
static struct judgment is;

/* The process grows by @grown, give or take @error. Returns the sites that are named. */
static struct json_object *judge_sites(const struct of_site *of, unsigned int sites, s64 grown,
				       s64 error)
{
	static struct block block[400];
	static struct site site[4];
	struct bins bins = { .rule = BLOCK_PLAIN };
	struct survivors v = {
		.bins = &bins, .block = block, .site = site, .sites = sites, .armed = 2,
		.calls = 100, .own = own,
	};
	struct result r = { .sites = json_object_new_array() };
	struct site_counts drawn;
	unsigned int i, k;

	memset(site, 0, sizeof(site));
	for (i = 0; i < sites; i++)
		for (k = 0; k < of[i].samples; k++, v.n++) {
			block[v.n] = (struct block){ .size = 100, .site = i, .drawn = true };
			block[v.n].alive = k < of[i].alive;
			block[v.n].unchanged = block[v.n].alive;
		}
	growth.bytes = grown;
	growth.trend.bytes = grown;
	growth.trend.error = error;
	growth.trend.burst = burst ? burst : grown / 2;
	growth.bytes_per_hour = grown > 0 ? grown * 3600 / WINDOW : 0;
	*said = '\0';
	judge(&v, &growth, &drawn, &is);
	assert_int_equal(survivors_open(&v, &growth), judged_is_open(&is));
	survivors_sites(&v, &r, &growth, 10);
	return r.sites;
}

static size_t named(const struct of_site *of, unsigned int sites, s64 grown, s64 error)
{
	struct json_object *list = judge_sites(of, sites, grown, error);
	size_t n = json_object_array_length(list);

	json_object_put(list);
	return n;
}

#define SITES(...)	((struct of_site[])__VA_ARGS__)

static s64 per_hour_of(struct json_object *sites, size_t i)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(json_object_array_get_idx(sites, i),
					      "bytes_per_hour", &v));
	return json_object_get_int64(v);
}

/* All 200 calls are the site's: 100 a second, 112 bytes each, in 100 s: 1 120 000 bytes */
static const struct of_site leak[] = { { 200, 200 } };

static void a_leak_makes_the_process_grow(void **state)
{
	struct json_object *sites = judge_sites(leak, 1, 1120000, 100000), *v;

	assert_int_equal(is.verdict, JUDGED_GROWS);
	assert_int_equal(json_object_array_length(sites), 1);
	assert_true(json_object_object_get_ex(json_object_array_get_idx(sites, 0), "class_bytes",
					      &v));
	assert_int_equal(json_object_get_int(v), 100);
	assert_int_equal(per_hour_of(sites, 0), 1120000 * 36);
	json_object_put(sites);
	/* Some of it fills gaps. */
	assert_int_equal(named(leak, 1, 700000, 100000), 1);
}

static void a_cache_that_turns_over_is_not_named(void **state)
{
	/* As much stays, but the process does not grow, or by less than that may be wrong. */
	assert_int_equal(named(leak, 1, 0, 100000), 0);
	assert_int_equal(is.verdict, JUDGED_STILL);
	assert_non_null(strstr(said, "1 site keeps its blocks, but the process did not grow: looks "
			       "like a cache (in 100 s +0 B/h, give or take 3600000 B/h)"));
	assert_true(judged_is_open(&is));
	assert_int_equal(named(leak, 1, -1000000, 100000), 0);
	assert_int_equal(is.verdict, JUDGED_STILL);
	assert_int_equal(named(leak, 1, 900000, 1000000), 0);
	assert_int_equal(is.verdict, JUDGED_STILL);
	/* By one that is small it grows for sure, but it is another matter. */
	assert_int_equal(named(leak, 1, 300000, 100000), 0);
	assert_int_equal(is.verdict, JUDGED_TURNOVER);
	assert_non_null(strstr(said, "much less than that: looks like a cache"));
	/* A few pages are nothing. */
	assert_int_equal(named(SITES({ { 10, 10 }, { 190, 0 } }), 2, 65535, 100), 0);
	assert_int_equal(is.verdict, JUDGED_STILL);
	assert_int_equal(named(SITES({ { 10, 10 }, { 190, 0 } }), 2, 65536, 100), 1);
	/* It grew until the burst ended, and not any more. */
	burst = 1120000;
	assert_int_equal(named(leak, 1, 1120000, 100000), 0);
	assert_int_equal(is.verdict, JUDGED_STILL);
	burst = 0;
	/* How much it grew is not known. */
	growth.trend.seconds = 0;
	assert_int_equal(named(leak, 1, 1120000, 0), 0);
	assert_int_equal(is.verdict, JUDGED_SHORT);
	growth.trend.seconds = WINDOW;
}

static void a_leak_beside_a_cache(void **state)
{
	/* Of 1 120 000 bytes that stay nine tenths are the cache's. */
	const struct of_site two[] = { { 180, 180 }, { 20, 20 } };
	/* Neither alone is too much, but both are. */
	const struct of_site half[] = { { 100, 100 }, { 100, 100 } };
	struct json_object *sites = judge_sites(two, 2, 112000, 50000);

	assert_int_equal(is.verdict, JUDGED_GROWS);
	assert_int_equal(is.turnover, 1);
	assert_int_equal(json_object_array_length(sites), 1);
	assert_int_equal(per_hour_of(sites, 0), 112000 * 36);
	json_object_put(sites);
	assert_int_equal(named(half, 2, 340000, 20000), 0);
	assert_int_equal(is.verdict, JUDGED_TURNOVER);
	assert_int_equal(named(half, 2, 1000000, 20000), 2);
}

static void a_site_keeps_no_more_than_it_allocates(void **state)
{
	/* A fifth of the growth is the site's; it is not said to be all of it. */
	const struct of_site fifth[] = { { 40, 40 }, { 160, 0 } };
	const struct of_site two[] = { { 100, 100 }, { 100, 100 } };
	struct json_object *sites = judge_sites(fifth, 2, 1120000, 100000);

	assert_int_equal(json_object_array_length(sites), 1);
	assert_int_equal(per_hour_of(sites, 0), 224000 * 36);
	json_object_put(sites);
	/* All of them together no more than the process grows by */
	sites = judge_sites(two, 2, 900000, 100000);
	assert_int_equal(per_hour_of(sites, 0) + per_hour_of(sites, 1), 900000 * 36);
	json_object_put(sites);
	/* Less than a tenth explains nothing, except that traps take half of the time. */
	assert_int_equal(named(SITES({ { 15, 15 }, { 185, 0 } }), 2, 1120000, 100000), 0);
	assert_int_equal(is.verdict, JUDGED_LITTLE);
	assert_false(judged_is_open(&is));
	own = 1;
	assert_int_equal(named(SITES({ { 15, 15 }, { 185, 0 } }), 2, 1120000, 100000), 1);
	own = 2;
	/* The process was slow while it was sampled: then all of its growth was the site's. */
	burst = 84000;
	assert_int_equal(named(SITES({ { 15, 15 }, { 185, 0 } }), 2, 1120000, 100000), 1);
	burst = 0;
	/* What stays of a site that is not named explains nothing. */
	assert_int_equal(named(SITES({ { 15, 15 }, { 185, 150 } }), 2, 1120000, 100000), 0);
	assert_int_equal(named((struct of_site[]){ { 200, 170 } }, 1, 1120000, 100000), 0);
	assert_int_equal(is.verdict, JUDGED_NONE);
}

static void a_site_has_a_tenth_of_what_stays(void **state)
{
	assert_int_equal(named(SITES({ { 20, 20 }, { 180, 180 } }), 2, 1120000, 1000), 2);
	assert_int_equal(named(SITES({ { 19, 19 }, { 181, 181 } }), 2, 1120000, 1000), 1);
}

/* Of a class that is counted: five blocks have to stay, where it grows by many. */
static void a_site_of_which_too_little_was_seen(void **state)
{
	growth.pages = false;
	growth.blocks = 1000;
	growth.seconds = WINDOW;
	assert_int_equal(named(SITES({ { 4, 4 }, { 190, 0 } }), 2, 1120000, 0), 0);
	assert_non_null(strstr(said, "sites: 1 keeps all blocks, but too few were seen: longer "
			       "--seconds and more --max-traps show more"));
	assert_int_equal(named(SITES({ { 2, 2 }, { 4, 4 }, { 190, 0 } }), 3, 1120000, 0), 0);
	assert_non_null(strstr(said, "sites: 2 keep all blocks"));
	/* Not where another one is named, nor of a site that frees some, or all */
	assert_int_equal(named(SITES({ { 4, 4 }, { 50, 50 }, { 190, 0 } }), 3, 1120000, 0), 1);
	assert_null(strstr(said, "too few were seen"));
	assert_int_equal(named(SITES({ { 4, 3 }, { 190, 0 } }), 2, 1120000, 0), 0);
	assert_null(strstr(said, "too few were seen"));
	growth.pages = true;
	growth.blocks = 0;
	growth.seconds = 0;
}

static void sizes_of_what_stays(void **state)
{
	struct block block[] = {
		{ .size = 100, .alive = true }, { .size = 127, .alive = true },
		{ .size = 64, .alive = true }, { .size = 5000, .alive = false },
		{ .size = 260, .alive = true }, { .size = 0, .alive = true },
	};
	struct bins bins = { .rule = BLOCK_PLAIN };
	struct survivors v = { .bins = &bins, .block = block, .n = 6 };
	struct size_range range[3];

	assert_int_equal(survivors_sizes(&v, range, 3), 2);
	assert_int_equal(range[0].lo, 64);
	assert_int_equal(range[0].hi, 127);
	assert_int_equal(range[1].lo, 256);
	assert_int_equal(range[1].hi, 511);
	assert_int_equal(survivors_sizes(&v, range, 1), 1);
	v.n = 0;
	assert_int_equal(survivors_sizes(&v, range, 3), 0);
}

/* However many samples a process with many mappings has moved, or made up */
static void moved_blocks_are_not_looked_for_without_end(void **state)
{
	struct early e = { .bytes = 8, .data = { 1 } };
	struct target t = { .maps = 65530 };
	unsigned int i;

	searches = 0;
	for (i = 0; i < 1000; i++)
		assert_int_equal(block_find(&t, 1 << 20, &e), 0);
	assert_int_equal(searches, (1U << 21) / 65530);
	t = (struct target){ .maps = 100 };
	searches = 0;
	for (i = 0; i < 1000; i++)
		block_find(&t, 1 << 20, &e);
	assert_int_equal(searches, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(musl_says_what_is_free),
		cmocka_unit_test(records_of_musl_say_what_is_free),
		cmocka_unit_test(jemalloc_says_what_is_free),
		cmocka_unit_test(memory_that_went_away_is_free),
		cmocka_unit_test(a_new_pointer_in_the_first_word),
		cmocka_unit_test(a_leak_makes_the_process_grow),
		cmocka_unit_test(a_cache_that_turns_over_is_not_named),
		cmocka_unit_test(a_leak_beside_a_cache),
		cmocka_unit_test(a_site_keeps_no_more_than_it_allocates),
		cmocka_unit_test(a_site_has_a_tenth_of_what_stays),
		cmocka_unit_test(a_site_of_which_too_little_was_seen),
		cmocka_unit_test(sizes_of_what_stays),
		cmocka_unit_test(moved_blocks_are_not_looked_for_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
