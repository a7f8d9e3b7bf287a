// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: from counts to figures, signals and points.
 *
 * Leaked memory is not touched. Growth while the share of misses stays as it was supports
 * a leak; growth that brings misses is a working set in use. What is usual is learned
 * while the process does not grow.
 *
 * Context: any; pure. Calls on one model are serialised.
 */
#include "pmu.h"

#define MILLION		1000000U
#define TOP		(SEEP_UNKNOWN - 1)	/* the largest known figure */
#define LLC_SHIFT	8
#define FINE_SHIFT	4
#define U32_TOP		0xffffffffU

#define HALF		8U	/* samples in half of the window */
#define LEARN		16U	/* samples before a mean is used */
#define LEARN_TOP	64U	/* from this many on old samples fade */
#define NOW		8U	/* samples in dtlb_now, about */
#define READ_FADE	10U	/* read_mean is a moving average with alpha 0.1 */

/* A share of fewer counts than these is noise. */
#define LEAST_REFERENCES	1000U
#define LEAST_INSTRUCTIONS	100000U
#define LEAST_LOADS		10000U

#define DIVERGENCE_PERCENT	130
#define Z_SQUARED		9
#define LLC_LEAST		1000U	/* millionths: a smaller difference is none */
#define TLB_PRESSURE_FACTOR	2
#define DTLB_LEAST		100U	/* per million instructions */
#define TLB_EFFICIENCY		950000U
#define READ_FACTOR		2
#define READ_LEAST		(16U << 10 << FINE_SHIFT)	/* 16 MiB/s */
#define REMOTE_SHARE		500000U

/* a * b, saturates at TOP. */
static u64 mul(u64 a, u64 b)
{
	return a && b > seep_div(TOP, a) ? TOP : a * b;
}

/* a + b, saturates at TOP. */
static u64 add(u64 a, u64 b)
{
	return b > TOP - a ? TOP : a + b;
}

/*
 * a * b / c for b < c, saturates at TOP. Where the product would not fit 64 bits, the low
 * bits of b and c are dropped; 31 bits of each are left.
 */
static u64 part(u64 a, u64 b, u64 c)
{
	while (c >> 32) {
		b >>= 1;
		c >>= 1;
	}
	return add(mul(seep_div(a, c), b), seep_div((a - seep_div(a, c) * c) * b, c));
}

/**
 * seep_pmu_scale() - what an event would have counted with a counter of its own
 * @c: a count with its times, ns
 *
 * For example 1000 counts in 10 ms of running_ns and 25 ms of enabled_ns are 2500.
 *
 * Context: any.
 * Return: the count times enabled_ns / running_ns, at most SEEP_UNKNOWN - 1;
 * SEEP_UNKNOWN if the event never had a counter.
 */
u64 seep_pmu_scale(const struct seepage_pmc_value *c)
{
	u64 count = c->count < TOP ? c->count : TOP, whole;

	if (!c->running_ns)
		return SEEP_UNKNOWN;
	if (c->enabled_ns <= c->running_ns)
		return count;
	whole = seep_div(c->enabled_ns, c->running_ns);
	return add(mul(count, whole),
		   part(count, c->enabled_ns - whole * c->running_ns, c->running_ns));
}

/**
 * seep_pmu_ratio() - a quotient in fixed point
 * @a: numerator
 * @b: denominator
 * @unit: what a quotient of 1 becomes
 *
 * Context: any.
 * Return: a * unit / b, at most SEEP_UNKNOWN - 1; SEEP_UNKNOWN if a or b is not known,
 * or b is 0.
 */
u64 seep_pmu_ratio(u64 a, u64 b, u64 unit)
{
	u64 whole;

	if (a == SEEP_UNKNOWN || b == SEEP_UNKNOWN || !b)
		return SEEP_UNKNOWN;
	whole = seep_div(a, b);
	return add(mul(whole, unit), part(unit, a - whole * b, b));
}

