// SPDX-License-Identifier: GPL-2.0
/*
 * The table of attributes maps each netlink attribute to its JSON key, heading,
 * kind and unit. Both text and JSON are made from it, so they cannot disagree.
 */
#include <string.h>
#include "ctl.h"

#define A(id, key, text, kind, unit)					\
	[SEEPAGE_A_##id] = { key, text, KIND_##kind, UNIT_##unit }
/* It is never printed. */
#define REQUEST(id)	A(id, "", "", REQUEST, NONE)

const struct attr_desc attr_table[__SEEPAGE_A_MAX] = {
	A(UNSPEC, "unspec", "", NONE, NONE),
	A(PAD, "pad", "", NONE, NONE),

	A(PID, "pid", "PID", UINT, NONE),
	A(COMM, "comm", "COMM", STRING, NONE),
	A(UID, "uid", "UID", UINT, NONE),
	A(CGROUP_ID, "cgroup_id", "CGROUP_ID", UINT, NONE),

	A(STATE, "state", "STATE", STATE, NONE),
	A(PREV_STATE, "prev_state", "BEFORE", STATE, NONE),
	A(POLICY, "policy", "POLICY", POLICY, NONE),
	A(CONFIDENCE, "confidence", "CONF", UINT, NONE),
	A(SEVERITY, "severity", "SEVERITY", UINT, NONE),
	A(FACTORS, "factors", "FACTORS", NONE, NONE),
	A(FACTOR, "factor", "FACTOR", NONE, NONE),
	A(GATES, "gates", "GATES", NONE, NONE),
	A(GATE, "gate", "GATE", NONE, NONE),

	A(RSS_BYTES, "rss_bytes", "RSS", UINT, BYTES),
	A(ANON_BYTES, "anon_bytes", "ANON", UINT, BYTES),
	A(FILE_BYTES, "file_bytes", "FILE", UINT, BYTES),
	A(SHMEM_BYTES, "shmem_bytes", "SHMEM", UINT, BYTES),
	A(SWAP_BYTES, "swap_bytes", "SWAP", UINT, BYTES),
	A(VSZ_BYTES, "vsz_bytes", "VSZ", UINT, BYTES),
	A(BRK_BYTES, "brk_bytes", "BRK", UINT, BYTES),
	A(GROWTH_BYTES_PER_HOUR, "growth_bytes_per_hour", "GROWTH/h", INT, BYTES_PER_HOUR),
	A(TTE_SECONDS, "tte_seconds", "TTE", UINT, SECONDS),

	A(FAULTS_USER, "faults_user", "FAULTS-USER", UINT, NONE),
	A(FAULTS_KERNEL, "faults_kernel", "FAULTS-KERNEL", UINT, NONE),
	A(FAULTS_ANON, "faults_anon", "FAULTS-ANON", UINT, NONE),
	A(FAULTS_FILE, "faults_file", "FAULTS-FILE", UINT, NONE),
	A(FAULT_RATE, "fault_rate", "FAULTS/s", UINT, PER_SECOND),
	A(AGE_SECONDS, "age_seconds", "AGE", UINT, SECONDS),

	A(SEQ, "seq", "SEQ", UINT, NONE),
	A(TIME_NS, "time_ns", "TIME", UINT, TIME),

	A(HISTORY, "history", "HISTORY", NONE, NONE),
	A(LEVEL, "level", "LEVEL", NONE, NONE),

	A(VERSION, "module_version", "module", STRING, NONE),
	A(INSTANCE, "instance", "instance", UINT, NONE),
	A(HOOK, "hook", "hook", STRING, NONE),
	A(PROCESSES, "processes", "processes", UINT, NONE),
	A(REC_BYTES, "rec_bytes", "each", UINT, BYTES),
	A(MEMORY_BYTES, "memory_bytes", "memory", UINT, BYTES),
	A(SEQ_FIRST, "seq_first", "first alert", UINT, NONE),
	A(SEQ_LAST, "seq_last", "last alert", UINT, NONE),
	A(TICKS, "ticks", "ticks", UINT, NONE),
	A(TICK_COST_NS, "tick_cost_ns", "last tick", UINT, NS),
	A(TICK_COST_MAX_NS, "tick_cost_max_ns", "worst tick", UINT, NS),
	A(INTERVAL_MS, "interval_ms", "interval", UINT, MS),
	A(STRETCHED, "stretched", "stretched", BOOL, NONE),
	A(PMC, "pmc_status", "pmc", STRING, NONE),
	A(DISABLED, "disabled", "disabled", STRING, NONE),
	A(MULTICAST_OFF, "multicast_off", "multicast_off", BOOL, NONE),
	A(COUNTERS, "counters", "counters", NONE, NONE),

	A(CONFIG, "config", "config", NONE, NONE),

	REQUEST(FILTER_STATES),
	REQUEST(FILTER_MIN_CONFIDENCE),
	REQUEST(FILTER_UID),
	REQUEST(FILTER_COMM),
	REQUEST(FILTER_AFTER_PID),
	REQUEST(SINCE_SEQ),
	REQUEST(RESET_WHAT),

	A(PASS_SEQ, "pass_seq", "message", UINT, NONE),
	A(PASS_NS, "pass_ns", "pass", UINT, NS),
	A(PASS_FULL, "pass_full", "full pass", BOOL, NONE),
	A(PASS_END, "pass_end", "its end", BOOL, NONE),
	A(HEADROOM_BYTES, "headroom_bytes", "headroom", UINT, BYTES),
	A(SAMPLE_SIZE, "sample_size", "of a sample", UINT, BYTES),
	A(SAMPLES, "samples", "samples", NONE, NONE),
	A(GONE, "gone", "gone", NONE, NONE),

	A(COLD_PERMILLE, "cold_permille", "COLD", UINT, NONE),
	A(COLD_AGE_SECONDS, "cold_age_seconds", "COLD-AGE", UINT, SECONDS),
	A(KNOWN_RISE_BYTES, "known_rise_bytes", "KNOWN-RISE", UINT, BYTES),
	A(KNOWN_SPAN_SECONDS, "known_span_seconds", "KNOWN-SPAN", UINT, SECONDS),
	A(LIMIT, "limit", "LIMIT", LIMIT, NONE),
	A(SUBJECT, "subject", "SUBJECT", SUBJECT, NONE),
	A(FLOORS, "floors", "FLOORS", UINT, NONE),
	REQUEST(GROUP),
	A(IDENTITY, "identity", "identity", NONE, NONE),
	REQUEST(LIMIT_BYTES),
	REQUEST(CGROUP_USED_BYTES),

	A(SHMEM_TOTAL_BYTES, "shmem_total_bytes", "shared memory of the system", UINT, BYTES),
	A(MEMBERS, "members", "MEMBERS", UINT, NONE),
	A(GROWING, "growing", "GROWING", UINT, NONE),
	A(PIDS, "pids", "PIDS", NONE, NONE),
	A(END, "end", "END", NONE, NONE),
	A(END_CGROUP_ID, "oom_cgroup_id", "oom cgroup", UINT, NONE),
	A(TIMES, "times", "TIMES", UINT, NONE),
	A(FIRST_TIME_NS, "first_time_ns", "FIRST-TIME", UINT, TIME),
	A(LIFE_SECONDS, "life_seconds", "LIFE", UINT, SECONDS),
	A(LIFE_GROWTH_BYTES_PER_HOUR, "life_growth_bytes_per_hour", "LIFE-GROWTH", INT,
	  BYTES_PER_HOUR),
	A(MERGED_INTO, "merged_into", "MERGED-INTO", UINT, NONE),

	A(PMC_WANTED, "pmc_wanted", "pmc events wanted", STRING, NONE),
	A(PMC_SET, "pmc_set", "pmc list", UINT, NONE),
	A(PMC_EVENTS, "pmc_events", "pmc events", NONE, NONE),
	A(PMC_EVENT, "pmc_event", "pmc event", NONE, NONE),
	A(PMC_VALUES, "pmc", "PMC", NONE, NONE),
	A(PMC_BASELINE, "pmc_baseline", "PMC-USUAL", NONE, NONE),

	A(SHARES_WITH, "shares_with", "SHARES-WITH", UINT, NONE),
	A(SHARED_GROWTH_BYTES_PER_HOUR, "shared_growth_bytes_per_hour", "SHARED-GROWTH/h", UINT,
	  BYTES_PER_HOUR),
};

/*
 * Reads an unsigned number of 1, 2, 4 or 8 bytes; attributes may be unaligned.
 * Returns false if @a is NULL or has another length.
 */
bool attr_u64(const struct nlattr *a, u64 *v)
{
	u16 half;
	u32 word;

	if (!a)
		return false;
	switch (nla_len(a)) {
	case 1:
		*v = *(const u8 *)nla_data(a);
		return true;
	case 2:
		memcpy(&half, nla_data(a), sizeof(half));
		*v = half;
		return true;
	case 4:
		memcpy(&word, nla_data(a), sizeof(word));
		*v = word;
		return true;
	case 8:
		memcpy(v, nla_data(a), sizeof(*v));
		return true;
	}
	return false;
}

/* Returns false if @a is NULL or is not 8 bytes long. */
bool attr_s64(const struct nlattr *a, s64 *v)
{
	if (!a || nla_len(a) != sizeof(*v))
		return false;
	memcpy(v, nla_data(a), sizeof(*v));
	return true;
}

static const char *name_of(enum attr_kind kind, u64 v)
{
	unsigned int id = v > UINT32_MAX ? UINT32_MAX : (unsigned int)v;

	switch (kind) {
	case KIND_STATE:
		return state_name(id);
	case KIND_POLICY:
		return policy_name(id);
	case KIND_LIMIT:
		return limit_name(id);
	case KIND_SUBJECT:
		return subject_name(id);
	case KIND_NONE:
	case KIND_UINT:
	case KIND_INT:
	case KIND_BOOL:
	case KIND_STRING:
	case KIND_REQUEST:
		break;
	}
	return NULL;
}

/* Returns an object that the caller owns, or NULL, which json-c prints as null. */
struct json_object *attr_json(unsigned int id, const struct nlattr *a)
{
	const struct attr_desc *d = &attr_table[id];
	const char *name;
	u64 u;
	s64 s;

	switch (d->kind) {
	case KIND_UINT:
		return attr_u64(a, &u) ? json_object_new_uint64(u) : NULL;
	case KIND_INT:
		return attr_s64(a, &s) ? json_object_new_int64(s) : NULL;
	case KIND_BOOL:
		return attr_u64(a, &u) ? json_object_new_boolean(u != 0) : NULL;
	case KIND_STRING:
		if (!a)
			return NULL;
		return json_text(nla_data(a), strnlen(nla_data(a), (size_t)nla_len(a)));
	case KIND_STATE:
	case KIND_POLICY:
	case KIND_LIMIT:
	case KIND_SUBJECT:
		name = attr_u64(a, &u) ? name_of(d->kind, u) : NULL;
		return name ? json_object_new_string(name) : NULL;
	case KIND_NONE:
	case KIND_REQUEST:
		break;
	}
	return NULL;
}

static void number_text(enum attr_unit unit, u64 v, bool table, char *buf, size_t size)
{
	switch (unit) {
	case UNIT_BYTES:
		if (table)
			fmt_bytes_short(buf, size, v);
		else
			fmt_bytes(buf, size, v);
		break;
	case UNIT_SECONDS:
		fmt_seconds(buf, size, v);
		break;
	case UNIT_MS:
		fmt_ms(buf, size, v);
		break;
	case UNIT_NS:
		fmt_ns(buf, size, v);
		break;
	case UNIT_TIME:
		fmt_time(buf, size, v);
		break;
	case UNIT_PER_SECOND:
		snprintf(buf, size, "%llu%s", v, table ? "" : "/s");
		break;
	case UNIT_BYTES_PER_HOUR:	/* KIND_INT has it */
	case UNIT_NONE:
		snprintf(buf, size, "%llu", v);
		break;
	}
}

/* Writes "-" if the attribute is missing. @table: the short form, for a column. */
void attr_text(unsigned int id, const struct nlattr *a, bool table, char *buf, size_t size)
{
	const struct attr_desc *d = &attr_table[id];
	const char *name;
	u64 u;
	s64 s;

	snprintf(buf, size, "-");
	if (d->kind == KIND_STRING && a) {
		fmt_safe(buf, size, nla_data(a), strnlen(nla_data(a), (size_t)nla_len(a)));
	} else if (d->kind == KIND_INT && attr_s64(a, &s)) {
		if (table)
			fmt_growth_short(buf, size, s);
		else
			fmt_growth(buf, size, s);
	} else if (!attr_u64(a, &u)) {
		return;
	} else if (d->kind == KIND_UINT) {
		number_text(d->unit, u, table, buf, size);
	} else if (d->kind == KIND_BOOL) {
		snprintf(buf, size, "%s", u ? "yes" : "no");
	} else {
		name = name_of(d->kind, u);
		if (name)
			snprintf(buf, size, "%s", name);
		else
			snprintf(buf, size, "#%llu", u);
	}
}
