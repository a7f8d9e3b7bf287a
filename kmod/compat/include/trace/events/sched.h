/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sched tracepoints: prototypes of the probes. include_next is outside the include guard
 * because tracepoint headers are read more than once on purpose.
 */
#include_next <trace/events/sched.h>

#ifndef SEEP_COMPAT_TRACE_SCHED_H
#define SEEP_COMPAT_TRACE_SCHED_H

/* v6.16 added group_dead, some stable trees and vendors too; Kbuild looks for it. */
#ifdef SEEP_HAVE_EXIT_GROUP_DEAD
#define SEEP_TP_EXIT_PROTO	void *data, struct task_struct *p, bool group_dead
#else
#define SEEP_TP_EXIT_PROTO	void *data, struct task_struct *p
#endif

/* fa2c3254d7cf, 9c2136be0878 (v5.18) and trees that took them; Kbuild looks for it */
#ifdef SEEP_HAVE_SWITCH_PREV_STATE
#define SEEP_TP_SWITCH_PROTO						\
	void *data, bool preempt, struct task_struct *prev,		\
	struct task_struct *next, unsigned int prev_state
#else
#define SEEP_TP_SWITCH_PROTO						\
	void *data, bool preempt, struct task_struct *prev, struct task_struct *next
#endif

#endif
