// SPDX-License-Identifier: GPL-2.0
/* seepage report: one HTML page of a recording, a process or an alert. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "report/report.h"
#include "tools.h"

#define DEFAULT_NAME	"seepage-report.html"

static const char *output, *where;

static const struct opt opts[] = {
	{ .name = "output", .letter = 'o', .kind = OPT_STRING, .dest = &output, .arg = "FILE",
	  .help = "write FILE (" DEFAULT_NAME "); -: standard output" },
	{ .name = "where", .kind = OPT_STRING, .dest = &where, .arg = "FILE",
	  .help = "add what FILE says, which is output of seepage -j where" },
	{ .name = NULL }
};

static bool is_live(const char *word)
{
	u64 v;

	return *word == '#' || parse_u64(word, &v);
}

/* Writes the whole page at once: a page that fails on the way is none. */
static int write_page(const struct ctx *ctx, const char *name, const char *html, size_t n)
{
	FILE *f;
	int fd;

	if (!strcmp(name, "-")) {
		out_printf("%s", html);
		return 0;
	}
	if (disk_keep_older(ctx, name))
		return 1;
	/* As perf does with what it records: it has command lines of other users. */
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : must(fdopen(fd, "w"));
	if (!f)
		return fail(ctx, "%s: %s", name, strerror(errno));
	errno = 0;
	if (fwrite(html, 1, n, f) != n || fflush(f)) {
		fclose(f);
		return fail(ctx, "%s: %s", name, strerror(errno ? errno : EIO));
	}
	if (fclose(f))
		return fail(ctx, "%s: %s", name, strerror(errno));
	if (!output)
		out_line(name);
	return 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	char title[TEXT_MAX], when[64], *html = NULL;
	struct report_of of = { 0 };
	size_t n = 0;
	int status;
	FILE *f;

	if (output && !*output)
		return usage(ctx, "-o: '': allowed the name of a file");
	if (ctx->json)
		return usage(ctx, "-j: not allowed: a page is for people");
	f = must(open_memstream(&html, &n));
	fmt_time(when, sizeof(when), clock_real_ns());
	snprintf(title, sizeof(title), "seepage report: %s, %s %s", argv[0], when, html_zone());
	html_begin(f, title);
	status = is_live(argv[0]) ? report_live(ctx, argv[0], f, &of) :
				    report_recording(ctx, argv[0], f);
	if (!status && of.recorded_only && !report_recorded(ctx, &of, f))
		status = fail(ctx, "pid %u: neither the module nor a recording of the service "
			      "seepage-record has it", of.pid);
	if (!status && of.pid && !of.recorded_only)
		report_recorded(ctx, &of, f);
	if (!status && where)
		status = report_where(ctx, where, f);
	else if (!status && of.pid && !of.recorded_only)
		report_kept(&of, f);
	html_end(f);
	must(fclose(f) ? NULL : html);
	if (!status)
		status = write_page(ctx, output ? output : DEFAULT_NAME, html, n);
	free(html);
	return status;
}

const struct command cmd_report = {
	TOOL_REPORT,
	.more = "The page needs no network and has no scripts. FILE is a recording of record, for\n"
		"which the module is not needed; of a live process it has what the module keeps,\n"
		"and what seepage-record has recorded of it.\n"
		"Of a PID that has ended it has the last alert, else what seepage-record has\n"
		"recorded of it, also before the last boot.\n"
		"A file whose name is a number is given as ./NUMBER. An older page is kept as\n"
		"NAME.old.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
