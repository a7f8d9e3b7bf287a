// SPDX-License-Identifier: GPL-2.0
/*
 * The symbol at an address, from the tables of the ELF file that is mapped there. The file is
 * opened through /proc/PID/map_files, which leads to the mapped file itself, whatever mount
 * namespace the process has; without the right to do so, by its path below /proc/PID/root.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "where/where.h"

#define FILE_MAX	(4096 * MIB)

/* Opens the regular file that is mapped at @m; -1: none */
int map_open(const struct target *t, const struct where_map *m)
{
	char path[4200];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "map_files/%llx-%llx", m->lo, m->hi);
	fd = openat(t->dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		snprintf(path, sizeof(path), "root%s", m->file);
		fd = openat(t->dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || (u64)st.st_size > FILE_MAX)) {
		close(fd);
		return -1;
	}
	return fd;
}

#ifdef HAVE_LIBELF
#include <gelf.h>
#include <libelf.h>

#define SYMBOLS_MAX	(1U << 22)

static bool in_section(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, u64 addr, char *buf,
		       size_t size)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	u64 n = data && sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0, i;
	const char *name;
	GElf_Sym sym;

	for (i = 0; i < n && i < SYMBOLS_MAX; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    addr < sym.st_value || addr - sym.st_value >= sym.st_size)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		snprintf(buf, size, "%.*s", (int)size - 1, name);
		return true;
	}
	return false;
}

static bool in_file(Elf *elf, u64 addr, char *buf, size_t size)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    in_section(elf, scn, &sh, addr, buf, size))
			return true;
	return false;
}

static bool find_in_section(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, const char *name,
			    u64 *addr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	u64 n = data && sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0, i;
	const char *s;
	GElf_Sym sym;

	for (i = 0; i < n && i < SYMBOLS_MAX; i++) {
		s = gelf_getsym(data, (int)i, &sym) ? elf_strptr(elf, sh->sh_link, sym.st_name) :
		    NULL;
		if (!s || strcmp(s, name))
			continue;
		*addr = sym.st_value;
		return true;
	}
	return false;
}

static bool find_in_file(Elf *elf, const char *name, u64 *addr)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB &&
		    find_in_section(elf, scn, &sh, name, addr))
			return true;
	return false;
}

/* Writes the name of the symbol at @addr, as the file has it; false: there is none */
bool symbol_at(struct target *t, u64 addr, char *buf, size_t size)
{
	const struct where_map *m = target_at(t, addr);
	bool found = false;
	GElf_Ehdr eh;
	Elf *elf;
	int fd;

	if (!m || !m->file || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	fd = map_open(t, m);
	if (fd < 0)
		return false;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && gelf_getehdr(elf, &eh))
		found = in_file(elf, eh.e_type == ET_EXEC ? addr : addr - target_base(t, m), buf,
				size);
	elf_end(elf);
	close(fd);
	return found;
}

/* Writes the address in the process of the symbol @name of its program. */
bool symbol_find(struct target *t, const char *name, u64 *addr)
{
	int fd = openat(t->dir, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *elf = NULL;
	GElf_Ehdr eh;
	bool found;

	*addr = 0;
	if (fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	/* a program that is not linked at fixed addresses is not looked at */
	found = elf && gelf_getehdr(elf, &eh) && eh.e_type == ET_EXEC &&
		find_in_file(elf, name, addr);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

static bool find_all(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, u64 base, struct symbol *s,
		     size_t n)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	u64 count = data && sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0, i;
	const char *name;
	size_t k, left = 0;
	GElf_Sym sym;

	for (i = 0; i < count && i < SYMBOLS_MAX; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		for (k = 0; name && k < n; k++)
			if (!strcmp(name, s[k].name)) {
				s[k].addr = base + sym.st_value;
				s[k].size = sym.st_size;
			}
	}
	for (k = 0; k < n; k++)
		left += !s[k].addr;
	return !left;
}

/* Finds symbols of the file that is mapped at @m; those that it has not keep the address 0. */
void symbols_find(const struct target *t, const struct where_map *m, struct symbol *s, size_t n)
{
	int fd = elf_version(EV_CURRENT) == EV_NONE ? -1 : map_open(t, m);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Ehdr eh;
	u64 base;

	if (elf && gelf_getehdr(elf, &eh)) {
		base = eh.e_type == ET_EXEC ? 0 : target_base(t, m);
		while ((scn = elf_nextscn(elf, scn)))
			if (gelf_getshdr(scn, &sh) &&
			    (sh.sh_type == SHT_DYNSYM || sh.sh_type == SHT_SYMTAB) &&
			    find_all(elf, scn, &sh, base, s, n))
				break;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

#else

void symbols_find(const struct target *t, const struct where_map *m, struct symbol *s, size_t n)
{
}

bool symbol_find(struct target *t, const char *name, u64 *addr)
{
	return false;
}

bool symbol_at(struct target *t, u64 addr, char *buf, size_t size)
{
	return false;
}

#endif
