// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting: each CPU counts the faults of the mm that runs on it in a cache of its own,
 * and folds them into the record when another mm faults there.
 *
 * The fast path (seep_account() in seep.h) is a compare and an increment. Only the CPU
 * itself writes its cache, with interrupts off, so no lock is needed. A fault inside this
 * code (from an NMI, or from tracing it) finds the cache closed and busy, and is counted as
 * nested.
 *
 * The tick and readers need current counts. They interrupt only CPUs that hold some: an
 * idle or isolated CPU is not disturbed.
 *
 * Context: seep_account_slow() anywhere, even in NMI; the rest in process context.
 * Locks: none on the fault path; seep_table_mutex keeps records alive elsewhere.
 */
#include <linux/cpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include "seep.h"

DEFINE_PER_CPU(struct seep_acc, seep_acc) = { .mm = SEEP_NO_MM };

/* Context: on the cache's own CPU with interrupts off, or for an offline CPU. */
static void fold(struct seep_acc *acc)
{
	struct seep_rec *rec = acc->rec;
	int i;

	WRITE_ONCE(acc->mm, SEEP_NO_MM);
	/* A nested fault counts no more: pairs with the read of mm in seep_account(). */
	barrier();
	if (!rec)
		return;
	/* It is back in the pool, a bug: pairs with memset() in seep_pool_give(). */
	if (seep_broken(!READ_ONCE(rec->mm))) {
		memset(acc->n, 0, sizeof(acc->n));
		WRITE_ONCE(acc->rec, NULL);
		return;
	}
	for (i = 0; i < SEEP_F_NR; i++) {
		if (!acc->n[i])
			continue;
		atomic64_add(acc->n[i], &rec->faults[i]);
		acc->n[i] = 0;
	}
	/* Counts first: pairs with smp_load_acquire() in seep_account_fold_and(). */
	smp_store_release(&acc->rec, NULL);
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
void seep_account_slow(struct mm_struct *mm, unsigned int kind)
{
	struct seep_acc *acc = this_cpu_ptr(&seep_acc);
	struct seep_rec *rec;

	if (unlikely(seep_disabled())) {
		WRITE_ONCE(acc->mm, SEEP_NO_MM);	/* closed for good */
		return;
	}
	if (in_nmi() || acc->busy) {
		seep_count(FAULTS_NESTED);
		return;
	}
	if (!mm) {
		seep_count(FAULTS_NO_MM);
		return;
	}
	/* The record stays: mm lives as long as current runs in it. */
	rec = seep_tab_get(mm);
	if (!rec) {
		seep_count(FAULTS_UNTRACKED);
		return;
	}
	seep_busy_begin();
	fold(acc);
	acc->n[kind] = 1;
	WRITE_ONCE(acc->rec, rec);
	/*
	 * n and rec before mm: a nested fault on this CPU increments n as soon as it sees
	 * mm. n and rec also before the counters of current->mm, which include the page of
	 * this fault later: pairs with smp_rmb() in seep_account_fold_and().
	 */
	smp_wmb();
	WRITE_ONCE(acc->mm, mm);
	seep_pmu_seen(rec);
	seep_busy_end();
}

/* Runs on the CPU itself, interrupts off. */
static void fold_this_cpu(void *unused)
{
	seep_busy_begin();
	fold(this_cpu_ptr(&seep_acc));
	seep_busy_end();
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
void seep_account_fold(bool (*which)(const struct seep_rec *rec))
{
	struct seep_rec *rec;
	int cpu;

	lockdep_assert_held(&seep_table_mutex);
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		/*
		 * A hint: the fold itself runs on the CPU. Pairs with WRITE_ONCE() in
		 * seep_account_slow() and smp_store_release() in fold().
		 */
		rec = READ_ONCE(per_cpu(seep_acc, cpu).rec);
		if (!rec || (which && !which(rec)))
			continue;
		if (smp_call_function_single(cpu, fold_this_cpu, NULL, 1))
			fold(per_cpu_ptr(&seep_acc, cpu));	/* stays offline: locked */
	}
	cpus_read_unlock();
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
	struct visit v = { .then = then, .arg = arg };
	unsigned long flags;
	int cpu, last = -1;

	lockdep_assert_held(&seep_table_mutex);
	/*
	 * Pages first: of every page that the caller has seen the fault is seen below. Pairs
	 * with smp_wmb() in seep_account_slow().
	 */
	smp_rmb();
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		/* pairs with smp_store_release() in fold(): the counts are in the record */
		if (smp_load_acquire(&per_cpu(seep_acc, cpu).rec) != rec)
			continue;
		if (!cpu_online(cpu)) {
			fold(per_cpu_ptr(&seep_acc, cpu));	/* it stays offline */
			continue;
		}
		if (last >= 0)
			smp_call_function_single(last, fold_this_cpu, NULL, 1);
		last = cpu;
	}
	if (last >= 0) {
		smp_call_function_single(last, fold_and, &v, 1);
	} else {
		local_irq_save(flags);
		then(arg);
		local_irq_restore(flags);
	}
	cpus_read_unlock();
}
