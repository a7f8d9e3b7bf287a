// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting: each CPU counts the faults of the mms that run on it in a cache of its own. The
 * cache has two slots, so that two processes that fault in turn cost little. When a third mm
 * faults there, the older slot is folded into its record and becomes that mm's.
 *
 * The fast path (seep_account() in seep.h) is a compare and an increment. Only the CPU
 * itself writes its cache, with interrupts off, so no lock is needed. A fault inside this
 * code (from an NMI, or from tracing it) finds the cache closed and busy, and is counted as
 * nested.
 *
 * The tick and readers need current counts. They interrupt only CPUs that hold some: an
 * idle or isolated CPU is not disturbed, but by a full table that gives records up
 * (seep_tab_given_up()). A record knows how many slots hold it. Where that is none, which is
 * usual, no cache is looked at.
 *
 * Context: seep_account_slow() anywhere, even in NMI; the rest in process context.
 * Locks: none on the fault path; seep_table_mutex keeps records alive elsewhere.
 */
#include <linux/cpuhotplug.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include "seep.h"

DEFINE_PER_CPU(struct seep_acc, seep_acc) = {
	.mm = SEEP_NO_MM,
	.refused = SEEP_NO_MM,
	.slot = { { .mm = SEEP_NO_MM }, { .mm = SEEP_NO_MM } },
};

static int hotplug;		/* of cpuhp_setup_state_nocalls(); set at load */

/*
 * Empty a slot; no fault counts in it meanwhile.
 * Context: on the cache's own CPU with interrupts off; or seep_table_mutex, for an offline CPU.
 */
static void fold_slot(struct seep_slot *slot, unsigned long *n)
{
	struct seep_rec *rec = slot->rec;
	int i;

	if (!rec)
		return;
	slot->mm = SEEP_NO_MM;
	/*
	 * It is back in the pool, a bug: pairs with memset() in seep_pool_give(). The counts
	 * stay where they are, because nothing is counted any more.
	 */
	if (seep_broken(!READ_ONCE(rec->mm))) {
		WRITE_ONCE(slot->rec, NULL);
		return;
	}
	for (i = 0; i < SEEP_F_NR; i++) {
		if (!n[i])
			continue;
		atomic64_add(n[i], &rec->faults[i]);
		n[i] = 0;
	}
	/* Counts first: pairs with atomic_read_acquire() in seep_account_fold_and(). */
	smp_mb__before_atomic();
	atomic_dec(&rec->cpus);
	/* And last the slot: pairs with smp_load_acquire() in holds(). */
	smp_store_release(&slot->rec, NULL);
}

/* Context: as for fold_slot(). */
static noinline void fold(struct seep_acc *acc)
{
	WRITE_ONCE(acc->mm, SEEP_NO_MM);
	/* A nested fault counts no more: pairs with the read of mm in seep_account(). */
	barrier();
	fold_slot(&acc->slot[0], acc->n);
	fold_slot(&acc->slot[1], acc->n + SEEP_F_NR);
}

/* The slot that is not in use. */
static __always_inline struct seep_slot *other_slot(struct seep_acc *acc)
{
	return acc->at ? &acc->slot[0] : &acc->slot[1];
}

/* Count a fault of the mm in the slot that is not in use, which is in use from now on. */
static __always_inline void count_in_other(struct seep_acc *acc, struct mm_struct *mm,
					   unsigned long kind)
{
	acc->at ^= SEEP_F_NR;
	acc->n[acc->at + kind]++;
	/*
	 * n and at before mm: a nested fault on this CPU increments n as soon as it sees
	 * mm. n, and cpus and rec of take_slot(), also before the counters of current->mm,
	 * which include the page of this fault later: pairs with smp_rmb() in
	 * seep_account_fold_and().
	 */
	smp_wmb();
	WRITE_ONCE(acc->mm, mm);
}

