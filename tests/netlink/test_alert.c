// SPDX-License-Identifier: GPL-2.0
/*
 * Alerts in the ring and the two multicast groups. Policy classic makes alerts easy to raise:
 * a process that maps much more than it touches has 25 points.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nltest.h"

#define MB	(1UL << 20)
#define RING	256

static struct conn c;

static void provoke(void)
{
	fresh(&c);
	need(!set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100,
			 SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100, SEEPAGE_CFG_MAX_CPU_PERMILLE, 1000,
			 SEEPAGE_CFG_POLICY, SEEPAGE_POLICY_CLASSIC, SEEPAGE_CFG_WARMUP_S, 0,
			 SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 1, SEEPAGE_CFG_ALERT_CONFIDENCE, 20,
			 SEEPAGE_CFG_ALERT_INTERVAL_S, 0, SEEPAGE_CFG_ALERTS_PER_MINUTE, 100000,
			 SEEPAGE_CFG_FAULT_RATE_WARNING, 1000000000,	/* no points for that */
			 SEEPAGE_CFG_FAULT_RATE_CRITICAL, 1000000000, 0), "SET_CONFIG refused");
}

static const struct parsed *find(const struct alerts *l, pid_t pid, int state)
{
	unsigned int i;

	for (i = 0; i < l->n; i++)
		if (num(&l->m[i].p, SEEPAGE_A_PID) == (uint64_t)pid &&
		    num(&l->m[i].p, SEEPAGE_A_STATE) == (uint64_t)state)
			return &l->m[i].p;
	return NULL;
}

/* What a test that failed has seen: a line for each alert. */
static void print_alerts(const struct alerts *l)
{
	unsigned int i;

	for (i = 0; i < l->n; i++)
		printf("# alert %llu: %s (%llu), state %llu before %llu\n",
		       (unsigned long long)num(&l->m[i].p, SEEPAGE_A_SEQ),
		       str(&l->m[i].p, SEEPAGE_A_COMM),
		       (unsigned long long)num(&l->m[i].p, SEEPAGE_A_PID),
		       (unsigned long long)num(&l->m[i].p, SEEPAGE_A_STATE),
		       (unsigned long long)num(&l->m[i].p, SEEPAGE_A_PREV_STATE));
}

static const struct parsed *wait_for(struct alerts *l, pid_t pid, int state)
{
	const struct parsed *p = NULL;
	int i;

	for (i = 0; i < 100 && !p; i++) {
		msleep(100);
		get_alerts(&c, false, 0, l);
		p = find(l, pid, state);
	}
	return p;
}

static void contiguous(const struct alerts *l, uint64_t first, uint64_t last)
{
	unsigned int i;

	check(l->n == (first ? last - first + 1 : 0), "%u alerts from %llu to %llu", l->n,
	      (unsigned long long)first, (unsigned long long)last);
	for (i = 0; i < l->n; i++)
		if (num(&l->m[i].p, SEEPAGE_A_SEQ) != first + i) {
			fail("alert %u has number %llu, not %llu", i,
			     (unsigned long long)num(&l->m[i].p, SEEPAGE_A_SEQ),
			     (unsigned long long)first + i);
			return;
		}
}

