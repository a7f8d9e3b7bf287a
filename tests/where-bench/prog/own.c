// SPDX-License-Identifier: GPL-2.0
/*
 * own NAME [twin]: programs with a leak whose site is known: keep_NAME(). Beside it requests are
 * handled, blocks of the same classes that are freed, ten times as many. The twin frees what
 * keep_NAME() returns some time later. Prints "ready" when all that is bounded is full. lost.h
 * counts what is lost.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lost.h"

#define LIVE	64U	/* blocks of each thread that are in use at a time */
#define CACHE	4096U
#define site	__attribute__((noipa))

static int is_twin, late_free;
static __thread unsigned long turn;
static __thread char *live[LIVE], *kept[LIVE];

static site char *fill(char *p, size_t n)
{
	size_t i;

	if (!p)
		abort();
	for (i = 0; i < n; i++)
		p[i] = (char)(1 + (++turn * 2654435761UL >> 7) % 250);
	return p;
}

/* Inlined: its caller is the site that calls malloc(). */
static inline __attribute__((always_inline)) char *lose(size_t size)
{
	char *p = fill(malloc(size), size);

	p[0] = 2;
	return p;
}

static site char *request(size_t n)
{
	char *p = fill(malloc(n), n);

	p[0] = 1;	/* no tail call */
	return p;
}

static site void serve(size_t n)
{
	unsigned int at = (unsigned int)(turn % LIVE);
	char *old = live[at];

	if (!late_free)
		free(old);
	live[at] = request(n);
	if (late_free)
		free(old);
	turn++;
}

static site char *keep_small(void)
{
	return lose(200);
}

/* Two wrappers, as they are common */
static site void *zeroed(size_t n)
{
	void *p = calloc(1, n);

	if (!p)
		abort();
	return p;
}

static site void *new_record(size_t n)
{
	char *p = zeroed(n);

	return fill(p, n);
}

static site char *keep_wrapped(void)
{
	char *p = new_record(120);

	p[0] = 2;
	return p;
}

/* Allocates inside of the C library */
static site char *keep_copy(void)
{
	char text[60], *p;

	memset(text, 'a', sizeof(text));
	snprintf(text, 40, "session %lu", ++turn);
	text[strlen(text)] = ' ';
	text[59] = '\0';
	p = strdup(text);
	p[0] = 'S';
	return p;
}

static site char *keep_line(void)
{
	char *p = NULL;

	if (asprintf(&p, "%0*lu of %s", 120, ++turn, "somebody") < 0)
		abort();
	p[0] = '#';
	return p;
}

static site char *keep_big(void)
{
	char *p = fill(malloc(40000), 40000);

	p[0] = 2;
	return p;
}

/* One block that gets larger */
static site char *keep_grow(void)
{
	static char *list;
	static size_t n;

	if (is_twin && n > 100 * 1024)
		return NULL;
	list = realloc(list, n + 1024);
	fill(list + n, 1024);
	n += 1024;
	lost_bytes(1024);
	return NULL;
}

/* Beside a cache that is full and replaces its oldest entry, of the same class */
static site void cache_put(void)
{
	static char *entry[CACHE];
	static unsigned int at;

	at = (at + 1) % CACHE;
	free(entry[at]);
	entry[at] = fill(malloc(200), 200);
}

static site char *keep_beside(void)
{
	return lose(200);
}

/* Once in about three seconds */
static site char *keep_rare(void)
{
	return lose(900);
}

static site char *keep_threads(void)
{
	return lose(300);
}

/* Requests free after they allocate: what leaks takes their places, and they fault. */
static site char *keep_displaced(void)
{
	char *p = fill(malloc(200), 200);

	p[0] = 2;
	return p;
}

/* A job that runs every 400 rounds, and then leaks 20 blocks */
static site char *keep_periodic(void)
{
	static char *before[20];
	unsigned int i;

	for (i = 0; i < 20; i++) {
		if (is_twin)
			free(before[i]);
		before[i] = lose(200);
		lost(before[i]);
	}
	return NULL;
}

