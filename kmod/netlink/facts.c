// SPDX-License-Identifier: GPL-2.0
/*
 * SET_FACTS: takes what user space found out about a process (facts.c uses it), and what it is
 * (alert.c keeps that). The whole request is checked before any of it is applied; an identity that
 * no alert needs is refused after the other facts were taken.
 *
 * Context: process, may sleep. Lock: takes seep_table_mutex.
 */
#include <linux/err.h>
#include <linux/pid_namespace.h>
#include "netlink.h"

#define STRING_BYTES	256		/* with the NUL */

/* Return: 0, or -EINVAL with an extack text. */
static int check_identity(const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	bool ok = true;
	u32 seen = 0;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		ok = ok && nla_type(attr) && nla_type(attr) <= SEEPAGE_IDENTITY_A_MAX &&
		     !(seen & BIT(nla_type(attr)));
		if (!ok)
			break;
		seen |= BIT(nla_type(attr));
		if (nla_type(attr) == SEEPAGE_IDENTITY_A_PPID)
			ok = nla_len(attr) == sizeof(u32);
		else
			ok = seep_is_text(attr, STRING_BYTES);
	}
	if (ok && seen && !rem)
		return 0;
	return seep_invalid(nest, extack,
			    "IDENTITY: allowed strings of up to 255 bytes and a NUL, PPID a u32");
}

/* Attributes that need each other. Return: 0, or -EINVAL with an extack text. */
static int check_whole(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct nlattr *limit = attrs[SEEPAGE_A_LIMIT_BYTES];
	const struct nlattr *used = attrs[SEEPAGE_A_CGROUP_USED_BYTES];
	const struct nlattr *id = attrs[SEEPAGE_A_CGROUP_ID];

	if (!attrs[SEEPAGE_A_PID])
		return seep_invalid(NULL, extack, "attribute PID is missing");
	if (!attrs[SEEPAGE_A_COLD_PERMILLE] && !limit && !attrs[SEEPAGE_A_IDENTITY] &&
	    !attrs[SEEPAGE_A_KNOWN_RISE_BYTES] && !attrs[SEEPAGE_A_KNOWN_SPAN_SECONDS])
		return seep_invalid(NULL, extack,
				    "attribute COLD_PERMILLE, LIMIT_BYTES, IDENTITY or KNOWN_* is missing");
	if (attrs[SEEPAGE_A_IDENTITY] && check_identity(attrs[SEEPAGE_A_IDENTITY], extack))
		return -EINVAL;
	if ((used || id) && !limit)
		return seep_invalid(used ?: id, extack,
				    "CGROUP_USED_BYTES and CGROUP_ID go with LIMIT_BYTES");
	if (seep_get_u64(limit) && !used)
		return seep_invalid(NULL, extack, "attribute CGROUP_USED_BYTES is missing");
	return 0;
}

static int take(struct seep_rec *rec, struct nlattr **attrs)
{
	const struct nlattr *identity = attrs[SEEPAGE_A_IDENTITY];
	const struct nlattr *cold = attrs[SEEPAGE_A_COLD_PERMILLE];
	const struct nlattr *limit = attrs[SEEPAGE_A_LIMIT_BYTES];

	/* first: the other facts are discarded where the history restarts */
	seep_sample_teach(rec, seep_get_u64(attrs[SEEPAGE_A_KNOWN_RISE_BYTES]),
			  seep_get_u64(attrs[SEEPAGE_A_KNOWN_SPAN_SECONDS]));
	if (cold)
		seep_facts_cold(rec, (u16)nla_get_u32(cold));
	if (limit)
		seep_facts_cgroup(rec, seep_get_u64(limit),
				  seep_get_u64(attrs[SEEPAGE_A_CGROUP_USED_BYTES]),
				  seep_get_u64(attrs[SEEPAGE_A_CGROUP_ID]));
	if (!identity)
		return 0;
	return seep_alert_identify(rec, seep_get_u64(attrs[SEEPAGE_A_SINCE_SEQ]),
				   nla_data(identity), nla_len(identity));
}

/**
 * seep_facts_request() - .doit of SET_FACTS
 * @skb: the request
 * @info: its attributes
 *
 * Return: 0, -EPERM, -EINVAL or -ESRCH, with an extack text; with IDENTITY also -ENOMEM, and
 * -ENOENT where no alert needs it. -ESRCH is also that the alert is of an earlier process.
 */
int seep_facts_request(struct sk_buff *skb, struct genl_info *info)
{
	struct seep_rec *rec;
	int rc = seep_netlink_check_write(skb, info);
	int taken = 0;

	if (!rc)
		rc = check_whole(info->attrs, info->extack);
	if (rc)
		return rc;
	if (mutex_lock_killable(&seep_table_mutex))
		return -EINTR;
	rec = seep_netlink_rec(info, task_active_pid_ns(current));
	if (!IS_ERR(rec))
		taken = take(rec, info->attrs);
	mutex_unlock(&seep_table_mutex);
	if (taken == -ENOENT || taken == -ESRCH)
		return seep_refuse(NULL, info->extack, taken == -ENOENT ?
				   "no alert needs its identity" :
				   "the alert is of another process", taken);
	/* no record, or no process: to user space both are no such process */
	return taken ?: PTR_ERR_OR_ZERO(rec) == -ENOENT ? -ESRCH : PTR_ERR_OR_ZERO(rec);
}
