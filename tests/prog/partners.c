// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of processes that pass a byte back and forth: two context switches for each round.
 * usage: partners PAIRS ROUNDS
 * Prints "ready" once all of them run, and starts them on a line of input. At the end prints
 * for each its pid and its number of switches, and "done" with the ns taken. The processes stay
 * until the next line or the end of input.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int go[2], done[2];

struct end {
	pid_t pid;
	long switches;
};

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void get(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		die("read");
}

static void put(int fd)
{
	if (write(fd, "x", 1) != 1)
		die("write");
}

static void partner(int in, int out, int first, long rounds)
{
	struct rusage u;
	struct end end;

	get(go[0]);
	while (rounds--) {
		if (first)
			put(out);
		get(in);
		if (!first)
			put(out);
	}
	getrusage(RUSAGE_SELF, &u);
	end.pid = getpid();
	end.switches = u.ru_nvcsw + u.ru_nivcsw;
	if (write(done[1], &end, sizeof(end)) != sizeof(end))
		die("write");
	pause();
	_exit(0);
}

int main(int argc, char **argv)
{
	int pairs = argc == 3 ? atoi(argv[1]) : 0, i, j, a[2], b[2];
	long rounds = argc == 3 ? atol(argv[2]) : 0;
	long long start;
	struct end end;
	pid_t *child;
	char line[16];

	if (pairs < 1 || rounds < 1) {
		fprintf(stderr, "usage: partners PAIRS ROUNDS\n");
		return 2;
	}
	child = calloc(2 * pairs, sizeof(*child));
	if (!child || pipe(go) || pipe(done))
		die("pipe");
	for (i = 0; i < pairs; i++) {
		if (pipe(a) || pipe(b))
			die("pipe");
		for (j = 0; j < 2; j++) {
			child[2 * i + j] = fork();
			if (child[2 * i + j] < 0)
				die("fork");
			if (!child[2 * i + j])
				partner(j ? a[0] : b[0], j ? b[1] : a[1], !j, rounds);
		}
	}
	puts("ready");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin)) {
		start = now();
		for (i = 0; i < 2 * pairs; i++)
			put(go[1]);
		for (i = 0; i < 2 * pairs; i++) {
			if (read(done[0], &end, sizeof(end)) != sizeof(end))
				die("read");
			if (i == 2 * pairs - 1)
				start = now() - start;
			printf("%d %ld\n", end.pid, end.switches);
		}
		printf("done %lld\n", start);
		fflush(stdout);
		(void)!fgets(line, sizeof(line), stdin);
	}
	for (i = 0; i < 2 * pairs; i++)
		kill(child[i], 9);
	while (wait(NULL) > 0)
		;
	return 0;
}
