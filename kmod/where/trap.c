// SPDX-License-Identifier: GPL-2.0
/*
 * What a probe does when a process gets to it. Most calls ask for another size and leave at once.
 *
 * A child inherits breakpoints by fork(), whatever the filter says: a handler compares the mm and
 * asks for the removal. From v6.12 on the filter has to say false as well. Nothing here sleeps:
 * pages of the stack that are not present are left out.
 */
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "where.h"

#define FORGET_NS	(1 * NSEC_PER_SEC)	/* a call that did not return: longjmp(), exit */

#ifdef CONFIG_X86_64
#define RETURN_BYTES	sizeof(long)	/* of the stack that a return takes */

static bool is_64bit(struct pt_regs *r)
{
	return user_64bit_mode(r);
}

static unsigned long argument(struct pt_regs *r, unsigned int n)
{
	return n == 0 ? r->di : n == 1 ? r->si : r->dx;
}

static void save_regs(u64 *to, struct pt_regs *r)
{
	const u64 by_number[] = {
		r->ax, r->dx, r->cx, r->bx, r->si, r->di, r->bp, r->sp, r->r8, r->r9,
		r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->ip,
	};

	memcpy(to, by_number, sizeof(by_number));
}
#else
#define RETURN_BYTES	0

static bool is_64bit(struct pt_regs *r)
{
	return !compat_user_mode(r);
}

static unsigned long argument(struct pt_regs *r, unsigned int n)
{
	return r->regs[n];
}

static void save_regs(u64 *to, struct pt_regs *r)
{
	memcpy(to, r->regs, sizeof(r->regs));
	to[31] = r->sp;
	to[32] = r->pc;
}
#endif

static u64 asked_size(u32 kind, struct pt_regs *r)
{
	u64 bytes;

	switch ((enum seepage_where_kind)kind) {
	case SEEPAGE_WHERE_ARG0:
		return argument(r, 0);
	case SEEPAGE_WHERE_ARG1:
		return argument(r, 1);
	case SEEPAGE_WHERE_PRODUCT:
		if (check_mul_overflow((u64)argument(r, 0), (u64)argument(r, 1), &bytes))
			return U64_MAX;
		return bytes;
	case SEEPAGE_WHERE_POSIX:
		return argument(r, 2);
	case __SEEPAGE_WHERE_KINDS:
		break;
	}
	return U64_MAX;
}

/*
 * Takes a place in call[], and with it a sample. realloc() and others call malloc(): a call within
 * one that is pending is the same allocation. Returns NULL if there is none.
 */
static struct where_call *claim(struct where_burst *b, unsigned long sp, u64 now)
{
	struct where_call *free = NULL;
	unsigned int i;

	lockdep_assert_held(&b->lock);
	for (i = 0; i < WHERE_PENDING; i++) {
		struct where_call *c = &b->call[i];

		if (!c->task) {
			free = free ?: c;
		} else if (c->task == current) {
			if (sp < c->sp && now - b->sample[c->sample].ns < FORGET_NS)
				return NULL;
			return c;	/* it was left without a return */
		}
	}
	if (!free || b->claimed == b->how.samples) {
		b->dropped++;
		return NULL;
	}
	free->task = current;
	free->sample = b->claimed++;
	b->calls++;
	return free;
}

static void fill(struct where_probe *p, struct seepage_where_sample *s, struct pt_regs *regs)
{
	void __user *sp = (void __user *)user_stack_pointer(regs);
	unsigned long left = sizeof(s->stack);

	save_regs(s->regs, regs);
	s->probe = p->index;
	if (access_ok(sp, sizeof(s->stack))) {
		pagefault_disable();
		left = __copy_from_user_inatomic(s->stack, sp, sizeof(s->stack));
		pagefault_enable();
	}
	s->stack_bytes = sizeof(s->stack) - left;
}

/**
 * where_entry() - handle the first instruction of a function that allocates
 * @c: the consumer of a probe
 * @regs: of the process
 * @cookie: where kernels have it; not used, the return finds its call by task and stack
 *
 * Context: task context of any process that has the breakpoint; does not sleep.
 * Return: UPROBE_HANDLER_REMOVE where the breakpoint is to go, UPROBE_HANDLER_IGNORE where the
 * return is of no interest, else 0.
 */
int where_entry(struct uprobe_consumer *c, struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	struct where_probe *p = container_of(c, struct where_probe, consumer);
	struct where_burst *b = p->burst;
	struct where_call *call;
	u64 size, now;

	if (current->mm != b->mm) {
		atomic64_inc(&b->foreign);
		return UPROBE_HANDLER_REMOVE;
	}
	if (READ_ONCE(b->done))
		return UPROBE_HANDLER_REMOVE;
	if (atomic64_inc_return(&b->traps) >= b->traps_max) {
		where_end(b, b->traps_max < b->how.traps ? SEEPAGE_WHERE_BY_COST :
			  SEEPAGE_WHERE_BY_TRAPS);
		return UPROBE_HANDLER_REMOVE;
	}
	size = asked_size(p->kind, regs);
	if (size < b->how.lo || size > b->how.hi || !is_64bit(regs))
		return UPROBE_HANDLER_IGNORE;
	now = ktime_get_ns();
	spin_lock(&b->lock);
	call = claim(b, user_stack_pointer(regs), now);
	if (call) {
		call->sp = user_stack_pointer(regs);
		call->out = argument(regs, 0);
		b->sample[call->sample].ns = now;
		b->sample[call->sample].size = size;
	}
	spin_unlock(&b->lock);
	if (!call)
		return UPROBE_HANDLER_IGNORE;
	/* No other task changes a call of this one, nor its sample. */
	fill(p, &b->sample[call->sample], regs);
	return 0;
}

static struct where_call *pending(struct where_burst *b, unsigned long sp)
{
	unsigned int i;

	lockdep_assert_held(&b->lock);
	for (i = 0; i < WHERE_PENDING; i++)
		if (b->call[i].task == current && b->call[i].sp + RETURN_BYTES == sp)
			return &b->call[i];
	return NULL;
}

/* What the function returned; 0: it failed */
static unsigned long result(struct where_probe *p, struct where_call *call, struct pt_regs *regs)
{
	unsigned long addr;

	if (p->kind != SEEPAGE_WHERE_POSIX)
		return regs_return_value(regs);
	if ((int)regs_return_value(regs) ||
	    copy_from_user_nofault(&addr, (void __user *)call->out, sizeof(addr)))
		return 0;
	return addr;
}

/**
 * where_return() - handle the return of a function that allocates
 * @c: the consumer of a probe
 * @func: address of the function
 * @regs: of the process
 * @cookie: where kernels have it; not used
 *
 * Context: task context of any process that has the breakpoint; does not sleep.
 * Return: 0.
 */
int where_return(struct uprobe_consumer *c, unsigned long func,
		 struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	struct where_probe *p = container_of(c, struct where_probe, consumer);
	struct where_burst *b = p->burst;
	struct where_call *call;
	bool full = false;

	if (current->mm != b->mm)
		return 0;
	atomic64_inc(&b->traps);
	/* Its own call is seen by the task that made it; others do not matter. */
	if (!READ_ONCE(b->calls))
		return 0;
	spin_lock(&b->lock);
	call = pending(b, user_stack_pointer(regs));
	if (call) {
		b->sample[call->sample].addr = result(p, call, regs);
		call->task = NULL;
		WRITE_ONCE(b->calls, b->calls - 1);
		full = ++b->samples == b->how.samples;
	}
	spin_unlock(&b->lock);
	if (full)
		where_end(b, SEEPAGE_WHERE_BY_SAMPLES);
	return 0;
}
