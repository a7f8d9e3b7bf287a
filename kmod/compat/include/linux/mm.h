/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_MM_H
#define SEEP_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#ifndef TASK_SIZE_MAX		/* arm64 has it since 3d2403fd10a1 (v5.11) */
#define TASK_SIZE_MAX	TASK_SIZE
#endif

/*
 * seep_mm_counter_error() - pages by which a memory counter of @mm may be off
 *
 * Before f1a7941243c1 (v6.2, and back-ports of it) each thread caches up to 64 pages
 * (TASK_RSS_EVENTS_THRESH). Since then the counters are percpu_counters, and each CPU
 * caches up to a batch; without SMP they are exact. Kbuild looks at the type of rss_stat.
 */
static inline unsigned long seep_mm_counter_error(struct mm_struct *mm)
{
#ifndef SEEP_HAVE_RSS_PERCPU
	return 64UL * (unsigned int)atomic_read(&mm->mm_users);
#elif defined(CONFIG_SMP)
	return (unsigned long)percpu_counter_batch * num_online_cpus();
#else
	return 0;
#endif
}

#ifdef SPLIT_RSS_COUNTING
#define SEEP_THREADS_AT_ONCE	1024U	/* threads looked at before RCU is left */
#define SEEP_THREADS_MOST	32768U

/*
 * Leave RCU at a thread of @p, and come back. As rcu_lock_break() of kernel/hung_task.c.
 * Return: false: one of both has ended, so the walk over threads cannot go on from it.
 */
static inline bool seep_rcu_break(struct task_struct *p, struct task_struct *t)
{
	bool alive;

	get_task_struct(p);
	get_task_struct(t);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	alive = pid_alive(p) && pid_alive(t);
	put_task_struct(t);
	put_task_struct(p);
	return alive;
}
#endif

/*
 * seep_mm_counter_sum() - the memory counters of @mm with what is cached beside them
 * @p: the process; its threads are looked at
 * @sum: in: the counters; out: the sums, pages
 *
 * Context: RCU, may sleep. Costs a look at each CPU, or before v6.2 at each thread: after 1024 of
 * them RCU is left for a moment.
 * READ_ONCE() pairs with plain stores of the threads.
 * Return: pages by which a sum may be off nevertheless; negative: too many threads, or one of
 * them ended at the wrong time.
 */
static inline long seep_mm_counter_sum(struct mm_struct *mm, struct task_struct *p,
				       s64 sum[NR_MM_COUNTERS])
{
#ifdef SEEP_HAVE_RSS_PERCPU
	int i;

	for (i = 0; i < NR_MM_COUNTERS; i++)
		sum[i] = percpu_counter_sum(&mm->rss_stat[i]);
	return 0;
#elif defined(SPLIT_RSS_COUNTING)
	unsigned int users = atomic_read(&mm->mm_users), n = 0, i;
	struct task_struct *t;

	for_each_thread(p, t) {
		for (i = 0; i < NR_MM_COUNTERS; i++)
			sum[i] += READ_ONCE(t->rss_stat.count[i]);
		if (!(++n % SEEP_THREADS_AT_ONCE) &&
		    (n >= SEEP_THREADS_MOST || !seep_rcu_break(p, t)))
			return -1;
	}
	return users > n ? 64L * (users - n) : 0;
#else
	return 0;
#endif
}

/**
 * seep_mm_counter_is() - is a memory counter the same as when it was read?
 * @mm: the mm
 * @member: MM_ANONPAGES ...
 * @bytes: what get_mm_counter() gave, which takes a negative value for 0; here it differs
 */
static inline bool seep_mm_counter_is(struct mm_struct *mm, int member, u64 bytes)
{
#ifdef SEEP_HAVE_RSS_PERCPU
	return (u64)percpu_counter_read(&mm->rss_stat[member]) << PAGE_SHIFT == bytes;
#else
	return (u64)atomic_long_read(&mm->rss_stat.count[member]) << PAGE_SHIFT == bytes;
#endif
}

#endif
