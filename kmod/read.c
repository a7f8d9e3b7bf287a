// SPDX-License-Identifier: GPL-2.0
/*
 * Reading: all figures of one record at this moment. Memory held, page faults by kind, and
 * headroom.
 *
 * Context: process, seep_table_mutex. Some functions run with interrupts off on the CPU
 * that counts for the record; these must not sleep.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>
#include "read.h"
#include "seep.h"

#define MOST_THREADS		1024	/* more threads are not added up for CPU time */
#define FAULT_AROUND_BYTES	65536	/* the kernel's default; modules cannot read it */

struct seep_headroom seep_headroom;

/**
 * seep_headroom_read() - read the figures that all processes share
 *
 * Context: process, seep_table_mutex.
 */
void seep_headroom_read(void)
{
	long pages = max(si_mem_available(), 0L) + max(get_nr_swap_pages(), 0L);

	seep_headroom.left = (u64)pages << PAGE_SHIFT;
	seep_headroom.shmem_total = (u64)global_node_page_state(NR_SHMEM) << PAGE_SHIFT;
}

/* Anonymous faults since the last sample. */
static noinline u64 classify(const struct seep_rec *rec, const struct seep_sample *s,
			     const u64 rw[2])
{
	struct seep_fault_delta f = {
		.access_known = seep_hook->access_known,
		.around = max_t(u32, FAULT_AROUND_BYTES >> PAGE_SHIFT, 1),
		.reads = rw[0] - (rec->last.faults - rec->faults_w),
		.writes = rw[1] - rec->faults_w,
		.anon = (s64)(s->anon + s->swap - rec->last.anon - rec->last.swap) >> PAGE_SHIFT,
		.file = (s64)(s->file - rec->last.file) >> PAGE_SHIFT,
		.shmem = (s64)(s->shmem - rec->last.shmem) >> PAGE_SHIFT,
	};

	return seep_classify_anon(&f);
}

/* Faults so far; @rw: reads and writes. Context: interrupts off. */
static void read_faults(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2])
{
	rw[0] = atomic64_read(&rec->faults[0]) + atomic64_read(&rec->faults[SEEP_F_KERNEL]);
	rw[1] = atomic64_read(&rec->faults[SEEP_F_WRITE]) +
		atomic64_read(&rec->faults[SEEP_F_KERNEL | SEEP_F_WRITE]);
	s->faults = rw[0] + rw[1];
	s->faults_anon = rec->last.faults_anon;
	if (s->faults != rec->last.faults)
		s->faults_anon += classify(rec, s, rw);
}

/* Take @limit as the nearest one if it leaves less than those before. Bytes. */
static void confine(struct seep_sample *s, u64 limit, u64 used, u8 which)
{
	u64 headroom = limit > used ? limit - used : 0;

	if (headroom < s->headroom) {
		s->headroom = headroom;
		s->limit = which;
	}
}

/*
 * CPU time of a process, ns: the sum of its live threads plus that of exited ones.
 * A thread that exits meanwhile might be in neither sum, so the sum is taken again when the
 * second part changes. READ_ONCE() pairs with plain stores by the scheduler and
 * kernel/exit.c.
 *
 * Context: RCU. Return: at least 1 ms; 0: too many threads.
 */
static u64 cpu_ns(struct task_struct *p)
{
	struct task_struct *t;
	unsigned int tries = 3;
	u64 gone, ns;

	if (READ_ONCE(p->signal->nr_threads) > MOST_THREADS)
		return 0;
	do {
		gone = READ_ONCE(p->signal->sum_sched_runtime);
		ns = gone;
		for_each_thread(p, t)
			ns += READ_ONCE(t->se.sum_exec_runtime);
	} while (READ_ONCE(p->signal->sum_sched_runtime) != gone && --tries);
	return max_t(u64, ns, NSEC_PER_MSEC);
}

/**
 * seep_read_cpu() - CPU time of a process, of live and exited threads
 * @rec: live
 *
 * The time of a running thread is that of its last scheduler tick. This is not part of
 * seep_sample_read(), which reads with interrupts off.
 *
 * Context: process, seep_table_mutex.
 * Return: milliseconds, wraps; 0: the process is gone; SEEP_CPU_UNKNOWN: too many threads.
 */
