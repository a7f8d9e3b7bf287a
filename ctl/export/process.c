// SPDX-License-Identifier: GPL-2.0
/*
 * The second part of the page: single processes. The format keeps the samples of a
 * family together, so each family loops over all processes.
 */
#include <stdlib.h>
#include <string.h>
#include "export/export.h"
#include "stat/stat.h"

static void begin(struct prom *p, const struct export_process *o)
{
	const char *comm;
	size_t len = msg_string(o->msg, SEEPAGE_A_COMM, &comm);

	prom_begin(p);
	prom_label_number(p, "pid", msg_get(o->msg, SEEPAGE_A_PID, 0));
	prom_label(p, "comm", comm, len);
}

#define EACH(o, d)	for ((o) = (d)->process; (o) < (d)->process + (d)->n; (o)++)

/* ---- identity and state ---- */

static void label_name(struct prom *p, const char *label, const char *name)
{
	prom_label(p, label, name, name ? strlen(name) : 0);
}

static void write_info(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	struct unit_name unit;
	char text[192];
	u64 v;

	prom_family(p, PROM_GAUGE, "process_info",
		    "Always 1; labels: user, executable, cgroup, unit or container, subject of "
		    "the verdict and the limit that growth reaches first.");
	EACH(o, d) {
		begin(p, o);
		if (msg_u64(o->msg, SEEPAGE_A_UID, &v))
			prom_label_number(p, "uid", v);
		label_name(p, "exe", o->place.exe);
		label_name(p, "cgroup", o->place.cgroup);
		unit_of(o->place.cgroup, &unit);
		unit_text(&unit, text, sizeof(text));
		label_name(p, "unit", *text ? text : NULL);
		if (msg_u64(o->msg, SEEPAGE_A_SUBJECT, &v))
			label_name(p, "subject", subject_name((unsigned int)v));
		if (msg_u64(o->msg, SEEPAGE_A_LIMIT, &v))
			label_name(p, "limit", limit_name((unsigned int)v));
		prom_end(p, 1, 0);
	}
}

/* Prints every state of each process; the current one is 1, the others are 0. */
static void write_state(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	unsigned int i;

	prom_family(p, PROM_GAUGE, "process_state", "1 for the state that the process is in.");
	EACH(o, d) {
		for (i = 0; i < __SEEPAGE_STATE_MAX; i++) {
			begin(p, o);
			label_name(p, "state", state_name(i));
			prom_end(p, msg_get(o->msg, SEEPAGE_A_STATE, UINT64_MAX) == i, 0);
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
	{ "process_exhaustion_seconds", "Time to exhaustion at the current growth.",
	  SEEPAGE_A_TTE_SECONDS, 0 },
	{ "process_unused_growth_ratio", "Share of the gained memory that was not used again.",
	  SEEPAGE_A_COLD_PERMILLE, 3 },
	{ "process_age_seconds", "Time since fork or exec.", SEEPAGE_A_AGE_SECONDS, 0 },
};

static void write_figures(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	size_t i;
	u64 v;

	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		prom_family(p, PROM_GAUGE, figures[i].name, figures[i].help);
		EACH(o, d) {
			if (!msg_u64(o->msg, figures[i].id, &v))
				continue;
			begin(p, o);
			prom_end(p, v, figures[i].decimals);
		}
	}
}

static void write_faults(struct prom *p, const struct export_data *d)
{
	static const struct { const char *mode; u8 id; } modes[] = {
		{ "user", SEEPAGE_A_FAULTS_USER }, { "kernel", SEEPAGE_A_FAULTS_KERNEL },
	};
	const struct export_process *o;
	size_t i;
	u64 v;

	prom_family(p, PROM_COUNTER, "process_faults_total",
		    "Page faults, by CPU mode.");
	EACH(o, d) {
		for (i = 0; i < ARRAY_SIZE(modes); i++) {
			if (!msg_u64(o->msg, modes[i].id, &v))
				continue;
			begin(p, o);
			label_name(p, "mode", modes[i].mode);
			prom_end(p, v, 0);
		}
	}
}

/* ---- growth ---- */

static void write_growth(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	s64 v;

	prom_family(p, PROM_GAUGE, "process_growth_bytes_per_second",
		    "Growth of the floor of the verdict's subject, memory if it has none.");
	EACH(o, d) {
		if (!msg_s64(o->msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &v))
			continue;
		begin(p, o);
		prom_end_signed(p, (double)v / 3600);
	}
}

/* Reads the value of factor @id. Returns false if it is missing or not above 0. */
static bool factor_value(const struct message *msg, unsigned int id, u64 *v)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f);

	while (n--) {
		if (f[n].id == id && f[n].has_value && f[n].value > 0) {
			*v = (u64)f[n].value;
			return true;
		}
	}
	return false;
}

