/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quotas: what is bounded is shared out by user, so that one user cannot take all of it. A
 * user other than root gets a share of each kind: half of what is remembered, a quarter of
 * what is sent or read often.
 *
 * For example with 4096 groups a user has at most 2048. With 60 alerts a minute a user has
 * at most 15 of them, and root has all 60 while no other user has any. Where four users have
 * their 15, each other user and root still have one.
 *
 * The table has a row for each user that has something. When it is full, all further users
 * together have one row. What is taken is given back to the row that it was taken from.
 *
 * Context: any; pure. Lock: the caller serialises calls; in the module seep_table_mutex.
 */
#ifndef SEEP_QUOTA_H
#define SEEP_QUOTA_H

#include "detect/units.h"

enum seep_quota_kind {
	SEEP_QUOTA_GROUPS,		/* half for a user */
	SEEP_QUOTA_HISTORIES,		/* of groups */
	SEEP_QUOTA_EMPTY,		/* groups without members */
	SEEP_QUOTA_RING,		/* alerts kept */
	SEEP_QUOTA_TALLIES,		/* cgroups with a limit that is shared */
	SEEP_QUOTA_MINUTE,		/* a quarter for a user; alerts sent in this minute */
	SEEP_QUOTA_SUSPECTS,		/* records that short passes read */
	SEEP_QUOTA_KINDS
};

/* Rows. Those of users begin at SEEP_QUOTA_USER. */
#define SEEP_QUOTA_ALL		0U	/* sums of all users; as a row to charge: none */
#define SEEP_QUOTA_ROOT		1U	/* its share is all */
#define SEEP_QUOTA_SHARED	2U	/* of users that come when the table is full */
#define SEEP_QUOTA_USER		3U
#define SEEP_QUOTA_ROWS		256U

struct seep_quota {
	u32 uid;			/* user id in the initial user namespace */
	u32 held;			/* sum of n; 0: the row may be given to another user */
	u32 n[SEEP_QUOTA_KINDS];
};

void seep_quota_init(struct seep_quota *rows);
u16 seep_quota_row(u32 uid);
u32 seep_quota_sum(enum seep_quota_kind kind);
bool seep_quota_used_up(u16 row, enum seep_quota_kind kind, u32 most);
bool seep_quota_left(u16 row, enum seep_quota_kind kind, u32 most);
bool seep_quota_take(u16 row, enum seep_quota_kind kind, u32 most);
void seep_quota_give(u16 row, enum seep_quota_kind kind);
void seep_quota_begin_minute(void);

#endif /* SEEP_QUOTA_H */
