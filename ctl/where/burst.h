/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call sites: a burst of samples from the module seepage_where, their stacks, and which of the
 * sampled blocks stay.
 */
#ifndef SEEPAGE_WHERE_BURST_H
#define SEEPAGE_WHERE_BURST_H

#include <linux/seepage_where.h>
#include "where/growth.h"
#include "where/where.h"

#define TRAP_NS		2000	/* what a trap is taken to cost; docs/where.md has measured ones */
#define FRAMES_MAX	48U

/* probe.c: the functions that allocate */
struct probes {
	int fd;			/* the file that has them */
	u32 n;
	struct seepage_where_probe p[SEEPAGE_WHERE_PROBES];
	const char *name[SEEPAGE_WHERE_PROBES];
	bool emulated[SEEPAGE_WHERE_PROBES];	/* not single-stepped */
};

const char *probes_find(struct target *t, const struct object *o, struct probes *p);
bool probe_allocates(const char *name, enum family *family);
u64 probe_place(int fd, u64 offset, bool *emulated);
bool probe_is_function(int fd, u64 offset);
bool probe_follows_call(int fd, u64 offset);
void probes_close(struct probes *p);

/* poolprobe.c: the function of pymalloc that begins a pool */
bool pool_probe_find(struct target *t, u64 interpreter, struct probes *p);

/* order.c: which classes are sampled */
size_t order_classes(const struct where_row *w, size_t n, u64 class_bytes, bool pools,
		     const struct where_row **row, size_t most);

/* burst.c: samples */
struct burst_limits {
	u64 lo, hi;		/* sizes of the class */
	bool even;		/* of many classes: each round takes the same part of the traps */
	u64 samples, traps, seconds, cost_permille;
};

/* What a block held soon after it was sampled, up to its first 64 bytes */
#define BLOCK_KEEP	64U

struct early {
	unsigned char data[BLOCK_KEEP];
	unsigned int bytes;	/* 0: not read */
	unsigned int round;	/* in which it was sampled */
};

/* unwind.c: stacks, from the copy of their top and .eh_frame */
struct frame {
	u64 pc;
	unsigned int python;	/* number of a function of python that executes pc; or 0 */
	bool activation;	/* pc is not a return address */
	bool cut;		/* of python, and its callers are not known */
	u64 place;		/* of python, if they are not: it differs between most callers */
};

struct stack {
	struct frame frame[FRAMES_MAX];
	unsigned int n;
};

#define BURST_ROUNDS	10U

struct burst_round {
	u64 armed_ns, matched;	/* matched: calls for sizes of the class */
};

struct burst {
	struct unwinder *u;	/* set by the caller */
	struct seepage_where_sample *s;	/* by time */
	struct early *early;	/* of each */
	struct stack *stack;	/* of each, if the process is one of python; else NULL */
	size_t n;
	u64 traps, matched, inherited, armed_ns, arm_ns;
	unsigned int rounds;
	struct burst_round round[BURST_ROUNDS];
	u32 reason;		/* of the last round */
	const struct callsites *at;	/* of the samples from that one on; or NULL */
	size_t functions;
	u64 sites_ns;		/* how long probes were at these sites */
};

int burst_open(const char **why);
int burst_start(int fd, const struct seepage_where_start *how);
const char *burst_check(void);
int burst_take(struct target *t, const struct bins *bins, const struct probes *p,
	       const struct burst_limits *l, bool (*wait)(void *arg, u64 ms, int fd), void *arg,
	       struct burst *b);
const char *burst_reason(u32 reason);
void burst_free(struct burst *b);

/* burstnote.c */
void burst_notes(const struct burst *b, const struct burst_limits *l, bool pool, struct result *r);
void burst_probe_note(const struct probes *p, struct result *r);

/* sample.c: the samples of a burst, round by round */
u64 samples_random(u64 n);
void samples_read(int fd, const struct probes *p, size_t most, struct burst *b);
void samples_unwind(struct burst *b, size_t had);
void samples_read_blocks(struct target *t, const struct bins *bins, struct burst *b, size_t had);
size_t samples_thin(struct target *t, const struct bins *bins, struct burst *b, size_t most);

