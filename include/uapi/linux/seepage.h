/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * seepage: generic netlink interface, family "seepage", version 1
 *
 * This comment is the manual of the interface. Every message is a genlmsghdr
 * followed by attributes of enum seepage_attr. u64 and s64 attributes are
 * 8-byte aligned with SEEPAGE_A_PAD. A value that is not known is left out,
 * it is never sent as 0. Enums only grow; numbers are never reused.
 *
 * Permissions, all in the initial user namespace: reading everything needs
 * CAP_PERFMON or CAP_SYS_ADMIN (without either, GET_PROC answers for the
 * caller's own processes and the rest is -EPERM); SET_CONFIG, RESET,
 * SET_EVIDENCE and joining a multicast group need CAP_SYS_ADMIN. The family exists in the
 * initial network namespace only. Process ids in a reply are those of the
 * reader's pid namespace, in a multicast those of the initial one.
 *
 * What a request may not hold (an attribute that it does not take, a wrong
 * length, a value out of range) is -EINVAL. Every refusal carries an extended
 * ack text (NLMSGERR_ATTR_MSG), but for a dump that is -EPERM on kernels up to
 * 6.1 (at least), whose core has no place for it.
 *
 * GET_STATUS  do     request: -
 *                    reply:   VERSION INSTANCE HOOK PROCESSES REC_BYTES
 *                             MEMORY_BYTES SEQ_FIRST SEQ_LAST TICKS
 *                             TICK_COST_NS TICK_COST_MAX_NS INTERVAL_MS
 *                             STRETCHED POLICY PMC [PMC_SET]
 *                             [PMC_EVENTS{ PMC_EVENT{ .. }.. }] [DISABLED]
 *                             COUNTERS{ counter.. }
 * GET_PROC    do     request: PID (thread ids are accepted)
 *                    reply:   a process (below) with GATES and HISTORY
 *             dump   request: [PID] [FILTER_STATES] [FILTER_MIN_CONFIDENCE]
 *                             [FILTER_UID] [FILTER_COMM]; all must hold
 *                    reply:   one message a process, by rising PID; a process
 *                             that is there all the time is told exactly once,
 *                             whatever it executes meanwhile
 * GET_CONFIG  do     request: -
 *                    reply:   CONFIG{ key.. }, all keys, and PMC_WANTED
 * SET_CONFIG  do     request: [CONFIG{ key.. }] [PMC_WANTED], the keys to change;
 *                             all of them are applied or none
 *                    reply:   ack only
 * GET_ALERTS  dump   request: [SINCE_SEQ] the first sequence number wanted
 *                    reply:   one message an alert, oldest first
 * RESET       do     request: RESET_WHAT, [PID] (with RESET_HISTORY only)
 *                    reply:   ack only
 * SET_EVIDENCE do    request: PID [COLD_PERMILLE] [LIMIT_BYTES] [CGROUP_USED_BYTES]
 *                    reply:   ack only
 * ALERT       multicast group "alert":  an alert
 * SAMPLE      multicast group "sample": a process, each time it was sampled
 *                    and any figure of it changed
 * SERIES      multicast group "series": what the detector was fed, for
 *                    `seepage record`: PASS_SEQ GONE, processes that have
 *                    ended; or, of a sampling pass, PASS_SEQ PASS_NS PASS_FULL
 *                    ROOM_BYTES POOL_BYTES CONFIG{ key.. } SAMPLE_SIZE SAMPLES
 *                    [PASS_END], as many messages as it takes, the last one with PASS_END.
 *                    A gap in PASS_SEQ is a message that was lost. Only a pass
 *                    that begins while somebody listens is told.
 *
 * a process:  PID COMM UID CGROUP_ID STATE POLICY CONFIDENCE SEVERITY RSS_BYTES
 *             ANON_BYTES FILE_BYTES SHMEM_BYTES SWAP_BYTES VSZ_BYTES BRK_BYTES
 *             [GROWTH_BYTES_PER_HOUR] [TTE_SECONDS] FAULTS_USER FAULTS_KERNEL
 *             FAULTS_ANON FAULTS_FILE FAULT_RATE AGE_SECONDS
 *             FACTORS{ FACTOR{ .. }.. } [GATES{ GATE{ .. }.. }]
 *             [HISTORY{ LEVEL{ .. }.. }] [COLD_PERMILLE] [COLD_AGE_SECONDS]
 *             [LIMIT] [SERIES] [MEMBERS] [PMC_SET] [PMC_VALUES] [PMC_BASELINE]
 *             Memory figures and fault counts are current; the verdict is that
 *             of the last sample. UID and CGROUP_ID are left out for a process
 *             that ended before they were known, PID where the reader's pid
 *             namespace has none for it (GET_ALERTS) or the process is left
 *             out altogether (GET_PROC dump).
 * an alert:   SEQ TIME_NS INSTANCE PREV_STATE and the process as it was then,
 *             with GATES
 *
 * Hardware counters are read where a CPU goes from one process to another. What
 * each event counted is in a process' PMC_VALUES, in the order of the status'
 * PMC_EVENTS if PMC_SET is the same in both; else the list has changed meanwhile.
 * Values are not scaled: of enabled_ns, the time that was counted at all, the
 * event had a counter for running_ns. COUNT of the status is what the counters of
 * all CPUs show, and is exactly what its KTHREADS, IDLE, OTHERS and ENDED and the
 * processes got together, once nothing counts any more (pmc hold) and the next pass
 * has found who ended. An event that is unavailable has a REASON. A process that
 * runs at the moment is up to date, in a dump to 10 ms. PMC_VALUES and PMC_BASELINE
 * need CAP_PERFMON or CAP_SYS_ADMIN, for one's own processes too: what the kernel
 * did for them is among it; but for the factor PMC, which is part of the verdict.
 * Of one that has run for a second PMC_BASELINE says what is usual for it. A sample
 * is a full pass in which it ran for 10 ms. Means are learned from samples in state
 * OK, and from the first 16; what is compared with them is of all samples. Signals
 * are of the last pass, none if it did not run; the divergence is of the last eight
 * samples that are complete. A place to learn in is made for an eighth of
 * max_processes; who has not run for an hour loses it to another.
 *
 * Evidence is what only user space can find out of a process: whether it uses
 * again what it gained, and what its cgroup may use. A request has one of these
 * at least; with a limit above 0 goes what is used. The time of receipt counts.
 * It holds until it is told anew, a limit for an hour at most; a reset of the
 * history and another program in the process forget it. -ESRCH: there is no
 * such process, or no record of it.
 */
#ifndef _UAPI_LINUX_SEEPAGE_H
#define _UAPI_LINUX_SEEPAGE_H

#include <linux/types.h>

#define SEEPAGE_GENL_NAME	"seepage"
#define SEEPAGE_GENL_VERSION	1
#define SEEPAGE_MCGRP_ALERT	"alert"
#define SEEPAGE_MCGRP_SAMPLE	"sample"
#define SEEPAGE_MCGRP_SERIES	"series"

#define SEEPAGE_COMM_LEN	16

enum seepage_cmd {
	SEEPAGE_CMD_UNSPEC,
	SEEPAGE_CMD_GET_STATUS,
	SEEPAGE_CMD_GET_PROC,
	SEEPAGE_CMD_GET_CONFIG,
	SEEPAGE_CMD_SET_CONFIG,
	SEEPAGE_CMD_GET_ALERTS,
	SEEPAGE_CMD_RESET,
	SEEPAGE_CMD_ALERT,		/* notification only */
	SEEPAGE_CMD_SAMPLE,		/* notification only */
	SEEPAGE_CMD_SERIES,		/* notification only */
	SEEPAGE_CMD_SET_EVIDENCE,

	__SEEPAGE_CMD_MAX,
	SEEPAGE_CMD_MAX = __SEEPAGE_CMD_MAX - 1
};

enum seepage_attr {
	SEEPAGE_A_UNSPEC,
	SEEPAGE_A_PAD,

	/* identity */
	SEEPAGE_A_PID,			/* u32, thread group id */
	SEEPAGE_A_COMM,			/* string, SEEPAGE_COMM_LEN with its NUL */
	SEEPAGE_A_UID,			/* u32, real uid in the reader's user ns */
	SEEPAGE_A_CGROUP_ID,		/* u64, inode of the cgroup v2 directory */

	/* verdict */
	SEEPAGE_A_STATE,		/* u8, enum seepage_state */
	SEEPAGE_A_PREV_STATE,		/* u8, enum seepage_state */
	SEEPAGE_A_POLICY,		/* u8, enum seepage_policy */
	SEEPAGE_A_CONFIDENCE,		/* u8, 0 to 100 */
	SEEPAGE_A_SEVERITY,		/* u8, 1 2 4 6 8 10, by STATE; classic: by RSS */
	SEEPAGE_A_FACTORS,		/* nest of SEEPAGE_A_FACTOR */
	SEEPAGE_A_FACTOR,		/* nest of enum seepage_factor_attr */
	SEEPAGE_A_GATES,		/* nest of SEEPAGE_A_GATE */
	SEEPAGE_A_GATE,			/* nest of enum seepage_gate_attr */

	/* memory, bytes */
	SEEPAGE_A_RSS_BYTES,		/* u64, anon + file + shmem */
	SEEPAGE_A_ANON_BYTES,		/* u64 */
	SEEPAGE_A_FILE_BYTES,		/* u64 */
	SEEPAGE_A_SHMEM_BYTES,		/* u64 */
	SEEPAGE_A_SWAP_BYTES,		/* u64 */
	SEEPAGE_A_VSZ_BYTES,		/* u64, total address space */
	SEEPAGE_A_BRK_BYTES,		/* u64, the brk heap */
	SEEPAGE_A_GROWTH_BYTES_PER_HOUR,/* s64, growth of the floor of SERIES, or memory */
	SEEPAGE_A_TTE_SECONDS,		/* u64, time to exhaustion at that growth */

	/* page faults on user addresses since the mm was first seen */
	SEEPAGE_A_FAULTS_USER,		/* u64, taken in user mode */
	SEEPAGE_A_FAULTS_KERNEL,	/* u64, taken in kernel mode */
	SEEPAGE_A_FAULTS_ANON,		/* u64, classified, see README */
	SEEPAGE_A_FAULTS_FILE,		/* u64, the rest */
	SEEPAGE_A_FAULT_RATE,		/* u32, per second over monitoring_window_s */
	SEEPAGE_A_AGE_SECONDS,		/* u64, since the program was executed or forked */

	/* alerts */
	SEEPAGE_A_SEQ,			/* u64, 1 is the first after load */
	SEEPAGE_A_TIME_NS,		/* u64, CLOCK_REALTIME */

	/* history, oldest first */
	SEEPAGE_A_HISTORY,		/* nest of SEEPAGE_A_LEVEL */
	SEEPAGE_A_LEVEL,		/* nest of enum seepage_level_attr */

	/* status */
	SEEPAGE_A_VERSION,		/* string */
	SEEPAGE_A_INSTANCE,		/* u64, new at every load of the module */
	SEEPAGE_A_HOOK,			/* string, "tracepoint" or "software" */
	SEEPAGE_A_PROCESSES,		/* u32, tracked and alive */
	SEEPAGE_A_REC_BYTES,		/* u32, memory per tracked process */
	SEEPAGE_A_MEMORY_BYTES,		/* u64, all memory the module has allocated */
	SEEPAGE_A_SEQ_FIRST,		/* u64, oldest alert in the ring, 0: none */
	SEEPAGE_A_SEQ_LAST,		/* u64, newest alert since load, in the ring or not */
	SEEPAGE_A_TICKS,		/* u64, sampling passes since load */
	SEEPAGE_A_TICK_COST_NS,		/* u64, of the last full pass */
	SEEPAGE_A_TICK_COST_MAX_NS,	/* u64 */
	SEEPAGE_A_INTERVAL_MS,		/* u32, in force (stretched when too dear) */
	SEEPAGE_A_STRETCHED,		/* u8, 1: longer than sample_interval_ms */
	SEEPAGE_A_PMC,			/* string, "on" or why not */
	SEEPAGE_A_DISABLED,		/* string, why the module stopped working */
	SEEPAGE_A_COUNTERS,		/* nest: type is enum seepage_counter, u64 */

	/* configuration */
	SEEPAGE_A_CONFIG,		/* nest: type is enum seepage_cfg, u32 */

	/* requests */
	SEEPAGE_A_FILTER_STATES,	/* u32, mask of 1 << enum seepage_state */
	SEEPAGE_A_FILTER_MIN_CONFIDENCE,/* u8, 0 to 100 */
	SEEPAGE_A_FILTER_UID,		/* u32 */
	SEEPAGE_A_FILTER_COMM,		/* string, equal to comm */
	SEEPAGE_A_SINCE_SEQ,		/* u64 */
	SEEPAGE_A_RESET_WHAT,		/* u32, mask of SEEPAGE_RESET_* */

	/* series */
	SEEPAGE_A_PASS_SEQ,		/* u64, of the message; 1 is the first after load */
	SEEPAGE_A_PASS_NS,		/* u64, CLOCK_MONOTONIC: begin of the pass, tells it */
	SEEPAGE_A_PASS_FULL,		/* u8, 1: of all processes, 0: of those under suspicion */
	SEEPAGE_A_PASS_END,		/* u8, 1: the last message of its pass */
	SEEPAGE_A_ROOM_BYTES,		/* u64, available memory and free swap */
	SEEPAGE_A_SAMPLE_SIZE,		/* u32, of each in SAMPLES; may grow at its end */
	SEEPAGE_A_SAMPLES,		/* binary: struct seepage_raw_sample[] */
	SEEPAGE_A_GONE,			/* binary: u64[], ids of struct seepage_raw_sample */

	/* evidence */
	SEEPAGE_A_COLD_PERMILLE,	/* u32, 0 to 1000: of what grew, not used again */
	SEEPAGE_A_COLD_AGE_SECONDS,	/* u64, since that was told */
	SEEPAGE_A_LIMIT,		/* u8, enum seepage_limit, what TTE_SECONDS leads to */
	SEEPAGE_A_SERIES,		/* u8, enum seepage_series, what the verdict is about */
	SEEPAGE_A_LIMIT_BYTES,		/* u64, that its cgroup may use, 0: no limit known */
	SEEPAGE_A_CGROUP_USED_BYTES,	/* u64, that cannot be reclaimed from it */

	/* of a sampling pass, and of a group's alert */
	SEEPAGE_A_POOL_BYTES,		/* u64, shared memory of the whole system */
	SEEPAGE_A_MEMBERS,		/* u32, processes of the group; figures are sums */

	/* hardware counters */
	SEEPAGE_A_PMC_WANTED,		/* string, configured events; empty: the default ones */
	SEEPAGE_A_PMC_SET,		/* u32, of the list of events; a new list, a new number */
	SEEPAGE_A_PMC_EVENTS,		/* nest of SEEPAGE_A_PMC_EVENT */
	SEEPAGE_A_PMC_EVENT,		/* nest of enum seepage_pmc_attr */
	SEEPAGE_A_PMC_VALUES,		/* binary: struct seepage_pmc_value[], one an event */
	SEEPAGE_A_PMC_BASELINE,		/* binary: struct seepage_pmc_baseline[], one */

	__SEEPAGE_A_MAX,
	SEEPAGE_A_MAX = __SEEPAGE_A_MAX - 1
};

/* In ascending order of alarm up to RUNAWAY; an alert is SUSPECTED or above. */
enum seepage_state {
	SEEPAGE_STATE_OK,
	SEEPAGE_STATE_WATCH,
	SEEPAGE_STATE_SUSPECTED,
	SEEPAGE_STATE_CONFIRMED,
	SEEPAGE_STATE_RUNAWAY,
	SEEPAGE_STATE_RECOVERED,	/* left an alert alive */
	SEEPAGE_STATE_EXITED,		/* left an alert dead */

	__SEEPAGE_STATE_MAX,
	SEEPAGE_STATE_MAX = __SEEPAGE_STATE_MAX - 1
};

enum seepage_policy {
	SEEPAGE_POLICY_LADDER,
	SEEPAGE_POLICY_CLASSIC,

	__SEEPAGE_POLICY_MAX,
	SEEPAGE_POLICY_MAX = __SEEPAGE_POLICY_MAX - 1
};

enum seepage_pmc {
	SEEPAGE_PMC_AUTO,		/* on, where reading a counter is cheap */
	SEEPAGE_PMC_OFF,
	SEEPAGE_PMC_HOLD,		/* nothing counts; what was counted stays readable */
	SEEPAGE_PMC_ON,

	__SEEPAGE_PMC_MAX,
	SEEPAGE_PMC_MAX = __SEEPAGE_PMC_MAX - 1
};

#define SEEPAGE_RESET_HISTORY	(1U << 0)	/* histories, states, verdicts */
#define SEEPAGE_RESET_ALERTS	(1U << 1)	/* empty the ring; numbers go on */
#define SEEPAGE_RESET_COUNTERS	(1U << 2)	/* counters and tick costs */
#define SEEPAGE_RESET_CONFIG	(1U << 3)	/* the values given at load */
#define SEEPAGE_RESET_ALL	(SEEPAGE_RESET_HISTORY | SEEPAGE_RESET_ALERTS | \
				 SEEPAGE_RESET_COUNTERS | SEEPAGE_RESET_CONFIG)

