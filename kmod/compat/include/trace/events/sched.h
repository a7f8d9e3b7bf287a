/* SPDX-License-Identifier: GPL-2.0 */
/*
 * No include guard of our own around include_next: tracepoint headers are
 * read more than once on purpose.
 */
#include_next <trace/events/sched.h>

#ifndef SEEP_COMPAT_TRACE_SCHED_H
#define SEEP_COMPAT_TRACE_SCHED_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)	/* gained group_dead */
#define SEEP_TP_EXIT_PROTO	void *data, struct task_struct *p, bool group_dead
#else
#define SEEP_TP_EXIT_PROTO	void *data, struct task_struct *p
#endif

#endif
