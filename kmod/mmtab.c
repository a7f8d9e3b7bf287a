// SPDX-License-Identifier: GPL-2.0
/*
 * The table: mm -> record.
 *
 * A hook creates a record from the pool when a mm is forked or first faults. The record
 * holds the mm with mmgrab(), so the address cannot be reused for another process. When
 * no task uses the mm any more, the worker buries the record: it takes it out of the table
 * and out of the cache of every CPU, and after a grace period returns it to the pool.
 *
 * Locks: tab.lock is a raw spinlock with interrupts off, taken for births and burials.
 * Look-ups take no lock, they are under RCU. Walkers hold seep_table_mutex, which keeps
 * all records alive; it is taken before tab.lock.
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
#include "detect/room.h"
#include "seep.h"
#include "trace.h"

#define HASH_BITS	13

#define SPARE_MIN	64U		/* empty records to keep ahead of births */

/*
 * Deaths before the worker is kicked. A pass over the table must pay off, but few records
 * may wait dead. In a full table dead records keep out new ones, so fewer may wait; still
 * a large table is not walked for each of them.
 */
#define DEATHS_MIN	64U
static atomic_t deaths = ATOMIC_INIT(0);	/* since the dead were last buried */

/* Keeps all records alive: held by the worker and by readers. Taken before tab.lock. */
DEFINE_MUTEX(seep_table_mutex);

LIST_HEAD(seep_tab_all);	/* by age; lock and mutex as for seep_rec.all */

static struct {
	raw_spinlock_t lock;		/* interrupts off */
	struct hlist_head *bucket;	/* lock to change, RCU to walk */
	u32 live;			/* records; lock to change, read without as a hint */
	u64 last_id;			/* lock */
} tab = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(tab.lock),
};

bool seep_tab_refused;			/* there was no room for a process; READ_ONCE() */
u32 *seep_tab_shares;			/* records by share; lock to change, READ_ONCE() */
u32 seep_tab_changes;			/* tab.lock to change, smp_load_acquire() to read */

/* A process that was refused a record may get one now. Context: tab.lock. */
static void changed(void)
{
	/* The table first: pairs with smp_load_acquire() in get_new(). */
	smp_store_release(&seep_tab_changes, seep_tab_changes + 1);
}

static struct hlist_head *bucket_of(const struct mm_struct *mm)
{
	return &tab.bucket[hash_ptr((void *)mm, HASH_BITS)];
}

/**
 * seep_tab_find() - the record of a mm
 * @mm: compared, never dereferenced
 *
 * Context: rcu_read_lock() or interrupts off. The record stays while the mm is in use, or
 * while seep_table_mutex is held.
 * Return: NULL when there is none.
 */
struct seep_rec *seep_tab_find(const struct mm_struct *mm)
{
	struct seep_rec *rec;

	hlist_for_each_entry_rcu(rec, bucket_of(mm), hash)
		if (rec->mm == mm)
			return rec;
	return NULL;
}

/* Set mm, pid, times and comm of a new record. READ_ONCE(): de_thread() changes it. */
static void identify(struct seep_rec *rec, struct mm_struct *mm, struct task_struct *owner)
{
	struct task_struct *leader = READ_ONCE(owner->group_leader);

	mmgrab(mm);
	rec->mm = mm;
	/* NULL: the parent was reaped meanwhile */
	rec->pid = get_pid(task_tgid(owner)) ?: get_pid(task_tgid(current));
	rec->seen_ns = ktime_get_mono_fast_ns();
	rec->born_ns = leader->start_time;
	/* comm may be changing; its last byte is always NUL */
	data_race(memcpy(rec->comm, leader->comm, sizeof(rec->comm)));
	rec->comm[sizeof(rec->comm) - 1] = '\0';
}

/* Kick the worker if enough records are dead. */
static void clear_after(u32 dead)
{
	u32 live = seep_tab_count();

	if (!dead || dead < (seep_tab_full() ? live / 64 : max(DEATHS_MIN, live / 8)))
		return;
	seep_kick();
}

/**
 * seep_tab_death() - a process has left its mm for good
 *
 * Context: any but NMI.
 */
