// SPDX-License-Identifier: GPL-2.0
/*
 * How netlink answers end: acks, errors, the end of a dump, overruns. nl_send() and
 * nl_recv() of libnl are replaced; the replacements return datagrams of the test.
 */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <cmocka.h>

#define SEQ	4711		/* of the question; nl_complete_msg() keeps it */

static unsigned char wire[4][1024];
static size_t wire_len[ARRAY_SIZE(wire)];
static unsigned int datagrams, taken;
static u32 asked_after[4];	/* FILTER_AFTER_PID of each request; 0: it had none */
static unsigned int asked;
static struct knl k;

int nl_send(struct nl_sock *sk, struct nl_msg *msg)
{
	struct nlattr *a = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, SEEPAGE_A_FILTER_AFTER_PID);

	(void)sk;
	assert_in_range(asked, 0, ARRAY_SIZE(asked_after) - 1);
	asked_after[asked++] = a ? nla_get_u32(a) : 0;
	return 1;
}

int nl_recv(struct nl_sock *sk, struct sockaddr_nl *nla, unsigned char **buf,
	    struct ucred **creds)
{
	(void)sk;
	(void)creds;
	if (taken == datagrams)
		fail_msg("read on after the end of the answer");
	memset(nla, 0, sizeof(*nla));
	*buf = must(malloc(wire_len[taken]));
	memcpy(*buf, wire[taken], wire_len[taken]);
	return (int)wire_len[taken++];
}

static void nothing_waits(void)
{
	datagrams = 0;
	taken = 0;
	asked = 0;
	memset(wire_len, 0, sizeof(wire_len));
}

/* One more message in the datagram that is being filled */
static void put(int type, int flags, const void *data, size_t len, const char *text)
{
	struct nl_msg *m = nlmsg_alloc();
	struct nlmsghdr *nlh = nlmsg_put(m, 0, SEQ, type, 0, flags);

	assert_int_equal(nlmsg_append(m, (void *)(uintptr_t)data, len, NLMSG_ALIGNTO), 0);
	if (text) {
		nlh->nlmsg_flags |= NLM_F_ACK_TLVS;
		nla_put_string(m, NLMSGERR_ATTR_MSG, text);
	}
	assert_in_range(wire_len[datagrams] + NLMSG_ALIGN(nlh->nlmsg_len), 1, sizeof(wire[0]));
	memcpy(wire[datagrams] + wire_len[datagrams], nlh, nlh->nlmsg_len);
	wire_len[datagrams] += NLMSG_ALIGN(nlh->nlmsg_len);
	nlmsg_free(m);
}

static void put_done(int err, const char *text)
{
	put(NLMSG_DONE, NLM_F_MULTI, &err, sizeof(err), text);
}

/* As with NETLINK_CAP_ACK: the header of the request only */
static void put_error(int err, const char *text)
{
	struct nlmsgerr e = { .error = err, .msg = { .nlmsg_len = 36, .nlmsg_seq = SEQ } };

	put(NLMSG_ERROR, NLM_F_CAPPED, &e, sizeof(e), text);
}

static void put_alert(int flags)
{
	struct genlmsghdr g = { .cmd = SEEPAGE_CMD_GET_ALERTS, .version = 1 };

	put(30, NLM_F_MULTI | flags, &g, sizeof(g), NULL);
}

static struct nl_msg *question(struct knl *door, void *arg)
{
	struct nl_msg *m = knl_msg(door, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP);

	(void)arg;
	nlmsg_hdr(m)->nlmsg_seq = SEQ;
	return m;
}

/* Asks; the datagrams that wait are the answer. */
static int dump(size_t *n)
{
	struct msgs m = { 0 };
	int err;

	datagrams++;
	k.err = 0;
	snprintf(k.text, sizeof(k.text), "left over");
	err = query_dump(&k, question, NULL, &m);
	*n = m.n;
	msgs_free(&m);
	return err;
}

static void answered(void **state)
{
	size_t n;

	(void)state;
	nothing_waits();
	put_alert(0);
	put_alert(0);
	datagrams++;
	put_alert(0);
	put_done(0, NULL);
	assert_int_equal(dump(&n), 0);
	assert_int_equal(n, 3);
	nothing_waits();
	put_done(0, NULL);
	assert_int_equal(dump(&n), 0);
	assert_int_equal(n, 0);
}

