// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a burst: probes are placed, the burst waits for its end, and they are removed. All
 * of that is one work item, because registration waits for forks of the whole machine and takes
 * the mmap_lock of each process that maps the file.
 *
 * NEW -> ARMING -> ARMED -> DISARMING -> ENDED. Whatever ends a burst sets done, once; the work
 * sees it and goes on. The filter says false from then on, so that no mapping gets a breakpoint.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#ifdef SEEP_HAVE_TIMENS_BOOTTIME_NS
#include <linux/time_namespace.h>
#endif
#include "where.h"

/* magic.h has it since v5.11. Source: fs/fuse/inode.c of v5.10. */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC	0x65735546
#endif

#define LOOK_MS	20	/* between two looks at the time and at the process */

static struct workqueue_struct *queue;
static DEFINE_MUTEX(active_lock);
static struct where_burst *active;	/* under active_lock */

static bool filter(struct uprobe_consumer *c, SEEP_UPROBE_CTX struct mm_struct *mm)
{
	struct where_probe *p = container_of(c, struct where_probe, consumer);

	return mm == p->burst->mm && !READ_ONCE(p->burst->done) && !READ_ONCE(p->done);
}

/**
 * where_end() - end a burst
 * @b: the burst; ended already, or not begun, is allowed
 * @reason: why; the first one counts
 *
 * Context: task context, also within a handler; does not sleep.
 */
void where_end(struct where_burst *b, u32 reason)
{
	unsigned int i;

	/* Pairs with the condition of wait_event_idle_timeout() in stay_armed(). */
	if (cmpxchg(&b->done, SEEPAGE_WHERE_RUNNING, reason))
		return;
	/* Each call from now on has its breakpoint removed: see where_leave(). */
	for (i = 0; i < SEEPAGE_WHERE_PROBES; i++)
		WRITE_ONCE(b->probe[i].mm, NULL);
	wake_up(&b->wait);
}

static void drop_target(struct where_burst *b)
{
	while (b->probes)
		fput(b->probe[--b->probes].file);
	if (b->mm)
		mmdrop(b->mm);
	b->mm = NULL;
}

static void release(struct kref *ref)
{
	struct where_burst *b = container_of(ref, struct where_burst, ref);

	drop_target(b);
	where_sample_free(b);
	kfree(b);
}

/**
 * where_put() - drop a reference to a burst
 * @b: the burst
 *
 * Context: may sleep.
 */
void where_put(struct where_burst *b)
{
	kref_put(&b->ref, release);
}

/* Returns how many probes were placed. */
static u32 arm(struct where_burst *b)
{
	u32 n;

	for (n = 0; n < b->how.probes && !READ_ONCE(b->done); n++) {
		struct where_probe *p = &b->probe[n];
		int err = seep_uprobe_register(p->inode, p->offset, &p->consumer, &p->uprobe);

		if (err) {
			b->error = -err;
			b->error_probe = n;
			where_end(b, SEEPAGE_WHERE_BY_ERROR);
			break;
		}
	}
	return n;
}

static void disarm(struct where_burst *b, u32 n)
{
	while (n--) {
		struct where_probe *p = &b->probe[n];

		seep_uprobe_unregister(p->inode, p->offset, &p->consumer, p->uprobe);
	}
	seep_uprobe_sync();
}

static void stay_armed(struct where_burst *b)
{
	unsigned long end = jiffies + msecs_to_jiffies(b->how.ms);

	/* The mm of a process that ended, or executes another program, has no users. */
	while (!READ_ONCE(b->done)) {
		if (!atomic_read(&b->mm->mm_users))
			where_end(b, SEEPAGE_WHERE_BY_EXIT);
		else if (time_after_eq(jiffies, end))
			where_end(b, SEEPAGE_WHERE_BY_TIME);
		wait_event_idle_timeout(b->wait, READ_ONCE(b->done), msecs_to_jiffies(LOOK_MS));
	}
}

