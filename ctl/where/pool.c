// SPDX-License-Identifier: GPL-2.0
/*
 * pymalloc keeps blocks of up to 512 bytes in pools of 16 KiB (4 KiB before python 3.10), at
 * multiples of their size in anonymous mappings. A pool has a head of 48 bytes:
 *
 *	+0	number of blocks in use (4 bytes)
 *	+8	first free block; each free block begins with the address of the next one
 *	+16	next pool, +24 previous pool
 *	+32	arena (4 bytes), +36 size class (4 bytes)
 *	+40	offset of the first block that was never used, +44 largest such offset
 *
 * Blocks below that offset that are not in the list of free ones are in use. The head and
 * the list have to agree about their number, or the pool counts as none.
 */
#include <string.h>
#include <unistd.h>
#include "where/where.h"

#define HEAD		48U
#define POOL		POOL_BYTES
#define BLOCKS_MAX	(POOL / 16)

struct pool_head {
	u32 count, pad;
	u64 free, next, prev;
	u32 arena, size_class, offset, offset_max;
};

static bool is_pool(const struct pool_head *h, u64 addr, u64 pool)
{
	u32 size = (h->size_class + 1) * 16;

	return h->size_class < CLASS_POOLS && h->count && h->offset_max == pool - size &&
	       h->offset >= HEAD && h->offset <= pool && (h->offset - HEAD) % size == 0 &&
	       h->count <= (pool - HEAD) / size && h->next && h->prev &&
	       (!h->free || (h->free > addr && h->free < addr + pool));
}

/* Marks the free blocks of a pool; returns their number, or -1 if the list is not sound. */
static int mark_free(const unsigned char *data, u64 addr, u64 pool, u32 size, bool *is_free)
{
	struct pool_head h;
	u64 at, off;
	int n = 0;

	memcpy(&h, data, sizeof(h));
	for (at = h.free; at; n++) {
		off = at - addr;
		if (at < addr || off < HEAD || off + size > pool || (off - HEAD) % size)
			return -1;
		/* the end of a chain in a pool that was never full */
		if (off >= h.offset || is_free[(off - HEAD) / size])
			return off >= h.offset ? n : -1;
		is_free[(off - HEAD) / size] = true;
		memcpy(&at, data + off, sizeof(at));
	}
	return n;
}

static void count_pool(struct look *l, const unsigned char *data, u64 addr, u64 pool)
{
	bool is_free[BLOCKS_MAX] = { false };
	struct pool_head h;
	u32 size, n, i;
	int unused;

	memcpy(&h, data, sizeof(h));
	size = (h.size_class + 1) * 16;
	unused = mark_free(data, addr, pool, size, is_free);
	n = (h.offset - HEAD) / size;
	if (n > (pool - HEAD) / size)
		n = (u32)((pool - HEAD) / size);
	if (unused < 0 || n - (u32)unused != h.count)
		return;
	for (i = 0; i < n; i++)
		if (!is_free[i])
			look_add(l, class_of_pool(size), addr + HEAD + (u64)i * size, size);
	l->pools++;
	l->pool_bytes += pool;
	l->walked_bytes += pool;
	l->chunks += h.count;
}

/*
 * Returns the size of the pool at @addr, or 0 if there is none. Pools are of POOL bytes, or
 * of 4 KiB in older versions of python: both sizes are tried.
 */
static u64 pool_size(const unsigned char *data, u64 addr, u64 left)
{
	struct pool_head h;

	memcpy(&h, data, sizeof(h));
	if (left >= POOL && !(addr & (POOL - 1)) && is_pool(&h, addr, POOL))
		return POOL;
	return is_pool(&h, addr, 4 * KIB) ? 4 * KIB : 0;
}

static void mapping(struct target *t, struct look *l, const struct where_map *m, int pagemap)
{
	static unsigned char data[64 * KIB] __attribute__((aligned(16)));
	u64 lo, off, pool, n;

	for (lo = (m->lo + POOL - 1) & ~(POOL - 1); lo >= m->lo && lo < m->hi; lo += n) {
		n = m->hi - lo < sizeof(data) ? m->hi - lo : sizeof(data);
		if (!there_has(pagemap, lo, lo + n) || !target_read(t, lo, data, n))
			continue;
		for (off = 0; off + 4 * KIB <= n; off += pool ? pool : 4 * KIB) {
			pool = pool_size(data + off, lo + off, n - off);
			if (pool)
				count_pool(l, data + off, lo + off, pool);
		}
	}
}

/* Is the block in use, as far as the pool tells? A list that is not sound may change just now. */
static bool is_used(const unsigned char *data, u64 base, u64 pool, u64 addr, u64 size)
{
	bool is_free[BLOCKS_MAX] = { false };
	struct pool_head h;
	u64 off = addr - base - HEAD;

	memcpy(&h, data, sizeof(h));
	if (!is_pool(&h, base, pool) || (h.size_class + 1) * 16 != size || addr < base + HEAD ||
	    off % size || off + size + HEAD > pool || off + HEAD >= h.offset)
		return false;
	return mark_free(data, base, pool, (u32)size, is_free) < 0 || !is_free[off / size];
}

/**
 * pool_is_used() - is a block of pymalloc in use?
 * @t: the process
 * @addr: of the block
 * @size: of its class
 *
 * Return: false as well if there is no pool of that class.
 */
bool pool_is_used(struct target *t, u64 addr, u64 size)
{
	static const u64 sizes[] = { POOL, 4 * KIB };
	static unsigned char data[POOL] __attribute__((aligned(16)));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u64 base = addr & ~(sizes[i] - 1);

		if (target_read(t, base, data, sizes[i]) &&
		    is_used(data, base, sizes[i], addr, size))
			return true;
	}
	return false;
}

/* Is the program, or a library of it, python? */
static bool is_python(const struct target *t)
{
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (t->map[i].file && t->map[i].exec && strstr(t->map[i].file, "python"))
			return true;
	return false;
}

/**
 * pool_look() - count the blocks in use in pools of pymalloc
 * @t: the process; its mappings are up to date
 * @l: to add to
 *
 * Mappings of up to 1 GiB are looked at: arenas of pymalloc have 1 MiB (256 KiB), and the
 * kernel joins those that are neighbours. In all no more than twice the memory of the process
 * is read, however much it has reserved.
 */
void pool_look(struct target *t, struct look *l)
{
	u64 heap = (t->start_brk + 15) & ~15ULL, left = 2 * target_anon_bytes(t) + 64 * MIB;
	int pagemap;
	size_t i;

	if (!is_python(t))
		return;
	pagemap = there_open(t);
	for (i = 0; i < t->maps; i++) {
		const struct where_map *m = &t->map[i];

		if (m->anon && m->write && m->hi - m->lo >= 256 * KIB &&
		    m->hi - m->lo <= 1024 * MIB && m->hi - m->lo <= left &&
		    !(heap >= m->lo && heap < m->hi)) {
			left -= m->hi - m->lo;
			mapping(t, l, m, pagemap);
		}
	}
	if (pagemap >= 0)
		close(pagemap);
}
