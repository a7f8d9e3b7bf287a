// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets of several users, and checks of what they receive: every answer belongs to a request,
 * every reply is as the uapi header says, and every refusal has an extack text.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nlfuzz.h"

uint16_t family;
uint32_t groups[3];
const char *datagram;

void become(enum sender sender, bool opening)
{
	bool root = sender == ROOT || sender == (opening ? OPENED_BY_ROOT : OPENED_BY_NOBODY);

	if (!root)
		need(!setresuid(NOBODY, NOBODY, 0), "setresuid: %s", strerror(errno));
}

void become_root(void)
{
	need(!setresuid(0, 0, 0), "setresuid: %s", strerror(errno));
}

/*
 * The sender needs the capability; so does the task that opened the socket, unless the
 * sender names where the message goes (netlink_capable() of the kernel).
 */
bool may(const struct fuzz_sock *s)
{
	return s->sender == ROOT || (s->sender == OPENED_BY_NOBODY && s->addressed);
}

void sock_open(struct fuzz_sock *s, enum sender sender, unsigned int recv_size, int rcvbuf)
{
	struct sockaddr_nl me = { .nl_family = AF_NETLINK };
	int one = 1;

	memset(s, 0, sizeof(*s));
	s->sender = sender;
	s->recv_size = recv_size;
	s->addressed = one_in(2);
	become(sender, true);
	s->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	become_root();
	need(s->fd >= 0, "socket: %s", strerror(errno));
	need(!bind(s->fd, (void *)&me, sizeof(me)), "bind: %s", strerror(errno));
	need(!setsockopt(s->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)), "EXT_ACK");
	s->tight = rcvbuf;
	if (rcvbuf)
		setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
}

void sock_close(struct fuzz_sock *s)
{
	close(s->fd);
	s->fd = -1;
}

/* ---- out ---- */

/*
 * The messages as the kernel will find them, each with a number of its own.
 * Those for other families go to ours: they are not on trial.
 */
static void number(struct batch *b, struct exchange *x)
{
	static uint32_t seq;
	unsigned int at = 0;

	while (at + NLMSG_HDRLEN <= b->len) {
		struct nlmsghdr *nlh = (void *)(b->data + at);
		struct sent *t;

		if (nlh->nlmsg_len < NLMSG_HDRLEN || nlh->nlmsg_len > b->len - at)
			break;
		if (x->n == MESSAGES_MAX) {
			b->len = at;
			break;
		}
		if (nlh->nlmsg_type >= NLMSG_MIN_TYPE && nlh->nlmsg_type < 0x100)
			nlh->nlmsg_type = family;
		nlh->nlmsg_seq = ++seq;
		t = &x->sent[x->n++];
		memset(t, 0, sizeof(*t));
		t->seq = seq;
		t->nlh = nlh;
		t->whole = nlh->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN;
		at += NLMSG_ALIGN(nlh->nlmsg_len);
	}
}

bool sock_send(struct fuzz_sock *s, struct batch *b, struct exchange *x)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t n;

	number(b, x);
	totals.messages += x->n ? x->n : 1;
	totals.batches++;
	become(s->sender, false);
	n = sendto(s->fd, b->data, b->len, MSG_DONTWAIT, s->addressed ? (void *)&kernel : NULL,
		   s->addressed ? sizeof(kernel) : 0);
	become_root();
	if (n < 0)
		totals.unheard++;
	return n >= 0;
}

/* ---- in ---- */

static const char *text_of(const struct nlmsghdr *nlh, size_t skip)
{
	const struct nlattr *a;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || mnl_nlmsg_get_payload_len(nlh) < skip)
		return "";
	mnl_attr_for_each(a, nlh, skip)
		if (mnl_attr_get_type(a) == NLMSGERR_ATTR_MSG)
			return mnl_attr_get_str(a);
	return "";
}

static bool has_group(const struct sent *t)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, t->nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == SEEPAGE_A_GROUP)
			return true;
	return false;
}

/*
 * The core has no text for a command that there is not. Old kernels drop the text of a dump that is
 * refused as it starts: that of a user, or one with GROUP.
 */
