/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The detector: from a series of samples of one process to a verdict.
 *
 * Pure C on integers: no kernel interface beyond fixed-width types and a
 * 64-bit division, no allocation, no clock, no global state. The module, the
 * unit tests and `seepage replay` compile the same files, so the same samples
 * give the same verdict everywhere. The caller serialises calls on one
 * struct seep_det.
 *
 * Memory is kept in granules of 16 KiB (u32: up to 64 TiB, saturating), so
 * that results do not depend on the page size; time in deciseconds of the
 * monotonic clock (u32: 13 years).
 */
#ifndef SEEP_DETECT_H
#define SEEP_DETECT_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/math64.h>
#include <linux/string.h>
#define seep_noinline	noinline
#else
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define seep_noinline	__attribute__((noinline))
#include <linux/types.h>
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s64 s64;
#endif
#include <linux/seepage.h>

#define SEEP_GRANULE_SHIFT	14
#define SEEP_MINIMA		8	/* epochs a level remembers */
#define SEEP_SLOW_LEVELS	12	/* of sample_interval * 2^j each */
#define SEEP_FAST_LEVELS	4	/* of suspect_interval * 2^j each */
#define SEEP_VSZ_SHIFT		4	/* vsz has no epochs shorter than sample_interval * 2^4 */
#define SEEP_VSZ_LEVELS		(SEEP_SLOW_LEVELS - SEEP_VSZ_SHIFT)
#define SEEP_WINDOW		16	/* points of the fault-rate window */
#define SEEP_LEARNED		64	/* slots that classic's baseline learns from, at most */
#define SEEP_UNKNOWN		(~0ULL)

/* Every configuration value, by its enum seepage_cfg. */
struct seep_conf {
	u32 v[__SEEPAGE_CFG_MAX];
};

#define SEEP_CPU_UNKNOWN	(~0U)	/* cpu_ms: read, but there are too many threads */

/* One reading of one process: all that a verdict may depend on. */
struct seep_sample {
	u64 time_ns;		/* monotonic, never going back */
	u64 age_ns;		/* since fork or exec */
	u64 anon;		/* bytes resident */
	u64 file;
	u64 shmem;
	u64 swap;		/* bytes swapped out */
	u64 vsz;		/* bytes of address space */
	u64 faults;		/* cumulative, user + kernel mode */
	u64 faults_anon;	/* cumulative, classified */
	u64 headroom;		/* bytes it can still take before something ends */
	u64 pgtables;		/* bytes of page tables */
	u64 cold_ns;		/* when cold was measured; 0: never */
	u64 pool;		/* bytes of shared memory of the whole system; 0: not read */
	u32 error;		/* bytes the memory counters may be off */
	u32 cpu_ms;		/* CPU time of all threads, wrapping; 0: not read */
	u32 heap;		/* granules of the brk heap, where cpu_ms is read */
	u16 cold;		/* permille of what grew that was not used again */
	u16 peers;		/* of a group its live processes; of a process the others */
	u16 peers_growing;	/* those of them that are under watch or worse */
	u16 pmc;		/* permille of the usual misses (pmc.h); 0: not known */
	u8 limit;		/* enum seepage_limit: what headroom is measured to */
	u8 page_shift;
	bool full;		/* taken at the sample interval (not a suspect's) */
	bool group;		/* the sum of a group */
};

/* When the epochs of one length closed; the same for all series. */
struct seep_clock {
	u32 t_close;		/* the newest */
	u32 sum;		/* how long the last eight, or fewer, took */
};

/* One rung: the floors of a series in the last epochs of one length. */
struct seep_rung {
	u16 min[SEEP_MINIMA];	/* seep_floor_pack()ed granules, ring */
	u16 half;		/* first epoch of the pair the next level joins */
	u16 run_v0;		/* floor at run_t0 */
	u32 run_t0, run_t1;	/* first floor and last strict rise of the run */
	bool run;		/* its floors rise, have since run_t0 */
	u8 strict;		/* strict rises among the last SEEP_MINIMA - 1 */
};

/* What all rungs of a series have in common. */
struct seep_rungs {
	u32 runs;		/* bit j: level j has a run */
	u32 same;		/* as many of the last floors of level 0 are equal */
	u16 last;		/* the last of them, packed */
	u8 strict;		/* steps of a run that rise, at least */
};

struct seep_point {		/* of the fault-rate window */
	u32 t;
	u32 faults;		/* cumulative, wrapping */
	u32 rss;		/* granules */
};

