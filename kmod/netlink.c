// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: requests, dumps and the two multicast groups.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include "seep.h"

enum { GROUP_ALERT, GROUP_SAMPLE };

static struct genl_family family;

static const struct nla_policy policy[__SEEPAGE_A_MAX] = {
	[SEEPAGE_A_PID]			= NLA_POLICY_MIN(NLA_U32, 1),
	[SEEPAGE_A_CONFIG]		= { .type = NLA_NESTED },
	[SEEPAGE_A_FILTER_STATES]	= NLA_POLICY_MAX(NLA_U32, BIT(__SEEPAGE_STATE_MAX) - 1),
	[SEEPAGE_A_FILTER_MIN_CONFIDENCE] = NLA_POLICY_MAX(NLA_U8, 100),
	[SEEPAGE_A_FILTER_UID]		= { .type = NLA_U32 },
	[SEEPAGE_A_FILTER_COMM]		= { .type = NLA_NUL_STRING,
					    .len = SEEPAGE_COMM_LEN - 1 },
	[SEEPAGE_A_SINCE_SEQ]		= { .type = NLA_U64 },
	[SEEPAGE_A_RESET_WHAT]		= { .type = NLA_U32 },
};

/* ---- who may ---- */

static bool may_read(struct sk_buff *skb)
{
	return netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYS_ADMIN);
}

static int check_read(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (may_read(skb))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_PERFMON or CAP_SYS_ADMIN");
	return -EPERM;
}

static int check_write(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_SYS_ADMIN");
	return -EPERM;
}

/* A process of the reader, through and through: not one that changed its ids. */
static bool is_own(const struct seep_rec *rec, kuid_t reader)
{
	return rec->who.known && rec->who.own && uid_eq(rec->who.uid, reader);
}

/* Attributes that a command does not take are refused, not passed over. */
static int check_attrs(struct nlattr **attrs, u64 allowed, struct netlink_ext_ack *extack)
{
	int i;

	static_assert(__SEEPAGE_A_MAX <= 64);
	for (i = 1; attrs && i < __SEEPAGE_A_MAX; i++) {
		if (!attrs[i] || allowed >> i & 1)
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attrs[i], "attribute not taken by this command");
		return -EINVAL;
	}
	return 0;
}

/* ---- simple replies ---- */

static int reply(struct genl_info *info, int (*put)(struct sk_buff *skb))
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;
	int rc;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &family, 0, info->genlhdr->cmd);
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
	int rc = check_read(skb, info->extack);

	if (!rc)
		rc = check_attrs(info->attrs, 0, info->extack);
	return rc ?: reply(info, seep_put_status);
}

static int get_config(struct sk_buff *skb, struct genl_info *info)
{
	int rc = check_read(skb, info->extack);

	if (!rc)
		rc = check_attrs(info->attrs, 0, info->extack);
	return rc ?: reply(info, seep_put_config);
}

static int set_config(struct sk_buff *skb, struct genl_info *info)
{
	int rc = check_write(skb, info->extack);

	if (!rc)
		rc = check_attrs(info->attrs, BIT_ULL(SEEPAGE_A_CONFIG), info->extack);
	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_CONFIG]) {
		NL_SET_ERR_MSG(info->extack, "attribute CONFIG is missing");
		return -EINVAL;
	}
	return seep_config_set(info->attrs[SEEPAGE_A_CONFIG], info->extack);
}

/* ---- one process ---- */

/* The mm that a pid of the reader's namespace runs in: an address, no reference. */
static int mm_of_pid(u32 nr, struct mm_struct **mm, struct netlink_ext_ack *extack)
{
	struct task_struct *p, *t;
	int rc = -ESRCH;

	*mm = NULL;
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
	for_each_thread(p, t) {
		*mm = READ_ONCE(t->mm);
		if (*mm)
			break;
	}
	rc = *mm ? 0 : -ESRCH;
	if (rc)
		NL_SET_ERR_MSG(extack, "process is exiting");
unlock:
	rcu_read_unlock();
	return rc;
}

