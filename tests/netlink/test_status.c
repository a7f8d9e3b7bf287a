// SPDX-License-Identifier: GPL-2.0
/* The family and its status. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nltest.h"

static void family(void)
{
	struct conn c;

	conn_open(&c);
	check(c.version == SEEPAGE_GENL_VERSION, "version %u", c.version);
	check(!c.hdrsize, "a user header of %u bytes", c.hdrsize);
	check(c.group[GROUP_ALERT], "no group " SEEPAGE_MCGRP_ALERT);
	check(c.group[GROUP_SAMPLE], "no group " SEEPAGE_MCGRP_SAMPLE);
	check(c.group[GROUP_SERIES], "no group " SEEPAGE_MCGRP_SERIES);
}

/* Processes with memory of their own, by /proc. */
static unsigned int user_processes(void)
{
	char path[300], line[64];
	struct dirent *e;
	unsigned int n = 0;
	DIR *d = opendir("/proc");
	FILE *f;

	need(d, "no /proc");
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/statm", e->d_name);
		f = atoi(e->d_name) ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (fgets(line, sizeof(line), f) && strncmp(line, "0 ", 2))
			n++;
		fclose(f);
	}
	closedir(d);
	return n;
}

static void status(void)
{
	unsigned int want, got;
	struct copy m;
	struct conn c;

	conn_open(&c);
	fresh(&c);
	/* the dead are in the table until the next pass */
	set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100,
		   0);
	wait_passes(&c, 2);
	get_status(&c, &m);
	want = user_processes();
	got = num(&m.p, SEEPAGE_A_PROCESSES);
	check(got >= want && got <= want + 2, "PROCESSES: %u, /proc has %u", got, want);
	check(num(&m.p, SEEPAGE_A_REC_BYTES) <= 2048, "REC_BYTES: %u",
	      (unsigned int)num(&m.p, SEEPAGE_A_REC_BYTES));
	check(num(&m.p, SEEPAGE_A_TICKS) > 0, "TICKS: 0");
	check(num(&m.p, SEEPAGE_A_TICK_COST_NS) > 0, "TICK_COST_NS: 0");
	check(keyed(&m.p, SEEPAGE_A_COUNTERS, SEEPAGE_COUNTER_BIRTHS) >= got,
	      "fewer births than processes");
	check(!keyed(&m.p, SEEPAGE_A_COUNTERS, SEEPAGE_COUNTER_INVARIANTS_BROKEN),
	      "an invariant is broken");
}

/* INTERVAL_MS is the one in force, STRETCHED says when it is not the one asked for. */
static void status_interval(void)
{
	uint64_t ticks, begin, ms;
	struct copy m;
	struct conn c;
	int tries;

	conn_open(&c);
	quick(&c, 200);
	msleep(1000);
	get_status(&c, &m);
	check(num(&m.p, SEEPAGE_A_INTERVAL_MS) == 200, "INTERVAL_MS: %u",
	      (unsigned int)num(&m.p, SEEPAGE_A_INTERVAL_MS));
	check(!num(&m.p, SEEPAGE_A_STRETCHED), "STRETCHED: 1");
	/* never more than the time allows, and not less each time: a host may be that busy once */
	for (tries = 0; tries < 6; tries++) {
		begin = now_ms();
		ticks = status_num(&c, SEEPAGE_A_TICKS);
		msleep(2000);
		ticks = status_num(&c, SEEPAGE_A_TICKS) - ticks;
		ms = now_ms() - begin;
		check(ticks <= ms / 200 + 2, "%llu ticks of 200 ms in %llu ms",
		      (unsigned long long)ticks, (unsigned long long)ms);
		if (ticks >= ms / 400)
			break;
	}
	check(tries < 6, "%llu ticks of 200 ms in %llu ms, the last of %d times",
	      (unsigned long long)ticks, (unsigned long long)ms, tries);
	need(!set_config(&c, SEEPAGE_CFG_MAX_CPU_PERMILLE, 1,
			 SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100,
			 SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100, 0), "SET_CONFIG refused");
	msleep(1000);
	get_status(&c, &m);
	/* Of an interval of 100.4 ms the whole ones are shown. */
	check(num(&m.p, SEEPAGE_A_STRETCHED) ? num(&m.p, SEEPAGE_A_INTERVAL_MS) >= 100 :
	      num(&m.p, SEEPAGE_A_INTERVAL_MS) == 100,
	      "STRETCHED: %u at an interval of %u ms, asked for 100 ms",
	      (unsigned int)num(&m.p, SEEPAGE_A_STRETCHED),
	      (unsigned int)num(&m.p, SEEPAGE_A_INTERVAL_MS));
	fresh(&c);
}

/* Without NLM_F_ACK the reply is all there is; with it an ack follows. */
static void status_no_ack(void)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh, *r = (void *)buf;
	struct conn c;
	ssize_t n;

	conn_open(&c);
	nlh = request(&c, buf, SEEPAGE_CMD_GET_STATUS, NLM_F_REQUEST);
	conn_send(&c, nlh);
	n = mnl_socket_recvfrom(c.nl, buf, sizeof(buf));
	need(n > 0 && mnl_nlmsg_ok(r, n), "no reply");
	check(r->nlmsg_type == c.family, "type %u", r->nlmsg_type);
	check(r->nlmsg_seq == c.seq && r->nlmsg_pid == mnl_socket_get_portid(c.nl),
	      "not addressed to the one who asked");
	check(!(r->nlmsg_flags & NLM_F_MULTI), "NLM_F_MULTI on a single reply");
	check((size_t)n == r->nlmsg_len, "more than one message");
}

const struct test tests_status[] = {
	{ "status-family", family },
	{ "status", status },
	{ "status-interval", status_interval },
	{ "status-no-ack", status_no_ack },
	{ NULL, NULL }
};
