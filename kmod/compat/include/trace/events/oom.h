/* SPDX-License-Identifier: GPL-2.0 */
/*
 * oom tracepoints: the prototype of the probe. include_next is outside the include guard
 * because tracepoint headers are read more than once on purpose.
 */
#include_next <trace/events/oom.h>

#ifndef SEEP_COMPAT_TRACE_OOM_H
#define SEEP_COMPAT_TRACE_OOM_H

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>

/* 72ba14deb40a (v6.9) and stable trees: the task in place of its pid; Kbuild looks for it */
#ifdef SEEP_HAVE_VICTIM_TASK
#define SEEP_TP_VICTIM_PROTO	void *data, struct task_struct *task, uid_t uid
#define SEEP_TP_VICTIM_CALL(f)	f(task)
#else
#define SEEP_TP_VICTIM_PROTO	void *data, int pid
#define SEEP_TP_VICTIM_CALL(f)	do {					\
	struct task_struct *__task;					\
									\
	rcu_read_lock();						\
	__task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);	\
	if (__task)							\
		f(__task);						\
	rcu_read_unlock();						\
} while (0)
#endif

#endif
