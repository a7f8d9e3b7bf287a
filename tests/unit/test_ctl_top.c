// SPDX-License-Identifier: GPL-2.0
/* The screen of top, from messages as the module sends them and keys as a user presses them */
#include "msg.h"
#include "top/top.h"
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <wchar.h>
#include <cmocka.h>

#define N	6
#define MB	(1ULL << 20)

static struct nl_msg *raw[N];
static struct message msg[N];
static struct top_data data;
static struct top_view view;
static struct top_screen screen;

static void make(unsigned int i, u32 pid, const char *comm, u8 state, u8 conf, u64 rss_mb,
		 s64 growth_mb)
{
	raw[i] = msg_new();
	nla_put_u32(raw[i], SEEPAGE_A_PID, pid);
	nla_put_string(raw[i], SEEPAGE_A_COMM, comm);
	nla_put_u32(raw[i], SEEPAGE_A_UID, 1000 + i % 2);
	nla_put_u8(raw[i], SEEPAGE_A_STATE, state);
	nla_put_u8(raw[i], SEEPAGE_A_CONFIDENCE, conf);
	nla_put_u64(raw[i], SEEPAGE_A_RSS_BYTES, rss_mb * MB);
	put_s64(raw[i], SEEPAGE_A_GROWTH_BYTES_PER_HOUR, growth_mb * (s64)MB);
}