static int put_proc(struct sk_buff *skb, struct genl_info *info, struct seep_rec *rec)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct seep_view *v;
	int rc;

	seep_view_identify(rec);
	if (!may_read(skb) && !is_own(rec, current_uid())) {
		NL_SET_ERR_MSG(info->extack,
			       "not your process: needs CAP_PERFMON or CAP_SYS_ADMIN");
		return -EPERM;
	}
	v = kmalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	seep_view_fill(v, rec);
	skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	rc = -ENOMEM;
	if (skb) {
		void *head = genlmsg_put_reply(skb, info, &family, 0, info->genlhdr->cmd);

		rc = head ? seep_put_view(skb, v, pid_nr_ns(rec->pid, ns),
					  current_user_ns(), true) : -EMSGSIZE;
		if (!rc)
			rc = seep_put_history(skb, rec);
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
	struct mm_struct *mm;
	int rc = check_attrs(info->attrs, BIT_ULL(SEEPAGE_A_PID), info->extack);

	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_PID]) {
		NL_SET_ERR_MSG(info->extack, "attribute PID is missing");
		return -EINVAL;
	}
	mutex_lock(&seep_table_mutex);
	rc = mm_of_pid(nla_get_u32(info->attrs[SEEPAGE_A_PID]), &mm, info->extack);
	if (rc)
		goto unlock;
	seep_account_fold(NULL);
	rcu_read_lock();
	rec = seep_tab_find(mm);
	rcu_read_unlock();
	if (rec) {
		rc = put_proc(skb, info, rec);
	} else {
		NL_SET_ERR_MSG(info->extack, "process is not tracked (see table_full, pool_empty)");
		rc = -ENOENT;
	}
unlock:
	mutex_unlock(&seep_table_mutex);
	return rc;
}

/* ---- dumps ---- */

struct dump {
	struct seep_cursor at;		/* the last one put */
	bool all;			/* not only the reader's own */
	kuid_t reader;
	u32 states;
	u8 min_confidence;
	bool by_uid, by_comm;
	kuid_t uid;
	char comm[SEEPAGE_COMM_LEN];
	u64 seq;			/* GET_ALERTS: the next one */
	struct seep_view view;		/* too large for the stack */
};

static int dump_start(struct netlink_callback *cb, u64 allowed)
{
	struct nlattr **attrs = seep_genl_dump_attrs(cb);
	struct dump *d;
	int rc;

	rc = check_attrs(attrs, allowed, cb->extack);
	if (rc)
		return rc;
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	cb->args[0] = (long)d;
	return 0;
}

static int dump_done(struct netlink_callback *cb)
{
	kfree((void *)cb->args[0]);
	return 0;
}

static int proc_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = seep_genl_dump_attrs(cb);
	struct dump *d;
	int rc;

	rc = dump_start(cb, BIT_ULL(SEEPAGE_A_FILTER_STATES) |
			BIT_ULL(SEEPAGE_A_FILTER_MIN_CONFIDENCE) |
			BIT_ULL(SEEPAGE_A_FILTER_UID) | BIT_ULL(SEEPAGE_A_FILTER_COMM));
	if (rc)
		return rc;
	d = (struct dump *)cb->args[0];
	d->all = may_read(cb->skb);
	d->reader = current_uid();
	d->states = ~0U;
	if (attrs && attrs[SEEPAGE_A_FILTER_STATES])
		d->states = nla_get_u32(attrs[SEEPAGE_A_FILTER_STATES]);
	if (attrs && attrs[SEEPAGE_A_FILTER_MIN_CONFIDENCE])
		d->min_confidence = nla_get_u8(attrs[SEEPAGE_A_FILTER_MIN_CONFIDENCE]);
	if (attrs && attrs[SEEPAGE_A_FILTER_UID]) {
		d->by_uid = true;
		d->uid = make_kuid(current_user_ns(), nla_get_u32(attrs[SEEPAGE_A_FILTER_UID]));
	}
	if (attrs && attrs[SEEPAGE_A_FILTER_COMM]) {
		d->by_comm = true;
		nla_strscpy(d->comm, attrs[SEEPAGE_A_FILTER_COMM], sizeof(d->comm));
	}
	mutex_lock(&seep_table_mutex);
	seep_account_fold(NULL);
	mutex_unlock(&seep_table_mutex);
	return 0;
}

