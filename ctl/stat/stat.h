/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the command stat share. stat prints hardware
 * counters in the manner of perf stat.
 */
#ifndef SEEPAGE_CTL_STAT_H
#define SEEPAGE_CTL_STAT_H

#include <signal.h>
#include "ctl.h"
#include "detect/pmu.h"

/* The counts of a process, a command or the whole system over some time */
struct stat_block {
	u32 pid;			/* 0: a command or the whole system */
	char comm[TEXT_MAX];		/* or the words of a command */
	bool command;
	unsigned int processes;		/* number of processes of a command */
	int status;			/* of a command, as waitpid() returns it */
	u64 ns;				/* length of that time */
	u64 time_ns;			/* its end, since 1970 */
	u64 share;			/* percent of all CPUs' time in which they counted */
	u64 age_s;			/* age of the process */
	struct seepage_pmc_value v[PMC_EVENTS];
	bool learned;			/* usual is valid */
	struct seepage_pmc_baseline usual;
};

/* One figure of seep_pmu_figures() */
struct stat_metric {
	const char *key;		/* JSON key and CSV heading */
	const char *text;
	size_t at;			/* in struct seep_pmu_figures */
	unsigned int decimals;		/* the value is in 10^-decimals of its unit */
};

#define STAT_METRICS	9

extern const struct stat_metric stat_metrics[STAT_METRICS];

/* stat/events.c: counts from the kernel */
int stat_ask(const struct ctx *ctx, struct knl *k, struct pmc_list *list);
bool stat_process(struct message *msg, const struct pmc_list *list, struct stat_block *b);
void stat_whole(const struct pmc_list *list, struct stat_block *b);
void stat_minus(struct stat_block *b, const struct stat_block *before);
void stat_plus(struct stat_block *b, const struct stat_block *more);
void stat_figures(const struct pmc_list *list, const struct stat_block *b,
		  struct seep_pmu_figures *f);
u64 stat_figure(const struct seep_pmu_figures *f, const struct stat_metric *m);
int stat_event_id(const char *name);

/* stat/share.c: the share of CPU time in which events were counted */
struct stat_share {
	u64 ns, enabled_ns;	/* at the last reading; ns 0: none yet */
	long cpus, cpus_now;	/* online at the last reading, and at this one */
	u64 before_ns;		/* clock_ns() before this reading */
	u64 since_ns;		/* time from the last reading to this one */
	u64 percent;		/* of all CPUs' time */
	u64 noted;		/* percent in the last note; 100: none, or all again */
};

void stat_share_before(struct stat_share *s);
bool stat_share_stalled(const struct stat_share *s);
void stat_share_after(const struct ctx *ctx, struct stat_share *s, const struct pmc_list *list);

/* stat/show.c: output */
#define STAT_NUMBER	40
char *stat_number(char *buf, u64 v, unsigned int decimals, unsigned int shown);
char *stat_grouped(char *buf, u64 v);
void stat_reading(const struct seep_pmu_figures *f, char *buf, size_t size);
void stat_text(const struct pmc_list *list, const struct stat_block *b);
void stat_all(const struct pmc_list *list, const struct stat_block *b, size_t n);
struct json_object *stat_json(const struct pmc_list *list, const struct stat_block *b);
void stat_csv_head(const struct pmc_list *list);
void stat_csv(const struct pmc_list *list, const struct stat_block *b);

/* stat/sink.c: where stat prints */
struct stat_sink {
	int command;			/* standard output of the command; -1: that of stat */
	int report;			/* that of stat then */
};

int stat_sink_open(const struct ctx *ctx, const char *output, u64 fd, bool aside,
		   struct stat_sink *sink);
void stat_sink_lend(const struct stat_sink *sink);
void stat_sink_back(const struct stat_sink *sink);

/* stat/repeat.c: several runs of a command */
struct stat_spread {			/* of one figure, over the runs that have it */
	unsigned int n;
	double mean, squares;		/* squares: sum of (value - mean)^2 */
};

struct stat_repeat {
	unsigned int runs, failed;
	struct stat_block sum;
	struct stat_spread ns, event[PMC_EVENTS], metric[STAT_METRICS];
};

void stat_repeat_add(struct stat_repeat *r, const struct pmc_list *list,
		     const struct stat_block *b);
void stat_repeat_text(const struct stat_repeat *r, const struct pmc_list *list);

/* stat/run.c: the counts of a command and its descendants */
extern volatile sig_atomic_t stat_ending;	/* SIGTERM came and was passed on */
int stat_run(const struct ctx *ctx, struct knl *k, const struct pmc_list *list, char **argv,
	     struct stat_block *b);

/* stat/compare.c: comparison of two files of --record */
struct stat_limits {			/* percent */
	u64 ipc_drop, llc, tlb, walk, remote, time;
};

#define EXIT_REGRESSED	3

int stat_compare(const struct ctx *ctx, const char *base, const char *cand,
		 const struct stat_limits *limits);

#endif /* SEEPAGE_CTL_STAT_H */
