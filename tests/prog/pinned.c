// SPDX-License-Identifier: GPL-2.0
/*
 * pinned: runs on CPU 1. For each number N read from stdin touches N fresh pages, one fault
 * each, and prints "touched N". It causes no other faults: its I/O uses resident pages.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096UL
#define MOST	16384UL

static char in[64], out[64];

static void say(const char *what)
{
	if (write(1, what, strlen(what)) < 0)
		exit(1);
}

int main(void)
{
	cpu_set_t set;
	size_t at = 0;
	char *p;

	p = mmap(NULL, MOST * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		perror("pinned: memory");
		return 1;
	}
	/* refused where there are no huge pages, as with PREEMPT_RT */
	madvise(p, MOST * PAGE, MADV_NOHUGEPAGE);
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("pinned: CPU 1");
		return 1;
	}
	say("ready\n");
	for (;;) {
		ssize_t len = read(0, in, sizeof(in) - 1);
		size_t n;

		if (len <= 0)
			return 0;
		in[len] = '\0';
		n = strtoul(in, NULL, 10);
		if (at + n > MOST)
			return 1;
		for (size_t end = at + n; at < end; at++)
			((volatile char *)p)[at * PAGE] = 1;
		snprintf(out, sizeof(out), "touched %zu\n", n);
		say(out);
	}
}
