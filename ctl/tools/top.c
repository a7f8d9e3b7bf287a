// SPDX-License-Identifier: GPL-2.0
/*
 * Shows processes live, the most suspicious first. The screen is in top/curses.c; batch
 * prints the same lines without a terminal.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "quiet/file.h"
#include "top/top.h"
#include "tools.h"

#define DEFAULT_DELAY_S	2
#define WIDTH_LEAST	20
#define WIDTH_MOST	500

static u64 delay_s, count, width;
static const char *sort, *states, *user, *name, *unit, *container;
static bool batch, tree;

static const struct opt opts[] = {
	{ .name = "delay", .letter = 'd', .kind = OPT_NUMBER, .dest = &delay_s, .arg = "SECONDS",
	  .min = 1, .max = 3600, .help = "between two refreshes (default: 2)" },
	{ .name = "sort", .letter = 'o', .kind = OPT_STRING, .dest = &sort, .arg = "COL[,r]",
	  .help = "sort by this column of ps; r: in reverse" },
	{ .name = "state", .kind = OPT_STRING, .dest = &states, .arg = "S[,S...]",
	  .help = "only processes in one of these states" },
	{ .name = "user", .kind = OPT_STRING, .dest = &user, .arg = "USER",
	  .help = "only processes of this user" },
	{ .name = "name", .kind = OPT_STRING, .dest = &name, .arg = "TEXT",
	  .help = "only processes with this text in their name" },
	{ .name = "unit", .kind = OPT_STRING, .dest = &unit, .arg = "TEXT",
	  .help = "only processes of units with this text in their name" },
	{ .name = "tree", .letter = 't', .kind = OPT_FLAG, .dest = &tree,
	  .help = "by unit, with sums" },
	{ .name = "batch", .letter = 'b', .kind = OPT_FLAG, .dest = &batch,
	  .help = "print text, without a terminal" },
	{ .name = "count", .letter = 'n', .kind = OPT_NUMBER, .dest = &count, .arg = "COUNT",
	  .min = 1, .max = UINT32_MAX, .help = "end after so many refreshes" },
	{ .name = "width", .letter = 'w', .kind = OPT_NUMBER, .dest = &width, .arg = "COLUMNS",
	  .min = WIDTH_LEAST, .max = WIDTH_MOST,
	  .help = "with -b: width of lines (default: that of the terminal, if there is one)" },
	{ .name = "container", .kind = OPT_STRING, .dest = &container, .arg = "CGROUP",
	  .help = "print what the container of CGROUP and its pod are called; -: for ps" },
	{ .name = NULL }
};

static int copy(struct ctx *ctx, const char *option, const char *word, char *to)
{
	if (!word)
		return 0;
	if (!*word || strlen(word) >= FILTER_MAX)
		return usage(ctx, "--%s: '%s': allowed 1..%d bytes", option, word, FILTER_MAX - 1);
	snprintf(to, FILTER_MAX, "%s", word);
	return 0;
}

/* In a pipe nothing is cut: all columns together are narrower than that. */
static unsigned int columns_now(void)
{
	return batch && !isatty(STDOUT_FILENO) ? WIDTH_MOST : out_columns();
}

static int read_options(struct ctx *ctx, struct top_view *v)
{
	int err = states ? parse_states(ctx, states, SEEPAGE_STATE_OK, &v->filter.states) : 0;

	if (ctx->json)
		return usage(ctx, "-j: not allowed, seepage -j ps prints JSON");
	if (width && !batch)
		return usage(ctx, "--width: allowed with -b only");
	v->delay_s = delay_s ? delay_s : DEFAULT_DELAY_S;
	v->tree = tree;
	v->once = batch && count == 1;
	v->utf8 = spark_utf8(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"));
	v->cols = width ? (unsigned int)width : columns_now();
	return err ?: (sort ? order_parse(ctx, sort, &v->order) : 0);
}

static void print_screen(const struct top_screen *s)
{
	size_t i, len;

	for (i = 0; i < s->n; i++) {
		len = strlen(s->row[i].text);
		while (len && s->row[i].text[len - 1] == ' ')
			len--;
		out_printf("%.*s\n", (int)len, s->row[i].text);
	}
}

/* Waits for the next refresh. Returns false if a signal or the reader ends it. */
static bool wait_until(int signals, u64 end_ms)
{
	struct pollfd p[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* POLLERR: the reader of the pipe has gone */
	};
	u64 now_ms;

	while ((now_ms = clock_ms()) < end_ms) {
		if (poll(p, ARRAY_SIZE(p), (int)(end_ms - now_ms)) <= 0)
			continue;
		if (p[0].revents || out_gone())
			return false;
		p[1].fd = -1;	/* what it reports means no end */
	}
	return true;
}

/* Prints refreshes. Without the module at the start it fails; later it waits for it. */
static int run_batch(struct ctx *ctx, struct top_view *v)
{
	struct top_data d = { 0 };
	struct top_feed f = { 0 };
	struct top_screen s = { 0 };
	int signals = child_signals(), status = 0;
	u64 i, next_ms = clock_ms();

	for (i = 0; !count || i < count; i++) {
		next_ms += v->delay_s * 1000;
		feed_read(&f, &d, v);
		if (d.err && !i) {
			status = knl_fail(ctx, &f.k, NEEDS_READ);
			break;
		}
		screen_make(&s, v, &d);
		if (i)
			out_line("");
		print_screen(&s);
		if (out_broken() || i + 1 == count || !wait_until(signals, next_ms))
			break;
	}
	feed_close(&f, &d);
	screen_free(&s);
	close(signals);
	return status;
}

/* Prints nothing where no name is known. */
static void print_container(const char *cgroup)
{
	char text[TEXT_MAX] = "";

	container_unit(cgroup, text);
	if (*text)
		out_line(text);
}

/* Answers each line of standard input, a cgroup, with a line: what ps shows of it. */
static void name_containers(void)
{
	char of[TEXT_MAX], *line = NULL;
	size_t size = 0;
	ssize_t n;

	while (!out_broken() && (n = getline(&line, &size, stdin)) > 0) {
		line[n - 1] = '\0';
		unit_show(line, of, sizeof(of));
		container_unit(line, of);
		out_line(of);
	}
	free(line);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct top_view v = { 0 };
	int status = read_options(ctx, &v);
	u64 uid;

	if (!status && container) {
		if (strcmp(container, "-"))
			print_container(container);
		else
			name_containers();
		return 0;
	}
	owner_container = container_unit;
	if (!status && user)
		status = parse_user(ctx, "--user", user, &uid);
	if (!status)
		status = copy(ctx, "user", user, v.filter.user) ?:
			 copy(ctx, "name", name, v.filter.name) ?:
			 copy(ctx, "unit", unit, v.filter.unit);
	if (!status && !batch && !top_has_curses())
		status = fail(ctx, "built without ncurses: only -b works");
	if (!status)
		status = batch ? run_batch(ctx, &v) : top_curses(ctx, &v, count);
	view_free(&v);
	return status;
}

const struct command cmd_top = {
	TOOL_TOP,
	.more = "Keys: h shows them, q quits. Marks of states: ? watch, ! suspected,\n"
		"!! confirmed, !!! runaway, ~ recovered. NO_COLOR is honoured.\n"
		"Without capabilities: only your own processes.",
	.opts = opts, .run = run,
};
