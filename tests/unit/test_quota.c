// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas: shares of users, the shared row of a full table, and a random walk beside a model
 * that remembers every single thing taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "quota.h"

#define ROOT_UID	0
#define USERS		(SEEP_QUOTA_ROWS - SEEP_QUOTA_USER)

static struct seep_quota table[SEEP_QUOTA_ROWS];

static int begin(void **state)
{
	(void)state;
	memset(table, 0, sizeof(table));
	seep_quota_init(table);
	return 0;
}

/* Takes up to @n for @uid. Returns how many were taken. */
static u32 take(u32 uid, enum seep_quota_kind kind, u32 most, u32 n)
{
	u32 got = 0;

	while (n-- && seep_quota_take(seep_quota_row(uid), kind, most))
		got++;
	return got;
}

static void test_root_has_all(void **state)
{
	(void)state;
	assert_int_equal(take(ROOT_UID, SEEP_QUOTA_GROUPS, 4096, 5000), 4096);
	assert_int_equal(seep_quota_sum(SEEP_QUOTA_GROUPS), 4096);
	assert_int_equal(take(1000, SEEP_QUOTA_GROUPS, 4096, 1), 0);
	assert_false(seep_quota_used_up(SEEP_QUOTA_ROOT, SEEP_QUOTA_GROUPS, 1));
}

static void test_user_has_a_share(void **state)
{
	static const struct {
		enum seep_quota_kind kind;
		u32 most, share;
	} row[] = {
		{ SEEP_QUOTA_GROUPS, 4096, 2048 }, { SEEP_QUOTA_HISTORIES, 256, 128 },
		{ SEEP_QUOTA_EMPTY, 128, 64 }, { SEEP_QUOTA_RING, 256, 128 },
		{ SEEP_QUOTA_SUSPECTS, 256, 64 }, { SEEP_QUOTA_MINUTE, 60, 15 },
		{ SEEP_QUOTA_MINUTE, 3, 1 }, { SEEP_QUOTA_MINUTE, 1, 1 },
		{ SEEP_QUOTA_MINUTE, 100000, 25000 },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin(state);
		assert_int_equal(take(1000, row[i].kind, row[i].most, row[i].most),
				 row[i].share);
		assert_true(seep_quota_used_up(seep_quota_row(1000), row[i].kind, row[i].most));
		/* what is left is there for others, and one of what is sent or read often */
		assert_int_equal(take(1001, row[i].kind, row[i].most, row[i].most),
				 row[i].share < row[i].most ? row[i].share :
				 row[i].kind >= SEEP_QUOTA_MINUTE ? 1 : 0);
	}
}

/* Four users take all alerts of a minute and all suspects. Everybody else has one of each. */
static void test_the_first_one_is_for_all(void **state)
{
	static const u32 most[] = { [SEEP_QUOTA_MINUTE] = 60, [SEEP_QUOTA_SUSPECTS] = 256 };

	(void)state;
	for (enum seep_quota_kind kind = SEEP_QUOTA_MINUTE; kind <= SEEP_QUOTA_SUSPECTS; kind++) {
		for (u32 uid = 1000; uid < 1004; uid++)
			assert_int_equal(take(uid, kind, most[kind], most[kind]), most[kind] / 4);
		assert_int_equal(seep_quota_sum(kind), most[kind]);
		assert_int_equal(take(1004, kind, most[kind], 5), 1);
		assert_int_equal(take(1000, kind, most[kind], 5), 0);
		assert_int_equal(take(ROOT_UID, kind, most[kind], 5), 1);
		/* given back by those with more: the rule is the old one again */
		seep_quota_give(seep_quota_row(1000), kind);
		seep_quota_give(seep_quota_row(1001), kind);
		seep_quota_give(seep_quota_row(1002), kind);
		assert_int_equal(take(1004, kind, most[kind], 5), 1);
	}
}

static void test_kinds_are_apart(void **state)
{
	(void)state;
	take(1000, SEEP_QUOTA_GROUPS, 4, 4);
	assert_int_equal(take(1000, SEEP_QUOTA_RING, 4, 4), 2);
}

static void test_nothing_taken_is_nothing_given(void **state)
{
	(void)state;
	seep_quota_give(SEEP_QUOTA_ALL, SEEP_QUOTA_RING);
	assert_int_equal(seep_quota_sum(SEEP_QUOTA_RING), 0);
}

static void test_users_with_nothing_leave(void **state)
{
	u32 uid;

	(void)state;
	for (uid = 1; uid <= 10 * SEEP_QUOTA_ROWS; uid++) {
		u16 row = seep_quota_row(uid);

		assert_true(row >= SEEP_QUOTA_USER);
		assert_true(seep_quota_take(row, SEEP_QUOTA_RING, 256));
		seep_quota_give(row, SEEP_QUOTA_RING);
	}
}

