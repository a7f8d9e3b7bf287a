// SPDX-License-Identifier: GPL-2.0
/*
 * seepage explain: says why a process is under alert, or why not. With --cold it first looks at
 * which memory the process uses, as the tool cold does.
 */
#include "cold/cold.h"
#include "quiet/file.h"
#include "tools.h"

static bool cold;
static u64 window_s;

static const struct opt opts[] = {
	{ .name = "cold", .kind = OPT_FLAG, .dest = &cold,
	  .help = "first measure which memory it uses" },
	{ .name = "window", .kind = OPT_NUMBER, .dest = &window_s, .arg = "SECONDS", .min = 1,
	  .max = 86400, .help = "with --cold: measure for this long (default: 10)" },
	{ .name = NULL }
};

static int run(struct ctx *ctx, int argc, char **argv)
{
	if (window_s && !cold)
		return usage(ctx, "--window: allowed with --cold only");
	owner_container = container_unit;
	return cold ? cold_explain(ctx, argv[0], window_s) : explain_process(ctx, argv[0], NULL);
}

const struct command cmd_explain = {
	TOOL_EXPLAIN,
	.more = "Without capabilities: only your own processes.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
