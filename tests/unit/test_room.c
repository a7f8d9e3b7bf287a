// SPDX-License-Identifier: GPL-2.0
/* Room in a full table: who gives up a record for whom, and that exchanges come to an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "detect/room.h"

#define MIB	(1ULL << 20)
#define MOST	100000U		/* processes */

/* A machine: processes of users, some of them with a record. */
static struct proc {
	u64 weight;
	u32 share;
	bool tracked, pinned;
} proc[MOST];
static u32 procs, live, max;
static u32 n[SEEP_ROOM_SHARES];
static double weights;		/* of all processes with a record */
static u32 at, visits;	/* where a pass begins to look, and at how many it looks */

static void machine(u32 most)
{
	memset(n, 0, sizeof(n));
	procs = 0;
	live = 0;
	max = most;
	at = 0;
	visits = MOST;
}

static bool left(u32 share)
{
	return live < max && n[share] < seep_room_cap(share, max);
}

static void track(struct proc *p, bool yes)
{
	p->tracked = yes;
	if (yes) {
		n[p->share]++;
		live++;
		weights += (double)p->weight;
	} else {
		n[p->share]--;
		live--;
		weights -= (double)p->weight;
	}
}

/* First come, as at a fork. Returns the number of the first. */
static u32 start(u32 count, u32 share, u64 weight)
{
	u32 first = procs;

	while (count--) {
		struct proc *p = &proc[procs++];

		assert_true(procs <= MOST);
		*p = (struct proc){ .weight = weight, .share = share };
		if (left(share))
			track(p, true);
	}
	return first;
}

static double squares(void)
{
	double sum = 0;

	for (u32 i = 0; i < SEEP_ROOM_SHARES; i++)
		sum += (double)n[i] * n[i];
	return sum;
}

/* What the module does in a full pass. Returns the number of exchanges. */
static u32 pass(void)
{
	static struct seep_room r;
	struct seep_room_side newcomer;
	u32 moves = 0, i;
	void *rec;

	memset(&r, 0xa5, sizeof(r));
	seep_room_begin(&r, n, max);
	for (i = at; i < procs && i - at < visits; i++) {
		struct proc *p = &proc[i];

		if (!p->tracked && left(p->share))
			track(p, true);
		else if (!p->tracked)
			seep_room_offer(&r, p->share, p->weight, i);
	}
	at = i < procs ? i : 0;
	seep_room_ask(&r);
	for (i = 0; i < procs; i++)
		if (proc[i].tracked && !proc[i].pinned)
			seep_room_consider(&r, proc[i].share, proc[i].weight, &proc[i]);
	while (seep_room_next(&r, &newcomer, &rec)) {
		struct proc *old = rec, *new = &proc[newcomer.nr];
		double sq = squares(), w = weights;

		assert_true(old->tracked && !old->pinned && !new->tracked);
		assert_int_equal(new->share, newcomer.share);
		track(old, false);
		track(new, true);
		/* why it ends: shares come nearer to each other, or records get heavier */
		if (old->share == new->share)
			assert_true(weights > w && old->weight <= new->weight / 2);
		else
			assert_true(squares() < sq);
		assert_true(n[new->share] <= seep_room_cap(new->share, max));
		assert_true(++moves <= SEEP_ROOM_MOVES);
	}
	return moves;
}

/* Passes until there is nothing to exchange. */
static u32 rest(void)
{
	u32 passes = 0;

	while (pass())
		assert_true(++passes < 20000);
	assert_int_equal(pass(), 0);
	return passes;
}

static void test_a_user_has_half_at_most_and_root_all(void **state)
{
	(void)state;
	machine(100);
	start(200, 7, MIB);
	assert_int_equal(n[7], 50);
	start(200, 0, MIB);
	assert_int_equal(n[0], 50);
	machine(100);
	start(200, 0, MIB);
	assert_int_equal(n[0], 100);
	assert_int_equal(seep_room_cap(1, 65536), 32768);
	assert_int_equal(seep_room_cap(1, 17), 8);
}

static void test_two_users_at_half_leave_each_other_alone(void **state)
{
	(void)state;
	machine(100);
	start(200, 1, 2 * MIB);
	start(200, 2, 2 * MIB);
	start(20, 1, 3 * MIB);
	start(20, 2, 3 * MIB);
	assert_int_equal(pass(), 0);
	/* heavier ones of each replace its own */
	u32 a = start(8, 1, 100 * MIB), b = start(8, 2, 100 * MIB);

	rest();
	assert_int_equal(n[1], 50);
	assert_int_equal(n[2], 50);
	for (u32 i = 0; i < 8; i++)
		assert_true(proc[a + i].tracked && proc[b + i].tracked);
}