/*
 * The mm is in neither slot: give it the one that is not in use, if it has a record. Not
 * inlined and called last: seep_account_slow() then saves no registers.
 */
static noinline void take_slot(struct seep_acc *acc, struct mm_struct *mm, unsigned long kind)
{
	struct seep_slot *slot;
	struct seep_rec *rec;

	if (!mm) {
		seep_count(FAULTS_NO_MM);
		return;
	}
	/* The record stays: mm lives as long as current runs in it. */
	rec = seep_tab_find(mm) ?: seep_tab_get(mm);
	if (!rec) {
		seep_count(FAULTS_UNTRACKED);
		return;
	}
	seep_busy_begin();
	WRITE_ONCE(acc->mm, SEEP_NO_MM);
	/* As in fold(). A nested fault may have changed the slots before; it is over now. */
	barrier();
	slot = other_slot(acc);
	fold_slot(slot, acc->n + (acc->at ^ SEEP_F_NR));
	slot->mm = mm;
	atomic_inc(&rec->cpus);
	WRITE_ONCE(slot->rec, rec);
	seep_pmu_seen(rec);
	seep_busy_end();
	count_in_other(acc, mm, kind);
}

/**
 * seep_account_slow() - the first fault on this CPU since another mm faulted here
 * @mm: current->mm
 * @kind: SEEP_F_*
 *
 * Once the module has disabled itself, nothing but the first test is left of the fault
 * path. The handlers stay attached until the module is unloaded. They cannot be detached
 * here, nor by a worker, which may be what is broken.
 *
 * Context: interrupts off or NMI; any lock may be held.
 */
void seep_account_slow(struct mm_struct *mm, unsigned long kind)
{
	struct seep_acc *acc = this_cpu_ptr(&seep_acc);

	if (unlikely(seep_disabled())) {
		WRITE_ONCE(acc->mm, SEEP_NO_MM);	/* closed for good */
		return;
	}
	if (in_nmi() || acc->busy) {
		seep_count(FAULTS_NESTED);
		return;
	}
	if (other_slot(acc)->mm == mm) {
		count_in_other(acc, mm, kind);
	} else if (mm == acc->refused && acc->changes == READ_ONCE(seep_tab_changes)) {
		/* mm had no record, and nothing has changed in the table since */
		this_cpu_inc(seep_counters.n[acc->why]);
		seep_count(FAULTS_UNTRACKED);
	} else {
		take_slot(acc, mm, kind);
	}
}

/* Runs on the CPU itself, interrupts off. */
static void fold_this_cpu(void *unused)
{
	seep_busy_begin();
	fold(this_cpu_ptr(&seep_acc));
	seep_busy_end();
}

/*
 * Does a cache hold @rec, or if that is NULL a record of @which, or if that is NULL any? A
 * hint, because the fold itself runs on the CPU.
 */
static bool holds(const struct seep_acc *acc, const struct seep_rec *rec,
		  bool (*which)(const struct seep_rec *rec))
{
	const struct seep_rec *held;
	int i;

	for (i = 0; i < ARRAY_SIZE(acc->slot); i++) {
		/* Not held: the counts are in it. Pairs with smp_store_release() in fold_slot(). */
		held = smp_load_acquire(&acc->slot[i].rec);
		if (held && (rec ? held == rec : !which || which(held)))
			return true;
	}
	return false;
}

/*
 * Call @func, which folds, on a CPU with something in its cache. Return: true if it ran. If not,
 * the CPU is offline and its cache was folded here. The CPU cannot come back meanwhile:
 * cpu_is_dead() must run before, and waits for the mutex. Only root can bring one back without
 * that, by CONFIG_CPU_HOTPLUG_STATE_CONTROL, which is for debugging.
 */
static noinline __cold bool fold_on(int cpu, smp_call_func_t func, void *arg)
{
	if (!smp_call_function_single(cpu, func, arg, 1))
		return true;
	fold(per_cpu_ptr(&seep_acc, cpu));
	return false;
}

