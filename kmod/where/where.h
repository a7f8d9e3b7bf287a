/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module seepage_where, by defining file. It shares nothing with the module seepage.
 */
#ifndef SEEP_WHERE_H
#define SEEP_WHERE_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/uprobes.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/seepage_where.h>

#define WHERE_PENDING	32	/* calls of threads that have not returned */

struct where_burst;

/* One function of one file, or one call site */
struct where_probe {
	struct uprobe_consumer consumer;
	struct where_burst *burst;
	struct file *file;	/* holds the inode and its mount */
	struct inode *inode;
	struct uprobe *uprobe;	/* from v6.12 on */
	loff_t offset;
	/* What the handlers ask first */
	struct mm_struct *mm;	/* of the burst, compared only; NULL after the end */
	u64 lo, span;		/* sizes that are sampled are from lo to lo + span */

	u32 kind;
	u32 index;
	atomic_t traps;		/* of a call site */
	u32 done;		/* it had too many; set once with cmpxchg() */
};

/* A call between its entry and its return. Free while task is NULL */
struct where_call {
	struct task_struct *task;	/* compared only */
	unsigned long sp;		/* at entry */
	unsigned long arg;		/* where posix_memalign() puts it; what realloc() resizes */
	struct seepage_where_sample s;
};

struct where_burst {
	struct kref ref;		/* the open file, and the work while it is queued */
	struct work_struct work;
	wait_queue_head_t wait;		/* for done to be set, and for the end */
	struct mm_struct *mm;		/* of the process; mmgrab(), compared only */
	struct seepage_where_start how;
	u64 traps_max;			/* the lower one of two limits, traps and cost */
	u32 limit;			/* the reason if traps_max ends it */
	u32 probes;			/* inodes that are held */
	u32 done;			/* a reason; set once with cmpxchg(), read anywhere */
	u32 state;			/* written by the work, read by ioctl() and poll() */

	atomic64_t left;		/* of traps_max, less PENDING for each pending call */
	atomic64_t inherited;
	atomic_t sites;			/* call sites with a probe that is not done */
	spinlock_t lock;		/* all of the next lines */
	u32 matched, dropped, latest;
	u64 random;			/* state; not 0 */
	struct where_call *call;	/* WHERE_PENDING of them */
	u64 *addr;			/* of the second set, by index */
	u16 *next, *chain;		/* indices of the second set: in a chain, and its first */
	u32 chain_bits;			/* there are 2^chain_bits chains */
	struct seepage_where_sample *sample;	/* the first set, then the second */

	s32 error;			/* written by the work before the state is ENDED */
	u32 error_probe;
	u64 armed_ns, arm_ns, disarm_ns;
	struct where_probe probe[SEEPAGE_WHERE_PROBES];
};

/* trap.c: handlers; in the context of the process, which may be preempted */
void where_set_handlers(struct where_probe *p);
u64 where_traps(struct where_burst *b);
bool where_is_spent(struct where_burst *b);
bool where_is_64bit(struct pt_regs *r);
struct where_call *where_claim(struct where_burst *b, unsigned long sp, u64 now);
void where_release(struct where_burst *b, struct where_call *call);
void where_fill(struct where_probe *p, struct seepage_where_sample *s, struct pt_regs *regs);
int where_leave(struct where_probe *p);

/* site.c: the same of call sites */
int where_site(struct uprobe_consumer *c, struct pt_regs *regs SEEP_UPROBE_COOKIE);

/* sample.c: which samples are kept */
int where_sample_new(struct where_burst *b);
void where_sample_free(struct where_burst *b);
u32 where_samples(const struct where_burst *b);
void where_keep(struct where_burst *b, struct where_call *call, bool resizes);
void where_sample_pack(struct where_burst *b);

/* burst.c: the life of a burst */
int where_init(void);
void where_exit(void);
struct where_burst *where_new(void);
void where_put(struct where_burst *b);
int where_start(struct where_burst *b);
void where_end(struct where_burst *b, u32 reason);

#endif /* SEEP_WHERE_H */
