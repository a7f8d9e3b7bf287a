// SPDX-License-Identifier: GPL-2.0
/*
 * Prints counts as text, JSON and CSV, and sums them up in one sentence.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "stat/stat.h"

/*
 * Formats @v, in units of 10^-@decimals, with @shown decimals, "-" if it is unknown.
 * Returns @buf, which has STAT_NUMBER bytes.
 */
char *stat_number(char *buf, u64 v, unsigned int decimals, unsigned int shown)
{
	u64 unit = 1;

	if (v == SEEP_UNKNOWN) {
		snprintf(buf, STAT_NUMBER, "-");
		return buf;
	}
	for (; decimals > shown; decimals--)
		v = v / 10 + (v % 10 >= 5);
	for (; shown; shown--)
		unit *= 10;
	if (unit == 1)
		snprintf(buf, STAT_NUMBER, "%llu", v);
	else
		snprintf(buf, STAT_NUMBER, "%llu.%0*llu", v / unit, (int)decimals, v % unit);
	return buf;
}

/* Formats 1234567 as 1,234,567. */
char *stat_grouped(char *buf, u64 v)
{
	char digits[STAT_NUMBER];
	int len = snprintf(digits, sizeof(digits), "%llu", v), i, n = 0;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[n++] = ',';
		buf[n++] = digits[i];
	}
	buf[n] = '\0';
	return buf;
}

/* Returns the share of the time in which the event had a counter, in permille. */
static u64 counted(const struct seepage_pmc_value *v)
{
	u64 share = seep_pmu_ratio(v->running_ns, v->enabled_ns, 1000);

	return share == SEEP_UNKNOWN || share < 1000 ? share : 1000;
}

/* ---- in one sentence ---- */

#define MEMORY_MPMI	5000	/* 5 misses in 1000 instructions */
#define FEW_MPMI	1000
#define LOW_IPC		1000	/* 1 instruction per cycle */
#define HIGH_IPC	1500
#define MANY_WALKS	100000	/* 10 % of cycles */
#define REMOTE		500000	/* 50 % of node loads */

static bool above(u64 v, u64 limit)
{
	return v != SEEP_UNKNOWN && v >= limit;
}

static bool below(u64 v, u64 limit)
{
	return v < limit;		/* SEEP_UNKNOWN is the largest number */
}

/* Names in one sentence what bounds the speed of the program, as far as the figures show it. */
void stat_reading(const struct seep_pmu_figures *f, char *buf, size_t size)
{
	char ipc[STAT_NUMBER], llc[STAT_NUMBER], walks[STAT_NUMBER], remote[STAT_NUMBER];

	stat_number(ipc, f->ipc, 3, 2);
	stat_number(llc, f->llc_mpmi, 3, 1);
	stat_number(walks, f->walk_share, 4, 1);
	if (f->ipc == SEEP_UNKNOWN)
		snprintf(buf, size, "no reading: cycles and instructions are not both known");
	else if (above(f->llc_mpmi, MEMORY_MPMI) && below(f->ipc, LOW_IPC))
		snprintf(buf, size, "memory bound: %s last-level misses in 1000 instructions, "
			 "%s instructions per cycle", llc, ipc);
	else if (above(f->walk_share, MANY_WALKS))
		snprintf(buf, size, "translation bound: %s %% of cycles in page walks, %s "
			 "instructions per cycle", walks, ipc);
	else if (above(f->ipc, HIGH_IPC) && below(f->llc_mpmi, FEW_MPMI))
		snprintf(buf, size, "computes: %s instructions per cycle, %s last-level misses in "
			 "1000 of them", ipc, llc);
	else if (below(f->ipc, LOW_IPC) && f->llc_mpmi == SEEP_UNKNOWN)
		snprintf(buf, size, "waits: %s instructions per cycle; it is not known for what, "
			 "because last-level misses are not counted", ipc);
	else if (below(f->ipc, LOW_IPC) && !below(f->llc_mpmi, FEW_MPMI))
		snprintf(buf, size, "waits, in part for memory: %s instructions per cycle, %s "
			 "last-level misses in 1000 of them", ipc, llc);
	else if (below(f->ipc, LOW_IPC))
		snprintf(buf, size, "waits, but hardly for memory: %s instructions per cycle, %s "
			 "last-level misses in 1000 of them", ipc, llc);
	else
		snprintf(buf, size, "no bottleneck stands out: %s instructions per cycle", ipc);
	if (above(f->remote_share, REMOTE))
		sentence_append(buf, size, "; %s %% of node loads come from another node",
				stat_number(remote, f->remote_share, 4, 1));
}

/* ---- text ---- */

