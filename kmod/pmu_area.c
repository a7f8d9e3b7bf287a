// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: what each record got.
 *
 * A record has an area for it while counters are on, as large as the list of
 * events asks for. Records are born where nothing can be allocated, so some
 * areas wait as spare ones; a record that found none gets one with the next full
 * pass, and until then is among the others.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "pmu.h"

#define SPARE_MIN	64

static struct {				/* seep_table_mutex */
	struct kmem_cache *cache;	/* NULL: there are no areas */
	u32 bytes;			/* of one */
	u8 events;
	u32 set;			/* of the list of events, 0: none */
	u32 allocated;
	struct seep_pmu_sums ended;	/* of those that had a record */
	struct llist_head spare;	/* taken under the table's lock, one at a time */
	atomic_t spares;
	bool on;			/* births take; read without the mutex */
	bool held;			/* nothing counts */
} areas;

static u32 last_set;			/* seep_table_mutex */

static struct seep_pmu_area *new_area(void)
{
	struct seep_pmu_area *area = kmem_cache_zalloc(areas.cache, GFP_KERNEL);

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
 * seep_pmu_take() - an area for a record that is being born
 *
 * Context: any but NMI, interrupts off, the table's lock held: nobody else takes.
 * Return: NULL when there is none, or counters are off.
 */
struct seep_pmu_area *seep_pmu_take(void)
{
	struct seep_pmu_area *area;
	struct llist_node *node;

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

/* Births take more than there will be. Context: any; a hint. */
bool seep_pmu_short(void)
{
	return READ_ONCE(areas.on) && atomic_read(&areas.spares) < SPARE_MIN / 2;
}

/**
 * seep_pmu_refill() - as many spare areas as births may need until the next time
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_pmu_refill(void)
{
	int want = SPARE_MIN + seep_tab_count() / 32;
	struct seep_pmu_area *area;

	while (areas.on && atomic_read(&areas.spares) < want) {
		area = new_area();
		if (!area)
			return;
		llist_add(&area->spare, &areas.spare);
		atomic_inc(&areas.spares);
		cond_resched();
	}
}

/**
 * seep_pmu_pass() - before a full pass: all that was counted is charged and
 * learned from, and who has no area gets one
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_pmu_pass(void)
{
	struct seep_rec *rec;
	u64 now_ns;
	u32 n = 0;

	if (!areas.on)
		return;
	seep_pmu_refill();
	seep_pmu_sync(NULL);
	seep_pmu_learn_begin();
	now_ns = ktime_get_ns();
	seep_for_each_rec(rec) {
		if (rec->pmu)
			seep_pmu_learn(rec, now_ns, areas.held);
		else	/* all zero, before a CPU that charges sees it */
			smp_store_release(&rec->pmu, new_area());
		if (!(++n % SEEP_RESCHED_EVERY))
			cond_resched();
	}
}

/**
 * seep_pmu_bury() - what a record got belongs to the ended from now on
 * @rec: dead; no CPU remembers it (seep_pmu_leave())
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
 * seep_pmu_events() - how many events a record has values of
 * @rec: in the table
 * @set: the list of events that they are of
 *
 * Context: process, seep_table_mutex.
 * Return: 0: nothing is counted, or not for this record.
 */
u8 seep_pmu_events(const struct seep_rec *rec, u32 *set)
{
	*set = areas.set;
	return rec->pmu ? areas.events : 0;
}

/**
 * seep_pmu_values() - what a record got, of each event, as of its last
 * seep_pmu_sync()
 * @rec: in the table; it has seep_pmu_events()
 * @to: place for as many struct seepage_pmc_value, aligned or not
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

/* What the ended had got, and the number of the list. */
void seep_pmu_sums(struct seep_pmu_sums *ended, u32 *set)
{
	mutex_lock(&seep_table_mutex);
	*ended = areas.ended;
	*set = areas.set;
	mutex_unlock(&seep_table_mutex);
}

u64 seep_pmu_bytes(void)
{
	/* for display: one reading is as good as the next */
	return (u64)data_race(areas.allocated) * data_race(areas.bytes) + seep_pmu_learn_bytes();
}

/**
 * seep_pmu_areas_start() - a new list of events: areas for those who run
 * @ev: the list
 * @n: how many
 *
 * Context: process, may sleep; nothing counts yet.
 */
int seep_pmu_areas_start(const struct seep_pmu_listed *ev, u8 n)
{
	int rc = -ENOMEM;

	mutex_lock(&seep_table_mutex);
	areas.events = n;
	areas.bytes = struct_size((struct seep_pmu_area *)NULL, of, n);
	areas.cache = kmem_cache_create("seep_pmu", areas.bytes, 0, 0, NULL);
	if (areas.cache) {
		rc = 0;
		areas.set = ++last_set;
		seep_pmu_learn_start(ev, n);
		WRITE_ONCE(areas.on, true);
		seep_pmu_pass();
	}
	mutex_unlock(&seep_table_mutex);
	return rc;
}

void seep_pmu_areas_hold(bool yes)
{
	mutex_lock(&seep_table_mutex);
	areas.held = yes;
	mutex_unlock(&seep_table_mutex);
}

/**
 * seep_pmu_areas_stop() - what was counted is forgotten
 *
 * Context: process, may sleep; all CPUs are closed.
 */
void seep_pmu_areas_stop(void)
{
	struct seep_pmu_area *area, *n;
	struct llist_node *spare;
	struct seep_rec *rec;

	mutex_lock(&seep_table_mutex);
	if (!areas.cache)
		goto unlock;
	WRITE_ONCE(areas.on, false);
	synchronize_rcu();		/* births that take one have interrupts off */
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
	kmem_cache_destroy(areas.cache);
	areas.cache = NULL;
	areas.set = 0;
	areas.events = 0;
	atomic_set(&areas.spares, 0);
	memset(&areas.ended, 0, sizeof(areas.ended));
unlock:
	mutex_unlock(&seep_table_mutex);
}
