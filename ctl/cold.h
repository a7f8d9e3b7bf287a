/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is what a process gained used again? cold.c: the arithmetic. cold_look.c: one
 * look at one process. cold_watch.c: looks at all suspects while `watch` runs.
 * cold_explain.c: two looks for `explain --cold`. cgroup.c: what its cgroup has
 * left.
 *
 * A look reads /proc/PID/smaps and then writes 1 to /proc/PID/clear_refs, which
 * clears the referenced bits: what is not Referenced in the next look was not
 * used since. What makes it wrong, and to which side:
 *
 * Said to be unused though it is used (the kernel then has no veto where it
 * should have one, and up to 12 points too many: as if nobody had looked, or a
 * little worse):
 * - Memory that is used more rarely than the looks are apart, as a cache. The
 *   looks are further apart the longer it grows, so this heals; a share that
 *   shrinks as they do is taken to go on so (cold_foresee()).
 * - The kernel's own reclaim clears referenced bits, and so does whoever else
 *   writes to clear_refs.
 * - Clearing does not flush the TLB: what is used so much that its entry stays
 *   there (a few MB; with huge pages more) leaves no new trace until the next
 *   switch of address spaces on that CPU.
 * - A mapping that had much unused memory before it grew (a start-up table in
 *   the same heap): which of its pages are the new ones is not known, and the
 *   unused ones are taken for new.
 *
 * Said to be used though it leaked (a false veto, which hides a leak from the
 * policy until it is no longer so; at half of the growth):
 * - A huge page is referenced as a whole: one live byte in it does.
 * - Live and leaked objects that share pages.
 * - What still is reachable and gets visited: a garbage collector that marks or
 *   moves leaked objects, a list that is searched, fork and exit handlers.
 * - Others that map the same shared memory or, after a fork, the same pages.
 */
#ifndef SEEPAGE_COLD_H
#define SEEPAGE_COLD_H

#include "ctl.h"

#define COLD_NAME	28
#define COLD_MAPS_MAX	20000		/* mappings; smaps of more is not read */
#define COLD_LEAST	(4ULL << 20)	/* growth, bytes, that says something */
#define COLD_FIRST_MS	5000		/* from the first look to the second */
#define COLD_FAR_MS	(2 * 60 * 60 * 1000)	/* most between two looks */
#define COLD_COST	100		/* looks take at most 1 / so much of the time */
#define COLD_STALL_MS	500		/* what clearing may hold up a process for */

struct cold_map {		/* bytes */
	u64 start, end;
	u64 size;		/* resident or swapped out */
	u64 used;		/* referenced */
	char name[COLD_NAME];
};

struct cold_look {		/* mappings of memory of its own, by address */
	struct cold_map *v;
	size_t n, room;
	unsigned int seen;	/* mappings in all */
};

struct cold_reader {		/* of the text of smaps, line by line */
	struct cold_look *look;
	struct cold_map at;
	u64 rss, swap, anonymous;
	enum { COLD_SKIP, COLD_OWN, COLD_FILE } kind;
	bool begun;
};

struct cold_sum {
	u64 grown;		/* before the look before this one, bytes */
	u64 unused;		/* of that, since the look before */
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

/* cold_look.c */
int cold_look(int dir, struct cold_look *look, u64 *clear_ms);
int cold_lock(void);

/* cgroup.c: bytes that the cgroup of /proc/PID may use, and uses; false: no limit */
bool cgroup_limit(int dir, u64 *limit, u64 *used);

/* cold_watch.c */
struct prober;
struct prober *prober_new(struct knl *k);
int prober_wait(const struct prober *p);
void prober_step(struct prober *p);
void prober_forget(struct prober *p);
void prober_free(struct prober *p);

/* cold_explain.c */
struct cold_report;
int cold_report_make(struct ctx *ctx, struct knl *k, u32 pid, u64 window_s,
		     struct cold_report **report);
void cold_report_print(const struct cold_report *r);
struct json_object *cold_report_json(const struct cold_report *r);
void cold_report_free(struct cold_report *r);

#endif /* SEEPAGE_COLD_H */
