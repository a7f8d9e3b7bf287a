// SPDX-License-Identifier: GPL-2.0
/*
 * Requests with failing memory allocations, one after the other (/proc/self/fail-nth of
 * CONFIG_FAULT_INJECTION). Each is refused or answered, and never applied in part.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nltest.h"

#define MOST 2000

static struct conn c;
static char send_buf[REQ_SIZE] __attribute__((aligned(8)));
static char recv_buf[65536];

static int fail_nth(int n)
{
	static int fd = -1;
	char text[16];
	ssize_t got;

	if (fd < 0)
		fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		skip("the kernel has no fault injection");
	got = pread(fd, text, sizeof(text) - 1, 0);
	need(got > 0, "fail-nth: %s", strerror(errno));
	text[got] = '\0';
	n = dprintf(fd, "%d", n);
	need(n > 0, "fail-nth: %s", strerror(errno));
	return atoi(text);
}

/* Sends it and reads what is there at once; without checks, which allocate. */
static int converse(const struct nlmsghdr *nlh)
{
	int fd = mnl_socket_get_fd(c.nl);
	ssize_t got;

	if (send(fd, nlh, nlh->nlmsg_len, 0) < 0)
		return -errno;
	do
		got = recv(fd, recv_buf, sizeof(recv_buf), MSG_DONTWAIT);
	while (got > 0);
	return 0;
}

/* Each allocation of one request in turn; make puts its attributes in. */
static void fail_each(const char *what, uint8_t cmd, uint16_t flags,
		      void (*make)(struct nlmsghdr *nlh), void (*after)(void))
{
	struct nlmsghdr *nlh;
	int n, left;

	for (n = 1; n <= MOST; n++) {
		conn_open(&c);
		nlh = request(&c, send_buf, cmd, flags);
		if (make)
			make(nlh);
		fail_nth(n);
		converse(nlh);
		left = fail_nth(0);
		conn_close(&c);
		if (after)
			after();
		if (left)
			break;
	}
	check(n > 1, "%s: no allocation failed", what);
	check(n < MOST, "%s: no end after %d allocations", what, MOST);
	note("%s: %d allocations failed", what, n - 1);
}

static void put_pid(struct nlmsghdr *nlh)
{
	mnl_attr_put_u32(nlh, SEEPAGE_A_PID, getpid());
}

static void put_comm(struct nlmsghdr *nlh)
{
	mnl_attr_put_strz(nlh, SEEPAGE_A_FILTER_COMM, "nltest");
}

/* Two keys that may only change together. */
static void put_config(struct nlmsghdr *nlh)
{
	static uint32_t n = 1000;
	struct nlattr *nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);

	mnl_attr_put_u32(nlh, SEEPAGE_CFG_FAULT_RATE_WARNING, ++n);
	mnl_attr_put_u32(nlh, SEEPAGE_CFG_FAULT_RATE_CRITICAL, n + 1);
	mnl_attr_nest_end(nlh, nest);
}

static void put_reset(struct nlmsghdr *nlh)
{
	mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, SEEPAGE_RESET_ALL);
}

static void pair_is_whole(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];

	conn_open(&c);
	get_config(&c, v);
	conn_close(&c);
	/* as loaded, or one of those above */
	if (v[SEEPAGE_CFG_FAULT_RATE_CRITICAL] != 1000)
		check(v[SEEPAGE_CFG_FAULT_RATE_CRITICAL] == v[SEEPAGE_CFG_FAULT_RATE_WARNING] + 1,
		      "half a configuration");
}

static void requests(void)
{
	conn_open(&c);
	fresh(&c);
	conn_close(&c);
	fail_each("GET_STATUS", SEEPAGE_CMD_GET_STATUS, 0, NULL, NULL);
	fail_each("GET_CONFIG", SEEPAGE_CMD_GET_CONFIG, 0, NULL, NULL);
	fail_each("SET_CONFIG", SEEPAGE_CMD_SET_CONFIG, 0, put_config, pair_is_whole);
	fail_each("GET_PROC", SEEPAGE_CMD_GET_PROC, 0, put_pid, NULL);
	fail_each("GET_PROC dump", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, NULL, NULL);
	fail_each("GET_PROC dump by comm", SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, put_comm, NULL);
	fail_each("GET_ALERTS dump", SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP, NULL, NULL);
	fail_each("RESET", SEEPAGE_CMD_RESET, 0, put_reset, pair_is_whole);
}

const struct test tests_fail[] = {
	{ "fail-requests", requests },
	{ NULL, NULL },
};
