// SPDX-License-Identifier: GPL-2.0
/*
 * Alerts: which changes of state are sent, how often, and the ring that keeps them for a
 * controller that was away.
 *
 * An alert is sent when a process enters a state above the one last sent, when it
 * recovers and when it exits. Where several processes of a group grow, the group is the
 * subject in their place (group.c). An alert that one of them had stays its own until there is
 * one of the group; then it ends with a RECOVERED that names that alert.
 *
 * Two limits apply: one alert per subject in alert_interval_s, unless it gets worse, and
 * alerts_per_minute for all. An alert that a limit holds back is counted, and sent when the
 * limit allows, if it is still true then.
 * A service that had an alert in an earlier life is sent one alert a life, which says so.
 * An exit, or that RECOVERED, is sent whatever the limits and counts for none, as there is one
 * for each alert at most.
 *
 * A user other than root has a share of the minute and of the ring (quota.h). When its
 * share of the ring is used up, its own oldest alert makes space: sequence numbers ascend
 * but have a gap where that alert was, as for all alerts that were overwritten.
 *
 * Context: process, may sleep. Lock: seep_table_mutex for everything here.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "publish.h"
#include "seep.h"
#include "trace.h"

#define RING_SIZE	256

/* All of this: seep_table_mutex. */
static struct {				/* one allocation */
	struct seep_alert ring[RING_SIZE];
	struct seep_quota quota[SEEP_QUOTA_ROWS];
	struct seep_end_slot ends[SEEP_END_SLOTS];
	struct hlist_head groups[SEEP_GROUP_HEADS];
} *mem;
static LIST_HEAD(order);		/* the ring, by seq; empty slots first */
static u64 next_seq = 1;		/* next to be given */
static u32 identity_bytes;		/* allocated for identities */
static u64 minute_ns;			/* CLOCK_MONOTONIC, begin of the current minute */

/* Subject of an alert: a process, or a group with one of its processes. */
struct subject {
	struct seep_rec *rec;
	struct seep_group *group;	/* NULL: a process */
	struct seep_rec *cause;		/* member that the verdict is on; NULL: on the group */
	struct seep_notified *notified;	/* of the group or the process */
};

/* Those of the present call. An alert on a group may end alerts on processes. */
static struct subject one, all;

/*
 * Is this a service that is restarted again and again, and had an alert in an earlier life?
 * Such a service has one alert a life. It does not count as one if its lives take more than
 * an hour, or if this life is twice as long as those before.
 */
static bool repeats(const struct subject *subj)
{
	const struct seep_group *g = subj->group ?: subj->rec->group;
	u64 born_ns = subj->group ? g->born_ns : READ_ONCE(subj->rec->born_ns), mean_s;
	u64 now_ns = ktime_get_ns();

	if (!g || !g->lives.n)
		return false;
	mean_s = seep_div(g->lives.sum_s, g->lives.n);
	return mean_s < 3600 && (now_ns - min(born_ns, now_ns)) / 2 <= (mean_s + 1) * NSEC_PER_SEC;
}

/* Take one of the alerts of the minute. */
static bool within_minute_limit(u16 row, u64 now)
{
	if (now - minute_ns >= 60ULL * NSEC_PER_SEC) {
		minute_ns = now;
		seep_quota_begin_minute();
	}
	return seep_quota_take(row, SEEP_QUOTA_MINUTE,
			       seep_config_value(SEEPAGE_CFG_ALERTS_PER_MINUTE));
}

/* alert_interval_s has passed, or the state is worse. */
static bool within_own_limit(const struct seep_notified *notified, u8 state, u64 now)
{
	u64 interval = (u64)seep_config_value(SEEPAGE_CFG_ALERT_INTERVAL_S) * SEEP_DS_PER_S;

	if (!notified->alerted_ds || seep_ds(now) - notified->alerted_ds >= interval)
		return true;
	/* RECOVERED and EXITED are above all alerts: never too early */
	return state > notified->worst;
}

static void forget_identity(struct seep_alert *a)
{
	if (a->identity && !--a->identity->alerts) {
		identity_bytes -= sizeof(*a->identity) + a->identity->len;
		kfree(a->identity);
	}
	a->identity = NULL;
}

static void share_identity(struct seep_alert *a, struct seep_identity *identity)
{
	a->identity = identity;
	identity->alerts++;
}

static void empty_slot(struct seep_alert *a)
{
	forget_identity(a);
	seep_quota_give(a->row, SEEP_QUOTA_RING);
	a->row = SEEP_QUOTA_ALL;
	a->seq = 0;
}