void seep_tab_death(void)
{
	clear_after(atomic_inc_return(&deaths));
}

/* Why a process of @charged gets no record: SEEPAGE_COUNTER_*; 0: it gets one. */
static u8 refusal(kuid_t charged, u32 max)
{
	if (READ_ONCE(tab.live) >= max)
		return SEEPAGE_COUNTER_TABLE_FULL;
	if (!seep_tab_room(charged, max))
		return SEEPAGE_COUNTER_SHARE_FULL;
	return seep_pool_left() ? 0 : SEEPAGE_COUNTER_POOL_EMPTY;
}

/* Count why a mm gets no record. The worker will create one later. */
static void refuse(u8 why)
{
	if (why == SEEPAGE_COUNTER_POOL_EMPTY) {
		seep_count(POOL_EMPTY);
		seep_kick();
		seep_owner_missed();
		return;
	}
	if (why == SEEPAGE_COUNTER_SHARE_FULL)
		seep_count(SHARE_FULL);
	else
		seep_count(TABLE_FULL);
	clear_after(atomic_read(&deaths));	/* deaths from before it was full */
	if (!READ_ONCE(seep_tab_refused))
		WRITE_ONCE(seep_tab_refused, true);
}

/* The pool is low, and not because the table is almost full. */
static bool needs_refill(u32 max)
{
	u32 live = READ_ONCE(tab.live);

	return live < max && (seep_pool_left() < min(SPARE_MIN / 2, max - live) ||
			      seep_pmu_short());
}

/**
 * seep_tab_share() - the share that the records of a user count for
 * @charged: the user
 *
 * Users with the same hash have a share together.
 *
 * Context: any.
 * Return: below SEEP_ROOM_SHARES; 0 for root.
 */
u32 seep_tab_share(kuid_t charged)
{
	if (uid_eq(charged, GLOBAL_ROOT_UID))
		return 0;
	return hash_32(__kuid_val(charged), SEEP_ROOM_SHARE_BITS) ?: 1;
}

/**
 * seep_tab_room() - may a user have one more record, as far as his share goes?
 * @charged: the user
 * @max: max_processes
 *
 * READ_ONCE() pairs with WRITE_ONCE() in count().
 *
 * Context: any; a hint without tab.lock.
 */
bool seep_tab_room(kuid_t charged, u32 max)
{
	u32 share = seep_tab_share(charged);

	return READ_ONCE(seep_tab_shares[share]) < seep_room_cap(share, max);
}

/* One record more or less. Context: tab.lock. */
static noinline void count(const struct seep_rec *rec, int more)
{
	u32 *n = &seep_tab_shares[seep_tab_share(rec->charged)];

	WRITE_ONCE(tab.live, tab.live + more);
	WRITE_ONCE(*n, *n + more);
	changed();
}

/**
 * seep_tab_charge() - charge a record of root to another user
 * @rec: nothing happens if it is out of the table, and counted for nobody
 * @charged: the user
 *
 * A process is charged when it is born, which a server does as root: it becomes the user that it
 * works for afterwards, and executes nothing. The other way round a user could run sudo, which
 * becomes root before it asks, and have records that count for root.
 *
 * Context: seep_table_mutex.
 */
void seep_tab_charge(struct seep_rec *rec, kuid_t charged)
{
	unsigned long flags;

	lockdep_assert_held(&seep_table_mutex);
	if (!uid_eq(rec->charged, GLOBAL_ROOT_UID) || uid_eq(charged, GLOBAL_ROOT_UID) || rec->dead)
		return;
	seep_lock(&tab.lock, flags);
	count(rec, -1);
	rec->charged = charged;
	count(rec, 1);
	seep_unlock(&tab.lock, flags);
}

static kuid_t charge(struct task_struct *owner)
{
	return seep_owner_charge(READ_ONCE(owner->group_leader));
}

