/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * seepage: generic netlink interface, family "seepage", version 1
 *
 * This comment is the manual of the interface. A message is a genlmsghdr with attributes of
 * enum seepage_attr. u64 and s64 attributes are aligned to 8 bytes with SEEPAGE_A_PAD. A
 * value that is not known is left out, never sent as 0. From the first release on, enums only
 * grow, and numbers are never reused.
 *
 * Permissions, in the initial user namespace. Reading needs CAP_PERFMON or CAP_SYS_ADMIN.
 * Without either, GET_PROC answers for the caller's own processes, and every other request
 * is -EPERM. SET_CONFIG, RESET, SET_FACTS and joining a multicast group need CAP_SYS_ADMIN.
 * Without either, a user has one request at a time, others are -EBUSY; and a dump is in the
 * receive buffer when the request returns. One that does not fit, or takes 50 ms, ends with
 * -ENOBUFS in NLMSG_DONE. FILTER_AFTER_PID follows there: the request for the rest has it.
 * The family exists in the initial network namespace only. A pid in a reply is that of the
 * reader's pid namespace, in a multicast that of the initial one.
 *
 * Errors. A request with an attribute that it does not take, with a wrong length or with a
 * value out of range is -EINVAL. Every refusal has an extended ack text (NLMSGERR_ATTR_MSG).
 * The exception is a dump that is -EPERM: up to v6.1 at least, the core has no extack there.
 *
 * GET_STATUS  do     request: -
 *                    reply:   VERSION INSTANCE HOOK PROCESSES REC_BYTES
 *                             MEMORY_BYTES SEQ_FIRST SEQ_LAST TICKS
 *                             TICK_COST_NS TICK_COST_MAX_NS INTERVAL_MS
 *                             STRETCHED POLICY PMC [PMC_SET]
 *                             [PMC_EVENTS{ PMC_EVENT{ .. }.. }] [DISABLED] MULTICAST_OFF
 *                             COUNTERS{ counter.. }
 * GET_PROC    do     request: PID (thread ids are accepted) [GROUP]
 *                    reply:   a process (below) with GATES and HISTORY; with GROUP, which
 *                             needs the right to read all, its group with GATES and PIDS
 *             dump   request: [PID] [FILTER_STATES] [FILTER_MIN_CONFIDENCE]
 *                             [FILTER_UID] [FILTER_COMM] [FILTER_AFTER_PID]; all must
 *                             match
 *                    reply:   one message per process, by ascending PID; a process that
 *                             exists during the whole dump is in it exactly once, even if
 *                             it executes another program meanwhile
 * GET_CONFIG  do     request: -
 *                    reply:   CONFIG{ key.. }, all keys, and PMC_WANTED
 * SET_CONFIG  do     request: [CONFIG{ key.. }] [PMC_WANTED], the keys to change;
 *                             all of them are applied or none
 *                    reply:   ack only
 * GET_ALERTS  dump   request: [SINCE_SEQ] the first sequence number wanted
 *                    reply:   one message an alert, oldest first. A number that is missing
 *                             was overwritten: one user other than root has at most half
 *                             of the ring
 * RESET       do     request: RESET_WHAT, [PID] (with RESET_HISTORY only)
 *                    reply:   ack only
 * SET_FACTS do    request: PID [COLD_PERMILLE] [LIMIT_BYTES] [CGROUP_USED_BYTES]
 *                             [CGROUP_ID], of the cgroup that has the limit;
 *                             [IDENTITY{ .. }] [SINCE_SEQ] [KNOWN_RISE_BYTES]
 *                             [KNOWN_SPAN_SECONDS]
 *                    reply:   ack only
 * ALERT       multicast group "alert":  an alert
 * SAMPLE      multicast group "sample": a process, each time it was sampled
 *                    and any figure of it changed
 * SERIES      multicast group "series": input and verdicts of the detector, for
 *                    `seepage record`: PASS_SEQ GONE, processes that have
 *                    ended; or, of a sampling pass, PASS_SEQ PASS_NS PASS_FULL
 *                    HEADROOM_BYTES SHMEM_TOTAL_BYTES CONFIG{ key.. } SAMPLE_SIZE SAMPLES
 *                    [PASS_END], in as many messages as it takes, the last one with
 *                    PASS_END. A gap in PASS_SEQ is a lost message. Only a pass that
 *                    begins while a group member listens is sent.
 *                    Where the kernel does not check a join of a group that no family owns yet,
 *                    and one that joined before the load cannot be evicted, MULTICAST_OFF is 1
 *                    until the module is loaded again: then GET_ALERTS alone tells of alerts.
 *
 * a process:  PID COMM UID CGROUP_ID STATE POLICY CONFIDENCE SEVERITY RSS_BYTES
 *             ANON_BYTES FILE_BYTES SHMEM_BYTES SWAP_BYTES VSZ_BYTES BRK_BYTES
 *             [GROWTH_BYTES_PER_HOUR] [TTE_SECONDS] FAULTS_USER FAULTS_KERNEL
 *             FAULTS_ANON FAULTS_FILE FAULT_RATE AGE_SECONDS
 *             FACTORS{ FACTOR{ .. }.. } [GATES{ GATE{ .. }.. }]
 *             [HISTORY{ LEVEL{ .. }.. }] [COLD_PERMILLE] [COLD_AGE_SECONDS]
 *             [LIMIT] [SHARES_WITH] [SHARED_GROWTH_BYTES_PER_HOUR] [SUBJECT]
 *             [MEMBERS] [GROWING] [KNOWN_RISE_BYTES] [KNOWN_SPAN_SECONDS] [FLOORS]
 *             [PMC_SET] [PMC_VALUES] [PMC_BASELINE]
 *             Memory figures and fault counts are current, the verdict is that of the last
 *             sample. UID and CGROUP_ID are left out for a process that ended before they
 *             were read. PID is left out of an alert for a process without a pid in the
 *             reader's pid namespace; a GET_PROC dump leaves out such a process.
 * an alert:   SEQ TIME_NS INSTANCE PREV_STATE [END] [END_CGROUP_ID] [IDENTITY{ .. }]
 *             [TIMES] [FIRST_TIME_NS] [LIFE_SECONDS] [LIFE_GROWTH_BYTES_PER_HOUR]
 *             [MERGED_INTO] and the process as it was then, with GATES.
 *             Where two or more processes of a name, user and cgroup grow, an alert is about
 *             all of them: it has MEMBERS, and PID is that of the oldest. An alert that one
 *             of them had by itself then ends with STATE recovered and MERGED_INTO, the SEQ
 *             of the alert about all: the growth goes on.
 *             An alert with TIMES is the only one of its life, the end included, where lives
 *             are shorter than an hour, unless this one is twice as long as those before or
 *             the alert has recovered in between; END is that of the life before. TIMES counts
 *             the lives of all processes of a name, user and cgroup as one: a life ends with
 *             the last of them. A cgroup is known by its name and its parent.
 *
 * Hardware counters. They are read on each switch from one process to another.
 *
 * PMC_VALUES holds the counts of a process, one per event, in the order of PMC_EVENTS in
 * the status. This holds if PMC_SET is the same in both; otherwise the list of events has
 * changed in between. Counts are not scaled: counters were on for enabled_ns, and the event
 * had a counter for running_ns of that time.
 *
 * COUNT in the status is what the counters of all CPUs show. It is exactly the sum of
 * KTHREADS, IDLE, OTHERS, ENDED and all processes, once nothing counts any more (pmc hold)
 * and the next pass has found the processes that ended. An event that is unavailable has a
 * REASON. The counts of a running process are up to date, in a dump to within 10 ms.
 * PMC_VALUES and PMC_BASELINE need CAP_PERFMON or CAP_SYS_ADMIN even for the caller's own
 * processes, because they include what the kernel did for the process. The factor PMC does
 * not: it is part of the verdict.
 *
 * PMC_BASELINE is what is usual for a process that has run for a second. A sample is a full
 * pass in which it ran for 10 ms. Means are learned from samples in state OK and from the
 * first 16; all samples are compared with them. Signals are those of the last pass, and
 * none if the process did not run in it. The divergence is that of the last eight complete
 * samples. At most max_processes / 8 processes have a baseline. A process that has not run
 * for an hour loses it when another one needs the space.
 *
 * Facts are what only user space can find out about a process: whether it uses again the
 * memory that it gained, how much its cgroup may use, what it is, and how its service climbed
 * before. A request has COLD_PERMILLE, LIMIT_BYTES, IDENTITY, KNOWN_RISE_BYTES,
 * KNOWN_SPAN_SECONDS or several; a limit above 0 needs CGROUP_USED_BYTES.
 * IDENTITY is kept with the alerts of the process, or of its group, that have none yet, and
 * with those that follow, as long as one of them is in the ring; -ENOENT: there is none.
 * SINCE_SEQ is the SEQ that IDENTITY was looked up for. A fact is dated by the time of receipt.
 * It is valid until it is set again, a limit for an hour at most. A reset of the history and
 * the execution of another program discard it.
 * -ESRCH: there is no such process, it has no record, or the alert SINCE_SEQ is not of it:
 * the process may have ended, or executed another program, since it was looked at. Without
 * SINCE_SEQ alerts of an earlier process of the pid are left alone, but what was read of that
 * one may be taken for the later one.
 *
 * What is known is the highest and the longest climb of memory held that processes of a name,
 * user and cgroup released, as far as they had no alert. Growth is novel where it is 1.5 times as
 * high or as long. In a reply it is what would be known if the process ended now, and 0 is left
 * out. In a request it is what user space has kept, for example over a reboot. The higher of it
 * and of what is known holds from then on, for processes that are seen later. It also holds for
 * the process itself, if that is in state OK, never had an alert and knows less: its history
 * restarts, which discards its other facts. It is valid until all histories are reset. A reader
 * without rights is not told of it.
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
	SEEPAGE_CMD_GET_STATUS,		/* the module: state, cost, counters */
	SEEPAGE_CMD_GET_PROC,		/* a process, or all of them */
	SEEPAGE_CMD_GET_CONFIG,		/* the configuration in force */
	SEEPAGE_CMD_SET_CONFIG,		/* changes keys of the configuration */
	SEEPAGE_CMD_GET_ALERTS,		/* the alerts that the ring holds */
	SEEPAGE_CMD_RESET,		/* discards histories, alerts, counters or configuration */
	SEEPAGE_CMD_ALERT,		/* notification: an alert */
	SEEPAGE_CMD_SAMPLE,		/* notification: a process was sampled */
	SEEPAGE_CMD_SERIES,		/* notification: input and verdicts of the detector */
	SEEPAGE_CMD_SET_FACTS,		/* what user space found out about a process */

	__SEEPAGE_CMD_MAX,
	SEEPAGE_CMD_MAX = __SEEPAGE_CMD_MAX - 1
};

