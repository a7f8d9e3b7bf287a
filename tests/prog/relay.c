// SPDX-License-Identifier: GPL-2.0
/*
 * relay WORKERS RUNS LEGS [PAUSE_US]: each of WORKERS starts RUNS processes, one after the
 * other. A process faults, executes this program again LEGS times while a second thread goes on
 * faulting, waits PAUSE_US (0) before each exec, and exits. One pid has LEGS + 1 short-lived
 * mms.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096UL
#define PAGES	24UL

static void *fault(void *for_ever)
{
	do {
		char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < PAGES; i++)
			((volatile char *)p)[i * PAGE] = 1;
		munmap(p, PAGES * PAGE);
	} while (for_ever);
	return NULL;
}

static _Noreturn void leg(unsigned long left, const char *pause_us)
{
	pthread_t t;
	char text[24];

	fault(NULL);
	usleep((useconds_t)strtoul(pause_us, NULL, 10));
	if (!left)
		_exit(0);
	if (pthread_create(&t, NULL, fault, text))
		_exit(1);
	snprintf(text, sizeof(text), "%lu", left - 1);
	execl("/proc/self/exe", "relay", "--leg", text, pause_us, NULL);
	_exit(1);
}

static _Noreturn void worker(unsigned long runs, unsigned long legs, const char *pause_us)
{
	int status;

	for (unsigned long i = 0; i < runs; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			exit(1);
		}
		if (!pid)
			leg(legs, pause_us);
		if (waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "a runner ended with status %#x\n", status);
			exit(1);
		}
	}
	exit(0);
}

int main(int argc, char **argv)
{
	const char *pause_us = argc > 4 ? argv[4] : "0";
	unsigned long workers, runs, legs;
	int status, bad = 0;

	if (argc == 4 && !strcmp(argv[1], "--leg"))
		leg(strtoul(argv[2], NULL, 10), argv[3]);
	if (argc < 4) {
		fprintf(stderr, "usage: relay WORKERS RUNS LEGS [PAUSE_US]\n");
		return 2;
	}
	workers = strtoul(argv[1], NULL, 10);
	runs = strtoul(argv[2], NULL, 10);
	legs = strtoul(argv[3], NULL, 10);
	for (unsigned long i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fork");
			return 1;
		}
		if (!pid)
			worker(runs, legs, pause_us);
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad ? 1 : 0;
}
