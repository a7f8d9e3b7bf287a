// SPDX-License-Identifier: GPL-2.0
/*
 * A leak beside a cache of the same class. The values of a cache stay up to the last look as well,
 * and if it replaces more of them than the leak loses, more of them are seen. But a full cache
 * frees as many as it allocates, and what leaks makes the class grow. So a site that keeps more in
 * a second than the class grows by is at most a part of the growth. Where other sites are enough to
 * explain it, they come first.
 *
 * How much a site keeps is known from samples, and it differs from round to round: a job may run
 * once a minute. So it is compared by its lower bound, of the jackknife over the rounds: what the
 * result would be without each of them in turn says how wrong it may be. A burst also makes the
 * process slower, and what it has to do changes. So the sites in question are measured by probes at
 * their calls alone, for some seconds, and the class is counted before and after that. Where they
 * cannot have probes, the class is counted at the end, and the larger growth counts, of that up to
 * the second look and that from there on.
 *
 * Example: a full cache replaces 500 entries a second, a leak loses 250 blocks of the same size.
 * All of them stay. The class grows by 250 a second: the leak comes first. In a model it did so in
 * 4000 of 4000 runs, and no leak of 25 blocks a second or more was put behind a cache. By the
 * growth before alone 236 of 1000 leaks were, if the process had twice as much to do in the burst.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "where/site.h"

#define SLACK		1.25	/* what stays up to the last look may be freed later */
#define GROWN		20	/* blocks; by how much fewer grew is known too badly */
#define EXPLAINS	2	/* half of the growth, by the other sites */

#define NORMAL		2.33	/* 99 %, one-sided */

/* Student's distribution, 99 %, one-sided, by degrees of freedom */
static const double student[BURST_ROUNDS] = {
	0, 31.8, 6.96, 4.54, 3.75, 3.36, 3.14, 3.00, 2.90, 2.82,
};

/* What a site keeps, round by round: in blocks, by the calls that were drawn and by all samples */
struct kept {
	double calls[BURST_ROUNDS], blocks[BURST_ROUNDS];
};

/* Rounds, and how long each was, in seconds */
struct rounds {
	double seconds[BURST_ROUNDS];
	unsigned int n;
};

/* How much a site keeps, in blocks a second: what is likely, and at least */
struct rate {
	double likely, least;
};

static void sum_up(const struct survivors *v, size_t site, struct kept *k)
{
	double drawn[BURST_ROUNDS] = { 0 };
	unsigned int r;
	size_t i;

	memset(k, 0, sizeof(*k));
	for (i = 0; i < v->n; i++) {
		const struct block *b = &v->block[i];

		r = b->round;
		if (b->again || b->at_site || r >= v->rounds || r >= BURST_ROUNDS)
			continue;
		drawn[r] += b->drawn;
		if (b->site != site || !b->alive)
			continue;
		k->calls[r] += b->drawn;
		k->blocks[r]++;
	}
	for (r = 0; r < v->rounds && r < BURST_ROUNDS; r++)
		k->calls[r] *= drawn[r] > 0 ? (double)v->round[r].matched / drawn[r] : 0;
}

/* Blocks a second, of all rounds but one; @without: BURST_ROUNDS for all of them */
static double mean_of(const struct rounds *all, const double *blocks, unsigned int without)
{
	double sum = 0, seconds = 0;
	unsigned int r;

	for (r = 0; r < all->n; r++) {
		if (r == without)
			continue;
		sum += blocks[r];
		seconds += all->seconds[r];
	}
	return seconds > 0 ? sum / seconds : 0;
}

/* The mean, and what it is at least, with a certainty of 99 % */
static struct rate rate_by(const struct rounds *all, const double *blocks)
{
	struct rate rate = { .likely = mean_of(all, blocks, BURST_ROUNDS) };
	double mean = 0, squares = 0, part[BURST_ROUNDS];
	unsigned int n = all->n, r;

	if (n < 2)
		return rate;
	for (r = 0; r < n; r++) {
		part[r] = mean_of(all, blocks, r);
		mean += part[r] / n;
	}
	for (r = 0; r < n; r++)
		squares += (part[r] - mean) * (part[r] - mean);
	rate.least = rate.likely - student[n - 1] * sqrt(squares * (n - 1) / n);
	return rate;
}

/* By the samples of the burst: calls tell it of frequent sites, all samples of rare ones. */
static struct rate rate_of_burst(const struct survivors *v, size_t site)
{
	struct rounds all = { .n = v->rounds < BURST_ROUNDS ? v->rounds : BURST_ROUNDS };
	struct rate a, b;
	struct kept k;
	unsigned int r;

