// SPDX-License-Identifier: GPL-2.0
/*
 * A program that maps its library once more, as data: `twice LIBRARY BYTES` maps so much of it,
 * prints "ready" and executes "leak N" from its input: the library touches N new pages. Built
 * with -DLIBRARY it is the library.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

void grow_here(long pages);

#ifdef LIBRARY
void grow_here(long pages)
{
	volatile char *p = mmap(NULL, (size_t)pages << 12, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; i < pages; i++)
		p[i << 12] = 1;
}
#else
int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	char *copy;
	long n;

	if (fd < 0)
		return 2;
	copy = mmap(NULL, (size_t)atol(argv[2]), PROT_READ, MAP_PRIVATE, fd, 0);
	/* The lowest mapping of the library is this one. */
	if (copy == MAP_FAILED || copy > (char *)grow_here)
		return 1;
	puts("ready");
	fflush(stdout);
	while (scanf(" leak %ld", &n) == 1) {
		grow_here(n);
		printf("%ld %ld\n", n, n << 12);
		fflush(stdout);
	}
	return 0;
}
#endif
