/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One name, unit, default and range for every enum of the uapi header. The
 * module (parameters, debugfs, extack texts), the controller (arguments, JSON
 * keys) and the tests expand these lists, so the names cannot drift apart.
 */
#ifndef SEEPAGE_NAMES_H
#define SEEPAGE_NAMES_H

#include <linux/seepage.h>

/* X(ID, name, default, min, max, what it is) -- plain numbers, units in the name */
#define SEEPAGE_CONFIG_NUMBERS(X)						\
	X(SAMPLE_INTERVAL_MS, sample_interval_ms, 10000, 100, 3600000,		\
	  "time between two samples of every process")				\
	X(SUSPECT_INTERVAL_MS, suspect_interval_ms, 1000, 100, 3600000,		\
	  "time between two samples of a process under suspicion")		\
	X(MAX_PROCESSES, max_processes, 8192, 16, 65536,			\
	  "most processes tracked at once")					\
	X(MIN_PROCESS_SIZE_MB, min_process_size_mb, 10, 0, 1048576,		\
	  "processes smaller than this raise no alert")				\
	X(ALERT_CONFIDENCE, alert_confidence, 70, 0, 100,			\
	  "an alert needs a confidence above this")				\
	X(ALERT_INTERVAL_S, alert_interval_s, 300, 0, 86400,			\
	  "least time between two alerts of one process, unless it gets worse")			\
	X(ALERTS_PER_MINUTE, alerts_per_minute, 60, 1, 100000,			\
	  "most alerts of all processes in a minute")				\
	X(FAULT_RATE_WARNING, fault_rate_warning, 500, 1, 1000000000,		\
	  "faults per second worth points (classic)")				\
	X(FAULT_RATE_CRITICAL, fault_rate_critical, 1000, 1, 1000000000,	\
	  "faults per second worth all points (classic)")			\
	X(RSS_GROWTH_PERCENT, rss_growth_percent, 200, 51, 1000000,		\
	  "growth over the first RSS worth all points (classic)")		\
	X(MONITORING_WINDOW_S, monitoring_window_s, 60, 10, 150,		\
	  "window of the fault rate")						\
	X(WARMUP_S, warmup_s, 300, 0, 86400,					\
	  "age before a process can raise an alert (classic)")			\
	X(MAX_CPU_PERMILLE, max_cpu_permille, 5, 1, 1000,			\
	  "share of one CPU that sampling may use")				\
	X(PMC_MAX_COUNTERS, pmc_max_counters, 4, 1, 8,				\
	  "hardware counters used at once")

/* X(ID, name, default word, what it is): the value is a word of the list below */
#define SEEPAGE_CONFIG_WORDS(X)							\
	X(POLICY, policy, LADDER, "how a verdict is reached")			\
	X(PMC, pmc, AUTO, "hardware counters")

/* X(KEY, WORD, word) */
#define SEEPAGE_CONFIG_WORD_VALUES(X)						\
	X(POLICY, LADDER, ladder)						\
	X(POLICY, CLASSIC, classic)						\
	X(PMC, AUTO, auto)							\
	X(PMC, OFF, off)							\
	X(PMC, HOLD, hold)							\
	X(PMC, ON, on)

/* X(ID, name) */
#define SEEPAGE_STATES(X)							\
	X(OK, ok) X(WATCH, watch) X(SUSPECTED, suspected)			\
	X(CONFIRMED, confirmed) X(RUNAWAY, runaway)				\
	X(RECOVERED, recovered) X(EXITED, exited)

/* X(ID, name, unit of value and, but for kind and work, of baseline) */
#define SEEPAGE_FACTORS(X)							\
	X(FAULT_RATE, fault_rate, "faults/s")					\
	X(RSS_GROWTH, rss_growth, "percent")					\
	X(ANON_SHARE, anon_share, "percent")					\
	X(VSZ_RSS, vsz_rss, "percent")						\
	X(FLOOR, floor, "bytes")						\
	X(PERSIST, persist, "seconds")						\
	X(RELEASE, release, "permille")						\
	X(RETAIN, retain, "permille")						\
	X(COLD, cold, "permille")						\
	X(PMC, pmc, "permille")						\
	X(KIND, kind, "permille")						\
	X(WORK, work, "bytes")							\
	X(POP, pop, "processes")

/* X(ID, name, unit of value and limit) */
#define SEEPAGE_GATES(X)							\
	X(SIZE, size, "bytes")							\
	X(WARMUP, warmup, "seconds")						\
	X(RISING, rising, "bytes")						\
	X(SATURATION, saturation, "permille")					\
	X(PATIENCE, patience, "seconds")					\
	X(HORIZON, horizon, "seconds")						\
	X(CONFIDENCE, confidence, "points")					\
	X(NOVELTY, novelty, "bytes")						\
	X(OWN, own, "permille")							\
	X(COLD, cold, "permille")						\
	X(SPREAD, spread, "permille")

/* X(ID, name): what a verdict is about */
#define SEEPAGE_SERIES(X)							\
	X(MEMORY, memory) X(VSZ, vsz) X(GROUP, group)

/* X(ID, name) */
#define SEEPAGE_PMC_STATES(X)							\
	X(COUNTING, counting) X(WAITING, waiting) X(UNAVAILABLE, unavailable)

/* X(ID, name): what is unusual about a process, from hardware counters */
#define SEEPAGE_PMC_SIGNALS(X)							\
	X(LLC_DIVERGENCE, llc_divergence) X(LLC_Z_SCORE, llc_z_score)		\
	X(TLB_PRESSURE, tlb_pressure) X(TLB_EFFICIENCY, tlb_efficiency)		\
	X(BANDWIDTH, bandwidth) X(NODE_IMBALANCE, node_imbalance)

/* X(ID, name): what a process would run into first */
#define SEEPAGE_LIMITS(X)							\
	X(RAM, ram) X(AS, rlimit_as) X(DATA, rlimit_data)			\
	X(CGROUP, cgroup) X(MAPS, max_map_count)

/* X(ID, name) */
#define SEEPAGE_COUNTERS(X)							\
	X(BIRTHS, births) X(DEATHS, deaths) X(EXECS, execs) X(FORKS, forks)	\
	X(EXITS, exits) X(SAMPLES, samples) X(TABLE_FULL, table_full)		\
	X(POOL_EMPTY, pool_empty) X(ALLOC_FAILED, alloc_failed)			\
	X(FAULTS_UNTRACKED, faults_untracked) X(FAULTS_NO_MM, faults_no_mm)	\
	X(FAULTS_NESTED, faults_nested) X(ALERTS, alerts)				\
	X(ALERTS_SUPPRESSED, alerts_suppressed)					\
	X(ALERTS_OVERWRITTEN, alerts_overwritten)				\
	X(NOTIFY_FAILED, notify_failed) X(TICKS_STRETCHED, ticks_stretched)	\
	X(HOOK_EVENTS_FAILED, hook_events_failed)				\
	X(INVARIANTS_BROKEN, invariants_broken)					\
	X(GROUPS_FULL, groups_full) X(PMC_UNLEARNED, pmc_unlearned)

#endif /* SEEPAGE_NAMES_H */
