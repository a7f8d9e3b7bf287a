// SPDX-License-Identifier: GPL-2.0
/*
 * The pool: empty records, allocated ahead of births. A birth happens in a page fault or a
 * fork with locks held, where nothing can be allocated. How many records there should be
 * is decided by the table (seep_tab_resize()).
 *
 * Lock: pool.lock, a raw spinlock with interrupts off. It is innermost, below tab.lock.
 */
#include <linux/list.h>
#include <linux/mempool.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "seep.h"

/* seep_watch kept for records that come under watch while memory is short. */
#define SPARE_WATCHES	8

static struct {
	raw_spinlock_t lock;		/* interrupts off */
	struct list_head free;		/* lock; linked by seep_rec.all */
	u32 n;				/* in free; lock to change, read without as a hint */
	u32 allocated;			/* all records; lock to change, read without for display */
	u32 watches;			/* seep_watch allocated; table mutex */
	struct kmem_cache *cache;	/* set at load */
	mempool_t *spare;		/* of seep_watch; set at load */
} pool = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(pool.lock),
	.free = LIST_HEAD_INIT(pool.free),
};

/**
 * seep_pool_take() - take an empty record
 *
 * Context: any but NMI.
 * Return: NULL when there is none.
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

/* Add a record to the pool; @new: it was just allocated. */
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

/* Free a record. */
static void release(struct seep_rec *rec)
{
	unsigned long flags;

	kmem_cache_free(pool.cache, rec);
	seep_lock(&pool.lock, flags);
	pool.allocated--;
	seep_unlock(&pool.lock, flags);
}

/**
 * seep_pool_give() - return a record
 * @rec: no reader can reach it any more
 * @enough: where the pool has so many, its memory is freed instead
 *
 * Context: process.
 */
void seep_pool_give(struct seep_rec *rec, u32 enough)
{
	seep_broken(atomic_read(&rec->cpus));
	if (READ_ONCE(pool.n) >= enough) {
		release(rec);
		return;
	}
	memset(rec, 0, sizeof(*rec));
	put(rec, false);
}

/**
 * seep_pool_add() - allocate one more record
 *
 * Context: process, may sleep.
 * Return: false when memory is short; counted.
 */
bool seep_pool_add(void)
{
	struct seep_rec *rec = kmem_cache_zalloc(pool.cache, SEEP_GFP);

	if (!rec) {
		seep_count(ALLOC_FAILED);
		return false;
	}
	put(rec, true);
	return true;
}

/* What a record needs that is not ok; for the next one. Table mutex. */
struct seep_watch *seep_pool_watch;

/**
 * seep_pool_fill_watch() - allocate seep_pool_watch
 *
 * Context: process, seep_table_mutex.
 * Return: false when memory is short; counted.
 */
bool __cold seep_pool_fill_watch(void)
{
	seep_pool_watch = mempool_alloc(pool.spare, SEEP_GFP);
	if (!seep_pool_watch) {
		seep_count(ALLOC_FAILED);
		return false;
	}
	memset(seep_pool_watch, 0, sizeof(*seep_pool_watch));
	pool.watches++;
	return true;
}

/**
 * seep_pool_drop_watch() - a record needs its struct seep_watch no more
 * @rec: the record
 *
 * Context: process, seep_table_mutex.
 */
void __cold seep_pool_drop_watch(struct seep_rec *rec)
{
	if (!rec->det.w)
		return;
	mempool_free(rec->det.w, pool.spare);
	rec->det.w = NULL;
	pool.watches--;
}

/**
 * seep_pool_trim() - free records
 * @most: so many may stay
 *
 * Context: process, may sleep.
 */
void seep_pool_trim(u32 most)
{
	struct seep_rec *rec;

	while (READ_ONCE(pool.n) > most) {
		rec = seep_pool_take();
		if (!rec)
			break;
		release(rec);
		cond_resched();
	}
}

/**
 * seep_pool_left() - number of empty records
 *
 * READ_ONCE() pairs with WRITE_ONCE() in seep_pool_take() and put().
 *
 * Context: any, a hint.
 */
u32 seep_pool_left(void)
{
	return READ_ONCE(pool.n);
}

/**
 * seep_pool_bytes() - memory of all records, those in the table too
 *
 * Context: any, for display.
 */
u64 seep_pool_bytes(void)
{
	/* values that change meanwhile do no harm */
	return data_race((u64)pool.allocated * sizeof(struct seep_rec) +
			 (u64)pool.watches * sizeof(struct seep_watch));
}

static void destroy(void)
{
	mempool_destroy(pool.spare);
	kmem_cache_destroy(pool.cache);
}

/**
 * seep_pool_init() - create the cache of records; the pool is empty
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __init seep_pool_init(void)
{
	pool.cache = KMEM_CACHE(seep_rec, 0);
	pool.spare = mempool_create_kmalloc_pool(SPARE_WATCHES, sizeof(struct seep_watch));
	if (pool.cache && pool.spare)
		return 0;
	destroy();
	return -ENOMEM;
}

/**
 * seep_pool_exit() - free everything
 *
 * Context: module exit, after seep_tab_exit(), when every record is back.
 */
void seep_pool_exit(void)
{
	struct seep_rec *rec;

	while ((rec = seep_pool_take()))
		release(rec);
	mempool_free(seep_pool_watch, pool.spare);
	WARN_ON(pool.allocated);
	destroy();
}
