// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the family, requests and the multicast groups.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/sock.h>
#include <net/genetlink.h>
#include "netlink.h"

/* ---- who may ---- */

bool seep_netlink_may_read(struct sk_buff *skb)
{
	return netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYS_ADMIN);
}

int seep_netlink_check_read(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (seep_netlink_may_read(skb))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_PERFMON or CAP_SYS_ADMIN");
	return -EPERM;
}

int seep_netlink_check_write(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_SYS_ADMIN");
	return -EPERM;
}

/* Who asks: nobody, when the socket was made by another than its user. */
kuid_t seep_netlink_reader(struct sk_buff *skb)
{
	kuid_t uid = current_uid();

	return uid_eq(uid, NETLINK_CB(skb).sk->sk_uid) ? uid : INVALID_UID;
}

/* A process of the reader, through and through: not one that changed its ids. */
bool seep_netlink_is_own(const struct seep_rec *rec, kuid_t reader)
{
	return rec->who.known && rec->who.own && uid_eq(rec->who.uid, reader);
}

/* What others of its name do is not for who may see no processes but his own. */
void seep_netlink_own_only(struct seep_view *v)
{
	struct seep_verdict *k = &v->verdict;

	if (k->nfactors && k->factor[k->nfactors - 1].id == SEEPAGE_FACTOR_POP)
		k->nfactors--;	/* seep_points_tell() has it last */
}

/* ---- simple replies ---- */

static int reply(struct genl_info *info, int (*put)(struct sk_buff *skb))
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;
	int rc;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &seep_family, 0, info->genlhdr->cmd);
	rc = head ? put(skb) : -EMSGSIZE;
	if (rc) {
		nlmsg_free(skb);
		return rc;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static int get_status(struct sk_buff *skb, struct genl_info *info)
{
	return seep_netlink_check_read(skb, info->extack) ?: reply(info, seep_put_status);
}

static int get_config(struct sk_buff *skb, struct genl_info *info)
{
	return seep_netlink_check_read(skb, info->extack) ?: reply(info, seep_put_config);
}

static int set_config(struct sk_buff *skb, struct genl_info *info)
{
	int rc = seep_netlink_check_write(skb, info->extack) ?:
		 seep_netlink_takes(info);

	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_CONFIG] && !info->attrs[SEEPAGE_A_PMC_WANTED]) {
		NL_SET_ERR_MSG(info->extack, "attribute CONFIG is missing");
		return -EINVAL;
	}
	return seep_config_set(info->attrs[SEEPAGE_A_CONFIG], info->attrs[SEEPAGE_A_PMC_WANTED],
			       info->extack);
}

/* ---- one process ---- */

/*
 * The record of a pid of the reader's namespace.
 * Context: seep_table_mutex, for as long as it is used.
 */
struct seep_rec *seep_netlink_rec(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct seep_rec *rec = ERR_PTR(-ESRCH);
	u32 nr = nla_get_u32(attr);
	struct task_struct *p;
	bool exiting;

	if (!seep_pool_left())	/* it may have no record yet */
		seep_pool_refill(0);
	rcu_read_lock();
	p = nr <= INT_MAX ? pid_task(find_vpid((int)nr), PIDTYPE_PID) : NULL;
	if (!p) {
		NL_SET_ERR_MSG(extack, "no such process");
		goto unlock;
	}
	if (p->flags & PF_KTHREAD) {
		NL_SET_ERR_MSG(extack, "a kernel thread has no user memory");
		goto unlock;
	}
	rec = seep_owner_rec(p, &exiting);
	if (exiting) {
		NL_SET_ERR_MSG(extack, "process is exiting");
		rec = ERR_PTR(-ESRCH);
	} else if (!rec) {
		NL_SET_ERR_MSG(extack, "process is not tracked (see table_full, pool_empty)");
		rec = ERR_PTR(-ENOENT);
	}
unlock:
	rcu_read_unlock();
	return rec;
}