static void add_floors(unsigned int i)
{
	static const u64 minima[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct nlattr *nest = nla_nest_start(raw[i], SEEPAGE_A_HISTORY);

	put_level(raw[i], 1000, minima, ARRAY_SIZE(minima));
	put_level(raw[i], 2000, minima, 4);
	put_level(raw[i], 4000, minima, 2);
	nla_nest_end(raw[i], nest);
}

static int setup(void **state)
{
	static const char *const units[N] = {
		"nginx.service", "nginx.service", "cron.service", "", NULL,
		"container 0123456789ab (docker)",
	};

	(void)state;
	memset(&data, 0, sizeof(data));
	memset(&view, 0, sizeof(view));
	make(0, 100, "nginx", SEEPAGE_STATE_OK, 0, 30, 1);
	make(1, 101, "nginx", SEEPAGE_STATE_CONFIRMED, 92, 500, 400);
	make(2, 200, "cron", SEEPAGE_STATE_WATCH, 40, 10, 20);
	make(3, 300, "kept", SEEPAGE_STATE_RECOVERED, 10, 90, -50);
	make(4, 400, "lost", SEEPAGE_STATE_SUSPECTED, 71, 700, 60);
	make(5, 4194304, "\xe4\xb8\xad\xe6\x96\x87\xe5\x90\x8d", SEEPAGE_STATE_RUNAWAY, 99, 2048,
	     9999);
	nla_put_u64(raw[5], SEEPAGE_A_TTE_SECONDS, 400);
	add_floors(1);
	for (unsigned int i = 0; i < N; i++) {
		assert_int_equal(msg_parse(&msg[i], nlmsg_hdr(raw[i])), 0);
		msg[i].unit = units[i];
		msg[i].user = i % 2 ? "bob" : "alice";
		data.states[msg_get(&msg[i], SEEPAGE_A_STATE, 0)]++;
	}
	data.msg = msg;
	data.n = N;
	view.cols = 80;
	view.rows = 24;
	view.utf8 = true;
	view.delay_s = 2;
	view_make(&view, msg, N);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_free(&view);
	screen_free(&screen);
	floors_forget(&data.floors, UINT64_MAX);
	for (unsigned int i = 0; i < N; i++)
		nlmsg_free(raw[i]);
	return 0;
}

/* Presses keys, and makes the lines anew where the program would. */
static void press(const char *keys)
{
	enum top_action what;

	for (; *keys; keys++) {
		what = top_key(&view, *keys == '\n' ? TOP_ENTER : *keys == '\t' ? TOP_TAB :
			       (u32)(unsigned char)*keys);
		assert_int_not_equal(what, ACT_QUIT);
		if (what != ACT_NONE)
			view_make(&view, msg, N);
	}
}

/* The lines of the list: pids, and units as a name in brackets */
static const char *listed(void)
{
	static char got[512];
	size_t i;

	*got = '\0';
	for (i = 0; i < view.n_lines; i++) {
		if (view.line[i].unit)
			sentence_append(got, sizeof(got), "%s[%.5s]", i ? " " : "",
					view.line[i].msg->unit ? view.line[i].msg->unit : "");
		else
			sentence_append(got, sizeof(got), "%s%llu", i ? " " : "",
					msg_get(view.line[i].msg, SEEPAGE_A_PID, 0));
	}
	return got;
}

/* ---- order and filter ---- */

static void order(void **state)
{
	(void)state;
	assert_string_equal(listed(), "4194304 101 400 200 300 100");
	press("M");
	assert_string_equal(listed(), "4194304 400 101 300 100 200");
	press("r");
	assert_string_equal(listed(), "200 100 300 101 400 4194304");
	press("P");
	assert_string_equal(listed(), "100 101 200 300 400 4194304");
	press("G");
	assert_string_equal(listed(), "4194304 101 400 200 100 300");
	press("S");
	assert_string_equal(listed(), "4194304 101 400 200 300 100");
	/* beside CONF, by which the default sorts first, stands RSS */
	press(">");
	assert_int_equal(view.order.column, SEEPAGE_A_RSS_BYTES);
	press("<<");
	assert_int_equal(view.order.column, SEEPAGE_A_COMM);
	press("<<<");
	assert_int_not_equal(view.order.column, TOP_FLOORS);
}

static void filters(void **state)
{
	char text[256];

	(void)state;
	press("s");
	assert_string_equal(listed(), "4194304 101 400 200 300");
	press("s");
	assert_string_equal(listed(), "4194304 101 400");
	press("s");
	assert_int_equal(view.n_lines, N);
	press("fstate=watch,ok unit=NGINX\n");
	assert_string_equal(listed(), "100");
	filter_text(&view.filter, text, sizeof(text));
	assert_string_equal(text, "state=ok,watch unit=NGINX");
	press("x");
	assert_int_equal(view.n_lines, N);
	press("fuser=bob\n");
	assert_string_equal(listed(), "4194304 101 300");
	/* the prompt begins with the filter in force; ^U empties it; a uid is a user too */
	press("f\025user=1000\n");
	assert_string_equal(listed(), "400 200 100");
	press("f\025gin\n");
	assert_string_equal(listed(), "101 100");
	press("f\025\n");
	assert_int_equal(view.n_lines, N);
}

/* A wrong filter changes nothing, and the message says the word and what is allowed. */
static void bad_filters(void **state)
{
	static const char *const wrong[] = { "state=", "state=guilty", "state=ok,", "frob=1",
		"user=", "=x", "name=ok bad=", "state=ok,,watch" };
	struct top_filter f = { .states = 7, .name = "kept" };
	char err[256];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_false(filter_parse(&f, wrong[i], err, sizeof(err)));
		assert_non_null(strstr(err, "allowed state="));
		assert_int_equal(f.states, 7);
		assert_string_equal(f.name, "kept");
	}
	press("fstate=guilty\n");
	assert_non_null(strstr(view.note, "'state=guilty': allowed"));
	assert_int_equal(view.n_lines, N);
	press("d0\n");
	assert_non_null(strstr(view.note, "'0': allowed 1..3600"));
	press("d7\n");
	assert_int_equal(view.delay_s, 7);
}

static void searching(void **state)
{
	(void)state;
	press("/nginx\n");
	assert_int_equal(view.pid, 101);
	press("n");
	assert_int_equal(view.pid, 100);
	press("n");
	assert_int_equal(view.pid, 101);
	press("p");
	assert_int_equal(view.pid, 100);
	press("/400\n");
	assert_int_equal(view.pid, 400);
	press("/nowhere\n");
	assert_int_equal(view.pid, 400);
	assert_non_null(strstr(view.note, "'nowhere': nothing found"));
}

