// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: charges what the counters of a CPU count to the process that runs.
 *
 * A CPU remembers the process that it runs. When it switches to another process, to a
 * kernel thread or to idle (tracepoint sched_switch), the counts since the last charge go
 * to the process that ran. The same happens before anybody reads. Each count is charged
 * exactly once, so all charges add up to what the counters show.
 *
 * Locks: none. Only the CPU itself writes its state, with interrupts off. The probe runs
 * with the lock of the run queue held, so nothing here may take a lock or wake a task.
 * A CPU may remember a record only while the record exists: before a record is freed, and
 * after the last task has left its mm, seep_pmu_leave() makes every CPU forget it.
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

/*
 * What an event of this CPU has counted by now; @clock is local_clock(). READ_ONCE() of
 * state and oncpu pairs with WRITE_ONCE() in kernel/events/core.c. The times have plain
 * stores there.
 */
static __always_inline void read_event(struct perf_event *e, u64 clock, struct seep_pmu_got *now)
{
	now->running = READ_ONCE(e->total_time_running);
	/* perf may have taken the counter away, or moved the event */
	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE &&
	    READ_ONCE(e->oncpu) == smp_processor_id()) {
		e->pmu->read(e);
		now->running += seep_perf_time(e, clock) - READ_ONCE(e->tstamp);
	}
	now->count = local64_read(&e->count);
}

/**
 * seep_pmu_charge() - charge the running process with the counts since the last charge
 * @pc: this CPU, open
 *
 * Context: interrupts off, any lock may be held, not NMI.
 */
void seep_pmu_charge(struct seep_pmu_cpu *pc)
{
	/* Pairs with smp_store_release() in seep_pmu_pass(): the area is zeroed. */
	struct seep_pmu_area *area = pc->rec ? READ_ONCE(pc->rec->pmu) : NULL;
	struct seep_pmu_sums *sums = &pc->sums[pc->sum_id];
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
		/* another CPU may adjust the clock of the event's context meanwhile */
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

/* ---- the running process ---- */

/* Forget the running process; charge the sum @sum_id from now on. */
static void clear_pending(struct seep_pmu_cpu *pc, u8 sum_id)
{
	pc->sum_id = sum_id;
	pc->mm = SEEP_NO_MM;
	/* Counts first: pairs with smp_load_acquire() in seep_pmu_leave(), seep_pmu_sync(). */
	smp_store_release(&pc->rec, NULL);
}

/* Charge @rec from now on. */
static void remember(struct seep_pmu_cpu *pc, struct seep_rec *rec, struct mm_struct *mm)
{
	pc->sum_id = SEEP_PMU_OTHERS;	/* as long as the record has no area */
	pc->mm = mm;
	/*
	 * The counts charged to the previous record come first: pairs with
	 * smp_load_acquire() in seep_pmu_leave() and seep_pmu_sync(). A CPU that reads
	 * the new rec there also reads those counts in the previous record.
	 */
	smp_store_release(&pc->rec, rec);
}

/* Kernel threads are charged as such even while they use the mm of a process. */
static __always_inline u8 sum_id_of(const struct task_struct *t)
{
	if (likely(!(t->flags & PF_KTHREAD)))
		return SEEP_PMU_OTHERS;
	return is_idle_task(t) ? SEEP_PMU_IDLE : SEEP_PMU_KTHREADS;
}

/* Charge @t from now on. */
static void assign(struct seep_pmu_cpu *pc, const struct task_struct *t, u8 sum_id)
{
	struct mm_struct *mm = t->mm;
	struct seep_rec *rec = NULL;

	if (sum_id == SEEP_PMU_OTHERS && mm) {	/* mm is NULL when it is exiting */
		rcu_read_lock();
		rec = seep_tab_find(mm);
		rcu_read_unlock();
	}
	if (rec)
		remember(pc, rec, mm);
	else
		clear_pending(pc, sum_id);
	if (sum_id != SEEP_PMU_IDLE)
		pc->busy = true;
}

/* Probe of sched_switch. Context: interrupts off, run-queue lock held. */
static void on_switch(SEEP_TP_SWITCH_PROTO)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);
	u8 sum_id = sum_id_of(next);

	if (sum_id == SEEP_PMU_OTHERS ? next->mm == pc->mm : !pc->rec && sum_id == pc->sum_id)
		return;			/* another thread of the same process */
	if (!pc->n || unlikely(seep_disabled()))
		return;
	seep_pmu_charge(pc);
	assign(pc, next, sum_id);
}

/* Compile time only. */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_sched_switch(on_switch);
}

/**
 * seep_pmu_seen() - a record of current was found or created
 * @rec: of current->mm
 *
 * A new program has no record until its first page fault, which is the first thing it
 * does. From then on its counts are charged to the record.
 *
 * Context: interrupts off, not NMI.
 */
void seep_pmu_seen(struct seep_rec *rec)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);

	/*
	 * A tracer that runs after our probe in the same switch may fault while current
	 * is still the previous task. The CPU is charged to idle or a kernel thread by
	 * then, and stays so.
	 */
	if (pc->n && !pc->rec && pc->sum_id == SEEP_PMU_OTHERS &&
	    !(current->flags & PF_KTHREAD) && current->mm == rec->mm)
		remember(pc, rec, rec->mm);
}