enum seepage_attr {
	SEEPAGE_A_UNSPEC,
	SEEPAGE_A_PAD,

	/* in requests; these come first to keep policies short, and those of dumps before all */
	SEEPAGE_A_SINCE_SEQ,		/* u64, the first SEQ wanted, or that of an alert */
	SEEPAGE_A_PID,			/* u32, thread group id; also in replies */
	SEEPAGE_A_GROUP,		/* u8, any value: asks for the group of the process */
	SEEPAGE_A_FILTER_STATES,	/* u32, mask of 1 << enum seepage_state */
	SEEPAGE_A_FILTER_MIN_CONFIDENCE,/* u8, 0 to 100 */
	SEEPAGE_A_FILTER_UID,		/* u32, real uid in the reader's user ns */
	SEEPAGE_A_FILTER_COMM,		/* string, equal to comm */
	SEEPAGE_A_FILTER_AFTER_PID,	/* u32, with a higher pid */
	SEEPAGE_A_RESET_WHAT,		/* u32, mask of SEEPAGE_RESET_* */
	SEEPAGE_A_LIMIT_BYTES,		/* u64, limit of its cgroup, max or high; 0: none known */
	SEEPAGE_A_CGROUP_USED_BYTES,	/* u64, usage of that cgroup that cannot be reclaimed */

