// SPDX-License-Identifier: GPL-2.0
/*
 * What the scenarios of bounds.c ask of records, limits and counters. Compiled as kernel code.
 */
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include "pmu/pmu.h"
#include "lives.h"

void k_die(const char *text);

bool w_has(struct task_struct *t)
{
	return seep_tab_find(t->mm);
}

/* The process has a record with an alert that was not sent yet. */
bool w_held_back(struct task_struct *t)
{
	const struct seep_rec *rec = seep_tab_find(t->mm);

	return rec && rec->notified.pending;
}

/* The process has a record with an alert that was sent. */
bool w_told(struct task_struct *t)
{
	const struct seep_rec *rec = seep_tab_find(t->mm);

	return rec && rec->notified.alerted;
}

/* The process has a record with an alert that is over. */
bool w_was_told(struct task_struct *t)
{
	const struct seep_rec *rec = seep_tab_find(t->mm);

	return rec && rec->notified.worst && !rec->notified.alerted;
}

/* The record of the mm that the process runs in has its pid. */
bool w_owns(struct task_struct *t)
{
	const struct seep_rec *rec = seep_tab_find(t->mm);

	return rec && rec->pid == task_tgid(t);
}

/* How many caches of CPUs hold the record of the process. */
unsigned int w_slots(struct task_struct *t)
{
	return atomic_read(&seep_tab_find(t->mm)->cpus);
}

/* Records that count for the share of a user. */
unsigned int w_share(unsigned int uid)
{
	return seep_tab_shares[seep_tab_share(KUIDT_INIT(uid))];
}

/* A process has ended. Its record is buried, charged to a user after that, and freed. */
void w_bury(struct task_struct *t, unsigned int uid)
{
	struct seep_rec *rec = seep_tab_find(t->mm);
	LIST_HEAD(graves);

	w_end(t, 0, true);
	mutex_lock(&seep_table_mutex);
	seep_tab_bury(&graves);
	seep_tab_charge(rec, KUIDT_INIT(uid));
	seep_group_leave(rec);
	seep_share_leave(rec);
	mutex_unlock(&seep_table_mutex);
	seep_tab_free(&graves);
}

/* A cgroup with a limit of 500 MiB, all of them free. Return: MiB that the process has left. */
unsigned int w_tell(struct task_struct *t, unsigned long long cgroup)
{
	struct seep_rec *rec = seep_tab_find(t->mm);
	u64 left = 0;

	mutex_lock(&seep_table_mutex);
	seep_facts_cgroup(rec, 500ULL << 20, 0, cgroup);
	seep_facts_headroom(rec, &rec->last, &left);
	mutex_unlock(&seep_table_mutex);
	return left >> 20;
}

/* User space tells how the service of a process climbed before. */
void w_teach(struct task_struct *t, unsigned long long rise, unsigned long long span_s)
{
	mutex_lock(&seep_table_mutex);
	seep_sample_teach(seep_tab_find(t->mm), rise, span_s);
	mutex_unlock(&seep_table_mutex);
}

/* What a reader is told of that: MiB and seconds. Return: the next sample begins a history. */
bool w_knows(struct task_struct *t, unsigned int *mib, unsigned int *span_s)
{
	const struct seep_rec *rec = seep_tab_find(t->mm);
	u32 rise, span;

	mutex_lock(&seep_table_mutex);
	seep_group_known(rec, &rise, &span);
	mutex_unlock(&seep_table_mutex);
	*mib = rise / SEEP_MIB;
	*span_s = span / 10;
	return !rec->det.samples;
}

/* How many groups come after that of the process in its bucket, and it; 0: it has none. */
unsigned int w_chain(struct task_struct *t)
{
	const struct seep_rec *rec = seep_tab_find(t->mm);
	const struct hlist_node *at = rec && rec->group ? &rec->group->hash : NULL;
	unsigned int n = 0;

	for (; at; at = at->next)
		n++;
	return n;
}

/* Is the process under watch, or suspected? */
bool w_watched(struct task_struct *t)
{
	return seep_tab_find(t->mm)->det.state != SEEPAGE_STATE_OK;
}

/* As a dump of all processes does it. Return: how many. */
unsigned int w_dump(void)
{
	unsigned int n = 0;
	int nr = 0;

	mutex_lock(&seep_table_mutex);
	while (seep_owner_next(&init_pid_ns, &nr))
		n++;
	mutex_unlock(&seep_table_mutex);
	return n;
}

/* Messages to listeners that could not be made or sent. */
unsigned int w_lost(void)
{
	return seep_counter(SEEPAGE_COUNTER_NOTIFY_FAILED);
}

/* Records of processes that have ended, back in the pool. */
unsigned int w_births(void)
{
	return (unsigned int)seep_counter(SEEPAGE_COUNTER_BIRTHS);
}

unsigned int w_freed(void)
{
	return seep_counter(SEEPAGE_COUNTER_DEATHS);
}

/* Full passes since the module was loaded. */
unsigned int w_passes(void)
{
	struct seep_status s;

	seep_status_get(&s);
	return s.tick.ticks;
}

/* ---- a counter that counts 1000 events each time that it is read ---- */

static struct perf_event event;

static void read_event(struct perf_event *e)
{
	local64_add(1000, &e->count);
}

/* CPU 0 counts for all processes that run there from now on; @a and @b have areas. */
void w_count_here(struct task_struct *a, struct task_struct *b)
{
	static const struct seep_pmu_listed listed = { .name = "events" };
	static const u8 first;
	struct seep_pmu_counter *c;

	event.state = PERF_EVENT_STATE_ACTIVE;
	event.tstamp = 1;
	if (seep_pmu_cpus_alloc() || seep_pmu_areas_start(&listed, 1) || seep_pmu_probe_start())
		k_die("counters do not begin");
	mutex_lock(&seep_table_mutex);
	seep_pmu_refill();
	seep_tab_find(a->mm)->pmu = seep_pmu_take();
	seep_tab_find(b->mm)->pmu = seep_pmu_take();
	mutex_unlock(&seep_table_mutex);
	c = per_cpu_ptr(seep_pmu_cpus, 0)->counter;
	c->event = &event;
	c->read = read_event;
	c->since = event.tstamp;
	c->at = offsetof(struct seep_pmu_area, of);
	seep_pmu_open_here(per_cpu_ptr(seep_pmu_cpus, 0), &first, 1);
}

/* @area: out: events in the area of a process, which CPUs share; @kept: those of CPU 0 */
void w_counted(struct task_struct *t, unsigned long long *area, unsigned long long *kept)
{
	*area = atomic64_read(&seep_tab_find(t->mm)->pmu->of[0].count);
	*kept = per_cpu_ptr(seep_pmu_cpus, 0)->counter[0].kept.count;
}