/*
 * What the verdict was made of. Units of value and baseline are in
 * include/seepage/names.h beside the names. The first four belong to the
 * policy classic, the rest to the policy ladder.
 */
enum seepage_factor {
	SEEPAGE_FACTOR_UNSPEC,
	SEEPAGE_FACTOR_FAULT_RATE,	/* faults/s against the threshold passed */
	SEEPAGE_FACTOR_RSS_GROWTH,	/* percent over baseline against threshold */
	SEEPAGE_FACTOR_ANON_SHARE,	/* percent of faults against threshold */
	SEEPAGE_FACTOR_VSZ_RSS,		/* VSZ in percent of RSS against threshold */
	SEEPAGE_FACTOR_FLOOR,		/* rise of the floor, bytes; floor at onset */
	SEEPAGE_FACTOR_PERSIST,		/* seconds it rises; seconds of patience */
	SEEPAGE_FACTOR_RELEASE,		/* permille of growth given back; 0 */
	SEEPAGE_FACTOR_RETAIN,		/* permille of a page kept per anon fault; 1000 */
	SEEPAGE_FACTOR_COLD,		/* permille of the growth not used again; 900 */
	SEEPAGE_FACTOR_PMC,		/* permille of the usual cache and TLB misses; 1100 */
	SEEPAGE_FACTOR_KIND,		/* permille of what it gained; which: enum seepage_grew */
	SEEPAGE_FACTOR_WORK,		/* bytes gained in a second of CPU time; CPU time, ms */
	SEEPAGE_FACTOR_POP,		/* others of its name and cgroup that grow; others */

