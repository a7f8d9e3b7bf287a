/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sampled blocks and their sites: site.c looks at them, named.c judges.
 */
#ifndef SEEPAGE_WHERE_SITE_H
#define SEEPAGE_WHERE_SITE_H

#include "where/burst.h"

struct block {
	u64 addr, size, head;
	u64 first_size;		/* before it was resized */
	unsigned int resized;
	struct early first;	/* what it held at the first look */
	const struct early *early;
	unsigned int site;
	bool drawn;		/* of the random calls */
	bool alive, unchanged;
	bool again;		/* a later sample is about the same block */
	unsigned int marks_alive, marks_unchanged;	/* a bit for each mark */
};

struct site_counts {
	unsigned int samples, alive, unchanged;
	struct {
		unsigned int alive, unchanged;
	} mark[AGAIN_MAX];
};

struct site {
	struct frame frame[FRAMES_MAX];
	unsigned int frames;
	struct site_counts all, drawn;
	bool grows;		/* has a block that realloc() made larger, again and again */
	u64 bytes, unchanged_bytes;	/* of those that are alive, with their heads */
};

struct survivors {
	struct target *t;
	const struct bins *bins;
	struct unwinder *u;
	struct block *block;
	struct site *site;
	size_t n, sites;
	double armed, calls;	/* seconds; calls for sizes of the class, a second */
	bool seen;		/* after the first look */
	bool resized;		/* some block is */
	struct again marks;	/* the times of those that were asked for */
};

#endif /* SEEPAGE_WHERE_SITE_H */
