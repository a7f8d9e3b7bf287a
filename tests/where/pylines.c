// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the line of each instruction of functions of python, one a line of the input:
 * FIRST INSTRUCTIONS TABLE, the last one as hexadecimal digits.
 */
#include <stdio.h>
#include <string.h>
#include "where/python.h"

#define TABLE_MAX	(1U << 20)

int main(void)
{
	static char hex[2 * TABLE_MAX + 1];
	static unsigned char table[TABLE_MAX];
	unsigned int byte;
	int first, units, i;
	size_t n;

	while (scanf("%d %d %2097152s", &first, &units, hex) == 3) {
		for (n = 0; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
			table[n] = (unsigned char)byte;
		for (i = 0; i < units; i++)
			printf("%d ", python_line(table, n, first, (u64)i));
		printf("\n");
	}
	return 0;
}
