// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas: a table of users, and how much each has of what is bounded. See quota.h.
 *
 * Context: any; pure. Lock: the caller serialises calls; in the module seep_table_mutex.
 */
#include "quota.h"

static struct seep_quota *table;	/* SEEP_QUOTA_ROWS */
static u32 rows;			/* those from here on were never used */

/**
 * seep_quota_init() - set the table, empty
 * @mem: SEEP_QUOTA_ROWS rows, zeroed; it must live as long as anything is held
 *
 * Context: before all other calls.
 */
void seep_quota_init(struct seep_quota *mem)
{
	table = mem;
	rows = SEEP_QUOTA_USER;
}

/**
 * seep_quota_row() - the row of a user
 * @uid: the user
 *
 * The row remains that of the user while something is held in it.
 *
 * Context: the mutex.
 * Return: the row; SEEP_QUOTA_SHARED when the table is full.
 */
u16 seep_quota_row(u32 uid)
{
	u32 i, empty = rows < SEEP_QUOTA_ROWS ? rows : SEEP_QUOTA_SHARED;

	if (!uid)
		return SEEP_QUOTA_ROOT;
	for (i = SEEP_QUOTA_USER; i < rows; i++) {
		if (table[i].uid == uid)
			return (u16)i;
		if (!table[i].held)
			empty = i;
	}
	if (empty == rows)
		rows++;
	table[empty].uid = uid;
	return (u16)empty;
}

/**
 * seep_quota_sum() - how much of a kind all users have
 * @kind: what
 *
 * Context: the mutex; for display any, where the figure may be out of date.
 */
u32 seep_quota_sum(enum seep_quota_kind kind)
{
	return table[SEEP_QUOTA_ALL].n[kind];
}

/**
 * seep_quota_used_up() - has a user all of its share?
 * @row: of the user
 * @kind: what
 * @most: how much there is for all users
 *
 * The share of a user other than root is half or a quarter of @most, at least 1.
 *
 * Context: the mutex.
 * Return: always false for root.
 */
bool seep_quota_used_up(u16 row, enum seep_quota_kind kind, u32 most)
{
	u32 share = kind < SEEP_QUOTA_MINUTE ? most / 2 : most / 4;

	return row != SEEP_QUOTA_ROOT && table[row].n[kind] >= (share ? share : 1);
}

/**
 * seep_quota_left() - may a user take one more?
 * @row: of the user
 * @kind: what
 * @most: how much there is for all users
 *
 * A few users may have taken all of @most: the first one of what is sent or read often is there
 * for everybody.
 *
 * Context: the mutex.
 * Return: false where the share of the user, or all of @most, is taken.
 */
bool seep_quota_left(u16 row, enum seep_quota_kind kind, u32 most)
{
	if (kind >= SEEP_QUOTA_MINUTE && !table[row].n[kind])
		return true;
	return seep_quota_sum(kind) < most && !seep_quota_used_up(row, kind, most);
}

/**
 * seep_quota_take() - take one if the share of the user allows it
 * @row: of the user; kept by the caller for seep_quota_give()
 * @kind: what
 * @most: how much there is for all users
 *
 * Context: the mutex.
 * Return: false: nothing was taken.
 */
bool seep_quota_take(u16 row, enum seep_quota_kind kind, u32 most)
{
	if (!seep_quota_left(row, kind, most))
		return false;
	table[SEEP_QUOTA_ALL].n[kind]++;
	table[row].n[kind]++;
	table[row].held++;
	return true;
}

/**
 * seep_quota_give() - give one back
 * @row: it was taken from; SEEP_QUOTA_ALL: nothing was taken
 * @kind: what
 *
 * Context: the mutex.
 */
void seep_quota_give(u16 row, enum seep_quota_kind kind)
{
	if (row == SEEP_QUOTA_ALL)
		return;
	table[SEEP_QUOTA_ALL].n[kind]--;
	table[row].n[kind]--;
	table[row].held--;
}

/**
 * seep_quota_begin_minute() - nothing was sent in this minute yet
 *
 * Context: the mutex.
 */
void seep_quota_begin_minute(void)
{
	u32 i;

	table[SEEP_QUOTA_ALL].n[SEEP_QUOTA_MINUTE] = 0;
	for (i = SEEP_QUOTA_ROOT; i < rows; i++) {
		table[i].held -= table[i].n[SEEP_QUOTA_MINUTE];
		table[i].n[SEEP_QUOTA_MINUTE] = 0;
	}
}
