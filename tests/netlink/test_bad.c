// SPDX-License-Identifier: GPL-2.0
/*
 * Malformed requests. Each is refused with an error and an extack text, and nothing of it is
 * applied.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "nltest.h"

static struct conn c;
static char buf[REQ_SIZE] __attribute__((aligned(8)));

static const struct command {
	const char *name;
	uint8_t cmd;
	uint16_t flags;
	int takes[8];
} commands[] = {
	{ "GET_STATUS", SEEPAGE_CMD_GET_STATUS, 0, { 0 } },
	{ "GET_PROC do", SEEPAGE_CMD_GET_PROC, 0, { SEEPAGE_A_PID } },
	{ "GET_PROC dump", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP,
	  { SEEPAGE_A_PID, SEEPAGE_A_FILTER_STATES, SEEPAGE_A_FILTER_MIN_CONFIDENCE,
	    SEEPAGE_A_FILTER_UID, SEEPAGE_A_FILTER_COMM, SEEPAGE_A_FILTER_AFTER_PID } },
	{ "GET_CONFIG", SEEPAGE_CMD_GET_CONFIG, 0, { 0 } },
	{ "SET_CONFIG", SEEPAGE_CMD_SET_CONFIG, 0,
	  { SEEPAGE_A_CONFIG, SEEPAGE_A_PMC_WANTED } },
	{ "GET_ALERTS", SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP, { SEEPAGE_A_SINCE_SEQ } },
	{ "RESET", SEEPAGE_CMD_RESET, 0, { SEEPAGE_A_RESET_WHAT, SEEPAGE_A_PID } },
	{ "SET_FACTS", SEEPAGE_CMD_SET_FACTS, 0,
	  { SEEPAGE_A_PID, SEEPAGE_A_COLD_PERMILLE, SEEPAGE_A_LIMIT_BYTES,
	    SEEPAGE_A_CGROUP_USED_BYTES, SEEPAGE_A_CGROUP_ID, SEEPAGE_A_SINCE_SEQ,
	    SEEPAGE_A_KNOWN_RISE_BYTES, SEEPAGE_A_KNOWN_SPAN_SECONDS } },
};

static bool takes(const struct command *k, int attr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(k->takes); i++)
		if (k->takes[i] == attr)
			return true;
	return false;
}

/* An attribute of a request as it should be. */
static void put_good(struct nlmsghdr *nlh, int attr)
{
	struct nlattr *nest;

	switch (attr) {
	case SEEPAGE_A_PID:
		mnl_attr_put_u32(nlh, attr, getpid());
		break;
	case SEEPAGE_A_CONFIG:
		nest = mnl_attr_nest_start(nlh, attr);
		mnl_attr_put_u32(nlh, SEEPAGE_CFG_WARMUP_S, 300);
		mnl_attr_nest_end(nlh, nest);
		break;
	case SEEPAGE_A_FILTER_STATES:
	case SEEPAGE_A_FILTER_UID:
	case SEEPAGE_A_FILTER_AFTER_PID:
		mnl_attr_put_u32(nlh, attr, 1);
		break;
	case SEEPAGE_A_COLD_PERMILLE:
		mnl_attr_put_u32(nlh, attr, 1000);
		break;
	case SEEPAGE_A_RESET_WHAT:
		mnl_attr_put_u32(nlh, attr, SEEPAGE_RESET_HISTORY);
		break;
	case SEEPAGE_A_FILTER_MIN_CONFIDENCE:
		mnl_attr_put_u8(nlh, attr, 100);
		break;
	case SEEPAGE_A_PMC_WANTED:
		mnl_attr_put_strz(nlh, attr, "");
		break;
	case SEEPAGE_A_FILTER_COMM:
		mnl_attr_put_strz(nlh, attr, "nobody");
		break;
	case SEEPAGE_A_SINCE_SEQ:
	case SEEPAGE_A_LIMIT_BYTES:
	case SEEPAGE_A_CGROUP_USED_BYTES:
	case SEEPAGE_A_CGROUP_ID:
	case SEEPAGE_A_KNOWN_RISE_BYTES:
	case SEEPAGE_A_KNOWN_SPAN_SECONDS:
		mnl_attr_put_u64(nlh, attr, 1ULL << 60);
		break;
	default:		/* an attribute of replies */
		mnl_attr_put_u64(nlh, attr, 1);
	}
}

static struct nlmsghdr *good(const struct command *k)
{
	struct nlmsghdr *nlh = request(&c, buf, k->cmd, k->flags);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(k->takes) && k->takes[i]; i++)
		put_good(nlh, k->takes[i]);
	return nlh;
}