static void life(void)
{
	struct kid quits, calms;
	const struct parsed *p;
	struct alerts l;
	struct copy st;
	uint64_t instance, seq = 0;

	conn_open(&c);
	instance = status_num(&c, SEEPAGE_A_INSTANCE);
	/* all is touched before the first look: it is the baseline */
	kid_start(&quits, 4 * MB, 100 * MB, "quits", 65534);
	kid_start(&calms, 200 * MB, 700 * MB, "calms", 0);
	provoke();
	p = wait_for(&l, quits.pid, SEEPAGE_STATE_SUSPECTED);
	need(p, "no alert of a suspect");
	check(!strcmp(str(p, SEEPAGE_A_COMM), "quits"), "COMM: %s", str(p, SEEPAGE_A_COMM));
	check(num(p, SEEPAGE_A_UID) == 65534, "UID: %llu",
	      (unsigned long long)num(p, SEEPAGE_A_UID));
	check(num(p, SEEPAGE_A_PREV_STATE) == SEEPAGE_STATE_OK, "PREV_STATE");
	check(num(p, SEEPAGE_A_CONFIDENCE) > 20, "CONFIDENCE");
	check(num(p, SEEPAGE_A_POLICY) == SEEPAGE_POLICY_CLASSIC, "POLICY");
	check(num(p, SEEPAGE_A_INSTANCE) == instance, "INSTANCE");
	check(num(p, SEEPAGE_A_SEVERITY) == 1, "SEVERITY of 4 MB");
	check(count_in(p, SEEPAGE_A_GATES) == 3, "%u gates", count_in(p, SEEPAGE_A_GATES));
	seq = num(p, SEEPAGE_A_SEQ);
	p = wait_for(&l, calms.pid, SEEPAGE_STATE_SUSPECTED);
	need(p, "no alert of the other suspect");
	check(num(p, SEEPAGE_A_SEVERITY) == 2, "SEVERITY of 200 MB");

	kid_ask(&calms, '-', 0);
	p = wait_for(&l, calms.pid, SEEPAGE_STATE_RECOVERED);
	need(p, "no alert of one that recovered");
	check(num(p, SEEPAGE_A_PREV_STATE) == SEEPAGE_STATE_SUSPECTED, "PREV_STATE");
	check(num(p, SEEPAGE_A_SEQ) > seq, "SEQ does not rise");
	kid_end(&quits);
	p = wait_for(&l, quits.pid, SEEPAGE_STATE_EXITED);
	need(p, "no alert of one that exited");
	check(num(p, SEEPAGE_A_PREV_STATE) == SEEPAGE_STATE_SUSPECTED, "PREV_STATE");
	check(!strcmp(str(p, SEEPAGE_A_COMM), "quits"), "COMM of the dead: %s",
	      str(p, SEEPAGE_A_COMM));
	check(has(p, SEEPAGE_A_UID), "the UID of one that exited is not told, but was known");
	check(num(p, SEEPAGE_A_ANON_BYTES) >= 4 * MB - 256 * 4096,
	      "ANON_BYTES of the dead: %llu",
	      (unsigned long long)num(p, SEEPAGE_A_ANON_BYTES));
	kid_end(&calms);
	msleep(300);
	set_config(&c, SEEPAGE_CFG_ALERT_CONFIDENCE, 100, 0);
	msleep(300);
	get_alerts(&c, false, 0, &l);
	check(!find(&l, calms.pid, SEEPAGE_STATE_EXITED), "the end of one that had recovered");
	get_status(&c, &st);
	contiguous(&l, num(&st.p, SEEPAGE_A_SEQ_FIRST), num(&st.p, SEEPAGE_A_SEQ_LAST));
	fresh(&c);
}

/*
 * An end has the severity of what ended: under classic by its size, under ladder by its
 * state. The pass that finds the end comes with the other policy, which has not judged it.
 */
static void end_matters(void)
{
	const struct parsed *p;
	struct alerts l;
	struct kid k;

	conn_open(&c);
	kid_start(&k, 4 * MB, 100 * MB, "ends", 0);
	provoke();
	p = wait_for(&l, k.pid, SEEPAGE_STATE_SUSPECTED);
	need(p, "no alert of a suspect");
	check(num(p, SEEPAGE_A_SEVERITY) == 1, "SEVERITY of 4 MB");
	need(!set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 60000,
			 SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 60000, 0), "SET_CONFIG refused");
	msleep(500);
	kid_end(&k);
	need(!set_config(&c, SEEPAGE_CFG_POLICY, SEEPAGE_POLICY_LADDER, 0), "SET_CONFIG refused");
	p = wait_for(&l, k.pid, SEEPAGE_STATE_EXITED);
	need(p, "no alert of one that exited");
	check(num(p, SEEPAGE_A_PREV_STATE) == SEEPAGE_STATE_SUSPECTED, "PREV_STATE");
	check(num(p, SEEPAGE_A_POLICY) == SEEPAGE_POLICY_LADDER, "POLICY");
	check(num(p, SEEPAGE_A_SEVERITY) == 6, "SEVERITY of a suspect's end: %llu",
	      (unsigned long long)num(p, SEEPAGE_A_SEVERITY));
	fresh(&c);
}

