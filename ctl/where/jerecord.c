// SPDX-License-Identifier: GPL-2.0
/*
 * Records of jemalloc 5 and the elements of its tree that lead to them. A record has 128 bytes:
 *
 *	+0	bits: arena (12), slab (1), some marks, state, size class (8), number of free
 *		regions (10), others
 *	+8	address of the block, or of the first region of a slab
 *	+16	size in bytes, a multiple of the page size, and a serial number in its low 12 bits
 *	+64	of a slab 512 bits, 1 for each region that is free
 *
 * In 5.2 the state has two bits at bit 16, in 5.3 three at bit 17. An element is the address of the
 * record, with the size class in the upper 16 bits and the mark of a slab in the lowest one. From
 * 5.3 on bits 1 to 4 hold more marks.
 */
#include <string.h>
#include "where/jemalloc.h"

#define ADDRESS_BITS	48
#define CLASS_BITS	8
#define FREE_BITS	10
#define SLAB_BIT	12
#define MAP_WORD	8	/* of a record, where the map begins */

enum state {
	STATE_ACTIVE,
	STATE_DIRTY,
	STATE_MUZZY,
};

static const struct {
	unsigned int state, state_bits, index, free;	/* where they begin */
	u64 marks;		/* of an element, in its low bits */
} layouts[JE_LAYOUTS] = {
	[JE_5_2] = { 16, 2, 18, 26, 1 },
	[JE_5_3] = { 17, 3, 20, 28, 127 },
};

static unsigned int field(u64 bits, unsigned int at, unsigned int n)
{
	return (unsigned int)(bits >> at & ((1U << n) - 1));
}

/* Takes an element of a leaf apart. */
void je_element(enum je_layout layout, u64 word, struct je_element *e)
{
	*e = (struct je_element){
		.record = word & ((1ULL << ADDRESS_BITS) - 1) & ~layouts[layout].marks,
		.index = (unsigned int)(word >> ADDRESS_BITS), .slab = word & 1,
	};
}

/* Takes a record apart. */
void je_record(enum je_layout layout, const u64 word[JE_RECORD], struct je_record *r)
{
	unsigned int state = field(word[0], layouts[layout].state, layouts[layout].state_bits);

	*r = (struct je_record){
		.addr = word[1], .size = word[2] & ~(u64)(JE_PAGE - 1),
		.index = field(word[0], layouts[layout].index, CLASS_BITS),
		.free = field(word[0], layouts[layout].free, FREE_BITS),
		.slab = word[0] >> SLAB_BIT & 1, .active = state == STATE_ACTIVE,
		.kept = state == STATE_DIRTY || state == STATE_MUZZY,
	};
	memcpy(r->map, word + MAP_WORD, sizeof(r->map));
}

/*
 * The size of a slab, unless the user set another: the fewest pages that regions fill wholly.
 * Returns 0 for regions that are too large for a slab.
 */
u64 je_slab_bytes(u64 region)
{
	u64 bytes = JE_PAGE;

	if (!region || region >= 4ULL * JE_PAGE)
		return 0;
	while (bytes % region)
		bytes += JE_PAGE;
	return bytes;
}

/* Returns the number of regions of a slab, 0: it cannot be one. */
unsigned int je_regions(const struct je_record *r, unsigned int quantum_bits)
{
	u64 region = class_je_size(quantum_bits, r->index);

	if (!region || region >= 4ULL * JE_PAGE || region > r->size ||
	    r->size / region > JE_REGIONS)
		return 0;
	return (unsigned int)(r->size / region);
}

/*
 * Has the extent the size that its class leads to expect? That of a large block may be a page more,
 * so that blocks do not all begin at the start of a page. It tells which quantum is the right one.
 */
bool je_is_usual(const struct je_record *r, unsigned int quantum_bits)
{
	u64 size = class_je_size(quantum_bits, r->index);

	if (!size)
		return false;
	if (r->slab)
		return r->size == je_slab_bytes(size);
	return r->size == size || r->size == size + JE_PAGE;
}

/*
 * Does the record agree with itself? The process may change it while it is read: then its map has
 * another number of free regions than it says.
 */
bool je_is_sound(const struct je_record *r, unsigned int quantum_bits)
{
	unsigned int n, i, unused = 0;
	u64 map;

	if (!r->slab)
		return class_je_size(quantum_bits, r->index) &&
		       class_je_size(quantum_bits, r->index) <= r->size;
	n = je_regions(r, quantum_bits);
	for (i = 0; i < n; i += 64) {
		map = n - i < 64 ? r->map[i / 64] & ((1ULL << (n - i)) - 1) : r->map[i / 64];
		unused += (unsigned int)__builtin_popcountll(map);
	}
	return n && !(r->addr & (JE_PAGE - 1)) && unused == r->free;
}

bool je_is_free(const struct je_record *r, unsigned int region)
{
	return r->map[region / 64] >> region % 64 & 1;
}

/* Reads the record at @addr. */
bool je_read(struct target *t, const struct jemalloc *je, u64 addr, struct je_record *r)
{
	u64 word[JE_RECORD];

	if (!used_read(t, addr, word, sizeof(word)))
		return false;
	je_record(je->layout, word, r);
	return true;
}
