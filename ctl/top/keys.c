// SPDX-License-Identifier: GPL-2.0
/*
 * What keys do.
 */
#include <string.h>
#include "top/top.h"

#define DELAY_MOST	3600

/* At most 22 lines of 80 columns */
const char *const top_help[] = {
	"Keys",
	"  up down j k     move; PgUp PgDn Home End",
	"  Enter           explain the process, or fold its unit",
	"  Tab             the next page: explain, counters, none;  [ ] scroll it",
	"  < > left right  sort by the column beside;  r reverse",
	"  S C M G T F     sort by suspicion, CONF, RSS, GROWTH/h, TTE, FAULTS/s",
	"  A P N U         sort by AGE, PID, COMM, UNIT",
	"  t               by unit, with sums",
	"  - + space       fold all units, unfold all, fold this one",
	"  s               states: all, watch and above, alerts only",
	"  f               filter: state=S,S user=USER name=TEXT unit=TEXT",
	"  / n p           search, next, previous",
	"  x               no filter, no search",
	"  d               seconds between two refreshes;  z pause;  R refresh now",
	"  q               quit;  h ? this help",
	"",
	"Marks             ? watch  ! suspected  !! confirmed  !!! runaway  ~ recovered",
	"                  s silenced  a acknowledged  * sorted by this column  ^ in reverse",
	"FLOORS            lowest memory in equal times, the newest at the right;",
	"                  of processes in state watch or worse",
	NULL
};

static enum top_action sort_by(struct top_view *v, u8 column)
{
	v->order.column = column;
	v->order.reverse = false;
	return ACT_VIEW;
}

static enum top_action sort_key(struct top_view *v, u32 key)
{
	static const struct { char key; u8 column; } keys[] = {
		{ 'S', 0 }, { 'C', SEEPAGE_A_CONFIDENCE }, { 'M', SEEPAGE_A_RSS_BYTES },
		{ 'G', SEEPAGE_A_GROWTH_BYTES_PER_HOUR }, { 'T', SEEPAGE_A_TTE_SECONDS },
		{ 'F', SEEPAGE_A_FAULT_RATE }, { 'A', SEEPAGE_A_AGE_SECONDS },
		{ 'P', SEEPAGE_A_PID }, { 'N', SEEPAGE_A_COMM }, { 'U', COLUMN_UNIT },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if ((u32)keys[i].key == key)
			return sort_by(v, keys[i].column);
	return ACT_NONE;
}

static void open_prompt(struct top_view *v, enum top_prompt prompt)
{
	v->prompt = prompt;
	*v->input = '\0';
	if (prompt == PROMPT_FILTER)
		filter_text(&v->filter, v->input, sizeof(v->input));
}

static void search(struct top_view *v, bool forward, bool stay)
{
	if (!view_find(v, forward, stay))
		snprintf(v->note, sizeof(v->note), "search: '%s': nothing found", v->search);
}

static enum top_action finish_prompt(struct top_view *v)
{
	enum top_prompt prompt = v->prompt;
	u64 s;

	v->prompt = PROMPT_NONE;
	if (prompt == PROMPT_SEARCH) {
		snprintf(v->search, sizeof(v->search), "%s", v->input);
		if (*v->search)
			search(v, true, true);
	} else if (prompt == PROMPT_FILTER) {
		filter_parse(&v->filter, v->input, v->note, sizeof(v->note));
	} else if (*v->input) {
		if (!parse_u64(v->input, &s) || s < 1 || s > DELAY_MOST)
			snprintf(v->note, sizeof(v->note), "seconds: '%s': allowed 1..%d", v->input,
				 DELAY_MOST);
		else
			v->delay_s = s;
	}
	return ACT_VIEW;
}

static enum top_action prompt_key(struct top_view *v, u32 key)
{
	size_t len = strlen(v->input);

