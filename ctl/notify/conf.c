// SPDX-License-Identifier: GPL-2.0
/*
 * Options of notify, and the configuration file: a JSON object with the options as keys,
 * '_' in place of '-'. The command line comes before the file; receivers of both count.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include "notify/notify.h"

#define MB		(1ULL << 20)
#define SPOOL_BYTES	(64 * MB)
#define RETRY_S		86400
#define TIMEOUT_S	30
#define STATE_DIR	"/var/lib/seepage/notify"

#define NOT_GIVEN	UINT64_MAX	/* of what may be 0 */

struct settings notify_settings = { .min_confidence = NOT_GIVEN, .min_severity = NOT_GIVEN };

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
	  .help = "where they wait (" STATE_DIR ")" },
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

static const struct opt *find_key(const char *key)
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

static int bad_value(struct ctx *ctx, const struct settings *s, const char *key,
		     struct json_object *v, const char *allowed)
{
	bool secret = !strcmp(key, "pagerduty_key");

	return usage(ctx, "--config: '%s': %s: '%.80s': allowed %s", s->config, key,
		     secret ? "..." : json_object_get_string(v), allowed);
}

/* Writes the keys that there are: "exec, webhook". */
static const char *key_list(char *buf, size_t size)
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

static int add_words(struct ctx *ctx, const struct settings *s, const char *key,
		     struct words *w, struct json_object *v)
{
	bool many = json_object_is_type(v, json_type_array);
	size_t n = many ? json_object_array_length(v) : 1, i;

	for (i = 0; i < n; i++) {
		struct json_object *one = many ? json_object_array_get_idx(v, i) : v;

		if (!json_object_is_type(one, json_type_string) || w->n == WORDS_MAX)
			return bad_value(ctx, s, key, one, "a string, or an array of up to 64");
		w->v[w->n++] = must(strdup(json_object_get_string(one)));
	}
	return 0;
}

static int add_number(struct ctx *ctx, const struct settings *s, const char *key,
		      const struct opt *o, struct json_object *v)
{
	char allowed[80];
	u64 n = 0;

	snprintf(allowed, sizeof(allowed), "%llu..%llu%s", o->min, o->max,
		 o->kind == OPT_SIZE ? ", or a string as \"64M\"" : "");
	if (json_object_is_type(v, json_type_int) && json_object_get_int64(v) >= 0)
		n = json_object_get_uint64(v);
	else if (o->kind != OPT_SIZE || !json_object_is_type(v, json_type_string) ||
		 !parse_size(json_object_get_string(v), &n))
		return bad_value(ctx, s, key, v, allowed);
	if (n < o->min || n > o->max)
		return bad_value(ctx, s, key, v, allowed);
	if (*(u64 *)o->dest == (o->min ? 0 : NOT_GIVEN))
		*(u64 *)o->dest = n;
	return 0;
}

/* The words of a list of states in the file: an error there names the file, as for other keys. */
static int check_states(struct ctx *ctx, const struct settings *s, struct json_object *v)
{
	const char *list = json_object_get_string(v);
	char allowed[TEXT_MAX] = "";
	unsigned int i;
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (state_from_name(list, len) < SEEPAGE_STATE_SUSPECTED)
			break;
		if (!list[len])
			return 0;
	}
	for (i = SEEPAGE_STATE_SUSPECTED; i < __SEEPAGE_STATE_MAX; i++)
		sentence_append(allowed, sizeof(allowed), " %s", state_name(i));
	return bad_value(ctx, s, "state", v, allowed + 1);
}

static int add_key(struct ctx *ctx, const struct settings *s, const char *key,
		   struct json_object *v)
{
	const struct opt *o = find_key(key);
	char keys[TEXT_MAX * 4];

	if (!o)
		return usage(ctx, "--config: '%s': unknown key '%.80s': allowed %s", s->config, key,
			     key_list(keys, sizeof(keys)));
	if (!v)
		return 0;	/* null: as if it were not there */
	switch (o->kind) {
	case OPT_WORDS:
		return add_words(ctx, s, key, o->dest, v);
	case OPT_FLAG:
		if (!json_object_is_type(v, json_type_boolean))
			return bad_value(ctx, s, key, v, "true, false");
		*(bool *)o->dest |= json_object_get_boolean(v);
		return 0;
	case OPT_STRING:
		if (!json_object_is_type(v, json_type_string))
			return bad_value(ctx, s, key, v, "a string");
		if (o->dest == &s->states && check_states(ctx, s, v))
			return EXIT_USAGE;
		if (!*(const char **)o->dest)
			*(const char **)o->dest = must(strdup(json_object_get_string(v)));
		return 0;
	case OPT_NUMBER:
	case OPT_SIZE:
		return add_number(ctx, s, key, o, v);
	}
	return 0;
}

static int read_config(struct ctx *ctx, const struct settings *s)
{
	char *text = procfs_read(AT_FDCWD, s->config), err[CONF_ERR_MAX];
	struct jsonc_bad bad;
	struct json_object *o;
	int status = 0;

	if (!text)
		return fail(ctx, "--config: '%s': %s", s->config, strerror(errno));
	o = jsonc_parse(text, strlen(text), &bad, err, sizeof(err));
	free(text);
	if (o && !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
		snprintf(err, sizeof(err), "not a JSON object");
	}
	if (!o)
		return usage(ctx, "--config: '%s': %s", s->config, err);
	json_object_object_foreach(o, key, v)
		status = status ? status : add_key(ctx, s, key, v);
	json_object_put(o);
	return status;
}

static void fill_in(struct settings *s)
{
	s->min_confidence = s->min_confidence == NOT_GIVEN ? 0 : s->min_confidence;
	s->min_severity = s->min_severity == NOT_GIVEN ? 0 : s->min_severity;
	s->state_dir = s->state_dir ? s->state_dir : STATE_DIR;
	s->spool_bytes = s->spool_bytes ? s->spool_bytes : SPOOL_BYTES;
	s->retry_s = s->retry_s ? s->retry_s : RETRY_S;
	s->timeout_s = s->timeout_s ? s->timeout_s : TIMEOUT_S;
	s->exec_s = s->exec_s ? s->exec_s : TIMEOUT_S;
}

/* Reads the file, fills in what is not given, makes the receivers. Returns an exit status. */
int conf_notify(struct ctx *ctx, struct settings *s)
{
	int status = s->config ? read_config(ctx, s) : 0;

	if (!status && s->states)
		status = parse_states(ctx, s->states, SEEPAGE_STATE_SUSPECTED, &s->state_mask);
	if (!status)
		status = receivers_add(ctx, s);
	if (!status && s->cacert && access(s->cacert, R_OK))
		status = fail(ctx, "--cacert: '%s': %s", s->cacert, strerror(errno));
	fill_in(s);
	return status;
}
