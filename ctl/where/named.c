// SPDX-License-Identifier: GPL-2.0
/*
 * Which sites are named. A site has blocks that stay, enough of them, and nearly all that it
 * allocated. How many of its blocks stay is known from the calls that were drawn at random; which
 * ones from the latest calls by address, too, as these have nearly every block that stays.
 *
 * Example: a cache that is full has 4096 entries, each for eight seconds. All looks were within
 * six, so that all blocks stay. But the class does not grow: nobody is named. judge.c has the same
 * of pages.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "where/site.h"

#define LEAST		5U	/* survivors of a site that is named */
#define LEAST_FEW	2U	/* where the class grows by few blocks */
#define SURVIVE		900U	/* permille */
#define DRAWN		20U	/* random calls that tell how many blocks stay */
#define TURNOVER	10	/* what stays, by what the class grows */
#define PAUSED		4	/* the growth became less than a quarter */
#define SHARE		10	/* less than a tenth of what stays */
#define OCTAVES		64U

static int by_unchanged(const void *x, const void *y)
{
	const struct site *a = x, *b = y;

	if (a->excess != b->excess)
		return a->excess ? 1 : -1;
	if (a->unchanged_bytes != b->unchanged_bytes)
		return a->unchanged_bytes < b->unchanged_bytes ? 1 : -1;
	return a->all.samples < b->all.samples ? 1 : a->all.samples > b->all.samples ? -1 : 0;
}

static unsigned int permille(unsigned int part, unsigned int of)
{
	return of ? (part * 1000 + of / 2) / of : 0;
}

/* Wilson's interval of a share, for 95 % */
static struct json_object *interval(unsigned int part, unsigned int of)
{
	struct json_object *list = json_object_new_array();
	double z = 1.96, n = of, p = part / n, mid = p + z * z / (2 * n);
	double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)), all = 1 + z * z / n;
	double lo = 1000 * (mid - half) / all, hi = 1000 * (mid + half) / all;

	json_object_array_add(list, json_object_new_int((int)(lo > 0 ? lo : 0)));
	json_object_array_add(list, json_object_new_int((int)(hi < 1000 ? hi + 0.5 : 1000)));
	return list;
}

/* What tells how many of the site's blocks stay: the calls drawn at random, if there are any */
static const struct site_counts *judged(const struct site *s)
{
	return s->drawn.samples >= LEAST ? &s->drawn : &s->all;
}

/* How many of the site's blocks stayed, look by look */
static struct json_object *marks_json(const struct survivors *v, const struct site_counts *t)
{
	struct json_object *list = json_object_new_array(), *o;
	unsigned int i;

