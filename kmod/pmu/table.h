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
	u32 config;		/* as in struct perf_event_attr */
	u8 type;		/* PERF_TYPE_* */
	bool there;		/* false: the processor has no such event */
#ifndef __KERNEL__
	const char *name;	/* in the vendor's list; not built into the module */
#endif
};

/* All events of one microarchitecture; read only. */
struct seep_pmu_set {
	const char *name;	/* the first microarchitecture with these events */
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
