// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a page from outside sets its referenced bit. `watch` goes by these bits where it measures
 * whether a suspect uses its memory: after a look a leak would seem to be used, all of it. So each
 * reader marks the time at which it reads, and `watch` takes no result from that window.
 */
#include <unistd.h>
#include "cold/cold.h"
#include "where/where.h"

/*
 * Marks that the memory of @t is read from now on, for COLD_MARK_MS. Only root can; of what others
 * read, their own processes, nothing is marked.
 */
void target_mark(struct target *t)
{
	u64 now = clock_ms();
	int fd;

	if (t->mark_ms && now < t->mark_ms + COLD_MARK_MS)
		return;
	t->mark_ms = now;
	fd = cold_open();
	if (fd < 0)
		return;
	if (pwrite(fd, &now, sizeof(now), (off_t)t->pid * 8) < 0)
		t->mark_ms = 0;		/* /run is full: the next read tries again */
	close(fd);
}
