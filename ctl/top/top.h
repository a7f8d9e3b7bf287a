/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the command top share. feed.c reads the module, curses.c
 * has the terminal; all between is pure: from messages and keys to lines of text.
 */
#ifndef SEEPAGE_CTL_TOP_H
#define SEEPAGE_CTL_TOP_H

#include "ctl.h"

/* top/tree.c: processes by unit, with sums */
#define TREE_SUMS	12

struct tree_unit {
	struct message sum;	/* the processes of the unit as one; its a[] points to cell */
	size_t first, n;	/* of the list */
	struct {
		struct nlattr head;
		u8 value[16];
	} cell[TREE_SUMS];
};

struct tree_unit *tree_make(struct message *msg, size_t n, struct order o, size_t *n_units);

/* top/floors.c: floors of processes, from the answers for single ones */
#define FLOORS_ASKED	4	/* processes that are asked for one by one in a refresh */

struct floors;
void floors_put(struct floors **f, u32 pid, const struct message *msg, u64 now_ms);
bool floors_wanted(const struct floors *f, u32 pid, u64 now_ms, u64 again_ms);
char *floors_spark(const struct floors *f, u32 pid, unsigned int columns, bool utf8, char *buf);
void floors_forget(struct floors **f, u64 before_ms);

/* What was read of the module last */
struct top_data {
	int err;			/* errno, 0: answered */
	char why[TEXT_MAX];		/* what to say then */
	u64 real_ns;			/* CLOCK_REALTIME of the answer */
	struct msgs raw;
	struct message *msg;		/* all processes, with user and unit */
	size_t n;
	u64 states[__SEEPAGE_STATE_MAX];
	bool own_only, inconsistent;
	size_t silenced, acked;		/* processes under alert */
	struct nlmsghdr *status_nlh, *one_nlh;
	struct message status, one;	/* one: of the selected process, with gates and floors */
	bool has_status, has_one;
	struct pmc_list pmc;
	struct place place;		/* of @one */
	char container[TEXT_MAX];	/* names of its container and pod, or "" */
	struct floors *floors;
};

/* top/quiet.c: silences and acknowledgments */
void quiet_mark(struct top_data *d);
void quiet_text(const struct top_data *d, char *buf, size_t size);

/* top/filter.c: which processes are shown */
#define FILTER_MAX	64

struct top_filter {
	u32 states;			/* mask of 1 << state, 0: all */
	char user[FILTER_MAX];		/* name or uid; "": all */
	char name[FILTER_MAX], unit[FILTER_MAX];	/* part of COMM, UNIT; "": all */
};

bool filter_parse(struct top_filter *f, const char *words, char *err, size_t size);
bool filter_passes(const struct top_filter *f, const struct message *msg);
void filter_text(const struct top_filter *f, char *buf, size_t size);
bool filter_matches(const struct message *msg, const char *text);

/* top/view.c: what the user has chosen, and the lines of the list that follow from it */
struct top_line {
	const struct message *msg;
	const struct tree_unit *unit;	/* set for a line with the sums of a unit */
};

enum top_prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_SEARCH, PROMPT_DELAY };
enum top_page { PAGE_NONE, PAGE_EXPLAIN, PAGE_COUNTERS, PAGE_MAX };

#define FOLDED_MAX	64

struct top_view {
	unsigned int cols, rows;	/* of the terminal; rows 0: batch, no limit */
	bool utf8;
	u64 delay_s;
	struct order order;
	struct top_filter filter;
	char search[FILTER_MAX];
	bool tree, help, paused;
	bool once;			/* no refresh follows */
	enum top_page page;
	size_t page_offset;		/* lines scrolled away */
	char *folded[FOLDED_MAX];	/* units without their processes */
	unsigned int n_folded;

	enum top_prompt prompt;
	char input[FILTER_MAX];
	char note[2 * TEXT_MAX];	/* shown until the next key */

	struct message *msg;		/* processes shown, sorted */
	struct tree_unit *units;
	struct top_line *line;
	size_t n, n_units, n_lines;
	size_t cursor, offset;		/* lines */
	u32 pid;			/* under the cursor; 0: a unit */
	char unit[FILTER_MAX];		/* likewise */
};

