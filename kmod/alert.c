// SPDX-License-Identifier: GPL-2.0
/*
 * Alerts: which changes of state a person is told, how often, and the ring
 * that keeps them for a controller that was away.
 *
 * An alert leaves when a process rises to a state above the one it was last
 * told of, when it recovers and when it exits. One process is told of at most
 * once in alert_interval_s unless it got worse; all together at most
 * alerts_per_minute times. What a limit holds back is counted and told when
 * the limit allows, if it still holds then.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/timekeeping.h>
#include "seep.h"
#include "trace.h"

#define RING_SIZE	256

/* All of this: seep_table_mutex. */
static struct seep_alert *ring;
static u64 first_seq = 1, next_seq = 1;
static u64 minute_ns;			/* begin of the running minute */
static u32 in_minute;

static bool is_alert(u8 state)
{
	return state >= SEEPAGE_STATE_SUSPECTED && state <= SEEPAGE_STATE_RUNAWAY;
}

static bool within_minute_limit(u64 now)
{
	if (now - minute_ns >= 60 * NSEC_PER_SEC) {
		minute_ns = now;
		in_minute = 0;
	}
	return in_minute < seep_config_value(SEEPAGE_CFG_ALERTS_PER_MINUTE);
}

static bool within_process_limit(const struct seep_rec *rec, u8 state, u64 now)
{
	u64 interval = (u64)seep_config_value(SEEPAGE_CFG_ALERT_INTERVAL_S) * NSEC_PER_SEC;

	if (!rec->alerted_ns || now - rec->alerted_ns >= interval)
		return true;
	return state > rec->worst;	/* worse, or over: news even so soon */
}

static struct seep_alert *ring_slot(u64 seq)
{
	return &ring[seq % RING_SIZE];
}

static void push(struct seep_rec *rec, u8 prev, u8 state, const struct seep_verdict *verdict)
{
	struct seep_alert *a = ring_slot(next_seq);

	if (next_seq - first_seq == RING_SIZE) {
		first_seq++;
		seep_count(ALERTS_OVERWRITTEN);
	}
	seep_view_fill(&a->view, rec);
	if (verdict)
		a->view.verdict = *verdict;
	/* an end matters as much as what ended */
	a->view.verdict.state = state == SEEPAGE_STATE_EXITED ? rec->alerted : state;
	seep_view_weigh(&a->view);
	a->view.verdict.state = state;
	a->seq = next_seq++;
	a->time_ns = ktime_get_real_ns();
	a->prev_state = prev;
	in_minute++;
	seep_count(ALERTS);
	trace_seepage_alert(rec, a->seq, prev, state);
	seep_netlink_alert(a);
}

static void tell(struct seep_rec *rec, u8 prev, u8 state, const struct seep_verdict *verdict)
{
	u64 now = ktime_get_ns();

	if (!within_process_limit(rec, state, now) || !within_minute_limit(now)) {
		if (!rec->pending) {
			seep_count(ALERTS_SUPPRESSED);
			trace_seepage_alert(rec, 0, prev, state);
		}
		rec->pending = state;
		return;
	}
	rec->pending = SEEPAGE_STATE_OK;
	push(rec, prev, state, verdict);
	if (state == SEEPAGE_STATE_RECOVERED) {
		rec->alerted = SEEPAGE_STATE_OK;
		return;
	}
	rec->alerted = state;
	rec->worst = state;
	rec->alerted_ns = now;
}

/**
 * seep_alert_state() - a process changed its state
 * @rec: its record
 * @prev: the state it left; the new one is in @verdict
 * @verdict: why it did
 */
void seep_alert_state(struct seep_rec *rec, u8 prev, const struct seep_verdict *verdict)
{
	u8 state = verdict->state;

	if (is_alert(state)) {
		if (state > rec->alerted || !is_alert(prev))
			tell(rec, prev, state, verdict);
		return;
	}
	rec->pending = SEEPAGE_STATE_OK;	/* too late to tell */
	if (state == SEEPAGE_STATE_RECOVERED && is_alert(rec->alerted))
		tell(rec, prev, state, verdict);
}

/* A limit held something back: is it still so, and may it be told now? */
void seep_alert_retry(struct seep_rec *rec)
{
	u8 state = rec->det.state;

	if (state == rec->pending)
		tell(rec, rec->alerted, state, NULL);
	else
		rec->pending = SEEPAGE_STATE_OK;
}

/* Of every process that was told of it is told that it ended. */
void seep_alert_exited(struct seep_rec *rec)
{
	if (is_alert(rec->alerted))
		push(rec, rec->det.state, SEEPAGE_STATE_EXITED, NULL);
}

/**
 * seep_alert_next() - the oldest alert from @seq on that the ring still holds
 * @seq: the first sequence number wanted
 *
 * Return: NULL when there is none; valid while seep_table_mutex is held.
 */
const struct seep_alert *seep_alert_next(u64 seq)
{
	if (seq < first_seq)
		seq = first_seq;
	return seq < next_seq ? ring_slot(seq) : NULL;
}

/* The oldest that the ring holds, 0 when it is empty; the newest ever given. */
void seep_alert_range(u64 *first, u64 *last)
{
	mutex_lock(&seep_table_mutex);
	*first = first_seq < next_seq ? first_seq : 0;
	*last = next_seq - 1;
	mutex_unlock(&seep_table_mutex);
}

/* Empties the ring; numbers go on, so that no reader takes new for old. */
void seep_alert_reset(void)
{
	mutex_lock(&seep_table_mutex);
	first_seq = next_seq;
	mutex_unlock(&seep_table_mutex);
}

u64 seep_alert_bytes(void)
{
	return RING_SIZE * sizeof(*ring);
}

int __init seep_alert_init(void)
{
	ring = kvcalloc(RING_SIZE, sizeof(*ring), GFP_KERNEL);
	return ring ? 0 : -ENOMEM;
}

void seep_alert_exit(void)
{
	kvfree(ring);
}
