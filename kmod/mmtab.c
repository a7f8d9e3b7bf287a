// SPDX-License-Identifier: GPL-2.0
/*
 * The table: mm -> record.
 *
 * A record is made at the first fault of its mm, in the hook, from a pool that
 * the worker keeps filled, and holds the mm with mmgrab(): the address cannot
 * come to mean another process. When nobody uses the mm any more the worker
 * buries the record: out of the table, out of every CPU's cache, and after a
 * grace period back into the pool.
 *
 * tab.lock is a raw spinlock that is taken for births and deaths only, with
 * interrupts off, innermost. Lookups take no lock. Walkers hold
 * seep_table_mutex, without which no record dies.
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
#define POOL_MIN	64

/* Keeps records alive: the worker and readers. Taken before tab.lock. */
DEFINE_MUTEX(seep_table_mutex);

LIST_HEAD(seep_tab_all);

static struct {
	raw_spinlock_t lock;
	struct hlist_head *bucket;	/* lock to change, RCU to walk */
	struct list_head pool;		/* lock */
	u32 pooled;			/* lock; read without it as a hint */
	u32 live;			/* lock; read without it for display */
	u64 last_id;			/* lock */
	struct kmem_cache *cache;
	u32 allocated;			/* lock; read without it for display */
	bool missed;			/* some mm found no record; adopt it later */
} tab = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(tab.lock),
	.pool = LIST_HEAD_INIT(tab.pool),
};

#define lock_table(flags) do {						\
	local_irq_save(flags);						\
	seep_busy_begin();						\
	raw_spin_lock(&tab.lock);					\
} while (0)

#define unlock_table(flags) do {					\
	raw_spin_unlock(&tab.lock);					\
	seep_busy_end();						\
	local_irq_restore(flags);					\
} while (0)

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

/*
 * Whose mm this is. A vfork child still runs in its parent's.
 * Context: RCU.
 */
static struct task_struct *owner_of(struct task_struct *t, const struct mm_struct *mm)
{
	struct task_struct *parent;
	int depth;

	for (depth = 0; depth < 8 && READ_ONCE(t->vfork_done); depth++) {
		parent = rcu_dereference(t->real_parent);
		if (READ_ONCE(parent->mm) != mm)
			break;
		t = parent;
	}
	return t;
}

static struct seep_rec *pool_get(void)
{
	struct seep_rec *rec = list_first_entry_or_null(&tab.pool, struct seep_rec, all);

	if (rec) {
		list_del(&rec->all);
		WRITE_ONCE(tab.pooled, tab.pooled - 1);
	}
	return rec;
}

static void identify(struct seep_rec *rec, struct mm_struct *mm, struct task_struct *owner)
{
	struct task_struct *leader = READ_ONCE(owner->group_leader);

	mmgrab(mm);
	rec->mm = mm;
	rec->pid = get_pid(task_tgid(owner));
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
	} else {
		seep_count(POOL_EMPTY);
		seep_sample_kick();
	}
	if (!READ_ONCE(tab.missed))
		WRITE_ONCE(tab.missed, true);
}

/* A record for mm, which owner runs in; RCU, and mm in use. */
static struct seep_rec *birth(struct mm_struct *mm, struct task_struct *owner)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES), left;
	struct seep_rec *rec;
	unsigned long flags;
	bool born = false;

	/*
	 * No room: said without the lock, which every fault of every untracked
	 * mm would otherwise fight for.
	 */
	if (READ_ONCE(tab.live) >= max || !READ_ONCE(tab.pooled)) {
		refuse(max);
		return NULL;
	}
	lock_table(flags);
	rec = seep_tab_find(mm);	/* another thread of it may have been faster */
	if (rec)
		goto unlock;
	if (tab.live < max)
		rec = pool_get();
	if (!rec)
		goto unlock;
	identify(rec, mm, owner);
	rec->id = ++tab.last_id;
	WRITE_ONCE(tab.live, tab.live + 1);
	list_add_tail_rcu(&rec->all, &seep_tab_all);
	hlist_add_head_rcu(&rec->hash, bucket_of(mm));
	seep_count(BIRTHS);
	born = true;
unlock:
	left = tab.pooled;
	unlock_table(flags);
	if (!rec)
		refuse(max);
	else if (born)
		trace_seepage_birth(rec);
	if (left < POOL_MIN / 2 && READ_ONCE(tab.live) < max)
		seep_sample_kick();
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
		WRITE_ONCE(tab.missed, true);	/* a guest in somebody's mm, no owner */
	else if (!rec)
		rec = birth(mm, owner_of(current, mm));
	rcu_read_unlock();
	return rec;
}

