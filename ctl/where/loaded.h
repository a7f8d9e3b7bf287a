/* SPDX-License-Identifier: GPL-2.0 */
/* loaded.c: programs and libraries of a process as libdw gets them */
#ifndef SEEPAGE_WHERE_LOADED_H
#define SEEPAGE_WHERE_LOADED_H

#include <libelf.h>
#include "where/where.h"

#define LOADED_TABLES	(512 * MIB)	/* of symbols and frames, of all files of a process */
#define LOADED_LINES	(256 * MIB)	/* of lines, unpacked */

struct loaded_room {
	u64 tables, lines;	/* bytes that are left */
	unsigned int left_out, without_lines;	/* files */
};

Elf *loaded_elf(int fd, struct loaded_room *room);
void loaded_note(const struct loaded_room *room, struct result *r);

#endif /* SEEPAGE_WHERE_LOADED_H */
