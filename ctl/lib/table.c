// SPDX-License-Identifier: GPL-2.0
/*
 * Text in columns that are as wide as their widest cell. A left-aligned last column
 * is not padded.
 */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

struct table {
	const char *const *heads;	/* NULL: no heading */
	const bool *right;
	unsigned int cols;
	size_t n, capacity;
	char **cell;
};

/* @heads: may be NULL. @heads and @right must live as long as the table. */
struct table *table_new(const char *const *heads, const bool *right, unsigned int cols)
{
	struct table *t = must(calloc(1, sizeof(*t)));

	t->heads = heads;
	t->right = right;
	t->cols = cols;
	return t;
}

void table_cell(struct table *t, const char *text)
{
	if (t->n == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 64;
		t->cell = must(realloc(t->cell, t->capacity * sizeof(*t->cell)));
	}
	t->cell[t->n++] = must(strdup(text));
}

/* Returns the columns of a terminal that the text takes. */
static size_t width(const char *s)
{
	size_t n = 0, columns;

	for (; *s; n += columns)
		s += utf8_columns(s, &columns);
	return n;
}

static void print_cell(const struct table *t, FILE *f, const char *s, unsigned int col,
		       size_t wide)
{
	size_t pad = wide - width(s);

	if (col)
		fputs("  ", f);
	if (t->right[col])
		fprintf(f, "%*s", (int)pad, "");
	fputs(s, f);
	if (!t->right[col] && col + 1 < t->cols)
		fprintf(f, "%*s", (int)pad, "");
	if (col + 1 == t->cols)
		fputc('\n', f);
}

void table_write(const struct table *t, FILE *f, const char *indent)
{
	size_t *wide = must(calloc(t->cols, sizeof(*wide)));
	unsigned int col;
	size_t i, w;

	for (col = 0; t->heads && col < t->cols; col++)
		wide[col] = width(t->heads[col]);
	for (i = 0; i < t->n; i++) {
		w = width(t->cell[i]);
		if (w > wide[i % t->cols])
			wide[i % t->cols] = w;
	}
	for (col = 0; t->heads && col < t->cols; col++) {
		if (!col)
			fputs(indent, f);
		print_cell(t, f, t->heads[col], col, wide[col]);
	}
	for (i = 0; i < t->n; i++) {
		col = i % t->cols;
		if (!col)
			fputs(indent, f);
		print_cell(t, f, t->cell[i], col, wide[col]);
	}
	free(wide);
}

/* Formats in memory first: then only one write to stdout can fail. */
void table_print(const struct table *t, const char *indent)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = must(open_memstream(&text, &len));

	table_write(t, f, indent);
	must(fclose(f) ? NULL : text);
	out_printf("%s", text);
	free(text);
}

void table_free(struct table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t);
}
