// SPDX-License-Identifier: GPL-2.0
/* Figures as text, and text that is safe on a terminal */
#include "ctl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char buf[64];

static void bytes(void **state)
{
	(void)state;
	assert_string_equal(fmt_bytes(buf, sizeof(buf), 0), "0 B");
	assert_string_equal(fmt_bytes(buf, sizeof(buf), 1023), "1023 B");
	assert_string_equal(fmt_bytes(buf, sizeof(buf), 1024), "1.0 KiB");
	assert_string_equal(fmt_bytes(buf, sizeof(buf), 1536), "1.5 KiB");
	assert_string_equal(fmt_bytes(buf, sizeof(buf), (1 << 20) - 1), "1.0 MiB");
	assert_string_equal(fmt_bytes(buf, sizeof(buf), 1ULL << 40), "1.0 TiB");
	assert_string_equal(fmt_bytes(buf, sizeof(buf), UINT64_MAX), "16.0 EiB");
	assert_string_equal(fmt_bytes_short(buf, sizeof(buf), 0), "0B");
	assert_string_equal(fmt_bytes_short(buf, sizeof(buf), 10 << 20), "10.0M");
	assert_string_equal(fmt_bytes_short(buf, sizeof(buf), UINT64_MAX), "16.0E");
}

static void growth(void **state)
{
	(void)state;
	assert_string_equal(fmt_growth(buf, sizeof(buf), 0), "0 B/h");
	assert_string_equal(fmt_growth(buf, sizeof(buf), 60 << 20), "+60.0 MiB/h");
	assert_string_equal(fmt_growth(buf, sizeof(buf), -1), "-1 B/h");
	assert_string_equal(fmt_growth(buf, sizeof(buf), INT64_MIN), "-8.0 EiB/h");
	assert_string_equal(fmt_growth(buf, sizeof(buf), INT64_MAX), "+8.0 EiB/h");
	assert_string_equal(fmt_growth_short(buf, sizeof(buf), INT64_MIN), "-8.0E");
	assert_string_equal(fmt_growth_short(buf, sizeof(buf), 2048), "+2.0K");
}

static void times(void **state)
{
	(void)state;
	assert_string_equal(fmt_seconds(buf, sizeof(buf), 0), "0s");
	assert_string_equal(fmt_seconds(buf, sizeof(buf), 59), "59s");
	assert_string_equal(fmt_seconds(buf, sizeof(buf), 65), "1m05s");
	assert_string_equal(fmt_seconds(buf, sizeof(buf), 3600), "1h00m");
	assert_string_equal(fmt_seconds(buf, sizeof(buf), 86400 + 7200), "1d02h");
	assert_string_equal(fmt_seconds(buf, sizeof(buf), 366 * 86400), "1y001d");
	assert_string_equal(fmt_seconds(buf, sizeof(buf), UINT64_MAX), "584942417355y026d");
	assert_string_equal(fmt_ns(buf, sizeof(buf), 0), "0 ns");
	assert_string_equal(fmt_ns(buf, sizeof(buf), 1500), "1.5 us");
	assert_string_equal(fmt_ns(buf, sizeof(buf), 1040760), "1.0 ms");
	assert_string_equal(fmt_ns(buf, sizeof(buf), 10000000000), "10.0 s");
	assert_string_equal(fmt_ns(buf, sizeof(buf), 90000000000), "1m30s");
	fmt_ns(buf, sizeof(buf), UINT64_MAX);
	setenv("TZ", "UTC", 1);
	assert_string_equal(fmt_time(buf, sizeof(buf), 0), "1970-01-01 00:00:00");
	fmt_time(buf, sizeof(buf), UINT64_MAX);
	assert_string_equal(buf, "2554-07-21 23:34:33");
}

static void safe(void **state)
{
	(void)state;
	assert_string_equal(fmt_safe(buf, sizeof(buf), "plain", 5), "plain");
	assert_string_equal(fmt_safe(buf, sizeof(buf), "gr\xc3\xbc\xc3\x9f", 6),
			    "gr\xc3\xbc\xc3\x9f");
	assert_string_equal(fmt_safe(buf, sizeof(buf), "\033[2J\n\r\t\x7f", 8),
			    "\\x1b[2J\\x0a\\x0d\\x09\\x7f");
	assert_string_equal(fmt_safe(buf, sizeof(buf), "a\0b", 3), "a\\x00b");
	assert_string_equal(fmt_safe(buf, sizeof(buf), "\xc2\x9b", 2), "\\xc2\\x9b");	/* CSI */
	assert_string_equal(fmt_safe(buf, sizeof(buf), "\xe2\x80\xae", 3), "\\xe2\\x80\\xae");
	assert_string_equal(fmt_safe(buf, sizeof(buf), "\xff\xc3", 2), "\\xff\\xc3");
	assert_string_equal(fmt_safe(buf, 5, "abcdefgh", 8), "abcd");
	assert_string_equal(fmt_safe(buf, 5, "ab\033d", 4), "ab");
	assert_string_equal(fmt_safe(buf, 4, "ab\xc3\xbc", 4), "ab");
	assert_string_equal(fmt_safe(buf, sizeof(buf), "", 0), "");
}

static void utf8(void **state)
{
	u32 c;

	(void)state;
	assert_int_equal(utf8_char("a", 1, &c), 1);
	assert_int_equal(utf8_char("\xf0\x9f\x98\x80", 4, &c), 4);
	assert_int_equal(c, 0x1f600);
	assert_int_equal(utf8_char("\xf0\x9f\x98", 3, &c), 0);
	assert_int_equal(utf8_char("\xc0\x80", 2, &c), 0);		/* overlong */
	assert_int_equal(utf8_char("\xe0\x80\x80", 3, &c), 0);
	assert_int_equal(utf8_char("\xf0\x80\x80\x80", 4, &c), 0);
	assert_int_equal(utf8_char("\xed\xa0\x80", 3, &c), 0);		/* surrogate */
	assert_int_equal(utf8_char("\xf4\x90\x80\x80", 4, &c), 0);	/* > 10ffff */
	assert_int_equal(utf8_char("\x80", 1, &c), 0);
	assert_int_equal(utf8_char("", 0, &c), 0);
}

static void table(void **state)
{
	static const char *const heads[] = { "N", "NAME", "X" };
	static const bool right[] = { true, false, false };
	struct table *t = table_new(heads, right, 3);
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	(void)state;
	out_init();		/* sets the locale */
	table_cell(t, "100");
	table_cell(t, "\xc3\xbc");
	table_cell(t, "z");
	table_cell(t, "1");
	table_cell(t, "longer");
	table_cell(t, "zz");
	table_cell(t, "2");
	/* a character of two columns, and an n with a combining tilde */
	table_cell(t, "\xe4\xb8\xadn\xcc\x83");
	table_cell(t, "z");
	table_write(t, f, ">");
	table_free(t);
	fclose(f);
	assert_string_equal(out, ">  N  NAME    X\n>100  \xc3\xbc       z\n>  1  longer  zz\n"
			    ">  2  \xe4\xb8\xadn\xcc\x83     z\n");
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes), cmocka_unit_test(growth), cmocka_unit_test(times),
		cmocka_unit_test(safe), cmocka_unit_test(utf8), cmocka_unit_test(table),
	};

	return cmocka_run_group_tests_name("ctl_fmt", tests, NULL, NULL);
}
