// SPDX-License-Identifier: GPL-2.0
/*
 * seepage: finds memory leaks of user processes from inside the kernel.
 *
 * The stages start in the order of the pipeline, sources last but for those
 * who may ask (netlink, debugfs), and stop in the reverse order.
 */
#include <linux/module.h>
#include <linux/random.h>
#include "seep.h"

u64 seep_instance;

static const char *disabled_why;	/* set once; NULL: at work */

/**
 * seep_disable() - stop the module's work for good
 * @why: constant text, shown in the status
 *
 * For an invariant that turned out broken: the box goes on, only we do not.
 * The worker runs no pass and no handler touches the table any more; readers
 * see what was known, and rmmod works as ever.
 * Context: any.
 */
void seep_disable(const char *why)
{
	seep_count(INVARIANTS_BROKEN);
	/* printing here could take the lock that somebody holds already */
	if (!cmpxchg(&disabled_why, NULL, why) && !seep_tick_kick())
		seep_disabled_report();
}

/* Says once in the kernel log that the module's work was stopped, and why. */
void seep_disabled_report(void)
{
	static int said;
	const char *why = seep_disabled();

	if (why && !xchg(&said, 1))
		pr_err("switched off: %s\n", why);
}

const char *seep_disabled(void)
{
	return READ_ONCE(disabled_why);
}

static int __init seepage_init(void)
{
	int rc;

	seep_instance = get_random_u64() | 1;
	rc = seep_config_init();
	if (rc)
		return rc;
	rc = seep_pool_init();
	if (rc)
		goto config;
	rc = seep_tab_init();
	if (rc)
		goto pool;
	rc = seep_alert_init();
	if (rc)
		goto tab;
	rc = seep_tick_init();
	if (rc)
		goto alert;
	rc = seep_hook_life_start();
	if (rc)
		goto tick;
	rc = seep_hook_start();
	if (rc)
		goto life;
	seep_tick_start();
	seep_pmu_init();
	rc = seep_netlink_init();
	if (rc)
		goto hook;
	seep_debugfs_init();	/* last: of what fails later nobody may hold a file open */
	pr_info("version %s, hook %s\n", SEEP_VERSION, seep_hook->name);
	return 0;

hook:
	seep_pmu_exit();
	seep_hook_stop();
life:
	seep_hook_life_stop();
tick:
	seep_tick_stop();
	seep_group_exit();
alert:
	seep_alert_exit();
tab:
	seep_tab_exit();
pool:
	seep_pool_exit();
config:
	seep_config_exit();
	return rc;
}

static void __exit seepage_exit(void)
{
	seep_debugfs_exit();
	seep_netlink_exit();
	seep_pmu_exit();
	seep_hook_stop();
	seep_hook_life_stop();
	seep_tick_stop();
	seep_group_exit();
	seep_alert_exit();
	seep_tab_exit();
	seep_pool_exit();
	seep_config_exit();
}

module_init(seepage_init);
module_exit(seepage_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Memory leak detector for user processes");
MODULE_AUTHOR("The seepage maintainers");
MODULE_VERSION(SEEP_VERSION);