/*
 * Fold the CPUs of which holds() is true, the last of them by @func. Return: whether @func ran.
 */
static bool fold_cpus(const struct seep_rec *rec, bool (*which)(const struct seep_rec *rec),
		      smp_call_func_t func, void *arg)
{
	int cpu, last = -1;

	for_each_possible_cpu(cpu) {
		if (!holds(per_cpu_ptr(&seep_acc, cpu), rec, which))
			continue;
		if (last >= 0)
			fold_on(last, fold_this_cpu, NULL);
		last = cpu;
	}
	return last >= 0 && fold_on(last, func, arg);
}

/**
 * seep_account_fold() - fold the counts of all CPUs into records
 * @which: fold for these records only; NULL: for all
 *
 * A CPU that counts meanwhile may hold newer faults on return. All faults of a process
 * that does not run are in its record.
 *
 * Context: process, may sleep; seep_table_mutex, which keeps records alive.
 */
void __cold seep_account_fold(bool (*which)(const struct seep_rec *rec))
{
	lockdep_assert_held(&seep_table_mutex);
	fold_cpus(NULL, which, fold_this_cpu, NULL);
}

/* What fold_and() calls on the last CPU. */
struct visit {
	void (*then)(void *arg);
	void *arg;
};

/* Runs on the CPU itself, interrupts off. */
static void fold_and(void *info)
{
	const struct visit *v = info;

	fold_this_cpu(NULL);
	v->then(v->arg);
}

/* Not inlined: most records are in no slot, and need no struct visit. */
static noinline bool fold_rec_and(const struct seep_rec *rec, void (*then)(void *arg), void *arg)
{
	struct visit v = { .then = then, .arg = arg };

	return fold_cpus(rec, NULL, fold_and, &v);
}

/**
 * seep_account_fold_and() - fold all counts of a record, then read it at once
 * @rec: the record
 * @then: called with interrupts off; on a CPU that counted for @rec, if there is one, so
 *	  that no fault of that CPU comes in between
 * @arg: argument of @then
 *
 * Other CPUs that fault for the record at this moment may be a few faults ahead.
 *
 * Context: process, may sleep; seep_table_mutex, which keeps the record alive.
 */
void seep_account_fold_and(const struct seep_rec *rec, void (*then)(void *arg), void *arg)
{
	unsigned long flags;

	lockdep_assert_held(&seep_table_mutex);
	/*
	 * Pages first: of every page that the caller has seen the fault is seen below. Pairs
	 * with smp_wmb() in count_in_other().
	 */
	smp_rmb();
	/*
	 * Where no slot holds it, the counts are in the record. Pairs with
	 * smp_mb__before_atomic() in fold_slot().
	 */
	if (atomic_read_acquire(&rec->cpus) && fold_rec_and(rec, then, arg))
		return;
	local_irq_save(flags);
	then(arg);
	local_irq_restore(flags);
}

/*
 * A CPU has gone offline: its cache is empty when it comes back. CPU hotplug calls this and waits
 * for the mutex. So no holder of the mutex may wait for hotplug: it allocates memory.
 */
static int __cold cpu_is_dead(unsigned int cpu)
{
	mutex_lock(&seep_table_mutex);
	fold(per_cpu_ptr(&seep_acc, cpu));
	mutex_unlock(&seep_table_mutex);
	return 0;
}

/**
 * seep_account_init() - fold the cache of each CPU that goes offline from now on
 *
 * Context: module init, before the hooks.
 * Return: false where there is no memory, or no number, for it.
 */
bool __init seep_account_init(void)
{
	hotplug = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "seepage:off", NULL, cpu_is_dead);
	return hotplug >= 0;
}

/**
 * seep_account_exit() - CPU hotplug calls nothing here any more
 *
 * Context: module exit, after the hooks have stopped; records are alive.
 */
void __cold seep_account_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug);
}
