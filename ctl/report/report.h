/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A report is one HTML page that needs nothing else: charts are SVG inside of it, and it has no
 * scripts, fonts, pictures or links. All text that does not stand in this program is written by
 * html_text(), which escapes it.
 */
#ifndef SEEPAGE_CTL_REPORT_H
#define SEEPAGE_CTL_REPORT_H

#include "ctl.h"

/* report/html.c */
void html_text(FILE *f, const char *s);
void html_begin(FILE *f, const char *title);
void html_end(FILE *f);
void html_fact(FILE *f, const char *name, const char *value);
void html_reasons(FILE *f, const struct message *msg);

/* report/chart.c */
struct chart_point {
	double x, y;		/* seconds, bytes */
};

struct chart_line {
	const char *name;
	struct chart_point *p;	/* by x */
	size_t n, capacity;
	bool dots;		/* draw the points too: there are few */
};

struct chart_mark {		/* a change of state */
	double x;
	unsigned int state;	/* from here on */
	char label[32];		/* of an alert; else empty */
};

#define CHART_LINES	4

struct chart {
	const char *title;
	const char *x_name;
	bool counts;		/* y is a number, not bytes */
	struct chart_line line[CHART_LINES];
	unsigned int lines;
	struct chart_mark *mark;
	size_t marks, marks_capacity;
};

void chart_add(struct chart_line *l, double x, double y);
void chart_mark(struct chart *c, double x, unsigned int state, const char *label);
void chart_prune(struct chart *c);
void chart_draw(FILE *f, const struct chart *c);
void chart_free(struct chart *c);

/* What a pid or the number of an alert stands for */
struct report_of {
	u32 pid;		/* 0: nothing */
	bool group;
	bool ended;		/* the process or group of the alert has ended */
	u64 from_ns, to_ns;	/* when it began, and when it ended at the latest; CLOCK_REALTIME */
	char comm[SEEPAGE_COMM_LEN + 1];
};

/*
 * report/recording.c and report/live.c: write the sections of the page. They return 0, or an
 * exit status after printing an error.
 */
int report_recording(const struct ctx *ctx, const char *path, FILE *f);
int report_live(struct ctx *ctx, const char *word, FILE *f, struct report_of *of);
void report_recorded(const struct ctx *ctx, const struct report_of *of, FILE *f);

/* report/where.c: the answer of where -j in a file */
int report_where(const struct ctx *ctx, const char *path, FILE *f);
void report_kept(const struct report_of *of, FILE *f);

#endif /* SEEPAGE_CTL_REPORT_H */
