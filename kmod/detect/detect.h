/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The detector: turns the samples of one process, or of a group, into a verdict.
 *
 * Stage: sample.c and group.c feed samples. alert.c, netlink/ and debugfs.c publish the
 * verdict. The module, the unit tests, the fuzzers and `seepage replay` compile the same
 * files, so the same samples give the same verdict everywhere.
 *
 * Context: any. The code is pure C on integers. It needs fixed-width types and a 64-bit
 * division, and has no allocation, no clock and no global state.
 * Locks: the caller serialises calls on one struct seep_det. In the module that is
 * seep_table_mutex, which protects every member below.
 *
 * Glossary
 *
 * sample	one reading of a process: RSS, swap, address space, page faults, limits
 * granule	16 KiB, the unit of memory (units.h)
 * decisecond	100 ms, the unit of time, short ds (units.h)
 * held		memory that the kernel cannot reclaim while the process keeps it: anon,
 *		swap, shmem and page tables
 * unheld	address space that never held memory
 * epoch	an interval of time of which one floor is kept
 * floor	the least that was held in an epoch: what garbage collection, batches and
 *		requests do not give back
 * level	the last eight floors of one epoch length
 * ladder	all levels of one figure. Epochs double from level to level:
 *
 *	|.......|.......|.......|.......|.......|.......|.......|.......|  level 2, 40 s
 *	                                |...|...|...|...|...|...|...|...|  level 1, 20 s
 *	                                                |.|.|.|.|.|.|.|.|  level 0, 10 s
 *	320 s ago                       160 s ago       80 s ago        now
 *
 *		Each cell is an epoch with its floor. A floor of level j + 1 is the smaller
 *		one of two floors of level j. With samples every 10 s level 11, the last
 *		one, has epochs of 5.7 h and looks back 45.5 h. Three ladders exist: mem
 *		(held, every full sample), fast (held, every sample under watch) and vsz
 *		(unheld, every 16th full sample).
 * run		the eight floors of a level rise in order. A level has a run or none.
 * rise		the floor now minus the floor before the growth, in granules
 * growth	what the runs of all levels say together: begin, last rise, floors
 * watch	state of a process with a run, or with growth too fast to wait for one.
 *		It is sampled every suspect_interval_ms and raises no alert.
 * onset	the sample before the step that put the process under watch
 * suspected	first state with an alert: every gate has passed
 * confirmed	suspected, and the growth went on for another 10 % of its patience: 5 % where
 *		it may be the start of the process, 30 % for address space (growth.c)
 * runaway	confirmed, and memory is exhausted within 15 minutes
 * headroom	bytes that the process can take until it meets its nearest limit
 * tte		time to exhaustion: headroom divided by the rate of growth of everything
 *		that grows below the same limit
 * others	what else grows below a limit that a process shares (share.h)
 * patience	how long growth must last before it is suspected, by its tte (growth.c)
 * saturation	the rise of the second half of a level divided by that of the first.
 *		Growth that levels off saturates and is no leak.
 * novelty	the growth is 1.5 times as high or as long as any climb that the process
 *		released, or more
 * origin	share of the growth that the process caused: not shared memory that
 *		existed before, nor pages that khugepaged filled in
 * cold		share of the growth that the process did not use again. User space
 *		measures it.
 * subject	what a verdict is about: memory held, address space, or a group
 * group	processes of one name and user in one cgroup, taken as one
 * gate		a condition with a limit. One gate that is not passed vetoes an alert.
 * factor	a figure with points. The points add up to the confidence.
 * series	the samples of a process or group in order of time. The multicast group of
 *		that name sends them, a recording keeps them.
 * pmc		value of a hardware counter, as the ABI has it
 * pmu		unit of a CPU that counts, and the code about it
 * baseline	what a later figure is compared with, such as struct seep_baseline
 */
#ifndef SEEP_DETECT_H
#define SEEP_DETECT_H

#include <linux/seepage.h>
#include "ladder.h"
#include "units.h"