/**
 * seep_pmu_exec() - current executes a new program and has a new record
 * @rec: the new record, or NULL
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
		clear_pending(pc, SEEP_PMU_OTHERS);
}

/* ---- counters of a CPU, on the CPU itself ---- */

/**
 * seep_pmu_open_here() - begin to charge
 * @pc: this CPU, closed
 * @id: events of this turn
 * @n: how many
 *
 * Context: this CPU, interrupts off.
 */
void __cold seep_pmu_open_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n)
{
	memcpy(pc->id, id, sizeof(pc->id));
	pc->time = local_clock();
	pc->opened = pc->time;
	assign(pc, current, sum_id_of(current));
	pc->n = n;
}

/**
 * seep_pmu_turn_here() - charge, then continue with the events of the next turn
 * @pc: this CPU
 * @id: events of the new turn
 * @n: how many
 *
 * Context: this CPU, interrupts off.
 */
void __cold seep_pmu_turn_here(struct seep_pmu_cpu *pc, const u8 *id, u8 n)
{
	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	memcpy(pc->id, id, sizeof(pc->id));
	pc->n = n;
}

/**
 * seep_pmu_close_here() - charge the counts, then read the events no more
 * @pc: this CPU
 *
 * Context: this CPU, interrupts off.
 */
void __cold seep_pmu_close_here(struct seep_pmu_cpu *pc)
{
	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	pc->n = 0;
	pc->gone.enabled += pc->time - pc->opened;
	pc->opened = pc->time;
	clear_pending(pc, SEEP_PMU_OTHERS);
}

/* Charge, and forget the record. */
static void __cold leave_here(void *unused)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);

	if (!pc->n)
		return;
	seep_pmu_charge(pc);
	if (pc->rec)
		clear_pending(pc, SEEP_PMU_OTHERS);
}

/* Charge, and go on. */
static void __cold charge_here(void *unused)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(&seep_pmu_cpu);

	if (pc->n)
		seep_pmu_charge(pc);
}

/* Charge, and note for how long each event was enabled, with a counter or without. */
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

struct price {			/* ns for PRICE_ROUNDS readings; the least of several tries */
	u64 counters, clock;
};

/* One try on this CPU. */
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
 * seep_pmu_price() - cost of reading a counter
 * @cpu: open
 *
 * In a virtual machine each reading may trap to the host and take a hundred times as long.
 *
 * Context: process, may sleep.
 * Return: in units of one ktime_get_ns(); 0: the clock is too coarse to tell.
 */
u64 seep_pmu_price(int cpu)
{
	struct price p = { ~0ULL, ~0ULL };
	int i;

	for (i = 0; i < 4; i++)
		smp_call_function_single(cpu, price_here, &p, 1);
	return p.clock ? div64_u64(p.counters, p.clock) : 0;
}

/* ---- calls from other CPUs ---- */

/**
 * seep_pmu_leave() - make all CPUs forget records that are about to be freed
 * @which: true for such a record; no task uses its mm any more
 *
 * A record that @which takes although its mm is still in use may be remembered again.
 *
 * Context: process, may sleep; seep_table_mutex, which keeps records alive.
 */
void __cold seep_pmu_leave(bool (*which)(const struct seep_rec *rec))
{
	struct seep_rec *rec;
	int cpu;

	lockdep_assert_held(&seep_table_mutex);
	cpus_read_lock();
	for_each_online_cpu(cpu) {	/* an offline CPU remembers none */
		/* pairs with smp_store_release() in clear_pending() and remember() */
		rec = smp_load_acquire(&per_cpu(seep_pmu_cpu, cpu).rec);
		if (rec && which(rec))
			smp_call_function_single(cpu, leave_here, NULL, 1);
	}
	cpus_read_unlock();
}

/**
 * seep_pmu_sync() - bring the counts of a record up to date
 * @rec: in the table; NULL: all records
 *
 * Interrupts the CPUs that run the record.
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
		/* pairs with smp_store_release() in clear_pending() and remember() */
		runs = smp_load_acquire(&per_cpu(seep_pmu_cpu, cpu).rec);
		if (runs && (!rec || runs == rec))
			smp_call_function_single(cpu, charge_here, NULL, 1);
	}
	cpus_read_unlock();
}

/**
 * seep_pmu_fold() - bring all counts of all CPUs up to date, idle ones too
 *
 * Context: process, may sleep.
 */
void seep_pmu_fold(void)
{
	on_each_cpu(fold_here, NULL, 1);
}

/* ---- the probe ---- */

static struct tracepoint *tp_switch;

/**
 * seep_pmu_probe_start() - attach the probe to sched_switch
 *
 * Context: process, may sleep, pmu_mutex.
 * Return: 0; -ENOENT: there is no such tracepoint; or another error of the tracepoint.
 */
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

/**
 * seep_pmu_probe_stop() - detach the probe; it does not run any more on return
 *
 * Context: process, may sleep, pmu_mutex.
 */
void seep_pmu_probe_stop(void)
{
	if (!tp_switch)
		return;
	seep_tracepoint_unregister(tp_switch, on_switch);
	tracepoint_synchronize_unregister();
	tp_switch = NULL;
}
