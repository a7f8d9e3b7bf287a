// SPDX-License-Identifier: GPL-2.0
/*
 * The symbol at an address, from the tables of the ELF file that is mapped there. The file is
 * opened through /proc/PID/map_files, which leads to the mapped file itself, whatever mount
 * namespace the process has; without the right to do so, by its path below /proc/PID/root.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "where/where.h"

#define FILE_MAX	(4096 * MIB)
#define SEGMENTS_MAX	1024	/* each symbol may be looked for in all of them */

/*
 * Returns @fd if it is a regular ELF file of 64 bits, else -1, and closes it. Libraries keep some
 * hundred bytes for each section: numbers of sections and segments are those of 16 bits. What they
 * would unpack, convert, link or take apart as an archive is no such file.
 */
static int elf_checked(int fd)
{
	Elf64_Ehdr eh;
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (u64)st.st_size <= FILE_MAX &&
	    pread(fd, &eh, sizeof(eh), 0) == (ssize_t)sizeof(eh) &&
	    !memcmp(eh.e_ident, ELFMAG "\2\1", EI_DATA + 1) &&
	    (eh.e_type == ET_EXEC || eh.e_type == ET_DYN) &&
	    (eh.e_shnum || !eh.e_shoff) && eh.e_phnum <= SEGMENTS_MAX)
		return fd;
	close(fd);
	return -1;
}

/*
 * Opens a regular file for reading, -1 if @path leads to anything else: to open a device or a FIFO
 * may have effects. What was looked at is what is opened, whatever becomes of the path meanwhile.
 */
static int open_regular(int dir, const char *path)
{
	int fd = openat(dir, path, O_PATH | O_CLOEXEC), own = -1;
	char name[40];
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		own = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd >= 0)
		close(fd);
	return own;
}

/* Opens the ELF file that is mapped at @m; -1: none */
int map_open(const struct target *t, const struct where_map *m)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "map_files/%llx-%llx", m->lo, m->hi);
	fd = open_regular(t->dir, path);
	if (fd < 0) {
		snprintf(path, sizeof(path), "root%s", m->file);
		fd = open_regular(t->dir, path);
	}
	return elf_checked(fd);
}

/* Opens the ELF file at @path; -1: none */
int elf_open(const char *path)
{
	return elf_checked(open_regular(AT_FDCWD, path));
}

#ifdef HAVE_LIBELF
#include "where/elf.h"

#define TABLE_KINDS	2U	/* SHT_DYNSYM, SHT_SYMTAB; an ELF file may have one of each */

/*
 * Reads a section. elf_getdata() copies it, so that each has to fit into what is left of @room.
 * No file is mapped instead: a process that truncates its file would end the tool by SIGBUS.
 */
static Elf_Data *table(Elf_Scn *scn, u64 type, struct elf_room *room, size_t *link)
{
	Elf_Data *data;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != type || !sh.sh_size)
		return NULL;
	if (sh.sh_size > room->left) {
		room->cut = true;
		return NULL;
	}
	room->left -= sh.sh_size;
	*link = sh.sh_link;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

/* Returns whether @each returned true for one of the symbols, which ends it. */
static bool each_of_section(Elf *elf, Elf_Scn *scn, u64 type, struct elf_room *room,
			    elf_symbol_fn *each, void *arg)
{
	size_t link = 0, none;
	Elf_Data *data = table(scn, type, room, &link);
	Elf_Data *names = data ? table(elf_getscn(elf, link), SHT_STRTAB, room, &none) : NULL;
	const char *text = names ? names->d_buf : NULL;
	GElf_Sym sym;
	int i;

	if (!text || text[names->d_size - 1])
		return false;
	for (i = 0; gelf_getsym(data, i, &sym); i++)
		if (sym.st_name < names->d_size && text[sym.st_name] &&
		    each(arg, elf, text + sym.st_name, &sym))
			return true;
	return false;
}

/* Returns whether @each returned true for one of the symbols, which ends it. */
static bool each_within(Elf *elf, struct elf_room *room, elf_symbol_fn *each, void *arg)
{
	static const u32 kind[TABLE_KINDS] = { SHT_DYNSYM, SHT_SYMTAB };
	bool had[TABLE_KINDS] = { false };
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	unsigned int k;

	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh))
		for (k = 0; k < TABLE_KINDS; k++) {
			if (had[k] || sh.sh_type != kind[k])
				continue;
			had[k] = true;
			if (each_of_section(elf, scn, kind[k], room, each, arg))
				return true;
		}
	return false;
}

/* Calls @each for the symbols of a file, within bounds, until it returns true, which is returned */
bool elf_symbols(Elf *elf, elf_symbol_fn *each, void *arg)
{
	struct elf_room room = { .left = ELF_TABLES };

	return each_within(elf, &room, each, arg);
}

