// SPDX-License-Identifier: GPL-2.0
/* seepage where --follow: what it is given, and which process is looked at next */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include "where/turns.h"
#include <cmocka.h>

static struct turns q;

static int setup(void **state)
{
	memset(&q, 0, sizeof(q));
	return 0;
}

static void alert_in(u64 pid, s64 begun_s, const char *state)
{
	struct alert a = { .pid = pid, .begun_s = begun_s, .state = state };

	a.ends = !strcmp(state, "recovered") || !strcmp(state, "exited");
	turns_alert(&q, &a);
}

static void next_is(u64 pid, bool second)
{
	struct turn t;

	assert_true(turns_next(&q, &t));
	assert_int_equal(t.pid, pid);
	assert_int_equal(t.second, second);
}

static void nothing_is_left(void)
{
	struct turn t;

	assert_false(turns_next(&q, &t));
}

static void suspected_is_the_first_look_and_confirmed_the_second(void **state)
{
	nothing_is_left();
	alert_in(1, 100, "suspected");
	next_is(1, false);
	nothing_is_left();
	alert_in(1, 100, "confirmed");
	alert_in(2, 100, "runaway");
	next_is(1, true);
	next_is(2, true);
	alert_in(1, 100, "watch");
	alert_in(1, 100, "ok");
	nothing_is_left();
}

static void a_process_waits_once(void **state)
{
	alert_in(1, 100, "suspected");
	alert_in(1, 102, "confirmed");	/* its beginning is known within a second or two */
	alert_in(1, 101, "runaway");
	next_is(1, true);
	nothing_is_left();
	/* a later process of the same pid is another one */
	alert_in(1, 100, "suspected");
	alert_in(1, 200, "suspected");
	next_is(1, false);
	next_is(1, false);
}

static void confirmed_comes_first(void **state)
{
	alert_in(1, 100, "suspected");
	alert_in(2, 100, "confirmed");
	alert_in(3, 100, "suspected");
	next_is(2, true);
	next_is(1, false);
	next_is(3, false);
	nothing_is_left();
}

static void the_end_of_an_alert_is_that_of_its_look(void **state)
{
	alert_in(1, 100, "confirmed");
	alert_in(2, 100, "suspected");
	alert_in(3, 100, "suspected");
	alert_in(2, 100, "recovered");
	alert_in(3, 100, "exited");
	alert_in(1, 200, "exited");	/* another process */
	next_is(1, true);
	nothing_is_left();
}

static void there_is_room_for_64_and_confirmed_ones_have_it(void **state)
{
	unsigned int i;

	for (i = 1; i <= TURNS_MAX + 5; i++)
		alert_in(i, 100, "suspected");
	assert_int_equal(q.n, TURNS_MAX);
	alert_in(1000, 100, "confirmed");	/* in place of the last first look */
	assert_int_equal(q.n, TURNS_MAX);
	next_is(1000, true);
	for (i = 1; i < TURNS_MAX; i++)
		next_is(i, false);
	nothing_is_left();
	for (i = 1; i <= TURNS_MAX + 5; i++)
		alert_in(i, 100, "confirmed");
	for (i = 1; i <= TURNS_MAX; i++)
		next_is(i, true);
	nothing_is_left();
}

static void what_is_left_out_has_no_turn_again(void **state)
{
	struct turn t;
	unsigned int i;

	alert_in(1, 100, "suspected");
	assert_true(turns_next(&q, &t));
	turns_leave_out(&q, &t);
	alert_in(1, 101, "confirmed");
	nothing_is_left();
	/* also what came while the look went on */
	alert_in(7, 100, "suspected");
	assert_true(turns_next(&q, &t));
	alert_in(7, 101, "confirmed");
	turns_leave_out(&q, &t);
	nothing_is_left();
	/* a later process of the same pid is another one */
	alert_in(1, 200, "suspected");
	next_is(1, false);
	/* The latest ones are known. */
	for (i = 1; i <= TURNS_MAX; i++)
		turns_leave_out(&q, &(struct turn){ .pid = 1000 + i, .begun_s = 100 });
	for (i = 1; i <= TURNS_MAX; i++)
		alert_in(1000 + i, 100, "confirmed");
	nothing_is_left();
	alert_in(1, 100, "confirmed");
	next_is(1, true);
}

static void what_it_is_given(void **state)
{
	static const char *const bad[] = {
		"", "off", "cens", "censuses", "burst,", "census,0", "census,1001", "census,x",
		"census,5,5", "census 5", ",5", "BURST",
	};
	struct alerts_how how;
	size_t i;

	assert_true(alerts_parse("census", &how));
	assert_true(!how.burst && !how.permille);
	assert_true(alerts_parse("burst", &how));
	assert_true(how.burst && !how.permille);
	assert_true(alerts_parse("census,1", &how));
	assert_true(!how.burst && how.permille == 1);
	assert_true(alerts_parse("burst,1000", &how));
	assert_true(how.burst && how.permille == 1000);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(alerts_parse(bad[i], &how));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(suspected_is_the_first_look_and_confirmed_the_second, setup),
		cmocka_unit_test_setup(a_process_waits_once, setup),
		cmocka_unit_test_setup(confirmed_comes_first, setup),
		cmocka_unit_test_setup(the_end_of_an_alert_is_that_of_its_look, setup),
		cmocka_unit_test_setup(there_is_room_for_64_and_confirmed_ones_have_it, setup),
		cmocka_unit_test_setup(what_is_left_out_has_no_turn_again, setup),
		cmocka_unit_test(what_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
