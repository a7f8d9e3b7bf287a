// SPDX-License-Identifier: GPL-2.0
/*
 * The event table of the module as text, a line an event, for check:
 * vendor, family (Arm: -), model or MIDR, set, event, PERF_TYPE_*, config, the
 * vendor's name. Numbers are hexadecimal.
 */
#include <stdio.h>
#include "pmu/table.h"

static const char * const names[] = {
#define NAME(ID, name)	#name,
	SEEP_PMU_NAMES(NAME)
};

static void dump(const char *cpu, const struct seep_pmu_set *set)
{
	const struct seep_pmu_event_code *e;
	int i;

	for (i = 0; i < __SEEP_PMU_MAX; i++) {
		e = &set->event[i];
		if (e->there)
			printf("%s\t%s\t%s\t%x\t%x\t%s\n", cpu, set->name, names[i], e->type,
			       e->config, e->name);
	}
}

int main(void)
{
	static const struct {
		const char *name;
		enum seep_pmu_vendor vendor;
		u32 family;
	} x86[] = {
		{ "GenuineIntel", SEEP_PMU_INTEL, 6 },
		{ "AuthenticAMD", SEEP_PMU_AMD, 0x17 },
		{ "AuthenticAMD", SEEP_PMU_AMD, 0x19 },
		{ "AuthenticAMD", SEEP_PMU_AMD, 0x1a },
	};
	char cpu[64];
	u32 i, model;

	for (i = 0; i < sizeof(x86) / sizeof(x86[0]); i++) {
		for (model = 0; model < 0x100; model++) {
			snprintf(cpu, sizeof(cpu), "%s\t%x\t%x", x86[i].name, x86[i].family, model);
			dump(cpu, seep_pmu_lookup(x86[i].vendor, x86[i].family, model));
		}
	}
	for (i = 0; i < 0x1000; i++) {		/* Arm's own parts */
		u32 midr = 0x410f0000 | i << 4;

		snprintf(cpu, sizeof(cpu), "arm\t-\t%x", midr);
		dump(cpu, seep_pmu_lookup_midr(midr));
	}
	dump("other\t-\t0", seep_pmu_lookup(SEEP_PMU_OTHER, 0, 0));
	return 0;
}