u32 seep_read_cpu(const struct seep_rec *rec)
{
	struct task_struct *p;
	u32 ms = 0;
	u64 ns;

	rcu_read_lock();
	p = pid_task(rec->pid, PIDTYPE_TGID);
	if (p) {
		ns = cpu_ns(p);
		ms = ns ? (u32)div_u64(ns, NSEC_PER_MSEC) : SEEP_CPU_UNKNOWN;
	}
	rcu_read_unlock();
	return ms;
}

/**
 * seep_sample_clear_watched() - clear the figures that are read under watch only
 * @s: sample of a process that is ok, or that begins a new history
 *
 * Context: any.
 */
void seep_sample_clear_watched(struct seep_sample *s)
{
	s->pmc = 0;
	s->cpu_ms = 0;
	s->heap = 0;
	s->peers = 0;
	s->peers_growing = 0;
}

/* Further figures for the verdict on a process that is not ok. */
static void read_beside(const struct seep_rec *rec, struct seep_sample *s)
{
	s->pmc = seep_pmu_rise(rec);
	s->heap = seep_granules(seep_heap_bytes(rec->mm));
	seep_group_peers(rec, s);
}

/*
 * Figures that matter only while a process grows or is not ok: its headroom, which is the
 * least that the machine or one of its own limits leaves, and for a process that is not
 * ok the hardware counters, heap and peers. rlim is written under task_lock() of the
 * group leader, which is not held here.
 */
static noinline void read_surroundings(const struct seep_rec *rec, struct seep_sample *s)
{
	struct task_struct *p;
	u64 limit;

	if (rec->det.state)
		read_beside(rec, s);
	if (seep_facts_headroom(rec, s, &limit))
		confine(s, limit, 0, SEEPAGE_LIMIT_CGROUP);
	rcu_read_lock();
	p = pid_task(rec->pid, PIDTYPE_TGID);
	if (p) {
		limit = READ_ONCE(p->signal->rlim[RLIMIT_AS].rlim_cur);
		if (limit != RLIM_INFINITY)
			confine(s, limit, s->vsz, SEEPAGE_LIMIT_AS);
		limit = READ_ONCE(p->signal->rlim[RLIMIT_DATA].rlim_cur);
		if (limit != RLIM_INFINITY)
			confine(s, limit, s->anon, SEEPAGE_LIMIT_DATA);
	}
	rcu_read_unlock();
}

/* All figures. Context: interrupts off. */
static void read_figures(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2])
{
	struct mm_struct *mm = rec->mm;

	s->anon = seep_counter_bytes(mm, MM_ANONPAGES);
	s->file = seep_counter_bytes(mm, MM_FILEPAGES);
	s->shmem = seep_counter_bytes(mm, MM_SHMEMPAGES);
	s->swap = seep_counter_bytes(mm, MM_SWAPENTS);
	s->vsz = seep_vsz_bytes(mm);
	s->pgtables = seep_pgtables_bytes(mm);
	read_faults(rec, s, rw);
	seep_read_around(rec, s);
	if (s->anon + s->swap != rec->last.anon + rec->last.swap || rec->det.state ||
	    s->vsz != rec->last.vsz)
		read_surroundings(rec, s);
}

/* Argument of read_on_the_spot(). */
struct reading {
	const struct seep_rec *rec;
	struct seep_sample *s;
	u64 *rw;
};

static void read_on_the_spot(void *arg)
{
	const struct reading *r = arg;

	read_figures(r->rec, r->s, r->rw);
}

/**
 * seep_sample_read() - read the figures of a record as they are now
 * @rec: live or gone; not changed
 * @s: out; time_ns is set before
 * @rw: out: read faults and write faults
 *
 * Faults and pages are read at the same moment. Otherwise classification would err for
 * good: on pages gained without a counted fault, or on faults with no page yet.
 *
 * Context: process, may sleep, seep_table_mutex; the mm counters need no lock.
 */
noinline void seep_sample_read(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2])
{
	struct reading r = { .rec = rec, .s = s, .rw = rw };

	s->cold_ns = rec->last.cold_ns;	/* set by facts.c */
	s->cold = rec->last.cold;
	seep_sample_clear_watched(s);		/* unless read_surroundings() sets them */
	s->page_shift = PAGE_SHIFT;
	s->full = false;
	s->group = false;
	seep_account_fold_and(rec, read_on_the_spot, &r);
}
