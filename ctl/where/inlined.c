// SPDX-License-Identifier: GPL-2.0
/*
 * Functions and lines at an address, from DWARF: the function, and what is inlined there. Entries
 * of .debug_info are a tree. It is walked here and not by dwarf_getscopes(), which calls itself for
 * each level of it: the tree of a forged file may have a million.
 */
#include <string.h>
#include "where/where.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include "where/debugfile.h"
#include "where/inlined.h"

#define DEPTH_MAX	128U		/* levels of the tree */
#define ENTRIES_MAX	20000000U	/* of a unit that are looked at */
#define ORIGINS_MAX	8U		/* from an entry to the one that has the name */

enum kind {
	KIND_OTHER,
	KIND_FOLDER,		/* has no addresses, but functions that have */
	KIND_BLOCK,
	KIND_FUNCTION,
	KIND_INLINED,
};

struct walk {
	Dwarf_Addr pc;
	Dwarf_Die path[CODE_FRAMES];	/* the function, then what is inlined, outermost first */
	Dwarf_Die more;			/* inlined into the last one, but has no room */
	bool is_cut;			/* there is @more */
	unsigned int n;
	unsigned int entries;		/* that may still be looked at */
};

static enum kind kind_of(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return KIND_FOLDER;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return KIND_BLOCK;
	case DW_TAG_subprogram:
		return KIND_FUNCTION;
	case DW_TAG_inlined_subroutine:
		return KIND_INLINED;
	default:
		return KIND_OTHER;
	}
}

/* Adds a function or what is inlined; returns false without room, or without one to add it to. */
static bool step(struct walk *w, Dwarf_Die *die, enum kind kind)
{
	if (kind == KIND_FUNCTION)
		w->n = 0;
	else if (kind != KIND_INLINED)
		return true;
	else if (!w->n)
		return false;
	if (w->n == CODE_FRAMES) {
		w->more = *die;
		w->is_cut = true;
		return false;
	}
	w->path[w->n++] = *die;
	return true;
}

/*
 * Follows the entries that have the address, from the children of @parent on. Returns whether it is
 * over. Each entry has to be behind the one before it, whatever the file says where it is.
 */
static bool descend(struct walk *w, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Off before = dwarf_dieoffset(parent);
	enum kind kind;
	Dwarf_Die die;
	int err;

	if (depth == DEPTH_MAX)
		return true;
	for (err = dwarf_child(parent, &die); !err; err = dwarf_siblingof(&die, &die)) {
		if (dwarf_dieoffset(&die) <= before || !w->entries)
			return true;
		before = dwarf_dieoffset(&die);
		w->entries--;
		kind = kind_of(&die);
		if (kind == KIND_FOLDER) {
			if (descend(w, &die, depth + 1))
				return true;
		} else if (kind != KIND_OTHER && dwarf_haspc(&die, w->pc) == 1) {
			if (step(w, &die, kind))
				descend(w, &die, depth + 1);
			return true;
		}
	}
	return false;
}

static bool origin(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die next;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attr), &next) &&
	    !dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attr), &next))
		return false;
	*die = next;
	return true;
}

/* The name that a linker sees; without one, that of the source. NULL: none */
static const char *name_of(const Dwarf_Die *of)
{
	const char *plain = NULL, *name;
	Dwarf_Attribute attr;
	Dwarf_Die die = *of;
	unsigned int i;

	for (i = 0; i < ORIGINS_MAX; i++) {
		name = dwarf_formstring(dwarf_attr(&die, DW_AT_linkage_name, &attr));
		if (!name)
			name = dwarf_formstring(dwarf_attr(&die, DW_AT_MIPS_linkage_name, &attr));
		if (name && strlen(name) < CXX_NAME)
			return name;
		if (!plain)
			plain = dwarf_formstring(dwarf_attr(&die, DW_AT_name, &attr));
		if (!origin(&die))
			break;
	}
	return plain;
}

/* Line 0 is code of no line, as compilers add it. */
static void write_source(char *buf, const char *file, int line)
{
	if (file && line > 0)
		snprintf(buf, CODE_SOURCE, "%s:%d", file, line);
}

static void write_line(Dwarf_Die *unit, Dwarf_Addr pc, char *buf)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int n;

	if (line && !dwarf_lineno(line, &n))
		write_source(buf, dwarf_linesrc(line, NULL, NULL), n);
}

/* Where the function is called that is inlined as @die */
static void write_call(Dwarf_Die *unit, Dwarf_Die *die, char *buf)
{
	Dwarf_Word file = 0, line = 0;
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	size_t n;

	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &file) &&
	    !dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &line) &&
	    !dwarf_getsrcfiles(unit, &files, &n) && line <= INT32_MAX)
		write_source(buf, dwarf_filesrc(files, file, NULL, NULL), (int)line);
}

/* Without .debug_aranges, which only some compilers write, units are searched. */
static bool search_unit(Dwarf *dw, Dwarf_Addr pc, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	while (!dwarf_get_units(dw, cu, &cu, NULL, &type, unit, NULL))
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && dwarf_haspc(unit, pc) == 1)
			return true;
	return false;
}

static bool find_unit(Dwfl_Module *mod, u64 pc, Dwarf_Die *unit, Dwarf_Addr *bias)
{
	Dwarf *dw = dwfl_module_getdwarf(mod, bias);
	Dwarf_Die *die = dw ? dwarf_addrdie(dw, pc - *bias, unit) : NULL;

	return die || (dw && search_unit(dw, pc - *bias, unit));
}

/**
 * inlined_at() - functions at an address, the innermost first
 * @mod: the module that has it; its file may be forged
 * @pc: the address
 * @f: out; the last one is the function itself, the others are inlined
 *
 * Context: takes what time and memory the file says; the caller bounds both.
 * Return: how many; 0: neither a function nor a line is known.
 */
unsigned int inlined_at(Dwfl_Module *mod, u64 pc, struct code_frame f[CODE_FRAMES])
{
	struct walk w = { .entries = ENTRIES_MAX };
	const char *name;
	Dwarf_Addr bias;
	unsigned int i;
	Dwarf_Die unit;

	if (!debug_has_lines(mod) || !find_unit(mod, pc, &unit, &bias))
		return 0;
	w.pc = pc - bias;
	descend(&w, &unit, 0);
	if (!w.n) {
		f[0].symbol[0] = '\0';
		f[0].source[0] = '\0';
		write_line(&unit, w.pc, f[0].source);
		return *f[0].source ? 1 : 0;
	}
	for (i = 0; i < w.n; i++) {
		name = name_of(&w.path[w.n - 1 - i]);
		snprintf(f[i].symbol, sizeof(f[i].symbol), "%s", name ? name : "");
		f[i].source[0] = '\0';
		if (i)
			write_call(&unit, &w.path[w.n - i], f[i].source);
		else if (w.is_cut)
			write_call(&unit, &w.more, f[i].source);
		else
			write_line(&unit, w.pc, f[i].source);
	}
	return w.n;
}

#endif
