// SPDX-License-Identifier: GPL-2.0
/*
 * The input is a configuration file for conf_file() and jsonc_parse(). A configuration that is
 * accepted is in range, and stays the same when it is written out and read again.
 */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"

static void ignored(void *arg, const char *key)
{
	promise(*key, "an empty key is known");
	(*(unsigned int *)arg)++;
}

static void promise_in_range(const struct conf *c)
{
	unsigned int key;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		if (!c->set[key])
			continue;
		promise(c->v[key] >= cfg_keys[key].min && c->v[key] <= cfg_keys[key].max,
			"%s: %u was taken", cfg_keys[key].name, c->v[key]);
		promise(!cfg_keys[key].word || cfg_word(key, c->v[key]),
			"%s: %u has no word", cfg_keys[key].name, c->v[key]);
	}
	promise(!c->set[0], "key 0 was set");
}

static void promise_same_again(const struct conf *c)
{
	char text[4096] = "{", value[TEXT_MAX], err[CONF_ERR_MAX];
	struct conf again = { 0 };
	unsigned int key, none = 0;
	size_t n = 1;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		const char *quote = cfg_keys[key].word ? "\"" : "";

		if (!c->set[key])
			continue;
		cfg_value_text(key, c->v[key], value, sizeof(value));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\"%s\": %s%s%s",
				      n > 1 ? ", " : "", cfg_keys[key].name, quote, value, quote);
	}
	snprintf(text + n, sizeof(text) - n, "}");
	promise(conf_file(&again, text, strlen(text), ignored, &none, err, sizeof(err)),
		"refused what it had read: %s: %s", text, err);
	promise(!none && !memcmp(&again, c, sizeof(again)), "read differently: %s", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conf c = { 0 };
	char err[CONF_ERR_MAX] = "";
	unsigned int n = 0;

	if (conf_file(&c, (const char *)data, size, ignored, &n, err, sizeof(err))) {
		promise_in_range(&c);
		promise_same_again(&c);
		if (!conf_consistent(&c, NULL, err, sizeof(err)))
			promise(*err, "inconsistent without a reason");
	} else {
		promise(*err, "refused without a reason");
		promise(strlen(err) < sizeof(err), "a reason without an end");
	}
	return 0;
}
