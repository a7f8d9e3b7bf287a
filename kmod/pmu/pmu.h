/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces between the files of hardware counters. In pipeline order:
 *
 * pmu/pmu.c	charges what a CPU's counters count to the process that runs there
 * pmu/area.c	counts of each record
 * pmu/learn.c	what is usual for each process
 * pmu/cpu.c	perf events of all CPUs
 * pmu/set.c	which events count, and when
 * pmu/events.c	names and codes of events; pmu/table.c has the codes
 * netlink/pmu.c	display
 *
 * Locks, in this order: pmu_mutex (set.c) protects events and configuration,
 * seep_table_mutex protects what records have. The state of one CPU has no lock: only the
 * CPU itself writes it, with interrupts off.
 */
#ifndef SEEP_PMU_H
#define SEEP_PMU_H

#include <linux/llist.h>
#include <linux/perf_event.h>
#include "seep.h"

#define SEEP_PMU_EVENTS		SEEPAGE_PMC_EVENTS_MAX
#define SEEP_PMU_COUNTERS	8	/* in use at once, at most: limit of pmc_max_counters */
#define SEEP_PMU_NAME		24

struct seep_pmu_set;
struct seep_pmu_shown;

/* An event of the list. Written by events.c, read only afterwards. */
struct seep_pmu_listed {
	char name[SEEP_PMU_NAME];
	u64 config;			/* as in struct perf_event_attr, like type */
	u32 type;
	s8 row;				/* enum seep_pmu_event, code by processor; -1: config */
	bool always;			/* counts in every turn: cycles, instructions */
	bool none;			/* this processor has no such event */
};

/* The list in force, by number of the event; pmu_mutex. */
struct seep_pmu_list {
	struct seep_pmu_listed event[SEEP_PMU_EVENTS];
	int rc[SEEP_PMU_EVENTS];	/* why it could not be opened; 0: open on some CPU */
	struct seep_pmu_event_state {
		bool starved;		/* it had its turn, but no counter */
		u64 turn, running;	/* ns, when starved was last decided */
	} st[SEEP_PMU_EVENTS];
};

/* What one event counted. */
struct seep_pmu_got {
	u64 count;			/* events */
	u64 running;			/* ns in which the event had a counter */
};

/* What all events of the list counted. */
struct seep_pmu_sums {
	u64 enabled;			/* ns in which counters were on */
	struct seep_pmu_got of[SEEP_PMU_EVENTS];
};

/* Charged where there is no record; SEEP_PMU_HELD: a record. */
enum seep_pmu_sum_id {
	SEEP_PMU_IDLE, SEEP_PMU_KTHREADS, SEEP_PMU_OTHERS, __SEEP_PMU_SUM_MAX,
	SEEP_PMU_HELD = __SEEP_PMU_SUM_MAX
};

/* One event of one CPU. Written by the CPU itself with interrupts off, except where noted. */
struct seep_pmu_counter {
	struct seep_pmu_counter *next;	/* of this turn */
	struct perf_event *event;	/* pmu_mutex, and only while closed; likewise read and id */
	void (*read)(struct perf_event *event);	/* of its driver */
	u64 since;			/* event->tstamp when it was last found active */
	struct seep_pmu_got got;	/* charged so far */
	struct seep_pmu_got kept;	/* the part of it that is not in the area of held yet */
	unsigned long at;		/* of its counts in an area, bytes; set like id */
	u8 id;				/* its number in the list */
};

/*
 * The counters of one CPU, and what is charged with their counts. Written by the CPU
 * itself with interrupts off, except where noted. A closed CPU (open is NULL) does not
 * look at its events.
 */
struct seep_pmu_cpu {
	struct mm_struct *mm;		/* of held; NULL: nothing is held */
	struct seep_rec *held;		/* process that runs, or ran last; NULL: none is known */
	struct seep_pmu_area *area;	/* of held */
	struct seep_pmu_counter *open;	/* events that count in this turn; NULL: closed */
	u64 time;			/* local_clock() up to which all is charged, ns */
	u64 kept;			/* ns charged to held that are not in its area yet */
	u8 sum_id;			/* what runs: held, or what sums[sum_id] is charged with */
	bool keeps;			/* kept is not 0, here or in a counter of this turn */
	bool busy;			/* ran something but idle in this turn; a hint */
	struct seep_pmu_counter counter[SEEP_PMU_EVENTS];
	u64 opened;			/* local_clock() when it was opened, ns */
	u64 turn[SEEP_PMU_EVENTS];	/* ns for which each event was enabled, at the last fold */
	struct seep_pmu_sums sums[__SEEP_PMU_SUM_MAX];	/* charged to no record */
	struct seep_pmu_sums gone;	/* counted by events that were released */

