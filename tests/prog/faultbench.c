// SPDX-License-Identifier: GPL-2.0
/*
 * faultbench [FAULTS [ROUNDS]]: cost of a page fault of a fresh anonymous page,
 * in ticks of the time-stamp counter. Under the counting clock of the lab
 * (tests/lab/vm --count) a tick is a nanosecond is a guest instruction, and
 * the least of some rounds repeats exactly.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static double round_of(size_t faults)
{
	char *p = mmap(NULL, faults * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t begin, end;

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(p, faults * 4096, MADV_NOHUGEPAGE);
	begin = now_ns();
	for (size_t i = 0; i < faults; i++)
		((volatile char *)p)[i * 4096 + 8] = 1;
	end = now_ns();
	munmap(p, faults * 4096);
	return (double)(end - begin) / (double)faults;
}

int main(int argc, char **argv)
{
	size_t faults = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
	int rounds = argc > 2 ? atoi(argv[2]) : 7;
	double least = 1e18;

	for (int i = 0; i < rounds; i++) {
		double d = round_of(faults);

		if (d < least)
			least = d;
	}
	printf("%.1f\n", least);
	return 0;
}
