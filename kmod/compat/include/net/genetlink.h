/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_NET_GENETLINK_H
#define SEEP_COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>
#include <linux/version.h>

/*
 * Operations with a policy each: 48526a0f4ca2 (v5.10; Kbuild looks for it).
 * Up to v5.9 the core knows one policy for the whole family. There the family
 * has none, so that the core refuses only what it does not know at all or
 * cannot take apart; what a command takes is checked here, as strictly, before
 * the command is called.
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
 * Attributes of a dump request, for .start. 7288dd2fd488 (v6.6) moved them into
 * the genl_info inside; bf813b0afeae (v5.5) introduced genl_dumpit_info.
 */
static inline struct nlattr **seep_genl_dump_attrs(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
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
#define SEEP_GENL_ARG_ATTRS	5	/* the last of cb->args; valid in .start */

/* Of the one family there is, and only in the file that registers it. */
static struct {
	const struct genl_family *family;
	const struct seep_genl_ops *ops;
	struct genl_ops core[SEEP_GENL_OPS_MAX];
} seep_genl;

/* The core calls nothing but what is in the list. */
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
 * The core has no place for the text of a .start that refuses: the refusal is
 * sent from here, and -EINTR tells the core that there is no more to say.
 */
static inline int seep_genl_start(struct netlink_callback *cb)
{
	const struct genlmsghdr *head = nlmsg_data(cb->nlh);
	const struct seep_genl_ops *op = seep_genl_op(head->cmd);
	struct netlink_ext_ack *extack = cb->extack;
	struct netlink_ext_ack own = {};
	struct nlattr **attrs;
	int rc;

	attrs = kcalloc(op->maxattr + 1, sizeof(*attrs), GFP_KERNEL);
	if (!attrs)
		return -ENOMEM;
	rc = genlmsg_parse(cb->nlh, seep_genl.family, attrs, op->maxattr, op->policy,
			   &own);
	if (!rc && op->start) {
		cb->extack = &own;
		cb->args[SEEP_GENL_ARG_ATTRS] = (long)attrs;
		rc = op->start(cb);
		cb->args[SEEP_GENL_ARG_ATTRS] = 0;
		cb->extack = extack;
	}
	kfree(attrs);
	if (!rc || !own._msg)
		return rc;
	netlink_ack(cb->skb, (struct nlmsghdr *)cb->nlh, rc, &own);
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
 * Who may join a group: CAP_SYS_ADMIN. cd4d7263d58a (v6.8, and 6.1.y late)
 * made that a flag; the stable trees before 5.12 have a bit of its own
 * (Kbuild looks for it). In what lies between there is only CAP_NET_ADMIN, by
 * the flag of operations. Where there is not even that (5.4 to 5.11, as they
 * were released) anybody may join, and who hears is asked with every message.
 */
#if defined(GENL_MCAST_CAP_SYS_ADMIN)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.flags = GENL_MCAST_CAP_SYS_ADMIN
#elif defined(SEEP_HAVE_GENL_CAP_SYS_ADMIN_BIT)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.cap_sys_admin = 1
#elif defined(SEEP_HAVE_GENL_MCGRP_FLAGS)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.flags = GENL_UNS_ADMIN_PERM
#else
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN
#define SEEP_GENL_MCGRP_OPEN
#endif

#ifndef SEEP_GENL_MCGRP_OPEN

static inline int seep_genl_multicast(const struct genl_family *family, struct sk_buff *skb,
				      unsigned int group, gfp_t gfp)
{
	return genlmsg_multicast(family, skb, 0, group, gfp);
}

#else

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/net.h>
#include <net/sock.h>

/* Listed in a group, a socket has its file: it leaves the list before it is closed. */
static inline int seep_genl_may_not_hear(struct sock *sk, struct sk_buff *skb, void *unused)
{
	const struct socket *sock = READ_ONCE(sk->sk_socket);
	const struct file *file = sock ? READ_ONCE(sock->file) : NULL;

	return !file || !file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

/* genlmsg_multicast(), by the right of who opened the socket */
static inline int seep_genl_multicast(const struct genl_family *family, struct sk_buff *skb,
				      unsigned int group, gfp_t gfp)
{
	group += family->mcgrp_offset;
	NETLINK_CB(skb).dst_group = group;
	return netlink_broadcast_filtered(init_net.genl_sock, skb, 0, group, gfp,
					  seep_genl_may_not_hear, NULL);
}

#endif

#endif
