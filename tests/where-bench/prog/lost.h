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
 * A chunk of glibc is as long as its block and a head of 8 bytes, and a multiple of 16. What other
 * allocators say is the length of a block of theirs.
 */
static inline void lost(void *p)
{
	size_t n = p ? malloc_usable_size(p) : 0;

	if (p)
		lost_bytes(n % 16 == 8 ? n + 8 : n);
}

#endif