struct seep_classic {
	s64 sum;		/* of the growth of each slot in warm-up, granules/min */
	u64 sumsq;
	u32 nsum;
	u32 base_rss;		/* granules at the first sample */
	u32 suspected_since;	/* a rule holds since then; 0: it does not */
	u32 confirmed_since;
	u32 pressure_since;
};

/* What a process had in its first sample under watch; cpu_ms 0: there was none yet. */
struct seep_then {
	u32 cpu_ms;
	u32 held, heap, shmem, pgtables;	/* granules */
};

struct seep_det {
	u8 state;		/* enum seepage_state */
	u8 confidence;
	u8 policy;		/* the one that made state */
	u8 samples;		/* saturating */
	u32 interval_ms;	/* between two pushes to slow, as configured */
	u32 t_state;		/* when state was entered */
	u32 t_run;		/* when a floor last rose, or growth was too fast to wait */
	u32 t_begin;		/* when the levels were begun */
	u8 accused;		/* enum seepage_series: what an alert is about */
	u8 wpos, wn;		/* of window: the newest, and how many */
	bool slow_rose:1;	/* slow_v is above the one before */
	bool restarted:1;	/* the first floor is not that of a new process */
	bool inherited:1;	/* known_rise is that of others of its name */
	bool overruled:1;	/* the state is what another policy makes of it */

	/* growth since the process came under watch */
	u64 up, down;		/* bytes gained and given back */
	u64 faults_anon0;
	u32 watch_v0;		/* granules at its begin */
	u32 own_v0;		/* granules before the last growth; that which a watch began with */
	u32 shared, pool;	/* mapped of shared memory; all there is of it */
	u32 foreign;		/* of its growth, what was there before */
	u16 pool_left;		/* the system gained, and nobody is known to have taken */
	u16 foreign_new;	/* of foreign, with the last sample: it may have come early */
	u32 filled;		/* of its growth, what came into older mappings by itself */
	u32 unfilled;		/* granules mapped since, and not filled yet */
	u32 faults_seen;	/* at the last sample, wrapping */
	u32 t_watch;		/* its begin */
	u32 onset_t, onset_v;	/* the sample before the step that began it */
	struct seep_then then;

	/* what an alert is about */
	u32 accused_v0;		/* floor before the growth */
	u32 accused_top;	/* highest floor of the growth */
	u32 accused_epoch;	/* of the longest level that showed it */

	/* climbs that were released: what this process is known to do */
	u32 low_v, low_t;	/* where the present climb began */
	u32 high_v, high_t;	/* its top so far */
	u32 known_rise;		/* the highest one released, granules */
	u32 known_span;		/* the longest one, ds */

	u32 last_v;		/* granules at the last sample */
	u32 slow_v;		/* the last floor pushed to mem */
	u32 slow_min;		/* least since then */
	u32 vsz_min, vsz_v;	/* the same of unheld: since its last push, pushed then */
	u32 last_vsz;		/* granules at the last sample */
	u32 held_top;		/* the most ever held; at most the address space */

	u32 epochs, fast_epochs;	/* of the lowest levels so far */
	struct seep_rungs mem, fast, vsz;
	struct seep_clock clock[SEEP_SLOW_LEVELS];
	struct seep_clock fast_clock[SEEP_FAST_LEVELS];
	struct seep_rung mem_rung[SEEP_SLOW_LEVELS];
	struct seep_rung fast_rung[SEEP_FAST_LEVELS];
	struct seep_rung vsz_rung[SEEP_VSZ_LEVELS];

	struct seep_point window[SEEP_WINDOW];
	struct seep_classic classic;
};

struct seep_gate {
	u8 id;			/* enum seepage_gate */
	bool passed;
	bool reached;		/* value and limit mean something */
	s64 value, limit;
};

struct seep_factor {
	u8 id;			/* enum seepage_factor */
	s8 points;		/* less than none: it counts against */
	u8 max;
	s64 value, baseline;
};

#define SEEP_MAX_GATES		10
#define SEEP_MAX_FACTORS	9

struct seep_verdict {
	u8 state;		/* enum seepage_state */
	u8 confidence;
	u8 policy;
	u8 series;		/* enum seepage_series: what the rest is about */
	u8 ngates, nfactors;
	u64 tte_s;		/* SEEP_UNKNOWN: not growing */
	/* policy ladder: the growth the verdict is about */
	u32 v0, floor;		/* granules before it and now */
	u32 t0, t1;		/* its begin and its last rise, ds */
	u32 epoch;		/* of the longest level that shows it, ds */
	u32 patience;		/* ds */
	struct seep_gate gate[SEEP_MAX_GATES];
	struct seep_factor factor[SEEP_MAX_FACTORS];
};

