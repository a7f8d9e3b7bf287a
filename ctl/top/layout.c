// SPDX-License-Identifier: GPL-2.0
/*
 * The columns of the list: which of them fit into the width, and their text.
 */
#include <string.h>
#include "top/top.h"

#define MARK_WIDTH	4	/* cursor and state */
#define FLOORS_WIDTH	8
#define NAME_MORE	6	/* columns that a name of 15 bytes has more than COMM at least */
#define NAME_RANK	9	/* COMM has its whole width before columns of this rank are taken */
#define SERVICE		".service"

struct choice {
	u8 id, width;		/* with the mark of the sorting */
	u8 rank;		/* 1: the last to be left out */
	u8 most;		/* it may grow to */
	bool not_in_tree;
};

/* From left to right */
static const struct choice choices[] = {
	{ SEEPAGE_A_PID, 7, 1, 7, false },
	{ SEEPAGE_A_COMM, 9, 2, 9 + NAME_MORE, false },
	{ COLUMN_USER, 8, 10, 12, false },
	{ SEEPAGE_A_STATE, 9, 9, 9, false },
	{ SEEPAGE_A_CONFIDENCE, 5, 5, 5, false },
	{ SEEPAGE_A_RSS_BYTES, 7, 3, 7, false },
	{ SEEPAGE_A_ANON_BYTES, 7, 11, 7, false },
	{ SEEPAGE_A_SWAP_BYTES, 7, 14, 7, false },
	{ SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 9, 4, 9, false },
	{ SEEPAGE_A_TTE_SECONDS, 7, 6, 7, false },
	{ SEEPAGE_A_FAULT_RATE, 9, 12, 9, false },
	{ SEEPAGE_A_AGE_SECONDS, 7, 13, 7, false },
	{ TOP_FLOORS, FLOORS_WIDTH, 8, FLOORS_WIDTH, false },
	{ COLUMN_UNIT, 12, 7, 40, true },
};

_Static_assert(ARRAY_SIZE(choices) <= TOP_COLUMNS, "a layout has room for all columns");

/* Marks of states, which need no colour */
const char *state_mark(unsigned int state)
{
	static const char *const marks[] = {
		[SEEPAGE_STATE_OK] = "", [SEEPAGE_STATE_WATCH] = "?",
		[SEEPAGE_STATE_SUSPECTED] = "!", [SEEPAGE_STATE_CONFIRMED] = "!!",
		[SEEPAGE_STATE_RUNAWAY] = "!!!", [SEEPAGE_STATE_RECOVERED] = "~",
		[SEEPAGE_STATE_EXITED] = "x",
	};

	_Static_assert(ARRAY_SIZE(marks) == __SEEPAGE_STATE_MAX, "every state has a mark");
	return state < ARRAY_SIZE(marks) ? marks[state] : "#";
}

static bool is_taken(const struct choice *c, const struct top_view *v)
{
	return c->not_in_tree && v->tree;
}

/* Which columns fit, as a mask of 1 << index. Sets @left to what is left of the width. */
static u32 take(const struct top_view *v, unsigned int *left)
{
	unsigned int rank, i, name = 0;
	u32 taken = 0;

	*left = v->cols > MARK_WIDTH ? v->cols - MARK_WIDTH : 0;
	for (rank = 1; rank <= ARRAY_SIZE(choices); rank++) {
		if (rank == NAME_RANK) {
			name = *left < NAME_MORE ? *left : NAME_MORE;
			*left -= name;
		}
		for (i = 0; choices[i].rank != rank; i++)
			;
		if (is_taken(&choices[i], v) || choices[i].width + 1U > *left)
			continue;
		taken |= 1U << i;
		*left -= choices[i].width + 1U;
	}
	*left += name;
	return taken;
}

void layout_make(struct top_layout *l, const struct top_view *v)
{
	unsigned int left, more;
	u32 taken = take(v, &left);
	int i;

	l->n = (unsigned int)__builtin_popcount(taken);
	/* the name of a process is whole before that of its user and unit gets more room */
	for (i = 0; i < (int)ARRAY_SIZE(choices); i++) {
		const struct choice *c = &choices[i];

		if (!(taken >> i & 1))
			continue;
		more = c->most - c->width;
		/* names of units stand in the column of COMM */
		if (v->tree && c->id == SEEPAGE_A_COMM)
			more = 30;
		more = more < left ? more : left;
		left -= more;
		l->col[(unsigned int)__builtin_popcount(taken & ((1U << i) - 1))] =
			(struct top_column){ c->id, (u8)(c->width + more) };
	}
}

