// SPDX-License-Identifier: GPL-2.0
/*
 * Checks messages attribute by attribute against the uapi header. gen-spec.awk generates the
 * tables from the header itself, so the header and the module cannot differ unnoticed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <linux/seepage.h>
#include "nltest.h"
#include "spec_types.h"

#define FLOORS_ENOUGH	8	/* to tell a rise; FLOORS is left out then */

static const struct nest nest_factor, nest_gate, nest_level, nest_pmc, nest_identity;
#include "spec.h"
static const struct nest nest_attr = { spec_attr, ARRAY_SIZE(spec_attr) };
static const struct nest nest_factor = { spec_factor, ARRAY_SIZE(spec_factor) };
static const struct nest nest_gate = { spec_gate, ARRAY_SIZE(spec_gate) };
static const struct nest nest_level = { spec_level, ARRAY_SIZE(spec_level) };
static const struct nest nest_pmc = { spec_pmc, ARRAY_SIZE(spec_pmc) };
static const struct nest nest_identity = { spec_identity, ARRAY_SIZE(spec_identity) };
_Static_assert(ARRAY_SIZE(spec_attr) == __SEEPAGE_A_MAX, "an attribute is not in the table");

static const char *attr_text(int attr)
{
	return attr > 0 && attr < __SEEPAGE_A_MAX ? spec_attr[attr].name : "?";
}

/* ---- one attribute ---- */

static bool is_nest(enum type t)
{
	return t >= T_NEST;
}

static void check_flags(const struct nlattr *a, const struct spec *s)
{
	check(!(a->nla_type & NLA_F_NET_BYTEORDER), "%s: NLA_F_NET_BYTEORDER", s->name);
	if (is_nest(s->type))
		check(a->nla_type & NLA_F_NESTED, "%s: nest without NLA_F_NESTED", s->name);
	else
		check(!(a->nla_type & NLA_F_NESTED), "%s: NLA_F_NESTED but no nest", s->name);
}

/*
 * Kernels that need no alignment put no padding (nla_need_padding_for_64bit());
 * where one was put, what follows has to be aligned.
 */
static void check_aligned(const struct nlattr *a, const char *name, bool padded)
{
	bool aligned = !(((const char *)mnl_attr_get_payload(a) - datagram) % 8);

#if defined(__x86_64__) || defined(__aarch64__) || defined(__i386__) || \
	defined(__ARM_FEATURE_UNALIGNED) || defined(__s390x__)
	check(aligned || !padded, "%s: not aligned behind a PAD", name);
#else
	check(aligned, "%s: not aligned", name);
#endif
}

static void check_len(const struct nlattr *a, const char *name, size_t want)
{
	check(mnl_attr_get_payload_len(a) == want, "%s: %u bytes, not %zu", name,
	      mnl_attr_get_payload_len(a), want);
}

static uint64_t value(const struct nlattr *a)
{
	uint64_t v = 0;

	switch (mnl_attr_get_payload_len(a)) {
	case 1:
		return mnl_attr_get_u8(a);
	case 4:
		return mnl_attr_get_u32(a);
	case 8:
		memcpy(&v, mnl_attr_get_payload(a), sizeof(v));
	}
	return v;
}

static void check_string(const struct nlattr *a, const struct spec *s)
{
	const char *text = mnl_attr_get_payload(a);
	size_t len = mnl_attr_get_payload_len(a);

	check(len > 0 && !text[len - 1], "%s: not terminated", s->name);
	check(len <= s->max, "%s: %zu bytes", s->name, len);
	check(!len || strnlen(text, len) == len - 1, "%s: NUL inside", s->name);
}

static void check_nest(const struct nlattr *nest, const struct nest *inner, const char *name);

static void check_list(const struct nlattr *nest, const struct spec *s)
{
	const struct spec *item = &spec_attr[s->max];
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest) {
		if (mnl_attr_get_type(a) == SEEPAGE_A_PAD && item->type != T_NEST)
			continue;
		if (mnl_attr_get_type(a) != s->max) {
			fail("%s: holds attribute %u", s->name, mnl_attr_get_type(a));
			continue;
		}
		check_flags(a, item);
		check_nest(a, item->inner, item->name);
	}
}

