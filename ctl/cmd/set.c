// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct conf c = { 0 };

	return conf_words(ctx, &c, argc, argv) ?: query_configure(ctx, &c);
}

const struct command cmd_set = {
	.name = "set", .args = "KEY VALUE...",
	.help = "change the configuration, all keys or none",
	.more = "KEY=VALUE is accepted too. 'seepage get' lists keys and allowed values.",
	.min = 1, .max = -1, .run = run,
};