	u8 have[SEEP_PMU_EVENTS];	/* from here on pmu_mutex: events of this CPU */
	u8 have_n, always;		/* events in have; its first ones count in every turn */
	u8 at;				/* first of the others that has this turn */
	int stale;			/* events must be created again; changed by xchg() */
};

/*
 * NULL: nothing is counted. pmu_mutex to set; it and table mutex to clear; RCU or either to
 * read. READ_ONCE() where it may be cleared meanwhile: under RCU alone, before the probe or the
 * counters of this CPU are known to be open.
 */
extern struct seep_pmu_cpu __percpu *seep_pmu_cpus;
int seep_pmu_cpus_alloc(void);			/* pmu_mutex, may sleep */
void seep_pmu_cpus_free(void);			/* likewise; all CPUs are closed */

/* pmu.c: on the CPU itself, interrupts off; @n events */
void seep_pmu_open_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n);
void seep_pmu_turn_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n);
void seep_pmu_close_here(struct seep_pmu_cpu *pc);
void seep_pmu_add_here(struct seep_pmu_cpu *pc, struct seep_pmu_shown *list, u8 n);
u64 seep_pmu_price(int cpu);			/* may sleep */
int seep_pmu_probe_start(void);			/* may sleep */
void seep_pmu_probe_stop(void);

/*
 * pmu/area.c: the counts of one record. Its size depends on the number of events.
 */
struct seep_pmu_area {
	union {
		struct llist_node spare;		/* while in no record: areas.spare */
		/* in a record: NULL, or mark with bit 0 set (learn.c); seep_table_mutex */
		struct seep_pmu_learned *learned;
		unsigned long mark;
	};
	atomic64_t enabled;		/* ns; CPUs add, with interrupts off */
	struct seep_pmu_total {
		atomic64_t count, running;	/* likewise; running in ns */
	} of[];
};

/* may sleep, no table mutex */
int seep_pmu_areas_start(const struct seep_pmu_listed *ev, u8 n);
void seep_pmu_areas_stop(void);			/* likewise; all CPUs are closed */
void seep_pmu_areas_hold(bool yes);		/* likewise; @yes: nothing counts until no */
void seep_pmu_sums(struct seep_pmu_sums *ended, u32 *set);	/* likewise */

/* pmu/learn.c: table mutex, seep_pmu_learn() may sleep */
void seep_pmu_learn(struct seep_rec *rec, u64 now_ns, bool held);
void seep_pmu_learn_begin(void);
void seep_pmu_learn_start(const struct seep_pmu_listed *ev, u8 n);
void seep_pmu_unlearn(struct seep_pmu_area *area);
u64 seep_pmu_learn_bytes(void);			/* any context */

/* pmu/set.c: an event as it is displayed */
struct seep_pmu_shown {
	char name[SEEP_PMU_NAME];
	u32 type;
	u64 config;
	u8 state;			/* enum seepage_pmc_state */
	const char *reason;		/* why it is unavailable, or NULL */
	struct seepage_pmc_value total, idle, kthreads, others, ended;
	u64 turn;			/* ns in which it had its turn */
};

/* may sleep, no table mutex; @list: SEEP_PMU_EVENTS places; returns how many are used */
u8 seep_pmu_show(struct seep_pmu_shown *list, u32 *set);

/* pmu/cpu.c: pmu_mutex, may sleep */
void seep_pmu_cpus_create(const struct seep_pmu_listed *ev, u8 n, int *rc);
bool seep_pmu_cpus_incomplete(void);
void seep_pmu_cpus_open(u8 max);
void seep_pmu_cpus_rotate(u8 max);
void seep_pmu_cpus_close(void);
u64 seep_pmu_cpus_price(void);
void seep_pmu_cpus_add(struct seep_pmu_shown *list, u8 n);

/* pmu/events.c: process context, may sleep */
extern const char * const seep_pmu_names[];	/* by enum seep_pmu_event; any context */
int seep_pmu_parse(const char *text, struct seep_pmu_listed *list, char *why, size_t size);
int seep_pmu_defaults(struct seep_pmu_listed *list);
const struct seep_pmu_set *seep_pmu_processor(int cpu);
bool seep_pmu_code(const struct seep_pmu_set *set, const struct seep_pmu_listed *ev,
		   u32 *type, u64 *config);
void seep_pmu_host(char *buf, size_t size);

#endif /* SEEP_PMU_H */
