// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: the events of the CPUs. All events of the list are made on
 * every CPU, disabled; those whose turn it is are enabled. Events are made,
 * enabled and released by a worker, never in a hotplug callback (hook_sw.c says
 * why), and not pinned: others may want counters too, and perf then shares them.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include "pmu.h"

static struct perf_event *create_event(int cpu, u32 type, u64 config)
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

/*
 * The events of a CPU that has none and is closed, none of them enabled. For want of
 * memory there may be fewer of them: then it is stale.
 */
static void create(int cpu, const struct seep_pmu_listed *ev, u8 n, int *rc)
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
			e = create_event(cpu, type, config);
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

/* It begins to count. It is closed and has events. */
static void open(int cpu, u8 max)
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

/* It counts no more; what it counted is kept. With events or without, online or not. */
static void close(int cpu)
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

/* The next events have their turn. A CPU that was idle all the time is not disturbed. */
static void rotate(int cpu, u8 max)
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

/* ---- all of them ---- */

/**
 * seep_pmu_cpus_create() - events for every online CPU that has none
 * @ev: the list
 * @n: its length
 * @rc: of each event; of one that could be made somewhere it is 0 for good
 *
 * Context: process, may sleep, pmu mutex, not cpus_read_lock().
 */
void seep_pmu_cpus_create(const struct seep_pmu_listed *ev, u8 n, int *rc)
{
	struct seep_pmu_cpu *pc;
	int cpu;

	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
		if (xchg(&pc->stale, 0) || !cpu_online(cpu))
			close(cpu);
		if (cpu_online(cpu) && !pc->have_n)
			create(cpu, ev, n, rc);
	}
}

/* Some CPU has not all its events: for want of memory, or it came a moment ago. */
bool seep_pmu_cpus_incomplete(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&seep_pmu_cpu, cpu)->stale))
			return true;
	return false;
}

/* Those that have events and do not count yet. @max: counters at once */
void seep_pmu_cpus_open(u8 max)
{
	struct seep_pmu_cpu *pc;
	int cpu;

	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
		if (pc->have_n && !READ_ONCE(pc->n) && cpu_online(cpu))
			open(cpu, max);
	}
}

void seep_pmu_cpus_rotate(u8 max)
{
	int cpu;

	for_each_online_cpu(cpu)
		rotate(cpu, max);
}

void seep_pmu_cpus_close(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		close(cpu);
}

/* What was counted is gone. All are closed. */
void seep_pmu_cpus_forget(void)
{
	struct seep_pmu_cpu *pc;
	int cpu;

	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
		memset(pc->sums, 0, sizeof(pc->sums));
		memset(&pc->gone, 0, sizeof(pc->gone));
	}
}

/* seep_pmu_price() of the first that counts, which stands for all; 0: none does, or not known */
u64 seep_pmu_cpus_price(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&seep_pmu_cpu, cpu)->n))
			return seep_pmu_price(cpu);
	return 0;
}

/**
 * seep_pmu_cpus_total() - what the counters of an event show on all CPUs
 * @id: the event
 * @v: set; of CPUs that count meanwhile as of a moment ago
 *
 * Return: ns in which it had its turn, up to the last fold
 */
u64 seep_pmu_cpus_total(u8 id, struct seepage_pmc_value *v)
{
	const struct seep_pmu_cpu *pc;
	u64 turn = 0;
	int cpu;

	memset(v, 0, sizeof(*v));
	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(&seep_pmu_cpu, cpu);
		v->count += READ_ONCE(pc->gone.of[id].count) + READ_ONCE(pc->read[id].count);
		v->running_ns += READ_ONCE(pc->gone.of[id].running) +
				 READ_ONCE(pc->read[id].running);
		v->enabled_ns += READ_ONCE(pc->gone.enabled);
		if (READ_ONCE(pc->n))
			v->enabled_ns += READ_ONCE(pc->time) - READ_ONCE(pc->opened);
		turn += READ_ONCE(pc->turn[id]);
	}
	return turn;
}

/* What of it those got that have no record. */
void seep_pmu_cpus_part(u8 id, enum seep_pmu_who who, struct seepage_pmc_value *v)
{
	const struct seep_pmu_sums *s;
	int cpu;

	memset(v, 0, sizeof(*v));
	for_each_possible_cpu(cpu) {
		s = &per_cpu_ptr(&seep_pmu_cpu, cpu)->sums[who];
		v->count += READ_ONCE(s->of[id].count);
		v->enabled_ns += READ_ONCE(s->enabled);
		v->running_ns += READ_ONCE(s->of[id].running);
	}
}