/* A slot for an alert of @row, the last one in order. The oldest alert is overwritten. */
static struct seep_alert *take_slot(u16 row)
{
	bool own = seep_quota_used_up(row, SEEP_QUOTA_RING, RING_SIZE);
	struct seep_alert *a;

	list_for_each_entry(a, &order, order)
		if (!own || a->row == row)
			break;
	if (a->seq)
		seep_count(ALERTS_OVERWRITTEN);
	empty_slot(a);
	seep_quota_take(row, SEEP_QUOTA_RING, RING_SIZE);
	a->row = row;
	list_move_tail(&a->order, &order);
	return a;
}

/*
 * Is an alert on that subject? A record that passes to another process has another pid from
 * then on. A group has that of one of its members.
 */
static bool is_on(const struct seep_alert *a, u64 id, pid_t pid)
{
	return a->seq && a->id == id && (id >> 63 || a->view.pid == pid);
}

static bool is_about(const struct seep_alert *a, const struct seep_rec *rec)
{
	return is_on(a, rec->id, pid_nr(rec->pid)) ||
	       (rec->group && is_on(a, rec->group->id, 0));
}

/* What the newest alert of the same process or group has, if one is in the ring. */
static void inherit_identity(struct seep_alert *a)
{
	const struct seep_alert *before = a;

	list_for_each_entry_continue_reverse(before, &order, order)
		if (before->identity && is_on(before, a->id, a->view.pid)) {
			share_identity(a, before->identity);
			return;
		}
}

/*
 * Put an alert into the ring and publish it. @verdict NULL: that of the last sample.
 * Return: the alert.
 */
static const struct seep_alert *push(const struct subject *subj, u8 prev, u8 state,
				     const struct seep_verdict *verdict)
{
	struct seep_alert *a = take_slot(seep_rec_row(subj->rec));
	struct seep_group *g = subj->group ?: subj->rec->group;

	if (subj->group)
		seep_view_fill_group(&a->view, subj->group, subj->rec);
	else
		seep_view_fill(&a->view, subj->rec);
	if (subj->cause)
		seep_view_fill_cause(&a->view, subj->group, subj->cause, verdict);
	else if (verdict)
		a->view.verdict = *verdict;
	a->view.verdict.state = state;
	a->view.floors = SEEP_MINIMA;	/* so that FLOORS is left out */
	memset(&a->end, 0, sizeof(a->end));
	memset(&a->lives, 0, sizeof(a->lives));
	if (g && g->lives.n) {
		a->lives = g->lives;
		a->end = g->end;
	}
	if (state == SEEPAGE_STATE_EXITED) {
		if (subj->group)
			a->end = subj->group->end;
		else
			seep_end_find(subj->rec, &a->end);
		/* severity of an exit: that of the alert which ended */
		a->view.verdict.state = subj->notified->alerted;
		a->view.own_limit = subj->notified->own_limit;
	}
	seep_view_weigh(&a->view);
	a->view.verdict.state = state;
	a->seq = next_seq++;
	a->id = subj->group ? subj->group->id : subj->rec->id;
	a->merged_into = 0;
	if (g && !subj->group && g->notified.seq)
		a->merged_into = a->seq - (u32)(a->seq - g->notified.seq);
	inherit_identity(a);
	a->time_ns = ktime_get_real_ns();
	a->prev_state = prev;
	if (g && !g->lives.first_alert_ns)
		g->lives.first_alert_ns = a->time_ns;
	seep_count(ALERTS);
	trace_seepage_alert(subj->rec, a->seq, prev, state);
	seep_publish_alert(a);
	return a;
}

/* The subject of an alert on a process. Valid until the next call. */
static noinline struct subject *process(struct seep_rec *rec)
{
	one.rec = rec;
	one.notified = &rec->notified;
	return &one;
}

/* An alert of a group was sent: those that members have end. */
static void merge_members(const struct seep_group *g)
{
	struct seep_rec *rec;

	list_for_each_entry(rec, &g->members, kin) {
		if (seep_alert_is(rec->notified.alerted))
			push(process(rec), rec->notified.alerted, SEEPAGE_STATE_RECOVERED, NULL);
		memset(&rec->notified, 0, sizeof(rec->notified));
	}
}

