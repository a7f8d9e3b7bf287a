// SPDX-License-Identifier: GPL-2.0
/* seepage where: the map that a runtime writes of the code it compiles */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "where/jit.c"
#include <cmocka.h>

#define LINES	2000U

static char work[] = "/tmp/test_ctl_jit-XXXXXX", said[512];
static struct target target;	/* its directory in /proc is one that the test makes */

void result_note(struct result *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
}

static void run_shell(const char *command)
{
	assert_int_equal(system(command), 0);
}

static void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int begin(void **state)
{
	char status[256];

	if (!mkdtemp(work) || chdir(work))
		return -1;
	/* 7 is the pid as the process sees itself. */
	snprintf(status, sizeof(status), "Name:\tnode\nUid:\t12345\t%u\t12345\t12345\n"
		 "NSpid:\t4242\t70\t7\nVmRSS:\t100 kB\n", getuid());
	put_file("status", status);
	run_shell("mkdir -p inside/tmp && ln -s inside root");
	target.dir = open(".", O_RDONLY | O_DIRECTORY);
	return 0;
}

static int end(void **state)
{
	char command[64];

	close(target.dir);
	snprintf(command, sizeof(command), "rm -r %s", work);
	return chdir("/") || system(command);
}

static void look(const struct jit *of, u64 pc, const char *expected)
{
	struct jit *j = of ? (struct jit *)of : jit_new(&target);
	size_t n;
	const char *name = jit_name(j, pc, &n);

	if (expected) {
		assert_non_null(name);
		assert_int_equal(n, strlen(expected));
		assert_memory_equal(name, expected, n);
	} else {
		assert_null(name);
	}
	if (!of)
		jit_free(j);
}

static void names_by_address(void **state)
{
	struct jit *j;

	put_file("inside/tmp/perf-7.map",
		 "\n1000 10 first\n 1010 10 space\n-1 10 sign\n1010 0 nothing\n1020 10\n1020 10\x20\n"
		 "ffffffffffffffff 10 over\nxyz 10 word\n1020 zz word\n"
		 "7f0000002000 40 JS:*of many words /srv/a.js:2:19\n"
		 "1800 100 around\n1840 10 within\n900 1000 old and wide\n1100 80 new\n"
		 "3000 100 no end of the line");
	j = jit_new(&target);
	look(j, 0xfff, "old and wide");
	look(j, 0x1000, "old and wide");	/* it came after the first line */
	look(j, 0x1840, "old and wide");
	look(j, 0x184f, "old and wide");
	look(j, 0x1850, "old and wide");
	look(j, 0x1100, "new");
	look(j, 0x117f, "new");
	look(j, 0x1180, "old and wide");
	look(j, 0x1900, NULL);
	look(j, 0x8ff, NULL);
	look(j, 0x7f0000002000, "JS:*of many words /srv/a.js:2:19");
	look(j, 0x7f000000203f, "JS:*of many words /srv/a.js:2:19");
	look(j, 0x7f0000002040, NULL);
	look(j, 0x3000, NULL);
	look(j, UINT64_MAX, NULL);
	assert_int_equal(j->lines, 6);
	jit_note(j, NULL);
	assert_string_equal(said, "");
	jit_free(j);
}

/* What one reads line by line from the end */
static void many_lines(void **state)
{
	static u64 at[LINES], size[LINES];
	FILE *f = fopen("inside/tmp/perf-7.map", "w");
	char name[16];
	struct jit *j;
	unsigned int i, k;
	u64 pc;

	assert_non_null(f);
	srandom(1);
	for (i = 0; i < LINES; i++) {
		at[i] = (u64)random() % 40000;
		size[i] = 1 + (u64)random() % (i % 50 ? 40 : 4000);
		fprintf(f, "%llx %llx n%u\n", at[i], size[i], i);
	}
	assert_int_equal(fclose(f), 0);
	j = jit_new(&target);
	for (pc = 0; pc < 45000; pc += 7) {
		for (k = LINES; k && (pc < at[k - 1] || pc - at[k - 1] >= size[k - 1]); k--)
			;
		snprintf(name, sizeof(name), "n%u", k - 1);
		look(j, pc, k ? name : NULL);
	}
	assert_int_equal(j->lines, LINES);
	jit_free(j);
}

