/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_NET_GENETLINK_H
#define SEEP_COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>
#include <linux/version.h>

/*
 * Attributes of a dump request. 7288dd2fd488 (v6.6) moved them into the
 * genl_info inside; bf813b0afeae (v5.5) introduced genl_dumpit_info.
 */
static inline struct nlattr **seep_genl_dump_attrs(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/*
 * Who may join a group: 5f6af0cd9d02 (v6.8, and 6.1.y late) checks
 * capabilities for us; before, the flag of operations means CAP_NET_ADMIN.
 * Kernels without the field at all (5.5 to 5.11) do not build yet.
 */
#ifdef GENL_MCAST_CAP_SYS_ADMIN
#define SEEP_GENL_MCGRP_FLAGS	GENL_MCAST_CAP_SYS_ADMIN
#else
#define SEEP_GENL_MCGRP_FLAGS	GENL_UNS_ADMIN_PERM
#endif

#endif