/* block.c: a block of malloc, looked at from outside */
bool block_read(struct target *t, const struct bins *bins, u64 addr, u64 size, u64 *head,
		struct early *now);
bool block_is_linked(const struct bins *bins, const struct early *before, const struct early *now);
bool block_is_same(const struct early *e, const struct early *now);
u64 block_find(struct target *t, u64 size, const struct early *e);

struct unwinder;
struct unwinder *unwinder_new(struct target *t);
u64 unwinder_python(const struct unwinder *u);
void unwinder_note(const struct unwinder *u, struct result *r);
unsigned int unwind(struct unwinder *u, const struct seepage_where_sample *s, struct frame *f);
const struct stack *unwind_again(struct unwinder *u, const struct seepage_where_sample *s,
				 const struct stack *before, struct stack *now);
void unwind_frame_add(struct unwinder *u, const struct frame *f, struct json_object *stack);
void unwinder_free(struct unwinder *u);

/* again.c: when the sampled blocks are looked at again, and how often meanwhile */
#define AGAIN_MAX	8U

struct again {
	unsigned int n;
	u64 seconds[AGAIN_MAX];	/* since the burst, ascending */
};

/* What the census says of the class that is sampled */
struct growth {
	unsigned int id;	/* of the class */
	u64 class_bytes;	/* the largest request that it serves */
	s64 blocks;
	double seconds;		/* in which it grew by so many */
	s64 bytes_per_hour;
	bool recent;		/* the burst began just after the looks */
	s64 later_blocks;	/* by which it grew later, from one look to another, */
	double later_seconds;	/* so long after it; 0: there was none */
	bool measured;		/* meanwhile the rates of its sites were measured */
	bool mixed;		/* most of what the process grows by is in no class */
	bool pages;		/* blocks of all sizes, and what is known is of pages: */
	s64 bytes;		/* by which the memory grew from the first look on, */
	struct trend trend;	/* and from the burst on */
};

struct survivors;
bool again_parse(const char *list, struct again *again);
void again_look(struct target *t, struct survivors *v, const struct again *again,
		bool (*wait)(void *arg, u64 ms, int fd), void *arg);
void again_longer(struct target *t, struct survivors *v, u64 after, u64 seconds,
		  bool (*wait)(void *arg, u64 ms, int fd), void *arg);

/* site.c: which sites the blocks are of that stay */
struct survivors *survivors_new(struct target *t, const struct bins *bins, struct unwinder *u,
				const struct burst *b);
void survivors_look(struct survivors *v);
void survivors_mark(struct survivors *v, u64 seconds);
void survivors_free(struct survivors *v);

/* named.c: which of these sites are named */
struct size_range {
	u64 lo, hi;
};

size_t survivors_sizes(const struct survivors *v, struct size_range *range, size_t most);
bool survivors_open(struct survivors *v, const struct growth *g);
bool survivors_few(struct survivors *v, const struct growth *g);
bool survivors_rivals(struct survivors *v, const struct growth *g);
unsigned int survivors_sites(struct survivors *v, struct result *r, const struct growth *g,
			     size_t top);

/* others.c: what a burst took, and what the process does beside the class that is sampled */
void burst_add(const struct burst *b, const struct growth *g, struct result *r);

/* sites.c: all of it */
struct sites_how {
	struct burst_limits limits;	/* lo and hi are set by sites_find() */
	struct again again;
	size_t top;
	bool recent;		/* see struct growth */
	bool longer;		/* look for longer where that may tell more */
	bool probes;		/* put probes at call sites of which too few blocks were seen */
	struct page_count first;	/* of pages, at the first look */
	bool (*wait)(void *arg, u64 ms, int fd);
	bool (*count)(void *arg, struct look *l);	/* blocks, once more; NULL: not */
	const struct look *second;	/* that look, to compare with */
	void *arg;
};

int sites_find(struct target *t, const struct object *o, const struct bins *bins,
	       struct sites_how *how, u64 class_bytes, struct result *r);

#endif /* SEEPAGE_WHERE_BURST_H */
