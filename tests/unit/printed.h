/* SPDX-License-Identifier: GPL-2.0 */
/* What a function prints; included behind cmocka.h and the headers of ctl. */
#ifndef SEEPAGE_TESTS_PRINTED_H
#define SEEPAGE_TESTS_PRINTED_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRINTED_OUT	1U	/* stdout is kept, else it goes to /dev/null */
#define PRINTED_ERR	2U	/* stderr is kept */

/*
 * Runs @print in a process of its own. @text: out, what it printed to the streams of @which.
 * Returns its exit status, which is that of out_close().
 */
static int printed(int (*print)(void *arg), void *arg, unsigned int which, char *text,
		   size_t size)
{
	int fd[2], status;
	size_t n = 0;
	ssize_t len;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		int out = which & PRINTED_OUT ? fd[1] : open("/dev/null", O_WRONLY);

		if (dup2(out, STDOUT_FILENO) < 0 ||
		    (which & PRINTED_ERR && dup2(fd[1], STDERR_FILENO) < 0))
			_exit(100);
		out_init();
		_exit(out_close(print(arg)));
	}
	close(fd[1]);
	while (n < size - 1 && (len = read(fd[0], text + n, size - 1 - n)) > 0)
		n += (size_t)len;
	text[n] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#endif /* SEEPAGE_TESTS_PRINTED_H */