static void check_keyed(const struct nlattr *nest, const struct spec *s)
{
	bool seen[256] = { false }, padded = false;
	const struct nlattr *a;
	unsigned int key;

	mnl_attr_for_each_nested(a, nest) {
		key = mnl_attr_get_type(a);
		if (!key) {
			check_len(a, "padding", 0);
			padded = true;
			continue;
		}
		if (key > s->max) {
			fail("%s: unknown key %u", s->name, key);
			continue;
		}
		check(!seen[key], "%s: key %u twice", s->name, key);
		seen[key] = true;
		check(!(a->nla_type & NLA_F_NESTED), "%s: key %u: NLA_F_NESTED", s->name, key);
		check_len(a, s->name, s->type == T_KEYED_U32 ? 4 : 8);
		if (s->type == T_KEYED_U64)
			check_aligned(a, s->name, padded);
		padded = false;
	}
	for (key = 1; key <= s->max; key++)
		check(seen[key], "%s: key %u is missing", s->name, key);
}

static void check_attr(const struct nlattr *a, const struct spec *s, bool padded)
{
	check_flags(a, s);
	switch (s->type) {
	case T_NONE:
		break;
	case T_PAD:
		check_len(a, s->name, 0);
		break;
	case T_U8:
		check_len(a, s->name, 1);
		check(value(a) <= s->max, "%s: %llu", s->name, (unsigned long long)value(a));
		break;
	case T_U32:
		check_len(a, s->name, 4);
		break;
	case T_U64:
	case T_S64:
		check_len(a, s->name, 8);
		check_aligned(a, s->name, padded);
		break;
	case T_STRING:
		check_string(a, s);
		break;
	case T_ARRAY:
		check(!(mnl_attr_get_payload_len(a) % s->max), "%s: %u bytes", s->name,
		      mnl_attr_get_payload_len(a));
		break;
	case T_NEST:
		check_nest(a, s->inner, s->name);
		break;
	case T_LIST:
		check_list(a, s);
		break;
	case T_KEYED_U32:
	case T_KEYED_U64:
		check_keyed(a, s);
	}
}

/* A nest that has its own enum: all members, but for the optional, once. */
static void check_nest(const struct nlattr *nest, const struct nest *inner, const char *name)
{
	bool seen[32] = { false }, padded = false;
	const struct nlattr *a;
	unsigned int type;

	mnl_attr_for_each_nested(a, nest) {
		type = mnl_attr_get_type(a);
		if (!type || type >= inner->n) {
			fail("%s: unknown attribute %u", name, type);
			continue;
		}
		check_attr(a, &inner->spec[type], padded);
		padded = inner->spec[type].type == T_PAD;
		if (padded)
			continue;
		check(!seen[type], "%s: %s twice", name, inner->spec[type].name);
		seen[type] = true;
	}
	for (type = 1; type < inner->n; type++)
		if (inner->spec[type].type > T_PAD && !inner->spec[type].optional)
			check(seen[type], "%s: %s is missing", name, inner->spec[type].name);
	if (inner == &nest_gate)
		check(seen[SEEPAGE_GATE_A_VALUE] == seen[SEEPAGE_GATE_A_LIMIT],
		      "GATE: VALUE and LIMIT are not left out together");
}

/* ---- a message: which attributes ---- */

bool reader_has_pidns, execs_go_on;
unsigned int nameless;

/* UID and CGROUP_ID of a process that ended before anybody looked are not known. */
static bool unknown_owner(const struct parsed *p, int attr, enum kind what)
{
	if ((attr != SEEPAGE_A_UID && attr != SEEPAGE_A_CGROUP_ID) || what == PROC_DO)
		return false;
	if (what == AN_ALERT && num(p, SEEPAGE_A_STATE) == SEEPAGE_STATE_EXITED)
		return true;
	if (has(p, SEEPAGE_A_PID) && kill(num(p, SEEPAGE_A_PID), 0) && errno == ESRCH)
		return true;
	if (execs_go_on)		/* dump-exec tells of these */
		nameless++;
	return execs_go_on;
}

static void check_members(const struct parsed *p, const struct member *m, enum kind what,
			  bool *allowed)
{
	for (; m->attr; m++) {
		allowed[m->attr] = true;
		if (!m->mandatory || p->a[m->attr])
			continue;
		if (what == AN_ALERT && m->attr == SEEPAGE_A_PID && reader_has_pidns)
			continue;
		if (unknown_owner(p, m->attr, what))
			continue;
		fail("%s is missing", attr_text(m->attr));
	}
}

