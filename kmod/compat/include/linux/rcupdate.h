/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SEEP_COMPAT_LINUX_RCUPDATE_H
#define SEEP_COMPAT_LINUX_RCUPDATE_H

#include_next <linux/rcupdate.h>

#ifndef rcu_replace_pointer	/* since a63fc6b75cca (v5.5, later 5.4.y) */
#define rcu_replace_pointer(rcu_ptr, ptr, c)				\
({									\
	typeof(ptr) __old = rcu_dereference_protected(rcu_ptr, c);	\
									\
	rcu_assign_pointer(rcu_ptr, ptr);				\
	__old;								\
})
#endif

#endif
