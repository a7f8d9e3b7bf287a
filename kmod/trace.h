/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events at the boundaries of the stages. Memory in bytes, times in ns
 * of the monotonic clock, pids of the initial namespace.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM seepage

#if !defined(SEEP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SEEP_TRACE_H

#include <linux/pid.h>
#include <linux/tracepoint.h>
#include "seep.h"

/*
 * All events of a record have the same fields, because each class of events takes 1 KB.
 * prev and state differ where the event is a change of state; seq is that of an alert.
 */
DECLARE_EVENT_CLASS(seepage_rec,
	TP_PROTO(const struct seep_rec *rec, u64 seq, u8 prev, u8 state),
	TP_ARGS(rec, seq, prev, state),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, seq)
		__field(u64, faults_user)
		__field(u64, faults_kernel)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
		__field(u8, prev)
		__field(u8, state)
	),
	TP_fast_assign(
		__entry->id = rec->id;
		__entry->seq = seq;
		__entry->faults_user = seep_rec_faults(rec, 0);
		__entry->faults_kernel = seep_rec_faults(rec, SEEP_F_KERNEL);
		__entry->pid = pid_nr(rec->pid);
		memcpy(__entry->comm, rec->comm, TASK_COMM_LEN);
		__entry->prev = prev;
		__entry->state = state;
	),
	TP_printk("id=%llu seq=%llu pid=%d comm=%s faults_user=%llu faults_kernel=%llu prev=%u state=%u",
		  __entry->id, __entry->seq, __entry->pid, __entry->comm,
		  __entry->faults_user, __entry->faults_kernel, __entry->prev, __entry->state)
);

/* hook -> table: a record was created for a mm. */
DEFINE_EVENT(seepage_rec, seepage_birth,
	TP_PROTO(const struct seep_rec *rec, u64 seq, u8 prev, u8 state),
	TP_ARGS(rec, seq, prev, state)
);

/* table: another process of the same mm became the owner of a record. */
DEFINE_EVENT(seepage_rec, seepage_owner,
	TP_PROTO(const struct seep_rec *rec, u64 seq, u8 prev, u8 state),
	TP_ARGS(rec, seq, prev, state)
);

/* table: a record was buried; its fault counts are complete. */
DEFINE_EVENT(seepage_rec, seepage_exit,
	TP_PROTO(const struct seep_rec *rec, u64 seq, u8 prev, u8 state),
	TP_ARGS(rec, seq, prev, state)
);

/* detect -> suspect: a process changed its state. seq is always 0. */
DEFINE_EVENT(seepage_rec, seepage_state,
	TP_PROTO(const struct seep_rec *rec, u64 seq, u8 prev, u8 state),
	TP_ARGS(rec, seq, prev, state)
);

/* suspect -> alert: an alert was sent, or is held back by a limit (seq 0). */
DEFINE_EVENT(seepage_rec, seepage_alert,
	TP_PROTO(const struct seep_rec *rec, u64 seq, u8 prev, u8 state),
	TP_ARGS(rec, seq, prev, state)
);

/* sample: a pass ended. */
TRACE_EVENT(seepage_tick,
	TP_PROTO(bool full, u32 processes, u64 cost_ns),
	TP_ARGS(full, processes, cost_ns),
	TP_STRUCT__entry(
		__field(u8, full)
		__field(u32, processes)
		__field(u64, cost_ns)
	),
	TP_fast_assign(
		__entry->full = full;
		__entry->processes = processes;
		__entry->cost_ns = cost_ns;
	),
	TP_printk("full=%u processes=%u cost_ns=%llu",
		  __entry->full, __entry->processes, __entry->cost_ns)
);

#endif /* SEEP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
