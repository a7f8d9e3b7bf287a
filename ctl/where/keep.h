/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seepage where --keep: looks that are kept. keep.c: the files below /run, of which kept.c of
 * lib/ reads the answers. ledger.c: the cost. summary.c: an answer in a sentence or two.
 */
#ifndef SEEPAGE_KEEP_H
#define SEEPAGE_KEEP_H

#include <limits.h>
#include "where/where.h"

struct ledger {
	u64 looks, bursts;	/* taken */
	u64 left_out;		/* looks that the limit of cost did not allow */
	u64 cpu_ns;		/* of all of them */
	u64 since_ns, hour_ns;	/* CLOCK_MONOTONIC: when it and when its hour began */
	u64 hour_cpu_ns;	/* of this hour */
	u64 limit_permille;	/* of a CPU, in an hour: that of the last look */
	u64 charged_ns;		/* in hour_cpu_ns, for a look that has not ended */
	u64 charged_pid;	/* that of the program that takes it */
};

void ledger_read(struct ledger *l, struct json_object *o, u64 now);
struct json_object *ledger_json(const struct ledger *l);
bool ledger_allows(struct ledger *l, u64 now, u64 cost_ns);
void ledger_add(struct ledger *l, u64 cpu_ns);
void ledger_charge(struct ledger *l, u64 pid, u64 most_ns);
bool ledger_settle(struct ledger *l, u64 pid, u64 cpu_ns);

enum keep_what {
	KEEP_LOOK,		/* take the look */
	KEEP_DONE,		/* there is one that is recent */
	KEEP_LEFT_OUT,		/* the limit of cost does not allow it */
	KEEP_FAILED,		/* an error was printed */
};

struct keeper {
	const struct target *t;
	int dir;		/* of the files */
	int lock;		/* machine-wide: one process at a time */
	char key[KEPT_KEY];
	char first[PATH_MAX];	/* file of the first look; empty: none that can be used */
	struct ledger ledger;
};

enum keep_what keep_open(struct keeper *k, const struct target *t, bool second, bool burst,
			 u64 permille);
int keep_check(const struct ctx *ctx);
void keep_first(struct keeper *k, const struct look *l);
void keep_answer(struct keeper *k, const struct result *r, bool burst);
void keep_close(struct keeper *k, u64 cpu_ns);

/* summary.c */
#define KEEP_TOP	3U	/* classes, and sites, of an answer that is kept */
#define SUMMARY_MAX	640
void summary_class(const struct result *r, char *buf, size_t size);
void summary_site(struct json_object *site, char *buf, size_t size);
struct json_object *summary(const struct result *r);

/* last.c */
struct json_object *last_answer(u32 pid, bool *ended);
int last_show(struct ctx *ctx, u32 pid);

#endif /* SEEPAGE_KEEP_H */
