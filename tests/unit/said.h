/* SPDX-License-Identifier: GPL-2.0 */
/* Notes of an answer, one behind the other; included behind the headers of where. */
#ifndef SEEPAGE_TESTS_SAID_H
#define SEEPAGE_TESTS_SAID_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char said[1024];

void result_note(struct result *r, const char *fmt, ...)
{
	size_t n = strlen(said);
	va_list args;

	va_start(args, fmt);
	vsnprintf(said + n, sizeof(said) - n, fmt, args);
	va_end(args);
}

#endif /* SEEPAGE_TESTS_SAID_H */