/* No new alerts while the ring is compared. */
static void quiet(void)
{
	need(!reset(&c, SEEPAGE_RESET_HISTORY, 0), "RESET refused");
	need(!set_config(&c, SEEPAGE_CFG_ALERT_CONFIDENCE, 100, SEEPAGE_CFG_POLICY,
			 SEEPAGE_POLICY_LADDER, 0), "SET_CONFIG refused");
	need(!reset(&c, SEEPAGE_RESET_HISTORY, 0), "RESET refused");
	msleep(500);
}

/* A name of its own: processes of one name are one subject, with one alert. */
static const char *name(const char *begin)
{
	static char buf[SEEPAGE_COMM_LEN];
	static unsigned int n;

	snprintf(buf, sizeof(buf), "%s%u", begin, n++ % 10000);
	return buf;
}

/* How many of them the module suspects; that is when the alert is there, or held back. */
static unsigned int suspects(const struct kid *k, unsigned int kids)
{
	unsigned int i, n = 0;
	struct conn own;
	struct copy m;

	conn_open(&own);
	for (i = 0; i < kids; i++)
		n += !get_proc(&own, k[i].pid, &m) &&
		     num(&m.p, SEEPAGE_A_STATE) == SEEPAGE_STATE_SUSPECTED;
	conn_close(&own);
	return n;
}

/* How many of them have an alert of @state in the ring. */
static unsigned int alerts_on(const struct kid *k, unsigned int kids, int state)
{
	unsigned int i, n = 0;
	struct conn own;
	struct alerts l;

	conn_open(&own);
	get_alerts(&own, false, 0, &l);
	for (i = 0; i < kids; i++)
		n += !!find(&l, k[i].pid, state);
	conn_close(&own);
	return n;
}

/*
 * n processes are suspected and end: two alerts each, but for limits. A slow guest raises them
 * late: ten seconds at most. This process may have an alert as well, and is not counted.
 */
static void crowd_of_alerts(unsigned int n)
{
	unsigned int i, kids, tries, told;
	struct kid k[50];

	for (; n; n -= kids) {
		kids = n < ARRAY_SIZE(k) ? n : ARRAY_SIZE(k);
		for (i = 0; i < kids; i++)
			kid_start(&k[i], 2 * MB, 40 * MB, name("crowd"), 0);
		for (tries = 0; tries < 100 && suspects(k, kids) < kids; tries++)
			msleep(100);
		told = alerts_on(k, kids, SEEPAGE_STATE_SUSPECTED);
		for (i = 0; i < kids; i++)
			kid_end(&k[i]);
		msleep(300);
		for (tries = 0; tries < 100; tries++) {
			if (alerts_on(k, kids, SEEPAGE_STATE_EXITED) >= told)
				break;
			msleep(100);
		}
	}
}

static void since(void)
{
	struct alerts l;
	struct copy st;
	uint64_t first, last;

	conn_open(&c);
	provoke();
	crowd_of_alerts(20);
	quiet();
	get_status(&c, &st);
	first = num(&st.p, SEEPAGE_A_SEQ_FIRST);
	last = num(&st.p, SEEPAGE_A_SEQ_LAST);
	need(first && last >= first + 20, "alerts %llu to %llu", (unsigned long long)first,
	     (unsigned long long)last);
	get_alerts(&c, false, 0, &l);
	contiguous(&l, first, last);
	get_alerts(&c, true, 0, &l);
	contiguous(&l, first, last);
	get_alerts(&c, true, 1, &l);
	contiguous(&l, first, last);
	get_alerts(&c, true, first, &l);
	contiguous(&l, first, last);
	get_alerts(&c, true, first + 10, &l);
	contiguous(&l, first + 10, last);
	get_alerts(&c, true, last, &l);
	contiguous(&l, last, last);
	get_alerts(&c, true, last + 1, &l);
	check(!l.n, "%u alerts from beyond the last", l.n);
	get_alerts(&c, true, 1ULL << 63, &l);
	check(!l.n, "%u alerts from 2^63", l.n);
	get_alerts(&c, true, ~0ULL, &l);
	check(!l.n, "%u alerts from 2^64 - 1", l.n);
	fresh(&c);
}

