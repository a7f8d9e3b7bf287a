// SPDX-License-Identifier: GPL-2.0
/* Figures as a one-line bar chart */
#include "ctl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const u64 rising[] = { 100, 200, 300, 400, 500, 600, 700, 800 };
static char buf[SPARK_MAX];

static void shapes(void **state)
{
	static const u64 flat[] = { 5000, 5000, 5000 }, zero[] = { 0, 0 };
	static const u64 noise[] = { 100000, 100100, 100000 }, dip[] = { 900, 100, 900 };

	(void)state;
	assert_string_equal(spark(buf, rising, 8, 8, true), "▁▂▃▄▅▆▇█");
	assert_string_equal(spark(buf, rising, 8, 8, false), "_.:-=+*#");
	assert_string_equal(spark(buf, flat, 3, 3, false), "___");
	assert_string_equal(spark(buf, zero, 2, 2, false), "__");
	assert_string_equal(spark(buf, noise, 3, 3, false), "___");	/* 0.1 % is no rise */
	assert_string_equal(spark(buf, dip, 3, 3, false), "#_#");
}

static void widths(void **state)
{
	u64 many[1000];
	unsigned int i, columns;

	(void)state;
	assert_string_equal(spark(buf, rising, 8, 16, false), "__..::--==++**##");
	assert_string_equal(spark(buf, rising, 8, 15, false), "_.:-=+*#");
	assert_string_equal(spark(buf, rising, 4, 80, false), "____::::++++####");	/* enough */
	/* each column is the least of two values */
	assert_string_equal(spark(buf, rising, 8, 4, false), "_:=*");
	assert_string_equal(spark(buf, rising, 8, 1, false), "_");
	assert_string_equal(spark(buf, rising, 8, 0, false), "");
	assert_string_equal(spark(buf, rising, 0, 80, false), "");
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = i % 3 ? UINT64_MAX : 0;
	for (i = 0; i <= ARRAY_SIZE(many); i++)
		for (columns = 0; columns < 200; columns++)
			assert_in_range(strlen(spark(buf, many, i, columns, true)), 0,
					3 * (columns < SPARK_COLUMNS ? columns : SPARK_COLUMNS));
}

static void locales(void **state)
{
	(void)state;
	assert_false(spark_utf8(NULL, NULL, NULL));
	assert_false(spark_utf8("", "", "C"));
	assert_true(spark_utf8(NULL, NULL, "en_US.UTF-8"));
	assert_true(spark_utf8("", "C.utf8", "C"));
	assert_true(spark_utf8("", NULL, "de_DE.UTF-8@euro"));
	assert_false(spark_utf8("C", NULL, "en_US.UTF-8"));
	assert_false(spark_utf8(NULL, "de_DE.ISO-8859-1", "en_US.UTF-8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes), cmocka_unit_test(widths), cmocka_unit_test(locales),
	};

	return cmocka_run_group_tests_name("ctl_spark", tests, NULL, NULL);
}
