// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink in the simulated machine: messages as the kernel lays them out, and a listener to the
 * group series that reads them. Compiled as kernel code.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <net/sock.h>
#include "netlink/netlink.h"
#include "lives.h"

void k_die(const char *text);

bool w_records_series;
unsigned int w_messages, w_largest, w_samples, w_ends;

/* The data is a block of its own, with what the kernel has behind it. */
struct sk_buff *__alloc_skb(unsigned int size, gfp_t flags, int how, int node)
{
	struct sk_buff *skb = kzalloc(sizeof(*skb), flags);

	if (!skb)
		return NULL;
	size = SKB_DATA_ALIGN(size);
	skb->head = kmalloc(size + SKB_DATA_ALIGN(sizeof(struct skb_shared_info)), flags);
	if (!skb->head) {
		kfree(skb);
		return NULL;
	}
	skb->data = skb->head;
	skb_reset_tail_pointer(skb);
	skb->end = size;
	return skb;
}

void kfree_skb_reason(struct sk_buff *skb, enum skb_drop_reason reason)
{
	if (!skb)
		return;
	kfree(skb->head);
	kfree(skb);
}

void *skb_put(struct sk_buff *skb, unsigned int len)
{
	void *at = skb_tail_pointer(skb);

	if (skb_tailroom(skb) < len)
		k_die("a message is longer than its memory");
	skb->tail += len;
	skb->len += len;
	return at;
}

void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, const struct genl_family *family,
		  int flags, u8 cmd)
{
	struct nlmsghdr *nlh = skb_put(skb, NLMSG_HDRLEN + GENL_HDRLEN);

	memset(nlh, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	return (void *)nlh + NLMSG_HDRLEN + GENL_HDRLEN;
}

struct nlattr *nla_reserve(struct sk_buff *skb, int type, int len)
{
	struct nlattr *attr;

	if (skb_tailroom(skb) < nla_total_size(len))
		return NULL;
	attr = skb_put(skb, nla_total_size(len));
	attr->nla_type = type;
	attr->nla_len = nla_attr_size(len);
	return attr;
}

int nla_put(struct sk_buff *skb, int type, int len, const void *data)
{
	struct nlattr *attr = nla_reserve(skb, type, len);

	if (!attr)
		return -EMSGSIZE;
	memcpy(nla_data(attr), data, len);
	return 0;
}

int nla_put_64bit(struct sk_buff *skb, int type, int len, const void *data, int pad)
{
	return nla_put(skb, type, len, data);
}

bool w_strangers, w_late, w_no_family;
unsigned int w_registered, w_on_early;
static bool late_joined;

int genl_register_family(struct genl_family *family)
{
	if (w_registered == 1 && w_no_family) {
		w_no_family = false;
		return -ENOMEM;
	}
	w_registered++;
	w_on_early += !seep_multicast_off;
	return 0;
}

int genl_unregister_family(const struct genl_family *family)
{
	late_joined = false;
	return 0;
}

/* Who was checked before the groups had an owner joins meanwhile. */
void synchronize_rcu_tasks(void)
{
	late_joined |= w_late;
	w_late = false;
}

int netlink_has_listeners(struct sock *sk, unsigned int group)
{
	return w_strangers || late_joined || (w_records_series && group == SEEP_MCGRP_SERIES);
}

void do_trace_netlink_extack(const char *text)
{
}

static struct {
	struct task_struct *by;		/* NULL: free */
	struct seep_unpriv u;
} requests[16];

/*
 * A process without rights asks, and does not read the answer. Return: 0, or why it is refused.
 */
int w_ask(struct task_struct *t)
{
	struct task_struct *last = this_cpu_read(current_task);
	unsigned int i = 0;
	int rc;

	while (requests[i].by)
		if (++i == ARRAY_SIZE(requests))
			k_die("too many requests");
	this_cpu_write(current_task, t);
	requests[i].u.uid = __task_cred(t)->uid;
	rc = seep_unpriv_begin(&requests[i].u, NULL);
	this_cpu_write(current_task, last);
	if (!rc)
		requests[i].by = t;
	return rc;
}

/* The request of a process is answered. */
void w_answer(struct task_struct *t)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].by == t) {
			seep_unpriv_end(&requests[i].u);
			requests[i].by = NULL;
		}
}

/* Reads a message of the group series. */
int netlink_broadcast(struct sock *sk, struct sk_buff *skb, u32 portid, u32 group, gfp_t flags)
{
	void *head = skb->data + NLMSG_HDRLEN + GENL_HDRLEN;
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, head, skb->len - NLMSG_HDRLEN - GENL_HDRLEN, rem) {
		if (nla_type(attr) == SEEPAGE_A_SAMPLES)
			w_samples += nla_len(attr) / sizeof(struct seepage_raw_sample);
		else if (nla_type(attr) == SEEPAGE_A_PASS_END)
			w_ends++;
	}
	if (rem)
		k_die("a message has bytes behind its attributes");
	w_messages++;
	w_largest = max(w_largest, skb->len);
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
	return 0;
}

