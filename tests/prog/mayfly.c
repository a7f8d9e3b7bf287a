// SPDX-License-Identifier: GPL-2.0
/*
 * mayfly SECONDS: forks for so long, one process after the other, which do nothing and exit.
 * Prints how many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double seconds = argc == 2 ? atof(argv[1]) : 0;
	struct timespec begin, now;
	unsigned long n = 0;

	if (seconds <= 0) {
		fputs("usage: mayfly SECONDS\n", stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		n++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) +
		 (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
	printf("%lu\n", n);
	return 0;
}