/* More alerts than the ring holds: the oldest fall out, and it is counted. */
static void overwritten(void)
{
	uint64_t first, last, lost;
	struct alerts l;
	struct copy st;

	conn_open(&c);
	provoke();
	lost = counter(&c, SEEPAGE_COUNTER_ALERTS_OVERWRITTEN);
	first = status_num(&c, SEEPAGE_A_SEQ_LAST);
	crowd_of_alerts(RING / 2 + 60);
	quiet();
	get_status(&c, &st);
	lost = keyed(&st.p, SEEPAGE_A_COUNTERS, SEEPAGE_COUNTER_ALERTS_OVERWRITTEN) - lost;
	last = num(&st.p, SEEPAGE_A_SEQ_LAST);
	check(num(&st.p, SEEPAGE_A_SEQ_FIRST) == last - RING + 1, "the ring holds %llu to %llu",
	      (unsigned long long)num(&st.p, SEEPAGE_A_SEQ_FIRST), (unsigned long long)last);
	check(lost > 0 && (!first || lost <= last), "%llu overwritten",
	      (unsigned long long)lost);
	get_alerts(&c, true, 1, &l);
	contiguous(&l, last - RING + 1, last);
	conn_close(&c);
	conn_open_small(&c);
	get_alerts(&c, true, last - 100, &l);
	contiguous(&l, last - 100, last);
	fresh(&c);
}

/* RESET empties the ring; numbers go on. */
static void after_reset(void)
{
	struct alerts l;
	struct copy st;
	uint64_t last;

	conn_open(&c);
	provoke();
	crowd_of_alerts(3);
	last = status_num(&c, SEEPAGE_A_SEQ_LAST);
	need(last, "no alerts");
	quiet();
	last = status_num(&c, SEEPAGE_A_SEQ_LAST);
	need(!reset(&c, SEEPAGE_RESET_ALERTS, 0), "RESET refused");
	get_status(&c, &st);
	check(!num(&st.p, SEEPAGE_A_SEQ_FIRST), "the ring is not empty");
	check(num(&st.p, SEEPAGE_A_SEQ_LAST) == last, "SEQ_LAST: %llu, not %llu",
	      (unsigned long long)num(&st.p, SEEPAGE_A_SEQ_LAST), (unsigned long long)last);
	get_alerts(&c, false, 0, &l);
	check(!l.n, "%u alerts after RESET", l.n);
	provoke();
	crowd_of_alerts(1);
	get_alerts(&c, false, 0, &l);
	need(l.n, "no alerts");
	check(num(&l.m[0].p, SEEPAGE_A_SEQ) == last + 1, "number %llu after %llu",
	      (unsigned long long)num(&l.m[0].p, SEEPAGE_A_SEQ), (unsigned long long)last);
	fresh(&c);
}

/* alerts_per_minute holds back, and it is counted; alert_interval_s likewise. */
static void limited(void)
{
	uint64_t before, held;

	conn_open(&c);
	provoke();
	set_config(&c, SEEPAGE_CFG_ALERTS_PER_MINUTE, 1, 0);
	before = counter(&c, SEEPAGE_COUNTER_ALERTS);
	held = counter(&c, SEEPAGE_COUNTER_ALERTS_SUPPRESSED);
	crowd_of_alerts(10);
	held = counter(&c, SEEPAGE_COUNTER_ALERTS_SUPPRESSED) - held;
	before = counter(&c, SEEPAGE_COUNTER_ALERTS) - before;
	check(held >= 9, "%llu held back of 10", (unsigned long long)held);
	check(before <= 3, "%llu alerts although one a minute is allowed",
	      (unsigned long long)before);
	fresh(&c);
}

