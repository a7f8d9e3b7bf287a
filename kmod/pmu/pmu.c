// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: charges what the counters of a CPU count to the process that runs.
 *
 * A CPU remembers the process that it runs. When it switches to another process, to a
 * kernel thread or to idle (tracepoint sched_switch), the counts since the last charge go
 * to the process that ran. The same happens before anybody reads. Each count is charged
 * exactly once, so all charges add up to what the counters show.
 *
 * What is charged to a process stays with the CPU, which holds it for the record. It is
 * folded into the record's area, which all CPUs share, only when another process runs
 * here, or when somebody reads. A process that alternates with idle and with kernel
 * threads touches nothing shared.
 *
 * Locks: none. Only the CPU itself writes its state, with interrupts off. The probe runs
 * with the lock of the run queue held, so nothing here may take a lock or wake a task;
 * PREEMPT_RT changes nothing about that. An NMI may update the count of an event, between
 * any two steps, and touches nothing else: each reading takes the count once.
 *
 * A CPU may hold counts for a record only while the record exists. No CPU begins to hold
 * one that is out of the table: no task is left in its mm, or, where it was given up for
 * another process (room.c), each CPU has taken an interrupt since. After that and before the
 * record is freed seep_pmu_leave() lets every CPU that holds for it fold and forget. A CPU that
 * goes offline, and one that is closed (another configuration, unload), does so by itself in
 * seep_pmu_close_here(). The areas go after all CPUs are closed.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "pmu.h"

struct seep_pmu_cpu __percpu *seep_pmu_cpus;

#define NEVER	(~0ULL)		/* seep_pmu_counter.since: not active */

/*
 * Time of an event that was not active all the time since the last charge; @clock is
 * local_clock(). READ_ONCE() of state and oncpu pairs with WRITE_ONCE() in
 * kernel/events/core.c. The times have plain stores there.
 *
 * Return: ns in which it had a counter since the last charge.
 */
static noinline u64 read_time(struct seep_pmu_counter *c, u64 clock)
{
	struct perf_event *e = c->event;
	u64 running = READ_ONCE(e->total_time_running);

	c->since = NEVER;
	/* perf may have taken the counter away, or moved the event */
	if (READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE &&
	    READ_ONCE(e->oncpu) == smp_processor_id()) {
		c->since = READ_ONCE(e->tstamp);
		running += seep_perf_time(e, clock) - c->since;
		c->read(e);
	}
	running -= c->got.running;
	/* another CPU may adjust the clock of the event's context meanwhile */
	return (s64)running < 0 ? 0 : running;
}

/*
 * What an event counted since the last charge, @enabled ns ago. Each change of an event's
 * state sets tstamp. One that is active, with the tstamp of the last reading, was active
 * since then, on this CPU.
 */
static __always_inline void read_event(struct seep_pmu_counter *c, u64 clock, u64 enabled,
				       struct seep_pmu_got *d)
{
	struct perf_event *e = c->event;
	u64 now;

	d->running = enabled;
	if (likely(READ_ONCE(e->state) == PERF_EVENT_STATE_ACTIVE &&
		   READ_ONCE(e->tstamp) == c->since))
		c->read(e);
	else
		d->running = read_time(c, clock);
	c->got.running += d->running;
	now = local64_read(&e->count);	/* once: an NMI may change it */
	d->count = now - c->got.count;
	c->got.count = now;
}

static __always_inline void add_to_area(struct seep_pmu_area *area,
					const struct seep_pmu_counter *c,
					const struct seep_pmu_got *d)
{
	struct seep_pmu_total *to = (void *)area + c->at;

	if (likely(d->count)) {		/* what counted was running */
		atomic64_add(d->count, &to->count);
		atomic64_add(d->running, &to->running);
	} else if (d->running) {
		atomic64_add(d->running, &to->running);
	}
}

/* Fold what is kept of the held process into its area. */
static noinline void fold_kept(struct seep_pmu_cpu *pc)
{
	struct seep_pmu_counter *c;

	if (!pc->keeps)
		return;
	pc->keeps = false;
	atomic64_add(pc->kept, &pc->area->enabled);
	pc->kept = 0;
	for (c = pc->open; c; c = c->next) {
		add_to_area(pc->area, c, &c->kept);
		c->kept = (struct seep_pmu_got){ };
	}
}

/*
 * Charge what runs with the counts since the last charge. @keep: those of a process are
 * kept here, and not folded into its area.
 *
 * Context: interrupts off, any lock may be held, not NMI.
 */
