// SPDX-License-Identifier: GPL-2.0
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

static int run(struct ctx *ctx, int argc, char **argv)
{
	char err[CONF_ERR_MAX];
	struct conf c = { 0 };
	int i, used;

	argv[argc] = NULL;
	for (i = 0; i < argc; i += used) {
		used = one(&c, argv + i, err, sizeof(err));
		if (used)
			continue;
		if (i + 1 == argc && !strchr(argv[i], '='))
			return usage(ctx, "%s", err);
		return fail(ctx, "%s", err);
	}
	return query_configure(ctx, &c);
}

const struct command cmd_set = {
	.name = "set", .args = "KEY VALUE...",
	.help = "change the configuration, all keys or none",
	.more = "KEY=VALUE is accepted too. 'seepage get' lists keys and allowed values.",
	.min = 1, .max = -1, .run = run,
};
