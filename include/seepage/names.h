/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one source of what the enums of the uapi header are called and mean: name, unit,
 * default, range and help text. The module (parameters, debugfs, extack texts), the
 * controller (arguments, JSON keys, HELP lines of export), the manual pages
 * (scripts/gen-man) and the tests are made from these lists. An enumerator without an
 * entry does not compile.
 */
#ifndef SEEPAGE_NAMES_H
#define SEEPAGE_NAMES_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#else
#include <assert.h>
#endif
#include <linux/seepage.h>

/* X(ID, name, default, min, max, what it is) -- plain numbers, units in the name */
#define SEEPAGE_CONFIG_NUMBERS(X)						\
	X(SAMPLE_INTERVAL_MS, sample_interval_ms, 10000, 100, 3600000,		\
	  "time between two samples of every process")				\
	X(SUSPECT_INTERVAL_MS, suspect_interval_ms, 1000, 100, 3600000,		\
	  "time between two samples of a process under watch")		\
	X(MAX_PROCESSES, max_processes, 8192, 16, 65536,			\
	  "most processes tracked at once")					\
	X(MIN_PROCESS_SIZE_MB, min_process_size_mb, 10, 0, 1048576,		\
	  "processes smaller than this raise no alert")				\
	X(ALERT_CONFIDENCE, alert_confidence, 70, 0, 100,			\
	  "an alert needs a confidence above this")				\
	X(ALERT_INTERVAL_S, alert_interval_s, 300, 0, 86400,			\
	  "least time between two alerts of one process, unless it gets worse")			\
	X(ALERTS_PER_MINUTE, alerts_per_minute, 60, 1, 100000,			\
	  "most alerts in a minute; one user other than root gets a quarter")		\
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
	X(PMC, pmc, WATCHED, "hardware counters")

/* X(KEY, WORD, word) */
#define SEEPAGE_CONFIG_WORD_VALUES(X)						\
	X(POLICY, LADDER, ladder)						\
	X(POLICY, CLASSIC, classic)						\
	X(PMC, AUTO, auto)							\
	X(PMC, OFF, off)							\
	X(PMC, HOLD, hold)							\
	X(PMC, ON, on)								\
	X(PMC, WATCHED, watched)

/* X(ID, name, unit, "help"): the states of a process or a group; no unit */
#define SEEPAGE_STATES(X)								\
	X(OK, ok, "",									\
	  "No leak is suspected.")							\
	X(WATCH, watch, "",								\
	  "It grows and is sampled every suspect_interval_ms; no alert.")		\
	X(SUSPECTED, suspected, "",							\
	  "It grows as a leak does and all gates are open; an alert.")			\
	X(CONFIRMED, confirmed, "",							\
	  "Suspected, and it has grown for longer than the gate patience asks "		\
	  "for; an alert.")								\
	X(RUNAWAY, runaway, "",								\
	  "Confirmed, with 15 minutes or less to exhaustion; an alert.")		\
	X(RECOVERED, recovered, "",							\
	  "It was under alert and no longer is.")					\
	X(EXITED, exited, "",								\
	  "It was under alert and has exited.")

/*
 * X(ID, name, unit, reader, "help"): what a verdict is made of. The unit is that of
 * value, and of baseline where the help names no other. Reader PERFMON: the factor is
 * about other processes too, so it is hidden from a reader with neither CAP_PERFMON nor
 * CAP_SYS_ADMIN.
 */
