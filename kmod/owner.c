// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: the process that a record is known by, and the record of a process.
 *
 * A record belongs to a mm, users ask for a pid. Threads share both. A vfork child runs in
 * the mm of its parent until it executes a program. Processes made with clone(CLONE_VM)
 * share a mm for good; the record is known by one of them.
 *
 * Context: process. Locks: RCU for tasks, seep_table_mutex for records.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>
#include "seep.h"
#include "trace.h"

/* Some mm has no record: adopt it later. A hint; READ_ONCE() and WRITE_ONCE() in this file. */
static bool missed;
static bool walked;	/* in this full pass, for owners; table mutex */

/**
 * seep_owner_of() - the process that owns a mm
 * @t: a task that runs in @mm, maybe as a vfork child of the owner
 * @mm: compared, never dereferenced
 *
 * READ_ONCE() pairs with plain stores of vfork_done and mm in kernel/fork.c and exec.c.
 *
 * Context: RCU.
 * Return: @t or the ancestor that it borrows the mm from.
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
 * Call @visit for the first thread of @process that runs in a mm of its own. A child of
 * clone(CLONE_VFORK) without CLONE_VM does. task_lock() keeps t->mm stable meanwhile.
 * Context: RCU.
 */
static void visit_user_thread(struct task_struct *process, seep_visit_fn *visit, void *arg)
{
	struct task_struct *t;
	bool found;
	u32 n = 0;

	for_each_thread(process, t) {
		task_lock(t);
		found = t->mm && !(READ_ONCE(t->flags) & PF_KTHREAD) &&
			seep_owner_of(t, t->mm) == t;
		if (found)
			visit(t, arg);
		task_unlock(t);
		if (found || ++n == SEEP_MOST_THREADS)
			break;
	}
}

/* The next pid in use; *@nr is advanced. Context: RCU. */
static struct pid *next_pid(struct pid_namespace *ns, int *nr)
{
	int next = *nr + 1;
	struct pid *pid = idr_get_next(&ns->idr, &next);

	if (pid)
		*nr = next;
	return pid;
}

/*
 * visit_user_thread() for all processes. The order is that of pids, which a process keeps for
 * life, so one that lives during the whole walk is visited once. Every 64 pids RCU is left.
 * Context: process, may sleep.
 */
static void visit_processes(seep_visit_fn *visit, void *arg)
{
	struct task_struct *p;
	struct pid *pid;
	int nr = 0;
	u32 n;

	do {
		rcu_read_lock();
		for (n = 0; n < SEEP_RESCHED_EVERY; n++) {
			pid = next_pid(&init_pid_ns, &nr);
			if (!pid)
				break;
			p = pid_task(pid, PIDTYPE_TGID);
			if (p)
				visit_user_thread(p, visit, arg);
		}
		rcu_read_unlock();
		cond_resched();
	} while (pid);
}

/* ---- the owner of a record ---- */

/* The mm that a process runs in, to be compared only. Context: RCU. */
static struct mm_struct *mm_of(struct task_struct *process)
{
	struct mm_struct *mm = NULL;
	struct task_struct *t;
	u32 n = 0;

	for_each_thread(process, t) {
		mm = READ_ONCE(t->mm);
		if (mm || ++n == SEEP_MOST_THREADS)
			break;
	}
	return mm;
}

/* True also when the first thread has exited and others go on. Context: RCU. */
static bool has_owner(const struct seep_rec *rec)
{
	struct task_struct *p = pid_task(rec->pid, PIDTYPE_TGID);

	return p && !(READ_ONCE(p->flags) & PF_KTHREAD) && mm_of(p) == rec->mm;
}

/* Does the first thread of a process run in the mm of a record? Context: RCU. */
static bool leads(const struct seep_rec *rec, struct pid *pid)
{
	struct task_struct *p = pid_task(pid, PIDTYPE_TGID);

	return p && READ_ONCE(p->mm) == rec->mm;
}

/* Change the pid of a record; takes over the reference to @pid. */
static void set_owner(struct seep_rec *rec, struct pid *pid)
{
	struct pid *old = rec->pid;

	rec->pid = pid;
	rec->users = 0;		/* the next full pass checks whether it is still there */
	if (rec->cgroup)
		rec->cgroup->ns = 0;	/* the new owner may be in another cgroup */
	if (rec->end) {		/* the end of the old owner is not that of the mm */
		seep_end_drop(rec);
		seep_end_want(rec);
	}
	put_pid(old);
	trace_seepage_owner(rec, 0, rec->det.state, rec->det.state);
}

/*
 * Make @process the owner if the previous owner has left the mm, or may have left it: its first
 * thread has, and that of @process has not. All processes that share a mm come here in a walk, and
 * each of them would look at all threads of the owner otherwise.
 */
