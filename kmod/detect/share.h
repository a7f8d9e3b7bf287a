/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared limits: how fast everything below one limit grows.
 *
 * RAM and the memory of a cgroup are taken by many processes at once. Time to exhaustion
 * is what is left over the growth of all of them. A tally is one such limit. Each full pass
 * adds up the rates of the processes that grow below it.
 *
 * For example six workers grow by 60 MiB an hour each, and 900 MiB are left. One worker
 * alone would take 15 hours. With the five others, 300 MiB an hour, it is 2.5 hours.
 *
 * Context: any; pure. Lock: the caller serialises calls on one tally; in the module
 * seep_table_mutex.
 */
#ifndef SEEP_DETECT_SHARE_H
#define SEEP_DETECT_SHARE_H

#include "detect.h"

/* Growth below a limit. */
struct seep_growers {
	u32 rate;		/* granules an hour, saturates */
	u32 n;			/* how many grow */
};

struct seep_tally {
	struct seep_growers sum;	/* being added up, in the running full pass */
	struct seep_growers last;	/* of the last full pass */
};

/* The machine as a whole: available memory and free swap as one figure. */
struct seep_machine {
	struct seep_det det;
	struct seep_watch watch;
	u64 most;		/* bytes, the most that was ever left */
};

/* Add one more that grows by @rate; 0: it does not grow. */
static inline void seep_growers_add(struct seep_growers *g, u32 rate)
{
	if (!rate)
		return;
	g->rate = g->rate + rate < rate ? ~0U : g->rate + rate;
	g->n++;
}

/* A full pass ends: its sums are valid from now on. */
static inline void seep_tally_close(struct seep_tally *p)
{
	p->last = p->sum;
	p->sum = (struct seep_growers){ 0 };
}

void seep_tally_others(const struct seep_tally *p, const struct seep_growers *own,
		       struct seep_sample *s);
void seep_sample_confine(struct seep_sample *s, u64 left, u8 limit, const struct seep_tally *tally,
			 const struct seep_growers *own);
u32 seep_machine_feed(struct seep_machine *m, u64 now_ns, u64 left, const struct seep_conf *c);

#endif /* SEEP_DETECT_SHARE_H */
