// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting: each CPU counts the faults of the mm that runs on it in a cache
 * of its own and folds them into the record when another mm faults there.
 *
 * The fast path (seep_account() in seep.h) is a compare and an increment. All
 * writes to a cache come from its own CPU with interrupts off, so nothing
 * needs a lock; a fault inside our own code (an NMI, or tracing of it) finds
 * the cache closed and busy, and is counted as nested.
 * Whoever needs the counts of now (the tick, a reader) asks only the CPUs that
 * hold some: an idle or isolated CPU is not disturbed.
 */
#include <linux/cpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include "seep.h"

DEFINE_PER_CPU(struct seep_acc, seep_acc) = { .mm = SEEP_NO_MM };

/* On the cache's own CPU with interrupts off, or for an offline CPU. */
static void fold(struct seep_acc *acc)
{
	struct seep_rec *rec = acc->rec;
	int i;

	WRITE_ONCE(acc->mm, SEEP_NO_MM);
	barrier();		/* against a nested fault here: it no longer counts */
	if (!rec)
		return;
	if (seep_broken(!READ_ONCE(rec->mm))) {	/* back in the pool already */
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
	smp_store_release(&acc->rec, NULL);	/* who sees it sees the counts */
}

/**
 * seep_account_slow() - first fault here since another mm faulted
 * @mm: current->mm
 * @kind: SEEP_F_*
 *
 * Once the module is switched off nothing but this test is left of the fault
 * path: handlers cannot be taken out here, nor by a worker that may be what is
 * broken; they go with the module.
 *
 * Context: interrupts off or NMI; any lock may be held.
 */
void seep_account_slow(struct mm_struct *mm, unsigned int kind)
{
	struct seep_acc *acc = this_cpu_ptr(&seep_acc);
	struct seep_rec *rec;

	if (unlikely(seep_disabled())) {
		WRITE_ONCE(acc->mm, SEEP_NO_MM);	/* closed: no fault counts here again */
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
	/* The record outlives the cache: mm lives as long as current runs in it. */
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
	 * Against a nested fault: mm is told last. And a fault is here before its
	 * page is, for who reads in the other order: seep_account_fold_and().
	 */
	smp_wmb();
	WRITE_ONCE(acc->mm, mm);
	seep_pmu_seen(rec);
	seep_busy_end();
}

static void fold_this_cpu(void *unused)
{
	seep_busy_begin();
	fold(this_cpu_ptr(&seep_acc));
	seep_busy_end();
}

/**
 * seep_account_fold() - bring the counts of records up to date
 * @which: of these records; NULL: of all
 *
 * A CPU that is counting meanwhile may already hold newer faults on return;
 * those of a process that is quiet are all in its record.
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
		/* Only a hint: the fold itself runs on the CPU that owns it. */
		rec = READ_ONCE(per_cpu(seep_acc, cpu).rec);
		if (!rec || (which && !which(rec)))
			continue;
		if (smp_call_function_single(cpu, fold_this_cpu, NULL, 1))
			fold(per_cpu_ptr(&seep_acc, cpu));	/* offline, held so */
	}
	cpus_read_unlock();
}

struct visit {
	void (*then)(void *arg);
	void *arg;
};

static void fold_and(void *info)
{
	const struct visit *v = info;

	fold_this_cpu(NULL);
	v->then(v->arg);
}

/**
 * seep_account_fold_and() - count all faults of a record, then act on the spot
 * @rec: that is counted for wherever the process faulted since the last fold
 * @then: called with interrupts off, on a CPU that was counting for it if there
 *	  is one, where no fault of it can come between
 * @arg: for @then
 *
 * Where other CPUs fault for it at this moment, or begin to, those are a few
 * faults ahead by then.
 *
 * Context: process, may sleep; seep_table_mutex, which keeps the record alive.
 */
void seep_account_fold_and(const struct seep_rec *rec, void (*then)(void *arg), void *arg)
{
	struct visit v = { .then = then, .arg = arg };
	unsigned long flags;
	int cpu, last = -1;

	lockdep_assert_held(&seep_table_mutex);
	smp_rmb();	/* of pages that the caller has seen, the faults are seen here */
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		/* against fold() there: the counts are in the record */
		if (smp_load_acquire(&per_cpu(seep_acc, cpu).rec) != rec)
			continue;
		if (!cpu_online(cpu)) {
			fold(per_cpu_ptr(&seep_acc, cpu));	/* it stays so: held */
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
