// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: who is charged for what the counters of a CPU count.
 *
 * A CPU remembers whom it runs. Where it goes to another process, to a kernel
 * thread or to idle (sched_switch), what the counters gained since is charged
 * to who ran, and so it is before anybody reads. A reading is charged to exactly
 * one, so all that were charged add up to what the counters show.
 *
 * All of a CPU's state is its own, with interrupts off: no lock is needed. The
 * probe runs with the lock of the run queue held. A record stays while it is
 * remembered: before it is given back it is made to be forgotten everywhere
 * (seep_pmu_leave()), after its memory's last task has left it.
 */
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "pmu.h"

DEFINE_PER_CPU(struct seep_pmu_cpu, seep_pmu_cpu) = { .mm = SEEP_NO_MM };

/* What an event of this CPU has counted by now. */
static __always_inline void read_event(struct perf_event *e, u64 clock, struct seep_pmu_got *now)
{
	now->running = READ_ONCE(e->total_time_running);
	/* perf may have taken the counter away, or given it to somebody else */
	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE &&
	    READ_ONCE(e->oncpu) == smp_processor_id()) {
		e->pmu->read(e);
		now->running += seep_perf_time(e, clock) - READ_ONCE(e->tstamp);
	}
	now->count = local64_read(&e->count);
}

/**
 * seep_pmu_charge() - charge who runs with what was counted since the last time
 * @pc: of this CPU, open
 *
 * Context: interrupts off, any lock held, not NMI.
 */
void seep_pmu_charge(struct seep_pmu_cpu *pc)
{
	struct seep_pmu_area *area = pc->rec ? READ_ONCE(pc->rec->pmu) : NULL;
	struct seep_pmu_sums *sums = &pc->sums[pc->who];
	u64 clock = local_clock(), enabled = clock - pc->time;
	struct seep_pmu_got now, *read;
	u8 i, id;

	pc->time = clock;
	if (area)
		atomic64_add(enabled, &area->enabled);
	else
		sums->enabled += enabled;
	for (i = 0; i < pc->n; i++) {
		id = pc->id[i];
		read = &pc->read[id];
		read_event(pc->event[id], clock, &now);
		now.count -= read->count;
		now.running -= read->running;
		/* the context's clock may be set right from elsewhere meanwhile */
		if ((s64)now.running < 0)
			now.running = 0;
		read->count += now.count;
		read->running += now.running;
		if (area) {
			atomic64_add(now.count, &area->of[id].count);
			atomic64_add(now.running, &area->of[id].running);
		} else {
			sums->of[id].count += now.count;
			sums->of[id].running += now.running;
		}
	}
}

/* ---- who runs ---- */

static void forget(struct seep_pmu_cpu *pc, u8 who)
{
	pc->who = who;
	pc->mm = SEEP_NO_MM;
	/* who sees that it is forgotten sees what it was charged with */
	smp_store_release(&pc->rec, NULL);
}

static void remember(struct seep_pmu_cpu *pc, struct seep_rec *rec, struct mm_struct *mm)
{
	pc->who = SEEP_PMU_OTHERS;	/* where the record has no area */
	pc->mm = mm;
	/*
	 * seep_pmu_leave() looks at it once nobody uses the mm any more; and who does
	 * not see the one before here sees what that was charged with.
	 */
	smp_store_release(&pc->rec, rec);
}

/* A kernel thread is one in whatever memory it works. */
static __always_inline u8 who_is(const struct task_struct *t)
{
	if (likely(!(t->flags & PF_KTHREAD)))
		return SEEP_PMU_OTHERS;
	return is_idle_task(t) ? SEEP_PMU_IDLE : SEEP_PMU_KTHREADS;
}

static void assign(struct seep_pmu_cpu *pc, const struct task_struct *t, u8 who)
{
	struct mm_struct *mm = t->mm;
	struct seep_rec *rec = NULL;

	if (who == SEEP_PMU_OTHERS && mm) {	/* without: it is past its exit */
		rcu_read_lock();
		rec = seep_tab_find(mm);
		rcu_read_unlock();
	}
	if (rec)
		remember(pc, rec, mm);
	else
		forget(pc, who);
	if (who != SEEP_PMU_IDLE)
		pc->busy = true;
}

static void on_switch(SEEP_TP_SWITCH_PROTO)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);
	u8 who = who_is(next);

	if (who == SEEP_PMU_OTHERS ? next->mm == pc->mm : !pc->rec && who == pc->who)
		return;			/* another thread of the same */
	if (!pc->n || unlikely(seep_disabled()))
		return;
	seep_pmu_charge(pc);
	assign(pc, next, who);
}

static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_sched_switch(on_switch);
}

/**
 * seep_pmu_seen() - a record was found for current, or was made
 * @rec: of current->mm
 *
 * A program that starts has none until its first fault, which is the first thing
 * that it does.
 *
 * Context: interrupts off, not NMI.
 */
void seep_pmu_seen(struct seep_rec *rec)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);

	/*
	 * A tracer that runs after our probe in the same switch may fault while current
	 * is still the one before: the CPU belongs to idle or a kernel thread by then.
	 */
	if (pc->n && !pc->rec && pc->who == SEEP_PMU_OTHERS &&
	    !(current->flags & PF_KTHREAD) && current->mm == rec->mm)
		remember(pc, rec, rec->mm);
}

/**
 * seep_pmu_exec() - current has a new program, and with it a new record
 * @rec: the new one, or NULL
 *
 * Context: interrupts off, not NMI.
 */
