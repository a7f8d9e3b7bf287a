// SPDX-License-Identifier: GPL-2.0
/*
 * A hash table from a number to a pointer. Open addressing; at least half of the
 * slots are free.
 */
#include <stdlib.h>
#include <string.h>
#include "series/series.h"

static size_t slot_of(const struct series_map *m, u64 id)
{
	return (size_t)(id * 0x9e3779b97f4a7c15ULL >> 20) & (m->capacity - 1);
}

static struct series_slot *find(const struct series_map *m, u64 id)
{
	size_t i = slot_of(m, id);

	while (m->slot[i].p && m->slot[i].id != id)
		i = (i + 1) & (m->capacity - 1);
	return &m->slot[i];
}

void *series_map_get(const struct series_map *m, u64 id)
{
	return m->n ? find(m, id)->p : NULL;
}

static void grow(struct series_map *m)
{
	struct series_map old = *m;
	size_t i;

	m->capacity = old.capacity ? 2 * old.capacity : 64;
	m->slot = must(calloc(m->capacity, sizeof(*m->slot)));
	for (i = 0; i < old.capacity; i++)
		if (old.slot[i].p)
			*find(m, old.slot[i].id) = old.slot[i];
	free(old.slot);
}

/* Adds @p, not NULL, under @id, which must not be in use. */
void series_map_put(struct series_map *m, u64 id, void *p)
{
	if (2 * m->n >= m->capacity)
		grow(m);
	*find(m, id) = (struct series_slot){ id, p };
	m->n++;
}

/* Deletes @id and reinserts the entries behind it: a search ends at a free slot. */
void series_map_del(struct series_map *m, u64 id)
{
	struct series_slot *hole = m->n ? find(m, id) : NULL, moved;
	size_t i;

	if (!hole || !hole->p)
		return;
	hole->p = NULL;
	m->n--;
	for (i = (size_t)(hole - m->slot + 1) & (m->capacity - 1); m->slot[i].p;
	     i = (i + 1) & (m->capacity - 1)) {
		moved = m->slot[i];
		m->slot[i].p = NULL;
		*find(m, moved.id) = moved;
	}
}
