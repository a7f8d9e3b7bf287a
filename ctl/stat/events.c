// SPDX-License-Identifier: GPL-2.0
/*
 * Reads hardware counters from the kernel: the event list, and the counts of a process
 * or of the whole system.
 */
#include <stdlib.h>
#include <string.h>
#include "stat/stat.h"

#define METRIC(field, key, text, decimals)	\
	{ key, text, offsetof(struct seep_pmu_figures, field), decimals }
const struct stat_metric stat_metrics[STAT_METRICS] = {
	METRIC(ipc, "instructions_per_cycle", "instructions per cycle", 3),
	METRIC(llc_mpmi, "llc_misses_per_1000_instructions",
	       "last-level misses in 1000 instructions", 3),
	METRIC(llc_miss_share, "llc_miss_percent", "% of last-level references miss", 4),
	METRIC(dtlb_mpmi, "dtlb_misses_per_1000_instructions",
	       "dTLB misses in 1000 instructions", 3),
	METRIC(tlb_efficiency, "tlb_efficiency_percent", "% of loads need no page walk", 4),
	METRIC(walk_share, "page_walk_percent", "% of cycles in page walks", 4),
	METRIC(remote_share, "remote_percent", "% of node loads from another node", 4),
	METRIC(read_bytes, "read_bytes", "read from memory (estimate)", 0),
	METRIC(read_rate, "read_bytes_per_second", "read from memory in a second (estimate)", 0),
};

u64 stat_figure(const struct seep_pmu_figures *f, const struct stat_metric *m)
{
	return *(const u64 *)((const char *)f + m->at);
}

#define NAME(ID, name)	#name,
static const char *const names[] = { SEEP_PMU_NAMES(NAME) };

/* Returns the id of an event that seep_pmu_figures() uses, -1 for any other. */
int stat_event_id(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

/*
 * Reads the event list, with the totals of the system. Returns 0, or 1 after printing
 * an error, also if no event is counted.
 */
int stat_ask(const struct ctx *ctx, struct knl *k, struct pmc_list *list)
{
	struct nlmsghdr *nlh;
	char why[TEXT_MAX];
	struct message msg;
	int err = query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh);

	list->n = 0;
	if (err < 0) {
		err = knl_fail(ctx, k, NEEDS_READ);
	} else if (msg_parse(&msg, nlh)) {
		err = fail(ctx, "the module sent an invalid message");
	} else {
		pmc_list(list, &msg);
		attr_text(SEEPAGE_A_PMC, msg.a[SEEPAGE_A_PMC], false, why, sizeof(why));
		if (!list->n || strcmp(why, "on"))
			err = fail(ctx, "counters %s", why);
	}
	free(nlh);
	return err;
}

/*
 * Reads the counts of one process, and sets msg->pmc to @list. Returns false if it has
 * none yet or they belong to another event list.
 */
bool stat_process(struct message *msg, const struct pmc_list *list, struct stat_block *b)
{
	memset(b, 0, sizeof(*b));
	b->pid = (u32)msg_get(msg, SEEPAGE_A_PID, 0);
	b->age_s = msg_get(msg, SEEPAGE_A_AGE_SECONDS, 0);
	msg_comm(msg, b->comm, sizeof(b->comm));
	b->learned = pmc_baseline(msg, &b->usual);
	msg->pmc = list;
	return pmc_values(msg, b->v) == list->n;
}

void stat_whole(const struct pmc_list *list, struct stat_block *b)
{
	unsigned int i;

	memset(b, 0, sizeof(*b));
	snprintf(b->comm, sizeof(b->comm), "whole system");
	for (i = 0; i < list->n; i++)
		b->v[i] = list->ev[i].count;
}

static u64 less(u64 v, u64 before)
{
	return v > before ? v - before : 0;
}

void stat_minus(struct stat_block *b, const struct stat_block *before)
{
	unsigned int i;

	for (i = 0; i < PMC_EVENTS; i++) {
		b->v[i].count = less(b->v[i].count, before->v[i].count);
		b->v[i].enabled_ns = less(b->v[i].enabled_ns, before->v[i].enabled_ns);
		b->v[i].running_ns = less(b->v[i].running_ns, before->v[i].running_ns);
	}
}

void stat_plus(struct stat_block *b, const struct stat_block *more)
{
	unsigned int i;

	for (i = 0; i < PMC_EVENTS; i++) {
		b->v[i].count += more->v[i].count;
		b->v[i].enabled_ns += more->v[i].enabled_ns;
		b->v[i].running_ns += more->v[i].running_ns;
	}
}

void stat_figures(const struct pmc_list *list, const struct stat_block *b,
		  struct seep_pmu_figures *f)
{
	struct seepage_pmc_value ev[__SEEP_PMU_MAX] = { 0 };
	unsigned int i;
	int id;

	for (i = 0; i < list->n; i++) {
		id = stat_event_id(list->ev[i].name);
		if (id >= 0 && !pmc_unavailable(&list->ev[i]))
			ev[id] = b->v[i];
	}
	seep_pmu_figures(ev, b->ns, f);
}
