// SPDX-License-Identifier: GPL-2.0
/*
 * idle N [KB]: starts N children that do nothing, or that take and touch KB of memory each
 * second. Prints their pids when all have started. They exit with their parent, which waits to
 * be killed.
 *
 * idle vfork KB: starts one child by clone(CLONE_VFORK) without CLONE_VM. It has memory of its own,
 * and its parent waits in the kernel all the time.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void live(size_t step)
{
	if (!step)
		for (;;)
			pause();
	for (;;) {
		char *p = mmap(NULL, step, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < step; i += 4096)
			((volatile char *)p)[i] = 1;
		sleep(1);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	size_t step = argc > 2 ? (size_t)atol(argv[2]) << 10 : 0;
	int fd[2];
	char c;

	if (argc > 1 && !strcmp(argv[1], "vfork")) {
		if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0))
			return 1;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		printf("%d\n", (int)getpid());
		fflush(stdout);
		live(step);
	}
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
			live(step);
		}
	}
	for (long i = 0; i < n; i++)
		if (read(fd[0], &c, 1) != 1)
			return 1;
	fflush(stdout);
	for (;;)
		pause();
}
