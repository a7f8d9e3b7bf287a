/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_NET_GENETLINK_H
#define SEEP_COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>

/* The trace event of extack texts, since v5.13; Kbuild looks for it. */
#ifndef SEEP_HAVE_TRACE_EXTACK
static inline void do_trace_netlink_extack(const char *msg) {}
#endif

/*
 * Operations with a policy each, since 48526a0f4ca2 (v5.10); Kbuild looks for it. Up to
 * v5.9 the core knows one policy for the whole family. There the family has none, and the
 * core refuses only unknown and malformed attributes. The policy of the command is then
 * checked here, as strictly, before the command runs.
 */
#ifdef SEEP_HAVE_GENL_OP_POLICY

#define seep_genl_ops	genl_ops

static inline int seep_genl_register_family(struct genl_family *family,
					    const struct seep_genl_ops *ops, unsigned int n)
{
	family->ops = ops;
	family->n_ops = n;
	return genl_register_family(family);
}

/*
 * Attributes of a dump request, for .start. bf813b0afeae (v5.5) introduced
 * genl_dumpit_info; 7288dd2fd488 (v6.6) moved the attributes into its genl_info.
 */
static inline struct nlattr **seep_genl_dump_attrs(struct netlink_callback *cb)
{
#ifdef SEEP_HAVE_GENL_DUMPIT_INFO_INFO
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#else /* !SEEP_HAVE_GENL_OP_POLICY */

#include <linux/slab.h>

struct seep_genl_ops {
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*start)(struct netlink_callback *cb);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	int (*done)(struct netlink_callback *cb);
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd;
};

#define SEEP_GENL_OPS_MAX	16
#define SEEP_GENL_ARG_ATTRS	5	/* the last of cb->args; valid during .start only */

/* State of the only family; only the file that registers it may use this. */
static struct {
	const struct genl_family *family;
	const struct seep_genl_ops *ops;
	struct genl_ops core[SEEP_GENL_OPS_MAX];
} seep_genl;

/* The core calls only commands of the list, so the search always ends. */
static inline const struct seep_genl_ops *seep_genl_op(u8 cmd)
{
	const struct seep_genl_ops *op = seep_genl.ops;

	while (op->cmd != cmd)
		op++;
	return op;
}

static inline int seep_genl_pre_doit(const struct genl_ops *core, struct sk_buff *skb,
				     struct genl_info *info)
{
	const struct seep_genl_ops *op = seep_genl_op(core->cmd);

	return genlmsg_parse(info->nlhdr, seep_genl.family, info->attrs, op->maxattr,
			     op->policy, info->extack);
}

/*
 * Up to v5.9 the core has no extack in .start. A refusal with its text is therefore sent
 * from here, and -EINTR tells the core to send none.
 */
static inline int seep_genl_start(struct netlink_callback *cb)
{
	const struct genlmsghdr *head = nlmsg_data(cb->nlh);
	const struct seep_genl_ops *op = seep_genl_op(head->cmd);
	struct netlink_ext_ack *extack = cb->extack;
	struct netlink_ext_ack local_ack = {};
	struct nlattr **attrs;
	int rc;

	attrs = kcalloc(op->maxattr + 1, sizeof(*attrs), GFP_KERNEL);
	if (!attrs)
		return -ENOMEM;
	rc = genlmsg_parse(cb->nlh, seep_genl.family, attrs, op->maxattr, op->policy,
			   &local_ack);
	if (!rc && op->start) {
		cb->extack = &local_ack;
		cb->args[SEEP_GENL_ARG_ATTRS] = (long)attrs;
		rc = op->start(cb);
		cb->args[SEEP_GENL_ARG_ATTRS] = 0;
		cb->extack = extack;
	}
	kfree(attrs);
	if (!rc || !local_ack._msg)
		return rc;
	netlink_ack(cb->skb, (struct nlmsghdr *)cb->nlh, rc, &local_ack);
	return -EINTR;
}

static inline int seep_genl_register_family(struct genl_family *family,
					    const struct seep_genl_ops *ops, unsigned int n)
{
	unsigned int i;

	if (WARN_ON(n > SEEP_GENL_OPS_MAX))
		return -EINVAL;
	for (i = 0; i < n; i++)
		seep_genl.core[i] = (struct genl_ops) {
			.cmd	= ops[i].cmd,
			.doit	= ops[i].doit,
			.start	= ops[i].dumpit ? seep_genl_start : NULL,
			.dumpit	= ops[i].dumpit,
			.done	= ops[i].done,
		};
	seep_genl.family = family;
	seep_genl.ops = ops;
	family->ops = seep_genl.core;
	family->n_ops = n;
	family->pre_doit = seep_genl_pre_doit;
	return genl_register_family(family);
}

static inline struct nlattr **seep_genl_dump_attrs(struct netlink_callback *cb)
{
	return (struct nlattr **)cb->args[SEEP_GENL_ARG_ATTRS];
}

#endif /* SEEP_HAVE_GENL_OP_POLICY */

/*
 * Joining a group needs CAP_SYS_ADMIN. cd4d7263d58a (v6.8, later 6.1.y) made that a flag.
 * Stable trees before v5.12 have a bit for it instead; Kbuild looks for it. Kernels in
 * between have only CAP_NET_ADMIN, by the flag of operations. The releases of v5.4 to
 * v5.11 have neither: there anybody may join, and each message is filtered by the rights of
 * the listener (SEEP_GENL_FILTERED).
 */
#if defined(GENL_MCAST_CAP_SYS_ADMIN)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.flags = GENL_MCAST_CAP_SYS_ADMIN
#elif defined(SEEP_HAVE_GENL_CAP_SYS_ADMIN_BIT)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.cap_sys_admin = 1
#elif defined(SEEP_HAVE_GENL_MCGRP_FLAGS)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.flags = GENL_UNS_ADMIN_PERM
#else
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN
#endif

#ifdef SEEP_HAVE_BROADCAST_FILTERED

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/net.h>
#include <net/sock.h>

#define SEEP_GENL_FILTERED	true	/* each message is checked against its receiver */

/*
 * Filter of netlink_broadcast_filtered(): true hides the message. A socket in a group still
 * has its file, because it leaves the group before it is closed. READ_ONCE() pairs with
 * sk_set_socket() and sock_alloc_file() in the core.
 */
static inline int seep_genl_may_not_hear(struct sock *sk, struct sk_buff *skb, void *unused)
{
	const struct socket *sock = READ_ONCE(sk->sk_socket);
	const struct file *file = sock ? READ_ONCE(sock->file) : NULL;

	return !file || !file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

/*
 * genlmsg_multicast(), to sockets that were opened with CAP_SYS_ADMIN. The check
 * of the join alone does not suffice: group numbers that no family owns yet may be
 * joined by anybody, and genl_register_family() hands them out as they are.
 * netlink_broadcast_filtered() is there up to v5.16 and again since a4c9a56e6a2c
 * (v6.5); Kbuild looks for it.
 */
static inline int seep_genl_multicast(const struct genl_family *family, struct sk_buff *skb,
				      unsigned int group, gfp_t gfp)
{
	group += family->mcgrp_offset;
	NETLINK_CB(skb).dst_group = group;
	return netlink_broadcast_filtered(init_net.genl_sock, skb, 0, group, gfp,
					  seep_genl_may_not_hear, NULL);
}

#else

#define SEEP_GENL_FILTERED	false

static inline int seep_genl_multicast(const struct genl_family *family, struct sk_buff *skb,
				      unsigned int group, gfp_t gfp)
{
	return genlmsg_multicast(family, skb, 0, group, gfp);
}

#endif

#endif
