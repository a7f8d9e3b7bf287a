/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hardware counters of one process: from counts to figures, from figures to
 * signals against what is usual for it, and to one word for the verdict. Pure,
 * as the rest of detect/.
 */
#ifndef SEEP_DETECT_PMC_H
#define SEEP_DETECT_PMC_H

#include "detect.h"

/* X(ID, name): what is counted, whatever a processor calls it */
#define SEEP_PMC_EVENTS(X)						\
	X(CYCLES, cycles)						\
	X(INSTRUCTIONS, instructions)					\
	X(LLC_REFERENCES, llc_references)				\
	X(LLC_MISSES, llc_misses)					\
	X(LOADS, loads)							\
	X(DTLB_MISSES, dtlb_misses)					\
	X(PAGE_WALK_CYCLES, page_walk_cycles)				\
	X(NODE_LOCAL, node_local)					\
	X(NODE_REMOTE, node_remote)

#define SEEP_PMC_ID(ID, name)	SEEP_PMC_##ID,
enum seep_pmc_event {
	SEEP_PMC_EVENTS(SEEP_PMC_ID)
	__SEEP_PMC_MAX
};

#define SEEP_PMC_LINE	64U	/* bytes of a cache line, on all in pmu_table.c */

/*
 * Of an interval. What is not known is SEEP_UNKNOWN, and nothing that is known
 * ever is. Shares are of a million.
 */
struct seep_pmc_figures {
	u64 n[__SEEP_PMC_MAX];	/* counts, scaled to the time they were wanted */
	u64 ipc;		/* instructions in 1000 cycles */
	u64 llc_miss_share;	/* LLC references that missed */
	u64 llc_mpmi;		/* LLC misses in a million instructions */
	u64 dtlb_mpmi;		/* dTLB misses in a million instructions */
	u64 tlb_efficiency;	/* loads that needed no page walk */
	u64 walk_share;		/* cycles in page walks */
	u64 remote_share;	/* node loads from another node */
	u64 read_bytes;		/* read from memory, estimate: LLC misses, a line each */
	u64 read_rate;		/* the same in a second of the interval */
};

/* What is usual for a process; all zero at its begin. */
struct seep_pmc_baseline {
	u64 llc_var;		/* variance of the share of LLC misses */
	u32 llc_mean;		/* its mean, << 8 */
	u32 dtlb_mean;		/* dTLB misses in a million instructions, << 4 */
	u32 dtlb_now;		/* of the last samples */
	u32 read_mean;		/* KiB read from memory in a second, << 4; 0: none yet */
	u32 older, newer;	/* share of LLC misses in each half of the window, + 1; 0: none */
	u32 sum;		/* of the half that is being filled */
	u8 half_n;		/* samples in it */
	u8 llc_n, dtlb_n;	/* samples learned from, saturating */
	u8 llc_grew, dtlb_grew;	/* the last so many were of one that grows, saturating */
	u8 signals;		/* of the last sample: mask of 1 << enum seepage_pmc_signal */
};

/*
 * For whoever samples a process, after its counters were read and before
 * seep_det_feed(), with the differences to the last sample; see pmu_learn.c.
 * sample.pmc is seep_pmc_rise() of the baseline of a process that is not ok, else
 * 0, as it is without counters: then nothing of this has any part in the verdict.
 * It goes to the series and to replay as it is. The baseline starts again from all
 * zero with another program, with other events (PMC_SET), and with a reset of the
 * history. A sample in which the process hardly ran teaches nothing: one with all
 * differences 0 need not be fed.
 */
u64 seep_pmc_scale(const struct seepage_pmc_value *c);
u64 seep_pmc_ratio(u64 a, u64 b, u64 unit);
void seep_pmc_figures(const struct seepage_pmc_value ev[__SEEP_PMC_MAX], u64 ns,
		      struct seep_pmc_figures *f);
u8 seep_pmc_feed(struct seep_pmc_baseline *b, const struct seep_pmc_figures *f, bool growing);
u16 seep_pmc_rise(const struct seep_pmc_baseline *b);
void seep_pmc_show(const struct seep_pmc_baseline *b, struct seepage_pmc_baseline *shown);

/* What a rise is worth to the ladder: less than nothing, if it is high. */
#define SEEP_PMC_POINTS	6
#define SEEP_PMC_FLAT	1100	/* permille of what is usual, at most: as before */
#define SEEP_PMC_RISING	1300	/* and from here on it is a working set */

/**
 * seep_pmc_points() - what that is worth
 * @rise: of seep_pmc_rise(), known
 *
 * Return: points, never more for more misses: all of them for growth that brings
 * no misses, less than none for growth that is used.
 */
static inline s8 seep_pmc_points(u16 rise)
{
	const int half = (SEEP_PMC_RISING - SEEP_PMC_FLAT) / 2;

	if (rise <= SEEP_PMC_FLAT)
		return SEEP_PMC_POINTS;
	if (rise >= SEEP_PMC_RISING)
		return -SEEP_PMC_POINTS;
	return (s8)((SEEP_PMC_FLAT + half - rise) * SEEP_PMC_POINTS / half);
}

#endif /* SEEP_DETECT_PMC_H */
