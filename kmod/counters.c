// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of what was done, skipped or dropped, and the names of everything
 * that has one.
 */
#include "seep.h"

DEFINE_PER_CPU(struct seep_counters, seep_counters);

/* What the sums were at the last reset. */
static u64 base[__SEEPAGE_COUNTER_MAX];

#define NAME(ID, name)		[SEEPAGE_COUNTER_##ID] = #name,
const char * const seep_counter_names[] = { SEEPAGE_COUNTERS(NAME) };
#undef NAME
#define NAME(ID, name)		[SEEPAGE_STATE_##ID] = #name,
const char * const seep_state_names[] = { SEEPAGE_STATES(NAME) };
#undef NAME
#define NAME(ID, name, unit)	[SEEPAGE_FACTOR_##ID] = #name,
const char * const seep_factor_names[] = { SEEPAGE_FACTORS(NAME) };
#undef NAME
#define NAME(ID, name, unit)	[SEEPAGE_GATE_##ID] = #name,
const char * const seep_gate_names[] = { SEEPAGE_GATES(NAME) };
#undef NAME

static_assert(ARRAY_SIZE(seep_counter_names) == __SEEPAGE_COUNTER_MAX);
static_assert(ARRAY_SIZE(seep_state_names) == __SEEPAGE_STATE_MAX);
static_assert(ARRAY_SIZE(seep_factor_names) == __SEEPAGE_FACTOR_MAX);
static_assert(ARRAY_SIZE(seep_gate_names) == __SEEPAGE_GATE_MAX);

static u64 sum(enum seepage_counter id)
{
	u64 n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu(seep_counters, cpu).n[id]);
	return n;
}

/**
 * seep_counter() - a counter since load or the last reset
 * @id: which
 *
 * Exact once nothing counts; while something does, some CPUs may be ahead.
 */
u64 seep_counter(enum seepage_counter id)
{
	return sum(id) - READ_ONCE(base[id]);
}

void seep_counters_reset(void)
{
	int id;

	for (id = 0; id < __SEEPAGE_COUNTER_MAX; id++)
		WRITE_ONCE(base[id], sum(id));
}