/* The cursor stays on its process when the order changes, and on screen in any size. */
static void cursor(void **state)
{
	size_t i;

	(void)state;
	press("jj");
	assert_int_equal(view.pid, 400);
	press("P");
	assert_int_equal(view.cursor, 4);
	assert_int_equal(view.pid, 400);
	press("fname=nginx\n");
	assert_true(view.cursor < view.n_lines);
	press("x");
	for (view.rows = 1; view.rows < 20; view.rows++) {
		view_move(&view, 0);
		for (i = 0; i < N; i++) {
			view_move(&view, i);
			assert_in_range(view.cursor, view.offset,
					view.offset + view_list_rows(&view) - 1);
		}
		view_move(&view, SIZE_MAX);
		assert_int_equal(view.cursor, N - 1);
	}
	view_make(&view, msg, 0);
	press("jk");
	assert_int_equal(view.n_lines, 0);
}

/* ---- tree ---- */

static u64 sum(const char *unit, unsigned int id)
{
	size_t i;

	for (i = 0; i < view.n_units; i++)
		if (!strcmp(view.units[i].sum.unit ? view.units[i].sum.unit : "", unit))
			return msg_get(&view.units[i].sum, id, 4711);
	fail_msg("no unit '%s'", unit);
	return 0;
}

static void tree(void **state)
{
	(void)state;
	press("t");
	assert_string_equal(listed(), "[conta] 4194304 [nginx] 101 100 [] 400 300 [cron.] 200");
	assert_int_equal(sum("nginx.service", SEEPAGE_A_RSS_BYTES), 530 * MB);
	assert_int_equal(sum("nginx.service", SEEPAGE_A_GROWTH_BYTES_PER_HOUR), 401 * MB);
	/* a loss counts against a gain; no unit and a unit not known are one */
	assert_int_equal(sum("", SEEPAGE_A_GROWTH_BYTES_PER_HOUR), 10 * MB);
	assert_int_equal(sum("", SEEPAGE_A_RSS_BYTES), 790 * MB);
	/* the worst counts, and recovered is better than suspected */
	assert_int_equal(sum("nginx.service", SEEPAGE_A_STATE), SEEPAGE_STATE_CONFIRMED);
	assert_int_equal(sum("", SEEPAGE_A_STATE), SEEPAGE_STATE_SUSPECTED);
	assert_int_equal(sum("nginx.service", SEEPAGE_A_CONFIDENCE), 92);
	/* what nobody has is not 0 */
	assert_int_equal(sum("nginx.service", SEEPAGE_A_TTE_SECONDS), 4711);
	assert_int_equal(sum("nginx.service", SEEPAGE_A_PID), 4711);
	/* units are sorted by their sums, processes below them by their own figures */
	press("M");
	assert_string_equal(listed(), "[conta] 4194304 [] 400 300 [nginx] 101 100 [cron.] 200");
	press("r");
	assert_string_equal(listed(), "[cron.] 200 [nginx] 100 101 [] 300 400 [conta] 4194304");
}

static void folding(void **state)
{
	(void)state;
	press("tgjj");
	assert_int_equal(view.pid, 0);
	assert_string_equal(view.unit, "nginx.service");
	press("\n");
	assert_string_equal(listed(), "[conta] 4194304 [nginx] [] 400 300 [cron.] 200");
	press("-");
	assert_string_equal(listed(), "[conta] [nginx] [] [cron.]");
	press("+");
	assert_int_equal(view.n_lines, N + 4);
	/* space folds the unit of a process too, and the cursor goes to a line that exists */
	view_move(&view, SIZE_MAX);
	press(" ");
	assert_string_equal(listed(), "[conta] 4194304 [nginx] 101 100 [] 400 300 [cron.]");
	assert_true(view.cursor < view.n_lines);
}

/* ---- layout ---- */

static size_t width(const char *s)
{
	wchar_t wide[SCREEN_TEXT];
	size_t n = mbstowcs(wide, s, SCREEN_TEXT);

	assert_int_not_equal(n, (size_t)-1);
	return (size_t)wcswidth(wide, n);
}

static bool has(const char *word)
{
	size_t i;

	for (i = 0; i < screen.n; i++)
		if (strstr(screen.row[i].text, word))
			return true;
	return false;
}

/* What reads once says nothing of how often. */
static void a_single_refresh(void **state)
{
	(void)state;
	view.once = true;
	view.cols = 120;
	screen_make(&screen, &view, &data);
	assert_non_null(strstr(screen.row[0].text, "seepage top"));
	assert_null(strstr(screen.row[0].text, "every"));
	view.once = false;
	screen_make(&screen, &view, &data);
	assert_non_null(strstr(screen.row[0].text, "  every "));
}