static void check_tree(const struct parsed *p, enum kind what, bool *allowed)
{
	switch (what) {
	case STATUS:
		check_members(p, tree_get_status, what, allowed);
		break;
	case CONFIG:
		check_members(p, tree_get_config, what, allowed);
		break;
	case AN_ALERT:
		check_members(p, tree_alert, what, allowed);
		/* fall through */
	default:
		check_members(p, tree_process, what, allowed);
		allowed[SEEPAGE_A_GATES] = what == PROC_DO || what == PROC_GROUP ||
					   what == AN_ALERT;
		allowed[SEEPAGE_A_HISTORY] = what == PROC_DO;
		check(!allowed[SEEPAGE_A_GATES] || p->a[SEEPAGE_A_GATES], "GATES is missing");
		check(!allowed[SEEPAGE_A_HISTORY] || p->a[SEEPAGE_A_HISTORY],
		      "HISTORY is missing");
		allowed[SEEPAGE_A_PIDS] = what == PROC_GROUP;
		check(!allowed[SEEPAGE_A_PIDS] || p->a[SEEPAGE_A_PIDS], "PIDS is missing");
	}
}

static void check_others(const struct parsed *p, const bool *allowed)
{
	int i;

	for (i = 1; i < __SEEPAGE_A_MAX; i++)
		if (p->a[i] && !allowed[i])
			fail("%s: not in the manual of this message", attr_text(i));
}

/* ---- a message: what the figures can be ---- */

static const struct nlattr *member(const struct nlattr *nest, int type)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest)
		if (mnl_attr_get_type(a) == type)
			return a;
	return NULL;
}

static void check_factors(const struct parsed *p)
{
	bool classic = num(p, SEEPAGE_A_POLICY) == SEEPAGE_POLICY_CLASSIC, seen[256] = { false };
	const struct nlattr *f;
	uint64_t id, points, max, sum = 0;

	mnl_attr_for_each_nested(f, p->a[SEEPAGE_A_FACTORS]) {
		if (!member(f, SEEPAGE_FACTOR_A_ID) || !member(f, SEEPAGE_FACTOR_A_POINTS) ||
		    !member(f, SEEPAGE_FACTOR_A_MAX_POINTS))
			continue;
		id = value(member(f, SEEPAGE_FACTOR_A_ID)) & 255;
		points = value(member(f, SEEPAGE_FACTOR_A_POINTS));
		max = value(member(f, SEEPAGE_FACTOR_A_MAX_POINTS));
		check(id && (id <= SEEPAGE_FACTOR_VSZ_RSS) == classic,
		      "factor %llu is none of policy %llu", (unsigned long long)id,
		      (unsigned long long)num(p, SEEPAGE_A_POLICY));
		check(!seen[id], "factor %llu twice", (unsigned long long)id);
		seen[id] = true;
		check(points <= max, "factor %llu: %llu of %llu points", (unsigned long long)id,
		      (unsigned long long)points, (unsigned long long)max);
		/* these two come on top, where they are known */
		if (id != SEEPAGE_FACTOR_COLD && id != SEEPAGE_FACTOR_PMC)
			sum += max;
	}
	check(!seen[SEEPAGE_FACTOR_COLD] || has(p, SEEPAGE_A_COLD_PERMILLE),
	      "a factor of use that nobody told");
	check(sum <= 100, "factors have %llu points to give", (unsigned long long)sum);
}

static void check_gates(const struct parsed *p)
{
	const struct nlattr *g, *id;
	bool seen[256] = { false };

	if (!p->a[SEEPAGE_A_GATES])
		return;
	mnl_attr_for_each_nested(g, p->a[SEEPAGE_A_GATES]) {
		id = member(g, SEEPAGE_GATE_A_ID);
		if (!id)
			continue;
		check(value(id), "gate 0");
		check(!seen[value(id) & 255], "gate %u twice", (unsigned int)value(id));
		seen[value(id) & 255] = true;
	}
}

static void check_memory(const struct parsed *p)
{
	static const int of[] = { SEEPAGE_A_ANON_BYTES, SEEPAGE_A_FILE_BYTES,
				  SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES,
				  SEEPAGE_A_VSZ_BYTES, SEEPAGE_A_BRK_BYTES };
	uint64_t sum;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++)
		check(!(num(p, of[i]) % 4096) || of[i] == SEEPAGE_A_BRK_BYTES,
		      "%s: %llu is no number of pages", attr_text(of[i]),
		      (unsigned long long)num(p, of[i]));
	sum = num(p, SEEPAGE_A_ANON_BYTES) + num(p, SEEPAGE_A_FILE_BYTES) +
	      num(p, SEEPAGE_A_SHMEM_BYTES);
	check(sum == num(p, SEEPAGE_A_RSS_BYTES), "RSS_BYTES is not the sum of its parts");
	/* the counters lag behind by up to 64 pages a thread */
	check(num(p, SEEPAGE_A_RSS_BYTES) <= num(p, SEEPAGE_A_VSZ_BYTES) + (1 << 20),
	      "RSS_BYTES exceeds VSZ_BYTES");
	check(num(p, SEEPAGE_A_BRK_BYTES) <= num(p, SEEPAGE_A_VSZ_BYTES) + 4096,
	      "BRK_BYTES exceeds VSZ_BYTES");
}

