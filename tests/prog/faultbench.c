// SPDX-License-Identifier: GPL-2.0
/*
 * faultbench [FAULTS [ROUNDS [RATE]]]: cost of a page fault of a fresh anonymous page, in
 * nanoseconds, the minimum of several rounds. Under the counting clock of the lab (--count) a
 * nanosecond is a guest instruction, and the minimum repeats exactly. With RATE there are RATE
 * faults a second, with sleep in between. Each fault is then timed by itself, which includes
 * two clock readings.
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

static uint64_t in_a_row(volatile char *p, size_t faults)
{
	uint64_t begin = now_ns();

	for (size_t i = 0; i < faults; i++)
		p[i * 4096 + 8] = 1;
	return now_ns() - begin;
}

static uint64_t paced(volatile char *p, size_t faults, unsigned long rate)
{
	uint64_t sum = 0, next = now_ns(), begin;
	struct timespec t;

	for (size_t i = 0; i < faults; i++) {
		next += 1000000000ULL / rate;
		t.tv_sec = (time_t)(next / 1000000000ULL);
		t.tv_nsec = (long)(next % 1000000000ULL);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		begin = now_ns();
		p[i * 4096 + 8] = 1;
		sum += now_ns() - begin;
	}
	return sum;
}

static double round_of(size_t faults, unsigned long rate)
{
	char *p = mmap(NULL, faults * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t took;

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(p, faults * 4096, MADV_NOHUGEPAGE);
	took = rate ? paced(p, faults, rate) : in_a_row(p, faults);
	munmap(p, faults * 4096);
	return (double)took / (double)faults;
}

int main(int argc, char **argv)
{
	size_t faults = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
	int rounds = argc > 2 ? atoi(argv[2]) : 7;
	unsigned long rate = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	double least = 1e18;

	for (int i = 0; i < rounds; i++) {
		double d = round_of(faults, rate);

		if (d < least)
			least = d;
	}
	printf("%.1f\n", least);
	return 0;
}
