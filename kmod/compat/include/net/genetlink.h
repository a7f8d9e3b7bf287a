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
 * Who may join a group: CAP_SYS_ADMIN. cd4d7263d58a (v6.8, and 6.1.y late)
 * made that a flag; the stable trees before 5.12 have a bit of its own
 * (Kbuild looks for it). In what lies between there is only CAP_NET_ADMIN, by
 * the flag of operations. Kernels with neither (5.5 to 5.11, as they were
 * released) do not build yet.
 */
#if defined(GENL_MCAST_CAP_SYS_ADMIN)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.flags = GENL_MCAST_CAP_SYS_ADMIN
#elif defined(SEEP_HAVE_GENL_CAP_SYS_ADMIN_BIT)
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.cap_sys_admin = 1
#else
#define SEEP_GENL_MCGRP_CAP_SYS_ADMIN	.flags = GENL_UNS_ADMIN_PERM
#endif

#endif