/* classic: by the size of what is at stake; else by the state, an alert with an hour left more */
static unsigned int severity_in(const struct parsed *p, uint64_t state)
{
	uint64_t mb = num(p, SEEPAGE_A_RSS_BYTES) >> 20;
	bool soon = has(p, SEEPAGE_A_TTE_SECONDS) && num(p, SEEPAGE_A_TTE_SECONDS) < 3600;

	if (num(p, SEEPAGE_A_POLICY) == SEEPAGE_POLICY_CLASSIC)
		return mb > 8192 ? 10 : mb > 4096 ? 8 : mb > 1024 ? 6 : mb > 512 ? 4 :
		       mb > 128 ? 2 : 1;
	if (state == SEEPAGE_STATE_RUNAWAY)
		return 10;
	if (state == SEEPAGE_STATE_CONFIRMED)
		return soon ? 10 : 8;
	if (state == SEEPAGE_STATE_SUSPECTED)
		return soon ? 8 : 6;
	return state == SEEPAGE_STATE_WATCH ? 2 : 1;
}

/*
 * Is this the severity in @state? A process that meets a limit of its own has 6 at most,
 * where much memory is left.
 */
static bool is_severity(const struct parsed *p, uint64_t state)
{
	uint64_t limit = has(p, SEEPAGE_A_LIMIT) ? num(p, SEEPAGE_A_LIMIT) : SEEPAGE_LIMIT_RAM;
	uint64_t severity = num(p, SEEPAGE_A_SEVERITY);
	unsigned int full = severity_in(p, state);

	if (num(p, SEEPAGE_A_POLICY) == SEEPAGE_POLICY_LADDER && full > 6 && severity == 6 &&
	    (limit == SEEPAGE_LIMIT_AS || limit == SEEPAGE_LIMIT_DATA))
		return true;
	return severity == full;
}

/*
 * An end matters as much as what ended, which is the last that was told. PREV_STATE is
 * the last that was: another where a limit on alerts held that back.
 */
static void check_severity_of_end(const struct parsed *p)
{
	unsigned int severity = num(p, SEEPAGE_A_SEVERITY);

	check(is_severity(p, SEEPAGE_STATE_SUSPECTED) ||
	      is_severity(p, SEEPAGE_STATE_CONFIRMED) ||
	      is_severity(p, SEEPAGE_STATE_RUNAWAY),
	      "SEVERITY: %u, of no alert, in state exited from %u", severity,
	      (unsigned int)num(p, SEEPAGE_A_PREV_STATE));
}

static void check_severity(const struct parsed *p)
{
	uint64_t state = num(p, SEEPAGE_A_STATE);

	if (state == SEEPAGE_STATE_EXITED)
		check_severity_of_end(p);
	else
		check(is_severity(p, state),
		      "SEVERITY: %u, not %u, in state %u",
		      (unsigned int)num(p, SEEPAGE_A_SEVERITY), severity_in(p, state),
		      (unsigned int)state);
}

/* Is a growth known? One that is fast has few floors of the history. */
static bool grows(const struct parsed *p)
{
	const struct nlattr *f, *id, *v;

	mnl_attr_for_each_nested(f, p->a[SEEPAGE_A_FACTORS]) {
		id = member(f, SEEPAGE_FACTOR_A_ID);
		v = member(f, SEEPAGE_FACTOR_A_VALUE);
		if (id && v && value(id) == SEEPAGE_FACTOR_FLOOR && value(v))
			return true;
	}
	return false;
}