/* Millionths, at most a million: counters do not start at the same time. */
static u64 share(u64 a, u64 b)
{
	u64 v = seep_pmu_ratio(a, b, MILLION);

	return v == SEEP_UNKNOWN || v < MILLION ? v : MILLION;
}

/**
 * seep_pmu_figures() - derived figures of an interval
 * @ev: counts, indexed by enum seep_pmu_event
 * @ns: length of the interval
 * @f: the figures out
 *
 * Context: any.
 */
void seep_pmu_figures(const struct seepage_pmc_value ev[__SEEP_PMU_MAX], u64 ns,
		      struct seep_pmu_figures *f)
{
	u64 n[__SEEP_PMU_MAX], missed;
	u32 i;

	for (i = 0; i < __SEEP_PMU_MAX; i++)
		n[i] = seep_pmu_scale(&ev[i]);
	memcpy(f->n, n, sizeof(n));
	f->ipc = seep_pmu_ratio(n[SEEP_PMU_INSTRUCTIONS], n[SEEP_PMU_CYCLES], 1000);
	f->llc_miss_share = share(n[SEEP_PMU_LLC_MISSES], n[SEEP_PMU_LLC_REFERENCES]);
	f->llc_mpmi = seep_pmu_ratio(n[SEEP_PMU_LLC_MISSES], n[SEEP_PMU_INSTRUCTIONS], MILLION);
	f->dtlb_mpmi = seep_pmu_ratio(n[SEEP_PMU_DTLB_MISSES], n[SEEP_PMU_INSTRUCTIONS], MILLION);
	missed = share(n[SEEP_PMU_DTLB_MISSES], n[SEEP_PMU_LOADS]);
	f->tlb_efficiency = missed == SEEP_UNKNOWN ? SEEP_UNKNOWN : MILLION - missed;
	f->walk_share = share(n[SEEP_PMU_PAGE_WALK_CYCLES], n[SEEP_PMU_CYCLES]);
	f->remote_share = SEEP_UNKNOWN;
	if (n[SEEP_PMU_NODE_LOCAL] != SEEP_UNKNOWN && n[SEEP_PMU_NODE_REMOTE] != SEEP_UNKNOWN)
		f->remote_share = share(n[SEEP_PMU_NODE_REMOTE],
					add(n[SEEP_PMU_NODE_LOCAL], n[SEEP_PMU_NODE_REMOTE]));
	f->read_bytes = n[SEEP_PMU_LLC_MISSES] == SEEP_UNKNOWN ? SEEP_UNKNOWN :
			mul(n[SEEP_PMU_LLC_MISSES], SEEP_PMU_LINE);
	f->read_rate = seep_pmu_ratio(f->read_bytes, ns, 1000000000);
}

/* ---- signals ---- */

/* Did @event count @least or more? Fewer are noise. */
static bool enough(const struct seep_pmu_figures *f, enum seep_pmu_event event, u32 least)
{
	return f->n[event] != SEEP_UNKNOWN && f->n[event] >= least;
}

/* Fixed point with @shift bits, saturating. */
static u32 fine(u64 v, u32 shift)
{
	return v > U32_TOP >> shift ? U32_TOP : (u32)v << shift;
}

/* One @n-th of the way from a mean to @x. */
static u32 toward(u32 mean, u32 x, u32 n)
{
	return x > mean ? mean + (x - mean) / n : mean - (mean - x) / n;
}

/* |a - b| */
static u32 apart(u32 a, u32 b)
{
	return a > b ? a - b : b - a;
}

/* Samples in a row, with this one, in which the process grew. */
static u8 grew(u8 n, bool growing)
{
	return growing ? n + (n < 0xff) : 0;
}

/* A growing process updates its model only until the model has LEARN samples. */
static bool learns(u8 n, bool growing)
{
	return !growing || n < LEARN;
}

