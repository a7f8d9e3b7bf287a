// SPDX-License-Identifier: GPL-2.0
/*
 * SET_FACTS: takes what user space found out about a process (facts.c uses it). The whole
 * request is checked before any of it is applied.
 *
 * Context: process, may sleep. Lock: takes seep_table_mutex.
 */
#include <linux/err.h>
#include <linux/pid_namespace.h>
#include "netlink.h"

/* Attributes that need each other. Return: 0, or -EINVAL with an extack text. */
static int check_whole(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct nlattr *limit = attrs[SEEPAGE_A_LIMIT_BYTES];
	const struct nlattr *used = attrs[SEEPAGE_A_CGROUP_USED_BYTES];
	const struct nlattr *id = attrs[SEEPAGE_A_CGROUP_ID];

	if (!attrs[SEEPAGE_A_PID])
		return seep_refuse(extack, NULL, -EINVAL, "attribute PID is missing");
	if (!attrs[SEEPAGE_A_COLD_PERMILLE] && !limit)
		return seep_refuse(extack, NULL, -EINVAL,
				   "attribute COLD_PERMILLE or LIMIT_BYTES is missing");
	if (used && !limit)
		return seep_refuse(extack, used, -EINVAL,
				   "CGROUP_USED_BYTES goes with LIMIT_BYTES");
	if (id && !limit)
		return seep_refuse(extack, id, -EINVAL, "CGROUP_ID goes with LIMIT_BYTES");
	if (limit && nla_get_u64(limit) && !used)
		return seep_refuse(extack, NULL, -EINVAL, "attribute CGROUP_USED_BYTES is missing");
	return 0;
}

static void take(struct seep_rec *rec, struct nlattr **attrs)
{
	const struct nlattr *cold = attrs[SEEPAGE_A_COLD_PERMILLE];
	const struct nlattr *limit = attrs[SEEPAGE_A_LIMIT_BYTES];
	const struct nlattr *used = attrs[SEEPAGE_A_CGROUP_USED_BYTES];
	const struct nlattr *id = attrs[SEEPAGE_A_CGROUP_ID];

	if (cold)
		seep_facts_cold(rec, (u16)nla_get_u32(cold));
	if (limit)
		seep_facts_cgroup(rec, nla_get_u64(limit), used ? nla_get_u64(used) : 0,
				  id ? nla_get_u64(id) : 0);
}

/**
 * seep_facts_request() - .doit of SET_FACTS
 * @skb: the request
 * @info: its attributes
 *
 * Return: 0, -EPERM, -EINVAL or -ESRCH, with an extack text.
 */
int seep_facts_request(struct sk_buff *skb, struct genl_info *info)
{
	struct seep_rec *rec;
	int rc = seep_netlink_check_write(skb, info->extack) ?:
		 seep_netlink_takes(info);

	if (!rc)
		rc = check_whole(info->attrs, info->extack);
	if (rc)
		return rc;
	if (mutex_lock_killable(&seep_table_mutex))
		return -EINTR;
	rec = seep_netlink_rec(info->attrs[SEEPAGE_A_PID], task_active_pid_ns(current),
			       info->extack);
	if (!IS_ERR(rec))
		take(rec, info->attrs);
	mutex_unlock(&seep_table_mutex);
	/* no record, or no process: to user space both are no such process */
	return PTR_ERR_OR_ZERO(rec) == -ENOENT ? -ESRCH : PTR_ERR_OR_ZERO(rec);
}
