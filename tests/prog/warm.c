// SPDX-License-Identifier: GPL-2.0
/*
 * warm leak|use|scan KB [MS]: takes KB of memory every MS (1000) and writes to each page of
 * it. "use" also reads an eighth of it each time, another one than the last time, "scan" all
 * of it, "leak" never uses it again. All grow for ever at the same rate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096UL

static void fill(volatile char *p, size_t n)
{
	for (size_t i = 0; i < n; i += PAGE)
		p[i] = 1;
}

static unsigned long touch(const volatile char *p, size_t n)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < n; i += PAGE)
		sum += p[i];
	return sum;
}

int main(int argc, char **argv)
{
	size_t step = argc > 2 ? (size_t)atol(argv[2]) << 10 : 0, n = 0, room = 0;
	useconds_t wait = 1000 * (useconds_t)(argc > 3 ? atol(argv[3]) : 1000);
	size_t use = argc < 2 ? 0 : !strcmp(argv[1], "use") ? 8 : !strcmp(argv[1], "scan");
	char **taken = NULL;

	if (!step || !wait || (!use && strcmp(argv[1], "leak"))) {
		fprintf(stderr, "usage: warm leak|use|scan KB [MS]\n");
		return 2;
	}
	for (;;) {
		if (n == room) {
			room = room ? 2 * room : 1024;
			taken = realloc(taken, room * sizeof(*taken));
			if (!taken)
				return 1;
		}
		taken[n] = mmap(NULL, step, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (taken[n] == MAP_FAILED)
			return 1;
		fill(taken[n++], step);
		for (size_t i = use ? n % use : n; i < n; i += use)
			touch(taken[i], step);
		usleep(wait);
	}
}
