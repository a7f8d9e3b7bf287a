/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_ASM_PROCESSOR_H
#define SEEP_COMPAT_ASM_PROCESSOR_H

#include_next <asm/processor.h>

#if __has_include(<asm/cpuid/api.h>)	/* cpuid() has a header of its own by v7.3 */
#include <asm/cpuid/api.h>
#endif

#endif
