// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: names of events and their codes on this processor. Reads the list
 * of events that a user configures (pmc_events).
 *
 * Context: process, may sleep. No locks: the results go to the caller's memory.
 */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/nodemask.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/processor.h>
#endif
#ifdef CONFIG_ARM64
#include <asm/cputype.h>
#endif
#include "pmu.h"
#include "table.h"

#define NAME(ID, name)	[SEEP_PMU_##ID] = #name,
const char * const seep_pmu_names[__SEEP_PMU_MAX] = { SEEP_PMU_NAMES(NAME) };
#undef NAME

static_assert(__SEEP_PMU_MAX <= SEEP_PMU_EVENTS);

/* Names that perf defines for all processors (PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE). */
#define CACHE(which, op, result)						\
	(PERF_COUNT_HW_CACHE_##which | PERF_COUNT_HW_CACHE_OP_##op << 8 |	\
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)
static const struct {
	const char *name;
	u32 type;
	u32 config;
} generic[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS) },
	{ "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS) },
	{ "LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS) },
	{ "LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS) },
	{ "dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS) },
	{ "dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS) },
	{ "iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS) },
	{ "node-loads", PERF_TYPE_HW_CACHE, CACHE(NODE, READ, ACCESS) },
	{ "node-load-misses", PERF_TYPE_HW_CACHE, CACHE(NODE, READ, MISS) },
};

#ifdef CONFIG_ARM64
/* On the CPU itself. */
static void read_midr(void *midr)
{
	*(u32 *)midr = read_cpuid_id();
}
#endif

/**
 * seep_pmu_processor() - the events that a CPU has
 * @cpu: the CPU; a machine may have cores of several kinds (big.LITTLE) with different
 *	codes
 *
 * An offline Arm CPU cannot be asked and has the generic events. Intel's two kinds of core
 * have one model number; the kernel's driver tells them apart.
 *
 * Context: process, interrupts on.
 * Return: never NULL.
 */
const struct seep_pmu_set *seep_pmu_processor(int cpu)
{
#if defined(CONFIG_X86)
	enum seep_pmu_vendor vendor = SEEP_PMU_OTHER;

	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		vendor = SEEP_PMU_INTEL;
	else if (boot_cpu_data.x86_vendor == X86_VENDOR_AMD)
		vendor = SEEP_PMU_AMD;
	return seep_pmu_lookup(vendor, boot_cpu_data.x86, boot_cpu_data.x86_model);
#elif defined(CONFIG_ARM64)
	u32 midr = 0;

	smp_call_function_single(cpu, read_midr, &midr, 1);
	return seep_pmu_lookup_midr(midr);
#else
	return seep_pmu_lookup(SEEP_PMU_OTHER, 0, 0);
#endif
}

/* Events that count in every turn. */
static bool always(const char *name)
{
	return !strcmp(name, seep_pmu_names[SEEP_PMU_CYCLES]) ||
	       !strcmp(name, seep_pmu_names[SEEP_PMU_INSTRUCTIONS]);
}

/**
 * seep_pmu_code() - the code of an event on a kind of processor
 * @set: from seep_pmu_processor()
 * @ev: an event of the list
 * @type: out, as in struct perf_event_attr
 * @config: out, likewise
 *
 * Context: any.
 * Return: false when that processor has no such event.
 */
bool seep_pmu_code(const struct seep_pmu_set *set, const struct seep_pmu_listed *ev,
		   u32 *type, u64 *config)
{
	const struct seep_pmu_event_code *code = ev->row < 0 ? NULL : &set->event[ev->row];

	*type = code ? code->type : ev->type;
	*config = code ? code->config : ev->config;
	return !code || code->there;
}

/* An event of the table. It is displayed with the code of one CPU; others may differ. */
static void from_table(struct seep_pmu_listed *ev, int id)
{
	seep_copy(ev->name, seep_pmu_names[id], sizeof(ev->name));
	ev->row = id;
	ev->none = !seep_pmu_code(seep_pmu_processor(cpumask_first(cpu_online_mask)), ev,
				  &ev->type, &ev->config);
	ev->always = always(ev->name);
}

/**
 * seep_pmu_defaults() - the list of events when none is configured
 * @list: SEEP_PMU_EVENTS places
 *
 * node_local and node_remote are in it only on machines with several NUMA nodes.
 *
 * Context: process.
 * Return: number of events.
 */
int seep_pmu_defaults(struct seep_pmu_listed *list)
{
	int id, n = 0;

	for (id = 0; id < __SEEP_PMU_MAX; id++)
		if (nr_online_nodes > 1 ||
		    (id != SEEP_PMU_NODE_LOCAL && id != SEEP_PMU_NODE_REMOTE))
			from_table(&list[n++], id);
	return n;
}

/* ---- a configured list ---- */

/* rHEX or a name of perf's. Return: false: neither. */
static bool read_code(const char *word, struct seep_pmu_listed *ev)
{
	int i;

	if (*word == 'r' && !kstrtou64(word + 1, 16, &ev->config)) {
		ev->type = PERF_TYPE_RAW;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(generic); i++) {
		if (strcmp(word, generic[i].name))
			continue;
		ev->type = generic[i].type;
		ev->config = generic[i].config;
		return true;
	}
	return false;
}

/* 1 to 23 of a-z, 0-9 and _. */
static bool is_name(const char *s)
{
	if (!*s || strlen(s) >= SEEP_PMU_NAME)
		return false;
	for (; *s; s++)
		if (!(*s >= 'a' && *s <= 'z') && !(*s >= '0' && *s <= '9') && *s != '_')
			return false;
	return true;
}

/*
 * Read NAME=CODE, or NAME alone where the table has it. @word is changed.
 *
 * Return: NULL, or what is wrong.
 */
static const char *read_one(char *word, struct seep_pmu_listed *ev)
{
	char *code = strchr(word, '=');
	int id;

	memset(ev, 0, sizeof(*ev));
	if (!code) {
		for (id = 0; id < __SEEP_PMU_MAX && strcmp(word, seep_pmu_names[id]); id++)
			;
		if (id == __SEEP_PMU_MAX)
			return "allowed NAME=CODE, or one of the names of seepage status";
		from_table(ev, id);
		return NULL;
	}
	*code++ = '\0';
	if (!is_name(word))
		return "a name has 1 to 23 of a-z, 0-9, _";
	seep_copy(ev->name, word, sizeof(ev->name));
	ev->row = -1;
	ev->always = always(word);
	word = code;
	return read_code(code, ev) ? NULL :
	       "allowed rHEX or a name of perf's: cycles, cache-misses, dTLB-load-misses, ...";
}

/**
 * seep_pmu_parse() - read a list of events: NAME[=CODE],...
 * @text: the list
 * @list: SEEP_PMU_EVENTS places
 * @why: out: which word is wrong, and what is allowed
 * @size: of @why
 *
 * Context: process.
 * Return: number of events, or -EINVAL with a text.
 */
int seep_pmu_parse(const char *text, struct seep_pmu_listed *list, char *why, size_t size)
{
	char copy[SEEP_CONFIG_EVENTS_BYTES], given[SEEP_PMU_NAME + 8], *rest = copy, *word;
	const char *wrong = NULL;
	int n = 0, i;

	if (seep_copy(copy, text, sizeof(copy)) < 0)
		goto too_long;
	while ((word = strsep(&rest, ","))) {
		seep_copy(given, word, sizeof(given));
		if (n == SEEP_PMU_EVENTS)
			wrong = "too many: allowed 9 events";
		else
			wrong = read_one(word, &list[n]);
		for (i = 0; !wrong && i < n; i++)
			if (!strcmp(list[i].name, list[n].name))
				wrong = "the name is given twice";
		if (wrong) {
			snprintf(why, size, "pmc_events: '%s': %s", given, wrong);
			return -EINVAL;
		}
		n++;
	}
	return n;
too_long:
	snprintf(why, size, "pmc_events: allowed up to %d bytes", SEEP_CONFIG_EVENTS_BYTES - 1);
	return -EINVAL;
}

/**
 * seep_pmu_check() - is a list valid?
 * @events: the list; empty stands for the default one
 * @why: out: which word is wrong, and what is allowed
 * @size: of @why
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL or -ENOMEM with a text.
 */
int seep_pmu_check(const char *events, char *why, size_t size)
{
	struct seep_pmu_listed *list;
	int rc;

	if (!*events)
		return 0;
	list = kcalloc(SEEP_PMU_EVENTS, sizeof(*list), GFP_KERNEL);
	if (!list) {
		seep_copy(why, "pmc_events: no memory", size);
		return -ENOMEM;
	}
	rc = seep_pmu_parse(events, list, why, size);
	kfree(list);
	return min(rc, 0);
}

/**
 * seep_pmu_host() - name of the hypervisor that this kernel runs on
 * @buf: out: its name by CPUID leaf 0x40000000; empty on bare metal
 * @size: of @buf
 *
 * Context: any.
 */
void seep_pmu_host(char *buf, size_t size)
{
	buf[0] = '\0';
#ifdef CONFIG_X86
	if (boot_cpu_has(X86_FEATURE_HYPERVISOR)) {
		u32 eax, id[3] = { };
		char name[sizeof(id) + 1];
		char *c;

		cpuid(0x40000000, &eax, &id[0], &id[1], &id[2]);
		memcpy(name, id, sizeof(id));
		name[sizeof(id)] = '\0';
		for (c = name; *c; c++)
			if (*c <= ' ' || *c > '~')
				*c = '.';
		snprintf(buf, size, "hypervisor %s", *name ? name : "of no name");
	}
#endif
}