static void write_rise(struct prom *p, const struct export_data *d)
{
	const struct export_process *o;
	u64 v;

	prom_family(p, PROM_GAUGE, "process_growth_onset_timestamp_seconds",
		    "Time when the rise of the floor began, since 1970.");
	EACH(o, d) {
		if (!factor_value(o->msg, SEEPAGE_FACTOR_PERSIST, &v) || v > d->now_s)
			continue;
		begin(p, o);
		prom_end(p, d->now_s - v, 0);
	}
	prom_family(p, PROM_GAUGE, "process_growth_rise_bytes",
		    "Rise of the floor since then.");
	EACH(o, d) {
		if (!factor_value(o->msg, SEEPAGE_FACTOR_FLOOR, &v))
			continue;
		begin(p, o);
		prom_end(p, v, 0);
	}
}

/* ---- hardware counters ---- */

/* Prints unscaled counts: scaled ones may fall, which a counter must not do. */
static void write_events(struct prom *p, const struct export_data *d, const struct stat_block *b)
{
	static const struct { const char *name, *help; size_t at; u8 decimals; } kinds[] = {
		{ "process_pmc_events_total", "Events counted, not scaled.",
		  offsetof(struct seepage_pmc_value, count), 0 },
		{ "process_pmc_enabled_seconds_total",
		  "Time in which the process ran and the event was enabled.",
		  offsetof(struct seepage_pmc_value, enabled_ns), 9 },
		{ "process_pmc_running_seconds_total", "Part of it in which it had a counter.",
		  offsetof(struct seepage_pmc_value, running_ns), 9 },
	};
	const struct export_process *o;
	size_t kind, i;
	u64 v;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		prom_family(p, PROM_COUNTER, kinds[kind].name, kinds[kind].help);
		EACH(o, d) {
			const struct stat_block *block = &b[o - d->process];

			for (i = 0; block->pid && i < d->pmc.n; i++) {
				if (pmc_unavailable(&d->pmc.ev[i]) && !block->v[i].count)
					continue;
				memcpy(&v, (const char *)&block->v[i] + kinds[kind].at, sizeof(v));
				begin(p, o);
				label_name(p, "event", d->pmc.ev[i].name);
				prom_end(p, v, kinds[kind].decimals);
			}
		}
	}
}

#define FIGURE(field)	.at = offsetof(struct seep_pmu_figures, field)

/* Prints ratios of the counts since the process was first seen. */
static void write_metrics(struct prom *p, const struct export_data *d,
			  const struct seep_pmu_figures *f)
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

/* Prints the learned baseline of each process. */
static void write_learned(struct prom *p, const struct export_data *d, const struct stat_block *b)
{
	const struct export_process *o;
	unsigned int i;

	prom_family(p, PROM_GAUGE, "process_read_bytes_per_second",
		    "Estimated rate of reads from memory, moving average.");
	EACH(o, d) {
		const struct stat_block *block = &b[o - d->process];

		if (!block->learned || block->usual.read_mean == SEEPAGE_PMC_UNKNOWN)
			continue;
		begin(p, o);
		prom_end(p, (u64)block->usual.read_mean << 10, 0);
	}
	prom_family(p, PROM_GAUGE, "process_pmc_signal",
		    "1 if the process deviated from its baseline in this way in the last pass.");
	EACH(o, d) {
		const struct stat_block *block = &b[o - d->process];

		for (i = 0; block->learned && i < __SEEPAGE_PMC_SIGNAL_MAX; i++) {
			begin(p, o);
			label_name(p, "signal", pmc_signal_name(i));
			prom_end(p, block->usual.signals >> i & 1, 0);
		}
	}
}

/* A process with counts of another event list gets a block of zeros: pid 0 prints nothing. */
static void write_counts(struct prom *p, const struct export_data *d)
{
	struct stat_block *b = must(calloc(d->n + 1, sizeof(*b)));
	struct seep_pmu_figures *f = must(calloc(d->n + 1, sizeof(*f)));
	size_t i;

	for (i = 0; i < d->n; i++) {
		struct message msg = *d->process[i].msg;

		if (!d->pmc.n || !stat_process(&msg, &d->pmc, &b[i]))
			memset(&b[i], 0, sizeof(b[i]));
		stat_figures(&d->pmc, &b[i], &f[i]);
	}
	write_events(p, d, b);
	write_metrics(p, d, f);
	write_learned(p, d, b);
	free(b);
	free(f);
}

void export_processes(struct prom *p, const struct export_data *d)
{
	write_info(p, d);
	write_state(p, d);
	write_figures(p, d);
	write_faults(p, d);
	write_growth(p, d);
	write_rise(p, d);
	write_counts(p, d);
}