/* Put an empty record into the table. Context: tab.lock. */
static void publish(struct seep_rec *rec, struct mm_struct *mm, struct task_struct *owner,
		    kuid_t charged)
{
	identify(rec, mm, owner);
	rec->charged = charged;
	rec->id = ++tab.last_id;
	rec->pmu = seep_pmu_take();
	list_add_tail_rcu(&rec->all, &seep_tab_all);
	hlist_add_head_rcu(&rec->hash, bucket_of(mm));
	count(rec, 1);
	seep_count(BIRTHS);
}

/* seep_tab_birth(); @why: out: SEEPAGE_COUNTER_* that counts why there is none, or 0. */
static struct seep_rec *birth(struct mm_struct *mm, struct task_struct *owner, u8 *why)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	struct seep_rec *rec = NULL, *born = NULL;
	kuid_t charged = charge(owner);
	unsigned long flags;

	*why = 0;
	if (seep_disabled())
		return NULL;
	/*
	 * Refuse without the lock: otherwise processes without a record would contend for
	 * it. READ_ONCE() in refusal() pairs with WRITE_ONCE() in count().
	 */
	*why = refusal(charged, max);
	if (*why)
		goto refuse;
	seep_lock(&tab.lock, flags);
	rec = seep_tab_find(mm);	/* another thread may have created it */
	if (!rec) {
		*why = refusal(charged, max);
		born = *why ? NULL : seep_pool_take();
		rec = born;
	}
	if (born)
		publish(born, mm, owner, charged);
	else if (!rec && !*why)
		*why = SEEPAGE_COUNTER_POOL_EMPTY;
	seep_unlock(&tab.lock, flags);
	if (born)
		trace_seepage_birth(born, 0, SEEPAGE_STATE_OK, SEEPAGE_STATE_OK);
	if (needs_refill(max))
		seep_kick();
refuse:
	if (*why)
		refuse(*why);
	return rec;
}

/**
 * seep_tab_birth() - create the record of a mm, or find the one it has
 * @mm: in use
 * @owner: runs in it, or will
 *
 * Context: RCU; any lock may be held, not NMI.
 * Return: NULL when there is no room or the pool is empty; both are counted.
 */
struct seep_rec *seep_tab_birth(struct mm_struct *mm, struct task_struct *owner)
{
	u8 why;

	return birth(mm, owner, &why);
}

/*
 * seep_tab_get() where no record was found. That there is no room is remembered in the
 * cache of this CPU, for later faults. Context: interrupts off, RCU.
 */
static noinline struct seep_rec *get_new(struct mm_struct *mm)
{
	/* before the table is read: pairs with smp_store_release() in changed() */
	u32 changes = smp_load_acquire(&seep_tab_changes);
	struct seep_acc *acc = this_cpu_ptr(&seep_acc);
	struct seep_rec *rec = seep_tab_find(mm);
	u8 why;

	if (rec)
		return rec;
	if (current->flags & PF_KTHREAD) {
		seep_owner_missed();	/* it only borrows the mm and cannot own it */
		return NULL;
	}
	rec = birth(mm, seep_owner_of(current, mm), &why);
	if (why) {
		acc->refused = why == SEEPAGE_COUNTER_POOL_EMPTY ? SEEP_NO_MM : mm;
		acc->why = why;
		acc->changes = changes;
	}
	return rec;
}

/**
 * seep_tab_get() - the record of the mm that current runs in; created if there is none
 * @mm: current->mm
 *
 * Context: interrupts off, any lock may be held, not NMI.
 * Return: NULL when there is no room or the pool is empty; both are counted.
 */
struct seep_rec *seep_tab_get(struct mm_struct *mm)
{
	struct seep_rec *rec;

	rcu_read_lock();
	rec = seep_tab_find(mm) ?: get_new(mm);
	rcu_read_unlock();
	return rec;
}

/**
 * seep_tab_exec() - current has executed a program and has a new mm
 *
 * Context: preemption off.
 */
void __cold seep_tab_exec(void)
{
	struct seep_rec *rec;
	unsigned long flags;

	local_irq_save(flags);
	rec = seep_tab_get(current->mm);
	if (rec)		/* pairs with READ_ONCE() in seep_read_around() */
		WRITE_ONCE(rec->born_ns, ktime_get_mono_fast_ns());
	seep_pmu_exec();
	local_irq_restore(flags);
}

