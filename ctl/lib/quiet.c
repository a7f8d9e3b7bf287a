// SPDX-License-Identifier: GPL-2.0
/*
 * Reads silences and acknowledgments, and finds those that fit a process. A file that cannot be
 * read holds nothing back: an alert too many is better than one that is lost.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "quiet/quiet.h"

#define BYTES_MAX	(1 << 20)
#define START_SLACK_S	5	/* ages of alerts are whole seconds; clocks are set */

/* The directory. SEEPAGE_STATE_DIR takes the place of /var/lib/seepage, for tests. */
bool quiet_path(char *buf, size_t size)
{
	const char *dir = secure_getenv("SEEPAGE_STATE_DIR");
	int n = snprintf(buf, size, "%s", dir && *dir ? dir : "/var/lib/seepage");

	return n > 0 && (size_t)n < size;
}

/* ---- the file ---- */

static bool is_list(const struct json_object *o, const char *key)
{
	return json_object_is_type(json_object_object_get(o, key), json_type_array);
}

/* Returns what is wrong with the file of @fd, NULL: nothing. @o: its object, owned */
static const char *read_object(int fd, struct json_object **o)
{
	struct json_tokener *tok = must(json_tokener_new());
	char *text = must(malloc(BYTES_MAX + 1));
	ssize_t n, len = 0;

	while ((n = read(fd, text + len, (size_t)(BYTES_MAX - len))) > 0)
		len += n;
	text[len] = '\0';
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	*o = n || len == BYTES_MAX ? NULL : json_tokener_parse_ex(tok, text, (int)len + 1);
	json_tokener_free(tok);
	free(text);
	if (n < 0)
		return strerror(errno);
	if (!json_object_is_type(*o, json_type_object))
		return "damaged: allowed is what seepage silence has written";
	if (quiet_number(*o, "version", 0) != QUIET_VERSION)
		return "of another version of seepage";
	return is_list(*o, "silences") && is_list(*o, "acks") ? NULL :
	       "damaged: a list is missing";
}

/*
 * Reads the files, unless that was done. Returns whether there is something new; then q->err and
 * q->policies.err say what is wrong with them.
 */
bool quiet_look(struct quiet *q)
{
	bool first = !q->file.looked, policies = policies_look(&q->policies);
	char path[PATH_MAX];
	const char *why;
	size_t n;
	int fd;

	if (!quiet_path(path, sizeof(path) - sizeof(QUIET_FILE) - 1))
		return policies;
	n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "/" QUIET_FILE);
	if (!quiet_file_open(&q->file, path, &fd, &why))
		return policies;
	json_object_put(q->o);
	q->o = NULL;
	*q->err = '\0';
	if (fd >= 0) {
		why = read_object(fd, &q->o);
		close(fd);
	}
	if (why) {
		json_object_put(q->o);
		q->o = NULL;
		snprintf(q->err, sizeof(q->err), "%.160s: %s", path, why);
	}
	return !first || q->o || *q->err || policies;
}

void quiet_free(struct quiet *q)
{
	json_object_put(q->o);
	policies_free(&q->policies);
	memset(q, 0, sizeof(*q));
}

/* ---- does it fit? ---- */

/* Is @alert about this process, or its group? The same rule as notify has for incidents. */
static bool is_of(const struct json_object *alert, const struct quiet_subject *s)
{
	s64 begun_s = (s64)quiet_number(alert, "begun_s", 0);
	bool of_group = json_object_get_boolean(json_object_object_get(alert, "of_group"));

	if (!s->instance || quiet_number(alert, "instance", 0) != s->instance ||
	    of_group != s->of_group)
		return false;
	if (of_group)
		return s->comm && quiet_string(alert, "comm") &&
		       !strcmp(quiet_string(alert, "comm"), s->comm) && s->has_uid &&
		       quiet_number(alert, "uid", UINT64_MAX) == s->uid &&
		       quiet_number(alert, "cgroup_id", 0) == s->cgroup_id;
	return quiet_number(alert, "pid", 0) == s->pid && begun_s <= s->begun_s + START_SLACK_S &&
	       begun_s >= s->begun_s - START_SLACK_S;
}

bool quiet_over(const struct json_object *silence, u64 now_ns)
{
	return quiet_number(silence, "until_ns", UINT64_MAX) <= now_ns;
}

