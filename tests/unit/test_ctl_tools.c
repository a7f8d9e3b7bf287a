// SPDX-License-Identifier: GPL-2.0
/* Where seepage looks for its tools, and what it executes */
#include "tools.h"
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64], beside[PATH_MAX];

/* A script as the tool NAME, in @where */
static void install(const char *where, const char *name, const char *script)
{
	char path[2 * PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/seepage-%s", where, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
}

static void uninstall(const char *where, const char *name)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/seepage-%s", where, name);
	assert_int_equal(unlink(path), 0);
}

static bool is_found(const char *name, const char *where)
{
	char path[PATH_MAX] = "", want[2 * PATH_MAX];

	if (!tools_find(name, path, sizeof(path)))
		return !where;
	snprintf(want, sizeof(want), "%s/seepage-%s", where ? where : "", name);
	return where && !strcmp(path, want);
}

static int setup(void **state)
{
	ssize_t n = readlink("/proc/self/exe", beside, sizeof(beside) - 8);

	(void)state;
	strcpy(dir, "/tmp/test_ctl_tools.XXXXXX");
	if (n <= 0 || !mkdtemp(dir))
		return -1;
	beside[n] = '\0';
	strcpy(strrchr(beside, '/'), "/tools");
	mkdir(beside, 0755);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rmdir(beside);		/* stays if others have something in it */
	return rmdir(dir);
}

static void looks_where_it_is_told_first(void **state)
{
	(void)state;
	install(dir, "unit-test", "exit 0");
	unsetenv("SEEPAGE_LIBEXEC");
	assert_true(is_found("unit-test", NULL));
	setenv("SEEPAGE_LIBEXEC", "", 1);
	assert_true(is_found("unit-test", NULL));
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	assert_true(is_found("unit-test", dir));
	install(beside, "unit-test", "exit 0");
	assert_true(is_found("unit-test", dir));
	uninstall(dir, "unit-test");
	assert_true(is_found("unit-test", beside));
	uninstall(beside, "unit-test");
	assert_true(is_found("unit-test", NULL));
}

/* ignore is the same program as silence. */
static void has_two_names(void **state)
{
	char path[PATH_MAX], want[PATH_MAX];

	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	install(dir, "silence", "exit 0");
	snprintf(want, sizeof(want), "%s/seepage-silence", dir);
	assert_true(tools_find("ignore", path, sizeof(path)));
	assert_string_equal(path, want);
	assert_true(tools_find("silence", path, sizeof(path)));
	assert_string_equal(path, want);
	uninstall(dir, "silence");
}

static void finds_programs_only(void **state)
{
	char path[PATH_MAX + 32];

	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	install(dir, "unit-test", "exit 0");
	snprintf(path, sizeof(path), "%s/seepage-unit-test", dir);
	assert_true(is_found("unit-test", dir));
	chmod(path, 0644);
	assert_true(is_found("unit-test", NULL));
	uninstall(dir, "unit-test");
}

/* A name is no path: it would lead to programs elsewhere. */
static void refuses_what_is_no_name(void **state)
{
	static const char *const files[] = { "", "A", "a b", "a.b", "\xc3\xa4" };
	static const char *const names[] = { "", "a/b", "../x", "A", "a b", "a.b", "\xc3\xa4" };
	char path[PATH_MAX], where[PATH_MAX + 16];
	size_t i;

	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	snprintf(where, sizeof(where), "%s/seepage-a", dir);
	mkdir(where, 0755);
	install(dir, "a/b", "exit 0");		/* without the first component's "seepage-" */
	/* the files exist, so only the rule for names can refuse them */
	for (i = 0; i < ARRAY_SIZE(files); i++)
		install(dir, files[i], "exit 0");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(tools_find(names[i], path, sizeof(path)));
	for (i = 0; i < ARRAY_SIZE(files); i++)
		uninstall(dir, files[i]);
	uninstall(dir, "a/b");
	rmdir(where);
	install(dir, "unit-test", "exit 0");
	assert_true(tools_find("unit-test", path, sizeof(path)));
	assert_false(tools_find("unit-test", path, 8));	/* no room for a path */
	uninstall(dir, "unit-test");
	/* a directory of the name is no program */
	snprintf(where, sizeof(where), "%s/seepage-unit-test", dir);
	mkdir(where, 0755);
	assert_false(tools_find("unit-test", path, sizeof(path)));
	rmdir(where);
}

