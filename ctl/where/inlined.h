/* SPDX-License-Identifier: GPL-2.0 */
/* inlined.c: functions and lines at an address, from debug data */
#ifndef SEEPAGE_WHERE_INLINED_H
#define SEEPAGE_WHERE_INLINED_H

#include <elfutils/libdwfl.h>
#include "where/where.h"

#define INLINED_MAX	16U	/* functions that are inlined into one another */
#define CODE_FRAMES	(INLINED_MAX + 1)
#define CODE_SOURCE	512U

/* Empty is what is not known. */
struct code_frame {
	char symbol[CXX_NAME];
	char source[CODE_SOURCE];	/* "FILE:LINE" */
};

unsigned int inlined_at(struct Dwfl_Module *mod, u64 pc, struct code_frame f[CODE_FRAMES]);

#endif /* SEEPAGE_WHERE_INLINED_H */