	/* in requests and replies */
	SEEPAGE_A_CONFIG,		/* nest: type is enum seepage_cfg, u32 */
	SEEPAGE_A_PMC_WANTED,		/* string, configured events; empty: the default ones */
	SEEPAGE_A_COLD_PERMILLE,	/* u32, 0 to 1000: of the growth, not used again */
	SEEPAGE_A_IDENTITY,		/* nest of enum seepage_identity_attr, of an alert */
	SEEPAGE_A_KNOWN_RISE_BYTES,	/* u64, highest climb that its service released */
	SEEPAGE_A_KNOWN_SPAN_SECONDS,	/* u64, longest climb that its service released */
	SEEPAGE_A_CGROUP_ID,		/* u64, inode of the cgroup v2 directory */

	/* identity */
	SEEPAGE_A_COMM,			/* string, SEEPAGE_COMM_LEN with its NUL */
	SEEPAGE_A_UID,			/* u32, real uid in the reader's user ns */

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
	SEEPAGE_A_ANON_BYTES,		/* u64, resident, anonymous */
	SEEPAGE_A_FILE_BYTES,		/* u64, resident, of files */
	SEEPAGE_A_SHMEM_BYTES,		/* u64, resident, shared memory and tmpfs */
	SEEPAGE_A_SWAP_BYTES,		/* u64, swapped out */
	SEEPAGE_A_VSZ_BYTES,		/* u64, total address space */
	SEEPAGE_A_BRK_BYTES,		/* u64, the brk heap's address space */
	SEEPAGE_A_GROWTH_BYTES_PER_HOUR,/* s64, growth of the floor of SUBJECT, or of memory held */
	SEEPAGE_A_TTE_SECONDS,		/* u64, until LIMIT is reached at that growth, or sooner */

