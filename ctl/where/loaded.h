/* SPDX-License-Identifier: GPL-2.0 */
/* loaded.c: programs and libraries of a process as libdw gets them */
#ifndef SEEPAGE_WHERE_LOADED_H
#define SEEPAGE_WHERE_LOADED_H

#include <elfutils/libdwfl.h>
#include <libelf.h>
#include "where/where.h"

#define LOADED_TABLES	(512 * MIB)	/* of symbols and frames, of all files of a process */
#define LOADED_LINES	(256 * MIB)	/* of lines, unpacked */
#define LOADED_PACKED	(16 * MIB)	/* of one .gnu_debugdata, before it is unpacked */

struct loaded_room {
	u64 tables, lines;	/* bytes that are left */
	unsigned int left_out, without_lines;	/* files */
	bool packed;		/* .gnu_debugdata may be unpacked, whatever that takes */
};

struct loaded_file {
	int fd;
	u64 begin, end;		/* addresses in the process */
	struct loaded_room *room;	/* set by loaded_files() */
	bool failed;		/* its debug data cannot be read */
};

Elf *loaded_elf(int fd, struct loaded_room *room);
Dwfl *loaded_files(struct loaded_file *file, unsigned int n, struct loaded_room *room);
struct loaded_file *loaded_file_of(Dwfl_Module *mod);
void loaded_note(const struct loaded_room *room, struct result *r);

#endif /* SEEPAGE_WHERE_LOADED_H */
