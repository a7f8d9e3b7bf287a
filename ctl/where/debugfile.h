/* SPDX-License-Identifier: GPL-2.0 */
/* debugfile.c: separate debug files of the programs and libraries of a process */
#ifndef SEEPAGE_WHERE_DEBUGFILE_H
#define SEEPAGE_WHERE_DEBUGFILE_H

#include <elfutils/libdwfl.h>

int debug_find(struct Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
	       const char *file, const char *link, GElf_Word crc, char **found);
bool debug_has_lines(struct Dwfl_Module *mod);

#endif /* SEEPAGE_WHERE_DEBUGFILE_H */
