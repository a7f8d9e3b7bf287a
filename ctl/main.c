// SPDX-License-Identifier: GPL-2.0
/*
 * seepage: the controller of the kernel module seepage. A word that names no command of
 * this program names a tool, which main() executes in place of itself (tools.c).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "tools.h"

static const struct command *const commands[] = {
	&cmd_status,
	&cmd_ps,
	&cmd_show,
	&cmd_watch,
	&cmd_alerts,
	&cmd_get,
	&cmd_set,
	&cmd_apply,
	&cmd_reset,
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
	struct tool t = { NULL };
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(commands) && n < sizeof(names); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s ", commands[i]->name);
	while (tools_next(&t) && n < sizeof(names))
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s ", t.name);
	return usage(ctx, "unknown command '%s': allowed %shelp", word, names);
}

/* @words: the words after @name, ended by NULL. Returns only if the tool cannot run. */
static int run_tool(struct ctx *ctx, const char *name, char **words)
{
	return tools_run(ctx, name, words) ?: unknown_command(ctx, name);
}

static void write_row(FILE *f, const char *name, const char *args, const char *help)
{
	char left[64];

	snprintf(left, sizeof(left), "%s %s", name, args);
	if (strlen(left) > 31)
		fprintf(f, "  %s\n  %-31s %s\n", left, "", help);
	else
		fprintf(f, "  %-31s %s\n", left, help);
}

static void write_tools(FILE *f)
{
	char path[PATH_MAX], help[TEXT_MAX];
	struct tool t = { NULL };

	fputs("\nTools, which are separate programs:\n", f);
	while (tools_next(&t)) {
		snprintf(help, sizeof(help), tools_find(t.name, path, sizeof(path)) ?
			 "%s" : "%s (not installed: package %s)", t.help, tools_package(&t));
		write_row(f, t.name, t.args, help);
	}
}

static const char options[] =
	"-j, --json\0print JSON\0"
	"-p, --pretty\0JSON with line breaks\0"
	"-h, --help\0the same as help\0"
	"-V, --version\0the same as version\0";

static void write_help(FILE *f)
{
	const char *s, *text;
	size_t i;

	fputs("usage: seepage [-jp] COMMAND [WORD...]\n"
	      "Shows which processes leak memory, as found by the kernel module seepage.\n\n", f);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		write_row(f, commands[i]->name, commands[i]->args, commands[i]->help);
	write_row(f, "help", "[COMMAND]", "print this text, or the help of COMMAND");
	write_tools(f);
	fputs("\n", f);
	for (s = options; *s; s = text + strlen(text) + 1) {
		text = s + strlen(s) + 1;
		write_row(f, s, "", text);
	}
	fputs("\n"
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

/* @words: the words after "help", ended by NULL */
static int help(struct ctx *ctx, char **words)
{
	const struct command *cmd;

	if (words[0] && words[1])
		return usage(ctx, "unexpected word '%s': allowed %s", words[1], "[COMMAND]");
	if (!words[0] || !strcmp(words[0], "help")) {
		help_all(true);
		return 0;
	}
	cmd = find(words[0]);
	if (cmd)
		return command_help(cmd);
	ctx->help = true;
	return run_tool(ctx, words[0], words + 1);
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
		return out_close(command_run(&ctx, &cmd_version, argc - i, argv + i));
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
		return run_tool(&ctx, argv[i], argv + i + 1);
	return out_close(command_run(&ctx, cmd, argc - i - 1, argv + i + 1));
}
