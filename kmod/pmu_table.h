/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which event of which processor counts what. Data only: tests/pmu-events
 * compiles it too and compares every code with the vendors' lists.
 */
#ifndef SEEP_PMU_TABLE_H
#define SEEP_PMU_TABLE_H

#include "detect/pmc.h"

enum seep_pmu_vendor {
	SEEP_PMU_OTHER,
	SEEP_PMU_INTEL,
	SEEP_PMU_AMD,
};

struct seep_pmu_event_code {
	u32 config;		/* of struct perf_event_attr */
	u8 type;		/* PERF_TYPE_* */
	bool there;		/* false: it cannot count that */
#ifndef __KERNEL__
	const char *name;	/* in the vendor's list; text that the module does not need */
#endif
};

struct seep_pmu_set {
	const char *name;	/* of a microarchitecture that has these events */
	struct seep_pmu_event_code event[__SEEP_PMC_MAX];
};

/*
 * Never NULL: what is not in the table gets the events that perf itself knows
 * by a name, as far as they mean the same everywhere. Whether the processor (or
 * a hypervisor) counts them shows when they are opened, and when they run.
 */
const struct seep_pmu_set *seep_pmu_lookup(enum seep_pmu_vendor vendor, u32 family, u32 model);
const struct seep_pmu_set *seep_pmu_lookup_midr(u32 midr);	/* Arm: MIDR_EL1 */

#endif /* SEEP_PMU_TABLE_H */
