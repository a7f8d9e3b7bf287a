// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of processes or alerts, one row each.
 */
#include <stdlib.h>
#include "ctl.h"

/*
 * Parses messages and leaves out invalid ones. Returns an array of @n that the
 * caller frees; it points into @m.
 */
struct message *list_messages(const struct msgs *m, size_t *n)
{
	struct message *msg = must(calloc(m->n + 1, sizeof(*msg)));
	size_t i;

	*n = 0;
	for (i = 0; i < m->n; i++)
		if (!msg_parse(&msg[*n], m->v[i]))
			(*n)++;
	return msg;
}

static int compare(const void *a, const void *b)
{
	const struct message *x = a, *y = b;
	s64 grow_x = INT64_MIN, grow_y = INT64_MIN;
	u64 u = msg_get(x, SEEPAGE_A_CONFIDENCE, 0), v = msg_get(y, SEEPAGE_A_CONFIDENCE, 0);

	if (u != v)
		return u > v ? -1 : 1;
	msg_s64(x, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &grow_x);
	msg_s64(y, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &grow_y);
	if (grow_x != grow_y)
		return grow_x > grow_y ? -1 : 1;
	u = msg_get(x, SEEPAGE_A_PID, 0);
	v = msg_get(y, SEEPAGE_A_PID, 0);
	return u < v ? -1 : u > v;
}

/* Sorts the most suspicious first: by confidence, then growth, then pid. */
void list_sort(struct message *msg, size_t n)
{
	qsort(msg, n, sizeof(*msg), compare);
}

static bool is_figure(const struct attr_desc *d)
{
	return (d->kind == KIND_UINT && d->unit != UNIT_TIME) || d->kind == KIND_INT;
}

/* @columns: at most LIST_COLUMNS attributes */
void list_print(const u8 *columns, unsigned int cols, const struct message *msg, size_t n)
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
			bool over = msg[i].gone && columns[col] == SEEPAGE_A_TTE_SECONDS;

			attr_text(columns[col], over ? NULL : msg[i].a[columns[col]], true, text,
				  sizeof(text));
			table_cell(t, text);
		}
	}
	table_print(t, "");
	table_free(t);
}
