// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: what is usual for a process. Each full pass learns from what the
 * process counted since the pass before (model: detect/pmu.h).
 *
 * Most processes hardly run. A model is allocated only for a process that has run for a
 * second, and for an eighth of max_processes at most. Where that is not enough, processes
 * that have not run for an hour lose their models, as many as others want. They must run
 * for another second to get a new one.
 *
 * Lock: seep_table_mutex for everything here.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "detect/pmu.h"
#include "pmu.h"

#define IDLE_NS		(3600ULL * NSEC_PER_SEC)
#define LEARN_SHARE	8

/*
 * A record without a model keeps in its place a mark: the time that it had counted, in
 * units of 2^20 ns, with bit 0 set to tell it from a pointer. On 32 bits it holds 26 days.
 */
#define MARK_SHIFT	20
#define MARK_LEARN	(NSEC_PER_SEC >> MARK_SHIFT)

/* A pass, or an event in it, with less than this teaches nothing. */
#define LEAST_NS	(10 * NSEC_PER_MSEC)
#define LEAST_SHARE	32

/* The model of a process, and its counts when it was fed last. */
struct seep_pmu_learned {
	struct seep_pmu_model base;	/* what is usual */
	u64 ran_ns;			/* CLOCK_MONOTONIC, the last pass that learned */
	u64 from_ns;			/* CLOCK_MONOTONIC, begin of the interval to learn from */
	u64 enabled;			/* ns counted up to the last pass that learned */
	struct seep_pmu_got got[];	/* likewise, of each event */
};

static struct {				/* seep_table_mutex */
	u32 n;				/* models allocated */
	u32 most;			/* models allowed */
	u32 bytes;			/* memory of all models */
	u32 refused;			/* models refused in this pass */
	u32 wanted;			/* models to free: refused in the last pass */
	u8 events;			/* in the list */
	u8 role[SEEP_PMU_EVENTS];	/* enum seep_pmu_event; __SEEP_PMU_MAX: not in the model */
} learn;

/* The model of a record, or NULL. */
static struct seep_pmu_learned *place(const struct seep_pmu_area *area)
{
	return area->mark & 1 ? NULL : area->learned;
}

/* The mark for @enabled ns. */
static unsigned long mark(u64 enabled)
{
	return (unsigned long)(enabled >> MARK_SHIFT) << 1 | 1;
}

/* Counts of all events up to now. Return: ns in which counters were on. */
static u64 read_got(const struct seep_pmu_area *area, struct seep_pmu_got *got)
{
	u8 i;

	for (i = 0; i < learn.events; i++) {
		got[i].count = atomic64_read(&area->of[i].count);
		got[i].running = atomic64_read(&area->of[i].running);
	}
	return atomic64_read(&area->enabled);
}

/* Allocate a model, or count why there is none. */
static void begin(struct seep_pmu_area *area, u64 now_ns)
{
	struct seep_pmu_learned *l;

	if (learn.n >= learn.most) {
		learn.refused++;
		seep_count(PMC_UNLEARNED);
		return;
	}
	l = kzalloc(struct_size(l, got, learn.events), SEEP_GFP);
	if (!l) {
		seep_count(ALLOC_FAILED);
		return;
	}
	l->ran_ns = now_ns;
	l->from_ns = now_ns;
	l->enabled = read_got(area, l->got);
	area->learned = l;
	learn.n++;
	if (learn.wanted)
		learn.wanted--;
	learn.bytes += ksize(l);
}

/**
 * seep_pmu_unlearn() - free the model of a record
 * @area: the area of the record, which is about to be freed or to restart
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_unlearn(struct seep_pmu_area *area)
{
	struct seep_pmu_learned *l = place(area);

	area->learned = NULL;
	if (!l)
		return;
	learn.n--;
	learn.bytes -= ksize(l);
	kfree(l);
}

/* Counts since the last call. */
static void difference(struct seep_pmu_learned *l, const struct seep_pmu_area *area,
		       struct seepage_pmc_value ev[__SEEP_PMU_MAX])
{
	struct seep_pmu_got now[SEEP_PMU_EVENTS];
	u64 enabled = read_got(area, now);
	struct seepage_pmc_value *v;
	u8 i;

	memset(ev, 0, __SEEP_PMU_MAX * sizeof(*ev));
	for (i = 0; i < learn.events; i++) {
		if (learn.role[i] == __SEEP_PMU_MAX)
			continue;
		v = &ev[learn.role[i]];
		v->count = now[i].count - l->got[i].count;
		v->enabled_ns = enabled - l->enabled;
		v->running_ns = now[i].running - l->got[i].running;
		if (v->running_ns < v->enabled_ns / LEAST_SHARE)
			v->running_ns = 0;	/* too short a part of a turn: not known */
	}
	memcpy(l->got, now, learn.events * sizeof(*now));
	l->enabled = enabled;
}

