// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: the perf events of all CPUs. Every CPU has all events of the list,
 * created disabled. The events of the current turn are enabled. They are not pinned:
 * others may want counters too, and perf then shares them.
 *
 * A worker creates, enables and releases events, never a hotplug callback (hook_sw.c says
 * why).
 *
 * Context: process, may sleep. Lock: pmu_mutex (set.c) for everything here. The state of
 * another CPU is changed by that CPU only, through smp_call_function_single().
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include "pmu.h"

/* A disabled event on @cpu. Return: never NULL, maybe an error pointer. */
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
 * Create the events of a CPU that has none and is closed. Events of every turn come first.
 * Where memory is short, some are left out and the CPU is stale.
 */
static void create(int cpu, const struct seep_pmu_listed *ev, u8 n, int *rc)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(seep_pmu_cpus, cpu);
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
				/* -ENODEV: the CPU has gone offline meanwhile */
				if (rc[i] && PTR_ERR(e) != -ENODEV)
					rc[i] = PTR_ERR(e);
				continue;
			}
			rc[i] = 0;
			pc->counter[i].event = e;
			pc->counter[i].read = e->pmu->read;
			pc->counter[i].since = ~0ULL;
			pc->counter[i].at = offsetof(struct seep_pmu_area, of[i]);
			pc->counter[i].id = i;
			pc->have[pc->have_n++] = i;
		}
		if (!pass)
			pc->always = pc->have_n;
	}
	/* Pairs with xchg() in seep_pmu_cpus_create(). */
	if (short_of)
		xchg(&pc->stale, 1);
}

/* Choose the events of this turn: those of every turn, then as many others as fit in @max. */
static u8 this_turn(const struct seep_pmu_cpu *pc, u8 max, u8 *id)
{
	u8 fixed = pc->always, n = 0, others, i;

	/* at least one place is for events that take turns */
	if (fixed >= max && pc->have_n > max)
		fixed = max - 1;
	for (i = 0; i < fixed && n < max; i++)
		id[n++] = pc->have[i];
	others = pc->have_n - fixed;
	for (i = 0; i < others && n < max; i++)
		id[n++] = pc->have[fixed + (pc->at + i) % others];
	return n;
}

/* The events of one turn, passed to the CPU itself. */
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

	seep_pmu_open_here(this_cpu_ptr(seep_pmu_cpus), t->id, t->n);
}

static void turn_here(void *info)
{
	const struct turn *t = info;

	seep_pmu_turn_here(this_cpu_ptr(seep_pmu_cpus), t->id, t->n);
}

static void close_here(void *unused)
{
	seep_pmu_close_here(this_cpu_ptr(seep_pmu_cpus));
}

/* Let a CPU that is closed and has events begin to count. */
static void open(int cpu, u8 max)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(seep_pmu_cpus, cpu);
	struct turn t = { };
	int rc;
	u8 i;

	t.n = this_turn(pc, max, t.id);
	/* a CPU that goes offline after this has been opened, and closes itself in cpu_goes() */
	cpus_read_lock();
	rc = smp_call_function_single(cpu, open_here, &t, 1);
	cpus_read_unlock();
	if (rc)
		return;			/* the CPU is offline: opened when it is back */
	for (i = 0; i < t.n; i++)
		perf_event_enable(pc->counter[t.id[i]].event);
}

/* Release the events of a closed CPU. What they counted is added to pc->gone. */
static void release(struct seep_pmu_cpu *pc)
{
	struct seep_pmu_counter *c;
	struct perf_event *e;
	u8 i;

	for (i = 0; i < SEEP_PMU_EVENTS; i++) {
		c = &pc->counter[i];
		e = c->event;
		if (!e)
			continue;
		pc->gone.of[i].count += c->got.count;
		pc->gone.of[i].running += c->got.running;
		memset(c, 0, sizeof(*c));
		pc->turn[i] = 0;
		perf_event_release_kernel(e);
	}
	pc->have_n = 0;
}

/* Stop counting on a CPU, online or not, and release its events. Counts are kept. */
static void close(int cpu)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(seep_pmu_cpus, cpu);
	struct seep_pmu_counter *c;

	/*
	 * Disable first: the last charge then reads what the counters show for good.
	 * READ_ONCE() pairs with the stores to open in pmu.c on that CPU; next stays.
	 */
	for (c = READ_ONCE(pc->open); c; c = c->next)
		perf_event_disable(c->event);
	if (smp_call_function_single(cpu, close_here, NULL, 1))
		pc->open = NULL;	/* offline: it closed itself in cpu_goes() */
	release(pc);
}

/*
 * Begin the next turn of a CPU. One that was idle for the whole turn is not interrupted.
 * READ_ONCE() of open, busy and sum_id pairs with the stores in pmu.c on that CPU. The
 * values are a hint: a wrong one costs or saves one interrupt.
 */