static __always_inline void charge(struct seep_pmu_cpu *pc, bool keep)
{
	u64 clock = local_clock(), enabled = clock - pc->time;
	struct seep_pmu_sums *sums = NULL;
	struct seep_pmu_counter *c;
	struct seep_pmu_got d, *to;

	pc->time = clock;
	if (pc->sum_id != SEEP_PMU_HELD) {
		sums = &pc->sums[pc->sum_id];
		sums->enabled += enabled;
	} else if (keep) {
		pc->keeps = true;
		pc->kept += enabled;
	} else {
		atomic64_add(enabled, &pc->area->enabled);
		for (c = pc->open; c; c = c->next) {
			read_event(c, clock, enabled, &d);
			add_to_area(pc->area, c, &d);
		}
		return;
	}
	for (c = pc->open; c; c = c->next) {
		read_event(c, clock, enabled, &d);
		to = sums ? &sums->of[c->id] : &c->kept;
		to->count += d.count;
		to->running += d.running;
	}
}

/* Charge, and fold all that is kept. */
static noinline void __cold charge_and_fold(struct seep_pmu_cpu *pc)
{
	charge(pc, true);
	fold_kept(pc);
}

/* ---- the running process ---- */

/* Hold for @rec, which may be NULL, from now on. Nothing is kept. */
static __always_inline void hold(struct seep_pmu_cpu *pc, struct seep_rec *rec)
{
	pc->mm = rec ? rec->mm : NULL;
	/* Pairs with smp_store_release() in seep_pmu_pass(): the area is zeroed. */
	pc->area = rec ? READ_ONCE(rec->pmu) : NULL;
	/*
	 * The counts folded for the previous record come first: pairs with
	 * smp_load_acquire() in seep_pmu_leave() and seep_pmu_sync(). A CPU that reads the
	 * new value of held there also reads those counts in the record's area.
	 */
	smp_store_release(&pc->held, rec);
}

/*
 * The record of the process that @t runs in, if it is known and has an area: one that was
 * born while there was none to spare gets it in a full pass. The area stays until
 * seep_pmu_leave() or until all CPUs are closed. Context: interrupts off.
 */
static __always_inline struct seep_rec *rec_of(struct seep_pmu_cpu *pc,
					       const struct task_struct *t, u8 sum_id)
{
	struct mm_struct *mm = t->mm;
	struct seep_rec *rec;

	if (sum_id != SEEP_PMU_OTHERS || !mm)	/* mm is NULL when it is exiting */
		return NULL;
	if (mm == pc->mm)
		return pc->held;
	rec = seep_tab_find(mm);
	return rec && READ_ONCE(rec->pmu) ? rec : NULL;
}

/* Charge @rec from now on; NULL: the sum @sum_id. */
static __always_inline void assign(struct seep_pmu_cpu *pc, struct seep_rec *rec, u8 sum_id)
{
	if (rec) {
		sum_id = SEEP_PMU_HELD;
		if (rec != pc->held) {
			if (unlikely(pc->keeps))
				fold_kept(pc);
			hold(pc, rec);
		}
	}
	pc->sum_id = sum_id;
	if (sum_id != SEEP_PMU_IDLE)
		pc->busy = true;
}

/* Charge current from now on. */
static noinline void __cold assign_current(struct seep_pmu_cpu *pc, u8 sum_id)
{
	assign(pc, rec_of(pc, current, sum_id), sum_id);
}

/* Kernel threads are charged as such even while they use the mm of a process. */
static __always_inline u8 sum_id_of(const struct task_struct *t)
{
	if (likely(!(t->flags & PF_KTHREAD)))
		return SEEP_PMU_OTHERS;
	return is_idle_task(t) ? SEEP_PMU_IDLE : SEEP_PMU_KTHREADS;
}

/* Probe of sched_switch. Context: interrupts off, run-queue lock held. */
static void on_switch(SEEP_TP_SWITCH_PROTO)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(seep_pmu_cpus);
	u8 sum_id = sum_id_of(next);
	struct seep_rec *rec;

	if (sum_id == SEEP_PMU_OTHERS ? pc->sum_id == SEEP_PMU_HELD && next->mm == pc->mm :
					sum_id == pc->sum_id)
		return;			/* another thread of the same process */
	if (!pc->open || unlikely(seep_disabled()))
		return;
	rec = rec_of(pc, next, sum_id);
	/* what is kept until the process runs here again need not be folded */
	charge(pc, !rec || rec == pc->held);
	assign(pc, rec, sum_id);
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
	struct seep_pmu_cpu __percpu *cpus = READ_ONCE(seep_pmu_cpus);
	struct seep_pmu_cpu *pc = this_cpu_ptr(cpus);

	/*
	 * A tracer that runs after our probe in the same switch may fault while current
	 * is still the previous task. The CPU is charged to idle or a kernel thread by
	 * then, and stays so.
	 */
	if (cpus && pc->open && pc->sum_id == SEEP_PMU_OTHERS && current->mm == rec->mm &&
	    !(current->flags & PF_KTHREAD))
		assign_current(pc, SEEP_PMU_OTHERS);
}

