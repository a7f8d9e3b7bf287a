/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_MM_H
#define SEEP_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>
#include <linux/version.h>
#include <linux/cpumask.h>

#ifndef TASK_SIZE_MAX		/* arm64 has it since v5.11 (3d2403fd10a1) */
#define TASK_SIZE_MAX	TASK_SIZE
#endif

/*
 * How far a memory counter may be off, pages. Up to v6.1 every thread keeps up
 * to 64 faults of its own (TASK_RSS_EVENTS_THRESH); f1a7941243c1 (v6.2) made
 * the counters percpu_counters, each CPU keeping up to a batch.
 */
static inline unsigned long seep_mm_counter_error(struct mm_struct *mm)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return (unsigned long)percpu_counter_batch * num_online_cpus();
#else
	return 64UL * (unsigned int)atomic_read(&mm->mm_users);
#endif
}

#endif
