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

/*
 * A limit of the process alone, which uses @used of it. Bytes. Nothing else grows below it, so
 * it is not met first where it leaves more than the nearest limit so far.
 */
static __cold void confine(struct seep_sample *s, u64 limit, u64 used, u8 which,
			   const struct seep_growers *own)
{
	u64 left = limit > used ? limit - used : 0;

	if (left < s->headroom)
		seep_sample_confine(s, left, which, NULL, own);
}

/*
 * CPU time of a process, ns: the sum of its live threads plus that of exited ones.
 * A thread that exits meanwhile might be in neither sum, so the sum is taken again when the
 * second part changes. READ_ONCE() pairs with plain stores by the scheduler and
 * kernel/exit.c.
 *
 * Context: RCU. Return: at least 1 ms; 0: too many threads.
 */
static __cold u64 cpu_ns(struct task_struct *p)
{
	struct task_struct *t;
	unsigned int tries = 3;
	u64 gone, ns;

	if (READ_ONCE(p->signal->nr_threads) > SEEP_MOST_THREADS)	/* they are not added up */
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
u32 __cold seep_read_cpu(const struct seep_rec *rec)
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
	s->others_rate = 0;
	s->others = 0;
}

/* Further figures for the verdict on a process that is not ok. */
static void read_beside(const struct seep_rec *rec, struct seep_sample *s,
			const struct seep_growers *own)
{
	s->pmc = seep_pmu_rise(rec);
	s->heap = seep_granules(seep_heap_bytes(rec->mm));
	seep_group_peers(rec, s);
	seep_tally_others(&seep_tally_ram, own, s);
}

/*
 * Figures that matter only while a process grows or is not ok: its headroom, which is the
 * least that the machine or one of its own limits leaves, and for a process that is not
 * ok the hardware counters, heap and peers. rlim is written under task_lock() of the
 * group leader, which is not held here.
 */
static noinline void read_surroundings(const struct seep_rec *rec, struct seep_sample *s)
{
	struct seep_growers own = seep_share_own(rec);
	struct task_struct *p;
	u64 limit;

	if (rec->det.state)
		read_beside(rec, s, &own);
	if (seep_facts_headroom(rec, s, &limit))
		seep_sample_confine(s, limit, SEEPAGE_LIMIT_CGROUP,
				    rec->det.state ? seep_share_cgroup(rec) : NULL, &own);
	rcu_read_lock();
	p = pid_task(rec->pid, PIDTYPE_TGID);
	if (p) {
		limit = READ_ONCE(p->signal->rlim[RLIMIT_AS].rlim_cur);
		if (limit != RLIM_INFINITY)
			confine(s, limit, s->vsz, SEEPAGE_LIMIT_AS, &own);
		limit = READ_ONCE(p->signal->rlim[RLIMIT_DATA].rlim_cur);
		if (limit != RLIM_INFINITY)
			confine(s, limit, seep_data_bytes(rec->mm), SEEPAGE_LIMIT_DATA, &own);
	}
	rcu_read_unlock();
	confine(s, rec->mm->task_size, s->vsz, SEEPAGE_LIMIT_TASK_SIZE, &own);
}

/* Argument of read_on_the_spot(). One for all calls: on the stack each would clear it. */
static struct reading {
	const struct seep_rec *rec;
	struct seep_sample *s;
	u64 *rw;
	u64 fast[NR_MM_COUNTERS];	/* bytes, each counter before it was added up */
	s64 sum[NR_MM_COUNTERS];	/* pages, with what was cached beside it then */
	long error;			/* pages that sum may be off; negative: sum is not known */
} reading;				/* seep_table_mutex */