	__SEEPAGE_FACTOR_MAX,
	SEEPAGE_FACTOR_MAX = __SEEPAGE_FACTOR_MAX - 1
};

/*
 * The memory that a process under watch gained most of, counted from its first sample
 * there. KIND, WORK and POP have no points: they tell, and do not judge.
 */
enum seepage_grew {
	SEEPAGE_GREW_HEAP,		/* anonymous, as far as the brk heap grew */
	SEEPAGE_GREW_MAPPED,		/* anonymous, the rest: mmap, stacks; swap with both */
	SEEPAGE_GREW_SHMEM,		/* shared memory */
	SEEPAGE_GREW_PGTABLES,		/* page tables */

	__SEEPAGE_GREW_MAX,
	SEEPAGE_GREW_MAX = __SEEPAGE_GREW_MAX - 1
};

enum seepage_factor_attr {
	SEEPAGE_FACTOR_A_UNSPEC,
	SEEPAGE_FACTOR_A_PAD,
	SEEPAGE_FACTOR_A_ID,		/* u8, enum seepage_factor */
	SEEPAGE_FACTOR_A_POINTS,	/* u8 */
	SEEPAGE_FACTOR_A_MAX_POINTS,	/* u8 */
	SEEPAGE_FACTOR_A_VALUE,		/* s64 */
	SEEPAGE_FACTOR_A_BASELINE,	/* s64 */
	SEEPAGE_FACTOR_A_AGAINST,	/* u8, points taken off; left out: none. POINTS is 0 then */

