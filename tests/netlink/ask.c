// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that many tests make; every reply goes through parse().
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "nltest.h"

/* A copy, because the next answer overwrites the buffer. */
static void keep(const struct nlmsghdr *nlh, enum kind what, struct copy *m)
{
	struct parsed p;
	int i;

	parse(nlh, what, &p);
	need(nlh->nlmsg_len <= sizeof(m->buf), "a message of %u bytes", nlh->nlmsg_len);
	check(!m->got, "more than one reply");
	memcpy(m->buf, nlh, nlh->nlmsg_len);
	for (i = 0; i < __SEEPAGE_A_MAX; i++)
		m->p.a[i] = !p.a[i] ? NULL :
			(void *)(m->buf + ((const char *)p.a[i] - (const char *)nlh));
	m->got = true;
}

static void on_status(const struct nlmsghdr *nlh, void *data)
{
	keep(nlh, STATUS, data);
}

static void on_config(const struct nlmsghdr *nlh, void *data)
{
	keep(nlh, CONFIG, data);
}

static void on_proc(const struct nlmsghdr *nlh, void *data)
{
	keep(nlh, PROC_DO, data);
}

static void on_group(const struct nlmsghdr *nlh, void *data)
{
	keep(nlh, PROC_GROUP, data);
}

void get_status(struct conn *c, struct copy *m)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct answer a;

	memset(m, 0, sizeof(*m));
	ask(c, request(c, buf, SEEPAGE_CMD_GET_STATUS, 0), &a, on_status, m);
	need(!a.rc && m->got, "GET_STATUS: %s %s", strerror(-a.rc), a.text);
}

uint64_t status_num(struct conn *c, int attr)
{
	struct copy m;

	get_status(c, &m);
	return num(&m.p, attr);
}

uint64_t counter(struct conn *c, int id)
{
	struct copy m;

	get_status(c, &m);
	return keyed(&m.p, SEEPAGE_A_COUNTERS, id);
}

void get_config(struct conn *c, uint32_t v[__SEEPAGE_CFG_MAX])
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct answer a;
	struct copy m;
	int key;

	memset(&m, 0, sizeof(m));
	ask(c, request(c, buf, SEEPAGE_CMD_GET_CONFIG, 0), &a, on_config, &m);
	need(!a.rc && m.got, "GET_CONFIG: %s %s", strerror(-a.rc), a.text);
	v[0] = 0;
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++)
		v[key] = keyed(&m.p, SEEPAGE_A_CONFIG, key);
}

static int ask_proc(struct conn *c, pid_t pid, bool group, struct copy *m)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(c, buf, SEEPAGE_CMD_GET_PROC, 0);
	struct answer a;

	memset(m, 0, sizeof(*m));
	mnl_attr_put_u32(nlh, SEEPAGE_A_PID, pid);
	if (group)
		mnl_attr_put_u8(nlh, SEEPAGE_A_GROUP, 1);
	ask(c, nlh, &a, group ? on_group : on_proc, m);
	check(a.rc || m->got, "GET_PROC %d: no reply", pid);
	check(!a.rc || a.text[0], "GET_PROC %d: %s without a text", pid, strerror(-a.rc));
	return a.rc;
}

int get_proc(struct conn *c, pid_t pid, struct copy *m)
{
	return ask_proc(c, pid, false, m);
}

int get_group(struct conn *c, pid_t pid, struct copy *m)
{
	return ask_proc(c, pid, true, m);
}

int set_config(struct conn *c, ...)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(c, buf, SEEPAGE_CMD_SET_CONFIG, 0);
	struct nlattr *nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);
	struct answer a;
	va_list ap;
	int key;

	va_start(ap, c);
	while ((key = va_arg(ap, int)))
		mnl_attr_put_u32(nlh, key, va_arg(ap, unsigned int));
	va_end(ap);
	mnl_attr_nest_end(nlh, nest);
	ask(c, nlh, &a, NULL, NULL);
	check(!a.rc || a.text[0], "SET_CONFIG: %s without a text", strerror(-a.rc));
	return a.rc;
}

int reset(struct conn *c, uint32_t what, pid_t pid)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(c, buf, SEEPAGE_CMD_RESET, 0);
	struct answer a;

	mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, what);
	if (pid)
		mnl_attr_put_u32(nlh, SEEPAGE_A_PID, pid);
	ask(c, nlh, &a, NULL, NULL);
	check(!a.rc || a.text[0], "RESET: %s without a text", strerror(-a.rc));
	return a.rc;
}

void fresh(struct conn *c)
{
	int rc = reset(c, SEEPAGE_RESET_CONFIG | SEEPAGE_RESET_HISTORY | SEEPAGE_RESET_ALERTS, 0);

	need(!rc, "RESET: %s", strerror(-rc));
}