	/* page faults on user addresses since the mm was first seen */
	SEEPAGE_A_FAULTS_USER,		/* u64, taken in user mode */
	SEEPAGE_A_FAULTS_KERNEL,	/* u64, taken in kernel mode */
	SEEPAGE_A_FAULTS_ANON,		/* u64, classified as anonymous, see docs/detection.md */
	SEEPAGE_A_FAULTS_FILE,		/* u64, all others */
	SEEPAGE_A_FAULT_RATE,		/* u32, per second over monitoring_window_s */
	SEEPAGE_A_AGE_SECONDS,		/* u64, since fork or exec */

	/* alerts */
	SEEPAGE_A_SEQ,			/* u64, of the alert; 1 is the first after load */
	SEEPAGE_A_TIME_NS,		/* u64, CLOCK_REALTIME of the alert */

	/* history, oldest first */
	SEEPAGE_A_HISTORY,		/* nest of SEEPAGE_A_LEVEL */
	SEEPAGE_A_LEVEL,		/* nest of enum seepage_level_attr */

	/* status */
	SEEPAGE_A_VERSION,		/* string, of the module */
	SEEPAGE_A_INSTANCE,		/* u64, new at every load of the module */
	SEEPAGE_A_HOOK,			/* string, "tracepoint" or "software" */
	SEEPAGE_A_PROCESSES,		/* u32, tracked and alive */
	SEEPAGE_A_REC_BYTES,		/* u32, memory per tracked process */
	SEEPAGE_A_MEMORY_BYTES,		/* u64, all memory that the module has allocated */
	SEEPAGE_A_SEQ_FIRST,		/* u64, oldest alert in the ring; 0: none */
	SEEPAGE_A_SEQ_LAST,		/* u64, newest alert since load, in the ring or not */
	SEEPAGE_A_TICKS,		/* u64, sampling passes since load */
	SEEPAGE_A_TICK_COST_NS,		/* u64, of the last full pass */
	SEEPAGE_A_TICK_COST_MAX_NS,	/* u64, of the most expensive full pass */
	SEEPAGE_A_INTERVAL_MS,		/* u32, in force; stretched when a pass costs too much */
	SEEPAGE_A_STRETCHED,		/* u8, 1: longer than sample_interval_ms */
	SEEPAGE_A_PMC,			/* string, "on" or why not */
	SEEPAGE_A_DISABLED,		/* string, why the module stopped working */
	SEEPAGE_A_COUNTERS,		/* nest: type is enum seepage_counter, u64 */

	/* series */
	SEEPAGE_A_PASS_SEQ,		/* u64, of the message; 1 is the first after load */
	SEEPAGE_A_PASS_NS,		/* u64, CLOCK_MONOTONIC, begin of the pass: its id */
	SEEPAGE_A_PASS_FULL,		/* u8, 1: of all processes, 0: of the watched ones */
	SEEPAGE_A_PASS_END,		/* u8, 1: the last message of its pass */
	SEEPAGE_A_HEADROOM_BYTES,		/* u64, available memory and free swap */
	SEEPAGE_A_SAMPLE_SIZE,		/* u32, bytes of each in SAMPLES; may grow at its end */
	SEEPAGE_A_SAMPLES,		/* binary: struct seepage_raw_sample[] */
	SEEPAGE_A_GONE,			/* binary: u64[], id of each series that has ended */

	/* facts, and the subject of the verdict */
	SEEPAGE_A_COLD_AGE_SECONDS,	/* u64, since COLD_PERMILLE was set */
	SEEPAGE_A_LIMIT,		/* u8, enum seepage_limit, where TTE_SECONDS leads to */
	SEEPAGE_A_SUBJECT,		/* u8, enum seepage_subject, what the verdict is about */

	/* of a sampling pass, and of an alert on a group */
	SEEPAGE_A_SHMEM_TOTAL_BYTES,	/* u64, shared memory of the whole system */
	SEEPAGE_A_MEMBERS,		/* u32, processes of the group; figures are sums */

	/* hardware counters */
	SEEPAGE_A_PMC_SET,		/* u32, number of the list of events; never reused */
	SEEPAGE_A_PMC_EVENTS,		/* nest of SEEPAGE_A_PMC_EVENT */
	SEEPAGE_A_PMC_EVENT,		/* nest of enum seepage_pmc_attr */
	SEEPAGE_A_PMC_VALUES,		/* binary: struct seepage_pmc_value[], one an event */
	SEEPAGE_A_PMC_BASELINE,		/* binary: struct seepage_pmc_baseline[], one: figures */

	/* what else grows below LIMIT; left out: nothing is known to */
	SEEPAGE_A_SHARES_WITH,		/* u32, other processes that do; 0: not known which */
	SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR,	/* u64, of all of them, the subject included */

