/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series of samples as text (docs/recording.md). record writes them; replay reads them
 * and feeds them to the detector of the module.
 */
#ifndef SEEPAGE_CTL_SERIES_H
#define SEEPAGE_CTL_SERIES_H

#include "cold/cold.h"
#include "detect/detect.h"

#define SERIES_KIND	"seepage-series "
#define SERIES_MAGIC	SERIES_KIND "1"
#define SERIES_CLOCK	"#clock "	/* a comment, which older readers skip */

/* series/map.c: a hash table from a number to a pointer */
struct series_map {
	struct series_slot {
		u64 id;
		void *p;		/* NULL: the slot is free */
	} *slot;
	size_t n, capacity;			/* a power of two, or 0 */
};

void *series_map_get(const struct series_map *m, u64 id);
void series_map_put(struct series_map *m, u64 id, void *p);
void series_map_del(struct series_map *m, u64 id);

/*
 * series/fields.c: the letters of a sample line that stand for a value or for its
 * difference to the last one. The other letters (t b h S C T) have their own code.
 */
enum {
	FIELD_ANON, FIELD_FILE, FIELD_SHMEM, FIELD_SWAP, FIELD_VSZ, FIELD_PGTABLES,
	FIELD_FAULTS, FIELD_FAULTS_ANON, FIELD_MAPS, FIELD_CPU, FIELD_ERROR,
	FIELD_LIMIT, FIELD_COLD, FIELD_COLD_NS, FIELD_PEERS, FIELD_PEERS_GROWING, FIELD_PMC,
	FIELD_HEAP, FIELD_OTHERS_RATE, FIELD_OTHERS,
	FIELDS
};

struct series_field {
	char letter;
	bool pages, difference;		/* in pages; written as a difference */
	u64 max;			/* largest value, in its unit */
};

extern const struct series_field series_fields[FIELDS];

/* series/write.c */
struct series_writer {
	/*
	 * Both callbacks may be NULL. wanted() returns whether to write the process. It is
	 * called once for each, or with @later for each sample until it returns true. place()
	 * fills @p, which the writer frees, and returns false if it knows nothing.
	 */
	bool (*wanted)(void *arg, const struct seepage_raw_sample *s);
	bool (*place)(void *arg, const struct seepage_raw_sample *s, struct place *p);
	/* what watch found of the use of its growth: returns false if nothing; NULL: never */
	bool (*use)(void *arg, const struct seepage_raw_sample *s, struct cold_kept *k);
	void *arg;
	bool whole;			/* write only histories that begin in the file */
	bool later;			/* a process may become wanted */
	bool sparse;			/* leave out passes while no series is written */
	u64 clock_ns;			/* CLOCK_REALTIME less CLOCK_MONOTONIC now; 0: not known */

	u64 passes, samples, series, lost;	/* totals; passes: full ones without loss */

	/* private */
	FILE *out;
	int err;			/* errno of the first write that failed */
	struct conf conf;
	u64 pass_ns, headroom_bytes;	/* time and headroom of the last pass */
	u64 written_ns;			/* time of the last pass in the file */
	u64 clock_written_ns;		/* clock_ns in the file, 0: none */
	u64 bytes;			/* written to the file */
	size_t shown;			/* live series that are written */
	size_t pass_at, pass_end;	/* where the line of the pass is in text */
	u64 pass;			/* number of passes begun */
	bool in_pass, full, missed;	/* the pass being written; missed: incomplete */
	u64 pass_samples;
	char *text;			/* lines not yet written to the file */
	size_t n, text_capacity;
	struct series_map map;
	struct written **live;
	size_t live_n, live_capacity;
};

void series_write_begin(struct series_writer *w, FILE *out);
void series_write_pass(struct series_writer *w, u64 ns, bool full, u64 headroom_bytes,
		       u64 shmem_total_bytes, const struct conf *c, bool gap);