static bool silences(const struct json_object *o, const struct quiet_subject *s)
{
	const struct json_object *alert = json_object_object_get(o, "alert");

	if (!quiet_string(o, "unit") && !quiet_string(o, "name") && !quiet_string(o, "cgroup") &&
	    quiet_number(o, "uid", UINT64_MAX) == UINT64_MAX && !alert)
		return false;	/* damaged: it would silence everything */
	return quiet_fits(o, s) && (!alert || is_of(alert, s));
}

/*
 * Returns the silence that fits and ends last, or a policy that ignores the subject. NULL: there
 * is neither
 */
struct json_object *quiet_silence(const struct quiet *q, const struct quiet_subject *s, u64 now_ns)
{
	struct json_object *list = json_object_object_get(q->o, "silences"), *found = NULL, *o;
	size_t i;

	for (i = 0; q->o && i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (quiet_over(o, now_ns) || !silences(o, s))
			continue;
		if (!found || quiet_number(o, "until_ns", UINT64_MAX) >
			      quiet_number(found, "until_ns", UINT64_MAX))
			found = o;
	}
	return found ? found : policies_ignoring(&q->policies, s);
}

/* Returns the acknowledgment of the alert that the process is under, or NULL. */
struct json_object *quiet_ack(const struct quiet *q, const struct quiet_subject *s)
{
	struct json_object *list = json_object_object_get(q->o, "acks"), *o;
	size_t i;

	for (i = 0; q->o && i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (is_of(json_object_object_get(o, "alert"), s))
			return o;
	}
	return NULL;
}

/* ---- in words ---- */

static void add(char *buf, size_t size, const char *what, const char *value)
{
	char safe[4 * QUIET_TEXT + 1];

	if (value)
		sentence_append(buf, size, "%s%s %s", *buf ? ", " : "", what,
				fmt_safe(safe, sizeof(safe), value, strlen(value)));
}

/* "unit nginx.service, uid 33" */
void quiet_subject_text(const struct json_object *silence, char *buf, size_t size)
{
	const struct json_object *alert = json_object_object_get(silence, "alert");
	u64 uid = quiet_number(silence, "uid", UINT64_MAX);
	char text[TEXT_MAX];

	*buf = '\0';
	if (alert) {
		snprintf(text, sizeof(text), "#%llu (%s %llu, %.64s)",
			 quiet_number(alert, "seq", 0),
			 json_object_get_boolean(json_object_object_get(alert, "of_group")) ?
			 "group of pid" : "pid", quiet_number(alert, "pid", 0),
			 quiet_string(alert, "comm") ?: "?");
		add(buf, size, "alert", text);
	}
	add(buf, size, "unit", quiet_string(silence, "unit"));
	add(buf, size, "name", quiet_string(silence, "name"));
	add(buf, size, "cgroup", quiet_string(silence, "cgroup"));
	snprintf(text, sizeof(text), "%llu", uid);
	add(buf, size, "uid", uid == UINT64_MAX ? NULL : text);
}

/* "by silence 3 until 2026-11-25 14:07:00: restart is planned", "by the policy of name cron" */
void quiet_silence_text(const struct json_object *silence, char *buf, size_t size)
{
	u64 until = quiet_number(silence, "until_ns", UINT64_MAX);
	u64 id = quiet_number(silence, "id", 0);
	const char *comment = quiet_string(silence, "comment");
	char text[4 * QUIET_TEXT + 1];

	if (json_object_object_get(silence, "ignore")) {
		policy_text(silence, text, sizeof(text));
		snprintf(buf, size, "by the policy of %s", text);
	} else if (until == UINT64_MAX) {
		snprintf(buf, size, "by silence %llu without an end", id);
	} else {
		snprintf(buf, size, "by silence %llu until %s", id,
			 fmt_time(text, sizeof(text), until));
	}
	if (comment)
		sentence_append(buf, size, ": %s",
				fmt_safe(text, sizeof(text), comment, strlen(comment)));
}

/* "by root at 2026-11-25 14:07:00: known, restart at night" */
void quiet_ack_text(const struct json_object *ack, char *buf, size_t size)
{
	const char *by = quiet_string(ack, "by"), *said = quiet_string(ack, "text");
	char text[4 * QUIET_TEXT + 1];

	snprintf(buf, size, "by %s at ", by ? fmt_safe(text, sizeof(text), by, strlen(by)) : "?");
	sentence_append(buf, size, "%s: ",
			fmt_time(text, sizeof(text), quiet_number(ack, "made_ns", 0)));
	said = said ? said : "";
	sentence_append(buf, size, "%s", fmt_safe(text, sizeof(text), said, strlen(said)));
}