	/* of an alert on a group */
	SEEPAGE_A_GROWING,		/* u32, processes of the group that grow; see MEMBERS */
	SEEPAGE_A_PIDS,			/* binary: u32[], pids of the group, as many as fit */

	/* of an alert about an end */
	SEEPAGE_A_END,			/* u32, SEEPAGE_END_* */
	SEEPAGE_A_END_CGROUP_ID,	/* u64, inode of the cgroup that ran out of memory */

	/* of an alert on a service that was restarted and leaks again */
	SEEPAGE_A_TIMES,		/* u32, lives of it that had an alert, with this one */
	SEEPAGE_A_FIRST_TIME_NS,	/* u64, CLOCK_REALTIME of the first of these alerts */
	SEEPAGE_A_LIFE_SECONDS,		/* u64, length of a life, the mean of those that ended */
	SEEPAGE_A_LIFE_GROWTH_BYTES_PER_HOUR,	/* s64, of the top of a life, from life to life */

	/* of an alert that ends */
	SEEPAGE_A_MERGED_INTO,		/* u64, SEQ of the alert of its group, which goes on */

	/* of the status */
	SEEPAGE_A_MULTICAST_OFF,	/* u8, 1: strangers are in the groups; none is used */

	/* of a process of which no growth is known; not in alerts */
	SEEPAGE_A_FLOORS,		/* u8, floors of memory held, too few: 0 to 7 */

	__SEEPAGE_A_MAX,
	SEEPAGE_A_MAX = __SEEPAGE_A_MAX - 1
};

/*
 * In ascending order of alarm up to RUNAWAY; an alert is SUSPECTED or above. Names and
 * meaning: include/seepage/names.h
 */
enum seepage_state {
	SEEPAGE_STATE_OK,
	SEEPAGE_STATE_WATCH,
	SEEPAGE_STATE_SUSPECTED,
	SEEPAGE_STATE_CONFIRMED,
	SEEPAGE_STATE_RUNAWAY,
	SEEPAGE_STATE_RECOVERED,
	SEEPAGE_STATE_EXITED,

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
	SEEPAGE_PMC_AUTO,		/* on where reading a counter is cheap */
	SEEPAGE_PMC_OFF,
	SEEPAGE_PMC_HOLD,		/* nothing counts; counts stay readable */
	SEEPAGE_PMC_ON,
	SEEPAGE_PMC_WATCHED,		/* as auto, while some process is under watch */

	__SEEPAGE_PMC_MAX,
	SEEPAGE_PMC_MAX = __SEEPAGE_PMC_MAX - 1
};

#define SEEPAGE_RESET_HISTORY	(1U << 0)	/* histories, states, verdicts */
#define SEEPAGE_RESET_ALERTS	(1U << 1)	/* empties the ring; sequence numbers continue */
#define SEEPAGE_RESET_COUNTERS	(1U << 2)	/* counters and costs of passes */
#define SEEPAGE_RESET_CONFIG	(1U << 3)	/* back to the values given at load */
#define SEEPAGE_RESET_ALL	(SEEPAGE_RESET_HISTORY | SEEPAGE_RESET_ALERTS | \
				 SEEPAGE_RESET_COUNTERS | SEEPAGE_RESET_CONFIG)

/*
 * What the verdict was made of. The first four belong to the policy classic, the rest to
 * the policy ladder. Names, units and the meaning of VALUE and BASELINE:
 * include/seepage/names.h
 */
enum seepage_factor {
	SEEPAGE_FACTOR_UNSPEC,
	SEEPAGE_FACTOR_FAULT_RATE,
	SEEPAGE_FACTOR_RSS_GROWTH,
	SEEPAGE_FACTOR_ANON_SHARE,
	SEEPAGE_FACTOR_VSZ_RSS,
	SEEPAGE_FACTOR_FLOOR,
	SEEPAGE_FACTOR_PERSIST,
	SEEPAGE_FACTOR_RELEASE,
	SEEPAGE_FACTOR_RETAIN,
	SEEPAGE_FACTOR_COLD,
	SEEPAGE_FACTOR_PMC,
	SEEPAGE_FACTOR_KIND,
	SEEPAGE_FACTOR_WORK,
	SEEPAGE_FACTOR_POP,

	__SEEPAGE_FACTOR_MAX,
	SEEPAGE_FACTOR_MAX = __SEEPAGE_FACTOR_MAX - 1
};

/*
 * What a process under watch gained most of, since its first sample under watch: BASELINE
 * of the factor KIND.
 */
enum seepage_grew {
	SEEPAGE_GREW_HEAP,		/* anonymous, as far as the brk heap grew */
	SEEPAGE_GREW_MAPPED,		/* other anonymous memory: mmap, stacks; includes swap */
	SEEPAGE_GREW_SHMEM,		/* shared memory */
	SEEPAGE_GREW_PGTABLES,		/* page tables */

