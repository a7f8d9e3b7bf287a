// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration file of notify: a JSON object with the options as keys, '_' in place of '-'.
 * The command line comes before the file; receivers of both count.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include "notify/notify.h"

#define SPOOL_BYTES	(64ULL << 20)
#define RETRY_S		86400
#define TIMEOUT_S	30

static int bad_value(struct ctx *ctx, const struct settings *s, const char *key,
		     struct json_object *v, const char *allowed)
{
	bool secret = !strcmp(key, "pagerduty_key");

	return usage(ctx, "--config: '%s': %s: '%.80s': allowed %s", s->config, key,
		     secret ? "..." : json_object_get_string(v), allowed);
}

/* Returns false if there is no room: the command line has some, too. */
static bool add_words(struct words *w, struct json_object *v)
{
	bool many = json_object_is_type(v, json_type_array);
	size_t n = many ? json_object_array_length(v) : 1, i;
	struct json_object *one;

	for (i = 0; i < n && w->n < WORDS_MAX; i++) {
		one = many ? json_object_array_get_idx(v, i) : v;
		w->v[w->n++] = must(strdup(json_object_get_string(one)));
	}
	return i == n;
}

static int add_key(struct ctx *ctx, const struct settings *s, const char *key,
		   struct json_object *v)
{
	const struct opt *o = key_find(key);
	char allowed[TEXT_MAX * 4];
	struct json_object *bad;
	u64 n = 0;

	if (!o)
		return usage(ctx, "--config: '%s': unknown key '%.80s': allowed %s", s->config, key,
			     key_list(allowed, sizeof(allowed)));
	if (!v)
		return 0;	/* null: as if it were not there */
	if (key_refuses(o, v, &bad, allowed, sizeof(allowed)) ||
	    (o->kind == OPT_WORDS && !add_words(o->dest, v)))
		return bad_value(ctx, s, key, bad, allowed);
	if (o->kind == OPT_FLAG)
		*(bool *)o->dest |= json_object_get_boolean(v);
	if (o->kind == OPT_STRING && !*(const char **)o->dest)
		*(const char **)o->dest = must(strdup(json_object_get_string(v)));
	if ((o->kind == OPT_NUMBER || o->kind == OPT_SIZE) && key_number(o, v, &n) &&
	    *(u64 *)o->dest == (o->min ? 0 : SETTING_NOT_GIVEN))
		*(u64 *)o->dest = n;
	return 0;
}

/* Says why the text is refused. The value may be secret, unless the key takes a number. */
static int bad_text(struct ctx *ctx, const struct settings *s, const struct jsonc_bad *bad,
		    const char *err)
{
	const struct opt *o = key_find(bad->key);

	if (*bad->key && (!o || (o->kind != OPT_NUMBER && o->kind != OPT_SIZE)))
		return usage(ctx, "--config: '%s': %s: '...': not a number that can be represented",
			     s->config, bad->key);
	return usage(ctx, "--config: '%s': %s", s->config, err);
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
		return bad_text(ctx, s, &bad, err);
	json_object_object_foreach(o, key, v)
		status = status ? status : add_key(ctx, s, key, v);
	json_object_put(o);
	return status;
}

static void fill_in(struct settings *s)
{
	s->min_confidence = s->min_confidence == SETTING_NOT_GIVEN ? 0 : s->min_confidence;
	s->min_severity = s->min_severity == SETTING_NOT_GIVEN ? 0 : s->min_severity;
	s->state_dir = s->state_dir ? s->state_dir : SETTING_STATE_DIR;
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