/* What is refused below is refused for the one thing that is wrong with it. */
static void good_ones(void)
{
	struct answer a;
	unsigned int i;

	conn_open(&c);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		check(!ask(&c, good(&commands[i]), &a, NULL, NULL), "%s: %s %s",
		      commands[i].name, strerror(-a.rc), a.text);
}

/* Every attribute that a command does not take, those of replies included. */
static void not_taken(void)
{
	const struct command *k;
	struct nlmsghdr *nlh;
	struct nlattr *bad;
	char what[96];
	int attr;

	conn_open(&c);
	for (k = commands; k < commands + ARRAY_SIZE(commands); k++) {
		for (attr = 1; attr < __SEEPAGE_A_MAX; attr++) {
			if (takes(k, attr))
				continue;
			nlh = good(k);
			bad = mnl_nlmsg_get_payload_tail(nlh);
			put_good(nlh, attr);
			snprintf(what, sizeof(what), "%s with %s", k->name, attr_name(attr));
			refused(&c, nlh, -EINVAL, NULL, bad, what);
		}
	}
}

static void unknown(void)
{
	static const int type[] = { 0, __SEEPAGE_A_MAX, __SEEPAGE_A_MAX + 1, 255, 0x3fff };
	const struct command *k;
	struct nlmsghdr *nlh;
	struct nlattr *bad;
	unsigned int i;
	char what[96];

	conn_open(&c);
	for (k = commands; k < commands + ARRAY_SIZE(commands); k++) {
		for (i = 0; i < ARRAY_SIZE(type); i++) {
			nlh = good(k);
			bad = mnl_nlmsg_get_payload_tail(nlh);
			mnl_attr_put_u32(nlh, type[i], 1);
			snprintf(what, sizeof(what), "%s with attribute %d", k->name, type[i]);
			refused(&c, nlh, -EINVAL, NULL, bad, what);
		}
	}
}

/* Each attribute shorter and longer than it is, and with the flag of a nest. */
static void wrong_length(void)
{
	static const size_t len[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 64 };
	static const char zero[64];
	const struct command *k;
	struct nlmsghdr *nlh;
	struct nlattr *bad;
	unsigned int i, j;
	size_t right;
	char what[96];

	conn_open(&c);
	for (k = commands; k < commands + ARRAY_SIZE(commands); k++) {
		for (i = 0; i < ARRAY_SIZE(k->takes) && k->takes[i]; i++) {
			if (k->takes[i] == SEEPAGE_A_CONFIG ||
			    k->takes[i] == SEEPAGE_A_PMC_WANTED ||
			    k->takes[i] == SEEPAGE_A_FILTER_COMM)
				continue;
			right = k->takes[i] == SEEPAGE_A_FILTER_MIN_CONFIDENCE ? 1 :
				k->takes[i] == SEEPAGE_A_SINCE_SEQ ||
				k->takes[i] == SEEPAGE_A_LIMIT_BYTES ||
				k->takes[i] == SEEPAGE_A_CGROUP_ID ||
				k->takes[i] == SEEPAGE_A_KNOWN_RISE_BYTES ||
				k->takes[i] == SEEPAGE_A_KNOWN_SPAN_SECONDS ||
				k->takes[i] == SEEPAGE_A_CGROUP_USED_BYTES ? 8 : 4;
			for (j = 0; j < ARRAY_SIZE(len); j++) {
				if (len[j] == right)
					continue;
				nlh = request(&c, buf, k->cmd, k->flags);
				bad = mnl_nlmsg_get_payload_tail(nlh);
				mnl_attr_put(nlh, k->takes[i], len[j], zero);
				snprintf(what, sizeof(what), "%s: %s of %zu bytes", k->name,
					 attr_name(k->takes[i]), len[j]);
				refused(&c, nlh, -EINVAL, NULL, bad, what);
			}
			nlh = request(&c, buf, k->cmd, k->flags);
			bad = mnl_nlmsg_get_payload_tail(nlh);
			put_good(nlh, k->takes[i]);
			bad->nla_type |= NLA_F_NESTED;
			snprintf(what, sizeof(what), "%s: %s as a nest", k->name,
				 attr_name(k->takes[i]));
			refused(&c, nlh, -EINVAL, NULL, bad, what);
		}
	}
}