/**
 * seep_pmu_exec() - current executes a new program and has a new record, or none
 *
 * Context: interrupts off, not NMI.
 */
void __cold seep_pmu_exec(void)
{
	struct seep_pmu_cpu __percpu *cpus = READ_ONCE(seep_pmu_cpus);
	struct seep_pmu_cpu *pc = this_cpu_ptr(cpus);

	if (!cpus || !pc->open)
		return;
	charge_and_fold(pc);
	assign_current(pc, SEEP_PMU_OTHERS);
}

/* ---- counters of a CPU, on the CPU itself ---- */

/* The events of this turn. Nothing is kept: fold_kept() looks at open counters only. */
static void __cold set_turn(struct seep_pmu_cpu *pc, const u8 *id, u8 n)
{
	pc->open = NULL;
	while (n--) {
		pc->counter[id[n]].next = pc->open;
		pc->open = &pc->counter[id[n]];
	}
}

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
	pc->time = local_clock();
	pc->opened = pc->time;
	assign_current(pc, sum_id_of(current));
	set_turn(pc, id, n);
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
	if (!pc->open)
		return;
	charge_and_fold(pc);
	set_turn(pc, id, n);
}

/**
 * seep_pmu_close_here() - charge and fold the counts, then read the events no more
 * @pc: this CPU
 *
 * Context: this CPU, interrupts off.
 */
void __cold seep_pmu_close_here(struct seep_pmu_cpu *pc)
{
	if (!pc->open)
		return;
	charge_and_fold(pc);
	hold(pc, NULL);
	pc->gone.enabled += pc->time - pc->opened;
	/* All is charged: pairs with smp_load_acquire() in seep_pmu_cpus_add(). */
	smp_store_release(&pc->open, NULL);
}

/* Charge and fold. A process that does not run now is no longer held. */
static void __cold sync(struct seep_pmu_cpu *pc)
{
	charge_and_fold(pc);
	if (pc->sum_id != SEEP_PMU_HELD)
		hold(pc, NULL);
}

/* Charge, fold, and forget the record. */
static void __cold leave_here(void *unused)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(seep_pmu_cpus);

	if (!pc->open)
		return;
	charge_and_fold(pc);
	assign(pc, NULL, min_t(u8, pc->sum_id, SEEP_PMU_OTHERS));
	hold(pc, NULL);
}

static void __cold sync_here(void *unused)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(seep_pmu_cpus);

	if (pc->open)
		sync(pc);
}

static void __cold add(struct seepage_pmc_value *v, u64 enabled, const struct seep_pmu_got *got)
{
	v->count += got->count;
	v->enabled_ns += enabled;
	v->running_ns += got->running;
}

/**
 * seep_pmu_add_here() - add what a CPU counted to the figures of each event
 * @pc: this CPU, or one that is closed and stays so
 * @list: figures to add to
 * @n: events in it
 *
 * Words of 64 bits are read where they are written, so none is torn on 32 bits.
 *
 * Context: interrupts off, or pmu_mutex for a closed CPU.
 */
void __cold seep_pmu_add_here(struct seep_pmu_cpu *pc, struct seep_pmu_shown *list, u8 n)
{
	struct seep_pmu_counter *c;
	struct perf_event *e;
	u64 *turn;
	u8 id;

	if (pc->open)
		sync(pc);
	for (c = pc->open; c; c = c->next) {
		/* how long it was enabled, with a counter or without */
		e = c->event;
		turn = &pc->turn[c->id];
		*turn = READ_ONCE(e->total_time_enabled);
		if (READ_ONCE(e->state) >= PERF_EVENT_STATE_INACTIVE)
			*turn += seep_perf_time(e, pc->time) - READ_ONCE(e->tstamp);
	}
	for (id = 0; id < n; id++, list++) {
		add(&list->total, pc->gone.enabled, &pc->gone.of[id]);
		add(&list->total, pc->open ? pc->time - pc->opened : 0, &pc->counter[id].got);
		add(&list->idle, pc->sums[SEEP_PMU_IDLE].enabled, &pc->sums[SEEP_PMU_IDLE].of[id]);
		add(&list->kthreads, pc->sums[SEEP_PMU_KTHREADS].enabled,
		    &pc->sums[SEEP_PMU_KTHREADS].of[id]);
		add(&list->others, pc->sums[SEEP_PMU_OTHERS].enabled,
		    &pc->sums[SEEP_PMU_OTHERS].of[id]);
		list->turn += pc->turn[id];
	}
}

