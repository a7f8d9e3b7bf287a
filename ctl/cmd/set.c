// SPDX-License-Identifier: GPL-2.0
/* seepage set. With --save the tool save sets the keys, and keeps them for the next boot. */
#include "tools.h"

static bool save;

static const struct opt opts[] = {
	{ .name = "save", .kind = OPT_FLAG, .dest = &save,
	  .help = "also for the next boot" },
	{ .name = NULL }
};

static int run(struct ctx *ctx, int argc, char **argv)
{
	char *word = (char *)"--", *next;
	struct conf c = { 0 };
	int status = conf_words(ctx, &c, argc, argv), i;

	if (status || !save)
		return status ?: query_configure(ctx, &c);
	/* args_parse() has taken out the option, which leaves room for a word before the others */
	for (i = 0; word; i++) {
		next = argv[i];
		argv[i] = word;
		word = next;
	}
	argv[i] = NULL;
	return tools_run(ctx, "save", argv);
}

const struct command cmd_set = {
	.name = "set", .args = "KEY VALUE...",
	.help = "change the configuration, all keys or none",
	.more = "KEY=VALUE is accepted too. 'seepage get' lists keys and allowed values.",
	.opts = opts, .min = 1, .max = -1, .run = run,
};
