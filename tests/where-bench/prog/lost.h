/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program lost so far, for guest.py to compare with the census: the file that LOST names has
 * blocks and bytes, two numbers of 8 bytes. Bytes are those that the allocator takes for them.
 */
#ifndef LOST_H
#define LOST_H

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct lost {
	unsigned long blocks, bytes;
};

static struct lost *lost_total;

static void __attribute__((constructor)) lost_begin(void)
{
	const char *path = getenv("LOST");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p;

	if (fd < 0)
		return;
	p = mmap(NULL, sizeof(*lost_total), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED)
		lost_total = p;
	close(fd);
}

static inline void lost_bytes(size_t n)
{
	if (!lost_total)
		return;
	__atomic_add_fetch(&lost_total->blocks, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&lost_total->bytes, n, __ATOMIC_RELAXED);
}

/*
 * What the allocator takes for the block at @p, for which malloc_usable_size() says @n. A chunk of
 * glibc is as long as its block and a head of 8 bytes, and a multiple of 16. musl says what was
 * asked for: its slots have one of these numbers of units of 16 bytes, of which a block leaves four
 * bytes. What other allocators say is the length of a block of theirs.
 */
static inline size_t lost_room(size_t n)
{
#ifdef __GLIBC__
	return n % 16 == 8 ? n + 8 : n;
#else
	static const unsigned short units[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 25, 31, 36, 42, 50, 63,
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (16UL * units[i] >= n + 4)
			return 16UL * units[i];
	abort();	/* larger ones are not lost by a program with musl */
#endif
}

static inline void lost(void *p)
{
	if (p)
		lost_bytes(lost_room(malloc_usable_size(p)));
}

#endif
