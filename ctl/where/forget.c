// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a page from outside marks it as used. `watch` goes by these marks where it measures
 * whether a suspect uses its memory: after a look a leak would seem to be used, all of it.
 */
#include <errno.h>
#include <unistd.h>
#include "cold/cold.h"
#include "where/where.h"

/*
 * Takes the marks back, of all pages, if somebody measures now. Use between the last measurement
 * and this look is not seen then: that of a part of one window.
 */
void target_forget(const struct target *t)
{
	int lock = cold_lock();

	if (lock >= 0)
		close(lock);
	else if (lock == -EWOULDBLOCK)
		cold_clear(t->dir);
}
