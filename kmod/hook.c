// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks: chooses the source of page faults. It is the tracepoints where the kernel has
 * them, otherwise perf's software event.
 *
 * Context: module init and exit; process context, may sleep. No locks.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "seep.h"

static char *hook = "auto";
module_param(hook, charp, 0444);
MODULE_PARM_DESC(hook, "source of page faults: auto, tracepoint or software (default auto)");

/* in order of preference */
static const struct seep_hook_ops * const sources[] = {
	&seep_hook_tracepoint,
	&seep_hook_software,
};

const struct seep_hook_ops *seep_hook;

/* Argument of compare_name(). */
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

/**
 * seep_find_tracepoint() - find a tracepoint of the kernel by name
 * @name: its name, which is an ABI; its symbol is not exported
 *
 * Context: process, may sleep.
 * Return: NULL when there is none.
 */
struct tracepoint *seep_find_tracepoint(const char *name)
{
	struct search s = { .name = name };

	for_each_kernel_tracepoint(compare_name, &s);
	return s.found;
}

/**
 * seep_tracepoint_unregister() - detach a probe, whatever it takes
 * @tp: the tracepoint
 * @probe: the probe
 *
 * Up to v5.10 detaching allocates memory and may fail. The probe must not stay attached to
 * text that is about to be freed.
 *
 * Context: process, may sleep.
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

/**
 * seep_hook_start() - start the first source that works
 *
 * Context: module init.
 * Return: 0; -EINVAL: no source is called as the parameter hook; else the error of the
 * last source.
 */
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

/**
 * seep_hook_stop() - stop the source; no handler runs any more on return
 *
 * Context: module exit, or init that failed.
 */
void seep_hook_stop(void)
{
	seep_hook->stop();
}
