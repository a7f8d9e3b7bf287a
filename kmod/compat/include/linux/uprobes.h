/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/uprobes.h of kernels from 5.10 on: handlers, filters and registration as the sources here
 * write them.
 */
#ifndef SEEP_COMPAT_UPROBES_H
#define SEEP_COMPAT_UPROBES_H

#include <linux/err.h>
#include_next <linux/uprobes.h>

/* v6.13: a handler passes a word to the handler of the return, or asks for no return. */
#ifdef UPROBE_HANDLER_IGNORE
#define SEEP_UPROBE_COOKIE	, __u64 *cookie
#else
#define SEEP_UPROBE_COOKIE
#define UPROBE_HANDLER_IGNORE	0
#endif

/* v6.12: a filter is not told why it is asked. */
#ifdef SEEP_HAVE_UPROBE_FILTER_CTX
#define SEEP_UPROBE_CTX	enum uprobe_filter_ctx ctx,
#else
#define SEEP_UPROBE_CTX
#endif

/* v6.12: registration returns what is passed to the end of it, and the end has two steps. */
#ifdef SEEP_HAVE_UPROBE_NOSYNC
static inline int seep_uprobe_register(struct inode *inode, loff_t offset,
				       struct uprobe_consumer *c, struct uprobe **u)
{
	*u = uprobe_register(inode, offset, 0, c);
	return PTR_ERR_OR_ZERO(*u);
}

static inline void seep_uprobe_unregister(struct inode *inode, loff_t offset,
					  struct uprobe_consumer *c, struct uprobe *u)
{
	uprobe_unregister_nosync(u, c);
}

#define seep_uprobe_sync()	uprobe_unregister_sync()
#else
static inline int seep_uprobe_register(struct inode *inode, loff_t offset,
				       struct uprobe_consumer *c, struct uprobe **u)
{
	return uprobe_register(inode, offset, c);
}

static inline void seep_uprobe_unregister(struct inode *inode, loff_t offset,
					  struct uprobe_consumer *c, struct uprobe *u)
{
	uprobe_unregister(inode, offset, c);
}

#define seep_uprobe_sync()	do { } while (0)
#endif

#endif /* SEEP_COMPAT_UPROBES_H */