	__SEEPAGE_FACTOR_A_MAX,
	SEEPAGE_FACTOR_A_MAX = __SEEPAGE_FACTOR_A_MAX - 1
};

/* What may veto a verdict whatever the points say. */
enum seepage_gate {
	SEEPAGE_GATE_UNSPEC,
	SEEPAGE_GATE_SIZE,		/* RSS + swap, bytes; min_process_size_mb */
	SEEPAGE_GATE_WARMUP,		/* age, s; warmup_s (classic) */
	SEEPAGE_GATE_RISING,		/* rise of the floor, bytes; needed rise */
	SEEPAGE_GATE_SATURATION,	/* permille, 2nd half of rise over 1st; needed */
	SEEPAGE_GATE_PATIENCE,		/* seconds it rises; seconds needed */
	SEEPAGE_GATE_HORIZON,		/* seconds to exhaustion; at most */
	SEEPAGE_GATE_CONFIDENCE,	/* confidence; must exceed alert_confidence */
	SEEPAGE_GATE_NOVELTY,		/* rise, bytes; 150 % of one released before */
	SEEPAGE_GATE_OWN,		/* permille: not others' shmem, nor come by itself */
	SEEPAGE_GATE_COLD,		/* permille of the growth not used again; least */
	SEEPAGE_GATE_SPREAD,		/* permille of a group not growing itself; least */