void __cold seep_pmu_exec(struct seep_rec *rec)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);

	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	if (rec)
		remember(pc, rec, rec->mm);
	else
		forget(pc, SEEP_PMU_OTHERS);
}

/* ---- a CPU's counters, on the CPU itself ---- */

void __cold seep_pmu_open_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n)
{
	memcpy(pc->id, id, sizeof(pc->id));
	pc->time = local_clock();
	pc->opened = pc->time;
	assign(pc, current, who_is(current));
	pc->n = n;
}

void __cold seep_pmu_turn_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n)
{
	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	memcpy(pc->id, id, sizeof(pc->id));
	pc->n = n;
}

/* The CPU looks at its events no more. */
void __cold seep_pmu_close_here(struct seep_pmu_cpu *pc)
{
	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	pc->n = 0;
	pc->gone.enabled += pc->time - pc->opened;
	pc->opened = pc->time;
	forget(pc, SEEP_PMU_OTHERS);
}

static void __cold leave_here(void *unused)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);

	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	if (pc->rec)
		forget(pc, SEEP_PMU_OTHERS);
}

static void __cold charge_here(void *unused)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);

	if (pc->n)
		seep_pmu_charge(pc);
}

/* How long each event was to count, whether it had a counter or not. */
static void __cold fold_here(void *unused)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);
	struct perf_event *e;
	u8 i;

	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	for (i = 0; i < pc->n; i++) {
		e = pc->event[pc->id[i]];
		pc->turn[pc->id[i]] = READ_ONCE(e->total_time_enabled);
		if (READ_ONCE(e->state) >= PERF_EVENT_STATE_INACTIVE)
			pc->turn[pc->id[i]] += seep_perf_time(e, pc->time) - READ_ONCE(e->tstamp);
	}
}

#define PRICE_ROUNDS	8U

struct price {			/* ns, of as many readings, the least of some */
	u64 counters, clock;
};

static void __cold price_here(void *info)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);
	u64 begin = ktime_get_ns(), middle;
	struct price *p = info;
	u32 i;

	for (i = 0; i < PRICE_ROUNDS && pc->n; i++)
		seep_pmu_charge(pc);
	middle = ktime_get_ns();
	for (i = 1; i < PRICE_ROUNDS; i++)
		ktime_get_ns();
	p->clock = min(p->clock, ktime_get_ns() - middle);
	p->counters = min(p->counters, div_u64(middle - begin, max(pc->n, (u8)1)));
}

/**
 * seep_pmu_price() - how dear it is to read a counter of a CPU
 * @cpu: open
 *
 * Where a virtual machine has counters, reading one may be left to the host, which
 * takes a hundred times as long.
 *
 * Context: process, may sleep.
 * Return: in readings of the clock; 0: the clock is too coarse.
 */
u64 seep_pmu_price(int cpu)
{
	struct price p = { ~0ULL, ~0ULL };
	int i;

	for (i = 0; i < 4; i++)
		smp_call_function_single(cpu, price_here, &p, 1);
	return p.clock ? div64_u64(p.counters, p.clock) : 0;
}

/* ---- asked from elsewhere ---- */

/**
 * seep_pmu_leave() - records are about to go: no CPU remembers them on return
 * @which: these; of those whose memory is in use, they may come back
 *
 * Context: process, may sleep; seep_table_mutex, which keeps records alive.
 */
void __cold seep_pmu_leave(bool (*which)(const struct seep_rec *rec))
{
	struct seep_rec *rec;
	int cpu;

	lockdep_assert_held(&seep_table_mutex);
	cpus_read_lock();
	for_each_online_cpu(cpu) {	/* the others remember nobody */
		/* against forget() there: what it charged is in the area */
		rec = smp_load_acquire(&per_cpu(seep_pmu_cpu, cpu).rec);
		if (rec && which(rec))
			smp_call_function_single(cpu, leave_here, NULL, 1);
	}
	cpus_read_unlock();
}

/**
 * seep_pmu_sync() - what a record got up to now is in its area on return
 * @rec: in the table; NULL: all of them
 *
 * Context: process, may sleep; seep_table_mutex, which keeps the record alive.
 */
void seep_pmu_sync(const struct seep_rec *rec)
{
	const struct seep_rec *runs;
	int cpu;

	lockdep_assert_held(&seep_table_mutex);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		/* against forget() there: what it charged is in the area */
		runs = smp_load_acquire(&per_cpu(seep_pmu_cpu, cpu).rec);
		if (runs && (!rec || runs == rec))
			smp_call_function_single(cpu, charge_here, NULL, 1);
	}
	cpus_read_unlock();
}

/* All CPUs, those that idle too. Context: process, may sleep. */
void seep_pmu_fold(void)
{
	on_each_cpu(fold_here, NULL, 1);
}

/* ---- the probe ---- */

static struct tracepoint *tp_switch;

int seep_pmu_probe_start(void)
{
	int rc;

	tp_switch = seep_find_tracepoint("sched_switch");
	if (!tp_switch)
		return -ENOENT;
	rc = tracepoint_probe_register(tp_switch, on_switch, NULL);
	if (rc)
		tp_switch = NULL;
	return rc;
}

void seep_pmu_probe_stop(void)
{
	if (!tp_switch)
		return;
	seep_tracepoint_unregister(tp_switch, on_switch);
	tracepoint_synchronize_unregister();
	tp_switch = NULL;
}
