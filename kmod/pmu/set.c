// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: which events count, on which CPUs, and why some do not.
 *
 * The list of events is opened on every online CPU and closed when it is no longer wanted.
 * Where the list is longer than pmc_max_counters, events take turns. Hotplug callbacks
 * only mark and close a CPU; a worker does the rest.
 *
 * Lock: pmu_mutex for everything here. It is taken before seep_table_mutex and before the
 * lock of CPU hotplug.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "pmu.h"

#define ROTATE_MS	200U		/* of up to 8 CPUs; in proportion to more */
#define RETRY_MS	5000		/* on CPUs that lack events for want of memory */
#define PRICE_MAX	16U		/* readings of the clock; 1 to 5 are usual */
#define JUDGE_NS	NSEC_PER_SEC	/* an event must have had its turn for this long */
/*
 * With pmc=watched counters stay on for so long after the last suspect: 18 full passes at
 * the default interval. What is usual for a process is known after 16.
 */
#define LINGER_NS	(180ULL * NSEC_PER_SEC)

/* Give the next events their turn. */
static void rotate_work(struct work_struct *w);
/* Worker: after CPU hotplug, or when memory was short. */
static void reconcile_work(struct work_struct *w);
static DECLARE_DELAYED_WORK(rotate, rotate_work);
static DECLARE_WORK(reconcile, reconcile_work);
static DECLARE_DELAYED_WORK(retry, reconcile_work);
/* With pmc=watched: count, or stop. */
static void watch_work(struct work_struct *w);
static DECLARE_WORK(watch, watch_work);

static DEFINE_MUTEX(pmu_mutex);
static struct {				/* pmu_mutex */
	enum { NONE, HELD, COUNTING } state;	/* no counts; counts kept; counting */
	struct seep_pmu_list *list;	/* NULL: state NONE */
	u8 n;				/* events in the list */
	u8 max;				/* pmc_max_counters in force */
	u32 wanted;			/* seep_config_pmc_events() of the list in force; 0: none */
	char why[SEEP_PMU_TEXT];	/* why there are no counters; state NONE */
	enum cpuhp_state hotplug;	/* while COUNTING */
	bool loaded;			/* between init and exit */
	bool watched;			/* pmc=watched may count; read without the mutex */
} pmu;

/* ---- CPU hotplug ---- */

/*
 * Online callback. Events from before the CPU went offline are dead.
 * xchg() pairs with the one in seep_pmu_cpus_create().
 */
static int cpu_came(unsigned int cpu)
{
	xchg(&per_cpu_ptr(seep_pmu_cpus, cpu)->stale, 1);
	schedule_work(&reconcile);
	return 0;
}

/* Offline callback, on the CPU itself, which still runs everything. */
static int cpu_goes(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	seep_pmu_close_here(this_cpu_ptr(seep_pmu_cpus));
	local_irq_restore(flags);
	schedule_work(&reconcile);
	return 0;
}

/*
 * Create events where there are none.
 *
 * Return: false: no event can be created, now or later. An event that could be created
 * once still has CPUs for it, if not at the moment.
 */
static bool create(void)
{
	bool any;
	u8 i;

	seep_pmu_cpus_create(pmu.list->event, pmu.n, pmu.list->rc);
	any = seep_pmu_cpus_incomplete();
	for (i = 0; i < pmu.n; i++)
		any |= !pmu.list->rc[i];
	return any;
}

/* Start counting on all CPUs. If a CPU still lacks events, retry after RETRY_MS. */
static void open(void)
{
	seep_pmu_cpus_open(pmu.max);
	if (seep_pmu_cpus_incomplete())
		schedule_delayed_work(&retry, msecs_to_jiffies(RETRY_MS));
}

/*
 * Length of a turn, in jiffies. With four counters it takes five cross calls for each busy
 * CPU. Turns are longer where there are more CPUs: all together get about 200 calls a second.
 */
static unsigned long turn(void)
{
	return msecs_to_jiffies(max(ROTATE_MS, ROTATE_MS / 8 * num_online_cpus()));
}

