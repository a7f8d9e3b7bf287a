// SPDX-License-Identifier: GPL-2.0
/* Times until which a silence holds, where a day has 23 or 25 hours */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "quiet/quiet.h"
#include <cmocka.h>

static u64 at(int year, int month, int day, int hour, int minute)
{
	struct tm tm = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day,
			 .tm_hour = hour, .tm_min = minute, .tm_isdst = -1 };

	return (u64)mktime(&tm);
}

static u64 until(const char *word, u64 now)
{
	u64 t = 0;

	assert_true(quiet_time(word, now, &t));
	return t;
}

static int setup(void **state)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return 0;
}

static void a_clock_is_of_today_or_tomorrow(void **state)
{
	assert_int_equal(until("22:00", at(2027, 6, 3, 21, 0)), at(2027, 6, 3, 22, 0));
	assert_int_equal(until("22:00", at(2027, 6, 3, 22, 0)), at(2027, 6, 4, 22, 0));
	assert_int_equal(until("22:00", at(2027, 12, 31, 23, 0)), at(2028, 1, 1, 22, 0));
	assert_int_equal(until("22:00", at(2028, 2, 28, 23, 0)), at(2028, 2, 29, 22, 0));
}

/* 2027-03-28 has 23 hours: a day of 24 from half past eleven on leads beyond it. */
static void a_day_may_be_short_or_long(void **state)
{
	assert_int_equal(until("22:00", at(2027, 3, 27, 23, 30)), at(2027, 3, 28, 22, 0));
	assert_int_equal(until("00:15", at(2027, 3, 27, 23, 30)), at(2027, 3, 28, 0, 15));
	assert_int_equal(until("22:00", at(2027, 3, 28, 23, 30)), at(2027, 3, 29, 22, 0));
	/* 2027-10-31 has 25 */
	assert_int_equal(until("22:00", at(2027, 10, 31, 0, 10)), at(2027, 10, 31, 22, 0));
	assert_int_equal(until("00:05", at(2027, 10, 31, 0, 10)), at(2027, 11, 1, 0, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_is_of_today_or_tomorrow),
		cmocka_unit_test(a_day_may_be_short_or_long),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