/* Welford's mean and variance. With LEARN_TOP samples old ones fade as new ones come. */
static void learn_llc(struct seep_pmu_model *b, u32 x)
{
	u32 before = apart(x, b->llc_mean);
	u64 square;

	b->llc_n += b->llc_n < LEARN_TOP;
	b->llc_mean = toward(b->llc_mean, x, b->llc_n);
	square = (u64)before * apart(x, b->llc_mean) >> 2 * LLC_SHIFT;
	if (square > b->llc_var)
		b->llc_var += seep_div(square - b->llc_var, b->llc_n);
	else
		b->llc_var -= seep_div(b->llc_var - square, b->llc_n);
}

/* Half of the window is full: set or clear the signal that it exceeds the half before. */
static void close_half(struct seep_pmu_model *b)
{
	b->older = b->newer;
	b->newer = b->sum / HALF + 1;
	b->sum = 0;
	b->half_n = 0;
	b->signals &= (u8)~(1U << SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE);
	if (b->older && b->newer > b->older + LLC_LEAST &&
	    (u64)b->newer * 100 > (u64)b->older * DIVERGENCE_PERCENT)
		b->signals |= 1U << SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE;
}

/* Feed a share of LLC misses, millionths. Return: signals. */
static u32 feed_llc(struct seep_pmu_model *b, u32 x, bool growing)
{
	u64 above = x > b->llc_mean >> LLC_SHIFT ? x - (b->llc_mean >> LLC_SHIFT) : 0;
	u64 var = b->llc_var > (u64)LLC_LEAST * LLC_LEAST ? b->llc_var : LLC_LEAST * LLC_LEAST;
	bool high = b->llc_n >= LEARN && above * above > Z_SQUARED * var;

	b->llc_grew = grew(b->llc_grew, growing);
	b->sum += x;
	if (++b->half_n == HALF)
		close_half(b);
	if (learns(b->llc_n, growing))
		learn_llc(b, x << LLC_SHIFT);
	return high ? 1U << SEEPAGE_PMC_SIGNAL_LLC_Z_SCORE : 0;
}

/* Feed dTLB misses per million instructions, << 4. Return: signals. */
static u32 feed_dtlb(struct seep_pmu_model *b, u32 x, bool growing)
{
	bool high = b->dtlb_n >= LEARN && x >= DTLB_LEAST << FINE_SHIFT &&
		    x > (u64)TLB_PRESSURE_FACTOR * b->dtlb_mean;

	b->dtlb_grew = grew(b->dtlb_grew, growing);
	b->dtlb_now = b->dtlb_n ? toward(b->dtlb_now, x, NOW) : x;
	if (learns(b->dtlb_n, growing)) {
		b->dtlb_n += b->dtlb_n < LEARN_TOP;
		b->dtlb_mean = toward(b->dtlb_mean, x, b->dtlb_n);
	}
	return high ? 1U << SEEPAGE_PMC_SIGNAL_TLB_PRESSURE : 0;
}

/* Feed a read rate, KiB/s, << 4. Return: signals. */
static u32 feed_read(struct seep_pmu_model *b, u32 x)
{
	bool high = b->read_mean && x >= READ_LEAST && x > (u64)READ_FACTOR * b->read_mean;

	b->read_mean = b->read_mean ? toward(b->read_mean, x, READ_FADE) : x;
	b->read_mean += !b->read_mean;		/* 0 stands for none yet */
	return high ? 1U << SEEPAGE_PMC_SIGNAL_BANDWIDTH : 0;
}

/**
 * seep_pmu_model_feed() - one more interval of a process
 * @b: what is usual for it, updated
 * @f: figures of the interval
 * @growing: the process grows: only the first 16 samples are learned from
 *
 * Context: any.
 * Return: mask of 1 << enum seepage_pmc_signal. The divergence is that of the last half
 * of the window that was filled, the others are of this interval.
 */