#define SEEPAGE_FACTORS(X)								\
	X(FAULT_RATE, fault_rate, "faults/s", ANY,					\
	  "Page faults per second; baseline: the threshold passed.")			\
	X(RSS_GROWTH, rss_growth, "percent", ANY,					\
	  "Growth over the first RSS seen; baseline: the threshold passed.")		\
	X(ANON_SHARE, anon_share, "percent", ANY,					\
	  "Share of anonymous page faults; baseline: the threshold passed.")		\
	X(VSZ_RSS, vsz_rss, "percent", ANY,						\
	  "Address space over RSS; baseline: the threshold passed.")			\
	X(FLOOR, floor, "bytes", ANY,							\
	  "Rise of the floor; baseline: the floor before the rise.")			\
	X(PERSIST, persist, "seconds", ANY,						\
	  "Time since the rise began; baseline: the patience asked for.")		\
	X(RELEASE, release, "permille", ANY,						\
	  "Share of the growth that was given back; baseline: 0.")			\
	X(RETAIN, retain, "permille", ANY,						\
	  "Pages kept for each anonymous page fault; baseline: 1000.")			\
	X(COLD, cold, "permille", ANY,							\
	  "Share of the growth that was not used again; baseline: 900.")		\
	X(PMC, pmc, "permille", ANY,							\
	  "Cache and TLB misses over the usual ones; baseline: 1100.")			\
	X(KIND, kind, "permille", ANY,							\
	  "Share of the growth that is of one kind of memory; baseline: that kind "	\
	  "(enum seepage_grew).")							\
	X(WORK, work, "bytes", ANY,							\
	  "Growth for each second of CPU time; baseline: that CPU time, "		\
	  "milliseconds.")								\
	X(POP, pop, "processes", PERFMON,						\
	  "Others of its name, user and cgroup that grow as well; baseline: all others.")

/*
 * The factors that a reader without CAP_PERFMON and CAP_SYS_ADMIN does not get, as a mask of
 * 1 << enum seepage_factor.
 */
#define SEEPAGE_READER_ANY		0U
#define SEEPAGE_READER_PERFMON		1U
#define SEEPAGE_READER_BIT(ID, name, unit, reader, help)				\
	| SEEPAGE_READER_##reader << SEEPAGE_FACTOR_##ID
#define SEEPAGE_FACTORS_PERFMON		(0U SEEPAGE_FACTORS(SEEPAGE_READER_BIT))

/* X(ID, name, unit, "help"): what holds an alert back. The unit is that of value and limit. */
#define SEEPAGE_GATES(X)								\
	X(SIZE, size, "bytes",								\
	  "RSS and swap; limit: min_process_size_mb.")					\
	X(WARMUP, warmup, "seconds",							\
	  "Age of the process; limit: warmup_s (policy classic).")			\
	X(RISING, rising, "bytes",							\
	  "Rise of the floor; limit: the rise needed.")					\
	X(SATURATION, saturation, "permille",						\
	  "Second half of the rise over the first; limit: the least that does not "	\
	  "level off.")									\
	X(PATIENCE, patience, "seconds",						\
	  "Time since the rise began; limit: the time needed.")				\
	X(HORIZON, horizon, "seconds",							\
	  "Time to exhaustion; limit: 180 days at most.")				\
	X(CONFIDENCE, confidence, "points",						\
	  "Points of all factors; limit: alert_confidence, to be exceeded.")		\
	X(NOVELTY, novelty, "bytes",							\
	  "Rise of the floor; limit: 1.5 times the highest rise given back "		\
	  "before.")									\
	X(ORIGIN, origin, "permille",							\
	  "Share of the growth that is new memory of its own; limit: the least.")	\
	X(COLD, cold, "permille",							\
	  "Share of the growth that was not used again; limit: the least.")		\
	X(SPREAD, spread, "permille",							\
	  "Share of the processes of a group that do not grow individually; "		\
	  "limit: the least.")

/* X(ID, name, unit, "help"): what of a process a verdict is about */
#define SEEPAGE_SUBJECTS(X)								\
	X(MEMORY, memory, "bytes",							\
	  "Anonymous memory, swap, shared memory and page tables of a process.")	\
	X(VSZ, vsz, "bytes",								\
	  "Address space of a process that never held memory.")				\
	X(GROUP, group, "bytes",							\
	  "Memory of all processes of one name and user in one cgroup, without shared "	\
	  "memory.")

