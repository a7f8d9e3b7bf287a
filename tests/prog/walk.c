// SPDX-License-Identifier: GPL-2.0
/*
 * walk PAGES LOADS [stay]: makes LOADS reads, each of a word in a random one of PAGES pages. Each
 * address depends on the read before, as in following pointers. Prints "ready" when done. With
 * "stay" it exits at the end of input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096UL
#define WORDS	(PAGE / sizeof(uint32_t))

static uint32_t next(uint32_t x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

int main(int argc, char **argv)
{
	size_t pages = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	size_t loads = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, i;
	uint32_t x = 1, *p;
	char c;

	if (!pages) {
		fprintf(stderr, "usage: walk PAGES LOADS [stay]\n");
		return 2;
	}
	p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		perror("walk: memory");
		return 1;
	}
	/* refused where there are no huge pages, as with PREEMPT_RT */
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	/* written, each its own: pages that are only read are one page of zeros */
	for (i = 0; i < pages; i++)
		p[i * WORDS] = (uint32_t)i;
	for (i = 0; i < loads; i++) {
		uint32_t at = (uint64_t)x * pages >> 32;

		x = next(x ^ (p[at * WORDS] - at));
	}
	printf("ready %u\n", x);
	fflush(stdout);
	if (argc > 3 && read(0, &c, 1) < 0)
		return 1;
	return 0;
}
