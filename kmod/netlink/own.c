// SPDX-License-Identifier: GPL-2.0
/*
 * Errands: what a user without rights is answered under the table mutex, a worker does.
 *
 * A user may run hundreds of tasks at the lowest priority. If these took the mutex, each
 * could lose its CPU while it holds it, and the sampling pass would wait for that. The
 * worker has a usual priority, and there is one: besides it no request of such a user
 * competes for the mutex. It rests four times as long as it held the mutex, because it works
 * at a higher priority than the user may have. Each user has one request at a time, so that
 * one with many does not delay the others.
 *
 * Context: process, may sleep, no lock held.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "netlink.h"

#define REST		4U		/* times as long as the mutex was held */
#define REST_MAX_US	20000U

static struct workqueue_struct *wq;	/* set at load */

/* On the stack of the task that waits for it. */
struct errand {
	struct work_struct work;
	struct completion done;
	void (*f)(void *arg);
	void *arg;
};

static void run_errand(struct work_struct *w)
{
	struct errand *e = container_of(w, struct errand, work);
	u32 us;
	u64 begin;

	mutex_lock(&seep_table_mutex);
	begin = ktime_get_ns();
	e->f(e->arg);
	mutex_unlock(&seep_table_mutex);
	us = min_t(u64, div_u64(REST * (ktime_get_ns() - begin), NSEC_PER_USEC), REST_MAX_US);
	usleep_range(us, us + us / 4 + 1);
	complete(&e->done);
}

/**
 * seep_own_run() - call a function under the table mutex for a user without rights
 * @f: called by the worker: current is not the user's task
 * @arg: argument of @f
 *
 * Context: process, may sleep, no lock that @f takes.
 * Return: 0, or -EINTR when current was killed; then @f may have been called or not, but
 * does not run any more.
 */
int seep_own_run(void (*f)(void *arg), void *arg)
{
	struct errand e = { .f = f, .arg = arg };
	int rc;

	INIT_WORK_ONSTACK(&e.work, run_errand);
	init_completion(&e.done);
	queue_work(wq, &e.work);
	rc = wait_for_completion_killable(&e.done);
	cancel_work_sync(&e.work);
	destroy_work_on_stack(&e.work);
	return rc ? -EINTR : 0;
}

static LIST_HEAD(asking);		/* users with a request under way; asking_lock */
static DEFINE_SPINLOCK(asking_lock);

/**
 * seep_own_begin() - a request of a user begins
 * @u: names the user; in use until seep_own_end()
 * @extack: gets the text of a refusal
 *
 * Return: 0; -EBUSY: it has another one under way.
 */
int seep_own_begin(struct seep_own *u, struct netlink_ext_ack *extack)
{
	const struct seep_own *other;
	int rc = 0;

	spin_lock(&asking_lock);
	list_for_each_entry(other, &asking, all)
		if (uid_valid(u->uid) && uid_eq(other->uid, u->uid))
			rc = -EBUSY;
	if (!rc)
		list_add(&u->all, &asking);
	spin_unlock(&asking_lock);
	if (rc)
		NL_SET_ERR_MSG(extack, "another request of this user is under way");
	return rc;
}

/**
 * seep_own_end() - the request is answered
 * @u: from seep_own_begin()
 */
void seep_own_end(struct seep_own *u)
{
	spin_lock(&asking_lock);
	list_del(&u->all);
	spin_unlock(&asking_lock);
}

/**
 * seep_own_init() - create the worker
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __init seep_own_init(void)
{
	wq = alloc_ordered_workqueue("seepage_own", 0);
	return wq ? 0 : -ENOMEM;
}

/**
 * seep_own_exit() - destroy the worker
 *
 * Context: module exit, when no request runs any more.
 */
void seep_own_exit(void)
{
	destroy_workqueue(wq);
}
