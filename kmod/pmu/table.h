/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event codes by processor. Data and look-up only, any context: tests/pmu-events compiles
 * it too and compares every code with the vendors' lists.
 */
#ifndef SEEP_PMU_TABLE_H
#define SEEP_PMU_TABLE_H

#include "detect/pmu.h"

enum seep_pmu_vendor {
	SEEP_PMU_OTHER,
	SEEP_PMU_INTEL,
	SEEP_PMU_AMD,
};

/* The code of one event; read only. */
struct seep_pmu_event_code {
	u32 config : 28;	/* as in struct perf_event_attr */
	u32 type : 3;		/* PERF_TYPE_* */
	u32 there : 1;		/* 0: the processor has no such event */
#ifndef __KERNEL__
	const char *name;	/* in the vendor's list; not built into the module */
#endif
};

/* All events of one microarchitecture; read only. */
struct seep_pmu_set {
#ifndef __KERNEL__
	const char *name;	/* the first microarchitecture with these events */
#endif
	struct seep_pmu_event_code event[__SEEP_PMU_MAX];
};

/*
 * Never NULL. A processor that is not in the table gets the generic events that perf
 * knows by name, as far as they mean the same everywhere. Whether the processor or a
 * hypervisor counts them shows when they are opened, and when they run.
 */
const struct seep_pmu_set *seep_pmu_lookup(enum seep_pmu_vendor vendor, u32 family, u32 model);
const struct seep_pmu_set *seep_pmu_lookup_midr(u32 midr);	/* Arm, by MIDR_EL1 */

#endif /* SEEP_PMU_TABLE_H */
