// SPDX-License-Identifier: GPL-2.0
/* Which limit of the cgroups of a process leaves least: a tree of files that the test makes */
#include "cold/cold.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What /proc/self/mountinfo and /proc/meminfo have; all other files are those of the tree. */
static char mountinfo[2048];
static const char *meminfo;

static char *read_made(int dir, const char *name)
{
	if (!strcmp(name, "/proc/self/mountinfo"))
		return must(strdup(mountinfo));
	if (!strcmp(name, "/proc/meminfo"))
		return must(strdup(meminfo));
	return procfs_read(dir, name);
}

#define procfs_read read_made
#include "../../ctl/cold/cgroup.c"
#undef procfs_read
#include <cmocka.h>

#define MB	(1ULL << 20)

static char top[32];
static char name[CGROUP_LIMIT_NAME];
static struct cgroup_memory memory;

/* put("v2/a/b", "memory.max", "5"): makes the directory as well */
static void put(const char *dir, const char *file, const char *text)
{
	char path[256], *slash;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/", top, dir);
	for (slash = path + strlen(top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	strncat(path, file, sizeof(path) - strlen(path) - 1);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void put_mb(const char *dir, const char *file, unsigned long long mb)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", mb << 20);
	put(dir, file, text);
}

/* The cgroups of a process whose file has this text. Returns whether a limit applies. */
static bool limited(const char *cgroup)
{
	bool found;
	int dir;

	put("proc", "cgroup", cgroup);
	snprintf(name, sizeof(name), "%s/proc", top);
	dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	*name = '\0';
	found = cgroup_limit(dir, &memory, name);
	close(dir);
	assert_int_equal(found, !!memory.limit);
	return found;
}

static u64 left(void)
{
	return (memory.limit - memory.used) / MB;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/cgroup.XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(mountinfo, sizeof(mountinfo), "36 35 0:31 / %s/v2 rw - cgroup2 none rw\n"
		 "37 35 0:32 / %s/v1 rw - cgroup none rw,memory\n", top, top);
	meminfo = "MemTotal: 1000 kB\nSwapFree: 0 kB\n";
	put("v2", "cgroup.controllers", "memory\n");
	put_mb("v2/a/b", "memory.current", 100);
	put("v2/a/b", "memory.max", "max\n");
	put("v2/a/b", "memory.high", "max\n");
	put_mb("v2/a", "memory.current", 200);
	put("v2/a", "memory.max", "max\n");
	put("v2/a", "memory.high", "max\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void no_limit(void **state)
{
	(void)state;
	assert_false(limited("0::/a/b\n"));
	assert_string_equal(name, "");
	assert_false(limited("0::/\n"));
	assert_false(limited("0::/gone\n"));
	assert_false(limited("0::/../a\n"));
	assert_false(limited(""));
}

static void the_lower_of_max_and_high(void **state)
{
	(void)state;
	put_mb("v2/a/b", "memory.max", 500);
	assert_true(limited("0::/a/b\n"));
	assert_string_equal(name, "memory.max /a/b");
	assert_int_equal(left(), 400);
	assert_int_equal(memory.used, 100 * MB);
	put_mb("v2/a/b", "memory.high", 300);
	assert_true(limited("0::/a/b\n"));
	assert_string_equal(name, "memory.high /a/b");
	assert_int_equal(left(), 200);
	/* as high as the other: that one kills */
	put_mb("v2/a/b", "memory.high", 500);
	assert_true(limited("0::/a/b\n"));
	assert_string_equal(name, "memory.max /a/b");
	put("v2/a/b", "memory.max", "max\n");
	assert_true(limited("0::/a/b\n"));
	assert_string_equal(name, "memory.high /a/b");
	assert_int_equal(left(), 400);
	/* beyond it */
	put_mb("v2/a/b", "memory.high", 60);
	assert_true(limited("0::/a/b\n"));
	assert_int_equal(left(), 0);
}

static void the_tightest_of_all_above(void **state)
{
	u64 inner;

	(void)state;
	put_mb("v2/a/b", "memory.max", 500);
	assert_true(limited("0::/a/b\n"));
	inner = memory.id;
	put_mb("v2/a", "memory.high", 400);
	assert_true(limited("0::/a/b\n"));
	assert_string_equal(name, "memory.high /a");
	assert_int_equal(left(), 200);
	assert_int_not_equal(memory.id, inner);
	put_mb("v2/a", "memory.high", 700);
	assert_true(limited("0::/a/b\n"));
	assert_string_equal(name, "memory.max /a/b");
	assert_int_equal(memory.id, inner);
	/* in a cgroup namespace the topmost one that is seen has limits as well */
	put_mb("v2", "memory.current", 300);
	put_mb("v2", "memory.max", 350);
	assert_true(limited("0::/a/b\n"));
	assert_string_equal(name, "memory.max ");
	assert_int_equal(left(), 50);
	assert_true(limited("0::/\n"));
	assert_int_equal(left(), 50);
}

static void what_can_be_had_again(void **state)
{
	(void)state;
	put_mb("v2/a/b", "memory.high", 300);
	put("v2/a/b", "memory.stat", "anon 1\ninactive_file 31457280\nactive_file 10485760\n");
	assert_true(limited("0::/a/b\n"));
	assert_int_equal(left(), 240);
	assert_int_equal(memory.used, 60 * MB);
	/* reclaim at memory.high swaps out as well, as far as the cgroup may */
	meminfo = "SwapFree: 102400 kB\n";
	assert_true(limited("0::/a/b\n"));
	assert_int_equal(left(), 340);
	put_mb("v2/a/b", "memory.swap.max", 50);
	put_mb("v2/a/b", "memory.swap.current", 20);
	assert_true(limited("0::/a/b\n"));
	assert_int_equal(left(), 270);
}

static void version_1(void **state)
{
	(void)state;
	put_mb("v1/a", "memory.limit_in_bytes", 128);
	put_mb("v1/a", "memory.usage_in_bytes", 28);
	put_mb("v1/a", "memory.high", 40);	/* it has no such file */
	assert_true(limited("5:memory:/a\n0::/\n"));
	assert_string_equal(name, "memory.limit_in_bytes /a");
	assert_int_equal(left(), 100);
	assert_true(memory.id >> 63);
	assert_true(limited("5:cpu,memory:/a\n"));
	assert_true(limited("5:memory,cpu:/a\n"));
	assert_false(limited("5:cpu:/a\n"));
	assert_false(limited("5:name=memory:/a\n"));
	/* where both are there, the one that leaves less */
	put_mb("v2/a", "memory.high", 250);
	assert_true(limited("5:memory:/a\n0::/a/b\n"));
	assert_string_equal(name, "memory.high /a");
	assert_false(memory.id >> 63);
}

/* A container's own cgroup is mounted: its path is below the root of the mount. */
static void a_part_is_mounted(void **state)
{
	(void)state;
	snprintf(mountinfo, sizeof(mountinfo), "36 35 0:31 /box %s/v2/a rw - cgroup2 none rw\n",
		 top);
	put_mb("v2/a", "memory.high", 260);
	put_mb("v2/a/b", "memory.max", 500);
	assert_true(limited("0::/box/b\n"));
	assert_string_equal(name, "memory.high ");
	assert_int_equal(left(), 60);
	assert_false(limited("0::/other/b\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_lower_of_max_and_high, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_tightest_of_all_above, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_can_be_had_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(version_1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_part_is_mounted, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
