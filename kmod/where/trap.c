// SPDX-License-Identifier: GPL-2.0
/*
 * What a probe does when a process gets to it. Most calls ask for another size and leave at once.
 *
 * A child inherits breakpoints by fork(), whatever the filter says: a handler compares the mm and
 * asks for the removal. From v6.12 on the filter has to say false as well. Nothing here sleeps:
 * pages of the stack that are not present are left out.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "where.h"

#define FORGET_NS	(1 * NSEC_PER_SEC)	/* a call that did not return: longjmp(), exit */

/*
 * What a pending call takes off the traps that are left, which are less than half of it: a return
 * learns from the sum alone whether it has anything to do.
 */
#define PENDING_BITS	40
#define PENDING		((s64)BIT_ULL(PENDING_BITS))

/*
 * Up to v6.12 each entry has a return that traps as well, unless the kernel has no memory for it or
 * 64 calls of the task are pending. There the return counts both.
 */
#define ALL_RETURN	(!UPROBE_HANDLER_IGNORE)

#ifdef CONFIG_X86_64
#define RETURN_BYTES	sizeof(long)	/* of the stack that a return takes */
#define ARGUMENT_0(r)	((r)->di)
#define ARGUMENT_1(r)	((r)->si)
#define ARGUMENT_2(r)	((r)->dx)

/**
 * where_is_64bit() - is the code that has trapped 64-bit code?
 * @r: of the process
 *
 * Context: that of a handler.
 * Return: true if it is.
 */
bool where_is_64bit(struct pt_regs *r)
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
#define ARGUMENT_0(r)	((r)->regs[0])
#define ARGUMENT_1(r)	((r)->regs[1])
#define ARGUMENT_2(r)	((r)->regs[2])

bool where_is_64bit(struct pt_regs *r)
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

static u64 product(u64 a, u64 b)
{
	u64 bytes;

	return check_mul_overflow(a, b, &bytes) ? U64_MAX : bytes;
}

/* The size that a function of that kind is asked for */
static __always_inline u64 size_asked(u32 kind, const struct pt_regs *r)
{
	switch ((enum seepage_where_kind)kind) {
	case SEEPAGE_WHERE_ARG1:
	case SEEPAGE_WHERE_REALLOC:
		return ARGUMENT_1(r);
	case SEEPAGE_WHERE_PRODUCT:
		return product(ARGUMENT_0(r), ARGUMENT_1(r));
	case SEEPAGE_WHERE_POSIX:
		return ARGUMENT_2(r);
	case SEEPAGE_WHERE_ARG0:
	case SEEPAGE_WHERE_SITE:
	case __SEEPAGE_WHERE_KINDS:
		break;
	}
	return ARGUMENT_0(r);
}

/* How many traps are left, below 0: too many were taken; whatever is pending */
static s64 traps_left(struct where_burst *b)
{
	return sign_extend64((u64)atomic64_read(&b->left), PENDING_BITS - 1);
}

/**
 * where_traps() - how many traps a burst had
 * @b: the burst
 *
 * Context: any.
 * Return: the number.
 */
u64 where_traps(struct where_burst *b)
{
	return b->traps_max - (u64)traps_left(b);
}

/**
 * where_is_spent() - end a burst if it had all its traps
 * @b: the burst, which may have ended before
 *
 * Context: that of a handler.
 * Return: true if it had.
 */
noinline bool where_is_spent(struct where_burst *b)
{
	if (traps_left(b) >= 0)
		return false;
	where_end(b, b->limit);
	return true;
}

/**
 * where_claim() - take a place in call[] for the current task
 * @b: the burst
 * @sp: stack pointer of the call
 * @now: of CLOCK_MONOTONIC, in ns
 *
 * realloc() and others call malloc(): a call within one that is pending is the same allocation.
 *
 * Context: task context; the caller holds the lock of the burst.
 * Return: the place, or NULL if there is none.
 */
struct where_call *where_claim(struct where_burst *b, unsigned long sp, u64 now)
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
	atomic64_sub(PENDING, &b->left);
	return free;
}

/**
 * where_release() - give a place in call[] back
 * @b: the burst
 * @call: of where_claim()
 *
 * Context: task context; the caller holds the lock of the burst.
 */
void where_release(struct where_burst *b, struct where_call *call)
{
	lockdep_assert_held(&b->lock);
	call->task = NULL;
	atomic64_add(PENDING, &b->left);
}

/**
 * where_fill() - fill in registers and the top of the stack
 * @p: the probe
 * @s: the sample
 * @regs: of the process
 *
 * Context: task context of the process; does not sleep: pages that are not present are left out.
 */
void where_fill(struct where_probe *p, struct seepage_where_sample *s, struct pt_regs *regs)
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
 * where_leave() - have a breakpoint removed that is of no use in this process
 * @p: the probe: a child inherited it, or the burst has ended
 *
 * What is rare is not in the handlers: they would save all registers for it.
 *
 * Context: that of a handler.
 * Return: UPROBE_HANDLER_REMOVE.
 */
