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
	unsigned int site, round;
	bool drawn;		/* of the random calls */
	bool at_site;		/* seen by the probe at a call site, which sees them all */
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
	bool excess;		/* keeps more than its class grows by, which others explain */
	u64 bytes, unchanged_bytes;	/* of those that are alive, with their heads */
	u64 largest;		/* of those that are alive */
	u64 drawn_bytes;	/* of these, in the calls that were drawn */
	bool named;
	bool is_measured;	/* by a probe at its call, round by round: */
	double measured[BURST_ROUNDS];	/* calls for sizes of the class */
	double stays, stays_least;	/* bytes, in the time of struct trend; of pages only */
};

struct survivors {
	struct target *t;
	const struct bins *bins;
	struct unwinder *u;
	struct block *block;
	struct site *site;
	size_t n, sites;
	double armed, calls;	/* seconds; calls for sizes of the class, a second */
	struct burst_round round[BURST_ROUNDS];
	unsigned int rounds;
	double own;		/* seconds of these without what traps are taken to cost */
	double measured_seconds[BURST_ROUNDS];
	unsigned int measured_rounds;
	double measured_traps, measured_drawn;	/* in all; hits of which the sizes are known */
	double at_sites;	/* seconds of probes at call sites */
	bool seen;		/* after the first look */
	bool resized;		/* some block is */
	struct again marks;	/* the times of those that were asked for */
};

/* margin.c: how wrong is the growth of a site? */
s64 margin_of(const struct survivors *v, const struct site *s, const struct site_counts *t,
	      const struct growth *g, u64 bytes, unsigned int alive, s64 per_hour);

/* judge.c: does the growth of the process speak for the sites of blocks that stay? */
enum judged {
	JUDGED_NONE,		/* no site keeps its blocks */
	JUDGED_SHORT,		/* the growth is not known */
	JUDGED_STILL,		/* the process does not grow by more than its size varies */
	JUDGED_TURNOVER,	/* more stays than it grows by */
	JUDGED_PAUSED,		/* the class grew, but does so no more */
	JUDGED_LITTLE,		/* what stays does not explain the growth */
	JUDGED_GROWS,		/* it does: the sites are named */
};

struct judgment {
	enum judged verdict;
	unsigned int keep;	/* sites that keep their blocks; of these */
	unsigned int turnover;	/* those that keep more than the process grows by */
};

void judge_pages(struct survivors *v, unsigned int drawn, const struct growth *g,
		 struct judgment *j);
/* excess.c: which sites keep more than their class grows by? */
bool excess_may_be(const struct survivors *v, const struct growth *g);
unsigned int excess_find(struct survivors *v, const struct growth *g);
void excess_note(const struct survivors *v, const struct growth *g, struct result *r);

bool judged_is_open(const struct judgment *j);
void judged_note(const struct judgment *j, const struct growth *g, struct result *r);

#endif /* SEEPAGE_WHERE_SITE_H */