static Elf *begin(int fd, GElf_Ehdr *eh)
{
	Elf *elf = fd < 0 || elf_version(EV_CURRENT) == EV_NONE ? NULL :
		   elf_begin(fd, ELF_C_READ, NULL);

	if (elf && gelf_getehdr(elf, eh))
		return elf;
	elf_end(elf);
	return NULL;
}

/*
 * The same of the file that is open as @fd, and of no more than is left of @room. Returns whether
 * it is an ELF file.
 */
bool elf_file_symbols(int fd, struct elf_room *room, elf_symbol_fn *each, void *arg)
{
	struct elf_room own = { .left = room->left < ELF_TABLES ? room->left : ELF_TABLES };
	u64 had = own.left, heads;
	GElf_Ehdr eh;
	Elf *elf = begin(fd, &eh);

	heads = elf ? eh.e_shnum * sizeof(Elf64_Shdr) : 0;
	own.cut = heads > own.left;
	own.left -= own.cut ? own.left : heads;
	if (elf && !own.cut)
		each_within(elf, &own, each, arg);
	elf_end(elf);
	room->left -= had - own.left;
	room->cut = room->cut || own.cut;
	return elf;
}

struct at {
	u64 addr;
	char *buf;
	size_t size;
};

static bool is_at(void *arg, Elf *elf, const char *name, const GElf_Sym *sym)
{
	const struct at *a = arg;

	if (sym->st_shndx == SHN_UNDEF || a->addr < sym->st_value ||
	    a->addr - sym->st_value >= sym->st_size)
		return false;
	snprintf(a->buf, a->size, "%.*s", (int)a->size - 1, name);
	return true;
}

/*
 * The file that was asked last, with what was read of it: the tables of one may be tens of
 * megabytes, and hundreds of addresses are looked up in it.
 */
static Elf *begin_again(int fd, GElf_Ehdr *eh)
{
	static struct {
		dev_t dev;
		ino_t ino;
		struct timespec changed;
		int fd;
		Elf *elf;
	} last;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		st = (struct stat){ 0 };
	if (last.elf && fd >= 0 && st.st_dev == last.dev && st.st_ino == last.ino &&
	    st.st_mtim.tv_sec == last.changed.tv_sec &&
	    st.st_mtim.tv_nsec == last.changed.tv_nsec) {
		close(fd);
		return gelf_getehdr(last.elf, eh) ? last.elf : NULL;
	}
	if (last.elf) {
		elf_end(last.elf);
		close(last.fd);
	}
	last.elf = begin(fd, eh);
	last.fd = fd;
	last.dev = st.st_dev;
	last.ino = st.st_ino;
	last.changed = st.st_mtim;
	if (!last.elf && fd >= 0)
		close(fd);
	return last.elf;
}

/* Writes the name of the symbol at @addr, as the file has it; false: there is none */
bool symbol_at(struct target *t, u64 addr, char *buf, size_t size)
{
	const struct where_map *m = target_at(t, addr);
	struct at a = { .buf = buf, .size = size };
	bool found = false;
	GElf_Ehdr eh;
	Elf *elf = begin_again(m && m->file ? map_open(t, m) : -1, &eh);

	if (elf) {
		a.addr = eh.e_type == ET_EXEC ? addr : addr - target_base(t, m);
		found = elf_symbols(elf, is_at, &a);
	}
	return found;
}

struct wanted {
	u64 base;
	struct symbol *s;
	size_t n, left;
};

static bool is_wanted(void *arg, Elf *elf, const char *name, const GElf_Sym *sym)
{
	struct wanted *w = arg;
	size_t k;

	if (sym->st_shndx == SHN_UNDEF)
		return false;
	for (k = 0; k < w->n; k++) {
		if (w->s[k].addr || strcmp(name, w->s[k].name))
			continue;
		w->s[k].addr = w->base + sym->st_value;
		w->s[k].size = sym->st_size;
		w->left -= w->s[k].addr != 0;
	}
	return !w->left;
}

/* Writes the address in the process of the symbol @name of its program. */
bool symbol_find(struct target *t, const char *name, u64 *addr)
{
	int fd = elf_checked(open_regular(t->dir, "exe"));
	struct symbol s = { .name = name };
	struct wanted w = { .s = &s, .n = 1, .left = 1 };
	GElf_Ehdr eh;
	Elf *elf = begin(fd, &eh);

	/* a program that is not linked at fixed addresses is not looked at */
	if (elf && eh.e_type == ET_EXEC)
		elf_symbols(elf, is_wanted, &w);
	*addr = s.addr;
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return s.addr;
}

/* Finds symbols of the file that is mapped at @m; those that it has not keep the address 0. */
void symbols_find(const struct target *t, const struct where_map *m, struct symbol *s, size_t n)
{
	struct wanted w = { .s = s, .n = n, .left = n };
	int fd = map_open(t, m);
	GElf_Ehdr eh;
	Elf *elf = begin(fd, &eh);

	if (elf) {
		w.base = eh.e_type == ET_EXEC ? 0 : target_base(t, m);
		elf_symbols(elf, is_wanted, &w);
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
