// SPDX-License-Identifier: GPL-2.0
/*
 * Growth: from the runs of all levels to begin, rise, time to exhaustion and patience.
 *
 * Context: any; pure. Calls on one struct seep_det are serialised.
 */
#include "growth.h"

#define PATIENCE_SHARE		12	/* 1/12 of the time to exhaustion at least */
#define PATIENCE_LESS_SHARE	48	/* minus 1/48 of its first ten minutes: 1/16 in all */
#define PATIENCE_LESS_DS	(10 * SEEP_MINUTE_DS)
#define PATIENCE_MORE_SHARE	3	/* plus 1/3 of what exceeds this */
#define PATIENCE_MORE_DS	(90 * SEEP_MINUTE_DS)
#define PATIENCE_PERCENT	21	/* of tte, at most; that is 17 % of the runway */
#define PATIENCE_START_PERCENT	22	/* of tte, for growth that may be a start; 18 % */
#define PATIENCE_MIN_DS		(20 * SEEP_DS_PER_S)
#define PATIENCE_MAX_DS		(14 * SEEP_HOUR_DS)	/* a daily load rises for less */
#define PATIENCE_UNUSED_DS	(7 * SEEP_HOUR_DS)	/* most for growth that is plainly unused */
#define PATIENCE_VSZ_DS		(6 * SEEP_HOUR_DS)	/* where nothing limits address space */
#define CONFIRM_PERCENT		110	/* of the patience */
#define CONFIRM_START_PERCENT	105	/* likewise; such growth has waited for long enough */
#define CONFIRM_VSZ_PERCENT	130	/* likewise; untouched address space costs nothing yet */
#define ONSET_DS		(3 * SEEP_DS_PER_S)
#define START_DS		SEEP_MINUTE_DS
#define START_SHARE		4	/* or 1/4 of the time that the growth has lasted */
#define START_TTE_DS		(20 * SEEP_MINUTE_DS)
#define START_MIB_MIN		100
#define EVEN_PERMILLE		1200	/* even growth: the newest steps, of the oldest, at most */
#define EVEN_SHARE		6	/* and the late rate less 1/6, at most that since t0 */
#define LATE_STEPS		4	/* of the seven steps of a level: its second half */
#define FAIR			2	/* times the mean pace of all that grow below a limit */

/* Add the levels of one ladder that have a run, one or more, to the growth @g. */
static void look(struct seep_growth *g, const struct seep_ladder *s, const struct seep_level *r,
		 const struct seep_run *run, const struct seep_clock *clk, u32 epochs)
{
	u32 runs = s->runs, j = 0, top, last = 0, t1 = g->t1;
	u64 t0 = g->seen ? g->t0 : ~0ULL;	/* above the begin of every run */
	const struct seep_run *first = NULL;
	u8 strict = g->strict;

	do {
		if (runs & 1) {
			if (run->t0 < t0) {
				t0 = run->t0;
				first = run;
			}
			if (run->t1 > t1) {
				t1 = run->t1;
				last = j;
			}
			if (run->strict > strict)
				strict = run->strict;
		}
		run++;
		j++;
		runs >>= 1;
	} while (runs);
	top = j - 1;
	g->seen = true;
	g->t0 = (u32)t0;
	g->strict = strict;
	if (first)
		g->v0 = seep_floor_unpack(first->v0);
	if (t1 > g->t1)
		g->floor = seep_floor(r + last, epochs >> last, 0);
	g->t1 = t1;
	r += top;
	g->below.level = NULL;
	if (top && s->runs >> (top - 1) & 1)
		g->below = (struct seep_level_view){ r - 1, epochs >> (top - 1) };
	g->top = (struct seep_level_view){ r, epochs >> top };
	g->window = seep_span(&clk[top], SEEP_MINIMA);
}

/*
 * How long growth must have lasted before it is suspected, by its time to exhaustion
 * @tte_ds. The later memory ends, the longer the detector may wait for growth to level
 * off. It must leave enough of the runway, which is the time from the begin of the growth
 * to exhaustion: nine tenths up to one and a half hours, four fifths beyond, counted when
 * the growth is confirmed.
 *
 * For example a leak that fills memory in 20 minutes (12000 ds):
 *
 *	at its begin	12000 / 12 - 6000 / 48 = 875 ds of patience, 88 s
 *	suspected	after 81 s, when 1119 s are left (93 % of the runway)
 *	confirmed	after 88 s, at 110 % of patience
 *
 * A leak that needs a day (864000 ds):
 *
 *	at its begin	864000 / 12 - 125 + (864000 - 54000) / 3 = 341875 ds, above the
 *			limit of 21 %: 181440 ds of patience, 5 h
 *	suspected	after 4 h 10 min, when 83 % of the runway are left
 *	confirmed	after 4 h 30 min, when 81 % are left
 *
 * A leak that needs a week has the longest patience, 14 h; 7 h where the growth is even and
 * not used again.
 *
 * Growth that began with the process may be its start: programs read their data, fill their
 * pools and warm up (@start). It must therefore use up 18 % of the runway: for example
 * 13 min 12 s at 60 min to exhaustion, in place of 4 min 47 s.
 */
