// SPDX-License-Identifier: GPL-2.0
/*
 * The pool: empty records, allocated ahead by the worker, because a birth
 * happens where nothing can be allocated (in a fault or fork, with locks held).
 *
 * pool.lock is a raw spinlock with interrupts off; innermost, below tab.lock.
 */
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "seep.h"

static struct {
	raw_spinlock_t lock;
	struct list_head free;		/* lock */
	u32 n;				/* lock; read without it as a hint */
	u32 allocated;			/* lock; read without it for display */
	struct kmem_cache *cache;
} pool = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(pool.lock),
	.free = LIST_HEAD_INIT(pool.free),
};

/**
 * seep_pool_take() - an empty record
 *
 * Context: any but NMI.
 * Return: NULL when there is none; the worker makes more.
 */
struct seep_rec *seep_pool_take(void)
{
	struct seep_rec *rec;
	unsigned long flags;

	seep_lock(&pool.lock, flags);
	rec = list_first_entry_or_null(&pool.free, struct seep_rec, all);
	if (rec) {
		list_del(&rec->all);
		WRITE_ONCE(pool.n, pool.n - 1);
	}
	seep_unlock(&pool.lock, flags);
	return rec;
}

static void put(struct seep_rec *rec, bool new)
{
	unsigned long flags;

	INIT_LIST_HEAD(&rec->hot);
	seep_lock(&pool.lock, flags);
	list_add(&rec->all, &pool.free);
	WRITE_ONCE(pool.n, pool.n + 1);
	pool.allocated += new;
	seep_unlock(&pool.lock, flags);
}

static void release(struct seep_rec *rec)
{
	unsigned long flags;

	kmem_cache_free(pool.cache, rec);
	seep_lock(&pool.lock, flags);
	pool.allocated--;
	seep_unlock(&pool.lock, flags);
}

/* Some more than were ever needed between two ticks, within max_processes. */
static u32 target(void)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	u32 live = seep_tab_count();

	return live >= max ? 0 : min(SEEP_POOL_MIN + live / 16, max - live);
}

/**
 * seep_pool_give() - a record that nobody can reach any more
 * @rec: its contents are lost
 *
 * Context: process.
 */
void seep_pool_give(struct seep_rec *rec)
{
	if (READ_ONCE(pool.n) >= target()) {
		release(rec);
		return;
	}
	memset(rec, 0, sizeof(*rec));
	put(rec, false);
}

/**
 * seep_pool_refill() - as many as births may need until the next time
 * @extra: this many more, as far as max_processes allows
 *
 * What is far too many, since max_processes was lowered or most processes have
 * gone, is given back.
 *
 * Context: process, may sleep.
 * Return: false when there was no memory for them.
 */
bool seep_pool_refill(u32 extra)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES);
	u32 want = target() + extra;
	struct seep_rec *rec;

	while (READ_ONCE(pool.n) < want && seep_tab_count() + READ_ONCE(pool.n) < max) {
		rec = kmem_cache_zalloc(pool.cache, GFP_KERNEL);
		if (!rec) {
			seep_count(ALLOC_FAILED);
			return false;	/* the next tick tries again */
		}
		put(rec, true);
		cond_resched();
	}
	while (READ_ONCE(pool.n) > 2 * want) {
		rec = seep_pool_take();
		if (!rec)
			break;
		release(rec);
		cond_resched();
	}
	seep_pmu_refill();
	return true;
}

/* How many there are: a hint. */
u32 seep_pool_left(void)
{
	return READ_ONCE(pool.n);
}

/* Of all records, those in the table too. */
u64 seep_pool_bytes(void)
{
	/* for display: one reading is as good as the next */
	return (u64)data_race(pool.allocated) * sizeof(struct seep_rec);
}

int __init seep_pool_init(void)
{
	pool.cache = KMEM_CACHE(seep_rec, 0);
	if (!pool.cache)
		return -ENOMEM;
	seep_pool_refill(0);
	return 0;
}

/* After seep_tab_exit(): every record is back. */
void seep_pool_exit(void)
{
	struct seep_rec *rec;

	while ((rec = seep_pool_take()))
		release(rec);
	WARN_ON(pool.allocated);
	kmem_cache_destroy(pool.cache);
}