static void one(const char *what, uint8_t cmd, uint16_t flags, int attr, size_t len,
		const void *data)
{
	struct nlmsghdr *nlh = request(&c, buf, cmd, flags);
	struct nlattr *bad = mnl_nlmsg_get_payload_tail(nlh);

	if (cmd == SEEPAGE_CMD_RESET && attr == SEEPAGE_A_PID) {
		mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, SEEPAGE_RESET_HISTORY);
		bad = mnl_nlmsg_get_payload_tail(nlh);
	}
	mnl_attr_put(nlh, attr, len, data);
	refused(&c, nlh, -EINVAL, NULL, bad, what);
}

static void out_of_range(void)
{
	uint8_t confidence[] = { 101, 255 };
	uint32_t zero = 0, cold[] = { 1001, 0x10000, 0x80000000, ~0U };
	unsigned int i;

	conn_open(&c);
	for (i = 0; i < ARRAY_SIZE(confidence); i++)
		one("FILTER_MIN_CONFIDENCE", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP,
		    SEEPAGE_A_FILTER_MIN_CONFIDENCE, 1, &confidence[i]);
	one("PID 0", SEEPAGE_CMD_GET_PROC, 0, SEEPAGE_A_PID, 4, &zero);
	one("RESET of PID 0", SEEPAGE_CMD_RESET, 0, SEEPAGE_A_PID, 4, &zero);
	one("facts of PID 0", SEEPAGE_CMD_SET_FACTS, 0, SEEPAGE_A_PID, 4, &zero);
	for (i = 0; i < ARRAY_SIZE(cold); i++)
		one("more than all of it cold", SEEPAGE_CMD_SET_FACTS, 0,
		    SEEPAGE_A_COLD_PERMILLE, 4, &cold[i]);
}

/* A bit that is no state. */
static void bad_states(void)
{
	uint32_t states[] = { 1U << (SEEPAGE_STATE_MAX + 1), 1U << 31, ~0U };
	unsigned int i;

	conn_open(&c);
	for (i = 0; i < ARRAY_SIZE(states); i++)
		one("FILTER_STATES of a state that there is not", SEEPAGE_CMD_GET_PROC,
		    NLM_F_DUMP, SEEPAGE_A_FILTER_STATES, 4, &states[i]);
}

static void bad_string(void)
{
	conn_open(&c);
	one("FILTER_COMM of no bytes", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP,
	    SEEPAGE_A_FILTER_COMM, 0, "");
	one("FILTER_COMM without NUL", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP,
	    SEEPAGE_A_FILTER_COMM, 4, "abcd");
	one("FILTER_COMM of 16 letters without NUL", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP,
	    SEEPAGE_A_FILTER_COMM, 16, "0123456789abcdef");
	one("FILTER_COMM of 16 letters", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP,
	    SEEPAGE_A_FILTER_COMM, 17, "0123456789abcdef");
}

static void missing(void)
{
	conn_open(&c);
	refused(&c, request(&c, buf, SEEPAGE_CMD_GET_PROC, 0), -EINVAL, "PID", NULL,
		"GET_PROC without PID");
	refused(&c, request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0), -EINVAL, "CONFIG", NULL,
		"SET_CONFIG without CONFIG");
	refused(&c, request(&c, buf, SEEPAGE_CMD_RESET, 0), -EINVAL, "RESET_WHAT", NULL,
		"RESET without RESET_WHAT");
}

/* Facts of a process, with these attributes */
static struct nlmsghdr *facts(uint32_t pid, int attr, int other)
{
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_FACTS, 0);

	if (pid)
		mnl_attr_put_u32(nlh, SEEPAGE_A_PID, pid);
	if (attr)
		put_good(nlh, attr);
	if (other)
		put_good(nlh, other);
	return nlh;
}

/* A request with one attribute in its identity, of @len bytes. */
static struct nlmsghdr *identity(int attr, size_t len, const void *data)
{
	struct nlmsghdr *nlh = facts(getpid(), 0, 0);
	struct nlattr *nest = mnl_attr_nest_start(nlh, SEEPAGE_A_IDENTITY);

	if (attr)
		mnl_attr_put(nlh, attr, len, data);
	mnl_attr_nest_end(nlh, nest);
	return nlh;
}

static struct nlmsghdr *with_seq(struct nlmsghdr *nlh, uint64_t seq)
{
	mnl_attr_put_u64(nlh, SEEPAGE_A_SINCE_SEQ, seq);
	return nlh;
}

