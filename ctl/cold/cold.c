// SPDX-License-Identifier: GPL-2.0
/*
 * Computes from the text of smaps the share of the grown memory that was not used
 * again. Pure code: it opens no file and reads no clock.
 */
#include <stdlib.h>
#include <string.h>
#include "cold/cold.h"

/* Is a mapping of this name shared memory, not a file on a disk? */
static bool is_shmem(const char *name)
{
	static const char *const begins[] = { "/memfd:", "/dev/shm/", "/dev/zero", "/SYSV" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/*
 * Parses the first line of a mapping, "start-end perms offset dev inode name".
 * Returns false for any other line.
 */
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
	if (look->n == look->capacity) {
		look->capacity = look->capacity ? 2 * look->capacity : 64;
		look->v = must(realloc(look->v, look->capacity * sizeof(*look->v)));
	}
	look->v[look->n++] = *m;
}

/*
 * Stores the mapping after its last line. Of a private file mapping only the anonymous
 * pages belong to the process: Rss counts all pages, Anonymous those written to. smaps
 * does not say how many anonymous pages are referenced. The lower bound is used: all
 * file pages are referenced.
 *
 *	Rss 100, Anonymous 40: 60 file pages
 *	Referenced 70: 60 file pages, at least 10 anonymous pages
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

/* Parses a line "Name:  123 kB". */
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
 * Reads the next line of smaps. Returns false if there are more than COLD_MAPS_MAX
 * mappings, or if their addresses do not rise, which cold_overlap() depends on.
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

/* Returns the unused bytes. Swapped out memory is unused: using it swaps it in. */
u64 cold_unused(const struct cold_map *m)
{
	return m->size - m->used;
}

/*
 * Returns how many bytes of an earlier look lay at the addresses of @m. Mappings grow
 * at both ends, merge and split, so the size of an earlier mapping is spread evenly
 * over its addresses. A mapping of 100 MB of which @m covers one half adds 50 MB.
 * @from: index to start at; calls by rising address of @m pass the same variable.
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
 * Computes the memory gained between @first and @before that @now still holds, and how
 * much of it was not used between @before and @now.
 *
 * Memory gained after @before does not count: the fault that mapped it has set its
 * referenced bit. smaps does not tell new pages of a mapping from old ones. Unused pages
 * are taken for new ones, up to the growth of the mapping:
 *
 *	10 MB at @first, 30 MB at @before	20 MB grown
 *	40 MB at @now, 25 MB of them unused	20 MB of the growth unused, not 25
 */
void cold_weigh(const struct cold_look *first, const struct cold_look *before,
		const struct cold_look *now, struct cold_sum *sum)
{
	size_t at_first = 0, at_before = 0, i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < now->n; i++) {
		const struct cold_map *m = &now->v[i];
		u64 old = cold_overlap(first, m, &at_first);
		u64 prev = cold_overlap(before, m, &at_before);
		u64 unused = cold_unused(m), grown;

		if (prev > m->size)
			prev = m->size;
		grown = prev > old ? prev - old : 0;
		sum->grown += grown;
		sum->unused += unused < grown ? unused : grown;
	}
}

/* Returns the unused share of the growth in permille, -1 if less than COLD_LEAST grew. */
int cold_permille(const struct cold_sum *sum)
{
	if (sum->grown < COLD_LEAST)
		return -1;
	return (int)(1000.0 * (double)sum->unused / (double)sum->grown);
}

/*
 * Predicts the unused share after a window twice as long as the last one.
 * @permille: unused share in the last window, -1: unknown
 * @before: unused share in the window before, half as long
 *
 * Memory that a program uses in turns or at random is all used in time: the unused
 * share shrinks by the same ratio with each doubling of the window. Leaked memory
 * stays unused. Worked example: 800, then 600 permille predicts 600 * 600 / 800 = 450.
 * A share that does not shrink is returned as it is.
 */
int cold_foresee(int permille, int before)
{
	return permille >= 0 && before > permille ? permille * permille / before : permille;
}

/*
 * Returns the time of the next look in ms, after a look at @now_ms that took
 * @cost_ms. The time since the first look doubles, so that the window in which memory
 * can be used grows with the time in which it was gained. Looks at 0, 5, 10, 20, 40 s
 * and so on; a look that takes 200 ms is followed by a pause of at least 20 s.
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

/*
 * Returns when to look next without clearing, in ms since the bits were cleared; UINT64_MAX:
 * not again. @since_ms: time of the last look, 0: that which cleared; @cost_ms: what it took.
 * These looks may come closer than COLD_COST allows: watch makes them only in a window that is long
 * enough for all of them.
 */
u64 cold_peek(u64 since_ms, u64 cost_ms)
{
	static const u32 at[] = { 1000, COLD_FAST_MS, 30000, COLD_SLOW_MS };
	u64 least = since_ms + cost_ms * COLD_BURST;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		if (at[i] > since_ms)
			return at[i] > least ? at[i] : least;
	return UINT64_MAX;
}

/* Adds a look, @since_ms after the bits were cleared. */
void cold_add(struct cold_curve *c, u64 since_ms, int permille)
{
	if (c->n < COLD_POINTS)
		c->at[c->n++] = (struct cold_point){ (u32)since_ms, (u32)permille };
}

/**
 * cold_rate() - how fast does the unused share fall?
 *
 * Objects in use are used soon. Leaked objects are not, but live ones that share their pages
 * are, so that in time the pages of a leak are referenced as well. Unused shares of a tree and
 * of redis, permille:
 *
 *			after 5 s	after 120 s
 *	in use		10, 190		10
 *	leaking		810, 630	10
 *
 * The time in which half of it is used lies between two looks and is taken from the straight
 * line between them. 1000 at 0 s, 960 at 1 s and 190 at 5 s: half at 3.4 s, which is fast.
 *
 * Where all is used at the first look, each page may have a live object, whatever else is on
 * it, or the program goes through all of its memory all the time. The bits cannot tell.
 */
enum cold_rate cold_rate(const struct cold_curve *c)
{
	u64 before = 1000, before_ms = 0, half;
	u32 i;

	if (!c->n)
		return COLD_NONE;
	if (c->at[0].permille <= COLD_ALL)
		return COLD_AT_ONCE;
	for (i = 0; i < c->n; i++) {
		const struct cold_point *p = &c->at[i];

		if (p->permille < COLD_HALF) {
			half = before_ms + (before - COLD_HALF) * (p->ms - before_ms) /
					   (before - p->permille);
			return half <= COLD_FAST_MS ? COLD_FAST :
			       half <= COLD_SLOW_MS ? COLD_SLOW : COLD_LATE;
		}
		before = p->permille;
		before_ms = p->ms;
	}
	return COLD_LATE;
}