/* FLOORS is there in a message without HISTORY too; where both are, they agree. */
static void check_floors(const struct parsed *p)
{
	uint64_t told = has(p, SEEPAGE_A_FLOORS) ? num(p, SEEPAGE_A_FLOORS) : FLOORS_ENOUGH;
	const struct nlattr *level, *minima = NULL;
	uint64_t known = 0;

	check(!has(p, SEEPAGE_A_FLOORS) || told < FLOORS_ENOUGH, "FLOORS: %llu",
	      (unsigned long long)told);
	check(!has(p, SEEPAGE_A_FLOORS) || !grows(p), "FLOORS beside a growth");
	if (!has(p, SEEPAGE_A_HISTORY) || grows(p))
		return;
	level = member(p->a[SEEPAGE_A_HISTORY], SEEPAGE_A_LEVEL);
	if (level)
		minima = member(level, SEEPAGE_LEVEL_A_MINIMA);
	if (minima)
		known = mnl_attr_get_payload_len(minima) / sizeof(uint64_t);
	check(told == known, "FLOORS: %llu, HISTORY has %llu", (unsigned long long)told,
	      (unsigned long long)known);
}

static void check_process(const struct parsed *p)
{
	struct timespec up;
	uint64_t pid;

	clock_gettime(CLOCK_BOOTTIME, &up);
	if (has(p, SEEPAGE_A_PID)) {
		pid = num(p, SEEPAGE_A_PID);
		check(pid > 0 && pid < PID_LIMIT, "PID: %llu", (unsigned long long)pid);
	}
	check(num(p, SEEPAGE_A_AGE_SECONDS) <= (uint64_t)up.tv_sec + 1,
	      "AGE_SECONDS: %llu, older than the machine",
	      (unsigned long long)num(p, SEEPAGE_A_AGE_SECONDS));
	check(num(p, SEEPAGE_A_FAULTS_USER) + num(p, SEEPAGE_A_FAULTS_KERNEL) ==
	      num(p, SEEPAGE_A_FAULTS_ANON) + num(p, SEEPAGE_A_FAULTS_FILE),
	      "FAULTS_USER + FAULTS_KERNEL are not FAULTS_ANON + FAULTS_FILE");
	check(num(p, SEEPAGE_A_FAULTS_USER) < 1ULL << 48, "FAULTS_USER: %llx",
	      (unsigned long long)num(p, SEEPAGE_A_FAULTS_USER));
	if (has(p, SEEPAGE_A_CGROUP_ID))
		check(num(p, SEEPAGE_A_CGROUP_ID), "CGROUP_ID: 0");
	if (has(p, SEEPAGE_A_TTE_SECONDS))
		check(num(p, SEEPAGE_A_TTE_SECONDS) != ~0ULL, "TTE_SECONDS: -1");
	check_memory(p);
	check_severity(p);
	check_factors(p);
	check_gates(p);
	check_floors(p);
}

static void check_alert(const struct parsed *p)
{
	uint64_t state = num(p, SEEPAGE_A_STATE);
	uint64_t t = num(p, SEEPAGE_A_TIME_NS), now;
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	now = ts.tv_sec * 1000000000ULL + ts.tv_nsec;
	check(num(p, SEEPAGE_A_SEQ), "SEQ: 0");
	check(!has(p, SEEPAGE_A_FLOORS), "FLOORS in an alert");
	check(num(p, SEEPAGE_A_INSTANCE), "INSTANCE: 0");
	check(t <= now && now - t < 3600 * 1000000000ULL, "TIME_NS: %llu, now %llu",
	      (unsigned long long)t, (unsigned long long)now);
	check(state >= SEEPAGE_STATE_SUSPECTED, "an alert in state %u", (unsigned int)state);
	check(num(p, SEEPAGE_A_PREV_STATE) != state, "an alert that changes nothing");
}

static void check_status(const struct parsed *p)
{
	uint64_t first = num(p, SEEPAGE_A_SEQ_FIRST), last = num(p, SEEPAGE_A_SEQ_LAST);

	check(num(p, SEEPAGE_A_INSTANCE), "INSTANCE: 0");
	check(first <= last, "alerts %llu to %llu",
	      (unsigned long long)first, (unsigned long long)last);
	check(num(p, SEEPAGE_A_PROCESSES) > 0, "PROCESSES: 0");
	check(num(p, SEEPAGE_A_MEMORY_BYTES) >=
	      num(p, SEEPAGE_A_PROCESSES) * num(p, SEEPAGE_A_REC_BYTES),
	      "MEMORY_BYTES: less than the records take");
	check(num(p, SEEPAGE_A_TICK_COST_NS) <= num(p, SEEPAGE_A_TICK_COST_MAX_NS),
	      "TICK_COST_NS exceeds TICK_COST_MAX_NS");
	check(!strcmp(str(p, SEEPAGE_A_HOOK), "tracepoint") ||
	      !strcmp(str(p, SEEPAGE_A_HOOK), "software"), "HOOK: %s",
	      str(p, SEEPAGE_A_HOOK));
	check(*str(p, SEEPAGE_A_VERSION) && *str(p, SEEPAGE_A_PMC), "an empty string");
	check(!has(p, SEEPAGE_A_DISABLED), "DISABLED: %s", str(p, SEEPAGE_A_DISABLED));
	check(!num(p, SEEPAGE_A_MULTICAST_OFF), "MULTICAST_OFF");
}

