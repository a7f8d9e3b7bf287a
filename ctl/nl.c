// SPDX-License-Identifier: GPL-2.0
/*
 * The one door to netlink: requests with their replies, and a socket that
 * listens. libnl carries the messages; the reading is done here, because the
 * text of a refusal, the error at the end of a dump, an interrupted dump and
 * an overrun must each reach the caller.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include "ctl.h"

#define LISTEN_BUFFER	0x100000
#define MAX_ERRNO	4095		/* of the kernel */
#define GROUP_CTRL	GENL_ID_CTRL	/* "notify" of nlctrl: families come and go */

static int set_error(struct knl *k, int err)
{
	k->err = err;
	k->text[0] = '\0';
	return -err;
}

int knl_open(struct knl *k)
{
	int one = 1, fd;

	memset(k, 0, sizeof(*k));
	k->sk = nl_socket_alloc();
	if (!k->sk)
		return set_error(k, ENOMEM);
	errno = 0;
	if (nl_connect(k->sk, NETLINK_GENERIC) < 0) {
		int err = errno ? errno : EPROTONOSUPPORT;

		knl_close(k);
		return set_error(k, err);
	}
	nl_socket_enable_msg_peek(k->sk);
	fd = nl_socket_get_fd(k->sk);
	/* kernels before 4.12 lack these: the texts are lost, nothing else */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return 0;
}

void knl_close(struct knl *k)
{
	nl_socket_free(k->sk);
	k->sk = NULL;
}

int knl_fd(const struct knl *k)
{
	return nl_socket_get_fd(k->sk);
}

/* The attributes after a struct nlmsgerr or at the end of a dump */
static void read_ext_ack(struct knl *k, struct nlmsghdr *nlh, size_t skip)
{
	struct nlattr *a[NLMSGERR_ATTR_MAX + 1];
	const char *text;
	size_t len;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || nlmsg_parse(nlh, (int)skip, a,
								NLMSGERR_ATTR_MAX, NULL) < 0 ||
	    !a[NLMSGERR_ATTR_MSG])
		return;
	text = nla_data(a[NLMSGERR_ATTR_MSG]);
	len = strnlen(text, (size_t)nla_len(a[NLMSGERR_ATTR_MSG]));
	fmt_safe(k->text, sizeof(k->text), text, len);
}

/* What ended an answer: 0 or -errno; anything else is none that the kernel gives. */
static int set_result(struct knl *k, int err)
{
	return set_error(k, err > 0 || err < -MAX_ERRNO ? EPROTO : -err);
}

/* NLMSG_ERROR, which is an ack when its error is 0 */
static int read_error(struct knl *k, struct nlmsghdr *nlh)
{
	struct nlmsgerr *e = nlmsg_data(nlh);
	size_t skip = sizeof(*e);
	int err;

	if ((size_t)nlmsg_datalen(nlh) < sizeof(*e))
		return set_error(k, EPROTO);
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len > NLMSG_HDRLEN ? e->msg.nlmsg_len - NLMSG_HDRLEN : 0;
	err = set_result(k, e->error);
	if (err)
		read_ext_ack(k, nlh, NLMSG_ALIGN(skip));
	return err;
}

/* NLMSG_DONE: how a dump ended, 0 or -errno. libnl's own reading ignores it. */
static int read_done(struct knl *k, struct nlmsghdr *nlh)
{
	int err;

	if (nlmsg_datalen(nlh) < (int)sizeof(err))
		return set_error(k, EPROTO);
	memcpy(&err, nlmsg_data(nlh), sizeof(err));
	err = set_result(k, err);
	if (err)
		read_ext_ack(k, nlh, sizeof(err));
	return err;
}

struct reading {
	struct knl *k;
	u32 seq;
	bool done, interrupted;
	knl_cb cb;
	void *arg;
};

