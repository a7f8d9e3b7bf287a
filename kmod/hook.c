// SPDX-License-Identifier: GPL-2.0
/*
 * Which source tells of page faults: the tracepoints where the kernel has
 * them, else the software event of perf.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "seep.h"

static char *hook = "auto";
module_param(hook, charp, 0444);
MODULE_PARM_DESC(hook, "source of page faults: auto, tracepoint or software (default auto)");

/* In order of preference. */
static const struct seep_hook_ops * const sources[] = {
	&seep_hook_tracepoint,
	&seep_hook_software,
};

const struct seep_hook_ops *seep_hook;

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare_name(struct tracepoint *tp, void *arg)
{
	struct search *s = arg;

	if (!strcmp(tp->name, s->name))
		s->found = tp;
}

/* The symbols of these tracepoints are not exported; their names are an ABI. */
struct tracepoint *seep_find_tracepoint(const char *name)
{
	struct search s = { .name = name };

	for_each_kernel_tracepoint(compare_name, &s);
	return s.found;
}

/*
 * Up to v5.10 taking a probe out needs memory and may fail; the probe must not
 * stay behind in text that is about to go.
 */
void seep_tracepoint_unregister(struct tracepoint *tp, void *probe)
{
	while (tracepoint_probe_unregister(tp, probe, NULL) == -ENOMEM)
		schedule_timeout_uninterruptible(1);
}

static bool wanted(const struct seep_hook_ops *ops)
{
	return sysfs_streq(hook, "auto") || sysfs_streq(hook, ops->name);
}

int seep_hook_start(void)
{
	int i, rc = -EINVAL;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!wanted(sources[i]))
			continue;
		rc = sources[i]->start();
		if (!rc) {
			seep_hook = sources[i];
			return 0;
		}
		pr_notice("hook %s: not to be had here (%d)\n", sources[i]->name, rc);
	}
	if (rc == -EINVAL)
		pr_err("parameter hook: allowed auto, tracepoint, software, '%s' given\n", hook);
	return rc;
}

void seep_hook_stop(void)
{
	seep_hook->stop();
}