/* Empty records to keep: more than births usually take between two ticks. */
static u32 spare_records(u32 max)
{
	u32 live = seep_tab_count();

	return live >= max ? 0 : min(SPARE_MIN + live / 32, max - live);
}

/**
 * seep_tab_resize() - fit the pool to the births until the next call
 * @extra: further records, as far as max_processes allows
 *
 * Records that are far too many are freed: max_processes was lowered, or most processes
 * have ended.
 *
 * Context: process, may sleep, seep_table_mutex.
 * Return: false when memory is short; the next tick tries again.
 */
bool seep_tab_resize(u32 extra)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	u32 want = spare_records(max) + extra;
	unsigned long flags;

	lockdep_assert_held(&seep_table_mutex);
	seep_lock(&tab.lock, flags);
	changed();			/* max_processes may be another one */
	seep_unlock(&tab.lock, flags);
	while (seep_pool_left() < want && seep_tab_count() + seep_pool_left() < max) {
		if (!seep_pool_add())
			return false;
		cond_resched();
	}
	seep_pool_trim(2 * want);
	seep_pmu_refill();
	return true;
}

/* Pairs with WRITE_ONCE() in retract(). */
static bool is_dead(const struct seep_rec *rec)
{
	return READ_ONCE(rec->dead);
}

/* Take a record out of the table. RCU readers may still see it. Context: tab.lock. */
static void __cold retract(struct seep_rec *rec)
{
	WRITE_ONCE(rec->dead, true);
	hlist_del_rcu(&rec->hash);
	list_del_rcu(&rec->all);
	count(rec, -1);
}

static void __cold unpublish(struct seep_rec *rec, struct list_head *graves)
{
	unsigned long flags;

	seep_lock(&tab.lock, flags);
	retract(rec);
	seep_unlock(&tab.lock, flags);
	list_move_tail(&rec->hot, graves);
}

/* Fold what CPUs hold for records that are out of the table. */
static void __cold settle(struct list_head *graves)
{
	struct seep_rec *rec;

	seep_account_fold(is_dead);
	seep_pmu_leave(is_dead);
	list_for_each_entry(rec, graves, hot)
		seep_pmu_bury(rec);
}

/**
 * seep_tab_bury() - take dead records out of the table
 * @graves: list that they are added to, by their member hot
 *
 * A record is dead when mm_users is 0. No task runs in the mm then, and no CPU can begin
 * to count for it. The caches that still hold it are folded, so fault counts are complete.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void __cold seep_tab_bury(struct list_head *graves)
{
	struct seep_rec *rec;
	u32 n = 0;

	if (!atomic_xchg(&deaths, 0))
		return;
	seep_for_each_rec(rec) {
		if (seep_rec_gone(rec))
			unpublish(rec, graves);
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
	if (!list_empty(graves))
		settle(graves);
}

/**
 * seep_tab_exchange() - give up a record for the mm of another process
 * @old: in the table, not in the list of suspects
 * @mm: in use
 * @owner: runs in it
 * @graves: list that @old is added to, by its member hot; for seep_tab_given_up()
 *
 * Nothing is done when the mm has got a record, its user has no room or the pool is empty.
 *
 * Context: seep_table_mutex and RCU; any lock may be held.
 */
void __cold seep_tab_exchange(struct seep_rec *old, struct mm_struct *mm,
			      struct task_struct *owner, struct list_head *graves)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	kuid_t charged = charge(owner);
	struct seep_rec *rec = NULL;
	unsigned long flags;

	seep_lock(&tab.lock, flags);
	if (!seep_tab_find(mm) &&
	    (seep_tab_share(charged) == seep_tab_share(old->charged) ||
	     seep_tab_room(charged, max)))
		rec = seep_pool_take();
	if (rec) {
		retract(old);
		publish(rec, mm, owner, charged);
	}
	seep_unlock(&tab.lock, flags);
	if (!rec)
		return;
	list_move_tail(&old->hot, graves);
	seep_count(EXCHANGED);
	trace_seepage_birth(rec, 0, SEEPAGE_STATE_OK, SEEPAGE_STATE_OK);
}

