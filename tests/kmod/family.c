// SPDX-License-Identifier: GPL-2.0
/*
 * A generic netlink family without requests. To register it takes a lock of all of generic netlink
 * for writing, as the load of any such module does.
 */
#include <linux/module.h>
#include <net/genetlink.h>

static struct genl_family family = {
	.name		= "seepage_test",
	.version	= 1,
	.module		= THIS_MODULE,
};

static int __init start(void)
{
	return genl_register_family(&family);
}

static void __exit end(void)
{
	genl_unregister_family(&family);
}

module_init(start);
module_exit(end);
MODULE_DESCRIPTION("Registers a generic netlink family, for tests");
MODULE_LICENSE("GPL");