static void print_head(const struct stat_block *b)
{
	char seconds[STAT_NUMBER], text[SENTENCE_MAX];

	stat_number(seconds, b->ns, 9, 3);
	if (b->command)
		snprintf(text, sizeof(text), "%s: %u process%s, %s s", b->comm, b->processes,
			 b->processes == 1 ? "" : "es", seconds);
	else if (b->pid)
		snprintf(text, sizeof(text), "pid %u (%s), %s s", b->pid, b->comm, seconds);
	else
		snprintf(text, sizeof(text), "%s, %s s", b->comm, seconds);
	if (b->command && WIFSIGNALED(b->status))
		sentence_append(text, sizeof(text), ", killed by signal %d", WTERMSIG(b->status));
	else if (b->command && WEXITSTATUS(b->status))
		sentence_append(text, sizeof(text), ", exit status %d", WEXITSTATUS(b->status));
	fold("", 2, text);
}

/* Says why there is no count or how it was scaled, else nothing. */
static void event_note(const struct pmc_event *ev, const struct seepage_pmc_value *v, char *buf,
		       size_t size)
{
	u64 share = counted(v);

	if (pmc_unavailable(ev))
		snprintf(buf, size, "(%s)", *ev->reason ? ev->reason : "unavailable");
	else if (seep_pmu_scale(v) == SEEP_UNKNOWN)
		snprintf(buf, size, "(not counted in this time)");
	else if (share < 1000)
		snprintf(buf, size, "(counted %llu.%llu %% of the time, scaled)", share / 10,
			 share % 10);
	else
		buf[0] = '\0';
}

static void print_events(const struct pmc_list *list, const struct stat_block *b)
{
	static const bool right[] = { true, false };
	struct table *t = table_new(NULL, right, ARRAY_SIZE(right));
	char number[STAT_NUMBER], note[TEXT_MAX], text[2 * TEXT_MAX];
	unsigned int i;
	int wide = 0;

	for (i = 0; i < list->n; i++)
		if ((int)strlen(list->ev[i].name) > wide)
			wide = (int)strlen(list->ev[i].name);
	for (i = 0; i < list->n; i++) {
		const struct pmc_event *ev = &list->ev[i];
		u64 scaled = pmc_unavailable(ev) ? SEEP_UNKNOWN : seep_pmu_scale(&b->v[i]);

		event_note(ev, &b->v[i], note, sizeof(note));
		snprintf(text, sizeof(text), "%-*s%s%s", *note ? wide : 0, ev->name,
			 *note ? "  " : "", note);
		table_cell(t, scaled == SEEP_UNKNOWN ? "-" : stat_grouped(number, scaled));
		table_cell(t, text);
	}
	table_print(t, "  ");
	table_free(t);
}

static void print_metrics(const struct seep_pmu_figures *f)
{
	static const bool right[] = { true, false };
	struct table *t = table_new(NULL, right, ARRAY_SIZE(right));
	char number[STAT_NUMBER];
	size_t i;

	for (i = 0; i < STAT_METRICS; i++) {
		const struct stat_metric *m = &stat_metrics[i];
		u64 v = stat_figure(f, m);

		if (v == SEEP_UNKNOWN)
			continue;
		table_cell(t, m->decimals ? stat_number(number, v, m->decimals, 2) :
			   fmt_bytes(number, sizeof(number), v));
		table_cell(t, m->text);
	}
	table_print(t, "  ");
	table_free(t);
}

void stat_text(const struct pmc_list *list, const struct stat_block *b)
{
	struct seep_pmu_figures f;
	char text[SENTENCE_MAX];

	out_fold();
	stat_figures(list, b, &f);
	stat_reading(&f, text, sizeof(text));
	print_head(b);
	print_events(list, b);
	out_line("");
	print_metrics(&f);
	fold("  ", 2, text);
	if (b->learned)
		pmc_signals_print(&b->usual, "unusual");
	out_line("");
}

static void signals(const struct stat_block *b, char sep, char *buf, size_t size)
{
	*buf = '\0';
	if (b->learned)
		pmc_signals_text(&b->usual, sep, buf, size);
}

/* Prints one row for each process. */
void stat_all(const struct pmc_list *list, const struct stat_block *b, size_t n)
{
	static const char *const heads[] = {
		"PID", "COMM", "CYCLES", "IPC", "LLC-MPKI", "LLC-MISS%", "DTLB-MPKI", "WALK%",
		"REMOTE%", "READ/s", "UNUSUAL",
	};
	static const bool right[ARRAY_SIZE(heads)] = {
		true, false, true, true, true, true, true, true, true, true, false,
	};
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	char text[STAT_NUMBER], unusual[TEXT_MAX];
	struct seep_pmu_figures f;
	size_t i;

	out_fold();
	for (i = 0; i < n; i++) {
		stat_figures(list, &b[i], &f);
		snprintf(text, sizeof(text), "%u", b[i].pid);
		table_cell(t, text);
		table_cell(t, b[i].comm);
		table_cell(t, stat_number(text, f.n[SEEP_PMU_CYCLES], 0, 0));
		table_cell(t, stat_number(text, f.ipc, 3, 2));
		table_cell(t, stat_number(text, f.llc_mpmi, 3, 2));
		table_cell(t, stat_number(text, f.llc_miss_share, 4, 1));
		table_cell(t, stat_number(text, f.dtlb_mpmi, 3, 2));
		table_cell(t, stat_number(text, f.walk_share, 4, 1));
		table_cell(t, stat_number(text, f.remote_share, 4, 1));
		table_cell(t, f.read_rate == SEEP_UNKNOWN ? "-" :
			   fmt_bytes_short(text, sizeof(text), f.read_rate));
		signals(&b[i], ',', unusual, sizeof(unusual));
		table_cell(t, *unusual ? unusual : "-");
	}
	table_print(t, "");
	table_free(t);
}

