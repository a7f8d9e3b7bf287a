// SPDX-License-Identifier: GPL-2.0
/*
 * Holds notifications back: lists silences, adds one, removes one. The module is asked only for
 * the alert that a silence is about.
 */
#include <stdlib.h>
#include <string.h>
#include "quiet/quiet.h"
#include "tools.h"

static const char *unit, *name, *user, *cgroup, *for_, *until, *comment, *by, *removed, *from;
static struct words units, names, uids, users, cgroups;	/* as given, for the first four of them */
static bool forever;

static const struct opt opts[] = {
	{ .name = "unit", .kind = OPT_WORDS, .dest = &units, .arg = "UNIT",
	  .help = "processes of this systemd unit, or of all that fit a pattern" },
	{ .name = "name", .kind = OPT_WORDS, .dest = &names, .arg = "NAME",
	  .help = "processes of this name, or of all that fit a pattern" },
	{ .name = "uid", .kind = OPT_WORDS, .dest = &uids, .arg = "USER",
	  .help = "processes of this user, by uid or name" },
	{ .name = "user", .kind = OPT_WORDS, .dest = &users, .arg = "USER",
	  .help = "the same as --uid" },
	{ .name = "cgroup", .kind = OPT_WORDS, .dest = &cgroups, .arg = "PATH",
	  .help = "processes of this cgroup and of those below it" },
	{ .name = "for", .kind = OPT_STRING, .dest = &for_, .arg = "DURATION",
	  .help = "it ends after this time, as 90s, 30m, 2h, 1d12h, 4w" },
	{ .name = "until", .kind = OPT_STRING, .dest = &until, .arg = "TIME",
	  .help = "it ends at this time, as 18:00, 2026-12-24, 2026-12-24T18:00" },
	{ .name = "forever", .kind = OPT_FLAG, .dest = &forever,
	  .help = "it ends when it is removed" },
	{ .name = "comment", .kind = OPT_STRING, .dest = &comment, .arg = "TEXT",
	  .help = "why, for those that see it in a list" },
	{ .name = "by", .kind = OPT_STRING, .dest = &by, .arg = "NAME",
	  .help = "whose silence it is (the user that has logged in)" },
	{ .name = "remove", .kind = OPT_STRING, .dest = &removed, .arg = "ID",
	  .help = "remove the silence with this number, or all" },
	{ .name = "from", .kind = OPT_STRING, .dest = &from, .arg = "FILE",
	  .help = "look for alert '#N' in FILE, which watch -j has printed" },
	{ .name = NULL }
};

/* ---- the user ---- */

/* "unit nginx.service, uid 33 (www-data)": quiet_subject_text() ends with the uid */
static void subject_text(const struct json_object *o, char *buf, size_t size)
{
	const char *s = quiet_user_name(quiet_number(o, "uid", UINT64_MAX));
	char text[TEXT_MAX];

	quiet_subject_text(o, buf, size);
	if (s)
		sentence_append(buf, size, " (%s)", fmt_safe(text, sizeof(text), s, strlen(s)));
}

/* Adds what a list has and the file has not: names change, and times are there already. */
static void add_for_people(struct json_object *o)
{
	quiet_add_user(o);
	json_add_utc_of(o, "made_ns");
	json_add_utc_of(o, "until_ns");
	json_add_utc_of(json_object_object_get(o, "alert"), "time_ns");
}

/* ---- list ---- */

static void list_cells(struct table *t, const struct json_object *o, u64 now)
{
	u64 end = quiet_number(o, "until_ns", UINT64_MAX);
	const char *s = quiet_string(o, "comment");
	char text[6 * TEXT_MAX];

	snprintf(text, sizeof(text), "%llu", quiet_number(o, "id", 0));
	table_cell(t, text);
	subject_text(o, text, sizeof(text));
	table_cell(t, text);
	table_cell(t, end == UINT64_MAX ? "-" : fmt_time(text, sizeof(text), end));
	table_cell(t, end == UINT64_MAX ? "-" :
		   fmt_seconds(text, sizeof(text), (end - now) / QUIET_NS));
	table_cell(t, quiet_string(o, "by") ? quiet_string(o, "by") : "-");
	table_cell(t, s ? fmt_safe(text, sizeof(text), s, strlen(s)) : "-");
}

