/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks of the programs that leak on command. */
#ifndef SEEPAGE_TESTS_WHERE_BLOCKS_H
#define SEEPAGE_TESTS_WHERE_BLOCKS_H

#include <stdlib.h>
#include <string.h>

static unsigned int number(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static void *filled(size_t n)
{
	void *p = malloc(n);

	memset(p, (int)n | 0x80, n);
	return p;
}

#endif /* SEEPAGE_TESTS_WHERE_BLOCKS_H */