static void take_over(struct seep_rec *rec, struct task_struct *process)
{
	/* NULL: it was reaped meanwhile, by a plain store in kernel/pid.c */
	struct pid *pid = data_race(task_tgid(process));

	if (!pid || rec->pid == pid || leads(rec, rec->pid))
		return;
	if ((leads(rec, pid) || !has_owner(rec)) && seep_owner_of(process, rec->mm) == process)
		set_owner(rec, get_pid(pid));
}

/* ---- processes without a record ---- */

/**
 * seep_owner_missed() - note that some mm has no record
 *
 * The next seep_owner_adopt_all() will look for it.
 *
 * Context: any.
 */
void seep_owner_missed(void)
{
	if (!READ_ONCE(missed))
		WRITE_ONCE(missed, true);
}

/*
 * Give the mm of @t a record; count it in *@arg if the pool is empty. If the owner of its record
 * has left, @t becomes the owner.
 */
static void adopt(struct task_struct *t, void *arg)
{
	u32 max = seep_config_value(SEEPAGE_CFG_MAX_PROCESSES), *missing = arg;
	struct seep_rec *rec = seep_tab_find(t->mm);

	if (rec)
		take_over(rec, t);
	else if (!seep_pool_left() && !seep_tab_full() &&
		 seep_tab_room(seep_owner_charge(READ_ONCE(t->group_leader)), max))
		++*missing;
	else
		seep_tab_birth(t->mm, t);	/* a refusal is for room.c to settle */
}

/*
 * Adopt all processes. A walk cannot allocate, so walks and refills of the pool alternate until
 * no process is left, or refilling does not help.
 */
static void walk(void)
{
	u32 missing = ~0U, last;

	do {
		last = missing;
		WRITE_ONCE(missed, false);
		missing = 0;
		visit_processes(adopt, &missing);
		if (missing)
			seep_tab_resize(missing);
	} while (missing && missing < last);	/* as long as a refill helps */
	if (missing)
		seep_owner_missed();
}

/**
 * seep_owner_adopt_all() - create records for processes without one, before a full pass
 *
 * At load that is every process, later those that came while the table was full or the
 * pool empty. A record gets another owner if its owner has left.
 *
 * Context: process, may sleep, seep_table_mutex.
 */
void seep_owner_adopt_all(void)
{
	if (READ_ONCE(missed))
		walk();
	walked = false;
}

/**
 * seep_owner_check() - find a new owner when the process of a record has left its mm
 * @rec: of a mm that is in use
 *
 * Another process that shares the mm then gives the record its pid. If there is none, @rec->users
 * says so. That process is found by a walk over all processes, which looks for the owners of all
 * records. A user can make owners leave at any time, so there is one such walk in a full pass,
 * which is repeated only while refills of the pool help; what leaves after it has a new owner in
 * the next pass.
 *
 * Context: process, may sleep, seep_table_mutex, in a full pass.
 */
void seep_owner_check(struct seep_rec *rec)
{
	bool owned;

	rcu_read_lock();
	owned = has_owner(rec);
	rcu_read_unlock();
	if (owned)
		return;
	rec->users = SEEP_NO_OWNER;
	seep_owner_missed();
	if (!walked)
		walk();
	walked = true;
}

/* ---- the record of a process ---- */

/**
 * seep_owner_rec() - the record of the mm that a process runs in
 * @process: leader of a thread group, no kernel thread
 * @exiting: out: true when the process has no mm any more
 *
 * A process has no record between exec and its first page fault; it gets one here.
 *
 * Context: process, RCU, and seep_table_mutex, which keeps the record alive.
 * Return: NULL when there is no mm, or no empty record.
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
		/* it may have executed meanwhile, and another process got the old address */
	} while (mm_of(process) != mm);
	if (missing)
		seep_owner_missed();
	if (mm && rec)
		take_over(rec, process);
	*exiting = !mm;
	return mm ? rec : NULL;
}

/* The record that has this pid. Context: RCU. */
static struct seep_rec *known_by(struct pid *pid)
{
	struct task_struct *p = pid_task(pid, PIDTYPE_TGID);
	struct seep_rec *rec;
	bool exiting;

	if (!p || READ_ONCE(p->flags) & PF_KTHREAD)
		return NULL;
	rec = seep_owner_rec(p, &exiting);
	/* if not, the process shares the mm of another one, which stands for both */
	return rec && rec->pid == pid ? rec : NULL;
}

/**
 * seep_owner_at() - the record of the process with a pid
 * @ns: pid namespace of the reader
 * @nr: pid in @ns
 *
 * Context: process, seep_table_mutex, which keeps the record alive.
 * Return: NULL when there is none.
 */
struct seep_rec *seep_owner_at(struct pid_namespace *ns, int nr)
{
	struct seep_rec *rec;
	struct pid *pid;

