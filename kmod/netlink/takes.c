// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: which attributes each request may hold, and which values.
 *
 * All requests but the dump of processes share one policy: a policy is large and mostly empty.
 * Each takes the part of it up to its last attribute. Other attributes of that part are refused
 * here. A dump cannot do that, because its .start has no extack on all kernels and could not say
 * why it refuses. So the dump of processes has a policy of its own, and the one attribute of the
 * dump of alerts is the first of the shared policy.
 *
 * Context: process. No locks: everything here is constant.
 */
#include "netlink.h"

#define ALL_COLD	1000

/**
 * seep_refuse() - refuse a request: NL_SET_ERR_MSG_ATTR() as one function
 * @attr: the attribute that is wrong, or NULL
 * @extack: gets the text; may be NULL
 * @text: constant
 * @rc: a negative error
 *
 * Context: process.
 * Return: @rc.
 */
int seep_refuse(const struct nlattr *attr, struct netlink_ext_ack *extack, const char *text,
		int rc)
{
	do_trace_netlink_extack(text);
	if (extack) {
		extack->_msg = text;
		extack->bad_attr = attr;
	}
	return rc;
}

/**
 * seep_invalid() - refuse a request with -EINVAL, as most are
 * @attr: the attribute that is wrong, or NULL
 * @extack: gets the text; may be NULL
 * @text: constant
 *
 * The order is that of arguments of a validation function, which hands two of them on. noinline:
 * copies in this file are larger.
 *
 * Context: process.
 * Return: -EINVAL.
 */
noinline int seep_invalid(const struct nlattr *attr, struct netlink_ext_ack *extack,
			  const char *text)
{
	return seep_refuse(attr, extack, text, -EINVAL);
}

/**
 * seep_get_u64() - the value of an attribute that a policy has checked
 * @attr: a u64, or NULL
 *
 * It stands in for nla_get_u64(), which gcc copies into each file.
 *
 * Context: any.
 * Return: the value; 0 where there is no attribute.
 */
u64 seep_get_u64(const struct nlattr *attr)
{
	u64 v = 0;

	if (attr)
		memcpy(&v, nla_data(attr), sizeof(v));	/* aligned to 4 only */
	return v;
}

/**
 * seep_is_text() - is an attribute a string with one NUL, at its end?
 * @attr: of a request
 * @most: bytes that it may have, with the NUL
 *
 * Context: any.
 * Return: true: it is.
 */
bool seep_is_text(const struct nlattr *attr, int most)
{
	int len = nla_len(attr);

	return len && len <= most && strnlen(nla_data(attr), len) == len - 1;
}

/*
 * Validation functions instead of NLA_POLICY_MIN and MAX: the core would refuse with
 * -ERANGE and without the allowed range. The type is NLA_BINARY because the core warns
 * about a function with any other type.
 */
static int check_pid(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (nla_len(attr) == sizeof(u32) && nla_get_u32(attr))
		return 0;
	return seep_invalid(attr, extack, "PID: allowed a u32 above 0");
}

static int check_reset_what(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	u32 what = nla_len(attr) == sizeof(u32) ? nla_get_u32(attr) : 0;

	if (what && !(what & ~SEEPAGE_RESET_ALL))
		return 0;
	return seep_invalid(attr, extack,
			    "RESET_WHAT: allowed a u32 of history 1, alerts 2, counters 4, config 8");
}

static int check_events(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (seep_is_text(attr, SEEP_CONFIG_EVENTS_BYTES))
		return 0;
	return seep_invalid(attr, extack, "pmc_events: allowed up to 255 bytes and a NUL");
}

static int check_cold(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (nla_len(attr) == sizeof(u32) && nla_get_u32(attr) <= ALL_COLD)
		return 0;
	return seep_invalid(attr, extack, "COLD_PERMILLE: allowed a u32, 0..1000");
}

static int check_states(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (nla_len(attr) == sizeof(u32) && nla_get_u32(attr) < BIT(__SEEPAGE_STATE_MAX))
		return 0;
	return seep_invalid(attr, extack, "FILTER_STATES: allowed a u32 with a bit for each state");
}

