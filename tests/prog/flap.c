// SPDX-License-Identifier: GPL-2.0
/*
 * flap ON_S OFF_S MB FIRST_S: looks like a leak to policy classic from time to time. After
 * FIRST_S seconds with little memory it takes MB megabytes, in an address space four times as
 * large. Then for ON_S seconds it gives back and takes again 20 pages a second, rests for OFF_S
 * seconds, and so on. Its faults are as many whatever the size of a page: larger ones are taken
 * several times.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCH	10UL

static size_t page;

/* Give back and take again. */
static void touch(char *p, size_t pages)
{
	madvise(p, pages * page, MADV_DONTNEED);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * page] = 1;
}

int main(int argc, char **argv)
{
	unsigned long on, off, size, faults;
	char *p;

	if (argc < 5)
		return 2;
	on = strtoul(argv[1], NULL, 10);
	off = strtoul(argv[2], NULL, 10);
	size = strtoul(argv[3], NULL, 10) << 20;
	page = (size_t)sysconf(_SC_PAGESIZE);
	p = mmap(NULL, 4 * size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	/* refused where there are no huge pages, as with PREEMPT_RT */
	madvise(p, 4 * size, MADV_NOHUGEPAGE);
	sleep((unsigned int)strtoul(argv[4], NULL, 10));
	for (faults = size / 4096; faults >= size / page; faults -= size / page)
		touch(p, size / page);
	for (;;) {
		for (unsigned long i = 0; i < 2 * on; i++) {
			touch(p, BATCH);
			usleep(500000);
		}
		sleep((unsigned int)off);
	}
}
