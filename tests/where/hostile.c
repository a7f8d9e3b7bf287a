// SPDX-License-Identifier: GPL-2.0
/*
 * A process that forges what seepage where reads: `hostile MODE` prints "ready" and waits. The
 * modes "lazy" and "stuck" need root. "lazy" has memory of which nobody provides the pages that
 * were never used: a read of them never ends. With "stuck" the headers of the program lead there.
 * On a line of input both print how many of these pages are there.
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

#define LAZY_PAGES	64UL

/* Memory whose pages nobody provides. The kernel has one that is used behind it. */
static unsigned char *lazy(void)
{
	unsigned char *p = mmap(NULL, (LAZY_PAGES + 1) * 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = {
		.range = { (uintptr_t)p, LAZY_PAGES * 4096 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (p == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &all))
		exit(77);
	p[LAZY_PAGES * 4096] = 1;
	return p;
}

/* The program headers say that the dynamic section is there. */
static void lead_to(const unsigned char *p)
{
	extern Elf64_Ehdr __ehdr_start;
	Elf64_Phdr *h = (void *)((char *)&__ehdr_start + __ehdr_start.e_phoff);
	int i;

	if (mprotect(&__ehdr_start, 4096, PROT_READ | PROT_WRITE))
		exit(1);
	for (i = 0; i < __ehdr_start.e_phnum; i++)
		if (h[i].p_type == PT_DYNAMIC)
			h[i].p_vaddr = (uintptr_t)p - (uintptr_t)&__ehdr_start;
}

static void wait_lazily(const char *mode)
{
	unsigned char *p = lazy(), there[LAZY_PAGES];
	unsigned int n, i;

	if (!strcmp(mode, "stuck"))
		lead_to(p);
	write(1, "ready\n", 6);
	while (getchar() != EOF) {
		while (getchar() != '\n')
			;
		if (mincore(p, LAZY_PAGES * 4096, there))
			exit(1);
		for (n = 0, i = 0; i < LAZY_PAGES; i++)
			n += there[i] & 1;
		printf("%u\n", n);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argv[argc > 1];

	if (!strcmp(mode, "lazy") || !strcmp(mode, "stuck")) {
		wait_lazily(mode);
		return 0;
	}
	chunks(arena(), mode);
	if (!strcmp(mode, "main"))
		main_heap();
	mapped();
	write(1, "ready\n", 6);
	for (;;)
		pause();
}
