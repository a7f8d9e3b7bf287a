// SPDX-License-Identifier: GPL-2.0
/*
 * flap ON_S OFF_S MB FIRST_S: looks like a leak to policy classic from time to time. After
 * FIRST_S seconds with little memory it takes MB megabytes, in an address space four times as
 * large. Then for ON_S seconds it gives back and takes again 20 pages a second, rests for OFF_S
 * seconds, and so on.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096UL
#define BATCH	10UL

static void touch(char *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * PAGE] = 1;
}

int main(int argc, char **argv)
{
	unsigned long on, off, pages;
	char *p;

	if (argc < 5)
		return 2;
	on = strtoul(argv[1], NULL, 10);
	off = strtoul(argv[2], NULL, 10);
	pages = strtoul(argv[3], NULL, 10) << 8;
	p = mmap(NULL, 4 * pages * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	/* refused where there are no huge pages, as with PREEMPT_RT */
	madvise(p, 4 * pages * PAGE, MADV_NOHUGEPAGE);
	sleep((unsigned int)strtoul(argv[4], NULL, 10));
	touch(p, pages);
	for (;;) {
		for (unsigned long i = 0; i < 2 * on; i++) {
			madvise(p, BATCH * PAGE, MADV_DONTNEED);
			touch(p, BATCH);
			usleep(500000);
		}
		sleep((unsigned int)off);
	}
}
