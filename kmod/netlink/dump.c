// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps: all processes, or all alerts in the ring. A dump is sent in as many parts as the
 * reader needs.
 *
 * A dump that the core of netlink has begun holds a reference to the module until its reader
 * has read it. A reader without rights would keep the module from being unloaded for as long
 * as it likes. So a dump of its own processes never begins for the core: .start sends all of
 * it, as far as the receive buffer takes it, and OWN_NS allows. The core holds a lock of all
 * generic netlink for reading during .start: while somebody waits to write, nobody else gets it.
 *
 * Context: process, may sleep, one part at a time for each reader. Lock: seep_table_mutex
 * during a part, with pauses; between two parts no lock is held, and the table may change.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "netlink.h"

#define CHARGE_NS	(10 * NSEC_PER_MSEC)
#define OWN_BATCH	16U		/* processes for one hold of the mutex */
#define OWN_NS		(50 * NSEC_PER_MSEC)	/* after that, .start ends with the next batch */
#define DONE_BYTES	(nlmsg_total_size(sizeof(int)) + nla_total_size(sizeof(u32)))

/* One dump in progress, in cb->args[0]; the netlink socket's lock protects it. */
struct dump {
	u32 portid, msg_seq;		/* of the request */
	struct user_namespace *ns;	/* of the reader, while it waits */
	int at;				/* GET_PROC: pid of the last process put */
	u64 seq;			/* GET_ALERTS: sequence number of the next alert */
	bool all;			/* the reader may see processes of other users */
	u64 charged_ns;			/* CLOCK_MONOTONIC, last seep_pmu_sync() of all */
	struct seep_unpriv asker;		/* the uid that is_own() compares with */
	u32 pid;			/* filter: this process only; 0: all */
	u32 states;			/* filter: mask of 1 << enum seepage_state */
	u8 min_confidence;		/* filter, 0 to 100 */
	bool by_uid, by_comm;		/* filter by uid, by comm */
	kuid_t uid;
	char comm[SEEPAGE_COMM_LEN];
	struct seep_view view;		/* too large for the stack */

	/* without rights */
	struct pid_namespace *pid_ns;	/* of the reader */
	struct sk_buff *skb;		/* the part being built, or NULL */
	u64 until_ns;			/* CLOCK_MONOTONIC */
	int next[OWN_BATCH];		/* pids that come next, from i to n */
	u32 i, n;
};

/**
 * seep_dump_done() - .done of a dump
 * @cb: the dump
 *
 * Return: 0.
 */
int seep_dump_done(struct netlink_callback *cb)
{
	kfree((void *)cb->args[0]);
	return 0;
}

/* Filters that need no figures come first: skipping a record must be cheap. */
static bool may_pass(const struct dump *d, struct seep_rec *rec)
{
	/* the state that seep_view_fill() shows; a new record has 0, which is ok */
	if (!(d->states >> rec->det.state & 1))
		return false;
	if (d->all)
		return true;
	seep_view_identify(rec);
	return seep_netlink_is_own(rec, d->asker.uid);
}

/* The filters that need the figures. */
static bool passes(const struct dump *d, const struct seep_view *v)
{
	if (v->verdict.confidence < d->min_confidence)
		return false;
	if (d->by_uid && !(v->creds.known && uid_eq(v->creds.uid, d->uid)))
		return false;
	return !d->by_comm || !strcmp(d->comm, v->comm);
}

/* One message: the alert @a, or the view of @rec. Return: 0 or -EMSGSIZE: no space left. */
static int put_message(struct sk_buff *skb, u8 cmd, struct dump *d, const struct seep_alert *a,
		       const struct seep_rec *rec, pid_t pid)
{
	void *head = genlmsg_put(skb, d->portid, d->msg_seq, &seep_family, NLM_F_MULTI, cmd);
	int rc;

	if (!head)
		return -EMSGSIZE;
	if (a)
		rc = seep_put_alert(skb, a, pid, d->ns);
	else
		rc = seep_put_view(skb, &d->view, pid, d->ns, false);
	/* needs rights: these events count in the kernel as well */
	if (!rc && !a && d->all) {
		if (d->pid)
			seep_pmu_sync(rec);
		rc = seep_put_pmu(skb, rec);
	}
	if (rc) {
		genlmsg_cancel(skb, head);
		return rc;
	}
	genlmsg_end(skb, head);
	return 0;
}

/* The process @pid, if it passes. Return: 0 or -EMSGSIZE. Context: seep_table_mutex. */
static int put_process(struct sk_buff *skb, struct dump *d, struct seep_rec *rec, pid_t pid)
{
	if (!may_pass(d, rec))
		return 0;
	seep_view_fill(&d->view, rec);
	if (!d->all)
		seep_netlink_own_only(&d->view);
	return passes(d, &d->view) ? put_message(skb, SEEPAGE_CMD_GET_PROC, d, NULL, rec, pid) : 0;
}

/* ---- own processes of a reader without rights ---- */

