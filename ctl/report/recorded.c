// SPDX-License-Identifier: GPL-2.0
/*
 * What the service seepage-record has recorded of a process: it lives, has ended, or is of an
 * earlier boot.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "report/report.h"

/* The file of seepage-record.service */
#define RECORDING	"/var/lib/seepage/record/suspects.series"

/* When a recording was last written, CLOCK_REALTIME, ns; UINT64_MAX if that is not known */
static u64 written_at(FILE *in)
{
	struct stat st;

	return fstat(fileno(in), &st) ? UINT64_MAX :
	       (u64)st.st_mtim.tv_sec * 1000000000 + (u64)st.st_mtim.tv_nsec;
}

/*
 * When the machine was booted that a recording is of: its times are those since the boot. A
 * recording that does not say was last written at its last pass: exact to the time between two.
 */
static u64 boot_of(u64 written, const struct series_reader *r)
{
	if (r->clock_ns)
		return r->clock_ns;
	return written != UINT64_MAX && written > r->pass_ns ? written - r->pass_ns : 0;
}

/*
 * Was it written since this boot? What was written before it is of an earlier one. File systems
 * may keep whole seconds only.
 */
static bool is_this_boot(u64 written)
{
	return written >= clock_real_ns() - clock_ns() - 999999999;
}

/*
 * What a file that may be there has of a process. Returns whether it has anything. An alert is
 * of this boot: a process of the same pid and name in an earlier one is another.
 */
static bool recorded_in(const struct ctx *ctx, const char *path, const struct report_of *of,
			FILE *f)
{
	struct pages p = { .of = of };
	struct series_reader r = { 0 };
	FILE *in = fopen(path, "re");
	u64 written = in ? written_at(in) : 0;
	bool now = in && is_this_boot(written);
	char when[64];

	if (!in || (!now && !of->recorded_only)) {
		if (in)
			fclose(in);
		return false;
	}
	if (pages_read(&p, &r, in) && *r.err && !r.cut)
		note(ctx, "%s: %s", path, r.err);
	if (p.n) {
		fputs("<p class=\"m\">From the recording ", f);
		html_text(f, path);
		fprintf(f, ", of %s, which began about %s %s:</p>\n",
			now ? "this boot" : "an earlier boot",
			fmt_time(when, sizeof(when), boot_of(written, &r)), html_zone());
	}
	fclose(in);
	pages_write(f, &p);
	return p.n;
}

/* The name of the newer of the service's recordings; the older one has .old behind it. */
const char *recorded_name(void)
{
	const char *name = secure_getenv("SEEPAGE_RECORDING");	/* for tests */

	return name && *name ? name : RECORDING;
}

/*
 * What the recording of the service seepage-record has of a process. Returns whether it has
 * anything; else the page says so of a process that has ended and of which there is more.
 */
bool report_recorded(const struct ctx *ctx, const struct report_of *of, FILE *f)
{
	const char *name = recorded_name();
	char older[PATH_MAX];
	bool found;

	snprintf(older, sizeof(older), "%s.old", name);
	found = recorded_in(ctx, older, of, f);
	found |= recorded_in(ctx, name, of, f);
	if (found || !of->ended)
		return found;
	fputs("<p class=\"m\">The service seepage-record would have kept its history, in ", f);
	html_text(f, name);
	fputs(", which has none of it.</p>\n", f);
	return false;
}