/* detect.c: the entry points */
void seep_det_init(struct seep_det *d, u64 seen_ns);
void seep_det_inherit(struct seep_det *d, u32 rise, u32 span);
void seep_det_feed(struct seep_det *d, const struct seep_sample *s,
		   const struct seep_conf *c, struct seep_verdict *v);
void seep_det_explain(const struct seep_det *d, const struct seep_sample *s,
		      const struct seep_conf *c, struct seep_verdict *v);
void seep_verdict_init(struct seep_verdict *v);
u32 seep_det_unheld(const struct seep_det *d);

/* state.c: the state, over samples; what begins anew with it */
u8 seep_next_state(struct seep_det *d, const struct seep_verdict *v, u32 now);
void seep_origin_begin(struct seep_det *d, const struct seep_sample *s);
void seep_watch_begin(struct seep_det *d, const struct seep_sample *s, u32 now);
void seep_start_over(struct seep_det *d, u32 now);
void seep_reset_fast(struct seep_det *d, u32 t);
void seep_reset_slow(struct seep_det *d, u32 t);

/* figures.c: what is shown of a history */
u32 seep_det_fault_rate(const struct seep_det *d, const struct seep_sample *s,
			u32 window_s);
bool seep_det_growth(const struct seep_det *d, const struct seep_verdict *v,
		     s64 *bytes_per_hour);
u8 seep_severity(const struct seep_verdict *v, u64 rss_bytes);

/* classify.c: which faults were anonymous */
struct seep_fault_delta {	/* between two samples */
	u64 reads, writes;	/* faults by access; all in reads if unknown */
	bool access_known;
	s64 anon, file, shmem;	/* pages gained; anon includes swap */
	u32 around;		/* pages a read fault may map, >= 1 */
};

u64 seep_classify_anon(const struct seep_fault_delta *f);

/* ladder.c: the floors */
u16 seep_floor_pack(u32 v);
u32 seep_floor_unpack(u16 code);
u32 seep_floor(const struct seep_rung *r, u32 closed, u32 i);
void seep_clock_reset(struct seep_clock *clk, u32 nlev, u32 *epochs, u32 t);
#define SEEP_STRICT		6	/* of seven steps */
#define SEEP_FAST_STRICT	4	/* memory may be taken every other second only */
void seep_rungs_reset(struct seep_rungs *s, struct seep_rung *r, u32 nlev, u8 strict);
/*
 * Epochs may be of unequal length (a pass was late, the interval stretched): the
 * sum of the last eight is a moving one, exact while they are equal.
 */
static inline void seep_clock_close(struct seep_clock *clk, u32 t, bool more_than_eight)
{
	u32 epoch = t - clk->t_close;

	clk->t_close = t;
	if (more_than_eight)
		clk->sum -= clk->sum / SEEP_MINIMA;
	clk->sum += epoch;
}

/*
 * A level that has seen the same floor for so many epochs does not change by one
 * more, nor do those below: most processes, most of the time.
 */
#define SEEP_STILL	(SEEP_MINIMA + 1)

/*
 * What seep_ladder_push() comes to when the floor is the one before, and all of
 * the levels that close with the @closed-th epoch have long seen it.
 */
static inline bool seep_ladder_still(struct seep_rungs *s, u32 nlev, u32 closed)
{
	u32 closes = closed & -closed;	/* the levels up to the one of this bit */

	if (s->same / SEEP_STILL < closes || closes >= 1U << (nlev - 1))
		return false;
	s->same++;
	return true;
}

/* seep_clock_push() then: all of these have had their eight epochs. */
static inline void seep_clock_still(struct seep_clock *clk, u32 epochs, u32 t)
{
	for (epochs &= -epochs; epochs; epochs >>= 1)
		seep_clock_close(clk++, t, true);
}

void seep_clock_push(struct seep_clock *clk, u32 nlev, u32 epochs, u32 t);
void seep_ladder_push(struct seep_rungs *s, struct seep_rung *r, const struct seep_clock *clk,
		      u32 nlev, u32 closed, u32 v, u32 least);

/* Minima that a level knows, and how long an epoch of it is on average, ds. */
static inline u32 seep_known(u32 epochs, u32 level)
{
	u32 closed = epochs >> level;

	return closed < SEEP_MINIMA ? closed : SEEP_MINIMA;
}

static inline u32 seep_epoch(const struct seep_clock *clk, u32 known)
{
	return known ? clk->sum / known : 0;
}