/* An identity is refused whole; a good one finds no alert here that needs it. */
static void bad_identity(void)
{
	static const char longest[256] = "", many[257] = "";
	char text[256];
	uint32_t ppid = 1;

	memset(text, 'a', sizeof(text));
	conn_open(&c);
	refused(&c, identity(0, 0, NULL), -EINVAL, "IDENTITY", NULL, "an empty identity");
	refused(&c, identity(SEEPAGE_IDENTITY_A_EXE, 0, ""), -EINVAL, "IDENTITY", NULL, "no NUL");
	refused(&c, identity(SEEPAGE_IDENTITY_A_EXE, 256, text), -EINVAL, "IDENTITY", NULL,
		"256 bytes without a NUL");
	refused(&c, identity(SEEPAGE_IDENTITY_A_EXE, 2, longest), -EINVAL, "IDENTITY", NULL,
		"bytes behind the NUL");
	refused(&c, identity(SEEPAGE_IDENTITY_A_CMDLINE, 257, many), -EINVAL, "IDENTITY", NULL,
		"257 bytes");
	refused(&c, identity(SEEPAGE_IDENTITY_A_PPID, 8, longest), -EINVAL, "IDENTITY", NULL,
		"PPID of 8 bytes");
	refused(&c, identity(__SEEPAGE_IDENTITY_A_MAX, 4, longest), -EINVAL, "IDENTITY", NULL,
		"an attribute that there is not");
	text[255] = '\0';
	refused(&c, identity(SEEPAGE_IDENTITY_A_EXE, 256, text), -ENOENT, "no alert", NULL,
		"the identity of a process without an alert");
	refused(&c, identity(SEEPAGE_IDENTITY_A_PPID, sizeof(ppid), &ppid), -ENOENT, "no alert",
		NULL, "PPID of a process without an alert");
	refused(&c, with_seq(identity(SEEPAGE_IDENTITY_A_PPID, sizeof(ppid), &ppid), 1ULL << 60),
		-ESRCH, "alert", NULL, "the identity for an alert that there is not");
}

/* What belongs together, and of whom nothing can be told. */
static void bad_facts(void)
{
	struct nlmsghdr *nlh;
	struct answer a;

	conn_open(&c);
	refused(&c, facts(0, SEEPAGE_A_COLD_PERMILLE, 0), -EINVAL, "PID", NULL,
		"SET_FACTS without PID");
	refused(&c, facts(getpid(), 0, 0), -EINVAL, "COLD_PERMILLE, LIMIT_BYTES", NULL,
		"SET_FACTS without a fact");
	refused(&c, facts(getpid(), SEEPAGE_A_LIMIT_BYTES, 0), -EINVAL, "CGROUP_USED_BYTES",
		NULL, "a limit without what is used");
	nlh = facts(getpid(), SEEPAGE_A_COLD_PERMILLE, 0);
	put_good(nlh, SEEPAGE_A_CGROUP_USED_BYTES);
	refused(&c, nlh, -EINVAL, "LIMIT_BYTES", NULL, "what is used without a limit");
	nlh = facts(getpid(), SEEPAGE_A_COLD_PERMILLE, 0);
	put_good(nlh, SEEPAGE_A_CGROUP_ID);
	refused(&c, nlh, -EINVAL, "LIMIT_BYTES", NULL, "a cgroup without a limit");
	refused(&c, facts(0x7ffffff0, SEEPAGE_A_COLD_PERMILLE, 0), -ESRCH, "process", NULL,
		"facts about nobody");
	refused(&c, facts(2, SEEPAGE_A_COLD_PERMILLE, 0), -ESRCH, "kernel thread", NULL,
		"facts of a kernel thread");
	check(!ask(&c, facts(getpid(), SEEPAGE_A_COLD_PERMILLE, 0), &a, NULL, NULL),
	      "cold alone: %s %s", strerror(-a.rc), a.text);
	check(!ask(&c, facts(getpid(), SEEPAGE_A_LIMIT_BYTES, SEEPAGE_A_CGROUP_USED_BYTES), &a,
		   NULL, NULL), "a limit alone: %s %s", strerror(-a.rc), a.text);
	check(!ask(&c, facts(getpid(), SEEPAGE_A_KNOWN_RISE_BYTES, 0), &a, NULL, NULL),
	      "a rise alone: %s %s", strerror(-a.rc), a.text);
	check(!ask(&c, facts(getpid(), SEEPAGE_A_KNOWN_SPAN_SECONDS, 0), &a, NULL, NULL),
	      "a span alone: %s %s", strerror(-a.rc), a.text);
	nlh = facts(getpid(), 0, 0);
	mnl_attr_put_u64(nlh, SEEPAGE_A_LIMIT_BYTES, 0);
	check(!ask(&c, nlh, &a, NULL, NULL), "no limit any more: %s %s", strerror(-a.rc), a.text);
}

