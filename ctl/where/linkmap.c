// SPDX-License-Identifier: GPL-2.0
/*
 * The link map of a process: the list of files in which the dynamic linkers of glibc and musl look
 * for a symbol, one after another: the program, what is preloaded, then what is linked. It is read
 * from memory: the auxiliary vector has the program headers, these lead to the dynamic section, and
 * its entry DT_DEBUG has the address of struct r_debug. All of it is untrusted.
 */
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>
#include "where/where.h"

#define VECTOR_MAX	64U
#define HEADERS_MAX	64U
#define DYNAMIC_MAX	512U
#define LINKS_MAX	4096U	/* entries of the list, which may be a ring */

/* What <link.h> has, without pointers */
struct link {
	u64 addr, name, dynamic, next, before;
};

static u64 auxiliary(const struct target *t, u64 type)
{
	int fd = openat(t->dir, "auxv", O_RDONLY | O_CLOEXEC);
	Elf64_auxv_t v[VECTOR_MAX];
	ssize_t n = fd < 0 ? 0 : read(fd, v, sizeof(v)), i;
	u64 value = 0;

	if (fd >= 0)
		close(fd);
	for (i = 0; i < n / (ssize_t)sizeof(*v); i++)
		if (v[i].a_type == type)
			value = v[i].a_un.a_val;
	return value;
}

/* Where the program has its headers in memory, which is in its file; 0: not known */
u64 link_program(const struct target *t)
{
	return auxiliary(t, AT_PHDR);
}

/* Where the 16 random bytes are that the kernel gave to the program; 0: not known */
u64 link_random(const struct target *t)
{
	return auxiliary(t, AT_RANDOM);
}

/* The address of the dynamic section of the program; 0: it is linked statically, or not known */
static u64 dynamic_of(struct target *t)
{
	u64 at = auxiliary(t, AT_PHDR), n = auxiliary(t, AT_PHNUM), bias = 0, dynamic = 0, i;
	bool has_bias = false;
	Elf64_Phdr ph;

	for (i = 0; at && i < n && i < HEADERS_MAX; i++) {
		if (!target_read(t, at + i * sizeof(ph), &ph, sizeof(ph)))
			return 0;
		if (ph.p_type == PT_PHDR) {
			bias = at - ph.p_vaddr;
			has_bias = true;
		}
		if (ph.p_type == PT_DYNAMIC)
			dynamic = ph.p_vaddr;
	}
	return has_bias && dynamic ? dynamic + bias : 0;
}

static u64 first_link(struct target *t)
{
	u64 at = dynamic_of(t), first = 0;
	Elf64_Dyn d;
	unsigned int i;

	for (i = 0; at && i < DYNAMIC_MAX; i++, at += sizeof(d)) {
		if (!target_read(t, at, &d, sizeof(d)) || d.d_tag == DT_NULL)
			break;
		/* struct r_debug: a version of 4 bytes, 4 of padding, then the list */
		if (d.d_tag == DT_DEBUG && d.d_un.d_ptr &&
		    target_read(t, d.d_un.d_ptr + 8, &first, sizeof(first)))
			return first;
	}
	return 0;
}

/**
 * link_order() - addresses within the files of a process, in the order of the link map
 * @t: the process
 * @at: out, of each file that of its dynamic section
 * @most: room in @at
 *
 * Return: how many; 0 if the program is linked statically, or its list cannot be read.
 */
size_t link_order(struct target *t, u64 *at, size_t most)
{
	u64 addr = first_link(t);
	unsigned int i;
	struct link l;
	size_t n = 0;

	for (i = 0; addr && i < LINKS_MAX && n < most; i++, addr = l.next) {
		/* The linker has written them. */
		if (!used_read(t, addr, &l, sizeof(l)))
			break;
		at[n++] = l.dynamic;
	}
	return n;
}
