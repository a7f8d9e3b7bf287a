// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the blocks of mallocng, the malloc(3) of musl from 1.2.1 on, by its own records:
 *
 *	area, a page: +0 the secret of the process, +8 next area, +16 number of records, +24 101
 *	records of 40 bytes
 *	record of a group: +0 two links, +16 the group; 0: unused, +24 and +28 bits of slots that
 *	are free, +32 5 bits: last slot, 1 bit, 6 bits: class of sizes, the rest: pages of its own
 *	group: +0 its record, +16 slots
 *
 * A block ends 4 bytes before its slot does, or up to the number of bytes in front of that in the
 * top three bits of the byte at -3. The other five are the number of the slot, and the two bytes
 * at -2 lead to the group, in units of 16 bytes. A block may begin later than its slot does. A
 * group of small slots lies in a slot of another group, which has 6 in those three bits.
 *
 * The secret is known from outside: the kernel gave it to the program. Areas begin mappings, or
 * other areas lead to them. A group counts if it leads back to its record, and a block if it leads
 * to its group: what was freed or moved between two reads does not. If that is true of many groups
 * this is no heap of mallocng.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define PAGE		4096U
#define UNIT		16U
#define RECORDS		101
#define RECORD_BYTES	40
#define AREA_HEAD	24
#define CLASS_COUNT	48U
#define CLASS_MAPPED	63U	/* one block, of any size */
#define TAIL		4U	/* bytes of a slot behind its block */
#define NESTED		6	/* the slot of a group */
#define MOVED		7	/* the block begins later than its slot */
#define READ_SMALL	2048U	/* smaller slots are read with what is between */
#define WINDOW		(16 * KIB)
#define WINDOWS		32U
#define NOWHERE		0U	/* no window begins there that is read */
#define WRONG_MAX	4U	/* groups that may not lead back, */
#define WRONG_PART	50U	/* and one of so many */