/*
 * A command that is not there is refused by the kernel's core, which has no
 * text for it.
 */
static void command(void)
{
	static const struct {
		uint8_t cmd;
		uint16_t flags;
	} k[] = {
		{ SEEPAGE_CMD_UNSPEC, 0 }, { SEEPAGE_CMD_ALERT, 0 }, { SEEPAGE_CMD_SAMPLE, 0 },
		{ SEEPAGE_CMD_SAMPLE, NLM_F_DUMP }, { SEEPAGE_CMD_SERIES, 0 },
		{ __SEEPAGE_CMD_MAX, 0 }, { 255, 0 },
		{ SEEPAGE_CMD_GET_ALERTS, 0 },			/* dump only */
		{ SEEPAGE_CMD_GET_STATUS, NLM_F_DUMP },		/* do only */
		{ SEEPAGE_CMD_SET_CONFIG, NLM_F_DUMP },
		{ SEEPAGE_CMD_RESET, NLM_F_DUMP },
		{ SEEPAGE_CMD_SET_FACTS, NLM_F_DUMP },
	};
	struct answer a;
	unsigned int i;

	conn_open(&c);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		check(ask(&c, request(&c, buf, k[i].cmd, k[i].flags), &a, NULL, NULL) ==
		      -EOPNOTSUPP, "command %u, flags %x: %s", k[i].cmd, k[i].flags,
		      a.rc ? strerror(-a.rc) : "accepted");
}

/* The message ends before its header or in the middle of an attribute. */
static void truncated(void)
{
	struct nlmsghdr *nlh;
	struct nlattr *attr;
	struct answer a;
	unsigned int cut;

	conn_open(&c);
	for (cut = 1; cut <= 4; cut++) {	/* into genlmsghdr */
		nlh = request(&c, buf, SEEPAGE_CMD_GET_STATUS, 0);
		nlh->nlmsg_len -= cut;
		check(ask(&c, nlh, &a, NULL, NULL) == -EINVAL, "header short of %u bytes: %s",
		      cut, strerror(-a.rc));
	}
	for (cut = 1; cut <= 7; cut++) {	/* into the attribute, at its end and head */
		nlh = request(&c, buf, SEEPAGE_CMD_RESET, 0);
		mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, SEEPAGE_RESET_COUNTERS);
		nlh->nlmsg_len -= cut;
		refused(&c, nlh, -EINVAL, NULL, NULL, "an attribute cut short");
	}
	nlh = request(&c, buf, SEEPAGE_CMD_RESET, 0);
	attr = mnl_nlmsg_get_payload_tail(nlh);
	mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, SEEPAGE_RESET_COUNTERS);
	attr->nla_len = 200;			/* beyond the message */
	refused(&c, nlh, -EINVAL, NULL, NULL, "an attribute longer than the message");
	nlh = request(&c, buf, SEEPAGE_CMD_RESET, 0);
	attr = mnl_nlmsg_get_payload_tail(nlh);
	mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, SEEPAGE_RESET_COUNTERS);
	attr->nla_len = 3;			/* shorter than its own header */
	refused(&c, nlh, -EINVAL, NULL, NULL, "an attribute of 3 bytes");
}

static void garbage(void)
{
	const struct command *k;
	struct nlmsghdr *nlh;
	char what[64];
	int n;

	conn_open(&c);
	for (k = commands; k < commands + ARRAY_SIZE(commands); k++) {
		for (n = 1; n <= 8; n++) {
			nlh = good(k);
			memset(mnl_nlmsg_get_payload_tail(nlh), 0xa5, n);
			nlh->nlmsg_len += n;
			snprintf(what, sizeof(what), "%s with %d bytes behind", k->name, n);
			refused(&c, nlh, -EINVAL, NULL, NULL, what);
		}
	}
}

const struct test tests_bad[] = {
	{ "bad-none", good_ones },
	{ "bad-not-taken", not_taken },
	{ "bad-unknown", unknown },
	{ "bad-length", wrong_length },
	{ "bad-range", out_of_range },
	{ "bad-states", bad_states },
	{ "bad-string", bad_string },
	{ "bad-missing", missing },
	{ "bad-facts", bad_facts },
	{ "bad-identity", bad_identity },
	{ "bad-command", command },
	{ "bad-truncated", truncated },
	{ "bad-garbage", garbage },
	{ NULL, NULL }
};