	__SEEPAGE_GREW_MAX,
	SEEPAGE_GREW_MAX = __SEEPAGE_GREW_MAX - 1
};

enum seepage_factor_attr {
	SEEPAGE_FACTOR_A_UNSPEC,
	SEEPAGE_FACTOR_A_PAD,
	SEEPAGE_FACTOR_A_ID,		/* u8, enum seepage_factor */
	SEEPAGE_FACTOR_A_POINTS,	/* u8, added to the confidence */
	SEEPAGE_FACTOR_A_MAX_POINTS,	/* u8, the most that this factor can add */
	SEEPAGE_FACTOR_A_VALUE,		/* s64, unit by ID */
	SEEPAGE_FACTOR_A_BASELINE,	/* s64, what VALUE is compared with */
	SEEPAGE_FACTOR_A_AGAINST,	/* u8, points taken off; left out: none. POINTS is 0 then */

	__SEEPAGE_FACTOR_A_MAX,
	SEEPAGE_FACTOR_A_MAX = __SEEPAGE_FACTOR_A_MAX - 1
};

/*
 * What may veto a verdict whatever the points say. Names, units and the meaning of VALUE
 * and LIMIT: include/seepage/names.h
 */
enum seepage_gate {
	SEEPAGE_GATE_UNSPEC,
	SEEPAGE_GATE_SIZE,
	SEEPAGE_GATE_WARMUP,
	SEEPAGE_GATE_RISING,
	SEEPAGE_GATE_SATURATION,
	SEEPAGE_GATE_PATIENCE,
	SEEPAGE_GATE_HORIZON,
	SEEPAGE_GATE_CONFIDENCE,
	SEEPAGE_GATE_NOVELTY,
	SEEPAGE_GATE_ORIGIN,
	SEEPAGE_GATE_COLD,
	SEEPAGE_GATE_SPREAD,

	__SEEPAGE_GATE_MAX,
	SEEPAGE_GATE_MAX = __SEEPAGE_GATE_MAX - 1
};

enum seepage_gate_attr {
	SEEPAGE_GATE_A_UNSPEC,
	SEEPAGE_GATE_A_PAD,
	SEEPAGE_GATE_A_ID,		/* u8, enum seepage_gate */
	SEEPAGE_GATE_A_PASSED,		/* u8, 0 or 1 */
	SEEPAGE_GATE_A_VALUE,		/* s64, unit by ID; left out: the gate was not reached */
	SEEPAGE_GATE_A_LIMIT,		/* s64; left out with VALUE */

	__SEEPAGE_GATE_A_MAX,
	SEEPAGE_GATE_A_MAX = __SEEPAGE_GATE_A_MAX - 1
};

enum seepage_level_attr {
	SEEPAGE_LEVEL_A_UNSPEC,
	SEEPAGE_LEVEL_A_PAD,
	SEEPAGE_LEVEL_A_EPOCH_MS,	/* u64, nominal length of an epoch */
	SEEPAGE_LEVEL_A_MINIMA,		/* binary: u64[], bytes of SUBJECT_MEMORY, oldest first */
	SEEPAGE_LEVEL_A_AGE_MS,		/* u64, since the newest epoch ended */

	__SEEPAGE_LEVEL_A_MAX,
	SEEPAGE_LEVEL_A_MAX = __SEEPAGE_LEVEL_A_MAX - 1
};

/* Names and meaning: include/seepage/names.h */
enum seepage_pmc_state {
	SEEPAGE_PMC_STATE_COUNTING,
	SEEPAGE_PMC_STATE_WAITING,
	SEEPAGE_PMC_STATE_UNAVAILABLE,

	__SEEPAGE_PMC_STATE_MAX,
	SEEPAGE_PMC_STATE_MAX = __SEEPAGE_PMC_STATE_MAX - 1
};

enum seepage_pmc_attr {
	SEEPAGE_PMC_A_UNSPEC,
	SEEPAGE_PMC_A_PAD,
	SEEPAGE_PMC_A_NAME,		/* string, as in PMC_WANTED */
	SEEPAGE_PMC_A_TYPE,		/* u32, as in struct perf_event_attr */
	SEEPAGE_PMC_A_CONFIG,		/* u64, likewise */
	SEEPAGE_PMC_A_STATE,		/* u8, enum seepage_pmc_state */
	SEEPAGE_PMC_A_REASON,		/* string, why it is unavailable; left out otherwise */
	SEEPAGE_PMC_A_COUNT,		/* binary: struct seepage_pmc_value[], one: all CPUs */
	SEEPAGE_PMC_A_KTHREADS,		/* binary: struct seepage_pmc_value[], one: kthreads */
	SEEPAGE_PMC_A_IDLE,		/* binary: struct seepage_pmc_value[], one: idle CPUs */
	SEEPAGE_PMC_A_OTHERS,		/* binary: struct seepage_pmc_value[], one: not tracked */
	SEEPAGE_PMC_A_ENDED,		/* binary: struct seepage_pmc_value[], one: ended by now */

