// SPDX-License-Identifier: GPL-2.0
/*
 * throng N NAMES PREFIX [own|shared KB]: starts N children with NAMES names in turn, PREFIX and
 * a number. They do nothing, or each second take KB of memory of their own, or map KB more of
 * 128 MB that all share. Prints "ready" when all have started. They exit with their parent,
 * which waits to be killed.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SHARED		(128UL << 20)
#define AROUND		65536UL		/* a read maps as much, where the pages exist */

static char *map(size_t bytes, int flags)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		_exit(1);
	}
	return p;
}

static void take(size_t step)
{
	volatile char *p = map(step, MAP_PRIVATE);

	for (size_t i = 0; i < step; i += 4096)
		p[i] = 1;
}

static size_t look(volatile const char *shared, size_t from, size_t step)
{
	size_t to = from + step < SHARED ? from + step : SHARED;

	for (; from < to; from += AROUND)
		(void)shared[from];
	return from;
}

static _Noreturn void live(const char *shared, size_t step)
{
	size_t seen = 0;

	if (!step)
		for (;;)
			pause();
	for (;;) {
		if (shared)
			seen = look(shared, seen, step);
		else
			take(step);
		sleep(1);
	}
}

int main(int argc, char **argv)
{
	char name[32], *shared = NULL, c;
	long n, names;
	size_t step;
	int fd[2];

	if (argc != 4 && argc != 6) {
		fputs("usage: throng N NAMES PREFIX [own|shared KB]\n", stderr);
		return 2;
	}
	n = atol(argv[1]);
	names = atol(argv[2]);
	step = argc > 5 ? (size_t)atol(argv[5]) << 10 : 0;
	if (argc > 5 && !strcmp(argv[4], "shared")) {
		shared = map(SHARED, MAP_SHARED);
		memset(shared, 1, SHARED);
	}
	if (pipe(fd))
		return 1;
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(name, sizeof(name), "%s%ld", argv[3], i % names);
		prctl(PR_SET_NAME, name);
		if (write(fd[1], "", 1) != 1)
			_exit(1);
		live(shared, step);
	}
	for (long i = 0; i < n; i++)
		if (read(fd[0], &c, 1) != 1)
			return 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