u8 seep_pmu_model_feed(struct seep_pmu_model *b, const struct seep_pmu_figures *f, bool growing)
{
	u32 signals = 0;

	if (enough(f, SEEP_PMU_LLC_REFERENCES, LEAST_REFERENCES) &&
	    f->llc_miss_share != SEEP_UNKNOWN)
		signals |= feed_llc(b, (u32)f->llc_miss_share, growing);
	if (enough(f, SEEP_PMU_INSTRUCTIONS, LEAST_INSTRUCTIONS) && f->dtlb_mpmi != SEEP_UNKNOWN)
		signals |= feed_dtlb(b, fine(f->dtlb_mpmi, FINE_SHIFT), growing);
	if (enough(f, SEEP_PMU_LOADS, LEAST_LOADS) && f->tlb_efficiency < TLB_EFFICIENCY)
		signals |= 1U << SEEPAGE_PMC_SIGNAL_TLB_EFFICIENCY;
	if (f->read_rate != SEEP_UNKNOWN)
		signals |= feed_read(b, fine(f->read_rate >> 10, FINE_SHIFT));
	if (f->remote_share != SEEP_UNKNOWN && f->remote_share > REMOTE_SHARE &&
	    add(f->n[SEEP_PMU_NODE_LOCAL], f->n[SEEP_PMU_NODE_REMOTE]) >= LEAST_REFERENCES)
		signals |= 1U << SEEPAGE_PMC_SIGNAL_NODE_IMBALANCE;
	b->signals = (u8)(signals | (b->signals & 1U << SEEPAGE_PMC_SIGNAL_LLC_DIVERGENCE));
	return b->signals;
}

/* ---- the value for the verdict ---- */

/* @now in permille of @usual, at least 1. @least dampens differences of small figures. */
static u32 rise(u64 now, u64 usual, u32 least)
{
	u32 v = (u32)seep_div((now + least) * 1000, usual + least);

	return v ? v : 1;
}

/**
 * seep_pmu_model_rise() - how many more misses than usual
 * @b: what is usual, and the last samples
 *
 * Of LLC and dTLB misses the one that rose more counts.
 *
 * Context: any.
 * Return: permille of what was usual before the process grew; 0: not known, because
 * too little was learned, or not all of the compared samples are of growth.
 */
u16 seep_pmu_model_rise(const struct seep_pmu_model *b)
{
	u32 most = 0, v;

	if (b->llc_n >= LEARN && b->llc_grew >= 2 * HALF - 1)	/* all of the newer half grew */
		most = rise(b->newer - 1, b->llc_mean >> LLC_SHIFT, LLC_LEAST);
	if (b->dtlb_n >= LEARN && b->dtlb_grew >= NOW) {
		v = rise(b->dtlb_now, b->dtlb_mean, DTLB_LEAST << FINE_SHIFT);
		most = v > most ? v : most;
	}
	return most < 0xffff ? (u16)most : 0xffff;
}

/* ---- display ---- */

static u32 known(bool known, u32 v)
{
	return known ? v : SEEPAGE_PMC_UNKNOWN;
}

/**
 * seep_pmu_model_show() - what is usual, in the form of the uapi header
 * @b: what is usual
 * @shown: all members are set
 *
 * Context: any.
 */
void seep_pmu_model_show(const struct seep_pmu_model *b, struct seepage_pmc_baseline *shown)
{
	shown->signals = b->signals;
	shown->llc_samples = b->llc_n;
	shown->dtlb_samples = b->dtlb_n;
	shown->llc_mean = known(b->llc_n, b->llc_mean >> LLC_SHIFT);
	shown->llc_older = known(b->older, b->older - 1);
	shown->llc_newer = known(b->newer, b->newer - 1);
	shown->dtlb_mean = known(b->dtlb_n, b->dtlb_mean >> FINE_SHIFT);
	shown->dtlb_now = known(b->dtlb_n, b->dtlb_now >> FINE_SHIFT);
	shown->read_mean = known(b->read_mean, b->read_mean >> FINE_SHIFT);
}
