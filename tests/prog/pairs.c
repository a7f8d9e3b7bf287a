// SPDX-License-Identifier: GPL-2.0
/*
 * pairs N ROUNDS: prints its pid; then, for each line of standard input and once at its end, the
 * nanoseconds of a malloc(100) and free() pair: the least of ROUNDS rounds of N pairs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(long n, int rounds)
{
	double least = 1e18, t;

	while (rounds--) {
		t = now();
		for (long i = 0; i < n; i++) {
			void *volatile p = malloc(100);

			free(p);
		}
		t = now() - t;
		if (t < least)
			least = t;
	}
	return least / (double)n;
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc < 3)
		return 2;
	printf("%d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%.1f\n", measure(atol(argv[1]), atoi(argv[2])));
		fflush(stdout);
	}
	printf("%.1f\n", measure(atol(argv[1]), atoi(argv[2])));
	return 0;
}