/* One datagram. Returns 0, or < 0 when a message said so. */
static int read_messages(struct reading *r, struct nlmsghdr *nlh, int len)
{
	int err;

	for (; nlmsg_ok(nlh, len) && !r->done; nlh = nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_seq != r->seq)
			continue;
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			r->interrupted = true;
		if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
			r->done = true;
			return nlh->nlmsg_type == NLMSG_ERROR ? read_error(r->k, nlh) :
								read_done(r->k, nlh);
		}
		if (nlh->nlmsg_type < NLMSG_MIN_TYPE || !r->cb)
			continue;
		err = r->cb(nlh, r->arg);
		if (err < 0) {
			r->done = true;
			return set_error(r->k, -err);
		}
	}
	return 0;
}

/* One datagram off the socket. Returns its length, or -errno. */
static int receive(struct knl *k, unsigned char **buf)
{
	struct sockaddr_nl from;
	int n;

	*buf = NULL;
	errno = 0;
	n = nl_recv(k->sk, &from, buf, NULL);
	if (n > 0 && from.nl_pid) {	/* not from the kernel */
		free(*buf);
		*buf = NULL;
		return -EINTR;
	}
	if (n < 0)
		return set_error(k, errno ? errno : EIO);
	return n ? n : set_error(k, EAGAIN);
}

/*
 * Sends @msg, which is consumed, and reads all of the answer.
 *
 * Return: 0, 1 when a dump was interrupted by changes and should be repeated,
 * or -errno with k->err and k->text set. An error of the callback ends it.
 */
int knl_call(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg)
{
	struct reading r = { .k = k, .cb = cb, .arg = arg };
	int n, err = 0;

	nl_complete_msg(k->sk, msg);
	r.seq = nlmsg_hdr(msg)->nlmsg_seq;
	errno = 0;
	n = nl_send(k->sk, msg);
	nlmsg_free(msg);
	if (n < 0)
		return set_error(k, errno ? errno : EIO);
	while (!r.done && !err) {
		unsigned char *buf;

		n = receive(k, &buf);
		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		err = read_messages(&r, (struct nlmsghdr *)buf, n);
		free(buf);
	}
	return err < 0 ? err : r.interrupted;
}

static int family_found(struct nlmsghdr *nlh, void *arg)
{
	struct knl *k = arg;
	struct nlattr *a[CTRL_ATTR_MAX + 1], *g[CTRL_ATTR_MCAST_GRP_MAX + 1], *pos;
	u64 v;
	int rem;

	if (genlmsg_parse(nlh, 0, a, CTRL_ATTR_MAX, NULL) < 0 ||
	    !attr_u64(a[CTRL_ATTR_FAMILY_ID], &v))
		return -EPROTO;
	k->family = (int)v;
	if (!a[CTRL_ATTR_MCAST_GROUPS])
		return 0;
	nla_for_each_nested(pos, a[CTRL_ATTR_MCAST_GROUPS], rem) {
		if (nla_parse_nested(g, CTRL_ATTR_MCAST_GRP_MAX, pos, NULL) < 0 ||
		    !g[CTRL_ATTR_MCAST_GRP_NAME] || !attr_u64(g[CTRL_ATTR_MCAST_GRP_ID], &v))
			continue;
		if (!nla_strcmp(g[CTRL_ATTR_MCAST_GRP_NAME], SEEPAGE_MCGRP_ALERT))
			k->group_alert = (int)v;
		if (!nla_strcmp(g[CTRL_ATTR_MCAST_GRP_NAME], SEEPAGE_MCGRP_SERIES))
			k->group_series = (int)v;
	}
	return 0;
}

/* Finds the numbers of the family and its groups; -ENOENT: no such family. */
int knl_resolve(struct knl *k)
{
	struct nl_msg *msg = must(nlmsg_alloc());

	k->family = 0;
	k->group_alert = 0;
	k->group_series = 0;
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, GENL_ID_CTRL, 0, 0, CTRL_CMD_GETFAMILY, 1);
	nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, SEEPAGE_GENL_NAME);
	return knl_call(k, msg, family_found, k);
}