#define SEEP_SLOW_LEVELS	12	/* epochs of sample_interval_ms * 2^j each */
#define SEEP_FAST_LEVELS	4	/* epochs of suspect_interval_ms * 2^j each */
#define SEEP_VSZ_SHIFT		4	/* shortest epoch of vsz: sample_interval_ms * 2^4 */
#define SEEP_VSZ_LEVELS		(SEEP_SLOW_LEVELS - SEEP_VSZ_SHIFT)
#define SEEP_WINDOW		16	/* points that the fault-rate window keeps */
#define SEEP_SLOT_DS		100U	/* between two of them, at least */
#define SEEP_LEARNED		64	/* slots from which classic learns its baseline, at most */
#define SEEP_UNKNOWN		(~0ULL)

/* Every configuration value, indexed by enum seepage_cfg. */
struct seep_conf {
	u32 v[__SEEPAGE_CFG_MAX];
};

#define SEEP_CPU_UNKNOWN	(~0U)	/* cpu_ms: not known, the process has too many threads */

/*
 * One reading of one process, or the sum of a group. A verdict depends on these values
 * and on the history alone.
 */
struct seep_sample {
	u64 time_ns;		/* CLOCK_MONOTONIC, never goes back */
	u64 age_ns;		/* time since fork or exec */
	u64 anon;		/* bytes resident, as are file and shmem */
	u64 file;
	u64 shmem;
	u64 swap;		/* bytes swapped out */
	u64 vsz;		/* bytes of address space */
	u64 faults;		/* page faults so far, in user and kernel mode */
	u64 faults_anon;	/* those of them classified as anonymous */
	u64 headroom;		/* bytes it can take until it meets limit */
	u64 pgtables;		/* bytes of page tables */
	u64 cold_ns;		/* CLOCK_MONOTONIC, when cold was measured; 0: never */
	u64 shmem_total;		/* bytes of shmem of the whole system; 0: not read */
	u32 error;		/* bytes by which the memory counters may be off */
	u32 cpu_ms;		/* CPU time of all threads, ms, wraps; 0: not read */
	u32 heap;		/* granules of the brk heap; read where cpu_ms is */
	u32 others_rate;	/* granules an hour that others below limit grow by (share.h) */
	u16 others;		/* how many of them are known; both 0 in state ok */
	u16 cold;		/* permille of the growth that was not used again */
	u16 peers;		/* group: its live processes; process: the others of its group */
	u16 peers_growing;	/* how many of peers are under watch or worse */
	u16 pmc;		/* permille of the usual LLC or TLB misses (pmu.h); 0: unknown */
	u8 limit;		/* enum seepage_limit, the one that headroom is measured to */
	u8 page_shift;
	bool full;		/* taken in a full pass, at sample_interval_ms */
	bool group;		/* the sum of a group */
	bool brief;		/* gates after the first closed one may be left out */
};

struct seep_point {		/* of the fault-rate window */
	u32 t;			/* ds */
	u32 faults;		/* faults so far, wraps */
	u32 rss;		/* granules */
};

struct seep_classic {
	u64 sumsq;		/* of sum's squares */
	int sum;		/* of the growth of each warm-up slot, granules a minute */
	u32 nsum;		/* slots in both sums, at most SEEP_LEARNED */
	u32 base_rss;		/* granules at the first sample */
	u32 suspected_since;	/* ds, the rule has held since; 0: it does not hold */
	u32 confirmed_since;	/* likewise */
	u32 pressure_since;	/* likewise */
};

/* Figures of the first sample under watch. cpu_ms 0: no such sample yet. */
struct seep_baseline {
	u32 cpu_ms;		/* as in struct seep_sample */
	u32 held, heap, shmem, pgtables;	/* granules */
};

/*
 * The part of a history that counts only while a process is not ok, or a level has a run. Most
 * processes have none. A field that has no meaning before the watch begins, or after it has
 * ended, belongs here. Figures that the sample with which the watch begins is judged by belong
 * in struct seep_det (up, origin_v0).
 */
struct seep_watch {
	struct seep_run mem_run[SEEP_SLOW_LEVELS];	/* of levels with their bit in runs set */
	struct seep_run vsz_run[SEEP_VSZ_LEVELS];
	struct seep_run fast_run[SEEP_FAST_LEVELS];
	struct seep_ladder fast;
	u32 fast_epochs;	/* epochs of its level 0 that have closed */
	struct seep_clock fast_clock[SEEP_FAST_LEVELS];
	struct seep_level fast_level[SEEP_FAST_LEVELS];

