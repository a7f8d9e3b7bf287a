/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Growth: what the runs of all levels say together. growth.c finds it, verdict_ladder.c
 * judges it, points.c gives it points. Any context; pure.
 */
#ifndef SEEP_GROWTH_H
#define SEEP_GROWTH_H

#include "detect.h"

#define SEEP_COLD_PERMILLE	900	/* growth of which that is cold counts as unused */

/* A level with a run. */
struct seep_level_view {
	const struct seep_level *level;	/* NULL: there is none */
	u32 closed;		/* its epochs that have closed */
};

/* The growth of one subject. */
struct seep_growth {
	struct seep_level_view top;	/* the longest level with a run */
	struct seep_level_view below;	/* the level below top, if it has a run as well */
	u32 window;		/* time that the floors of top span, ds */
	u32 t0, t1;		/* begin and last rise, ds */
	u32 v0, floor;		/* floors before it and now, granules */
	u8 strict;		/* strict steps, the most of all levels with a run */
	u8 subject;		/* enum seepage_subject */
	u8 confirm_percent;	/* of patience, how long until the alert is confirmed */
	bool seen;		/* some level has a run */
	u64 tte_ds;		/* time to exhaustion; SEEP_UNKNOWN: never */
	u64 fair_ds;		/* as tte_ds, with others as patience counts them */
	u32 patience;		/* ds, how long growth must last for an alert */
	u32 rate;		/* granules an hour; 0: it has ended, or is not of memory */
};

/* The rise since the growth began, granules. */
static inline u32 seep_rise(const struct seep_growth *g)
{
	return seep_minus(g->floor, g->v0);
}

u32 seep_second_half(const struct seep_level_view *l);
void seep_growth_find(const struct seep_det *d, const struct seep_sample *s,
		      struct seep_growth *g);
void seep_growth_find_vsz(const struct seep_det *d, const struct seep_sample *s,
			  struct seep_growth *g);

/* points.c */
bool seep_cold_known(const struct seep_sample *s, const struct seep_growth *g);
void seep_points_none(struct seep_verdict *v);
void seep_points_add(struct seep_verdict *v, const struct seep_det *d,
		     const struct seep_sample *s, const struct seep_growth *g);

#endif /* SEEP_GROWTH_H */
