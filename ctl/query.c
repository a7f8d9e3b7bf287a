// SPDX-License-Identifier: GPL-2.0
/*
 * The questions that more than one command asks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netlink/genl/genl.h>
#include "ctl.h"

#define DUMP_TRIES	5

/* Opens the door and finds the family; 1: it failed, told. */
int query_open(const struct ctx *ctx, struct knl *k)
{
	if (knl_open(k) >= 0 && knl_resolve(k) >= 0)
		return 0;
	knl_fail(ctx, k, NEEDS_READ);
	knl_close(k);
	return 1;
}

/* The same for a question about one process; 1 or 2: failed, told. */
int query_open_pid(struct ctx *ctx, const char *word, struct knl *k, u32 *pid)
{
	int err = parse_pid(ctx, word, pid);

	return err ? err : query_open(ctx, k);
}

static int keep(struct nlmsghdr *nlh, void *arg)
{
	struct msgs *m = arg;

	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 16;
		m->v = must(realloc(m->v, m->room * sizeof(*m->v)));
	}
	m->v[m->n] = must(malloc(nlh->nlmsg_len));
	memcpy(m->v[m->n++], nlh, nlh->nlmsg_len);
	return 0;
}

void msgs_free(struct msgs *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->v[i]);
	free(m->v);
	memset(m, 0, sizeof(*m));
}

/* One answer to one question; free() it. */
int query_one(struct knl *k, struct nl_msg *msg, struct nlmsghdr **reply)
{
	struct msgs m = { 0 };
	int err = knl_call(k, msg, keep, &m);

	*reply = NULL;
	if (err >= 0 && !m.n) {
		k->err = EPROTO;
		snprintf(k->text, sizeof(k->text), "the module did not answer");
		err = -EPROTO;
	}
	if (err >= 0) {
		*reply = m.v[0];
		m.v[0] = NULL;
	}
	msgs_free(&m);
	return err < 0 ? err : 0;
}

/* The process of this pid, with gates and history; free() it. */
int query_process(struct knl *k, u32 pid, struct nlmsghdr **reply)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_PROC, 0);

	nla_put_u32(msg, SEEPAGE_A_PID, pid);
	return query_one(k, msg, reply);
}

/* What was found out of a process: @cold in permille, < 0: not; @limit NULL: not */
int query_evidence(struct knl *k, u32 pid, int cold, const u64 *limit, u64 used)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_SET_EVIDENCE, 0);

	nla_put_u32(msg, SEEPAGE_A_PID, pid);
	if (cold >= 0)
		nla_put_u32(msg, SEEPAGE_A_COLD_PERMILLE, (u32)cold);
	if (limit) {
		nla_put_u64(msg, SEEPAGE_A_LIMIT_BYTES, *limit);
		nla_put_u64(msg, SEEPAGE_A_CGROUP_USED_BYTES, used);
	}
	return knl_call(k, msg, NULL, NULL);
}

/*
 * A whole dump. One that was interrupted by changes is repeated, some times.
 *
 * Return: 0, 1 when it was interrupted every time, or -errno.
 */
int query_dump(struct knl *k, struct nl_msg *(*build)(struct knl *k, void *arg), void *arg,
	       struct msgs *m)
{
	int tries, err = 0;

	for (tries = 0; tries < DUMP_TRIES; tries++) {
		msgs_free(m);
		err = knl_call(k, build(k, arg), keep, m);
		if (err != 1)
			break;
	}
	if (err < 0)
		msgs_free(m);
	return err;
}

static struct nl_msg *alerts_msg(struct knl *k, void *arg)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP);
	u64 since = *(u64 *)arg;

	if (since)
		nla_put_u64(msg, SEEPAGE_A_SINCE_SEQ, since);
	return msg;
}

int query_alerts(struct knl *k, u64 since, struct msgs *m)
{
	return query_dump(k, alerts_msg, &since, m);
}

