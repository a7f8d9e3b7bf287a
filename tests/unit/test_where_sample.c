// SPDX-License-Identifier: GPL-2.0
/* Which samples of a burst are kept: kmod/where/sample.c beside a plain model of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../kmod/where/where.h"

#define ADDRESSES	64

u64 get_random_u64(void)
{
	return 0x9e3779b97f4a7c15ULL;
}

/* The last call that returned an address, and what realloc() did to the block before. */
struct model {
	bool alive;
	u64 ns, first_size;
	u32 resized;
};

static u64 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

static u64 address(u64 n)
{
	return 0x10000 + 16 * n;
}

static struct where_burst *begin(u32 samples, u32 latest)
{
	struct where_burst *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->how.samples = samples;
	b->how.latest = latest;
	assert_int_equal(where_sample_new(b), 0);
	return b;
}

static void end(struct where_burst *b)
{
	where_sample_free(b);
	free(b);
}

static void keep(struct where_burst *b, u64 ns, u64 size, u64 addr, u64 old)
{
	struct where_call call = { .arg = old };

	call.s.ns = ns;
	call.s.size = size;
	call.s.addr = addr;
	where_keep(b, &call, old != 0);
}

/* The second set has each address once, and what it has of one is its last call. */
static void compare(const struct where_burst *b, const struct model *m, bool all)
{
	const struct seepage_where_sample *set = b->sample + b->how.samples;
	u32 i, alive = 0;
	bool seen[ADDRESSES] = { false };

	for (i = 0; i < b->latest; i++) {
		u64 n = (set[i].addr - 0x10000) / 16;

		assert_in_range(n, 0, ADDRESSES - 1);
		assert_false(seen[n]);
		seen[n] = true;
		assert_true(m[n].alive);
		assert_int_equal(set[i].ns, m[n].ns);
		if (all) {
			assert_int_equal(set[i].first_size, m[n].first_size);
			assert_int_equal(set[i].resized, m[n].resized);
		}
	}
	for (i = 0; i < ADDRESSES; i++)
		alive += m[i].alive;
	if (all)
		assert_int_equal(b->latest, alive);
	else
		assert_true(b->latest <= b->how.latest);
}

/* Calls at random; a third of them resize a block that is there. */
static void run(u32 latest)
{
	struct where_burst *b = begin(30, latest);
	struct model m[ADDRESSES] = { 0 };
	u64 state = latest + 1, ns;

	for (ns = 1; ns <= 20000; ns++) {
		u64 to = next_random(&state) % ADDRESSES, from = next_random(&state) % ADDRESSES;
		bool resizes = !(next_random(&state) % 3) && m[from].alive;
		struct model new = { .alive = true, .ns = ns, .first_size = ns % 97 };

		if (resizes) {
			new.first_size = m[from].first_size;
			new.resized = m[from].resized + 1;
			m[from].alive = false;
		}
		m[to] = new;
		keep(b, ns, ns % 97, address(to), resizes ? address(from) : 0);
		compare(b, m, latest >= ADDRESSES);
	}
	assert_int_equal(b->matched, 20000);
	assert_int_equal(where_samples(b), 30 + b->latest);
	end(b);
}

static void test_the_latest_call_of_each_address_is_kept(void **state)
{
	run(ADDRESSES);
	run(1000);
}

static void test_a_set_that_is_full_drops_at_random(void **state)
{
	run(1);
	run(2);
	run(17);
}

static void test_no_second_set(void **state)
{
	struct where_burst *b = begin(10, 0);
	u64 i;

	for (i = 1; i < 100; i++)
		keep(b, i, 8, address(i % ADDRESSES), i % 2 ? address((i + 1) % ADDRESSES) : 0);
	assert_int_equal(where_samples(b), 10);
	end(b);
}

/* Each call of ten thousand has the same chance, 1 of 100. */
static void test_the_first_set_is_drawn_from_the_whole_time(void **state)
{
	struct where_burst *b = begin(100, 0);
	u32 i, early = 0;

	for (i = 0; i < 10000; i++)
		keep(b, i, 8, address(0), 0);
	for (i = 0; i < 100; i++)
		early += b->sample[i].ns < 5000;
	assert_in_range(early, 30, 70);
	end(b);
}

/*
 * A realloc() that began at 10 gives its old address back; a call that began at 11 is given it and
 * returns first.
 */
static void test_a_block_of_another_thread_is_not_resized(void **state)
{
	struct where_burst *b = begin(10, 20);
	const struct seepage_where_sample *set = b->sample + b->how.samples;

	keep(b, 5, 8, address(1), 0);
	keep(b, 11, 80, address(1), 0);
	keep(b, 10, 16, address(2), address(1));
	assert_int_equal(b->latest, 2);
	assert_int_equal(set[0].addr, address(1));
	assert_int_equal(set[0].ns, 11);
	assert_int_equal(set[1].first_size, 16);
	assert_int_equal(set[1].resized, 0);
	end(b);
}

static void test_the_sets_are_put_together(void **state)
{
	struct where_burst *b = begin(50, 20);
	u64 i;

	for (i = 0; i < 5; i++)
		keep(b, i, 8, address(i), 0);
	where_sample_pack(b);
	assert_int_equal(where_samples(b), 10);
	for (i = 0; i < 5; i++) {
		assert_int_equal(b->sample[i].ns, i);
		assert_int_equal(b->sample[i].set, 0);
		assert_int_equal(b->sample[5 + i].ns, i);
		assert_int_equal(b->sample[5 + i].set, 1);
	}
	end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_latest_call_of_each_address_is_kept),
		cmocka_unit_test(test_a_set_that_is_full_drops_at_random),
		cmocka_unit_test(test_no_second_set),
		cmocka_unit_test(test_the_first_set_is_drawn_from_the_whole_time),
		cmocka_unit_test(test_a_block_of_another_thread_is_not_resized),
		cmocka_unit_test(test_the_sets_are_put_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
