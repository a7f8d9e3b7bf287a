/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Room: which processes have a record when there are more of them than records. Pure, any
 * context, no locks: the caller serialises calls on one struct seep_room.
 *
 * Records are counted by share, which is a user or a few users. Share 0 is that of root.
 * Another share has at most half of all records. A full table exchanges: a record is given
 * up for a newcomer, a process without one. The weight of both is their anonymous memory
 * and swap, in bytes.
 *
 * An exchange within a share needs a newcomer of at least twice the weight. Between shares
 * the one with the most records gives to one that has fewer afterwards too. The weights are
 * compared there as well, unless the giver has more than half of the table, or more than
 * twice as many records as the taker. A record of weight SEEP_ROOM_LAST goes then only.
 *
 * For example a table has 1000 records, 500 of root and 500 of children of user A
 * with 200 MB each. The first service of user B leaks 5 MB: B takes the lightest record of
 * A, because 500 is more than twice 1. B gets records like this until B has 166 and A 334.
 *
 * With weights that do not change, exchanges come to an end. Each one between shares brings
 * shares nearer to each other, or a share nearer to half of the table. Each one within a
 * share leaves the numbers as they are and makes the records heavier.
 */
#ifndef SEEP_DETECT_ROOM_H
#define SEEP_DETECT_ROOM_H

#include "units.h"

#define SEEP_ROOM_SHARE_BITS	12
#define SEEP_ROOM_SHARES	(1U << SEEP_ROOM_SHARE_BITS)
#define SEEP_ROOM_MOVES		64U	/* exchanges at a time, at most */
#define SEEP_ROOM_LEAST		(1ULL << 20)	/* weight of a newcomer, at least */
#define SEEP_ROOM_LAST		(1ULL << 63)	/* of a record that goes after all others */
#define SEEP_ROOM_HINTS		64U	/* shares of which something is remembered */

/* A process without a record, or a record (rec) that may be given up for it. */
struct seep_room_side {
	u64 weight;
	u32 share;
	bool poor;			/* of a newcomer: its share has few records */
	u8 same;			/* of a newcomer: newcomers of its share, it included */
	union {
		u32 nr;			/* of a newcomer: its pid */
		void *rec;		/* of a record; NULL: a place for one */
	};
};

struct seep_room {
	const u32 *n;			/* records by share; may change meanwhile */
	u32 max;			/* most records in the table */
	u32 top;			/* the share with the most records */
	u32 newcomers, victims;		/* used places below */
	struct seep_room_side newcomer[SEEP_ROOM_MOVES];
	struct seep_room_side victim[2 * SEEP_ROOM_MOVES];
	/* by share modulo SEEP_ROOM_HINTS; NULL: not known */
	struct seep_room_side *most[SEEP_ROOM_HINTS];	/* the heaviest place of a share */
	struct seep_room_side none;	/* the same of shares without a place */
	struct seep_room_side dropped[SEEP_ROOM_HINTS];	/* the last newcomer that was dropped */
};

/* The most records that a share can have. */
static inline u32 seep_room_cap(u32 share, u32 max)
{
	return share ? max / 2 : max;
}

void seep_room_begin(struct seep_room *r, const u32 *n, u32 max);
void seep_room_offer(struct seep_room *r, u32 share, u64 weight, u32 nr);
void seep_room_ask(struct seep_room *r);
void seep_room_consider(struct seep_room *r, u32 share, u64 weight, void *rec);
bool seep_room_next(struct seep_room *r, struct seep_room_side *newcomer, void **rec);

#endif /* SEEP_DETECT_ROOM_H */