	u32 t_watch;		/* ds, when the watch began */
	u32 onset_t, onset_v;	/* ds and granules of the sample before the first step up */
	struct seep_baseline baseline;

	/* the growth that the alert is about */
	u32 accused_v0;		/* floor before it, granules */
	u32 accused_top;	/* its highest floor, granules */
	u32 accused_epoch;	/* ds, of the longest level with a run */
};

/* The history of one process or group, and the state it is in. */
struct seep_det {
	u8 state;		/* enum seepage_state */
	u8 confidence;		/* 0 to 100, as last published */
	u8 policy;		/* the one that made state */
	u8 samples;		/* fed so far, saturates at 255 */
	u32 interval_ms;	/* sample_interval_ms that the levels were built with */
	u32 t_state;		/* ds, when state was entered */
	u32 t_run;		/* ds, when a floor last rose, or growth was too fast to wait */
	u32 t_begin;		/* ds, when the levels were started or restarted */
	u8 accused;		/* enum seepage_subject of the alert */
	u8 wpos, wn;		/* of window: where the next point goes, points in it */
	bool slow_rose:1;	/* slow_v is above the floor before it */
	bool history_restarted:1;	/* levels restarted: the first floor is no birth */
	bool inherited:1;	/* known_rise comes from other members of the group */
	bool state_of_other_policy:1;	/* entered because the policy changed */

	struct seep_watch *w;	/* may be NULL while seep_det_plain() and no sample is fed */

	/* growth since the process came under watch, and its origin */
	u64 up, down;		/* bytes gained and bytes released */
	u64 faults_anon0;	/* faults_anon when the watch began */
	u32 watch_v0;		/* granules held when the watch began */
	u32 origin_v0;		/* granules before the growth that origin is about */
	u32 shmem_mapped, shmem_total;	/* granules, at the last sample */
	u32 shmem_preexisting;		/* granules of existing shmem that it mapped */
	u16 shmem_unclaimed;		/* granules that the system gained, mapped by no process */
	u16 shmem_preexisting_new;	/* of shmem_preexisting: added by the last sample */
	u32 faultless;		/* granules gained without faults in old mappings */
	u32 unpopulated;		/* granules of new mappings that hold no memory yet */
	u32 faults_seen;	/* faults at the last sample, wraps */

	/* climbs that the process gave back; a later rise is compared with them (novelty) */
	u32 low_v, low_t;	/* granules, ds: begin of the present climb */
	u32 high_v, high_t;	/* granules, ds: its top so far */
	u32 known_rise;		/* granules, the highest climb released */
	u32 known_span;		/* ds, the longest climb released */

	u32 last_v;		/* granules held at the last sample */
	u32 slow_v;		/* granules, the last floor pushed to mem */
	u32 slow_min;		/* granules, the least held since that push */
	u32 vsz_min, vsz_v;	/* the same of unheld: least since the last push, last floor */
	u32 last_vsz;		/* granules of address space at the last sample */
	u32 held_top;		/* granules, the most held so far, at most the address space */

	u32 epochs;		/* epochs of level 0 that have closed */
	struct seep_ladder mem, vsz;	/* see the glossary */
	struct seep_clock clock[SEEP_SLOW_LEVELS];	/* of mem and vsz */
	struct seep_level mem_level[SEEP_SLOW_LEVELS];
	struct seep_level vsz_level[SEEP_VSZ_LEVELS];

	struct seep_point window[SEEP_WINDOW];
	struct seep_classic classic;
};

struct seep_gate {
	u8 id;			/* enum seepage_gate */
	bool passed;
	bool reached;		/* value and limit are valid */
	s64 value, limit;	/* units: SEEPAGE_GATES in names.h */
};

struct seep_factor {
	u8 id;			/* enum seepage_factor */
	s8 points;		/* negative: they count against a leak */
	u8 max;			/* the most that points can be */
	s64 value, baseline;	/* units: SEEPAGE_FACTORS in names.h */
};

/*
 * The most that one policy adds. Classic has the factors up to VSZ_RSS and three gates;
 * ladder has the factors after VSZ_RSS and all gates but WARMUP.
 */