static bool needs_text(const struct sent *t)
{
	bool dump = (t->nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	if (!t->whole || t->nlh->nlmsg_type != family)
		return false;
	if (dump && (t->error == -EPERM || has_group(t)))
		return false;
	return t->error == -EINVAL || t->error == -ESRCH || t->error == -ENOENT ||
	       t->error == -EPERM;
}

static void on_error(struct sent *t, int error, const char *text, bool tight)
{
	/* ERANGE: the core refuses a nested attribute of 1 to 3 bytes before the module sees it */
	static const int known[] = { EINVAL, EPERM, EOPNOTSUPP, ESRCH, ENOENT, EBUSY, ENOMEM,
				     ERANGE };
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(t->nlh);
	uint64_t kind = t->whole ? g->cmd + 1 : 0;
	unsigned int i;

	/* a dump that found no room at its start is refused, and goes on all the same */
	promise(tight || (!t->acked && !t->done), "message %u was answered twice", t->seq);
	t->error = error;
	for (i = 0; error && i < ARRAY_SIZE(known) && known[i] != -error; i++)
		;
	/* also these two, where the receive buffer is full of answers */
	promise(!error || i < ARRAY_SIZE(known) ||
		(tight && (error == -EAGAIN || error == -ENOBUFS)),
		"refused with %s, %s", strerror(-error), text);
	promise(!error || text[0] || !needs_text(t), "refused with %s and no text",
		strerror(-error));
	if (error < 0 && -error < (int)ARRAY_SIZE(totals.refused))
		totals.refused[-error]++;
	else
		totals.accepted++;
	for (; *text; text++)
		kind = (kind ^ *text) * 0x100000001b3ULL;
	if (!seen_before((kind << 8 | (uint8_t)-error) | 1ULL << 63))
		corpus_add(in_flight, false);
}

/* What a reader sees that is not root: its own processes and nothing else. */
static void promise_own(const struct fuzz_sock *s, const struct parsed *p, enum kind kind)
{
	if (may(s))
		return;
	promise(kind == PROC_DO || kind == PROC_DUMP, "told a user a message of kind %d", kind);
	promise(s->sender == NOBODY_AT_ALL, "told a user through the socket of another");
	promise(has(p, SEEPAGE_A_UID) && num(p, SEEPAGE_A_UID) == NOBODY,
		"told a user of process %llu", (unsigned long long)num(p, SEEPAGE_A_PID));
}

static void on_reply(const struct fuzz_sock *s, struct sent *t, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);
	bool multi = nlh->nlmsg_flags & NLM_F_MULTI;
	enum kind kind = g->cmd == SEEPAGE_CMD_GET_STATUS ? STATUS :
			 g->cmd == SEEPAGE_CMD_GET_CONFIG ? CONFIG :
			 g->cmd == SEEPAGE_CMD_GET_ALERTS ? AN_ALERT :
			 multi ? PROC_DUMP : has_group(t) ? PROC_GROUP : PROC_DO;
	struct parsed p;

	parse(nlh, kind, &p);
	promise_own(s, &p, kind);
	promise(multi || !t->replies, "two replies to message %u", t->seq);
	t->replies++;
	totals.replies++;
	if (kind != PROC_DUMP)
		return;
	promise(num(&p, SEEPAGE_A_PID) > t->last_pid, "a dump told of %llu after %u",
		(unsigned long long)num(&p, SEEPAGE_A_PID), t->last_pid);
	t->last_pid = num(&p, SEEPAGE_A_PID);
}

/* A part of a pass, or what has ended: whole samples, whole ids. */
static void promise_series(const struct nlmsghdr *nlh)
{
	unsigned int seq = 0, size = 0, samples = 0, gone = 0;
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr)) {
		unsigned int len = mnl_attr_get_payload_len(a);

		switch (mnl_attr_get_type(a)) {
		case SEEPAGE_A_PASS_SEQ:
			seq++;
			break;
		case SEEPAGE_A_SAMPLE_SIZE:
			size = mnl_attr_get_u32(a);
			break;
		case SEEPAGE_A_SAMPLES:
			samples++;
			promise(size && !(len % size), "SAMPLES of %u bytes, %u each", len, size);
			break;
		case SEEPAGE_A_GONE:
			gone++;
			promise(len && !(len % 8), "GONE of %u bytes", len);
			break;
		}
	}
	promise(seq == 1 && samples + gone == 1, "a part of a series with %u numbers, "
		"%u arrays of samples, %u of ids", seq, samples, gone);
}

static void on_multicast(const struct fuzz_sock *s, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);
	struct parsed p;

	promise(s->joined, "a multicast for nobody");
	if (g->cmd == SEEPAGE_CMD_SERIES) {
		promise_series(nlh);
		return;
	}
	parse(nlh, g->cmd == SEEPAGE_CMD_ALERT ? AN_ALERT : PROC_SAMPLE, &p);
}

static void on_answer(const struct fuzz_sock *s, struct exchange *x, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*e);
	struct sent *t = x->sent;
	int error = 0;

	if (!nlh->nlmsg_seq && nlh->nlmsg_type == family) {
		on_multicast(s, nlh);
		return;
	}
	while (t < x->sent + x->n && t->seq != nlh->nlmsg_seq)
		t++;
	promise(t < x->sent + x->n, "an answer to %u, which was not asked", nlh->nlmsg_seq);
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			skip += MNL_ALIGN(e->msg.nlmsg_len - sizeof(e->msg));
		on_error(t, e->error, text_of(nlh, skip), s->tight);
		t->acked = true;
	} else if (nlh->nlmsg_type == NLMSG_DONE) {
		memcpy(&error, e, sizeof(error));
		/* without rights a dump also pauses when it takes long */
		on_error(t, error, text_of(nlh, sizeof(error)),
			 s->tight || (error == -ENOBUFS && !may(s)));
		t->done = true;
		totals.dumps++;
	} else {
		promise(nlh->nlmsg_type == family, "an answer of type %u", nlh->nlmsg_type);
		on_reply(s, t, nlh);
	}
}

bool sock_read(struct fuzz_sock *s, struct exchange *x)
{
	static char buf[65536] __attribute__((aligned(8)));
	const struct nlmsghdr *nlh = (void *)buf;
	struct iovec iov = { buf, s->recv_size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int n, error;

	become(s->sender, false);
	n = recvmsg(s->fd, &m, MSG_DONTWAIT);
	error = errno;
	become_root();
	if (n < 0 && error == ENOBUFS) {
		totals.overruns++;
		x->lost = true;
		return true;
	}
	promise(n >= 0 || error == EAGAIN, "receive: %s", strerror(error));
	if (n < 0)
		return false;
	if (m.msg_flags & MSG_TRUNC) {
		x->lost = true;
		return true;
	}
	datagram = buf;
	for (; mnl_nlmsg_ok(nlh, n); nlh = mnl_nlmsg_next(nlh, &n))
		on_answer(s, x, nlh);
	promise(!n, "%d bytes behind the last message", n);
	return true;
}

void sock_drain(struct fuzz_sock *s, struct exchange *x)
{
	while (sock_read(s, x))
		;
}
