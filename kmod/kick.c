// SPDX-License-Identifier: GPL-2.0
/*
 * The kick: asks the worker, from any context, to bury dead records and refill the pool
 * soon.
 *
 * The work itself is in tick.c. This file only raises the interrupt that queues it, and
 * calls nothing else of the module, because seep_disable() may run anywhere.
 *
 * Context: any. No locks: READ_ONCE() of work pairs with WRITE_ONCE() in seep_kick_start()
 * and seep_kick_stop().
 */
#include <linux/irq_work.h>
#include <linux/workqueue.h>
#include "seep.h"

static struct irq_work irq;
static struct delayed_work *work;	/* what a kick queues; NULL: no work is done */

/**
 * seep_kick_now() - kick, even if the work is queued already
 *
 * Context: any.
 * Return: false when no work is done yet, or any more.
 */
bool seep_kick_now(void)
{
	if (!READ_ONCE(work))
		return false;
	irq_work_queue(&irq);
	return true;
}

/**
 * seep_kick() - ask to bury dead records and refill the pool
 *
 * While the pool is empty, every fault of a process without a record asks. No interrupt is
 * raised where the work is queued already.
 *
 * Context: any.
 */
void seep_kick(void)
{
	/* Pairs with WRITE_ONCE() in seep_kick_start() and seep_kick_stop(). */
	struct delayed_work *w = READ_ONCE(work);

	if (w && !delayed_work_pending(w))
		irq_work_queue(&irq);
}

/**
 * seep_kick_init() - set up the interrupt
 * @func: queues the work; called in hard irq, on PREEMPT_RT in the irq_work thread
 *
 * Context: module init, before the first kick.
 */
void __init seep_kick_init(void (*func)(struct irq_work *unused))
{
	init_irq_work(&irq, func);
}

/**
 * seep_kick_start() - let kicks queue a work from now on
 * @w: the work
 *
 * Context: process.
 */
void seep_kick_start(struct delayed_work *w)
{
	WRITE_ONCE(work, w);
}

/**
 * seep_kick_stop() - kicks have no effect any more
 *
 * No interrupt of an earlier kick runs on return. A caller of seep_kick() that has read
 * the pointer before may still raise one, so this must be called again when no callers
 * are left.
 *
 * Context: process, may sleep.
 */
void seep_kick_stop(void)
{
	WRITE_ONCE(work, NULL);
	irq_work_sync(&irq);
}