/* A refusal without NLM_F_CAPPED returns the request; the text is behind that. */
static void refused_with_request(void **state)
{
	struct {
		struct nlmsgerr e;
		char rest[20];
	} whole = { .e = { .error = -EINVAL, .msg = { .nlmsg_len = NLMSG_HDRLEN + 20 } } };
	size_t n;

	(void)state;
	nothing_waits();
	put(NLMSG_ERROR, 0, &whole, sizeof(whole), "text");
	assert_int_equal(dump(&n), -EINVAL);
	assert_string_equal(k.text, "text");
	nothing_waits();
	whole.e.msg.nlmsg_len = 0;	/* no request: the text is behind its header */
	put(NLMSG_ERROR, 0, &whole.e, sizeof(whole.e), "text");
	assert_int_equal(dump(&n), -EINVAL);
	assert_string_equal(k.text, "text");
}

/* It may give any length for the request. Longer than the message, there is no text. */
static void refused_too_long(void **state)
{
	static const u32 lengths[] = { 64, 2000, INT_MAX, 0x80000100, 0xffffffec, UINT_MAX };
	struct nlmsgerr e = { .error = -EINVAL };
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		nothing_waits();
		e.msg.nlmsg_len = lengths[i];
		put(NLMSG_ERROR, 0, &e, sizeof(e), "text");
		assert_int_equal(dump(&n), -EINVAL);
		assert_string_equal(k.text, "");
	}
}

/* Either form of a refusal, with and without words, is one. */
static void refused(void **state)
{
	static void (*const put_end[])(int err, const char *text) = { put_done, put_error };
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(put_end); i++) {
		nothing_waits();
		put_end[i](-EPERM, "reading needs CAP_PERFMON");
		assert_int_equal(dump(&n), -EPERM);
		assert_int_equal(n, 0);
		assert_int_equal(k.err, EPERM);
		assert_string_equal(k.text, "reading needs CAP_PERFMON");
		nothing_waits();
		put_end[i](-ENOBUFS, NULL);
		assert_int_equal(dump(&n), -ENOBUFS);
		assert_int_equal(k.err, ENOBUFS);
		assert_string_equal(k.text, "");
	}
}

/* What came before is of no use, and of no harm. */
static void refused_late(void **state)
{
	size_t n;

	(void)state;
	nothing_waits();
	put_alert(NLM_F_DUMP_INTR);
	datagrams++;
	put_done(-EMSGSIZE, "too large\n");
	assert_int_equal(dump(&n), -EMSGSIZE);
	assert_int_equal(n, 0);
	assert_string_equal(k.text, "too large\\x0a");
}

/* An end that does not say how it ended is no success. */
static void garbled(void **state)
{
	int one = 1;
	size_t n;

	(void)state;
	nothing_waits();
	put(NLMSG_DONE, NLM_F_MULTI, NULL, 0, NULL);
	assert_int_equal(dump(&n), -EPROTO);
	nothing_waits();
	put(NLMSG_DONE, NLM_F_MULTI, &one, sizeof(one), NULL);
	assert_int_equal(dump(&n), -EPROTO);
	nothing_waits();
	put(NLMSG_ERROR, 0, &one, sizeof(one), NULL);
	assert_int_equal(dump(&n), -EPROTO);
}

/* Nor is one that no errno stands for: only 0 is, and INT_MIN has no opposite. */
static void no_errno(void **state)
{
	static const int errors[] = { 1, INT_MAX, -4096, INT_MIN };
	unsigned int i;
	size_t n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		nothing_waits();
		put_error(errors[i], NULL);
		assert_int_equal(dump(&n), -EPROTO);
		assert_int_equal(k.err, EPROTO);
		nothing_waits();
		put_done(errors[i], NULL);
		assert_int_equal(dump(&n), -EPROTO);
	}
	nothing_waits();
	put_error(-4095, NULL);
	assert_int_equal(dump(&n), -4095);
}

