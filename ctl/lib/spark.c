// SPDX-License-Identifier: GPL-2.0
/*
 * Figures as a one-line bar chart: one or more columns for each figure, a higher
 * character for a larger figure.
 */
#include <string.h>
#include <strings.h>
#include "ctl.h"

#define HEIGHTS		8

static const char *const blocks[HEIGHTS] = {
	"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█",
};

static const char *const ascii[HEIGHTS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

/* Does the locale use UTF-8? The first variable that is set decides (locale(7)). */
bool spark_utf8(const char *lc_all, const char *lc_ctype, const char *lang)
{
	const char *locale = lc_all && *lc_all ? lc_all : lc_ctype && *lc_ctype ? lc_ctype : lang;
	const char *codeset = locale ? strchr(locale, '.') : NULL;

	return codeset && (!strncasecmp(codeset, ".UTF-8", 6) || !strncasecmp(codeset, ".UTF8", 5));
}

/* Scales to the range, or to @most / 50 if that is larger: small changes look nearly flat. */
static unsigned int height(u64 v, u64 least, u64 most)
{
	u64 span = most - least;

	if (span < most / 50)
		span = most / 50;
	return span ? (unsigned int)((double)(v - least) / (double)span * (HEIGHTS - 1) + 0.5) : 0;
}

/*
 * @buf: out, SPARK_MAX bytes
 * @v: figures, the first one leftmost
 * @n: number of figures
 * @columns: width available, at most SPARK_COLUMNS are used; with more figures than
 *	columns, neighbours share a column, which shows their minimum
 * @utf8: draw with block characters, else with ASCII
 */
char *spark(char *buf, const u64 *v, unsigned int n, unsigned int columns, bool utf8)
{
	unsigned int cells, wide, i, j;
	u64 least = UINT64_MAX, most = 0;
	char *p = buf;

	if (columns > SPARK_COLUMNS)
		columns = SPARK_COLUMNS;
	for (i = 0; i < n; i++) {
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	cells = n < columns ? n : columns;
	wide = cells ? columns / cells : 0;
	if (wide > SPARK_WIDE)
		wide = SPARK_WIDE;
	for (i = 0; i < cells; i++) {
		u64 low = UINT64_MAX;
		const char *c;

		for (j = i * n / cells; j < (i + 1) * n / cells; j++)
			low = v[j] < low ? v[j] : low;
		c = (utf8 ? blocks : ascii)[height(low, least, most)];
		for (j = 0; j < wide; j++)
			p = stpcpy(p, c);
	}
	*p = '\0';
	return buf;
}
