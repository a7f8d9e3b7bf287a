// SPDX-License-Identifier: GPL-2.0
/*
 * A set of addresses that are multiples of 16: a bitmap of 8 KiB for each MiB that has
 * any, found through a hash table. 1 GiB of heap takes 8 MiB.
 */
#include <stdlib.h>
#include "where/where.h"

#define UNIT_BITS	20
#define UNIT_WORDS	((1U << UNIT_BITS) / 16 / 64)

struct unit {
	u64 number;		/* of the MiB, plus 1; 0: free */
	u64 *bits;
};

struct seen {
	struct unit *unit;
	size_t n, capacity;	/* capacity: a power of two */
	struct unit *last;	/* used last */
};

struct seen *seen_new(void)
{
	struct seen *s = must(calloc(1, sizeof(*s)));

	s->capacity = 256;
	s->unit = must(calloc(s->capacity, sizeof(*s->unit)));
	return s;
}

static struct unit *slot(struct unit *unit, size_t capacity, u64 number)
{
	size_t i = (size_t)((number * 0x9e3779b97f4a7c15ULL) >> 20) & (capacity - 1);

	while (unit[i].number && unit[i].number != number)
		i = (i + 1) & (capacity - 1);
	return &unit[i];
}

static void grow(struct seen *s)
{
	size_t capacity = 2 * s->capacity, i;
	struct unit *unit = must(calloc(capacity, sizeof(*unit)));

	for (i = 0; i < s->capacity; i++)
		if (s->unit[i].number)
			*slot(unit, capacity, s->unit[i].number) = s->unit[i];
	free(s->unit);
	s->unit = unit;
	s->capacity = capacity;
}

void seen_add(struct seen *s, u64 addr)
{
	u64 number = (addr >> UNIT_BITS) + 1, bit = (addr & ((1U << UNIT_BITS) - 1)) / 16;
	struct unit *u = s->last;

	if (!u || u->number != number) {
		if (s->n * 2 >= s->capacity)
			grow(s);
		u = slot(s->unit, s->capacity, number);
		if (!u->number) {
			u->number = number;
			u->bits = must(calloc(UNIT_WORDS, sizeof(*u->bits)));
			s->n++;
		}
		s->last = u;
	}
	u->bits[bit / 64] |= 1ULL << (bit % 64);
}

void seen_remove(struct seen *s, u64 addr)
{
	u64 bit = (addr & ((1U << UNIT_BITS) - 1)) / 16;
	struct unit *u = slot(s->unit, s->capacity, (addr >> UNIT_BITS) + 1);

	if (u->number)
		u->bits[bit / 64] &= ~(1ULL << (bit % 64));
}

bool seen_has(const struct seen *s, u64 addr)
{
	u64 bit = (addr & ((1U << UNIT_BITS) - 1)) / 16;
	const struct unit *u = slot(s->unit, s->capacity, (addr >> UNIT_BITS) + 1);

	return u->number && u->bits[bit / 64] >> (bit % 64) & 1;
}

void seen_free(struct seen *s)
{
	size_t i;

	for (i = 0; s && i < s->capacity; i++)
		free(s->unit[i].bits);
	if (s)
		free(s->unit);
	free(s);
}
