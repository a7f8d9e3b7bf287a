/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_PERF_EVENT_H
#define SEEP_COMPAT_LINUX_PERF_EVENT_H

#include_next <linux/perf_event.h>
#include <linux/sched/clock.h>

/* ns for which guests had the counters of a context for themselves; since v7 */
#ifdef SEEP_HAVE_PERF_TIMEGUEST
#define SEEP_PERF_GUEST_TIME(ctx)	READ_ONCE((ctx)->timeguest.time)
#else
#define SEEP_PERF_GUEST_TIME(ctx)	0
#endif

/*
 * seep_perf_time() - time of an event's context at @clock, a value of local_clock()
 *
 * To be compared with event->tstamp. Since 09f5e7dc7ad7 (v5.17 and stable trees) the
 * context keeps the offset to local_clock(); by v7.3 it is in a struct. Kbuild looks for
 * both. READ_ONCE() pairs with WRITE_ONCE() in kernel/events/core.c:__update_context_time().
 *
 * Context: an event that is active on this CPU, interrupts off.
 */
static inline u64 seep_perf_time(const struct perf_event *event, u64 clock)
{
	const struct perf_event_context *ctx = event->ctx;

#if defined(SEEP_HAVE_PERF_TIME_CTX)
	return clock + READ_ONCE(ctx->time.offset) -
	       (event->attr.exclude_guest ? SEEP_PERF_GUEST_TIME(ctx) : 0);
#elif defined(SEEP_HAVE_PERF_TIMEOFFSET)
	return clock + READ_ONCE(ctx->timeoffset);
#else
	return READ_ONCE(ctx->time) + (clock - READ_ONCE(ctx->timestamp));
#endif
}

#endif
