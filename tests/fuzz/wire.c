// SPDX-License-Identifier: GPL-2.0
/*
 * libnl's socket, answering from the input. The input is a program that builds
 * datagrams, so that most of what it says is well formed; raw bytes and
 * corruption are among its instructions. Each is a byte, the low three bits
 * telling what, the others how:
 *   0 T F C   a message of type T (table below), flags F, genl command C
 *   1 T L ..  an attribute of type T; L % 64 bytes follow, and as many zeros as
 *             make it 1, 2, 4 or 8 (how) times as long and how / 4 * 64 longer
 *   2 T       a nest of type T begins
 *   3         it ends
 *   4         the datagram ends; how: 1 not from the kernel, 2 and then an
 *             overrun, 3 and then nothing more for now
 *   5 H L X   the byte at H * 256 + L of the datagram is XORed with X
 *   6 L ..    L % 64 raw bytes
 *   7 T B S   attribute T, 1 << how bytes long, with the value B << S
 * At its end libnl has nothing more to read.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include "fuzz.h"

#define DATAGRAM	8192
#define NESTS		8
#define FAMILY		0x20
#define GROUP		7
#define FOREIGN_SEQ	0x8000	/* of flags: not an answer to the question */

enum { END_PLAIN, END_FOREIGN, END_OVERRUN, END_EMPTY };

static struct wire {
	const uint8_t *p, *end;
	u32 seq;			/* of the question */
	bool own_family;		/* questions for the family are answered here */
	bool asked_family;
	int fails;			/* errno of the next read, after END_* */
	unsigned char buf[DATAGRAM] __attribute__((aligned(8)));
	size_t n, message;		/* filled; where the last message begins */
	size_t nest[NESTS];
	unsigned int nests;
} w;

void wire_begin(const uint8_t *data, size_t size, bool own_family)
{
	memset(&w, 0, sizeof(w));
	w.p = data;
	w.end = data + size;
	w.own_family = own_family;
}

void wire_end(void)
{
	w.p = w.end;
}

static unsigned int byte(void)
{
	return w.p < w.end ? *w.p++ : 0;
}

static unsigned char *reserve(size_t n)
{
	unsigned char *at = w.buf + w.n;

	if (w.n + NLMSG_ALIGN(n) > sizeof(w.buf))
		return NULL;
	memset(at, 0, NLMSG_ALIGN(n));
	w.n += NLMSG_ALIGN(n);
	return at;
}

/* Lengths of what is open are those of what it holds. */
static void close_nest(void)
{
	struct nlattr *a = (void *)(w.buf + w.nest[--w.nests]);

	a->nla_len = (u16)(w.n - w.nest[w.nests]);
}

static void close_message(void)
{
	struct nlmsghdr *nlh = (void *)(w.buf + w.message);

	while (w.nests)
		close_nest();
	if (w.message < w.n)
		nlh->nlmsg_len = (u32)(w.n - w.message);
}

static void message(void)
{
	static const u16 types[] = { FAMILY, NLMSG_ERROR, NLMSG_DONE, GENL_ID_CTRL, NLMSG_NOOP,
				     NLMSG_OVERRUN, FAMILY + 1, NLMSG_MIN_TYPE };
	unsigned int type = byte(), flags = byte(), cmd = byte();
	struct nlmsghdr *nlh;
	struct genlmsghdr *g;

	close_message();
	w.message = w.n;
	nlh = (void *)reserve(sizeof(*nlh));
	if (!nlh)
		return;
	nlh->nlmsg_type = types[type % ARRAY_SIZE(types)];
	nlh->nlmsg_flags = (u16)((flags & 0x3f) | (flags & 0x40 ? NLM_F_ACK_TLVS : 0) |
				 (flags & 0x80 ? NLM_F_CAPPED : 0));
	if (type & 0x80)
		nlh->nlmsg_seq = FOREIGN_SEQ;
	if (nlh->nlmsg_type < NLMSG_MIN_TYPE)	/* the error is raw bytes */
		return;
	g = (void *)reserve(sizeof(*g));
	if (g) {
		g->cmd = (u8)cmd;
		g->version = SEEPAGE_GENL_VERSION;
	}
}

static void put_attr(unsigned int type, const void *data, size_t len)
{
	struct nlattr *a = (void *)reserve(NLA_HDRLEN + len);

	if (!a)
		return;
	a->nla_type = (u16)type;
	a->nla_len = (u16)(NLA_HDRLEN + len);
	if (len)
		memcpy(a + 1, data, len);
}

static unsigned int given(unsigned int len)
{
	return len > w.end - w.p ? (unsigned int)(w.end - w.p) : len;
}

static void put_bytes(unsigned int how)
{
	unsigned int type = byte(), len = given(byte() % 64);
	unsigned char data[64 * 8 + 64 * 8] = { 0 };

	if (len)
		memcpy(data, w.p, len);
	put_attr(type, data, (len << how % 4) + how / 4 * 64);
	w.p += len;
}

static void put_raw(void)
{
	unsigned int len = given(byte() % 64);
	unsigned char *raw = reserve(len);

	if (raw && len)
		memcpy(raw, w.p, len);
	w.p += len;
}

