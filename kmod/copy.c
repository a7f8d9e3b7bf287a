// SPDX-License-Identifier: GPL-2.0
/* Copies strings. */
#include <linux/string.h>
#include "seep.h"

/**
 * seep_copy() - strscpy() out of line
 * @to: of @size bytes
 * @from: a string
 * @size: of @to
 *
 * FORTIFY_SOURCE puts a second strnlen() into each caller of strscpy(), to check @size, which is
 * the size of @to at all of them.
 *
 * Context: any.
 * Return: as strscpy().
 */
ssize_t seep_copy(char *to, const char *from, size_t size)
{
	return strscpy(to, from, size);
}
