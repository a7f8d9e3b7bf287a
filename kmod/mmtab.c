// SPDX-License-Identifier: GPL-2.0
/*
 * The table: mm -> record.
 *
 * A record is made when its mm is forked or first faults, in a hook, from the pool,
 * and holds the mm with mmgrab(): the address cannot come to mean another
 * process. When nobody uses the mm any more the worker buries the record: out
 * of the table, out of every CPU's cache, and after a grace period back into
 * the pool.
 *
 * tab.lock is a raw spinlock that is taken for births and deaths only, with
 * interrupts off. Lookups take no lock. Walkers hold seep_table_mutex, without
 * which no record dies.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "seep.h"
#include "trace.h"

#define HASH_BITS	13

/* Keeps records alive: the worker and readers. Taken before tab.lock. */
DEFINE_MUTEX(seep_table_mutex);

LIST_HEAD(seep_tab_all);

static struct {
	raw_spinlock_t lock;
	struct hlist_head *bucket;	/* lock to change, RCU to walk */
	u32 live;			/* lock; read without it for display */
	u64 last_id;			/* lock */
} tab = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(tab.lock),
};

static struct hlist_head *bucket_of(const struct mm_struct *mm)
{
	return &tab.bucket[hash_ptr((void *)mm, HASH_BITS)];
}

/**
 * seep_tab_find() - the record of a mm
 * @mm: compared only, never looked into
 *
 * Context: rcu_read_lock(). The record stays as long as the mm is in use, or
 * seep_table_mutex is held.
 */
struct seep_rec *seep_tab_find(const struct mm_struct *mm)
{
	struct seep_rec *rec;

	hlist_for_each_entry_rcu(rec, bucket_of(mm), hash)
		if (rec->mm == mm)
			return rec;
	return NULL;
}

static void identify(struct seep_rec *rec, struct mm_struct *mm, struct task_struct *owner)
{
	struct task_struct *leader = READ_ONCE(owner->group_leader);

	mmgrab(mm);
	rec->mm = mm;
	/* of a parent that was reaped meanwhile there is none */
	rec->pid = get_pid(task_tgid(owner)) ?: get_pid(task_tgid(current));
	rec->seen_ns = ktime_get_mono_fast_ns();
	rec->born_ns = leader->start_time;
	/* comm may be changing; its last byte is NUL at any time */
	data_race(memcpy(rec->comm, leader->comm, sizeof(rec->comm)));
	rec->comm[sizeof(rec->comm) - 1] = '\0';
}

/* A mm goes without a record; the worker will come back to it. */
static void refuse(u32 max)
{
	if (READ_ONCE(tab.live) >= max) {
		seep_count(TABLE_FULL);
		seep_hook_life_full();
	} else {
		seep_count(POOL_EMPTY);
		seep_tick_kick();
	}
	seep_owner_missed();
}

/* The pool runs low, but not because the table is all but full. */
static bool needs_refill(u32 max)
{
	u32 live = READ_ONCE(tab.live);

	return live < max && (seep_pool_left() < min(SEEP_POOL_MIN / 2, max - live) ||
			      seep_pmu_short());
}

/**
 * seep_tab_birth() - a record for a mm, or the one it has
 * @mm: in use
 * @owner: runs in it, or will
 *
 * Context: RCU; any lock held, not NMI.
 * Return: NULL when the table is full or the pool is empty; both are counted.
 */
struct seep_rec *seep_tab_birth(struct mm_struct *mm, struct task_struct *owner)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	struct seep_rec *rec;
	unsigned long flags;
	bool born = false;

	/*
	 * No room: said without the lock, which every fault of every untracked
	 * mm would otherwise fight for.
	 */
	if (seep_disabled())
		return NULL;
	if (READ_ONCE(tab.live) >= max || !seep_pool_left()) {
		refuse(max);
		return NULL;
	}
	seep_lock(&tab.lock, flags);
	rec = seep_tab_find(mm);	/* another thread of it may have been faster */
	if (rec)
		goto unlock;
	if (tab.live < max)
		rec = seep_pool_take();
	if (!rec)
		goto unlock;
	identify(rec, mm, owner);
	rec->id = ++tab.last_id;
	rec->pmu = seep_pmu_take();
	WRITE_ONCE(tab.live, tab.live + 1);
	list_add_tail_rcu(&rec->all, &seep_tab_all);
	hlist_add_head_rcu(&rec->hash, bucket_of(mm));
	seep_count(BIRTHS);
	born = true;
unlock:
	seep_unlock(&tab.lock, flags);
	if (!rec)
		refuse(max);
	else if (born)
		trace_seepage_birth(rec);
	if (needs_refill(max))
		seep_tick_kick();
	return rec;
}

