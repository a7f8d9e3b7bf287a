// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: the family and its requests.
 *
 * Context: process, may sleep. Requests run in parallel (parallel_ops). Lock:
 * seep_table_mutex for records.
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include "netlink.h"

/* Random, and another one with each load of the module; never 0. */
u64 seep_instance;
/* The groups have listeners that the kernel did not check. */
bool seep_multicast_off;

/* ---- simple replies ---- */

/* Build a reply with @put and send it. */
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

/* Is something set that hardware counters depend on? */
static bool is_for_pmu(struct nlattr **attrs)
{
	const struct nlattr *nest = attrs[SEEPAGE_A_CONFIG];

	return attrs[SEEPAGE_A_PMC_WANTED] ||
	       (nest && (nla_find_nested(nest, SEEPAGE_CFG_PMC) ||
			 nla_find_nested(nest, SEEPAGE_CFG_PMC_MAX_COUNTERS)));
}

static int set_config(struct sk_buff *skb, struct genl_info *info)
{
	int rc = seep_netlink_check_write(skb, info);

	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_CONFIG] && !info->attrs[SEEPAGE_A_PMC_WANTED])
		return seep_invalid(NULL, info->extack, "attribute CONFIG is missing");
	rc = seep_config_set(info->attrs[SEEPAGE_A_CONFIG], info->attrs[SEEPAGE_A_PMC_WANTED],
			     info->extack);
	if (rc)
		return rc;
	seep_tick_reschedule();
	if (is_for_pmu(info->attrs))
		seep_pmu_configure();
	return 0;
}

/* ---- one process ---- */

/* Context: RCU. Return: the task that @attr, PID, is of in @ns, or NULL. */
static struct task_struct *task_of(const struct nlattr *attr, struct pid_namespace *ns)
{
	u32 nr = nla_get_u32(attr);

	return nr <= INT_MAX ? pid_task(find_pid_ns((int)nr, ns), PIDTYPE_PID) : NULL;
}

/**
 * seep_netlink_rec() - record of the process that a request is about
 * @info: the request, with a PID
 * @ns: pid namespace of the reader
 *
 * Context: process, seep_table_mutex, for as long as the record is used.
 * Return: the record; -ESRCH: no such process, a kernel thread or exiting; -ENOENT: the
 * process is not tracked.
 */
struct seep_rec *seep_netlink_rec(struct genl_info *info, struct pid_namespace *ns)
{
	struct netlink_ext_ack *extack = info->extack;
	struct seep_rec *rec = NULL;
	struct task_struct *p;
	bool exiting;
	int rc = 0;

	if (!seep_pool_left())	/* the process may be waiting for an empty record */
		seep_tab_resize(0);
	rcu_read_lock();
	p = task_of(info->attrs[SEEPAGE_A_PID], ns);
	if (!p) {
		rc = seep_refuse(NULL, extack, "no such process", -ESRCH);
	} else if (READ_ONCE(p->flags) & PF_KTHREAD) {
		rc = seep_refuse(NULL, extack, "a kernel thread has no user memory", -ESRCH);
	} else {
		rec = seep_owner_rec(p, &exiting);
		if (exiting)
			rc = seep_refuse(NULL, extack, "process is exiting", -ESRCH);
		else if (!rec)
			rc = seep_refuse(NULL, extack,
					 "process is not tracked (see table_full, share_full, pool_empty)",
					 -ENOENT);
	}
	rcu_read_unlock();
	return rc ? ERR_PTR(rc) : rec;
}

/* A request for one process. */
struct proc_request {
	struct genl_info *info;
	struct pid_namespace *ns;	/* this and user_ns are the reader's */
	struct user_namespace *user_ns;
	bool all;			/* it may see processes of other users */
	struct seep_unpriv asker;		/* uid that is_own() compares with */
	struct seep_view *v;		/* allocated before the mutex is taken */
	struct sk_buff *skb;		/* likewise; out: the reply */
	int rc;				/* the result */
};

static int not_yours(struct netlink_ext_ack *extack)
{
	return seep_refuse(NULL, extack,
			   "not your process: needs CAP_PERFMON or CAP_SYS_ADMIN", -EPERM);
}

