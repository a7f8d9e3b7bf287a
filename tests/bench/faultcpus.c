// SPDX-License-Identifier: GPL-2.0
/*
 * faultcpus CPUS STRETCHES [threads]: a process, or a thread of one, on each of
 * CPUS CPUs; all fault at a time, in STRETCHES stretches of FAULTS fresh
 * anonymous pages. tests/bench/insns.c, a plugin of QEMU, counts instructions meanwhile.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insns.h"

#define PAGE	4096UL
/* few, so that most stretches are over before the next timer interrupt */
#define FAULTS	8UL

static unsigned long stretches;
static int gate[2];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(unsigned long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void *touch(void *cpu)
{
	size_t size = stretches * FAULTS * PAGE;
	volatile char *p;
	char c;

	pin((unsigned long)cpu);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	madvise((void *)p, size, MADV_NOHUGEPAGE);
	/* until all are there: the parent closes its end */
	if (read(gate[0], &c, 1) != 0)
		die("read");
	for (size_t i = 0; i < stretches; i++) {
		volatile char *end = p + (i + 1) * FAULTS * PAGE;

		mark(MARK_BEGIN);
		for (volatile char *q = end - FAULTS * PAGE; q < end; q += PAGE)
			*q = 1;
		mark(MARK_END);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long cpus = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	int threads = argc > 3 && !strcmp(argv[3], "threads"), status, bad = 0;
	pthread_t t[64];

	stretches = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	if (!cpus || cpus > 64 || !stretches || argc > 4 || (argc == 4 && !threads)) {
		fprintf(stderr, "usage: faultcpus CPUS STRETCHES [threads]\n");
		return 2;
	}
	if (pipe(gate))
		die("pipe");
	for (unsigned long i = 0; i < cpus; i++) {
		if (threads) {
			if (pthread_create(&t[i], NULL, touch, (void *)i))
				die("pthread_create");
			continue;
		}
		switch (fork()) {
		case -1:
			die("fork");
			break;
		case 0:
			close(gate[1]);
			touch((void *)i);
			_exit(0);
		}
	}
	sleep(1);
	close(gate[1]);
	for (unsigned long i = 0; threads && i < cpus; i++)
		pthread_join(t[i], NULL);
	while (wait(&status) > 0)
		bad |= status;
	if (!bad)
		mark(MARK_TELL);
	return bad ? 1 : 0;
}
