// SPDX-License-Identifier: GPL-2.0
/* Asks the module; below another root, reads what it would have answered from seepage.json. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

#define ALERTS	(1U << SEEPAGE_STATE_SUSPECTED | 1U << SEEPAGE_STATE_CONFIRMED |	\
		 1U << SEEPAGE_STATE_RUNAWAY)

static u64 counter(const struct message *msg, unsigned int id)
{
	struct nlattr *pos;
	u64 v = 0;
	int rem;

	if (msg->a[SEEPAGE_A_COUNTERS])
		nla_for_each_nested(pos, msg->a[SEEPAGE_A_COUNTERS], rem)
			if (nla_type(pos) == (int)id)
				attr_u64(pos, &v);
	return v;
}

static void text(const struct message *msg, unsigned int id, char *buf, size_t size)
{
	if (msg->a[id])
		attr_text(id, msg->a[id], false, buf, size);
}

static void take_status(struct doctor_live *l, const struct message *msg)
{
	l->answered = true;
	text(msg, SEEPAGE_A_VERSION, l->version, sizeof(l->version));
	text(msg, SEEPAGE_A_HOOK, l->hook, sizeof(l->hook));
	text(msg, SEEPAGE_A_PMC, l->pmc, sizeof(l->pmc));
	text(msg, SEEPAGE_A_DISABLED, l->disabled, sizeof(l->disabled));
	l->ticks = msg_get(msg, SEEPAGE_A_TICKS, 0);
	l->processes = msg_get(msg, SEEPAGE_A_PROCESSES, 0);
	l->stretched = msg_get(msg, SEEPAGE_A_STRETCHED, 0);
	l->multicast_off = msg_get(msg, SEEPAGE_A_MULTICAST_OFF, 0);
	l->table_full = counter(msg, SEEPAGE_COUNTER_TABLE_FULL);
	l->share_full = counter(msg, SEEPAGE_COUNTER_SHARE_FULL);
}

static struct nl_msg *build(struct knl *k, void *arg)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);

	nla_put_u32(msg, SEEPAGE_A_FILTER_STATES, ALERTS);
	return msg;
}

/* Keeps the processes with the least time left. */
static void add_leak(struct doctor_live *l, const struct doctor_leak *leak)
{
	size_t at = l->leaks < DOCTOR_LEAKS ? l->leaks : DOCTOR_LEAKS - 1;

	if (l->leaks == DOCTOR_LEAKS && l->leak[at].tte_s <= leak->tte_s)
		return;
	for (; at && l->leak[at - 1].tte_s > leak->tte_s; at--)
		l->leak[at] = l->leak[at - 1];
	l->leak[at] = *leak;
	if (l->leaks < DOCTOR_LEAKS)
		l->leaks++;
}

static void ask_alerts(struct knl *k, struct doctor_live *l)
{
	struct msgs m = { 0 };
	struct message msg;
	size_t i;

	l->listed = query_dump(k, build, NULL, &m) >= 0;
	for (i = 0; i < m.n; i++) {
		struct doctor_leak leak = { .tte_s = UINT64_MAX };

		if (msg_parse(&msg, m.v[i]))
			continue;
		leak.pid = msg_get(&msg, SEEPAGE_A_PID, 0);
		leak.state = (unsigned int)msg_get(&msg, SEEPAGE_A_STATE, 0);
		leak.has_tte = msg_u64(&msg, SEEPAGE_A_TTE_SECONDS, &leak.tte_s);
		msg_comm(&msg, leak.comm, sizeof(leak.comm));
		add_leak(l, &leak);
	}
	msgs_free(&m);
}

static void ask_kernel(struct doctor_live *l)
{
	struct nlmsghdr *nlh = NULL;
	struct message msg;
	struct conf c;
	struct knl k;

	if (knl_open(&k) < 0 || knl_resolve(&k) < 0) {
		l->err = k.err;
		knl_close(&k);
		return;
	}
	if (query_one(&k, knl_msg(&k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) < 0)
		l->err = k.err;
	else if (msg_parse(&msg, nlh))
		l->err = EPROTO;
	else
		take_status(l, &msg);
	free(nlh);
	if (l->answered && query_config(&k, &c) >= 0)
		l->max_processes = c.v[SEEPAGE_CFG_MAX_PROCESSES];
	ask_alerts(&k, l);
	knl_close(&k);
}

/* ---- a file in place of the module ---- */

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

static void get_text(struct json_object *o, const char *key, char *buf, size_t size)
{
	const char *s = json_object_get_string(get(o, key));

	snprintf(buf, size, "%s", s ? s : "");
}

static u64 get_number(struct json_object *o, const char *key)
{
	return json_object_get_uint64(get(o, key));
}

static void read_leak(struct doctor_live *l, struct json_object *o)
{
	struct doctor_leak leak = { .tte_s = UINT64_MAX, .pid = get_number(o, "pid") };
	char name[32];
	int state;

	get_text(o, "comm", leak.comm, sizeof(leak.comm));
	get_text(o, "state", name, sizeof(name));
	state = state_from_name(name, strlen(name));
	leak.state = state < 0 ? 0 : (unsigned int)state;
	leak.has_tte = get(o, "tte_seconds");
	if (leak.has_tte)
		leak.tte_s = get_number(o, "tte_seconds");
	add_leak(l, &leak);
}

/*
 * "errno", or "status" (as of status -j) and "processes" (as of ps -j, those under alert). A
 * missing file is a module that is not loaded.
 */
static void read_file(const struct doctor *d, struct doctor_live *l)
{
	char *file = doctor_text(d, "/seepage.json");
	struct json_object *o = file ? json_tokener_parse(file) : NULL, *status = get(o, "status");
	struct json_object *list = get(o, "processes"), *counters = get(status, "counters");
	size_t i;

	free(file);
	l->err = o ? (int)get_number(o, "errno") : ENOENT;
	l->answered = status;
	get_text(status, "module_version", l->version, sizeof(l->version));
	get_text(status, "hook", l->hook, sizeof(l->hook));
	get_text(status, "pmc_status", l->pmc, sizeof(l->pmc));
	get_text(status, "disabled", l->disabled, sizeof(l->disabled));
	l->ticks = get_number(status, "ticks");
	l->processes = get_number(status, "processes");
	l->max_processes = get_number(status, "max_processes");
	l->stretched = json_object_get_boolean(get(status, "stretched"));
	l->multicast_off = json_object_get_boolean(get(status, "multicast_off"));
	l->table_full = get_number(counters, "table_full");
	l->share_full = get_number(counters, "share_full");
	l->listed = list;
	for (i = 0; list && i < json_object_array_length(list); i++)
		read_leak(l, json_object_array_get_idx(list, i));
	json_object_put(o);
}

void doctor_ask(struct doctor *d)
{
	if (*d->root)
		read_file(d, &d->live);
	else
		ask_kernel(&d->live);
}