/* What needs no figures comes first: a refused record costs next to nothing. */
static bool may_pass(const struct dump *d, struct seep_rec *rec)
{
	if (seep_rec_gone(rec))
		return false;
	seep_view_identify(rec);
	return d->all || is_own(rec, d->reader);
}

static bool passes(const struct dump *d, const struct seep_view *v)
{
	if (!(d->states >> v->verdict.state & 1) || v->verdict.confidence < d->min_confidence)
		return false;
	if (d->by_uid && !(v->who.known && uid_eq(v->who.uid, d->uid)))
		return false;
	return !d->by_comm || !strcmp(d->comm, v->comm);
}

static int put_message(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
		       struct dump *d, const struct seep_alert *a, pid_t pid)
{
	void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				 &family, NLM_F_MULTI, cmd);
	int rc;

	if (!head)
		return -EMSGSIZE;
	if (a)
		rc = seep_put_alert(skb, a, pid, current_user_ns());
	else
		rc = seep_put_view(skb, &d->view, pid, current_user_ns(), false);
	if (rc) {
		genlmsg_cancel(skb, head);
		return rc;
	}
	genlmsg_end(skb, head);
	return 0;
}

static int proc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct dump *d = (struct dump *)cb->args[0];
	struct seep_cursor at = d->at;
	struct seep_rec *rec;
	pid_t pid;

	mutex_lock(&seep_table_mutex);
	while ((rec = seep_tab_next(&at))) {
		pid = pid_nr_ns(rec->pid, ns);
		if (pid && may_pass(d, rec)) {
			seep_view_fill(&d->view, rec);
			if (passes(d, &d->view) &&
			    put_message(skb, cb, SEEPAGE_CMD_GET_PROC, d, NULL, pid))
				break;	/* full: this one comes first next time */
		}
		d->at = at;
	}
	mutex_unlock(&seep_table_mutex);
	return skb->len;
}

static int alerts_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = seep_genl_dump_attrs(cb);
	struct dump *d;
	int rc;

	rc = check_read(cb->skb, cb->extack);
	if (!rc)
		rc = dump_start(cb, BIT_ULL(SEEPAGE_A_SINCE_SEQ));
	if (rc)
		return rc;
	d = (struct dump *)cb->args[0];
	if (attrs && attrs[SEEPAGE_A_SINCE_SEQ])
		d->seq = nla_get_u64(attrs[SEEPAGE_A_SINCE_SEQ]);
	return 0;
}

static int alerts_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct dump *d = (struct dump *)cb->args[0];
	const struct seep_alert *a;

	/* the process may be gone and its number taken: only one namespace is sure */
	mutex_lock(&seep_table_mutex);
	while ((a = seep_alert_next(d->seq))) {
		if (put_message(skb, cb, SEEPAGE_CMD_GET_ALERTS, d, a,
				ns == &init_pid_ns ? a->view.pid : 0))
			break;
		d->seq = a->seq + 1;
	}
	mutex_unlock(&seep_table_mutex);
	return skb->len;
}

/* ---- reset ---- */

static int reset_history(struct genl_info *info)
{
	struct mm_struct *mm = NULL;
	int rc;

	if (info->attrs[SEEPAGE_A_PID]) {
		rc = mm_of_pid(nla_get_u32(info->attrs[SEEPAGE_A_PID]), &mm, info->extack);
		if (rc)
			return rc;
	}
	seep_sample_reset(mm);
	return 0;
}

