// SPDX-License-Identifier: GPL-2.0
/*
 * Hook: the software page-fault event of perf, one a CPU, for kernels and
 * architectures without the tracepoints.
 *
 * A sample period of 1 calls the overflow handler at every fault. Events die
 * with their CPU and cannot be made or released in a hotplug callback (static
 * keys take cpus_read_lock(), the offlining would never end), so the callbacks
 * only queue the work that sets them right.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/workqueue.h>
#include "seep.h"

static DEFINE_PER_CPU(struct perf_event *, event);	/* event_mutex */
static DEFINE_PER_CPU(int, stale);			/* its CPU came anew; by xchg() */
static DEFINE_MUTEX(event_mutex);
static enum cpuhp_state hotplug_state;

static void fault(struct perf_event *e, struct perf_sample_data *data, struct pt_regs *regs)
{
	unsigned int kind = regs && user_mode(regs) ? 0 : SEEP_F_KERNEL;
	unsigned long flags;

	local_irq_save(flags);		/* up to 5.10 they are on here */
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

/* An event for every online CPU, none for the others. */
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
		if (rc && rc != -ENODEV) {	/* -ENODEV: it went offline meanwhile */
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
 * Whatever event it has is from before it went, and dead. Not said when it
 * goes: it is still online then, and the work would make a new one in time to
 * die with it.
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
	synchronize_rcu();	/* a handler that the release has interrupted leaves */
}

const struct seep_hook_ops seep_hook_software = {
	.name = "software",
	.access_known = false,
	.start = start,
	.stop = stop,
};
