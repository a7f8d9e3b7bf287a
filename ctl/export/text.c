// SPDX-License-Identifier: GPL-2.0
/*
 * The first part of the page: the module as a whole. Unknown figures are left out.
 */
#include <stdlib.h>
#include <string.h>
#include <seepage/names.h>
#include "export/export.h"

static void number(struct prom *p, enum prom_type type, const char *name, const char *help,
		   u64 v)
{
	prom_family(p, type, name, help);
	prom_begin(p);
	prom_end(p, v, 0);
}

/* ---- figures that are one attribute each ---- */

static const struct {
	const char *name, *help;
	u8 id, decimals;
	enum prom_type type;
} figures[] = {
	{ "processes", "Tracked processes.", SEEPAGE_A_PROCESSES, 0, PROM_GAUGE },
	{ "memory_bytes", "Memory that the module has allocated.",
	  SEEPAGE_A_MEMORY_BYTES, 0, PROM_GAUGE },
	{ "record_bytes", "Part of it for each tracked process.",
	  SEEPAGE_A_REC_BYTES, 0, PROM_GAUGE },
	{ "passes_total", "Sampling passes.", SEEPAGE_A_TICKS, 0, PROM_COUNTER },
	{ "pass_last_duration_seconds", "Duration of the last full sampling pass.",
	  SEEPAGE_A_TICK_COST_NS, 9, PROM_GAUGE },
	{ "pass_max_duration_seconds", "Duration of the longest sampling pass.",
	  SEEPAGE_A_TICK_COST_MAX_NS, 9, PROM_GAUGE },
	{ "sample_interval_seconds", "Time between two sampling passes in force.",
	  SEEPAGE_A_INTERVAL_MS, 3, PROM_GAUGE },
	{ "sample_interval_stretched",
	  "1 if it is longer than configured, as sampling costs more than max_cpu_permille.",
	  SEEPAGE_A_STRETCHED, 0, PROM_GAUGE },
	{ "alerts_last_seq", "Sequence number of the newest alert since the module was loaded.",
	  SEEPAGE_A_SEQ_LAST, 0, PROM_GAUGE },
};

static void write_module_figures(struct prom *p, const struct message *status)
{
	size_t i;
	u64 v;

	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		prom_family(p, figures[i].type, figures[i].name, figures[i].help);
		if (!msg_u64(status, figures[i].id, &v))
			continue;
		prom_begin(p);
		prom_end(p, v, figures[i].decimals);
	}
}

/* ---- counters: seepage_NAME_total ---- */

#define HELP(ID, name, unit, help)	[SEEPAGE_COUNTER_##ID] = help,
static const char *const counter_help[__SEEPAGE_COUNTER_MAX] = { SEEPAGE_COUNTERS(HELP) };
#undef HELP

static void write_module_counters(struct prom *p, const struct message *status)
{
	struct nlattr *nest = status->a[SEEPAGE_A_COUNTERS], *pos;
	char name[64];
	int rem;
	u64 v;

	if (!nest)
		return;
	nla_for_each_nested(pos, nest, rem) {
		unsigned int id = (unsigned int)nla_type(pos);

		if (!counter_name(id) || !attr_u64(pos, &v))
			continue;
		snprintf(name, sizeof(name), "%s_total", counter_name(id));
		number(p, PROM_COUNTER, name, counter_help[id], v);
	}
}

/* ---- the module, its processes and alerts as a whole ---- */

static void label_attr(struct prom *p, const char *label, const struct message *msg,
		       unsigned int id)
{
	char text[TEXT_MAX];

	if (!msg->a[id])
		return;
	attr_text(id, msg->a[id], false, text, sizeof(text));
	prom_label(p, label, text, strlen(text));
}

static void write_module_info(struct prom *p, const struct export_data *d)
{
	prom_family(p, PROM_GAUGE, "module_info",
		    "Always 1; labels of the loaded module. load differs at every load.");
	prom_begin(p);
	label_attr(p, "version", d->status, SEEPAGE_A_VERSION);
	label_attr(p, "hook", d->status, SEEPAGE_A_HOOK);
	label_attr(p, "policy", d->status, SEEPAGE_A_POLICY);
	label_attr(p, "pmc", d->status, SEEPAGE_A_PMC);
	label_attr(p, "load", d->status, SEEPAGE_A_INSTANCE);
	prom_end(p, 1, 0);
	number(p, PROM_GAUGE, "disabled", "1 if the module has switched itself off.",
	       !!d->status->a[SEEPAGE_A_DISABLED]);
	if (d->conf->set[SEEPAGE_CFG_MAX_PROCESSES])
		number(p, PROM_GAUGE, "processes_max", "Processes that can be tracked at once.",
		       d->conf->v[SEEPAGE_CFG_MAX_PROCESSES]);
}

static void write_states(struct prom *p, const struct export_data *d)
{
	unsigned int i;

	prom_family(p, PROM_GAUGE, "processes_in_state",
		    "Tracked processes in each state except ok.");
	for (i = SEEPAGE_STATE_OK + 1; i < __SEEPAGE_STATE_MAX; i++) {
		prom_begin(p);
		prom_label(p, "state", state_name(i), strlen(state_name(i)));
		prom_end(p, d->states[i], 0);
	}
	number(p, PROM_GAUGE, "processes_left_out",
	       "Processes left out of this page because there are more than --top.", d->left_out);
}

