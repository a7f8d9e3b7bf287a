/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seepage where --follow: looks at what alerts are about. turns.c: what is to be looked at, in
 * which order. alerts.c: reads alerts, and takes one look at a time.
 */
#ifndef SEEPAGE_WHERE_ALERTS_H
#define SEEPAGE_WHERE_ALERTS_H

#include "ctl.h"

struct alerts_how {		/* what --follow is given */
	bool burst;		/* with the second look */
	u64 permille;		/* 0: the default */
};

bool alerts_parse(const char *text, struct alerts_how *how);
int alerts_follow(struct ctx *ctx, const struct alerts_how *how);

/* keep.c */
void keep_settle(pid_t look, u64 cpu_ns);

#endif /* SEEPAGE_WHERE_ALERTS_H */
