// SPDX-License-Identifier: GPL-2.0
/*
 * idle N: N children that do nothing. Their pids are printed when all are
 * there; they end with their parent, which waits to be killed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	int fd[2];
	char c;

	if (pipe(fd))
		return 1;
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (pid) {
			/* a child never flushes what it inherits of this */
			printf("%d\n", (int)pid);
		} else {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(fd[1], "", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
	}
	for (long i = 0; i < n; i++)
		if (read(fd[0], &c, 1) != 1)
			return 1;
	fflush(stdout);
	for (;;)
		pause();
}
