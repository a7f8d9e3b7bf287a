// SPDX-License-Identifier: GPL-2.0
/* Which alerts are new, across duplicates, overruns and reloads */
#include "ctl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void in_order(void **state)
{
	struct follow f;

	(void)state;
	follow_begin(&f, 7, 5);
	assert_int_equal(follow_look(&f, 7, 4), FOLLOW_SEEN);
	assert_int_equal(follow_look(&f, 7, 5), FOLLOW_NEW);
	assert_int_equal(follow_take(&f, 5), 0);
	assert_int_equal(follow_look(&f, 7, 5), FOLLOW_SEEN);
	assert_int_equal(follow_look(&f, 7, 6), FOLLOW_NEW);
}

static void gap(void **state)
{
	struct follow f;

	(void)state;
	follow_begin(&f, 7, 5);
	assert_int_equal(follow_look(&f, 7, 9), FOLLOW_GAP);
	assert_int_equal(follow_take(&f, 9), 4);
	assert_int_equal(follow_look(&f, 7, 8), FOLLOW_SEEN);
	assert_int_equal(follow_look(&f, 7, 10), FOLLOW_NEW);
}

static void from_anywhere(void **state)
{
	struct follow f;

	(void)state;
	follow_begin(&f, 7, 0);
	assert_int_equal(follow_look(&f, 7, 1000), FOLLOW_NEW);
	assert_int_equal(follow_take(&f, 1000), 0);
	assert_int_equal(follow_look(&f, 7, 1000), FOLLOW_SEEN);
	assert_int_equal(follow_look(&f, 7, 1002), FOLLOW_GAP);
}

static void reload(void **state)
{
	struct follow f;

	(void)state;
	follow_begin(&f, 7, 5);
	assert_false(follow_reloaded(&f, 7));
	assert_int_equal(follow_look(&f, 8, 1), FOLLOW_FOREIGN);
	assert_true(follow_reloaded(&f, 8));
	assert_false(follow_reloaded(&f, 8));
	assert_int_equal(follow_look(&f, 8, 1), FOLLOW_NEW);
	assert_int_equal(follow_look(&f, 8, 3), FOLLOW_GAP);
	/* late alerts of the old module are printed once */
	assert_int_equal(follow_look(&f, 7, 5), FOLLOW_FOREIGN);
	assert_false(follow_take_old(&f, 7, 4));
	assert_true(follow_take_old(&f, 7, 5));
	assert_false(follow_take_old(&f, 7, 5));
	assert_false(follow_take_old(&f, 6, 9));
	assert_int_equal(follow_look(&f, 8, 1), FOLLOW_NEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order), cmocka_unit_test(gap),
		cmocka_unit_test(from_anywhere), cmocka_unit_test(reload),
	};

	return cmocka_run_group_tests_name("ctl_follow", tests, NULL, NULL);
}
