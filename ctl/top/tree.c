// SPDX-License-Identifier: GPL-2.0
/*
 * Processes by unit, each unit with a message that has the sums of its processes. It is read
 * as the message of a process is.
 */
#include <stdlib.h>
#include <string.h>
#include "top/top.h"

/* Of the other columns a unit has no figure. */
static const u8 added[] = {
	SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES, SEEPAGE_A_FILE_BYTES, SEEPAGE_A_SHMEM_BYTES,
	SEEPAGE_A_SWAP_BYTES, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_FAULT_RATE,
};

static const u8 worst[] = {
	SEEPAGE_A_STATE, SEEPAGE_A_CONFIDENCE, SEEPAGE_A_TTE_SECONDS, SEEPAGE_A_AGE_SECONDS,
};

_Static_assert(ARRAY_SIZE(added) + ARRAY_SIZE(worst) < TREE_SUMS, "a cell for each, and COMM");

static void set(struct tree_unit *u, unsigned int cell, u8 column, const void *value, size_t len)
{
	struct nlattr *a = &u->cell[cell].head;

	a->nla_len = (u16)(NLA_HDRLEN + len);
	a->nla_type = column;
	memcpy(u->cell[cell].value, value, len);
	u->sum.a[column] = a;
}

static void add(struct tree_unit *u, const struct message *msg)
{
	unsigned int i;
	bool first;
	s64 v, sum;
	u64 raw;

	for (i = 0; i < ARRAY_SIZE(added); i++) {
		sum = 0;
		column_value(&u->sum, added[i], &sum);
		if (!column_value(msg, added[i], &v))
			continue;
		raw = (u64)sum + (u64)v;
		set(u, i, added[i], &raw, sizeof(raw));
	}
	for (i = 0; i < ARRAY_SIZE(worst); i++) {
		first = !column_value(&u->sum, worst[i], &sum);
		if (column_value(msg, worst[i], &v) && msg_u64(msg, worst[i], &raw) &&
		    (first || (worst[i] == SEEPAGE_A_TTE_SECONDS ? v < sum : v > sum)))
			set(u, ARRAY_SIZE(added) + i, worst[i], &raw, sizeof(raw));
	}
	u->n++;
}

static bool same(const char *a, const char *b)
{
	return a == b || !strcmp(a ? a : "", b ? b : "");
}

static struct tree_unit *unit_for(struct tree_unit *u, size_t *n, const struct message *msg)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (same(u[i].sum.unit, msg->unit))
			return &u[i];
	u[i].sum.unit = msg->unit;
	(*n)++;
	return &u[i];
}

static void name(struct tree_unit *u)
{
	char text[sizeof(u->cell->value)];

	snprintf(text, sizeof(text), "%zu process%s", u->n, u->n == 1 ? "" : "es");
	set(u, TREE_SUMS - 1, SEEPAGE_A_COMM, text, sizeof(text));
}

static int compare(const void *a, const void *b, void *order)
{
	const struct tree_unit *const *x = a, *const *y = b;

	return list_compare(&(*x)->sum, &(*y)->sum, order);
}

/* Copies a unit; its message points to the cells of the copy. */
static void copy(struct tree_unit *to, const struct tree_unit *from)
{
	unsigned int i;

	*to = *from;
	for (i = 0; i < TREE_SUMS; i++)
		if (to->cell[i].head.nla_len)
			to->sum.a[to->cell[i].head.nla_type] = &to->cell[i].head;
}

/*
 * Sorts units by their sums, and @msg, sorted before, by unit. Returns the units, which the
 * caller frees, with one at the end that is empty.
 */
struct tree_unit *tree_make(struct message *msg, size_t n, struct order o, size_t *n_units)
{
	struct tree_unit *found = must(calloc(n + 1, sizeof(*found))), *units;
	struct tree_unit **of = must(calloc(n + 1, sizeof(*of))), **sorted;
	struct message *old = must(malloc((n + 1) * sizeof(*old)));
	size_t i, at = 0;

	*n_units = 0;
	for (i = 0; i < n; i++) {
		of[i] = unit_for(found, n_units, &msg[i]);
		add(of[i], &msg[i]);
	}
	sorted = must(calloc(*n_units + 1, sizeof(*sorted)));
	units = must(calloc(*n_units + 1, sizeof(*units)));
	for (i = 0; i < *n_units; i++) {
		name(&found[i]);
		sorted[i] = &found[i];
	}
	qsort_r(sorted, *n_units, sizeof(*sorted), compare, &o);
	for (i = 0; i < *n_units; i++) {
		sorted[i]->first = at;
		at += sorted[i]->n;
		copy(&units[i], sorted[i]);
	}
	units[i].first = SIZE_MAX;
	memcpy(old, msg, n * sizeof(*old));
	for (i = 0; i < n; i++)
		msg[of[i]->first++] = old[i];
	free(found);
	free(of);
	free(sorted);
	free(old);
	return units;
}
