// SPDX-License-Identifier: GPL-2.0
/*
 * Which instructions a burst traps at: the entries of the functions of glibc that allocate, as
 * offsets in the file that is mapped: that of libc, or where there is none the program's own.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "where/where.h"
#include "where/burst.h"

/**
 * probe_place() - where to put the probe on a function
 * @fd: of the file
 * @offset: of the function in it
 * @emulated: out, whether the probe needs no single step
 *
 * A probe is behind an endbr64, which would be single-stepped. It is emulated if it is at a push,
 * which costs a tenth. On arm64 the first instruction has to be the one: behind a paciasp the
 * return address is signed.
 */
u64 probe_place(int fd, u64 offset, bool *emulated)
{
	*emulated = false;
#ifdef __x86_64__
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	unsigned char code[8] = { 0 };
	const unsigned char *p = code;

	if (pread(fd, code, sizeof(code), (off_t)offset) != sizeof(code))
		return offset;
	if (!memcmp(p, endbr64, sizeof(endbr64))) {
		p += sizeof(endbr64);
		offset += sizeof(endbr64);
	}
	p += p[0] == 0x41;
	*emulated = *p >= 0x50 && *p <= 0x57;
#endif
	return offset;
}

#ifdef HAVE_LIBELF
#include "where/elf.h"

static const struct {
	const char *name;
	u32 kind;
} functions[] = {
	{ "malloc", SEEPAGE_WHERE_ARG0 },
	{ "calloc", SEEPAGE_WHERE_PRODUCT },
	{ "realloc", SEEPAGE_WHERE_REALLOC },
	{ "memalign", SEEPAGE_WHERE_ARG1 },
	{ "aligned_alloc", SEEPAGE_WHERE_ARG1 },
	{ "posix_memalign", SEEPAGE_WHERE_POSIX },
	{ "valloc", SEEPAGE_WHERE_ARG0 },
	{ "pvalloc", SEEPAGE_WHERE_ARG0 },
};

static bool file_offset(Elf *elf, u64 addr, u64 *offset)
{
	size_t n, i;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    addr < ph.p_vaddr || addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = addr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

static void add(struct probes *p, u32 kind, const char *name, u64 offset, int fd)
{
	bool emulated;
	u32 i;

	offset = probe_place(fd, offset, &emulated);
	for (i = 0; i < p->n; i++)
		if (p->p[i].offset == offset)
			return;		/* another name of the same function */
	if (p->n == SEEPAGE_WHERE_PROBES)
		return;
	p->name[p->n] = name;
	p->emulated[p->n] = emulated;
	p->p[p->n++] = (struct seepage_where_probe){ .fd = fd, .kind = kind, .offset = offset };
}

static bool add_symbol(void *arg, Elf *elf, const char *name, const GElf_Sym *sym)
{
	struct probes *p = arg;
	u64 offset;
	size_t i;

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return false;
	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(name, functions[i].name) && file_offset(elf, sym->st_value, &offset))
			add(p, functions[i].kind, functions[i].name, offset, p->fd);
	return false;
}

static bool is_libc(const char *file)
{
	const char *name = strrchr(file, '/');

	name = name ? name + 1 : file;
	return !strncmp(name, "libc.so.", 8) || !strncmp(name, "libc-2.", 7);
}

static const struct where_map *allocator_map(const struct target *t)
{
	const struct where_map *exe = NULL;
	size_t i;

	for (i = 0; i < t->maps; i++) {
		if (!t->map[i].file || !t->map[i].exec)
			continue;
		if (is_libc(t->map[i].file))
			return &t->map[i];
		exe = exe ? exe : &t->map[i];
	}
	return exe;
}

/* Finds the functions of the process that allocate. Returns false if there are none. */
bool probes_find(struct target *t, struct probes *p)
{
	const struct where_map *m = allocator_map(t);
	Elf *elf;

	memset(p, 0, sizeof(*p));
	p->fd = m ? map_open(t, m) : -1;
	if (p->fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_begin(p->fd, ELF_C_READ, NULL);
	if (elf)
		elf_symbols(elf, add_symbol, p);
	elf_end(elf);
	return p->n;
}

/* Where the code at @offset of the file is linked; *eh: the segment of .eh_frame_hdr */
static bool linked_at(Elf *elf, u64 offset, u64 *addr, GElf_Phdr *eh)
{
	bool found = false;
	GElf_Phdr ph;
	size_t n, i;

	eh->p_filesz = 0;
	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_GNU_EH_FRAME)
			*eh = ph;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || offset < ph.p_offset ||
		    offset - ph.p_offset >= ph.p_filesz)
			continue;
		*addr = offset - ph.p_offset + ph.p_vaddr;
		found = true;
	}
	return found && eh->p_filesz;
}

/* Does the table of .eh_frame_hdr, which is sorted, have a function that begins at @addr? */
static bool has_function(int fd, const GElf_Phdr *eh, u64 addr)
{
	/* version 1; any; number: 4 bytes; table: of 4 bytes, from the beginning of this head */
	static const unsigned char form[] = { 0x03, 0x3b };
	unsigned char head[12];
	s64 want = (s64)(addr - eh->p_vaddr);
	u32 lo = 0, hi;
	int at;

	if (pread(fd, head, sizeof(head), (off_t)eh->p_offset) != sizeof(head) || head[0] != 1 ||
	    memcmp(head + 2, form, sizeof(form)))
		return false;
	memcpy(&hi, head + 8, sizeof(hi));
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (pread(fd, &at, sizeof(at), (off_t)(eh->p_offset + 12 + 8ULL * mid)) !=
		    sizeof(at))
			return false;
		if (at == want)
			return true;
		if (at < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/* Does a function begin at @offset of the file? */
bool probe_is_function(int fd, u64 offset)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	GElf_Phdr eh;
	u64 addr;
	bool is;

	is = elf && linked_at(elf, offset, &addr, &eh) && has_function(fd, &eh, addr);
	elf_end(elf);
	return is;
}

#else

bool probe_is_function(int fd, u64 offset)
{
	return false;
}

bool probes_find(struct target *t, struct probes *p)
{
	memset(p, 0, sizeof(*p));
	p->fd = -1;
	return false;
}

#endif

void probes_close(struct probes *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}