/* Puts as many of the next processes as fit. @arg: struct dump. Context: seep_table_mutex. */
static void put_own(void *arg)
{
	struct dump *d = arg;
	struct seep_rec *rec;
	void *from;

	if (!seep_pool_left())		/* a process may need an empty record */
		seep_tab_resize(0);
	for (; d->i < d->n; d->i++) {
		rec = seep_owner_at(d->pid_ns, d->next[d->i]);
		if (!rec)
			continue;
		from = skb_tail_pointer(d->skb);
		if (put_process(d->skb, d, rec, d->next[d->i]))
			break;
		if (skb_tailroom(d->skb) < DONE_BYTES) {
			nlmsg_trim(d->skb, from);
			break;
		}
	}
}

/* Sets d->next. Return: false: there is none, as far as d->at; SEEP_PIDS_END: at all. */
static bool find_own(struct dump *d)
{
	d->i = 0;
	for (d->n = 0; d->n < OWN_BATCH; d->n++) {
		if (!seep_owner_next_of(d->asker.uid, d->pid_ns, &d->at, d->until_ns))
			break;
		if (d->pid && (u32)d->at != d->pid) {
			d->at = SEEP_PIDS_END;
			break;
		}
		d->next[d->n] = d->at;
	}
	return d->n;
}

/*
 * Sends the part; as the last one if *@result is given, with the pid to go on after if that
 * is an error. Return: 0 or a negative error.
 */
static int send_own(struct dump *d, const int *result)
{
	struct sk_buff *skb = d->skb;
	struct nlmsghdr *done;

	d->skb = NULL;
	if (result) {
		done = nlmsg_put(skb, d->portid, d->msg_seq, NLMSG_DONE, sizeof(*result),
				 NLM_F_MULTI);
		if (seep_broken(!done)) {
			nlmsg_free(skb);
			return -EMSGSIZE;
		}
		memcpy(nlmsg_data(done), result, sizeof(*result));
		if (*result && !seep_put_u32(skb, SEEPAGE_A_FILTER_AFTER_PID, (u32)d->at))
			nlmsg_end(skb, done);
	}
	/* in the only namespace that has the family; it does not wait for the reader */
	return genlmsg_unicast(&init_net, skb, d->portid) ? -ENOBUFS : 0;
}

/*
 * After this part, would the receive buffer of the reader take another one? An empty one
 * takes any part; newer kernels, and stable trees, take others only if they fit.
 */
static bool takes_more(const struct dump *d, struct sock *sk)
{
	return atomic_read(&sk->sk_rmem_alloc) + 2 * d->skb->truesize < READ_ONCE(sk->sk_rcvbuf);
}

/* Return: 0 after NLMSG_DONE was sent, or a negative error to be sent instead. */
static int dump_own(struct dump *d, struct sock *sk)
{
	int rc = 0;

	d->until_ns = ktime_get_ns() + OWN_NS;
	do {
		if (!d->skb)
			d->skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
		if (!d->skb)
			return -ENOMEM;
		if (d->i == d->n && !find_own(d))
			break;
		rc = seep_unpriv_run(put_own, d);
		if (rc || d->i == d->n)
			continue;
		if (seep_broken(!d->skb->len))
			return -EMSGSIZE;
		if (!takes_more(d, sk))
			break;
		rc = send_own(d, NULL);
	} while (!rc && (!d->skb || ktime_get_ns() < d->until_ns));
	if (fatal_signal_pending(current))	/* then find_own() ended early */
		return -EINTR;
	if (rc)
		return rc;
	if (d->i < d->n)		/* from there on they were not looked at */
		d->at = d->next[d->i] - 1;
	rc = d->at < SEEP_PIDS_END ? -ENOBUFS : 0;
	return send_own(d, &rc);
}

/* ---- processes ---- */

/* What the dump of @cb shall hold. */
static void read_filters(struct dump *d, struct netlink_callback *cb)
{
	struct nlattr **attrs = seep_genl_dump_attrs(cb);

	d->states = ~0U;
	if (!attrs)
		return;
	if (attrs[SEEPAGE_A_FILTER_AFTER_PID])
		d->at = (int)min_t(u32, nla_get_u32(attrs[SEEPAGE_A_FILTER_AFTER_PID]),
				   SEEP_PIDS_END);
	if (attrs[SEEPAGE_A_PID]) {
		d->pid = nla_get_u32(attrs[SEEPAGE_A_PID]);
		d->at = max(d->at, (int)min_t(u32, d->pid, INT_MAX) - 1);
	}
	if (attrs[SEEPAGE_A_FILTER_STATES])
		d->states = nla_get_u32(attrs[SEEPAGE_A_FILTER_STATES]);
	if (attrs[SEEPAGE_A_FILTER_MIN_CONFIDENCE])
		d->min_confidence = nla_get_u8(attrs[SEEPAGE_A_FILTER_MIN_CONFIDENCE]);
	if (attrs[SEEPAGE_A_FILTER_UID]) {
		d->by_uid = true;
		d->uid = make_kuid(d->ns, nla_get_u32(attrs[SEEPAGE_A_FILTER_UID]));
	}
	if (attrs[SEEPAGE_A_FILTER_COMM]) {
		d->by_comm = true;
		seep_copy(d->comm, nla_data(attrs[SEEPAGE_A_FILTER_COMM]), sizeof(d->comm));
	}
}

