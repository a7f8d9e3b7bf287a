// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: which process a mm is known by, and which mm a process runs in.
 *
 * A record belongs to a mm, a person asks for a pid. Threads share both;
 * a vfork child runs in its parent's mm until it executes; processes made with
 * clone(CLONE_VM) share a mm for good, and the record is known by one of them.
 */
#include <linux/idr.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include "seep.h"

static bool missed;		/* some mm found no record; adopt it later */

/**
 * seep_owner_of() - whose mm this is
 * @t: runs in @mm, maybe as the vfork child of its owner
 * @mm: compared only
 *
 * Context: RCU.
 */
struct task_struct *seep_owner_of(struct task_struct *t, const struct mm_struct *mm)
{
	struct task_struct *parent;
	int depth;

	for (depth = 0; depth < 8 && READ_ONCE(t->vfork_done); depth++) {
		parent = rcu_dereference(t->real_parent);
		if (READ_ONCE(parent->mm) != mm)
			break;
		t = parent;
	}
	return t;
}

/*
 * Does @visit to the first thread of a process that runs in a mm of its own,
 * which stays its mm meanwhile. Context: RCU; @visit under task_lock().
 */
static void visit_user_thread(struct task_struct *process,
			      void (*visit)(struct task_struct *t, void *arg), void *arg)
{
	struct task_struct *t;
	bool found;

	for_each_thread(process, t) {
		task_lock(t);
		found = t->mm && !(t->flags & PF_KTHREAD) && !READ_ONCE(t->vfork_done);
		if (found)
			visit(t, arg);
		task_unlock(t);
		if (found)
			return;
	}
}

/* ---- who has no record yet ---- */

/* Some mm goes without a record: seep_owner_adopt_all() will come to it. Any context. */
void seep_owner_missed(void)
{
	if (!READ_ONCE(missed))
		WRITE_ONCE(missed, true);
}

static void adopt(struct task_struct *t, void *arg)
{
	u32 *missing = arg;

	if (!seep_tab_find(t->mm) && (!seep_pool_left() || !seep_tab_birth(t->mm, t)))
		++*missing;
}

/* One walk over all processes; how many are still without a record. */
static u32 adopt_walk(void)
{
	struct task_struct *p;
	u32 missing = 0;

	rcu_read_lock();
	for_each_process(p)
		visit_user_thread(p, adopt, &missing);
	rcu_read_unlock();
	return missing;
}

/**
 * seep_owner_adopt_all() - records for processes that found none
 *
 * At load that is every process; later those that came while the table was
 * full or the pool empty. A walk cannot allocate, so walks and refills take
 * turns until nobody is left, or no record is to be had.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_owner_adopt_all(void)
{
	u32 missing = ~0U, last;

	if (!READ_ONCE(missed))
		return;
	do {
		last = missing;
		WRITE_ONCE(missed, false);
		missing = adopt_walk();
		if (missing)
			seep_pool_refill(missing);
		cond_resched();
	} while (missing && missing < last);	/* as long as it helps */
	if (missing)
		seep_owner_missed();
}

/* ---- the owner of a record ---- */

/* The mm that a process runs in: to be compared, not to be looked into. RCU. */
static struct mm_struct *mm_of(struct task_struct *process)
{
	struct mm_struct *mm = NULL;
	struct task_struct *t;

	for_each_thread(process, t) {
		mm = READ_ONCE(t->mm);
		if (mm)
			break;
	}
	return mm;
}

/* Also when the first thread has left and others go on. RCU. */
static bool has_owner(const struct seep_rec *rec)
{
	struct task_struct *p = pid_task(rec->pid, PIDTYPE_TGID);

	return p && !(p->flags & PF_KTHREAD) && mm_of(p) == rec->mm;
}

/* Takes over the reference to @pid. */
static void set_owner(struct seep_rec *rec, struct pid *pid)
{
	struct pid *old = rec->pid;

	rec->pid = pid;
	rec->cgroup_ns = 0;	/* what is left in its cgroup, which may be another */
	put_pid(old);
}

struct heir {
	const struct mm_struct *mm;
	struct pid *pid;
};

