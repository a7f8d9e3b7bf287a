// SPDX-License-Identifier: GPL-2.0
/*
 * Hook: birth and death of processes.
 *
 * A fork creates the record of the child here: the child may inherit the memory of a
 * process that ends before the child has run. After vfork and exec a mm gets its record at
 * its first page fault, and such an inheritance may be missed.
 *
 * How a process under watch ends is noted for its alert (end.c).
 *
 * An exec changes the program of a record. Exits are counted, and so is the mm that exec
 * leaves, so that many dead records are buried before the next tick. Up to v6.15
 * sched_process_exit comes after p->mm was cleared, later it comes before. A record is
 * therefore known to be dead by mm_users only.
 *
 * Context: probes run in process context with preemption off. No locks.
 */
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>
#include <linux/binfmts.h>
#include <trace/events/oom.h>
#include <trace/events/sched.h>
#include "seep.h"

static void on_exec(void *data, struct task_struct *p, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	if (seep_disabled())
		return;
	seep_count(EXECS);
	seep_end_note(p, true);
	seep_tab_death();		/* of the mm that exec has left */
	seep_tab_exec();
}

static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct mm_struct *mm = child->mm;	/* the child does not run yet */

	if (seep_disabled() || !thread_group_leader(child))
		return;
	seep_count(FORKS);
	if (!mm || mm == current->mm)
		return;
	rcu_read_lock();
	seep_tab_birth(mm, child);
	rcu_read_unlock();
}

static void on_exit(SEEP_TP_EXIT_PROTO)
{
	if (seep_disabled() || atomic_read(&p->signal->live))
		return;		/* disabled, or other threads go on */
	seep_count(EXITS);
	seep_end_note(p, false);
	seep_tab_death();
}

static void on_victim(SEEP_TP_VICTIM_PROTO)
{
	if (!seep_disabled())
		SEEP_TP_VICTIM_CALL(seep_end_victim);
}

/* Compile time only. */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_sched_process_exec(on_exec);
	check_trace_callback_type_sched_process_fork(on_fork);
	check_trace_callback_type_sched_process_exit(on_exit);
	check_trace_callback_type_mark_victim(on_victim);
}

/* tp is set while the probe is attached. */
static struct probe {
	const char *name;
	void *handler;
	struct tracepoint *tp;
} probes[] = {
	{ "sched_process_exec", on_exec },
	{ "sched_process_fork", on_fork },
	{ "sched_process_exit", on_exit },
	{ "mark_victim", on_victim },
};

/**
 * seep_hook_life_stop() - detach the probes; none runs any more on return
 *
 * Context: module exit, or init that failed.
 */
void seep_hook_life_stop(void)
{
	struct probe *p;

	for (p = probes; p < probes + ARRAY_SIZE(probes); p++) {
		if (p->tp)
			seep_tracepoint_unregister(p->tp, p->handler);
		p->tp = NULL;
	}
	tracepoint_synchronize_unregister();
}

/**
 * seep_hook_life_start() - attach the probes
 *
 * Without one of them the tick finds births and deaths as well, only later. Without
 * mark_victim it is not known which cgroup ran out of memory.
 *
 * Context: module init.
 * Return: 0, or -ENOMEM.
 */
int seep_hook_life_start(void)
{
	struct probe *p;
	int rc;

	for (p = probes; p < probes + ARRAY_SIZE(probes); p++) {
		p->tp = seep_find_tracepoint(p->name);
		rc = p->tp ? tracepoint_probe_register(p->tp, p->handler, NULL) : -ENOENT;
		if (rc == -ENOMEM) {	/* temporary: rather fail the load */
			p->tp = NULL;
			seep_hook_life_stop();
			return rc;
		}
		if (rc) {
			pr_notice("tracepoint %s: not to be had here (%d)\n", p->name, rc);
			p->tp = NULL;
		}
	}
	return 0;
}