static struct dump *new_dump(struct netlink_callback *cb)
{
	struct dump *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return NULL;
	d->portid = NETLINK_CB(cb->skb).portid;
	d->msg_seq = cb->nlh->nlmsg_seq;
	d->ns = current_user_ns();
	return d;
}

/**
 * seep_dump_proc_start() - .start of the dump of processes
 * @cb: the dump
 *
 * A reader without rights is sent its own processes here.
 *
 * Return: 0: the dump begins; -EINTR: it is over, and the core sends nothing; -EBUSY,
 * -ENOBUFS or -ENOMEM.
 */
int seep_dump_proc_start(struct netlink_callback *cb)
{
	struct dump *d = new_dump(cb);
	int rc;

	if (!d)
		return -ENOMEM;
	if (seep_genl_dump_attrs(cb) && seep_genl_dump_attrs(cb)[SEEPAGE_A_GROUP]) {
		kfree(d);
		return seep_invalid(seep_genl_dump_attrs(cb)[SEEPAGE_A_GROUP], cb->extack,
				    "GROUP: not in a dump");
	}
	read_filters(d, cb);
	d->all = seep_netlink_may_read(cb->skb);
	if (d->all) {
		cb->args[0] = (long)d;
		return 0;
	}
	d->asker.uid = seep_netlink_reader(cb->skb);
	d->pid_ns = task_active_pid_ns(current);
	if (!uid_valid(d->asker.uid))	/* it has no process: nothing to look for */
		d->at = SEEP_PIDS_END;
	rc = seep_unpriv_begin(&d->asker, cb->extack);
	if (!rc) {
		rc = dump_own(d, NETLINK_CB(cb->skb).sk);
		nlmsg_free(d->skb);
		seep_unpriv_end(&d->asker);
	}
	kfree(d);
	return rc ?: -EINTR;
}

/* Bring all counts up to date. It interrupts CPUs, so every 10 ms at most. */
static void charge(struct dump *d)
{
	u64 now_ns = ktime_get_ns();

	if (!d->all || d->pid || now_ns - d->charged_ns < CHARGE_NS)
		return;
	seep_pmu_sync(NULL);
	d->charged_ns = now_ns;
}

/**
 * seep_dump_proc() - .dumpit of processes, in ascending order of pid
 * @skb: the part to fill
 * @cb: the dump
 *
 * Return: bytes in @skb; 0 ends the dump; -EINTR when current was killed.
 */
int seep_dump_proc(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct dump *d = (struct dump *)cb->args[0];
	struct seep_rec *rec;
	int pid = d->at;

	if (mutex_lock_killable(&seep_table_mutex))
		return -EINTR;
	d->ns = current_user_ns();
	charge(d);
	while ((rec = seep_owner_next(ns, &pid))) {
		if (IS_ERR(rec))	/* without the mutex */
			return PTR_ERR(rec);
		if ((d->pid && (u32)pid != d->pid) || put_process(skb, d, rec, pid))
			break;		/* the last, or no space: the next part begins with it */
		d->at = pid;
	}
	mutex_unlock(&seep_table_mutex);
	return skb->len;
}

/**
 * seep_dump_alerts_start() - .start of the dump of alerts
 * @cb: the dump
 *
 * Return: 0, -EPERM with an extack text, or -ENOMEM.
 */
int seep_dump_alerts_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = seep_genl_dump_attrs(cb);
	int rc = seep_netlink_check_read(cb->skb, cb->extack);
	struct dump *d;

	if (rc)
		return rc;
	d = new_dump(cb);
	if (!d)
		return -ENOMEM;
	cb->args[0] = (long)d;
	if (attrs)
		d->seq = seep_get_u64(attrs[SEEPAGE_A_SINCE_SEQ]);
	return 0;
}

/**
 * seep_dump_alerts() - .dumpit of alerts, oldest first
 * @skb: the part to fill
 * @cb: the dump
 *
 * Return: bytes in @skb; 0 ends the dump; -EINTR when current was killed.
 */
int seep_dump_alerts(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct dump *d = (struct dump *)cb->args[0];
	const struct seep_alert *a;

	if (mutex_lock_killable(&seep_table_mutex))
		return -EINTR;
	d->ns = current_user_ns();
	/* the pid may be in use again, so it cannot be translated to another namespace */
	while ((a = seep_alert_next(d->seq))) {
		if (put_message(skb, SEEPAGE_CMD_GET_ALERTS, d, a, NULL,
				ns == &init_pid_ns ? a->view.pid : 0))
			break;
		d->seq = a->seq + 1;
	}
	mutex_unlock(&seep_table_mutex);
	return skb->len;
}
