// SPDX-License-Identifier: GPL-2.0
/* The status of a command that record observes */
#include "ctl.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* Waits until the child has ended, without reaping it. */
static void wait_for(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static pid_t ends(int code, int sig)
{
	pid_t pid = fork();

	if (!pid) {
		if (sig)
			raise(sig);
		_exit(code);
	}
	return pid;
}

static void of_an_exit_and_of_a_signal(void **state)
{
	int status = 0;
	pid_t pid;

	(void)state;
	pid = ends(3, 0);
	wait_for(pid);
	assert_true(child_ended(pid, &status));
	assert_int_equal(status, 3);
	pid = ends(0, SIGKILL);
	wait_for(pid);
	assert_true(child_ended(pid, &status));
	assert_int_equal(status, 128 + SIGKILL);
}

static void not_of_others(void **state)
{
	int status = 0;
	pid_t other = ends(5, 0);

	(void)state;
	wait_for(other);
	assert_false(child_ended(getpid(), &status));
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(other, NULL, WNOHANG), -1);	/* but reaped */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_an_exit_and_of_a_signal), cmocka_unit_test(not_of_others),
	};

	return cmocka_run_group_tests_name("ctl_child", tests, NULL, NULL);
}
