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

/* hook -> table: a mm got its record. */
DECLARE_EVENT_CLASS(seepage_rec,
	TP_PROTO(const struct seep_rec *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
	),
	TP_fast_assign(
		__entry->id = rec->id;
		__entry->pid = pid_nr(rec->pid);
		memcpy(__entry->comm, rec->comm, TASK_COMM_LEN);
	),
	TP_printk("id=%llu pid=%d comm=%s", __entry->id, __entry->pid, __entry->comm)
);

DEFINE_EVENT(seepage_rec, seepage_birth,
	TP_PROTO(const struct seep_rec *rec),
	TP_ARGS(rec)
);

/* table: the record goes by another process of the same mm. */
DEFINE_EVENT(seepage_rec, seepage_owner,
	TP_PROTO(const struct seep_rec *rec),
	TP_ARGS(rec)
);

/* table: the mm is gone; its fault counts are complete. */
TRACE_EVENT(seepage_exit,
	TP_PROTO(const struct seep_rec *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
		__field(u64, faults_user)
		__field(u64, faults_kernel)
	),
	TP_fast_assign(
		__entry->id = rec->id;
		__entry->pid = pid_nr(rec->pid);
		memcpy(__entry->comm, rec->comm, TASK_COMM_LEN);
		__entry->faults_user = seep_rec_faults(rec, 0);
		__entry->faults_kernel = seep_rec_faults(rec, SEEP_F_KERNEL);
	),
	TP_printk("id=%llu pid=%d comm=%s faults_user=%llu faults_kernel=%llu",
		  __entry->id, __entry->pid, __entry->comm,
		  __entry->faults_user, __entry->faults_kernel)
);

/* sample -> detect: all that the verdict was made of, and the verdict. */
TRACE_EVENT(seepage_sample,
	TP_PROTO(const struct seep_rec *rec, const struct seep_verdict *v),
	TP_ARGS(rec, v),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(pid_t, pid)
		__field(u64, time_ns)
		__field(u64, age_ns)
		__field(u64, anon)
		__field(u64, file)
		__field(u64, shmem)
		__field(u64, swap)
		__field(u64, vsz)
		__field(u64, faults)
		__field(u64, faults_anon)
		__field(u64, headroom)
		__field(u32, error)
		__field(u8, full)
		__field(u8, state)
		__field(u8, confidence)
	),
	TP_fast_assign(
		const struct seep_sample *s = &rec->last;

		__entry->id = rec->id;
		__entry->pid = pid_nr(rec->pid);
		__entry->time_ns = s->time_ns;
		__entry->age_ns = s->age_ns;
		__entry->anon = s->anon;
		__entry->file = s->file;
		__entry->shmem = s->shmem;
		__entry->swap = s->swap;
		__entry->vsz = s->vsz;
		__entry->faults = s->faults;
		__entry->faults_anon = s->faults_anon;
		__entry->headroom = s->headroom;
		__entry->error = s->error;
		__entry->full = s->full;
		__entry->state = v->state;
		__entry->confidence = v->confidence;
	),
	TP_printk("id=%llu pid=%d time_ns=%llu age_ns=%llu anon=%llu file=%llu shmem=%llu swap=%llu vsz=%llu faults=%llu faults_anon=%llu headroom=%llu error=%u full=%u state=%u confidence=%u",
		  __entry->id, __entry->pid, __entry->time_ns, __entry->age_ns,
		  __entry->anon, __entry->file, __entry->shmem, __entry->swap,
		  __entry->vsz, __entry->faults, __entry->faults_anon,
		  __entry->headroom, __entry->error, __entry->full,
		  __entry->state, __entry->confidence)
);

/* detect -> alert: told, or held back by a limit (seq 0). */
TRACE_EVENT(seepage_alert,
	TP_PROTO(const struct seep_rec *rec, u64 seq, u8 prev, u8 state),
	TP_ARGS(rec, seq, prev, state),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, seq)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
		__field(u8, prev)
		__field(u8, state)
	),
	TP_fast_assign(
		__entry->id = rec->id;
		__entry->seq = seq;
		__entry->pid = pid_nr(rec->pid);
		memcpy(__entry->comm, rec->comm, TASK_COMM_LEN);
		__entry->prev = prev;
		__entry->state = state;
	),
	TP_printk("id=%llu seq=%llu pid=%d comm=%s prev=%u state=%u",
		  __entry->id, __entry->seq, __entry->pid, __entry->comm,
		  __entry->prev, __entry->state)
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
