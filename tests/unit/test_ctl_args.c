// SPDX-License-Identifier: GPL-2.0
/* The command line of the controller */
#include "ctl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static bool flag;
static u64 number;
static const char *string;

static const struct opt opts[] = {
	{ .name = "flag", .kind = OPT_FLAG, .dest = &flag },
	{ .name = "number", .kind = OPT_NUMBER, .dest = &number, .arg = "N", .min = 3, .max = 10 },
	{ .name = "string", .kind = OPT_STRING, .dest = &string, .arg = "S" },
	{ .name = NULL }
};

static const struct command cmd = { .name = "test", .args = "A", .opts = opts, .max = -1 };
static const struct command one = { .name = "one", .args = "PID", .min = 1, .max = 1 };

static char *argv[16];
static struct ctx ctx;

static int parse(const struct command *c, const char *line)
{
	static char copy[256];
	char *save = NULL, *word;
	int argc = 0;

	memset(&ctx, 0, sizeof(ctx));
	memset(argv, 0, sizeof(argv));
	flag = false;
	number = 0;
	string = NULL;
	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	return args_parse(&ctx, c, argc, argv);
}

static void numbers(void **state)
{
	u64 v = 7;

	(void)state;
	assert_true(parse_u64("0", &v));
	assert_int_equal(v, 0);
	assert_true(parse_u64("18446744073709551615", &v));
	assert_true(v == UINT64_MAX);
	assert_true(parse_u64("007", &v));
	assert_int_equal(v, 7);
	assert_false(parse_u64("18446744073709551616", &v));
	assert_false(parse_u64("99999999999999999999999999", &v));
	assert_false(parse_u64("", &v));
	assert_false(parse_u64("-1", &v));
	assert_false(parse_u64("+1", &v));
	assert_false(parse_u64(" 1", &v));
	assert_false(parse_u64("1 ", &v));
	assert_false(parse_u64("0x10", &v));
	assert_false(parse_u64("1.0", &v));
	assert_false(parse_u64("1e3", &v));
	assert_int_equal(v, 7);
}

static void pids(void **state)
{
	u32 pid;

	(void)state;
	assert_int_equal(parse_pid(&ctx, "1", &pid), 0);
	assert_int_equal(pid, 1);
	assert_int_equal(parse_pid(&ctx, "2147483647", &pid), 0);
	assert_int_equal(parse_pid(&ctx, "2147483648", &pid), EXIT_USAGE);
	assert_int_equal(parse_pid(&ctx, "4294967297", &pid), EXIT_USAGE);
	assert_int_equal(parse_pid(&ctx, "0", &pid), EXIT_USAGE);
	assert_int_equal(parse_pid(&ctx, "self", &pid), EXIT_USAGE);
}

static void states(void **state)
{
	u32 mask;

	(void)state;
	assert_int_equal(parse_states(&ctx, "ok", SEEPAGE_STATE_OK, &mask), 0);
	assert_int_equal(mask, 1U << SEEPAGE_STATE_OK);
	assert_int_equal(parse_states(&ctx, "suspected,runaway", SEEPAGE_STATE_OK, &mask), 0);
	assert_int_equal(mask, 1U << SEEPAGE_STATE_SUSPECTED | 1U << SEEPAGE_STATE_RUNAWAY);
	assert_int_equal(parse_states(&ctx, "suspect", SEEPAGE_STATE_OK, &mask), EXIT_USAGE);
	assert_int_equal(parse_states(&ctx, "ok,", SEEPAGE_STATE_OK, &mask), EXIT_USAGE);
	assert_int_equal(parse_states(&ctx, "", SEEPAGE_STATE_OK, &mask), EXIT_USAGE);
	assert_int_equal(parse_states(&ctx, "OK", SEEPAGE_STATE_OK, &mask), EXIT_USAGE);
}

/* Alerts are never in a lower state: to wait for one would be in vain. */
static void states_of_alerts(void **state)
{
	int least = SEEPAGE_STATE_SUSPECTED;
	u32 mask;

	(void)state;
	assert_int_equal(parse_states(&ctx, "ok", least, &mask), EXIT_USAGE);
	assert_int_equal(parse_states(&ctx, "confirmed,watch", least, &mask), EXIT_USAGE);
	assert_int_equal(parse_states(&ctx, "suspected,exited", least, &mask), 0);
	assert_int_equal(mask, 1U << SEEPAGE_STATE_SUSPECTED | 1U << SEEPAGE_STATE_EXITED);
}

static void options(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd, "a --flag b --number 3 --string=x= c -jp"), 3);
	assert_string_equal(argv[0], "a");
	assert_string_equal(argv[2], "c");
	assert_true(flag && ctx.json && ctx.pretty);
	assert_int_equal(number, 3);
	assert_string_equal(string, "x=");
	assert_int_equal(parse(&cmd, "--number=10 --json"), 0);
	assert_true(ctx.json && !ctx.pretty);
	assert_int_equal(parse(&cmd, "-- --flag -j"), 2);
	assert_false(flag || ctx.json);
	assert_int_equal(parse(&cmd, "key -5"), 2);
	assert_string_equal(argv[1], "-5");
	assert_int_equal(parse(&cmd, "-"), 1);
}

static void refused(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd, "--number"), -1);
	assert_int_equal(parse(&cmd, "--number 2"), -1);
	assert_int_equal(parse(&cmd, "--number 11"), -1);
	assert_int_equal(parse(&cmd, "--number ten"), -1);
	assert_int_equal(parse(&cmd, "--flag=1"), -1);
	assert_int_equal(parse(&cmd, "--fla"), -1);
	assert_int_equal(parse(&cmd, "--flagg"), -1);
	assert_int_equal(parse(&cmd, "-x"), -1);
	assert_int_equal(parse(&cmd, "-jx"), -1);
	assert_int_equal(parse(&one, ""), -1);
	assert_int_equal(parse(&one, "1 2"), -1);
	assert_int_equal(parse(&one, "--flag 1"), -1);
	assert_int_equal(parse(&one, "1"), 1);
	assert_int_equal(parse(&one, "--help"), 0);
	assert_true(ctx.help);
}

static void globals(void **state)
{
	char *a[6] = { "seepage", "-j", "--pretty", "ps", "-h", NULL };
	char *b[3] = { "seepage", "--nope", NULL };

	(void)state;
	memset(&ctx, 0, sizeof(ctx));
	assert_int_equal(args_globals(&ctx, 5, a), 3);
	assert_true(ctx.json && ctx.pretty && !ctx.help);
	assert_int_equal(args_globals(&ctx, 1, a), 1);
	assert_int_equal(args_globals(&ctx, 2, b), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(pids), cmocka_unit_test(states),
		cmocka_unit_test(states_of_alerts),
		cmocka_unit_test(options), cmocka_unit_test(refused), cmocka_unit_test(globals),
	};

	return cmocka_run_group_tests_name("ctl_args", tests, NULL, NULL);
}
