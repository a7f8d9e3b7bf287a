/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The alerts that the module raises from the verdicts on processes and groups: where two or more
 * members of a group grow, the group is the one subject in their place. kmod/group.c and
 * kmod/alert.c are the originals; the names are theirs.
 *
 * Left out: alert_interval_s and alerts_per_minute, which hold alerts back, and the history that
 * a group gives up where too many have one.
 */
#ifndef SEEPAGE_CTL_MERGE_H
#define SEEPAGE_CTL_MERGE_H

#include "detect/share.h"
#include "series/series.h"

enum { MERGE_WATCHED, MERGE_GROWING, MERGE_ALERTING, MERGE_COUNTS };

struct merge_member {			/* zeroed before merge_join(); of a process */
	struct merge_group *group;
	struct merge_member *next;	/* of the group, the one that came first is its first */
	const struct series *series;
	const struct seep_det *det;
	u8 counts_as;			/* bits of MERGE_* */
	u8 alerted;			/* the alert that was told last, or 0 */
};

struct merge_told {			/* an alert */
	const struct series *s;		/* the process, or the oldest one of the group */
	const struct merge_group *group;	/* NULL: of a process */
	u8 prev, state;
	u32 members, growing;		/* of a group */
	bool has_growth;
	s64 growth;			/* bytes an hour */
	u64 tte_s;			/* SEEP_UNKNOWN: none */
};

struct merge {				/* zeroed at first */
	struct merge_group *groups;
	const struct seep_conf *conf;
	u64 now_ns;			/* of the present pass */
	void (*tell)(void *arg, const struct merge_told *t);
	void *arg;
};

void merge_join(struct merge *m, struct merge_member *member, const struct series *s,
		const struct seep_det *det);
void merge_leave(struct merge *m, struct merge_member *member, bool ended);
void merge_full_pass_ended(struct merge *m);
void merge_judged(struct merge *m, struct merge_member *member, u8 prev,
		  const struct seep_verdict *v);
void merge_group_judged(struct merge *m, const struct series *s, const struct seep_det *det,
			u8 prev, u32 own_rate, const struct seep_verdict *v);
void merge_group_gone(struct merge *m, const struct series *s, bool ended);
u64 merge_group_id(const struct merge_group *g);
void merge_free(struct merge *m);

#endif /* SEEPAGE_CTL_MERGE_H */
