/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What hardware counters counted, in the way of perf stat: for the files of the
 * command stat.
 */
#ifndef SEEPAGE_CTL_STAT_H
#define SEEPAGE_CTL_STAT_H

#include <signal.h>
#include "ctl.h"
#include "detect/pmc.h"

/* What was counted of somebody in some time. */
struct stat_block {
	u32 pid;			/* 0: of the whole system */
	char comm[TEXT_MAX];		/* or the words of a command */
	bool command;
	unsigned int processes;		/* that a command consisted of */
	int status;			/* of a command, as of waitpid() */
	u64 ns;
	u64 time_ns;			/* its end, since 1970 */
	u64 share;			/* percent of the CPUs' time that was counted */
	u64 age_s;
	struct seepage_pmc_value v[PMC_EVENTS];
	bool learned;			/* what is usual for it: */
	struct seepage_pmc_baseline usual;
};

/* A figure of seep_pmc_figures(). */
struct stat_metric {
	const char *key;		/* in JSON, and heading in CSV */
	const char *text;
	size_t at;			/* in struct seep_pmc_figures */
	unsigned int decimals;		/* it counts in 10^-decimals of its unit */
};

#define STAT_METRICS	9

extern const struct stat_metric stat_metrics[STAT_METRICS];

/* stat_events.c: what the kernel tells */
int stat_ask(const struct ctx *ctx, struct knl *k, struct pmc_list *list);
bool stat_process(struct rec *rec, const struct pmc_list *list, struct stat_block *b);
void stat_whole(const struct pmc_list *list, struct stat_block *b);
void stat_minus(struct stat_block *b, const struct stat_block *before);
void stat_plus(struct stat_block *b, const struct stat_block *more);
void stat_figures(const struct pmc_list *list, const struct stat_block *b,
		  struct seep_pmc_figures *f);
u64 stat_figure(const struct seep_pmc_figures *f, const struct stat_metric *m);
int stat_event_id(const char *name);

/* stat_show.c: what is told of it */
#define STAT_NUMBER	40
char *stat_number(char *buf, u64 v, unsigned int decimals, unsigned int shown);
void stat_reading(const struct seep_pmc_figures *f, char *buf, size_t size);
void stat_text(const struct pmc_list *list, const struct stat_block *b);
void stat_all(const struct pmc_list *list, const struct stat_block *b, size_t n);
struct json_object *stat_json(const struct pmc_list *list, const struct stat_block *b);
void stat_csv_head(const struct pmc_list *list);
void stat_csv(const struct pmc_list *list, const struct stat_block *b);

/* stat_run.c: a command and what descends from it; SIGTERM came, and was passed on */
extern volatile sig_atomic_t stat_ending;
int stat_run(const struct ctx *ctx, struct knl *k, const struct pmc_list *list, char **argv,
	     struct stat_block *b);

/* stat_compare.c: two files of --record */
struct stat_limits {			/* percent */
	u64 ipc_drop, llc, tlb, walk, remote, time;
};

#define EXIT_REGRESSED	3

int stat_compare(const struct ctx *ctx, const char *base, const char *cand,
		 const struct stat_limits *limits);

#endif /* SEEPAGE_CTL_STAT_H */