/* current has a new program, and with it a new mm. Context: preemption off. */
void seep_tab_exec(void)
{
	struct seep_rec *rec;
	unsigned long flags;

	local_irq_save(flags);
	rec = seep_tab_get(current->mm);
	if (rec)
		WRITE_ONCE(rec->born_ns, ktime_get_mono_fast_ns());
	local_irq_restore(flags);
}

/*
 * Does @visit to the first thread of a process that runs in a mm of its own,
 * which stays its mm meanwhile. Context: RCU; @visit under task_lock().
 */
static void visit_user_thread(struct task_struct *process,
			      void (*visit)(struct task_struct *t, void *arg), void *arg)
{
	struct task_struct *t;
	bool found;

	for_each_thread(process, t) {
		task_lock(t);
		found = t->mm && !(t->flags & PF_KTHREAD) && !READ_ONCE(t->vfork_done);
		if (found)
			visit(t, arg);
		task_unlock(t);
		if (found)
			return;
	}
}

static u32 pool_target(void)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	u32 live = READ_ONCE(tab.live), want = POOL_MIN + live / 8;

	return live >= max ? 0 : min(want, max - live);
}

static void pool_put(struct seep_rec *rec, bool new)
{
	unsigned long flags;

	INIT_LIST_HEAD(&rec->hot);
	lock_table(flags);
	list_add(&rec->all, &tab.pool);
	WRITE_ONCE(tab.pooled, tab.pooled + 1);
	tab.allocated += new;
	unlock_table(flags);
}

/* This many in the pool, as far as max_processes allows. */
static void fill(u32 target)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	struct seep_rec *rec;

	while (READ_ONCE(tab.pooled) < target &&
	       READ_ONCE(tab.live) + READ_ONCE(tab.pooled) < max) {
		rec = kmem_cache_zalloc(tab.cache, GFP_KERNEL);
		if (!rec) {
			seep_count(ALLOC_FAILED);
			return;		/* the next tick tries again */
		}
		pool_put(rec, true);
		cond_resched();
	}
}

/* Context: process, may sleep. */
void seep_tab_refill(void)
{
	fill(pool_target());
}

static void adopt_thread(struct task_struct *t, void *arg)
{
	u32 *missing = arg;

	if (!seep_tab_find(t->mm) && (!READ_ONCE(tab.pooled) || !birth(t->mm, t)))
		++*missing;
}

/* One walk over all processes; how many are still without a record. */
static u32 adopt(void)
{
	struct task_struct *p;
	u32 missing = 0;

	rcu_read_lock();
	for_each_process(p)
		visit_user_thread(p, adopt_thread, &missing);
	rcu_read_unlock();
	return missing;
}

/**
 * seep_tab_adopt_all() - records for processes that found none
 *
 * At load that is every process; later those that came while the table was
 * full or the pool empty. A walk cannot allocate, so walks and refills take
 * turns until nobody is left, or no record is to be had.
 */
void seep_tab_adopt_all(void)
{
	u32 missing = ~0U, last;

	if (!READ_ONCE(tab.missed))
		return;
	do {
		last = missing;
		WRITE_ONCE(tab.missed, false);
		missing = adopt();
		if (missing)
			fill(missing + pool_target());
		cond_resched();
	} while (missing && missing < last);	/* as long as it helps */
	if (missing)
		WRITE_ONCE(tab.missed, true);
}

static bool has_owner(const struct seep_rec *rec)
{
	struct task_struct *p;
	struct mm_struct *mm;

	p = pid_task(rec->pid, PIDTYPE_TGID);
	if (!p || p->flags & PF_KTHREAD)
		return false;
	mm = READ_ONCE(p->mm);
	return !mm || mm == rec->mm;	/* NULL: the first thread has left, others go on */
}

struct heir {
	const struct mm_struct *mm;
	struct pid *pid;
};

static void take_heir(struct task_struct *t, void *arg)
{
	struct heir *heir = arg;

	if (t->mm == heir->mm)
		heir->pid = get_pid(task_tgid(t));
}

/**
 * seep_tab_owner_lost() - the process that @rec is known by left its mm
 * @rec: of a mm that is in use
 *
 * Processes may share a mm without being threads (clone(CLONE_VM)); when the
 * one that came first is gone, another one gives the record its pid.
 *
 * Context: process, seep_table_mutex.
 * Return: true when the record has a new pid.
 */
