// SPDX-License-Identifier: GPL-2.0
/*
 * When there is something to do: one delayed work for the passes, one for
 * clearing away the dead between two of them.
 *
 * A full pass is due every sample_interval_ms; while somebody is under
 * suspicion a short one comes every suspect_interval_ms. A pass that costs more
 * than max_cpu_permille of a CPU lengthens the interval, and says so, rather
 * than take more.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include "seep.h"
#include "trace.h"

#define STRETCH_MAX		10	/* times the interval, at most */

static struct workqueue_struct *wq;
static bool running;			/* works may be queued; start and stop */
static bool starved;			/* the pool could not be refilled last time */

static struct {				/* seep_table_mutex */
	u64 next_full_ns;
	u64 short_gap_ns;		/* between two short passes, at least */
	bool suspects;			/* short passes are needed */
	struct seep_tick_stats stats;
} tick;

static void tick_work(struct work_struct *w);
static void clear_work(struct work_struct *w);
static DECLARE_DELAYED_WORK(tick_dwork, tick_work);
static DECLARE_DELAYED_WORK(clear_dwork, clear_work);

/* The dead leave first: their records may be needed for the living. */
static void bury_the_dead(struct list_head *graves)
{
	struct seep_rec *rec;

	seep_tab_bury(graves);
	/* who takes the place of one of them begins with what it did */
	list_for_each_entry(rec, graves, hot)
		seep_group_learn(rec);
	if (!list_empty(graves))
		seep_sample_welcome();
	list_for_each_entry(rec, graves, hot) {
		trace_seepage_exit(rec);
		seep_alert_exited(rec);
		seep_group_leave(rec);
	}
	seep_series_gone(graves);
}

/*
 * When a pass costs more than its share, the next one comes later; but not so
 * late that nothing would be seen any more.
 */
static u64 stretch(u64 interval_ns, u64 cost_ns, const struct seep_conf *c)
{
	u64 least = div_u64(cost_ns * 1000, c->v[SEEPAGE_CFG_MAX_CPU_PERMILLE]);

	if (least <= interval_ns)
		return interval_ns;
	seep_count(TICKS_STRETCHED);
	return min(least, interval_ns * STRETCH_MAX);
}

struct cost {
	u64 wall, cpu;
};

static void cost_begin(struct cost *k)
{
	k->wall = ktime_get_ns();
	k->cpu = READ_ONCE(current->se.sum_exec_runtime);
}

/*
 * CPU time is what counts, not what others took of the CPU meanwhile; but the
 * scheduler brings it up to date only so often.
 */
static u64 cost_end(const struct cost *k)
{
	u64 cpu = READ_ONCE(current->se.sum_exec_runtime) - k->cpu + TICK_NSEC;

	return min(ktime_get_ns() - k->wall, cpu);
}

static void pass(bool full, const struct seep_conf *c, struct list_head *graves)
{
	u64 start = ktime_get_ns(), cost, interval, next;
	struct cost k;

	cost_begin(&k);
	bury_the_dead(graves);
	WRITE_ONCE(starved, !seep_pool_refill(0));
	tick.suspects = seep_sample_pass(full, c);
	cost = cost_end(&k);
	trace_seepage_tick(full, seep_tab_count(), cost);
	if (!full) {
		interval = (u64)c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] * NSEC_PER_MSEC;
		tick.short_gap_ns = stretch(interval, cost, c);
		return;
	}
	tick.stats.ticks++;
	tick.stats.cost_ns = cost;
	tick.stats.cost_max_ns = max(tick.stats.cost_max_ns, cost);
	interval = (u64)c->v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] * NSEC_PER_MSEC;
	next = stretch(interval, cost, c);
	tick.stats.stretched = next > interval;
	tick.stats.interval_ms = div_u64(next, NSEC_PER_MSEC);
	tick.next_full_ns = start + next;
}

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

	if (seep_disabled())
		return;
	seep_config_get(&c);
	mutex_lock(&seep_table_mutex);
	/* a jiffy early is not too early: the timer is no finer */
	pass(ktime_get_ns() + TICK_NSEC >= tick.next_full_ns, &c, &graves);
	delay = until_next(&c);
	mutex_unlock(&seep_table_mutex);
	seep_tab_free(&graves);
	if (READ_ONCE(running))
		queue_delayed_work(wq, &tick_dwork, delay);
}

/* Between two ticks: many have died, or the pool runs low. */
static void clear_work(struct work_struct *w)
{
	LIST_HEAD(graves);

	if (seep_disabled())
		return;
	mutex_lock(&seep_table_mutex);
	bury_the_dead(&graves);
	mutex_unlock(&seep_table_mutex);
	seep_tab_free(&graves);
	mutex_lock(&seep_table_mutex);
	WRITE_ONCE(starved, !seep_pool_refill(0));
	mutex_unlock(&seep_table_mutex);
}

/* ---- starting, stopping, hurrying ---- */

static void kick_irq(struct irq_work *w)
{
	seep_disabled_report();
	if (READ_ONCE(running))
		queue_delayed_work(wq, &clear_dwork, READ_ONCE(starved) ? HZ : 1);
}

static struct irq_work kick;

/**
 * seep_tick_kick() - clear away the dead and refill the pool soon
 *
 * While the pool is empty every fault of those without a record asks for it: where the
 * work waits already no interrupt is raised, and while there is no memory for records
 * it waits for a second.
 *
 * Context: any.
 * Return: false when no work is done any more, or not yet.
 */
bool seep_tick_kick(void)
{
	if (!READ_ONCE(running))
		return false;
	if (seep_disabled() || !delayed_work_pending(&clear_dwork))
		irq_work_queue(&kick);
	return true;
}

/* The configuration changed: the next pass is due by the new interval. */
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

void seep_tick_get_stats(struct seep_tick_stats *st)
{
	mutex_lock(&seep_table_mutex);
	*st = tick.stats;
	mutex_unlock(&seep_table_mutex);
}

void seep_tick_reset_stats(void)
{
	mutex_lock(&seep_table_mutex);
	tick.stats.cost_ns = 0;
	tick.stats.cost_max_ns = 0;
	mutex_unlock(&seep_table_mutex);
}

int __init seep_tick_init(void)
{
	init_irq_work(&kick, kick_irq);
	/* one work at a time; frozen over suspend, when devices are down */
	wq = alloc_ordered_workqueue("seepage", WQ_FREEZABLE);
	if (!wq)
		return -ENOMEM;
	tick.stats.interval_ms = seep_config_value(SEEPAGE_CFG_SAMPLE_INTERVAL_MS);
	return 0;
}

void seep_tick_start(void)
{
	WRITE_ONCE(running, true);
	queue_delayed_work(wq, &tick_dwork, 0);
}

/* After the hooks have stopped; also when start was never reached. */
void seep_tick_stop(void)
{
	WRITE_ONCE(running, false);
	cancel_delayed_work_sync(&tick_dwork);	/* may still kick */
	irq_work_sync(&kick);
	cancel_delayed_work_sync(&clear_dwork);	/* may kick as well, but queue nothing */
	irq_work_sync(&kick);
	destroy_workqueue(wq);
}
