// SPDX-License-Identifier: GPL-2.0
/*
 * seepage explain. The look of --cold is taken by the tool cold, which then explains as this
 * program does.
 */
#include <limits.h>
#include <stdio.h>
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

/* Returns only if the tool cannot run. */
static int look(struct ctx *ctx, char *pid)
{
	char window[48], path[PATH_MAX];
	char *words[] = { window, pid, NULL };

	snprintf(window, sizeof(window), "--window=%llu", window_s ? window_s : 10);
	return tools_find("cold", path, sizeof(path)) ? tools_exec(ctx, "cold", path, words) :
							tools_missing(ctx, "cold");
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	u32 pid;

	if (window_s && !cold)
		return usage(ctx, "--window: allowed with --cold only");
	if (!cold)
		return explain_process(ctx, argv[0], NULL);
	return parse_pid(ctx, argv[0], &pid) ?: look(ctx, argv[0]);
}

const struct command cmd_explain = {
	.name = "explain", .args = "PID|'#N'",
	.help = "say why a process is under alert, or why not",
	.more = "Without capabilities: only your own processes, and not --cold.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
