// SPDX-License-Identifier: GPL-2.0
/*
 * Is memory of the process there, in pages that are present or swapped out? To read what was never
 * used gives the process page tables, and pages of zeros, that it did not ask for.
 */
#include <fcntl.h>
#include <unistd.h>
#include "where/where.h"

#define PAGE	4096U
#define PAGES	512U		/* of which the page map is read at once */

/* Opens the page map, -1: that is not possible */
int there_open(const struct target *t)
{
	return openat(t->dir, "pagemap", O_RDONLY | O_CLOEXEC);
}

/* Is any of the pages from @lo to @hi there? Without a page map they are taken for such. */
bool there_has(int pagemap, u64 lo, u64 hi)
{
	u64 v[PAGES], page = lo / PAGE, last = (hi + PAGE - 1) / PAGE, n;
	ssize_t got, i;

	for (; page < last; page += (u64)got) {
		n = last - page < PAGES ? last - page : PAGES;
		got = pagemap < 0 ? -1 : pread(pagemap, v, n * sizeof(*v), (off_t)(page * 8)) / 8;
		if (got < 1)
			return true;
		for (i = 0; i < got; i++)
			if (v[i] & (PAGE_PRESENT | PAGE_SWAPPED))
				return true;
	}
	return false;
}
