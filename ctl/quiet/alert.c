// SPDX-License-Identifier: GPL-2.0
/*
 * The alert with a number: from the module, or from a file of what `watch -j` printed. What is
 * kept of it tells its process, or its group, from all others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "quiet/quiet.h"

#define LINE_MAX_LEN	(1 << 20)

static void put_number(struct json_object *o, const char *key, u64 v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

/* Fills @o from an alert as watch -j prints it. Returns false if it is not number @seq. */
static bool from_json(const struct json_object *a, u64 seq, struct json_object *o)
{
	static const char *const numbers[] = { "instance", "seq", "time_ns", "pid", "uid",
					       "cgroup_id" };
	static const char *const strings[] = { "state", "comm" };
	const char *subject = quiet_string(a, "subject");
	u64 began = quiet_number(a, "time_ns", 0) / QUIET_NS - quiet_number(a, "age_seconds", 0);
	size_t i;

	if (quiet_number(a, "seq", 0) != seq || !quiet_number(a, "instance", 0) ||
	    !quiet_number(a, "pid", 0) || !quiet_string(a, "state"))
		return false;
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		put_number(o, numbers[i], quiet_number(a, numbers[i], 0));
	for (i = 0; i < ARRAY_SIZE(strings); i++)
		json_object_object_add(o, strings[i],
				       json_object_get(json_object_object_get(a, strings[i])));
	put_number(o, "begun_s", began);
	json_object_object_add(o, "of_group",
			       json_object_new_boolean(subject && !strcmp(subject, "group")));
	return true;
}

/* Of alerts with the same number, as of several loads of the module, the last one counts. */
static int find_in_file(const struct ctx *ctx, const char *path, u64 seq, struct json_object **o)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct json_object *a, *made;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int err;

	*o = NULL;
	if (!f)
		return fail(ctx, "--from: '%s': %s", path, strerror(errno));
	while ((n = getline(&line, &size, f)) > 0) {
		a = n < LINE_MAX_LEN ? json_tokener_parse(line) : NULL;
		made = json_object_new_object();
		if (json_object_is_type(a, json_type_object) && from_json(a, seq, made)) {
			json_object_put(*o);
			*o = made;
		} else {
			json_object_put(made);
		}
		json_object_put(a);
	}
	err = ferror(f) ? errno : 0;
	free(line);
	if (f != stdin)
		fclose(f);
	if (err) {
		json_object_put(*o);
		*o = NULL;
		return fail(ctx, "--from: '%s': %s", path, strerror(err));
	}
	return *o ? 0 : fail(ctx, "alert #%llu is not in %s", seq, path);
}

static int find_in_module(const struct ctx *ctx, u64 seq, struct json_object **o)
{
	struct nlmsghdr *nlh = NULL;
	struct message msg;
	struct place place;
	struct json_object *a;
	struct knl k;
	int err, status = 0;

	if (query_open(ctx, &k))
		return 1;
	err = query_alert(&k, seq, &nlh);
	if (err == -ENOENT) {
		status = fail(ctx, "alert #%llu is not held (see seepage alerts)", seq);
	} else if (err < 0 || msg_parse(&msg, nlh)) {
		status = knl_fail(ctx, &k, NEEDS_READ);
	} else {
		place_find(&msg, false, &place);
		a = json_alert(&msg, &place);
		*o = json_object_new_object();
		from_json(a, seq, *o);
		json_object_put(a);
		place_free(&place);
	}
	free(nlh);
	knl_close(&k);
	return status;
}

/* Parses "#N" or N: where no pid is allowed, a shell need not see the #. */
bool quiet_alert_number(const char *word, u64 *seq)
{
	return parse_alert(word, seq) || (parse_u64(word, seq) && *seq);
}

/* Is @word the number of an alert? Returns 0 with *@seq, or EXIT_USAGE after printing an error. */
int quiet_alert_word(const struct ctx *ctx, const char *word, u64 *seq)
{
	bool silence = !strcmp(ctx->cmd, "silence");

	if (quiet_alert_number(word, seq))
		return 0;
	return usage(ctx, "'%.80s': allowed N or '#N', the number of an alert%s%.80s", word,
		     silence ? "; a unit: --unit " : "", silence ? word : "");
}

/*
 * @word: "#N" or N; @from: a file, NULL: the module. The caller drops @o. Returns an exit status,
 * not 0 also for an alert that says that it has ended.
 */
int quiet_alert(struct ctx *ctx, const char *word, const char *from, struct json_object **o)
{
	const char *state;
	int status;
	u64 seq;

	if (quiet_alert_word(ctx, word, &seq))
		return EXIT_USAGE;
	status = from ? find_in_file(ctx, from, seq, o) : find_in_module(ctx, seq, o);
	if (status)
		return status;
	state = quiet_string(*o, "state");
	if (!state || (strcmp(state, "recovered") && strcmp(state, "exited")))
		return 0;
	fail(ctx, "alert #%llu: '%s': allowed is an alert that stands", seq, state);
	json_object_put(*o);
	*o = NULL;
	return 1;
}