static void interrupted(void **state)
{
	size_t n;

	(void)state;
	nothing_waits();
	put_alert(0);
	put_done(0, NULL);
	((struct nlmsghdr *)wire[0])->nlmsg_flags |= NLM_F_DUMP_INTR;
	datagrams++;
	put_alert(0);
	put_alert(0);
	put_done(0, NULL);
	assert_int_equal(dump(&n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(taken, 2);
}

static void put_process(u32 pid)
{
	struct {
		struct genlmsghdr g;
		struct nlattr a;
		u32 pid;
	} p = { .g = { .cmd = SEEPAGE_CMD_GET_PROC, .version = 1 },
		.a = { .nla_len = NLA_HDRLEN + 4, .nla_type = SEEPAGE_A_PID }, .pid = pid };

	put(30, NLM_F_MULTI, &p, sizeof(p), NULL);
}

/* The piece ends. @after: where to go on; 0: the module does not say it */
static void put_pause(u32 after)
{
	struct {
		int err;
		struct nlattr a;
		u32 pid;
	} p = { .err = -ENOBUFS, .a = { .nla_len = NLA_HDRLEN + 4,
					.nla_type = SEEPAGE_A_FILTER_AFTER_PID }, .pid = after };

	put(NLMSG_DONE, NLM_F_MULTI, &p, after ? sizeof(p) : sizeof(p.err), NULL);
	datagrams++;
}

/* A piece may have no process, or may have looked beyond its last one. */
static void pieces(void **state)
{
	static const u32 after[] = { 0, 500, 700, 800 };
	size_t n;

	(void)state;
	nothing_waits();
	put_pause(500);
	put_process(600);
	put_pause(700);
	put_process(800);
	put_pause(0);		/* an earlier module: after the last process */
	put_process(900);
	put_done(0, NULL);
	assert_int_equal(dump(&n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(asked, 4);
	assert_memory_equal(asked_after, after, sizeof(after));
}

/* A module that does not get on is not asked without end. */
static void no_progress(void **state)
{
	size_t n;

	(void)state;
	nothing_waits();
	put_pause(500);
	put_pause(500);
	datagrams--;
	assert_int_equal(dump(&n), -ENOBUFS);
	assert_int_equal(asked, 2);
	nothing_waits();
	put_pause(500);
	put_error(-ENOBUFS, NULL);
	assert_int_equal(dump(&n), -ENOBUFS);
	assert_int_equal(asked, 2);
}

/* What knl_fail() prints of a request that was refused with @text */
static const char *refusal(int err, const char *text, const char *needs)
{
	static char said[512];
	const struct ctx ctx = { .cmd = "watch" };
	struct knl door = { .err = err };
	FILE *was = stderr;
	char *mem = NULL;
	size_t n = 0;

	snprintf(door.text, sizeof(door.text), "%s", text);
	stderr = open_memstream(&mem, &n);
	assert_non_null(stderr);
	assert_int_equal(knl_fail(&ctx, &door, needs), 1);
	fclose(stderr);
	stderr = was;
	snprintf(said, sizeof(said), "%s", mem);
	free(mem);
	return said;
}

/* The first request of watch needs less than watch. */
static void names_the_rights_of_the_command(void **state)
{
	(void)state;
	assert_string_equal(refusal(EPERM, "needs CAP_PERFMON or CAP_SYS_ADMIN", NEEDS_ADMIN),
			    "seepage: watch: not permitted: needs CAP_SYS_ADMIN\n");
	assert_string_equal(refusal(EPERM, "needs CAP_PERFMON or CAP_SYS_ADMIN", NEEDS_READ),
			    "seepage: watch: not permitted: needs CAP_PERFMON or CAP_SYS_ADMIN\n");
	assert_string_equal(refusal(EPERM, "pid 5: not your process: needs CAP_PERFMON or "
				    "CAP_SYS_ADMIN", NEEDS_ADMIN),
			    "seepage: watch: not permitted: pid 5: not your process: needs "
			    "CAP_SYS_ADMIN\n");
	assert_string_equal(refusal(EACCES, "", NEEDS_ADMIN),
			    "seepage: watch: not permitted: needs CAP_SYS_ADMIN\n");
	assert_string_equal(refusal(EPERM, "locked", NEEDS_ADMIN),
			    "seepage: watch: not permitted: locked: needs CAP_SYS_ADMIN\n");
}

static int open_door(void **state)
{
	(void)state;
	k.sk = nl_socket_alloc();
	k.family = 30;
	return !k.sk;
}

static int close_door(void **state)
{
	(void)state;
	knl_close(&k);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answered), cmocka_unit_test(refused),
		cmocka_unit_test(refused_with_request), cmocka_unit_test(refused_too_long),
		cmocka_unit_test(refused_late), cmocka_unit_test(garbled),
		cmocka_unit_test(no_errno), cmocka_unit_test(interrupted),
		cmocka_unit_test(pieces), cmocka_unit_test(no_progress),
		cmocka_unit_test(names_the_rights_of_the_command),
	};

	return cmocka_run_group_tests_name("ctl_nl", tests, open_door, close_door);
}