	for (i = 0; i < v->marks.n; i++) {
		o = json_object_new_object();
		json_object_object_add(o, "seconds", json_object_new_uint64(v->marks.seconds[i]));
		json_object_object_add(o, "blocks", json_object_new_uint64(t->mark[i].alive));
		json_object_object_add(o, "survival_permille",
				       json_object_new_int((int)permille(t->mark[i].alive,
									 t->samples)));
		json_object_object_add(o, "unchanged_permille",
				       json_object_new_int((int)permille(t->mark[i].unchanged,
									 t->samples)));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *site_json(struct survivors *v, const struct site *s, unsigned int rank,
				     u64 class_bytes, s64 bytes_per_hour, s64 error)
{
	struct json_object *o = json_object_new_object(), *stack = json_object_new_array();
	const struct site_counts *t = judged(s);
	unsigned int i;

	json_object_object_add(o, "rank", json_object_new_uint64(rank));
	json_object_object_add(o, "class_bytes", json_object_new_uint64(class_bytes));
	json_object_object_add(o, "bytes_per_hour", json_object_new_int64(bytes_per_hour));
	json_object_object_add(o, "error_bytes_per_hour", json_object_new_int64(error));
	json_object_object_add(o, "blocks", json_object_new_uint64(s->all.alive));
	json_object_object_add(o, "freed_blocks",
			       json_object_new_uint64(s->all.samples - s->all.alive));
	json_object_object_add(o, "bytes", json_object_new_uint64(s->bytes));
	json_object_object_add(o, "grows", json_object_new_boolean(s->grows));
	json_object_object_add(o, "turns_over", json_object_new_boolean(s->excess));
	json_object_object_add(o, "samples", json_object_new_uint64(t->samples));
	json_object_object_add(o, "survival_permille",
			       json_object_new_int((int)permille(t->alive, t->samples)));
	json_object_object_add(o, "unchanged_permille",
			       json_object_new_int((int)permille(t->unchanged, t->samples)));
	json_object_object_add(o, "ci95_permille", interval(t->alive, t->samples));
	json_object_object_add(o, "again", marks_json(v, t));
	for (i = 0; i < s->frames; i++)
		unwind_frame_add(v->u, &s->frame[i], stack);
	json_object_object_add(o, "stack", stack);
	return o;
}

static void add(const struct survivors *v, const struct block *b, struct site_counts *t)
{
	unsigned int i;

	t->samples++;
	t->alive += b->alive;
	t->unchanged += b->unchanged;
	for (i = 0; i < v->marks.n; i++) {
		t->mark[i].alive += b->marks_alive >> i & 1;
		t->mark[i].unchanged += b->marks_unchanged >> i & 1;
	}
}

/* Of a block that was made larger only that counts. */
static u64 bytes_of(const struct survivors *v, const struct block *b)
{
	if (v->bins->pool_block)
		return v->bins->pool_block;
	return b->resized ? b->size - (b->first_size < b->size ? b->first_size : b->size) :
	       (b->size + 8 + 15) & ~15ULL;
}

/* Counts anew, after any look. */
static void count(struct survivors *v, struct site_counts *drawn)
{
	size_t i;

	memset(drawn, 0, sizeof(*drawn));
	for (i = 0; i < v->sites; i++) {
		struct site *s = &v->site[i];

		memset(&s->all, 0, sizeof(s->all));
		memset(&s->drawn, 0, sizeof(s->drawn));
		s->bytes = 0;
		s->unchanged_bytes = 0;
		s->largest = 0;
		s->drawn_bytes = 0;
		s->grows = false;
		s->excess = false;
	}
	for (i = 0; i < v->n; i++) {
		const struct block *b = &v->block[i];
		struct site *s = &v->site[b->site];

		if (b->again)
			continue;
		add(v, b, &s->all);
		if (b->drawn)
			add(v, b, &s->drawn);
		if (b->drawn && !b->at_site)
			add(v, b, drawn);
		s->largest = b->alive && b->size > s->largest ? b->size : s->largest;
		s->drawn_bytes += b->alive && b->drawn ? bytes_of(v, b) : 0;
		s->bytes += b->alive ? bytes_of(v, b) : 0;
		s->unchanged_bytes += b->unchanged ? bytes_of(v, b) : 0;
		s->grows = s->grows || (b->alive && b->resized >= LEAST && bytes_of(v, b));
	}
}

static bool is_named(const struct site *s, unsigned int least)
{
	const struct site_counts *t = judged(s);

	return (s->all.alive >= least || s->grows) && permille(t->alive, t->samples) >= SURVIVE;
}

/*
 * Many more blocks stay in a second than the class grows by: they are freed after the looks, as
 * the entries of a full cache are.
 */
static bool is_turnover(const struct survivors *v, const struct site_counts *drawn,
			const struct growth *g)
{
	double stay = drawn->samples ? v->calls * drawn->alive / drawn->samples : 0;
	unsigned int at_sites = 0;
	size_t i;

	for (i = 0; i < v->n; i++)
		at_sites += v->block[i].at_site && v->block[i].alive && !v->block[i].again;
	if (g->recent && at_sites >= LEAST && v->at_sites > 0 &&
	    (double)g->blocks * TURNOVER < at_sites / v->at_sites * g->seconds)
		return true;
	return g->recent && drawn->alive >= LEAST && drawn->samples >= DRAWN &&
	       (double)g->blocks * TURNOVER < stay * g->seconds;
}

/*
 * A runtime that collects garbage frees blocks of malloc() with its objects, all at once and long
 * after they were used. Up to then their class grows.
 */
static bool is_paused(const struct growth *g)
{
	return g->mixed && g->recent && g->later_seconds > 0 &&
	       (double)g->later_blocks * PAUSED * g->seconds <
	       (double)g->blocks * g->later_seconds;
}

/**
 * survivors_sizes() - ranges of sizes in which most of the bytes are that stay
 * @v: after its looks
 * @range: out, from the one with the most bytes on
 * @most: room in @range
 *
 * Return: how many.
 */
size_t survivors_sizes(const struct survivors *v, struct size_range *range, size_t most)
{
	u64 bytes[OCTAVES] = { 0 };
	size_t i, n;

	for (i = 0; i < v->n; i++)
		if (v->block[i].alive && v->block[i].size)
			bytes[63 - __builtin_clzll(v->block[i].size)] += bytes_of(v, &v->block[i]);
	for (n = 0; n < most; n++) {
		size_t best = 0;

		for (i = 1; i < OCTAVES; i++)
			best = bytes[i] > bytes[best] ? i : best;
		if (!bytes[best])
			break;
		range[n].lo = 1ULL << best;
		range[n].hi = 2 * range[n].lo - 1;
		bytes[best] = 0;
	}
	return n;
}

/* How many blocks of a site have to stay: five, or half of those that the growth predicts */
static unsigned int least_of(const struct survivors *v, const struct growth *g)
{
	double armed = v->armed + v->at_sites;
	double half = g->seconds > 0 ? (double)g->blocks / g->seconds * armed / 2 : 0;

	if (g->pages || !g->recent || g->blocks < LEAST_FEW || half >= LEAST)
		return LEAST;
	return half > LEAST_FEW ? (unsigned int)half : LEAST_FEW;
}

/* Finds the sites of blocks that stay, and what the growth says of them. */
static void judge(struct survivors *v, const struct growth *g, struct site_counts *drawn,
		  struct judgment *j)
{
	unsigned int least = least_of(v, g);
	size_t i;

	count(v, drawn);
	for (i = 0; i < v->sites; i++)
		v->site[i].named = is_named(&v->site[i], least);
	if (g->pages)
		judge_pages(v, drawn->samples, g, j);
	else
		*j = (struct judgment){
			.verdict = is_turnover(v, drawn, g) ? JUDGED_TURNOVER :
				   is_paused(g) ? JUDGED_PAUSED : JUDGED_GROWS,
		};
}

/* May a longer look tell whether the sites are to be named? */
bool survivors_open(struct survivors *v, const struct growth *g)
{
	struct site_counts drawn;
	struct judgment j;

	judge(v, g, &drawn, &j);
	return judged_is_open(&j);
}

/* What of the growth is the site's: its part of that of the class, or what it keeps of pages */
static s64 per_hour(const struct site *s, const struct growth *g, u64 all)
{
	if (g->pages)
		return (s64)(s->stays * (double)g->bytes_per_hour / (double)g->trend.bytes);
	if (s->excess)
		return 0;
	return (s64)((double)g->bytes_per_hour * (double)s->bytes / (double)all);
}

/* Adds the sites that are named. Returns their number. */
static unsigned int add_sites(struct survivors *v, struct result *r, const struct growth *g,
			      size_t top)
{
	unsigned int named = 0, alive = 0;
	u64 all = 0, enough;
	size_t i;

	for (i = 0; i < v->sites; i++)
		if (v->site[i].named && !v->site[i].excess) {
			all += v->site[i].bytes;
			alive += v->site[i].all.alive;
		}
	/* Without heads of blocks a few that were freed may look as if they stay. */
	enough = g->pages ? all / SHARE : 0;
	if (v->sites)
		qsort(v->site, v->sites, sizeof(*v->site), by_unchanged);
	for (i = 0; i < v->sites; i++) {
		const struct site *s = &v->site[i];
		s64 grows = s->named ? per_hour(s, g, all) : 0;

		if (!s->named || s->bytes < enough)
			continue;
		if (++named <= top)
			json_object_array_add(r->sites,
					      site_json(v, s, named, g->class_bytes ?: s->largest,
							grows,
							margin_of(v, s, judged(s), g, all,
								  alive, grows)));
	}
	return named;
}

/* How many sites keep all that was seen of them, which is too little for them to be named? */
static unsigned int too_few(const struct survivors *v)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < v->sites; i++) {
		const struct site_counts *t = judged(&v->site[i]);

		n += !v->site[i].named && t->alive && permille(t->alive, t->samples) >= SURVIVE;
	}
	return n;
}

