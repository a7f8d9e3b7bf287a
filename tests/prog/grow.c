// SPDX-License-Identifier: GPL-2.0
/*
 * grow heap|mmap|stacks|shmem|pgtables|idle KB MS: takes KB of that kind of memory each second
 * and keeps it, and uses the CPU for MS milliseconds of each second.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096UL

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void touch(volatile char *p, size_t bytes, size_t step)
{
	for (size_t i = 0; i < bytes; i += step)
		p[i] = 1;
}

static void *map(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

/*
 * Most of its stack is in use for as long as it lives. Before 6.2 each thread may keep up
 * to 64 pages to itself that are in no counter yet: threads of less would not be seen.
 */
static _Noreturn void *stay(void *arg)
{
	volatile char deep[6 << 20];

	(void)arg;
	touch(deep, sizeof(deep), PAGE);
	for (;;)
		pause();
}

static void threads(size_t bytes)
{
	static const size_t stack = 8 << 20;
	static size_t owed;
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	for (owed += bytes; owed >= stack; owed -= stack)
		if (pthread_create(&t, &attr, stay, NULL))
			die("pthread_create");
	pthread_attr_destroy(&attr);
}

static void take(const char *kind, size_t bytes)
{
	void *p;

	if (!strcmp(kind, "heap")) {
		p = sbrk((intptr_t)bytes);
		if (p == (void *)-1)
			die("sbrk");
		touch(p, bytes, PAGE);
	} else if (!strcmp(kind, "mmap")) {
		touch(map(bytes, MAP_PRIVATE), bytes, PAGE);
	} else if (!strcmp(kind, "stacks")) {
		threads(bytes);
	} else if (!strcmp(kind, "shmem")) {
		touch(map(bytes, MAP_SHARED), bytes, PAGE);
	} else if (!strcmp(kind, "pgtables")) {
		/* read: a table for each 2 MB, and no page but the one of zeros */
		size_t far = bytes / PAGE * (PAGE / 8) * PAGE;
		volatile char *far_p = map(far, MAP_PRIVATE | MAP_NORESERVE);

		for (size_t i = 0; i < far; i += PAGE / 8 * PAGE)
			(void)far_p[i];
	} else if (strcmp(kind, "idle")) {
		fprintf(stderr, "grow: '%s': allowed heap, mmap, stacks, shmem, pgtables, idle\n",
			kind);
		exit(2);
	}
}

static void work(long ms)
{
	struct timespec now, end;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	end.tv_nsec += ms * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: grow KIND KB MS\n");
		return 2;
	}
	/* too small a process is not judged */
	touch(map(16 << 20, MAP_PRIVATE), 16 << 20, PAGE);
	for (;;) {
		take(argv[1], strtoul(argv[2], NULL, 10) << 10);
		work(atol(argv[3]));
		sleep(1);
	}
}
