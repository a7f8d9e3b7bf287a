// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: the events of one CPU. All events of the list are made on
 * every CPU, disabled; those whose turn it is are enabled. Events are made,
 * enabled and released by a worker, never in a hotplug callback (hook_sw.c says
 * why), and not pinned: others may want counters too, and perf then shares them.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include "pmu.h"

static struct perf_event *create(int cpu, u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.disabled = 1,
		.exclude_guest = 1,	/* guests may have counters of their own */
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/**
 * seep_pmu_cpu_create() - the events of a CPU, none of them enabled
 * @cpu: closed, without events
 * @ev: the list
 * @n: its length
 * @rc: of each event; of one that could be made somewhere it is 0 for good
 *
 * For want of memory there may be fewer of them: then it is stale.
 *
 * Context: process, may sleep, pmu mutex, not cpus_read_lock().
 * Return: how many could be made
 */
int seep_pmu_cpu_create(int cpu, const struct seep_pmu_listed *ev, u8 n, int *rc)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
	const struct seep_pmu_set *set = seep_pmu_processor(cpu);
	struct perf_event *e;
	bool short_of = false;
	u8 i, pass;
	u64 config;
	u32 type;

	pc->have_n = 0;
	pc->at = 0;
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < n; i++) {
			if (ev[i].always != !pass || !seep_pmu_code(set, &ev[i], &type, &config))
				continue;
			e = create(cpu, type, config);
			if (IS_ERR(e)) {
				if (PTR_ERR(e) == -ENOMEM) {
					seep_count(ALLOC_FAILED);
					short_of = true;
				}
				/* -ENODEV: the CPU went offline meanwhile */
				if (rc[i] && PTR_ERR(e) != -ENODEV)
					rc[i] = PTR_ERR(e);
				continue;
			}
			rc[i] = 0;
			pc->event[i] = e;
			pc->have[pc->have_n++] = i;
		}
		if (!pass)
			pc->always = pc->have_n;
	}
	if (short_of)
		xchg(&pc->stale, 1);
	return pc->have_n;
}

/* Those whose turn it is: the ones of every turn, and as many others as @max allows. */
static u8 this_turn(const struct seep_pmu_cpu *pc, u8 max, u8 *id)
{
	u8 fixed = pc->always, n = 0, others, i;

	/* one place at least is for those that take turns */
	if (fixed >= max && pc->have_n > max)
		fixed = max - 1;
	for (i = 0; i < fixed && n < max; i++)
		id[n++] = pc->have[i];
	others = pc->have_n - fixed;
	for (i = 0; i < others && n < max; i++)
		id[n++] = pc->have[fixed + (pc->at + i) % others];
	return n;
}

struct turn {
	u8 id[SEEP_PMU_COUNTERS];
	u8 n;
};

static bool has(const struct turn *t, u8 id)
{
	u8 i;

	for (i = 0; i < t->n; i++)
		if (t->id[i] == id)
			return true;
	return false;
}

static void open_here(void *info)
{
	const struct turn *t = info;

	seep_pmu_open_here(this_cpu_ptr(&seep_pmu_cpu), t->id, t->n);
}

static void turn_here(void *info)
{
	const struct turn *t = info;

	seep_pmu_turn_here(this_cpu_ptr(&seep_pmu_cpu), t->id, t->n);
}

static void close_here(void *unused)
{
	seep_pmu_close_here(this_cpu_ptr(&seep_pmu_cpu));
}

/**
 * seep_pmu_cpu_open() - a CPU begins to count
 * @cpu: closed, with events
 * @max: counters at once
 *
 * Context: process, may sleep, pmu mutex.
 */
void seep_pmu_cpu_open(int cpu, u8 max)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
	struct turn t = { };
	int rc;
	u8 i;

	t.n = this_turn(pc, max, t.id);
	/* what goes while this is held has been open when it is told to close */
	cpus_read_lock();
	rc = smp_call_function_single(cpu, open_here, &t, 1);
	cpus_read_unlock();
	if (rc)
		return;			/* gone again; there will be more to do when it comes */
	for (i = 0; i < t.n; i++)
		perf_event_enable(pc->event[t.id[i]]);
}

static void release(struct seep_pmu_cpu *pc)
{
	struct perf_event *e;
	u8 i;

	for (i = 0; i < SEEP_PMU_EVENTS; i++) {
		e = pc->event[i];
		if (!e)
			continue;
		pc->gone.of[i].count += pc->read[i].count;
		pc->gone.of[i].running += pc->read[i].running;
		pc->read[i] = (struct seep_pmu_got){ };
		pc->turn[i] = 0;
		pc->event[i] = NULL;
		perf_event_release_kernel(e);
	}
	pc->have_n = 0;
}

/**
 * seep_pmu_cpu_close() - a CPU counts no more; what it counted is kept
 * @cpu: with events or without, online or not
 *
 * Context: process, may sleep, pmu mutex.
 */
void seep_pmu_cpu_close(int cpu)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
	u8 i;

	/* disabled first: what the counters show then is what is charged last */
	for (i = 0; i < READ_ONCE(pc->n); i++)
		perf_event_disable(pc->event[pc->id[i]]);
	if (smp_call_function_single(cpu, close_here, NULL, 1))
		pc->n = 0;		/* offline: it has closed itself */
	release(pc);
}

/**
 * seep_pmu_cpu_rotate() - the next events have their turn
 * @cpu: open
 * @max: counters at once
 *
 * A CPU that was idle all the time is not disturbed.
 *
 * Context: process, may sleep, pmu mutex.
 */
void seep_pmu_cpu_rotate(int cpu, u8 max)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
	struct turn old, new = { };
	u8 i;

	if (pc->have_n <= max || !READ_ONCE(pc->n))
		return;
	if (!READ_ONCE(pc->busy) && READ_ONCE(pc->who) == SEEP_PMU_IDLE)
		return;
	WRITE_ONCE(pc->busy, false);
	old.n = this_turn(pc, max, old.id);
	i = min(pc->always, (u8)(max - 1));	/* in every turn */
	pc->at = (pc->at + max - i) % (pc->have_n - i);
	new.n = this_turn(pc, max, new.id);
	for (; i < old.n; i++)
		if (!has(&new, old.id[i]))
			perf_event_disable(pc->event[old.id[i]]);
	smp_call_function_single(cpu, turn_here, &new, 1);
	for (i = 0; i < new.n; i++)
		if (!has(&old, new.id[i]))
			perf_event_enable(pc->event[new.id[i]]);
}