/* Is no site named, but may one be if more of its blocks are seen? */
bool survivors_few(struct survivors *v, const struct growth *g)
{
	struct site_counts drawn;
	struct judgment j;
	size_t i;

	judge(v, g, &drawn, &j);
	for (i = 0; i < v->sites && !v->site[i].named; i++)
		;
	return !g->pages && j.verdict == JUDGED_GROWS && i == v->sites && too_few(v);
}

/*
 * Is the class to be counted once more? Where two sites or more are to be named, of which one may
 * be a cache that keeps more than the class grows by; and in a process that grows elsewhere.
 */
bool survivors_rivals(struct survivors *v, const struct growth *g)
{
	struct site_counts drawn;
	unsigned int named = 0;
	struct judgment j;
	size_t i;

	judge(v, g, &drawn, &j);
	for (i = 0; i < v->sites; i++)
		named += v->site[i].named;
	if (g->pages || (j.verdict != JUDGED_GROWS && j.verdict != JUDGED_TURNOVER))
		return false;
	return (g->mixed && named && j.verdict == JUDGED_GROWS) || excess_may_be(v, g);
}

/**
 * survivors_sites() - add the sites of blocks that stay to the answer
 * @v: after its looks; this is done once, and last
 * @r: to add to
 * @g: growth of the class, which they share by the bytes that stay; or of the process
 * @top: most sites
 *
 * Return: number of sites that are named.
 */