void wait_passes(struct conn *c, unsigned int n)
{
	uint64_t end = status_num(c, SEEPAGE_A_TICKS) + n;
	unsigned int i, most = 400 * slowness();

	for (i = 0; i < most && status_num(c, SEEPAGE_A_TICKS) < end; i++)
		msleep(50);
	need(i < most, "less than %u passes in %u s", n, most / 20);
}

void wait_accused(struct conn *c, pid_t pid)
{
	struct copy m;
	uint64_t state;
	unsigned int i;

	for (i = 0; i < 200 * slowness(); i++) {
		need(!get_proc(c, pid, &m), "GET_PROC");
		state = num(&m.p, SEEPAGE_A_STATE);
		if (state >= SEEPAGE_STATE_SUSPECTED && state <= SEEPAGE_STATE_RUNAWAY)
			return;
		msleep(100);
	}
	need(false, "process %d is never accused", pid);
}

void quick(struct conn *c, uint32_t ms)
{
	fresh(c);
	need(!set_config(c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, ms, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, ms,
			 SEEPAGE_CFG_MAX_CPU_PERMILLE, 1000, 0), "SET_CONFIG refused");
}

static void on_dumped(const struct nlmsghdr *nlh, void *data)
{
	struct seen *s = data;
	struct parsed p;
	uint32_t pid;

	parse(nlh, PROC_DUMP, &p);
	check(nlh->nlmsg_flags & NLM_F_MULTI, "dump without NLM_F_MULTI");
	pid = num(&p, SEEPAGE_A_PID);
	need(pid < PID_LIMIT, "PID: %u", pid);
	s->total++;
	s->last = pid;
	if (s->n[pid]++)
		s->twice++;
	if (s->each)
		s->each(&p, s->data);
}

static void put_filter(struct nlmsghdr *nlh, const struct filter *f)
{
	if (f && f->pid)
		mnl_attr_put_u32(nlh, SEEPAGE_A_PID, f->pid);
	if (f && f->by_states)
		mnl_attr_put_u32(nlh, SEEPAGE_A_FILTER_STATES, f->states);
	if (f && f->by_confidence)
		mnl_attr_put_u8(nlh, SEEPAGE_A_FILTER_MIN_CONFIDENCE, f->confidence);
	if (f && f->by_uid)
		mnl_attr_put_u32(nlh, SEEPAGE_A_FILTER_UID, f->uid);
	if (f && f->comm)
		mnl_attr_put_strz(nlh, SEEPAGE_A_FILTER_COMM, f->comm);
}

struct seen *dump(struct conn *c, const struct filter *f, struct answer *a,
		  void (*each)(const struct parsed *p, void *data), void *data)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh;
	static struct seen s;
	uint32_t after;

	memset(&s, 0, sizeof(s));
	memset(a, 0, sizeof(*a));
	s.each = each;
	s.data = data;
	do {	/* a user without rights asks again for the rest */
		after = a->after;
		nlh = request(c, buf, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);
		put_filter(nlh, f);
		if (after)
			mnl_attr_put_u32(nlh, SEEPAGE_A_FILTER_AFTER_PID, after);
		ask(c, nlh, a, on_dumped, &s);
		s.pieces++;
		check(!a->after || (a->rc == -ENOBUFS && a->after >= s.last),
		      "NLMSG_DONE: %d, go on after %u, the last was %u", a->rc, a->after, s.last);
	} while (a->rc == -ENOBUFS && a->after > after);
	check(!a->rc, "dump: %s %s", strerror(-a->rc), a->text);
	return &s;
}

static void on_alert(const struct nlmsghdr *nlh, void *data)
{
	struct alerts *l = data;

	l->m = realloc(l->m, (l->n + 1) * sizeof(*l->m));
	need(l->m, "out of memory");
	memset(&l->m[l->n], 0, sizeof(*l->m));
	keep(nlh, AN_ALERT, &l->m[l->n]);
	l->n++;
}

/* realloc() moves the copies: their attributes are found again. */
static void settle(struct alerts *l)
{
	unsigned int i;
	const struct nlattr *a;
	struct nlmsghdr *nlh;

	for (i = 0; i < l->n; i++) {
		nlh = (void *)l->m[i].buf;
		memset(&l->m[i].p, 0, sizeof(l->m[i].p));
		mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
			if (mnl_attr_get_type(a) < __SEEPAGE_A_MAX)
				l->m[i].p.a[mnl_attr_get_type(a)] = a;
	}
}

void get_alerts(struct conn *c, bool by_seq, uint64_t since, struct alerts *l)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(c, buf, SEEPAGE_CMD_GET_ALERTS, NLM_F_DUMP);
	struct answer a;

	memset(l, 0, sizeof(*l));
	if (by_seq)
		mnl_attr_put_u64(nlh, SEEPAGE_A_SINCE_SEQ, since);
	ask(c, nlh, &a, on_alert, l);
	check(!a.rc, "GET_ALERTS: %s %s", strerror(-a.rc), a.text);
	settle(l);
}