/* Does the status say that multicast is off? */
bool w_status_off(void)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	struct nlattr *attr;
	bool off = false;
	int rem;

	if (seep_put_status(skb))
		k_die("no status");
	nla_for_each_attr(attr, (struct nlattr *)skb->data, skb->len, rem)
		if (nla_type(attr) == SEEPAGE_A_MULTICAST_OFF)
			off = nla_get_u8(attr);
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
	return off;
}

/* ---- the worker for requests without rights ---- */

u64 w_errand_ns;

/* It runs at once, and for that long. */
int wait_for_completion_killable(struct completion *done)
{
	struct task_struct *last = this_cpu_read(current_task);

	this_cpu_write(current_task, &init_task);
	w_run_works();
	this_cpu_write(current_task, last);
	w_advance(w_errand_ns);
	return 0;
}

void complete(struct completion *done)
{
}

bool cancel_work_sync(struct work_struct *work)
{
	return false;
}

void usleep_range_state(unsigned long min, unsigned long max, unsigned int state)
{
	w_advance(min * NSEC_PER_USEC);
}

/* ---- a dump of a reader without rights ---- */

u8 w_seen[W_PIDS];
unsigned int w_known;
unsigned int w_after;
static int result;

struct pid_namespace *task_active_pid_ns(struct task_struct *t)
{
	return &init_pid_ns;
}

uid_t from_kuid_munged(struct user_namespace *ns, kuid_t uid)
{
	return __kuid_val(uid);
}

bool netlink_capable(const struct sk_buff *skb, int cap)
{
	return false;
}

struct nlmsghdr *__nlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, int type, int len, int flags)
{
	struct nlmsghdr *nlh = skb_put(skb, NLMSG_ALIGN(nlmsg_msg_size(len)));

	memset(nlh, 0, NLMSG_HDRLEN);
	nlh->nlmsg_type = type;
	nlh->nlmsg_len = nlmsg_msg_size(len);
	return nlh;
}

void skb_trim(struct sk_buff *skb, unsigned int len)
{
	skb->len = len;
	skb_set_tail_pointer(skb, len);
}

static u32 find_u32(const struct nlmsghdr *nlh, int hdrlen, int type)
{
	struct nlattr *attr;
	int rem;

	nlmsg_for_each_attr(attr, nlh, hdrlen, rem)
		if (nla_type(attr) == type)
			return nla_get_u32(attr);
	return 0;
}

/* Reads a part of the answer. */
int netlink_unicast(struct sock *sk, struct sk_buff *skb, u32 portid, int nonblock)
{
	struct nlmsghdr *nlh = (void *)skb->data;
	int len = skb->len;

	for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_type == NLMSG_DONE) {
			memcpy(&result, nlmsg_data(nlh), sizeof(result));
			w_after = find_u32(nlh, sizeof(result), SEEPAGE_A_FILTER_AFTER_PID);
		} else {
			w_seen[find_u32(nlh, GENL_HDRLEN, SEEPAGE_A_PID) % W_PIDS]++;
			w_known += find_u32(nlh, GENL_HDRLEN, SEEPAGE_A_KNOWN_RISE_BYTES) ||
				   find_u32(nlh, GENL_HDRLEN, SEEPAGE_A_KNOWN_SPAN_SECONDS);
		}
	}
	if (len)
		k_die("a part has bytes behind its messages");
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
	return 0;
}

/*
 * A process without rights asks for its own processes. @comm: with that name only, or NULL;
 * @states: in these states. w_after: after that pid; out: where to go on, or 0. Return: what
 * NLMSG_DONE says, or why there was none.
 */
int w_dump_own(struct task_struct *t, const char *comm, unsigned int states)
{
	struct task_struct *last = this_cpu_read(current_task);
	static struct nlattr *attrs[SEEPAGE_A_MAX + 1];
	static struct sk_buff request;
	static struct sock sock;
	struct genl_dumpit_info info = { .attrs = attrs };
	struct nlmsghdr nlh = { };
	struct netlink_callback cb = { .skb = &request, .nlh = &nlh, .data = &info };
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	int rc;

	attrs[SEEPAGE_A_FILTER_COMM] = NULL;
	if (comm) {
		attrs[SEEPAGE_A_FILTER_COMM] = (void *)skb_tail_pointer(skb);
		nla_put_string(skb, SEEPAGE_A_FILTER_COMM, comm);
	}
	attrs[SEEPAGE_A_FILTER_STATES] = (void *)skb_tail_pointer(skb);
	nla_put_u32(skb, SEEPAGE_A_FILTER_STATES, states);
	attrs[SEEPAGE_A_FILTER_AFTER_PID] = (void *)skb_tail_pointer(skb);
	nla_put_u32(skb, SEEPAGE_A_FILTER_AFTER_PID, w_after);
	sock.sk_uid = __task_cred(t)->uid;
	sock.sk_rcvbuf = 1;			/* all that is sent was read */
	NETLINK_CB(&request).sk = &sock;
	result = -ENODATA;
	w_after = 0;
	this_cpu_write(current_task, t);
	rc = seep_dump_proc_start(&cb);
	this_cpu_write(current_task, last);
	kfree_skb_reason(skb, SKB_DROP_REASON_NOT_SPECIFIED);
	return rc == -EINTR ? result : rc;
}
