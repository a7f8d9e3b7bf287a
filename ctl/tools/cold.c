// SPDX-License-Identifier: GPL-2.0
/*
 * seepage cold: looks at which memory a process uses, then explains the verdict on it, as
 * `explain --cold` does.
 */
#include "cold/cold.h"
#include "tools.h"

static u64 window_s;

static const struct opt opts[] = {
	{ .name = "window", .kind = OPT_NUMBER, .dest = &window_s, .arg = "SECONDS", .min = 1,
	  .max = 86400, .help = "measure for this long (default: 10)" },
	{ .name = NULL }
};

static int run(struct ctx *ctx, int argc, char **argv)
{
	return cold_explain(ctx, argv[0], window_s);
}

const struct command cmd_cold = {
	TOOL_COLD,
	.more = "This is what explain --cold does. Your own processes need no capability; those\n"
		"of others need root. With CAP_SYS_ADMIN the module is sent what was measured.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
