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

/* Whom an alert is about: a process, or a group and one of its processes. */
struct subject {
	struct seep_rec *rec;
	struct seep_group *group;	/* or NULL */
	struct seep_told *told;
};

static bool within_minute_limit(u64 now)
{
	if (now - minute_ns >= 60 * NSEC_PER_SEC) {
		minute_ns = now;
		in_minute = 0;
	}
	return in_minute < seep_config_value(SEEPAGE_CFG_ALERTS_PER_MINUTE);
}

static bool within_own_limit(const struct seep_told *told, u8 state, u64 now)
{
	u64 interval = (u64)seep_config_value(SEEPAGE_CFG_ALERT_INTERVAL_S) * NSEC_PER_SEC;

	if (!told->alerted_ns || now - told->alerted_ns >= interval)
		return true;
	return state > told->worst;	/* worse, or over: news even so soon */
}

static struct seep_alert *ring_slot(u64 seq)
{
	return &ring[seq % RING_SIZE];
}

static void push(const struct subject *who, u8 prev, u8 state,
		 const struct seep_verdict *verdict)
{
	struct seep_alert *a = ring_slot(next_seq);

	if (next_seq - first_seq == RING_SIZE) {
		first_seq++;
		seep_count(ALERTS_OVERWRITTEN);
	}
	if (who->group)
		seep_view_fill_group(&a->view, who->group, who->rec);
	else
		seep_view_fill(&a->view, who->rec);
	if (verdict)
		a->view.verdict = *verdict;
	/* an end matters as much as what ended */
	a->view.verdict.state = state == SEEPAGE_STATE_EXITED ? who->told->alerted : state;
	seep_view_weigh(&a->view);
	a->view.verdict.state = state;
	a->seq = next_seq++;
	a->time_ns = ktime_get_real_ns();
	a->prev_state = prev;
	in_minute++;
	seep_count(ALERTS);
	trace_seepage_alert(who->rec, a->seq, prev, state);
	seep_netlink_alert(a);
}

static void tell(const struct subject *who, u8 prev, u8 state,
		 const struct seep_verdict *verdict)
{
	struct seep_told *told = who->told;
	u64 now = ktime_get_ns();

	if (!within_own_limit(told, state, now) || !within_minute_limit(now)) {
		if (!told->pending) {
			seep_count(ALERTS_SUPPRESSED);
			trace_seepage_alert(who->rec, 0, prev, state);
		}
		told->pending = state;
		return;
	}
	told->pending = SEEPAGE_STATE_OK;
	push(who, prev, state, verdict);
	if (state == SEEPAGE_STATE_RECOVERED) {
		told->alerted = SEEPAGE_STATE_OK;
		return;
	}
	told->alerted = state;
	told->worst = state;
	told->alerted_ns = now;
}

static void state_changed(const struct subject *who, u8 prev, const struct seep_verdict *verdict)
{
	struct seep_told *told = who->told;
	u8 state = verdict->state;

	if (seep_alert_is(state)) {
		if (state > told->alerted || !seep_alert_is(prev))
			tell(who, prev, state, verdict);
		return;
	}
	if (state != SEEPAGE_STATE_RECOVERED)
		return;		/* that it has recovered may still have to be told */
	told->pending = SEEPAGE_STATE_OK;	/* too late to tell */
	if (seep_alert_is(told->alerted))
		tell(who, prev, state, verdict);
}

/* That it has recovered still holds when it is ok since, but not under the next alert. */
static void retry(const struct subject *who, u8 state, const struct seep_verdict *verdict)
{
	u8 pending = who->told->pending;

	if (state == pending || (pending == SEEPAGE_STATE_RECOVERED && !seep_alert_is(state)))
		tell(who, who->told->alerted, pending, verdict);
	else
		who->told->pending = SEEPAGE_STATE_OK;
}

static struct subject process(struct seep_rec *rec)
{
	return (struct subject) { .rec = rec, .told = &rec->told };
}

/* It is told of by the name of its oldest process. */
static struct subject group(struct seep_group *g)
{
	return (struct subject) {
		.rec = list_first_entry_or_null(&g->members, struct seep_rec, kin),
		.group = g, .told = &g->told
	};
}

/**
 * seep_alert_state() - a process changed its state
 * @rec: its record
 * @prev: the state it left; the new one is in @verdict
 * @verdict: why it did
 */
void seep_alert_state(struct seep_rec *rec, u8 prev, const struct seep_verdict *verdict)
{
	struct subject who = process(rec);

	state_changed(&who, prev, verdict);
}

/* A limit held something back: is it still so, and may it be told now? */
void seep_alert_retry(struct seep_rec *rec)
{
	struct subject who = process(rec);

	retry(&who, rec->det.state, NULL);
}

/* Of every process that was told of it is told that it ended. */
void seep_alert_exited(struct seep_rec *rec)
{
	struct subject who = process(rec);

	if (seep_alert_is(rec->told.alerted))
		push(&who, rec->det.state, SEEPAGE_STATE_EXITED, NULL);
}

void seep_alert_group_state(struct seep_group *g, u8 prev, const struct seep_verdict *verdict)
{
	struct subject who = group(g);

	state_changed(&who, prev, verdict);
}

void seep_alert_group_retry(struct seep_group *g, const struct seep_verdict *verdict)
{
	struct subject who = group(g);

	retry(&who, verdict->state, verdict);
}

/* @last: the record of its last process */
void seep_alert_group_exited(struct seep_group *g, struct seep_rec *last)
{
	struct subject who = { .rec = last, .group = g, .told = &g->told };

	if (g->history && seep_alert_is(g->told.alerted))
		push(&who, g->history->det.state, SEEPAGE_STATE_EXITED, NULL);
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
