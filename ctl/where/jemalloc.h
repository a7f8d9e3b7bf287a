/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What jemalloc 5 keeps of its extents: jeroot.c finds it, jerecord.c takes it apart, jemalloc.c
 * counts blocks.
 */
#ifndef SEEPAGE_WHERE_JEMALLOC_H
#define SEEPAGE_WHERE_JEMALLOC_H

#include "where/where.h"

#define JE_PAGE		4096U
#define JE_REGIONS	512U	/* of a slab, at most */
#define JE_RECORD	16U	/* words of a record */
#define JE_LEAF		(1U << 18)	/* elements of a leaf, one for each page */
#define JE_ROOT		(1U << 18)	/* of the root, one for each leaf: 1 GiB */
#define JE_ROOT_BYTES	(8ULL * JE_ROOT)
#define JE_GIB_BITS	30

/* How records and elements of leaves are made up; jeroot.c finds out which it is */
enum je_layout {
	JE_5_2,
	JE_5_3,
	JE_LAYOUTS,
};

/* An element of a leaf */
struct je_element {
	u64 record;		/* its address; 0: the page is no end of an extent, nor of a slab */
	unsigned int index;	/* of the size class */
	bool slab;
};

/* An extent: pages that follow each other */
struct je_record {
	u64 addr;		/* of the block; a large one may begin behind its page's start */
	u64 size;		/* of the extent, a multiple of JE_PAGE */
	unsigned int index;	/* of the size class */
	unsigned int free;	/* regions of a slab */
	bool slab, active;
	bool kept;		/* not active, but its pages were not given back to the kernel */
	u64 map[JE_REGIONS / 64];	/* of a slab: a bit for each region, 1: it is free */
};

static inline u64 je_page(u64 addr)
{
	return addr & ~(u64)(JE_PAGE - 1);
}

/* jerecord.c */
void je_element(enum je_layout layout, u64 word, struct je_element *e);
void je_record(enum je_layout layout, const u64 word[JE_RECORD], struct je_record *r);
u64 je_slab_bytes(u64 region);
unsigned int je_regions(const struct je_record *r, unsigned int quantum_bits);
bool je_is_usual(const struct je_record *r, unsigned int quantum_bits);
bool je_is_sound(const struct je_record *r, unsigned int quantum_bits);
bool je_is_free(const struct je_record *r, unsigned int region);
bool je_read(struct target *t, const struct jemalloc *je, u64 addr, struct je_record *r);

/* jeroot.c */
bool je_find(struct target *t, const char *file, struct jemalloc *je);

#endif /* SEEPAGE_WHERE_JEMALLOC_H */
