// SPDX-License-Identifier: GPL-2.0
/*
 * Leaks on command, as leaky.c does, with any allocator: `usable MODE`, then a line "leak N" or
 * "work N". It prints the blocks, and the bytes that malloc_usable_size() says of them, that it did
 * not free; "work" does the same work and frees all. A line "ready PID" comes first.
 *
 *	small	blocks of 72 bytes, beside a table of blocks of all sizes
 *	threads	the same by four threads, of 200 bytes
 *	large	blocks of 20000 bytes
 *	busy	as small, while four threads replace blocks of all sizes and never rest
 *
 * With LIBRARY it is a library with an allocator that calls itself jemalloc by its symbols.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LIBRARY

#include <sys/mman.h>

#define AREA	(1UL << 30)

static char *area;
static size_t used;

int mallctl(void)
{
	return 0;
}

void *malloc(size_t n)
{
	char *p;

	if (!area)
		area = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p = area + __atomic_fetch_add(&used, (n + 31) & ~15UL, __ATOMIC_RELAXED) + 16;
	*(size_t *)(void *)(p - 16) = n;
	return p;
}

void *calloc(size_t n, size_t each)
{
	return malloc(n * each);
}

void free(void *p)
{
}

size_t malloc_usable_size(void *p)
{
	return p ? *(size_t *)(void *)((char *)p - 16) : 0;
}

void *realloc(void *old, size_t n)
{
	void *p = malloc(n);
	size_t had = malloc_usable_size(old);

	return old ? memcpy(p, old, had < n ? had : n) : p;
}

#else

#include "blocks.h"

#define LIVE	20000
#define WORKERS	4

static void *live[WORKERS][LIVE];
static size_t size = 72;
static long task;
static int keeps;
static unsigned long blocks, bytes;
static pthread_barrier_t begin, end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Replaces four blocks of its own table for each one that leaks. */
static void work(size_t me, long n)
{
	unsigned int seed = (unsigned int)me + 1;

	for (long i = 0; i < n; i++) {
		void *p = filled(size);

		for (int k = 0; k < 4; k++) {
			unsigned int at = number(&seed) % LIVE;

			free(live[me][at]);
			live[me][at] = filled(16 + number(&seed) % 240);
		}
		if (!keeps) {
			free(p);
			continue;
		}
		pthread_mutex_lock(&lock);
		blocks++;
		bytes += malloc_usable_size(p);
		pthread_mutex_unlock(&lock);
	}
}

static void *worker(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		work((size_t)arg, task / WORKERS);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void *churn(void *arg)
{
	unsigned int seed = 77 * (unsigned int)(size_t)arg;
	void **mine = calloc(LIVE, sizeof(*mine));

	for (;;) {
		unsigned int at = number(&seed) % LIVE, most = number(&seed) % 256 ? 1000 : 40000;

		free(mine[at]);
		mine[at] = filled(16 + number(&seed) % most);
	}
	return NULL;
}

static void run(int threads, long n, int keep)
{
	task = n;
	keeps = keep;
	if (!threads) {
		work(0, n);
		return;
	}
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "small";
	int threads = !strcmp(mode, "threads");
	unsigned int seed = 3;
	char word[16];
	pthread_t t;
	long n;

	if (!strcmp(mode, "large"))
		size = 20000;
	else if (threads)
		size = 200;
	pthread_barrier_init(&begin, NULL, WORKERS + 1);
	pthread_barrier_init(&end, NULL, WORKERS + 1);
	for (size_t me = 0; me < (threads ? WORKERS : 1); me++)
		for (int i = 0; i < LIVE; i++)
			live[me][i] = filled(16 + number(&seed) % 240);
	for (size_t me = 0; threads && me < WORKERS; me++)
		pthread_create(&t, NULL, worker, (void *)me);
	for (size_t i = 1; !strcmp(mode, "busy") && i <= WORKERS; i++)
		pthread_create(&t, NULL, churn, (void *)i);
	if (!strcmp(mode, "busy"))
		sleep(3);
	run(threads, 20000, 0);
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (scanf("%15s %ld", word, &n) == 2) {
		blocks = 0;
		bytes = 0;
		run(threads, n, !strcmp(word, "leak"));
		printf("%lu %lu\n", blocks, bytes);
		fflush(stdout);
	}
	return 0;
}

#endif