/* X(ID, name, unit, "help"): states of a hardware event; no unit */
#define SEEPAGE_PMC_STATES(X)								\
	X(COUNTING, counting, "",							\
	  "It has a hardware counter now.")						\
	X(WAITING, waiting, "",								\
	  "Its turn has not come yet, or nothing counts now.")				\
	X(UNAVAILABLE, unavailable, "",							\
	  "It cannot be counted; the reason says why.")

/* X(ID, name, unit, "help"): what is unusual about a process, from hardware counters */
#define SEEPAGE_PMC_SIGNALS(X)								\
	X(LLC_DIVERGENCE, llc_divergence, "permille",					\
	  "The share of last-level references that miss, in eight samples, is 1.3 "	\
	  "times that in the eight before.")						\
	X(LLC_Z_SCORE, llc_z_score, "permille",						\
	  "The share of last-level references that miss is three standard "		\
	  "deviations above its mean.")							\
	X(TLB_PRESSURE, tlb_pressure, "permille",					\
	  "dTLB misses per instruction are twice the usual ones.")			\
	X(TLB_EFFICIENCY, tlb_efficiency, "percent",					\
	  "Fewer than 95 % of loads need no page walk.")				\
	X(BANDWIDTH, bandwidth, "bytes/s",						\
	  "Reads from memory are twice their moving average (alpha 0.1).")		\
	X(NODE_IMBALANCE, node_imbalance, "percent",					\
	  "Most node loads come from another node.")

/* X(ID, name, unit, "help"): what a process would exhaust first */
#define SEEPAGE_LIMITS(X)								\
	X(RAM, ram, "bytes",								\
	  "Available memory and free swap.")						\
	X(AS, rlimit_as, "bytes",							\
	  "The process limit RLIMIT_AS, address space.")				\
	X(DATA, rlimit_data, "bytes",							\
	  "The process limit RLIMIT_DATA, data.")					\
	X(CGROUP, cgroup, "bytes",							\
	  "Limit of its cgroup, memory.max or high, known while a watcher sends it.")	\
	X(MAPS, max_map_count, "mappings",						\
	  "Mappings that a process may have (vm.max_map_count).")			\
	X(TASK_SIZE, task_size, "bytes",						\
	  "Addresses that a process can have: 4 GB at most in a 32-bit one.")

