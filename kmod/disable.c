// SPDX-License-Identifier: GPL-2.0
/*
 * The switch that stops the module's work for good when an invariant is broken.
 *
 * Context: any. No locks: one pointer that is set once by cmpxchg().
 */
#include "seep.h"

const char *seep_disabled_why;

/**
 * seep_disable() - stop the module's work for good
 * @why: constant text, displayed in the status
 *
 * For a broken invariant: this module stops, the machine goes on. The worker runs no
 * pass, and no handler touches the table. Readers see what was known until then, and
 * rmmod works.
 *
 * Context: any.
 */
void seep_disable(const char *why)
{
	seep_count(INVARIANTS_BROKEN);
	/* no printk here: the lock it takes may be held by this context */
	if (!cmpxchg(&seep_disabled_why, NULL, why) && !seep_kick_now())
		seep_disabled_report();
}

/**
 * seep_disabled_report() - log once that the work was stopped, and why
 *
 * Context: hard irq (on PREEMPT_RT the irq_work thread) or process.
 */
void seep_disabled_report(void)
{
	static int said;
	const char *why = seep_disabled();

	if (why && !xchg(&said, 1))
		pr_err("switched off: %s\n", why);
}
