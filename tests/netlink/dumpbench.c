// SPDX-License-Identifier: GPL-2.0
/*
 * dumpbench [ROUNDS]: dumps all processes. Prints their number and the nanoseconds from the
 * request to the end of the dump, the minimum of several rounds. The records are only counted,
 * so the time is mostly the kernel's. Under the counting clock it is in instructions.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/seepage.h>

static char buf[65536] __attribute__((aligned(8)));
static struct mnl_socket *nl;
static unsigned int records;
static uint16_t family;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int on_family(const struct nlattr *attr, void *data)
{
	(void)data;
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int on_message(const struct nlmsghdr *nlh, void *data)
{
	(void)data;
	if (nlh->nlmsg_type == GENL_ID_CTRL)
		return mnl_attr_parse(nlh, sizeof(struct genlmsghdr), on_family, NULL);
	records++;
	return MNL_CB_OK;
}

static void ask(uint16_t type, uint8_t cmd, uint16_t flags, const char *name)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g;
	ssize_t n;
	int more = MNL_CB_OK;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = cmd;
	g->version = 1;
	if (name)
		mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("send");
	while (more > MNL_CB_STOP) {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n < 0)
			die("receive");
		more = mnl_cb_run(buf, n, 0, 0, on_message, NULL);
	}
	if (more < 0)
		die("answer");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	uint64_t least = UINT64_MAX;

	nl = mnl_socket_open(NETLINK_GENERIC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		die("netlink");
	ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK, SEEPAGE_GENL_NAME);
	while (rounds-- > 0) {
		uint64_t begin = now_ns(), took;

		records = 0;
		ask(family, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP, NULL);
		took = now_ns() - begin;
		if (took < least)
			least = took;
	}
	printf("%u %llu\n", records, (unsigned long long)least);
	return 0;
}
