// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the named tests, each in a child, and prints one line for each:
 *   ok NAME | not ok NAME: why | ok NAME # skip why
 */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nltest.h"

#define MAX_SECONDS	240	/* a test that takes longer hangs; times slowness() */
#define MAX_LINES	20	/* that one test may complain */

static const struct test * const all[] = {
	tests_status, tests_config, tests_bad, tests_proc, tests_dump, tests_alert,
	tests_reset, tests_perm, tests_stress, tests_debugfs, tests_load, tests_fail,
};

static const char *name;
static unsigned int failed;

void fail(const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (!failed)
		printf("not ok %s: %s\n", name, why);
	else if (failed < MAX_LINES)
		printf("# %s: %s\n", name, why);
	failed++;
	fflush(stdout);
}

void note(const char *fmt, ...)
{
	va_list ap;

	printf("# %s: ", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

unsigned int failures(void)
{
	return failed;
}

void stop(void)
{
	if (!failed)
		printf("ok %s\n", name);
	else if (failed > MAX_LINES)
		printf("# %s: and %u more\n", name, failed - MAX_LINES);
	fflush(stdout);
	_exit(failed ? 1 : 0);
}

void skip(const char *why)
{
	if (!failed)
		printf("ok %s # skip %s\n", name, why);
	fflush(stdout);
	_exit(failed ? 1 : 0);
}

unsigned int slowness(void)
{
	const char *s = getenv("SEEPAGE_SLOW");

	return s && atoi(s) > 0 ? atoi(s) : 1;
}

static bool run_one(const struct test *t)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		printf("not ok %s: fork: %s\n", t->name, strerror(errno));
		return false;
	}
	if (!pid) {
		name = t->name;
		signal(SIGPIPE, SIG_IGN);
		alarm(MAX_SECONDS * slowness());
		t->run();
		stop();
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	if (WIFSIGNALED(status))
		printf("not ok %s: %s\n", t->name,
		       WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static int usage(void)
{
	fputs("usage: nltest PATTERN.. | nltest --list\n"
	      "runs the tests whose names match a shell pattern\n", stderr);
	return 2;
}

static bool wanted(const struct test *t, char **pattern)
{
	for (; *pattern; pattern++)
		if (!fnmatch(*pattern, t->name, 0))
			return true;
	return false;
}

/* The pattern matches a test. */
static bool known(const char *pattern)
{
	const struct test *t;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (t = all[i]; t->name; t++)
			if (!fnmatch(pattern, t->name, 0))
				return true;
	return false;
}

int main(int argc, char **argv)
{
	unsigned int i, bad = 0;
	const struct test *t;
	bool list;

	if (argc == 3 && !strcmp(argv[1], "--exec-churn"))
		return exec_churn(argv[2]);
	list = argc == 2 && !strcmp(argv[1], "--list");
	if (argc < 2 || (argv[1][0] == '-' && !list))
		return usage();
	for (i = 1; !list && i < (unsigned int)argc; i++) {
		if (!known(argv[i])) {
			fprintf(stderr, "nltest: no test matches %s\n", argv[i]);
			return 2;
		}
	}
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (t = all[i]; t->name; t++) {
			if (list) {
				puts(t->name);
				continue;
			}
			if (wanted(t, argv + 1))
				bad += !run_one(t);
		}
	}
	return bad ? 1 : 0;
}
