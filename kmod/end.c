// SPDX-License-Identifier: GPL-2.0
/*
 * Ends: how a process that is under watch ended. An alert about its end says so.
 *
 * A record is known to be dead by its mm. By then the process may have been reaped, and its
 * exit code with it. The probes of hook_life.c therefore note here how a process under watch
 * ends. They find it by its pid: up to v6.15 the mm is not known any more where an exit is
 * seen. What ended first counts: a process that executes another program, and exits later,
 * has ended for its record by the exec.
 *
 * An end by the OOM killer is noted in addition where a victim is chosen: the memory of the
 * cgroup that ran out is still in use then. That cgroup is told by three signs. It is the
 * cgroup of the victim or one above, it has had an OOM event of its own, and it is at its
 * limit. If there is none, it is taken to be the machine. What cannot be told: which one ran
 * out where the machine did while such a cgroup was at its limit as well, and limits without
 * such a sign (cgroup v1's memory with swap, cpusets, memory policies).
 *
 * Context: probes run in process context with preemption off. Lock: seep_table_mutex for all
 * that is not a probe.
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/oom.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include "seep.h"

#define END	(SEEPAGE_END_STATUS | SEEPAGE_END_EXIT | SEEPAGE_END_OOM | SEEPAGE_END_EXEC)
#define STAMP	BIT(20)			/* above END: a slot that is taken again has another one */
#define AT_SHIFT	20		/* from ns to the unit of seep_end_slot.at */

static struct seep_end_slot *slots;	/* SEEP_END_SLOTS */
static u32 used;			/* slots from here on are free; WRITE_ONCE() */

/*
 * The slot of a process that has not ended yet, or NULL. @how: out, how of the slot. Another
 * record may take the slot at any time: what is written then must be tied to the stamp.
 */
static struct seep_end_slot *slot_of(struct task_struct *p, u32 *how)
{
	const struct pid *pid = task_tgid(p);
	u32 i, n = READ_ONCE(used);

	for (i = 0; i < n; i++) {
		*how = READ_ONCE(slots[i].how);
		smp_rmb();		/* pairs with smp_store_release() in seep_end_want() */
		if (READ_ONCE(slots[i].pid) == pid && !(*how & END))
			return &slots[i];
	}
	return NULL;
}

/*
 * READ_ONCE() pairs with plain stores of the kernel, under locks that a probe must not take.
 * Context: RCU, or @p is current.
 */
static u32 status_of(struct task_struct *p)
{
	const struct signal_struct *sig = p->signal;
	u32 status = READ_ONCE(READ_ONCE(p->group_leader)->exit_code);

	if (READ_ONCE(sig->flags) & SIGNAL_GROUP_EXIT)
		status = READ_ONCE(sig->group_exit_code);
	status = (status & SEEPAGE_END_STATUS) | SEEPAGE_END_EXIT;
	return READ_ONCE(sig->oom_mm) && (status & 0x7f) == SIGKILL ?
	       status | SEEPAGE_END_OOM : status;
}

/**
 * seep_end_note() - a process ends, or its program does
 * @p: current
 * @exec: it has executed another program
 *
 * A slot that is taken anew before its time is written gets that of its own end later.
 *
 * Context: preemption off.
 */
void seep_end_note(struct task_struct *p, bool exec)
{
	struct seep_end_slot *slot;
	u32 was;

	/* where the slot was taken anew meanwhile, look again */
	do
		slot = slot_of(p, &was);
	while (slot && cmpxchg(&slot->how, was,
			       was | (exec ? SEEPAGE_END_EXEC : status_of(p))) != was);
	if (slot)
		WRITE_ONCE(slot->at, (u32)(ktime_get_ns() >> AT_SHIFT) ?: 1);
}

#if defined(CONFIG_MEMCG) && defined(SEEP_HAVE_MEMCG_EVENTS_LOCAL)
#define CHARGED_AHEAD	256UL		/* pages: a charge that failed may have been as large */

/* The cgroup of @p, or one above, that has run out of memory; 0: none. Context: RCU. */
static u64 cgroup_that_ran_out(struct task_struct *p)
{
	struct cgroup_subsys_state *css = task_css(p, memory_cgrp_id);
	struct mem_cgroup *memcg;

	for (; css && css->parent; css = css->parent) {
		memcg = mem_cgroup_from_css(css);
		if (atomic_long_read(&memcg->memory_events_local[MEMCG_OOM]) &&
		    page_counter_read(&memcg->memory) + CHARGED_AHEAD >=
		    READ_ONCE(memcg->memory.max))
			return cgroup_id(css->cgroup);
	}
	return 0;
}
#else
static u64 cgroup_that_ran_out(struct task_struct *p)
{
	return 0;
}
#endif

