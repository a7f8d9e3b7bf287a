// SPDX-License-Identifier: GPL-2.0
/*
 * Says that an alert is seen to: lists acknowledgments, adds one, removes one. It holds for the
 * process, or the group, that the alert is about, until that ends.
 */
#include <stdlib.h>
#include <string.h>
#include "quiet/quiet.h"
#include "tools.h"

static const char *by, *removed, *from;

static const struct opt opts[] = {
	{ .name = "by", .kind = OPT_STRING, .dest = &by, .arg = "NAME",
	  .help = "who sees to it (the user that has logged in)" },
	{ .name = "remove", .kind = OPT_STRING, .dest = &removed, .arg = "'#N'",
	  .help = "remove the acknowledgment of this alert, or all" },
	{ .name = "from", .kind = OPT_STRING, .dest = &from, .arg = "FILE",
	  .help = "look for alert '#N' in FILE, which watch -j has printed" },
	{ .name = NULL }
};

/* Adds what a list has and the file has not. */
static void add_times(struct json_object *o)
{
	json_add_utc_of(o, "made_ns");
	json_add_utc_of(json_object_object_get(o, "alert"), "time_ns");
}

static void list_cells(struct table *t, const struct json_object *o)
{
	const struct json_object *a = json_object_object_get(o, "alert");
	const char *state = quiet_string(a, "state"), *comm = quiet_string(a, "comm");
	const char *s = quiet_string(o, "text"), *who = quiet_string(o, "by");
	char text[4 * QUIET_TEXT + 1];

	snprintf(text, sizeof(text), "#%llu", quiet_number(a, "seq", 0));
	table_cell(t, text);
	table_cell(t, fmt_time(text, sizeof(text), quiet_number(a, "time_ns", 0)));
	table_cell(t, state ? state : "-");
	snprintf(text, sizeof(text), "%llu", quiet_number(a, "pid", 0));
	table_cell(t, text);
	table_cell(t, comm ? fmt_safe(text, sizeof(text), comm, strlen(comm)) : "-");
	table_cell(t, fmt_time(text, sizeof(text), quiet_number(o, "made_ns", 0)));
	table_cell(t, who ? fmt_safe(text, sizeof(text), who, strlen(who)) : "-");
	table_cell(t, s ? fmt_safe(text, sizeof(text), s, strlen(s)) : "-");
}

static int list(const struct ctx *ctx)
{
	static const char *const heads[] = { "ALERT", "TIME", "STATE", "PID", "COMM", "ACKED", "BY",
					     "TEXT" };
	static const bool right[] = { true, false, false, true, false, false, false, false };
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	struct quiet q = { 0 };
	struct json_object *all;
	int status = quiet_read(ctx, &q);
	size_t i, n;

	all = json_object_object_get(q.o, "acks");
	n = all ? json_object_array_length(all) : 0;
	for (i = 0; i < n; i++) {
		list_cells(t, json_object_array_get_idx(all, i));
		add_times(json_object_array_get_idx(all, i));
	}
	status = quiet_show(ctx, status, t, json_object_get(all));
	quiet_free(&q);
	return status;
}

/* Takes out the acknowledgment of alert @seq, or that of the same process. */
static size_t drop(struct json_object *all, u64 seq, const struct json_object *same)
{
	static const char *const keys[] = { "instance", "pid", "of_group", "comm", "begun_s" };
	const struct json_object *a;
	size_t i, k, n = 0;

	for (i = json_object_array_length(all); i--;) {
		a = json_object_object_get(json_object_array_get_idx(all, i), "alert");
		for (k = 0; same && k < ARRAY_SIZE(keys); k++)
			if (!json_object_equal(json_object_object_get(a, keys[k]),
					       json_object_object_get(same, keys[k])))
				break;
		if (same ? k < ARRAY_SIZE(keys) : seq && quiet_number(a, "seq", 0) != seq)
			continue;
		json_object_array_del_idx(all, i, 1);
		n++;
	}
	return n;
}

static int take_out(const struct ctx *ctx, struct json_object *root, void *arg)
{
	const u64 *seq = arg;

	if (drop(json_object_object_get(root, "acks"), *seq, NULL) || !*seq)
		return 0;
	return fail(ctx, "--remove: '#%llu': it is not acknowledged (see seepage ack)", *seq);
}

static int put_in(const struct ctx *ctx, struct json_object *root, void *arg)
{
	struct json_object *all = json_object_object_get(root, "acks"), *o = arg;

	drop(all, 0, json_object_object_get(o, "alert"));
	json_object_array_add(all, json_object_get(o));
	return 0;
}

/* The words of the text may be given without quotes. */
static void join(char *buf, size_t size, char **words, int n)
{
	*buf = '\0';
	for (; n--; words++)
		sentence_append(buf, size, "%s%s", *words, n ? " " : "");
}

static int add(struct ctx *ctx, int argc, char **argv)
{
	struct json_object *o, *alert = NULL;
	char text[2 * QUIET_TEXT], who[QUIET_TEXT + 1], said[6 * TEXT_MAX];
	int status;
	u64 seq;

	join(text, sizeof(text), argv + 1, argc - 1);
	status = quiet_alert_word(ctx, argv[0], &seq);
	if (status)
		return status;
	if (argc < 2)
		return usage(ctx, "'%.80s': TEXT is missing, which says what is done about it",
			     argv[0]);
	status = quiet_check_text(ctx, "TEXT", text) ?: quiet_check_text(ctx, "--by", by) ?:
		 quiet_alert(ctx, argv[0], from, &alert);
	if (status)
		return status;
	quiet_by(who, sizeof(who));
	o = json_object_new_object();
	json_object_object_add(o, "alert", alert);
	json_object_object_add(o, "text", json_object_new_string(text));
	json_object_object_add(o, "by", json_object_new_string(by ? by : who));
	json_object_object_add(o, "made_ns", json_object_new_uint64(clock_real_ns()));
	status = quiet_edit(ctx, put_in, o);
	if (!status && ctx->json) {
		add_times(o);
		out_json(ctx, json_object_get(o));
	} else if (!status) {
		quiet_ack_text(o, said, sizeof(said));
		out_printf("alert #%llu: acknowledged %s\n", quiet_number(alert, "seq", 0), said);
	}
	json_object_put(o);
	return status;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	u64 seq = 0;

	if (removed && (argc || by || from))
		return usage(ctx, "--remove: '%.80s': allowed without other words and options",
			     removed);
	if (removed && strcmp(removed, "all") && !quiet_alert_number(removed, &seq))
		return usage(ctx, "--remove: '%.80s': allowed N or '#N', the number of an alert, "
			     "or all", removed);
	if (removed)
		return quiet_edit(ctx, take_out, &seq);
	if (!argc && (by || from))
		return usage(ctx, "--%s: '%.80s': allowed with '#N' TEXT only", by ? "by" : "from",
			     by ? by : from);
	return argc ? add(ctx, argc, argv) : list(ctx);
}

const struct command cmd_ack = {
	TOOL_ACK,
	.more = "Without a word it lists what is acknowledged. notify then sends no more of this\n"
		"alert but its end, and what makes it worse.\n"
		"'#N' needs the quotes: a shell takes # for the start of a comment.",
	.opts = opts, .max = -1, .run = run,
};
