// SPDX-License-Identifier: GPL-2.0
/*
 * The page: then what is known of single processes. The samples of a family
 * stand together, so each one goes over all processes.
 */
#include <stdlib.h>
#include <string.h>
#include "export.h"
#include "stat.h"

static void begin(struct prom *p, const struct export_process *o)
{
	const char *comm;
	size_t len = rec_string(o->rec, SEEPAGE_A_COMM, &comm);

	prom_begin(p);
	prom_label_number(p, "pid", rec_get(o->rec, SEEPAGE_A_PID, 0));
	prom_label(p, "comm", comm, len);
}

#define EACH(o, d)	for ((o) = (d)->process; (o) < (d)->process + (d)->n; (o)++)

/* ---- who it is ---- */

static void label_name(struct prom *p, const char *label, const char *name)
{
	prom_label(p, label, name, name ? strlen(name) : 0);
}

static void tell_info(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	u64 v;

	prom_family(p, PROM_GAUGE, "process_info",
		    "Whose process it is, and where; what its verdict is about, and what it would "
		    "exhaust.");
	EACH(o, d) {
		begin(p, o);
		if (rec_u64(o->rec, SEEPAGE_A_UID, &v))
			prom_label_number(p, "uid", v);
		label_name(p, "exe", o->place.exe);
		label_name(p, "cgroup", o->place.cgroup);
		if (rec_u64(o->rec, SEEPAGE_A_SERIES, &v))
			label_name(p, "series", series_name((unsigned int)v));
		if (rec_u64(o->rec, SEEPAGE_A_LIMIT, &v))
			label_name(p, "limit", limit_name((unsigned int)v));
		prom_end(p, 1, 0);
	}
}

/* One of them is 1. */
static void tell_state(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	unsigned int i;

	prom_family(p, PROM_GAUGE, "process_state", "1 for the state that the process is in.");
	EACH(o, d) {
		for (i = 0; i < __SEEPAGE_STATE_MAX; i++) {
			begin(p, o);
			label_name(p, "state", state_name(i));
			prom_end(p, rec_get(o->rec, SEEPAGE_A_STATE, UINT64_MAX) == i, 0);
		}
	}
}

/* ---- figures that are one attribute each ---- */

static const struct {
	const char *name, *help;
	u8 id, decimals;
} figures[] = {
	{ "process_confidence", "Points for a leak, 0 to 100.", SEEPAGE_A_CONFIDENCE, 0 },
	{ "process_rss_bytes", "Anonymous, file and shared memory resident.",
	  SEEPAGE_A_RSS_BYTES, 0 },
	{ "process_anon_bytes", "Anonymous memory resident.", SEEPAGE_A_ANON_BYTES, 0 },
	{ "process_file_bytes", "File memory resident.", SEEPAGE_A_FILE_BYTES, 0 },
	{ "process_shmem_bytes", "Shared memory resident.", SEEPAGE_A_SHMEM_BYTES, 0 },
	{ "process_swap_bytes", "Memory swapped out.", SEEPAGE_A_SWAP_BYTES, 0 },
	{ "process_vsz_bytes", "Address space.", SEEPAGE_A_VSZ_BYTES, 0 },
	{ "process_exhaustion_seconds", "Time to exhaustion at the growth that there is.",
	  SEEPAGE_A_TTE_SECONDS, 0 },
	{ "process_unused_growth_ratio", "Share of what was gained that was not used again.",
	  SEEPAGE_A_COLD_PERMILLE, 3 },
	{ "process_age_seconds", "Time since fork or exec.", SEEPAGE_A_AGE_SECONDS, 0 },
};

static void tell_figures(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	size_t i;
	u64 v;

	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		prom_family(p, PROM_GAUGE, figures[i].name, figures[i].help);
		EACH(o, d) {
			if (!rec_u64(o->rec, figures[i].id, &v))
				continue;
			begin(p, o);
			prom_end(p, v, figures[i].decimals);
		}
	}
}

