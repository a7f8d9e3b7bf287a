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

typedef bool elf_symbol_fn(void *arg, Elf *elf, const char *name, const GElf_Sym *sym);

bool elf_symbols(Elf *elf, elf_symbol_fn *each, void *arg);

#endif /* SEEPAGE_WHERE_ELF_H */
