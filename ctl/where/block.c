// SPDX-License-Identifier: GPL-2.0
/*
 * Is a block still in use, and the same one? The chunk of malloc(), or the pool of pymalloc, tells,
 * from outside.
 */
#include <string.h>
#include "where/burst.h"

#define HEAD		16U
#define FIND_MAPS	(1U << 21)	/* mappings that are looked at for moved blocks, in all */
#define LEAST_ADDRESS	0x10000ULL
#define MOST_ADDRESS	0x7fffffffffffULL	/* of user space, with tables of four levels */

/*
 * Is the chunk one of the block's size, and is it in use? @head: out, size and marks of the chunk.
 * The lowest bit is about the chunk in front, and left out.
 */
static bool in_use(struct target *t, u64 addr, u64 size, u64 *head)
{
	u64 next, chunk;

	if (addr < HEAD || !target_read(t, addr - 8, head, sizeof(*head)))
		return false;
	*head &= ~1ULL;
	chunk = *head & ~7ULL;
	if (*head & 2)		/* a mapping of its own */
		return true;
	if (chunk < size + 8 || chunk > size + 8 + 2 * HEAD ||
	    !target_read(t, addr - HEAD + chunk + 8, &next, sizeof(next)))
		return false;
	return next & 1;
}

static bool is_cached(const struct bins *bins, const unsigned char *data, unsigned int bytes)
{
	u64 word;

	if (bytes < 16)
		return false;
	memcpy(&word, data + 8, sizeof(word));
	return bins_is_key(bins, word);
}

/* Reads what a block of @size bytes holds, up to BLOCK_KEEP of them. */
static bool read_data(struct target *t, u64 addr, u64 size, struct early *now)
{
	now->bytes = (unsigned int)(size < BLOCK_KEEP ? size : BLOCK_KEEP);
	return !now->bytes || target_read(t, addr, now->data, now->bytes);
}

/*
 * Does mallocng of musl say that the block is free? In front of it free() writes 0 to the offset of
 * its group, and 255 to the byte that has the number of its slot.
 */
static bool is_free_of_musl(struct target *t, u64 addr)
{
	unsigned char b[3];

	return addr >= HEAD && target_read(t, addr - 3, b, sizeof(b)) && b[0] == 255 && !b[1] &&
	       !b[2];
}

/**
 * block_read() - look at a block
 * @t: the process
 * @bins: keys of free blocks
 * @addr: of the block
 * @size: that was asked for
 * @head: out, of its chunk
 * @now: out, what it holds
 *
 * Return: false if it was freed.
 */
bool block_read(struct target *t, const struct bins *bins, u64 addr, u64 size, u64 *head,
		struct early *now)
{
	if (bins->pool_block) {
		*head = 0;
		return pool_is_used(t, addr, bins->pool_block) && read_data(t, addr, size, now);
	}
	if (bins->mallocng) {
		*head = 0;
		return mallocng_is_used(t, bins, addr) && read_data(t, addr, size, now);
	}
	if (bins->rule != BLOCK_CHUNK) {
		*head = 0;
		return !(bins->rule == BLOCK_MUSL && is_free_of_musl(t, addr)) &&
		       !(bins->rule == BLOCK_BITMAP &&
			 !jemalloc_is_used(t, &bins->je, addr, size)) &&
		       read_data(t, addr, size, now);
	}
	return in_use(t, addr, size, head) && read_data(t, addr, size, now) &&
	       !is_cached(bins, now->data, now->bytes);
}

/*
 * Has the allocator put the block into a list of free ones since it was read as @before? Such a
 * list goes through the first words of its blocks. The end of a list is not seen: it is 0, which
 * programs write as well.
 */
bool block_is_linked(const struct bins *bins, const struct early *before, const struct early *now)
{
	u64 was, is;

	if (bins->rule != BLOCK_LINKED || bins->pool_block || before->bytes < sizeof(was) ||
	    now->bytes < sizeof(is))
		return false;
	memcpy(&was, before->data, sizeof(was));
	memcpy(&is, now->data, sizeof(is));
	return is != was && !(is & 7) && is >= LEAST_ADDRESS && is <= MOST_ADDRESS;
}

/*
 * Does the block hold most of what it did soon after it was sampled? Zeros do not count: they
 * may have been filled in.
 */
bool block_is_same(const struct early *e, const struct early *now)
{
	unsigned int i, same = 0, all = 0;

	for (i = 0; i < e->bytes && i < now->bytes; i++) {
		all += e->data[i] != 0;
		same += e->data[i] && now->data[i] == e->data[i];
	}
	return 2 * same >= all;
}

struct search {
	struct target *t;
	const struct early *early;
	u64 size, found;
	unsigned int n;		/* blocks that may be it */
};

static void try_moved(void *arg, u64 addr, u64 size)
{
	struct search *s = arg;
	struct early now;

	if (size < s->size || !read_data(s->t, addr, s->early->bytes, &now) ||
	    memcmp(now.data, s->early->data, now.bytes))
		return;
	s->found = addr;
	s->n++;
}

/* Most blocks may begin with zeros. */
static bool is_telling(const struct early *e)
{
	unsigned int i, some = 0;

	for (i = 0; i < e->bytes; i++)
		some += e->data[i] != 0;
	return 4 * some >= e->bytes;
}

/**
 * block_find() - find a large block that realloc() moved, by what it begins with
 * @t: the process, its mappings up to date
 * @size: of the block; it may be larger by now
 * @e: what it held
 *
 * Return: its address; 0: there is none, or there are several and it begins with zeros, or too many
 * mappings have been looked at before.
 */
u64 block_find(struct target *t, u64 size, const struct early *e)
{
	struct search s = { .t = t, .early = e, .size = size };

	if (e->bytes && t->searched + t->maps <= FIND_MAPS) {
		t->searched += t->maps;
		mmapped_find(t, NULL, try_moved, &s);
	}
	return s.n == 1 || is_telling(e) ? s.found : 0;
}
