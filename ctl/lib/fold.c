// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of text for people: folded between words where a terminal would break them anywhere, one
 * line each where a program reads them.
 */
#include <string.h>
#include <unistd.h>
#include "ctl.h"

/* How many bytes of @s have @columns characters, a blank behind them included. */
static size_t part(const char *s, size_t columns)
{
	size_t n = 0, blank = 0, at;

	for (at = 0; s[at]; at++) {
		if ((s[at] & 0xc0) == 0x80)	/* not the first byte of a character */
			continue;
		if (s[at] == ' ')
			blank = at;
		if (n++ == columns)
			return blank ? blank : at;
	}
	return at;
}

/* Prints @head and @text. On a terminal, lines after the first have @indent blanks before them. */
void fold(const char *head, unsigned int indent, const char *text)
{
	size_t wide = isatty(STDOUT_FILENO) ? out_columns() : 0, used = strlen(head), n;

	out_printf("%s", head);
	/* no use where the first line has no room for a few words */
	while (wide > indent + 20U && strlen(text) > (n = part(text, wide - used))) {
		out_printf("%.*s\n%*s", (int)n, text, (int)indent, "");
		text += n;
		text += strspn(text, " ");
		used = indent;
	}
	out_line(text);
}
