// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of the envelope in memory: what a life adds to them, and which ones go. A user may start
 * any number of processes of any name. The bounds are such that these push out entries of the same
 * user only, or of other users that have as many.
 */
#include <stdlib.h>
#include <string.h>
#include "envelope/envelope.h"

static bool is_of(const struct envelope_key *a, const struct envelope_key *b)
{
	return a->uid == b->uid && a->owner == b->owner && !strcmp(a->comm, b->comm) &&
	       !strcmp(a->unit, b->unit);
}

/* Returns NULL if there is none. */
struct envelope_entry *envelope_find(const struct envelope *e, const struct envelope_key *key)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (is_of(&e->v[i].key, key))
			return &e->v[i];
	return NULL;
}

struct envelope_entry *envelope_add(struct envelope *e, const struct envelope_entry *entry)
{
	if (!(e->n & (e->n - 1)))	/* a power of 2, or 0: there is room up to here */
		e->v = must(realloc(e->v, (e->n ? 2 * e->n : 1) * sizeof(*e->v)));
	e->v[e->n] = *entry;
	return &e->v[e->n++];
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 most(u64 a, u64 b)
{
	return a > b ? a : b;
}

/*
 * Adds what the module says of a process: @seen, with the load and the time in instance and
 * confirmed_ns. Each figure only rises. Returns whether an entry has changed.
 *
 * The load of the module that the figures are from stays, unless one of them has risen. So a load
 * that was told of them does not count as the one that learned them.
 */
bool envelope_take(struct envelope *e, const struct envelope_entry *seen)
{
	u64 rise = least(seen->rise, ENVELOPE_RISE_MAX);
	u64 span = least(seen->span_s, ENVELOPE_SPAN_MAX);
	struct envelope_entry *entry = envelope_find(e, &seen->key);
	u64 now = seen->confirmed_ns;
	bool is_new = !entry;

	if (!rise)
		return false;
	entry = entry ?: envelope_add(e, seen);
	if (is_new || rise > entry->rise || span > entry->span_s) {
		entry->rise = is_new ? rise : most(rise, entry->rise);
		entry->span_s = is_new ? span : most(span, entry->span_s);
		entry->instance = seen->instance;
		entry->learned_ns = now;
		entry->confirmed_ns = now;
		return true;
	}
	/* never back: at boot a clock may not be set yet */
	if (now < entry->confirmed_ns || now - entry->confirmed_ns < ENVELOPE_STEP_NS)
		return false;
	entry->confirmed_ns = now;
	return true;
}

void envelope_remove(struct envelope *e, size_t i)
{
	memmove(&e->v[i], &e->v[i + 1], (--e->n - i) * sizeof(*e->v));
}

/* An entry with its place among those of its owner: 0 is the newest. */
struct ranked {
	struct envelope_entry entry;
	size_t rank;
};

static int newest_first(const struct envelope_entry *a, const struct envelope_entry *b)
{
	if (a->confirmed_ns != b->confirmed_ns)
		return a->confirmed_ns < b->confirmed_ns ? 1 : -1;
	return a->learned_ns < b->learned_ns ? 1 : a->learned_ns > b->learned_ns ? -1 : 0;
}

static int by_owner(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->entry.key.owner != b->entry.key.owner)
		return a->entry.key.owner < b->entry.key.owner ? -1 : 1;
	return newest_first(&a->entry, &b->entry);
}

/* Those of root before all others, then the first of each owner before the second of any. */
static int by_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	bool root = !a->entry.key.owner;

	if (root != !b->entry.key.owner)
		return root ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return newest_first(&a->entry, &b->entry);
}

static void rank(struct ranked *r, size_t n)
{
	size_t i;

	qsort(r, n, sizeof(*r), by_owner);
	for (i = 0; i < n; i++)
		r[i].rank = i && r[i - 1].entry.key.owner == r[i].entry.key.owner ?
			    r[i - 1].rank + 1 : 0;
	qsort(r, n, sizeof(*r), by_rank);
}

static bool may_stay(const struct ranked *r, u64 now_ns)
{
	const struct envelope_entry *entry = &r->entry;

	if (entry->key.owner && r->rank >= ENVELOPE_OF_USER)
		return false;
	return now_ns <= entry->confirmed_ns || now_ns - entry->confirmed_ns <= ENVELOPE_AGE_NS;
}

/*
 * Drops what has not been confirmed for ENVELOPE_AGE_NS, the oldest entries of owners that have
 * too many, and where there are too many in all, those of the owners that have most. Entries of
 * root go last. Returns whether one was dropped.
 */
bool envelope_trim(struct envelope *e, u64 now_ns)
{
	struct ranked *r = must(calloc(e->n + 1, sizeof(*r)));
	size_t i, n = e->n;

	for (i = 0; i < n; i++)
		r[i].entry = e->v[i];
	rank(r, n);
	e->n = 0;
	for (i = 0; i < n && e->n < ENVELOPE_MOST; i++)
		if (may_stay(&r[i], now_ns))
			e->v[e->n++] = r[i].entry;
	free(r);
	return e->n != n;
}

void envelope_free(struct envelope *e)
{
	free(e->v);
	memset(e, 0, sizeof(*e));
}
