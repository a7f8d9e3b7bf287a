// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of text for people: folded between words where a terminal would break them anywhere, one
 * line each where a program reads them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

/*
 * How many bytes of @s go into a line of @columns: whole words, at least one. A path or a command
 * that is longer can still be copied, since the terminal wraps it.
 */
static size_t part(const char *s, size_t columns)
{
	size_t at, bytes, wide, used = 0, blank = 0;

	for (at = 0; s[at]; at += bytes) {
		bytes = utf8_columns(s + at, &wide);
		used += wide;
		if (s[at] != ' ') {
			if (blank && used > columns)
				return blank;
		} else if (at && s[at - 1] != ' ') {
			blank = at;
		}
	}
	return at;
}

/*
 * Prints @text as lines of @wide columns, behind @used columns in the first and @indent blanks in
 * the others. What it prints goes past out_filter, which calls it.
 */
static void print_folded(size_t wide, size_t used, unsigned int indent, const char *text)
{
	char *line;
	size_t n;

	/* no use where there is no room for a few words */
	while (wide >= indent + 20U && used < wide && text[n = part(text, wide - used)]) {
		must(asprintf(&line, "%.*s\n%*s", (int)n, text, (int)indent, "") < 0 ? NULL : line);
		out_raw(line);
		free(line);
		text += n;
		text += strspn(text, " ");
		used = indent;
	}
	out_raw(text);
	out_raw("\n");
}

unsigned int fold_columns;	/* where standard output is no terminal; 0: lines stay whole */

/* Columns of the terminal now: its window can change at any time. */
static size_t columns_now(void)
{
	return isatty(STDOUT_FILENO) ? out_columns() : fold_columns;
}

/* Prints @head and @text. On a terminal, lines after the first have @indent blanks before them. */
void fold(const char *head, unsigned int indent, const char *text)
{
	out_raw(head);
	print_folded(columns_now(), strlen(head), indent, text);
}

/* Where the last column of a table begins, behind two blanks; 4: it has none, or too far right */
static unsigned int last_column(const char *line, size_t wide)
{
	size_t used = 0, last = 0, columns;

	for (; used < wide && *line; used += columns) {
		if (line[0] == ' ' && line[1] == ' ')
			last = used + 2;
		line += utf8_columns(line, &columns);
	}
	return last && last * 3 <= wide * 2 ? (unsigned int)last : 4;
}

static bool cut;

/* Ends @s where it is wider than @wide columns. */
static void cut_at(char *s, size_t wide)
{
	size_t used = 0, columns, bytes;

	for (; *s; s += bytes) {
		bytes = utf8_columns(s, &columns);
		used += columns;
		if (used > wide) {
			*s = '\0';
			return;
		}
	}
}

/* Folds or cuts lines that are too long. What is no whole line is printed as it is. */
static void print_lines(char *text)
{
	size_t wide;
	char *end;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		wide = columns_now();
		if (cut && wide)
			cut_at(text, wide);
		print_folded(wide < 60 ? 0 : wide, 0, last_column(text, wide), text);
	}
	out_raw(text);
}

/* From now on folds every line while the terminal is not too narrow; to others see fold_columns. */
void out_fold(void)
{
	out_filter = print_lines;
}

/* The same for tables: cuts lines at the width of the terminal, as ps(1) does. */
void out_cut(void)
{
	cut = true;
	out_fold();
}
