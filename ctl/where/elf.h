/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Symbols of an ELF file, for what is built with libelf. The file is untrusted: symbol.c bounds
 * which of its tables are read, and how much of them.
 */
#ifndef SEEPAGE_WHERE_ELF_H
#define SEEPAGE_WHERE_ELF_H

#include <gelf.h>
#include <libelf.h>
#include "where/where.h"

typedef bool elf_symbol_fn(void *arg, struct Elf *elf, const char *name, GElf_Sym const *sym);

/* May other files refer to the symbol, so that its name means what it says? */
static inline bool elf_is_visible(const GElf_Sym *sym)
{
	unsigned int visibility = GELF_ST_VISIBILITY(sym->st_other);

	return GELF_ST_BIND(sym->st_info) != STB_LOCAL && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

#define ELF_TABLES	(128 * MIB)	/* symbols and their names that are read of a file */

struct elf_room {
	u64 left;
	bool cut;		/* something did not fit */
};

bool elf_file_symbols(int fd, struct elf_room *room, elf_symbol_fn *each, void *arg);
bool elf_symbols(Elf *elf, elf_symbol_fn *each, void *arg);

#endif /* SEEPAGE_WHERE_ELF_H */
