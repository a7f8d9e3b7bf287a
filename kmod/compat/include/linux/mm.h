/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_MM_H
#define SEEP_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>
#include <linux/cpumask.h>
#include <linux/sched/signal.h>

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

/*
 * seep_mm_counter_fix() - what is cached beside the memory counters of @mm
 * @p: the process; its threads are looked at
 * @fix: out, pages to add to each counter
 *
 * Context: RCU. Costs a look at each CPU, or before v6.2 at each thread: mind the latency.
 * READ_ONCE() pairs with plain stores of the threads.
 * Return: pages by which a counter may be off nevertheless.
 */
static inline unsigned long seep_mm_counter_fix(struct mm_struct *mm, struct task_struct *p,
						s64 fix[NR_MM_COUNTERS])
{
#ifdef SEEP_HAVE_RSS_PERCPU
	int i;

	for (i = 0; i < NR_MM_COUNTERS; i++)
		fix[i] = percpu_counter_sum(&mm->rss_stat[i]) -
			 percpu_counter_read(&mm->rss_stat[i]);
	return 0;
#elif defined(SPLIT_RSS_COUNTING)
	unsigned int users = atomic_read(&mm->mm_users), n = 0, i;
	struct task_struct *t;

	for_each_thread(p, t) {
		for (i = 0; i < NR_MM_COUNTERS; i++)
			fix[i] += READ_ONCE(t->rss_stat.count[i]);
		n++;
	}
	return users > n ? 64UL * (users - n) : 0;
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
