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

static size_t wide;		/* columns that lines are folded to */

/* Where the last column of a table begins, behind two blanks; 4: it has none, or too far right */
static unsigned int last_column(const char *line)
{
	size_t at, last = 0;

	for (at = 0; at < wide && line[at]; at++)
		if (line[at] == ' ' && line[at + 1] == ' ')
			last = at + 2;
	return last && last <= wide * 2 / 3 ? (unsigned int)last : 4;
}

/* Folds lines that are too long. What is no whole line is printed as it is. */
static void print_lines(char *text)
{
	char *end;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		if (text[part(text, wide)]) {
			fold("", last_column(text), text);
		} else {
			out_raw(text);
			out_raw("\n");
		}
	}
	out_raw(text);
}

/* From now on folds every line, if standard output is a terminal that is not too narrow. */
void out_fold(void)
{
	wide = out_columns();
	if (isatty(STDOUT_FILENO) && wide >= 60)
		out_filter = print_lines;
}