	__SEEPAGE_GATE_MAX,
	SEEPAGE_GATE_MAX = __SEEPAGE_GATE_MAX - 1
};

enum seepage_gate_attr {
	SEEPAGE_GATE_A_UNSPEC,
	SEEPAGE_GATE_A_PAD,
	SEEPAGE_GATE_A_ID,		/* u8, enum seepage_gate */
	SEEPAGE_GATE_A_PASSED,		/* u8, 0 or 1 */
	SEEPAGE_GATE_A_VALUE,		/* s64; left out: not reached */
	SEEPAGE_GATE_A_LIMIT,		/* s64; left out with VALUE */

	__SEEPAGE_GATE_A_MAX,
	SEEPAGE_GATE_A_MAX = __SEEPAGE_GATE_A_MAX - 1
};

enum seepage_level_attr {
	SEEPAGE_LEVEL_A_UNSPEC,
	SEEPAGE_LEVEL_A_PAD,
	SEEPAGE_LEVEL_A_EPOCH_MS,	/* u64, length of an epoch, nominal */
	SEEPAGE_LEVEL_A_MINIMA,		/* binary: u64[], bytes of SERIES_MEMORY, oldest first */
	SEEPAGE_LEVEL_A_AGE_MS,		/* u64, since the newest epoch ended */

