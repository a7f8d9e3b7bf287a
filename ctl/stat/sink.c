// SPDX-License-Identifier: GPL-2.0
/*
 * Where stat prints: standard output, with -o and --log-fd another file. Text beside a command goes
 * to standard error, as with perf stat, so that standard output is left to the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "stat/stat.h"

/*
 * @output: the word of -o, or NULL. "-" is standard output, with @aside too
 * @fd: the number of --log-fd, or 0
 * @aside: text is printed, and a command executed
 *
 * Returns 0, or 1 after printing an error.
 */
int stat_sink_open(const struct ctx *ctx, const char *output, u64 fd, bool aside,
		   struct stat_sink *sink)
{
	sink->command = -1;
	if (aside && !output && !fd)
		fd = STDERR_FILENO;
	if (!fd && (!output || !strcmp(output, "-")))
		return 0;
	sink->report = fd ? fcntl((int)fd, F_DUPFD_CLOEXEC, 3) :
			    open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (sink->report < 0 && fd)
		return fail(ctx, "--log-fd: %llu: %s", fd, strerror(errno));
	if (sink->report < 0)
		return fail(ctx, "%s: %s", output, strerror(errno));
	sink->command = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (sink->command < 0 || dup2(sink->report, STDOUT_FILENO) < 0)
		return fail(ctx, "standard output: %s", strerror(errno));
	return 0;
}

/* Gives standard output to a command, until stat_sink_back(); nothing is printed meanwhile. */
void stat_sink_lend(const struct stat_sink *sink)
{
	out_broken();			/* writes what is buffered */
	if (sink->command >= 0)
		dup2(sink->command, STDOUT_FILENO);
}

void stat_sink_back(const struct stat_sink *sink)
{
	if (sink->command >= 0)
		dup2(sink->report, STDOUT_FILENO);
}
