/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_CGROUP_H
#define SEEP_COMPAT_LINUX_CGROUP_H

#include_next <linux/cgroup.h>

/*
 * Since 743210386c03 (v5.5; Kbuild looks for it) cgroup_id() is the inode number of the
 * directory, which is what user space knows. Before, cgroup_ino() was. It is on 32 bits too,
 * where cgroup_id() has a generation above the number.
 */
#if defined(CONFIG_CGROUPS) && (!defined(SEEP_HAVE_CGROUP_ID) || BITS_PER_LONG == 32)
#define cgroup_id(cgrp)	((u64)cgroup_ino(cgrp))
#endif

#endif
