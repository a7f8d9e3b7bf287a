/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series of samples as text (docs/series.md): what record writes, replay reads
 * and feeds to the detector of the module.
 */
#ifndef SEEPAGE_CTL_SERIES_H
#define SEEPAGE_CTL_SERIES_H

#include "ctl.h"
#include "detect/detect.h"

#define SERIES_KIND	"seepage-series "
#define SERIES_MAGIC	SERIES_KIND "1"

/* series_map.c: a number -> what it stands for */
struct series_map {
	struct series_slot {
		u64 id;
		void *p;		/* NULL: free */
	} *slot;
	size_t n, room;			/* a power of two, or 0 */
};

void *series_map_get(const struct series_map *m, u64 id);
void series_map_put(struct series_map *m, u64 id, void *p);
void series_map_del(struct series_map *m, u64 id);

/*
 * series_fields.c: the letters of a sample that are a value or a difference of
 * one; the rest (t b h S C T) has rules of its own.
 */
enum {
	FIELD_ANON, FIELD_FILE, FIELD_SHMEM, FIELD_SWAP, FIELD_VSZ, FIELD_PGTABLES,
	FIELD_FAULTS, FIELD_FAULTS_ANON, FIELD_MAPS, FIELD_CPU, FIELD_ERROR,
	FIELD_LIMIT, FIELD_COLD, FIELD_COLD_NS, FIELD_PEERS, FIELD_PEERS_GROWING, FIELD_PMC,
	FIELD_HEAP,
	FIELDS
};

struct series_field {
	char letter;
	bool pages, difference;
	u64 max;			/* of the value, in its unit */
};

extern const struct series_field series_fields[FIELDS];

/* series_write.c */
struct series_writer {
	/* shall it be written? asked of each process once */
	bool (*wanted)(void *arg, const struct seepage_raw_sample *s);
	/* what else is known of it; returns false when nothing is */
	bool (*place)(void *arg, const struct seepage_raw_sample *s, struct place *p);
	void *arg;
	bool whole;			/* only histories that begin in the file */

	u64 passes, samples, series, lost;	/* whole passes written; for display */

	/* private */
	FILE *out;
	int err;			/* errno of the first write that failed */
	struct conf conf;
	u64 pass_ns, room_bytes;	/* of the last pass written */
	u64 pass;			/* its number, of all begun */
	bool in_pass, full, missed;	/* of the pass being written */
	u64 pass_samples;
	char *text;			/* what is not in the file yet */
	size_t n, text_room;
	struct series_map map;
	struct written **live;
	size_t live_n, live_room;
};

void series_write_begin(struct series_writer *w, FILE *out);
void series_write_pass(struct series_writer *w, u64 ns, bool full, u64 room_bytes, u64 pool_bytes,
		       const struct conf *c, bool gap);
void series_write_sample(struct series_writer *w, const struct seepage_raw_sample *s);
int series_write_pass_end(struct series_writer *w);
void series_write_gone(struct series_writer *w, u64 id);
void series_write_lost(struct series_writer *w, u64 messages);
int series_write_close(struct series_writer *w);

/* series_read.c */
#define SERIES_NAME_MAX	64

struct series {
	u64 id;				/* its number in the file */
	u32 pid;
	char comm[SERIES_NAME_MAX];
	struct place place;		/* as far as known */
	bool group;			/* of an executable and cgroup */
	bool before;			/* the detector had seen more of it */
	bool lost;			/* since its last sample, or before */
	u64 born_ns, begun_ns;
	u32 begun_faults;
	u64 known_rise, known_span_ns;	/* of others of its name that ended */
	u8 page_shift;

	u64 v[FIELDS];
	struct seep_sample sample;	/* the one being fed */
	bool judged;			/* the verdict of the kernel is known: */
	u8 state, confidence;
	u64 tte_s;

	u64 fed_pass;			/* number of the pass it was last fed in */
	u64 fed_ns;
	size_t at;			/* in the reader's list */
	void *of;			/* the caller's */
};

struct series_reader {
	/* < 0 ends the reading; series_bad() says why, if at all */
	int (*begin)(struct series_reader *r, struct series *s);
	int (*fed)(struct series_reader *r, struct series *s);
	/* @ended: the process; else the file, or its history was reset */
	void (*gone)(struct series_reader *r, struct series *s, bool ended);
	void *arg;

	struct seep_conf conf;		/* in force */
	u64 pass_ns, room, pool;
	u64 pass;			/* number, 0: none yet */
	u64 conf_changes;
	unsigned long line;
	char err[CONF_ERR_MAX + 64];

	/* private */
	bool in_pass, full;
	unsigned long pass_line;
	struct series_map map;
	struct series **live;
	size_t live_n, live_room;
};

int series_read(struct series_reader *r, FILE *f);

/* series_word.c */
#define SERIES_TIME_MAX	(1ULL << 62)	/* ns, of the monotonic clock */
int series_bad(struct series_reader *r, const char *fmt, ...) __printf(2, 3);
char *series_word(char **p);
bool series_number(const char *word, u64 max, u64 *v);
char *series_value(struct series_reader *r, char *word);

/* series_proc.c */
int series_proc(struct series_reader *r, struct series *s, char *rest);

/* series_verdict.c: what the detector said, as the kernel would tell it */
struct series_told {
	struct rec rec;			/* of msg */
	struct nl_msg *msg;
};

void series_tell(struct series_told *t, const struct series *s, const struct seep_det *d,
		 const struct seep_verdict *v, const struct seep_conf *c, u8 prev_state);
void series_told_free(struct series_told *t);

#endif /* SEEPAGE_CTL_SERIES_H */
