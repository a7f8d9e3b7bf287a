// SPDX-License-Identifier: GPL-2.0
/*
 * An alert as `watch -j` prints it, and what every receiver needs in addition: an id that
 * no other alert has, the host, a sentence, the severity as a word.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "notify/notify.h"

#define DEPTH_MAX	32

const char *alert_host(void)
{
	static char host[256];

	if (!*host && (gethostname(host, sizeof(host) - 1) || !*host))
		snprintf(host, sizeof(host), "localhost");
	return host;
}

/* Fills @a from an object; it takes over the reference. */
void alert_of(struct json_object *o, struct alert *a)
{
	const char *subject = quiet_string(o, "subject");

	memset(a, 0, sizeof(*a));
	a->o = o;
	a->instance = quiet_number(o, "instance", 0);
	a->seq = quiet_number(o, "seq", 0);
	a->time_ns = quiet_number(o, "time_ns", 0);
	a->pid = quiet_number(o, "pid", 0);
	a->confidence = quiet_number(o, "confidence", 0);
	a->severity = quiet_number(o, "severity", 0);
	a->begun_s = (s64)(a->time_ns / 1000000000) - (s64)quiet_number(o, "age_seconds", 0);
	a->state = quiet_string(o, "state");
	a->of_group = subject && !strcmp(subject, "group");
	a->limit = subject && !strcmp(subject, "limit") ? quiet_string(o, "limit_of") : NULL;
	a->ends = a->state && (!strcmp(a->state, "recovered") || !strcmp(a->state, "exited") ||
			       (a->limit && !strcmp(a->state, "limit_ended")));
}

/* Is it the limit of a name? Unit and cgroup are those of its largest process then. */
bool alert_of_name(const struct alert *a)
{
	return a->limit && !strncmp(a->limit, "name ", 5);
}

static struct json_object *parse(const char *line, size_t len, char *err, size_t size)
{
	struct json_tokener *tok = must(json_tokener_new_ex(DEPTH_MAX));
	struct json_object *o;

	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, line, (int)len + 1);
	if (json_tokener_get_error(tok) != json_tokener_success) {
		snprintf(err, size, "not JSON: %s",
			 json_tokener_get_error(tok) == json_tokener_continue ?
			 "the line ends too early" :
			 json_tokener_error_desc(json_tokener_get_error(tok)));
		o = NULL;
	} else if (!json_object_is_type(o, json_type_object)) {
		snprintf(err, size, "not a JSON object");
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	return o;
}

/*
 * Parses a line of @len characters that a NUL follows. Of LINE_LOST only @a->seq is set: how
 * many alerts were lost. @err: for LINE_BAD, the reason.
 */
enum alert_line alert_parse(const char *line, size_t len, struct alert *a, char *err, size_t size)
{
	struct json_object *o = parse(line, len, err, size), *range;

	if (!o)
		return LINE_BAD;
	range = json_object_object_get(o, "lost");
	if (json_object_is_type(range, json_type_object)) {
		memset(a, 0, sizeof(*a));
		a->seq = quiet_number(range, "to", 0) - quiet_number(range, "from", 1) + 1;
		json_object_put(o);
		return LINE_LOST;
	}
	alert_of(o, a);
	if (a->instance && a->seq && a->pid && a->state &&
	    state_from_name(a->state, strlen(a->state)) >= 0)
		return LINE_ALERT;
	snprintf(err, size,
		 "no alert: it needs instance, seq, pid and state, as watch -j prints them");
	json_object_put(o);
	return LINE_BAD;
}

static const char *severity_word(u64 severity)
{
	for (; severity; severity--)
		if (severity_name((unsigned int)severity))
			return severity_name((unsigned int)severity);
	return "none";
}

