// SPDX-License-Identifier: GPL-2.0
/*
 * A process that forges what seepage where reads: `hostile MODE` prints "ready" and waits.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGN	(64UL << 20)

/* The heap of an arena at a multiple of 64 MiB, its fast bins and chunks all forged */
static uint64_t *arena(void)
{
	uint64_t *h = mmap((void *)(0x200000000000UL + ALIGN), 1 << 20, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	int i;

	if (h == MAP_FAILED)
		exit(1);
	h[0] = (uintptr_t)h + 0x30;
	h[2] = 1 << 20;
	h[3] = 1 << 20;
	for (i = 0; i < 10; i++)	/* a list that loops, mangled as by glibc 2.32, or not */
		h[(0x30 + 0x10) / 8 + i] = (uintptr_t)h + 0x8d0;
	h[0x8d0 / 8 + 1] = 0x25;
	h[0x8d0 / 8 + 2] = ((uintptr_t)h + 0x8d0) ^ (((uintptr_t)h + 0x8d0 + 16) >> 12);
	return h + 0x8d0 / 8;
}

static void chunks(uint64_t *c, const char *mode)
{
	uint64_t i;

	if (!strcmp(mode, "zero"))
		c[4 + 1] = 0;
	else if (!strcmp(mode, "huge"))
		c[4 + 1] = UINT64_MAX - 15;
	else if (!strcmp(mode, "odd"))
		c[4 + 1] = 0x31 + 8;
	else	/* an endless list of a thread's cache, and small chunks up to the end */
		for (i = 4; i + 4 < ((1 << 20) - 0x8d0) / 8; i += 4)
			c[i + 1] = 0x25;
}

/* The main arena: a chunk of malloc() gets a size that leads far behind its end. */
static void main_heap(void)
{
	uint64_t *p = malloc(100);

	__asm__ volatile("" : "+r"(p));	/* so that the compiler keeps both */
	p[-1] = 0x7fffffffffffff01;
}

/* Chunks with mappings of their own: a size that leads back to the first byte */
static void mapped(void)
{
	uint64_t *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	p[1] = -4096UL | 2;
}

int main(int argc, char **argv)
{
	const char *mode = argv[argc > 1];

	chunks(arena(), mode);
	if (!strcmp(mode, "main"))
		main_heap();
	mapped();
	write(1, "ready\n", 6);
	for (;;)
		pause();
}
