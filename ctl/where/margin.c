// SPDX-License-Identifier: GPL-2.0
/*
 * How wrong the growth of a site may be, for 95 %: it is that of its class, times its part of the
 * blocks that stay. Four errors are added by their squares, each as a part of the growth:
 *
 *	growth		so many blocks came between the looks; of pages, what their trend has
 *	rounds		the class was asked for more often in one round than in another, as of a
 *			job that runs now and then, or on a machine with other work to do
 *	share		the site's part is known from so many samples
 *	survival	so is how many of its blocks stay
 *
 * Example: 2000 new blocks, all of one site, all of 30 samples stay: 2.2, 0 and 3.2 %. Ten rounds
 * with 6 to 38 calls each differ by 19 % for their mean. That makes 44 % for 95 % of the cases.
 */
#include <math.h>
#include "where/site.h"

#define NORMAL	1.96	/* deviations within which 95 % are */

/* Variance of a share of @part among @of samples, by the square of it; also where all are there */
static double of_share(double part, double of)
{
	double p = (part + 1) / (of + 2);

	return of > 0 ? (1 - p) / (p * (of + 2)) : 1;
}

/*
 * The same of the rate of calls, from how much the rounds differ. Rounds are not of the same
 * length, so that the calls of each are compared with what its time leads to expect.
 */
static double of_rounds(const struct survivors *v)
{
	/* Student's distribution, 97.5 %, by degrees of freedom */
	static const double student[BURST_ROUNDS] = { NORMAL, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45,
						      2.36, 2.31, 2.26 };
	double calls = 0, ns = 0, squares = 0, apart, t;
	unsigned int n = v->rounds, i;

	for (i = 0; i < n; i++) {
		calls += (double)v->round[i].matched;
		ns += (double)v->round[i].armed_ns;
	}
	if (!n || !(calls > 0) || !(ns > 0))
		return 0;
	if (n == 1)
		return 1;	/* how much another one would differ is not known */
	for (i = 0; i < n; i++) {
		apart = (double)v->round[i].matched - calls * (double)v->round[i].armed_ns / ns;
		squares += apart * apart;
	}
	t = student[n - 1] / NORMAL;
	return t * t * squares * n / (n - 1) / (calls * calls);
}

static double of_growth(const struct growth *g)
{
	double part;

	if (!g->pages)
		return g->blocks > 0 ? 1 / (double)g->blocks : 1;
	if (g->trend.bytes <= 0)
		return 1;
	part = (double)g->trend.error / (double)g->trend.bytes / NORMAL;
	return part * part;
}

/**
 * margin_of() - how wrong the growth of a site may be
 * @v: the sites, which are counted
 * @s: the site
 * @t: those of its samples that tell how many of its blocks stay
 * @g: growth of its class, or of the process
 * @bytes: of the sampled blocks that stay, of all sites that are named
 * @alive: number of these blocks
 * @per_hour: growth of the site, bytes an hour
 *
 * Return: bytes an hour, more or less, for 95 %.
 */
s64 margin_of(const struct survivors *v, const struct site *s, const struct site_counts *t,
	      const struct growth *g, u64 bytes, unsigned int alive, s64 per_hour)
{
	double share = bytes ? (double)s->bytes / (double)bytes : 1, square, error;

	square = of_growth(g) + of_rounds(v) + of_share(t->alive, t->samples);
	if (share < 1)
		square += of_share(share * alive, alive);
	error = NORMAL * sqrt(square) * fabs((double)per_hour);
	return error < (double)INT64_MAX ? (s64)error : INT64_MAX;
}
