// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of units, names and cgroups: lists them, adds one, removes one, checks or applies a
 * file of them. notify follows them.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "policy/policy.h"
#include "tools.h"

static const char *unit, *name, *cgroup, *state, *growth, *limit, *comment;
static struct words units, names, cgroups;	/* as given, for the first three of them */
static bool ignore, replace;
static u64 confidence;

static const struct opt opts[] = {
	{ .name = "unit", .kind = OPT_WORDS, .dest = &units, .arg = "UNIT",
	  .help = "processes of this systemd unit, or of all that fit a pattern" },
	{ .name = "name", .kind = OPT_WORDS, .dest = &names, .arg = "NAME",
	  .help = "processes of this name, or of all that fit a pattern" },
	{ .name = "cgroup", .kind = OPT_WORDS, .dest = &cgroups, .arg = "PATH",
	  .help = "processes of this cgroup and of those below it" },
	{ .name = "ignore", .kind = OPT_FLAG, .dest = &ignore,
	  .help = "add: tell nobody of their alerts" },
	{ .name = "confidence", .kind = OPT_NUMBER, .dest = &confidence, .arg = "N", .min = 1,
	  .max = 100, .help = "add: tell of an alert from this confidence on" },
	{ .name = "state", .kind = OPT_STRING, .dest = &state, .arg = "STATE",
	  .help = "add: from this state on: " POLICY_STATES },
	{ .name = "growth", .kind = OPT_STRING, .dest = &growth, .arg = "SIZE/h",
	  .help = "add: from this growth on, as 20M/h" },
	{ .name = "limit", .kind = OPT_STRING, .dest = &limit, .arg = "SIZE",
	  .help = "add: tell when their memory is near this size or beyond it" },
	{ .name = "comment", .kind = OPT_STRING, .dest = &comment, .arg = "TEXT",
	  .help = "add: why, for those that see it in a list" },
	{ .name = "replace", .kind = OPT_FLAG, .dest = &replace,
	  .help = "add: in place of the policy that is there" },
	{ .name = NULL }
};

static void add_text(struct json_object *o, const char *key, const char *text)
{
	if (text)
		json_object_object_add(o, key, json_object_new_string(text));
}

/* Adds what a command line names. Returns an exit status. */
static int add_subject(const struct ctx *ctx, struct json_object *o)
{
	char text[QUIET_TEXT + sizeof(".service")];

	if (!unit && !name && !cgroup)
		return usage(ctx, "what it is for is missing: allowed one of --unit UNIT, "
			     "--name NAME, --cgroup PATH");
	if (!!unit + !!name + !!cgroup != 1)
		return usage(ctx, "--%s: '%.80s': not allowed with --%s",
			     cgroup ? "cgroup" : "name", cgroup ? cgroup : name,
			     unit ? "unit" : "name");
	if (unit && *unit && quiet_unit_name(ctx, text, sizeof(text), unit))
		return EXIT_USAGE;
	add_text(o, "unit", unit && *unit ? text : unit);
	add_text(o, "name", name);
	add_text(o, "cgroup", cgroup);
	return 0;
}

static int add_size(const struct ctx *ctx, struct json_object *o, const char *key,
		    const char *option, const char *word)
{
	bool hourly = word && !strcmp(option, "--growth");
	char text[32];
	u64 bytes;

	if (!word)
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)strlen(word) - (hourly ? 2 : 0), word);
	if ((hourly && !quiet_ends_in(word, "/h")) || !parse_size(text, &bytes) ||
	    bytes < POLICY_SIZE_MIN || bytes > POLICY_SIZE_MAX)
		return usage(ctx, "%s: '%.80s': allowed " POLICY_SIZE "%s", option, word,
			     hourly ? ", with /h behind it" : "");
	json_object_object_add(o, key, json_object_new_uint64(bytes));
	return 0;
}

static bool is_of(struct json_object *o, struct json_object *wanted)
{
	const char *value = NULL, *kind = policy_subject(wanted, &value), *have;

	have = kind ? quiet_string(o, kind) : NULL;
	return have && !strcmp(have, value);
}

/* Returns the index of the policy with the same subject, that of the end: there is none. */
static size_t find(struct json_object *list, struct json_object *wanted)
{
	size_t i, n = json_object_array_length(list);

	for (i = 0; i < n; i++)
		if (is_of(json_object_array_get_idx(list, i), wanted))
			break;
	return i;
}

/* ---- add, del ---- */

static int put_in(const struct ctx *ctx, struct json_object *list, void *arg)
{
	size_t i = find(list, arg), n = json_object_array_length(list);
	char text[6 * QUIET_TEXT];

	policy_text(arg, text, sizeof(text));
	if (i < n && !replace)
		return fail(ctx, "%s: it has a policy already: allowed with --replace", text);
	if (i == n && n >= POLICY_MOST)
		return fail(ctx, "there are %d policies already: allowed are no more",
			    POLICY_MOST);
	json_object_array_put_idx(list, i, json_object_get(arg));
	return 0;
}