	__SEEPAGE_LEVEL_A_MAX,
	SEEPAGE_LEVEL_A_MAX = __SEEPAGE_LEVEL_A_MAX - 1
};

enum seepage_pmc_state {
	SEEPAGE_PMC_STATE_COUNTING,
	SEEPAGE_PMC_STATE_WAITING,	/* its turn has not come yet, or nothing counts now */
	SEEPAGE_PMC_STATE_UNAVAILABLE,	/* REASON says why */

	__SEEPAGE_PMC_STATE_MAX,
	SEEPAGE_PMC_STATE_MAX = __SEEPAGE_PMC_STATE_MAX - 1
};

enum seepage_pmc_attr {
	SEEPAGE_PMC_A_UNSPEC,
	SEEPAGE_PMC_A_PAD,
	SEEPAGE_PMC_A_NAME,		/* string */
	SEEPAGE_PMC_A_TYPE,		/* u32, as in struct perf_event_attr */
	SEEPAGE_PMC_A_CONFIG,		/* u64, likewise */
	SEEPAGE_PMC_A_STATE,		/* u8, enum seepage_pmc_state */
	SEEPAGE_PMC_A_REASON,		/* string; left out where there is none */
	SEEPAGE_PMC_A_COUNT,		/* binary: struct seepage_pmc_value[], one: all CPUs */
	SEEPAGE_PMC_A_KTHREADS,		/* binary: struct seepage_pmc_value[], one */
	SEEPAGE_PMC_A_IDLE,		/* binary: struct seepage_pmc_value[], one */
	SEEPAGE_PMC_A_OTHERS,		/* binary: struct seepage_pmc_value[], one: not tracked */
	SEEPAGE_PMC_A_ENDED,		/* binary: struct seepage_pmc_value[], one: gone by now */

	__SEEPAGE_PMC_A_MAX,
	SEEPAGE_PMC_A_MAX = __SEEPAGE_PMC_A_MAX - 1
};

struct seepage_pmc_value {
	__u64	count;
	__u64	enabled_ns;		/* counters were on */
	__u64	running_ns;		/* the event had one */
};

#define SEEPAGE_PMC_EVENTS_MAX	9	/* in the list, at most */

