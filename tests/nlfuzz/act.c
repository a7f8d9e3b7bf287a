// SPDX-License-Identifier: GPL-2.0
/*
 * One step of the fuzzer: a batch and its answers, several dumps at once, a socket that is
 * closed during a dump, or a group joined or left.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "nlfuzz.h"

#define SOCKS	10

static struct fuzz_sock socks[SOCKS];

/* Readers with large and small buffers, patient ones and ones that overrun. */
static void reopen(unsigned int i)
{
	static const struct {
		enum sender sender;
		unsigned int recv_size;
		int rcvbuf;
	} kinds[SOCKS] = {
		{ ROOT, 65536, 0 }, { ROOT, 65536, 0 }, { ROOT, 4096, 0 }, { ROOT, 4096, 0 },
		{ ROOT, 8192, 2304 }, { ROOT, 256, 0 }, { NOBODY_AT_ALL, 65536, 0 },
		{ NOBODY_AT_ALL, 4096, 0 }, { OPENED_BY_ROOT, 65536, 0 },
		{ OPENED_BY_NOBODY, 65536, 0 },
	};

	sock_open(&socks[i], kinds[i].sender, kinds[i].recv_size, kinds[i].rcvbuf);
}

static void fill(struct batch *b)
{
	const struct batch *old = corpus_pick(), *other = corpus_pick();

	b->len = 0;
	if (old && !one_in(3)) {
		memcpy(b, old, sizeof(b->len) + old->len);
		mutate(b, other);
	} else {
		do {
			gen_message(b);
		} while (one_in(4));	/* several in one send */
		if (one_in(40) && b->len)
			b->len -= below(b->len);
	}
}

static void exchange(struct fuzz_sock *s, struct batch *b)
{
	struct exchange x = { .n = 0 };

	in_flight = b;
	keep(s->sender, b);
	kcov_start();
	if (sock_send(s, b, &x))
		sock_drain(s, &x);
	else
		x.lost = true;
	if (kcov_stop())
		corpus_add(b, true);
	model_note(s, &x);
	model_compare();
}

/* Dumps on several sockets take turns; one may be left, one gets more questions. */
static void dumps(void)
{
	static struct batch b[SOCKS];
	static struct exchange x[SOCKS];
	unsigned int from = below(SOCKS), n = 1 + below(4), i, k, left;

	memset(x, 0, sizeof(x));
	kcov_start();
	for (k = 0; k < n; k++) {
		i = (from + k) % SOCKS;
		b[k].len = 0;
		gen_dump(&b[k]);
		if (one_in(3))
			gen_message(&b[k]);	/* while the dump goes on */
		in_flight = &b[k];
		keep(socks[i].sender, &b[k]);
		if (!sock_send(&socks[i], &b[k], &x[k]))
			x[k].lost = true;
	}
	for (left = n; left;) {
		for (left = 0, k = 0; k < n; k++) {
			i = (from + k) % SOCKS;
			if (socks[i].fd < 0)
				continue;
			in_flight = &b[k];
			if (one_in(20)) {
				sock_close(&socks[i]);
				totals.closed++;
				x[k].lost = true;
			} else {
				left += sock_read(&socks[i], &x[k]);
			}
		}
	}
	if (kcov_stop())
		corpus_add(&b[0], true);
	for (k = 0; k < n; k++) {
		i = (from + k) % SOCKS;
		model_note(&socks[i], &x[k]);
		if (socks[i].fd < 0)
			reopen(i);
	}
	model_compare();
}

static void join_or_leave(void)
{
	unsigned int i = below(SOCKS), leave = one_in(3);
	struct exchange none = { .n = 0 };
	struct fuzz_sock *s = &socks[i];
	int rc;

	become(s->sender, false);
	rc = setsockopt(s->fd, SOL_NETLINK,
			leave ? NETLINK_DROP_MEMBERSHIP : NETLINK_ADD_MEMBERSHIP,
			&groups[below(3)], sizeof(groups[0]));
	if (rc)
		rc = -errno;
	become_root();
	if (leave)
		return;
	promise(s->sender == ROOT || s->sender == OPENED_BY_NOBODY ? !rc : rc == -EPERM,
		"joining as %d: %s", s->sender, strerror(-rc));
	s->joined = s->joined || !rc;
	sock_drain(s, &none);
	if (one_in(2) && s->joined) {	/* else all would listen for ever */
		sock_close(s);
		reopen(i);
	}
}

void act(void)
{
	static struct batch b;

	switch (below(16)) {
	case 0:
		dumps();
		break;
	case 1:
		if (one_in(2))
			join_or_leave();
		break;
	default:
		fill(&b);
		if (b.len)
			exchange(&socks[below(SOCKS)], &b);
	}
}

/* A batch of an earlier run, as the same kind of user */
void act_again(enum sender sender, struct batch *b)
{
	unsigned int i = 0;

	while (socks[i].sender != sender)
		i++;
	exchange(&socks[i], b);
}

void act_begin(void)
{
	unsigned int i;

	for (i = 0; i < SOCKS; i++)
		reopen(i);
}

void act_end(void)
{
	unsigned int i;

	for (i = 0; i < SOCKS; i++)
		sock_close(&socks[i]);
}