/* Send an alert, or keep it pending while a limit holds it back. */
static void notify(const struct subject *subj, u8 prev, u8 state,
		   const struct seep_verdict *verdict)
{
	struct seep_notified *notified = subj->notified;
	const struct seep_alert *a;
	u64 now = ktime_get_ns();

	if (seep_alert_is(notified->alerted) && seep_alert_is(state) && repeats(subj))
		return;		/* one alert a life */
	if (!within_own_limit(notified, state, now) ||
	    !within_minute_limit(seep_rec_row(subj->rec), now)) {
		if (!notified->pending) {
			seep_count(ALERTS_SUPPRESSED);
			trace_seepage_alert(subj->rec, 0, prev, state);
		}
		notified->pending = state;
		return;
	}
	notified->pending = SEEPAGE_STATE_OK;
	a = push(subj, prev, state, verdict);
	notified->own_limit = a->view.own_limit;
	notified->seq = 0;
	if (state == SEEPAGE_STATE_RECOVERED) {
		notified->alerted = SEEPAGE_STATE_OK;
		return;
	}
	notified->seq = (u32)a->seq;
	if (subj->group)
		merge_members(subj->group);
	notified->alerted = state;
	notified->worst = state;
	notified->alerted_ds = seep_ds(now);
}

/* Decide whether a change of state is an alert. */
static void state_changed(const struct subject *subj, u8 prev, const struct seep_verdict *verdict)
{
	struct seep_notified *notified = subj->notified;
	u8 state = verdict->state;

	if (seep_alert_is(state)) {
		if (state > notified->alerted || !seep_alert_is(prev))
			notify(subj, prev, state, verdict);
		return;
	}
	if (state != SEEPAGE_STATE_RECOVERED)
		return;		/* a pending RECOVERED remains */
	notified->pending = SEEPAGE_STATE_OK;	/* the alert that was held back is out of date */
	if (seep_alert_is(notified->alerted))
		notify(subj, prev, state, verdict);
}

/* A pending RECOVERED is still true for a process that is ok, not under the next alert. */
static void retry(const struct subject *subj, u8 state, const struct seep_verdict *verdict)
{
	u8 pending = subj->notified->pending;

	if (state == pending || (pending == SEEPAGE_STATE_RECOVERED && !seep_alert_is(state)))
		notify(subj, subj->notified->alerted, pending, verdict);
	else
		subj->notified->pending = SEEPAGE_STATE_OK;
}

/* The subject of an alert on a group, shown with the pid of @rec. Valid until the next call. */
static noinline struct subject *group(struct seep_group *g, struct seep_rec *rec)
{
	all.rec = rec;
	all.group = g;
	all.cause = NULL;
	all.notified = &g->notified;
	return &all;
}

static struct seep_rec *oldest(struct seep_group *g)
{
	return list_first_entry(&g->members, struct seep_rec, kin);
}

/**
 * seep_alert_state() - a process changed its state
 * @rec: its record
 * @prev: state before
 * @verdict: verdict with the new state
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_alert_state(struct seep_rec *rec, u8 prev, const struct seep_verdict *verdict)
{
	state_changed(process(rec), prev, verdict);
}

/**
 * seep_alert_retry() - send a pending alert if a limit now allows it
 * @rec: a record with notified.pending
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_alert_retry(struct seep_rec *rec)
{
	retry(process(rec), rec->det.state, NULL);
}

/**
 * seep_alert_exited() - a process has ended: end its alert, whatever the limits
 * @rec: its record, buried
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_alert_exited(struct seep_rec *rec)
{
	const struct subject *subj = process(rec);

	if (seep_alert_is(rec->notified.alerted) && !repeats(subj))
		push(subj, rec->det.state, SEEPAGE_STATE_EXITED, NULL);
}

/**
 * seep_alert_member() - a member of a group that speaks for it was judged
 * @rec: its record, not ok, or it was not
 * @verdict: the verdict on it
 *
 * An alert that the member has counts as one of the group. Another one is sent only where the
 * verdict is worse. Until then it is the member's, and ends as such.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_alert_member(struct seep_rec *rec, const struct seep_verdict *verdict)
{
	struct seep_group *g = rec->group;
	struct seep_notified *own = &rec->notified, *both = &g->notified;
	struct subject *subj;

	if (!seep_alert_is(verdict->state)) {
		if (seep_alert_is(own->alerted) && verdict->state != SEEPAGE_STATE_WATCH)
			notify(process(rec), own->alerted, SEEPAGE_STATE_RECOVERED, NULL);
		return;
	}
	own->pending = SEEPAGE_STATE_OK;
	both->alerted = max(both->alerted, own->alerted);
	both->worst = max(both->worst, own->worst);
	both->alerted_ds = max(both->alerted_ds, own->alerted_ds);
	both->own_limit |= own->own_limit;
	g->hold = max(g->hold, clamp(verdict->patience, SEEP_MINUTE_DS, SEEP_HOUR_DS));
	g->trouble_ns = rec->last.time_ns;
	if (verdict->state <= both->alerted)
		return;
	subj = group(g, oldest(g));
	subj->cause = rec;
	notify(subj, max_t(u8, both->alerted, SEEPAGE_STATE_WATCH), verdict->state, verdict);
}

/**
 * seep_alert_group() - a group is in a worse state than the one last sent, or recovered
 * @g: the group
 * @prev: state before
 * @verdict: verdict with the new state
 *
 * Called again in each pass until a limit allows it.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_alert_group(struct seep_group *g, u8 prev, const struct seep_verdict *verdict)
{
	notify(group(g, oldest(g)), prev, verdict->state, verdict);
}

/**
 * seep_alert_group_exited() - the last process of a group has ended: end its alert
 * @g: the group
 * @last: record of that process, buried
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_alert_group_exited(struct seep_group *g, struct seep_rec *last)
{
	const struct subject *subj = group(g, last);

	if (g->history && g->notified.seq && !repeats(subj))
		push(subj, g->history->det.state, SEEPAGE_STATE_EXITED, NULL);
}

/**
 * seep_alert_identify() - keep what a process is with its alerts
 * @rec: the process, or one of the group that the alerts are about
 * @seq: of an alert that must be about it, where one is held; 0: any
 * @attrs: enum seepage_identity_attr, checked
 * @len: bytes
 *
 * Alerts that have an identity keep it. Those of an earlier process of the same pid have
 * another id and are left alone.
 *
 * Context: process, may sleep, seep_table_mutex.
 * Return: 0, -ENOENT: no alert needs it, -ESRCH: @seq is about another process, or -ENOMEM.
 */