/**
 * seep_tab_get() - the record of the mm that current runs in, made if need be
 * @mm: current->mm
 *
 * Context: interrupts off, any lock held, not NMI.
 * Return: NULL when the table is full or the pool is empty; both are counted.
 */
struct seep_rec *seep_tab_get(struct mm_struct *mm)
{
	struct seep_rec *rec;

	rcu_read_lock();
	rec = seep_tab_find(mm);
	if (!rec && current->flags & PF_KTHREAD)
		seep_owner_missed();	/* a guest in somebody's mm, no owner */
	else if (!rec)
		rec = seep_tab_birth(mm, seep_owner_of(current, mm));
	rcu_read_unlock();
	return rec;
}

/* current has a new program, and with it a new mm. Context: preemption off. */
void __cold seep_tab_exec(void)
{
	struct seep_rec *rec;
	unsigned long flags;

	local_irq_save(flags);
	rec = seep_tab_get(current->mm);
	if (rec)
		WRITE_ONCE(rec->born_ns, ktime_get_mono_fast_ns());
	seep_pmu_exec(rec);
	local_irq_restore(flags);
}

static bool is_dead(const struct seep_rec *rec)
{
	return READ_ONCE(rec->dead);
}

static void __cold unpublish(struct seep_rec *rec, struct list_head *graves)
{
	unsigned long flags;

	seep_lock(&tab.lock, flags);
	WRITE_ONCE(rec->dead, true);
	hlist_del_rcu(&rec->hash);
	list_del_rcu(&rec->all);
	WRITE_ONCE(tab.live, tab.live - 1);
	seep_unlock(&tab.lock, flags);
	list_move_tail(&rec->hot, graves);
}

/**
 * seep_tab_bury() - take the records of the dead out of the table
 * @graves: they are linked here by @hot, their fault counts complete
 *
 * Once mm_users is 0 no task runs in the mm, so no CPU can start to count for
 * it; the caches that still hold it are emptied.
 *
 * Context: process, seep_table_mutex.
 */
void __cold seep_tab_bury(struct list_head *graves)
{
	struct seep_rec *rec;
	u32 n = 0;

	seep_for_each_rec(rec) {
		if (seep_rec_gone(rec))
			unpublish(rec, graves);
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
	if (list_empty(graves))
		return;
	seep_account_fold(is_dead);
	seep_pmu_leave(is_dead);
	list_for_each_entry(rec, graves, hot)
		seep_pmu_bury(rec);
}

/**
 * seep_tab_free() - give the buried records back
 * @graves: from seep_tab_bury(), empty on return
 *
 * Context: process; not seep_table_mutex (waits for a grace period).
 */
void __cold seep_tab_free(struct list_head *graves)
{
	struct seep_rec *rec, *n;

	if (list_empty(graves))
		return;
	synchronize_rcu();	/* lookups of other mms may stand on these */
	/* a kernel thread that borrows a mm may have found its record late */
	mutex_lock(&seep_table_mutex);
	seep_account_fold(is_dead);
	mutex_unlock(&seep_table_mutex);
	list_for_each_entry_safe(rec, n, graves, hot) {
		seep_count(DEATHS);
		mmdrop(rec->mm);
		put_pid(rec->pid);
		seep_pool_give(rec);
		cond_resched();
	}
	INIT_LIST_HEAD(graves);
}

/* Records in the table, those of the dead that wait for their burial too. */
u32 seep_tab_count(void)
{
	return READ_ONCE(tab.live);
}

bool seep_tab_full(void)
{
	return READ_ONCE(tab.live) >= seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
}

/* Takes seep_table_mutex itself. */
u32 seep_tab_count_alive(void)
{
	struct seep_rec *rec;
	u32 n = 0;

	mutex_lock(&seep_table_mutex);
	seep_for_each_rec(rec) {
		n += !seep_rec_gone(rec);
		cond_resched();
	}
	mutex_unlock(&seep_table_mutex);
	return n;
}

u64 seep_tab_bytes(void)
{
	return seep_pool_bytes() + (sizeof(struct hlist_head) << HASH_BITS);
}

int __init seep_tab_init(void)
{
	tab.bucket = kvcalloc(1U << HASH_BITS, sizeof(*tab.bucket), GFP_KERNEL);
	if (!tab.bucket)
		return -ENOMEM;
	seep_owner_missed();	/* so far nobody has a record */
	return 0;
}

/* After the hooks and the worker have stopped. */
void __cold seep_tab_exit(void)
{
	struct seep_rec *rec;
	LIST_HEAD(graves);

	mutex_lock(&seep_table_mutex);
	seep_account_fold(NULL);
	seep_for_each_rec(rec)
		unpublish(rec, &graves);
	mutex_unlock(&seep_table_mutex);
	seep_tab_free(&graves);
	kvfree(tab.bucket);
}
