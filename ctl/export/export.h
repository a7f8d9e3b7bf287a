/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the command export share. The format is the text
 * format of Prometheus, version 0.0.4.
 */
#ifndef SEEPAGE_CTL_EXPORT_H
#define SEEPAGE_CTL_EXPORT_H

#include "ctl.h"

/* export/prom.c: families of samples; it adds the prefix "seepage_" to every name */
struct prom {
	FILE *f;
	const char *name, *type, *help;	/* the current family */
	bool headed;			/* HELP and TYPE of the family are printed */
	bool labels;			/* the current sample has labels */
};

enum prom_type { PROM_GAUGE, PROM_COUNTER };

void prom_family(struct prom *p, enum prom_type type, const char *name, const char *help);
void prom_begin(struct prom *p);
void prom_label(struct prom *p, const char *label, const char *s, size_t len);
void prom_label_number(struct prom *p, const char *label, u64 v);
void prom_end(struct prom *p, u64 v, unsigned int decimals);
void prom_end_signed(struct prom *p, double v);

/* The data of one page */
struct export_process {
	const struct message *msg;		/* has a pid, which is unique */
	struct place place;
};

/* Totals of PSI, microseconds; UINT64_MAX: unknown */
struct export_pressure {
	u64 some_us, full_us;
};

#define EXPORT_SILENCE_KINDS	6

struct export_silences {
	bool known;			/* false: their file cannot be read */
	u64 n[EXPORT_SILENCE_KINDS];
};

struct export_data {
	u64 now_s;			/* seconds since 1970 */
	const struct message *status;
	const struct conf *conf;
	struct export_pressure pressure;
	struct export_silences silences;
	struct pmc_list pmc;
	const struct message *alerts;	/* alerts in the ring */
	size_t n_alerts;
	u64 states[__SEEPAGE_STATE_MAX];	/* number of processes, with those left out */
	struct export_process *process;
	size_t n, left_out;
};

/*
 * export/text.c, process.c, unit.c, group.c: the page as text, which the caller frees.
 * @d: NULL if the module did not answer
 */
char *export_text(const struct export_data *d, size_t *len);
void export_processes(struct prom *p, const struct export_data *d);
void export_groups(struct prom *p, const struct export_data *d);
void export_units(struct prom *p, const struct export_data *d);

/* export/pressure.c */
void export_pressure_parse(const char *text, struct export_pressure *p);
void export_pressure_read(struct export_pressure *p);
void export_pressure(struct prom *p, const struct export_pressure *pressure);

/* export/silence.c */
void export_silences_read(struct export_silences *s);
void export_silences(struct prom *p, const struct export_silences *s);

/* export/http.c: GET /metrics */
struct export_address {
	char host[64];			/* a numeric address */
	u16 port;
	bool ipv6;
};

struct export_server {
	struct ctx *ctx;
	struct export_address address;
	int signals;			/* child_signals(); a signal ends the server */
	char *(*page)(void *arg, size_t *len);	/* returns a page, which the server frees */
	void *arg;
};

int export_address(struct ctx *ctx, const char *word, struct export_address *a);
int export_library(struct ctx *ctx);
int export_listen(struct export_server *s);

#endif /* SEEPAGE_CTL_EXPORT_H */