/* The caller adds attributes. Large enough for every request there is. */
struct nl_msg *knl_msg(struct knl *k, int cmd, int flags)
{
	struct nl_msg *msg = must(nlmsg_alloc());

	must(genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, k->family, 0, flags, (u8)cmd,
			 SEEPAGE_GENL_VERSION));
	return msg;
}

/* Is the module there, although its family cannot be seen from here? */
bool knl_module_seen(void)
{
	char state[16] = "";
	int fd = open("/sys/module/seepage/initstate", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, state, sizeof(state) - 1);
	close(fd);
	return n >= 4 && !strncmp(state, "live", 4);
}

/* The line for the last failure. @needs: the capabilities for EPERM. */
int knl_fail(const struct ctx *ctx, const struct knl *k, const char *needs)
{
	const char *open = *k->text ? " (" : "", *close = *k->text ? ")" : "";
	/* the latter is what a dump gets while the module is being unloaded */
	bool gone = k->err == ENOENT || (k->err == EPROTONOSUPPORT && !knl_module_seen());

	if (gone && !*k->text)
		return fail(NULL, "%s", knl_module_seen() ?
			    "module is loaded, but not reachable from this network namespace" :
			    "module not loaded (modprobe seepage)");
	if ((k->err == EPERM || k->err == EACCES) && strstr(k->text, needs))
		return fail(ctx, "not permitted: %s", k->text);
	if (k->err == EPERM || k->err == EACCES)
		return fail(ctx, "not permitted: needs %s%s%s%s", needs, open, k->text, close);
	return fail(ctx, "%s", *k->text ? k->text : strerror(k->err));
}

/* The same where the question was about one process: it is named. */
int knl_fail_pid(const struct ctx *ctx, struct knl *k, u32 pid, const char *needs)
{
	char text[sizeof(k->text)];

	if (*k->text) {
		memcpy(text, k->text, sizeof(text));
		snprintf(k->text, sizeof(k->text), "pid %u: %.*s", pid,
			 (int)sizeof(k->text) - 20, text);
	}
	return knl_fail(ctx, k, needs);
}

/* Turns an open socket into one that only listens: family changes first. */
int knl_listen(struct knl *k)
{
	nl_socket_set_buffer_size(k->sk, LISTEN_BUFFER, 0);
	if (nl_socket_set_nonblocking(k->sk) < 0)
		return set_error(k, EIO);
	return knl_join(k, GROUP_CTRL);
}

/* Room for what waits to be read; past the limit of the system where we may. */
void knl_buffer(struct knl *k, int bytes)
{
	int fd = nl_socket_get_fd(k->sk);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

int knl_join(struct knl *k, int group)
{
	errno = 0;
	if (nl_socket_add_membership(k->sk, group) < 0)
		return set_error(k, errno ? errno : EIO);
	return 0;
}

/*
 * Reads all that waits. Returns 0, -ENOBUFS when the kernel had to drop
 * something (after what it had kept was read), or another error.
 */
int knl_events(struct knl *k, knl_cb cb, void *arg)
{
	int dropped = 0;

	for (;;) {
		unsigned char *buf;
		struct nlmsghdr *nlh;
		int n = receive(k, &buf), err = 0;

		if (n == -EAGAIN)
			return dropped ? set_error(k, dropped) : 0;
		if (n == -ENOBUFS)
			dropped = ENOBUFS;
		if (n == -ENOBUFS || n == -EINTR)
			continue;
		if (n < 0)
			return n;
		for (nlh = (struct nlmsghdr *)buf; nlmsg_ok(nlh, n) && err >= 0;
		     nlh = nlmsg_next(nlh, &n))
			if (nlh->nlmsg_type >= NLMSG_MIN_TYPE)
				err = cb(nlh, arg);
		free(buf);
		if (err < 0)
			return set_error(k, -err);
	}
}
