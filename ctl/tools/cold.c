// SPDX-License-Identifier: GPL-2.0
/*
 * seepage cold: looks at which memory a process uses, then explains the verdict on it.
 * `explain --cold` executes this.
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
	struct explain_look look = {
		.make = cold_report_make, .print = cold_report_print, .json = cold_report_json,
		.free = cold_report_free, .window_s = window_s ? window_s : 10,
	};
	u32 pid;

	if (parse_pid(ctx, argv[0], &pid))
		return EXIT_USAGE;
	ctx->cmd = "explain";	/* in messages: most people call it by that name */
	return explain_process(ctx, argv[0], &look);
}

const struct command cmd_cold = {
	TOOL_COLD,
	.more = "This is what explain --cold does. It needs CAP_SYS_ADMIN, and the permission to\n"
		"write to /proc/PID/clear_refs.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
