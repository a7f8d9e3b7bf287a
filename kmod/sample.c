// SPDX-License-Identifier: GPL-2.0
/*
 * The periodic reading: one delayed work, top to bottom the algorithm.
 *
 * A full pass reads every record at sample_interval_ms; between two of them a
 * short pass reads those under suspicion at suspect_interval_ms. A pass that
 * costs more than max_cpu_permille of a CPU lengthens the interval, and says
 * so, rather than take more.
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>
#include <linux/workqueue.h>
#include "seep.h"
#include "trace.h"

#define FAULT_AROUND_BYTES	65536	/* the kernel's default; not readable for modules */

#define STRETCH_MAX		10	/* times the interval, at most */
#define OWNER_EVERY		32	/* full passes */
#define RESCHED_EVERY		16	/* records */

static struct workqueue_struct *wq;
static bool running;			/* works may be queued; start and stop */

static struct {				/* seep_table_mutex */
	u64 next_full_ns;
	u64 now_ns;			/* of the pass: one clock reading serves all */
	u64 hot_gap_ns;			/* between two short passes, at least */
	u64 room;			/* bytes of memory and swap still to be had */
	/* of the record at hand; on the stack the compiler would clear them each time */
	struct seep_sample sample;
	u64 rw[2];
	struct seep_verdict verdict;
	struct seep_sample_stats stats;
} tick;

static LIST_HEAD(hot);			/* seep_table_mutex */

static void tick_work(struct work_struct *w);
static void clear_work(struct work_struct *w);
static DECLARE_DELAYED_WORK(tick_dwork, tick_work);
static DECLARE_DELAYED_WORK(clear_dwork, clear_work);

/* ---- reading one record ---- */

/* Of the faults since the last sample, those that were anonymous. */
static noinline u64 classify(const struct seep_rec *rec, const struct seep_sample *s,
			     const u64 rw[2])
{
	struct seep_fault_delta f = {
		.access_known = seep_hook->access_known,
		.around = max_t(u32, FAULT_AROUND_BYTES >> PAGE_SHIFT, 1),
		.reads = rw[0] - rec->faults_rw[0],
		.writes = rw[1] - rec->faults_rw[1],
		.anon = (s64)(s->anon + s->swap - rec->last.anon - rec->last.swap) >> PAGE_SHIFT,
		.file = (s64)(s->file - rec->last.file) >> PAGE_SHIFT,
		.shmem = (s64)(s->shmem - rec->last.shmem) >> PAGE_SHIFT,
	};

	return seep_classify_anon(&f);
}

static void read_faults(const struct seep_rec *rec, struct seep_sample *s, u64 rw[2])
{
	rw[0] = atomic64_read(&rec->faults[0]) + atomic64_read(&rec->faults[SEEP_F_KERNEL]);
	rw[1] = atomic64_read(&rec->faults[SEEP_F_WRITE]) +
		atomic64_read(&rec->faults[SEEP_F_KERNEL | SEEP_F_WRITE]);
	s->faults = rw[0] + rw[1];
	s->faults_anon = rec->last.faults_anon;
	if (s->faults != rec->last.faults)
		s->faults_anon += classify(rec, s, rw);
}

static u64 counter_bytes(struct mm_struct *mm, int member)
{
	return (u64)get_mm_counter(mm, member) << PAGE_SHIFT;
}

/*
 * What this process can still take: what the machine has left, or what a limit
 * of its own leaves, whichever is less. Its own limits matter only while it
 * grows, and are read only then.
 */
static noinline u64 headroom(const struct seep_rec *rec, const struct seep_sample *s)
{
	u64 room = tick.room, limit;
	struct task_struct *p;

	rcu_read_lock();
	p = pid_task(rec->pid, PIDTYPE_TGID);
	if (p) {
		limit = READ_ONCE(p->signal->rlim[RLIMIT_AS].rlim_cur);
		if (limit != RLIM_INFINITY)
			room = min(room, limit > s->vsz ? limit - s->vsz : 0);
		limit = READ_ONCE(p->signal->rlim[RLIMIT_DATA].rlim_cur);
		if (limit != RLIM_INFINITY)
			room = min(room, limit > s->anon ? limit - s->anon : 0);
	}
	rcu_read_unlock();
	return room;
}

static __always_inline void read_figures(struct seep_rec *rec, struct seep_sample *s,
					 u64 rw[2])
{
	struct mm_struct *mm = rec->mm;

	s->age_ns = s->time_ns - min(READ_ONCE(rec->born_ns), s->time_ns);
	s->anon = counter_bytes(mm, MM_ANONPAGES);
	s->file = counter_bytes(mm, MM_FILEPAGES);
	s->shmem = counter_bytes(mm, MM_SHMEMPAGES);
	s->swap = counter_bytes(mm, MM_SWAPENTS);
	s->vsz = (u64)READ_ONCE(mm->total_vm) << PAGE_SHIFT;
	s->error = min_t(u64, (u64)seep_mm_counter_error(mm) << PAGE_SHIFT, U32_MAX);
	s->page_shift = PAGE_SHIFT;
	s->full = false;
	read_faults(rec, s, rw);
	s->headroom = tick.room;
	if (s->anon + s->swap != rec->last.anon + rec->last.swap)
		s->headroom = headroom(rec, s);
}