/* Begin the reply with the view, of @rec. Return: its head, or NULL where it does not fit. */
static void *begin_proc(const struct proc_request *r, const struct seep_rec *rec)
{
	void *head = genlmsg_put_reply(r->skb, r->info, &seep_family, 0, r->info->genlhdr->cmd);

	if (!head || seep_put_view(r->skb, r->v, pid_nr_ns(rec->pid, r->ns), r->user_ns, true))
		return NULL;
	return head;
}

static int put_proc(const struct proc_request *r, struct seep_rec *rec)
{
	struct sk_buff *skb = r->skb;
	void *head;
	int rc;

	seep_view_identify(rec);
	if (!r->all && !seep_netlink_is_own(rec, r->asker.uid))
		return not_yours(r->info->extack);
	seep_view_fill(r->v, rec);
	if (!r->all)
		seep_netlink_own_only(r->v);
	head = begin_proc(r, rec);
	rc = head ? seep_put_history(skb, rec) : -EMSGSIZE;
	/* events count in the kernel as well, which perf_event_paranoid hides from users */
	if (!rc && r->all) {
		seep_pmu_sync(rec);
		rc = seep_put_pmu(skb, rec);
	}
	if (!rc)
		genlmsg_end(skb, head);
	return rc;
}

/* The group of @rec: the view, and the pids of its processes, as many as fit. */
static int put_group(const struct proc_request *r, const struct seep_rec *rec)
{
	struct seep_group *g = rec->group;
	struct sk_buff *skb = r->skb;
	struct seep_rec *first;
	struct nlattr *pids;
	void *head;
	u32 nr;

	if (!r->all)
		return not_yours(r->info->extack);
	if (!g || !g->history)
		return seep_refuse(NULL, r->info->extack,
				   "its group has not had two processes for a full pass", -ENOENT);
	first = list_first_entry(&g->members, struct seep_rec, kin);
	seep_view_fill_group(r->v, g, first);
	if (seep_alert_is(g->notified.alerted))
		r->v->verdict.state = g->notified.alerted;
	seep_view_weigh(r->v);
	head = begin_proc(r, first);
	if (!head)
		return -EMSGSIZE;
	pids = nla_reserve(skb, SEEPAGE_A_PIDS, 0);
	if (!pids)
		return -EMSGSIZE;
	list_for_each_entry(rec, &g->members, kin) {
		nr = pid_nr_ns(rec->pid, r->ns);
		if (skb_tailroom(skb) < sizeof(nr))
			break;
		if (nr)
			skb_put_data(skb, &nr, sizeof(nr));
	}
	pids->nla_len = skb_tail_pointer(skb) - (u8 *)pids;
	genlmsg_end(skb, head);
	return 0;
}

/* Answers; @arg: struct proc_request. Context: process, seep_table_mutex. */
static void answer_proc(void *arg)
{
	struct proc_request *r = arg;
	struct seep_rec *rec = seep_netlink_rec(r->info, r->ns);

	r->rc = IS_ERR(rec) ? PTR_ERR(rec) :
		r->info->attrs[SEEPAGE_A_GROUP] ? put_group(r, rec) : put_proc(r, rec);
}

/* False only for a process of another user: nobody has to wait for a refusal. */
static bool may_be_own(const struct proc_request *r)
{
	struct task_struct *p;
	bool allowed;

	rcu_read_lock();
	p = task_of(r->info->attrs[SEEPAGE_A_PID], r->ns);
	allowed = !p || seep_owner_is(p, r->asker.uid);
	rcu_read_unlock();
	return allowed;
}

/* Get the answer under the mutex, in the way that the reader's rights allow. */
static int ask_proc(struct proc_request *r)
{
	struct netlink_ext_ack *extack = r->info->extack;
	int rc;

	if (r->all) {
		if (mutex_lock_killable(&seep_table_mutex))
			return -EINTR;
		answer_proc(r);
		mutex_unlock(&seep_table_mutex);
		return r->rc;
	}
	if (!may_be_own(r))
		return not_yours(extack);
	rc = seep_unpriv_begin(&r->asker, extack);
	if (rc)
		return rc;
	rc = seep_unpriv_run(answer_proc, r) ?: r->rc;
	seep_unpriv_end(&r->asker);
	return rc;
}