static void set_state(struct where_burst *b, u32 state)
{
	/* Pairs with smp_load_acquire() in where_state(): the results are complete. */
	smp_store_release(&b->state, state);
	wake_up(&b->wait);
}

static void run(struct work_struct *work)
{
	struct where_burst *b = container_of(work, struct where_burst, work);
	u64 start = ktime_get_ns(), armed;
	u32 n;

	set_state(b, SEEPAGE_WHERE_ARMING);
	n = arm(b);
	armed = ktime_get_ns();
	b->arm_ns = armed - start;
	set_state(b, SEEPAGE_WHERE_ARMED);
	stay_armed(b);
	set_state(b, SEEPAGE_WHERE_DISARMING);
	start = ktime_get_ns();
	b->armed_ns = start - armed;
	disarm(b, n);
	where_sample_pack(b);
	b->disarm_ns = ktime_get_ns() - start;
	drop_target(b);
	mutex_lock(&active_lock);
	active = NULL;
	mutex_unlock(&active_lock);
	set_state(b, SEEPAGE_WHERE_ENDED);
	where_put(b);
}

/**
 * where_new() - allocate a burst for an open file
 *
 * Context: may sleep.
 * Return: a burst with one reference, or NULL.
 */
struct where_burst *where_new(void)
{
	struct where_burst *b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);

	if (!b)
		return NULL;
	kref_init(&b->ref);
	INIT_WORK(&b->work, run);
	init_waitqueue_head(&b->wait);
	spin_lock_init(&b->lock);
	return b;
}

/*
 * From v6.11 on the return of a probed function on x86-64 is a system call, which filters of
 * seccomp refuse until v6.12.14, v6.13.3 and v6.14: the process is killed.
 */
static bool is_killed_by_returns(struct task_struct *p)
{
	bool filtered = false;

#ifdef SEEP_RETURNS_ARE_FILTERED
	struct task_struct *t;

	rcu_read_lock();
	for_each_thread(p, t)
		filtered = filtered || READ_ONCE(t->seccomp.mode);
	rcu_read_unlock();
#endif
	return filtered;
}

/*
 * Start of a process as /proc/PID/stat has it for the current process. Since v5.11 that has the
 * offset of the reader's time namespace; Kbuild looks for the helper that came with it.
 */
static u64 start_ticks(const struct task_struct *task)
{
	u64 ns = task->start_boottime;

#ifdef SEEP_HAVE_TIMENS_BOOTTIME_NS
	ns = timens_add_boottime_ns(ns);
#endif
	return div_u64(ns, NSEC_PER_SEC / USER_HZ);
}

static int find_target(struct where_burst *b)
{
	struct pid *pid = find_get_pid(b->how.pid);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	int err;

	put_pid(pid);
	if (!task)
		return -ESRCH;
	/* READ_ONCE() pairs with plain stores by the task itself */
	if (start_ticks(task) == b->how.start_ticks && !(READ_ONCE(task->flags) & PF_KTHREAD)) {
		struct mm_struct *mm = get_task_mm(task);

		if (mm) {
			mmgrab(mm);
			mmput(mm);
		}
		b->mm = mm;
	}
	err = !b->mm ? -ESRCH : is_killed_by_returns(task) ? -EOPNOTSUPP : 0;
	put_task_struct(task);
	return err;
}

/*
 * Take the inode that is mapped; of a file in an overlay, that is the one below. Registration
 * reads the file while all forks of the machine wait. So a file system that an unprivileged user
 * may delay is refused: FUSE, and all that was mounted in a user namespace.
 */
static int take_file(struct where_probe *p, int fd)
{
	struct super_block *sb;

	p->file = fget(fd);
	if (!p->file)
		return -EBADF;
	p->burst->probes++;	/* to be dropped from here on */
	p->inode = d_real_inode(p->file->f_path.dentry);
	sb = p->inode->i_sb;
	if (sb->s_magic == FUSE_SUPER_MAGIC || sb->s_user_ns != &init_user_ns)
		return -EOPNOTSUPP;
	return S_ISREG(p->inode->i_mode) ? 0 : -EBADF;
}