/**
 * seep_sample_read() - the figures of a record as they are now
 * @rec: may be live or gone; nothing of it changes
 * @s: time_ns is given, all else is written
 * @rw: read and write faults, of the same reading
 *
 * Context: process, seep_table_mutex; the mm counters need no lock.
 */
void seep_sample_read(struct seep_rec *rec, struct seep_sample *s, u64 rw[2])
{
	read_figures(rec, s, rw);
}

/* ---- one pass ---- */

static bool suspicious(u8 state)
{
	return state >= SEEPAGE_STATE_WATCH && state <= SEEPAGE_STATE_RUNAWAY;
}

/* What an old process had before its faults were counted is not their gain. */
static void first_look(struct seep_rec *rec)
{
	struct seep_sample s;
	u64 rw[2];

	seep_det_init(&rec->det, rec->seen_ns);
	if (rec->seen_ns - min(rec->born_ns, rec->seen_ns) > NSEC_PER_SEC) {
		s.time_ns = max(tick.now_ns, rec->seen_ns);
		seep_sample_read(rec, &s, rw);
		rec->last.anon = s.anon;
		rec->last.file = s.file;
		rec->last.shmem = s.shmem;
		rec->last.swap = s.swap;
	}
	rec->ready = true;
}

static bool changed(const struct seep_sample *a, const struct seep_sample *b)
{
	return a->faults != b->faults || a->anon != b->anon || a->file != b->file ||
	       a->shmem != b->shmem || a->swap != b->swap || a->vsz != b->vsz;
}

/* The last sample is now @s; most often only what lies around it has changed. */
static void keep(struct seep_rec *rec, const struct seep_sample *s, bool news)
{
	if (news) {
		memcpy(rec->faults_rw, tick.rw, sizeof(rec->faults_rw));
		rec->last = *s;
		return;
	}
	rec->last.time_ns = s->time_ns;
	rec->last.age_ns = s->age_ns;
	rec->last.headroom = s->headroom;
	rec->last.error = s->error;
	rec->last.page_shift = s->page_shift;
	rec->last.full = s->full;
}

/*
 * Looked for when the process is gone or when somebody has left the mm since
 * the last sample; also now and then, as one may have left and another come.
 */
static void check_owner(struct seep_rec *rec)
{
	int users = atomic_read(&rec->mm->mm_users);

	if (users == rec->users && !hlist_empty(&rec->pid->tasks[PIDTYPE_TGID]) &&
	    (tick.stats.ticks + rec->id) % OWNER_EVERY)
		return;
	rec->users = users;
	if (seep_owner_lost(rec))
		trace_seepage_owner(rec);
}

static void sample_one(struct seep_rec *rec, const struct seep_conf *c, bool full)
{
	struct seep_sample *s = &tick.sample;
	struct seep_verdict *v = &tick.verdict;
	u8 prev = rec->det.state;
	bool news;

	if (!rec->ready)
		first_look(rec);
	s->time_ns = max(tick.now_ns, rec->seen_ns);	/* born during this pass */
	read_figures(rec, s, tick.rw);
	smp_rmb();	/* the figures before mm_users: they are not those of its end */
	if (seep_rec_gone(rec))
		return;
	if (full)
		check_owner(rec);
	s->full = full;
	news = changed(s, &rec->last);
	keep(rec, s, news);
	seep_count(SAMPLES);

	seep_det_feed(&rec->det, s, c, v);
	trace_seepage_sample(rec, v);
	if (v->state != prev)
		seep_alert_state(rec, prev, v);
	else if (rec->pending)
		seep_alert_retry(rec);
	if (suspicious(v->state) && list_empty(&rec->hot))
		list_add_tail(&rec->hot, &hot);
	else if (!suspicious(v->state) && !list_empty(&rec->hot))
		list_del_init(&rec->hot);
	if (news)
		seep_netlink_sample(rec);
}

static void read_room(void)
{
	long pages = max(si_mem_available(), 0L) + max(get_nr_swap_pages(), 0L);

	tick.room = (u64)pages << PAGE_SHIFT;
}

static bool is_hot(const struct seep_rec *rec)
{
	return !list_empty(&rec->hot);
}

