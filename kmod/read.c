// SPDX-License-Identifier: GPL-2.0
/*
 * The figures of one record at this moment: what it holds, what it faulted and
 * how it may have come by that, and how much more it can take.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>
#include "read.h"
#include "seep.h"

#define MOST_THREADS		1024	/* whose CPU time is added up */
#define FAULT_AROUND_BYTES	65536	/* the kernel's default; not readable for modules */

struct seep_room seep_room;

/**
 * seep_room_read() - what there is left for all
 *
 * Context: process, seep_table_mutex.
 */
void seep_room_read(void)
{
	long pages = max(si_mem_available(), 0L) + max(get_nr_swap_pages(), 0L);

	seep_room.left = (u64)pages << PAGE_SHIFT;
	seep_room.pool = (u64)global_node_page_state(NR_SHMEM) << PAGE_SHIFT;
}

/* Of the faults since the last sample, those that were anonymous. */
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

/* A limit, of which so much is used: is it what the process would run into first? */
static void confine(struct seep_sample *s, u64 limit, u64 used, u8 which)
{
	u64 room = limit > used ? limit - used : 0;

	if (room < s->headroom) {
		s->headroom = room;
		s->limit = which;
	}
}

/* The sum of what those took who are, after what those took who are gone; 0: too many. */
static u64 cpu_ns(struct task_struct *p)
{
	struct task_struct *t;
	unsigned int tries = 3;
	u64 gone, ns;

	if (READ_ONCE(p->signal->nr_threads) > MOST_THREADS)
		return 0;
	do {	/* who leaves meanwhile might be in neither */
		gone = READ_ONCE(p->signal->sum_sched_runtime);
		ns = gone;
		for_each_thread(p, t)
			ns += READ_ONCE(t->se.sum_exec_runtime);
	} while (READ_ONCE(p->signal->sum_sched_runtime) != gone && --tries);
	return max_t(u64, ns, NSEC_PER_MSEC);
}

/**
 * seep_read_cpu() - CPU time of all threads that are and were
 * @rec: live
 *
 * Of one that runs it is as of the last tick. Not part of seep_sample_read(): that
 * reads with interrupts off.
 *
 * Context: process, seep_table_mutex.
 * Return: milliseconds, wrapping; 0 if the process is gone, SEEP_CPU_UNKNOWN where there
 * are too many threads to ask.
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
 * seep_read_at_rest() - forget what is read of a process that is not ok only
 * @s: its last sample; it is ok now, or nothing is known of it any more
 */
void seep_read_at_rest(struct seep_sample *s)
{
	s->pmc = 0;
	s->cpu_ms = 0;
	s->heap = 0;
	s->peers = 0;
	s->peers_growing = 0;
}

/* Of one that is not ok, what it is seen beside, for who reads the verdict. */
static void read_beside(const struct seep_rec *rec, struct seep_sample *s)
{
	s->pmc = seep_pmu_rise(rec);
	s->heap = seep_granules(seep_heap_bytes(rec->mm));
	seep_group_peers(rec, s);
}

/*
 * What matters only while a process grows or is not ok. What it can still take:
 * what the machine has left, or what a limit of its own leaves, whichever is
 * less. And of one that is not ok, what its hardware counters say, and more.
 */
static noinline void read_surroundings(const struct seep_rec *rec, struct seep_sample *s)
{
	struct task_struct *p;
	u64 limit;

	if (rec->det.state)
		read_beside(rec, s);
	if (seep_evidence_room(rec, s, &limit))
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

static void read_figures(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2])
{
	struct mm_struct *mm = rec->mm;

	s->anon = seep_counter_bytes(mm, MM_ANONPAGES);
	s->file = seep_counter_bytes(mm, MM_FILEPAGES);
	s->shmem = seep_counter_bytes(mm, MM_SHMEMPAGES);
	s->swap = seep_counter_bytes(mm, MM_SWAPENTS);
	s->vsz = seep_vsz_bytes(mm);
	read_faults(rec, s, rw);
	seep_read_around(rec, s);
	if (s->anon + s->swap != rec->last.anon + rec->last.swap || rec->det.state ||
	    s->vsz != rec->last.vsz)
		read_surroundings(rec, s);
}

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
 * seep_sample_read() - the figures of a record as they are now
 * @rec: may be live or gone; nothing of it changes
 * @s: time_ns is given, all else is written
 * @rw: read and write faults, of the same reading
 *
 * Faults and pages are of one moment: pages gained that no counted fault
 * explains, or faults whose page is not there yet, would be misjudged for good.
 *
 * Context: process, may sleep, seep_table_mutex; the mm counters need no lock.
 */
noinline void seep_sample_read(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2])
{
	struct reading r = { .rec = rec, .s = s, .rw = rw };

	s->cold_ns = rec->last.cold_ns;	/* evidence.c's */
	s->cold = rec->last.cold;
	seep_read_at_rest(s);		/* but where read_surroundings() says otherwise */
	s->page_shift = PAGE_SHIFT;
	s->full = false;
	s->group = false;
	seep_account_fold_and(rec, read_on_the_spot, &r);
}
