/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes at call sites: callsite.c chooses the sites, siteprobe.c takes their samples.
 */
#ifndef SEEPAGE_WHERE_CALLSITE_H
#define SEEPAGE_WHERE_CALLSITE_H

#include "where/site.h"

#define CALLSITES	4U	/* that are probed, one probe each */
#define CALLSITE_DEPTH	4U	/* frames, the caller of the allocator first, one of which is it */

/* A call site, and those that it leads to on the way to the allocator */
struct callsite {
	struct frame frame[CALLSITE_DEPTH];
	unsigned int at;	/* which of them has the probe */
	int fd;			/* of the mapped file */
	u64 offset;		/* of the instruction in it */
	size_t site;		/* number of it, of those that are measured */
	bool done;		/* it gets no probe any more: it is hot, or was refused */
	unsigned int blocks;	/* of the class, so far */
};

struct callsites {
	struct callsite site[CALLSITES];
	unsigned int n;
	u64 lo, hi;		/* sizes of the class */
	u64 traps, blocks;
	unsigned int hot, refused;	/* sites */
	const char *end;	/* what ended it */
};

/* callsite.c */
void callsites_find(const struct survivors *v, struct callsites *c);
void callsites_rivals(const struct survivors *v, struct callsites *c);
unsigned int callsites_stack(const struct callsite *c, struct frame *f, unsigned int n);
void callsites_note(const struct callsites *c, u64 armed_ns, struct result *r);
void callsites_close(struct callsites *c);

/* siteprobe.c */
#define SITE_TRAP_NS	10000	/* what a trap there is taken to cost: it is single-stepped */

void callsites_take(struct target *t, const struct bins *bins, struct callsites *c,
		    const struct burst_limits *l, bool (*wait)(void *arg, u64 ms, int fd),
		    void *arg, struct burst *b);

u64 callsites_measure(struct target *t, const struct bins *bins, const struct burst_limits *l,
		      bool (*wait)(void *arg, u64 ms, int fd), void *arg, struct survivors *v,
		      bool *measured);

#endif /* SEEPAGE_WHERE_CALLSITE_H */
