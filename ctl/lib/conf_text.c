// SPDX-License-Identifier: GPL-2.0
/* A configuration from words of a command line, and as JSON. */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/*
 * Reads KEY=VALUE (one word) or KEY VALUE (two). Returns the number of words used, or
 * 0 with the reason in @err.
 */
static int one(struct conf *c, char **word, char *err, size_t size)
{
	char *eq = strchr(word[0], '='), *key;
	bool ok;

	if (!eq && !word[1]) {
		snprintf(err, size, "%s: VALUE is missing", word[0]);
		return 0;
	}
	if (!eq)
		return conf_add(c, word[0], word[1], err, size) ? 2 : 0;
	key = must(strndup(word[0], (size_t)(eq - word[0])));
	ok = conf_add(c, key, eq + 1, err, size);
	free(key);
	return ok;
}

/* Reads the words of set into @c. Returns an exit status. */
int conf_words(const struct ctx *ctx, struct conf *c, int argc, char **argv)
{
	char err[CONF_ERR_MAX];
	int i, used;

	argv[argc] = NULL;
	for (i = 0; i < argc; i += used) {
		used = one(c, argv + i, err, sizeof(err));
		if (!used)
			return usage(ctx, "%s", err);
	}
	return 0;
}

static struct json_object *value_json(const struct conf *c, unsigned int key)
{
	char text[TEXT_MAX];

	if (!c->set[key])
		return NULL;
	if (!cfg_keys[key].word)
		return json_object_new_uint64(c->v[key]);
	cfg_value_text(key, c->v[key], text, sizeof(text));
	return json_object_new_string(text);
}

/*
 * Null is a value that is not known. @key: the only one, 0: all keys, or only pmc_events where
 * @events says so
 */
struct json_object *conf_json(const struct conf *c, unsigned int key, bool events)
{
	struct json_object *o = json_object_new_object();
	unsigned int k;

	for (k = 1; k <= SEEPAGE_CFG_MAX; k++)
		if (key ? k == key : !events)
			json_object_object_add(o, cfg_keys[k].name, value_json(c, k));
	if (!key)
		json_add_text(o, CONF_EVENTS, c->has_events ? c->events : NULL);
	return o;
}