static void rotate_work(struct work_struct *w)
{
	mutex_lock(&pmu_mutex);
	if (pmu.state == COUNTING && pmu.n > pmu.max) {
		seep_pmu_cpus_rotate(pmu.max);
		schedule_delayed_work(&rotate, turn());
	}
	mutex_unlock(&pmu_mutex);
}

/* ---- on, hold, off ---- */

static void say(const char *why)
{
	snprintf(pmu.why, sizeof(pmu.why), "off: %s", why);
}

/* No event could be opened on any CPU: say why. */
static void say_why_not(void)
{
	const struct seep_pmu_list *list = pmu.list;
	char host[32], text[SEEP_PMU_TEXT];
	bool none = true;
	u8 i;

	for (i = 0; i < pmu.n; i++)
		none &= list->event[i].none || list->rc[i] == -ENOENT ||
			list->rc[i] == -EOPNOTSUPP;
	if (!none) {
		say("no event could be opened");
		return;
	}
	seep_pmu_host(host, sizeof(host));
	snprintf(text, sizeof(text), "no hardware counters here%s%s%s",
		 *host ? " (virtual machine without a vPMU, " : "", host, *host ? ")" : "");
	say(text);
}

/*
 * Begin to count. Counts that were held go on.
 *
 * Return: 0, or a negative error with a text in pmu.why.
 */
static int count(void)
{
	int rc;

	/* callbacks first: no CPU comes or goes unnoticed from here on */
	rc = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "seepage:pmc", cpu_came, cpu_goes);
	if (rc < 0) {
		say("no callbacks of hotplug");
		return rc;
	}
	pmu.hotplug = rc;
	if (!create()) {
		say_why_not();
		rc = -ENOENT;
		goto close;
	}
	rc = pmu.state == HELD ? 0 : seep_pmu_areas_start(pmu.list->event, pmu.n);
	if (rc) {
		say("no memory");
		goto close;
	}
	rc = seep_pmu_probe_start();
	if (rc) {
		say("no tracepoint sched_switch");
		goto close;
	}
	pmu.state = COUNTING;
	seep_pmu_areas_hold(false);
	*pmu.why = '\0';
	open();
	if (pmu.n > pmu.max)
		schedule_delayed_work(&rotate, turn());
	return 0;
close:
	seep_pmu_cpus_close();
	cpuhp_remove_state_nocalls(pmu.hotplug);
	return rc;
}

/* Stop counting; counts stay readable. */
static void hold(void)
{
	if (pmu.state != COUNTING)
		return;
	pmu.state = HELD;
	seep_pmu_areas_hold(true);
	seep_pmu_cpus_close();		/* a CPU that goes offline meanwhile closes itself */
	seep_pmu_probe_stop();
	cpuhp_remove_state_nocalls(pmu.hotplug);
}

/* Forget the list and what it counted. */
static void drop_list(void)
{
	seep_pmu_areas_stop();
	kfree(pmu.list);
	pmu.list = NULL;
	pmu.n = 0;
}

/* Stop counting and discard all counts. */
static void discard_all(void)
{
	hold();
	if (pmu.state == NONE)
		return;
	pmu.state = NONE;
	drop_list();
}

/*
 * Unless pmc is on: switch counters off where reading one would slow down task switches.
 * One open CPU stands for all. Where none is open because memory was short, reconcile_work() asks
 * again once one is.
 */
static void stop_if_slow(void)
{
	if (pmu.state != COUNTING || seep_config_value(SEEPAGE_CFG_PMC) == SEEPAGE_PMC_ON ||
	    seep_pmu_cpus_price() <= PRICE_MAX)
		return;
	discard_all();
	say("counters that are slow to read (pmc on uses them)");
}

static void reconcile_work(struct work_struct *w)
{
	mutex_lock(&pmu_mutex);
	if (pmu.state == COUNTING) {
		if (create()) {
			open();
			stop_if_slow();
		} else {	/* the first attempt lacked memory, this one finds no event */
			say_why_not();
			discard_all();
		}
	}
	mutex_unlock(&pmu_mutex);
}

