// SPDX-License-Identifier: GPL-2.0
/*
 * Hook: the page-fault tracepoints of user and kernel mode.
 *
 * Context: probes run before the fault is handled, with interrupts off and no mm lock held.
 * In kernel mode any other lock may be held, and it may be an NMI. start() and stop() run in
 * process context. No locks.
 */
#include <linux/mm.h>
#include <linux/tracepoint.h>
#include <trace/events/exceptions.h>
#include "seep.h"

#ifdef SEEP_HAVE_FAULT_TRACEPOINTS

/* The access, from the error code of the architecture: SEEP_F_WRITE or 0. */
static inline unsigned int access(unsigned long error_code)
{
#if defined(CONFIG_X86)
	return error_code >> 1 & SEEP_F_WRITE;		/* X86_PF_WRITE */
#elif defined(CONFIG_RISCV)
	return error_code == 15 ? SEEP_F_WRITE : 0;	/* EXC_STORE_PAGE_FAULT */
#else
#error "page-fault tracepoints of an architecture whose error code is not known"
#endif
}

static void fault_user(void *data, unsigned long address, struct pt_regs *regs,
		       unsigned long error_code)
{
	seep_account(access(error_code));
}

static void fault_kernel(void *data, unsigned long address, struct pt_regs *regs,
			 unsigned long error_code)
{
	if (address < TASK_SIZE_MAX)
		seep_account(SEEP_F_KERNEL | access(error_code));
}

/* Compile time only: a probe of a wrong type must not compile (CFI would panic). */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_page_fault_user(fault_user);
	check_trace_callback_type_page_fault_kernel(fault_kernel);
}

static struct tracepoint *tp_user, *tp_kernel;

static int start(void)
{
	int rc;

	tp_user = seep_find_tracepoint("page_fault_user");
	tp_kernel = seep_find_tracepoint("page_fault_kernel");
	if (!tp_user || !tp_kernel)
		return -ENOENT;
	rc = tracepoint_probe_register(tp_user, fault_user, NULL);
	if (rc)
		return rc;
	rc = tracepoint_probe_register(tp_kernel, fault_kernel, NULL);
	if (rc) {
		seep_tracepoint_unregister(tp_user, fault_user);
		tracepoint_synchronize_unregister();
	}
	return rc;
}

static void stop(void)
{
	seep_tracepoint_unregister(tp_kernel, fault_kernel);
	seep_tracepoint_unregister(tp_user, fault_user);
	tracepoint_synchronize_unregister();
}

#else

static int start(void)
{
	return -ENOENT;
}

static void stop(void)
{
}

#endif

const struct seep_hook_ops seep_hook_tracepoint = {
	.name = "tracepoint",
	.access_known = true,
	.start = start,
	.stop = stop,
};
