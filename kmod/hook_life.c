// SPDX-License-Identifier: GPL-2.0
/*
 * Hook: birth and death of processes.
 *
 * A record is made here when a process is forked: it may be the heir of one that
 * ends before it has run; else at the first fault of a mm, as after vfork and exec,
 * where an heir may still be missed. Its program changes here
 * (exec), and deaths are counted, of the mm that exec leaves too, so that the dead are
 * cleared away before the next tick when there are many.
 * sched_process_exit has lost p->mm up to 6.15, and comes before that later:
 * who is dead is read from mm_users instead.
 */
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>
#include <linux/binfmts.h>
#include <trace/events/sched.h>
#include "seep.h"

/*
 * Deaths between two clearings: few records wait dead, and a pass pays off. In a
 * full table the dead keep out the living and wait less; but a clearing walks
 * the table, so that a large one is not walked for each of them.
 */
#define DEATHS_MIN	64U
static atomic_t deaths = ATOMIC_INIT(0);

static void clear_after(u32 dead)
{
	u32 live = seep_tab_count();

	if (!dead || dead < (seep_tab_full() ? live / 64 : max(DEATHS_MIN, live / 8)))
		return;
	atomic_set(&deaths, 0);
	seep_tick_kick();
}

/*
 * A mm was refused for want of room, which those may take who died before the
 * table was full. Context: any but NMI.
 */
void seep_hook_life_full(void)
{
	clear_after(atomic_read(&deaths));
}

static void on_exec(void *data, struct task_struct *p, pid_t old_pid,
		    struct linux_binprm *bprm)
{
	if (seep_disabled())
		return;
	seep_count(EXECS);
	clear_after(atomic_inc_return(&deaths));	/* the mm that it had */
	seep_tab_exec();
}

static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct mm_struct *mm = child->mm;	/* it does not run yet */

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
		return;		/* off, or other threads go on */
	seep_count(EXITS);
	clear_after(atomic_inc_return(&deaths));
}

static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_sched_process_exec(on_exec);
	check_trace_callback_type_sched_process_fork(on_fork);
	check_trace_callback_type_sched_process_exit(on_exit);
}

static struct probe {
	const char *name;
	void *handler;
	struct tracepoint *tp;
} probes[] = {
	{ "sched_process_exec", on_exec },
	{ "sched_process_fork", on_fork },
	{ "sched_process_exit", on_exit },
};

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

/* Without one of them the tick still finds births and deaths, only later. */
int seep_hook_life_start(void)
{
	struct probe *p;
	int rc;

	for (p = probes; p < probes + ARRAY_SIZE(probes); p++) {
		p->tp = seep_find_tracepoint(p->name);
		rc = p->tp ? tracepoint_probe_register(p->tp, p->handler, NULL) : -ENOENT;
		if (rc == -ENOMEM) {	/* passing: better no module than half of it */
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
