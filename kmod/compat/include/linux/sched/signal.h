/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_SCHED_SIGNAL_H
#define SEEP_COMPAT_LINUX_SCHED_SIGNAL_H

#include_next <linux/sched/signal.h>

/*
 * Since v6.7 for_each_thread() checks, with CONFIG_PROVE_RCU_LIST, that tasklist_lock is
 * held. A module cannot name that lock. This one checks for rcu_read_lock(), which every
 * caller here holds.
 */
#ifdef CONFIG_PROVE_RCU_LIST
#undef for_each_thread
#define for_each_thread(p, t)						\
	list_for_each_entry_rcu(t, &(p)->signal->thread_head, thread_node)
#endif

#endif
