// SPDX-License-Identifier: GPL-2.0
/*
 * The device of seepage_where; include/uapi/linux/seepage_where.h is its manual.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "where.h"

static DEFINE_MUTEX(start_lock);	/* two threads may start a burst of one file */

static u32 where_state(const struct where_burst *b)
{
	/* Pairs with smp_store_release() in set_state(). */
	return smp_load_acquire(&b->state);
}

static int device_open(struct inode *inode, struct file *f)
{
	struct where_burst *b = where_new();

	if (!b)
		return -ENOMEM;
	f->private_data = b;
	return 0;
}

static int device_release(struct inode *inode, struct file *f)
{
	struct where_burst *b = f->private_data;

	where_end(b, SEEPAGE_WHERE_BY_CALLER);
	where_put(b);
	return 0;
}

/* Stacks of a process are what perf and ptrace show, each with its right. */
static int may_start(void)
{
	if (!perfmon_capable() || !capable(CAP_SYS_PTRACE))
		return -EPERM;
	return security_locked_down(LOCKDOWN_KPROBES);
}

static int start(struct where_burst *b, const void __user *arg)
{
	struct seepage_where_start how;
	int err = may_start();

	if (err)
		return err;
	if (copy_from_user(&how, arg, sizeof(how)))
		return -EFAULT;
	mutex_lock(&start_lock);
	err = -EBUSY;
	if (where_state(b) == SEEPAGE_WHERE_NEW && !READ_ONCE(b->done)) {
		b->how = how;
		err = where_start(b);
	}
	mutex_unlock(&start_lock);
	return err;
}

static int status(struct where_burst *b, void __user *arg)
{
	struct seepage_where_status s = {
		.state = where_state(b),
		.reason = READ_ONCE(b->done),
		.traps = where_traps(b),
		.inherited = atomic64_read(&b->inherited),
	};

	spin_lock(&b->lock);
	s.samples = where_samples(b);
	s.matched = b->matched;
	s.dropped = b->dropped;
	spin_unlock(&b->lock);
	if (s.state == SEEPAGE_WHERE_ENDED) {
		s.error = b->error;
		s.error_probe = b->error_probe;
		s.armed_ns = b->armed_ns;
		s.arm_ns = b->arm_ns;
		s.disarm_ns = b->disarm_ns;
	}
	return copy_to_user(arg, &s, sizeof(s)) ? -EFAULT : 0;
}

static int sites(struct where_burst *b, void __user *arg)
{
	struct seepage_where_sites s;
	u32 i;

	for (i = 0; i < SEEPAGE_WHERE_PROBES; i++)
		s.traps[i] = atomic_read(&b->probe[i].traps);
	return copy_to_user(arg, &s, sizeof(s)) ? -EFAULT : 0;
}

static long device_ioctl(struct file *f, unsigned int cmd, unsigned long arg)
{
	struct where_burst *b = f->private_data;

	switch (cmd) {
	case SEEPAGE_WHERE_START:
		return start(b, (const void __user *)arg);
	case SEEPAGE_WHERE_STOP:
		where_end(b, SEEPAGE_WHERE_BY_CALLER);
		return 0;
	case SEEPAGE_WHERE_STATUS:
		return status(b, (void __user *)arg);
	case SEEPAGE_WHERE_SITES:
		return sites(b, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static ssize_t device_read(struct file *f, char __user *buf, size_t n, loff_t *at)
{
	struct where_burst *b = f->private_data;
	u32 state = where_state(b);
	int err;

	if (state == SEEPAGE_WHERE_NEW)
		return -EINVAL;
	if (state != SEEPAGE_WHERE_ENDED && (f->f_flags & O_NONBLOCK))
		return -EAGAIN;
	err = wait_event_interruptible(b->wait, where_state(b) == SEEPAGE_WHERE_ENDED);
	if (err)
		return err;
	/* The burst has ended: no handler runs, and nothing below changes. */
	return simple_read_from_buffer(buf, n, at, b->sample,
				       (size_t)where_samples(b) * sizeof(*b->sample));
}

static __poll_t device_poll(struct file *f, struct poll_table_struct *table)
{
	struct where_burst *b = f->private_data;

	poll_wait(f, &b->wait, table);
	return where_state(b) == SEEPAGE_WHERE_ENDED ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = device_read,
	.poll = device_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = SEEPAGE_WHERE_DEVICE,
	.fops = &operations,
	.mode = 0600,
};

static int __init device_init(void)
{
	int err = where_init();

	if (err)
		return err;
	err = misc_register(&device);
	if (err)
		where_exit();
	return err;
}

static void __exit device_exit(void)
{
	misc_deregister(&device);
	where_exit();
}

module_init(device_init);
module_exit(device_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Bursts of allocation samples of one process, for seepage where");
MODULE_AUTHOR("The seepage maintainers");
MODULE_VERSION(SEEP_VERSION);