/* Begin to count the list @wanted, from zero. Return: as count(). */
static int begin(const char *wanted)
{
	char why[SEEP_PMU_TEXT];
	int n, i, rc;

	pmu.list = kzalloc(sizeof(*pmu.list), GFP_KERNEL);
	if (!pmu.list) {
		say("no memory");
		return -ENOMEM;
	}
	n = *wanted ? seep_pmu_parse(wanted, pmu.list->event, why, sizeof(why)) :
		      seep_pmu_defaults(pmu.list->event);
	for (i = 0; i < n; i++)
		pmu.list->rc[i] = -ENOENT;
	pmu.n = max(n, 0);
	rc = seep_pmu_cpus_alloc();
	if (rc)
		say("no memory");
	else
		rc = count();
	if (rc)
		drop_list();
	return rc;
}

/* Apply the configuration in force. Return: 0, or why nothing counts although it should. */
static int apply(void)
{
	char wanted[SEEP_CONFIG_EVENTS_BYTES];
	u32 mode, nr;
	int rc = 0;
	u8 max;

	mode = seep_config_value(SEEPAGE_CFG_PMC);
	max = seep_config_value(SEEPAGE_CFG_PMC_MAX_COUNTERS);
	nr = seep_config_pmc_events(wanted, sizeof(wanted));
	if (mode == SEEPAGE_PMC_OFF || max != pmu.max || nr != pmu.wanted)
		discard_all();
	pmu.max = max;
	pmu.wanted = nr;
	if (mode == SEEPAGE_PMC_OFF) {
		say("by configuration");
	} else if (mode == SEEPAGE_PMC_HOLD) {
		hold();
		*pmu.why = '\0';
		if (pmu.state == NONE)
			say("held, and nothing was counted");
	} else if (mode == SEEPAGE_PMC_WATCHED && !pmu.watched) {
		hold();
		say("no process is under watch (pmc auto counts always)");
	} else if (pmu.state == HELD) {
		rc = count();		/* if it fails, the state stays HELD with its counts */
	} else if (pmu.state == NONE) {
		rc = begin(wanted);
	}
	stop_if_slow();
	return rc;
}

/**
 * seep_pmu_configure() - apply the configuration in force
 *
 * Context: process, may sleep, no lock held.
 */
void seep_pmu_configure(void)
{
	mutex_lock(&pmu_mutex);
	if (pmu.loaded)
		apply();
	mutex_unlock(&pmu_mutex);
}

static void watch_work(struct work_struct *w)
{
	mutex_lock(&pmu_mutex);
	if (pmu.loaded && seep_config_value(SEEPAGE_CFG_PMC) == SEEPAGE_PMC_WATCHED &&
	    apply() == -ENOMEM)
		WRITE_ONCE(pmu.watched, false);	/* the next pass tries again */
	mutex_unlock(&pmu_mutex);
}

/**
 * seep_pmu_watch() - a pass is over: with pmc=watched, count or stop counting
 * @suspects: some process is under watch
 *
 * Counters stay on for LINGER_NS after the last suspect. Then counts are held, and what
 * was learned stays. Where memory is short, each pass tries again.
 *
 * To begin may wait for memory, which the worker must not: a work of its own does it. Where
 * the configuration is being changed, the next pass asks again.
 *
 * Context: worker, process, no lock held.
 */
void seep_pmu_watch(bool suspects)
{
	static u64 until;		/* CLOCK_MONOTONIC; worker only */
	u64 now = ktime_get_ns();
	bool watched;

	if (suspects)
		until = now + LINGER_NS;
	watched = now < until;
	if (watched == READ_ONCE(pmu.watched))	/* pairs with WRITE_ONCE() below */
		return;
	if (!mutex_trylock(&pmu_mutex))
		return;
	if (pmu.loaded) {		/* else nothing may be scheduled any more */
		WRITE_ONCE(pmu.watched, watched);
		schedule_work(&watch);
	}
	mutex_unlock(&pmu_mutex);
}

/**
 * seep_pmu_init() - begin to count as configured
 *
 * Context: module init, after the table. Does not fail: without counters it says why.
 */
void __init seep_pmu_init(void)
{
	mutex_lock(&pmu_mutex);
	pmu.loaded = true;
	apply();
	mutex_unlock(&pmu_mutex);
}

