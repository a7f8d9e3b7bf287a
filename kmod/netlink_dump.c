// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps: every process, every alert that the ring holds. A dump is made in as
 * many parts as the reader needs; between two of them nothing is locked.
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/ktime.h>
#include "netlink.h"

#define CHARGE_NS	(10 * NSEC_PER_MSEC)

struct dump {
	int at;				/* GET_PROC: the pid put last */
	u64 seq;			/* GET_ALERTS: the next one */
	bool all;			/* not only the reader's own */
	u64 charged_ns;			/* all CPUs, for what they counted */
	kuid_t reader;
	u32 pid;			/* this one alone; 0: all */
	u32 states;
	u8 min_confidence;
	bool by_uid, by_comm;
	kuid_t uid;
	char comm[SEEPAGE_COMM_LEN];
	struct seep_view view;		/* too large for the stack */
};

int seep_dump_done(struct netlink_callback *cb)
{
	kfree((void *)cb->args[0]);
	return 0;
}

int seep_dump_proc_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = seep_genl_dump_attrs(cb);
	struct dump *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	cb->args[0] = (long)d;
	d->all = seep_netlink_may_read(cb->skb);
	d->reader = seep_netlink_reader(cb->skb);
	d->states = ~0U;
	if (attrs && attrs[SEEPAGE_A_PID]) {
		d->pid = nla_get_u32(attrs[SEEPAGE_A_PID]);
		d->at = (int)min_t(u32, d->pid, INT_MAX) - 1;
	}
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
		strscpy(d->comm, nla_data(attrs[SEEPAGE_A_FILTER_COMM]), sizeof(d->comm));
	}
	return 0;
}

/* What needs no figures comes first: a refused record costs next to nothing. */
static bool may_pass(const struct dump *d, struct seep_rec *rec)
{
	/* the state that seep_view_fill() shows; of one not looked at yet all is 0 */
	if (!(d->states >> rec->det.state & 1))
		return false;
	if (d->all)
		return true;
	seep_view_identify(rec);
	return seep_netlink_is_own(rec, d->reader);
}

static bool passes(const struct dump *d, const struct seep_view *v)
{
	if (v->verdict.confidence < d->min_confidence)
		return false;
	if (d->by_uid && !(v->who.known && uid_eq(v->who.uid, d->uid)))
		return false;
	return !d->by_comm || !strcmp(d->comm, v->comm);
}

static int put_message(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
		       struct dump *d, const struct seep_alert *a, const struct seep_rec *rec,
		       pid_t pid)
{
	void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				 &seep_family, NLM_F_MULTI, cmd);
	int rc;

	if (!head)
		return -EMSGSIZE;
	if (a)
		rc = seep_put_alert(skb, a, pid, current_user_ns());
	else
		rc = seep_put_view(skb, &d->view, pid, current_user_ns(), false);
	if (!rc && !a && d->all) {	/* they count in the kernel too */
		if (d->pid)
			seep_pmu_sync(rec);
		rc = seep_put_pmc(skb, rec);
	}
	if (rc) {
		genlmsg_cancel(skb, head);
		return rc;
	}
	genlmsg_end(skb, head);
	return 0;
}

/* Who runs is charged for what was counted; that interrupts CPUs, so not too often. */
static void charge(struct dump *d)
{
	u64 now_ns = ktime_get_ns();

	if (!d->all || d->pid || now_ns - d->charged_ns < CHARGE_NS)
		return;
	seep_pmu_sync(NULL);
	d->charged_ns = now_ns;
}

int seep_dump_proc(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct dump *d = (struct dump *)cb->args[0];
	struct seep_rec *rec;
	int pid = d->at;

	mutex_lock(&seep_table_mutex);
	charge(d);
	while ((rec = seep_owner_next(ns, &pid))) {
		if (d->pid && (u32)pid != d->pid)
			break;
		if (may_pass(d, rec)) {
			seep_view_fill(&d->view, rec);
			if (!d->all)
				seep_netlink_own_only(&d->view);
			if (passes(d, &d->view) &&
			    put_message(skb, cb, SEEPAGE_CMD_GET_PROC, d, NULL, rec, pid))
				break;	/* full: this one comes first next time */
		}
		d->at = pid;
	}
	mutex_unlock(&seep_table_mutex);
	return skb->len;
}

int seep_dump_alerts_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = seep_genl_dump_attrs(cb);
	int rc = seep_netlink_check_read(cb->skb, cb->extack);
	struct dump *d;

	if (rc)
		return rc;
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	cb->args[0] = (long)d;
	if (attrs && attrs[SEEPAGE_A_SINCE_SEQ])
		d->seq = nla_get_u64(attrs[SEEPAGE_A_SINCE_SEQ]);
	return 0;
}

int seep_dump_alerts(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct dump *d = (struct dump *)cb->args[0];
	const struct seep_alert *a;

	/* the process may be gone and its number taken: only one namespace is sure */
	mutex_lock(&seep_table_mutex);
	while ((a = seep_alert_next(d->seq))) {
		if (put_message(skb, cb, SEEPAGE_CMD_GET_ALERTS, d, a, NULL,
				ns == &init_pid_ns ? a->view.pid : 0))
			break;
		d->seq = a->seq + 1;
	}
	mutex_unlock(&seep_table_mutex);
	return skb->len;
}
