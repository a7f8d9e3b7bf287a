// SPDX-License-Identifier: GPL-2.0
/*
 * churn SEED OPS [WORKERS]: runs OPS short lives, divided among WORKERS (4) and drawn from SEED:
 * forks that fault and then exit or are killed, execs, vforks, threads that fault while the
 * first one exits, processes that share an mm. Prints the number of each kind at the end. The
 * same SEED gives the same lives.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096UL

enum { FORK, KILLED, EXEC, VFORK, THREADS, ORPHANED, SHARED, KINDS };

static const char * const names[KINDS] = {
	"forks", "killed", "execs", "vforks", "threaded", "left-by-leader", "clone-vm",
};

static uint64_t state;
static char stack[65536];

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % below;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void fault(size_t pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * PAGE] = 1;
	if (pages & 1)
		munmap(p, pages * PAGE);
}

static void *thread(void *pages)
{
	fault((size_t)pages);
	return NULL;
}

static _Noreturn void threads(size_t pages, int leader_leaves)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)pages))
			_exit(1);
	if (leader_leaves)
		pthread_exit(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	_exit(0);
}

static int shared(void *pages)
{
	fault((size_t)pages);
	return 0;
}

static _Noreturn void child(int kind, size_t pages)
{
	switch (kind) {
	case KILLED:
		for (;;)
			fault(pages | 1);
	case EXEC:
		fault(pages);
		execl("/proc/self/exe", "churn", "--faults", "20", NULL);
		_exit(1);
	case VFORK:
		if (!vfork()) {
			execl("/proc/self/exe", "churn", "--faults", "5", NULL);
			_exit(1);
		}
		fault(pages);
		_exit(0);
	case THREADS:
	case ORPHANED:
		threads(pages, kind == ORPHANED);
	case SHARED:
		/* not waited for: init does, when this one is gone */
		clone(shared, stack + sizeof(stack), CLONE_VM | SIGCHLD, (void *)pages);
		_exit(0);
	default:
		fault(pages);
		_exit(0);
	}
}

static _Noreturn void worker(unsigned long ops)
{
	unsigned long made[KINDS] = { 0 };

	for (unsigned long i = 0; i < ops; i++) {
		int kind = draw(KINDS), status;
		size_t pages = 1 + draw(64);
		useconds_t delay = draw(3000);
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			child(kind, pages);
		if (kind == KILLED) {
			usleep(delay);
			kill(pid, SIGKILL);
		}
		if (waitpid(pid, &status, 0) != pid)
			die("waitpid");
		if (kind != KILLED && status) {
			fprintf(stderr, "%s ended with status %#x\n", names[kind], status);
			exit(1);
		}
		made[kind]++;
	}
	for (int i = 0; i < KINDS; i++)
		printf("%s %lu\n", names[i], made[i]);
	exit(0);
}

int main(int argc, char **argv)
{
	unsigned long ops, workers;
	int status, bad = 0;

	if (argc == 3 && !strcmp(argv[1], "--faults")) {
		fault(strtoul(argv[2], NULL, 0));
		return 0;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: churn SEED OPS [WORKERS]\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 0);
	ops = strtoul(argv[2], NULL, 0);
	workers = argc > 3 ? strtoul(argv[3], NULL, 0) : 4;
	if (!ops || !workers)
		return 2;
	for (unsigned long i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			state ^= (i + 1) * 0x9e3779b97f4a7c15ULL;
			worker(ops / workers + (i < ops % workers));
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad ? 1 : 0;
}