/* X(ID, name, unit, "help"): what was done, skipped or dropped */
#define SEEPAGE_COUNTERS(X)								\
	X(BIRTHS, births, "processes",							\
	  "Processes that began to be tracked.")					\
	X(DEATHS, deaths, "processes",							\
	  "Tracked processes that ended, or that are no longer tracked (exchanged).")	\
	X(EXECS, execs, "programs",							\
	  "Programs executed.")								\
	X(FORKS, forks, "processes",							\
	  "Processes forked, without threads.")						\
	X(EXITS, exits, "processes",							\
	  "Processes exited, without threads.")						\
	X(SAMPLES, samples, "samples",							\
	  "Samples taken, each of one process.")					\
	X(TABLE_FULL, table_full, "attempts",						\
	  "Attempts to track a process that were refused because max_processes "	\
	  "are tracked; one process may be refused many times.")			\
	X(POOL_EMPTY, pool_empty, "attempts",						\
	  "Attempts to track a process that were put off for want of a free "		\
	  "record; they are repeated.")							\
	X(ALLOC_FAILED, alloc_failed, "allocations",					\
	  "Times the kernel had no memory for something of the module: records, "		\
	  "histories, groups, messages, counters.")					\
	X(FAULTS_UNTRACKED, faults_untracked, "faults",					\
	  "Page faults of processes that are not tracked.")				\
	X(FAULTS_NO_MM, faults_no_mm, "faults",						\
	  "Page faults of kernel threads.")						\
	X(FAULTS_NESTED, faults_nested, "faults",					\
	  "Page faults inside the module's own accounting.")				\
	X(ALERTS, alerts, "alerts",							\
	  "Alerts raised.")								\
	X(ALERTS_SUPPRESSED, alerts_suppressed, "alerts",				\
	  "Alerts held back by alert_interval_s or alerts_per_minute.")			\
	X(ALERTS_OVERWRITTEN, alerts_overwritten, "alerts",				\
	  "Alerts that fell out of the ring.")						\
	X(NOTIFY_FAILED, notify_failed, "messages",					\
	  "Alerts, samples or series that could not be sent to every listener.")		\
	X(TICKS_STRETCHED, ticks_stretched, "passes",					\
	  "Times the interval was lengthened because of the cost of sampling.")		\
	X(HOOK_EVENTS_FAILED, hook_events_failed, "CPUs",				\
	  "CPUs on which page faults are not counted (hook software).")			\
	X(INVARIANTS_BROKEN, invariants_broken, "times",				\
	  "Broken invariants found; the first one switches the module off.")		\
	X(GROUPS_FULL, groups_full, "groups",						\
	  "Groups, or histories of groups, that were not begun because there are "	\
	  "too many, in all or of one user.")						\
	X(PMC_UNLEARNED, pmc_unlearned, "passes",					\
	  "Passes of processes of which nothing was learned because there were "	\
	  "too many.")									\
	X(SHARE_FULL, share_full, "attempts",						\
	  "Attempts to track a process that were refused because half of "		\
	  "max_processes are tracked for its user.")					\
	X(EXCHANGED, exchanged, "processes",						\
	  "Processes no longer tracked, in favour of others (see max_processes).")	\
	X(SUSPECTS_FULL, suspects_full, "times",					\
	  "Times that there was no room: processes under watch that short passes did not "	\
	  "read, and cgroups of which the growth was not added up.")			\
	X(PMC_CROSS_CALLS, pmc_cross_calls, "calls",					\
	  "Interrupts of CPUs so that hardware events take turns.")

/* Each list has one entry for each value of its enum; UNSPEC, where there is one, has none. */
#define SEEPAGE_ONE(...)	+ 1
#define SEEPAGE_ENTRIES(list)	(0 list(SEEPAGE_ONE))
static_assert(SEEPAGE_ENTRIES(SEEPAGE_CONFIG_NUMBERS) + SEEPAGE_ENTRIES(SEEPAGE_CONFIG_WORDS) ==
	      SEEPAGE_CFG_MAX, "SEEPAGE_CONFIG_*: not one entry for each seepage_cfg");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_STATES) == SEEPAGE_STATE_MAX + 1,
	      "SEEPAGE_STATES: not one entry for each seepage_state");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_FACTORS) == SEEPAGE_FACTOR_MAX,
	      "SEEPAGE_FACTORS: not one entry for each seepage_factor");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_GATES) == SEEPAGE_GATE_MAX,
	      "SEEPAGE_GATES: not one entry for each seepage_gate");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_SUBJECTS) == SEEPAGE_SUBJECT_MAX + 1,
	      "SEEPAGE_SUBJECTS: not one entry for each seepage_subject");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_PMC_STATES) == SEEPAGE_PMC_STATE_MAX + 1,
	      "SEEPAGE_PMC_STATES: not one entry for each seepage_pmc_state");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_PMC_SIGNALS) == SEEPAGE_PMC_SIGNAL_MAX + 1,
	      "SEEPAGE_PMC_SIGNALS: not one entry for each seepage_pmc_signal");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_LIMITS) == SEEPAGE_LIMIT_MAX + 1,
	      "SEEPAGE_LIMITS: not one entry for each seepage_limit");
static_assert(SEEPAGE_ENTRIES(SEEPAGE_COUNTERS) == SEEPAGE_COUNTER_MAX,
	      "SEEPAGE_COUNTERS: not one entry for each seepage_counter");

#endif /* SEEPAGE_NAMES_H */