void series_write_sample(struct series_writer *w, const struct seepage_raw_sample *s);
int series_write_pass_end(struct series_writer *w);
void series_write_gone(struct series_writer *w, u64 id);
void series_write_lost(struct series_writer *w, u64 messages);
int series_write_again(struct series_writer *w, FILE *out);
int series_write_close(struct series_writer *w);

/* series/take.c: messages of the module, to the writer */
void series_take_conf(const struct nlattr *nest, struct conf *c);
void series_take_gone(struct series_writer *w, const struct nlattr *a);
void series_take_samples(struct series_writer *w, const struct nlattr *a, u64 size);

/* series/rotate.c */
int series_rotate_start(const struct ctx *ctx, const char *file);
int series_rotate(struct series_writer *w, FILE **out, const char *file);

/* series/read.c */
#define SERIES_NAME_MAX	64

struct series {
	u64 id;				/* number of the series in lines of the file */
	u32 pid;
	char comm[SERIES_NAME_MAX];
	struct place place;		/* cgroup, exe and uid as far as recorded */
	bool group;			/* sum over an executable in a cgroup, not a process */
	bool before;			/* the detector's history began before the file */
	bool lost;			/* messages were lost: samples may be missing */
	u64 born_ns, begun_ns;
	u32 begun_faults;
	u64 known_rise, known_span_ns;	/* inherited from exited processes of the name */
	u8 page_shift;

	u64 v[FIELDS];
	struct cold_curve use;		/* n 0: not known; the detector does not take it */
	struct seep_sample sample;	/* the sample being fed */
	u64 headroom;			/* of the machine, at the last pass, bytes */
	bool judged;			/* the kernel's verdict follows: */
	u8 state, confidence;
	u64 tte_s;

	u64 fed_pass;			/* number of the pass it was last fed in */
	u64 fed_ns;
	size_t at;			/* index in the reader's list */
	void *of;			/* private data of the caller */
};

struct series_reader {
	/* a negative return ends the reading; series_bad() may set the reason */
	int (*begin)(struct series_reader *r, struct series *s);
	int (*fed)(struct series_reader *r, struct series *s);
	/* @ended: the process exited; false: the file ended or the history was reset */
	void (*gone)(struct series_reader *r, struct series *s, bool ended);
	void *arg;

	struct seep_conf conf;		/* configuration in force */
	u64 pass_ns, headroom, shmem_total;
	u64 clock_ns;			/* CLOCK_REALTIME less CLOCK_MONOTONIC; 0: not known */
	u64 pass;			/* number of the pass, 0: none yet */
	u64 conf_changes;
	unsigned long line;
	bool cut;			/* err: the file ends within a line */
	char err[CONF_ERR_MAX + 64];

	/* private */
	bool in_pass, full;
	unsigned long pass_line;
	struct series_map map;
	struct series **live;
	size_t live_n, live_capacity;
};

int series_read(struct series_reader *r, FILE *f);

/* series/word.c */
#define SERIES_TIME_MAX	(1ULL << 62)	/* ns of CLOCK_MONOTONIC */
int series_bad(struct series_reader *r, const char *fmt, ...) __printf(2, 3);
char *series_word(char **p);
bool series_number(const char *word, u64 max, u64 *v);
char *series_value(struct series_reader *r, char *word);

/* series/proc.c */
int series_proc(struct series_reader *r, struct series *s, char *rest);

/* series/verdict.c: a verdict as the message that the kernel would send */
struct series_verdict {
	struct message msg;		/* points into nlmsg */
	struct nl_msg *nlmsg;
};

void series_verdict_message(struct series_verdict *t, const struct series *s,
			    const struct seep_det *d, const struct seep_verdict *v,
			    const struct seep_conf *c, u8 prev_state);
void series_verdict_free(struct series_verdict *t);
int series_verdict_check(struct series_reader *r, const struct series *s,
			 const struct seep_verdict *v);

#endif /* SEEPAGE_CTL_SERIES_H */