static u32 patience(u64 tte_ds, bool start)
{
	u64 wait = seep_div(tte_ds, PATIENCE_SHARE), most;

	if (start) {
		wait = seep_div(tte_ds, 100) * PATIENCE_START_PERCENT;
		return wait < PATIENCE_MAX_DS ? (u32)wait : PATIENCE_MAX_DS;
	}
	wait -= (tte_ds < PATIENCE_LESS_DS ? (u32)tte_ds : PATIENCE_LESS_DS) / PATIENCE_LESS_SHARE;
	if (tte_ds > PATIENCE_MORE_DS)
		wait += seep_div(tte_ds - PATIENCE_MORE_DS, PATIENCE_MORE_SHARE);
	most = seep_div(tte_ds, 100) * PATIENCE_PERCENT;
	if (wait > most)
		wait = most;
	if (wait < PATIENCE_MIN_DS)
		return PATIENCE_MIN_DS;
	return wait < PATIENCE_MAX_DS ? (u32)wait : PATIENCE_MAX_DS;
}

/*
 * The growth may be the start of the process: it began in its first minute, or so early that
 * its age then was less than a quarter of the time that the growth has lasted. Growth that
 * exhausts memory within 20 minutes, or that exceeds 100 MiB a minute, cannot be waited for.
 */
static bool may_be_start(const struct seep_growth *g, const struct seep_sample *s)
{
	u64 age = seep_div(s->age_ns, 100000000), since = seep_ds(s->time_ns) - g->t0;
	u32 span = g->t1 - g->t0;

	return g->fair_ds > START_TTE_DS && age < since + START_DS + span / START_SHARE &&
	       (u64)seep_rise(g) * SEEP_MINUTE_DS < (u64)START_MIB_MIN * SEEP_MIB * span;
}

/*
 * Time until @left granules are taken, ds: by a growth of @gained granules in @time, and by
 * @others granules that others take in it, of which @most count.
 *
 * For example a worker gained 600 granules in an hour, five others grow by 600 an hour each,
 * and 36000 granules are left: 36000 / (600 + 3000) are 10 hours. Alone it were 60.
 */
static u64 until(u64 left, u32 time, u32 gained, u64 others, u64 most)
{
	/* factors are below 2^32 and those of epochs below 2^29: the product fits 64 bits */
	return seep_div(left * time, gained + (others < most ? others : most));
}

/**
 * seep_second_half() - how much faster or slower a level rises than before
 * @l: the level
 *
 * The rise of its three newest steps, permille of the rise of its three oldest. The step
 * between them is not counted.
 *
 * For example a cache that fills up, with steps of 40 30 22 17 13 9 7 granules: the
 * oldest three are 92, the newest three 29, and 29 / 92 is 315 permille. Steady growth
 * has 1000.
 *
 * The very first floor of a level is half an epoch late (ladder.c), so the first of its
 * steps is half a step: with steps of 10 granules the oldest three are 25. A fifth is
 * added, which makes them 30.
 *
 * Context: any.
 * Return: permille, at most 10000.
 */
u32 seep_second_half(const struct seep_level_view *l)
{
	u32 first = seep_floor(l->level, l->closed, 4) - seep_floor(l->level, l->closed, 7);
	u32 second = seep_floor(l->level, l->closed, 0) - seep_floor(l->level, l->closed, 3);
	u64 share;

	if (l->closed == SEEP_MINIMA)
		first += first / 5;
	share = first ? seep_div(1000ULL * second, first) : 1000;
	return share < 10000 ? (u32)share : 10000;
}

/*
 * Is it known that the process did not use again what it gained? A daily load rises for half a
 * day, but uses what it takes. Of shared memory only the use by this process is known.
 */
static bool unused(const struct seep_growth *g, const struct seep_sample *s)
{
	return g->subject == SEEPAGE_SUBJECT_MEMORY && s->cold >= SEEP_COLD_PERMILLE &&
	       s->shmem <= (s->anon + s->swap) / 2 && seep_cold_known(s, g);
}

/*
 * Set rate, time to exhaustion and patience. The rate is that since g->t0, or that of the
 * second half of the longest level where this is slower. It is none once nothing has risen
 * for two epochs of that level.
 *
 * Memory ends for everything below a limit at the same time, but a process is accused for
 * its own part. Its patience therefore goes by a growth of all that is at most FAIR times
 * what as many processes of its own pace would take. A process that grows less than half as
 * fast as the mean is not accused in the haste that a runaway beside it asks for.
 */