/* What is unusual about a process: bits of seepage_pmc_baseline.signals. */
enum seepage_pmc_signal {
	SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE,	/* LLC_NEWER is 1.3 times LLC_OLDER */
	SEEPAGE_PMC_SIGNAL_LLC_Z_SCORE,		/* three deviations above the mean */
	SEEPAGE_PMC_SIGNAL_TLB_PRESSURE,	/* twice the usual dTLB misses */
	SEEPAGE_PMC_SIGNAL_TLB_EFFICIENCY,	/* below 95 % of loads without page walk */
	SEEPAGE_PMC_SIGNAL_BANDWIDTH,		/* twice the moving average (alpha 0.1) */
	SEEPAGE_PMC_SIGNAL_NODE_IMBALANCE,	/* most node loads from another node */

	__SEEPAGE_PMC_SIGNAL_MAX,
	SEEPAGE_PMC_SIGNAL_MAX = __SEEPAGE_PMC_SIGNAL_MAX - 1
};

#define SEEPAGE_PMC_UNKNOWN	0xffffffffU

/* What is usual for a process. What is not known yet is SEEPAGE_PMC_UNKNOWN. */
struct seepage_pmc_baseline {
	__u32	signals;		/* 1 << enum seepage_pmc_signal */
	__u32	llc_samples;		/* learned from, 64 at most; 16 are needed */
	__u32	llc_mean;		/* LLC references that miss, of a million */
	__u32	llc_older, llc_newer;	/* the same in eight samples and the eight before */
	__u32	dtlb_samples;		/* as llc_samples */
	__u32	dtlb_mean;		/* dTLB misses in a million instructions */
	__u32	dtlb_now;		/* the same in the last samples, about eight */
	__u32	read_mean;		/* KiB read from memory in a second, estimate */
};

/* What of a process a verdict is about. */
enum seepage_series {
	SEEPAGE_SERIES_MEMORY,		/* anon + swap + shmem + page tables */
	SEEPAGE_SERIES_VSZ,		/* address space without these */
	SEEPAGE_SERIES_GROUP,		/* memory of all processes of its name and cgroup */

	__SEEPAGE_SERIES_MAX,
	SEEPAGE_SERIES_MAX = __SEEPAGE_SERIES_MAX - 1
};

/* What a process would run into first. */
enum seepage_limit {
	SEEPAGE_LIMIT_RAM,		/* available memory and free swap */
	SEEPAGE_LIMIT_AS,		/* RLIMIT_AS */
	SEEPAGE_LIMIT_DATA,		/* RLIMIT_DATA */
	SEEPAGE_LIMIT_CGROUP,		/* memory.max, told by SET_EVIDENCE */
	SEEPAGE_LIMIT_MAPS,		/* vm.max_map_count */

	__SEEPAGE_LIMIT_MAX,
	SEEPAGE_LIMIT_MAX = __SEEPAGE_LIMIT_MAX - 1
};

#define SEEPAGE_KIND_PROCESS	0
#define SEEPAGE_KIND_GROUP	1	/* all processes of a name and cgroup */

/*
 * One process in one pass: all that the detector was fed, and what it said.
 * What is not known, and what there is no source for yet, is 0.
 */
struct seepage_raw_sample {
	__u64	id;			/* of the record: new for every fork and exec */
	__u64	time_ns;		/* CLOCK_MONOTONIC; after PASS_NS if born in it */
	__u64	age_ns;			/* since fork or exec */
	__u64	anon, file, shmem;	/* bytes resident */
	__u64	swap;			/* bytes */
	__u64	vsz;			/* bytes of address space */
	__u64	faults, faults_anon;	/* since it was first seen */
	__u64	headroom;		/* bytes it can still take */
	__u64	pgtables;		/* bytes of page tables */
	__u64	cpu_ns;			/* CPU time of all threads; see docs/series.md */
	__u64	cold_ns;		/* when cold was measured */
	__u64	begun_ns;		/* with first: history since then, to 100 ms */
	__u64	tte_s;			/* verdict: seconds to exhaustion, ~0: not known */
	__u32	pid;			/* initial pid namespace; of a group its oldest process */
	__u32	begun_faults;		/* with first: faults by then, their low half */
	__u32	error;			/* bytes the memory counters may be off */
	__u32	maps;			/* mappings; told, the detector is not fed it */
	__u16	cold;			/* permille of growth that was not used again */
	__u16	peers, peers_growing;	/* of its name and cgroup; of a process: others */
	__u16	pmc;			/* permille of the usual misses, from hardware counters */
	__u8	limit;			/* enum seepage_limit, of headroom */
	__u8	page_shift;
	__u8	first;			/* 1: the history begins with this sample */
	__u8	state;			/* verdict: enum seepage_state */
	__u8	confidence;		/* verdict: 0 to 100 */
	__u8	kind;			/* SEEPAGE_KIND_* */
	__u8	pad[2];
	char	comm[SEEPAGE_COMM_LEN];
	/* with first: climbs of others of its name, which ended in peace */
	__u64	known_rise;		/* bytes, the highest; 0: none */
	__u64	known_span_ns;		/* the longest, to 100 ms */
	__u64	heap;			/* bytes of the brk heap, to 16 KiB; of one that is ok: 0 */
};