static int take_out(const struct ctx *ctx, struct json_object *list, void *arg)
{
	size_t i = find(list, arg);
	char text[6 * QUIET_TEXT];

	policy_text(arg, text, sizeof(text));
	if (i == json_object_array_length(list))
		return fail(ctx, "%s: it has no policy (see seepage policy)", text);
	json_object_array_del_idx(list, i, 1);
	return 0;
}

/*
 * Checks the policy of a command line as one of a file: only texts can still be wrong there. The
 * error names the word as an option.
 */
static int check(const struct ctx *ctx, struct json_object *o)
{
	struct json_object *root = json_object_new_object(), *list = json_object_new_array(), *got;
	static const char before[] = "policies[0]: ";
	char err[CONF_ERR_MAX];
	const char *text, *at;

	json_object_object_add(root, "version", json_object_new_int(POLICY_VERSION));
	json_object_array_add(list, json_object_get(o));
	json_object_object_add(root, "policies", list);
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE);
	got = policies_parse(text, strlen(text), err, sizeof(err));
	json_object_put(root);
	if (got) {
		json_object_put(got);
		return 0;
	}
	at = strncmp(err, before, sizeof(before) - 1) ? err : err + sizeof(before) - 1;
	return usage(ctx, "--%s", at);
}

/* "unit shop.service: policy added" */
static void confirm(const struct ctx *ctx, struct json_object *o, const char *done)
{
	char text[6 * QUIET_TEXT];

	policy_text(o, text, sizeof(text));
	if (!ctx->json)
		out_printf("%s: policy %s\n", text, done);
}

static int add(struct ctx *ctx)
{
	struct json_object *o = json_object_new_object();
	int status = add_subject(ctx, o);

	if (!status && !ignore && !confidence && !state && !growth && !limit)
		status = usage(ctx, "add: what it says is missing: allowed --ignore, "
			       "--confidence N, --state STATE, --growth SIZE/h, --limit SIZE");
	if (ignore)
		json_object_object_add(o, "ignore", json_object_new_boolean(true));
	if (confidence)
		json_object_object_add(o, "confidence", json_object_new_uint64(confidence));
	add_text(o, "state", state);
	status = status ?: add_size(ctx, o, "growth_bytes_per_hour", "--growth", growth) ?:
		 add_size(ctx, o, "limit_bytes", "--limit", limit);
	add_text(o, "comment", comment);
	status = status ?: check(ctx, o) ?: policy_edit(ctx, put_in, o);
	if (!status)
		confirm(ctx, o, "added");
	json_object_put(o);
	return status;
}

