// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of users without rights. A worker answers what needs the table mutex.
 *
 * A user may run hundreds of tasks at the lowest priority. If these took the mutex, each
 * could lose its CPU while it holds it, and the sampling pass would wait for that. The
 * worker has a usual priority, and there is one: besides it no request of such a user
 * competes for the mutex. After each request it sleeps four times as long as it held the
 * mutex, at most 20 ms, because its priority may be higher than the user's. Each user has
 * one request at a time, so that one with many does not delay the others. The uids of a user
 * namespace are one user, as in seep_owner_charge().
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
 * seep_unpriv_run() - call a function under the table mutex for a user without rights
 * @f: called by the worker: current is not the user's task
 * @arg: argument of @f
 *
 * Context: process, may sleep, no lock that @f takes.
 * Return: 0, or -EINTR when current was killed; then @f may have been called or not, but
 * does not run any more.
 */
int seep_unpriv_run(void (*f)(void *arg), void *arg)
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

static LIST_HEAD(requests);		/* those under way, one a user; requests_lock */
static DEFINE_SPINLOCK(requests_lock);

/**
 * seep_unpriv_begin() - note that a request of a user begins
 * @u: names the user; in use until seep_unpriv_end()
 * @extack: gets the text of a refusal
 *
 * Context: process.
 * Return: 0; -EBUSY: the user has another request under way.
 */
int seep_unpriv_begin(struct seep_unpriv *u, struct netlink_ext_ack *extack)
{
	const struct seep_unpriv *other;
	int rc = 0;

	rcu_read_lock();
	u->account = seep_owner_charge(current);
	rcu_read_unlock();
	spin_lock(&requests_lock);
	list_for_each_entry(other, &requests, node)
		if (uid_eq(other->account, u->account))
			rc = -EBUSY;
	if (!rc)
		list_add(&u->node, &requests);
	spin_unlock(&requests_lock);
	return rc ? seep_refuse(NULL, extack, "another request of this user is under way", rc) : 0;
}

/**
 * seep_unpriv_end() - note that the request is answered
 * @u: from seep_unpriv_begin()
 *
 * Context: process.
 */
void seep_unpriv_end(struct seep_unpriv *u)
{
	spin_lock(&requests_lock);
	list_del(&u->node);
	spin_unlock(&requests_lock);
}

/**
 * seep_unpriv_init() - create the worker
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int __init seep_unpriv_init(void)
{
	wq = alloc_ordered_workqueue("seepage_unpriv", 0);
	return wq ? 0 : -ENOMEM;
}

/**
 * seep_unpriv_exit() - destroy the worker
 *
 * Context: module exit, when no request runs any more.
 */
void seep_unpriv_exit(void)
{
	destroy_workqueue(wq);
}
