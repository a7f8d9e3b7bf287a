/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nlfuzz: messages for the module that an honest client sends, nearly sends
 * and never sends. What is known of the interface comes out of the uapi
 * header, its manual included.
 */
#ifndef NLFUZZ_H
#define NLFUZZ_H

#include <stdio.h>
#include "nltest.h"

#define BATCH_MAX	8192
#define MESSAGES_MAX	64	/* in one batch that are followed */
#define KIDS		4
#define NOBODY		65534U

/* Messages that go out in one send; a broken one may end anywhere. */
struct batch {
	unsigned int len;
	unsigned char data[BATCH_MAX] __attribute__((aligned(8)));
};

/* gen.c: by the grammar */
uint64_t rnd(void);
uint32_t below(uint32_t n);			/* 0 to n - 1; 0 for 0 */
bool one_in(uint32_t n);
void rnd_seed(uint64_t seed);
void gen_message(struct batch *b);
void gen_attr(struct batch *b, int attr);	/* any, at the end of the batch */
void gen_dump(struct batch *b);
bool room_for(const struct batch *b, size_t n);

/* mutate.c: from what was sent before */
void mutate(struct batch *b, const struct batch *other);

/* corpus.c: what showed something new */
void corpus_add(const struct batch *b, bool new_code);
void corpus_save(const char *path);
void batch_write(FILE *f, const struct batch *b);	/* a line of hex */
bool batch_read(FILE *f, struct batch *b);
const struct batch *corpus_pick(void);		/* NULL: empty */
unsigned int corpus_size(void);
bool seen_before(uint64_t what);		/* remembers it; 0 is always known */

/* kcov.c: which code of the module ran */
bool kcov_open(void);
void kcov_start(void);
bool kcov_stop(void);				/* true: code that had never run */
unsigned int kcov_pcs(void);

/* kids.c of nlfuzz: processes to be seen */
extern pid_t kids[KIDS];
void kids_begin(void);
void kids_stop(void);

/* sock.c: sockets, and what comes out of them */
enum sender { ROOT, OPENED_BY_ROOT, OPENED_BY_NOBODY, NOBODY_AT_ALL, WHO_MAX };

struct fuzz_sock {
	int fd;
	enum sender sender;
	bool addressed;		/* the kernel is named as receiver */
	unsigned int recv_size;
	bool tight;		/* overruns soon */
	bool joined;		/* multicasts come in between */
};

struct sent {			/* one message, and what became of it */
	uint32_t seq;
	const struct nlmsghdr *nlh;
	bool whole;		/* the kernel gets to read its header */
	bool acked, done;
	int error;
	uint32_t last_pid;	/* of a dump, which is by rising pid */
	unsigned int replies;
};

struct exchange {
	struct sent sent[MESSAGES_MAX];
	unsigned int n;
	bool lost;		/* an overrun or a buffer that was too small */
};

void family_find(void);
extern uint16_t family;
extern uint32_t groups[3];
void sock_open(struct fuzz_sock *s, enum sender sender, unsigned int recv_size, int rcvbuf);
void sock_close(struct fuzz_sock *s);
bool sock_send(struct fuzz_sock *s, struct batch *b, struct exchange *x);
bool sock_read(struct fuzz_sock *s, struct exchange *x);	/* false: nothing waits */
void sock_drain(struct fuzz_sock *s, struct exchange *x);
bool may(const struct fuzz_sock *s);	/* read all and write */
void become(enum sender sender, bool opening);
void become_root(void);

/* model.c: what has to come of it */
void model_begin(void);
void model_note(const struct fuzz_sock *s, const struct exchange *x);
void model_compare(void);
void model_end(void);			/* the module must be at work still */

/* act.c: one step */
void act_begin(void);
void act(void);
void act_again(enum sender sender, struct batch *b);
void act_end(void);

/* nlfuzz.c */
struct totals {
	uint64_t messages, batches, accepted, replies, dumps, closed, overruns, unheard;
	uint64_t refused[134];	/* by errno */
};

extern struct totals totals;
extern const struct batch *in_flight;	/* what is being answered */
void keep(enum sender sender, const struct batch *b);	/* for the report of what breaks */
#define promise(cond, ...)	check(cond, __VA_ARGS__)

#endif /* NLFUZZ_H */