/* What the tool prints, errors too; *status is as of waitpid() */
static char *output_of(struct ctx *ctx, char **words, int *status)
{
	static char text[1024];
	char path[PATH_MAX];
	int fd[2];
	pid_t pid;
	ssize_t n;

	assert_true(tools_find("unit-test", path, sizeof(path)));
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		close(fd[1]);
		out_init();
		_exit(tools_exec(ctx, "unit-test", path, words) + 100);
	}
	close(fd[1]);
	n = read(fd[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(pid, status, 0), pid);
	return text;
}

/* What is said of @cgroup, asked @times, in a process of its own: there is one tool for all. */
static const char *named(const char *cgroup, int times)
{
	static char text[TEXT_MAX];
	int fd[2], status;

	assert_int_equal(pipe(fd), 0);
	if (!fork()) {
		out_init();
		snprintf(text, sizeof(text), "container 0123");
		while (times--)
			tools_container(cgroup, text);
		_exit(write(fd[1], text, sizeof(text)) != sizeof(text));
	}
	close(fd[1]);
	assert_int_equal(read(fd[0], text, sizeof(text)), sizeof(text));
	close(fd[0]);
	assert_true(wait(&status) > 0 && !status);
	return text;
}

/* The line that the tool top answers; without one the text stays. */
static void asks_for_the_name_of_a_container(void **state)
{
	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	assert_string_equal(named("/a b", 2), "container 0123");
	install(dir, "top", "exit 0");
	assert_string_equal(named("/a b", 2), "container 0123");
	/* the same process answers all */
	install(dir, "top", "while read -r it; do n=x$n; echo \"$* $it $n\"; done");
	assert_string_equal(named("/a b'$(exit)", 3), "--container - /a b'$(exit) xxx");
	install(dir, "top", "read it; printf '%0300d'");
	assert_int_equal(strlen(named("/a", 1)), TEXT_MAX - 1);
	uninstall(dir, "top");
}

static void passes_options_words_and_status(void **state)
{
	char *words[6] = { "1", "--all", "--", "", "a b", NULL }, *none[1] = { NULL };
	struct ctx plain = { 0 }, json = { .json = true };
	struct ctx all = { .json = true, .pretty = true, .help = true };
	int status;

	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	install(dir, "unit-test", "printf '<%s>' \"$@\"; exit 7");
	assert_string_equal(output_of(&plain, words, &status), "<1><--all><--><><a b>");
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_string_equal(output_of(&json, words, &status), "<-j><1><--all><--><><a b>");
	assert_string_equal(output_of(&all, none, &status), "<-p><-h>");
	uninstall(dir, "unit-test");
}

/* It is not a child: a signal ends it, and SIGPIPE is as it was. */
static void is_the_same_process(void **state)
{
	char *none[1] = { NULL };
	struct ctx ctx = { 0 };
	int status;

	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	install(dir, "unit-test", "kill -TERM $$; exit 7");
	output_of(&ctx, none, &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	install(dir, "unit-test", "kill -PIPE $$; exit 7");
	output_of(&ctx, none, &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	uninstall(dir, "unit-test");
}

/* The interpreter of the script does not exist: only the execution shows it. */
static void says_why_it_cannot_execute(void **state)
{
	char path[PATH_MAX], *none[1] = { NULL };
	struct ctx ctx = { 0 };
	int status;
	FILE *f;

	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	install(dir, "unit-test", "exit 0");
	snprintf(path, sizeof(path), "%s/seepage-unit-test", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!%s/nothing\n", dir);
	fclose(f);
	assert_non_null(strstr(output_of(&ctx, none, &status), "No such file or directory"));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 101);
	uninstall(dir, "unit-test");
}

static void names_the_package_of_what_is_missing(void **state)
{
	struct tool t = { NULL };
	struct ctx ctx = { 0 };

	(void)state;
	setenv("SEEPAGE_LIBEXEC", dir, 1);
	while (tools_next(&t))
		assert_string_equal(tools_package(&t), strcmp(t.name, "explain") ? "seepage-tools" :
				    "seepage");
	assert_int_equal(tools_missing(&ctx, "frobnicate"), 0);
	assert_null(ctx.cmd);
	assert_int_equal(tools_missing(&ctx, "replay"), 1);
	assert_string_equal(ctx.cmd, "replay");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_where_it_is_told_first),
		cmocka_unit_test(has_two_names),
		cmocka_unit_test(finds_programs_only),
		cmocka_unit_test(refuses_what_is_no_name),
		cmocka_unit_test(asks_for_the_name_of_a_container),
		cmocka_unit_test(passes_options_words_and_status),
		cmocka_unit_test(is_the_same_process),
		cmocka_unit_test(says_why_it_cannot_execute),
		cmocka_unit_test(names_the_package_of_what_is_missing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