static int get_proc(struct sk_buff *skb, struct genl_info *info)
{
	struct proc_request r = {
		.info = info, .ns = task_active_pid_ns(current), .user_ns = current_user_ns(),
		.all = seep_netlink_may_read(skb), .asker.uid = seep_netlink_reader(skb),
	};
	int rc = seep_netlink_takes(info);

	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_PID])
		return seep_invalid(NULL, info->extack, "attribute PID is missing");
	r.v = kmalloc(sizeof(*r.v), GFP_KERNEL);
	r.skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	rc = r.v && r.skb ? ask_proc(&r) : -ENOMEM;
	kfree(r.v);
	if (!rc)
		return genlmsg_reply(r.skb, info);
	nlmsg_free(r.skb);
	return rc;
}

/* ---- reset ---- */

static int reset_history(struct genl_info *info)
{
	struct seep_rec *rec = NULL;

	if (mutex_lock_killable(&seep_table_mutex))
		return -EINTR;
	if (info->attrs[SEEPAGE_A_PID])
		rec = seep_netlink_rec(info, task_active_pid_ns(current));
	if (!IS_ERR(rec))
		seep_sample_reset(rec);
	mutex_unlock(&seep_table_mutex);
	return PTR_ERR_OR_ZERO(rec);
}

/* Return: 0 or -ENOMEM. */
static int reset_config(void)
{
	int rc = seep_config_reset();

	if (!rc) {
		seep_tick_reschedule();
		seep_pmu_configure();
	}
	return rc;
}