static void test_an_attacker_does_not_hide_a_service(void **state)
{
	static const u64 child[] = { 100 << 10, MIB, 200 * MIB };

	(void)state;
	/* also where each child counts the memory of its parent, which they all share */
	for (u32 i = 0; i < 3; i++) {
		machine(256);
		start(40, 0, 10 * MIB);
		start(1000, 9, child[i]);
		start(200, 0, MIB / 2);
		assert_int_equal(live, 256);
		u32 service = start(1, 5, 5 * MIB);

		assert_false(proc[service].tracked);
		assert_int_equal(pass(), 1);
		assert_true(proc[service].tracked);
		rest();
		assert_true(proc[service].tracked);
		assert_int_equal(n[5], 1);
		/* of two that have the same number root is not the one that gives */
		assert_int_equal(n[0], 128);
	}
}

static void test_the_leak_of_an_attacker_replaces_one_of_his_own(void **state)
{
	(void)state;
	machine(256);
	start(128, 0, 10 * MIB);
	start(1000, 9, MIB);
	u32 leak = start(1, 9, 2 * MIB - 1);

	assert_int_equal(pass(), 0);		/* not twice as large */
	proc[leak].weight = 2 * MIB;
	assert_int_equal(pass(), 1);
	assert_true(proc[leak].tracked);
	assert_int_equal(n[9], 128);
	assert_int_equal(n[0], 128);
	assert_int_equal(pass(), 0);
}

static void test_pinned_records_stay(void **state)
{
	(void)state;
	machine(64);
	start(64, 0, 5 * MIB);
	for (u32 i = 0; i < procs; i++)
		proc[i].pinned = true;
	start(64, 0, 100 * MIB);
	start(64, 3, 100 * MIB);
	assert_int_equal(pass(), 0);
	proc[5].pinned = false;
	assert_int_equal(pass(), 1);
	assert_false(proc[5].tracked);
	/* user 3 had none: it gets it */
	assert_int_equal(n[3], 1);
}

static void test_root_takes_from_a_user_above_half(void **state)
{
	(void)state;
	machine(100);
	start(45, 4, 50 * MIB);
	start(35, 0, 50 * MIB);
	max = 80;			/* lowered */
	u32 first = start(10, 0, 2 * MIB);

	/* lighter than what they replace, until user 4 has no more than the half */
	rest();
	assert_true(proc[first].tracked);
	assert_int_equal(n[4], 40);
	assert_int_equal(n[0], 40);
}

static void test_small_newcomers_are_not_worth_it(void **state)
{
	(void)state;
	machine(16);
	start(16, 0, 4096);
	start(16, 0, SEEP_ROOM_LEAST - 1);
	start(16, 2, SEEP_ROOM_LEAST - 1);
	assert_int_equal(pass(), 0);
	start(1, 0, SEEP_ROOM_LEAST);
	assert_int_equal(pass(), 1);
}

static void test_the_largest_come_first(void **state)
{
	(void)state;
	machine(200);
	start(200, 0, MIB);
	u32 first = start(500, 0, 4 * MIB), large = start(SEEP_ROOM_MOVES, 0, 64 * MIB);

	start(500, 0, 4 * MIB);
	assert_int_equal(pass(), SEEP_ROOM_MOVES);
	assert_false(proc[first].tracked);
	for (u32 i = 0; i < SEEP_ROOM_MOVES; i++)
		assert_true(proc[large + i].tracked);
}

/* Users with many large processes leave the places of a pass to one with few. */
static void test_a_small_user_is_not_outbid(void **state)
{
	(void)state;
	machine(200);
	for (u32 user = 1; user <= 20; user++)
		start(10, user, 500 * MIB);
	for (u32 user = 1; user <= 20; user++)
		start(10, user, 900 * MIB);
	u32 p = start(1, 99, 2 * MIB);

	pass();
	assert_true(proc[p].tracked);
}

static void test_weights_do_not_overflow(void **state)
{
	(void)state;
	machine(16);
	start(16, 0, 1ULL << 62);
	start(1, 0, 1ULL << 33);	/* 0 in 32 bits of granules or pages, more or less */
	start(1, 0, (1ULL << 63) - 1);
	assert_int_equal(pass(), 0);
	start(1, 0, 1ULL << 63);
	assert_int_equal(pass(), 1);
	assert_true(proc[procs - 1].tracked);
	machine(16);
	start(16, 0, (5ULL << 32) << 12);
	start(1, 0, 1ULL << 32 << 12);
	assert_int_equal(pass(), 0);
}

