// SPDX-License-Identifier: GPL-2.0
/*
 * A leak at a chosen call site of a program that has none. With LD_PRELOAD this takes the place of
 * malloc(), calloc() and posix_memalign(). One of EVERY calls is looked at, at random:
 * if the exported function INJECT is among the first FRAMES callers, one more block of that
 * size is allocated there, filled and lost, in inject_lost(), and counted as lost.h has it. Without
 * INJECT nothing is lost: the twin.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "lost.h"

#define EVERY	20U
#define FRAMES	5
#define SKIP	2	/* lose() and the function that took malloc's place */

static void *(*next_malloc)(size_t n);
static void *(*next_calloc)(size_t n, size_t size);
static int (*next_posix_memalign)(void **p, size_t align, size_t n);
static char site[128];	/* a copy: postgres writes over its environment */
static __thread unsigned int calls, inside;
static char early[4096];	/* what dlsym() takes before there is a calloc() */
static size_t early_used;

static void __attribute__((constructor)) begin(void)
{
	const char *name = getenv("INJECT");
	void *frame[1];

	inside++;
	next_malloc = dlsym(RTLD_NEXT, "malloc");
	next_calloc = dlsym(RTLD_NEXT, "calloc");
	next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	backtrace(frame, 1);	/* loads what it needs */
	if (name && strlen(name) < sizeof(site))
		strcpy(site, name);
	inside--;
}

/* Returns whether to lose a block like the one that is asked for. */
static __attribute__((noinline)) int is_due(void)
{
	void *frame[SKIP + FRAMES];
	int n, i, found = 0;
	Dl_info info;

	if (!*site || inside)
		return 0;
	/* A fixed step may keep step with the program. */
	calls = calls * 1103515245U + 12345U;
	if ((calls >> 16) % EVERY)
		return 0;
	inside++;
	n = backtrace(frame, SKIP + FRAMES);
	for (i = SKIP; i < n && !found; i++)
		found = dladdr((char *)frame[i] - 1, &info) && info.dli_sname &&
			!strcmp(info.dli_sname, site);
	inside--;
	return found;
}

static void fill(void *p, size_t n)
{
	static unsigned long turn = 0x5eed;
	char *c = p;
	size_t i;

	for (i = 0; c && i < n; i++)
		c[i] = (char)(1 + ++turn * 2654435761UL % 251);
}

/* The frame that tells what is lost from what the program asked for itself */
__attribute__((noipa)) void inject_lost(size_t n, int zeroed, size_t align)
{
	void *p = NULL;

	if (align && next_posix_memalign(&p, align, n))
		return;
	if (!align)
		p = zeroed ? next_calloc(1, n) : next_malloc(n);
	fill(p, n);
	lost(p);
}

void *malloc(size_t n)
{
	if (!next_malloc)
		begin();
	if (is_due())
		inject_lost(n, 0, 0);
	return next_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	void *p;

	if (!next_calloc) {
		p = early + early_used;
		early_used += (n * size + 15) & ~15UL;
		if (early_used > sizeof(early))
			abort();
		return p;
	}
	if (is_due())
		inject_lost(n * size, 1, 0);
	return next_calloc(n, size);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	if (!next_posix_memalign)
		begin();
	if (is_due())
		inject_lost(n, 0, align);
	return next_posix_memalign(p, align, n);
}
