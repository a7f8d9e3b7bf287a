// SPDX-License-Identifier: GPL-2.0
/*
 * Leaks on command: `leaky MODE`, then a line "leak N" or "work N" on standard input. It prints
 * the blocks and the bytes, heads of chunks included, that it did not free; "work" does the
 * same work and frees all. A line "ready PID" comes first. `leaky MODE forked` works in a
 * child, which inherits the heap; `leaky MODE hidden` overwrites the random bytes of the kernel.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "blocks.h"

#define LIVE	20000
#define WORKERS	4
#define SMALL	48
#define LARGE	150000
#define MIB	(1024UL * 1024)

static void *live[LIVE];
static char *grown;
static unsigned long blocks, bytes;
static pthread_barrier_t begin, end;
static volatile long task;
static volatile int keeps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void account(const void *p)
{
	pthread_mutex_lock(&lock);
	blocks++;
	bytes += malloc_usable_size((void *)p) + 8;
	pthread_mutex_unlock(&lock);
}

static void put(void *p, size_t n, int keep)
{
	/* glibc gives a larger chunk where a smaller rest would be no chunk */
	if (keep && malloc_usable_size(p) <= n + 15)
		account(p);
	else if (!keep)
		free(p);
}

/* A table of blocks of 16 to 255 bytes, of which some are replaced at each step */
static void small(long n, int keep, unsigned int *seed)
{
	for (long i = 0; i < n; i++) {
		void *p = filled(SMALL);

		for (int k = 0; k < 4; k++) {
			unsigned int at = number(seed) % LIVE;

			free(live[at]);
			live[at] = filled(16 + number(seed) % 240);
		}
		put(p, SMALL, keep);
	}
}

static void *worker(void *arg)
{
	unsigned int seed = (unsigned int)(size_t)arg;

	for (;;) {
		pthread_barrier_wait(&begin);
		for (long i = 0; i < task / WORKERS; i++) {
			void *a = filled(300 + number(&seed) % 6000), *p = filled(200);

			free(a);
			put(p, 200, keeps);
		}
		pthread_barrier_wait(&end);
	}
	return NULL;
}

/* Blocks that are all free then, in the cache of the thread and in a fast bin */
static void fast(long n)
{
	void **p = calloc((size_t)n, sizeof(*p));

	for (long i = 0; i < n; i++)
		p[i] = filled(72);
	for (long i = 0; i < n; i++)
		free(p[i]);
}

/* Blocks of all sizes that a thread keeps for reuse, so many of each, all of them free */
static void cached(void)
{
	void *p[64][7];

	for (int i = 0; i < 64; i++)
		for (int k = 0; k < 7; k++)
			p[i][k] = filled(24 + 16 * (size_t)i);
	for (int i = 0; i < 64; i++)
		for (int k = 0; k < 7; k++)
			free(p[i][k]);
}

/* Blocks with mappings of their own */
static void large(long n, int keep)
{
	for (long i = 0; i < n; i++) {
		void *p = filled(LARGE);

		if (keep)
			account(p);
		else
			free(p);
	}
}

/* Blocks that are a huge page each, where the kernel has one: a fault for each */
static __attribute__((noinline)) void huge(long n, int keep)
{
	for (long i = 0; i < n; i++) {
		char *p = aligned_alloc(2 * MIB, 2 * MIB);

		madvise(p, 2 * MIB, MADV_HUGEPAGE);
		memset(p, 1, 2 * MIB);
		put(p, 2 * MIB, keep);
	}
}

/* 10 MB a second that are freed at once */
static void *churn(void *arg)
{
	unsigned int seed = 7;

	for (;;) {
		for (int i = 0; i < 100; i++)
			free(filled(500 + number(&seed) % 1000));
		usleep(10000);
	}
	return NULL;
}

/* A block that realloc() makes larger, page by page */
static void grow(long n, int keep)
{
	size_t old = grown ? malloc_usable_size(grown) : 0, now;
	char *p;

	for (long i = 1; i <= n && keep; i++) {
		now = (size_t)i * 4096;
		p = realloc(grown, MIB + now);
		memset(p + MIB + now - 4096, 1, 4096);
		grown = p;
	}
	now = malloc_usable_size(grown);
	bytes += now - old;
}

/* Memory that is not malloc's, as the heap of a runtime. @bytes_n: of a new part */
static void beside(size_t bytes_n)
{
	char *p = mmap(NULL, bytes_n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	memset(p, 1, bytes_n);
}

static void run(const char *mode, long n, int keep)
{
	static unsigned int seed = 1;

	if (!strcmp(mode, "small") || !strcmp(mode, "churn") || !strcmp(mode, "beside")) {
		small(n, keep, &seed);
	} else if (!strcmp(mode, "runtime")) {
		small(n, 0, &seed);
		if (keep)
			beside(8 * MIB);
	} else if (!strcmp(mode, "fast")) {
		fast(n);
	} else if (!strcmp(mode, "cached")) {
		cached();
	} else if (!strcmp(mode, "large")) {
		large(n, keep);
	} else if (!strcmp(mode, "huge")) {
		huge(n, keep);
	} else if (!strcmp(mode, "grow")) {
		grow(n, keep);
	} else {
		task = n;
		keeps = keep;
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
	}
}

int main(int argc, char **argv)
{
	char word[16], *mode = argv[argc > 1];
	unsigned int seed = 3;
	pthread_t t;
	long n;

#ifdef M_MMAP_THRESHOLD
	if (!strcmp(mode, "large"))
		mallopt(M_MMAP_THRESHOLD, 128 * 1024);	/* so that it stays where it is */
#endif
	pthread_barrier_init(&begin, NULL, WORKERS + 1);
	pthread_barrier_init(&end, NULL, WORKERS + 1);
	for (long i = 0; i < LIVE; i++)
		live[i] = filled(16 + number(&seed) % 240);
	for (long i = 0; i < WORKERS && !strcmp(mode, "threads"); i++)
		pthread_create(&t, NULL, worker, (void *)(i + 1));
	if (!strcmp(mode, "churn"))
		pthread_create(&t, NULL, churn, NULL);
	if (!strcmp(mode, "grow"))
		grown = filled(MIB);
	if (!strcmp(mode, "beside"))
		beside(64 * MIB);
	if (strcmp(mode, "fast") && strcmp(mode, "large") && strcmp(mode, "huge") &&
	    strcmp(mode, "cached"))
		run(mode, 10000, 0);
	if (argc > 2 && !strcmp(argv[2], "hidden")) {
		memset((void *)getauxval(AT_RANDOM), 0x5a, 16);
	} else if (argc > 2 && fork()) {
		wait(NULL);
		return 0;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (scanf("%15s %ld", word, &n) == 2) {
		blocks = 0;
		bytes = 0;
		run(mode, n, !strcmp(word, "leak"));
		printf("%lu %lu\n", blocks, bytes);
		fflush(stdout);
	}
	return 0;
}
