// SPDX-License-Identifier: GPL-2.0
/*
 * seepage: the controller of the kernel module of the same name.
 */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

static const struct command *const commands[] = {
	&cmd_status,
	&cmd_ps,
	&cmd_show,
	&cmd_explain,
	&cmd_watch,
	&cmd_alerts,
	&cmd_get,
	&cmd_set,
	&cmd_apply,
	&cmd_reset,
	&cmd_stat,
	&cmd_record,
	&cmd_replay,
	&cmd_export,
	&cmd_version,
};

static const struct command *find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int unknown_command(const struct ctx *ctx, const char *word)
{
	char names[TEXT_MAX] = "";
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(commands) && n < sizeof(names); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s ", commands[i]->name);
	return usage(ctx, "unknown command '%s': allowed %shelp", word, names);
}

static void write_help(FILE *f)
{
	size_t i;

	fputs("usage: seepage [-j] [-p] COMMAND [WORD...]\n"
	      "Finds processes whose memory leaks, through the kernel module seepage.\n\n", f);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s %s", commands[i]->name, commands[i]->args);
		if (strlen(left) > 31)
			fprintf(f, "  %s\n  %-31s %s\n", left, "", commands[i]->help);
		else
			fprintf(f, "  %-31s %s\n", left, commands[i]->help);
	}
	fputs("  help [COMMAND]                  this text, or that of a command\n\n"
	      "  -j, --json                      JSON\n"
	      "  -p, --pretty                    JSON with line breaks\n"
	      "  -h, --help                      this text, after a command that of the command\n"
	      "  -V, --version                   the same as version\n\n"
	      "Exit status: 0 ok, 1 failed, 2 wrong usage. Manual: seepage(8).\n", f);
}

static void help_all(bool asked)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = must(open_memstream(&text, &len));

	write_help(f);
	must(fclose(f) ? NULL : text);
	if (asked)
		out_printf("%s", text);
	else
		fputs(text, stderr);
	free(text);
}

static int help_one(const struct command *cmd)
{
	const struct opt *o;

	out_printf("usage: seepage [-j] [-p] %s%s%s%s\n%s\n", cmd->name,
		   cmd->opts ? " [OPTION...]" : "", *cmd->args ? " " : "", cmd->args, cmd->help);
	for (o = cmd->opts; o && o->name; o++) {
		char left[64];

		if (o->letter)
			snprintf(left, sizeof(left), "-%c, --%s %s", o->letter, o->name, o->arg);
		else
			snprintf(left, sizeof(left), "--%s %s", o->name, o->arg ? o->arg : "");
		out_printf("  %-26s %s\n", left, o->help);
	}
	if (cmd->more)
		out_printf("%s\n", cmd->more);
	return 0;
}

/* @words: what follows help, ended by NULL */
static int help(struct ctx *ctx, char **words)
{
	const struct command *cmd;

	if (words[0] && words[1])
		return usage(ctx, "unexpected word '%s'", words[1]);
	if (!words[0] || !strcmp(words[0], "help")) {
		help_all(true);
		return 0;
	}
	cmd = find(words[0]);
	return cmd ? help_one(cmd) : unknown_command(ctx, words[0]);
}

static int run(struct ctx *ctx, const struct command *cmd, int argc, char **argv)
{
	ctx->cmd = cmd->name;
	argc = args_parse(ctx, cmd, argc, argv);
	if (argc < 0)
		return EXIT_USAGE;
	if (ctx->help)
		return help_one(cmd);
	return cmd->run(ctx, argc, argv);
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	struct ctx ctx = { 0 };
	int i;

	out_init();
	i = args_globals(&ctx, argc, argv);
	if (i < 0)
		return EXIT_USAGE;
	if (ctx.version && !ctx.help)
		return out_close(run(&ctx, &cmd_version, argc - i, argv + i));
	if (i == argc) {
		if (ctx.help)
			return out_close(help(&ctx, argv + i));
		help_all(false);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[i], "help"))
		return out_close(help(&ctx, argv + i + 1));
	cmd = find(argv[i]);
	if (!cmd)
		return unknown_command(&ctx, argv[i]);
	return out_close(run(&ctx, cmd, argc - i - 1, argv + i + 1));
}
