// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: the counts of each record.
 *
 * While counters are on, a record has an area for its counts, as large as the list of
 * events needs. Records are born where no memory can be allocated, so spare areas wait
 * for them. A record that found no spare area gets one in the next full pass; until then
 * its counts go to the sum "others".
 *
 * Locks: seep_table_mutex, except for the spare list, which births take from under
 * tab.lock with interrupts off, and for the counts themselves, which are atomic.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "pmu.h"

#define SPARE_MIN	64

static struct {				/* seep_table_mutex, except where noted */
	struct kmem_cache *cache;	/* NULL: there are no areas; and pmu_mutex to change */
	u32 bytes;			/* size of an area; display reads it unlocked */
	u8 events;			/* in the list */
	u32 set;			/* number of the list of events, 0: none */
	u32 allocated;			/* of records and spare; display reads it unlocked */
	struct seep_pmu_sums ended;	/* counts of records that were buried */
	struct llist_head spare;	/* tab.lock to take; the mutex to add */
	atomic_t spares;		/* areas in spare, about */
	bool on;			/* births take areas; pmu_mutex, read without */
	bool held;			/* pmc hold: areas exist, nothing counts */
} areas;

static u32 last_set;			/* seep_table_mutex; numbers are not reused */

static struct seep_pmu_area *new_area(void)
{
	struct seep_pmu_area *area = kmem_cache_zalloc(areas.cache, SEEP_GFP);

	if (area)
		areas.allocated++;
	else
		seep_count(ALLOC_FAILED);
	return area;
}

static void free_area(struct seep_pmu_area *area)
{
	kmem_cache_free(areas.cache, area);
	areas.allocated--;
}

/**
 * seep_pmu_take() - take an area for a record that is being born
 *
 * Context: any but NMI, interrupts off, tab.lock held, so takers are serialised.
 * Return: a zeroed area; NULL when there is none or counters are off.
 */
struct seep_pmu_area *seep_pmu_take(void)
{
	struct seep_pmu_area *area;
	struct llist_node *node;

	/* Pairs with WRITE_ONCE() in seep_pmu_areas_start() and seep_pmu_areas_stop(). */
	if (!READ_ONCE(areas.on))
		return NULL;
	node = llist_del_first(&areas.spare);
	if (!node)
		return NULL;
	atomic_dec(&areas.spares);
	area = llist_entry(node, struct seep_pmu_area, spare);
	area->learned = NULL;
	return area;
}

/**
 * seep_pmu_short() - do births need more spare areas soon?
 *
 * Context: any; a hint, no lock.
 * Return: true when seep_pmu_refill() should run.
 */
bool seep_pmu_short(void)
{
	/* Pairs with WRITE_ONCE() in seep_pmu_areas_start() and seep_pmu_areas_stop(). */
	return READ_ONCE(areas.on) && atomic_read(&areas.spares) < SPARE_MIN / 2;
}

/**
 * seep_pmu_refill() - make spare areas for the births until the next call
 *
 * Context: process, may sleep, seep_table_mutex. An allocation that fails is counted.
 */
void seep_pmu_refill(void)
{
	int want = SPARE_MIN + seep_tab_count() / 32;
	struct seep_pmu_area *area;

	while (READ_ONCE(areas.on) && atomic_read(&areas.spares) < want) {
		area = new_area();
		if (!area)
			return;
		llist_add(&area->spare, &areas.spare);
		atomic_inc(&areas.spares);
		cond_resched();
	}
}

/**
 * seep_pmu_pass() - a full pass begins
 *
 * Charges what was counted, learns from it, and makes areas for records without one.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_pmu_pass(void)
{
	struct seep_rec *rec;
	u64 now_ns;
	u32 n = 0;

	/* Pairs with WRITE_ONCE() in seep_pmu_areas_start() and seep_pmu_areas_stop(). */
	if (!READ_ONCE(areas.on))
		return;
	seep_pmu_refill();
	seep_pmu_sync(NULL);
	seep_pmu_learn_begin();
	now_ns = ktime_get_ns();
	seep_for_each_rec(rec) {
		if (rec->pmu)
			seep_pmu_learn(rec, now_ns, areas.held);
		else	/* zeroed area first: pairs with READ_ONCE() in hold() */
			smp_store_release(&rec->pmu, new_area());
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
}

/**
 * seep_pmu_bury() - move the counts of a record to the sum "ended"
 * @rec: dead; no CPU remembers it after seep_pmu_leave()
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_bury(struct seep_rec *rec)
{
	struct seep_pmu_area *area = rec->pmu;
	u8 i;

	if (!area)
		return;
	areas.ended.enabled += atomic64_read(&area->enabled);
	for (i = 0; i < areas.events; i++) {
		areas.ended.of[i].count += atomic64_read(&area->of[i].count);
		areas.ended.of[i].running += atomic64_read(&area->of[i].running);
	}
	rec->pmu = NULL;
	seep_pmu_unlearn(area);
	free_area(area);
}

/**
 * seep_pmu_events() - number of events that a record has counts of
 * @rec: in the table
 * @set: out: number of the list of events
 *
 * Context: process, seep_table_mutex.
 * Return: 0: nothing counts, or the record has no area yet.
 */