/**
 * seep_end_victim() - the OOM killer has chosen a process
 * @p: the process; its memory is still in use
 *
 * Context: preemption off.
 */
void seep_end_victim(struct task_struct *p)
{
	struct seep_end_slot *slot;
	u32 how;

	slot = slot_of(p, &how);
	if (!slot)
		return;
	rcu_read_lock();
	WRITE_ONCE(slot->cgroup, cgroup_that_ran_out(p));
	rcu_read_unlock();
	smp_store_release(&slot->victim, how);	/* pairs with the load in seep_end_find() */
}

/**
 * seep_end_want() - from now on it matters how the process of a record ends
 * @rec: the record; it has no slot yet
 *
 * Context: seep_table_mutex.
 */
void seep_end_want(struct seep_rec *rec)
{
	u32 i;

	for (i = 0; i < SEEP_END_SLOTS && slots[i].pid; i++)
		;
	if (i == SEEP_END_SLOTS)
		return;
	WRITE_ONCE(slots[i].at, 0);
	/* the stamp is never 0; READ_ONCE() pairs with a late cmpxchg() in seep_end_note() */
	WRITE_ONCE(slots[i].how, ((READ_ONCE(slots[i].how) & ~END) + STAMP) ?: STAMP);
	/* a probe that reads the new how may still read the old pid, which then differs */
	smp_store_release(&slots[i].pid, rec->pid);
	WRITE_ONCE(used, max(used, i + 1));
	rec->end = i + 1;
}

/**
 * seep_end_drop() - how it ends does not matter any more
 * @rec: a record, maybe without a slot
 *
 * Context: seep_table_mutex.
 */
void seep_end_drop(struct seep_rec *rec)
{
	if (!rec->end)
		return;
	WRITE_ONCE(slots[rec->end - 1].pid, NULL);
	rec->end = 0;
	while (used && !slots[used - 1].pid)
		WRITE_ONCE(used, used - 1);
}

/**
 * seep_end_find() - how the process of a dead record ended
 * @rec: the record, buried
 * @e: out; how is 0 where that is not known
 *
 * An exit is noted after the mm was torn down, which takes time. So the process is asked
 * where nothing was noted.
 *
 * Context: seep_table_mutex.
 */
void seep_end_find(const struct seep_rec *rec, struct seep_end *e)
{
	struct seep_end_slot *slot = rec->end ? &slots[rec->end - 1] : NULL;
	u32 how = slot ? READ_ONCE(slot->how) : 0;
	struct task_struct *p;

	e->how = how & END;
	if (!e->how) {
		rcu_read_lock();
		p = pid_task(rec->pid, PIDTYPE_TGID);
		if (p)
			e->how = READ_ONCE(p->flags) & PF_EXITING ? status_of(p) : SEEPAGE_END_EXEC;
		rcu_read_unlock();
	}
	e->cgroup = 0;
	/* the kernel may mark a victim after it was killed: its exit may not show it */
	if (!how || smp_load_acquire(&slot->victim) != (how & ~END) ||
	    !(e->how & SEEPAGE_END_EXIT) || (e->how & 0x7f) != SIGKILL)
		return;
	e->how |= SEEPAGE_END_OOM;
	e->cgroup = READ_ONCE(slot->cgroup);
}

/**
 * seep_end_ns() - when the process of a dead record ended
 * @rec: the record, buried
 * @now_ns: CLOCK_MONOTONIC
 *
 * What is started because of an end, by a parent that was told of it, is born later.
 *
 * Context: seep_table_mutex.
 * Return: CLOCK_MONOTONIC, up to a millisecond early; 0: not noted, which is so until the
 * parent is told of it.
 */
u64 seep_end_ns(const struct seep_rec *rec, u64 now_ns)
{
	u64 now = now_ns >> AT_SHIFT;
	u32 at = rec->end ? READ_ONCE(slots[rec->end - 1].at) : 0;

	/* signed: it may have been noted after @now_ns was read */
	return at ? (now - (s32)((u32)now - at)) << AT_SHIFT : 0;
}

/**
 * seep_end_init() - set the slots
 * @mem: SEEP_END_SLOTS, zeroed; it must live as long as the probes run
 *
 * Context: module init, before hooks.
 */
void __init seep_end_init(struct seep_end_slot *mem)
{
	slots = mem;
}
