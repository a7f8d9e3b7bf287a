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
#include <gelf.h>
#include <libelf.h>

#define SYMBOLS_MAX	(1U << 22)

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

static void add_symbol(struct probes *p, Elf *elf, const char *name, const GElf_Sym *sym)
{
	u64 offset;
	size_t i;

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return;
	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(name, functions[i].name) && file_offset(elf, sym->st_value, &offset))
			add(p, functions[i].kind, functions[i].name, offset, p->fd);
}

static void search(struct probes *p, Elf *elf)
{
	Elf_Scn *scn = NULL;
	const char *name;
	Elf_Data *data;
	GElf_Shdr sh;
	GElf_Sym sym;
	u64 n, i;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !sh.sh_entsize ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(scn, NULL);
		n = data ? sh.sh_size / sh.sh_entsize : 0;
		for (i = 0; i < n && i < SYMBOLS_MAX; i++) {
			if (!gelf_getsym(data, (int)i, &sym))
				break;
			name = elf_strptr(elf, sh.sh_link, sym.st_name);
			if (name)
				add_symbol(p, elf, name, &sym);
		}
	}
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
		search(p, elf);
	elf_end(elf);
	return p->n;
}

#else

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
