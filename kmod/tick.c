// SPDX-License-Identifier: GPL-2.0
/*
 * The worker: one delayed work for passes, one for burying dead records between them, and one
 * that frees what was buried.
 *
 * A full pass is due every sample_interval_ms. While some record is under watch, a short
 * pass comes every suspect_interval_ms. When a pass costs more than max_cpu_permille of a
 * CPU, the interval is stretched and the status says so.
 *
 * The same share is the most that burying between passes may take. What is charged is the
 * whole work: the walk over the table, groups, alerts, freeing, and refilling the pool. Until
 * it is paid for, a kick only refills the pool, and in a full table does nothing. The dead are
 * then buried with the first kick after that time, at the latest by the next full pass. The
 * statistics are those of passes only.
 *
 * Buried records, and those that were given up (room.c), are freed after a grace period. No pass
 * waits for that: where many tasks want the CPUs it takes seconds. Those that come meanwhile wait
 * for the next one.
 *
 * Context: process, may sleep; the works run on one ordered workqueue, so never at the
 * same time. Lock: seep_table_mutex for the table and for tick.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>
#include "publish.h"
#include "seep.h"
#include "trace.h"

#define STRETCH_MAX		10	/* the interval is stretched up to so many times */

static struct workqueue_struct *wq;	/* set at load */
static bool running;			/* works may be queued; set by start and stop */
static bool starved;			/* the last refill of the pool failed; a hint */
/* jiffies; the dead are not buried before, but by a pass. The works write it. */
static unsigned long next_clear;
/*
 * The works only: records that RCU readers may still see. Those of the second list came after the
 * grace period of the first one had begun.
 */
static LIST_HEAD(buried);
static LIST_HEAD(later);
static u64 clear_cost;			/* likewise: of the burial, ns; 0: a pass buried them */

static struct {				/* seep_table_mutex */
	u64 next_full_ns;		/* CLOCK_MONOTONIC */
	u64 short_gap_ns;		/* least time between two short passes, ns */
	bool suspects;			/* some record is under watch */
	struct seep_tick_stats stats;
} tick;

static void tick_work(struct work_struct *w);
static void clear_work(struct work_struct *w);
static DECLARE_DELAYED_WORK(tick_dwork, tick_work);
static DECLARE_DELAYED_WORK(clear_dwork, clear_work);
static struct rcu_work free_rwork;	/* queued while records are buried */

/*
 * Bury dead records first: the pass may need them for new processes. The order matters.
 * Groups learn before new members join, because a member inherits what is known; new
 * members join before dead ones leave, so that a group does not end in between.
 */
static void bury_the_dead(struct list_head *graves)
{
	struct seep_rec *rec;

	seep_tab_bury(graves);
	list_for_each_entry(rec, graves, hot) {
		seep_sample_wake(rec);	/* its headroom counts */
		seep_group_learn(rec);
	}
	if (!list_empty(graves))
		seep_sample_welcome();
	list_for_each_entry(rec, graves, hot) {
		trace_seepage_exit(rec, 0, rec->det.state, rec->det.state);
		seep_alert_exited(rec);
		seep_group_leave(rec);
		seep_share_leave(rec);
	}
	seep_publish_gone(graves);
}

/* The time of which @cost_ns is max_cpu_permille. */
static u64 paid_in(u64 cost_ns)
{
	return div_u64(cost_ns * 1000, seep_config_value(SEEPAGE_CFG_MAX_CPU_PERMILLE));
}

/* The interval after a pass that cost @cost_ns: longer, up to STRETCH_MAX times. */
static u64 stretch(u64 interval_ns, u64 cost_ns)
{
	u64 least = paid_in(cost_ns);

	if (least <= interval_ns)
		return interval_ns;
	seep_count(TICKS_STRETCHED);
	return min(least, interval_ns * STRETCH_MAX);
}

/* ns at the begin of a pass: CLOCK_MONOTONIC and CPU time of this task. */
struct cost {
	u64 wall, cpu;
};

static noinline void cost_begin(struct cost *k)
{
	k->wall = ktime_get_ns();
	k->cpu = READ_ONCE(current->se.sum_exec_runtime);
}

/*
 * Cost of the pass, ns. CPU time counts rather than the time in which others had the CPU,
 * but the scheduler updates it once a tick only. READ_ONCE() pairs with plain stores of the
 * scheduler.
 */
static u64 cost_end(const struct cost *k)
{
	u64 cpu = READ_ONCE(current->se.sum_exec_runtime) - k->cpu + TICK_NSEC;

	return min(ktime_get_ns() - k->wall, cpu);
}