noinline int where_leave(struct where_probe *p)
{
	struct where_burst *b = p->burst;

	if (current->mm == b->mm)
		atomic64_dec(&b->left);
	else
		atomic64_inc(&b->inherited);
	return UPROBE_HANDLER_REMOVE;
}

static noinline int take(struct where_probe *p, struct pt_regs *regs)
{
	struct where_burst *b = p->burst;
	unsigned long sp = user_stack_pointer(regs);
	struct where_call *call;
	u64 now;

	if (!where_is_64bit(regs))
		return UPROBE_HANDLER_IGNORE;
	now = ktime_get_ns();
	spin_lock(&b->lock);
	call = where_claim(b, sp, now);
	if (call) {
		call->sp = sp;
		call->arg = ARGUMENT_0(regs);
		call->s.ns = now;
		call->s.size = size_asked(p->kind, regs);
	}
	spin_unlock(&b->lock);
	if (!call)
		return UPROBE_HANDLER_IGNORE;
	/* No other task changes a call of this one. */
	where_fill(p, &call->s, regs);
	return 0;
}

/* What entry() does where a call is pending, or the traps are used up */
static noinline int entry_pending(struct where_probe *p, struct pt_regs *regs)
{
	if (where_is_spent(p->burst))
		return UPROBE_HANDLER_REMOVE;
	return size_asked(p->kind, regs) - p->lo > p->span ? UPROBE_HANDLER_IGNORE : take(p, regs);
}

/*
 * Handles the first instruction of a function that allocates, of a known kind, so that the size is
 * read from a known register. The mm comes first: a child that inherited the breakpoint is to lose
 * it, whatever it asks for. Nothing else is asked of a call for another size.
 *
 * Context: task context of any process that has the breakpoint; does not sleep.
 * Return: UPROBE_HANDLER_REMOVE where the breakpoint is to go, UPROBE_HANDLER_IGNORE where the
 * return is of no interest, else 0.
 */
static __always_inline int entry(struct uprobe_consumer *c, struct pt_regs *regs, u32 kind)
{
	struct where_probe *p = container_of(c, struct where_probe, consumer);

	if (unlikely(current->mm != READ_ONCE(p->mm)))
		return where_leave(p);
	if (!ALL_RETURN && unlikely(atomic64_add_negative(-1, &p->burst->left)))
		return entry_pending(p, regs);
	if (likely(size_asked(kind, regs) - p->lo > p->span))
		return UPROBE_HANDLER_IGNORE;
	return take(p, regs);
}

static int entry_arg0(struct uprobe_consumer *c, struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	return entry(c, regs, SEEPAGE_WHERE_ARG0);
}

static int entry_arg1(struct uprobe_consumer *c, struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	return entry(c, regs, SEEPAGE_WHERE_ARG1);
}

static int entry_product(struct uprobe_consumer *c, struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	return entry(c, regs, SEEPAGE_WHERE_PRODUCT);
}

static int entry_posix(struct uprobe_consumer *c, struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	return entry(c, regs, SEEPAGE_WHERE_POSIX);
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

	where_is_spent(b);
	if (current->mm != b->mm)
		return 0;
	spin_lock(&b->lock);
	call = pending(b, user_stack_pointer(regs));
	if (call) {
		call->s.addr = result(p, call, regs);
		if (call->s.addr)
			where_keep(b, call, p->kind == SEEPAGE_WHERE_REALLOC);
		where_release(b, call);
	}
	spin_unlock(&b->lock);
	return 0;
}

/*
 * Handles the return of a function that allocates. A task sees its own pending call in what is
 * left; those of others do not matter. The mm is not compared, which would be the larger part of
 * this function. So a child that was forked in the middle of a call counts, too, and up to v6.12
 * any process in which another user of uprobes, as perf, probes the return of this function: the
 * burst has had its traps sooner then.
 *
 * Context: task context of any process that has the breakpoint; does not sleep.
 * Return: 0.
 */
static int where_return(struct uprobe_consumer *c, unsigned long func,
			struct pt_regs *regs SEEP_UPROBE_COOKIE)
{
	struct where_probe *p = container_of(c, struct where_probe, consumer);

	if (likely(!atomic64_add_negative(ALL_RETURN ? -2 : -1, &p->burst->left)))
		return 0;
	return give(p, regs);
}

/**
 * where_set_handlers() - set what a probe does
 * @p: the probe, with its kind; not registered
 *
 * Context: any.
 */
void where_set_handlers(struct where_probe *p)
{
	static int (*const entries[])(struct uprobe_consumer *c,
				      struct pt_regs *regs SEEP_UPROBE_COOKIE) = {
		[SEEPAGE_WHERE_ARG0] = entry_arg0,
		[SEEPAGE_WHERE_ARG1] = entry_arg1,
		[SEEPAGE_WHERE_PRODUCT] = entry_product,
		[SEEPAGE_WHERE_POSIX] = entry_posix,
		[SEEPAGE_WHERE_REALLOC] = entry_arg1,
		[SEEPAGE_WHERE_SITE] = where_site,
	};

	p->consumer.handler = entries[p->kind];
	p->consumer.ret_handler = p->kind == SEEPAGE_WHERE_SITE ? NULL : where_return;
}