static void take_heir(struct task_struct *t, void *arg)
{
	struct heir *heir = arg;

	if (t->mm == heir->mm)
		heir->pid = get_pid(task_tgid(t));
}

/**
 * seep_owner_lost() - the process that @rec is known by left its mm
 * @rec: of a mm that is in use
 *
 * When the process that came first is gone, another one that shares the mm
 * gives the record its pid.
 *
 * Context: process, seep_table_mutex.
 * Return: true when the record has a new pid.
 */
bool seep_owner_lost(struct seep_rec *rec)
{
	struct heir heir = { .mm = rec->mm };
	struct task_struct *p;

	rcu_read_lock();
	if (!has_owner(rec)) {
		for_each_process(p) {
			visit_user_thread(p, take_heir, &heir);
			if (heir.pid)
				break;
		}
	}
	rcu_read_unlock();
	if (heir.pid)
		set_owner(rec, heir.pid);
	return heir.pid;
}

/* ---- the record of a process ---- */

/* @process goes on in the mm that its first owner has left: it is known by that now. */
static void take_over(struct seep_rec *rec, struct task_struct *process)
{
	struct pid *pid = task_tgid(process);	/* NULL: it was reaped meanwhile */

	if (pid && rec->pid != pid && !has_owner(rec) && seep_owner_of(process, rec->mm) == process)
		set_owner(rec, get_pid(pid));
}

/**
 * seep_owner_rec() - the record of the mm that a process runs in
 * @process: leader of a thread group, no kernel thread
 * @exiting: set when it has no mm any more
 *
 * Between an exec and its first fault a process has no record yet: it is given
 * one.
 *
 * Context: process, RCU, seep_table_mutex, without which the record may die.
 * Return: NULL when there is no mm, or no room for a record.
 */
struct seep_rec *seep_owner_rec(struct task_struct *process, bool *exiting)
{
	struct seep_rec *rec = NULL;
	struct mm_struct *mm;
	u32 missing = 0;

	do {
		mm = mm_of(process);
		if (!mm)
			break;
		rec = seep_tab_find(mm);
		if (!rec) {
			visit_user_thread(process, adopt, &missing);
			rec = seep_tab_find(mm);
		}
		/* it may have executed meanwhile, and another process got the address */
	} while (mm_of(process) != mm);
	if (missing)
		seep_owner_missed();
	if (mm && rec)
		take_over(rec, process);
	*exiting = !mm;
	return mm ? rec : NULL;
}

/* The record that is known by this pid; RCU. */
static struct seep_rec *known_by(struct pid *pid)
{
	struct task_struct *p = pid_task(pid, PIDTYPE_TGID);
	struct seep_rec *rec;
	bool exiting;

	if (!p || p->flags & PF_KTHREAD)
		return NULL;
	rec = seep_owner_rec(p, &exiting);
	/* otherwise it runs in the mm of another one, which tells it */
	return rec && rec->pid == pid ? rec : NULL;
}

/**
 * seep_owner_next() - the next process that has a record
 * @ns: the reader's
 * @nr: the pid in @ns that was told last, 0 at first; moved on
 *
 * The order is that of the pids, which a process keeps for life: whatever
 * forks, executes and exits between two calls, a process that was there all
 * the time is told exactly once, with the record of what it runs now.
 *
 * Context: process, may sleep, seep_table_mutex.
 * Return: NULL at the end. The record stays until the mutex is released.
 */
struct seep_rec *seep_owner_next(struct pid_namespace *ns, int *nr)
{
	struct seep_rec *rec = NULL;
	struct pid *pid;
	u32 n = 0;
	int next;

	lockdep_assert_held(&seep_table_mutex);
	do {
		/* who is to be told may have no record yet */
		if (!(n++ % SEEP_RESCHED_EVERY) && !seep_pool_left())
			seep_pool_refill(0);
		rcu_read_lock();
		next = *nr + 1;
		pid = idr_get_next(&ns->idr, &next);
		if (pid) {
			*nr = next;
			rec = known_by(pid);
		}
		rcu_read_unlock();
		cond_resched();
	} while (pid && !rec);
	return rec;
}
