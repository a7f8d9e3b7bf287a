// SPDX-License-Identifier: GPL-2.0
/*
 * One netlink socket: finding the family, asking, listening.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nltest.h"

#define RECV_SIZE	65536
#define PATIENCE_S	30

const char *datagram;
static char recv_buf[RECV_SIZE] __attribute__((aligned(8)));

struct nlmsghdr *request(struct conn *c, void *buf, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g;

	nlh->nlmsg_type = c->family;
	nlh->nlmsg_flags = NLM_F_REQUEST | (flags ? flags : NLM_F_ACK);
	nlh->nlmsg_seq = ++c->seq;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = cmd;
	g->version = SEEPAGE_GENL_VERSION;
	return nlh;
}

void conn_send(struct conn *c, const struct nlmsghdr *nlh)
{
	ssize_t n = mnl_socket_sendto(c->nl, nlh, nlh->nlmsg_len);

	need(n == (ssize_t)nlh->nlmsg_len, "send: %s", strerror(errno));
}

/* The attributes of an extended ack: behind the request it carries, unless capped. */
static void read_ext_ack(const struct nlmsghdr *nlh, struct answer *a)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*e);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += MNL_ALIGN(e->msg.nlmsg_len - sizeof(e->msg));
	if (mnl_nlmsg_get_payload_len(nlh) < skip) {
		fail("extended ack shorter than the request it carries");
		return;
	}
	mnl_attr_for_each(attr, nlh, skip) {
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			strncpy(a->text, mnl_attr_get_str(attr), sizeof(a->text) - 1);
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_OFFS) {
			a->has_offset = true;
			a->offset = mnl_attr_get_u32(attr);
		}
	}
}

static void read_done(const struct nlmsghdr *nlh, struct answer *a)
{
	const struct nlattr *attr;

	a->at_end = true;
	if (mnl_nlmsg_get_payload_len(nlh) >= sizeof(int))
		a->rc = *(int *)mnl_nlmsg_get_payload(nlh);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS)) {
		mnl_attr_for_each(attr, nlh, sizeof(int))
			if (mnl_attr_get_type(attr) == SEEPAGE_A_FILTER_AFTER_PID)
				a->after = mnl_attr_get_u32(attr);
		return;
	}
	mnl_attr_for_each(attr, nlh, sizeof(int))
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			strncpy(a->text, mnl_attr_get_str(attr), sizeof(a->text) - 1);
}