/* What the counters say in @r->s becomes what they say with what is cached beside them. */
static noinline __cold void make_exact(const struct reading *r)
{
	static const u8 at[NR_MM_COUNTERS] = {
		[MM_FILEPAGES] = offsetof(struct seep_sample, file),
		[MM_ANONPAGES] = offsetof(struct seep_sample, anon),
		[MM_SWAPENTS] = offsetof(struct seep_sample, swap),
		[MM_SHMEMPAGES] = offsetof(struct seep_sample, shmem),
	};
	u64 *bytes;
	int i;

	BUILD_BUG_ON(NR_MM_COUNTERS != 4);	/* all of them are in at[] */
	for (i = 0; i < NR_MM_COUNTERS; i++) {
		bytes = (u64 *)((u8 *)r->s + at[i]);
		*bytes = seep_exact(*bytes, r->fast[i], max_t(s64, r->sum[i], 0) << PAGE_SHIFT);
	}
	r->s->error = min_t(u64, (u64)r->error << PAGE_SHIFT, U32_MAX);
}

/* All figures. Context: interrupts off. */
static void read_figures(const struct reading *r)
{
	const struct seep_rec *rec = r->rec;
	struct mm_struct *mm = rec->mm;
	struct seep_sample *s = r->s;

	s->anon = seep_counter_bytes(mm, MM_ANONPAGES);
	s->file = seep_counter_bytes(mm, MM_FILEPAGES);
	s->shmem = seep_counter_bytes(mm, MM_SHMEMPAGES);
	s->swap = seep_counter_bytes(mm, MM_SWAPENTS);
	s->vsz = seep_vsz_bytes(mm);
	s->pgtables = seep_pgtables_bytes(mm);
	read_faults(rec, s, r->rw);
	seep_read_around(rec, s);
	if (r->error >= 0)
		make_exact(r);
	if (s->anon + s->swap != rec->last.anon + rec->last.swap || rec->det.state ||
	    s->vsz != rec->last.vsz)
		read_surroundings(rec, s);
}

static void read_on_the_spot(void *arg)
{
	read_figures(arg);
}

/*
 * On a large machine, or before v6.2 in a process with many threads, a leak of tens of
 * megabytes is within the error of the counters. What is cached beside them is then added
 * up for a record under watch, for one with floors that have risen, and for one that has
 * faulted much: these are few. That comes first, with interrupts on; what is cached
 * meanwhile is missing. A process of more threads than can be looked at keeps the error.
 */
static __cold void read_exact(struct reading *r)
{
	struct task_struct *p;
	int i;

	for (i = 0; i < NR_MM_COUNTERS; i++) {
		r->fast[i] = seep_counter_bytes(r->rec->mm, i);
		r->sum[i] = r->fast[i] >> PAGE_SHIFT;
	}
	rcu_read_lock();
	p = pid_task(r->rec->pid, PIDTYPE_TGID);
	if (p)
		r->error = seep_mm_counter_sum(r->rec->mm, p, r->sum);
	rcu_read_unlock();
}

/*
 * The process has faulted in what would count as a rise, since the oldest point of the
 * fault-rate window. Faults are counted exactly, so this shows growth that is wholly cached.
 */
static bool faulted_much(const struct seep_rec *rec)
{
	u32 before = seep_point(&rec->det, rec->det.wn - 1)->faults;

	return (u32)rec->last.faults - before > seep_bytes(SEEP_LEAST_RISE) >> PAGE_SHIFT;
}

/* The error of the counters hides a rise that would count without it. */
static bool error_matters(const struct seep_rec *rec)
{
	return (rec->det.state || rec->det.mem.rose || faulted_much(rec)) &&
	       (u64)seep_mm_counter_error(rec->mm) << PAGE_SHIFT > seep_bytes(SEEP_LEAST_RISE) / 4;
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
	lockdep_assert_held(&seep_table_mutex);
	reading.rec = rec;
	reading.s = s;
	reading.rw = rw;
	reading.error = -1;
	if (error_matters(rec))
		read_exact(&reading);
	s->cold_ns = rec->last.cold_ns;	/* set by facts.c */
	s->cold = rec->last.cold;
	seep_sample_clear_watched(s);		/* unless read_surroundings() sets them */
	s->page_shift = PAGE_SHIFT;
	s->full = false;
	s->group = false;
	seep_account_fold_and(rec, read_on_the_spot, &reading);
}
