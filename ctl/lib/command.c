// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command and prints its help. Commands of seepage and tools share this; a tool is
 * a program with one command.
 */
#include "ctl.h"

int command_help(const struct command *cmd)
{
	const struct opt *o;

	fold_columns = 80;	/* a text to read, also where it goes to a pager */
	out_fold();
	out_printf("usage: seepage [-jp] %s%s%s%s\n%s\n", cmd->name,
		   cmd->opts ? " [OPTION...]" : "", *cmd->args ? " " : "", cmd->args, cmd->help);
	for (o = cmd->opts; o && o->name; o++) {
		const char *arg = o->arg ? o->arg : "";
		char left[64];
		int n = o->letter ? snprintf(left, sizeof(left), "-%c, ", o->letter) : 0;

		snprintf(left + n, sizeof(left) - (size_t)n, "--%s %s", o->name, arg);
		out_printf("  %-26s %s\n", left, o->help);
	}
	if (cmd->more)
		out_line(cmd->more);
	return 0;
}

int command_run(struct ctx *ctx, const struct command *cmd, int argc, char **argv)
{
	ctx->cmd = cmd->name;
	argc = args_parse(ctx, cmd, argc, argv);
	if (argc < 0)
		return EXIT_USAGE;
	if (ctx->help)
		return command_help(cmd);
	return cmd->run(ctx, argc, argv);
}

/* main() of a tool */
int tool_main(const struct command *cmd, int argc, char **argv)
{
	struct ctx ctx = { 0 };

	out_init();
	return out_close(command_run(&ctx, cmd, argc - 1, argv + 1));
}
