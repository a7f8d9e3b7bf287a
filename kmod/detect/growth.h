/* SPDX-License-Identifier: GPL-2.0 */
/* What the levels of a series say together: what the policy ladder judges. */
#ifndef SEEP_GROWTH_H
#define SEEP_GROWTH_H

#include "detect.h"

struct seep_level {
	const struct seep_rung *r;	/* NULL: none */
	u32 closed;		/* epochs of it */
};

struct seep_growth {
	struct seep_level top;	/* the longest one */
	struct seep_level below;	/* half as long, if its floors rise as well */
	u32 window;		/* that the floors of top span, ds */
	u32 t0, t1;
	u32 v0, floor;
	u8 strict;		/* of the one whose floors rise most strictly */
	u8 series;
	u64 tte_ds;
	u32 patience;		/* ds */
	bool seen;
};

static inline u32 seep_rise(const struct seep_growth *g)
{
	return g->floor > g->v0 ? g->floor - g->v0 : 0;
}

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