static int reset(struct sk_buff *skb, struct genl_info *info)
{
	int rc = seep_netlink_check_write(skb, info);
	u32 what;

	if (rc)
		return rc;
	if (!info->attrs[SEEPAGE_A_RESET_WHAT])
		return seep_invalid(NULL, info->extack, "attribute RESET_WHAT is missing");
	what = nla_get_u32(info->attrs[SEEPAGE_A_RESET_WHAT]);
	if (info->attrs[SEEPAGE_A_PID] && what != SEEPAGE_RESET_HISTORY)
		return seep_invalid(NULL, info->extack, "PID goes with history alone");
	if (what & SEEPAGE_RESET_CONFIG)	/* first, because it may fail */
		rc = reset_config();
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

/* ---- the family ---- */

#define TAKES(p)	.policy = p, .maxattr = ARRAY_SIZE(p) - 1
/* The part of the shared policy up to one attribute. */
#define TAKES_TO(last)	.policy = seep_request_takes, .maxattr = SEEPAGE_A_##last
/* The padding is refused. A maxattr of 0 would stand for that of the family: all would pass. */
#define TAKES_NOTHING	TAKES_TO(PAD)

static const struct seep_genl_ops ops[] = {
	{ .cmd = SEEPAGE_CMD_GET_STATUS, TAKES_NOTHING, .doit = get_status },
	{ .cmd = SEEPAGE_CMD_GET_PROC, TAKES(seep_dump_proc_takes), .doit = get_proc,
	  .start = seep_dump_proc_start, .dumpit = seep_dump_proc, .done = seep_dump_done },
	{ .cmd = SEEPAGE_CMD_GET_CONFIG, TAKES_NOTHING, .doit = get_config },
	{ .cmd = SEEPAGE_CMD_SET_CONFIG, TAKES(seep_request_takes), .doit = set_config },
	{ .cmd = SEEPAGE_CMD_GET_ALERTS, TAKES_TO(SINCE_SEQ),
	  .start = seep_dump_alerts_start, .dumpit = seep_dump_alerts,
	  .done = seep_dump_done },
	{ .cmd = SEEPAGE_CMD_RESET, TAKES(seep_request_takes), .doit = reset },
	{ .cmd = SEEPAGE_CMD_SET_FACTS, TAKES(seep_request_takes),
	  .doit = seep_facts_request },
};

static const struct genl_multicast_group groups[] = {
	[SEEP_MCGRP_ALERT]	= { .name = SEEPAGE_MCGRP_ALERT, SEEP_GENL_MCGRP_CAP_SYS_ADMIN },
	[SEEP_MCGRP_SAMPLE]	= { .name = SEEPAGE_MCGRP_SAMPLE, SEEP_GENL_MCGRP_CAP_SYS_ADMIN },
	[SEEP_MCGRP_SERIES]	= { .name = SEEPAGE_MCGRP_SERIES, SEEP_GENL_MCGRP_CAP_SYS_ADMIN },
};

struct genl_family seep_family = {
	.name		= SEEPAGE_GENL_NAME,
	.version	= SEEPAGE_GENL_VERSION,
	.maxattr	= SEEPAGE_A_MAX,
	.module		= THIS_MODULE,
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
	.netnsok	= false,
	/* a reader that waits for a pass must not block other families */
	.parallel_ops	= true,
};

/* Does any socket listen to a group of the family? */
static bool __init any_listener(void)
{
	int group;

	for (group = 0; group < ARRAY_SIZE(groups); group++)
		if (genl_has_listeners(&seep_family, &init_net, group))
			return true;
	return false;
}

#define EVICTIONS_MAX	8

/*
 * Registers the family without listeners that the kernel did not check. Anybody may join
 * group numbers that no family owns, and registration hands out such numbers with their
 * listeners. The kernel checks the capability of a listener only when it joins a group
 * that a family owns. genl_unregister_family() evicts all of them: it clears the lists of
 * the groups. A socket may join again in between, so this is tried a few times.
 *
 * A task may have lost its CPU between a check before the registration and the join. A grace
 * period of tasks has passed when each task that was running or ready has left the kernel or
 * slept: these have joined then. In the second period, so have those that slept on their way.
 *
 * Return: 0 or a negative error; *@heard: there are listeners all the same.
 */
static int __init register_evicting(bool *heard)
{
	int i, rc;

	for (i = 0;; i++) {
		rc = seep_genl_register_family(&seep_family, ops, ARRAY_SIZE(ops));
		if (rc == -ENOMEM && i) {	/* a request may be under way: no way back */
			schedule_timeout_uninterruptible(1);
			continue;
		}
		*heard = !rc && any_listener();
		if (!rc && !*heard && !SEEP_GENL_FILTERED) {
			synchronize_rcu_tasks();
			synchronize_rcu_tasks();
			*heard = any_listener();
		}
		if (rc || !*heard || i >= EVICTIONS_MAX)
			return rc;
		genl_unregister_family(&seep_family);
	}
}

/**
 * seep_netlink_init() - register the family: from here on requests arrive
 *
 * Context: module init, after everything that a request uses.
 * Return: 0 or a negative error.
 */
int __init seep_netlink_init(void)
{
	bool heard;
	int rc;

	seep_instance = get_random_u64() | 1;
	rc = seep_unpriv_init();
	if (rc)
		return rc;
	/* else the first pass tries */
	seep_netlink_spare = seep_netlink_small();
	/* not to join yet: such a listener would look like one that was not checked */
	seep_multicast_off = !SEEP_GENL_FILTERED;
	rc = register_evicting(&heard);
	if (rc) {
		seep_unpriv_exit();
		nlmsg_free(seep_netlink_spare);
		return rc;
	}
	seep_multicast_off = heard && !SEEP_GENL_FILTERED;
	if (seep_multicast_off)
		pr_warn("multicast is off: its groups were joined before the load; load again\n");
	else
		seep_publish_set(&seep_netlink_publish);
	return 0;
}

/**
 * seep_netlink_exit() - unregister the family; no request runs any more on return
 *
 * Context: module exit, no lock held.
 */
void seep_netlink_exit(void)
{
	seep_publish_set(NULL);
	genl_unregister_family(&seep_family);
	seep_unpriv_exit();
	nlmsg_free(seep_netlink_spare);
}
