// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the commands that get answers from the module, with answers from the input (wire.c). The
 * first byte selects the command (low five bits), JSON, JSON with line breaks, and what answers
 * for the family.
 */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"

static const struct line {
	const struct command *cmd;
	const char *words[3];
} lines[] = {
	{ &cmd_status, { NULL } },
	{ &cmd_ps, { NULL } },
	{ &cmd_ps, { "--limit", "2" } },
	{ &cmd_show, { "1" } },
	{ &cmd_explain, { "1" } },
	{ &cmd_alerts, { NULL } },
	{ &cmd_alerts, { "--since=2" } },
	{ &cmd_get, { NULL } },
	{ &cmd_get, { "policy" } },
	{ &cmd_set, { "warmup_s=300" } },
	{ &cmd_reset, { "alerts" } },
	{ &cmd_version, { NULL } },
	{ &cmd_watch, { NULL } },
	{ &cmd_watch, { "--since=0" } },
	{ &cmd_watch, { "--wait", "--min-confidence=50" } },
	{ &cmd_watch, { "--count=2", "--since=1" } },
	{ &cmd_stat, { "1", "--count=2" } },
	{ &cmd_stat, { "--all" } },
	{ &cmd_export, { NULL } },
	{ &cmd_export, { "--all" } },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct line *l;
	char words[ARRAY_SIZE(l->words)][32], *argv[ARRAY_SIZE(l->words) + 1] = { NULL };
	struct ctx ctx = { 0 };
	struct captured c;
	int argc = 0, status;

	if (!size)
		return -1;
	l = &lines[(data[0] & 31) % ARRAY_SIZE(lines)];
	ctx.cmd = l->cmd->name;
	ctx.json = data[0] & 0x60;
	ctx.pretty = data[0] & 0x40;
	for (; argc < (int)ARRAY_SIZE(l->words) && l->words[argc]; argc++) {
		snprintf(words[argc], sizeof(words[argc]), "%s", l->words[argc]);
		argv[argc] = words[argc];
	}
	wire_begin(data + 1, size - 1, !(data[0] & 0x80));
	capture_begin();
	argc = args_parse(&ctx, l->cmd, argc, argv);
	promise(argc >= 0, "%s: words refused", l->cmd->name);
	status = l->cmd->run(&ctx, argc, argv);
	wire_end();
	capture_end(&c);
	options_reset(l->cmd);
	promise_readable(&c, status);
	if (ctx.json)
		promise_json(c.out, c.out_len);
	captured_free(&c);
	return 0;
}
