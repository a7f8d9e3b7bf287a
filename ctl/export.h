/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text format of Prometheus, version 0.0.4: for the files of the command
 * export.
 */
#ifndef SEEPAGE_CTL_EXPORT_H
#define SEEPAGE_CTL_EXPORT_H

#include "ctl.h"

/* prom.c: families of samples; the prefix "seepage_" is added */
struct prom {
	FILE *f;
	const char *name, *type, *help;	/* of the family */
	bool told;			/* HELP and TYPE are: a sample has come */
	bool labels;			/* the sample has some */
};

enum prom_type { PROM_GAUGE, PROM_COUNTER };

void prom_family(struct prom *p, enum prom_type type, const char *name, const char *help);
void prom_begin(struct prom *p);
void prom_label(struct prom *p, const char *label, const char *s, size_t len);
void prom_label_number(struct prom *p, const char *label, u64 v);
void prom_end(struct prom *p, u64 v, unsigned int decimals);
void prom_end_signed(struct prom *p, double v);

/* What one page is made of. */
struct export_process {
	const struct rec *rec;		/* with a pid; none twice */
	struct place place;
};

struct export_data {
	u64 now_s;			/* since 1970 */
	const struct rec *status;
	const struct conf *conf;
	struct pmc_list pmc;
	const struct rec *alerts;	/* that are held */
	size_t n_alerts;
	u64 states[__SEEPAGE_STATE_MAX];	/* processes, those left out too */
	struct export_process *process;
	size_t n, left_out;
};

/* export_text.c, export_process.c: the page; @d NULL: there is no module to ask */
char *export_text(const struct export_data *d, size_t *len);
void export_processes(struct prom *p, const struct export_data *d);

/* export_http.c: GET /metrics */
struct export_address {
	char host[64];			/* a number */
	u16 port;
	bool ipv6;
};

struct export_server {
	struct ctx *ctx;
	struct export_address address;
	int signals;			/* that end it, as of child_signals() */
	char *(*page)(void *arg, size_t *len);	/* what is asked for, to be freed */
	void *arg;
};

int export_address(struct ctx *ctx, const char *word, struct export_address *a);
int export_library(struct ctx *ctx);
int export_listen(struct export_server *s);

#endif /* SEEPAGE_CTL_EXPORT_H */