	if (key == TOP_ENTER)
		return finish_prompt(v);
	if (key == TOP_ESCAPE) {
		v->prompt = PROMPT_NONE;
	} else if (key == TOP_BACKSPACE) {
		/* a character of UTF-8 whole */
		while (len && (v->input[len - 1] & 0xc0) == 0x80)
			len--;
		v->input[len ? len - 1 : 0] = '\0';
	} else if (key == 0x15) {	/* ^U */
		*v->input = '\0';
	} else if (key >= 0x20 && key != 0x7f && key < 0x100 && len + 1 < sizeof(v->input)) {
		v->input[len] = (char)key;
		v->input[len + 1] = '\0';
	}
	return ACT_NONE;
}

static bool move_key(struct top_view *v, u32 key)
{
	size_t rows = view_list_rows(v), at = v->cursor;

	switch (key) {
	case TOP_UP:
	case 'k':
		view_move(v, at ? at - 1 : 0);
		return true;
	case TOP_DOWN:
	case 'j':
		view_move(v, at + 1);
		return true;
	case TOP_PAGE_UP:
		view_move(v, at > rows ? at - rows : 0);
		return true;
	case TOP_PAGE_DOWN:
		view_move(v, at + rows);
		return true;
	case TOP_HOME:
	case 'g':
		view_move(v, 0);
		return true;
	case TOP_END:
		view_move(v, SIZE_MAX);
		return true;
	}
	return false;
}

/* All states, those from watch on, alerts only; another filter becomes all. */
static void next_states(struct top_view *v)
{
	const u32 alerts = 1U << SEEPAGE_STATE_SUSPECTED | 1U << SEEPAGE_STATE_CONFIRMED |
			   1U << SEEPAGE_STATE_RUNAWAY;
	const u32 watch = alerts | 1U << SEEPAGE_STATE_WATCH | 1U << SEEPAGE_STATE_RECOVERED;

	v->filter.states = !v->filter.states ? watch : v->filter.states == watch ? alerts : 0;
}

static enum top_action fold_key(struct top_view *v, u32 key)
{
	size_t i;

	if (!v->tree)
		return ACT_NONE;
	if (key == ' ' || key == TOP_ENTER) {
		if (v->cursor < v->n_lines)
			view_fold(v, v->line[v->cursor].msg->unit);
		return ACT_VIEW;
	}
	for (i = 0; i < v->n_units; i++)
		if (view_folded(v, v->units[i].sum.unit) != (key == '-'))
			view_fold(v, v->units[i].sum.unit);
	return ACT_VIEW;
}

static enum top_action enter(struct top_view *v)
{
	if (v->cursor < v->n_lines && v->line[v->cursor].unit)
		return fold_key(v, TOP_ENTER);
	v->page = v->page == PAGE_NONE ? PAGE_EXPLAIN : PAGE_NONE;
	v->page_offset = 0;
	return ACT_ONE;
}

static enum top_action page_key(struct top_view *v, u32 key)
{
	if (key == TOP_TAB) {
		v->page = (v->page + 1) % PAGE_MAX;
		v->page_offset = 0;
		return ACT_ONE;
	}
	if (key == ']')
		v->page_offset++;
	else if (v->page_offset)
		v->page_offset--;
	return ACT_NONE;
}

static enum top_action filter_key(struct top_view *v, u32 key)
{
	switch (key) {
	case 's':
		next_states(v);
		return ACT_VIEW;
	case 'x':
		memset(&v->filter, 0, sizeof(v->filter));
		*v->search = '\0';
		return ACT_VIEW;
	case 'f':
		open_prompt(v, PROMPT_FILTER);
		return ACT_NONE;
	case '/':
		open_prompt(v, PROMPT_SEARCH);
		return ACT_NONE;
	case 'd':
		open_prompt(v, PROMPT_DELAY);
		return ACT_NONE;
	}
	if (*v->search)
		search(v, key == 'n', false);
	return ACT_NONE;
}

static enum top_action plain_key(struct top_view *v, u32 key)
{
	switch (key) {
	case TOP_ENTER:
		return enter(v);
	case TOP_TAB:
	case '[':
	case ']':
		return page_key(v, key);
	case 't':
		v->tree = !v->tree;
		return ACT_VIEW;
	case 'r':
		v->order.reverse = !v->order.reverse;
		return ACT_VIEW;
	case TOP_LEFT:
	case '<':
		return sort_by(v, layout_next(v, -1));
	case TOP_RIGHT:
	case '>':
		return sort_by(v, layout_next(v, 1));
	case ' ':
	case '-':
	case '+':
		return fold_key(v, key);
	case 'z':
		v->paused = !v->paused;
		return ACT_NONE;
	case 'R':
		return ACT_READ;
	case 's':
	case 'x':
	case 'f':
	case '/':
	case 'd':
	case 'n':
	case 'p':
		return filter_key(v, key);
	}
	return sort_key(v, key);
}

/* Returns what has to be done before the screen is drawn again. */
enum top_action top_key(struct top_view *v, u32 key)
{
	*v->note = '\0';
	if (v->prompt != PROMPT_NONE)
		return prompt_key(v, key);
	if (key == 'q' && !v->help)
		return ACT_QUIT;
	if (v->help || key == 'h' || key == '?') {
		v->help = !v->help;
		return ACT_NONE;
	}
	if (move_key(v, key))
		return v->page == PAGE_NONE ? ACT_NONE : ACT_ONE;
	return plain_key(v, key);
}
