// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of processes or alerts, one row each. A column is an attribute, or what owner.c adds.
 */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/* Columns of a process, and their names in the same order */
static const char names[] =
	"pid comm user unit state conf rss anon file shmem swap vsz brk growth tte faults age uid "
	"policy severity";

static const u8 all_columns[] = {
	SEEPAGE_A_PID, SEEPAGE_A_COMM, COLUMN_USER, COLUMN_UNIT, SEEPAGE_A_STATE,
	SEEPAGE_A_CONFIDENCE, SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES, SEEPAGE_A_FILE_BYTES,
	SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES, SEEPAGE_A_VSZ_BYTES, SEEPAGE_A_BRK_BYTES,
	SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_TTE_SECONDS, SEEPAGE_A_FAULT_RATE,
	SEEPAGE_A_AGE_SECONDS, SEEPAGE_A_UID, SEEPAGE_A_POLICY, SEEPAGE_A_SEVERITY,
};

_Static_assert(ARRAY_SIZE(all_columns) <= LIST_COLUMNS, "all columns fit in one list");

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

const char *column_head(unsigned int column)
{
	return column == COLUMN_USER ? "USER" : column == COLUMN_UNIT ? "UNIT" :
	       attr_table[column].text;
}

/* Returns the column with this name, 0: none. */
static u8 column_from_name(const char *name, size_t len)
{
	const char *at = names;
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(all_columns); i++, at += n + 1) {
		n = strcspn(at, " ");
		if (n == len && !memcmp(at, name, len))
			return all_columns[i];
	}
	return 0;
}

/*
 * Parses "COL,COL..." into @columns, LIST_COLUMNS at most. Returns 0, or EXIT_USAGE after
 * printing an error.
 */
int columns_parse(const struct ctx *ctx, const char *list, u8 *columns, unsigned int *n)
{
	size_t len;

	for (*n = 0; *n < LIST_COLUMNS; list += len + 1) {
		len = strcspn(list, ",");
		columns[*n] = column_from_name(list, len);
		if (!columns[(*n)++])
			break;
		if (!list[len])
			return 0;
	}
	return usage(ctx, "-o: '%.*s': allowed %s", (int)strcspn(list, ","), list, names);
}

/* Parses "COL" or "COL,r". Returns 0, or EXIT_USAGE after printing an error. */
int order_parse(const struct ctx *ctx, const char *word, struct order *o)
{
	size_t len = strcspn(word, ",");

	o->column = column_from_name(word, len);
	o->reverse = !strcmp(word + len, ",r");
	if (o->column && (o->reverse || !word[len]))
		return 0;
	return usage(ctx, "--sort: '%s': allowed %s, or COL,r", word, names);
}

static bool is_text(unsigned int column)
{
	return column == COLUMN_USER || column == COLUMN_UNIT || column == SEEPAGE_A_COMM;
}

/* Is the smallest figure first? */
static bool is_ascending(unsigned int column)
{
	return column == SEEPAGE_A_PID || column == SEEPAGE_A_TTE_SECONDS;
}

bool column_value(const struct message *msg, unsigned int column, s64 *v)
{
	u64 u;

	if (attr_table[column].kind == KIND_INT)
		return msg_s64(msg, column, v);
	if (!msg_u64(msg, column, &u))
		return false;
	*v = u > INT64_MAX ? INT64_MAX : (s64)u;
	/* up to RUNAWAY the states are in the order of alarm; the others are over */
	if (column == SEEPAGE_A_STATE && u > SEEPAGE_STATE_RUNAWAY)
		*v = -1;
	return true;
}

static int by_suspicion(const struct message *x, const struct message *y)
{
	s64 grow_x = INT64_MIN, grow_y = INT64_MIN;
	u64 u = msg_get(x, SEEPAGE_A_CONFIDENCE, 0), v = msg_get(y, SEEPAGE_A_CONFIDENCE, 0);

	if (u != v)
		return u > v ? -1 : 1;
	msg_s64(x, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &grow_x);
	msg_s64(y, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &grow_y);
	if (grow_x != grow_y)
		return grow_x > grow_y ? -1 : 1;
	u = msg_pid(x);
	v = msg_pid(y);
	return u < v ? -1 : u > v;
}

/* Unknown values are last in either direction. Returns 0 if both are equal or unknown. */
static int by_column(const struct message *x, const struct message *y, const struct order *o)
{
	char a[TEXT_MAX], b[TEXT_MAX];
	bool has_u, has_v;
	s64 u = 0, v = 0;

	if (is_text(o->column)) {
		column_text(x, o->column, a);
		column_text(y, o->column, b);
		u = strcmp(a, b);
		has_u = strcmp(a, "-");
		has_v = strcmp(b, "-");
	} else {
		has_u = column_value(x, o->column, &u);
		has_v = column_value(y, o->column, &v);
	}
	if (has_u != has_v)
		return has_u ? -1 : 1;
	if (u == v)
		return 0;
	return (u < v) == ((is_text(o->column) || is_ascending(o->column)) != o->reverse) ? -1 : 1;
}

/*
 * @o: column 0: the most suspicious first, by confidence, then growth, then pid; so are
 *	those that are equal in another column
 */
int list_compare(const struct message *x, const struct message *y, const struct order *o)
{
	int c = o->column ? by_column(x, y, o) : 0;

	if (c)
		return c;
	c = by_suspicion(x, y);
	return o->reverse && !o->column ? -c : c;
}

static int compare(const void *a, const void *b, void *order)
{
	return list_compare(a, b, order);
}

void list_sort(struct message *msg, size_t n, struct order o)
{
	qsort_r(msg, n, sizeof(*msg), compare, &o);
}

bool column_is_figure(unsigned int column)
{
	const struct attr_desc *d = &attr_table[column < __SEEPAGE_A_MAX ? column : 0];

	return (d->kind == KIND_UINT && d->unit != UNIT_TIME) || d->kind == KIND_INT;
}

/* Writes "-" if it is not known. @buf: TEXT_MAX bytes */
void column_text(const struct message *msg, unsigned int column, char *buf)
{
	const char *s = column == COLUMN_USER ? msg->user : msg->unit;

	if (column < __SEEPAGE_A_MAX)
		attr_text(column, msg->gone && column == SEEPAGE_A_TTE_SECONDS ? NULL :
			  msg->a[column], true, buf, TEXT_MAX);
	else
		snprintf(buf, TEXT_MAX, "%s", s && *s ? s : "-");
}

/* @columns: at most LIST_COLUMNS; the last one is text where there are notes */
void list_print(const u8 *columns, unsigned int cols, const struct message *msg, size_t n)
{
	const char *heads[LIST_COLUMNS];
	bool right[LIST_COLUMNS];
	char text[TEXT_MAX + SENTENCE_MAX];
	struct table *t;
	unsigned int col;
	size_t i;

	for (col = 0; col < cols; col++) {
		heads[col] = column_head(columns[col]);
		right[col] = column_is_figure(columns[col]);
	}
	t = table_new(heads, right, cols);
	for (i = 0; i < n; i++) {
		for (col = 0; col < cols; col++) {
			column_text(&msg[i], columns[col], text);
			if (col + 1 == cols && msg[i].note)
				sentence_append(text, sizeof(text), "\n    %s", msg[i].note);
			table_cell(t, text);
		}
	}
	table_print(t, "");
	table_free(t);
}
