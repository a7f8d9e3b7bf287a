/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_NET_NETLINK_H
#define SEEP_COMPAT_NET_NETLINK_H

#include_next <net/netlink.h>
#include <linux/version.h>

/*
 * 872f69034194 (v5.11) made nla_strlcpy() this. A macro upon a name of our own
 * cannot clash with a back-port, which is then merely not used.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
static inline ssize_t seep_nla_strscpy(char *dst, const struct nlattr *nla, size_t size)
{
	size_t len = strnlen(nla_data(nla), nla_len(nla));

	if (!size)
		return -E2BIG;
	memset(dst, 0, size);
	memcpy(dst, nla_data(nla), min(len, size - 1));
	return len < size ? (ssize_t)len : -E2BIG;
}

#define nla_strscpy	seep_nla_strscpy
#endif

#endif
