// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

/* KEY=VALUE takes one word, KEY VALUE two. Returns the words used, 0: wrong. */
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

/* That counters are wanted does not mean that there are any. */
static void tell_counters(const struct ctx *ctx, struct knl *k)
{
	struct nlmsghdr *nlh;
	char state[TEXT_MAX];
	struct rec rec;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !rec_parse(&rec, nlh)) {
		attr_text(SEEPAGE_A_PMC, rec.a[SEEPAGE_A_PMC], false, state, sizeof(state));
		if (strcmp(state, "on"))
			note(ctx, "set; counters %s", state);
	}
	free(nlh);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	char err[CONF_ERR_MAX];
	struct conf c = { 0 };
	struct knl k;
	int i, used, status = 0;

	argv[argc] = NULL;
	for (i = 0; i < argc; i += used) {
		used = one(&c, argv + i, err, sizeof(err));
		if (used)
			continue;
		if (i + 1 == argc && !strchr(argv[i], '='))
			return usage(ctx, "%s", err);
		return fail(ctx, "%s", err);
	}
	if (query_open(ctx, &k))
		return 1;
	if (query_send_config(&k, &c) < 0)
		status = knl_fail(ctx, &k, NEEDS_ADMIN);
	else if (c.set[SEEPAGE_CFG_PMC] && (c.v[SEEPAGE_CFG_PMC] == SEEPAGE_PMC_AUTO ||
					    c.v[SEEPAGE_CFG_PMC] == SEEPAGE_PMC_ON))
		tell_counters(ctx, &k);
	knl_close(&k);
	return status;
}

const struct command cmd_set = {
	.name = "set", .args = "KEY VALUE...", .help = "change configuration, all keys or none",
	.more = "KEY=VALUE is accepted as well. 'seepage get' lists keys and allowed values.",
	.min = 1, .max = -1, .run = run,
};
