/* SPDX-License-Identifier: GPL-2.0 */
/* Messages as the kernel module would send them */
#ifndef SEEPAGE_TEST_MSG_H
#define SEEPAGE_TEST_MSG_H

#include <string.h>
#include <netlink/genl/genl.h>
#include "ctl.h"

static inline struct nl_msg *msg_new(void)
{
	struct nl_msg *m = nlmsg_alloc();

	genlmsg_put(m, 0, 0, 30, 0, 0, SEEPAGE_CMD_GET_PROC, 1);
	return m;
}

static inline void put_s64(struct nl_msg *m, int attr, s64 v)
{
	nla_put(m, attr, sizeof(v), &v);
}

static inline void put_factor(struct nl_msg *m, int id, int points, int max, s64 value,
			      s64 baseline)
{
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_FACTOR);

	nla_put_u8(m, SEEPAGE_FACTOR_A_ID, (u8)id);
	nla_put_u8(m, SEEPAGE_FACTOR_A_POINTS, (u8)points);
	nla_put_u8(m, SEEPAGE_FACTOR_A_MAX_POINTS, (u8)max);
	put_s64(m, SEEPAGE_FACTOR_A_VALUE, value);
	put_s64(m, SEEPAGE_FACTOR_A_BASELINE, baseline);
	nla_nest_end(m, nest);
}

static inline void put_gate(struct nl_msg *m, int id, int passed, bool reached, s64 value,
			    s64 limit)
{
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_GATE);

	nla_put_u8(m, SEEPAGE_GATE_A_ID, (u8)id);
	nla_put_u8(m, SEEPAGE_GATE_A_PASSED, (u8)passed);
	if (reached) {
		put_s64(m, SEEPAGE_GATE_A_VALUE, value);
		put_s64(m, SEEPAGE_GATE_A_LIMIT, limit);
	}
	nla_nest_end(m, nest);
}

static inline void put_level(struct nl_msg *m, u64 epoch_ms, const u64 *minima,
			     size_t n)
{
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_LEVEL);

	nla_put_u64(m, SEEPAGE_LEVEL_A_EPOCH_MS, epoch_ms);
	nla_put_u64(m, SEEPAGE_LEVEL_A_AGE_MS, epoch_ms / 4);
	nla_put(m, SEEPAGE_LEVEL_A_MINIMA, (int)(n * sizeof(*minima)), minima);
	nla_nest_end(m, nest);
}

#endif
