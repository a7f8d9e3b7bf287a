// SPDX-License-Identifier: GPL-2.0
/*
 * Does the growth of the process speak for the sites of blocks that stay? That they stay up to the
 * last look says nothing about a cache with entries that live for longer. Where no census counts
 * the class, the memory of the process has to tell, over the same time: what a site keeps makes the
 * process grow, unless as much is freed elsewhere.
 *
 * Example: a full cache takes 120 KB/s, all of which stay up to the last look, in 17 s. That would
 * be 2 MB. The process grew by 60 KB, give or take 90 KB: nobody is named.
 */
#include <math.h>
#include "where/site.h"

#define GROWN		65536	/* bytes, at least; an allocator keeps a few pages more or less */
#define SLACK		1.5	/* what stays may fill gaps that were there */
#define EXPLAINS	10	/* less than a tenth of the growth explains nothing */
#define DEVIATIONS	2

/* What a number of samples is at least, with a certainty of 97.5 % */
static double at_least(unsigned int n)
{
	double low = n - DEVIATIONS * sqrt(n);

	return low > 0 ? low / n : 0;
}

/*
 * How much of a site stays in the time in which the process was seen to grow. The calls that were
 * drawn tell it of frequent sites, the other samples of rare ones.
 */
static void rate(const struct survivors *v, struct site *s, unsigned int drawn, double seconds)
{
	double call = drawn ? v->calls * seconds / drawn : 0, by_calls, by_blocks, a, b;

	by_calls = call * (double)s->drawn_bytes;
	by_blocks = v->armed > 0 ? (double)s->bytes * seconds / v->armed : 0;
	a = by_calls * at_least(s->drawn.alive);
	b = by_blocks * at_least(s->all.alive);
	s->stays_least = a > b ? a : b;
	s->stays = by_calls > by_blocks ? by_calls : by_blocks;
	/* Traps slow the process down: in its own time more would stay. */
	if (v->own > 0)
		s->stays *= v->armed / v->own;
}

/**
 * judge_pages() - take the names off sites for which the growth of the process does not speak
 * @v: its sites are counted and may be named
 * @drawn: number of the calls that were drawn
 * @g: the growth
 * @j: out
 *
 * Of the sites that are left @stays is what they keep, and no more than the process grew by.
 */
void judge_pages(struct survivors *v, unsigned int drawn, const struct growth *g,
		 struct judgment *j)
{
	double grown = (double)g->trend.bytes, error = (double)g->trend.error, least = 0, all = 0;
	double most = SLACK * grown + error, sampled;
	size_t i;

	*j = (struct judgment){ .verdict = JUDGED_NONE };
	for (i = 0; i < v->sites; i++) {
		struct site *s = &v->site[i];

		j->keep += s->named;
		rate(v, s, drawn, g->trend.seconds);
		if (!s->named || s->stays_least <= most)
			continue;
		s->named = false;
		j->turnover++;
	}
	if (!j->keep)
		return;
	j->verdict = JUDGED_STILL;
	if (!(g->trend.seconds > 0))
		j->verdict = JUDGED_SHORT;
	else if (grown > error && g->bytes >= GROWN && g->trend.bytes > g->trend.burst)
		j->verdict = JUDGED_TURNOVER;
	for (i = 0; i < v->sites; i++) {
		least += v->site[i].named ? v->site[i].stays_least : 0;
		all += v->site[i].named ? v->site[i].stays : 0;
	}
	if (j->verdict != JUDGED_TURNOVER || j->turnover == j->keep || least > most)
		return;
	/* Calls are sampled in the burst, in which the process is slower than later. */
	sampled = all / g->trend.seconds * g->trend.burst_seconds;
	j->verdict = sampled * EXPLAINS < (double)g->trend.burst ? JUDGED_LITTLE : JUDGED_GROWS;
	for (i = 0; i < v->sites && all > grown; i++)
		v->site[i].stays *= grown / all;
}

/* Is it too early to say, so that a longer look may tell? */
bool judged_is_open(const struct judgment *j)
{
	return j->verdict == JUDGED_SHORT || j->verdict == JUDGED_STILL ||
	       j->verdict == JUDGED_TURNOVER;
}

/* "the process ..." where its growth speaks for no site */
static const char *still(const struct growth *g)
{
	if (g->trend.bytes <= 0)
		return "did not grow";
	if (g->trend.bytes <= g->trend.error)
		return "is not known to grow";
	return g->bytes < GROWN ? "grew by less than 64 KiB" : "grew in the burst only";
}

/* Says why no site is named. */
void judged_note(const struct judgment *j, const struct growth *g, struct result *r)
{
	double hours = g->trend.seconds > 0 ? 3600 / g->trend.seconds : 0;
	char grown[32], error[32];

	switch (j->verdict) {
	case JUDGED_STILL:
		fmt_growth(grown, sizeof(grown), (s64)((double)g->trend.bytes * hours));
		fmt_growth(error, sizeof(error), (s64)((double)g->trend.error * hours));
		result_note(r, "sites: none, because %u %s, but the process %s: looks like a "
			    "cache (in %.0f s %s, give or take %s)", j->keep,
			    j->keep == 1 ? "site keeps its blocks" : "sites keep their blocks",
			    still(g), g->trend.seconds, grown, error + (*error == '+'));
		break;
	case JUDGED_TURNOVER:
		result_note(r, "sites: none, because %u %s, but the process grows by much less "
			    "than that: looks like a cache, see --again-after", j->keep,
			    j->keep == 1 ? "site keeps its blocks" : "sites keep their blocks");
		break;
	case JUDGED_SHORT:
		result_note(r, "sites: none, because the looks were too few to know whether the "
			    "process grows, see --again-after");
		break;
	case JUDGED_LITTLE:
		result_note(r, "sites: none, because what stays is less than a tenth of what the "
			    "process grows by");
		break;
	case JUDGED_GROWS:
		if (j->turnover)
			result_note(r, "sites: %u more keep more than the process grows by: looks "
				    "like a cache", j->turnover);
		break;
	case JUDGED_NONE:
	case JUDGED_PAUSED:
		break;
	}
}
