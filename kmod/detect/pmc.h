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

#endif /* SEEP_DETECT_PMC_H */
