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

/* Reads up to @n entries from that of @page on. Returns how many; 0: they cannot be read. */
size_t there_read(int pagemap, u64 page, u64 *v, size_t n)
{
	ssize_t got = pagemap < 0 ? -1 : pread(pagemap, v, n * sizeof(*v),
					       (off_t)(page * sizeof(*v)));

	return got < 0 ? 0 : (size_t)got / sizeof(*v);
}

/* Is any of the pages from @lo to @hi there? Without a page map they are taken for such. */
bool there_has(int pagemap, u64 lo, u64 hi)
{
	u64 v[PAGES], page = lo / PAGE, last = (hi + PAGE - 1) / PAGE;
	size_t got, i;

	for (; page < last; page += got) {
		got = there_read(pagemap, page, v, last - page < PAGES ? last - page : PAGES);
		if (!got)
			return true;
		for (i = 0; i < got; i++)
			if (v[i] & (PAGE_PRESENT | PAGE_SWAPPED))
				return true;
	}
	return false;
}
