// SPDX-License-Identifier: GPL-2.0
/*
 * The options of notify, which of them are keys of its configuration file, and which values a key
 * takes. notify reads the file with it, and doctor tells whether notify refuses it.
 */
#include <string.h>
#include "notify/notify.h"

struct settings notify_settings = {
	.min_confidence = SETTING_NOT_GIVEN,
	.min_severity = SETTING_NOT_GIVEN,
};

#define S(member)	(&notify_settings.member)

const struct opt notify_opts[] = {
	{ .name = "exec", .kind = OPT_WORDS, .dest = S(exec), .arg = "CMD",
	  .help = "run CMD, without a shell; the alert is on its standard input" },
	{ .name = "webhook", .kind = OPT_WORDS, .dest = S(webhook), .arg = "URL",
	  .help = "POST JSON to URL" },
	{ .name = "alertmanager", .kind = OPT_WORDS, .dest = S(alertmanager), .arg = "URL",
	  .help = "an Alertmanager, as http://127.0.0.1:9093" },
	{ .name = "pagerduty-key", .kind = OPT_WORDS, .dest = S(pagerduty_key), .arg = "KEY",
	  .help = "routing key of PagerDuty's Events API v2" },
	{ .name = "pagerduty-key-file", .kind = OPT_WORDS, .dest = S(pagerduty_key_file),
	  .arg = "FILE", .help = "the same, from the first line of FILE" },
	{ .name = "pagerduty-url", .kind = OPT_STRING, .dest = S(pagerduty_url), .arg = "URL",
	  .help = "where PagerDuty is (https://events.pagerduty.com)" },
	{ .name = "journal", .kind = OPT_FLAG, .dest = S(journal),
	  .help = "the systemd journal, with fields" },
	{ .name = "syslog", .kind = OPT_FLAG, .dest = S(syslog), .help = "syslog, a line each" },
	{ .name = "config", .kind = OPT_STRING, .dest = S(config), .arg = "FILE",
	  .help = "JSON with these options as keys, '_' for '-'" },
	{ .name = "state", .kind = OPT_STRING, .dest = S(states), .arg = "S[,S...]",
	  .help = "only alerts with one of these states" },
	{ .name = "min-confidence", .kind = OPT_NUMBER, .dest = S(min_confidence), .arg = "N",
	  .max = 100, .help = "only alerts with at least this confidence" },
	{ .name = "min-severity", .kind = OPT_NUMBER, .dest = S(min_severity), .arg = "N",
	  .max = 10, .help = "only alerts with at least this severity, 0 to 10" },
	{ .name = "url", .kind = OPT_STRING, .dest = S(url), .arg = "URL",
	  .help = "the page that a notification links to" },
	{ .name = "cacert", .kind = OPT_STRING, .dest = S(cacert), .arg = "FILE",
	  .help = "certificates to trust, in place of the system's" },
	{ .name = "timeout", .kind = OPT_NUMBER, .dest = S(timeout_s), .arg = "SECONDS", .min = 1,
	  .max = 600, .help = "time limit of a request (30)" },
	{ .name = "exec-timeout", .kind = OPT_NUMBER, .dest = S(exec_s), .arg = "SECONDS",
	  .min = 1, .max = 3600, .help = "time limit of a command (30)" },
	{ .name = "retry", .kind = OPT_NUMBER, .dest = S(retry_s), .arg = "SECONDS", .min = 1,
	  .max = 30 * 86400, .help = "give up a notification after this time (86400)" },
	{ .name = "spool-size", .kind = OPT_SIZE, .dest = S(spool_bytes), .arg = "SIZE",
	  .min = 4096, .max = 1ULL << 40, .help = "most bytes that wait (64M); the oldest go" },
	{ .name = "state-dir", .kind = OPT_STRING, .dest = S(state_dir), .arg = "DIR",
	  .help = "where they wait (" SETTING_STATE_DIR ")" },
	{ .name = "from", .kind = OPT_STRING, .dest = S(from), .arg = "FILE",
	  .help = "read what watch -j printed, - for standard input, then end" },
	{ .name = "dry-run", .kind = OPT_FLAG, .dest = S(dry_run),
	  .help = "print what would be sent, send nothing" },
	{ .name = "test", .kind = OPT_FLAG, .dest = S(test),
	  .help = "send one test notification to each receiver and end" },
	{ .name = NULL }
};

