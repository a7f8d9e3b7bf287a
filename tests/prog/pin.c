// SPDX-License-Identifier: GPL-2.0
/*
 * pin FILE...: locks what the files hold in memory, prints "pinned" and their size in KB, and
 * keeps them there until it is killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t pin(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st)) {
		perror(name);
		return 0;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED || mlock(p, (size_t)st.st_size)) {
		perror(name);
		return 0;
	}
	return (size_t)st.st_size;
}

int main(int argc, char **argv)
{
	size_t sum = 0, size;

	for (int i = 1; i < argc; i++) {
		size = pin(argv[i]);
		if (!size)
			return 1;
		sum += size;
	}
	printf("pinned %zu KB\n", sum >> 10);
	fflush(stdout);
	for (;;)
		pause();
}
