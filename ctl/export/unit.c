// SPDX-License-Identifier: GPL-2.0
/*
 * The third part of the page: sums by systemd unit or container, over the processes of the
 * page. Units without such a process have no series, so --top bounds these as well.
 */
#include <stdlib.h>
#include <string.h>
#include "export/export.h"

struct unit_sum {
	char text[192];			/* as unit_text() has it */
	u64 processes, accused;		/* accused: suspected, confirmed or runaway */
	u64 rss;			/* bytes */
	s64 growth;			/* bytes an hour, where the floor rises */
	u64 exhaustion;			/* seconds, the shortest; UINT64_MAX: none known */
};

static bool is_accused(const struct message *msg)
{
	u64 state = msg_get(msg, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);

	return state == SEEPAGE_STATE_SUSPECTED || state == SEEPAGE_STATE_CONFIRMED ||
	       state == SEEPAGE_STATE_RUNAWAY;
}

/* Finds the sum of the unit called @text, or makes one: there is room for @n + 1. */
static struct unit_sum *find(struct unit_sum *sum, size_t *n, const char *text)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp(sum[i].text, text))
			return &sum[i];
	snprintf(sum[i].text, sizeof(sum[i].text), "%s", text);
	sum[i].exhaustion = UINT64_MAX;
	(*n)++;
	return &sum[i];
}

static void add(struct unit_sum *s, const struct message *msg)
{
	u64 left = msg_get(msg, SEEPAGE_A_TTE_SECONDS, UINT64_MAX);
	s64 growth;

	s->processes++;
	s->accused += is_accused(msg);
	s->rss += msg_get(msg, SEEPAGE_A_RSS_BYTES, 0);
	if (msg_s64(msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &growth) && growth > 0)
		s->growth += growth;
	if (left < s->exhaustion)
		s->exhaustion = left;
}

static size_t sum_up(const struct export_data *d, struct unit_sum *sum)
{
	const struct export_process *o;
	struct unit_name unit;
	char text[sizeof(sum->text)];
	size_t n = 0;

	for (o = d->process; o < d->process + d->n; o++) {
		unit_of(o->place.cgroup, &unit);
		unit_text(&unit, text, sizeof(text));
		if (*text)
			add(find(sum, &n, text), o->msg);
	}
	return n;
}

static void begin(struct prom *p, const struct unit_sum *s)
{
	prom_begin(p);
	prom_label(p, "unit", s->text, strlen(s->text));
}

static void write_number(struct prom *p, const char *name, const char *help, size_t at,
			 const struct unit_sum *sum, size_t n)
{
	size_t i;
	u64 v;

	prom_family(p, PROM_GAUGE, name, help);
	for (i = 0; i < n; i++) {
		memcpy(&v, (const char *)&sum[i] + at, sizeof(v));
		if (v == UINT64_MAX)
			continue;
		begin(p, &sum[i]);
		prom_end(p, v, 0);
	}
}

void export_units(struct prom *p, const struct export_data *d)
{
	struct unit_sum *sum = must(calloc(d->n + 1, sizeof(*sum)));
	size_t n = sum_up(d, sum), i;

	write_number(p, "unit_processes", "Processes of the page, by unit or container.",
		     offsetof(struct unit_sum, processes), sum, n);
	write_number(p, "unit_processes_accused",
		     "Suspected, confirmed and runaway processes of the page.",
		     offsetof(struct unit_sum, accused), sum, n);
	write_number(p, "unit_rss_bytes", "Resident memory of its processes, added up.",
		     offsetof(struct unit_sum, rss), sum, n);
	prom_family(p, PROM_GAUGE, "unit_growth_bytes_per_second",
		    "Growth of its processes with a rising floor, added up.");
	for (i = 0; i < n; i++) {
		begin(p, &sum[i]);
		prom_end_signed(p, (double)sum[i].growth / 3600);
	}
	write_number(p, "unit_exhaustion_seconds", "Shortest time to exhaustion of its processes.",
		     offsetof(struct unit_sum, exhaustion), sum, n);
	free(sum);
}
