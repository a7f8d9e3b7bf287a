// SPDX-License-Identifier: GPL-2.0
/*
 * All netlink I/O: requests with their replies, and a socket that listens. libnl
 * builds and sends the messages. This file reads the replies itself, because libnl
 * hides from its callers the extack text of a refusal, the error that ends a dump,
 * an interrupted dump, or an overrun.
 */
#include <errno.h>
#include <limits.h>
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
#define BUSY_TRIES	100
#define BUSY_WAIT_US	20000
#define MAX_ERRNO	4095		/* largest errno of the kernel */
#define GROUP_CTRL	GENL_ID_CTRL	/* group "notify" of nlctrl: families registered or gone */

static int set_error(struct knl *k, int err)
{
	k->err = err;
	k->after = 0;
	k->text[0] = '\0';
	return -err;
}

/* Returns 0 or -errno. knl_close() may be called after either. */
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
	/* Kernels before 4.12 lack these options; then refusals have no text. */
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

/* Reads the extack attributes that stand @skip bytes into the payload. */
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

/* @err: 0 or -errno as sent by the kernel. Any other value becomes -EPROTO. */
static int set_result(struct knl *k, int err)
{
	return set_error(k, err > 0 || err < -MAX_ERRNO ? EPROTO : -err);
}

/*
 * NLMSG_ERROR with error 0 is an ack. It returns the request unless NLM_F_CAPPED is set. A
 * request longer than the message is not believed: sums with its length, here and as int in
 * libnl, would wrap. Returns 0 or -errno.
 */
static int read_error(struct knl *k, struct nlmsghdr *nlh)
{
	struct nlmsgerr *e = nlmsg_data(nlh);
	size_t len = (size_t)nlmsg_datalen(nlh), skip = sizeof(*e);
	int err;

	if (len < sizeof(*e))
		return set_error(k, EPROTO);
	err = set_result(k, e->error);
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && e->msg.nlmsg_len > NLMSG_HDRLEN) {
		if (e->msg.nlmsg_len > len)
			return err;
		skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
	}
	if (err)
		read_ext_ack(k, nlh, NLMSG_ALIGN(skip));
	return err;
}

/*
 * NLMSG_DONE carries the result of a dump, which libnl ignores, and where to go on. Returns 0 or
 * -errno.
 */
static int read_done(struct knl *k, struct nlmsghdr *nlh)
{
	struct {
		int err;
		struct nlattr a;
		u32 after;
	} *pause = nlmsg_data(nlh);
	int err;

	if (nlmsg_datalen(nlh) < (int)sizeof(err))
		return set_error(k, EPROTO);
	memcpy(&err, nlmsg_data(nlh), sizeof(err));
	err = set_result(k, err);
	if (err)
		read_ext_ack(k, nlh, sizeof(err));
	if (nlmsg_datalen(nlh) >= (int)sizeof(*pause) &&
	    pause->a.nla_type == SEEPAGE_A_FILTER_AFTER_PID)
		k->after = pause->after;
	return err;
}

struct reading {
	struct knl *k;
	u32 seq;
	bool done, interrupted;
	knl_cb cb;
	void *arg;
};

/* Reads the messages of one datagram. Returns 0, or -errno of a message or callback. */
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

/*
 * Receives one datagram into @buf, which the caller frees. Returns its length or
 * -errno; -EINTR also for a datagram that did not come from the kernel.
 */
static int receive(struct knl *k, unsigned char **buf)
{
	struct sockaddr_nl from;
	int n;

	*buf = NULL;
	errno = 0;
	n = nl_recv(k->sk, &from, buf, NULL);
	if (n > 0 && from.nl_pid) {	/* not from the kernel, which is port 0 */
		free(*buf);
		*buf = NULL;
		return -EINTR;
	}
	if (n < 0)
		return set_error(k, errno ? errno : EIO);
	return n ? n : set_error(k, EAGAIN);
}

/* Sends @msg and reads the answer. Returns what knl_call() does. */
static int call_once(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg)
{
	struct reading r = { .k = k, .cb = cb, .arg = arg };
	int n, err = 0;

	nl_complete_msg(k->sk, msg);
	r.seq = nlmsg_hdr(msg)->nlmsg_seq;
	errno = 0;
	n = nl_send(k->sk, msg);
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

/*
 * Sends @msg, frees it, and calls @cb for each message of the answer. A negative
 * return of @cb ends the reading. The module answers a user without rights one request
 * at a time: when it is busy, the request is repeated for two seconds.
 *
 * Returns 0, or 1 if changes interrupted a dump and it should be repeated, or -errno
 * with k->err and k->text set.
 */
int knl_call(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg)
{
	int err, tries = 0;

	while ((err = call_once(k, msg, cb, arg)) == -EBUSY && tries++ < BUSY_TRIES)
		usleep(BUSY_WAIT_US);
	nlmsg_free(msg);
	return err;
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

/*
 * Looks up the ids of the family and its groups. Returns 0 or -errno; -ENOENT if the
 * family does not exist.
 */
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

/*
 * Returns a request without attributes, which knl_call() frees. A page is large
 * enough for the attributes of any request.
 */
struct nl_msg *knl_msg(struct knl *k, int cmd, int flags)
{
	struct nl_msg *msg = must(nlmsg_alloc());

	must(genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, k->family, 0, flags, (u8)cmd,
			 SEEPAGE_GENL_VERSION));
	return msg;
}

/* Is the module loaded? Its family is visible only in the initial network namespace. */
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

/*
 * Prints the error of the last failure. @needs: the capabilities to name if it is
 * EPERM. The module names what the refused request needs, which may be less than the
 * command does. Returns the exit status 1.
 */
int knl_fail(const struct ctx *ctx, const struct knl *k, const char *needs)
{
	const char *rest = strstr(k->text, "needs ");
	/* a dump fails with EPROTONOSUPPORT while the module is being unloaded */
	bool gone = k->err == ENOENT || (k->err == EPROTONOSUPPORT && !knl_module_seen());

	if (gone && !*k->text)
		return fail(NULL, "%s", knl_module_seen() ?
			    "module is loaded, but not reachable from this network namespace" :
			    "module not loaded (modprobe seepage)");
	if (k->err == EPERM || k->err == EACCES)
		return fail(ctx, "not permitted: %.*s%sneeds %s",
			    rest ? (int)(rest - k->text) : INT_MAX, k->text,
			    rest || !*k->text ? "" : ": ", needs);
	return fail(ctx, "%s", *k->text ? k->text : strerror(k->err));
}

/* Like knl_fail() for a request about one process; the error names @pid. */
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

/* Makes the socket non-blocking and joins the group that announces families. */
int knl_listen(struct knl *k)
{
	nl_socket_set_buffer_size(k->sk, LISTEN_BUFFER, 0);
	if (nl_socket_set_nonblocking(k->sk) < 0)
		return set_error(k, EIO);
	return knl_join(k, GROUP_CTRL);
}

/* Sets the receive buffer; with CAP_NET_ADMIN it may exceed net.core.rmem_max. */
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
 * Reads all queued messages and calls @cb for each. Returns 0 or -errno. After an
 * overrun it reads what the kernel kept, then returns -ENOBUFS.
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
