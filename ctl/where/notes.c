// SPDX-License-Identifier: GPL-2.0
/* What the answer of `seepage where` says of its looks: what was left out, and what they cost. */
#include <unistd.h>
#include "where/survey.h"

static void cut_note(struct result *r, const char *which, const struct look *l)
{
	char size[32];

	if (l->cut_ns)
		result_note(r, "the %s look ended after %.1f s and %s, before all heaps were read "
			    "(bounds: %u s, %llu GiB, soon after a signal): pages are counted, not "
			    "blocks", which, (double)l->cut_ns / 1e9,
			    fmt_bytes(size, sizeof(size), l->cut_bytes), LOOK_SECONDS,
			    LOOK_BYTES / (1024 * MIB));
}

void survey_notes(struct survey *s)
{
	struct result *r = &s->r;
	const struct look *l = &s->b;
	double mb = (double)s->looks_bytes / MIB, ms = (double)s->looks_cpu / 1e6;
	char size[32];

	if (s->stopped)
		result_note(r, "stopped by a signal after %.1f s", r->seconds);
	cut_note(r, "first", &s->a);
	cut_note(r, "second", l);
	if (s->a.torn)
		result_note(r, "first look: %u heaps do not add up or changed too fast: %s not "
			    "counted; what is there is left out of the growth", s->a.torn,
			    fmt_bytes(size, sizeof(size), s->a.torn_bytes));
	if (l->torn)
		result_note(r, "%u heaps do not add up or changed too fast: %s not counted",
			    l->torn, fmt_bytes(size, sizeof(size), l->torn_bytes));
	if (s->a.skipped_bytes || l->skipped_bytes)
		result_note(r, "%s are swapped out and were not read in: mappings of single blocks "
			    "that begin there are not counted",
			    fmt_bytes(size, sizeof(size), s->a.skipped_bytes > l->skipped_bytes ?
				      s->a.skipped_bytes : l->skipped_bytes));
	if (l->outside_bytes)
		result_note(r, "%s of the main arena are outside the data segment: not counted",
			    fmt_bytes(size, sizeof(size), l->outside_bytes));
	if (l->unscanned_bytes)
		result_note(r, "%s of mappings were not searched for single blocks within other "
			    "memory", fmt_bytes(size, sizeof(size), l->unscanned_bytes));
	if (l->fast_cut)
		result_note(r, "fast bins: only %llu free chunks were followed: others count "
			    "as in use", l->fast_read);
	jemalloc_note(r, &s->a, l);
	if (l->no_fastbins && l->arenas)
		result_note(r, "no main arena found: some free chunks may count as in use");
	runtime_notes(&s->t, r);
	if (mb < 1)	/* most of the time is not that of reading */
		result_note(r, "read %.1f MiB with %.0f ms of CPU", mb, ms);
	else
		result_note(r, "read %.1f MiB with %.0f ms of CPU (%.2f ms per MiB)", mb, ms,
			    ms / mb);
	if (s->profile || s->want.burst || s->want.automatic)
		return;
	if (r->pages && !survey_is_other(s))
		result_note(r, "sites: not known; --faults shows the stacks that touch new pages, "
			    "--burst those that call malloc()");
	else
		result_note(r, "sites: not known, --burst finds them");
}

/* What a burst is in want of; NULL: nothing */
const char *survey_missing(const struct survey *s)
{
	return s->object.file ? NULL : object_missing(&s->object);
}

/* Tells a person at a terminal what the census found, before the time that a burst takes. */
void survey_say(const struct survey *s, u64 again)
{
	const struct where_row *row = s->r.row;
	char size[64], grew[32], cell[CONTENT_CELL];

	if (s->stopped || !isatty(STDERR_FILENO) || !s->r.rows || row->growth_bytes <= 0)
		return;
	content_cell(row, cell, sizeof(cell));
	fprintf(stderr, "%s: blocks of %s, %s: %s\n", s->t.comm,
		size_cell(row, size, sizeof(size)),
		fmt_growth(grew, sizeof(grew), result_per_hour(&s->r, row->growth_bytes)), cell);
	fprintf(stderr, "now call sites: up to %llu s of samples, then %llu s to see what stays; "
		"^C shows what is known\n", s->want.seconds, again);
}

/* The heap as a whole, or one class by much, beside which others shrank. */
bool survey_grows(const struct result *r)
{
	s64 most = r->rows ? r->row[0].growth_bytes : 0;

	return most > 0 && (r->growth > 0 || (u64)most >= r->heap_bytes / 128);
}