/* An allocator of the program's own: it takes chunks and gives parts of them away. */
static site char *arena_part(size_t n)
{
	static char *chunk, *older[4];
	static size_t used = 8192;
	static unsigned int at;

	if (used + n > 8192) {
		if (is_twin)
			free(older[at % 4]);
		older[at++ % 4] = chunk;
		chunk = fill(malloc(8192), 64);
		lost(chunk);
		used = 64;
	}
	used += n;
	return chunk + used - n;
}

static site char *keep_arena(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		fill(arena_part(200), 200);
	return NULL;
}

/* Nodes whose pointers change after they are allocated */
struct node {
	struct node *left, *right;
	unsigned long key, value[3];
};

static void free_tree(struct node *n)
{
	if (!n)
		return;
	free_tree(n->left);
	free_tree(n->right);
	free(n);
}

static site char *keep_tree(void)
{
	static struct node *root;
	static unsigned int nodes;
	struct node **at = &root;
	unsigned long key;

	if (is_twin && ++nodes % 64 == 0) {
		free_tree(root);
		root = NULL;
	}
	key = ++turn * 2654435761UL;
	while (*at)
		at = key < (*at)->key ? &(*at)->left : &(*at)->right;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		abort();
	lost(*at);
	(*at)->key = key;
	fill((char *)(*at)->value, sizeof((*at)->value));
	return NULL;
}

static const struct program {
	const char *name;
	char *(*keep)(void);
	size_t bytes;		/* of requests */
	unsigned int every;	/* rounds of 2 ms from one leak to the next, but for keep_rare() */
} programs[] = {
	{ "small", keep_small, 200, 1 }, { "wrapped", keep_wrapped, 120, 1 },
	{ "copy", keep_copy, 60, 1 }, { "line", keep_line, 130, 1 },
	{ "big", keep_big, 40000, 5 }, { "grow", keep_grow, 200, 5 },
	{ "beside", keep_beside, 150, 2 }, { "rare", keep_rare, 900, 1000 },
	{ "threads", keep_threads, 300, 2 }, { "displaced", keep_displaced, 200, 1 },
	{ "periodic", keep_periodic, 200, 400 }, { "arena", keep_arena, 8192, 1 },
	{ "tree", keep_tree, 48, 1 },
};

/* Once in three seconds, however fast the machine is */
static int is_late(void)
{
	static time_t next;
	time_t now = time(NULL);

	if (now < next)
		return 0;
	next = now + 3;
	return 1;
}

static void a_round(const struct program *p, unsigned long n)
{
	/* The twin frees within some 100 rounds, or the next time. */
	unsigned int ring = p->every < LIVE ? LIVE / p->every : 1;
	unsigned int at = (unsigned int)(n / p->every % ring), i;
	char *block;

	for (i = 0; i < 10; i++)
		serve(p->bytes);
	if (p->keep == keep_beside)
		cache_put();
	if (p->keep == keep_rare ? !is_late() : n % p->every)
		return;
	block = p->keep();
	lost(block);
	if (!is_twin)
		return;
	free(kept[at]);
	kept[at] = block;
}

static void *worker(void *arg)
{
	const struct program *p = arg;
	unsigned long n;

	turn = (unsigned long)&n;
	for (n = 1; ; n++) {
		a_round(p, n);
		usleep(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct program *p = programs;
	unsigned int i, threads;
	pthread_t t;

	for (i = 0; argc > 1 && i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(programs[i].name, argv[1]))
			p = &programs[i];
	is_twin = argc > 2;
	late_free = p->keep == keep_displaced;
	threads = p->keep == keep_threads ? 4 : 0;
	for (i = 0; p->keep == keep_beside && i < CACHE; i++)
		cache_put();
	for (i = 0; i < threads; i++)
		pthread_create(&t, NULL, worker, (void *)p);
	puts("ready");
	fflush(stdout);
	worker((void *)p);
}
