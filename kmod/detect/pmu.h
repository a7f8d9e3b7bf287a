/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hardware counters of one process: from counts to figures, from figures to signals
 * against what is usual for it, and to one value for the verdict (seep_sample.pmc).
 * pmu/learn.c feeds it in each full pass.
 *
 * Context: any; pure. The caller serialises calls on one struct seep_pmu_model: in the
 * module seep_table_mutex, which protects all members below.
 */
#ifndef SEEP_DETECT_PMU_H
#define SEEP_DETECT_PMU_H

#include "detect.h"

/* X(ID, name): what is counted; each processor has event codes of its own (pmu/table.c) */
#define SEEP_PMU_NAMES(X)						\
	X(CYCLES, cycles)						\
	X(INSTRUCTIONS, instructions)					\
	X(LLC_REFERENCES, llc_references)				\
	X(LLC_MISSES, llc_misses)					\
	X(LOADS, loads)							\
	X(DTLB_MISSES, dtlb_misses)					\
	X(PAGE_WALK_CYCLES, page_walk_cycles)				\
	X(NODE_LOCAL, node_local)					\
	X(NODE_REMOTE, node_remote)

#define SEEP_PMU_ID(ID, name)	SEEP_PMU_##ID,
enum seep_pmu_event {
	SEEP_PMU_NAMES(SEEP_PMU_ID)
	__SEEP_PMU_MAX
};

#define SEEP_PMU_LINE	64U	/* bytes of a cache line, on all processors in pmu/table.c */

/*
 * Figures of one interval. A figure that is not known is SEEP_UNKNOWN; a known one is
 * smaller. Shares are in millionths.
 */
struct seep_pmu_figures {
	u64 n[__SEEP_PMU_MAX];	/* counts, scaled to the time they were wanted */
	u64 ipc;		/* instructions per 1000 cycles */
	u64 llc_miss_share;	/* LLC misses per LLC reference, millionths */
	u64 llc_mpmi;		/* LLC misses per million instructions */
	u64 dtlb_mpmi;		/* dTLB misses per million instructions */
	u64 tlb_efficiency;	/* loads without a page walk, millionths */
	u64 walk_share;		/* cycles in page walks, millionths */
	u64 remote_share;	/* loads from other NUMA nodes, millionths */
	u64 read_bytes;		/* read from memory, estimate: LLC misses times a line */
	u64 read_rate;		/* the same per second of the interval */
};

/* What is usual for a process. All zero: nothing was learned yet. */
struct seep_pmu_model {
	u64 llc_var;		/* variance of llc_miss_share */
	u32 llc_mean;		/* mean of llc_miss_share, << 8 */
	u32 dtlb_mean;		/* mean of dtlb_mpmi, << 4 */
	u32 dtlb_now;		/* mean of the last samples, about eight, << 4 */
	u32 read_mean;		/* mean read rate, KiB/s, << 4; 0: none yet */
	u32 older, newer;	/* llc_miss_share in each half of the window, + 1; 0: none */
	u32 sum;		/* of the half that is being filled */
	u8 half_n;		/* samples in that half */
	u8 llc_n, dtlb_n;	/* samples in the means, saturates at 64 */
	u8 llc_grew, dtlb_grew;	/* newest samples in a row that grew, saturates at 255 */
	u8 signals;		/* of the last sample: mask of 1 << enum seepage_pmc_signal */
};

/*
 * To be called after the counters of a process were read and before seep_det_feed(), with
 * the differences to its last sample (pmu/learn.c).
 *
 * seep_sample.pmc is seep_pmu_model_rise() for a process that is not ok, and 0 otherwise
 * or without counters; 0 has no part in the verdict. The value goes to the series and to
 * replay unchanged.
 *
 * The model restarts from all zero with another program, another list of events (PMC_SET)
 * and a reset of the history. A sample in which the process hardly ran teaches nothing:
 * one with all differences 0 need not be fed.
 */
u64 seep_pmu_scale(const struct seepage_pmc_value *c);
u64 seep_pmu_ratio(u64 a, u64 b, u64 unit);
void seep_pmu_figures(const struct seepage_pmc_value ev[__SEEP_PMU_MAX], u64 ns,
		      struct seep_pmu_figures *f);
u8 seep_pmu_model_feed(struct seep_pmu_model *b, const struct seep_pmu_figures *f, bool growing);
u16 seep_pmu_model_rise(const struct seep_pmu_model *b);
void seep_pmu_model_show(const struct seep_pmu_model *b, struct seepage_pmc_baseline *shown);

/* Points of the factor PMC: negative for a high rise. */
#define SEEP_PMU_POINTS	6
#define SEEP_PMU_FLAT	1100	/* permille of the usual misses: not more than before */
#define SEEP_PMU_RISING	1300	/* and from here on a working set in use */

/**
 * seep_pmu_points() - points for a rise of misses
 * @rise: of seep_pmu_model_rise(), known, permille
 *
 * For example 1100 gives 6 points, 1150 gives 3, 1200 gives 0 and 1300 gives -6.
 *
 * Context: any.
 * Return: points, from SEEP_PMU_POINTS for growth without more misses to minus as many
 * for growth that is used; never more points for more misses.
 */
static inline s8 seep_pmu_points(u16 rise)
{
	const int half = (SEEP_PMU_RISING - SEEP_PMU_FLAT) / 2;

	if (rise <= SEEP_PMU_FLAT)
		return SEEP_PMU_POINTS;
	if (rise >= SEEP_PMU_RISING)
		return -SEEP_PMU_POINTS;
	return (s8)((SEEP_PMU_FLAT + half - rise) * SEEP_PMU_POINTS / half);
}

#endif /* SEEP_DETECT_PMU_H */