/* Jiffies until the dead may be buried; 0: now. READ_ONCE(): kicked() reads it. */
static noinline unsigned long until_clear(void)
{
	long wait = READ_ONCE(next_clear) - jiffies;

	return max(wait, 0L);
}

/* The dead are not buried between passes before the time that pays for @cost. */
static void pay(u64 cost)
{
	WRITE_ONCE(next_clear, jiffies + nsecs_to_jiffies(paid_in(cost)));
}

/* Free the records of the second list when no reader sees them any more. */
static noinline void free_next(void)
{
	if (!list_empty(&buried) || list_empty(&later))
		return;
	list_replace_init(&later, &buried);
	queue_rcu_work(wq, &free_rwork);
}

/* Free @graves when no reader sees them any more. */
static noinline void free_later(struct list_head *graves)
{
	list_splice_tail(graves, &later);
	free_next();
}

static void free_work(struct work_struct *w)
{
	struct cost k;

	cost_begin(&k);
	seep_tab_free(&buried);
	free_next();
	mutex_lock(&seep_table_mutex);
	WRITE_ONCE(starved, !seep_tab_resize(0));
	mutex_unlock(&seep_table_mutex);
	if (clear_cost)
		pay(clear_cost + cost_end(&k));
	clear_cost = 0;
}

/* One pass, with its cost and the time of the next. */
static void pass(bool full, const struct seep_conf *c, struct list_head *graves)
{
	u64 start = ktime_get_ns(), cost, interval, next;
	struct cost k;

	cost_begin(&k);
	bury_the_dead(graves);
	WRITE_ONCE(starved, !seep_tab_resize(0));
	if (full)
		seep_room_pass(graves);
	tick.suspects = seep_sample_pass(full, c);
	cost = cost_end(&k);
	trace_seepage_tick(full, seep_tab_count(), cost);
	if (!full) {
		interval = (u64)c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] * NSEC_PER_MSEC;
		tick.short_gap_ns = stretch(interval, cost);
		return;
	}
	tick.stats.ticks++;
	tick.stats.cost_ns = cost;
	tick.stats.cost_max_ns = max(tick.stats.cost_max_ns, cost);
	interval = (u64)c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] * NSEC_PER_MSEC;
	next = stretch(interval, cost);
	tick.stats.stretched = next > interval;
	tick.stats.interval_ms = div_u64(next, NSEC_PER_MSEC);
	tick.next_full_ns = start + next;
	/* A time long ago would look like one ahead after jiffies wrap: set it to now. */
	WRITE_ONCE(next_clear, jiffies + until_clear());
}

/* Jiffies until the next pass. */
static unsigned long until_next(const struct seep_conf *c)
{
	u64 now = ktime_get_ns(), wait;

	wait = tick.next_full_ns > now ? tick.next_full_ns - now : 0;
	if (tick.suspects)
		wait = min(wait, max(tick.short_gap_ns,
				     (u64)c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] * NSEC_PER_MSEC));
	return nsecs_to_jiffies(wait);
}

static void tick_work(struct work_struct *w)
{
	struct seep_conf c;
	LIST_HEAD(graves);
	unsigned long delay;
	bool suspects;

	if (seep_disabled())
		return;
	seep_config_get(&c);
	mutex_lock(&seep_table_mutex);
	/* due within one jiffy counts as due: the timer has no finer resolution */
	pass(ktime_get_ns() + TICK_NSEC >= tick.next_full_ns, &c, &graves);
	delay = until_next(&c);
	suspects = tick.suspects;
	mutex_unlock(&seep_table_mutex);
	free_later(&graves);
	seep_pmu_watch(suspects);
	if (READ_ONCE(running))
		queue_delayed_work(wq, &tick_dwork, delay);
}

/*
 * Bury dead records and refill the pool between two ticks. While records wait for a second
 * grace period, no others are buried: they are memory that max_processes does not count.
 */
static void clear_work(struct work_struct *w)
{
	bool due = !until_clear() && list_empty(&later);
	LIST_HEAD(graves);
	struct cost k;
	u64 cost;

	if (seep_disabled())
		return;
	mutex_lock(&seep_table_mutex);
	cost_begin(&k);
	if (due)
		bury_the_dead(&graves);
	if (list_empty(&graves))	/* else free_work() does, with these */
		WRITE_ONCE(starved, !seep_tab_resize(0));
	mutex_unlock(&seep_table_mutex);
	/* a refill alone postpones nothing: births would put off burials for ever */
	if (due) {
		cost = cost_end(&k);
		pay(cost);
		if (!list_empty(&graves))
			clear_cost = cost;
	}
	free_later(&graves);
}