static int list(const struct ctx *ctx)
{
	static const char *const heads[] = { "ID", "WHAT", "UNTIL", "LEFT", "BY", "COMMENT" };
	static const bool right[] = { true, false, false, true, false, false };
	struct json_object *out = json_object_new_array(), *all, *o;
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	struct quiet q = { 0 };
	u64 now = clock_real_ns();
	int status = quiet_read(ctx, &q);
	size_t i;

	all = json_object_object_get(q.o, "silences");
	for (i = 0; q.o && i < json_object_array_length(all); i++) {
		o = json_object_array_get_idx(all, i);
		if (quiet_over(o, now))
			continue;
		list_cells(t, o, now);
		add_for_people(o);
		json_object_array_add(out, json_object_get(o));
	}
	status = quiet_show(ctx, status, t, out);
	quiet_free(&q);
	return status;
}

/* ---- remove ---- */

struct removal {
	u64 id;		/* 0: all */
	u64 n;
};

static int take_out(const struct ctx *ctx, struct json_object *root, void *arg)
{
	struct json_object *all = json_object_object_get(root, "silences");
	struct removal *r = arg;
	size_t i;

	for (i = json_object_array_length(all); i--;) {
		if (r->id && quiet_number(json_object_array_get_idx(all, i), "id", 0) != r->id)
			continue;
		json_object_array_del_idx(all, i, 1);
		r->n++;
	}
	return r->n || !r->id ? 0 :
	       fail(ctx, "--remove: '%llu': there is no such silence (see seepage silence)", r->id);
}

static int remove_silences(struct ctx *ctx)
{
	struct removal r = { 0 };

	if (strcmp(removed, "all") && (!parse_u64(removed, &r.id) || !r.id))
		return usage(ctx, "--remove: '%.80s': allowed the number of a silence, or all",
			     removed);
	return quiet_edit(ctx, take_out, &r);
}

/* ---- add ---- */

static int add_uid(const struct ctx *ctx, struct json_object *o)
{
	u64 uid;

	if (!user)
		return 0;
	if (parse_user(ctx, users.n ? "--user" : "--uid", user, &uid))
		return EXIT_USAGE;
	json_object_object_add(o, "uid", json_object_new_uint64(uid));
	return 0;
}

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, text ? json_object_new_string(text) : NULL);
}

/* All keys, in the order of a list; what is not given stays null. */
static struct json_object *new_silence(void)
{
	static const char *const keys[] = { "id", "unit", "name", "uid", "cgroup", "alert",
					    "comment", "by", "made_ns", "until_ns" };
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_object_add(o, keys[i], NULL);
	return o;
}

static int add_unit(const struct ctx *ctx, struct json_object *o)
{
	char text[QUIET_TEXT + sizeof(".service")];

	if (!unit)
		return 0;
	if (quiet_unit_name(ctx, text, sizeof(text), unit))
		return EXIT_USAGE;
	add_text(o, "unit", text);
	return 0;
}

/* Returns an exit status. */
static int add_end(const struct ctx *ctx, struct json_object *o, u64 now)
{
	u64 v = 0;

	if (!for_ && !until && !forever)
		return usage(ctx, "its end is missing: allowed one of --for DURATION, --until "
			     "TIME, --forever");
	if (forever && (for_ || until))
		return usage(ctx, "--%s: '%.80s': not allowed with --forever",
			     for_ ? "for" : "until", for_ ? for_ : until);
	if (for_ && until)
		return usage(ctx, "--for: '%.80s': not allowed with --until", for_);
	if (for_ && !quiet_duration(for_, &v))
		return usage(ctx, "--for: '%.80s': allowed " QUIET_FOR, for_);
	if (until && !quiet_time(until, now / QUIET_NS, &v))
		return usage(ctx, "--until: '%.80s': allowed " QUIET_UNTIL, until);
	v = for_ ? now + v * QUIET_NS : v * QUIET_NS;
	json_object_object_add(o, "made_ns", json_object_new_uint64(now));
	json_object_object_add(o, "until_ns", forever ? NULL : json_object_new_uint64(v));
	return 0;
}

static int check_texts(const struct ctx *ctx)
{
	int status = quiet_check_text(ctx, "--unit", unit) ?:
		     quiet_check_text(ctx, "--name", name) ?:
		     quiet_check_text(ctx, "--cgroup", cgroup) ?:
		     quiet_check_text(ctx, "--comment", comment) ?:
		     quiet_check_text(ctx, "--by", by);

	if (!status && cgroup && *cgroup != '/')
		status = usage(ctx, "--cgroup: '%.80s': allowed a path that begins with /, as "
			       "seepage -j ps has it", cgroup);
	if (!status && name && strlen(name) >= SEEPAGE_COMM_LEN && !strpbrk(name, "*?["))
		status = usage(ctx, "--name: '%.80s': allowed 1 to %d bytes, which is what the "
			       "kernel keeps, or a pattern", name, SEEPAGE_COMM_LEN - 1);
	return status;
}

