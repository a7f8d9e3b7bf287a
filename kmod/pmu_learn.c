// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: what is usual for a process, learned in each full pass
 * from what it got since the one before (detect/pmc.h).
 *
 * Most processes hardly run. The place to learn in is made for those that have
 * run for a second, and for an eighth of max_processes at most; where that is not
 * enough, those that have not run for an hour give theirs back, as many as others
 * want, and must run for another second to get one again.
 *
 * All of it is under the table mutex.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "detect/pmc.h"
#include "pmu.h"

#define IDLE_NS		(3600 * NSEC_PER_SEC)
#define LEARN_SHARE	8

/* What a process had got, in 2^20 ns, and odd: a long holds 24 days of that at least. */
#define MARK_SHIFT	20
#define MARK_LEARN	(NSEC_PER_SEC >> MARK_SHIFT)

/* Less than this says nothing, neither of a pass nor of an event in it. */
#define LEAST_NS	(10 * NSEC_PER_MSEC)
#define LEAST_SHARE	32

struct seep_pmu_learned {
	struct seep_pmc_baseline base;
	u64 ran_ns;			/* monotonic: the pass that learned last */
	u64 from_ns;			/* the last that found nothing more than that one */
	u64 enabled;			/* what it had got by then */
	struct seep_pmu_got got[];
};

static struct {				/* seep_table_mutex */
	u32 n;				/* processes with a place */
	u32 most;			/* of them */
	u32 bytes;			/* of all places */
	u32 refused;			/* a place, in this pass */
	u32 wanted;			/* places, since the pass before */
	u8 events;
	u8 role[SEEP_PMU_EVENTS];	/* enum seep_pmc_event, __SEEP_PMC_MAX: another one */
} learn;

#define NAME(ID, name)	#name,
static const char * const roles[] = { SEEP_PMC_EVENTS(NAME) };

static struct seep_pmu_learned *place(const struct seep_pmu_area *area)
{
	return area->mark & 1 ? NULL : area->learned;
}

static unsigned long mark(u64 enabled)
{
	return (unsigned long)(enabled >> MARK_SHIFT) << 1 | 1;
}

static u64 read_got(const struct seep_pmu_area *area, struct seep_pmu_got *got)
{
	u8 i;

	for (i = 0; i < learn.events; i++) {
		got[i].count = atomic64_read(&area->of[i].count);
		got[i].running = atomic64_read(&area->of[i].running);
	}
	return atomic64_read(&area->enabled);
}

static void begin(struct seep_pmu_area *area, u64 now_ns)
{
	struct seep_pmu_learned *l;

	if (learn.n >= learn.most) {
		learn.refused++;
		seep_count(PMC_UNLEARNED);
		return;
	}
	l = kzalloc(struct_size(l, got, learn.events), GFP_KERNEL);
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
 * seep_pmu_unlearn() - an area is about to go, or its process to start anew
 * @area: of a record
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

/* What it got since its last sample, and that is its last one from now on. */
static void difference(struct seep_pmu_learned *l, const struct seep_pmu_area *area,
		       struct seepage_pmc_value ev[__SEEP_PMC_MAX])
{
	struct seep_pmu_got now[SEEP_PMU_EVENTS];
	u64 enabled = read_got(area, now);
	struct seepage_pmc_value *v;
	u8 i;

	memset(ev, 0, __SEEP_PMC_MAX * sizeof(*ev));
	for (i = 0; i < learn.events; i++) {
		if (learn.role[i] == __SEEP_PMC_MAX)
			continue;
		v = &ev[learn.role[i]];
		v->count = now[i].count - l->got[i].count;
		v->enabled_ns = enabled - l->enabled;
		v->running_ns = now[i].running - l->got[i].running;
		if (v->running_ns < v->enabled_ns / LEAST_SHARE)
			v->running_ns = 0;	/* the end of a turn: not known */
	}
	memcpy(l->got, now, learn.events * sizeof(*now));
	l->enabled = enabled;
}

/* By itself: those that did not run do not pay for clearing its stack. */
static noinline void feed(struct seep_pmu_learned *l, const struct seep_rec *rec, u64 now_ns,
			  bool growing)
{
	struct seepage_pmc_value ev[__SEEP_PMC_MAX];
	struct seep_pmc_figures f;

	difference(l, rec->pmu, ev);
	seep_pmc_figures(ev, now_ns - l->from_ns, &f);
	seep_pmc_feed(&l->base, &f, growing);
	l->ran_ns = now_ns;
	l->from_ns = now_ns;
}

static void evict(struct seep_pmu_area *area, u64 enabled)
{
	seep_pmu_unlearn(area);
	area->mark = mark(enabled);
}

/**
 * seep_pmu_learn() - in a full pass: from what a process got since the last one
 * @rec: in the table, with an area; what it got up to now is there
 * @now_ns: monotonic
 * @held: nothing is counted
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
	if (held || !growing) {		/* what was measured is not of the growth to come */
		l->base.llc_grew = 0;
		l->base.dtlb_grew = 0;
	}
	if (held) {
		l->from_ns = now_ns;
		return;
	}
	if (learn.n > learn.most) {	/* max_processes is less than it was */
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

/* A full pass begins. Context: process, seep_table_mutex. */
void seep_pmu_learn_begin(void)
{
	learn.most = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES) / LEARN_SHARE;
	learn.wanted = learn.refused;
	learn.refused = 0;
}

/* Is anything learned of it? Context: process, seep_table_mutex. */
bool seep_pmu_learns(const struct seep_rec *rec)
{
	return rec->pmu && place(rec->pmu);
}

/**
 * seep_pmu_rise() - how much more misses than usual a process has
 * @rec: in the table
 *
 * Context: process, seep_table_mutex.
 * Return: permille, see seep_pmc_rise(); 0: not known, or not any more.
 */
u16 seep_pmu_rise(const struct seep_rec *rec)
{
	return seep_pmu_learns(rec) ? seep_pmc_rise(&rec->pmu->learned->base) : 0;
}

/**
 * seep_pmu_baseline() - what is usual for a process, to be shown
 * @rec: in the table; seep_pmu_learns() it
 * @shown: all of it is written
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_baseline(const struct seep_rec *rec, struct seepage_pmc_baseline *shown)
{
	seep_pmc_show(&rec->pmu->learned->base, shown);
}

/* Context: process, seep_table_mutex; the history is forgotten. */
void seep_pmu_forget(struct seep_rec *rec)
{
	if (rec->pmu)
		seep_pmu_unlearn(rec->pmu);
}

/* A new list of events; nobody has a place. */
void seep_pmu_learn_start(const struct seep_pmu_listed *ev, u8 n)
{
	u8 i, role;

	learn.events = n;
	for (i = 0; i < n; i++) {
		for (role = 0; role < __SEEP_PMC_MAX; role++)
			if (!strcmp(ev[i].name, roles[role]))
				break;
		learn.role[i] = role;
	}
}

u64 seep_pmu_learn_bytes(void)
{
	/* for display: one reading is as good as the next */
	return data_race(learn.bytes);
}
