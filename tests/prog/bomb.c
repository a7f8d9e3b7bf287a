// SPDX-License-Identifier: GPL-2.0
/*
 * bomb KB: a fork bomb that its limit of processes (RLIMIT_NPROC) holds. Each process
 * touches KB of memory and forks without end. One that is refused exits, or waits for 10
 * ms. Prints "ready" at the first refusal. On SIGTERM all end, and it prints how many forks
 * there were, and how many were refused.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
	atomic_ulong forks, refused;
	atomic_bool over;
} *all;

static void stop(int sig)
{
	(void)sig;
	all->over = true;
}

static void touch(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)p)[i] = 1;
}

/* A process of the bomb. Every second one that is refused makes space for another one. */
static _Noreturn void explode(size_t bytes)
{
	touch(bytes);
	while (!all->over) {
		pid_t pid = fork();

		if (!pid) {
			touch(bytes);
			continue;
		}
		if (pid > 0) {
			all->forks++;
			continue;
		}
		if (all->refused++ & 1)
			break;
		usleep(10000);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	bool ready = false;

	if (argc != 2)
		return 2;
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* nobody waits for the dead, which would count for the limit until then */
	if (all == MAP_FAILED || signal(SIGCHLD, SIG_IGN) == SIG_ERR ||
	    signal(SIGTERM, stop) == SIG_ERR || prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 1;
	while (!all->over) {
		/* all have exited, or were killed; each orphan is a child of this process */
		if (waitpid(-1, NULL, WNOHANG) < 0 && !fork())
			explode((size_t)atol(argv[1]) << 10);
		if (all->refused && !ready) {
			ready = true;
			puts("ready");
			fflush(stdout);
		}
		usleep(10000);
	}
	wait(NULL);		/* for all of them, as their ends are ignored */
	printf("%lu forks, %lu refused\n", all->forks, all->refused);
	return 0;
}
