// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include "ctl.h"

static const char words[] = "history [PID]|alerts|counters|config|all";

static u64 pid;

static const struct opt opts[] = {
	{ .name = "pid", .kind = OPT_NUMBER, .dest = &pid, .arg = "PID", .min = 1, .max = INT_MAX,
	  .help = "the same as history PID" },
	{ .name = NULL }
};

/*
 * Reads the words into a mask of SEEPAGE_RESET_* bits; another word after "history" is a
 * pid. Returns 0, or EXIT_USAGE after printing an error.
 */
static int read_words(struct ctx *ctx, int argc, char **argv, u32 *what)
{
	u32 bit = 0, one;
	int i, err;

	*what = pid && !argc ? SEEPAGE_RESET_HISTORY : 0;
	for (i = 0; i < argc; i++) {
		u32 next = reset_from_name(argv[i]);

		if (!next && bit == SEEPAGE_RESET_HISTORY) {
			err = parse_pid(ctx, argv[i], &one);
			if (err)
				return err;
			if (pid)
				return usage(ctx, "PID: '%s': given twice", argv[i]);
			pid = one;
			continue;
		}
		bit = next;
		if (!bit)
			return usage(ctx, "'%s': allowed %s", argv[i], words);
		*what |= bit;
	}
	if (!*what)
		return usage(ctx, "words are missing: %s", words);
	if (pid && *what != SEEPAGE_RESET_HISTORY)
		return usage(ctx, "PID: '%llu': allowed with history alone", pid);
	return 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct nl_msg *msg;
	int status;
	struct knl k;
	u32 what;

	status = read_words(ctx, argc, argv, &what);
	if (status)
		return status;
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
	.name = "reset", .args = words,
	.help = "clear histories, alerts, counters or settings",
	.more = "history: histories, states and verdicts, of all processes or of PID\n"
		"alerts: empty the ring; sequence numbers go on\n"
		"counters: set them and tick costs to 0\n"
		"config: return to the values given at load\n"
		"all: all four",
	.opts = opts, .max = -1, .run = run,
};