static int put_proc(struct sk_buff *skb, struct genl_info *info, struct seep_rec *rec)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	bool all = seep_netlink_may_read(skb);
	struct seep_view *v;
	int rc;

	seep_view_identify(rec);
	if (!all && !seep_netlink_is_own(rec, seep_netlink_reader(skb))) {
		NL_SET_ERR_MSG(info->extack,
			       "not your process: needs CAP_PERFMON or CAP_SYS_ADMIN");
		return -EPERM;
	}
	v = kmalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	seep_view_fill(v, rec);
	if (!all)
		seep_netlink_own_only(v);
	skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	rc = -ENOMEM;
	if (skb) {
		void *head = genlmsg_put_reply(skb, info, &seep_family, 0, info->genlhdr->cmd);

		rc = head ? seep_put_view(skb, v, pid_nr_ns(rec->pid, ns),
					  current_user_ns(), true) : -EMSGSIZE;
		if (!rc)
			rc = seep_put_history(skb, rec);
		/* they count in the kernel too: what perf_event_paranoid keeps from users */
		if (!rc && all) {
			seep_pmu_sync(rec);
			rc = seep_put_pmc(skb, rec);
		}
		if (!rc) {
			genlmsg_end(skb, head);
			rc = genlmsg_reply(skb, info);
		} else {
			nlmsg_free(skb);
		}
	}
	kfree(v);
	return rc;
}

static int get_proc(struct sk_buff *skb, struct genl_info *info)
{
	struct seep_rec *rec;
	int rc = seep_netlink_takes(info);

	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_PID]) {
		NL_SET_ERR_MSG(info->extack, "attribute PID is missing");
		return -EINVAL;
	}
	mutex_lock(&seep_table_mutex);
	rec = seep_netlink_rec(info->attrs[SEEPAGE_A_PID], info->extack);
	rc = IS_ERR(rec) ? PTR_ERR(rec) : put_proc(skb, info, rec);
	mutex_unlock(&seep_table_mutex);
	return rc;
}

/* ---- reset ---- */

static int reset_history(struct genl_info *info)
{
	struct seep_rec *rec = NULL;

	mutex_lock(&seep_table_mutex);
	if (info->attrs[SEEPAGE_A_PID])
		rec = seep_netlink_rec(info->attrs[SEEPAGE_A_PID], info->extack);
	if (!IS_ERR(rec))
		seep_sample_reset(rec);
	mutex_unlock(&seep_table_mutex);
	return PTR_ERR_OR_ZERO(rec);
}

static int reset(struct sk_buff *skb, struct genl_info *info)
{
	int rc = seep_netlink_check_write(skb, info->extack) ?:
		 seep_netlink_takes(info);
	u32 what;

	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_RESET_WHAT]) {
		NL_SET_ERR_MSG(info->extack, "attribute RESET_WHAT is missing");
		return -EINVAL;
	}
	what = nla_get_u32(info->attrs[SEEPAGE_A_RESET_WHAT]);
	if (info->attrs[SEEPAGE_A_PID] && what != SEEPAGE_RESET_HISTORY) {
		NL_SET_ERR_MSG(info->extack, "PID goes with history alone");
		return -EINVAL;
	}
	if (what & SEEPAGE_RESET_CONFIG)	/* may fail: before anything is changed */
		rc = seep_config_reset();
	if (!rc && what & SEEPAGE_RESET_HISTORY)
		rc = reset_history(info);
	if (rc)
		return rc;
	if (what & SEEPAGE_RESET_ALERTS)
		seep_alert_reset();
	if (what & SEEPAGE_RESET_COUNTERS) {
		seep_counters_reset();
		seep_tick_reset_stats();
	}
	return 0;
}

/* ---- multicast; seep_table_mutex is held ---- */

/*
 * Before the family is registered and after it is gone, our group numbers are
 * somebody else's. seep_table_mutex.
 */
static bool registered;

/* Is anybody there to be told? */
bool seep_netlink_heard(enum seep_mcgrp group)
{
	return registered && genl_has_listeners(&seep_family, &init_net, group);
}

/* @skb is consumed. 0, or -ESRCH: the last listener has just left; else counted. */
int seep_netlink_tell(struct sk_buff *skb, enum seep_mcgrp group)
{
	int rc = seep_genl_multicast(&seep_family, skb, group, GFP_KERNEL);

	if (rc && rc != -ESRCH)
		seep_count(NOTIFY_FAILED);
	return rc;
}