	__SEEPAGE_PMC_A_MAX,
	SEEPAGE_PMC_A_MAX = __SEEPAGE_PMC_A_MAX - 1
};

/* What one event counted. */
struct seepage_pmc_value {
	__u64	count;			/* events, not scaled */
	__u64	enabled_ns;		/* time in which counters were on */
	__u64	running_ns;		/* time in which the event had a counter */
};

#define SEEPAGE_PMC_EVENTS_MAX	9	/* events in the list, at most */

/*
 * What is unusual about a process: bits of seepage_pmc_baseline.signals. Names and
 * meaning: include/seepage/names.h
 */
enum seepage_pmc_signal {
	SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE,
	SEEPAGE_PMC_SIGNAL_LLC_Z_SCORE,
	SEEPAGE_PMC_SIGNAL_TLB_PRESSURE,
	SEEPAGE_PMC_SIGNAL_TLB_EFFICIENCY,
	SEEPAGE_PMC_SIGNAL_BANDWIDTH,
	SEEPAGE_PMC_SIGNAL_NODE_IMBALANCE,

	__SEEPAGE_PMC_SIGNAL_MAX,
	SEEPAGE_PMC_SIGNAL_MAX = __SEEPAGE_PMC_SIGNAL_MAX - 1
};

#define SEEPAGE_PMC_UNKNOWN	0xffffffffU

/* What is usual for a process. SEEPAGE_PMC_UNKNOWN: not known yet. */
struct seepage_pmc_baseline {
	__u32	signals;		/* mask of 1 << enum seepage_pmc_signal */
	__u32	llc_samples;		/* samples in llc_mean, 64 at most; 16 are needed */
	__u32	llc_mean;		/* LLC references that miss, per million */
	__u32	llc_older, llc_newer;	/* the same, means of eight samples each */
	__u32	dtlb_samples;		/* samples in dtlb_mean, 64 at most; 16 are needed */
	__u32	dtlb_mean;		/* dTLB misses per million instructions */
	__u32	dtlb_now;		/* the same, mean of about eight samples */
	__u32	read_mean;		/* estimate: KiB read from memory a second */
};

/* What of a process a verdict is about. Names and meaning: include/seepage/names.h */
enum seepage_subject {
	SEEPAGE_SUBJECT_MEMORY,
	SEEPAGE_SUBJECT_VSZ,
	SEEPAGE_SUBJECT_GROUP,

	__SEEPAGE_SUBJECT_MAX,
	SEEPAGE_SUBJECT_MAX = __SEEPAGE_SUBJECT_MAX - 1
};

/* What a process would run into first. Names and meaning: include/seepage/names.h */
enum seepage_limit {
	SEEPAGE_LIMIT_RAM,
	SEEPAGE_LIMIT_AS,
	SEEPAGE_LIMIT_DATA,
	SEEPAGE_LIMIT_CGROUP,
	SEEPAGE_LIMIT_MAPS,
	SEEPAGE_LIMIT_TASK_SIZE,

	__SEEPAGE_LIMIT_MAX,
	SEEPAGE_LIMIT_MAX = __SEEPAGE_LIMIT_MAX - 1
};

/* What a process was, as user space read it while it lived. Strings: up to 255 bytes. */
enum seepage_identity_attr {
	SEEPAGE_IDENTITY_A_UNSPEC,
	SEEPAGE_IDENTITY_A_EXE,		/* string, path of the program */
	SEEPAGE_IDENTITY_A_CMDLINE,	/* string, its command line */
	SEEPAGE_IDENTITY_A_CGROUP,	/* string, path of the cgroup */
	SEEPAGE_IDENTITY_A_PARENT,	/* string, comm of the parent */
	SEEPAGE_IDENTITY_A_PPID,	/* u32, pid of the parent */

	__SEEPAGE_IDENTITY_A_MAX,
	SEEPAGE_IDENTITY_A_MAX = __SEEPAGE_IDENTITY_A_MAX - 1
};

/* How a process ended. */
#define SEEPAGE_END_STATUS	0xffffU		/* as waitpid() has it; valid with END_EXIT */
#define SEEPAGE_END_EXIT	(1U << 16)	/* it exited, or a signal ended it */
#define SEEPAGE_END_OOM		(1U << 17)	/* the OOM killer did */
#define SEEPAGE_END_EXEC	(1U << 18)	/* it executes another program */