void view_make(struct top_view *v, const struct message *msg, size_t n);
void view_move(struct top_view *v, size_t to);
bool view_find(struct top_view *v, bool forward, bool stay);
bool view_folded(const struct top_view *v, const char *unit);
void view_fold(struct top_view *v, const char *unit);
void view_free(struct top_view *v);
size_t view_list_rows(const struct top_view *v);
size_t view_pane_rows(const struct top_view *v);

/* top/keys.c */
/* Keys beside characters: above all of those */
#define TOP_KEY(n)	(0x110000U + (n))
#define TOP_UP	TOP_KEY(0)
#define TOP_DOWN	TOP_KEY(1)
#define TOP_PAGE_UP	TOP_KEY(2)
#define TOP_PAGE_DOWN	TOP_KEY(3)
#define TOP_HOME	TOP_KEY(4)
#define TOP_END	TOP_KEY(5)
#define TOP_LEFT	TOP_KEY(6)
#define TOP_RIGHT	TOP_KEY(7)
#define TOP_ENTER	TOP_KEY(8)
#define TOP_ESCAPE	TOP_KEY(9)
#define TOP_BACKSPACE	TOP_KEY(10)
#define TOP_TAB	TOP_KEY(11)
#define TOP_OTHER	TOP_KEY(12)

enum top_action {
	ACT_NONE,
	ACT_VIEW,	/* make the lines anew */
	ACT_ONE,	/* read the process under the cursor */
	ACT_READ,	/* read all */
	ACT_QUIT,
};

enum top_action top_key(struct top_view *v, u32 key);

extern const char *const top_help[];

/* top/text.c: lines of a given width */
size_t text_cut(char *buf, size_t size, const char *s, size_t columns, bool utf8);
void text_cell(char *buf, size_t size, const char *s, size_t columns, bool right, bool utf8);

/* top/layout.c: columns that fit */
struct top_column {
	u8 id;
	u8 width;
};

#define TOP_FLOORS	(COLUMN_UNIT + 1)	/* a column of top only */
#define TOP_COLUMNS	16

struct top_layout {
	struct top_column col[TOP_COLUMNS];
	unsigned int n;
};

void layout_make(struct top_layout *l, const struct top_view *v);
void layout_head(const struct top_layout *l, const struct top_view *v, char *buf, size_t size);
void layout_line(const struct top_layout *l, const struct top_view *v, const struct floors *f,
		 const struct top_line *line, bool selected, char *buf, size_t size);
u8 layout_next(const struct top_view *v, int step);
const char *state_mark(unsigned int state);

/* top/pane.c: text about the selected process, a line at a time */
struct top_lines {
	char **v;
	size_t n;
};

void lines_add(struct top_lines *l, const char *text, size_t columns, size_t indent, bool utf8);
void lines_free(struct top_lines *l);
void pane_make(struct top_lines *l, const struct top_view *v, const struct top_data *d);

/* top/screen.c: the whole screen */
/* Styles of a line */
#define STYLE_PLAIN	0U
#define STYLE_TITLE	1U
#define STYLE_HEAD	2U
#define STYLE_UNIT	3U
#define STYLE_DIM	4U
#define STYLE_ALARM	5U
#define STYLE_STATE	6U	/* and the state added */

#define SCREEN_TEXT	2048

struct top_row {
	char text[SCREEN_TEXT];
	unsigned int style;
	bool selected, found;
};

struct top_screen {
	struct top_row *row;
	size_t n, capacity;
};

void screen_make(struct top_screen *s, struct top_view *v, const struct top_data *d);
void screen_free(struct top_screen *s);

/* top/feed.c: reads the module */
struct top_feed {
	struct knl k;
	bool open;
};

void feed_read(struct top_feed *f, struct top_data *d, struct top_view *v);
void feed_read_one(struct top_feed *f, struct top_data *d, const struct top_view *v);
void feed_close(struct top_feed *f, struct top_data *d);

/* top/curses.c: the terminal. Returns an exit status. */
int top_curses(struct ctx *ctx, struct top_view *v, u64 count);
bool top_has_curses(void);

#endif /* SEEPAGE_CTL_TOP_H */