/* Units of the slots of each class */
static const u16 units[CLASS_COUNT] = {
	1,    2,    3,    4,	5,    6,    7,	  8,	9,    10,   12,   15,
	18,   20,   25,	  31,	36,   42,   50,	  63,	72,   84,   102,  127,
	146,  170,  204,  255,	292,  340,  409,  511,	584,  682,  818,  1023,
	1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

struct record {
	u64 before, next, group;
	u32 available, freed;
	u64 kind;
};

struct area {
	u64 secret, next;
	u32 records, pad;
	struct record r[RECORDS];
};

struct group {
	u64 addr;
	u64 stride;		/* bytes of a slot */
	u64 bytes;		/* that it has of its own; 0: in a slot of another group */
	u32 used;		/* bits of slots */
	unsigned int slots;
};

struct walk {
	struct target *t;
	struct look *l;
	u64 secret;
	struct seen *areas;	/* that were looked at */
	u64 groups, wrong;
	struct window {
		u64 addr;	/* of what is in @data; or NOWHERE */
		u64 last;	/* what was to be read here last */
		unsigned char data[WINDOW];
	} window[WINDOWS];
};

/* Of bits from 0 on, one for each of the @n slots */
static u32 all_of(unsigned int n)
{
	return n < 32 ? (1U << n) - 1 : UINT32_MAX;
}

/* Reads a record. Returns false if it has no group, or none that can be. */
static bool parse(const struct record *r, struct group *g)
{
	u64 kind = r->kind >> 6 & 63, pages = r->kind >> 12, room = pages * PAGE - UNIT;

	g->addr = r->group;
	g->slots = (unsigned int)(r->kind & 31) + 1;
	g->bytes = pages * PAGE;
	g->used = all_of(g->slots) & ~(r->available | r->freed);
	if (!g->addr || (g->addr & (UNIT - 1)) || pages > UINT32_MAX)
		return false;
	if (pages && g->slots == 1) {
		g->stride = room;
		return kind < CLASS_COUNT || kind == CLASS_MAPPED;
	}
	if (kind >= CLASS_COUNT)
		return false;
	g->stride = (u64)units[kind] * UNIT;
	return !pages || g->stride * g->slots <= room;
}

/*
 * Reads through the window if slots are small: groups of these are neighbours. What else is in
 * the window may be no memory that can be read.
 */
static bool read_part(struct walk *w, bool small, u64 addr, void *buf, size_t n)
{
	struct window *v = &w->window[addr / WINDOW % WINDOWS];
	u64 at = addr & ~(WINDOW - 1);

	if (!small || at != ((addr + n - 1) & ~(WINDOW - 1)))
		return used_read(w->t, addr, buf, n);
	if (v->addr != at && v->last == at)
		v->addr = used_read(w->t, at, v->data, WINDOW) ? at : NOWHERE;
	v->last = at;
	if (v->addr != at)
		return used_read(w->t, addr, buf, n);
	memcpy(buf, v->data + (addr - at), n);
	return true;
}

/*
 * Where the block in the slot @i of the group begins, and its size. Returns false if there is none:
 * a group of smaller slots, or it is freed just now.
 */
static bool block_of(struct walk *w, const struct group *g, unsigned int i, u64 *addr, u64 *size)
{
	u64 start = g->addr + UNIT + g->stride * i, end = start + g->stride - TAIL;
	bool small = g->stride < READ_SMALL;
	unsigned char head[8];
	u32 left, far;
	u16 offset;

	if (!read_part(w, small, start - 8, head, sizeof(head)))
		return false;
	*addr = start;
	memcpy(&offset, head + 6, sizeof(offset));
	if (head[5] >> 5 == MOVED) {
		*addr += (u64)offset * UNIT;
		if (*addr >= end || !read_part(w, small, *addr - 8, head, sizeof(head)))
			return false;
		memcpy(&offset, head + 6, sizeof(offset));
	}
	memcpy(&far, head, sizeof(far));
	left = head[5] >> 5;
	if ((head[5] & 31) != i || left >= NESTED ||
	    g->addr + UNIT + (u64)(head[4] ? far : offset) * UNIT != *addr)
		return false;
	if (left == NESTED - 1 && !read_part(w, small, end - 4, &left, sizeof(left)))
		return false;
	*size = end - *addr - left;
	return left <= end - *addr;
}

static void count_group(struct walk *w, const struct group *g)
{
	u64 addr, size;
	unsigned int i;

	w->l->walked_bytes += g->bytes;
	for (i = 0; i < g->slots; i++) {
		if (!(g->used >> i & 1)) {
			w->l->free_bytes += g->stride;
			continue;
		}
		if (!block_of(w, g, i, &addr, &size))
			continue;
		look_add(w->l, class_of_request(size), addr, g->stride);
		w->l->chunks++;
	}
}

/* Does the group lead back to its record? */
static bool leads_back(struct walk *w, const struct group *g, u64 record)
{
	u64 back;

	return read_part(w, g->stride < READ_SMALL, g->addr, &back, sizeof(back)) &&
	       back == record;
}

static bool read_area(struct walk *w, u64 addr, struct area *a)
{
	return !(addr & (PAGE - 1)) && used_read(w->t, addr, a, sizeof(*a)) &&
	       a->secret == w->secret && a->records == RECORDS;
}

/* Counts what the records of an area lead to, then goes on to those behind it. */
static void count_areas(struct walk *w, u64 addr)
{
	struct group g;
	struct area a;
	u64 record;
	size_t i;

	_Static_assert(sizeof(a) <= PAGE && sizeof(*a.r) == RECORD_BYTES, "layout");
	for (; addr && !seen_has(w->areas, addr) && read_area(w, addr, &a); addr = a.next) {
		seen_add(w->areas, addr);
		w->l->walked_bytes += PAGE;
		for (i = 0; i < RECORDS && !target_over(w->t); i++) {
			if (!a.r[i].group)
				continue;
			w->groups++;
			record = addr + AREA_HEAD + i * RECORD_BYTES;
			if (parse(&a.r[i], &g) && leads_back(w, &g, record))
				count_group(w, &g);
			else
				w->wrong++;
		}
	}
}

/* The secret is half of 16 random bytes that the kernel gives to each program. 0: not known */
static u64 secret_of(struct target *t)
{
	u64 at = link_random(t), secret;

	return at && target_read(t, at + 8, &secret, sizeof(secret)) ? secret : 0;
}

static bool is_area(struct walk *w, u64 addr)
{
	u64 word;

	return used_has(w->t, addr) && used_read(w->t, addr, &word, sizeof(word)) &&
	       word == w->secret;
}

/**
 * mallocng_look() - count the blocks in use of mallocng
 * @t: the process; its mappings are up to date
 * @b: out: whether it has such a heap
 * @l: to add to; what does not fit together is a heap that does not add up
 *
 * Return: false if there is none, or too much of it does not fit together.
 */
bool mallocng_look(struct target *t, struct bins *b, struct look *l)
{
	struct walk *w = must(calloc(1, sizeof(*w)));
	size_t i;

	w->t = t;
	w->l = l;
	w->secret = secret_of(t);
	w->areas = seen_new();
	for (i = 0; i < t->maps && w->secret; i++)
		if (t->map[i].anon && t->map[i].write && is_area(w, t->map[i].lo))
			count_areas(w, t->map[i].lo);
	b->mallocng = w->groups && w->wrong <= WRONG_MAX + w->groups / WRONG_PART ? w->secret : 0;
	if (w->groups && !b->mallocng) {
		l->torn++;
		l->torn_bytes += l->walked_bytes + PAGE;
	}
	seen_free(w->areas);
	free(w);
	return b->mallocng;
}

/**
 * mallocng_is_used() - is a block in use, as its group tells?
 * @t: the process
 * @b: after mallocng_look() found a heap
 * @addr: of the block
 *
 * Return: false as well if there is no block.
 */
bool mallocng_is_used(struct target *t, const struct bins *b, u64 addr)
{
	unsigned char head[8];
	u64 base, at, secret;
	struct record r;
	struct group g;
	u16 offset;
	u32 far;

	if (addr < PAGE || !target_read(t, addr - 8, head, sizeof(head)))
		return false;
	memcpy(&far, head, sizeof(far));
	memcpy(&offset, head + 6, sizeof(offset));
	base = addr - UNIT - (u64)(head[4] ? far : offset) * UNIT;
	return target_read(t, base, &at, sizeof(at)) &&
	       target_read(t, at, &r, sizeof(r)) && r.group == base && parse(&r, &g) &&
	       target_read(t, at & ~(u64)(PAGE - 1), &secret, sizeof(secret)) &&
	       secret == b->mallocng && (head[5] & 31U) < g.slots &&
	       (g.used >> (head[5] & 31) & 1);
}
