// SPDX-License-Identifier: GPL-2.0
/*
 * What a probe at a call site does. It is at the return address of a call that allocates, so that
 * the block is what was returned and one trap is enough: other sites pay nothing.
 *
 * Why the return address is right: a function may be called in many ways, but each return of this
 * call executes the instruction at that address next. Where a function ends with a jump to
 * malloc(), the return address is that of its caller, which is the one on the stack; then the
 * caller is the site. Code may also jump to the address, as where a loop begins. Then no call has
 * returned: the address is not the word below the stack pointer, or not in the link register.
 *
 * Two things look the same and leave out all hits of a site, which then has traps and no samples.
 * A return probe of another tool on the allocator: what is in that place is its trampoline, on
 * x86 before 6.11 and on arm64. And on x86 a kernel that makes a call of a probe on a nop of five
 * bytes: that call writes its own return address below the stack pointer.
 */
#include <linux/ktime.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include "where.h"

/* A signal that was handled in between may have written over the word: that hit is left out. */
static bool has_returned(struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	const unsigned long *below = (const unsigned long *)user_stack_pointer(regs) - 1;
	unsigned long to;

	return !copy_from_user_nofault(&to, (const void __user *)below, sizeof(to)) &&
	       to == instruction_pointer(regs);
#else
	return regs->regs[30] == instruction_pointer(regs);
#endif
}

/* The site is hot. The burst ends with the last one that is left. */
static noinline int leave_site(struct where_probe *p)
{
	struct where_burst *b = p->burst;

	if (!cmpxchg(&p->done, 0, 1) && atomic_dec_and_test(&b->sites))
		where_end(b, SEEPAGE_WHERE_BY_TRAPS);
	return UPROBE_HANDLER_REMOVE;
}

static void take(struct where_probe *p, struct pt_regs *regs)
{
	struct where_burst *b = p->burst;
	u64 now = ktime_get_ns();
	struct where_call *call;

	spin_lock(&b->lock);
	call = where_claim(b, user_stack_pointer(regs), now);
	spin_unlock(&b->lock);
	if (!call)
		return;
	/* No other task changes a call of this one. */
	call->sp = user_stack_pointer(regs);
	call->arg = 0;
	call->s.ns = now;
	call->s.size = 0;
	call->s.addr = regs_return_value(regs);
	where_fill(p, &call->s, regs);
	spin_lock(&b->lock);
	where_keep(b, call, false);
	where_release(b, call);
	spin_unlock(&b->lock);
}

/*
 * where_site() - handle the instruction behind a call
 * @c: the consumer of a probe
 * @regs: of the process
 * @cookie: where kernels have it; not used
 *
 * Context: task context of any process that has the breakpoint; does not sleep.
 * Return: UPROBE_HANDLER_REMOVE where the breakpoint is to go, else 0.
 */
int where_site(struct uprobe_consumer *c, struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	struct where_probe *p = container_of(c, struct where_probe, consumer);
	struct where_burst *b = p->burst;
	u32 most = b->how.probe_traps;

	if (current->mm != READ_ONCE(p->mm))
		return where_leave(p);
	if (atomic64_add_negative(-1, &b->left) && where_is_spent(b))
		return UPROBE_HANDLER_REMOVE;
	if ((u32)atomic_inc_return(&p->traps) > most && most)
		return leave_site(p);
	if (where_is_64bit(regs) && regs_return_value(regs) && has_returned(regs))
		take(p, regs);
	return 0;
}