static int reset(struct sk_buff *skb, struct genl_info *info)
{
	int rc = check_write(skb, info->extack);
	u32 what;

	if (!rc)
		rc = check_attrs(info->attrs, BIT_ULL(SEEPAGE_A_RESET_WHAT) |
				 BIT_ULL(SEEPAGE_A_PID), info->extack);
	if (rc)
		return rc;
	what = info->attrs[SEEPAGE_A_RESET_WHAT] ?
	       nla_get_u32(info->attrs[SEEPAGE_A_RESET_WHAT]) : 0;
	if (!what || what & ~SEEPAGE_RESET_ALL) {
		NL_SET_ERR_MSG(info->extack,
			       "RESET_WHAT: allowed history 1, alerts 2, counters 4, config 8 and sums");
		return -EINVAL;
	}
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
		seep_sample_reset_stats();
	}
	return 0;
}

/* ---- multicast; seep_table_mutex is held ---- */

/*
 * Before the family is registered and after it is gone, our group numbers are
 * somebody else's. seep_table_mutex.
 */
static bool registered;

static void multicast(int group, u8 cmd, const struct seep_alert *a, struct seep_view *v)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;
	int rc = -ENOMEM;

	if (!skb)
		goto failed;
	head = genlmsg_put(skb, 0, 0, &family, 0, cmd);
	if (!head)
		rc = -EMSGSIZE;
	else if (a)
		rc = seep_put_alert(skb, a, a->view.pid, &init_user_ns);
	else
		rc = seep_put_view(skb, v, v->pid, &init_user_ns, false);
	if (rc) {
		nlmsg_free(skb);
		goto failed;
	}
	genlmsg_end(skb, head);
	rc = genlmsg_multicast(&family, skb, 0, group, GFP_KERNEL);
	if (!rc || rc == -ESRCH)	/* -ESRCH: the last listener has just left */
		return;
failed:
	seep_count(NOTIFY_FAILED);
}

void seep_netlink_alert(const struct seep_alert *a)
{
	if (registered && genl_has_listeners(&family, &init_net, GROUP_ALERT))
		multicast(GROUP_ALERT, SEEPAGE_CMD_ALERT, a, NULL);
}

void seep_netlink_sample(struct seep_rec *rec)
{
	struct seep_view *v;

	if (!registered || !genl_has_listeners(&family, &init_net, GROUP_SAMPLE))
		return;
	v = kmalloc(sizeof(*v), GFP_KERNEL);
	if (!v) {
		seep_count(NOTIFY_FAILED);
		return;
	}
	seep_view_fill(v, rec);
	multicast(GROUP_SAMPLE, SEEPAGE_CMD_SAMPLE, NULL, v);
	kfree(v);
}

/* ---- the family ---- */

static const struct genl_ops ops[] = {
	{ .cmd = SEEPAGE_CMD_GET_STATUS, .doit = get_status },
	{ .cmd = SEEPAGE_CMD_GET_PROC, .doit = get_proc, .start = proc_start,
	  .dumpit = proc_dump, .done = dump_done },
	{ .cmd = SEEPAGE_CMD_GET_CONFIG, .doit = get_config },
	{ .cmd = SEEPAGE_CMD_SET_CONFIG, .doit = set_config },
	{ .cmd = SEEPAGE_CMD_GET_ALERTS, .start = alerts_start,
	  .dumpit = alerts_dump, .done = dump_done },
	{ .cmd = SEEPAGE_CMD_RESET, .doit = reset },
};

static const struct genl_multicast_group groups[] = {
	[GROUP_ALERT]	= { .name = SEEPAGE_MCGRP_ALERT, .flags = SEEP_GENL_MCGRP_FLAGS },
	[GROUP_SAMPLE]	= { .name = SEEPAGE_MCGRP_SAMPLE, .flags = SEEP_GENL_MCGRP_FLAGS },
};

static struct genl_family family = {
	.name		= SEEPAGE_GENL_NAME,
	.version	= SEEPAGE_GENL_VERSION,
	.maxattr	= SEEPAGE_A_MAX,
	.policy		= policy,
	.module		= THIS_MODULE,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
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
	int rc = genl_register_family(&family);

	if (!rc)
		set_registered(true);
	return rc;
}

void seep_netlink_exit(void)
{
	set_registered(false);
	genl_unregister_family(&family);
}