static void multicast(enum seep_mcgrp group, u8 cmd, const struct seep_alert *a,
		      struct seep_view *v, const struct seep_rec *rec)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;
	int rc;

	if (!skb)
		goto failed;
	head = genlmsg_put(skb, 0, 0, &seep_family, 0, cmd);
	if (!head) {
		rc = -EMSGSIZE;
	} else if (a) {
		rc = seep_put_alert(skb, a, a->view.pid, &init_user_ns);
	} else {
		seep_pmu_sync(rec);
		rc = seep_put_view(skb, v, v->pid, &init_user_ns, false) ?: seep_put_pmc(skb, rec);
	}
	if (rc) {
		nlmsg_free(skb);
		goto failed;
	}
	genlmsg_end(skb, head);
	seep_netlink_tell(skb, group);
	return;
failed:
	seep_count(NOTIFY_FAILED);
}

void seep_netlink_alert(const struct seep_alert *a)
{
	if (seep_netlink_heard(SEEP_GROUP_ALERT))
		multicast(SEEP_GROUP_ALERT, SEEPAGE_CMD_ALERT, a, NULL, NULL);
}

void seep_netlink_sample(struct seep_rec *rec)
{
	struct seep_view *v;

	if (!seep_netlink_heard(SEEP_GROUP_SAMPLE))
		return;
	v = kmalloc(sizeof(*v), GFP_KERNEL);
	if (!v) {
		seep_count(NOTIFY_FAILED);
		return;
	}
	seep_view_fill(v, rec);
	multicast(SEEP_GROUP_SAMPLE, SEEPAGE_CMD_SAMPLE, NULL, v, rec);
	kfree(v);
}

/* ---- the family ---- */

#define TAKES(p)	.policy = p, .maxattr = ARRAY_SIZE(p) - 1
/* the core takes a command without a maximum for one that takes what any takes */
static const struct nla_policy takes_nothing[2] = { };

static const struct seep_genl_ops ops[] = {
	{ .cmd = SEEPAGE_CMD_GET_STATUS, TAKES(takes_nothing), .doit = get_status },
	{ .cmd = SEEPAGE_CMD_GET_PROC, TAKES(seep_dump_proc_takes), .doit = get_proc,
	  .start = seep_dump_proc_start, .dumpit = seep_dump_proc, .done = seep_dump_done },
	{ .cmd = SEEPAGE_CMD_GET_CONFIG, TAKES(takes_nothing), .doit = get_config },
	{ .cmd = SEEPAGE_CMD_SET_CONFIG, TAKES(seep_request_takes), .doit = set_config },
	{ .cmd = SEEPAGE_CMD_GET_ALERTS, TAKES(seep_dump_alerts_takes),
	  .start = seep_dump_alerts_start, .dumpit = seep_dump_alerts,
	  .done = seep_dump_done },
	{ .cmd = SEEPAGE_CMD_RESET, TAKES(seep_request_takes), .doit = reset },
	{ .cmd = SEEPAGE_CMD_SET_EVIDENCE, TAKES(seep_request_takes),
	  .doit = seep_evidence_request },
};

static const struct genl_multicast_group groups[] = {
	[SEEP_GROUP_ALERT]	= { .name = SEEPAGE_MCGRP_ALERT, SEEP_GENL_MCGRP_CAP_SYS_ADMIN },
	[SEEP_GROUP_SAMPLE]	= { .name = SEEPAGE_MCGRP_SAMPLE, SEEP_GENL_MCGRP_CAP_SYS_ADMIN },
	[SEEP_GROUP_SERIES]	= { .name = SEEPAGE_MCGRP_SERIES, SEEP_GENL_MCGRP_CAP_SYS_ADMIN },
};

struct genl_family seep_family = {
	.name		= SEEPAGE_GENL_NAME,
	.version	= SEEPAGE_GENL_VERSION,
	.maxattr	= SEEPAGE_A_MAX,
	.module		= THIS_MODULE,
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
	.netnsok	= false,
	/* a reader that waits for the tick must not hold up every other family */
	.parallel_ops	= true,
};

static void set_registered(bool yes)
{
	mutex_lock(&seep_table_mutex);
	registered = yes;
	mutex_unlock(&seep_table_mutex);
}

int __init seep_netlink_init(void)
{
	int rc = seep_genl_register_family(&seep_family, ops, ARRAY_SIZE(ops));

	if (!rc)
		set_registered(true);
	return rc;
}

void seep_netlink_exit(void)
{
	set_registered(false);
	genl_unregister_family(&seep_family);
}