/* Prints all pairs of state and subject, those of 0 too: no time series disappears. */
static void write_alerts(struct prom *p, const struct export_data *d)
{
	u64 count[__SEEPAGE_STATE_MAX][__SEEPAGE_SUBJECT_MAX] = { 0 };
	unsigned int state, subject;
	size_t i;

	for (i = 0; i < d->n_alerts; i++) {
		u64 s = msg_get(&d->alerts[i], SEEPAGE_A_STATE, SEEPAGE_STATE_OK);

		subject = msg_subject(&d->alerts[i]);
		if (s < __SEEPAGE_STATE_MAX && subject < __SEEPAGE_SUBJECT_MAX)
			count[s][subject]++;
	}
	prom_family(p, PROM_GAUGE, "alerts_held",
		    "Alerts that the module still holds, by state and subject.");
	for (state = SEEPAGE_STATE_SUSPECTED; state < __SEEPAGE_STATE_MAX; state++) {
		for (subject = 0; subject < __SEEPAGE_SUBJECT_MAX; subject++) {
			prom_begin(p);
			prom_label(p, "state", state_name(state), strlen(state_name(state)));
			prom_label(p, "subject", subject_name(subject),
				   strlen(subject_name(subject)));
			prom_end(p, count[state][subject], 0);
		}
	}
}

/* ---- hardware counters of the whole machine ---- */

static void begin_event(struct prom *p, const struct pmc_event *ev)
{
	prom_begin(p);
	prom_label(p, "event", ev->name, strlen(ev->name));
}

#define COUNTED(field)	(u8)offsetof(struct seepage_pmc_value, field)
#define GOT(field)	offsetof(struct pmc_event, field)

static void write_machine_events(struct prom *p, const struct pmc_list *l)
{
	static const struct { const char *name, *help; u8 at, decimals; } totals[] = {
		{ "pmc_events_total", "Events counted on all CPUs, not scaled.",
		  COUNTED(count), 0 },
		{ "pmc_enabled_seconds_total", "Time in which the event was enabled.",
		  COUNTED(enabled_ns), 9 },
		{ "pmc_running_seconds_total", "Part of it in which the event had a counter.",
		  COUNTED(running_ns), 9 },
	};
	static const struct { const char *name; size_t at; } parts[] = {
		{ "kthreads", GOT(kthreads) }, { "idle", GOT(idle) },
		{ "others", GOT(others) }, { "ended", GOT(ended) },
	};
	const struct pmc_event *ev;
	size_t i;
	u64 v;

	prom_family(p, PROM_GAUGE, "pmc_event_available", "1 if the event can be counted.");
	for (ev = l->ev; ev < l->ev + l->n; ev++) {
		begin_event(p, ev);
		prom_end(p, !pmc_unavailable(ev), 0);
	}
	for (i = 0; i < ARRAY_SIZE(totals); i++) {
		prom_family(p, PROM_COUNTER, totals[i].name, totals[i].help);
		for (ev = l->ev; ev < l->ev + l->n; ev++) {
			if (pmc_unavailable(ev) && !ev->count.count)
				continue;
			memcpy(&v, (const char *)&ev->count + totals[i].at, sizeof(v));
			begin_event(p, ev);
			prom_end(p, v, totals[i].decimals);
		}
	}
	prom_family(p, PROM_COUNTER, "pmc_part_events_total",
		    "Part of them counted for kernel threads, idle CPUs, processes that are not "
		    "tracked, and tracked processes that have exited.");
	for (ev = l->ev; ev < l->ev + l->n; ev++) {
		for (i = 0; i < ARRAY_SIZE(parts); i++) {
			if (pmc_unavailable(ev) && !ev->count.count)
				continue;
			memcpy(&v, (const char *)ev + parts[i].at + COUNTED(count), sizeof(v));
			begin_event(p, ev);
			prom_label(p, "part", parts[i].name, strlen(parts[i].name));
			prom_end(p, v, 0);
		}
	}
}

char *export_text(const struct export_data *d, size_t *len)
{
	char *text = NULL;
	struct prom p = { .f = must(open_memstream(&text, len)) };

	number(&p, PROM_GAUGE, "up", "1 if the module has answered.", !!d);
	prom_family(&p, PROM_GAUGE, "build_info", "Always 1; version of this program.");
	prom_begin(&p);
	prom_label(&p, "version", SEEPAGE_CTL_VERSION, strlen(SEEPAGE_CTL_VERSION));
	prom_end(&p, 1, 0);
	if (d) {
		write_module_info(&p, d);
		write_module_figures(&p, d->status);
		write_module_counters(&p, d->status);
		write_states(&p, d);
		write_alerts(&p, d);
		export_groups(&p, d);
		export_silences(&p, &d->silences);
		export_pressure(&p, &d->pressure);
		write_machine_events(&p, &d->pmc);
		export_processes(&p, d);
		export_units(&p, d);
	}
	return must(fclose(p.f) ? NULL : text);
}
