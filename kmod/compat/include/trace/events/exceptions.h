/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page-fault tracepoints. The x86 header is in asm/trace/ up to v6.14 and moved to
 * trace/events/ between v6.15 and v6.17. Other architectures have that header since then,
 * but apart from x86 only riscv fires the events. Without them there is nothing to hook, and
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