static void full_pass(const struct seep_conf *c)
{
	struct seep_rec *rec;
	u32 n = 0;

	seep_owner_adopt_all();
	seep_account_fold(NULL);
	tick.now_ns = ktime_get_ns();	/* not before anyone was adopted */
	seep_for_each_rec(rec) {
		sample_one(rec, c, true);
		if (!(++n % RESCHED_EVERY))
			cond_resched();
	}
}

static void hot_pass(const struct seep_conf *c)
{
	struct seep_rec *rec, *n;

	seep_account_fold(is_hot);
	list_for_each_entry_safe(rec, n, &hot, hot)
		sample_one(rec, c, false);
}

/* The dead leave first: their records may be needed for the living. */
static void bury_the_dead(struct list_head *graves)
{
	struct seep_rec *rec;

	seep_tab_bury(graves);
	list_for_each_entry(rec, graves, hot) {
		trace_seepage_exit(rec);
		seep_alert_exited(rec);
	}
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

	bury_the_dead(graves);
	seep_pool_refill(0);
	cost_begin(&k);
	tick.now_ns = ktime_get_ns();
	read_room();
	if (full)
		full_pass(c);
	else
		hot_pass(c);
	cost = cost_end(&k);
	trace_seepage_tick(full, seep_tab_count(), cost);
	if (!full) {
		interval = (u64)c->v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] * NSEC_PER_MSEC;
		tick.hot_gap_ns = stretch(interval, cost, c);
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
	if (!list_empty(&hot))
		wait = min(wait, max(tick.hot_gap_ns,
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
	seep_pool_refill(0);
	mutex_unlock(&seep_table_mutex);
}

/* ---- starting, stopping, hurrying ---- */

static void kick_irq(struct irq_work *w)
{
	if (READ_ONCE(running))
		queue_delayed_work(wq, &clear_dwork, 1);
}

static struct irq_work kick;

/**
 * seep_sample_kick() - clear away the dead and refill the pool soon
 *
 * Context: any; not NMI.
 */
void seep_sample_kick(void)
{
	irq_work_queue(&kick);
}

/* The configuration changed: the next pass is due by the new interval. */
void seep_sample_reschedule(void)
{
	u64 due;

	if (!READ_ONCE(running))
		return;
	due = ktime_get_ns() +
	      (u64)seep_config_value(SEEPAGE_CFG_SAMPLE_INTERVAL_MS) * NSEC_PER_MSEC;
	mutex_lock(&seep_table_mutex);
	tick.next_full_ns = min(tick.next_full_ns, due);
	tick.hot_gap_ns = 0;
	mutex_unlock(&seep_table_mutex);
	mod_delayed_work(wq, &tick_dwork, 0);
}

static void forget(struct seep_rec *rec)
{
	if (!rec->ready)
		return;
	seep_det_init(&rec->det, ktime_get_ns());
	/* the window counts from now on; its RSS comes with the next sample */
	rec->det.window[0].faults = (u32)rec->last.faults;
	rec->alerted = SEEPAGE_STATE_OK;
	rec->alerted_ns = 0;
	rec->pending = SEEPAGE_STATE_OK;
	list_del_init(&rec->hot);
}

/**
 * seep_sample_reset() - forget what was learned, as if just loaded
 * @only: of this record alone; NULL: of all
 *
 * Context: process, seep_table_mutex.
 */
void seep_sample_reset(struct seep_rec *only)
{
	struct seep_rec *rec;

	if (only) {
		forget(only);
		return;
	}
	seep_for_each_rec(rec)
		forget(rec);
}

void seep_sample_get_stats(struct seep_sample_stats *st)
{
	mutex_lock(&seep_table_mutex);
	*st = tick.stats;
	mutex_unlock(&seep_table_mutex);
}

void seep_sample_reset_stats(void)
{
	mutex_lock(&seep_table_mutex);
	tick.stats.cost_ns = 0;
	tick.stats.cost_max_ns = 0;
	mutex_unlock(&seep_table_mutex);
}

int __init seep_sample_init(void)
{
	init_irq_work(&kick, kick_irq);
	/* one work at a time; frozen over suspend, when devices are down */
	wq = alloc_ordered_workqueue("seepage", WQ_FREEZABLE);
	if (!wq)
		return -ENOMEM;
	tick.stats.interval_ms = seep_config_value(SEEPAGE_CFG_SAMPLE_INTERVAL_MS);
	return 0;
}

void seep_sample_start(void)
{
	WRITE_ONCE(running, true);
	queue_delayed_work(wq, &tick_dwork, 0);
}

/* After the hooks have stopped; also when start was never reached. */
void seep_sample_stop(void)
{
	WRITE_ONCE(running, false);
	cancel_delayed_work_sync(&tick_dwork);	/* may still kick */
	irq_work_sync(&kick);
	cancel_delayed_work_sync(&clear_dwork);
	destroy_workqueue(wq);
}
