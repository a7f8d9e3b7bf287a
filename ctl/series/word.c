// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the words of a line of a series file, and formats errors about them.
 */
#include <stdarg.h>
#include <string.h>
#include "series/series.h"

/* Sets r->err to the line number and the message. Returns -1, as a failing callback does. */
int series_bad(struct series_reader *r, const char *fmt, ...)
{
	va_list ap;
	/* without a line the file itself is wrong, as a directory is */
	int n = r->line ? snprintf(r->err, sizeof(r->err), "line %lu: ", r->line) : 0;

	va_start(ap, fmt);
	vsnprintf(r->err + n, sizeof(r->err) - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

/*
 * Returns the next word of a line, NULL at its end. Two blanks in a row give an empty
 * word, which the caller refuses.
 */
char *series_word(char **p)
{
	char *word = *p, *end;

	if (!word)
		return NULL;
	end = strchr(word, ' ');
	if (end)
		*end++ = '\0';
	*p = end;
	return word;
}

bool series_number(const char *word, u64 max, u64 *v)
{
	return parse_u64(word, v) && *v <= max;
}

/* @word: KEY=VALUE, cut to KEY. Returns VALUE, or NULL with the reason in r->err. */
char *series_value(struct series_reader *r, char *word)
{
	char *eq = strchr(word, '=');

	if (!eq || eq == word) {
		series_bad(r, "'%.80s': allowed KEY=VALUE", word);
		return NULL;
	}
	*eq = '\0';
	return eq + 1;
}