/* Time between samples that is in force; 0: not known, or not to be told */
u64 query_interval(struct knl *k)
{
	struct nlmsghdr *nlh;
	struct rec rec;
	u64 ms = 0;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !rec_parse(&rec, nlh))
		ms = rec_get(&rec, SEEPAGE_A_INTERVAL_MS, 0);
	free(nlh);
	return ms;
}

/* The events of PMC_VALUES; none for who may not read the status. */
void query_pmc(struct knl *k, struct pmc_list *l)
{
	struct nlmsghdr *nlh;
	struct rec rec;

	l->n = 0;
	l->set = 0;
	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !rec_parse(&rec, nlh))
		pmc_list(l, &rec);
	free(nlh);
}

int query_config(struct knl *k, struct conf *c)
{
	struct nlattr *pos;
	struct nlmsghdr *nlh;
	struct rec rec;
	int rem, err = query_one(k, knl_msg(k, SEEPAGE_CMD_GET_CONFIG, 0), &nlh);

	memset(c, 0, sizeof(*c));
	if (err < 0)
		return err;
	if (!rec_parse(&rec, nlh) && rec.a[SEEPAGE_A_CONFIG]) {
		nla_for_each_nested(pos, rec.a[SEEPAGE_A_CONFIG], rem) {
			u64 v;

			if (nla_type(pos) > SEEPAGE_CFG_MAX || !attr_u64(pos, &v))
				continue;
			c->set[nla_type(pos)] = true;
			c->v[nla_type(pos)] = (u32)v;
		}
	}
	c->has_events = rec.a[SEEPAGE_A_PMC_WANTED];
	if (c->has_events)
		attr_text(SEEPAGE_A_PMC_WANTED, rec.a[SEEPAGE_A_PMC_WANTED], false, c->events,
			  sizeof(c->events));
	free(nlh);
	return 0;
}

static int send_config(struct knl *k, const struct conf *c)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_SET_CONFIG, 0);
	struct nlattr *nest = must(nla_nest_start(msg, NLA_F_NESTED | SEEPAGE_A_CONFIG));
	int key;

	for (key = 1; key <= SEEPAGE_CFG_MAX; key++)
		if (c->set[key])
			nla_put_u32(msg, key, c->v[key]);
	nla_nest_end(msg, nest);
	if (c->has_events)
		nla_put_string(msg, SEEPAGE_A_PMC_WANTED, c->events);
	return knl_call(k, msg, NULL, NULL);
}

static bool asks_for_counters(const struct conf *c)
{
	return c->has_events || c->set[SEEPAGE_CFG_PMC_MAX_COUNTERS] ||
	       (c->set[SEEPAGE_CFG_PMC] && c->v[SEEPAGE_CFG_PMC] != SEEPAGE_PMC_OFF &&
		c->v[SEEPAGE_CFG_PMC] != SEEPAGE_PMC_HOLD);
}

/* That they are wanted does not mean that there are any. */
static void tell_counters(const struct ctx *ctx, struct knl *k)
{
	struct nlmsghdr *nlh;
	char state[TEXT_MAX];
	struct rec rec;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !rec_parse(&rec, nlh)) {
		attr_text(SEEPAGE_A_PMC, rec.a[SEEPAGE_A_PMC], false, state, sizeof(state));
		if (strcmp(state, "on") && !strstr(state, "held") &&
		    strcmp(state, "off: by configuration"))
			note(ctx, "changed, but counters are %s", state);
	}
	free(nlh);
}

/* All keys of @c or, when one is refused, none. 0, or 1: failed, told. */
int query_configure(const struct ctx *ctx, const struct conf *c)
{
	int status = 0;
	struct knl k;

	if (query_open(ctx, &k))
		return 1;
	if (send_config(&k, c) < 0)
		status = knl_fail(ctx, &k, NEEDS_ADMIN);
	else if (asks_for_counters(c))
		tell_counters(ctx, &k);
	knl_close(&k);
	return status;
}