static void append_where(const struct json_object *o, char *buf, size_t size)
{
	const char *unit = quiet_string(o, "unit"), *runtime = quiet_string(o, "runtime");
	const char *container = quiet_string(o, "container");
	size_t left, most;

	if (runtime && container) {
		sentence_append(buf, size, " in %s ", runtime);
		left = size - strlen(buf);
		most = unit_is_id(container) ? CONTAINER_ID_SHOWN + 1 : left;
		fmt_safe(buf + strlen(buf), most < left ? most : left, container,
			 strlen(container));
		container_append(o, buf, size);
	} else if (unit) {
		sentence_append(buf, size, " in %s", unit);
	}
}

/* What else grows below the same limit counts for the time that is left. */
static void append_shares(const struct json_object *o, char *buf, size_t size)
{
	u64 others = quiet_number(o, "shares_with", 0);
	u64 growth = quiet_number(o, "shared_growth_bytes_per_hour", 0);
	char text[FIGURE_MAX];

	if (others && growth)
		sentence_append(buf, size, " with %llu other process%s, +%s/h in all", others,
				others == 1 ? "" : "es", fmt_bytes(text, sizeof(text), growth));
}

/*
 * Says how the process of an alert ended, in the words that `watch` prints; nothing if that is not
 * known. Returns @buf.
 */
const char *alert_end_text(const struct json_object *o, char *buf, size_t size)
{
	const struct json_object *end = json_object_object_get(o, "end"), *now = end;
	u64 code, number, id;
	const char *kind, *path;

	*buf = '\0';
	end = end ? end : json_object_object_get(o, "last_end");
	kind = quiet_string(end, "kind");
	path = quiet_string(end, "oom_cgroup");
	code = quiet_number(end, "code", UINT64_MAX);
	number = quiet_number(end, "signal", UINT64_MAX);
	id = quiet_number(end, "oom_cgroup_id", UINT64_MAX);
	if (!kind)
		return buf;
	if (!now)
		snprintf(buf, size, "last time ");
	if (!strcmp(kind, "exec"))
		sentence_append(buf, size, "it executed another program");
	else if (json_object_get_boolean(json_object_object_get(end, "oom")))
		sentence_append(buf, size, "the OOM killer ended it%s%s", path ?
				", for its cgroup " : "", path ? path : "");
	else if (number <= INT32_MAX)
		sentence_append(buf, size, "signal %llu (%s) ended it", number,
				strsignal((int)number));
	else if (code <= INT32_MAX)
		sentence_append(buf, size, "it exited with code %llu", code);
	else
		*buf = '\0';
	if (*buf && !path && id != UINT64_MAX)
		sentence_append(buf, size, ", for its cgroup (id %llu, removed)", id);
	return buf;
}

/* Writes the alert in one line of plain text, control characters escaped. */
static void sentence(const struct alert *a, char *buf, size_t size)
{
	const char *comm = quiet_string(a->o, "comm");
	u64 rss = quiet_number(a->o, "rss_bytes", UINT64_MAX);
	u64 left = quiet_number(a->o, "tte_seconds", UINT64_MAX);
	u64 into = quiet_number(a->o, "merged_into", 0);
	u64 members = quiet_number(a->o, "members", 0);
	char text[SENTENCE_MAX], raw[SENTENCE_MAX], cut[WHERE_TEXT_MAX + 1];
	struct json_object *growth = json_object_object_get(a->o, "growth_bytes_per_hour");

	if (a->limit) {
		comm = quiet_string(a->o, "text");
		fmt_safe(buf, size, comm ? comm : "", comm ? strlen(comm) : 0);
		return;
	}
	if (a->test) {
		snprintf(buf, size, "test notification of seepage, no process leaks");
		return;
	}
	snprintf(raw, sizeof(raw), "%s: pid %llu (%s)", a->state, a->pid, comm ? comm : "?");
	append_where(a->o, raw, sizeof(raw));
	if (into)
		sentence_append(raw, sizeof(raw), " merged into #%llu, which goes on", into);
	if (a->of_group && members)
		sentence_append(raw, sizeof(raw), " and %llu more of its group", members - 1);
	if (rss != UINT64_MAX)
		sentence_append(raw, sizeof(raw), ", RSS %s", fmt_bytes(text, sizeof(text), rss));
	if (growth)
		sentence_append(raw, sizeof(raw), ", %s%s", a->ends ? "last " : "",
				fmt_growth(text, sizeof(text), json_object_get_int64(growth)));
	if (!a->ends && left != UINT64_MAX) {
		sentence_append(raw, sizeof(raw), ", %s left",
				fmt_seconds(text, sizeof(text), left));
		append_shares(a->o, raw, sizeof(raw));
	}
	sentence_append(raw, sizeof(raw), ", severity %s, confidence %llu",
			severity_word(a->severity), a->confidence);
	if (*alert_end_text(a->o, text, sizeof(text)))
		sentence_append(raw, sizeof(raw), "; %s", text);
	if (*alert_where_text(json_object_object_get(a->o, "where"), text, sizeof(text)))
		sentence_append(raw, sizeof(raw), "; %s",
				fmt_safe(cut, sizeof(cut), text, strlen(text)));
	sentence_append(raw, sizeof(raw), "; seepage explain '#%llu'", a->seq);
	fmt_safe(buf, size, raw, strlen(raw));
}

