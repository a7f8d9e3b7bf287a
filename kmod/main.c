// SPDX-License-Identifier: GPL-2.0
/*
 * seepage: finds memory leaks of user processes from inside the kernel.
 *
 * Module init starts the stages in pipeline order, except that sources (hooks) start
 * after the stages that they feed, and readers (netlink, debugfs) last. Module exit
 * stops them in reverse.
 */
#include <linux/module.h>
#include "seep.h"

static int __init seepage_init(void)
{
	int rc;

	rc = seep_config_init(seep_pmu_check);
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
	seep_debugfs_init();	/* last: files may be open from here on, so nothing may fail */
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
	seep_share_exit();
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
	seep_share_exit();
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
