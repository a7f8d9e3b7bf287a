// SPDX-License-Identifier: GPL-2.0
/*
 * How the memory of a process grows while its blocks are looked at: its pages are counted again and
 * again. What it grew by is the difference of the last count and the first one. How wrong that may
 * be follows from how much the growth differs from one part of the time to the next: an allocator
 * takes and gives back memory in steps, and a process that becomes warm grows ever more slowly.
 *
 * Example: in six parts of the burst a process grew by 0, 2, 0, 0, 0 and 0 MiB, in those of the
 * looks by nothing. That are 2 MiB, give or take 5.1 MiB: it is not known to grow.
 */
#include <math.h>
#include <string.h>
#include "where/growth.h"

#define PAGE		4096
#define PARTS		6U	/* of the burst, and of the looks, that are compared */
#define PARTS_MIN	3U
#define STEP_NS		250000000ULL
#define REST		60	/* a count takes less than a 60th of the time, */
#define COUNTS		8	/* unless these are too few then, of the burst or of the looks */

/*
 * A burst begins, of so many seconds. What was counted before is dropped; which pages were used is
 * still known.
 */
void series_begin(struct page_series *s, u64 seconds)
{
	s->n = 0;
	s->next = 0;
	s->mark = 0;
	s->step = STEP_NS;
	s->rest = seconds * 1000000000 / COUNTS;
}

/* How many counts are of the burst, which ended at the mark */
static unsigned int of_burst(const struct page_series *s)
{
	unsigned int n;

	for (n = 0; n < s->n && s->at[n].ns <= s->mark; n++)
		;
	return n;
}

/*
 * Every second count is dropped, and they come half as often from now on. Those of the burst stay
 * once it has ended: the looks may go on for hours.
 */
static void thin(struct page_series *s)
{
	unsigned int first = of_burst(s), i, n = first;

	for (i = first; i < s->n; i += 2)
		s->at[n++] = s->at[i];
	s->n = n;
	s->step *= 2;
}

/**
 * series_look() - count the pages that are used
 * @t: the process; its mappings, as they are known there, stay as they are
 * @s: to add to
 * @now: in any case; else if the last count is some time ago
 */
void series_look(const struct target *t, struct page_series *s, bool now)
{
	struct target own = *t;
	struct seen *used;
	struct page_look p;
	u64 start = clock_ns(), end, rest;

	if (!now && start < s->next)
		return;
	own.map = NULL;
	own.maps = 0;
	own.huge = own.huge || s->huge;
	used = seen_new();
	if (target_maps(&own) || pages_look(&own, &p, used, s->known)) {
		seen_free(used);
	} else {
		seen_free(s->known);
		s->known = used;
		if (s->n == SERIES)
			thin(s);
		s->at[s->n++] = (struct page_count){ .pages = p.present, .ns = start };
	}
	target_free_maps(&own);
	s->huge = own.huge;
	end = clock_ns();
	rest = REST * (end - start) < s->rest ? REST * (end - start) : s->rest;
	s->next = end + (rest > s->step ? rest : s->step);
}

/* The number of pages at a time between the first count and the last one */
static double pages_at(const struct page_series *s, double ns)
{
	const struct page_count *a, *b;
	unsigned int i;

	for (i = 1; i + 1 < s->n && (double)s->at[i].ns < ns; i++)
		;
	a = &s->at[i - 1];
	b = &s->at[i];
	if (b->ns <= a->ns)
		return (double)b->pages;
	return (double)a->pages + ((double)b->pages - (double)a->pages) *
	       (ns - (double)a->ns) / (double)(b->ns - a->ns);
}

/* The burst has ended, and looks follow for so many seconds. Its last count is kept in any case. */
void series_mark(struct page_series *s, u64 seconds)
{
	struct page_count last = s->n ? s->at[s->n - 1] : (struct page_count){ .ns = 0 };

	while (s->n > SERIES / 2)
		thin(s);
	if (s->n && s->at[s->n - 1].ns != last.ns)
		s->at[s->n++] = last;
	s->mark = clock_ns();
	s->rest = seconds * 1000000000 / COUNTS;
}

/* A part of the time, in which nothing changes that is known to change the growth */
struct phase {
	double grown, squares;	/* pages; of what its parts differ from each other by, in all */
	unsigned int parts;
};

static struct phase phase_of(const struct page_series *s, double begin, double end, unsigned int n)
{
	struct phase p = { .parts = n > PARTS ? PARTS : n };
	double length, part;
	unsigned int i;

	if (p.parts < PARTS_MIN)
		return p;
	length = (end - begin) / p.parts;
	p.grown = pages_at(s, end) - pages_at(s, begin);
	for (i = 0; i < p.parts; i++) {
		part = pages_at(s, begin + length * (i + 1)) - pages_at(s, begin + length * i);
		p.squares += (part - p.grown / p.parts) * (part - p.grown / p.parts);
	}
	p.squares *= (double)p.parts / (p.parts - 1);
	return p;
}

/* Are there enough counts of the burst? Those of the looks can still become more. */
bool series_has_burst(const struct page_series *s)
{
	return of_burst(s) >= PARTS_MIN;
}

/*
 * What the memory grew by from the first count to the last one, as far as that can be known. While
 * a burst is under way the process is slowed down, so that the time before and after its end is not
 * compared.
 */
struct trend series_trend(const struct page_series *s)
{
	/* Student's distribution, 97.5 %, by degrees of freedom */
	static const double student[PARTS] = { 0, 12.71, 4.30, 3.18, 2.78, 2.57 };
	struct trend t = { .seconds = 0 };
	double begin, mid, end;
	struct phase a, b;
	unsigned int n;

	n = of_burst(s);
	if (n < 2 || s->n - n < 2)
		return t;
	begin = (double)s->at[0].ns;
	mid = (double)s->mark;
	end = (double)s->at[s->n - 1].ns;
	a = phase_of(s, begin, mid, n);
	b = phase_of(s, mid, end, s->n - n);
	if (a.parts < PARTS_MIN || b.parts < PARTS_MIN)
		return t;
	n = a.parts < b.parts ? a.parts : b.parts;
	t.bytes = (s64)(a.grown + b.grown) * PAGE;
	t.error = (s64)(student[n - 1] * sqrt(a.squares + b.squares) * PAGE);
	t.seconds = (end - begin) / 1e9;
	t.burst = (s64)a.grown * PAGE;
	t.burst_seconds = (mid - begin) / 1e9;
	return t;
}

void series_free(struct page_series *s)
{
	seen_free(s->known);
	memset(s, 0, sizeof(*s));
}