int seep_alert_identify(const struct seep_rec *rec, u64 seq, const void *attrs, u32 len)
{
	const struct seep_alert *told = seep_alert_next(seq);
	struct seep_identity *identity = NULL;
	struct seep_alert *a;

	if (seq && !(told && told->seq == seq && is_about(told, rec)))
		return -ESRCH;
	list_for_each_entry(a, &order, order) {
		if (a->identity || !is_about(a, rec))
			continue;
		if (!identity) {
			identity = kmalloc(sizeof(*identity) + len, SEEP_GFP);
			if (!identity)
				return -ENOMEM;
			identity->alerts = 0;
			identity->len = len;
			memcpy(identity->attrs, attrs, len);
			identity_bytes += sizeof(*identity) + len;
		}
		share_identity(a, identity);
	}
	return identity ? 0 : -ENOENT;
}

/**
 * seep_alert_next() - the oldest alert in the ring, from a sequence number on
 * @seq: that number
 *
 * Context: seep_table_mutex.
 * Return: NULL when there is none; valid until the mutex is released.
 */
const struct seep_alert *seep_alert_next(u64 seq)
{
	const struct seep_alert *a;

	list_for_each_entry(a, &order, order)
		if (a->seq && a->seq >= seq)
			return a;
	return NULL;
}

/**
 * seep_alert_range() - sequence numbers of alerts
 * @first: out: oldest in the ring; 0: the ring is empty
 * @last: out: the last one given since load
 *
 * Context: seep_table_mutex.
 */
void seep_alert_range(u64 *first, u64 *last)
{
	const struct seep_alert *a = seep_alert_next(0);

	*first = a ? a->seq : 0;
	*last = next_seq - 1;
}

/**
 * seep_alert_reset() - empty the ring; sequence numbers continue, so none is used twice
 *
 * Context: process, may sleep; takes seep_table_mutex.
 */
void seep_alert_reset(void)
{
	struct seep_alert *a;

	mutex_lock(&seep_table_mutex);
	list_for_each_entry(a, &order, order)
		empty_slot(a);
	mutex_unlock(&seep_table_mutex);
}

/**
 * seep_alert_bytes() - memory of the ring and of the table of users
 *
 * Context: any.
 */
u64 seep_alert_bytes(void)
{
	/* changed under seep_table_mutex only; an old figure does no harm */
	return sizeof(*mem) + data_race(identity_bytes);
}

/**
 * seep_alert_init() - allocate the ring and the table of users
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __init seep_alert_init(void)
{
	int i;

	mem = kvzalloc(sizeof(*mem), GFP_KERNEL);
	if (!mem)
		return -ENOMEM;
	for (i = 0; i < RING_SIZE; i++)
		list_add(&mem->ring[i].order, &order);
	seep_quota_init(mem->quota);
	seep_end_init(mem->ends);
	seep_group_init(mem->groups);
	return 0;
}

/**
 * seep_alert_exit() - free the ring and the table of users
 *
 * Context: module exit, when no reader and no worker is left.
 */
void seep_alert_exit(void)
{
	struct seep_alert *a;

	list_for_each_entry(a, &order, order)
		forget_identity(a);
	kvfree(mem);
}