/* That an alert is over is told of all, be they ok for long when the limit allows it. */
static void held_ends(void)
{
	struct kid k[5];
	struct alerts l;
	unsigned int i;
	uint64_t held;

	conn_open(&c);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		kid_start(&k[i], 4 * MB, 100 * MB, name("held"), 0);
	provoke();
	for (i = 0; i < ARRAY_SIZE(k); i++)
		need(wait_for(&l, k[i].pid, SEEPAGE_STATE_SUSPECTED), "no alert of suspect %u", i);
	held = counter(&c, SEEPAGE_COUNTER_ALERTS_SUPPRESSED);
	need(!set_config(&c, SEEPAGE_CFG_POLICY, SEEPAGE_POLICY_LADDER,
			 SEEPAGE_CFG_ALERTS_PER_MINUTE, 1, 0), "SET_CONFIG refused");
	msleep(1500);
	held = counter(&c, SEEPAGE_COUNTER_ALERTS_SUPPRESSED) - held;
	/* one may be told; what else runs here may be under alert as well */
	check(held >= ARRAY_SIZE(k) - 1, "%llu held back of %zu", (unsigned long long)held,
	      ARRAY_SIZE(k));
	need(!set_config(&c, SEEPAGE_CFG_ALERTS_PER_MINUTE, 100000, 0), "SET_CONFIG refused");
	for (i = 0; i < ARRAY_SIZE(k); i++)
		check(wait_for(&l, k[i].pid, SEEPAGE_STATE_RECOVERED), "%u never recovered", i);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		kid_end(&k[i]);
	msleep(500);
	get_alerts(&c, false, 0, &l);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		check(!find(&l, k[i].pid, SEEPAGE_STATE_EXITED), "an end that was told already");
	fresh(&c);
}

/* What a process is, told for the alert with number @seq; 0: for any */
static int identify(pid_t pid, uint64_t seq, const char *exe)
{
	static char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_FACTS, 0);
	struct nlattr *nest;
	struct answer a;

	mnl_attr_put_u32(nlh, SEEPAGE_A_PID, pid);
	if (seq)
		mnl_attr_put_u64(nlh, SEEPAGE_A_SINCE_SEQ, seq);
	nest = mnl_attr_nest_start(nlh, SEEPAGE_A_IDENTITY);
	mnl_attr_put_strz(nlh, SEEPAGE_IDENTITY_A_EXE, exe);
	mnl_attr_put_strz(nlh, SEEPAGE_IDENTITY_A_CMDLINE, exe);
	mnl_attr_put_strz(nlh, SEEPAGE_IDENTITY_A_CGROUP, "/");
	mnl_attr_put_strz(nlh, SEEPAGE_IDENTITY_A_PARENT, "nltest");
	mnl_attr_put_u32(nlh, SEEPAGE_IDENTITY_A_PPID, getpid());
	mnl_attr_nest_end(nlh, nest);
	return ask(&c, nlh, &a, NULL, NULL);
}

/*
 * An identity that was read for the alert of one process is refused for another one, as it
 * would be if that had the pid by now.
 */
static void identified(void)
{
	struct kid early, late;
	const struct parsed *p;
	struct alerts l;
	uint64_t seq;

	conn_open(&c);
	kid_start(&early, 4 * MB, 100 * MB, "early", 0);
	kid_start(&late, 4 * MB, 100 * MB, "late", 0);
	provoke();
	p = wait_for(&l, early.pid, SEEPAGE_STATE_SUSPECTED);
	need(p, "no alert of a suspect");
	seq = num(p, SEEPAGE_A_SEQ);
	p = wait_for(&l, late.pid, SEEPAGE_STATE_SUSPECTED);
	need(p, "no alert of the other suspect");
	check(identify(late.pid, seq, "early") == -ESRCH, "the identity of another one is taken");
	check(identify(late.pid, 1ULL << 40, "none") == -ESRCH, "that for no alert is taken");
	p = wait_for(&l, late.pid, SEEPAGE_STATE_SUSPECTED);
	check(!has(p, SEEPAGE_A_IDENTITY), "an identity that was refused is kept");
	check(!identify(late.pid, num(p, SEEPAGE_A_SEQ), "late"), "its own identity is refused");
	p = wait_for(&l, late.pid, SEEPAGE_STATE_SUSPECTED);
	check(has(p, SEEPAGE_A_IDENTITY), "its own identity is not kept");
	check(!identify(early.pid, 0, "early"), "an identity without SINCE_SEQ is refused");
	kid_end(&early);
	kid_end(&late);
	fresh(&c);
}

/* ---- groups ---- */

struct heard {
	unsigned int n;
	struct {
		uint64_t seq;
		unsigned int len;
		char attrs[4096];
	} m[128];
};

