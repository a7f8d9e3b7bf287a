// SPDX-License-Identifier: GPL-2.0
/* The tool where beside watch: it looks at what alerts are about, and finds out where they leak. */
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "tools.h"

/**
 * looks_check() - check the word of watch --where
 * @looks: census, burst or off, or NULL
 *
 * Return: 0, or EXIT_USAGE after printing an error.
 */
int looks_check(const struct ctx *ctx, const char *looks)
{
	u64 permille;
	bool burst;

	if (!looks || !strcmp(looks, "off") || parse_looks(looks, &burst, &permille))
		return 0;
	return usage(ctx, "--where: '%s': allowed census burst, with ,1 to ,%d, or off", looks,
		     LOOKS_PERMILLE);
}

/**
 * looks_start() - start the tool where, if it is installed
 * @looks: a word that looks_check() allows; NULL is census, without a word where it is missing
 *
 * It ends with this program.
 */
void looks_start(struct ctx *ctx, const char *looks)
{
	char *words[3] = { (char *)"--follow", (char *)(looks ?: "census") };
	char path[PATH_MAX];

	if (!strcmp(words[1], "off"))
		return;
	if (!tools_find("where", path, sizeof(path))) {
		if (looks)
			tools_missing(ctx, "where");
	} else if (!fork()) {
		_exit(tools_exec(ctx, "where", path, words));
	}
}
