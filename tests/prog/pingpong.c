// SPDX-License-Identifier: GPL-2.0
/*
 * pingpong [TURNS [ROUNDS [touch|look]]]: two processes on one CPU pass a byte back and forth
 * through two pipes. Prints the nanoseconds of one turn, which is one context switch, the minimum
 * of several rounds. With touch each process also faults in a fresh page at each turn; with look
 * it only reads there, for which the kernel need not find and clear a page.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

/* One side's turns: to is written, then from is read, or the other way round. */
static void turns(size_t n, int to, int from, int first, volatile char *page, int look)
{
	char c = 0;

	for (size_t i = 0; i < n; i++) {
		if (page && look)
			(void)page[i * 4096];
		else if (page)
			page[i * 4096] = 1;
		if (first && write(to, &c, 1) != 1)
			die("write");
		if (read(from, &c, 1) != 1)
			exit(1);
		if (!first && write(to, &c, 1) != 1)
			die("write");
	}
}

static char *pages(size_t n)
{
	char *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, n * 4096, MADV_NOHUGEPAGE);
	return p;
}

static void side(size_t n, int rounds, int to, int from, int first, int touch, int look)
{
	double least = 1e18;

	for (int i = 0; i < rounds; i++) {
		char *p = touch || look ? pages(n) : NULL;
		uint64_t begin;
		double d;

		/* so that neither mmap nor munmap is counted */
		turns(2, to, from, first, NULL, 0);
		begin = now_ns();
		turns(n, to, from, first, p, look);
		d = (double)(now_ns() - begin) / (double)n / 2;
		if (d < least)
			least = d;
		if (p)
			munmap(p, n * 4096);
	}
	if (first)
		printf("%.1f\n", least);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
	int rounds = argc > 2 ? atoi(argv[2]) : 5;
	int touch = argc > 3 && !strcmp(argv[3], "touch");
	int look = argc > 3 && !strcmp(argv[3], "look");
	int a[2], b[2];
	cpu_set_t one;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(a) || pipe(b))
		die("setup");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		side(n, rounds, b[1], a[0], 0, touch, look);
		_exit(0);
	}
	side(n, rounds, a[1], b[0], 1, touch, look);
	return 0;
}