static bool on_alert(const struct nlmsghdr *nlh, void *data)
{
	struct heard *h = data;
	struct parsed p;

	parse(nlh, AN_ALERT, &p);
	check(!nlh->nlmsg_seq && !nlh->nlmsg_pid, "a multicast as an answer");
	need(h->n < ARRAY_SIZE(h->m), "too many alerts");
	h->m[h->n].seq = num(&p, SEEPAGE_A_SEQ);
	h->m[h->n].len = nlh->nlmsg_len - MNL_NLMSG_HDRLEN - sizeof(struct genlmsghdr);
	need(h->m[h->n].len <= sizeof(h->m[0].attrs), "a large alert");
	memcpy(h->m[h->n].attrs, (char *)mnl_nlmsg_get_payload(nlh) + sizeof(struct genlmsghdr),
	       h->m[h->n].len);
	h->n++;
	return false;
}

/* What the group is told is what the ring holds, byte by byte. */
static void group_alert(void)
{
	static struct heard h;
	struct nlmsghdr *nlh;
	struct alerts l;
	struct conn ear;
	unsigned int i;
	uint64_t next;
	char *attrs;
	size_t len;

	conn_open(&c);
	conn_open(&ear);
	provoke();
	quiet();
	need(!reset(&c, SEEPAGE_RESET_ALERTS, 0), "RESET refused");
	need(!conn_join(&ear, GROUP_ALERT), "join: %s", strerror(errno));
	provoke();
	crowd_of_alerts(10);
	quiet();
	conn_listen(&ear, 1000, on_alert, &h);
	get_alerts(&c, false, 0, &l);
	check(h.n == l.n && h.n >= 20, "%u alerts heard, %u in the ring", h.n, l.n);
	if (h.n < 20)
		print_alerts(&l);
	next = h.n ? h.m[0].seq : 0;
	for (i = 0; i < h.n && i < l.n; i++) {
		check(h.m[i].seq == next + i, "heard number %llu after %llu",
		      (unsigned long long)h.m[i].seq, (unsigned long long)next + i - 1);
		nlh = (void *)l.m[i].buf;
		attrs = (char *)mnl_nlmsg_get_payload(nlh) + sizeof(struct genlmsghdr);
		len = nlh->nlmsg_len - MNL_NLMSG_HDRLEN - sizeof(struct genlmsghdr);
		check(len == h.m[i].len && !memcmp(attrs, h.m[i].attrs, len),
		      "alert %llu was told otherwise than it is kept",
		      (unsigned long long)h.m[i].seq);
	}
	conn_close(&ear);
	fresh(&c);
}

struct samples {
	pid_t busy, idle;
	unsigned int n, busy_n, idle_n;
	uint64_t anon;
};

static bool on_sample(const struct nlmsghdr *nlh, void *data)
{
	struct samples *s = data;
	struct parsed p;
	pid_t pid;

	parse(nlh, PROC_SAMPLE, &p);
	check(!nlh->nlmsg_seq && !nlh->nlmsg_pid, "a multicast as an answer");
	pid = num(&p, SEEPAGE_A_PID);
	s->n++;
	s->idle_n += pid == s->idle;
	if (pid == s->busy) {
		s->busy_n++;
		s->anon = num(&p, SEEPAGE_A_ANON_BYTES);
	}
	return false;
}