#define SEEP_MAX_GATES		(SEEPAGE_GATE_MAX - 1)
#define SEEP_MAX_FACTORS	(SEEPAGE_FACTOR_MAX - SEEPAGE_FACTOR_VSZ_RSS)

struct seep_verdict {
	u8 state;		/* enum seepage_state */
	u8 confidence;		/* 0 to 100 */
	u8 policy;		/* enum seepage_policy */
	u8 subject;		/* enum seepage_subject */
	u8 ngates, nfactors;
	bool dropped;		/* a gate or factor did not fit: a bug */
	u64 tte_s;		/* time to exhaustion, seconds; SEEP_UNKNOWN: no growth */
	/* policy ladder: the growth that the verdict is about */
	u32 v0, floor;		/* floors before it and now, granules */
	u32 t0, t1;		/* its begin and its last rise, ds; t1 0: no growth */
	u32 epoch;		/* of the longest level with a run, ds */
	u32 patience;		/* needed before an alert, ds */
	u32 rate;		/* growth of memory held, granules an hour; 0: none */
	struct seep_factor factor[SEEP_MAX_FACTORS];	/* near the begin: short offsets */
	struct seep_gate gate[SEEP_MAX_GATES];
};

/* detect.c: the entry points. Any context; calls on one @d are serialised. */
void seep_det_init(struct seep_det *d, struct seep_watch *w, u64 seen_ns);
void seep_det_inherit(struct seep_det *d, u32 rise, u32 span);
void seep_det_feed(struct seep_det *d, const struct seep_sample *s,
		   const struct seep_conf *c, struct seep_verdict *v);
void seep_det_explain(const struct seep_det *d, const struct seep_sample *s,
		      const struct seep_conf *c, struct seep_verdict *v);
void seep_verdict_init(struct seep_verdict *v);

/* rest.c: what full samples add where nothing has changed */
u32 seep_det_rest(const struct seep_det *d, const struct seep_sample *s,
		  const struct seep_conf *c, u32 most);
#define SEEP_RESTS	64U		/* more samples than may be put off */
void seep_det_rested(struct seep_det *d, const struct seep_sample *s, const u32 *t, u32 n);

/* verdict.c: gates and factors of a verdict */
void seep_add_gate(struct seep_verdict *v, u8 id, bool passed, s64 value, s64 limit);
void seep_add_gate_unreached(struct seep_verdict *v, u8 id);
int seep_add_factor(struct seep_verdict *v, u8 id, s8 points, u8 max, s64 value, s64 baseline);
void seep_verdict_hide(struct seep_verdict *v, u32 factors);

/* state.c: the state over samples, and what restarts with it */
u8 seep_next_state(struct seep_det *d, const struct seep_verdict *v, u32 now);
void seep_origin_begin(struct seep_det *d, const struct seep_sample *s);
void seep_watch_begin(struct seep_det *d, const struct seep_sample *s, u32 now);
void seep_start_over(struct seep_det *d, u32 now);
void seep_reset_fast(struct seep_det *d, u32 t);
void seep_reset_slow(struct seep_det *d, u32 t);

/* figures.c: figures for display */
u32 seep_det_fault_rate(const struct seep_det *d, const struct seep_sample *s,
			u32 window_s);
bool seep_det_growth(const struct seep_det *d, const struct seep_verdict *v,
		     s64 *bytes_per_hour);
bool seep_own_limit(const struct seep_sample *s, u64 left);
u8 seep_severity(const struct seep_verdict *v, u64 rss_bytes, bool own_limit);

/* classify.c: how many faults were anonymous */
struct seep_fault_delta {	/* the difference of two samples */
	u64 reads, writes;	/* faults by access; all of them in reads where unknown */
	bool access_known;
	s64 anon, file, shmem;	/* pages gained; anon includes swap */
	u32 around;		/* pages that one read fault may map, at least 1 */
};

u64 seep_classify_anon(const struct seep_fault_delta *f);

/*
 * Address space that never held memory, granules: the figure of the vsz ladder. It is reserved
 * and not touched, or maps files. A heap that gave memory back and kept the address space is
 * not part of it.
 */
static inline u32 seep_det_unheld(const struct seep_det *d)
{
	return d->last_vsz - d->held_top;
}