#define PRICE_ROUNDS	8U

struct price {			/* ns for PRICE_ROUNDS readings; the least of several tries */
	u64 counters, clock;
};

/* One try on this CPU. */
static void __cold price_here(void *info)
{
	struct seep_pmu_cpu *pc = this_cpu_ptr(seep_pmu_cpus);
	u64 begin = ktime_get_ns(), middle;
	struct seep_pmu_counter *c;
	struct price *p = info;
	u32 i, n = 0;

	for (i = 0; i < PRICE_ROUNDS && pc->open; i++)
		charge_and_fold(pc);
	middle = ktime_get_ns();
	for (i = 1; i < PRICE_ROUNDS; i++)
		ktime_get_ns();
	p->clock = min(p->clock, ktime_get_ns() - middle);
	for (c = pc->open; c; c = c->next)
		n++;
	p->counters = min(p->counters, div_u64(middle - begin, max(n, 1U)));
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

/*
 * Call @func on CPUs that hold counts of a record of @which, or if that is NULL of @rec, or if
 * that is NULL of any. A CPU that goes offline meanwhile lets go of its record in cpu_goes().
 */
static void __cold on_holders(const struct seep_rec *rec, bool (*which)(const struct seep_rec *rec),
			      smp_call_func_t func)
{
	const struct seep_rec *held;
	int cpu;

	lockdep_assert_held(&seep_table_mutex);
	/* Pairs with smp_store_release() in seep_pmu_cpus_alloc(), without the mutex. */
	if (!READ_ONCE(seep_pmu_cpus))
		return;
	for_each_online_cpu(cpu) {
		/* pairs with smp_store_release() in hold() */
		held = smp_load_acquire(&per_cpu_ptr(seep_pmu_cpus, cpu)->held);
		if (held && (which ? which(held) : !rec || held == rec))
			smp_call_function_single(cpu, func, NULL, 1);
	}
}

/**
 * seep_pmu_leave() - make all CPUs forget records that are about to be freed
 * @which: true for such a record; it is out of the table, and no CPU can find it any more
 *
 * Context: process, may sleep; seep_table_mutex, which keeps records alive.
 */
void __cold seep_pmu_leave(bool (*which)(const struct seep_rec *rec))
{
	on_holders(NULL, which, leave_here);
}

/**
 * seep_pmu_sync() - bring the counts of a record up to date
 * @rec: in the table; NULL: all records
 *
 * Interrupts the CPUs that run the record or hold counts of it.
 *
 * Context: process, may sleep; seep_table_mutex, which keeps the record alive.
 */
void __cold seep_pmu_sync(const struct seep_rec *rec)
{
	on_holders(rec, NULL, sync_here);
}

/**
 * seep_pmu_cpus_alloc() - allocate the state of all CPUs; they are closed
 *
 * Context: process, may sleep, pmu_mutex.
 * Return: 0 or -ENOMEM.
 */
int __cold seep_pmu_cpus_alloc(void)
{
	struct seep_pmu_cpu __percpu *cpus = alloc_percpu(struct seep_pmu_cpu);

	/* Zeroed before it is seen: pairs with READ_ONCE() in seep_pmu_seen(). */
	smp_store_release(&seep_pmu_cpus, cpus);
	return cpus ? 0 : -ENOMEM;
}

/**
 * seep_pmu_cpus_free() - free the state of all CPUs, with the counts in it
 *
 * Waits for RCU: all that read the pointer with interrupts off have ended.
 *
 * Context: process, may sleep, pmu_mutex; takes seep_table_mutex. All CPUs are closed.
 */
void __cold seep_pmu_cpus_free(void)
{
	struct seep_pmu_cpu __percpu *cpus = seep_pmu_cpus;

	mutex_lock(&seep_table_mutex);
	WRITE_ONCE(seep_pmu_cpus, NULL);
	mutex_unlock(&seep_table_mutex);
	synchronize_rcu();
	free_percpu(cpus);
}

/* ---- the probe ---- */

static struct tracepoint *tp_switch;

/**
 * seep_pmu_probe_start() - attach the probe to sched_switch
 *
 * Context: process, may sleep, pmu_mutex.
 * Return: 0; -ENOENT: there is no such tracepoint; or another error of the tracepoint.
 */
int __cold seep_pmu_probe_start(void)
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
void __cold seep_pmu_probe_stop(void)
{
	if (!tp_switch)
		return;
	seep_tracepoint_unregister(tp_switch, on_switch);
	tracepoint_synchronize_unregister();
	tp_switch = NULL;
}