static int check_confidence(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (nla_len(attr) == sizeof(u8) && nla_get_u8(attr) <= 100)
		return 0;
	return seep_invalid(attr, extack, "FILTER_MIN_CONFIDENCE: allowed a u8, 0..100");
}

static int check_comm(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int len = nla_len(attr);

	if (len <= SEEPAGE_COMM_LEN && strnlen(nla_data(attr), len) < len)
		return 0;
	return seep_invalid(attr, extack, "FILTER_COMM: allowed up to 15 bytes and a NUL");
}

const struct nla_policy seep_dump_proc_takes[] = {
	[SEEPAGE_A_PID]		= NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_pid),
	[SEEPAGE_A_FILTER_STATES] = NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_states),
	[SEEPAGE_A_FILTER_MIN_CONFIDENCE] = NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_confidence),
	[SEEPAGE_A_FILTER_UID]	= { .type = NLA_U32 },
	[SEEPAGE_A_FILTER_COMM]	= NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_comm),
	[SEEPAGE_A_FILTER_AFTER_PID] = { .type = NLA_U32 },
	[SEEPAGE_A_GROUP]	= { .type = NLA_U8 },
};

const struct nla_policy seep_request_takes[] = {
	[SEEPAGE_A_SINCE_SEQ]	= { .type = NLA_U64 },
	[SEEPAGE_A_PID]		= NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_pid),
	[SEEPAGE_A_CONFIG]	= { .type = NLA_NESTED },
	[SEEPAGE_A_RESET_WHAT]	= NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_reset_what),
	[SEEPAGE_A_COLD_PERMILLE] = NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_cold),
	[SEEPAGE_A_LIMIT_BYTES]	= { .type = NLA_U64 },
	[SEEPAGE_A_CGROUP_USED_BYTES] = { .type = NLA_U64 },
	[SEEPAGE_A_IDENTITY]	= { .type = NLA_NESTED },
	[SEEPAGE_A_KNOWN_RISE_BYTES] = { .type = NLA_U64 },
	[SEEPAGE_A_KNOWN_SPAN_SECONDS] = { .type = NLA_U64 },
	[SEEPAGE_A_PMC_WANTED]	= NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_events),
	[SEEPAGE_A_CGROUP_ID]	= { .type = NLA_U64 },
};

/* Attributes by command. Up to v6.1 the do and the dump of a command share their policy. */
#define A(id)	BIT(SEEPAGE_A_##id)
static const u32 takes[] = {
	[SEEPAGE_CMD_GET_PROC]		= A(PID) | A(GROUP),
	[SEEPAGE_CMD_SET_CONFIG]	= A(CONFIG) | A(PMC_WANTED),
	[SEEPAGE_CMD_RESET]		= A(PID) | A(RESET_WHAT),
	[SEEPAGE_CMD_SET_FACTS]	= A(PID) | A(COLD_PERMILLE) | A(LIMIT_BYTES) |
					  A(CGROUP_USED_BYTES) | A(CGROUP_ID) | A(IDENTITY) |
					  A(SINCE_SEQ) | A(KNOWN_RISE_BYTES) |
					  A(KNOWN_SPAN_SECONDS),
};

#undef A
static_assert(SEEPAGE_A_CGROUP_ID < 32);

/**
 * seep_netlink_takes() - refuse attributes of other commands
 * @info: a request that passed its policy; its command is in the table above
 *
 * Context: process.
 * Return: 0, or -EINVAL with an extack text.
 */
int seep_netlink_takes(struct genl_info *info)
{
	u32 ids = takes[info->genlhdr->cmd];
	u8 i, n = info->genlhdr->cmd == SEEPAGE_CMD_GET_PROC ? ARRAY_SIZE(seep_dump_proc_takes) :
							      ARRAY_SIZE(seep_request_takes);

	for (i = 1; i < n; i++) {
		if (!info->attrs[i] || ids & BIT(i))
			continue;
		return seep_invalid(info->attrs[i], info->extack,
				    "attribute does not go with this request");
	}
	return 0;
}