static void project(struct seep_growth *g, const struct seep_sample *s)
{
	u32 gained = seep_rise(g), time = g->t1 - g->t0, epoch = g->window / (SEEP_MINIMA - 1);
	u32 late, left = seep_granules(s->headroom);
	u64 rate, others = 0, most;
	bool start, even;

	g->tte_ds = SEEP_UNKNOWN;
	g->fair_ds = SEEP_UNKNOWN;
	g->patience = PATIENCE_MAX_DS;
	g->confirm_percent = CONFIRM_PERCENT;
	if (!gained)
		return;
	late = seep_floor(g->top.level, g->top.closed, 0) -
	       seep_floor(g->top.level, g->top.closed, LATE_STEPS);
	even = (u64)(late - late / EVEN_SHARE) * time <= (u64)gained * (LATE_STEPS * epoch);
	if (late && (u64)late * time < (u64)gained * (LATE_STEPS * epoch)) {
		gained = late;
		time = LATE_STEPS * epoch;
	}
	if (s->others_rate)
		others = seep_div((u64)s->others_rate * time, SEEP_HOUR_DS);
	g->tte_ds = until(left, time, gained, others, SEEP_UNKNOWN);
	g->fair_ds = g->tte_ds;
	most = (u64)gained * (FAIR * (s->others + 1U) - 1);
	if (others > most)
		g->fair_ds = until(left, time, gained, others, most);
	start = may_be_start(g, s);
	g->patience = patience(g->fair_ds, start);
	/* The age that unused() allows a look goes by the patience without it, not by this one. */
	if (even && g->patience > PATIENCE_UNUSED_DS && unused(g, s) &&
	    seep_second_half(&g->top) <= EVEN_PERMILLE)
		g->patience = PATIENCE_UNUSED_DS;
	if (start)
		g->confirm_percent = CONFIRM_START_PERCENT;
	if (!time || seep_ds(s->time_ns) - g->t1 > 2 * epoch)
		return;
	rate = seep_div((u64)gained * SEEP_HOUR_DS, time);
	g->rate = rate < ~0U ? (u32)rate : ~0U;
}

/**
 * seep_growth_find() - growth of memory held
 * @d: history, not changed
 * @s: the sample that was fed last
 * @g: zeroed; the growth out, g->seen tells whether there is one
 *
 * The fast levels come first: a longer level with a run overrides their shape.
 *
 * Context: any.
 */
void seep_growth_find(const struct seep_det *d, const struct seep_sample *s,
		      struct seep_growth *g)
{
	const struct seep_watch *w = d->w;

	g->subject = SEEPAGE_SUBJECT_MEMORY;
	if (!w)
		return;
	if (w->fast.runs)
		look(g, &w->fast, w->fast_level, w->fast_run, w->fast_clock, w->fast_epochs);
	if (g->seen && g->t0 <= w->t_watch + ONSET_DS && w->onset_v <= g->v0) {
		g->t0 = w->onset_t;	/* it has risen ever since the watch began */
		g->v0 = w->onset_v;
	}
	if (d->mem.runs)
		look(g, &d->mem, d->mem_level, w->mem_run, d->clock, d->epochs);
	if (g->seen)
		project(g, s);
}

/**
 * seep_growth_find_vsz() - growth of unheld address space
 * @d: history, not changed
 * @s: the sample that was fed last
 * @g: zeroed; the growth out, g->seen tells whether there is one
 *
 * Address space that is never touched costs no memory. It is exhausted at RLIMIT_AS, at the
 * last address that a process can have, or never; then its patience is fixed.
 *
 * Context: any.
 */
void seep_growth_find_vsz(const struct seep_det *d, const struct seep_sample *s,
			  struct seep_growth *g)
{
	g->subject = SEEPAGE_SUBJECT_VSZ;
	if (!d->w || !d->vsz.runs)
		return;
	look(g, &d->vsz, d->vsz_level, d->w->vsz_run, d->clock + SEEP_VSZ_SHIFT,
	     d->epochs >> SEEP_VSZ_SHIFT);
	if (s->limit == SEEPAGE_LIMIT_AS || s->limit == SEEPAGE_LIMIT_TASK_SIZE) {
		project(g, s);
		g->rate = 0;
	} else {
		g->tte_ds = SEEP_UNKNOWN;
		g->fair_ds = SEEP_UNKNOWN;
		g->patience = PATIENCE_VSZ_DS;
	}
	g->confirm_percent = CONFIRM_VSZ_PERCENT;
}