	for (r = 0; r < all.n; r++)
		all.seconds[r] = (double)v->round[r].armed_ns / 1e9;
	sum_up(v, site, &k);
	a = rate_by(&all, k.calls);
	b = rate_by(&all, k.blocks);
	return (struct rate){
		.likely = a.likely > b.likely ? a.likely : b.likely,
		.least = a.least > b.least ? a.least : b.least,
	};
}

/*
 * How many calls of a site there were while the class was counted, at least: all of them were seen,
 * so that it does not matter how they came and went. It is not sure which ones they were of.
 */
static double calls_least(const struct survivors *v, const struct site *s)
{
	double calls = 0, part, n = v->measured_drawn;
	unsigned int r;

	for (r = 0; r < v->measured_rounds; r++)
		calls += s->measured[r];
	if (!(v->measured_traps > 0) || !(n > 0))
		return 0;
	part = calls / v->measured_traps;
	return v->measured_traps * (part - NORMAL * sqrt(part * (1 - part) / n));
}

static struct rate rate_of(const struct survivors *v, size_t site, const struct growth *g)
{
	const struct site *s = &v->site[site];
	const struct site_counts *t = s->drawn.samples ? &s->drawn : &s->all;
	double stay = t->samples ? (double)t->alive / t->samples : 0;
	struct rounds all = { .n = v->measured_rounds };
	struct rate rate;
	double least;

	if (!s->is_measured) {
		rate = rate_of_burst(v, site);
		/* It is of another time than the growth. */
		rate.least = g->measured ? 0 : rate.least;
		return rate;
	}
	memcpy(all.seconds, v->measured_seconds, sizeof(all.seconds));
	rate = rate_by(&all, s->measured);
	least = calls_least(v, s) / g->later_seconds;
	rate.least = least > rate.least ? least : rate.least;
	return (struct rate){ .likely = stay * rate.likely, .least = stay * rate.least };
}

/* By how many blocks a second the class grew up to the second look; 0: that is not known */
static double grew_by(const struct growth *g)
{
	return g->recent && g->seconds > 0 ? (double)g->blocks / g->seconds : 0;
}

/**
 * excess_may_be() - may one of the sites that are named keep more than the class grows by?
 * @v: its sites are counted, and those are named that may be listed
 * @g: the growth of the class, up to the second look
 *
 * Return: whether two or more are named, and all together keep more.
 */
bool excess_may_be(const struct survivors *v, const struct growth *g)
{
	unsigned int named = 0;
	double sum = 0;
	size_t i;

	for (i = 0; i < v->sites; i++) {
		if (!v->site[i].named)
			continue;
		named++;
		sum += rate_of_burst(v, i).likely;
	}
	return named > 1 && sum > SLACK * grew_by(g);
}

/**
 * excess_find() - mark the sites that keep more than the class grows by, if others explain that
 * @v: its sites are counted, and those are named that may be listed
 * @g: the growth of the class, with that up to the third look
 *
 * Return: how many sites are marked; 0 too if all were, or those left keep less than half of the
 * growth.
 */
unsigned int excess_find(struct survivors *v, const struct growth *g)
{
	double grown = (double)g->later_blocks / g->later_seconds, rest = 0;
	unsigned int n = 0;
	struct rate rate;
	size_t i;

	if (!g->measured && grew_by(g) > grown)
		grown = grew_by(g);
	for (i = 0; i < v->sites; i++) {
		struct site *s = &v->site[i];

		s->excess = false;
		if (!s->named)
			continue;
		rate = rate_of(v, i, g);
		s->excess = !s->grows && rate.least > SLACK * grown;
		n += s->excess;
		rest += s->excess ? 0 : rate.likely;
	}
	if (g->later_blocks >= GROWN && rest * EXPLAINS >= grown)
		return n;
	for (i = 0; i < v->sites; i++)
		v->site[i].excess = false;
	return 0;
}

/* Says what was measured, of the sites in the order in which they are. */
void excess_note(const struct survivors *v, const struct growth *g, struct result *r)
{
	char text[200] = "";
	struct rate rate;
	size_t i, n = 0;

	for (i = 0; i < v->sites && n < sizeof(text); i++) {
		if (!v->site[i].named || !v->site[i].is_measured)
			continue;
		rate = rate_of(v, i, g);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.1f (%.1f at least)",
				      n ? ", " : "", rate.likely, rate.least > 0 ? rate.least : 0);
	}
	result_note(r, "sites keep, by probes at their calls for %.1f s: %s blocks a second; "
		    "meanwhile the class grew by %.1f", g->later_seconds, text,
		    (double)g->later_blocks / g->later_seconds);
}
