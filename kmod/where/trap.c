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

/* Up to v6.12 each entry has a return that traps as well. */
#define ENTRY_TRAPS	(UPROBE_HANDLER_IGNORE ? 1 : 2)

#ifdef CONFIG_X86_64
#define RETURN_BYTES	sizeof(long)	/* of the stack that a return takes */
/* Where the first arguments are */
#define ARGUMENTS	offsetof(struct pt_regs, di), offsetof(struct pt_regs, si), \
			offsetof(struct pt_regs, dx)

static bool is_64bit(struct pt_regs *r)
{
	return user_64bit_mode(r);
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
#define ARGUMENTS	offsetof(struct pt_regs, regs[0]), offsetof(struct pt_regs, regs[1]), \
			offsetof(struct pt_regs, regs[2])

static bool is_64bit(struct pt_regs *r)
{
	return !compat_user_mode(r);
}

static void save_regs(u64 *to, struct pt_regs *r)
{
	memcpy(to, r->regs, sizeof(r->regs));
	to[31] = r->sp;
	to[32] = r->pc;
}
#endif

static unsigned long word(const struct pt_regs *r, unsigned int at)
{
	return *(const unsigned long *)((const char *)r + at);
}

static const u16 at[] = { ARGUMENTS };

/**
 * where_arguments() - note where a function has the size that it is asked for
 * @p: a probe, with its kind
 *
 * Context: any.
 */
void where_arguments(struct where_probe *p)
{
	p->factor = 0;
	switch ((enum seepage_where_kind)p->kind) {
	case SEEPAGE_WHERE_ARG1:
	case SEEPAGE_WHERE_REALLOC:
		p->size = at[1];
		break;
	case SEEPAGE_WHERE_PRODUCT:
		p->size = at[0];
		p->factor = at[1];
		break;
	case SEEPAGE_WHERE_POSIX:
		p->size = at[2];
		break;
	case SEEPAGE_WHERE_ARG0:
	case __SEEPAGE_WHERE_KINDS:
		p->size = at[0];
		break;
	}
}

static u64 product(u64 a, u64 b)
{
	u64 bytes;

	return check_mul_overflow(a, b, &bytes) ? U64_MAX : bytes;
}

/*
 * Takes a place in call[]. realloc() and others call malloc(): a call within one that is pending
 * is the same allocation. Returns NULL if there is none.
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
			if (sp < c->sp && now - c->s.ns < FORGET_NS)
				return NULL;
			return c;	/* it was left without a return */
		}
	}
	if (!free) {
		b->dropped++;
		return NULL;
	}
	free->task = current;
	WRITE_ONCE(b->calls, b->calls + 1);
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

/* What is rare is not in the handlers: they would save all registers for it. */
static noinline int leave_child(struct where_burst *b)
{
	atomic64_inc(&b->inherited);
	return UPROBE_HANDLER_REMOVE;
}

static noinline int leave_ended(struct where_burst *b)
{
	where_end(b, b->limit);
	return UPROBE_HANDLER_REMOVE;
}

static noinline int take(struct where_probe *p, struct pt_regs *regs, u64 size)
{
	struct where_burst *b = p->burst;
	unsigned long sp = user_stack_pointer(regs);
	struct where_call *call;
	u64 now;

	if (!is_64bit(regs))
		return UPROBE_HANDLER_IGNORE;
	now = ktime_get_ns();
	spin_lock(&b->lock);
	call = claim(b, sp, now);
	if (call) {
		call->sp = sp;
		call->arg = word(regs, at[0]);
		call->s.ns = now;
		call->s.size = size;
	}
	spin_unlock(&b->lock);
	if (!call)
		return UPROBE_HANDLER_IGNORE;
	/* No other task changes a call of this one. */
	fill(p, &call->s, regs);
	return 0;
}

/*
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
	u64 size;

	if (unlikely(current->mm != b->mm))
		return leave_child(b);
	/* No trap is allowed after the end: where_end() sets traps_max to 0. */
	if (unlikely((u64)atomic64_add_return(ENTRY_TRAPS, &b->traps) > READ_ONCE(b->traps_max)))
		return leave_ended(b);
	size = word(regs, p->size);
	if (p->factor)
		size = product(size, word(regs, p->factor));
	if (likely(size - b->how.lo > b->span))
		return UPROBE_HANDLER_IGNORE;
	return take(p, regs, size);
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
	    copy_from_user_nofault(&addr, (void __user *)call->arg, sizeof(addr)))
		return 0;
	return addr;
}

static noinline int give(struct where_probe *p, struct pt_regs *regs)
{
	struct where_burst *b = p->burst;
	struct where_call *call;

	if (current->mm != b->mm)
		return 0;
	atomic64_add(2 - ENTRY_TRAPS, &b->traps);
	spin_lock(&b->lock);
	call = pending(b, user_stack_pointer(regs));
	if (call) {
		call->s.addr = result(p, call, regs);
		if (call->s.addr)
			where_keep(b, call, p->kind == SEEPAGE_WHERE_REALLOC);
		call->task = NULL;
		WRITE_ONCE(b->calls, b->calls - 1);
	}
	spin_unlock(&b->lock);
	return 0;
}

/*
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

	/* A task sees its own call in calls; those of others do not matter. */
	return likely(!READ_ONCE(p->burst->calls)) ? 0 : give(p, regs);
}
