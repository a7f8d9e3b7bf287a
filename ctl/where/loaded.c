// SPDX-License-Identifier: GPL-2.0
/*
 * Files of a process as libdw gets them. By itself it maps them, so that a process which truncates
 * its file ends the tool by SIGBUS, and unpacks what is compressed, whatever that takes. Here they
 * are read, and tables have a bound in sum of all files.
 */
#include <string.h>
#include <sys/stat.h>
#include "where/where.h"

#ifdef HAVE_LIBDW
#include <gelf.h>
#include "where/debugfile.h"
#include "where/loaded.h"

#define SECTION_HEAP	512U		/* that libelf has for each, or less */
#define NAMES_MAX	(16 * MIB)	/* of sections */
#define SIZE_MAX_SUM	(1ULL << 40)	/* a size that cannot be; sums of them do not overflow */
#define READINGS	4U		/* of all of a file that has no headers of its tables */

struct sum {
	u64 tables, lines;	/* bytes to read, or to unpack */
	bool has_frames, has_symbols;
};

static u64 capped(u64 bytes)
{
	return bytes < SIZE_MAX_SUM ? bytes : SIZE_MAX_SUM;
}

/* Is it for lines only, as .debug_info? */
static bool is_of_lines(const GElf_Shdr *sh)
{
	return sh->sh_type == SHT_PROGBITS && !(sh->sh_flags & SHF_ALLOC);
}

/* Bytes that a section takes in memory. The older form of compression does not count as one. */
static u64 lines_bytes(Elf_Scn *scn, const GElf_Shdr *sh, const char *name, u64 most)
{
	GElf_Chdr ch;

	if (sh->sh_size > most || !strncmp(name, ".zdebug", 7))
		return SIZE_MAX_SUM;
	if (!(sh->sh_flags & SHF_COMPRESSED))
		return sh->sh_size;
	/* The section is read here, and libdw unpacks what was read. */
	return gelf_getchdr(scn, &ch) ? sh->sh_size + capped(ch.ch_size) : SIZE_MAX_SUM;
}

static void add_section(Elf_Scn *scn, const GElf_Shdr *sh, const char *name, u64 most,
			struct sum *s)
{
	bool is_frames = !strncmp(name, ".eh_frame", 9);

	if (sh->sh_type == SHT_NOBITS)
		return;
	s->has_frames = s->has_frames || !strcmp(name, ".eh_frame");
	s->has_symbols = s->has_symbols || sh->sh_type == SHT_SYMTAB || sh->sh_type == SHT_DYNSYM;
	if (is_of_lines(sh))
		s->lines += lines_bytes(scn, sh, name, most);
	else if (sh->sh_type != SHT_PROGBITS || is_frames)
		s->tables += sh->sh_flags & SHF_COMPRESSED ? SIZE_MAX_SUM : capped(sh->sh_size);
}

/* Returns false if names of sections cannot be read. */
static bool add_sections(Elf *elf, u64 most, struct sum *s)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	if (names && (!gelf_getshdr(elf_getscn(elf, names), &sh) || sh.sh_size > NAMES_MAX ||
		      (sh.sh_flags & SHF_COMPRESSED)))
		return false;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		name = names ? elf_strptr(elf, names, sh.sh_name) : NULL;
		add_section(scn, &sh, name ? name : "", most, s);
		s->tables += SECTION_HEAP;
	}
	return !scn;
}

static void add_segments(Elf *elf, const GElf_Ehdr *eh, struct sum *s)
{
	GElf_Phdr ph;
	int i;

	for (i = 0; i < eh->e_phnum && gelf_getphdr(elf, i, &ph); i++)
		if (ph.p_type == PT_NOTE || ph.p_type == PT_DYNAMIC ||
		    ph.p_type == PT_GNU_EH_FRAME)
			s->tables += capped(ph.p_filesz);
}

/* Lets libdw take sections of lines for empty ones. */
static void drop_lines(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh))
		if (is_of_lines(&sh)) {
			sh.sh_type = SHT_NOBITS;
			gelf_update_shdr(scn, &sh);
		}
}

/*
 * Takes its name from .gnu_debugdata, so that libdw does not unpack it: what it says it becomes may
 * be a lie. Symbols in it are for a child that has a limit.
 */
static void hide_packed(Elf *elf, u64 most)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) || !names)
		return;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name || strcmp(name, ".gnu_debugdata") || sh.sh_size <= most)
			continue;
		sh.sh_name = 0;
		gelf_update_shdr(scn, &sh);
	}
}

static bool has_room(Elf *elf, int fd, struct loaded_room *room)
{
	struct sum s = { 0 };
	struct stat st;
	GElf_Ehdr eh;

	if (fstat(fd, &st) || !gelf_getehdr(elf, &eh) || !add_sections(elf, room->lines, &s))
		return false;
	hide_packed(elf, room->packed ? LOADED_PACKED : 0);
	add_segments(elf, &eh, &s);
	if (!s.has_frames || !s.has_symbols)
		s.tables += READINGS * (u64)st.st_size;
	if (s.tables > room->tables)
		return false;
	room->tables -= s.tables;
	if (s.lines > room->lines) {
		drop_lines(elf);
		room->without_lines++;
	} else {
		room->lines -= s.lines;
	}
	return true;
}

/* The file that is open as @fd, and has to stay so; NULL: its tables are no such, or too large */
Elf *loaded_elf(int fd, struct loaded_room *room)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	if (elf && has_room(elf, fd, room))
		return elf;
	elf_end(elf);
	room->left_out++;
	return NULL;
}

/* Is called when the module is needed. The file itself is open already: the process may end. */
static int find_file(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
		     char **path, Elf **elf)
{
	struct loaded_file *f = *data;

	*elf = f ? loaded_elf(f->fd, f->room) : NULL;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_file,
	.find_debuginfo = debug_find,
};

/**
 * loaded_files() - let libdw know the files of a process
 * @file: @n of them; they stay where they are as long as what is returned
 * @room: for all that libdw reads of them, when it needs it
 *
 * Return: for dwfl_end(), or NULL.
 */
Dwfl *loaded_files(struct loaded_file *file, unsigned int n, struct loaded_room *room)
{
	Dwfl *dwfl;
	Dwfl_Module *mod;
	unsigned int i;
	char name[16];
	void **data;

	elf_version(EV_CURRENT);
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return NULL;
	dwfl_report_begin(dwfl);
	for (i = 0; i < n; i++) {
		file[i].room = room;
		snprintf(name, sizeof(name), "%u", i);
		mod = dwfl_report_module(dwfl, name, file[i].begin, file[i].end);
		if (mod && dwfl_module_info(mod, &data, NULL, NULL, NULL, NULL, NULL, NULL))
			*data = &file[i];
	}
	dwfl_report_end(dwfl, NULL, NULL);
	return dwfl;
}

/* The file of a module, or NULL */
struct loaded_file *loaded_file_of(Dwfl_Module *mod)
{
	void **data;

	return dwfl_module_info(mod, &data, NULL, NULL, NULL, NULL, NULL, NULL) ? *data : NULL;
}

void loaded_note(const struct loaded_room *room, struct result *r)
{
	if (room->left_out)
		result_note(r, "%u files are left out of stacks: their tables of symbols and "
			    "frames are no such, or too large", room->left_out);
}

#endif
