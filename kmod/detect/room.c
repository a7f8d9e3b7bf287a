// SPDX-License-Identifier: GPL-2.0
/*
 * Room: chooses the exchanges of a full table. The rule is in room.h.
 *
 * Stage: room.c of the module passes in the processes without a record, then the records,
 * and carries out the exchanges that are chosen. Context: any; pure. Locks: the caller
 * serialises calls.
 */
#include "room.h"

/* Processes are born and buried while this is read: one load, no lock. */
static u32 records(const struct seep_room *r, u32 share)
{
	return *(const volatile u32 *)&r->n[share];
}

/**
 * seep_room_begin() - begin to choose exchanges
 * @r: out
 * @n: records by share, SEEP_ROOM_SHARES of them
 * @max: most records in the table
 */
void seep_room_begin(struct seep_room *r, const u32 *n, u32 max)
{
	u32 share;

	r->n = n;
	r->max = max;
	r->top = 0;
	r->newcomers = 0;
	r->victims = 0;
	memset(r->dropped, 0, sizeof(r->dropped));
	for (share = 1; share < SEEP_ROOM_SHARES; share++)
		if (records(r, share) >= records(r, r->top))
			r->top = share;
}

/*
 * @share may get a record of the share that has the most. @got and @given: out: how many
 * records it would have then, and how many the other has now.
 */
static bool may_get(const struct seep_room *r, u32 share, u32 *got, u32 *given)
{
	*got = records(r, share) + 1;
	*given = records(r, r->top);
	return *got <= seep_room_cap(share, r->max) && *given > *got;
}

/* Shares with few records come first, then weight decides. */
static bool before(const struct seep_room_side *a, const struct seep_room_side *b)
{
	return a->poor != b->poor ? a->poor : a->weight > b->weight;
}

/* Where there are too many: the share with the most gives way. */
static bool drops_before(const struct seep_room_side *a, const struct seep_room_side *b)
{
	return a->same != b->same ? a->same > b->same : before(b, a);
}

/**
 * seep_room_offer() - a process without a record may become a newcomer
 * @r: begun
 * @share: of its user
 * @weight: anonymous memory and swap, bytes
 * @nr: its pid
 */
void seep_room_offer(struct seep_room *r, u32 share, u64 weight, u32 nr)
{
	struct seep_room_side new = { .weight = weight, .share = share, .same = 1, .nr = nr };
	struct seep_room_side *c, *last = &new, *dropped = &r->dropped[share % SEEP_ROOM_HINTS];
	u32 got, given;

	if (weight < SEEP_ROOM_LEAST)
		return;
	new.poor = may_get(r, share, &got, &given);
	/* no newcomer has changed since a heavier one like it was dropped */
	if (dropped->share == share && dropped->weight >= weight && dropped->poor == new.poor)
		return;
	for (c = r->newcomer; c < r->newcomer + r->newcomers; c++) {
		if (c->share != share)
			continue;
		c->same++;
		new.same++;
	}
	if (r->newcomers < SEEP_ROOM_MOVES) {
		r->newcomer[r->newcomers++] = new;
		return;
	}
	for (c = r->newcomer; c < r->newcomer + r->newcomers; c++)
		if (drops_before(c, last))
			last = c;
	share = last->share;
	if (last == &new)
		*dropped = new;
	else
		memset(r->dropped, 0, sizeof(r->dropped));
	*last = new;
	for (c = r->newcomer; c < r->newcomer + r->newcomers; c++)
		c->same -= c->share == share;
}

/* A place for the lightest record of @share that no other place has. */
static void add_place(struct seep_room *r, u32 share)
{
	r->victim[r->victims++] = (struct seep_room_side){ .weight = ~0ULL, .share = share };
}

/**
 * seep_room_ask() - all newcomers are known: make places for the records they may take
 * @r: after the last seep_room_offer()
 */
void seep_room_ask(struct seep_room *r)
{
	u32 i;

	for (i = 0; i < r->newcomers; i++) {
		add_place(r, r->newcomer[i].share);
		add_place(r, r->top);
	}
	memset(r->most, 0, sizeof(r->most));
	r->none = (struct seep_room_side){ .share = SEEP_ROOM_SHARES };
}

/* The heaviest place of a share; without a place one that no record is lighter than. */
static struct seep_room_side *heaviest(struct seep_room *r, u32 share)
{
	struct seep_room_side *v, *most = &r->none;

	for (v = r->victim; v < r->victim + r->victims; v++)
		if (v->share == share && (most == &r->none || v->weight > most->weight))
			most = v;
	return most;
}

/**
 * seep_room_consider() - a record may be given up
 * @r: after seep_room_ask()
 * @share: of its user
 * @weight: below ~0ULL
 * @rec: the record
 */
void seep_room_consider(struct seep_room *r, u32 share, u64 weight, void *rec)
{
	struct seep_room_side **hint = &r->most[share % SEEP_ROOM_HINTS], *most = *hint;

	if (!most || most->share != share) {
		most = heaviest(r, share);
		*hint = most;
	}
	if (weight >= most->weight)
		return;
	most->weight = weight;
	most->rec = rec;
	*hint = NULL;
}

/* The lightest record of a share; NULL: none. */
static struct seep_room_side *lightest(struct seep_room *r, u32 share)
{
	struct seep_room_side *v, *least = NULL;

	for (v = r->victim; v < r->victim + r->victims; v++)
		if (v->share == share && v->rec && (!least || v->weight < least->weight))
			least = v;
	return least;
}

/* The record that is given up for @c; NULL: none. */
static struct seep_room_side *choose(struct seep_room *r, const struct seep_room_side *c)
{
	struct seep_room_side *v = lightest(r, c->share);
	u32 got, given;

	if (v && v->weight <= c->weight / 2)
		return v;
	v = lightest(r, r->top);
	if (v && may_get(r, c->share, &got, &given) &&
	    (given > seep_room_cap(r->top, r->max) || given / 2 > got ||
	     v->weight <= c->weight / 2))
		return v;
	return NULL;
}

/**
 * seep_room_next() - the next exchange
 * @r: after the last seep_room_consider()
 * @newcomer: out: it gets a record
 * @rec: out: the record that is given up
 *
 * The caller carries it out before the next call, which then finds other numbers of records.
 *
 * Return: false when there is none.
 */
bool seep_room_next(struct seep_room *r, struct seep_room_side *newcomer, void **rec)
{
	struct seep_room_side *c, *v, *first;

	while (r->newcomers) {
		first = r->newcomer;
		for (c = first + 1; c < r->newcomer + r->newcomers; c++)
			if (before(c, first))
				first = c;
		*newcomer = *first;
		*first = r->newcomer[--r->newcomers];
		v = choose(r, newcomer);
		if (!v)
			continue;
		*rec = v->rec;
		v->rec = NULL;
		return true;
	}
	return false;
}