/* An option of add that was given, NULL: none. */
static const char *option_of_add(void)
{
	const struct { const char *name; bool given; } all[] = {
		{ "ignore", ignore }, { "confidence", confidence }, { "state", state },
		{ "growth", growth }, { "limit", limit }, { "comment", comment },
		{ "replace", replace },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

static const char *option_of_subject(void)
{
	return unit ? "unit" : name ? "name" : cgroup ? "cgroup" : NULL;
}

static int del(struct ctx *ctx)
{
	struct json_object *o = json_object_new_object();
	int status;

	if (option_of_add())
		status = usage(ctx, "del: '--%s': allowed --unit, --name, --cgroup",
			       option_of_add());
	else
		status = add_subject(ctx, o) ?: policy_edit(ctx, take_out, o);
	if (!status)
		confirm(ctx, o, "removed");
	json_object_put(o);
	return status;
}

/* ---- check, apply ---- */

static int file(struct ctx *ctx, const char *path, bool apply)
{
	char err[CONF_ERR_MAX], *text;
	struct json_object *list;
	int status = 0;
	size_t len;

	text = policy_read_file(path, &len);
	if (!text)
		return fail(ctx, "%s: %s", path, strerror(errno));
	list = policies_parse(text, len, err, sizeof(err));
	free(text);
	if (!list)
		return fail(ctx, "%s: %s", path, err);
	if (apply)
		status = policy_replace(ctx, list);
	json_object_put(list);
	return status;
}

/* ---- list ---- */

/* "state confirmed, confidence 90, 20 MB/h" */
static void when_text(struct json_object *o, char *buf, size_t size)
{
	u64 rate = quiet_number(o, "growth_bytes_per_hour", 0);
	u64 at = quiet_number(o, "confidence", 0);
	char text[FIGURE_MAX];

	*buf = '\0';
	if (json_object_object_get(o, "ignore"))
		sentence_append(buf, size, "never, ");
	if (quiet_string(o, "state"))
		sentence_append(buf, size, "state %s, ", quiet_string(o, "state"));
	if (at)
		sentence_append(buf, size, "confidence %llu, ", at);
	if (rate)
		sentence_append(buf, size, "%s, ", fmt_growth(text, sizeof(text), (s64)rate));
	if (*buf)
		buf[strlen(buf) - 2] = '\0';
	else
		snprintf(buf, size, "always");
}

/* Of several processes of a name, the largest one */
static const struct policy_use *use_of(const struct policy_rows *rows,
				       const struct json_object *policy)
{
	static const struct policy_use none;
	const struct policy_use *use = &none;
	size_t i;

	for (i = 0; i < rows->n; i++)
		if (rows->v[i].policy == policy && rows->v[i].use.bytes >= use->bytes)
			use = &rows->v[i].use;
	return use;
}

static void list_cells(struct table *t, struct json_object *o, const struct policy_use *use)
{
	const char *said = quiet_string(o, "comment");
	u64 most = quiet_number(o, "limit_bytes", 0), left;
	char text[6 * QUIET_TEXT];

	policy_text(o, text, sizeof(text));
	table_cell(t, text);
	when_text(o, text, sizeof(text));
	table_cell(t, text);
	table_cell(t, most ? fmt_bytes(text, sizeof(text), most) : "-");
	table_cell(t, most ? fmt_bytes(text, sizeof(text), use->bytes) : "-");
	table_cell(t, most && use->has_growth ? fmt_growth(text, sizeof(text), use->growth) : "-");
	left = policy_left_s(most, use);
	table_cell(t, !most || left == UINT64_MAX ? "-" : !left ? "exceeded" :
		   fmt_seconds(text, sizeof(text), left));
	table_cell(t, said ? fmt_safe(text, sizeof(text), said, strlen(said)) : "-");
}

static void add_number(struct json_object *o, const char *key, bool known, u64 v)
{
	json_object_object_add(o, key, known ? json_object_new_uint64(v) : NULL);
}

static struct json_object *list_json(struct json_object *policy, const struct policy_use *use)
{
	u64 most = quiet_number(policy, "limit_bytes", 0), left = policy_left_s(most, use);
	struct json_object *o = json_object_new_object();

	json_object_object_foreach(policy, key, v) {
		json_object_object_add(o, key, json_object_get(v));
	}
	add_number(o, "processes", most, use->processes);
	add_number(o, "memory_bytes", most, use->bytes);
	json_object_object_add(o, "memory_growth_bytes_per_hour", most && use->has_growth ?
			       json_object_new_int64(use->growth) : NULL);
	add_number(o, "limit_seconds", most && left != UINT64_MAX, left);
	return o;
}

static int list(const struct ctx *ctx)
{
	static const char *const heads[] = { "WHAT", "TOLD FROM", "LIMIT", "NOW", "GROWTH", "LEFT",
					     "COMMENT" };
	static const bool right[] = { false, false, true, true, true, true, false };
	struct json_object *out = json_object_new_array(), *o;
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	struct policy_rows rows = { 0 };
	struct policies p = { 0 };
	int status;
	size_t i;

	policies_look(&p);
	status = *p.err ? fail(ctx, "%s", p.err) : 0;
	policy_measure(&p, true, &rows);
	for (i = 0; p.o && i < json_object_array_length(p.o); i++) {
		o = json_object_array_get_idx(p.o, i);
		list_cells(t, o, use_of(&rows, o));
		json_object_array_add(out, list_json(o, use_of(&rows, o)));
	}
	status = quiet_show(ctx, status, t, out);
	policy_rows_free(&rows);
	policies_free(&p);
	return status;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	int status = quiet_once(ctx, "unit", &units, &unit) ?:
		     quiet_once(ctx, "name", &names, &name) ?:
		     quiet_once(ctx, "cgroup", &cgroups, &cgroup);
	const char *verb = argc ? argv[0] : "list";
	const char *given = option_of_subject() ?: option_of_add();
	bool takes_file = !strcmp(verb, "check") || !strcmp(verb, "apply");
	bool changes = !strcmp(verb, "add") || !strcmp(verb, "del");

	if (status)
		return status;
	if (!takes_file && !changes && strcmp(verb, "list"))
		return usage(ctx, "'%.80s': allowed list, add, del, check, apply", verb);
	if (takes_file && argc != 2)
		return usage(ctx, "%s: FILE is missing", verb);
	if (!takes_file && argc > 1)
		return usage(ctx, "%s: '%.80s': allowed %s", verb, argv[1], changes ?
			     "--unit UNIT, --name NAME, --cgroup PATH" : "no other word");
	if (given && !changes)
		return usage(ctx, "%s: '--%s': allowed without options", verb, given);
	if (takes_file)
		return file(ctx, argv[1], *verb == 'a');
	return !changes ? list(ctx) : *verb == 'a' ? add(ctx) : del(ctx);
}

const struct command cmd_policy = {
	TOOL_POLICY,
	.more = "VERB is list, add, del, check FILE or apply FILE; without one it lists. notify\n"
		"follows policies: what is ignored or has not reached a threshold is held back,\n"
		"and told once it does. A limit is told of whether there is an alert or not.",
	.opts = opts, .max = 2, .run = run,
};
