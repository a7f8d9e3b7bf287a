/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_CAPABILITY_H
#define SEEP_COMPAT_LINUX_CAPABILITY_H

#include_next <linux/capability.h>

#ifndef CAP_PERFMON		/* since 980737282232 (v5.8); before, perf needs CAP_SYS_ADMIN */
#define CAP_PERFMON	CAP_SYS_ADMIN
#endif

#endif