static void put_number(unsigned int how)
{
	unsigned int type = byte();
	u64 v = byte();

	v <<= byte() % 64;
	put_attr(type, &v, 1U << how % 4);
}

static void begin_nest(void)
{
	unsigned int type = byte();

	if (w.nests == NESTS || w.n + NLA_HDRLEN > sizeof(w.buf))
		return;
	w.nest[w.nests++] = w.n;
	put_attr(type | NLA_F_NESTED, NULL, 0);
}

static void corrupt(void)
{
	size_t at = byte() * 256;

	at += byte();
	if (at < w.n)
		w.buf[at] ^= (unsigned char)byte();
}

/* Runs the program until a datagram is complete; returns how it ended. */
static int build(void)
{
	w.n = 0;
	w.message = 0;
	w.nests = 0;
	while (w.p < w.end) {
		unsigned int op = byte(), how = op >> 3;

		switch (op & 7) {
		case 0:
			message();
			break;
		case 1:
			put_bytes(how);
			break;
		case 2:
			begin_nest();
			break;
		case 3:
			if (w.nests)
				close_nest();
			break;
		case 4:
			close_message();
			return how % 4;
		case 5:
			close_message();
			corrupt();
			break;
		case 6:
			put_raw();
			break;
		case 7:
			put_number(how);
		}
	}
	close_message();
	return END_PLAIN;
}

/* What is no foreign message answers the question that was asked last. */
static void set_seqs(void)
{
	struct nlmsghdr *nlh = (void *)w.buf;
	int len = (int)w.n;

	for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len))
		if (!nlh->nlmsg_seq)
			nlh->nlmsg_seq = w.seq;
}

/* An honest answer, so that the input need not begin with one. */
static void build_family(void)
{
	struct nl_msg *m = must(nlmsg_alloc());
	struct nlattr *groups, *group;
	struct nlmsghdr *ack;

	genlmsg_put(m, 0, w.seq, GENL_ID_CTRL, 0, 0, CTRL_CMD_NEWFAMILY, 2);
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, FAMILY);
	groups = nla_nest_start(m, CTRL_ATTR_MCAST_GROUPS);
	group = nla_nest_start(m, 1);
	nla_put_string(m, CTRL_ATTR_MCAST_GRP_NAME, SEEPAGE_MCGRP_ALERT);
	nla_put_u32(m, CTRL_ATTR_MCAST_GRP_ID, GROUP);
	nla_nest_end(m, group);
	nla_nest_end(m, groups);
	w.n = NLMSG_ALIGN(nlmsg_hdr(m)->nlmsg_len);
	memcpy(w.buf, nlmsg_hdr(m), w.n);
	nlmsg_free(m);
	ack = (void *)reserve(NLMSG_HDRLEN + sizeof(struct nlmsgerr));
	ack->nlmsg_len = NLMSG_HDRLEN + sizeof(struct nlmsgerr);
	ack->nlmsg_type = NLMSG_ERROR;
	ack->nlmsg_flags = NLM_F_CAPPED;
	ack->nlmsg_seq = w.seq;
}

int nl_send(struct nl_sock *sk, struct nl_msg *msg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);

	promise(nlh->nlmsg_seq, "a question without a number");
	w.seq = nlh->nlmsg_seq;
	w.asked_family = nlh->nlmsg_type == GENL_ID_CTRL;
	return (int)nlh->nlmsg_len;
}

int nl_recv(struct nl_sock *sk, struct sockaddr_nl *from, unsigned char **buf,
	    struct ucred **creds)
{
	int how = END_PLAIN;

	memset(from, 0, sizeof(*from));
	if (w.fails || (w.p == w.end && !(w.own_family && w.asked_family))) {
		errno = w.fails ? w.fails : EAGAIN;
		w.fails = 0;
		return -NLE_AGAIN;
	}
	if (w.own_family && w.asked_family) {
		build_family();
		w.asked_family = false;
	} else {
		how = build();
		set_seqs();
	}
	from->nl_pid = how == END_FOREIGN;
	w.fails = how == END_OVERRUN ? ENOBUFS : how == END_EMPTY ? EAGAIN : 0;
	if (!w.n)
		return 0;
	*buf = must(malloc(w.n));
	memcpy(*buf, w.buf, w.n);
	return (int)w.n;
}

int nl_connect(struct nl_sock *sk, int protocol)
{
	return 0;
}

int nl_socket_add_membership(struct nl_sock *sk, int group)
{
	return 0;
}

int nl_socket_set_nonblocking(const struct nl_sock *sk)
{
	return 0;
}

int nl_socket_set_buffer_size(struct nl_sock *sk, int rx, int tx)
{
	return 0;
}

int __wrap_poll(struct pollfd *p, nfds_t n, int ms);

/* watch waits for events (0), signals (1) and its reader (2): a signal at the end. */
int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	nfds_t i;

	for (i = 0; i < n; i++)
		p[i].revents = 0;
	if (n < 2)
		return 0;
	p[w.p < w.end || w.fails ? 0 : 1].revents = POLLIN;
	return 1;
}
