// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include "ctl.h"

static u64 pid;

static const struct opt opts[] = {
	{ .name = "pid", .kind = OPT_NUMBER, .dest = &pid, .arg = "PID", .min = 1, .max = INT_MAX,
	  .help = "forget the history of this process only" },
	{ .name = NULL }
};

static int run(struct ctx *ctx, int argc, char **argv)
{
	u32 what = 0, bit;
	struct nl_msg *msg;
	int i, status = 0;
	struct knl k;

	for (i = 0; i < argc; i++) {
		bit = reset_from_name(argv[i]);
		if (!bit)
			return usage(ctx, "'%s': allowed %s %s %s %s", argv[i], reset_name(0),
				     reset_name(1), reset_name(2), reset_name(3));
		what |= bit;
	}
	if (!what)
		what = pid ? SEEPAGE_RESET_HISTORY : SEEPAGE_RESET_ALL;
	if (pid && what != SEEPAGE_RESET_HISTORY)
		return usage(ctx, "--pid: allowed with history only");
	if (query_open(ctx, &k))
		return 1;
	msg = knl_msg(&k, SEEPAGE_CMD_RESET, 0);
	nla_put_u32(msg, SEEPAGE_A_RESET_WHAT, what);
	if (pid)
		nla_put_u32(msg, SEEPAGE_A_PID, (u32)pid);
	if (knl_call(&k, msg, NULL, NULL) < 0)
		status = pid ? knl_fail_pid(ctx, &k, (u32)pid, NEEDS_ADMIN) :
			       knl_fail(ctx, &k, NEEDS_ADMIN);
	knl_close(&k);
	return status;
}

const struct command cmd_reset = {
	.name = "reset", .args = "[history|alerts|counters|config]...",
	.help = "forget; without a word all four",
	.more = "history: histories, states and verdicts.\n"
		"alerts: empties the ring, numbers go on.\n"
		"counters: counters and tick costs. config: the values given at load.",
	.opts = opts, .max = -1, .run = run,
};
