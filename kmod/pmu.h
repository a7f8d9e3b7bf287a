/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of hardware counters share: pmu.c (who ran), pmu_area.c (what
 * each got), pmu_learn.c (what is usual for it), pmu_cpu.c (the counters of
 * the CPUs), pmu_set.c (which events, and when), pmu_events.c (their codes),
 * netlink_pmc.c (shown).
 */
#ifndef SEEP_PMU_H
#define SEEP_PMU_H

#include <linux/llist.h>
#include <linux/perf_event.h>
#include "seep.h"

#define SEEP_PMU_EVENTS		SEEPAGE_PMC_EVENTS_MAX
#define SEEP_PMU_COUNTERS	8	/* at once: the most that pmc_max_counters allows */
#define SEEP_PMU_NAME		24

struct seep_pmu_set;

/* An event of the list. */
struct seep_pmu_listed {
	char name[SEEP_PMU_NAME];
	u32 type;			/* as in struct perf_event_attr */
	u64 config;
	s8 row;				/* of pmu_table.h: each processor's own code; or -1 */
	bool always;			/* in every turn */
	bool none;			/* the processor that was asked has no such event */
};

struct seep_pmu_got {
	u64 count;
	u64 running;			/* ns */
};

struct seep_pmu_sums {
	u64 enabled;			/* ns */
	struct seep_pmu_got of[SEEP_PMU_EVENTS];
};

/* Who has no record. */
enum seep_pmu_who { SEEP_PMU_IDLE, SEEP_PMU_KTHREADS, SEEP_PMU_OTHERS, __SEEP_PMU_WHO };

/*
 * The counters of one CPU, and who is charged for what they count. Only the CPU
 * itself writes, with interrupts off, but where it is said otherwise. Closed
 * (n is 0) it is not looked at by the CPU.
 */
struct seep_pmu_cpu {
	struct mm_struct *mm;		/* of rec; SEEP_NO_MM: nobody's */
	struct seep_rec *rec;		/* who runs; NULL: see who */
	u8 who;				/* enum seep_pmu_who */
	u8 n;				/* events whose turn it is */
	u8 id[SEEP_PMU_COUNTERS];	/* these */
	bool busy;			/* not only idle since the last turn; a hint */
	u64 time;			/* local_clock() up to which all is charged */
	u64 opened;
	struct seep_pmu_got read[SEEP_PMU_EVENTS];	/* charged so far */
	u64 turn[SEEP_PMU_EVENTS];	/* ns, at the last fold: an event was to count */
	struct seep_pmu_sums sums[__SEEP_PMU_WHO];
	struct seep_pmu_sums gone;	/* what counters showed that are closed */

	struct perf_event *event[SEEP_PMU_EVENTS];	/* pmu mutex, and closed, to change */
	u8 have[SEEP_PMU_EVENTS];	/* pmu mutex from here on: events that it has */
	u8 have_n, always;		/* how many, and of them in every turn: the first */
	u8 at;				/* of the others, the first of the turn */
	int stale;			/* its events are to be made anew; by xchg() */
};

DECLARE_PER_CPU(struct seep_pmu_cpu, seep_pmu_cpu);

/* pmu.c: the CPU itself, irqs off; @id: SEEP_PMU_COUNTERS places, n of them used */
void seep_pmu_charge(struct seep_pmu_cpu *pc);
void seep_pmu_open_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n);
void seep_pmu_turn_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n);
void seep_pmu_close_here(struct seep_pmu_cpu *pc);
void seep_pmu_fold(void);			/* may sleep: all CPUs */
u64 seep_pmu_price(int cpu);			/* may sleep */
int seep_pmu_probe_start(void);			/* may sleep */
void seep_pmu_probe_stop(void);

/*
 * pmu_area.c. What a record got; its size is by the number of events. All of
 * it but what is in a record is under the table mutex.
 */
struct seep_pmu_area {
	union {
		struct llist_node spare;		/* not in a record */
		/* in one, table mutex: a place, or NULL, or an odd mark of what it had got */
		struct seep_pmu_learned *learned;
		unsigned long mark;
	};
	atomic64_t enabled;
	struct {
		atomic64_t count, running;
	} of[];
};

/* may sleep, no table mutex */
int seep_pmu_areas_start(const struct seep_pmu_listed *ev, u8 n);
void seep_pmu_areas_stop(void);			/* likewise; nothing counts any more */
void seep_pmu_areas_hold(bool yes);		/* likewise; nothing counts until then */
void seep_pmu_sums(struct seep_pmu_sums *ended, u32 *set);	/* likewise */

/* pmu_learn.c: table mutex, the first may sleep */
void seep_pmu_learn(struct seep_rec *rec, u64 now_ns, bool held);
void seep_pmu_learn_begin(void);
void seep_pmu_learn_start(const struct seep_pmu_listed *ev, u8 n);
void seep_pmu_unlearn(struct seep_pmu_area *area);
u64 seep_pmu_learn_bytes(void);			/* any context */

/* pmu_set.c: an event as it is shown */
struct seep_pmu_shown {
	char name[SEEP_PMU_NAME];
	u32 type;
	u64 config;
	u8 state;			/* enum seepage_pmc_state */
	const char *reason;		/* or NULL */
	struct seepage_pmc_value total, idle, kthreads, others, ended;
};

/* may sleep, no table mutex; @list: SEEP_PMU_EVENTS; returns how many */
u8 seep_pmu_show(struct seep_pmu_shown *list, u32 *set);

/* pmu_cpu.c: pmu mutex, may sleep */
void seep_pmu_cpus_create(const struct seep_pmu_listed *ev, u8 n, int *rc);
bool seep_pmu_cpus_incomplete(void);
void seep_pmu_cpus_open(u8 max);
void seep_pmu_cpus_rotate(u8 max);
void seep_pmu_cpus_close(void);
void seep_pmu_cpus_forget(void);
u64 seep_pmu_cpus_price(void);
u64 seep_pmu_cpus_total(u8 id, struct seepage_pmc_value *v);
void seep_pmu_cpus_part(u8 id, enum seep_pmu_who who, struct seepage_pmc_value *v);

/* pmu_events.c: any context that may sleep */
int seep_pmu_parse(const char *text, struct seep_pmu_listed *list, char *why, size_t size);
int seep_pmu_defaults(struct seep_pmu_listed *list);
const struct seep_pmu_set *seep_pmu_processor(int cpu);
bool seep_pmu_code(const struct seep_pmu_set *set, const struct seep_pmu_listed *ev,
		   u32 *type, u64 *config);
void seep_pmu_host(char *buf, size_t size);

#endif /* SEEP_PMU_H */
