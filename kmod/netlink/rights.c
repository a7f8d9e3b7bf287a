// SPDX-License-Identifier: GPL-2.0
/*
 * Rights of the sender of a request: to read all processes, its own ones only, or to change
 * something.
 *
 * Context: process, in the task that sent the request, except where noted.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <net/sock.h>
#include "netlink.h"

/**
 * seep_netlink_may_read() - may the sender read all processes?
 * @skb: the request
 *
 * Return: true with CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace.
 */
bool seep_netlink_may_read(struct sk_buff *skb)
{
	return netlink_capable(skb, CAP_PERFMON) || netlink_capable(skb, CAP_SYS_ADMIN);
}

/**
 * seep_netlink_check_read() - refuse a sender that may not read all processes
 * @skb: the request
 * @extack: gets the text of a refusal
 *
 * Return: 0 or -EPERM.
 */
int seep_netlink_check_read(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (seep_netlink_may_read(skb))
		return 0;
	return seep_refuse(NULL, extack, "needs CAP_PERFMON or CAP_SYS_ADMIN", -EPERM);
}

/**
 * seep_netlink_check_write() - refuse a change without rights, or with strange attributes
 * @skb: the request
 * @info: its attributes
 *
 * Return: 0; -EPERM: without CAP_SYS_ADMIN in the initial user namespace; -EINVAL: it has
 * attributes of other commands. An extack text says which.
 */
int seep_netlink_check_write(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return seep_netlink_takes(info);
	return seep_refuse(NULL, info->extack, "needs CAP_SYS_ADMIN", -EPERM);
}

/**
 * seep_netlink_reader() - uid of the sender
 * @skb: the request
 *
 * A socket that another user created proves nothing: it may have been passed to a
 * setuid program.
 *
 * Return: uid of current, or INVALID_UID if another uid created the socket.
 */
kuid_t seep_netlink_reader(struct sk_buff *skb)
{
	kuid_t uid = current_uid();

	return uid_eq(uid, NETLINK_CB(skb).sk->sk_uid) ? uid : INVALID_UID;
}

/**
 * seep_netlink_is_own() - does a record belong to the reader?
 * @rec: after seep_view_identify()
 * @reader: from seep_netlink_reader()
 *
 * Context: seep_table_mutex.
 * Return: true if uid, euid and suid of the process are @reader.
 */
bool seep_netlink_is_own(const struct seep_rec *rec, kuid_t reader)
{
	return rec->creds.known && rec->creds.same_creds && uid_eq(rec->creds.uid, reader);
}

/**
 * seep_netlink_own_only() - prepare a view for a reader that sees its own processes only
 * @v: the view
 *
 * Hides what is about other processes: factors that names.h marks for CAP_PERFMON, what a limit
 * is shared with, and what is known of earlier lives. The time to exhaustion goes by all that
 * grow; it stays.
 */
void seep_netlink_own_only(struct seep_view *v)
{
	seep_verdict_hide(&v->verdict, SEEPAGE_FACTORS_PERFMON);
	v->others = 0;
	v->others_rate = 0;
	v->known_rise = 0;
	v->known_span = 0;
}