static void group_sample(void)
{
	struct kid busy, idle;
	struct samples s = { 0 };
	struct conn ear;
	uint64_t passes;
	struct copy st;
	int i;

	conn_open(&c);
	conn_open(&ear);
	quick(&c, 200);
	kid_start(&busy, MB, 0, "busy", 0);
	kid_start(&idle, MB, 0, "idle", 0);
	msleep(1000);
	s.busy = busy.pid;
	s.idle = idle.pid;
	get_status(&c, &st);
	passes = num(&st.p, SEEPAGE_A_TICKS);
	need(!conn_join(&ear, GROUP_SAMPLE), "join: %s", strerror(errno));
	for (i = 0; i < 5; i++) {
		kid_ask(&busy, '+', MB);
		conn_listen(&ear, 400, on_sample, &s);
	}
	get_status(&c, &st);
	/* Its memory grows for as long as the host takes: a sample each pass then, and no more. */
	passes = num(&st.p, SEEPAGE_A_TICKS) - passes;
	check(s.busy_n >= 4 && s.busy_n <= passes + 1,
	      "%u samples in %llu passes of one that changed 5 times", s.busy_n,
	      (unsigned long long)passes);
	check(!s.idle_n, "%u samples of one that did not change", s.idle_n);
	check(s.anon >= 5 * MB, "ANON_BYTES: %llu", (unsigned long long)s.anon);
	/* nobody listens any more */
	need(!mnl_socket_setsockopt(ear.nl, NETLINK_DROP_MEMBERSHIP, &ear.group[GROUP_SAMPLE],
				    sizeof(uint32_t)), "leave: %s", strerror(errno));
	conn_listen(&ear, 300, on_sample, &s);
	s.n = 0;
	kid_ask(&busy, '+', MB);
	conn_listen(&ear, 600, on_sample, &s);
	check(!s.n, "samples after leaving the group");
	kid_end(&busy);
	kid_end(&idle);
	fresh(&c);
}

/* A listener that does not read: counted, and the ring has what it missed. */
static void overrun(void)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct alerts l;
	struct copy st;
	struct conn ear;
	int size = 1, one = 1, overruns = 0, i;
	uint64_t failed;
	ssize_t n;

	conn_open(&c);
	conn_open(&ear);
	provoke();
	failed = counter(&c, SEEPAGE_COUNTER_NOTIFY_FAILED);
	setsockopt(mnl_socket_get_fd(ear.nl), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	/* else the kernel keeps it from the sender */
	need(!mnl_socket_setsockopt(ear.nl, NETLINK_BROADCAST_ERROR, &one, sizeof(one)),
	     "NETLINK_BROADCAST_ERROR: %s", strerror(errno));
	need(!conn_join(&ear, GROUP_ALERT), "join: %s", strerror(errno));
	crowd_of_alerts(20);
	quiet();
	failed = counter(&c, SEEPAGE_COUNTER_NOTIFY_FAILED) - failed;
	check(failed >= 10, "NOTIFY_FAILED: %llu", (unsigned long long)failed);
	for (i = 0; i < 10 && !overruns; i++) {
		n = recv(mnl_socket_get_fd(ear.nl), buf, sizeof(buf), MSG_DONTWAIT);
		overruns += n < 0 && errno == ENOBUFS;
	}
	check(overruns, "no ENOBUFS");
	/* how many there are is up to the speed of the machine: a group may be told of instead */
	get_status(&c, &st);
	get_alerts(&ear, false, 0, &l);
	check(l.n >= 20, "%u alerts in the ring", l.n);
	contiguous(&l, num(&st.p, SEEPAGE_A_SEQ_FIRST), num(&st.p, SEEPAGE_A_SEQ_LAST));
	fresh(&c);
}

/*
 * A reader in a pid namespace: what it cannot see has no number there, and a
 * value that is not known is left out.
 */
static void in_pidns(void)
{
	struct alerts l;
	unsigned int i;
	int status;
	pid_t pid;

	conn_open(&c);
	provoke();
	crowd_of_alerts(3);
	need(!unshare(CLONE_NEWPID), "unshare: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		conn_open(&c);
		reader_has_pidns = true;
		get_alerts(&c, false, 0, &l);
		check(l.n >= 6, "%u alerts", l.n);
		for (i = 0; i < l.n; i++)
			check(!has(&l.m[i].p, SEEPAGE_A_PID), "PID %llu of a process outside",
			      (unsigned long long)num(&l.m[i].p, SEEPAGE_A_PID));
		_exit(failures() ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && !WEXITSTATUS(status), "see above");
	fresh(&c);
}

const struct test tests_alert[] = {
	{ "alert-life", life },
	{ "alert-end-matters", end_matters },
	{ "alert-since", since },
	{ "alert-overwritten", overwritten },
	{ "alert-reset", after_reset },
	{ "alert-limited", limited },
	{ "alert-held-ends", held_ends },
	{ "alert-identified", identified },
	{ "alert-group", group_alert },
	{ "alert-overrun", overrun },
	{ "alert-in-pidns", in_pidns },
	{ "sample-group", group_sample },
	{ NULL, NULL }
};