static void rotate(int cpu, u8 max)
{
	struct seep_pmu_cpu *pc = per_cpu_ptr(seep_pmu_cpus, cpu);
	struct turn old, new = { };
	u32 calls = 1;
	u8 i;

	if (pc->have_n <= max || !READ_ONCE(pc->open))
		return;
	if (!READ_ONCE(pc->busy) && READ_ONCE(pc->sum_id) == SEEP_PMU_IDLE)
		return;
	WRITE_ONCE(pc->busy, false);
	old.n = this_turn(pc, max, old.id);
	i = min(pc->always, (u8)(max - 1));	/* events of every turn stay enabled */
	pc->at = (pc->at + max - i) % (pc->have_n - i);
	new.n = this_turn(pc, max, new.id);
	for (; i < old.n; i++)
		if (!has(&new, old.id[i])) {
			perf_event_disable(pc->counter[old.id[i]].event);
			calls++;
		}
	smp_call_function_single(cpu, turn_here, &new, 1);
	for (i = 0; i < new.n; i++)
		if (!has(&old, new.id[i])) {
			perf_event_enable(pc->counter[new.id[i]].event);
			calls++;
		}
	seep_count_add(PMC_CROSS_CALLS, calls);
}

/* ---- all CPUs ---- */

/**
 * seep_pmu_cpus_create() - create events on every online CPU that has none
 * @ev: the list
 * @n: its length
 * @rc: for each event its error so far; 0 once it could be created on some CPU
 *
 * Context: process, may sleep, pmu_mutex, not under cpus_read_lock().
 */
void seep_pmu_cpus_create(const struct seep_pmu_listed *ev, u8 n, int *rc)
{
	struct seep_pmu_cpu *pc;
	int cpu;

	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(seep_pmu_cpus, cpu);
		if (xchg(&pc->stale, 0) || !cpu_online(cpu))
			close(cpu);
		if (cpu_online(cpu) && !pc->have_n)
			create(cpu, ev, n, rc);
	}
}

/**
 * seep_pmu_cpus_incomplete() - does an online CPU lack events?
 *
 * Context: process, pmu_mutex.
 * Return: true where memory was short, or a CPU came online a moment ago.
 */
bool seep_pmu_cpus_incomplete(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(seep_pmu_cpus, cpu)->stale))
			return true;
	return false;
}

/**
 * seep_pmu_cpus_open() - begin to count on the CPUs that have events
 * @max: counters in use at once
 *
 * Context: process, may sleep, pmu_mutex.
 */
void seep_pmu_cpus_open(u8 max)
{
	struct seep_pmu_cpu *pc;
	int cpu;

	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(seep_pmu_cpus, cpu);
		if (pc->have_n && !READ_ONCE(pc->open) && cpu_online(cpu))
			open(cpu, max);
	}
}

/**
 * seep_pmu_cpus_rotate() - begin the next turn on all CPUs
 * @max: counters in use at once
 *
 * Context: process, may sleep, pmu_mutex.
 */
void seep_pmu_cpus_rotate(u8 max)
{
	int cpu;

	for_each_online_cpu(cpu)
		rotate(cpu, max);
}

/**
 * seep_pmu_cpus_close() - stop counting and release all events; counts are kept
 *
 * Context: process, may sleep, pmu_mutex.
 */
void seep_pmu_cpus_close(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		close(cpu);
}

/**
 * seep_pmu_cpus_price() - cost of reading a counter
 *
 * Context: process, may sleep, pmu_mutex.
 * Return: seep_pmu_price() of the first CPU that counts, which stands for all; 0: no CPU
 * counts, or the cost is not known.
 */
u64 seep_pmu_cpus_price(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(seep_pmu_cpus, cpu)->open))
			return seep_pmu_price(cpu);
	return 0;
}

/* The figures that a CPU adds to, passed to the CPU itself. */
struct figures {
	struct seep_pmu_shown *list;
	u8 n;
};

static void add_here(void *info)
{
	const struct figures *f = info;

	seep_pmu_add_here(this_cpu_ptr(seep_pmu_cpus), f->list, f->n);
}

/**
 * seep_pmu_cpus_add() - add what all CPUs counted up to now
 * @list: the events; total, parts and turn are added to
 * @n: events in it
 *
 * Interrupts the CPUs that are open, one after the other.
 *
 * Context: process, may sleep, pmu_mutex.
 */
void seep_pmu_cpus_add(struct seep_pmu_shown *list, u8 n)
{
	struct figures f = { list, n };
	struct seep_pmu_cpu *pc;
	int cpu;

	for_each_possible_cpu(cpu) {
		pc = per_cpu_ptr(seep_pmu_cpus, cpu);
		/* pairs with smp_store_release() in seep_pmu_close_here() */
		if (!smp_load_acquire(&pc->open) || smp_call_function_single(cpu, add_here, &f, 1))
			seep_pmu_add_here(pc, list, n);
	}
}