/**
 * seep_pmu_exit() - discard everything
 *
 * Context: module exit, after netlink (the last caller of seep_pmu_configure()) and
 * before the table. The worker, which may still call seep_pmu_watch(), opens no more.
 */
void seep_pmu_exit(void)
{
	mutex_lock(&pmu_mutex);
	pmu.loaded = false;
	discard_all();
	mutex_unlock(&pmu_mutex);
	cancel_work_sync(&watch);
	cancel_work_sync(&reconcile);
	cancel_delayed_work_sync(&retry);
	cancel_delayed_work_sync(&rotate);
}

/* ---- display ---- */

/* The error of perf_event_create_kernel_counter() as text. */
static const char *refusal(int rc)
{
	switch (rc) {
	case -ENOENT:
	case -EOPNOTSUPP:
		return "the processor's driver has no such event";
	case -EINVAL:
		return "the processor's driver refuses it";
	case -EBUSY:
	case -EAGAIN:
	case -ENOSPC:
		return "no counter is free";
	case -ENOMEM:
		return "no memory for it so far";
	default:
		return "it cannot be opened";
	}
}

/* State and reason of an event. */
static void set_shown_state(u8 id, struct seep_pmu_shown *s)
{
	struct seep_pmu_event_state *st = &pmu.list->st[id];
	int rc = pmu.list->rc[id];
	u64 turn = s->turn;

	s->state = SEEPAGE_PMC_STATE_UNAVAILABLE;
	s->reason = NULL;
	if (turn >= st->turn + JUDGE_NS || turn < st->turn) {
		st->starved = turn >= st->turn && s->total.running_ns == st->running;
		st->turn = turn;
		st->running = s->total.running_ns;
	}
	if (rc)
		s->reason = pmu.list->event[id].none ? "this processor has no event for it" :
						       refusal(rc);
	else if (pmu.state == COUNTING && st->starved)
		s->reason = "its counters are taken by others";
	else if (s->total.running_ns >= JUDGE_NS && !s->total.count)
		s->reason = "it has a counter but never counts";
	else if (pmu.state == COUNTING && s->total.running_ns)
		s->state = SEEPAGE_PMC_STATE_COUNTING;
	else
		s->state = SEEPAGE_PMC_STATE_WAITING;
}

/* All of an event but what CPUs have added. */
static void show(u8 id, const struct seep_pmu_sums *ended, struct seep_pmu_shown *s)
{
	const struct seep_pmu_listed *ev = &pmu.list->event[id];

	memcpy(s->name, ev->name, sizeof(s->name));
	s->type = ev->type;
	s->config = ev->config;
	s->ended.count = ended->of[id].count;
	s->ended.enabled_ns = ended->enabled;
	s->ended.running_ns = ended->of[id].running;
	set_shown_state(id, s);
}

/**
 * seep_pmu_show() - state and counts of each event of the list
 * @list: out: SEEP_PMU_EVENTS places
 * @set: out: number of the list of events
 *
 * Context: process, may sleep, no table mutex.
 * Return: number of events; 0: nothing is counted or held.
 */
u8 seep_pmu_show(struct seep_pmu_shown *list, u32 *set)
{
	struct seep_pmu_sums ended;
	u8 id, n = 0;

	mutex_lock(&pmu_mutex);
	if (pmu.state != NONE) {
		n = pmu.n;
		memset(list, 0, n * sizeof(*list));
		seep_pmu_cpus_add(list, n);
		seep_pmu_sums(&ended, set);
	}
	for (id = 0; id < n; id++)
		show(id, &ended, &list[id]);
	mutex_unlock(&pmu_mutex);
	return n;
}

/**
 * seep_pmu_text() - "on", or why there are no counters
 * @buf: out
 * @size: of @buf
 *
 * Context: process, may sleep.
 */
void seep_pmu_text(char *buf, size_t size)
{
	mutex_lock(&pmu_mutex);
	seep_copy(buf, pmu.state == COUNTING ? "on" : pmu.state == HELD ?
		(*pmu.why ? pmu.why : "held") : pmu.why, size);
	mutex_unlock(&pmu_mutex);
}
