// SPDX-License-Identifier: GPL-2.0
/*
 * What several runs of a command have in common: mean and standard deviation of each count and
 * figure. The runs themselves are in --record, -j and --csv.
 */
#include <math.h>
#include <string.h>
#include "stat/stat.h"

/* Welford: squares of large counts would lose the digits in which they differ. */
static void take(struct stat_spread *s, double v)
{
	double off = v - s->mean;

	s->n++;
	s->mean += off / s->n;
	s->squares += off * (v - s->mean);
}

static double deviation(const struct stat_spread *s)
{
	return s->n > 1 ? sqrt(s->squares / (s->n - 1)) : 0;
}

void stat_repeat_add(struct stat_repeat *r, const struct pmc_list *list,
		     const struct stat_block *b)
{
	struct seep_pmu_figures f;
	unsigned int i;
	u64 v;

	if (r->runs++) {
		stat_plus(&r->sum, b);
		r->sum.ns += b->ns;
	} else {
		r->sum = *b;
	}
	r->failed += b->status != 0;
	take(&r->ns, (double)b->ns);
	for (i = 0; i < list->n; i++) {
		v = pmc_unavailable(&list->ev[i]) ? SEEP_UNKNOWN : seep_pmu_scale(&b->v[i]);
		if (v != SEEP_UNKNOWN)
			take(&r->event[i], (double)v);
	}
	stat_figures(list, b, &f);
	for (i = 0; i < STAT_METRICS; i++) {
		v = stat_figure(&f, &stat_metrics[i]);
		if (v != SEEP_UNKNOWN)
			take(&r->metric[i], (double)v);
	}
}

/* Four cells: mean, deviation, the deviation in percent of the mean, name. */
static void row(struct table *t, const struct stat_spread *s, const char *mean, const char *dev,
		const char *name)
{
	char text[STAT_NUMBER + 8];

	table_cell(t, s->n ? mean : "-");
	snprintf(text, sizeof(text), "+- %s", dev);
	table_cell(t, s->n > 1 ? text : "");
	snprintf(text, sizeof(text), "(%.1f %%)", 100 * deviation(s) / s->mean);
	table_cell(t, s->n > 1 && s->mean > 0 ? text : "");
	table_cell(t, name);
}

static u64 whole(double v)
{
	return v < 0x1p63 ? (u64)(v + 0.5) : 1ULL << 63;
}

static void print_events(const struct stat_repeat *r, const struct pmc_list *list,
			 struct table *t)
{
	char mean[STAT_NUMBER], dev[STAT_NUMBER], name[2 * TEXT_MAX];
	unsigned int i;

	for (i = 0; i < list->n; i++) {
		const struct stat_spread *s = &r->event[i];
		const struct pmc_event *ev = &list->ev[i];

		snprintf(name, sizeof(name), "%s%s%s%s", ev->name, s->n ? "" : " (",
			 s->n ? "" : *ev->reason ? ev->reason : "not counted", s->n ? "" : ")");
		row(t, s, stat_grouped(mean, whole(s->mean)),
		    stat_grouped(dev, whole(deviation(s))), name);
	}
}

static char *metric_text(char *buf, const struct stat_metric *m, double v)
{
	if (m->decimals)
		return stat_number(buf, whole(v), m->decimals, 2);
	return fmt_bytes(buf, STAT_NUMBER, whole(v));
}

static void print_metrics(const struct stat_repeat *r, struct table *t)
{
	char mean[STAT_NUMBER], dev[STAT_NUMBER];
	unsigned int i;

	for (i = 0; i < STAT_METRICS; i++) {
		const struct stat_spread *s = &r->metric[i];

		if (s->n)
			row(t, s, metric_text(mean, &stat_metrics[i], s->mean),
			    metric_text(dev, &stat_metrics[i], deviation(s)), stat_metrics[i].text);
	}
}

void stat_repeat_text(const struct stat_repeat *r, const struct pmc_list *list)
{
	static const bool right[] = { true, true, true, false };
	char mean[STAT_NUMBER], dev[STAT_NUMBER], text[SENTENCE_MAX];
	struct table *t = table_new(NULL, right, ARRAY_SIZE(right));
	struct seep_pmu_figures f;

	out_fold();
	snprintf(text, sizeof(text), "%s: %u runs, %s s +- %s s (%.1f %%)", r->sum.comm, r->runs,
		 stat_number(mean, whole(r->ns.mean), 9, 3),
		 stat_number(dev, whole(deviation(&r->ns)), 9, 3),
		 r->ns.mean > 0 ? 100 * deviation(&r->ns) / r->ns.mean : 0);
	if (r->failed)
		sentence_append(text, sizeof(text), ", %u of them failed", r->failed);
	fold("", 2, text);
	print_events(r, list, t);
	print_metrics(r, t);
	table_print(t, "  ");
	table_free(t);
	stat_figures(list, &r->sum, &f);
	stat_reading(&f, text, sizeof(text));
	fold("  ", 2, text);
	out_line("");
}
