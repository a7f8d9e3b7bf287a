// SPDX-License-Identifier: GPL-2.0
/*
 * From the text of smaps to the share of what grew that was not used again.
 * No file is opened and no clock is read here.
 */
#include <stdlib.h>
#include <string.h>
#include "cold.h"

/* Shared memory that is no file on a disk, as its name shows it */
static bool is_shmem(const char *name)
{
	static const char *const begins[] = { "/memfd:", "/dev/shm/", "/dev/zero", "/SYSV" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* "start-end perms offset dev inode name"; false: it is no such line */
static bool read_head(struct cold_reader *r, const char *line)
{
	unsigned long long start, end, inode;
	char perms[5];
	int n = 0;

	if (sscanf(line, "%llx-%llx %4s %*x %*x:%*x %llu%n", &start, &end, perms, &inode, &n) < 4 ||
	    !n || end <= start || strlen(perms) != 4)
		return false;
	line += n;
	line += strspn(line, " ");
	memset(&r->at, 0, sizeof(r->at));
	r->at.start = start;
	r->at.end = end;
	snprintf(r->at.name, sizeof(r->at.name), "%.*s", (int)strcspn(line, "\n"), line);
	if (!strncmp(line, "[v", 2))		/* vdso, vvar, vsyscall */
		r->kind = COLD_SKIP;
	else if (!inode || (perms[3] == 's' && is_shmem(line)))
		r->kind = COLD_OWN;
	else
		r->kind = perms[3] == 'p' && perms[1] == 'w' ? COLD_FILE : COLD_SKIP;
	r->rss = 0;
	r->swap = 0;
	r->anonymous = 0;
	return true;
}

static void keep(struct cold_look *look, const struct cold_map *m)
{
	if (look->n == look->room) {
		look->room = look->room ? 2 * look->room : 64;
		look->v = must(realloc(look->v, look->room * sizeof(*look->v)));
	}
	look->v[look->n++] = *m;
}

/*
 * What was read of a mapping is all there is. Of one of a file only the pages
 * it wrote to are its own; how many of these are referenced is not told: no
 * more than are not its own can be missing, so these are taken for the used.
 */
static void end_map(struct cold_reader *r)
{
	struct cold_map *m = &r->at;
	u64 others = r->rss > r->anonymous ? r->rss - r->anonymous : 0;

	if (!r->begun || r->kind == COLD_SKIP)
		return;
	m->size = r->rss + r->swap;
	if (r->kind == COLD_FILE) {
		m->size = (r->rss - others) + r->swap;
		m->used = m->used > others ? m->used - others : 0;
	}
	if (m->used > m->size)
		m->used = m->size;
	if (m->size)
		keep(r->look, m);
}

void cold_begin(struct cold_reader *r, struct cold_look *look)
{
	memset(r, 0, sizeof(*r));
	memset(look, 0, sizeof(*look));
	r->look = look;
}

/* "Name:  123 kB" */
static void read_value(struct cold_reader *r, const char *line)
{
	const struct {
		const char *name;
		u64 *dest;
	} names[] = {
		{ "Rss:", &r->rss }, { "Referenced:", &r->at.used },
		{ "Anonymous:", &r->anonymous }, { "Swap:", &r->swap },
	};
	size_t i, n;
	u64 kb;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		n = strlen(names[i].name);
		if (strncmp(line, names[i].name, n))
			continue;
		kb = strtoull(line + n, NULL, 10);
		*names[i].dest = kb < 1ULL << 50 ? kb << 10 : 0;
		return;
	}
}

/*
 * The next line of smaps. False: there are too many mappings, or they do not
 * come by rising address, as all that compares them needs it.
 */
bool cold_line(struct cold_reader *r, const char *line)
{
	u64 end = r->begun ? r->at.end : 0;
	struct cold_reader next = *r;

	if ((*line >= 'A' && *line <= 'Z') || !read_head(&next, line)) {
		if (r->begun && r->kind != COLD_SKIP)
			read_value(r, line);
		return true;
	}
	end_map(r);
	next.begun = true;
	*r = next;
	return r->at.start >= end && ++r->look->seen <= COLD_MAPS_MAX;
}

void cold_end(struct cold_reader *r)
{
	end_map(r);
	r->begun = false;
}

void cold_free(struct cold_look *look)
{
	free(look->v);
	memset(look, 0, sizeof(*look));
}

/* Swapped out is unused: what is used does not stay there. */
u64 cold_unused(const struct cold_map *m)
{
	return m->size - m->used;
}

/*
 * How much of what an earlier look saw lay where @m is now. Mappings grow at
 * both ends, join and split: what one had goes with its addresses, evenly.
 * @from: where to begin, for the next one by address.
 */
u64 cold_overlap(const struct cold_look *look, const struct cold_map *m, size_t *from)
{
	double sum = 0;
	size_t i;

	while (*from < look->n && look->v[*from].end <= m->start)
		++*from;
	for (i = *from; i < look->n && look->v[i].start < m->end; i++) {
		const struct cold_map *o = &look->v[i];
		u64 start = o->start > m->start ? o->start : m->start;
		u64 end = o->end < m->end ? o->end : m->end;

		sum += (double)o->size * ((double)(end - start) / (double)(o->end - o->start));
	}
	return (u64)(sum + 0.5);
}

/*
 * Of what grew from the first look to the one before this, and is still there,
 * how much has not been used between that one and this. What came after that
 * look is referenced because it came, and counts for nothing. Which pages of a
 * mapping are the new ones is not known: as many unused ones as it grew by are.
 */
void cold_weigh(const struct cold_look *first, const struct cold_look *before,
		const struct cold_look *now, struct cold_sum *sum)
{
	size_t at_first = 0, at_before = 0, i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < now->n; i++) {
		const struct cold_map *m = &now->v[i];
		u64 old = cold_overlap(first, m, &at_first);
		u64 then = cold_overlap(before, m, &at_before);
		u64 unused = cold_unused(m), grown;

		if (then > m->size)
			then = m->size;
		grown = then > old ? then - old : 0;
		sum->grown += grown;
		sum->unused += unused < grown ? unused : grown;
	}
}

/* -1: too little grew to tell */
int cold_permille(const struct cold_sum *sum)
{
	if (sum->grown < COLD_LEAST)
		return -1;
	return (int)(1000.0 * (double)sum->unused / (double)sum->grown);
}

/*
 * What would be unused after a window twice as long as that which @permille is
 * of, @before that of one half as long; -1: not known. Memory in use, in turns
 * or at random, is used up in time: what is left of it shrinks again as it did.
 * What is dead stays, and so does a share that does not shrink.
 */
int cold_foresee(int permille, int before)
{
	return permille >= 0 && before > permille ? permille * permille / before : permille;
}

/*
 * When to look next, after a look at @now_ms that took @cost_ms: when the time
 * since the first look has doubled, so that the time in which memory may be
 * used grows with the time it took to grow.
 */
u64 cold_next(u64 first_ms, u64 now_ms, u64 cost_ms)
{
	u64 wait = now_ms - first_ms;

	if (wait < COLD_FIRST_MS)
		wait = COLD_FIRST_MS;
	if (wait > COLD_FAR_MS)
		wait = COLD_FAR_MS;
	if (wait < cost_ms * COLD_COST)
		wait = cost_ms * COLD_COST;
	return now_ms + wait;
}
