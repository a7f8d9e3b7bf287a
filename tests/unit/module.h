/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A made-up module, which answers in place of the kernel: one process at most, and alerts. What
 * is tested is linked with --wrap of knl_open, knl_resolve and knl_call.
 */
#ifndef SEEPAGE_TEST_MODULE_H
#define SEEPAGE_TEST_MODULE_H

#include <errno.h>
#include "msg.h"

#define MODULE_ALERTS	8

static struct {
	struct nl_msg *process;		/* NULL: no process has the pid */
	struct nl_msg *alert[MODULE_ALERTS];
	unsigned int alerts;
} module;

int __wrap_knl_open(struct knl *k);
int __wrap_knl_resolve(struct knl *k);
int __wrap_knl_call(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg);

int __wrap_knl_open(struct knl *k)
{
	memset(k, 0, sizeof(*k));
	return 0;
}

int __wrap_knl_resolve(struct knl *k)
{
	k->family = 30;
	return 0;
}

static void module_alerts(u64 since, knl_cb cb, void *arg)
{
	struct message msg;
	unsigned int i;

	for (i = 0; i < module.alerts; i++)
		if (!msg_parse(&msg, nlmsg_hdr(module.alert[i])) &&
		    msg_get(&msg, SEEPAGE_A_SEQ, 0) >= since)
			cb(nlmsg_hdr(module.alert[i]), arg);
}

int __wrap_knl_call(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg)
{
	int cmd = ((struct genlmsghdr *)nlmsg_data(nlmsg_hdr(msg)))->cmd;
	struct nl_msg *status = msg_new();
	struct message asked;
	int err = 0;

	k->err = 0;
	k->text[0] = '\0';
	msg_parse(&asked, nlmsg_hdr(msg));
	if (cmd == SEEPAGE_CMD_GET_STATUS) {
		cb(nlmsg_hdr(status), arg);
	} else if (cmd == SEEPAGE_CMD_GET_ALERTS) {
		module_alerts(msg_get(&asked, SEEPAGE_A_SINCE_SEQ, 0), cb, arg);
	} else if (cmd == SEEPAGE_CMD_GET_PROC && module.process) {
		cb(nlmsg_hdr(module.process), arg);
	} else {
		k->err = ESRCH;
		snprintf(k->text, sizeof(k->text), "no such process");
		err = -ESRCH;
	}
	nlmsg_free(status);
	nlmsg_free(msg);
	return err;
}

/* Of the process and of all alerts. It is above all that a kernel gives. */
static u32 module_pid = 2000000000U;

static void module_put(struct nl_msg *m, unsigned int state, u64 age_s)
{
	nla_put_u32(m, SEEPAGE_A_PID, module_pid);
	nla_put_string(m, SEEPAGE_A_COMM, "leaky");
	nla_put_u8(m, SEEPAGE_A_STATE, (u8)state);
	nla_put_u64(m, SEEPAGE_A_AGE_SECONDS, age_s);
	nla_put_u64(m, SEEPAGE_A_RSS_BYTES, 100 << 20);
	nla_put_u8(m, SEEPAGE_A_CONFIDENCE, 90);
	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 60 << 20);
	nla_put_u64(m, SEEPAGE_A_TTE_SECONDS, 1320);
}

/* Raises the next alert, in a unit, at a time after the one before. */
static void module_alert(unsigned int state, u64 age_s, u64 time_ns)
{
	struct nl_msg *m = msg_new();
	struct nlattr *nest;

	module_put(m, state, age_s);
	nla_put_u64(m, SEEPAGE_A_SEQ, module.alerts + 1);
	nla_put_u64(m, SEEPAGE_A_TIME_NS, time_ns);
	nla_put_u8(m, SEEPAGE_A_SEVERITY, 8);
	nla_put_u8(m, SEEPAGE_A_PREV_STATE, SEEPAGE_STATE_SUSPECTED);
	nest = nla_nest_start(m, SEEPAGE_A_IDENTITY);
	nla_put_string(m, SEEPAGE_IDENTITY_A_CGROUP, "/system.slice/leaky.service");
	nla_nest_end(m, nest);
	module.alert[module.alerts++] = m;
}

static void module_process(unsigned int state, u64 age_s)
{
	module.process = msg_new();
	module_put(module.process, state, age_s);
}

static void module_reset(void)
{
	while (module.alerts)
		nlmsg_free(module.alert[--module.alerts]);
	nlmsg_free(module.process);
	module.process = NULL;
}

#endif
