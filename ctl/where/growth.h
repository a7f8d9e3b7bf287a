/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the memory of a process grows in some time.
 */
#ifndef SEEPAGE_WHERE_GROWTH_H
#define SEEPAGE_WHERE_GROWTH_H

#include "where/where.h"

/* growth.c: pages that are used, over some time */
struct page_count {
	u64 pages, ns;		/* ns 0: not known */
};

#define SERIES		64U

struct page_series {
	struct page_count at[SERIES];
	unsigned int n;
	u64 mark;		/* the end of the burst */
	u64 step, next;		/* least time between two of them, and when the next may be */
	u64 rest;		/* most time between two of them, if it is more than that */
	struct seen *known;
	bool huge;		/* a huge page was seen: zeros count in no look from then on */
};

/* By how much the memory grew in some time, and how wrong that may be: for 95 % */
struct trend {
	s64 bytes, error;
	double seconds;		/* 0: not known */
	s64 burst;		/* of these bytes, those of the burst */
	double burst_seconds;
};

void series_begin(struct page_series *s, u64 seconds);
void series_look(const struct target *t, struct page_series *s, bool now);
void series_mark(struct page_series *s, u64 seconds);
bool series_has_burst(const struct page_series *s);
struct trend series_trend(const struct page_series *s);
void series_free(struct page_series *s);

#endif /* SEEPAGE_WHERE_GROWTH_H */