static void nothing(void *unused)
{
}

/**
 * seep_tab_given_up() - no CPU counts any more for records that were given up
 * @graves: from seep_tab_exchange()
 *
 * Their processes live, and may have found the record just before it left the table. A CPU finds
 * it and remembers it with interrupts off, so an interrupt of each CPU comes after that. A grace
 * period would do as well, but takes seconds where many tasks want the CPUs.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void __cold seep_tab_given_up(struct list_head *graves)
{
	on_each_cpu(nothing, NULL, true);
	settle(graves);
}

/**
 * seep_tab_free() - return buried records to the pool
 * @graves: from seep_tab_bury(), empty on return
 *
 * Context: process, may sleep; not under seep_table_mutex. A grace period has passed since
 * seep_tab_bury(), because readers in seep_tab_find() may still have walked over the records.
 */
void __cold seep_tab_free(struct list_head *graves)
{
	struct seep_rec *rec, *n;
	u32 max;

	if (list_empty(graves))
		return;
	max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	/* a kernel thread that borrows the mm may have found the record since */
	mutex_lock(&seep_table_mutex);
	seep_account_fold(is_dead);
	list_for_each_entry(rec, graves, hot)
		seep_pool_drop_watch(rec);
	mutex_unlock(&seep_table_mutex);
	list_for_each_entry_safe(rec, n, graves, hot) {
		seep_count(DEATHS);
		kfree(rec->cgroup);	/* at module exit; else tick.c has */
		mmdrop(rec->mm);
		put_pid(rec->pid);
		seep_pool_give(rec, spare_records(max));
		cond_resched();
	}
	INIT_LIST_HEAD(graves);
}

/**
 * seep_tab_count() - records in the table, with dead ones that are not buried yet
 *
 * Context: any, a hint.
 */
u32 seep_tab_count(void)
{
	return READ_ONCE(tab.live);
}

/**
 * seep_tab_full() - are there max_processes records?
 *
 * Context: any, a hint.
 */
bool seep_tab_full(void)
{
	return READ_ONCE(tab.live) >= seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
}

/**
 * seep_tab_count_alive() - records of mms that are in use
 *
 * Context: process, may sleep, seep_table_mutex.
 */
u32 seep_tab_count_alive(void)
{
	struct seep_rec *rec;
	u32 n = 0;

	seep_for_each_rec(rec) {
		n += !seep_rec_gone(rec);
		cond_resched();
	}
	return n;
}

/**
 * seep_tab_bytes() - memory of records and table
 *
 * Context: any, for display.
 */
u64 seep_tab_bytes(void)
{
	return seep_pool_bytes() + (sizeof(struct hlist_head) << HASH_BITS) +
	       SEEP_ROOM_SHARES * sizeof(*seep_tab_shares);
}

/**
 * seep_tab_init() - allocate the table and fill the pool
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __init seep_tab_init(void)
{
	tab.bucket = kvcalloc(1U << HASH_BITS, sizeof(*tab.bucket), GFP_KERNEL);
	seep_tab_shares = kcalloc(SEEP_ROOM_SHARES, sizeof(*seep_tab_shares), GFP_KERNEL);
	if (!tab.bucket || !seep_tab_shares || !seep_account_init()) {
		kvfree(tab.bucket);
		kfree(seep_tab_shares);
		return -ENOMEM;
	}
	mutex_lock(&seep_table_mutex);
	seep_tab_resize(0);
	mutex_unlock(&seep_table_mutex);
	seep_owner_missed();	/* no process has a record yet */
	return 0;
}

/**
 * seep_tab_exit() - return all records to the pool and free the table
 *
 * Context: module exit, after the hooks and the worker have stopped.
 */
void __cold seep_tab_exit(void)
{
	struct seep_rec *rec;
	LIST_HEAD(graves);

	seep_account_exit();
	mutex_lock(&seep_table_mutex);
	seep_for_each_rec(rec)
		unpublish(rec, &graves);
	mutex_unlock(&seep_table_mutex);
	synchronize_rcu();
	seep_tab_free(&graves);
	kvfree(tab.bucket);
	kfree(seep_tab_shares);
}