static void more_lines_than_are_read(void **state)
{
	FILE *f = fopen("inside/tmp/perf-7.map", "w");
	struct jit *j;
	unsigned int i;

	assert_non_null(f);
	for (i = 0; i < LINES_MAX + 5; i++)
		fprintf(f, "%x 1 n\n", i);
	assert_int_equal(fclose(f), 0);
	j = jit_new(&target);
	look(j, LINES_MAX - 1, "n");
	look(j, LINES_MAX, NULL);
	jit_note(j, NULL);
	assert_non_null(strstr(said, "names may be missing"));
	jit_free(j);
	/* The same of bytes: a line of 65 MiB, and one behind it */
	run_shell("{ echo 1 1 a; head -c 65M /dev/zero; echo; echo 2 1 b; } "
		  ">inside/tmp/perf-7.map");
	*said = '\0';
	j = jit_new(&target);
	look(j, 1, "a");
	look(j, 2, NULL);
	jit_note(j, NULL);
	assert_non_null(strstr(said, "names may be missing"));
	jit_free(j);
}

/* One line reaches over all others: how many of these are looked at is bounded. */
static void a_line_that_covers_all(void **state)
{
	FILE *f = fopen("inside/tmp/perf-7.map", "w");
	struct jit *j;
	unsigned int i;

	assert_non_null(f);
	fputs("1 ffffffffff wide\n", f);
	for (i = 1; i <= 2 * COVER_MAX; i++)
		fprintf(f, "%x 1 n\n", 16 * i);
	assert_int_equal(fclose(f), 0);
	j = jit_new(&target);
	look(j, 16 * (COVER_MAX - 1) + 1, "wide");
	look(j, 16 * COVER_MAX + 1, NULL);
	look(j, 16 * COVER_MAX, "n");
	jit_free(j);
}

/* Only a regular file of the user or of root, in the root directory of the process */
static void files_that_are_not_opened(void **state)
{
	alarm(20);
	put_file("inside/map", "1000 10 name\n");
	run_shell("rm -f inside/tmp/perf-7.map && ln -s /map inside/tmp/perf-7.map");
	look(NULL, 0x1000, NULL);
	run_shell("rm inside/tmp/perf-7.map && mkfifo inside/tmp/perf-7.map");
	look(NULL, 0x1000, NULL);
	run_shell("rm inside/tmp/perf-7.map && mkdir inside/tmp/perf-7.map");
	look(NULL, 0x1000, NULL);
	run_shell("rmdir inside/tmp/perf-7.map && mv inside/map inside/tmp/perf-7.map");
	look(NULL, 0x1000, "name");
	if (!getuid()) {
		run_shell("chown 54321 inside/tmp/perf-7.map");
		look(NULL, 0x1000, NULL);
		run_shell("chown 0 inside/tmp/perf-7.map");
	}
	/* A link of the process leads to its own root directory, not to that of the tool. */
	run_shell("mv inside/tmp outside && ln -s ../outside inside/tmp");
	look(NULL, 0x1000, NULL);
	run_shell("mv outside inside/outside");
	look(NULL, 0x1000, "name");
	run_shell("rm inside/tmp && mkdir inside/tmp");
	look(NULL, 0x1000, NULL);
	alarm(0);
}

/* It is read when a name is needed, also after the process has ended. */
static void a_map_that_comes_and_goes(void **state)
{
	struct jit *j = jit_new(&target);

	put_file("inside/tmp/perf-7.map", "1000 10 late\n");
	look(j, 0x1000, "late");
	jit_free(j);
	j = jit_new(&target);
	run_shell("echo 2000 10 later >>inside/tmp/perf-7.map && mv root gone");
	look(j, 0x2000, "later");
	look(NULL, 0x2000, NULL);
	jit_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_by_address),
		cmocka_unit_test(many_lines),
		cmocka_unit_test(more_lines_than_are_read),
		cmocka_unit_test(a_line_that_covers_all),
		cmocka_unit_test(files_that_are_not_opened),
		cmocka_unit_test(a_map_that_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