/* From the oldest floor that a level knows to the newest. */
static inline u32 seep_span(const struct seep_clock *clk, u32 closed)
{
	u32 known = closed < SEEP_MINIMA ? closed : SEEP_MINIMA;

	return known ? clk->sum - clk->sum / known : 0;
}

/* Floor of the memory at the sample interval, @i full samples ago. */
static inline u32 seep_mem_floor(const struct seep_det *d, u32 i)
{
	return seep_floor(d->mem_rung, d->epochs, i);
}

/* Of the fault-rate window, so many points before the newest. */
static inline const struct seep_point *seep_point(const struct seep_det *d, u32 back)
{
	return &d->window[(d->wpos + SEEP_WINDOW - 1 - back) % SEEP_WINDOW];
}

/* Under watch or worse: its growth is looked at closely. */
static inline bool seep_watched(u8 state)
{
	return state >= SEEPAGE_STATE_WATCH && state <= SEEPAGE_STATE_RUNAWAY;
}

static inline bool seep_alert_is(u8 state)
{
	return state >= SEEPAGE_STATE_SUSPECTED && state <= SEEPAGE_STATE_RUNAWAY;
}

/* verdict_ladder.c, verdict_classic.c: the two policies; points.c */
void seep_ladder_verdict(const struct seep_det *d, const struct seep_sample *s,
			 const struct seep_conf *c, struct seep_verdict *v);
void seep_classic_forget(struct seep_det *d);
void seep_classic_feed(struct seep_det *d, const struct seep_sample *s,
		       const struct seep_conf *c, bool new_slot);
void seep_classic_verdict(const struct seep_det *d, const struct seep_sample *s,
			  const struct seep_conf *c, struct seep_verdict *v);
void seep_points_tell(struct seep_verdict *v, const struct seep_det *d,
		      const struct seep_sample *s);
bool seep_ladder_early(const struct seep_det *d, const struct seep_sample *s,
		       const struct seep_conf *c);

static inline u64 seep_div(u64 a, u64 b)
{
#ifdef __KERNEL__
	return div64_u64(a, b);
#else
	return a / b;
#endif
}

static inline u32 seep_granules(u64 bytes)
{
	u64 g = bytes >> SEEP_GRANULE_SHIFT;

	return g > 0xffffffffULL ? 0xffffffffU : (u32)g;
}

static inline u64 seep_bytes(u32 granules)
{
	return (u64)granules << SEEP_GRANULE_SHIFT;
}

static inline u32 seep_ds(u64 ns)
{
	return (u32)seep_div(ns, 100000000ULL);
}

/*
 * Growth worth the name, for a floor of v granules: the most of 2 % of what there
 * is and a least, which is 4 MB or four times what the counters may be off; for
 * address space, which nobody pays for, 64 MB.
 */
#define SEEP_LEAST_VSZ	(64U << (20 - SEEP_GRANULE_SHIFT))

static inline u32 seep_least_rise(const struct seep_sample *s)
{
	u32 least = 4U << (20 - SEEP_GRANULE_SHIFT), error = seep_granules(4ULL * s->error);

	return error > least ? error : least;
}

static inline u32 seep_needed_rise(u32 least, u32 v)
{
	return v / 50 > least ? v / 50 : least;
}

/* Memory that goes only when the process lets go of it: its series. */
static inline u64 seep_held(const struct seep_sample *s)
{
	return s->anon + s->swap + s->shmem + s->pgtables;
}

static inline u64 seep_rss(const struct seep_sample *s)
{
	return s->anon + s->file + s->shmem;
}

/* Its growth still goes into the baseline of classic. */
static inline bool seep_classic_learns(const struct seep_det *d,
				       const struct seep_sample *s,
				       const struct seep_conf *c)
{
	return d->classic.nsum < SEEP_LEARNED &&
	       s->age_ns <= c->v[SEEPAGE_CFG_WARMUP_S] * 1000000000ULL;
}

static inline struct seep_gate *seep_add_gate(struct seep_verdict *v, u8 id,
					      bool passed, s64 value, s64 limit)
{
	struct seep_gate *g = &v->gate[v->ngates++];

	g->id = id;
	g->passed = passed;
	g->reached = true;
	g->value = value;
	g->limit = limit;
	return g;
}

static inline void seep_add_factor(struct seep_verdict *v, u8 id, s8 points,
				   u8 max, s64 value, s64 baseline)
{
	struct seep_factor *f = &v->factor[v->nfactors++];

	f->id = id;
	f->points = points;
	f->max = max;
	f->value = value;
	f->baseline = baseline;
}

#endif /* SEEP_DETECT_H */