/* Floor of the memory held @i full samples ago, granules. */
static inline u32 seep_mem_floor(const struct seep_det *d, u32 i)
{
	return seep_floor(d->mem_level, d->epochs, i);
}

/* The point of the fault-rate window that is @back before the newest. */
static inline const struct seep_point *seep_point(const struct seep_det *d, u32 back)
{
	return &d->window[(d->wpos + SEEP_WINDOW - 1 - back) % SEEP_WINDOW];
}

/* The process is ok and no level has a run: struct seep_watch says nothing. */
static inline bool seep_det_plain(const struct seep_det *d)
{
	return d->state == SEEPAGE_STATE_OK && !(d->mem.runs | d->vsz.runs) &&
	       !(d->w && d->w->fast.runs);
}

/* Under watch or worse: sampled every suspect_interval_ms. */
static inline bool seep_watched(u8 state)
{
	return state >= SEEPAGE_STATE_WATCH && state <= SEEPAGE_STATE_RUNAWAY;
}

/* The process has an alert. */
static inline bool seep_alert_is(u8 state)
{
	return state >= SEEPAGE_STATE_SUSPECTED && state <= SEEPAGE_STATE_RUNAWAY;
}

/* verdict_ladder.c, verdict_classic.c: the two policies. points.c: the factors */
void seep_ladder_verdict(const struct seep_det *d, const struct seep_sample *s,
			 const struct seep_conf *c, struct seep_verdict *v, bool brief);
void seep_classic_forget(struct seep_det *d);
void seep_classic_feed(struct seep_det *d, const struct seep_sample *s,
		       const struct seep_conf *c, bool learns);
void seep_classic_verdict(const struct seep_det *d, const struct seep_sample *s,
			  const struct seep_conf *c, struct seep_verdict *v);
void seep_points_inform(struct seep_verdict *v, const struct seep_det *d,
			const struct seep_sample *s);
u32 seep_known_rise(const struct seep_det *d, const struct seep_sample *s);
bool seep_ladder_early(const struct seep_det *d, const struct seep_sample *s,
		       const struct seep_conf *c);

/*
 * The least rise of a floor of @v granules that counts as one: 2 % of @v, and at least
 * seep_least_rise(). That is 4 MiB, or four times the error of the memory counters where
 * this is more. For address space, which costs no memory, it is 64 MiB.
 *
 * For example a floor of 100 MiB must rise by 4 MiB, a floor of 1 GiB by 20.5 MiB.
 */
#define SEEP_LEAST_RISE	(4 * SEEP_MIB)
#define SEEP_LEAST_VSZ	(64 * SEEP_MIB)

static inline u32 seep_least_rise(const struct seep_sample *s)
{
	u32 least = SEEP_LEAST_RISE, error = seep_granules(4ULL * s->error);

	return error > least ? error : least;
}

static inline u32 seep_needed_rise(u32 least, u32 v)
{
	return v / 50 > least ? v / 50 : least;
}

/*
 * The value of a counter of which CPUs keep parts in caches, bytes. @before and then @sum were
 * read first: the counter alone, and with what the caches hold, which may be negative. @now is
 * the counter, read later. As long as it is @before, @sum is the value. If it has moved, a cache
 * was emptied into it, maybe after it was added to @sum: then the larger one of both is taken.
 *
 * For example @before 100, caches -20, @sum 80. @now 100: the value is 80. @now 110: it is 110.
 * With caches of 20, @sum 120: it is 120 for @now 100 and for @now 115.
 */
static inline u64 seep_exact(u64 now, u64 before, u64 sum)
{
	return now == before || now < sum ? sum : now;
}

/* Memory held, bytes: the figure that mem and fast keep floors of. */
static inline u64 seep_held(const struct seep_sample *s)
{
	return s->anon + s->swap + s->shmem + s->pgtables;
}

static inline u64 seep_rss(const struct seep_sample *s)
{
	return s->anon + s->file + s->shmem;
}

/* Classic still learns its baseline from this process. */
static inline bool seep_classic_learns(const struct seep_det *d,
				       const struct seep_sample *s,
				       const struct seep_conf *c)
{
	return d->classic.nsum < SEEP_LEARNED &&
	       s->age_ns <= c->v[SEEPAGE_CFG_WARMUP_S] * 1000000000ULL;
}

#endif /* SEEP_DETECT_H */
