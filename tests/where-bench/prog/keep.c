// SPDX-License-Identifier: GPL-2.0
/* What native.py and addon.js call: a C library in a process of python or node */
#include <stdlib.h>

#include "lost.h"

#define BYTES	640	/* pymalloc has no such blocks */

static __attribute__((noipa)) char *record(void)
{
	static unsigned long turn;
	char *p = malloc(BYTES);
	size_t i;

	for (i = 0; p && i < BYTES; i++)
		p[i] = (char)(1 + ++turn * 2654435761UL % 250);
	return p;
}

__attribute__((noipa)) char *keep_record(void)
{
	char *p = record();

	p[0] = 2;
	lost(p);
	return p;
}

__attribute__((noipa)) void use_record(void)
{
	char *p = record();

	p[0] = 1;
	free(p);
}

__attribute__((noipa)) void drop_record(char *p)
{
	free(p);
}
