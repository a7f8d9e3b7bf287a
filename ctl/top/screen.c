// SPDX-License-Identifier: GPL-2.0
/*
 * The whole screen as lines of text with a style each.
 */
#include <stdlib.h>
#include <string.h>
#include "top/top.h"

static struct top_row *add(struct top_screen *s, const struct top_view *v, unsigned int style,
			   const char *text)
{
	struct top_row *row;

	if (s->n == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 64;
		s->row = must(realloc(s->row, s->capacity * sizeof(*s->row)));
	}
	row = &s->row[s->n++];
	row->style = style;
	row->selected = false;
	row->found = false;
	text_cut(row->text, sizeof(row->text), text, v->cols, v->utf8);
	return row;
}

void screen_free(struct top_screen *s)
{
	free(s->row);
	memset(s, 0, sizeof(*s));
}

/* "seepage 0.1.0   14:03:22   214 processes   every 2s" */
static void title(struct top_screen *s, const struct top_view *v, const struct top_data *d)
{
	char text[2 * TEXT_MAX], when[TEXT_MAX], every[TEXT_MAX];
	bool refreshed = !v->paused && !v->once;

	fmt_time(when, sizeof(when), d->real_ns);
	snprintf(text, sizeof(text), "seepage top  %s  %zu process%s%s%s%s%s",
		 strlen(when) > 11 ? when + 11 : when, d->n, d->n == 1 ? "" : "es",
		 d->own_only ? " of yours" : "",
		 refreshed ? "  every " : v->paused ? "  paused" : "",
		 refreshed ? fmt_seconds(every, sizeof(every), v->delay_s) : "",
		 d->inconsistent ? "  (the table kept changing)" : "");
	if (v->rows)
		sentence_append(text, sizeof(text), "  h help");
	add(s, v, STYLE_TITLE, text);
}

/* How many are in each state; also tells what the marks mean */
static void states(struct top_screen *s, const struct top_view *v, const struct top_data *d)
{
	static const u8 order[] = {
		SEEPAGE_STATE_RUNAWAY, SEEPAGE_STATE_CONFIRMED, SEEPAGE_STATE_SUSPECTED,
		SEEPAGE_STATE_WATCH, SEEPAGE_STATE_RECOVERED, SEEPAGE_STATE_OK,
	};
	char text[2 * TEXT_MAX] = "";
	unsigned int i, style = STYLE_PLAIN;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		sentence_append(text, sizeof(text), "%s%s%s%llu %s", i ? "  " : "",
				state_mark(order[i]), *state_mark(order[i]) ? " " : "",
				d->states[order[i]], state_name(order[i]));
		if (d->states[order[i]] && state_is_alert(order[i]) && style == STYLE_PLAIN)
			style = STYLE_STATE + order[i];
	}
	if (d->silenced)
		sentence_append(text, sizeof(text), "  s %zu silenced", d->silenced);
	if (d->acked)
		sentence_append(text, sizeof(text), "  a %zu acknowledged", d->acked);
	add(s, v, style, text);
}

/* What is chosen, else what the module does */
static void chosen(struct top_screen *s, const struct top_view *v, const struct top_data *d)
{
	char text[2 * TEXT_MAX] = "", part[TEXT_MAX];

	filter_text(&v->filter, part, sizeof(part));
	if (*part)
		sentence_append(text, sizeof(text), "filter: %s (%zu shown)  ", part, v->n);
	if (*v->search)
		sentence_append(text, sizeof(text), "search: %s  ", v->search);
	if (!*text && d->has_status) {
		attr_text(SEEPAGE_A_INTERVAL_MS, d->status.a[SEEPAGE_A_INTERVAL_MS], false, part,
			  sizeof(part));
		sentence_append(text, sizeof(text), "sampled every %s", part);
		attr_text(SEEPAGE_A_TICK_COST_NS, d->status.a[SEEPAGE_A_TICK_COST_NS], false, part,
			  sizeof(part));
		sentence_append(text, sizeof(text), ", the last pass took %s", part);
		sentence_append(text, sizeof(text), ", %llu alert%s so far",
				msg_get(&d->status, SEEPAGE_A_SEQ_LAST, 0),
				msg_get(&d->status, SEEPAGE_A_SEQ_LAST, 0) == 1 ? "" : "s");
	}
	if (d->has_status && d->status.a[SEEPAGE_A_DISABLED]) {
		attr_text(SEEPAGE_A_DISABLED, d->status.a[SEEPAGE_A_DISABLED], false, part,
			  sizeof(part));
		snprintf(text, sizeof(text), "DISABLED: %s", part);
	}
	add(s, v, STYLE_DIM, text);
}

