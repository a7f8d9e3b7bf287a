/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seepage where --follow: which process is looked at next.
 */
#ifndef SEEPAGE_WHERE_TURNS_H
#define SEEPAGE_WHERE_TURNS_H

#include "notify/notify.h"
#include "where/alerts.h"

#define TURNS_MAX	64U

struct turn {
	u64 pid;
	s64 begun_s;		/* when the process began, in seconds since 1970, about */
	bool second;		/* the second look, else the first one */
};

struct turns {			/* in the order of the alerts */
	struct turn t[TURNS_MAX];
	unsigned int n;
	struct turn out[TURNS_MAX];	/* processes that are left out; the latest ones */
	unsigned int outs;		/* how many there were */
};

void turns_alert(struct turns *q, const struct alert *a);
bool turns_next(struct turns *q, struct turn *next);
void turns_leave_out(struct turns *q, const struct turn *t);

#endif /* SEEPAGE_WHERE_TURNS_H */
