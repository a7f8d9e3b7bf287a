// SPDX-License-Identifier: GPL-2.0
/*
 * The terminal, by ncursesw. What ends the program gives the terminal back: the key q,
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT and a terminal that has gone.
 */
#include "top/top.h"

#ifdef HAVE_CURSES

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool top_has_curses(void)
{
	return true;
}

struct terminal {
	struct top_view *v;
	struct top_data data;
	struct top_feed feed;
	struct top_screen screen;
	SCREEN *tty;
	int signals;
	bool color;
	u64 next_ms, count;	/* of the next refresh; refreshes to come, 0: no limit */
	bool counted;
};

static u32 translate(int key)
{
	static const struct { int curses; u32 key; } keys[] = {
		{ KEY_UP, TOP_UP }, { KEY_DOWN, TOP_DOWN }, { KEY_PPAGE, TOP_PAGE_UP },
		{ KEY_NPAGE, TOP_PAGE_DOWN }, { KEY_HOME, TOP_HOME }, { KEY_END, TOP_END },
		{ KEY_LEFT, TOP_LEFT }, { KEY_RIGHT, TOP_RIGHT }, { KEY_ENTER, TOP_ENTER },
		{ '\n', TOP_ENTER }, { '\r', TOP_ENTER }, { 27, TOP_ESCAPE }, { '\t', TOP_TAB },
		{ KEY_BACKSPACE, TOP_BACKSPACE }, { 0x7f, TOP_BACKSPACE }, { '\b', TOP_BACKSPACE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == key)
			return keys[i].key;
	return key < 0x100 ? (u32)key : TOP_OTHER;
}

static void colors(struct terminal *t)
{
	static const short of[__SEEPAGE_STATE_MAX] = {
		[SEEPAGE_STATE_OK] = -1, [SEEPAGE_STATE_WATCH] = COLOR_CYAN,
		[SEEPAGE_STATE_SUSPECTED] = COLOR_YELLOW, [SEEPAGE_STATE_CONFIRMED] = COLOR_RED,
		[SEEPAGE_STATE_RUNAWAY] = COLOR_RED, [SEEPAGE_STATE_RECOVERED] = COLOR_GREEN,
		[SEEPAGE_STATE_EXITED] = -1,
	};
	const char *no = getenv("NO_COLOR");	/* no-color.org: set and not empty */
	short i;

	t->color = !(no && *no) && has_colors() && start_color() == OK &&
		   use_default_colors() == OK;
	for (i = 0; t->color && i < __SEEPAGE_STATE_MAX; i++)
		init_pair((short)(i + 1), of[i], -1);
}

static attr_t style(const struct terminal *t, const struct top_row *row)
{
	unsigned int state = row->style - STYLE_STATE;
	attr_t a = A_NORMAL;

	switch (row->style) {
	case STYLE_TITLE:
	case STYLE_UNIT:
		a = A_BOLD;
		break;
	case STYLE_HEAD:
		a = A_REVERSE;
		break;
	case STYLE_ALARM:
		a = A_BOLD | (t->color ? (attr_t)COLOR_PAIR(SEEPAGE_STATE_CONFIRMED + 1) : 0);
		break;
	}
	if (row->style >= STYLE_STATE) {
		a = t->color ? (attr_t)COLOR_PAIR((int)state + 1) : 0;
		if (state_is_alert(state) && (!t->color || state == SEEPAGE_STATE_RUNAWAY))
			a |= A_BOLD;
	}
	return a | (row->selected ? A_REVERSE : 0) | (row->found ? A_UNDERLINE : 0);
}

static void draw(struct terminal *t)
{
	size_t i;

	screen_make(&t->screen, t->v, &t->data);
	erase();
	for (i = 0; i < t->screen.n && i < (size_t)LINES; i++) {
		const struct top_row *row = &t->screen.row[i];
		attr_t a = style(t, row);

		attrset((int)a);
		mvaddstr((int)i, 0, row->text);
		if (row->selected || row->style == STYLE_HEAD)
			while (getcury(stdscr) == (int)i && getcurx(stdscr) < COLS - 1)
				addch(' ');
	}
	attrset(A_NORMAL);
	refresh();
}

static void resize(struct terminal *t)
{
	t->v->cols = (unsigned int)COLS;
	t->v->rows = (unsigned int)LINES;
	view_move(t->v, t->v->cursor);
	clear();	/* what a narrower terminal has wrapped */
}

static void read_now(struct terminal *t)
{
	feed_read(&t->feed, &t->data, t->v);
	t->next_ms = clock_ms() + t->v->delay_s * 1000;
}

/* Returns false if the key ends the program. */
static bool act(struct terminal *t, enum top_action what)
{
	switch (what) {
	case ACT_QUIT:
		return false;
	case ACT_READ:
		read_now(t);
		break;
	case ACT_VIEW:
		view_make(t->v, t->data.msg, t->data.n);
		if (t->v->page != PAGE_NONE)
			feed_read_one(&t->feed, &t->data, t->v);
		t->next_ms = t->next_ms > clock_ms() + t->v->delay_s * 1000 ? 0 : t->next_ms;
		break;
	case ACT_ONE:
		view_move(t->v, t->v->cursor);
		feed_read_one(&t->feed, &t->data, t->v);
		break;
	case ACT_NONE:
		break;
	}
	return true;
}

static bool keys(struct terminal *t)
{
	int key;

	while ((key = getch()) != ERR) {
		if (key == KEY_RESIZE)
			resize(t);
		else if (!act(t, top_key(t->v, translate(key))))
			return false;
	}
	return true;
}

/* Waits for a key, a signal or the time of the next refresh. Returns false at the end. */
static bool step(struct terminal *t)
{
	struct pollfd p[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = t->signals, .events = POLLIN },
	};
	u64 now_ms = clock_ms();
	int wait = t->v->paused ? -1 : t->next_ms > now_ms ? (int)(t->next_ms - now_ms) : 0;

	/* a change of the size ends it with EINTR, and getch() returns KEY_RESIZE */
	if (poll(p, ARRAY_SIZE(p), wait) < 0 && errno != EINTR)
		return false;
	if (p[1].revents || (p[0].revents & (POLLHUP | POLLERR | POLLNVAL)) || !keys(t))
		return false;
	if (!t->v->paused && clock_ms() >= t->next_ms) {
		if (t->counted && !--t->count)
			return false;
		read_now(t);
	}
	return true;
}

static int signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void begin(struct terminal *t)
{
	set_term(t->tty);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	colors(t);
	resize(t);
}

int top_curses(struct ctx *ctx, struct top_view *v, u64 count)
{
	struct terminal t = { .v = v, .count = count, .counted = count };
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail(ctx, "standard input or output is no terminal (-b prints text)");
	t.signals = signals();
	t.tty = newterm(NULL, stdout, stdin);
	if (!t.tty)
		return fail(ctx, "TERM: '%s': allowed a terminal that terminfo knows (-b prints "
			    "text)", name ? name : "");
	begin(&t);
	read_now(&t);
	do {
		draw(&t);
	} while (step(&t));
	endwin();
	delscreen(t.tty);
	feed_close(&t.feed, &t.data);
	screen_free(&t.screen);
	close(t.signals);
	return 0;
}

#else

bool top_has_curses(void)
{
	return false;
}

int top_curses(struct ctx *ctx, struct top_view *v, u64 count)
{
	return fail(ctx, "built without ncurses: only -b works");
}

#endif
