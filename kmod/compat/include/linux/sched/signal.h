/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_SCHED_SIGNAL_H
#define SEEP_COMPAT_LINUX_SCHED_SIGNAL_H

#include_next <linux/sched/signal.h>

/*
 * Since v6.7 the kernel's own asks, in kernels that check their use of RCU,
 * whether tasklist_lock is held instead; modules cannot name that lock. We hold
 * rcu_read_lock(), which this one checks as well.
 */
#ifdef CONFIG_PROVE_RCU_LIST
#undef for_each_thread
#define for_each_thread(p, t)						\
	list_for_each_entry_rcu(t, &(p)->signal->thread_head, thread_node)
#endif

#endif