/* Returns true when the answer is complete. */
static bool one_message(struct conn *c, const struct nlmsghdr *nlh, unsigned int seq,
			struct answer *a, on_message *f, void *data)
{
	if (!nlh->nlmsg_seq && nlh->nlmsg_type == c->family)
		return false;			/* a multicast in between */
	check(nlh->nlmsg_seq == seq, "answer to request %u, asked %u", nlh->nlmsg_seq, seq);
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		a->rc = ((struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->error;
		read_ext_ack(nlh, a);
		return true;
	}
	if (nlh->nlmsg_type == NLMSG_DONE) {
		read_done(nlh, a);
		return true;
	}
	a->messages++;
	if (f)
		f(nlh, data);
	return false;
}

void conn_answer(struct conn *c, unsigned int seq, struct answer *a, on_message *f, void *data)
{
	const struct nlmsghdr *nlh;
	bool done = false;
	ssize_t got;
	int n;

	memset(a, 0, sizeof(*a));
	while (!done) {
		got = mnl_socket_recvfrom(c->nl, recv_buf, c->recv_size);
		if (got < 0 && errno == EINTR)
			continue;
		need(got >= 0, "receive: %s", strerror(errno));
		a->datagrams++;
		datagram = recv_buf;
		n = got;
		for (nlh = (void *)recv_buf; mnl_nlmsg_ok(nlh, n) && !done;
		     nlh = mnl_nlmsg_next(nlh, &n))
			done = one_message(c, nlh, seq, a, f, data);
		check(done || !n, "%d bytes behind the last message", n);
		if (c->pause_us && !done)
			usleep(c->pause_us);
	}
}

int ask(struct conn *c, struct nlmsghdr *nlh, struct answer *a, on_message *f, void *data)
{
	conn_send(c, nlh);
	conn_answer(c, nlh->nlmsg_seq, a, f, data);
	return a->rc;
}

void refused(struct conn *c, struct nlmsghdr *nlh, int rc, const char *text,
	     const struct nlattr *bad, const char *what)
{
	struct answer a;
	uint32_t offset;

	ask(c, nlh, &a, NULL, NULL);
	if (!a.rc) {
		fail("%s: accepted", what);
		return;
	}
	check(a.rc == rc, "%s: %s instead of %s", what, strerror(-a.rc), strerror(-rc));
	check(!a.at_end, "%s: told at the end of a dump, where some clients do not look", what);
	/* up to 6.1 (at least) the core gives .start of a dump no place for a text */
	if ((nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP && a.rc == -EPERM)
		return;
	check(a.text[0], "%s: refused without a text", what);
	if (text && a.text[0])
		check(strstr(a.text, text), "%s: text '%s' says nothing of '%s'", what, a.text,
		      text);
	if (!bad)
		return;
	offset = (const char *)bad - (const char *)nlh;
	if (!a.has_offset)
		fail("%s: refused without the offset of the attribute", what);
	else
		check(a.offset == offset, "%s: offset %u instead of %u", what, a.offset, offset);
}

bool conn_listen(struct conn *c, int ms, bool (*f)(const struct nlmsghdr *nlh, void *data),
		 void *data)
{
	struct pollfd p = { .fd = mnl_socket_get_fd(c->nl), .events = POLLIN };
	uint64_t end = now_ms() + ms;
	const struct nlmsghdr *nlh;
	ssize_t got;
	int n;

	while (now_ms() < end) {
		if (poll(&p, 1, end - now_ms()) <= 0)
			continue;
		got = mnl_socket_recvfrom(c->nl, recv_buf, sizeof(recv_buf));
		need(got >= 0, "receive a multicast: %s", strerror(errno));
		datagram = recv_buf;
		n = got;
		for (nlh = (void *)recv_buf; mnl_nlmsg_ok(nlh, n);
		     nlh = mnl_nlmsg_next(nlh, &n))
			if (f(nlh, data))
				return true;
	}
	return false;
}

int conn_join(struct conn *c, int group)
{
	need(c->group[group], "the family has no such group");
	return mnl_socket_setsockopt(c->nl, NETLINK_ADD_MEMBERSHIP, &c->group[group],
				     sizeof(c->group[group])) ? -errno : 0;
}

static void on_group(struct conn *c, const struct nlattr *nest)
{
	const struct nlattr *a;
	const char *name = "";
	uint32_t id = 0;

	mnl_attr_for_each_nested(a, nest) {
		if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GRP_NAME)
			name = mnl_attr_get_str(a);
		if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GRP_ID)
			id = mnl_attr_get_u32(a);
	}
	if (!strcmp(name, SEEPAGE_MCGRP_ALERT))
		c->group[GROUP_ALERT] = id;
	else if (!strcmp(name, SEEPAGE_MCGRP_SAMPLE))
		c->group[GROUP_SAMPLE] = id;
	else if (!strcmp(name, SEEPAGE_MCGRP_SERIES))
		c->group[GROUP_SERIES] = id;
	else
		fail("unknown group '%s'", name);
}

static void on_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a, *g;
	struct conn *c = data;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(a)) {
		case CTRL_ATTR_FAMILY_ID:
			c->family = mnl_attr_get_u16(a);
			break;
		case CTRL_ATTR_VERSION:
			c->version = mnl_attr_get_u32(a);
			break;
		case CTRL_ATTR_HDRSIZE:
			c->hdrsize = mnl_attr_get_u32(a);
			break;
		case CTRL_ATTR_MCAST_GROUPS:
			mnl_attr_for_each_nested(g, a)
				on_group(c, g);
		}
	}
}

int conn_try(struct conn *c, size_t recv_size)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh;
	struct answer a;
	int one = 1, rc;

	memset(c, 0, sizeof(*c));
	c->recv_size = recv_size ? recv_size : RECV_SIZE;
	c->nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	need(c->nl, "open a netlink socket: %s", strerror(errno));
	need(!mnl_socket_bind(c->nl, 0, MNL_SOCKET_AUTOPID), "bind: %s", strerror(errno));
	need(!mnl_socket_setsockopt(c->nl, NETLINK_EXT_ACK, &one, sizeof(one)),
	     "NETLINK_EXT_ACK: %s", strerror(errno));
	need(!setsockopt(mnl_socket_get_fd(c->nl), SOL_SOCKET, SO_RCVTIMEO, &patience,
			 sizeof(patience)), "SO_RCVTIMEO: %s", strerror(errno));
	c->family = GENL_ID_CTRL;
	nlh = request(c, buf, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SEEPAGE_GENL_NAME);
	rc = ask(c, nlh, &a, on_family, c);
	if (rc)
		conn_close(c);
	return rc;
}

static void open_sized(struct conn *c, size_t recv_size)
{
	int rc = conn_try(c, recv_size);

	need(!rc, "no family %s: %s", SEEPAGE_GENL_NAME, strerror(-rc));
}

void conn_open(struct conn *c)
{
	open_sized(c, 0);
}

void conn_open_small(struct conn *c)
{
	open_sized(c, 4096);
}

void conn_close(struct conn *c)
{
	mnl_socket_close(c->nl);
	c->nl = NULL;
}
