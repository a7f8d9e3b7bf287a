/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_COMPILER_H
#define SEEP_COMPAT_LINUX_COMPILER_H

#include_next <linux/compiler.h>

#ifndef data_race	/* since c48981eeb0d5 (v5.8) */
#define data_race(expr)	(expr)
#endif

#endif