static void tell_faults(struct prom *p, const struct export_data *d)
{
	static const struct { const char *mode; u8 id; } modes[] = {
		{ "user", SEEPAGE_A_FAULTS_USER }, { "kernel", SEEPAGE_A_FAULTS_KERNEL },
	};
	const struct export_process *o;
	size_t i;
	u64 v;

	prom_family(p, PROM_COUNTER, "process_faults_total",
		    "Page faults, by the mode they came in.");
	EACH(o, d) {
		for (i = 0; i < ARRAY_SIZE(modes); i++) {
			if (!rec_u64(o->rec, modes[i].id, &v))
				continue;
			begin(p, o);
			label_name(p, "mode", modes[i].mode);
			prom_end(p, v, 0);
		}
	}
}

/* ---- growth ---- */

static void tell_rate(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	s64 v;

	prom_family(p, PROM_GAUGE, "process_growth_bytes_per_second",
		    "Growth of the floor of what the verdict is about, or of memory.");
	EACH(o, d) {
		if (!rec_s64(o->rec, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &v))
			continue;
		begin(p, o);
		prom_end_signed(p, (double)v / 3600);
	}
}

/* What the factor @id found; false: it is none of the verdict, or found nothing */
static bool factor_value(const struct rec *rec, unsigned int id, u64 *v)
{
	struct factor f[REC_LIST_MAX];
	unsigned int n = rec_factors(rec, f);

	while (n--) {
		if (f[n].id == id && f[n].has_value && f[n].value > 0) {
			*v = (u64)f[n].value;
			return true;
		}
	}
	return false;
}

static void tell_onset(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	u64 v;

	prom_family(p, PROM_GAUGE, "process_growth_onset_timestamp_seconds",
		    "When the rise of the floor began, since 1970.");
	EACH(o, d) {
		if (!factor_value(o->rec, SEEPAGE_FACTOR_PERSIST, &v) || v > d->now_s)
			continue;
		begin(p, o);
		prom_end(p, d->now_s - v, 0);
	}
	prom_family(p, PROM_GAUGE, "process_growth_rise_bytes",
		    "What the floor has risen by since then.");
	EACH(o, d) {
		if (!factor_value(o->rec, SEEPAGE_FACTOR_FLOOR, &v))
			continue;
		begin(p, o);
		prom_end(p, v, 0);
	}
}

/* ---- hardware counters ---- */

/* Raw counts: scaled ones may fall, which a counter must not. */
static void tell_events(struct prom *p, const struct export_data *d, const struct stat_block *b)
{
	static const struct { const char *name, *help; size_t at; u8 decimals; } kinds[] = {
		{ "process_pmc_events_total", "What was counted, not scaled.",
		  offsetof(struct seepage_pmc_value, count), 0 },
		{ "process_pmc_enabled_seconds_total",
		  "Time in which it ran and the event was wanted.",
		  offsetof(struct seepage_pmc_value, enabled_ns), 9 },
		{ "process_pmc_running_seconds_total", "Of that, time in which it had a counter.",
		  offsetof(struct seepage_pmc_value, running_ns), 9 },
	};
	const struct export_process *o;
	size_t kind, i;
	u64 v;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		prom_family(p, PROM_COUNTER, kinds[kind].name, kinds[kind].help);
		EACH(o, d) {
			const struct stat_block *own = &b[o - d->process];

			for (i = 0; own->pid && i < d->pmc.n; i++) {
				if (pmc_unavailable(&d->pmc.ev[i]) && !own->v[i].count)
					continue;
				memcpy(&v, (const char *)&own->v[i] + kinds[kind].at, sizeof(v));
				begin(p, o);
				label_name(p, "event", d->pmc.ev[i].name);
				prom_end(p, v, kinds[kind].decimals);
			}
		}
	}
}

#define FIGURE(field)	.at = offsetof(struct seep_pmc_figures, field)

