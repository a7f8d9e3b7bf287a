// SPDX-License-Identifier: GPL-2.0
/*
 * SET_EVIDENCE: user space says what it found out of a process (evidence.c).
 * All of a request is checked before anything of it is taken.
 */
#include <linux/err.h>
#include "netlink.h"

static int check_whole(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct nlattr *limit = attrs[SEEPAGE_A_LIMIT_BYTES];
	const struct nlattr *used = attrs[SEEPAGE_A_CGROUP_USED_BYTES];

	if (!attrs[SEEPAGE_A_PID]) {
		NL_SET_ERR_MSG(extack, "attribute PID is missing");
		return -EINVAL;
	}
	if (!attrs[SEEPAGE_A_COLD_PERMILLE] && !limit) {
		NL_SET_ERR_MSG(extack, "attribute COLD_PERMILLE or LIMIT_BYTES is missing");
		return -EINVAL;
	}
	if (used && !limit) {
		NL_SET_ERR_MSG_ATTR(extack, used, "CGROUP_USED_BYTES goes with LIMIT_BYTES");
		return -EINVAL;
	}
	if (limit && nla_get_u64(limit) && !used) {
		NL_SET_ERR_MSG(extack, "attribute CGROUP_USED_BYTES is missing");
		return -EINVAL;
	}
	return 0;
}

static void take(struct seep_rec *rec, struct nlattr **attrs)
{
	const struct nlattr *cold = attrs[SEEPAGE_A_COLD_PERMILLE];
	const struct nlattr *limit = attrs[SEEPAGE_A_LIMIT_BYTES];
	const struct nlattr *used = attrs[SEEPAGE_A_CGROUP_USED_BYTES];

	if (cold)
		seep_evidence_cold(rec, (u16)nla_get_u32(cold));
	if (limit)
		seep_evidence_cgroup(rec, nla_get_u64(limit), used ? nla_get_u64(used) : 0);
}

int seep_evidence_request(struct sk_buff *skb, struct genl_info *info)
{
	struct seep_rec *rec;
	int rc = seep_netlink_check_write(skb, info->extack) ?:
		 seep_netlink_takes(info);

	if (!rc)
		rc = check_whole(info->attrs, info->extack);
	if (rc)
		return rc;
	mutex_lock(&seep_table_mutex);
	rec = seep_netlink_rec(info->attrs[SEEPAGE_A_PID], info->extack);
	if (!IS_ERR(rec))
		take(rec, info->attrs);
	mutex_unlock(&seep_table_mutex);
	/* a process without a record is none that evidence can be of */
	return PTR_ERR_OR_ZERO(rec) == -ENOENT ? -ESRCH : PTR_ERR_OR_ZERO(rec);
}