/* What was known with an earlier alert counts if its answer is no longer kept. */
static void add_where(struct alert *a, const struct incident *one, const char *boot)
{
	struct json_object *where = alert_where(a, one ? one->begun_s : a->begun_s, boot);

	if (!where && one)
		where = json_object_get(json_object_object_get(one->alert, "where"));
	json_object_object_add(a->o, "where", where);
}

/*
 * Adds the keys that notifications have beside those of watch: id, boot_id, host, user, where,
 * text, severity_label, and those of container_names(). @one: its incident, or NULL. The id is the
 * same whenever this alert is read again, on this boot. That of a limit has it already.
 */
void alert_complete(struct alert *a, const char *boot, const struct incident *one)
{
	const struct json_object *before = one ? one->alert : NULL;
	char id[128], text[SENTENCE_MAX];

	snprintf(id, sizeof(id), "%s%s/%llx/%llu", a->test ? "test/" : "", boot, a->instance,
		 a->seq);
	if (!a->limit) {
		json_object_object_add(a->o, "id", json_object_new_string(id));
		container_names(a->o, before);
		quiet_add_user(a->o);
		add_where(a, one, boot);
	}
	sentence(a, text, sizeof(text));
	json_object_object_add(a->o, "boot_id", json_object_new_string(boot));
	json_object_object_add(a->o, "host", json_text(alert_host(), strlen(alert_host())));
	json_object_object_add(a->o, "text", json_text(text, strlen(text)));
	json_object_object_add(a->o, "severity_label",
			       json_object_new_string(severity_word(a->severity)));
	if (a->test)
		json_object_object_add(a->o, "test", json_object_new_boolean(true));
}

/* Makes the notification of --test: about this process, which does not leak. */
void alert_test(struct alert *a)
{
	struct json_object *o = json_object_new_object();
	u64 now = clock_real_ns();

	json_object_object_add(o, "seq", json_object_new_uint64(1));
	json_object_object_add(o, "instance", json_object_new_uint64(now));
	json_object_object_add(o, "time_ns", json_object_new_uint64(now));
	json_add_utc_of(o, "time_ns");
	json_object_object_add(o, "pid", json_object_new_int(getpid()));
	json_object_object_add(o, "comm", json_object_new_string("seepage-notify"));
	json_object_object_add(o, "uid", json_object_new_int64(getuid()));
	json_object_object_add(o, "state", json_object_new_string("suspected"));
	json_object_object_add(o, "severity", json_object_new_int(1));
	json_object_object_add(o, "confidence", json_object_new_int(0));
	json_object_object_add(o, "age_seconds", json_object_new_int(0));
	alert_of(o, a);
	a->test = true;
}

void alert_free(struct alert *a)
{
	json_object_put(a->o);
	a->o = NULL;
}