static void test_fair_shares_are_reached(void **state)
{
	(void)state;
	machine(300);
	start(150, 1, 3 * MIB);
	start(150, 2, 3 * MIB);
	start(400, 3, 3 * MIB);
	rest();
	/* 3 gets until the others have no more than twice its number */
	assert_true(n[3] >= 60);
	assert_int_equal(n[1] + n[2] + n[3], 300);
	/* and with twice the weight an equal part */
	for (u32 i = 300; i < 700; i++)
		proc[i].weight = 6 * MIB;
	rest();
	assert_in_range(n[3], 99, 101);
}

static u64 draw(u64 below)
{
	static u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % below;
}

static void test_random_machines_come_to_rest(void **state)
{
	u32 most = 0;

	(void)state;
	for (u32 round = 0; round < 150; round++) {
		u32 users = (u32)draw(30) + 1;

		machine((u32)draw(300) + 16);
		while (procs < 1500) {
			u32 share = (u32)draw(users);
			u32 first = procs;

			start((u32)draw(20) + 1, share, 0);
			for (u32 i = first; i < procs; i++) {
				proc[i].weight = 1ULL << draw(40);
				proc[i].weight += draw(proc[i].weight);
				proc[i].pinned = !draw(8);
			}
		}
		u32 passes = rest();

		most = passes > most ? passes : most;
		assert_int_equal(live, max);
		/* what rests also rests after the limit has changed */
		max = max / 2 + 8;
		rest();
	}
	print_message("at rest after %u passes at most\n", most);
}

/* Processes that shrink and grow for it do not keep others out. */
static void test_churners_delay_nobody(void **state)
{
	(void)state;
	machine(256);
	start(100, 0, 10 * MIB);
	u32 churn = start(2000, 9, MIB);
	u32 service = 0;

	start(100, 0, 20 * MIB);
	for (u32 i = 0; i < 200; i++) {
		for (u32 j = churn; j < churn + 2000; j++)
			proc[j].weight = proc[j].tracked ? MIB : 64 * MIB;
		if (i == 100)
			service = start(1, 5, 2 * MIB);
		pass();
		assert_true(!service || proc[service].tracked);
		assert_true(n[9] <= 128);
	}
}

/* As in the module: 8192 records, 8192 pids in a pass, 13 passes from the first to the last. */
static void test_a_machine_with_100000_processes(void **state)
{
	u32 tracked = 0;

	(void)state;
	machine(8192);
	for (u32 i = 0; i < MOST; i++)
		start(1, (u32)draw(10), i % 200 ? draw(20 * MIB) : 100 * MIB);
	visits = 8192;
	for (u32 i = 0; i < 13; i++)
		pass();
	/* a process that grows is found within 130 s, wherever it is */
	proc[MOST - 1].weight = 500 * MIB;
	proc[MOST / 2 + 1].weight = 500 * MIB;
	for (u32 i = 0; i < 13; i++)
		pass();
	assert_true(proc[MOST - 1].tracked && proc[MOST / 2 + 1].tracked);
	for (u32 i = 0; i < MOST; i += 200)
		tracked += proc[i].tracked;
	assert_int_equal(tracked, MOST / 200);
	assert_int_equal(live, 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_user_has_half_at_most_and_root_all),
		cmocka_unit_test(test_two_users_at_half_leave_each_other_alone),
		cmocka_unit_test(test_an_attacker_does_not_hide_a_service),
		cmocka_unit_test(test_the_leak_of_an_attacker_replaces_one_of_his_own),
		cmocka_unit_test(test_pinned_records_stay),
		cmocka_unit_test(test_root_takes_from_a_user_above_half),
		cmocka_unit_test(test_small_newcomers_are_not_worth_it),
		cmocka_unit_test(test_the_largest_come_first),
		cmocka_unit_test(test_a_small_user_is_not_outbid),
		cmocka_unit_test(test_weights_do_not_overflow),
		cmocka_unit_test(test_fair_shares_are_reached),
		cmocka_unit_test(test_random_machines_come_to_rest),
		cmocka_unit_test(test_churners_delay_nobody),
		cmocka_unit_test(test_a_machine_with_100000_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