/* ---- start, stop, kick ---- */

/*
 * Handler of kicks. While memory for records is short, the work waits for a second. A full
 * table needs no refill: there it waits until the dead may be buried. READ_ONCE() of running
 * and starved pairs with WRITE_ONCE() in this file.
 * Context: hard irq; on PREEMPT_RT the irq_work thread.
 */
static void kicked(struct irq_work *unused)
{
	unsigned long delay = READ_ONCE(starved) ? HZ : 1;

	seep_disabled_report();
	if (seep_tab_full())
		delay = max(delay, until_clear());
	if (READ_ONCE(running))
		queue_delayed_work(wq, &clear_dwork, delay);
}

/**
 * seep_tick_reschedule() - the configuration has changed: apply the new interval
 *
 * Context: process, may sleep; takes seep_table_mutex.
 */
void seep_tick_reschedule(void)
{
	u64 due;

	if (!READ_ONCE(running))
		return;
	due = ktime_get_ns() +
	      (u64)seep_config_value(SEEPAGE_CFG_SAMPLE_INTERVAL_MS) * NSEC_PER_MSEC;
	mutex_lock(&seep_table_mutex);
	tick.next_full_ns = min(tick.next_full_ns, due);
	tick.short_gap_ns = 0;
	mutex_unlock(&seep_table_mutex);
	mod_delayed_work(wq, &tick_dwork, 0);
}

/**
 * seep_status_get() - everything about the state of the module that the mutex protects
 * @s: out
 *
 * Context: process, may sleep; takes seep_table_mutex.
 * Return: 0, or -EINTR when current was killed.
 */
int seep_status_get(struct seep_status *s)
{
	if (mutex_lock_killable(&seep_table_mutex))
		return -EINTR;
	s->processes = seep_tab_count_alive();
	seep_alert_range(&s->first, &s->last);
	s->tick = tick.stats;
	mutex_unlock(&seep_table_mutex);
	return 0;
}

/**
 * seep_tick_reset_stats() - forget the cost of passes
 *
 * Context: process, may sleep; takes seep_table_mutex.
 */
void seep_tick_reset_stats(void)
{
	mutex_lock(&seep_table_mutex);
	tick.stats.cost_ns = 0;
	tick.stats.cost_max_ns = 0;
	mutex_unlock(&seep_table_mutex);
}

/**
 * seep_tick_init() - create the workqueue
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __init seep_tick_init(void)
{
	seep_kick_init(kicked);
	/*
	 * Frozen over suspend, when devices are down. It has a thread of its own for when
	 * memory is nearly gone, because a new one could not be forked then.
	 */
	wq = alloc_ordered_workqueue("seepage", WQ_FREEZABLE | WQ_MEM_RECLAIM);
	if (!wq || seep_sample_init())
		goto fail;
	/*
	 * For lockdep: as if reclaim took the mutex. An allocation under the mutex that may reclaim
	 * is then reported, and so is a lock taken under it that others hold while they allocate.
	 */
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&seep_table_mutex);
	fs_reclaim_release(GFP_KERNEL);
	INIT_RCU_WORK(&free_rwork, free_work);
	next_clear = jiffies;
	tick.stats.interval_ms = seep_config_value(SEEPAGE_CFG_SAMPLE_INTERVAL_MS);
	return 0;

fail:
	if (wq)
		destroy_workqueue(wq);
	return -ENOMEM;
}

/**
 * seep_tick_start() - begin with the first pass
 *
 * Context: module init, after the hooks.
 */
void seep_tick_start(void)
{
	WRITE_ONCE(running, true);
	seep_kick_start(&clear_dwork);
	queue_delayed_work(wq, &tick_dwork, 0);
}

/**
 * seep_tick_stop() - stop the works; none runs any more on return
 *
 * Context: module exit, after the hooks have stopped; also when start was never reached.
 */
void seep_tick_stop(void)
{
	WRITE_ONCE(running, false);
	cancel_delayed_work_sync(&tick_dwork);	/* it may still kick */
	seep_kick_stop();
	cancel_delayed_work_sync(&clear_dwork);	/* it may have read the pointer of kick.c before */
	seep_kick_stop();
	while (flush_rcu_work(&free_rwork))	/* nothing is left that queues it but itself */
		;
	destroy_workqueue(wq);
	seep_sample_exit();
}