bool seep_tab_owner_lost(struct seep_rec *rec)
{
	struct heir heir = { .mm = rec->mm };
	struct task_struct *p;
	struct pid *old;

	rcu_read_lock();
	if (!has_owner(rec)) {
		for_each_process(p) {
			visit_user_thread(p, take_heir, &heir);
			if (heir.pid)
				break;
		}
	}
	rcu_read_unlock();
	if (!heir.pid)
		return false;
	old = rec->pid;
	rec->pid = heir.pid;
	put_pid(old);
	return true;
}

/**
 * seep_tab_next() - the next record of a walk in parts
 * @c: zero before the first call
 *
 * Births and deaths between two calls neither repeat nor hide a record: the
 * order is that of the buckets, and inside a bucket of the ids.
 */
struct seep_rec *seep_tab_next(struct seep_cursor *c)
{
	struct seep_rec *rec, *next = NULL;

	lockdep_assert_held(&seep_table_mutex);
	rcu_read_lock();
	for (; c->bucket < 1U << HASH_BITS; c->bucket++, c->id = 0) {
		hlist_for_each_entry_rcu(rec, &tab.bucket[c->bucket], hash)
			if (rec->id > c->id && (!next || rec->id < next->id))
				next = rec;
		if (next) {
			c->id = next->id;
			break;
		}
	}
	rcu_read_unlock();
	return next;
}

static bool is_dead(const struct seep_rec *rec)
{
	return READ_ONCE(rec->dead);
}

static void unpublish(struct seep_rec *rec, struct list_head *graves)
{
	unsigned long flags;

	lock_table(flags);
	WRITE_ONCE(rec->dead, true);
	hlist_del_rcu(&rec->hash);
	list_del_rcu(&rec->all);
	WRITE_ONCE(tab.live, tab.live - 1);
	unlock_table(flags);
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
void seep_tab_bury(struct list_head *graves)
{
	struct seep_rec *rec;

	seep_for_each_rec(rec)
		if (seep_rec_gone(rec))
			unpublish(rec, graves);
	if (!list_empty(graves))
		seep_account_fold(is_dead);
}

static void release(struct seep_rec *rec)
{
	unsigned long flags;

	kmem_cache_free(tab.cache, rec);
	lock_table(flags);
	tab.allocated--;
	unlock_table(flags);
}

/**
 * seep_tab_free() - give the buried records back
 * @graves: from seep_tab_bury(), empty on return
 *
 * Context: process; not seep_table_mutex (waits for a grace period).
 */
void seep_tab_free(struct list_head *graves)
{
	u32 target = pool_target();
	struct seep_rec *rec, *n;

	if (list_empty(graves))
		return;
	synchronize_rcu();	/* lookups of other mms may stand on these */
	list_for_each_entry_safe(rec, n, graves, hot) {
		seep_count(DEATHS);
		mmdrop(rec->mm);
		put_pid(rec->pid);
		if (READ_ONCE(tab.pooled) < target) {
			memset(rec, 0, sizeof(*rec));
			pool_put(rec, false);
		} else {
			release(rec);
		}
		cond_resched();
	}
	INIT_LIST_HEAD(graves);
}

u32 seep_tab_count(void)
{
	return READ_ONCE(tab.live);
}

u64 seep_tab_bytes(void)
{
	/* for display: one reading is as good as the next */
	return (u64)data_race(tab.allocated) * sizeof(struct seep_rec) +
	       (sizeof(struct hlist_head) << HASH_BITS);
}

int __init seep_tab_init(void)
{
	tab.bucket = kvcalloc(1U << HASH_BITS, sizeof(*tab.bucket), GFP_KERNEL);
	if (!tab.bucket)
		return -ENOMEM;
	tab.cache = KMEM_CACHE(seep_rec, 0);
	if (!tab.cache) {
		kvfree(tab.bucket);
		return -ENOMEM;
	}
	WRITE_ONCE(tab.missed, true);	/* so far nobody has a record */
	seep_tab_refill();
	return 0;
}

/* After the hooks and the worker have stopped. */
void seep_tab_exit(void)
{
	struct seep_rec *rec, *n;
	LIST_HEAD(graves);

	mutex_lock(&seep_table_mutex);
	seep_account_fold(NULL);
	seep_for_each_rec(rec)
		unpublish(rec, &graves);
	mutex_unlock(&seep_table_mutex);
	seep_tab_free(&graves);
	list_for_each_entry_safe(rec, n, &tab.pool, all)
		release(rec);
	WARN_ON(tab.allocated);
	kmem_cache_destroy(tab.cache);
	kvfree(tab.bucket);
}
