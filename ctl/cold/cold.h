/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures whether a process uses the memory it gained. cold/cold.c: arithmetic.
 * cold/look.c: one look at one process. cold/watch.c: looks at all suspects while
 * `watch` runs. cold/explain.c: looks for the tools cold and explain.
 * cold/cgroup.c: memory limit of the cgroup. cold/use.c: what is shown of it.
 *
 * A look reads /proc/PID/smaps and then writes 1 to /proc/PID/clear_refs, which
 * clears the referenced bits. Memory that is not Referenced in the next look was not
 * used in between. Within that time it is looked at without clearing, after about 1, 5, 30
 * and 120 s: how fast pages become referenced tells use from a leak where the last value
 * does not (cold_rate()). The result can be wrong in both directions.
 *
 * Used memory that counts as unused. The detector then lacks a veto and may give up
 * to 12 points too many, about as without any look:
 * - Memory that is used less often than looks are made, such as a cache. The time
 *   between looks grows with the time of growth, which corrects this. A shrinking
 *   share is expected to go on shrinking (cold_foresee()).
 * - Kernel reclaim clears referenced bits, and so do other writers to clear_refs.
 * - Clearing does not flush the TLB. Memory used so often that its entry stays in the
 *   TLB (a few MB, more with huge pages) does not set the bit again until the CPU
 *   switches address spaces.
 * - A mapping that had much unused memory before it grew, such as a start-up table in
 *   the heap. Its new pages cannot be told from old ones, and unused pages are taken
 *   for new.
 *
 * Leaked memory that counts as used. From half of the growth on this is a false veto,
 * which hides the leak as long as it lasts. Where the rate does not bear the veto out,
 * `explain` says that use is not known; the veto stands, as what is used may grow as well:
 * - A huge page is referenced as a whole, even if one live byte in it is used.
 * - Live and leaked objects share pages.
 * - Leaked objects are reachable and visited: by a garbage collector that marks or
 *   moves them, by a list search, by fork and exit handlers.
 * - Other processes map the same shared memory or, after a fork, the same pages.
 * - Debuggers read the memory from outside, which sets the referenced bits. seepage where
 *   reads it, too, but marks that it did (cold_was_read()): such a window has no result.
 */
#ifndef SEEPAGE_COLD_H
#define SEEPAGE_COLD_H

#include "ctl.h"

#pragma GCC visibility push(hidden)

#define COLD_NAME	28
#define COLD_MAPS_MAX	20000		/* a process with more mappings is not looked at */
#define COLD_LEAST	(4ULL << 20)	/* bytes; the use of less growth is not judged */
#define COLD_FIRST_MS	5000		/* from the first look to the second */
#define COLD_FAR_MS	(2 * 60 * 60 * 1000)	/* most between two looks */
#define COLD_COST	100		/* looks take at most 1 / COLD_COST of the time */
#define COLD_BURST	10		/* and 1 / COLD_BURST between two looks of a window */
#define COLD_STALL_MS	500		/* no more looks if clear_refs blocks for longer */
#define COLD_HALF	500		/* permille; less unused is a veto, HOT_PERMILLE */
#define COLD_ALL	10		/* permille; less unused is all used */
#define COLD_FAST_MS	5000		/* half of it is used within this: use */
#define COLD_SLOW_MS	120000		/* and within this: not known */
#define COLD_POINTS	5		/* of a curve: four looks, and the end of the window */
#define COLD_MARK_MS	1000		/* least between two marks of a reader, target_mark() */

struct cold_map {		/* bytes */
	u64 start, end;
	u64 size;		/* resident or swapped out */
	u64 used;		/* referenced */
	char name[COLD_NAME];
};

struct cold_look {		/* mappings with memory of the process, by address */
	struct cold_map *v;
	size_t n, capacity;
	unsigned int seen;	/* number of all mappings in smaps */
};

struct cold_reader {		/* state of parsing smaps line by line */
	struct cold_look *look;
	struct cold_map at;
	u64 rss, swap, anonymous;
	enum { COLD_SKIP, COLD_OWN, COLD_FILE } kind;
	bool begun;
};

struct cold_sum {
	u64 grown;		/* bytes gained from the first look to the previous one */
	u64 unused;		/* part of grown that was not used since the previous look */
};

/* The unused share over the time since referenced bits were cleared */
struct cold_curve {
	u32 n;
	struct cold_point {
		u32 ms, permille;
	} at[COLD_POINTS];
};

/* The last one of a process, as `watch` keeps it for others to read: cold_keep() */
struct cold_kept {
	u64 time_ms;		/* of its last look, clock_ms() */
	u32 pid;
	struct cold_curve curve;
};

enum cold_rate {		/* how fast the share fell below COLD_HALF */
	COLD_NONE,		/* there was no look */
	COLD_AT_ONCE,		/* all was used at the first look */
	COLD_FAST,		/* within COLD_FAST_MS */
	COLD_SLOW,		/* within COLD_SLOW_MS */
	COLD_LATE,		/* later, or not yet */
};

/* cold.c */
void cold_begin(struct cold_reader *r, struct cold_look *look);
bool cold_line(struct cold_reader *r, const char *line);
void cold_end(struct cold_reader *r);
void cold_free(struct cold_look *look);
u64 cold_unused(const struct cold_map *m);
u64 cold_overlap(const struct cold_look *look, const struct cold_map *m, size_t *from);
void cold_weigh(const struct cold_look *first, const struct cold_look *before,
		const struct cold_look *now, struct cold_sum *sum);
int cold_permille(const struct cold_sum *sum);
int cold_foresee(int permille, int before);
u64 cold_next(u64 first_ms, u64 now_ms, u64 cost_ms);
u64 cold_peek(u64 since_ms, u64 cost_ms);
void cold_add(struct cold_curve *c, u64 since_ms, int permille);
enum cold_rate cold_rate(const struct cold_curve *c);

/* cold/look.c */
int cold_look(int dir, struct cold_look *look, u64 *clear_ms);
const char *cold_error(int err);
int cold_open(void);
int cold_lock(void);
bool cold_was_read(u32 pid, u64 since_ms);
void cold_keep(u32 pid, u64 now_ms, const struct cold_curve *c);
bool cold_kept(u32 pid, u64 born_ms, struct cold_kept *k);

#define CGROUP_LIMIT_NAME	4200	/* bytes of a file of limits and the path of its cgroup */

/*
 * cold/cgroup.c: limit and usage of the cgroup that leaves least to @dir, /proc/PID.
 * @name: out: file and cgroup that the limit is of, "memory.high /a/b", CGROUP_LIMIT_NAME
 *        bytes; NULL: not wanted. Not changed if no limit applies.
 * Returns false, and a limit of 0, if no limit applies.
 */
bool cgroup_limit(int dir, struct cgroup_memory *memory, char *name);

/* cold/watch.c */
struct prober;
struct prober *prober_new(struct knl *k);
int prober_wait(const struct prober *p);
void prober_step(struct prober *p);
void prober_drop_all(struct prober *p);
void prober_free(struct prober *p);

/* cold/use.c */
void cold_curve_text(const struct cold_curve *c, char *buf, size_t size);
const char *cold_rate_text(const struct cold_curve *c);
struct json_object *cold_curve_json(const struct cold_curve *c);

/* cold/explain.c */
int cold_explain(struct ctx *ctx, const char *word, u64 window_s);

#pragma GCC visibility pop

#endif /* SEEPAGE_COLD_H */
