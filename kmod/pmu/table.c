// SPDX-License-Identifier: GPL-2.0
/*
 * Event codes by processor. Data and look-up only: any context, no locks.
 *
 * Source: the lists that perf is built from, tools/perf/pmu-events/arch of the kernel
 * (linux-source-6.12 or later). Each table names its directory there, and each event its
 * name in the list. tests/pmu-events/check compares all codes. An event that a processor
 * does not have is left out, and never replaced by a similar one:
 *
 * - cycles and instructions are perf's own events: every driver maps them.
 * - llc_*: requests to the last level of cache that the counters of a core can see. AMD's
 *   cores do not count them. There it is fills of the L1 from beyond the L2, and as misses
 *   those of them from beyond the core complex.
 * - loads: retired on Intel, dispatched on AMD, speculative on Arm.
 * - dtlb_misses: loads that missed the last level of TLB and needed a page walk.
 * - page_walk_cycles: cycles in which a page walk for a load was active.
 * - node_*: loads answered by memory of this NUMA node, or of another one. Desktop
 *   processors have one node.
 */
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/perf_event.h>
#else
#include <stddef.h>
#include <linux/perf_event.h>
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif
#include "table.h"

/* Out of the kernel, that is in tests/pmu-events, all processors. */
#ifdef __KERNEL__
#define SEEP_FOR_X86	IS_ENABLED(CONFIG_X86)
#define SEEP_FOR_ARM64	IS_ENABLED(CONFIG_ARM64)
#define NAMED(text)
#define EVENT(id, type, config, name)						\
	[SEEP_PMU_##id] = { config, type, true }
#else
#define SEEP_FOR_X86	1
#define SEEP_FOR_ARM64	1
#define NAMED(text)	.name = text,
#define EVENT(id, type, config, name)						\
	[SEEP_PMU_##id] = { config, type, true, name }
#endif
#define PERF(id, event, name)							\
	EVENT(id, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event, name)
#define RAW(id, code, name)							\
	EVENT(id, PERF_TYPE_RAW, code, name)
#define CACHE(id, which, result, name)						\
	EVENT(id, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##which |		\
	      PERF_COUNT_HW_CACHE_OP_READ << 8 |				\
	      PERF_COUNT_HW_CACHE_RESULT_##result << 16, name)

/* ---- Intel: event, unit mask << 8, counter mask << 24; arch/x86/NAME ---- */

#define INTEL_CORE								\
	PERF(CYCLES, CPU_CYCLES, "CPU_CLK_UNHALTED.THREAD_P"),			\
	PERF(INSTRUCTIONS, INSTRUCTIONS, "INST_RETIRED.ANY_P")
#define INTEL_LLC								\
	RAW(LLC_REFERENCES, 0x4f2e, "LONGEST_LAT_CACHE.REFERENCE"),		\
	RAW(LLC_MISSES, 0x412e, "LONGEST_LAT_CACHE.MISS")
/* By perf's own name: the list has no code, or cores of two kinds share it. */
#define INTEL_LLC_PERF								\
	PERF(LLC_REFERENCES, CACHE_REFERENCES, "LONGEST_LAT_CACHE.REFERENCE"),	\
	PERF(LLC_MISSES, CACHE_MISSES, "LONGEST_LAT_CACHE.MISS")
#define HASWELL_LOADS								\
	RAW(LOADS, 0x81d0, "MEM_UOPS_RETIRED.ALL_LOADS"),			\
	RAW(DTLB_MISSES, 0x0e08, "DTLB_LOAD_MISSES.WALK_COMPLETED"),		\
	RAW(PAGE_WALK_CYCLES, 0x1008, "DTLB_LOAD_MISSES.WALK_DURATION")
#define SKYLAKE_LOADS								\
	RAW(LOADS, 0x81d0, "MEM_INST_RETIRED.ALL_LOADS"),			\
	RAW(DTLB_MISSES, 0x0e08, "DTLB_LOAD_MISSES.WALK_COMPLETED"),		\
	RAW(PAGE_WALK_CYCLES, 0x1001008, "DTLB_LOAD_MISSES.WALK_ACTIVE")
#define GOLDEN_COVE_LOADS							\
	RAW(LOADS, 0x81d0, "MEM_INST_RETIRED.ALL_LOADS"),			\
	RAW(DTLB_MISSES, 0x0e12, "DTLB_LOAD_MISSES.WALK_COMPLETED"),		\
	RAW(PAGE_WALK_CYCLES, 0x1001012, "DTLB_LOAD_MISSES.WALK_ACTIVE")
#define SKYLAKE_NODES								\
	RAW(NODE_LOCAL, 0x01d3, "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM"),		\
	RAW(NODE_REMOTE, 0x02d3, "MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM")

/* ---- AMD: event, unit mask << 8, several masks added up; arch/x86/NAME ---- */

#define ZEN									\
	PERF(CYCLES, CPU_CYCLES, "ls_not_halted_cyc"),				\
	PERF(INSTRUCTIONS, INSTRUCTIONS, "ex_ret_instr"),			\
	RAW(LOADS, 0x0129, "ls_dispatch.ld_dispatch")
#define ZEN1_DTLB								\
	RAW(DTLB_MISSES, 0xf045, "l2_dtlb_misses")
#define ZEN4_DTLB								\
	RAW(DTLB_MISSES, 0xf045, "ls_l1_d_tlb_miss.all_l2_miss")

#define ZEN2_BEYOND								\
	"ls_refills_from_sys.ls_mabresp_lcl_dram|"				\
	"ls_refills_from_sys.ls_mabresp_rmt_cache|"				\
	"ls_refills_from_sys.ls_mabresp_rmt_dram"

#define ZEN3_BEYOND								\
	"ls_any_fills_from_sys.ext_cache_local|ls_any_fills_from_sys.mem_io_local|"	\
	"ls_any_fills_from_sys.ext_cache_remote|ls_any_fills_from_sys.mem_io_remote"

#define ZEN4_BEYOND								\
	"ls_any_fills_from_sys.near_cache|ls_any_fills_from_sys.dram_io_near|"	\
	"ls_any_fills_from_sys.far_cache|ls_any_fills_from_sys.dram_io_far|"	\
	"ls_any_fills_from_sys.alternate_memories"

/* ---- Arm: common event numbers of PMUv3; arch/arm64/arm/NAME ---- */

#define ARM_CORE								\
	PERF(CYCLES, CPU_CYCLES, "CPU_CYCLES"),					\
	PERF(INSTRUCTIONS, INSTRUCTIONS, "INST_RETIRED"),			\
	RAW(LOADS, 0x70, "LD_SPEC")
#define ARM_LL									\
	RAW(LLC_REFERENCES, 0x36, "LL_CACHE_RD"),				\
	RAW(LLC_MISSES, 0x37, "LL_CACHE_MISS_RD"),				\
	RAW(DTLB_MISSES, 0x34, "DTLB_WALK")

/* ---- any other processor: perf's generic events ---- */

#define GENERIC_EVENTS								\
	PERF(CYCLES, CPU_CYCLES, "cycles"),					\
	PERF(INSTRUCTIONS, INSTRUCTIONS, "instructions"),			\
	CACHE(LOADS, L1D, ACCESS, "L1-dcache-loads"),				\
	CACHE(DTLB_MISSES, DTLB, MISS, "dTLB-load-misses")

/* Numbers instead of pointers: the tables below are mostly these. */
enum set_id {
	GENERIC,
#if SEEP_FOR_X86
	GENERIC_INTEL, HASWELL, HASWELL_SERVER, SKYLAKE, SKYLAKE_SERVER, ICE_LAKE,
	GOLDEN_COVE, GOLDEN_COVE_SERVER, ZEN1, ZEN2, ZEN3, ZEN4,
#endif
#if SEEP_FOR_ARM64
	CORTEX_A72, CORTEX_A75, NEOVERSE,
#endif
};

static const struct seep_pmu_set sets[] = {
	[GENERIC] = { NAMED("generic") .event = {
		GENERIC_EVENTS,
		CACHE(LLC_REFERENCES, LL, ACCESS, "LLC-loads"),
		CACHE(LLC_MISSES, LL, MISS, "LLC-load-misses"),
	} },
#if SEEP_FOR_X86
	/* On Intel cache-misses are those of the last level; on Arm of the L1, on AMD of the L2. */
	[GENERIC_INTEL] = { NAMED("generic intel") .event = {
		GENERIC_EVENTS,
		PERF(LLC_REFERENCES, CACHE_REFERENCES, "cache-references"),
		PERF(LLC_MISSES, CACHE_MISSES, "cache-misses"),
	} },
	/* haswell, broadwell */
	[HASWELL] = { NAMED("haswell") .event = {
		INTEL_CORE, INTEL_LLC, HASWELL_LOADS,
	} },
	/* haswellx, broadwellx, broadwellde */
	[HASWELL_SERVER] = { NAMED("haswell server") .event = {
		INTEL_CORE, INTEL_LLC, HASWELL_LOADS,
		RAW(NODE_LOCAL, 0x01d3, "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM"),
		RAW(NODE_REMOTE, 0x04d3, "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM"),
	} },
	/* skylake */
	[SKYLAKE] = { NAMED("skylake") .event = {
		INTEL_CORE, INTEL_LLC, SKYLAKE_LOADS,
	} },
	/* skylakex, cascadelakex, icelakex */
	[SKYLAKE_SERVER] = { NAMED("skylake server") .event = {
		INTEL_CORE, INTEL_LLC, SKYLAKE_LOADS, SKYLAKE_NODES,
	} },
	/* icelake, tigerlake, rocketlake */
	[ICE_LAKE] = { NAMED("ice lake") .event = {
		INTEL_CORE, INTEL_LLC_PERF, SKYLAKE_LOADS,
	} },
	/* alderlake, meteorlake: the P-cores */
	[GOLDEN_COVE] = { NAMED("golden cove") .event = {
		INTEL_CORE, INTEL_LLC_PERF, GOLDEN_COVE_LOADS,
	} },
	/* sapphirerapids, emeraldrapids, graniterapids */
	[GOLDEN_COVE_SERVER] = { NAMED("golden cove server") .event = {
		INTEL_CORE, INTEL_LLC, GOLDEN_COVE_LOADS, SKYLAKE_NODES,
	} },
	/* amdzen1 */
	[ZEN1] = { NAMED("zen 1") .event = {
		ZEN, ZEN1_DTLB,
		RAW(LLC_REFERENCES, 0x0864, "l2_cache_misses_from_dc_misses"),
	} },
	/* amdzen2; fills on demand only, the list has none by prefetches */
	[ZEN2] = { NAMED("zen 2") .event = {
		ZEN, ZEN1_DTLB,
		RAW(LLC_REFERENCES, 0x5a43,
		    "ls_refills_from_sys.ls_mabresp_lcl_cache|" ZEN2_BEYOND),
		RAW(LLC_MISSES, 0x5843, ZEN2_BEYOND),
		RAW(NODE_LOCAL, 0x0843, "ls_refills_from_sys.ls_mabresp_lcl_dram"),
		RAW(NODE_REMOTE, 0x4043, "ls_refills_from_sys.ls_mabresp_rmt_dram"),
	} },
	/* amdzen3 */
	[ZEN3] = { NAMED("zen 3") .event = {
		ZEN, ZEN1_DTLB,
		RAW(LLC_REFERENCES, 0x5e44, "ls_any_fills_from_sys.int_cache|" ZEN3_BEYOND),
		RAW(LLC_MISSES, 0x5c44, ZEN3_BEYOND),
		RAW(NODE_LOCAL, 0x0844, "ls_any_fills_from_sys.mem_io_local"),
		RAW(NODE_REMOTE, 0x4044, "ls_any_fills_from_sys.mem_io_remote"),
	} },
	/* amdzen4, amdzen5 */
	[ZEN4] = { NAMED("zen 4") .event = {
		ZEN, ZEN4_DTLB,
		RAW(LLC_REFERENCES, 0xde44, "ls_any_fills_from_sys.local_ccx|" ZEN4_BEYOND),
		RAW(LLC_MISSES, 0xdc44, ZEN4_BEYOND),
		RAW(NODE_LOCAL, 0x0844, "ls_any_fills_from_sys.dram_io_near"),
		RAW(NODE_REMOTE, 0x4044, "ls_any_fills_from_sys.dram_io_far"),
	} },
#endif
#if SEEP_FOR_ARM64
	/* cortex-a57-a72, cortex-a73: the L2 is the last level, one level of TLB is counted */
	[CORTEX_A72] = { NAMED("cortex-a72") .event = {
		ARM_CORE,
		RAW(LLC_REFERENCES, 0x16, "L2D_CACHE"),
		RAW(LLC_MISSES, 0x17, "L2D_CACHE_REFILL"),
		RAW(DTLB_MISSES, 0x05, "L1D_TLB_REFILL"),
	} },
	/* cortex-a55, cortex-a75, cortex-a510 */
	[CORTEX_A75] = { NAMED("cortex-a75") .event = {
		ARM_CORE, ARM_LL,
		RAW(NODE_REMOTE, 0x38, "REMOTE_ACCESS_RD"),
	} },
	/* cortex-a76 and later, neoverse-* */
	[NEOVERSE] = { NAMED("neoverse") .event = {
		ARM_CORE, ARM_LL,
		RAW(NODE_REMOTE, 0x31, "REMOTE_ACCESS"),
	} },
#endif
};

#if SEEP_FOR_X86
static const struct {
	u8 vendor, family, first, last;		/* models, both ends included */
	u8 set;					/* enum set_id */
} x86[] = {
	{ SEEP_PMU_INTEL, 6, 0x3c, 0x3d, HASWELL },		/* and Broadwell */
	{ SEEP_PMU_INTEL, 6, 0x3f, 0x3f, HASWELL_SERVER },
	{ SEEP_PMU_INTEL, 6, 0x45, 0x47, HASWELL },
	{ SEEP_PMU_INTEL, 6, 0x4e, 0x4e, SKYLAKE },
	{ SEEP_PMU_INTEL, 6, 0x4f, 0x4f, HASWELL_SERVER },	/* Broadwell */
	{ SEEP_PMU_INTEL, 6, 0x55, 0x55, SKYLAKE_SERVER },	/* and Cascade Lake */
	{ SEEP_PMU_INTEL, 6, 0x56, 0x56, HASWELL_SERVER },	/* Broadwell-DE */
	{ SEEP_PMU_INTEL, 6, 0x5e, 0x5e, SKYLAKE },
	{ SEEP_PMU_INTEL, 6, 0x6a, 0x6a, SKYLAKE_SERVER },	/* Ice Lake */
	{ SEEP_PMU_INTEL, 6, 0x6c, 0x6c, SKYLAKE_SERVER },
	{ SEEP_PMU_INTEL, 6, 0x7d, 0x7e, ICE_LAKE },
	{ SEEP_PMU_INTEL, 6, 0x8c, 0x8d, ICE_LAKE },		/* Tiger Lake */
	{ SEEP_PMU_INTEL, 6, 0x8e, 0x8e, SKYLAKE },		/* Kaby to Comet Lake */
	{ SEEP_PMU_INTEL, 6, 0x8f, 0x8f, GOLDEN_COVE_SERVER },	/* Sapphire Rapids */
	{ SEEP_PMU_INTEL, 6, 0x97, 0x97, GOLDEN_COVE },		/* Alder Lake, P-core */
	{ SEEP_PMU_INTEL, 6, 0x9a, 0x9a, GOLDEN_COVE },
	{ SEEP_PMU_INTEL, 6, 0x9e, 0x9e, SKYLAKE },
	{ SEEP_PMU_INTEL, 6, 0xa5, 0xa6, SKYLAKE },
	{ SEEP_PMU_INTEL, 6, 0xa7, 0xa7, ICE_LAKE },		/* Rocket Lake */
	{ SEEP_PMU_INTEL, 6, 0xaa, 0xaa, GOLDEN_COVE },	/* Meteor Lake, P-core */
	{ SEEP_PMU_INTEL, 6, 0xac, 0xac, GOLDEN_COVE },
	{ SEEP_PMU_INTEL, 6, 0xad, 0xae, GOLDEN_COVE_SERVER },	/* Granite Rapids */
	{ SEEP_PMU_INTEL, 6, 0xb7, 0xb7, GOLDEN_COVE },	/* Raptor Lake */
	{ SEEP_PMU_INTEL, 6, 0xba, 0xba, GOLDEN_COVE },
	{ SEEP_PMU_INTEL, 6, 0xbf, 0xbf, GOLDEN_COVE },
	{ SEEP_PMU_INTEL, 6, 0xcf, 0xcf, GOLDEN_COVE_SERVER },	/* Emerald Rapids */
	{ SEEP_PMU_INTEL, 6, 0x00, 0xff, GENERIC_INTEL },
	{ SEEP_PMU_AMD, 0x17, 0x00, 0x2f, ZEN1 },
	{ SEEP_PMU_AMD, 0x17, 0x30, 0xff, ZEN2 },
	{ SEEP_PMU_AMD, 0x19, 0x00, 0x0f, ZEN3 },
	{ SEEP_PMU_AMD, 0x19, 0x20, 0x2f, ZEN3 },
	{ SEEP_PMU_AMD, 0x19, 0x40, 0x5f, ZEN3 },
	{ SEEP_PMU_AMD, 0x19, 0x10, 0xff, ZEN4 },
	{ SEEP_PMU_AMD, 0x1a, 0x00, 0xff, ZEN4 },		/* Zen 5 */
};
#endif

#if SEEP_FOR_ARM64
/* Implementer 0x41 (Arm Limited); the part number is bits 4 to 15 of MIDR_EL1. */
static const struct {
	u16 part;
	u8 set;				/* enum set_id */
} arm[] = {
	{ 0xd05, CORTEX_A75 },		/* Cortex-A55 */
	{ 0xd07, CORTEX_A72 },		/* Cortex-A57 */
	{ 0xd08, CORTEX_A72 },
	{ 0xd09, CORTEX_A72 },		/* Cortex-A73 */
	{ 0xd0a, CORTEX_A75 },
	{ 0xd0b, NEOVERSE },		/* Cortex-A76 */
	{ 0xd0c, NEOVERSE },		/* Neoverse N1 */
	{ 0xd0d, NEOVERSE },		/* Cortex-A77 */
	{ 0xd40, NEOVERSE },		/* Neoverse V1 */
	{ 0xd41, NEOVERSE },		/* Cortex-A78 */
	{ 0xd44, NEOVERSE },		/* Cortex-X1 */
	{ 0xd46, CORTEX_A75 },		/* Cortex-A510 */
	{ 0xd47, NEOVERSE },		/* Cortex-A710 */
	{ 0xd48, NEOVERSE },		/* Cortex-X2 */
	{ 0xd49, NEOVERSE },		/* Neoverse N2 */
	{ 0xd4b, NEOVERSE },		/* Cortex-A78C */
	{ 0xd4c, NEOVERSE },		/* Cortex-X1C */
	{ 0xd4f, NEOVERSE },		/* Neoverse V2 */
};
#endif

/**
 * seep_pmu_lookup() - events of an x86 or unknown processor
 * @vendor: its vendor
 * @family: CPUID family
 * @model: CPUID model
 *
 * Context: any.
 * Return: its events; the generic ones where it is not in the table. Never NULL.
 */
const struct seep_pmu_set *seep_pmu_lookup(enum seep_pmu_vendor vendor, u32 family, u32 model)
{
#if SEEP_FOR_X86
	u32 i;

	for (i = 0; i < ARRAY_SIZE(x86); i++)
		if (x86[i].vendor == vendor && x86[i].family == family &&
		    x86[i].first <= model && model <= x86[i].last)
			return &sets[x86[i].set];
#endif
	return &sets[GENERIC];
}

#if SEEP_FOR_ARM64
/**
 * seep_pmu_lookup_midr() - events of an Arm processor
 * @midr: MIDR_EL1
 *
 * Context: any.
 * Return: its events; the generic ones where it is not in the table. Never NULL.
 */
const struct seep_pmu_set *seep_pmu_lookup_midr(u32 midr)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(arm); i++)
		if (midr >> 24 == 0x41 && (midr >> 4 & 0xfff) == arm[i].part)
			return &sets[arm[i].set];
	return &sets[GENERIC];
}
#endif