/* Not inlined: processes that did not run need not clear its stack. */
static noinline void feed(struct seep_pmu_learned *l, const struct seep_rec *rec, u64 now_ns,
			  bool growing)
{
	struct seepage_pmc_value ev[__SEEP_PMU_MAX];
	struct seep_pmu_figures f;

	difference(l, rec->pmu, ev);
	seep_pmu_figures(ev, now_ns - l->from_ns, &f);
	seep_pmu_model_feed(&l->base, &f, growing);
	l->ran_ns = now_ns;
	l->from_ns = now_ns;
}

/* Free a model for another process. This one must run for a second to get a new one. */
static void evict(struct seep_pmu_area *area, u64 enabled)
{
	seep_pmu_unlearn(area);
	area->mark = mark(enabled);
}

/**
 * seep_pmu_learn() - learn from what a process counted since the last full pass
 * @rec: in the table; it has an area, and all CPUs have charged their counts to it
 * @now_ns: CLOCK_MONOTONIC
 * @held: the configuration is pmc=hold, so the counters are stopped
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_pmu_learn(struct seep_rec *rec, u64 now_ns, bool held)
{
	struct seep_pmu_area *area = rec->pmu;
	struct seep_pmu_learned *l = place(area);
	u64 enabled = atomic64_read(&area->enabled);
	bool growing;

	if (!l) {
		if (!held && mark(enabled) - (area->mark | 1) >= MARK_LEARN << 1)
			begin(area, now_ns);
		return;
	}
	growing = rec->ready && rec->det.state != SEEPAGE_STATE_OK;
	if (held || !growing) {		/* samples up to now are not of the growth to come */
		l->base.llc_grew = 0;
		l->base.dtlb_grew = 0;
	}
	if (held) {
		l->from_ns = now_ns;
		return;
	}
	if (learn.n > learn.most) {	/* max_processes was lowered */
		evict(area, enabled);
		return;
	}
	if (enabled - l->enabled >= LEAST_NS) {
		feed(l, rec, now_ns, growing);
		return;
	}
	if (enabled == l->enabled)
		l->from_ns = now_ns;
	l->base.signals = 0;
	if (learn.wanted && now_ns - l->ran_ns > IDLE_NS) {
		learn.wanted--;
		evict(area, enabled);
	}
}

/**
 * seep_pmu_learn_begin() - a full pass begins
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_learn_begin(void)
{
	learn.most = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES) / LEARN_SHARE;
	learn.wanted = learn.refused;
	learn.refused = 0;
}

/**
 * seep_pmu_learns() - does a record have a model?
 * @rec: in the table
 *
 * Context: process, seep_table_mutex.
 */
bool seep_pmu_learns(const struct seep_rec *rec)
{
	return rec->pmu && place(rec->pmu);
}

/**
 * seep_pmu_rise() - how many more misses than usual a process has
 * @rec: in the table
 *
 * Context: process, seep_table_mutex.
 * Return: permille as seep_pmu_model_rise(); 0: not known.
 */
u16 seep_pmu_rise(const struct seep_rec *rec)
{
	return seep_pmu_learns(rec) ? seep_pmu_model_rise(&rec->pmu->learned->base) : 0;
}

/**
 * seep_pmu_baseline() - what is usual for a process, for display
 * @rec: in the table; seep_pmu_learns() is true
 * @shown: all members are set
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_baseline(const struct seep_rec *rec, struct seepage_pmc_baseline *shown)
{
	seep_pmu_model_show(&rec->pmu->learned->base, shown);
}

/**
 * seep_pmu_forget() - the history of a record is reset: free its model
 * @rec: in the table
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_forget(struct seep_rec *rec)
{
	if (rec->pmu)
		seep_pmu_unlearn(rec->pmu);
}

/**
 * seep_pmu_learn_start() - a new list of events; no record has a model
 * @ev: the list
 * @n: events in it
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_learn_start(const struct seep_pmu_listed *ev, u8 n)
{
	u8 i, role;

	learn.events = n;
	for (i = 0; i < n; i++) {
		for (role = 0; role < __SEEP_PMU_MAX; role++)
			if (!strcmp(ev[i].name, seep_pmu_names[role]))
				break;
		learn.role[i] = role;
	}
}

/**
 * seep_pmu_learn_bytes() - memory of all models
 *
 * Context: any.
 * Return: bytes.
 */
u64 seep_pmu_learn_bytes(void)
{
	/* for display: a value that changes meanwhile does no harm */
	return data_race(learn.bytes);
}