/* Names, units, defaults and bounds: include/seepage/names.h */
enum seepage_cfg {
	SEEPAGE_CFG_UNSPEC,
	SEEPAGE_CFG_SAMPLE_INTERVAL_MS,
	SEEPAGE_CFG_SUSPECT_INTERVAL_MS,
	SEEPAGE_CFG_MAX_PROCESSES,
	SEEPAGE_CFG_MIN_PROCESS_SIZE_MB,
	SEEPAGE_CFG_POLICY,
	SEEPAGE_CFG_ALERT_CONFIDENCE,
	SEEPAGE_CFG_ALERT_INTERVAL_S,
	SEEPAGE_CFG_ALERTS_PER_MINUTE,
	SEEPAGE_CFG_FAULT_RATE_WARNING,
	SEEPAGE_CFG_FAULT_RATE_CRITICAL,
	SEEPAGE_CFG_RSS_GROWTH_PERCENT,
	SEEPAGE_CFG_MONITORING_WINDOW_S,
	SEEPAGE_CFG_WARMUP_S,
	SEEPAGE_CFG_MAX_CPU_PERMILLE,
	SEEPAGE_CFG_PMC,
	SEEPAGE_CFG_PMC_MAX_COUNTERS,

	__SEEPAGE_CFG_MAX,
	SEEPAGE_CFG_MAX = __SEEPAGE_CFG_MAX - 1
};

/* What was done, skipped or dropped; names: include/seepage/names.h */
enum seepage_counter {
	SEEPAGE_COUNTER_UNSPEC,
	SEEPAGE_COUNTER_BIRTHS,			/* records made */
	SEEPAGE_COUNTER_DEATHS,			/* records reaped */
	SEEPAGE_COUNTER_EXECS,			/* exec seen */
	SEEPAGE_COUNTER_FORKS,			/* processes forked, threads not */
	SEEPAGE_COUNTER_EXITS,			/* processes exited, threads not */
	SEEPAGE_COUNTER_SAMPLES,		/* records sampled */
	SEEPAGE_COUNTER_TABLE_FULL,		/* birth refused: max_processes */
	SEEPAGE_COUNTER_POOL_EMPTY,		/* birth put off: pool ran dry */
	SEEPAGE_COUNTER_ALLOC_FAILED,		/* pool not filled: no memory */
	SEEPAGE_COUNTER_FAULTS_UNTRACKED,	/* faults of a mm without a record */
	SEEPAGE_COUNTER_FAULTS_NO_MM,		/* faults of kernel threads */
	SEEPAGE_COUNTER_FAULTS_NESTED,		/* faults inside the module's own accounting */
	SEEPAGE_COUNTER_ALERTS,			/* alerts put in the ring */
	SEEPAGE_COUNTER_ALERTS_SUPPRESSED,	/* held back by a rate limit */
	SEEPAGE_COUNTER_ALERTS_OVERWRITTEN,	/* fell out of the ring */
	SEEPAGE_COUNTER_NOTIFY_FAILED,		/* multicast not built, or refused by a socket */
	SEEPAGE_COUNTER_TICKS_STRETCHED,	/* interval lengthened for its cost */
	SEEPAGE_COUNTER_HOOK_EVENTS_FAILED,	/* CPUs without a software event */
	SEEPAGE_COUNTER_INVARIANTS_BROKEN,	/* the module switched itself off */
	SEEPAGE_COUNTER_GROUPS_FULL,		/* a group, or its history, not made: too many */
	SEEPAGE_COUNTER_PMC_UNLEARNED,		/* no room for a process' baseline, each pass */

	__SEEPAGE_COUNTER_MAX,
	SEEPAGE_COUNTER_MAX = __SEEPAGE_COUNTER_MAX - 1
};

#endif /* _UAPI_LINUX_SEEPAGE_H */
