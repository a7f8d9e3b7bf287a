// SPDX-License-Identifier: GPL-2.0
/* The words of record and stat that name processes. */
#include <string.h>
#include "ctl.h"

/**
 * parse_pid_or_command() - parse a word before "--", which may have been meant for a command
 * @pid: is set if the word is the number of a process
 *
 * Context: before anything is started. Returns 0, or EXIT_USAGE after printing an error.
 */
int parse_pid_or_command(struct ctx *ctx, const char *word, u32 *pid)
{
	if (*word && !word[strspn(word, "0123456789")])
		return parse_pid(ctx, word, pid);
	return usage(ctx, "'%.80s': allowed the PID of a process, or a COMMAND after --", word);
}
