/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page-fault tracepoints. v6.15 to v6.17 moved the x86 header
 * here; before it is in asm/. Others have the header as well since, but
 * only riscv also fires them. Without either there is nothing to hook:
 * SEEP_HAVE_FAULT_TRACEPOINTS stays undefined.
 */
#ifndef SEEP_COMPAT_TRACE_EXCEPTIONS_H
#define SEEP_COMPAT_TRACE_EXCEPTIONS_H

#if __has_include(<asm/trace/exceptions.h>)
#include <asm/trace/exceptions.h>
#define SEEP_HAVE_FAULT_TRACEPOINTS
#elif (defined(CONFIG_X86) || defined(CONFIG_RISCV)) && \
	__has_include_next(<trace/events/exceptions.h>)
#include_next <trace/events/exceptions.h>
#define SEEP_HAVE_FAULT_TRACEPOINTS
#endif

#endif
