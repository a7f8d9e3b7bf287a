// SPDX-License-Identifier: GPL-2.0
/*
 * Leaks on command, in a function that is inlined twice: "leak N" on standard input. A line "ready"
 * comes first, and one after each command. test_stacks.py knows the lines.
 */
#include <stdio.h>
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))
#define PAGE 4096

INLINE void touch(char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i += PAGE)
		((volatile char *)p)[i] = 1; /* the write */
}

INLINE void cache_put(size_t n)
{
	touch(malloc(n), n); /* the inner call */
}

__attribute__((noipa)) static void handle(size_t n)
{
	cache_put(n); /* the outer call */
}

int main(void)
{
	unsigned int n;

	puts("ready");
	fflush(stdout);
	while (scanf(" leak %u", &n) == 1) {
		while (n--)
			handle(64 * PAGE);
		puts("0 0");
		fflush(stdout);
	}
	return 0;
}
