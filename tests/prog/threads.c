// SPDX-License-Identifier: GPL-2.0
/*
 * threads N KB MS: N threads take KB of memory each in turn, one every MS milliseconds, and
 * never use it again.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned long count;
static size_t step;
static useconds_t gap_us;

static void *leak(void *arg)
{
	void *p;

	usleep((useconds_t)(unsigned long)arg * gap_us);
	for (;;) {
		p = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			exit(1);
		memset(p, 1, step);
		usleep((useconds_t)count * gap_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t;

	count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	step = argc > 2 ? strtoul(argv[2], NULL, 10) << 10 : 0;
	gap_us = argc > 3 ? 1000 * (useconds_t)atol(argv[3]) : 0;
	if (!count || !step || !gap_us) {
		fprintf(stderr, "usage: threads N KB MS\n");
		return 2;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (unsigned long i = 0; i < count; i++)
		if (pthread_create(&t, &attr, leak, (void *)i))
			return 1;
	pause();
	return 0;
}
