// SPDX-License-Identifier: GPL-2.0
/*
 * Lives in the simulated machine: processes that grow and end, and the alerts of the module
 * about them. Compiled as kernel code; the scenario "subjects" of main.c calls it.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>
#include "seep.h"
#include "lives.h"

int u_format(char *buf, unsigned long size, const char *fmt, __builtin_va_list args);

long w_available = 1L << 20;	/* pages: 4 GiB */

/* The machine has @pages less, and the process more, in a new mapping. */
void w_grow(struct task_struct *t, long pages)
{
	atomic_long_add(pages, (atomic_long_t *)&t->mm->rss_stat.count[MM_ANONPAGES]);
	t->mm->total_vm += pages;
	w_available -= pages;
}

/* A process leaves its mm. @reaped: its parent knows; it is in no table any more. */
void w_leave(struct task_struct *t, int status, bool reaped)
{
	struct mm_struct *mm = t->mm;

	w_available += atomic_long_read((atomic_long_t *)&mm->rss_stat.count[MM_ANONPAGES]);
	t->exit_code = status;
	t->flags |= PF_EXITING;
	atomic_set(&t->signal->live, 0);
	t->mm = NULL;
	atomic_set(&mm->mm_users, 0);
	if (reaped) {
		seep_end_note(t, false);
		hlist_del_init(&t->pid_links[PIDTYPE_TGID]);
	}
}

/* A process ends and is reaped, while a reader of /proc/PID/mem has its mm. Return: that mm. */
struct mm_struct *w_orphan(struct task_struct *t)
{
	struct mm_struct *mm = t->mm;

	w_leave(t, 0, true);
	atomic_set(&mm->mm_users, 1);
	return mm;
}

struct mm_struct *w_mm(struct task_struct *t)
{
	return t->mm;
}

/* A process leaves its mm and runs in another one. @mm: NULL: in none, and it is reaped. */
void w_run_in(struct task_struct *t, struct mm_struct *mm)
{
	struct mm_struct *old = t->mm;

	t->mm = mm;
	if (mm)
		atomic_inc(&mm->mm_users);
	else
		hlist_del_init(&t->pid_links[PIDTYPE_TGID]);
	if (atomic_dec_and_test(&old->mm_users))
		w_exit();
}

/* An exit is counted. The process may still have its mm then. */
void w_exit(void)
{
	seep_tab_death();
}

/* A process ends. */
void w_end(struct task_struct *t, int status, bool reaped)
{
	w_leave(t, status, reaped);
	w_exit();
}

/* The highest climb that the group of a process knows of, MiB. */
unsigned int w_known_mb(struct task_struct *t)
{
	return seep_tab_find(t->mm)->group->known_rise / SEEP_MIB;
}

unsigned int w_records(void)
{
	return seep_tab_count();
}

static void __printf(3, 4) print(char *buf, unsigned long size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	u_format(buf, size, fmt, args);
	va_end(args);
}

/* The next alert as a line. Return: false: there is none. */
bool w_alert(char *buf, unsigned long size)
{
	static u64 seq, seq_of_group;
	const struct seep_alert *a = seep_alert_next(seq + 1);

	if (!a)
		return false;
	seq = a->seq;
	print(buf, size, "%s: %s, members %u, growing %u, time %u, end %x%s", a->view.comm,
	      seep_state_names[a->view.verdict.state], a->view.members, a->view.growing,
	      a->lives.n + 1, a->end.how, !a->merged_into ? "" :
	      a->merged_into == seq_of_group ? ", merged into that of the group" :
	      ", merged into another one");
	if (a->view.members)
		seq_of_group = seq;
	return true;
}

/* The only such work is that of hardware counters. */
static struct work_struct *waiting;

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	waiting = work;
	return true;
}

void w_run_works(void)
{
	struct work_struct *work = waiting;

	waiting = NULL;
	if (work)
		work->func(work);
}