static int put_in(const struct ctx *ctx, struct json_object *root, void *arg)
{
	struct json_object *all = json_object_object_get(root, "silences"), *o = arg;
	u64 id = quiet_number(root, "next_id", 1);

	if (json_object_array_length(all) >= QUIET_SILENCES)
		return fail(ctx, "there are %d silences already: allowed are no more",
			    QUIET_SILENCES);
	json_object_object_add(o, "id", json_object_new_uint64(id));
	json_object_object_add(root, "next_id", json_object_new_uint64(id + 1));
	json_object_array_add(all, json_object_get(o));
	return 0;
}

static void say_added(const struct ctx *ctx, struct json_object *o)
{
	char what[6 * TEXT_MAX], end[6 * TEXT_MAX];

	if (ctx->json) {
		add_for_people(o);
		out_json(ctx, json_object_get(o));
		return;
	}
	subject_text(o, what, sizeof(what));
	quiet_silence_text(o, end, sizeof(end));
	out_printf("%s: silenced %s\n", what, end);
}

/* Is there a word or an option that says what is silenced? Returns an exit status. */
static int check_subject(const struct ctx *ctx, const char *word)
{
	u64 seq;

	if (word)
		return quiet_alert_word(ctx, word, &seq);
	if (unit || name || user || cgroup)
		return 0;
	return usage(ctx, "what to silence is missing: allowed '#N' in quotes, --unit, --name, "
		     "--user, --cgroup");
}

static int add(struct ctx *ctx, const char *word)
{
	struct json_object *o = new_silence(), *alert = NULL;
	char who[QUIET_TEXT + 1];
	int status = check_subject(ctx, word) ?: check_texts(ctx) ?:
		     add_end(ctx, o, clock_real_ns()) ?: add_uid(ctx, o) ?: add_unit(ctx, o);

	if (!status && word)
		status = quiet_alert(ctx, word, from, &alert);
	if (!status) {
		add_text(o, "name", name);
		add_text(o, "cgroup", cgroup);
		json_object_object_add(o, "alert", alert);
		add_text(o, "comment", comment);
		quiet_by(who, sizeof(who));
		add_text(o, "by", by ? by : who);
		status = quiet_edit(ctx, put_in, o);
	}
	if (!status)
		say_added(ctx, o);
	json_object_put(o);
	return status;
}

/* Returns an exit status. */
static int once_user(const struct ctx *ctx)
{
	const char *uid;
	int status = quiet_once(ctx, "uid", &uids, &uid) ?: quiet_once(ctx, "user", &users, &user);

	if (!status && uid && user)
		status = usage(ctx, "--user: '%.80s': not allowed with --uid, which is the same",
			       user);
	user = user ? user : uid;
	return status;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	int status = quiet_once(ctx, "unit", &units, &unit) ?:
		     quiet_once(ctx, "name", &names, &name) ?:
		     once_user(ctx) ?:
		     quiet_once(ctx, "cgroup", &cgroups, &cgroup);
	bool options = unit || name || user || cgroup || for_ || until || forever || comment ||
		       by || from;
	bool lists = argc && !strcmp(argv[0], "list"), adds = (argc && !lists) || options;

	if (status)
		return status;
	if (lists && (options || removed))
		return usage(ctx, "list: allowed without options");
	if (removed && adds)
		return usage(ctx, "--remove: '%.80s': allowed without other words and options",
			     removed);
	if (removed)
		return remove_silences(ctx);
	return adds ? add(ctx, argc ? argv[0] : NULL) : list(ctx);
}

const struct command cmd_silence = {
	TOOL_SILENCE,
	.more = "Without a word, or with list, it lists the silences. What is named has to fit\n"
		"as a whole.\n"
		"The module goes on raising alerts, and alerts and watch show them: notify holds\n"
		"them back, and delivers those that still stand when the silence ends.\n"
		"'#N' needs the quotes: a shell takes # for the start of a comment.",
	.opts = opts, .max = 1, .run = run,
};