/* At every width and height, with all that can be on: no line too long, no row too many */
static void sizes(void **state)
{
	static const char *const keys[] = { "", "t", "\n", "\t", "?", " f", "\025x" };
	size_t k, i;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(keys); k++) {
		press(keys[k]);
		for (view.utf8 = false;; view.utf8 = true) {
			for (view.cols = 1; view.cols < 230; view.cols++) {
				view.rows = 1 + view.cols % 60;
				view_move(&view, view.cursor);
				screen_make(&screen, &view, &data);
				assert_int_equal(screen.n, view.rows);
				for (i = 0; i < screen.n; i++)
					assert_in_range(width(screen.row[i].text), 0, view.cols);
			}
			if (view.utf8)
				break;
		}
	}
}

static void draw_at(unsigned int cols)
{
	view.cols = cols;
	screen_make(&screen, &view, &data);
}

/* What is left out first as the screen gets narrower, and never */
static void columns(void **state)
{
	(void)state;
	draw_at(200);
	assert_string_equal(screen.row[3].text,
			    "         PID COMM            USER         STATE     CONF*     RSS    "
			    "ANON    SWAP  GROWTH/h     TTE  FAULTS/s     AGE FLOORS   UNIT"
			    "                                    ");
	draw_at(80);
	assert_string_equal(screen.row[3].text,
			    "         PID COMM          CONF*     RSS  GROWTH/h     TTE FLOORS   "
			    "UNIT        ");
	assert_int_equal(width(screen.row[3].text), 80);
	assert_string_equal(screen.row[4].text,
			    ">!!! 4194304 \xe4\xb8\xad\xe6\x96\x87\xe5\x90\x8d           99    2.0G"
			    "     +9.8G   6m40s          container 01");
	assert_string_equal(screen.row[5].text,
			    " !!      101 nginx            92  500.0M   +400.0M       -          "
			    "nginx       ");
	draw_at(82);	/* a name has 15 bytes, and is whole before that of its unit is */
	assert_string_equal(screen.row[3].text,
			    "         PID COMM            CONF*     RSS  GROWTH/h     TTE FLOORS   "
			    "UNIT        ");
	draw_at(84);
	assert_string_equal(screen.row[5].text,
			    " !!      101 nginx              92  500.0M   +400.0M       -          "
			    "nginx.service ");
	draw_at(76);	/* what does not fit loses the word service first */
	assert_string_equal(screen.row[5].text,
			    " !!      101 nginx        92  500.0M   +400.0M       -          "
			    "nginx       ");
	draw_at(40);
	assert_string_equal(screen.row[3].text, "         PID COMM          RSS  GROWTH/h");
	draw_at(20);
	assert_string_equal(screen.row[3].text, "         PID     RSS");
}

static void ascii(void **state)
{
	size_t i;
	char *c;

	(void)state;
	view.utf8 = false;
	floors_put(&data.floors, 101, &msg[1], 1000);
	press("\n");
	draw_at(80);
	for (i = 0; i < screen.n; i++)
		for (c = screen.row[i].text; *c; c++)
			assert_in_range((unsigned char)*c, 0x20, 0x7e);
	assert_true(has("4194304 ???"));
	assert_true(has("_:+#"));
}

/* Every state has a mark of its own, so that no colour is needed. */
static void marks(void **state)
{
	unsigned int i, j;

	(void)state;
	for (i = 0; i < __SEEPAGE_STATE_MAX; i++)
		for (j = 0; j < i; j++)
			assert_string_not_equal(state_mark(i), state_mark(j));
	draw_at(80);
	assert_string_equal(screen.row[1].text, "!!! 1 runaway  !! 1 confirmed  ! 1 suspected  "
			    "? 1 watch  ~ 1 recovered  1 ok");
}

/* ---- floors, pane, what else is shown ---- */

