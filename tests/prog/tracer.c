// SPDX-License-Identifier: GPL-2.0
/*
 * tracer KB: traces a child that takes KB of memory each second, and prints its pid. It stops the
 * child 100 times a second, writes into its memory, and lets it go on. Beside that it starts
 * traced children that execute and are killed. Each is a zombie until the next one, and
 * /proc/PID/mem of the last 64 stays open: that keeps the mm_struct, and none of its pages. On
 * SIGTERM it prints how many stops and children there were, and ends, and the children with it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT	64

static volatile sig_atomic_t over;
static volatile long word;		/* at the same address in a child that has not executed */

static void stop(int sig)
{
	(void)sig;
	over = 1;
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static _Noreturn void grow(size_t step)
{
	for (;;) {
		char *p = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < step; i += 4096)
			((volatile char *)p)[i] = 1;
		sleep(1);
	}
}

/* Stops a child, reads and writes its memory in two ways, and lets it go on. */
static void poke(pid_t pid)
{
	struct iovec local = { (void *)&word, sizeof(word) }, remote = local;
	int status;

	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) || waitpid(pid, &status, __WALL) != pid)
		die("stop");
	if (!WIFSTOPPED(status)) {
		fputs("the child has ended\n", stderr);
		exit(1);
	}
	process_vm_readv(pid, &local, 1, &remote, 1, 0);
	ptrace(PTRACE_POKEDATA, pid, &word, word + 1);
	ptrace(PTRACE_CONT, pid, 0, 0);
}

/* A traced child that executes, stops there, and is killed. Returns its /proc/PID/mem. */
static int victim(char **argv, pid_t *pid)
{
	char path[32];
	int fd, status;

	*pid = fork();
	if (!*pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl(argv[0], argv[0], "nap", NULL);
		_exit(1);
	}
	if (*pid < 0 || waitpid(*pid, &status, 0) != *pid)	/* the SIGTRAP of its exec */
		die("victim");
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)*pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ptrace(PTRACE_CONT, *pid, 0, 0);
	usleep(2000);
	kill(*pid, SIGKILL);
	return fd;
}

int main(int argc, char **argv)
{
	int mem[KEPT];
	unsigned long stops = 0, children = 0;
	pid_t child, last = 0, next;

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "nap"))
		for (;;)
			pause();
	memset(mem, -1, sizeof(mem));
	signal(SIGTERM, stop);
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		signal(SIGTERM, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		grow((size_t)atol(argv[1]) << 10);
	}
	if (ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_EXITKILL))
		die("PTRACE_SEIZE");
	printf("%d\n", (int)child);
	fflush(stdout);
	while (!over) {
		poke(child);
		stops++;
		usleep(10000);
		if (stops % 8)
			continue;
		if (mem[children % KEPT] >= 0)
			close(mem[children % KEPT]);
		mem[children % KEPT] = victim(argv, &next);
		children++;
		if (last)
			waitpid(last, NULL, 0);
		last = next;
	}
	printf("%lu stops, %lu children\n", stops, children);
	return 0;
}
