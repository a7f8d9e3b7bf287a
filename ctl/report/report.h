/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A report is one HTML page that needs nothing else: charts are SVG inside of it, and it has no
 * scripts, fonts, pictures or links. All text that does not stand in this program is written by
 * html_text(), which escapes it.
 */
#ifndef SEEPAGE_CTL_REPORT_H
#define SEEPAGE_CTL_REPORT_H

#include "ctl.h"
#include "series/series.h"

/* report/html.c */
void html_text(FILE *f, const char *s);
const char *html_zone(void);
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
	u64 zero_ns;		/* CLOCK_REALTIME where x is 0; 0: not known */
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
	bool recorded_only;	/* no module has the process or an alert about it */
	bool group;
	bool ended;		/* the process or group of the alert has ended */
	u64 from_ns, to_ns;	/* when it began, and when it ended at the latest; CLOCK_REALTIME */
	u64 born_ns;		/* of a process that lives, CLOCK_MONOTONIC; 0: any */
	char comm[SEEPAGE_COMM_LEN + 1];	/* "": any */
};

/* Of a recording, the sections that are wanted */
struct pages {
	const struct report_of *of;	/* the only one that is wanted; NULL: all */
	struct section *v;
	size_t n, capacity;
	u64 samples, alerts;
	u64 begun_ns, ended_ns;		/* the first and the last sample, CLOCK_MONOTONIC */
	u64 clock_ns;			/* CLOCK_REALTIME less that at the end, 0: not known */
};

/* report/recording.c */
int pages_read(struct pages *p, struct series_reader *r, FILE *in);
void pages_write(FILE *f, struct pages *p);

/*
 * report/recording.c and report/live.c: write the sections of the page. They return 0, or an
 * exit status after printing an error.
 */
int report_recording(const struct ctx *ctx, const char *path, FILE *f);
int report_live(struct ctx *ctx, const char *word, FILE *f, struct report_of *of);

/* report/recorded.c: what the service seepage-record has recorded */
const char *recorded_name(void);
bool report_recorded(const struct ctx *ctx, const struct report_of *of, FILE *f);

/* report/where.c: the answer of where -j in a file */
int report_where(const struct ctx *ctx, const char *path, FILE *f);
void report_kept(const struct report_of *of, FILE *f);

#endif /* SEEPAGE_CTL_REPORT_H */
