// SPDX-License-Identifier: GPL-2.0
/* The part of the CPUs' time in which events were counted, and the note where that is not all. */
#include <unistd.h>
#include "stat/stat.h"

#define PART		90	/* percent of CPU time; note_share() reports less */
#define WHOLE_AGAIN	95	/* percent; from here on all is counted again, which it reports */
#define OTHER_PART	5	/* percent; a share that differs by more is reported again */
#define STALL_NS	20000000ULL	/* a reading that takes longer is repeated */
#define STALL_PART	50	/* likewise, of this part of the time since the last one */

static void note_share(const struct ctx *ctx, struct stat_share *s)
{
	u64 share = s->percent, noted = s->noted;

	if (noted == 100 ? share < PART : share < WHOLE_AGAIN &&
	    (share + OTHER_PART < noted || noted + OTHER_PART < share)) {
		note(ctx, "only %llu %% of the CPUs' time was counted: counters were held, "
		     "or CPUs were offline or lack them", share);
		s->noted = share;
	} else if (noted < 100 && share >= WHOLE_AGAIN) {
		note(ctx, "all of the CPUs' time is counted again");
		s->noted = 100;
	}
}

/**
 * stat_share_before() - end the time since the last reading
 *
 * Context: directly before the list of events is read, so that the time is not longer than that
 * in which events were counted. Cannot fail.
 */
void stat_share_before(struct stat_share *s)
{
	s->before_ns = clock_ns();
	s->since_ns = s->ns ? s->before_ns - s->ns : 0;
	s->cpus_now = sysconf(_SC_NPROCESSORS_ONLN);
}

/**
 * stat_share_stalled() - did the reading take so long that its time is not known well enough?
 *
 * A CPU of a virtual machine may stand still between the clock and the counters. In an interval
 * of 1 s of which half was counted, 0.2 s of it made the share 60 % and a change of the share.
 *
 * Context: directly after the list was read. Cannot fail.
 */
bool stat_share_stalled(const struct stat_share *s)
{
	u64 took = clock_ns() - s->before_ns;

	return took > STALL_NS && took > s->since_ns / STALL_PART;
}

/**
 * stat_share_after() - compute the share in the time since the last reading
 * @list: the list, read after stat_share_before(), of the same events as at the last reading
 *
 * Context: prints a note where the share is less than all of it. Cannot fail.
 */
void stat_share_after(const struct ctx *ctx, struct stat_share *s, const struct pmc_list *list)
{
	u64 enabled_ns = s->enabled_ns, whole, counted;

	s->ns = clock_ns();
	s->enabled_ns = list->ev[0].count.enabled_ns;
	counted = s->enabled_ns - enabled_ns;
	whole = s->cpus_now > 0 ?
		s->since_ns * (u64)(s->cpus_now < s->cpus ? s->cpus_now : s->cpus) : 0;
	s->percent = counted < whole ? counted / (whole / 100 + 1) : 100;
	s->cpus = s->cpus_now;
	note_share(ctx, s);
}