/* Returns the column to sort by that stands @step columns right of the present one. */
u8 layout_next(const struct top_view *v, int step)
{
	struct top_layout l;
	u8 ids[TOP_COLUMNS];
	unsigned int n = 0, i, at = 0;

	layout_make(&l, v);
	for (i = 0; i < l.n; i++) {
		if (l.col[i].id == TOP_FLOORS)
			continue;
		if (l.col[i].id == (v->order.column ? v->order.column : SEEPAGE_A_CONFIDENCE))
			at = n;
		ids[n++] = l.col[i].id;
	}
	return n ? ids[(at + n + (unsigned int)step) % n] : v->order.column;
}

static bool is_right(u8 id)
{
	return id != TOP_FLOORS && id < __SEEPAGE_A_MAX && column_is_figure(id);
}

void layout_head(const struct top_layout *l, const struct top_view *v, char *buf, size_t size)
{
	char text[TEXT_MAX];
	unsigned int i;
	u8 sorted = v->order.column ? v->order.column : SEEPAGE_A_CONFIDENCE;

	*buf = '\0';
	text_cell(buf, size, "", MARK_WIDTH, false, v->utf8);
	for (i = 0; i < l->n; i++) {
		u8 id = l->col[i].id;

		snprintf(text, sizeof(text), "%s%s", id == TOP_FLOORS ? "FLOORS" : column_head(id),
			 id != sorted ? "" : v->order.reverse ? "^" : "*");
		sentence_append(buf, size, " ");
		text_cell(buf, size, text, l->col[i].width, is_right(id), v->utf8);
	}
}

/* Most units are services; where the column is narrow, this word is the first to go. */
static bool is_service(const char *unit)
{
	size_t len = strlen(unit), end = strlen(SERVICE);

	return len > end && !strcmp(unit + len - end, SERVICE);
}

/* The text of a cell; a name below that of its unit is indented. @buf: SPARK_MAX bytes */
static void cell(const struct top_column *c, const struct top_view *v, const struct floors *f,
		 const struct message *msg, char *buf)
{
	char text[TEXT_MAX];

	if (c->id == TOP_FLOORS) {
		floors_spark(f, (u32)msg_get(msg, SEEPAGE_A_PID, 0), c->width, v->utf8, buf);
		return;
	}
	column_text(msg, c->id, text);
	if (c->id == COLUMN_UNIT && strlen(text) > c->width && is_service(text))
		text[strlen(text) - strlen(SERVICE)] = '\0';
	snprintf(buf, SPARK_MAX, "%s%s", v->tree && c->id == SEEPAGE_A_COMM ? "  " : "", text);
}

/* "[-] nginx.service (3)", in place of PID and COMM */
static void unit_name(const struct top_view *v, const struct top_line *line, size_t columns,
		      char *buf, size_t size)
{
	const char *unit = line->msg->unit && *line->msg->unit ? line->msg->unit : "no unit";
	int len = (int)strlen(unit), n;

	n = snprintf(buf, size, "[%c] %s (%zu)", view_folded(v, line->msg->unit) ? '+' : '-', unit,
		     line->unit->n);
	if (n > (int)columns && is_service(unit))
		snprintf(buf, size, "[%c] %.*s (%zu)", buf[1], len - (int)strlen(SERVICE), unit,
			 line->unit->n);
}

void layout_line(const struct top_layout *l, const struct top_view *v, const struct floors *f,
		 const struct top_line *line, bool selected, char *buf, size_t size)
{
	u64 state = msg_get(line->msg, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
	char text[SPARK_MAX];
	unsigned int i = 0, columns;
	bool quiet;

	snprintf(text, sizeof(text), "%c%s%c", selected ? '>' : ' ',
		 state_mark((unsigned int)state), line->msg->quiet);
	*buf = '\0';
	/* the blank before PID is the mark of a silence where the others take all columns */
	text_cell(buf, size, text, MARK_WIDTH + !!line->msg->quiet, false, v->utf8);
	quiet = line->msg->quiet;
	if (line->unit && l->n > 1 && l->col[1].id == SEEPAGE_A_COMM) {
		columns = l->col[0].width + 1U + l->col[1].width;
		unit_name(v, line, columns, text, sizeof(text));
		sentence_append(buf, size, " ");
		text_cell(buf, size, text, columns, false, v->utf8);
		i = 2;
	}
	for (; i < l->n; i++) {
		cell(&l->col[i], v, f, line->msg, text);
		sentence_append(buf, size, quiet ? "" : " ");
		quiet = false;
		text_cell(buf, size, text, l->col[i].width, is_right(l->col[i].id), v->utf8);
	}
}
