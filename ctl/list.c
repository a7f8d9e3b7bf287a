// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of processes and of alerts: one row each.
 */
#include <stdlib.h>
#include "ctl.h"

/* What the messages say, free() it; those that are none are left out. */
struct rec *list_records(const struct msgs *m, size_t *n)
{
	struct rec *rec = must(calloc(m->n + 1, sizeof(*rec)));
	size_t i;

	*n = 0;
	for (i = 0; i < m->n; i++)
		if (!rec_parse(&rec[*n], m->v[i]))
			(*n)++;
	return rec;
}

static int compare(const void *a, const void *b)
{
	const struct rec *x = a, *y = b;
	s64 grow_x = INT64_MIN, grow_y = INT64_MIN;
	u64 u = rec_get(x, SEEPAGE_A_CONFIDENCE, 0), v = rec_get(y, SEEPAGE_A_CONFIDENCE, 0);

	if (u != v)
		return u > v ? -1 : 1;
	rec_s64(x, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &grow_x);
	rec_s64(y, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &grow_y);
	if (grow_x != grow_y)
		return grow_x > grow_y ? -1 : 1;
	u = rec_get(x, SEEPAGE_A_PID, 0);
	v = rec_get(y, SEEPAGE_A_PID, 0);
	return u < v ? -1 : u > v;
}

/* The most suspicious first: by confidence, then growth, then pid */
void list_sort(struct rec *rec, size_t n)
{
	qsort(rec, n, sizeof(*rec), compare);
}

static bool is_figure(const struct attr_desc *d)
{
	return (d->kind == KIND_UINT && d->unit != UNIT_TIME) || d->kind == KIND_INT;
}

/* @columns: at most LIST_COLUMNS attributes */
void list_print(const u8 *columns, unsigned int cols, const struct rec *rec, size_t n)
{
	const char *heads[LIST_COLUMNS];
	bool right[LIST_COLUMNS];
	char text[TEXT_MAX];
	struct table *t;
	unsigned int col;
	size_t i;

	for (col = 0; col < cols; col++) {
		heads[col] = attr_table[columns[col]].text;
		right[col] = is_figure(&attr_table[columns[col]]);
	}
	t = table_new(heads, right, cols);
	for (i = 0; i < n; i++) {
		for (col = 0; col < cols; col++) {
			bool over = rec[i].gone && columns[col] == SEEPAGE_A_TTE_SECONDS;

			attr_text(columns[col], over ? NULL : rec[i].a[columns[col]], true, text,
				  sizeof(text));
			table_cell(t, text);
		}
	}
	table_print(t, "");
	table_free(t);
}