static void test_full_table_has_one_row_for_the_rest(void **state)
{
	u32 uid;
	u16 row;

	(void)state;
	for (uid = 1; uid <= USERS; uid++) {
		row = seep_quota_row(uid);
		assert_true(row >= SEEP_QUOTA_USER);
		assert_true(seep_quota_take(row, SEEP_QUOTA_GROUPS, 4096));
	}
	assert_int_equal(seep_quota_row(5000), SEEP_QUOTA_SHARED);
	assert_int_equal(seep_quota_row(5001), SEEP_QUOTA_SHARED);
	assert_int_equal(seep_quota_row(ROOT_UID), SEEP_QUOTA_ROOT);
	/* together they have the share of one */
	assert_int_equal(take(5000, SEEP_QUOTA_RING, 256, 100), 100);
	assert_int_equal(take(5001, SEEP_QUOTA_RING, 256, 100), 28);
	/* those in the table keep theirs */
	assert_int_equal(take(1, SEEP_QUOTA_RING, 256, 100), 100);

	/* a row becomes free: what was taken from the shared one is given back to it */
	seep_quota_give(seep_quota_row(7), SEEP_QUOTA_GROUPS);
	row = seep_quota_row(5000);
	assert_true(row >= SEEP_QUOTA_USER);
	assert_true(seep_quota_take(row, SEEP_QUOTA_SUSPECTS, 256));
	assert_int_equal(seep_quota_row(5000), row);
	seep_quota_give(SEEP_QUOTA_SHARED, SEEP_QUOTA_RING);
	assert_int_equal(table[SEEP_QUOTA_SHARED].n[SEEP_QUOTA_RING], 127);
	assert_int_equal(table[row].n[SEEP_QUOTA_RING], 0);
}

static void test_a_minute_begins_for_all(void **state)
{
	(void)state;
	take(1000, SEEP_QUOTA_MINUTE, 60, 60);
	take(ROOT_UID, SEEP_QUOTA_MINUTE, 60, 60);
	assert_int_equal(seep_quota_sum(SEEP_QUOTA_MINUTE), 60);
	take(1000, SEEP_QUOTA_RING, 256, 5);
	seep_quota_begin_minute();
	assert_int_equal(seep_quota_sum(SEEP_QUOTA_MINUTE), 0);
	assert_int_equal(seep_quota_sum(SEEP_QUOTA_RING), 5);
	assert_int_equal(take(1000, SEEP_QUOTA_MINUTE, 60, 60), 15);
	assert_int_equal(table[seep_quota_row(1000)].held, 20);
	/* the minute alone does not keep a row */
	seep_quota_begin_minute();
	take(2000, SEEP_QUOTA_MINUTE, 60, 1);
	seep_quota_begin_minute();
	assert_int_equal(table[seep_quota_row(2000)].held, 0);
}

/* Everything taken, by row; random users take and give. */
static void test_random_walk(void **state)
{
	static struct { u32 uid; u16 row; enum seep_quota_kind kind; } held[20000];
	static const u32 most[SEEP_QUOTA_KINDS] = { 4096, 256, 128, 256, 256, 60, 256 };
	u32 n = 0, sum[SEEP_QUOTA_KINDS] = { 0 }, refused = 0;

	(void)state;
	srand(1);
	for (int step = 0; step < 300000; step++) {
		u32 uid = (u32)rand() % 400, i;
		enum seep_quota_kind kind = (enum seep_quota_kind)(rand() % SEEP_QUOTA_KINDS);
		u32 share = uid ? (kind < SEEP_QUOTA_MINUTE ? most[kind] / 2 : most[kind] / 4)
				: most[kind], count = 0;

		if (n && rand() % 9 < 4) {
			i = (u32)rand() % n;
			if (held[i].kind == SEEP_QUOTA_MINUTE)
				continue;
			seep_quota_give(held[i].row, held[i].kind);
			sum[held[i].kind]--;
			held[i] = held[--n];
			continue;
		}
		if (rand() % 500 == 0) {
			seep_quota_begin_minute();
			for (i = 0; i < n; i++)
				while (i < n && held[i].kind == SEEP_QUOTA_MINUTE)
					held[i] = held[--n];
			sum[SEEP_QUOTA_MINUTE] = 0;
		}
		held[n].uid = uid;
		held[n].row = seep_quota_row(uid);
		held[n].kind = kind;
		for (i = 0; i < n; i++)
			count += held[i].row == held[n].row && held[i].kind == kind;
		assert_int_equal(seep_quota_sum(kind), sum[kind]);
		assert_int_equal(table[held[n].row].n[kind], count);
		if (seep_quota_take(held[n].row, kind, most[kind])) {
			assert_true(count < share && (sum[kind] < most[kind] ||
						      (kind >= SEEP_QUOTA_MINUTE && !count)));
			sum[kind]++;
			n++;
		} else {
			assert_true(count >= share || sum[kind] >= most[kind]);
			assert_true(kind < SEEP_QUOTA_MINUTE || count);
			refused++;
		}
		/* no row has two users, but the shared one */
		for (i = 0; i < n; i++)
			assert_true(held[i].row < SEEP_QUOTA_USER ||
				    table[held[i].row].uid == held[i].uid);
	}
	assert_true(refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_root_has_all, begin),
		cmocka_unit_test_setup(test_user_has_a_share, begin),
		cmocka_unit_test_setup(test_the_first_one_is_for_all, begin),
		cmocka_unit_test_setup(test_kinds_are_apart, begin),
		cmocka_unit_test_setup(test_nothing_taken_is_nothing_given, begin),
		cmocka_unit_test_setup(test_users_with_nothing_leave, begin),
		cmocka_unit_test_setup(test_full_table_has_one_row_for_the_rest, begin),
		cmocka_unit_test_setup(test_a_minute_begins_for_all, begin),
		cmocka_unit_test_setup(test_random_walk, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