static void floors(void **state)
{
	char buf[SPARK_MAX];

	(void)state;
	assert_true(floors_wanted(data.floors, 101, 1000, 10));
	floors_put(&data.floors, 101, &msg[1], 1000);
	assert_false(floors_wanted(data.floors, 101, 1009, 10));
	assert_true(floors_wanted(data.floors, 101, 1010, 10));
	/* the level that covers most and has four floors, not that of two */
	assert_string_equal(floors_spark(data.floors, 101, 8, false, buf), "_:+#");
	assert_string_equal(floors_spark(data.floors, 101, 2, false, buf), "_+");
	assert_string_equal(floors_spark(data.floors, 102, 8, false, buf), "");
	floors_put(&data.floors, 101, NULL, 2000);
	assert_string_equal(floors_spark(data.floors, 101, 8, false, buf), "");
	floors_put(&data.floors, 7, NULL, 1500);
	floors_forget(&data.floors, 1600);
	assert_false(floors_wanted(data.floors, 101, 2000, 10));
	assert_true(floors_wanted(data.floors, 7, 1500, 10));
}

static void pane(void **state)
{
	(void)state;
	press("j\n");
	assert_int_equal(view.pid, 101);
	data.one = msg[1];
	data.has_one = true;
	draw_at(80);
	assert_true(has("Explained"));
	assert_true(has("pid 101 (nginx): confirmed, confidence 92, growth +400.0 MiB/h"));
	assert_true(has("nginx.service"));
	assert_false(has("web-7d"));
	strcpy(data.container, "app of pod web-7d in shop\033[m");
	draw_at(80);
	assert_true(has("  container app of pod web-7d in shop\\x1b[m"));
	press("\t");
	draw_at(80);
	assert_true(has("Counters"));
	assert_true(has("RSS            500.0 MiB"));
	assert_true(has("Hardware counters: none"));
	/* another process is never explained by what was read of this one */
	press("k");
	press("\t\t");
	draw_at(80);
	assert_true(has("Explained"));
	assert_false(has("pid 101 (nginx): confirmed"));
	/* a unit has sums */
	press("tg");
	draw_at(80);
	assert_true(has("container 0123456789ab (docker): 1 processes") ||
		    has("container 0123456789ab (docker): 1 process"));
}

static void scrolling(void **state)
{
	struct top_lines l = { 0 };
	size_t i;

	(void)state;
	lines_add(&l, "one two three four five six seven", 12, 2, true);
	assert_int_equal(l.n, 4);
	assert_string_equal(l.v[0], "one two");
	assert_string_equal(l.v[1], "  three four");
	assert_string_equal(l.v[2], "  five six");
	assert_string_equal(l.v[3], "  seven");
	lines_free(&l);
	data.one = msg[1];
	data.has_one = true;
	press("j\n");
	view.rows = 14;
	for (i = 0; i < 100; i++)
		press("]");
	draw_at(80);
	assert_true(has("What can be done") && has("seepage where 101"));
	assert_true(view.page_offset < 50);
}

static void messages(void **state)
{
	(void)state;
	data.own_only = true;
	draw_at(80);
	assert_true(has("6 processes of yours"));
	data.err = 2;
	snprintf(data.why, sizeof(data.why), "module not loaded; waiting for it");
	view_make(&view, NULL, 0);
	draw_at(80);
	assert_true(has("module not loaded; waiting for it"));
	assert_false(has("nginx"));
	assert_int_equal(screen.n, view.rows);
	data.err = 0;
	view_make(&view, msg, N);
	press("fname=nothing\n");
	draw_at(80);
	assert_true(has("no process passes the filter"));
	/* what a terminal would obey does not get there */
	press("/\xc2\x9b\n");
	draw_at(80);
	assert_true(has("'?': nothing found"));
}

static void quit(void **state)
{
	(void)state;
	press("/q");
	assert_string_equal(view.input, "q");
	assert_int_equal(top_key(&view, TOP_ESCAPE), ACT_NONE);
	assert_int_equal(view.prompt, PROMPT_NONE);
	press("h");
	assert_true(view.help);
	/* "any key: back" */
	assert_int_equal(top_key(&view, 'q'), ACT_NONE);
	assert_false(view.help);
	assert_int_equal(top_key(&view, 'q'), ACT_QUIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(order), T(filters), T(bad_filters), T(searching), T(cursor), T(tree),
		T(folding), T(a_single_refresh), T(sizes), T(columns), T(ascii), T(marks),
		T(floors), T(pane),
		T(scrolling), T(messages), T(quit),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
