// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink in the simulated machine: messages as the kernel lays them out, and a listener to the
 * group series that reads them. Compiled as kernel code.
 */
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/netlink.h>
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

int genl_register_family(struct genl_family *family)
{
	return 0;
}

int genl_unregister_family(const struct genl_family *family)
{
	return 0;
}

int netlink_has_listeners(struct sock *sk, unsigned int group)
{
	return w_records_series && group == SEEP_MCGRP_SERIES;
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
