// SPDX-License-Identifier: GPL-2.0
/*
 * explain '#N': of what has ended since it speaks in the past tense, and names no command that
 * would act on the pid, which another process may have by now.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "module.h"
#include "cold/cold.h"
#include <cmocka.h>

#define S	1000000000ULL
#define BEGIN	(1700000000 * S)

static char out[16384];

/* Explains @word in a process of its own. @out: what it printed */
static void explain(const char *word, bool json)
{
	struct ctx ctx = { .cmd = "explain", .json = json };
	int fd[2], status;
	size_t n = 0;
	ssize_t len;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (dup2(fd[1], STDOUT_FILENO) < 0 || dup2(fd[1], STDERR_FILENO) < 0)
			_exit(100);
		out_init();
		_exit(out_close(explain_process(&ctx, word, NULL)));
	}
	close(fd[1]);
	while (n < sizeof(out) - 1 && (len = read(fd[0], out + n, sizeof(out) - 1 - n)) > 0)
		n += (size_t)len;
	out[n] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

static bool says(const char *text)
{
	return strstr(out, text);
}

static void assert_present(void)
{
	assert_true(says("It grows as a leak would"));
	assert_true(says("systemctl restart leaky.service"));
	assert_true(says("seepage where 2000000000"));
	assert_false(says("ended"));
}

static void assert_past(void)
{
	assert_true(says("It grew as a leak would"));
	assert_false(says("It grows"));
	assert_false(says("exhausted in"));
	assert_false(says("systemctl"));
	assert_false(says("seepage where 2000000000"));
	assert_true(says("seepage where --last 2000000000"));
}

static int begin(void **state)
{
	module_alert(SEEPAGE_STATE_SUSPECTED, 100, BEGIN);
	module_alert(SEEPAGE_STATE_CONFIRMED, 200, BEGIN + 100 * S);
	return 0;
}

static int end(void **state)
{
	module_reset();
	return 0;
}

static void of_a_process_that_lives(void **state)
{
	module_process(SEEPAGE_STATE_CONFIRMED, 300);
	explain("#2", false);
	assert_present();
	explain("#2", true);
	assert_true(says("\"ended\":false") && says("\"exit\":null"));
}

static void of_one_whose_end_an_alert_tells(void **state)
{
	module_alert(SEEPAGE_STATE_EXITED, 300, BEGIN + 200 * S);
	/* also where another process of any age has the pid */
	for (int i = 0; i < 2; i++) {
		explain("#2", false);
		assert_past();
		assert_true(says("It ended at ") && says(", see #3. The alert said:\n"));
		explain("#1", false);
		assert_past();
		explain("#2", true);
		assert_true(says("\"ended\":true") && says("\"exit\":{\"seq\":3,"));
		assert_false(says("systemctl"));
		if (!i)
			module_process(SEEPAGE_STATE_OK, 100000);
	}
	explain("#3", false);
	assert_false(says("The alert said"));
	assert_true(says("seepage where --last 2000000000"));
}

static void of_one_that_no_process_is(void **state)
{
	explain("#2", false);
	assert_past();
	assert_true(says("It has ended.\n"));
}

static void of_one_whose_pid_is_in_use_again(void **state)
{
	module_process(SEEPAGE_STATE_OK, 150);
	explain("#2", false);
	assert_past();
	/* of that age it may be the process of the first */
	explain("#1", false);
	assert_present();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_a_process_that_lives, begin, end),
		cmocka_unit_test_setup_teardown(of_one_whose_end_an_alert_tells, begin, end),
		cmocka_unit_test_setup_teardown(of_one_that_no_process_is, begin, end),
		cmocka_unit_test_setup_teardown(of_one_whose_pid_is_in_use_again, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