static const char *const only_as_option[] = { "config", "from", "dry-run", "test" };

static bool may_be_key(const struct opt *o)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(only_as_option); i++)
		if (!strcmp(o->name, only_as_option[i]))
			return false;
	return true;
}

/* Returns the option that has this key in the configuration file, or NULL. */
const struct opt *key_find(const char *key)
{
	const struct opt *o;
	size_t i;

	for (o = notify_opts; o->name; o++) {
		for (i = 0; o->name[i] && (o->name[i] == '-' ? '_' : o->name[i]) == key[i]; i++)
			;
		if (!o->name[i] && !key[i])
			return may_be_key(o) ? o : NULL;
	}
	return NULL;
}

/* Writes the keys that there are: "exec, webhook". */
const char *key_list(char *buf, size_t size)
{
	const struct opt *o;
	char *at;

	*buf = '\0';
	for (o = notify_opts; o->name; o++)
		if (may_be_key(o))
			sentence_append(buf, size, "%s%s", *buf ? ", " : "", o->name);
	for (at = buf; *at; at++)
		*at = *at == '-' ? '_' : *at;
	return buf;
}

static bool is_words(struct json_object *v, struct json_object **bad)
{
	size_t n, i;

	*bad = v;
	if (!json_object_is_type(v, json_type_array))
		return json_object_is_type(v, json_type_string);
	n = json_object_array_length(v);
	for (i = 0; i < n; i++) {
		*bad = json_object_array_get_idx(v, i);
		if (!json_object_is_type(*bad, json_type_string) || i == WORDS_MAX)
			return false;
	}
	return true;
}

/* Reads the value of a key that takes a number or a size. Returns false if it is refused. */
bool key_number(const struct opt *o, struct json_object *v, u64 *n)
{
	if (json_object_is_type(v, json_type_int) && json_object_get_int64(v) >= 0)
		*n = json_object_get_uint64(v);
	else if (o->kind != OPT_SIZE || !json_object_is_type(v, json_type_string) ||
		 !parse_size(json_object_get_string(v), n))
		return false;
	return *n >= o->min && *n <= o->max;
}

static bool is_states(struct json_object *v)
{
	const char *list = json_object_get_string(v);
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (state_from_name(list, len) < SEEPAGE_STATE_SUSPECTED)
			return false;
		if (!list[len])
			return true;
	}
}

static void list_states(char *buf, size_t size)
{
	unsigned int i;

	*buf = '\0';
	for (i = SEEPAGE_STATE_SUSPECTED; i < __SEEPAGE_STATE_MAX; i++)
		sentence_append(buf, size, "%s%s", *buf ? " " : "", state_name(i));
}

/*
 * Is @v, which is not null, refused as value of the key? Then @bad is the value, or the member of
 * an array that is wrong, and @allowed has what is allowed.
 */
bool key_refuses(const struct opt *o, struct json_object *v, struct json_object **bad,
		 char *allowed, size_t size)
{
	bool is_string = json_object_is_type(v, json_type_string);
	u64 n = 0;

	*bad = v;
	*allowed = '\0';
	switch (o->kind) {
	case OPT_WORDS:
		snprintf(allowed, size, "a string, or an array of up to 64");
		return !is_words(v, bad);
	case OPT_FLAG:
		snprintf(allowed, size, "true, false");
		return !json_object_is_type(v, json_type_boolean);
	case OPT_STRING:
		if (o->dest != S(states) || !is_string) {
			snprintf(allowed, size, "a string");
			return !is_string;
		}
		list_states(allowed, size);
		return !is_states(v);
	case OPT_NUMBER:
	case OPT_SIZE:
		snprintf(allowed, size, "%llu..%llu%s", o->min, o->max,
			 o->kind == OPT_SIZE ? ", or a string as \"64M\"" : "");
		return !key_number(o, v, &n);
	}
	return true;
}