u8 seep_pmu_events(const struct seep_rec *rec, u32 *set)
{
	*set = areas.set;
	return rec->pmu ? areas.events : 0;
}

/**
 * seep_pmu_values() - counts of a record, as of its last seep_pmu_sync()
 * @rec: in the table; seep_pmu_events() is above 0
 * @to: place for that many struct seepage_pmc_value, aligned or not
 *
 * Context: process, seep_table_mutex.
 */
void seep_pmu_values(const struct seep_rec *rec, void *to)
{
	const struct seep_pmu_area *area = rec->pmu;
	struct seepage_pmc_value v = { .enabled_ns = atomic64_read(&area->enabled) };
	u8 i;

	for (i = 0; i < areas.events; i++, to += sizeof(v)) {
		v.count = atomic64_read(&area->of[i].count);
		v.running_ns = atomic64_read(&area->of[i].running);
		memcpy(to, &v, sizeof(v));
	}
}

/**
 * seep_pmu_sums() - counts of ended processes
 * @ended: out
 * @set: out: number of the list of events
 *
 * Context: process, may sleep; takes seep_table_mutex.
 */
void seep_pmu_sums(struct seep_pmu_sums *ended, u32 *set)
{
	mutex_lock(&seep_table_mutex);
	*ended = areas.ended;
	*set = areas.set;
	mutex_unlock(&seep_table_mutex);
}

/**
 * seep_pmu_bytes() - memory of hardware counters
 *
 * Context: any.
 * Return: bytes.
 */
u64 seep_pmu_bytes(void)
{
	/* for display: values that change meanwhile do no harm */
	u64 bytes = (u64)data_race(areas.allocated) * data_race(areas.bytes);

	/* likewise */
	if (data_race(seep_pmu_cpus))
		bytes += num_possible_cpus() * sizeof(struct seep_pmu_cpu) +
			 sizeof(struct seep_pmu_list);
	return bytes + seep_pmu_learn_bytes();
}

/**
 * seep_pmu_areas_start() - a new list of events: make areas for all records
 * @ev: the list
 * @n: events in it
 *
 * Context: process, may sleep, pmu_mutex; takes seep_table_mutex. Nothing counts yet.
 * Return: 0 or -ENOMEM.
 */
int seep_pmu_areas_start(const struct seep_pmu_listed *ev, u8 n)
{
	u32 bytes = struct_size((struct seep_pmu_area *)NULL, of, n);
	struct kmem_cache *cache = kmem_cache_create("seep_pmu", bytes, 0, 0, NULL);

	if (!cache)
		return -ENOMEM;
	mutex_lock(&seep_table_mutex);
	areas.cache = cache;
	areas.events = n;
	areas.bytes = bytes;
	areas.set = ++last_set;
	seep_pmu_learn_start(ev, n);
	/* Pairs with READ_ONCE() in seep_pmu_take() and seep_pmu_short(). */
	WRITE_ONCE(areas.on, true);
	seep_pmu_pass();
	mutex_unlock(&seep_table_mutex);
	return 0;
}

/**
 * seep_pmu_areas_hold() - counting stops or goes on
 * @yes: nothing counts from now on; counts stay
 *
 * Context: process, may sleep, pmu_mutex; takes seep_table_mutex.
 */
void seep_pmu_areas_hold(bool yes)
{
	mutex_lock(&seep_table_mutex);
	areas.held = yes;
	mutex_unlock(&seep_table_mutex);
}

/**
 * seep_pmu_areas_stop() - discard all counts, areas and the state of CPUs
 *
 * Context: process, may sleep, pmu_mutex; takes seep_table_mutex. All CPUs are closed.
 */
void seep_pmu_areas_stop(void)
{
	struct kmem_cache *cache = areas.cache;
	struct seep_pmu_area *area, *n;
	struct llist_node *spare;
	struct seep_rec *rec;

	/* Pairs with READ_ONCE() in seep_pmu_take() and seep_pmu_short(). */
	WRITE_ONCE(areas.on, false);
	/* Waits for RCU: births in seep_pmu_take() have interrupts off, and none is left. */
	seep_pmu_cpus_free();
	if (!cache)
		return;
	mutex_lock(&seep_table_mutex);
	spare = llist_del_all(&areas.spare);
	llist_for_each_entry_safe(area, n, spare, spare)
		free_area(area);
	seep_for_each_rec(rec) {
		if (rec->pmu) {
			seep_pmu_unlearn(rec->pmu);
			free_area(rec->pmu);
		}
		rec->pmu = NULL;
	}
	seep_broken(areas.allocated);
	areas.cache = NULL;
	areas.set = 0;
	areas.events = 0;
	atomic_set(&areas.spares, 0);
	memset(&areas.ended, 0, sizeof(areas.ended));
	mutex_unlock(&seep_table_mutex);
	kmem_cache_destroy(cache);	/* may take long: not under the mutex */
}