static int find_files(struct where_burst *b)
{
	int err;
	u32 i;

	for (i = 0; i < b->how.probes; i++) {
		struct where_probe *p = &b->probe[i];

		p->burst = b;
		err = take_file(p, b->how.probe[i].fd);
		if (err)
			return err;
		p->offset = b->how.probe[i].offset;
		p->kind = b->how.probe[i].kind;
		p->index = i;
		p->mm = b->mm;
		p->lo = b->how.lo;
		p->span = b->how.hi - b->how.lo;
		p->done = 0;
		atomic_set(&p->traps, 0);
		p->consumer.filter = filter;
		where_set_handlers(p);
	}
	atomic_set(&b->sites, b->how.probes);
	return 0;
}

/* Call sites and functions are not together: a call of a function may be pending at its site. */
static bool is_kind_allowed(const struct seepage_where_start *h, u32 i)
{
	bool site = h->probe[0].kind == SEEPAGE_WHERE_SITE;

	return h->probe[i].kind < __SEEPAGE_WHERE_KINDS &&
	       (h->probe[i].kind == SEEPAGE_WHERE_SITE) == site && (site || !h->probe_traps);
}

static bool is_allowed(const struct seepage_where_start *h)
{
	u32 i;

	if (!h->probes || h->probes > SEEPAGE_WHERE_PROBES || h->lo > h->hi || h->pid <= 0 ||
	    !h->samples || h->samples > SEEPAGE_WHERE_SAMPLES || !h->ms ||
	    h->latest > SEEPAGE_WHERE_SAMPLES || h->ms > SEEPAGE_WHERE_MS || !h->traps ||
	    h->traps > SEEPAGE_WHERE_TRAPS || h->cost_permille > 1000 ||
	    (h->cost_permille && !h->trap_ns))
		return false;
	for (i = 0; i < h->probes; i++)
		if (!is_kind_allowed(h, i) || h->probe[i].offset > S64_MAX)
			return false;
	return true;
}

static void set_limits(struct where_burst *b)
{
	u64 ns = (u64)b->how.ms * b->how.cost_permille * (NSEC_PER_MSEC / 1000);

	b->limit = SEEPAGE_WHERE_BY_TRAPS;
	b->traps_max = b->how.traps;
	if (b->how.cost_permille && div_u64(ns, b->how.trap_ns) < b->how.traps) {
		b->limit = SEEPAGE_WHERE_BY_COST;
		b->traps_max = div_u64(ns, b->how.trap_ns);
	}
	atomic64_set(&b->left, (s64)b->traps_max);
}

/**
 * where_start() - begin a burst
 * @b: a new one, with how filled in; the caller lets no other start it
 *
 * Context: may sleep; current is the process that asks.
 * Return: 0, or -EINVAL, -ESRCH, -EBADF, -EOPNOTSUPP, -ENOMEM, -EBUSY. A burst that did not
 * begin may be started again.
 */
int where_start(struct where_burst *b)
{
	int err = is_allowed(&b->how) ? 0 : -EINVAL;

	if (!err)
		err = find_target(b);
	if (!err)
		err = find_files(b);
	if (!err) {
		set_limits(b);
		err = where_sample_new(b);
	}
	mutex_lock(&active_lock);
	if (!err && active)
		err = -EBUSY;
	if (!err) {
		active = b;
		kref_get(&b->ref);
		b->state = SEEPAGE_WHERE_ARMING;
		queue_work(queue, &b->work);
	}
	mutex_unlock(&active_lock);
	if (err) {
		drop_target(b);
		where_sample_free(b);
	}
	return err;
}

/**
 * where_init() - prepare for bursts
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int where_init(void)
{
	queue = alloc_workqueue("seepage_where", WQ_UNBOUND, 1);
	return queue ? 0 : -ENOMEM;
}

/**
 * where_exit() - wait for the end of the last burst
 *
 * The device is gone: every file is closed, and to close it ended its burst.
 *
 * Context: may sleep.
 */
void where_exit(void)
{
	destroy_workqueue(queue);
}
