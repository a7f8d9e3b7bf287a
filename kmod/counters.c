// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of what was done, skipped or dropped. They are per CPU and need no lock: any
 * context may count, even NMI.
 */
#include "seep.h"

DEFINE_PER_CPU(struct seep_counters, seep_counters);

/* sums at the last reset; WRITE_ONCE() in seep_counters_reset(), READ_ONCE() when read */
static u64 base[__SEEPAGE_COUNTER_MAX];

#define NAME(ID, name, ...)	[SEEPAGE_STATE_##ID] = #name,
const char * const seep_state_names[] = { SEEPAGE_STATES(NAME) };
#undef NAME

/*
 * Since load. READ_ONCE() pairs with this_cpu_add() in seep_count_add(). On 32 bits it may get
 * halves of two values, and so 2^32 too much or too little.
 */
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
 * @id: the counter
 *
 * Exact once nothing counts. While something does, some CPUs may be ahead.
 *
 * Context: any.
 */
u64 seep_counter(enum seepage_counter id)
{
	return sum(id) - READ_ONCE(base[id]);
}

/**
 * seep_counters_reset() - count from 0 again
 *
 * Context: any.
 */
void seep_counters_reset(void)
{
	int id;

	for (id = 0; id < __SEEPAGE_COUNTER_MAX; id++)
		WRITE_ONCE(base[id], sum(id));
}
