// SPDX-License-Identifier: GPL-2.0
/*
 * Hook: perf's software page-fault event, one per CPU, for kernels and architectures
 * without the tracepoints.
 *
 * With a sample period of 1 the overflow handler runs at every fault. An event dies with
 * its CPU. It cannot be created or released in a hotplug callback, because static keys take
 * cpus_read_lock() and the offlining would never end. The callbacks therefore only queue a
 * worker.
 *
 * Context: fault() in any context but NMI, the rest in process context. Lock: event_mutex.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/workqueue.h>
#include "seep.h"

static DEFINE_PER_CPU(struct perf_event *, event);	/* event_mutex */
static DEFINE_PER_CPU(int, stale);			/* its event is dead; changed by xchg() */
static DEFINE_MUTEX(event_mutex);
static enum cpuhp_state hotplug_state;

/* Overflow handler. The event does not tell the access: all faults count as reads. */
static void fault(struct perf_event *e, struct perf_sample_data *data, struct pt_regs *regs)
{
	unsigned int kind = regs && user_mode(regs) ? 0 : SEEP_F_KERNEL;
	unsigned long flags;

	local_irq_save(flags);		/* they are on here up to v5.10 */
	seep_account(kind);
	local_irq_restore(flags);
}

static void release(int cpu)
{
	struct perf_event *e = per_cpu(event, cpu);

	per_cpu(event, cpu) = NULL;
	if (e)
		perf_event_release_kernel(e);
}

static int create(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.pinned = 1,
	};
	struct perf_event *e;

	e = perf_event_create_kernel_counter(&attr, cpu, NULL, fault, NULL);
	if (IS_ERR(e))
		return PTR_ERR(e);
	per_cpu(event, cpu) = e;
	return 0;
}

/* Create events on online CPUs without one, release those of offline CPUs. */
static int reconcile_all(void)
{
	int cpu, rc, first = 0;

	mutex_lock(&event_mutex);
	for_each_possible_cpu(cpu) {
		if (xchg(per_cpu_ptr(&stale, cpu), 0) || !cpu_online(cpu))
			release(cpu);
		if (!cpu_online(cpu) || per_cpu(event, cpu))
			continue;
		rc = create(cpu);
		if (rc && rc != -ENODEV) {	/* -ENODEV: the CPU went offline meanwhile */
			seep_count(HOOK_EVENTS_FAILED);
			if (!first)
				first = rc;
		}
	}
	mutex_unlock(&event_mutex);
	return first;
}

static void reconcile_work(struct work_struct *unused)
{
	int rc = reconcile_all();

	if (rc)
		pr_warn_ratelimited("hook software: a CPU has no event (%d)\n", rc);
}

static DECLARE_WORK(reconcile, reconcile_work);

/*
 * Online callback. The event from before the CPU went offline is dead. It is not marked in
 * cpu_goes(): the CPU is still online there, and the worker would create a new event just
 * to die with it. xchg() pairs with the one in reconcile_all().
 */
static int cpu_came(unsigned int cpu)
{
	xchg(per_cpu_ptr(&stale, cpu), 1);
	schedule_work(&reconcile);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	schedule_work(&reconcile);
	return 0;
}

static void release_all(void)
{
	int cpu;

	mutex_lock(&event_mutex);
	for_each_possible_cpu(cpu)
		release(cpu);
	mutex_unlock(&event_mutex);
}

static int start(void)
{
	int rc;

	rc = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "seepage:online",
				       cpu_came, cpu_goes);
	if (rc < 0)
		return rc;
	hotplug_state = rc;
	rc = reconcile_all();
	if (rc) {
		cpuhp_remove_state_nocalls(hotplug_state);
		cancel_work_sync(&reconcile);
		release_all();
		synchronize_rcu();
	}
	return rc;
}

static void stop(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	cancel_work_sync(&reconcile);
	release_all();
	synchronize_rcu();	/* handlers that ran when their event was released */
}

const struct seep_hook_ops seep_hook_software = {
	.name = "software",
	.access_known = false,
	.start = start,
	.stop = stop,
};
