// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a real program leak, with LD_PRELOAD=dropfree.so: a share of the calls
 * of free() is forgotten. Options by environment:
 *
 *  DROPFREE_PERMILLE	the share
 *  DROPFREE_ONSET	seconds after the start of the program
 *  DROPFREE_SEED	which calls
 *  DROPFREE_MIN, _MAX	bytes: only blocks of such sizes
 *  DROPFREE_EXE	only in programs whose file has this name
 *  DROPFREE_OUT	OUT.PID is what was dropped: struct dropped
 *
 * It allocates nothing: what it needs is its bss, and the file that is mapped
 * (three pages). A child that is forked gets a file and counts of its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLOTS		1024
#define SLOT_S		600

struct dropped {
	uint64_t onset_ns;		/* CLOCK_MONOTONIC */
	uint64_t bytes, blocks;		/* dropped, as malloc_usable_size() has it */
	uint64_t calls;			/* of free() since the onset, of such sizes */
	uint64_t in[SLOTS];		/* bytes dropped by then, every ten minutes */
};

static struct dropped nowhere, *dropped = &nowhere;
static void (*real_free)(void *p);
static uint64_t permille, seed, onset, least, most = UINT64_MAX;
static char out[256];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static uint64_t option(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

static void open_dropped(void)
{
	char path[sizeof(out) + 16];
	int fd;

	dropped = &nowhere;
	memset(&nowhere, 0, sizeof(nowhere));
	if (!*out)
		return;
	snprintf(path, sizeof(path), "%s.%d", out, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, sizeof(*dropped)))
		return;
	dropped = mmap(NULL, sizeof(*dropped), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (dropped == MAP_FAILED)
		dropped = &nowhere;
	dropped->onset_ns = onset;
}

__attribute__((constructor)) static void begin(void)
{
	const char *exe = getenv("DROPFREE_EXE"), *to = getenv("DROPFREE_OUT"), *name;
	char self[256];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	self[len > 0 ? len : 0] = 0;
	name = strrchr(self, '/') ? strrchr(self, '/') + 1 : self;
	if (exe && strcmp(exe, name))
		return;
	seed = option("DROPFREE_SEED", 1) * 0x9e3779b97f4a7c15ULL | 1;
	least = option("DROPFREE_MIN", 0);
	most = option("DROPFREE_MAX", UINT64_MAX);
	onset = now() + option("DROPFREE_ONSET", 0) * 1000000000ULL;
	if (to)
		snprintf(out, sizeof(out), "%s", to);
	open_dropped();
	pthread_atfork(NULL, NULL, open_dropped);
	permille = option("DROPFREE_PERMILLE", 0);	/* from here on */
}

/* Which calls it takes follows from their number, whatever the thread. */
static int drop(void *p)
{
	uint64_t size, n, t;

	if (!permille || !p)
		return 0;
	size = malloc_usable_size(p);
	if (size < least || size > most)
		return 0;
	t = now();
	if (t < onset)
		return 0;
	n = __atomic_add_fetch(&dropped->calls, 1, __ATOMIC_RELAXED) * seed;
	n ^= n >> 29;
	n *= 0xbf58476d1ce4e5b9ULL;
	n ^= n >> 32;
	if (n % 1000 >= permille)
		return 0;
	__atomic_add_fetch(&dropped->blocks, 1, __ATOMIC_RELAXED);
	n = __atomic_add_fetch(&dropped->bytes, size, __ATOMIC_RELAXED);
	t = (t - onset) / (SLOT_S * 1000000000ULL);
	dropped->in[t < SLOTS ? t : SLOTS - 1] = n;
	return 1;
}

void free(void *p)
{
	/* dlsym() may free before it is known what comes next: a few bytes */
	if (real_free && !drop(p))
		real_free(p);
}

void cfree(void *p)
{
	free(p);
}