#define SEEPAGE_KIND_PROCESS	0	/* the sample is of one process */
#define SEEPAGE_KIND_GROUP	1	/* all processes of one name, user and cgroup */

/*
 * One process, or group, in one pass: all that the detector was fed, and its verdict.
 * Values that are not known or have no source yet are 0.
 */
struct seepage_raw_sample {
	__u64	id;			/* of the record; new with every fork and exec */
	__u64	time_ns;		/* CLOCK_MONOTONIC; after PASS_NS if born in the pass */
	__u64	age_ns;			/* time since fork or exec */
	__u64	anon, file, shmem;	/* bytes resident */
	__u64	swap;			/* bytes swapped out */
	__u64	vsz;			/* bytes of address space */
	__u64	faults, faults_anon;	/* page faults since it was first seen */
	__u64	headroom;		/* bytes that it can take until it meets limit */
	__u64	pgtables;		/* bytes of page tables */
	__u64	cpu_ns;			/* CPU time of all threads; see docs/recording.md */
	__u64	cold_ns;		/* CLOCK_MONOTONIC when cold was measured */
	__u64	begun_ns;		/* if first: begin of the history, to 100 ms */
	__u64	tte_s;			/* verdict: seconds to exhaustion, ~0: not known */
	__u32	pid;			/* initial pid namespace; group: its oldest process */
	__u32	begun_faults;		/* if first: faults before begun_ns, low 32 bits */
	__u32	error;			/* bytes by which memory counters may be off */
	__u32	maps;			/* number of mappings; the detector is not fed it */
	__u16	cold;			/* permille of the growth that was not used again */
	__u16	peers, peers_growing;	/* members of its group; a process does not count itself */
	__u16	pmc;			/* permille of the usual misses, from hardware counters */
	__u8	limit;			/* enum seepage_limit that headroom is measured to */
	__u8	page_shift;
	__u8	first;			/* 1: the history begins with this sample */
	__u8	state;			/* verdict: enum seepage_state */
	__u8	confidence;		/* verdict: 0 to 100 */
	__u8	kind;			/* SEEPAGE_KIND_* */
	__u8	pad[2];
	char	comm[SEEPAGE_COMM_LEN];
	/* if first: climbs that other members of the group released */
	__u64	known_rise;		/* bytes, highest climb; 0: none */
	__u64	known_span_ns;		/* longest climb, to 100 ms */
	__u64	heap;			/* bytes of the brk heap, to 16 KiB; 0 in state ok */
	__u64	others_rate;		/* bytes an hour that others below limit grow by */
	__u32	others;			/* how many of them are known; both 0 in state ok */
	__u32	pad2;
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

/* What was done, skipped or dropped. Names and meaning: include/seepage/names.h */
enum seepage_counter {
	SEEPAGE_COUNTER_UNSPEC,
	SEEPAGE_COUNTER_BIRTHS,
	SEEPAGE_COUNTER_DEATHS,
	SEEPAGE_COUNTER_EXECS,
	SEEPAGE_COUNTER_FORKS,
	SEEPAGE_COUNTER_EXITS,
	SEEPAGE_COUNTER_SAMPLES,
	SEEPAGE_COUNTER_TABLE_FULL,
	SEEPAGE_COUNTER_POOL_EMPTY,
	SEEPAGE_COUNTER_ALLOC_FAILED,
	SEEPAGE_COUNTER_FAULTS_UNTRACKED,
	SEEPAGE_COUNTER_FAULTS_NO_MM,
	SEEPAGE_COUNTER_FAULTS_NESTED,
	SEEPAGE_COUNTER_ALERTS,
	SEEPAGE_COUNTER_ALERTS_SUPPRESSED,
	SEEPAGE_COUNTER_ALERTS_OVERWRITTEN,
	SEEPAGE_COUNTER_NOTIFY_FAILED,
	SEEPAGE_COUNTER_TICKS_STRETCHED,
	SEEPAGE_COUNTER_HOOK_EVENTS_FAILED,
	SEEPAGE_COUNTER_INVARIANTS_BROKEN,
	SEEPAGE_COUNTER_GROUPS_FULL,
	SEEPAGE_COUNTER_PMC_UNLEARNED,
	SEEPAGE_COUNTER_SHARE_FULL,
	SEEPAGE_COUNTER_EXCHANGED,
	SEEPAGE_COUNTER_SUSPECTS_FULL,
	SEEPAGE_COUNTER_PMC_CROSS_CALLS,

	__SEEPAGE_COUNTER_MAX,
	SEEPAGE_COUNTER_MAX = __SEEPAGE_COUNTER_MAX - 1
};

#endif /* _UAPI_LINUX_SEEPAGE_H */
