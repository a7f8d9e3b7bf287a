// SPDX-License-Identifier: GPL-2.0
/*
 * The lines of the list: filtered, sorted, by unit if wanted; and the cursor, which stays on
 * its process when the order changes.
 */
#include <stdlib.h>
#include <string.h>
#include "top/top.h"

#define HEAD_ROWS	4	/* above the list */
#define FOOT_ROWS	1
#define PANE_LEAST	6	/* with fewer rows there is no pane */

size_t view_pane_rows(const struct top_view *v)
{
	size_t rows = v->rows / 2;

	return v->page == PAGE_NONE || rows < PANE_LEAST ? 0 : rows;
}

/* Rows for lines of the list; batch has no limit. */
size_t view_list_rows(const struct top_view *v)
{
	size_t taken = HEAD_ROWS + FOOT_ROWS + view_pane_rows(v);

	if (!v->rows)
		return v->n_lines;
	return v->rows > taken ? v->rows - taken : 1;
}

static int find_folded(const struct top_view *v, const char *unit)
{
	unsigned int i;

	for (i = 0; i < v->n_folded; i++)
		if (!strcmp(v->folded[i], unit ? unit : ""))
			return (int)i;
	return -1;
}

bool view_folded(const struct top_view *v, const char *unit)
{
	return find_folded(v, unit) >= 0;
}

/* Folds a unit, or unfolds it. */
void view_fold(struct top_view *v, const char *unit)
{
	int i = find_folded(v, unit);

	if (i >= 0) {
		free(v->folded[i]);
		v->folded[i] = v->folded[--v->n_folded];
	} else if (v->n_folded == FOLDED_MAX) {
		snprintf(v->note, sizeof(v->note), "at most %d units can be folded", FOLDED_MAX);
	} else {
		v->folded[v->n_folded++] = must(strdup(unit ? unit : ""));
	}
}

static void remember(struct top_view *v)
{
	const struct top_line *l;

	if (v->cursor >= v->n_lines)
		return;
	l = &v->line[v->cursor];
	v->pid = l->unit ? 0 : (u32)msg_get(l->msg, SEEPAGE_A_PID, 0);
	snprintf(v->unit, sizeof(v->unit), "%s", l->msg->unit ? l->msg->unit : "");
}

static bool is_remembered(const struct top_view *v, const struct top_line *l)
{
	if (v->pid)
		return !l->unit && msg_get(l->msg, SEEPAGE_A_PID, 0) == v->pid;
	return l->unit && !strncmp(l->msg->unit ? l->msg->unit : "", v->unit,
				   sizeof(v->unit) - 1);
}

/* Moves the cursor, and the window so that it is seen. */
void view_move(struct top_view *v, size_t to)
{
	size_t rows = view_list_rows(v);

	if (to >= v->n_lines)
		to = v->n_lines ? v->n_lines - 1 : 0;
	if (to != v->cursor)
		v->page_offset = 0;
	v->cursor = to;
	if (v->cursor < v->offset)
		v->offset = v->cursor;
	if (v->cursor >= v->offset + rows)
		v->offset = v->cursor - rows + 1;
	if (v->offset && v->offset + rows > v->n_lines)
		v->offset = v->n_lines > rows ? v->n_lines - rows : 0;
	remember(v);
}

static void add_line(struct top_view *v, const struct message *msg, const struct tree_unit *unit)
{
	v->line[v->n_lines++] = (struct top_line){ msg, unit };
}

static void make_lines(struct top_view *v)
{
	size_t u, i;

	v->line = must(calloc(v->n + v->n_units + 1, sizeof(*v->line)));
	v->n_lines = 0;
	if (!v->tree)
		for (i = 0; i < v->n; i++)
			add_line(v, &v->msg[i], NULL);
	for (u = 0; u < v->n_units; u++) {
		add_line(v, &v->units[u].sum, &v->units[u]);
		if (view_folded(v, v->units[u].sum.unit))
			continue;
		for (i = 0; i < v->units[u].n; i++)
			add_line(v, &v->msg[v->units[u].first + i], NULL);
	}
}

static void drop(struct top_view *v)
{
	free(v->msg);
	free(v->units);
	free(v->line);
	v->msg = NULL;
	v->units = NULL;
	v->line = NULL;
	v->n = 0;
	v->n_units = 0;
	v->n_lines = 0;
}

/* Makes the lines for the processes @msg, which may go before the next call. */
void view_make(struct top_view *v, const struct message *msg, size_t n)
{
	struct message *shown = must(calloc(n + 1, sizeof(*shown)));
	size_t i, cursor = v->cursor;

	drop(v);
	v->msg = shown;
	for (i = 0; i < n; i++)
		if (filter_passes(&v->filter, &msg[i]))
			v->msg[v->n++] = msg[i];
	list_sort(v->msg, v->n, v->order);
	if (v->tree)
		v->units = tree_make(v->msg, v->n, v->order, &v->n_units);
	make_lines(v);
	/* the first line stays selected, whatever it is, until the user has moved or opened it */
	for (i = 0; i < v->n_lines && (v->cursor || v->page != PAGE_NONE); i++) {
		if (is_remembered(v, &v->line[i])) {
			cursor = i;
			break;
		}
	}
	view_move(v, cursor);
}

/*
 * Moves the cursor to the next line that the search finds. @stay: the line of the cursor
 * counts too. Returns false if there is none.
 */
bool view_find(struct top_view *v, bool forward, bool stay)
{
	size_t i, at;

	for (i = stay ? 0 : 1; v->n_lines && i <= v->n_lines; i++) {
		at = (v->cursor + (forward ? i : v->n_lines * 2 - i)) % v->n_lines;
		if (filter_matches(v->line[at].msg, v->search)) {
			view_move(v, at);
			return true;
		}
	}
	return false;
}

void view_free(struct top_view *v)
{
	drop(v);
	while (v->n_folded)
		free(v->folded[--v->n_folded]);
}