/* Of all that was counted of it */
static void tell_metrics(struct prom *p, const struct export_data *d,
			 const struct seep_pmc_figures *f)
{
	static const struct { const char *name, *help; struct stat_metric m; } metrics[] = {
		{ "process_instructions_per_cycle", "Instructions per cycle.",
		  { FIGURE(ipc), .decimals = 3 } },
		{ "process_llc_misses_per_1000_instructions",
		  "Last-level misses in 1000 instructions.", { FIGURE(llc_mpmi), .decimals = 3 } },
		{ "process_llc_miss_ratio", "Share of last-level references that miss.",
		  { FIGURE(llc_miss_share), .decimals = 6 } },
		{ "process_dtlb_misses_per_1000_instructions",
		  "Data TLB misses in 1000 instructions.", { FIGURE(dtlb_mpmi), .decimals = 3 } },
		{ "process_tlb_efficiency_ratio", "Share of loads that need no page walk.",
		  { FIGURE(tlb_efficiency), .decimals = 6 } },
		{ "process_page_walk_ratio", "Share of cycles in page walks.",
		  { FIGURE(walk_share), .decimals = 6 } },
		{ "process_remote_node_ratio", "Share of node loads from another node.",
		  { FIGURE(remote_share), .decimals = 6 } },
	};
	const struct export_process *o;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(metrics); i++) {
		prom_family(p, PROM_GAUGE, metrics[i].name, metrics[i].help);
		EACH(o, d) {
			u64 v = stat_figure(&f[o - d->process], &metrics[i].m);

			if (v == SEEP_UNKNOWN)
				continue;
			begin(p, o);
			prom_end(p, v, metrics[i].m.decimals);
		}
	}
}

/* What is learned of it */
static void tell_learned(struct prom *p, const struct export_data *d, const struct stat_block *b)
{
	const struct export_process *o;
	unsigned int i;

	prom_family(p, PROM_GAUGE, "process_read_bytes_per_second",
		    "Read from memory in a second, moving average of an estimate.");
	EACH(o, d) {
		const struct stat_block *own = &b[o - d->process];

		if (!own->learned || own->usual.read_mean == SEEPAGE_PMC_UNKNOWN)
			continue;
		begin(p, o);
		prom_end(p, (u64)own->usual.read_mean << 10, 0);
	}
	prom_family(p, PROM_GAUGE, "process_pmc_signal",
		    "1 if this was unusual about the process in the last pass.");
	EACH(o, d) {
		const struct stat_block *own = &b[o - d->process];

		for (i = 0; own->learned && i < __SEEPAGE_PMC_SIGNAL_MAX; i++) {
			begin(p, o);
			label_name(p, "signal", pmc_signal_name(i));
			prom_end(p, own->usual.signals >> i & 1, 0);
		}
	}
}

/* A block is all zero, with pid 0, where the counts are of another list of events. */
static void tell_pmc(struct prom *p, const struct export_data *d)
{
	struct stat_block *b = must(calloc(d->n + 1, sizeof(*b)));
	struct seep_pmc_figures *f = must(calloc(d->n + 1, sizeof(*f)));
	size_t i;

	for (i = 0; i < d->n; i++) {
		struct rec rec = *d->process[i].rec;

		if (!d->pmc.n || !stat_process(&rec, &d->pmc, &b[i]))
			memset(&b[i], 0, sizeof(b[i]));
		stat_figures(&d->pmc, &b[i], &f[i]);
	}
	tell_events(p, d, b);
	tell_metrics(p, d, f);
	tell_learned(p, d, b);
	free(b);
	free(f);
}

void export_processes(struct prom *p, const struct export_data *d)
{
	tell_info(p, d);
	tell_state(p, d);
	tell_figures(p, d);
	tell_faults(p, d);
	tell_rate(p, d);
	tell_onset(p, d);
	tell_pmc(p, d);
}