/**
 * parse() - check a message against the header and find its attributes
 * @nlh: the message, inside the datagram
 * @what: what it has to be
 * @p: out
 */
void parse(const struct nlmsghdr *nlh, enum kind what, struct parsed *p)
{
	static const uint8_t cmd[] = {
		[STATUS] = SEEPAGE_CMD_GET_STATUS, [CONFIG] = SEEPAGE_CMD_GET_CONFIG,
		[PROC_DO] = SEEPAGE_CMD_GET_PROC, [PROC_DUMP] = SEEPAGE_CMD_GET_PROC,
		[PROC_GROUP] = SEEPAGE_CMD_GET_PROC, [PROC_SAMPLE] = SEEPAGE_CMD_SAMPLE,
	};
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);
	bool allowed[__SEEPAGE_A_MAX] = { false }, padded = false;
	const struct nlattr *a;
	unsigned int type, before = failures();

	memset(p, 0, sizeof(*p));
	need(mnl_nlmsg_get_payload_len(nlh) >= sizeof(*g), "message without a header");
	if (what == AN_ALERT)
		check(g->cmd == SEEPAGE_CMD_ALERT || g->cmd == SEEPAGE_CMD_GET_ALERTS,
		      "command %u", g->cmd);
	else
		check(g->cmd == cmd[what], "command %u instead of %u", g->cmd, cmd[what]);
	check(g->version == SEEPAGE_GENL_VERSION, "version %u in the reply", g->version);

	mnl_attr_for_each(a, nlh, sizeof(*g)) {
		type = mnl_attr_get_type(a);
		if (!type || type >= nest_attr.n) {
			fail("unknown attribute %u", type);
			continue;
		}
		check_attr(a, &spec_attr[type], padded);
		padded = type == SEEPAGE_A_PAD;
		check(padded || !p->a[type], "%s twice", attr_text(type));
		p->a[type] = padded ? NULL : a;
	}
	check((const char *)a == (const char *)mnl_nlmsg_get_payload_tail(nlh),
	      "bytes behind the last attribute");
	check_tree(p, what, allowed);
	if (failures() == before) {	/* else no use to look at the figures */
		if (what == STATUS)
			check_status(p);
		else if (what != CONFIG)
			check_process(p);
		if (what == AN_ALERT)
			check_alert(p);
	}
	check_others(p, allowed);
}

/* ---- for the tests ---- */

bool has(const struct parsed *p, int attr)
{
	return p->a[attr];
}

uint64_t num(const struct parsed *p, int attr)
{
	need(p->a[attr], "%s is missing", attr_text(attr));
	return value(p->a[attr]);
}

int64_t snum(const struct parsed *p, int attr)
{
	return (int64_t)num(p, attr);
}

const char *str(const struct parsed *p, int attr)
{
	return p->a[attr] ? mnl_attr_get_payload(p->a[attr]) : "";
}

uint64_t keyed(const struct parsed *p, int attr, int key)
{
	const struct nlattr *a;

	need(p->a[attr], "%s is missing", attr_text(attr));
	a = member(p->a[attr], key);
	need(a, "%s: key %d is missing", attr_text(attr), key);
	return value(a);
}

uint64_t level_ms(const struct parsed *p, unsigned int level, int attr)
{
	const struct nlattr *l;

	need(p->a[SEEPAGE_A_HISTORY], "HISTORY is missing");
	mnl_attr_for_each_nested(l, p->a[SEEPAGE_A_HISTORY])
		if (mnl_attr_get_type(l) == SEEPAGE_A_LEVEL && !level--)
			return value(member(l, attr));
	return 0;
}

unsigned int count_in(const struct parsed *p, int list)
{
	const struct nlattr *a;
	unsigned int n = 0;

	need(p->a[list], "%s is missing", attr_text(list));
	mnl_attr_for_each_nested(a, p->a[list])
		n += mnl_attr_get_type(a) != SEEPAGE_A_PAD;
	return n;
}

const char *attr_name(int attr)
{
	return attr_text(attr);
}
