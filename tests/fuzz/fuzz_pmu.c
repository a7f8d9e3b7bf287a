// SPDX-License-Identifier: GPL-2.0
/*
 * The input is the counts of hardware counters for each interval, for kmod/detect/pmu.c. Every
 * known figure must stay in its bounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include "detect/pmu.h"

#define promise(cond) do {							\
	if (!(cond)) {								\
		fprintf(stderr, "BROKEN PROMISE: %s (line %d)\n", #cond, __LINE__);	\
		abort();							\
	}									\
} while (0)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

struct interval {
	u64 ns;
	u8 growing, again;
	struct seepage_pmc_value ev[__SEEP_PMU_MAX];
};

static bool is_share(u64 v)
{
	return v == SEEP_UNKNOWN || v <= 1000000;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct seep_pmu_model b = { 0 };
	struct seepage_pmc_baseline shown;
	struct seep_pmu_figures f;
	struct interval in;
	u16 rise;
	u32 i;

	for (; size >= sizeof(in); size -= sizeof(in), data += sizeof(in)) {
		memcpy(&in, data, sizeof(in));
		seep_pmu_figures(in.ev, in.ns, &f);
		promise(is_share(f.llc_miss_share) && is_share(f.tlb_efficiency));
		promise(is_share(f.walk_share) && is_share(f.remote_share));
		for (i = 0; i < __SEEP_PMU_MAX; i++)
			promise((f.n[i] == SEEP_UNKNOWN) == !in.ev[i].running_ns);
		for (i = 0; i <= in.again % 32U; i++)
			promise(seep_pmu_model_feed(&b, &f, in.growing & 1) <
				1 << __SEEPAGE_PMC_SIGNAL_MAX);
		rise = seep_pmu_model_rise(&b);
		promise(b.llc_n + b.dtlb_n >= 16 || !rise);
		promise(abs(seep_pmu_points(rise)) <= SEEP_PMU_POINTS);
		seep_pmu_model_show(&b, &shown);
		promise(shown.llc_samples <= 64 && shown.dtlb_samples <= 64 &&
			!(shown.signals >> __SEEPAGE_PMC_SIGNAL_MAX));
		promise(shown.llc_mean <= 1000000 || shown.llc_mean == SEEPAGE_PMC_UNKNOWN);
		promise(shown.llc_newer <= 1000000 || shown.llc_newer == SEEPAGE_PMC_UNKNOWN);
	}
	return 0;
}