static void list(struct top_screen *s, const struct top_view *v, const struct top_data *d)
{
	size_t rows = view_list_rows(v), i;
	char text[SCREEN_TEXT];
	struct top_layout l;
	struct top_row *row;

	layout_make(&l, v);
	layout_head(&l, v, text, sizeof(text));
	add(s, v, STYLE_HEAD, text);
	for (i = v->offset; i < v->n_lines && i < v->offset + rows; i++) {
		const struct top_line *line = &v->line[i];
		u64 state = msg_get(line->msg, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
		bool selected = v->rows && i == v->cursor;

		layout_line(&l, v, d->floors, line, selected, text, sizeof(text));
		row = add(s, v, STYLE_STATE + (state < __SEEPAGE_STATE_MAX ? (u32)state : 0), text);
		row->selected = selected;
		row->found = filter_matches(line->msg, v->search);
		if (line->unit && state == SEEPAGE_STATE_OK)
			row->style = STYLE_UNIT;
	}
}

static void pad(struct top_screen *s, const struct top_view *v, size_t rows)
{
	while (v->rows && s->n < rows)
		add(s, v, STYLE_PLAIN, "");
}

static void pane(struct top_screen *s, struct top_view *v, const struct top_data *d)
{
	size_t rows = view_pane_rows(v), i;
	struct top_lines l = { 0 };
	char text[TEXT_MAX];

	if (!rows)
		return;
	pane_make(&l, v, d);
	if (v->page_offset + rows - 1 > l.n)
		v->page_offset = l.n > rows - 1 ? l.n - (rows - 1) : 0;
	snprintf(text, sizeof(text), " %s%s  (Tab: %s%s)",
		 v->page == PAGE_EXPLAIN ? "Explained" : "Counters",
		 v->pid ? "" : " of the unit", v->page == PAGE_EXPLAIN ? "counters" : "close",
		 l.n > rows - 1 ? ", [ ] scroll" : "");
	if (l.n > rows - 1)
		sentence_append(text, sizeof(text), "  lines %zu-%zu of %zu", v->page_offset + 1,
				v->page_offset + rows - 1, l.n);
	sentence_append(text, sizeof(text), "%*s", (int)v->cols, "");
	add(s, v, STYLE_HEAD, text);
	for (i = v->page_offset; i < l.n && i < v->page_offset + rows - 1; i++)
		add(s, v, STYLE_PLAIN, l.v[i]);
	lines_free(&l);
}

static void foot(struct top_screen *s, const struct top_view *v)
{
	static const char *const prompts[] = {
		[PROMPT_FILTER] = "filter (state= user= name= unit=): ",
		[PROMPT_SEARCH] = "search: ", [PROMPT_DELAY] = "seconds between refreshes: ",
	};
	char text[SCREEN_TEXT];

	if (v->prompt != PROMPT_NONE) {
		snprintf(text, sizeof(text), "%s%s_", prompts[v->prompt], v->input);
		add(s, v, STYLE_PLAIN, text);
	} else if (*v->note) {
		add(s, v, STYLE_ALARM, v->note);
	} else {
		add(s, v, STYLE_DIM, "q quit  h help  Enter explain  Tab pages  t tree  "
		    "<> sort  r reverse  s states  f filter  / search");
	}
}

static void help(struct top_screen *s, const struct top_view *v)
{
	size_t i;

	for (i = 0; top_help[i] && (!v->rows || s->n + 1 < v->rows); i++)
		add(s, v, i ? STYLE_PLAIN : STYLE_TITLE, top_help[i]);
	pad(s, v, v->rows - 1U);
	add(s, v, STYLE_DIM, "any key: back");
}

/* Makes the lines of the screen, v->rows of them; in batch as many as it takes. */
void screen_make(struct top_screen *s, struct top_view *v, const struct top_data *d)
{
	size_t pane_rows = view_pane_rows(v);

	s->n = 0;
	if (v->help) {
		help(s, v);
		return;
	}
	title(s, v, d);
	if (d->err) {
		add(s, v, STYLE_ALARM, d->why);
	} else {
		states(s, v, d);
		chosen(s, v, d);
		list(s, v, d);
		if (!v->n_lines)
			add(s, v, STYLE_DIM, d->n ? "     no process passes the filter" :
			    "     no process");
	}
	if (!v->rows)
		return;
	pad(s, v, v->rows - 1 - (d->err ? 0 : pane_rows));
	if (!d->err)
		pane(s, v, d);
	pad(s, v, v->rows - 1U);
	if (s->n > v->rows - 1U)
		s->n = v->rows - 1U;
	foot(s, v);
}
