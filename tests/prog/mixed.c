// SPDX-License-Identifier: GPL-2.0
/*
 * mixed shm|shmrw|file N: reads N resident pages of a shared mapping (up to 16 a fault), then
 * touches N anonymous pages. shmrw reads half of the shared pages and writes the other half,
 * like a database process with its shared buffers. Prints "ready" and stays.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096UL

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int resident(const char *kind, size_t n)
{
	char name[] = "mixed.XXXXXX", buf[PAGE];
	int fd = kind[0] == 'f' ? mkstemp(name) : memfd_create("mixed", 0);

	if (fd < 0)
		die("file");
	if (kind[0] == 'f')
		unlink(name);
	memset(buf, 1, sizeof(buf));
	for (size_t i = 0; i < n; i++)
		if (write(fd, buf, sizeof(buf)) != (ssize_t)sizeof(buf))
			die("write");
	return fd;
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000, i;
	size_t reads = argc > 1 && !strcmp(argv[1], "shmrw") ? n / 2 : n;
	volatile char *shared, *private;
	unsigned int sum = 0;

	if (argc < 3)
		return 2;
	shared = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      resident(argv[1], n), 0);
	private = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || private == MAP_FAILED)
		die("mmap");
	madvise((void *)private, n * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < reads; i++)
		sum += shared[i * PAGE];
	for (; i < n; i++)
		shared[i * PAGE] = 2;
	for (i = 0; i < n; i++)
		private[i * PAGE] = 1;
	if (sum != reads)
		return 1;
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