unsigned int survivors_sites(struct survivors *v, struct result *r, const struct growth *g,
			     size_t top)
{
	struct site_counts drawn;
	unsigned int named, few, excess;
	struct judgment j;

	judge(v, g, &drawn, &j);
	/* Without a third look what the class grows by meanwhile is not known. */
	excess = !g->pages && g->later_seconds > 0 ? excess_find(v, g) : 0;
	/* A cache of which the rate was measured hides no leak that explains the growth. */
	if (excess && g->measured && j.verdict == JUDGED_TURNOVER)
		j.verdict = JUDGED_GROWS;
	if (g->measured && g->later_seconds > 0)
		excess_note(v, g, r);
	if (g->pages)
		judged_note(&j, g, r);
	else if (j.verdict == JUDGED_TURNOVER)
		result_note(r, "sites: none, because the class does not grow by a tenth of what "
			    "stays: that is freed later, see --again-after");
	else if (j.verdict == JUDGED_PAUSED)
		result_note(r, "sites: none, because the class grew, but does not go on to: what "
			    "stays may be freed with the garbage of the runtime");
	if (j.verdict != JUDGED_GROWS && j.verdict != JUDGED_NONE)
		return 0;
	named = add_sites(v, r, g, top);
	if (excess)
		result_note(r, "sites: the last %u of them %s more than the class grows by, and "
			    "the others explain it: looks like a cache, see --again-after", excess,
			    excess == 1 ? "keeps" : "keep");
	few = named || g->pages ? 0 : too_few(v);
	if (few)
		result_note(r, "sites: %u %s all blocks, but too few were seen: longer --seconds "
			    "and more --max-traps show more", few, few == 1 ? "keeps" : "keep");
	if (v->sites > named + j.turnover)
		result_note(r, "sites: %zu more, of few blocks or none that stay",
			    v->sites - named - j.turnover);
	return named;
}