/* ---- JSON ---- */

static struct json_object *json_number(u64 v, unsigned int decimals)
{
	char text[STAT_NUMBER];

	if (v == SEEP_UNKNOWN)
		return NULL;
	if (!decimals)
		return json_object_new_uint64(v);
	stat_number(text, v, decimals, decimals);
	return json_object_new_double_s(strtod(text, NULL), text);
}

struct json_object *stat_json(const struct pmc_list *list, const struct stat_block *b)
{
	struct json_object *o = json_object_new_object(), *pmc = json_object_new_object();
	struct json_object *why = json_object_new_object(), *metrics = json_object_new_object();
	struct seep_pmu_figures f;
	char text[SENTENCE_MAX];
	unsigned int i;

	stat_figures(list, b, &f);
	for (i = 0; i < list->n; i++) {
		const struct pmc_event *ev = &list->ev[i];

		json_object_object_add(pmc, ev->name, pmc_unavailable(ev) ? NULL :
				       pmc_value_json(&b->v[i]));
		if (pmc_unavailable(ev))
			json_object_object_add(why, ev->name, json_object_new_string(ev->reason));
	}
	for (i = 0; i < STAT_METRICS; i++)
		json_object_object_add(metrics, stat_metrics[i].key,
				       json_number(stat_figure(&f, &stat_metrics[i]),
						   stat_metrics[i].decimals));
	stat_reading(&f, text, sizeof(text));
	json_object_object_add(o, "pid", b->pid ? json_object_new_uint64(b->pid) : NULL);
	json_object_object_add(o, b->command ? "command" : "comm", b->pid || b->command ?
			       json_text(b->comm, strlen(b->comm)) : NULL);
	json_object_object_add(o, "processes", b->command ?
			       json_object_new_uint64(b->processes) : NULL);
	json_object_object_add(o, "exit_status", b->command && WIFEXITED(b->status) ?
			       json_object_new_int(WEXITSTATUS(b->status)) : NULL);
	json_object_object_add(o, "time_ns", json_object_new_uint64(b->time_ns));
	json_add_utc_of(o, "time_ns");
	json_object_object_add(o, "cpu_time_counted_percent", json_object_new_uint64(b->share));
	json_object_object_add(o, "elapsed_ns", json_object_new_uint64(b->ns));
	json_object_object_add(o, "pmc", pmc);
	json_object_object_add(o, "unavailable", why);
	json_object_object_add(o, "metrics", metrics);
	json_object_object_add(o, "reading", json_object_new_string(text));
	json_object_object_add(o, "pmc_signals", b->learned ? pmc_signals_json(&b->usual) : NULL);
	json_object_object_add(o, "pmc_baseline", b->learned ? pmc_baseline_json(&b->usual) : NULL);
	return o;
}

/* ---- CSV: unknown figures are empty ---- */

void stat_csv_head(const struct pmc_list *list)
{
	unsigned int i;

	out_printf("pid,comm,elapsed_ns");
	for (i = 0; i < list->n; i++)
		out_printf(",%s,%s_counted_percent", list->ev[i].name, list->ev[i].name);
	for (i = 0; i < STAT_METRICS; i++)
		out_printf(",%s", stat_metrics[i].key);
	out_line(",pmc_signals,time_ns,cpu_time_counted_percent");
}

static void csv_number(u64 v, unsigned int decimals)
{
	char text[STAT_NUMBER];

	out_printf(",%s", v == SEEP_UNKNOWN ? "" : stat_number(text, v, decimals, decimals));
}

static void csv_text(const char *s)
{
	out_printf(",\"");
	for (; *s; s++)
		out_printf(*s == '"' ? "\"%c" : "%c", *s);
	out_printf("\"");
}

void stat_csv(const struct pmc_list *list, const struct stat_block *b)
{
	struct seep_pmu_figures f;
	char text[TEXT_MAX];
	unsigned int i;

	stat_figures(list, b, &f);
	if (b->pid)
		out_printf("%u", b->pid);
	csv_text(b->comm);
	csv_number(b->ns, 0);
	for (i = 0; i < list->n; i++) {
		bool there = !pmc_unavailable(&list->ev[i]);

		csv_number(there ? seep_pmu_scale(&b->v[i]) : SEEP_UNKNOWN, 0);
		csv_number(there ? counted(&b->v[i]) : SEEP_UNKNOWN, 1);
	}
	for (i = 0; i < STAT_METRICS; i++)
		csv_number(stat_figure(&f, &stat_metrics[i]), stat_metrics[i].decimals);
	signals(b, ';', text, sizeof(text));
	out_printf(",%s", text);
	csv_number(b->time_ns, 0);
	csv_number(b->share, 0);
	out_line("");
}
