// SPDX-License-Identifier: GPL-2.0
/*
 * A tracepoint handler that does nothing: the least that any observer of page
 * faults can add to one. Only for the cost board, tests/bench.
 */
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static struct tracepoint *found;

static void nothing(void *data, unsigned long address, struct pt_regs *regs,
		    unsigned long error_code)
{
}

static void find(struct tracepoint *tp, void *name)
{
	if (!strcmp(tp->name, name))
		found = tp;
}

static int __init probe_init(void)
{
	for_each_kernel_tracepoint(find, "page_fault_user");
	return found ? tracepoint_probe_register(found, nothing, NULL) : -ENOENT;
}

static void __exit probe_exit(void)
{
	tracepoint_probe_unregister(found, nothing, NULL);
	tracepoint_synchronize_unregister();
}

module_init(probe_init);
module_exit(probe_exit);
MODULE_DESCRIPTION("an empty page-fault tracepoint handler, for measuring");
MODULE_LICENSE("GPL");
