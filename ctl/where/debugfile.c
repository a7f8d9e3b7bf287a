// SPDX-License-Identifier: GPL-2.0
/*
 * Separate debug files, for names and lines of the code of a process. Only those are opened that
 * are installed below /usr/lib/debug by build id. Files beside a program, and those that it names,
 * are its owner's: a FIFO among them would never be opened, and the tool would wait for ever.
 */
#include <limits.h>
#include <string.h>
#include "where/where.h"

#ifdef HAVE_LIBDW
#include <elfutils/libdwelf.h>
#include "where/debugfile.h"

#define ID_BYTES	64	/* most of a build id */

static const char *root = "/usr/lib/debug";

/* Writes ROOT/.build-id/ab/cdef.debug. Returns false if there is no id, or it has no room. */
static bool path_of(Dwfl_Module *mod, char *path, size_t size)
{
	const unsigned char *id;
	GElf_Addr addr;
	int n = dwfl_module_build_id(mod, &id, &addr), i;
	char hex[2 * ID_BYTES + 1];

	if (n < 2 || n > ID_BYTES)
		return false;
	for (i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return snprintf(path, size, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2) < (int)size;
}

/* Is it asked for what .gnu_debugaltlink names, which has another build id? */
static bool is_alternate(Dwfl_Module *mod, const char *link)
{
	const char *own;
	GElf_Addr bias;
	GElf_Word crc;
	Elf *elf = dwfl_module_getelf(mod, &bias);

	own = elf ? dwelf_elf_gnu_debuglink(elf, &crc) : NULL;
	return link && (!own || strcmp(link, own));
}

/**
 * debug_find() - open the debug file of a module, as a callback of libdwfl
 * @mod: the module
 * @link: the name that the module has for its debug file, or for an alternate one
 * @found: out, the path of the file
 *
 * Return: a descriptor, or -1 if no debug file is installed.
 */
int debug_find(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base, const char *file,
	       const char *link, GElf_Word crc, char **found)
{
	char path[PATH_MAX];
	int fd;

	if (is_alternate(mod, link) || !path_of(mod, path, sizeof(path)))
		return -1;
	fd = elf_open(path);
	if (fd >= 0)
		*found = must(strdup(path));
	return fd;
}

/*
 * May lines of the module be asked for? libdw opens the alternate file by itself, whatever it is. A
 * debug file that is installed may name one, the files of the process may not.
 */
bool debug_has_lines(Dwfl_Module *mod)
{
	Dwarf_Addr bias;
	GElf_Addr main_bias;
	Dwarf *dw = dwfl_module_getdwarf(mod, &bias);
	const void *id;
	const char *link;

	if (!dw)
		return false;
	return dwarf_getelf(dw) != dwfl_module_getelf(mod, &main_bias) ||
	       !dwelf_dwarf_gnu_debugaltlink(dw, &link, &id);
}

#endif
