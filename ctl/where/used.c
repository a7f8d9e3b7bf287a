// SPDX-License-Identifier: GPL-2.0
/*
 * Reads memory that was used. To read what never was used gives the process pages that it did not
 * ask for. Where another program provides them, such as the source of a virtual machine that is
 * moved or a server of lazy pages, the read also waits for that one, and the process gets what it
 * has no need of yet. So the page map is asked first, which waits for nobody.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "where/where.h"

#define PAGE		4096U
#define PAGES		512U		/* of which the kernel walks the map at once */
#define SLOTS		256U
#define NONE		UINT64_MAX

/*
 * Pages that were there when the map was read: of each of up to SLOTS ranges one bit for each page.
 * Those that were not are asked for anew each time, as the process may have used them since.
 */
struct used {
	int pagemap;
	u64 denied;			/* the last page, if it was not there; else NONE */
	struct used_slot {
		u64 range;		/* number of its first page / PAGES; 0: empty */
		u64 bits[PAGES / 64];
	} slot[SLOTS];
};

static struct used *used_of(struct target *t)
{
	if (!t->used) {
		t->used = must(calloc(1, sizeof(*t->used)));
		t->used->pagemap = there_open(t);
		t->used->denied = NONE;
	}
	return t->used;
}

/* Reads the map of the pages from @page on to the end of its range. Returns false if it cannot. */
static bool ask(struct used *u, struct used_slot *s, u64 page)
{
	u64 v[PAGES];
	size_t got = there_read(u->pagemap, page, v, PAGES - page % PAGES), i;

	if (s->range != page / PAGES)
		*s = (struct used_slot){ .range = page / PAGES };
	for (i = 0; i < got; i++)
		if (v[i] & (PAGE_PRESENT | PAGE_SWAPPED))
			s->bits[(page + i) % PAGES / 64] |= 1ULL << (page + i) % 64;
	return got > 0;
}

/*
 * Is the page there? One of which that is not known is taken for such: a read tells. Where one
 * after another is not, the map is not asked for each of them.
 */
static bool is_there(struct used *u, u64 page)
{
	struct used_slot *s = &u->slot[page / PAGES % SLOTS];
	const u64 *bits = &s->bits[page % PAGES / 64];
	bool follows = page % PAGES && page - 1 == u->denied;
	u64 bit = 1ULL << page % 64;

	u->denied = NONE;
	if (s->range == page / PAGES && *bits & bit)
		return true;
	if ((!follows && !ask(u, s, page)) || *bits & bit)
		return true;
	u->denied = page;
	return false;
}

/**
 * used_read() - read memory as target_read() does, but of pages that are there only
 * @t: the process
 * @addr: of the memory
 * @buf: out; zeros of pages that were never used, or are not mapped
 * @n: bytes
 *
 * Return: false, with errno in @t->err, if pages that are there could not be read.
 */
bool used_read(struct target *t, u64 addr, void *buf, size_t n)
{
	struct used *u = used_of(t);
	unsigned char *to = buf;
	u64 end = addr + n, at;
	bool there;

	if (!n || end < addr || target_over(t))
		return target_read(t, addr, buf, n);
	u->denied = NONE;
	for (; addr < end; to += at - addr, addr = at) {
		there = is_there(u, addr / PAGE);
		at = (addr / PAGE + 1) * PAGE;
		while (at && at < end && is_there(u, at / PAGE) == there)
			at += PAGE;
		at = at && at < end ? at : end;
		if (!there)
			memset(to, 0, at - addr);
		else if (!target_read(t, addr, to, at - addr))
			return false;
	}
	return true;
}

/* Is any of the page of @addr there? */
bool used_has(struct target *t, u64 addr)
{
	return is_there(used_of(t), addr / PAGE);
}

void used_free(struct target *t)
{
	if (t->used && t->used->pagemap >= 0)
		close(t->used->pagemap);
	free(t->used);
	t->used = NULL;
}
