/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_MM_H
#define SEEP_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>
#include <linux/cpumask.h>

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