	rcu_read_lock();
	pid = find_pid_ns(nr, ns);
	rec = pid ? known_by(pid) : NULL;
	rcu_read_unlock();
	return rec;
}

/**
 * seep_owner_visit() - visit the process with the next pid, if the pid is one of a process
 * @nr: last pid, 0 at first; advanced
 * @visit: called under task_lock() for a thread that runs in a mm of its own; must not sleep
 * @arg: argument of @visit
 *
 * Context: process.
 * Return: false at the end.
 */
bool seep_owner_visit(int *nr, seep_visit_fn *visit, void *arg)
{
	struct task_struct *p;
	struct pid *pid;

	rcu_read_lock();
	pid = next_pid(&init_pid_ns, nr);
	p = pid ? pid_task(pid, PIDTYPE_TGID) : NULL;
	if (p)
		visit_user_thread(p, visit, arg);
	rcu_read_unlock();
	return pid;
}

/**
 * seep_owner_is() - are all three uids of a process those of a user?
 * @p: the process
 * @uid: the user
 *
 * Context: RCU.
 */
bool seep_owner_is(struct task_struct *p, kuid_t uid)
{
	const struct cred *cred = __task_cred(p);

	return uid_eq(cred->uid, uid) && uid_eq(cred->euid, uid) && uid_eq(cred->suid, uid);
}

/**
 * seep_owner_charge() - the user that a process is charged to
 * @p: the process
 *
 * What is bounded (records, groups, histories, suspects, alerts) is shared out by user. In a
 * user namespace one account may have many uids, so the owner of the outermost namespace
 * counts. Where root made that namespace, for a container, its own root counts.
 *
 * Context: RCU.
 */
kuid_t seep_owner_charge(struct task_struct *p)
{
	const struct cred *cred = __task_cred(p);
	struct user_namespace *ns = cred->user_ns;
	kuid_t root;

	if (ns == &init_user_ns)
		return cred->uid;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
		return ns->owner;
	root = make_kuid(ns, 0);
	/* as for a service with PrivateUsers=: its uids are those outside */
	if (!uid_valid(root) || uid_eq(root, GLOBAL_ROOT_UID))
		return cred->uid;
	return root;
}

/**
 * seep_owner_next_of() - the next process of a user, with a record or without
 * @uid: the user
 * @ns: pid namespace of the reader
 * @nr: as for seep_owner_next(); out: SEEP_PIDS_END at the end
 * @until_ns: CLOCK_MONOTONIC; after that, one pid is looked at
 *
 * Without the mutex: a user with few processes must not keep others waiting while the
 * processes of all users are passed over.
 *
 * Context: process, may sleep, no lock.
 * Return: false at the end, when the time is over, or when current was killed.
 */
bool seep_owner_next_of(kuid_t uid, struct pid_namespace *ns, int *nr, u64 until_ns)
{
	struct task_struct *p;
	struct pid *pid;
	bool found;

	do {
		rcu_read_lock();
		pid = next_pid(ns, nr);
		p = pid ? pid_task(pid, PIDTYPE_TGID) : NULL;
		found = p && seep_owner_is(p, uid);
		rcu_read_unlock();
		cond_resched();
		if (!pid)
			*nr = SEEP_PIDS_END;
	} while (pid && !found && ktime_get_ns() < until_ns && !fatal_signal_pending(current));
	return found;
}

/**
 * seep_owner_next() - the next process with a record
 * @ns: pid namespace of the reader
 * @nr: pid in @ns of the last process, 0 at first; advanced
 *
 * The order is that of pids, which a process keeps for life. Whatever forks, executes and
 * exits between two calls, a process that lives during the whole walk is returned exactly
 * once, with the record of the program that it runs now. Every 64 pids at most the mutex is
 * released for a moment, so that the worker does not wait for the whole walk.
 *
 * Context: process, may sleep, seep_table_mutex.
 * Return: NULL at the end. The record stays until the mutex is released, by the next call
 * too. ERR_PTR(-EINTR): current was killed, and the mutex is not held any more.
 */
struct seep_rec *seep_owner_next(struct pid_namespace *ns, int *nr)
{
	struct seep_rec *rec;
	struct pid *pid;
	int last;

	lockdep_assert_held(&seep_table_mutex);
	do {
		last = *nr;
		rcu_read_lock();
		pid = next_pid(ns, nr);
		rcu_read_unlock();
		if (!pid)
			return NULL;
		if ((last ^ *nr) >= SEEP_RESCHED_EVERY) {	/* in another 64 than the last */
			mutex_unlock(&seep_table_mutex);
			cond_resched();
			if (mutex_lock_killable(&seep_table_mutex))
				return ERR_PTR(-EINTR);
		}
		/* the process may need an empty record */
		if (!seep_pool_left())
			seep_tab_resize(0);
		rec = seep_owner_at(ns, *nr);
	} while (!rec);
	return rec;
}
