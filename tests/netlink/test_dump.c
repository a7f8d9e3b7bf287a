// SPDX-License-Identifier: GPL-2.0
/* Dumps of GET_PROC: filters, and each process exactly once while others start and exit. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nltest.h"

#define MB	(1UL << 20)
#define CROWD	300
#define NOBODY	65534

static struct conn c;
static struct answer a;
static pid_t crowd[CROWD];

static unsigned int count_crowd(const struct seen *s, unsigned int n)
{
	unsigned int i, there = 0;

	for (i = 0; i < n; i++)
		there += !!s->n[crowd[i]];
	return there;
}

static unsigned int twice_crowd(const struct seen *s, unsigned int n)
{
	unsigned int i, twice = 0;

	for (i = 0; i < n; i++)
		twice += s->n[crowd[i]] > 1;
	return twice;
}

/* ---- filters ---- */

static void is_kid(const struct parsed *p, void *data)
{
	const struct filter *f = data;

	if (f->comm)
		check(!strcmp(str(p, SEEPAGE_A_COMM), f->comm), "a process '%s'",
		      str(p, SEEPAGE_A_COMM));
	if (f->by_uid)
		check(num(p, SEEPAGE_A_UID) == f->uid, "a process of uid %llu",
		      (unsigned long long)num(p, SEEPAGE_A_UID));
	if (f->by_states)
		check(f->states >> num(p, SEEPAGE_A_STATE) & 1, "a process in state %llu",
		      (unsigned long long)num(p, SEEPAGE_A_STATE));
	if (f->by_confidence)
		check(num(p, SEEPAGE_A_CONFIDENCE) >= f->confidence,
		      "a process of confidence %llu",
		      (unsigned long long)num(p, SEEPAGE_A_CONFIDENCE));
}

static struct seen *filtered(struct filter f)
{
	return dump(&c, &f, &a, is_kid, &f);
}

static void filters(void)
{
	const struct filter all_of_them = {
		.by_uid = true, .uid = NOBODY, .by_confidence = true, .confidence = 20,
		.comm = "fbig", .by_states = true, .states = 1 << SEEPAGE_STATE_SUSPECTED,
	};
	struct kid mine, other, big;
	struct seen *s;
	unsigned int all, ok;

	conn_open(&c);
	fresh(&c);
	set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100,
		   SEEPAGE_CFG_MAX_CPU_PERMILLE, 1000, SEEPAGE_CFG_POLICY,
		   SEEPAGE_POLICY_CLASSIC, SEEPAGE_CFG_WARMUP_S, 0,
		   SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 8, SEEPAGE_CFG_ALERT_CONFIDENCE, 20, 0);
	kid_start(&mine, MB, 0, "fmine", 0);
	kid_start(&other, MB, 0, "fother", NOBODY);
	kid_start(&big, 10 * MB, 200 * MB, "fbig", NOBODY);
	msleep(1000);
	wait_accused(&c, big.pid);

	s = filtered((struct filter){ 0 });
	all = s->total;
	check(s->n[mine.pid] == 1 && s->n[other.pid] == 1 && s->n[big.pid] == 1,
	      "no filter: a child is missing");
	s = filtered((struct filter){ .pid = other.pid });
	check(s->total == 1 && s->n[other.pid] == 1, "PID: %u processes", s->total);
	s = filtered((struct filter){ .pid = other.pid, .comm = "fbig" });
	check(!s->total, "PID and another's comm: %u processes", s->total);
	s = filtered((struct filter){ .pid = PID_LIMIT - 1 });
	check(!s->total, "PID of nobody: %u processes", s->total);
	s = filtered((struct filter){ .comm = "fother" });
	check(s->total == 1 && s->n[other.pid] == 1, "FILTER_COMM: %u processes", s->total);
	s = filtered((struct filter){ .comm = "fothe" });
	check(!s->total, "FILTER_COMM takes a beginning for the whole");
	s = filtered((struct filter){ .comm = "" });
	check(!s->total, "FILTER_COMM of an empty name: %u processes", s->total);
	s = filtered((struct filter){ .by_uid = true, .uid = NOBODY });
	check(s->total == 2 && s->n[other.pid] == 1 && s->n[big.pid] == 1,
	      "FILTER_UID: %u processes", s->total);
	s = filtered((struct filter){ .by_uid = true, .uid = 0 });
	check(s->total == all - 2 && s->n[mine.pid] == 1, "FILTER_UID 0: %u of %u processes",
	      s->total, all);
	s = filtered((struct filter){ .by_uid = true, .uid = 0xffffffff });
	check(!s->total, "FILTER_UID of nobody at all: %u processes", s->total);

	s = filtered((struct filter){ .by_states = true, .states = 1 << SEEPAGE_STATE_SUSPECTED });
	check(s->n[big.pid] == 1, "FILTER_STATES: the suspect is missing");
	check(!s->n[mine.pid], "FILTER_STATES: one too many");
	s = filtered((struct filter){ .by_states = true, .states = 1 << SEEPAGE_STATE_OK });
	ok = s->total;
	check(!s->n[big.pid] && s->n[mine.pid] == 1, "FILTER_STATES: ok is not what is ok");
	s = filtered((struct filter){ .by_states = true, .states = 0x7f });
	check(s->total == all, "FILTER_STATES of all: %u of %u", s->total, all);
	s = filtered((struct filter){ .by_states = true, .states = 0x7e });
	check(s->total == all - ok, "FILTER_STATES of all but ok: %u of %u", s->total, all);
	s = filtered((struct filter){ .by_states = true, .states = 0 });
	check(!s->total, "FILTER_STATES of none: %u", s->total);

	s = filtered((struct filter){ .by_confidence = true, .confidence = 20 });
	check(s->n[big.pid] == 1 && !s->n[mine.pid], "FILTER_MIN_CONFIDENCE 20");
	s = filtered((struct filter){ .by_confidence = true, .confidence = 0 });
	check(s->total == all, "FILTER_MIN_CONFIDENCE 0: %u of %u", s->total, all);
	s = filtered((struct filter){ .by_confidence = true, .confidence = 100 });
	/* on a busy machine the big one may have all points */
	check(!s->n[mine.pid], "FILTER_MIN_CONFIDENCE 100");

	s = filtered(all_of_them);
	check(s->total == 1 && s->n[big.pid] == 1, "all filters: %u processes", s->total);
	s = filtered((struct filter){ .by_uid = true, .uid = 0, .comm = "fbig" });
	check(!s->total, "filters are or, not and");
	kid_end(&mine);
	kid_end(&other);
	kid_end(&big);
	fresh(&c);
}

/* ---- size ---- */

static void many(void)
{
	struct seen *s;

	conn_open(&c);
	kids_start(crowd, CROWD);
	s = dump(&c, NULL, &a, NULL, NULL);
	check(a.datagrams > 3, "%u processes in %u datagrams", s->total, a.datagrams);
	check(!s->twice, "%u processes twice", s->twice);
	check(count_crowd(s, CROWD) == CROWD, "%u of %u there", count_crowd(s, CROWD), CROWD);
	conn_close(&c);
	conn_open_small(&c);
	s = dump(&c, NULL, &a, NULL, NULL);
	check(a.datagrams > 15, "%u processes in %u datagrams of 4 kB", s->total, a.datagrams);
	check(!s->twice, "%u processes twice, 4 kB at a time", s->twice);
	check(count_crowd(s, CROWD) == CROWD, "%u of %u there, 4 kB at a time",
	      count_crowd(s, CROWD), CROWD);
	kids_end(crowd, CROWD);
}

/* A slow reader with a small socket buffer, which signals interrupt. */
static void on_alarm(int sig)
{
	(void)sig;
}

static void slow(void)
{
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = on_alarm };
	struct seen *s;
	int size = 1;

	conn_open_small(&c);
	kids_start(crowd, CROWD);
	setsockopt(mnl_socket_get_fd(c.nl), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	c.pause_us = 5000;
	sigaction(SIGVTALRM, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	s = dump(&c, NULL, &a, NULL, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	check(!s->twice, "%u processes twice", s->twice);
	check(count_crowd(s, CROWD) == CROWD, "%u of %u there", count_crowd(s, CROWD), CROWD);
	kids_end(crowd, CROWD);
}

/* ---- consistency ---- */

static void churned(enum churn how, unsigned int ms)
{
	unsigned int dumps = 0, datagrams = 0;
	uint64_t end, births, happened = 0;
	struct seen *s;
	pid_t group;

	conn_open_small(&c);
	kids_start(crowd, CROWD);
	births = counter(&c, SEEPAGE_COUNTER_BIRTHS);
	group = churn_start(how, 4);
	c.pause_us = 300;
	execs_go_on = how == CHURN_EXEC;
	/* longer on a busy machine, where little happens in a while */
	for (end = now_ms() + ms; now_ms() < end || (now_ms() < end + 10 * ms && happened < 150);
	     dumps++) {
		s = dump(&c, NULL, &a, NULL, NULL);
		happened = counter(&c, SEEPAGE_COUNTER_BIRTHS) - births;
		datagrams += a.datagrams;
		check(!s->twice, "dump %u: %u processes twice", dumps,
		      s->twice);
		check(!twice_crowd(s, CROWD), "dump %u: %u that stand still twice", dumps,
		      twice_crowd(s, CROWD));
		check(count_crowd(s, CROWD) == CROWD, "dump %u: %u of %u there", dumps,
		      count_crowd(s, CROWD), CROWD);
	}
	churn_end(group);
	births = counter(&c, SEEPAGE_COUNTER_BIRTHS) - births;
	note("%u dumps of %u datagrams, %llu births meanwhile", dumps, datagrams / dumps,
	     (unsigned long long)births);
	check(dumps > 2 && births > 100, "too little happened to tell");
	check(!counter(&c, SEEPAGE_COUNTER_INVARIANTS_BROKEN), "an invariant is broken");
	kids_end(crowd, CROWD);
}

static void churn_forks(void)
{
	churned(CHURN_FORK, 8000);
}

/* The process executes programs during the dumps. Its pid stays, so each dump has it once. */
static void churn_execs(void)
{
	churned(CHURN_EXEC, 8000);
}

/* Processes that execute something else during the dump, but never end. */
static void exec_once(void)
{
	unsigned int i, missed = 0, twice = 0, round;
	struct seen *s;
	pid_t group;

	conn_open_small(&c);
	for (i = 0; i < 8; i++) {
		crowd[i] = fork();
		if (!crowd[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/proc/self/exe", "nltest", "--exec-churn", "100000", NULL);
			_exit(1);
		}
	}
	kids_start(crowd + 8, CROWD - 8);
	group = churn_start(CHURN_FORK, 1);
	c.pause_us = 300;
	execs_go_on = true;
	for (round = 0; round < 40; round++) {
		s = dump(&c, NULL, &a, NULL, NULL);
		for (i = 0; i < 8; i++) {
			missed += !s->n[crowd[i]];
			twice += s->n[crowd[i]] > 1;
		}
	}
	churn_end(group);
	kids_end(crowd, CROWD);
	check(!missed && !twice,
	      "of 8 processes that exec, in 40 dumps %u were missed and %u told twice",
	      missed, twice);
	check(!nameless, "%u times the UID or CGROUP_ID of a living process was left out",
	      nameless);
}

/* The dump is begun and left: the module must not stay busy. */
static void abandon(void)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	int i, rc;

	kids_start(crowd, CROWD);
	for (i = 0; i < 20; i++) {
		conn_open_small(&c);
		conn_send(&c, request(&c, buf, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP));
		if (i & 1)
			check(mnl_socket_recvfrom(c.nl, buf, sizeof(buf)) > 0, "nothing to read");
		conn_close(&c);
	}
	/* one that another process closes by dying */
	if (!fork()) {
		conn_open_small(&c);
		conn_send(&c, request(&c, buf, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP));
		raise(SIGKILL);
	}
	wait(NULL);
	/* and one that stays */
	conn_open_small(&c);
	conn_send(&c, request(&c, buf, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP));
	check(mnl_socket_recvfrom(c.nl, buf, sizeof(buf)) > 0, "nothing to read");
	rc = run("rmmod seepage 2>/dev/null");
	check(rc, "the module can be unloaded in the middle of a dump");
	conn_close(&c);
	rc = run("rmmod seepage");
	check(!rc, "rmmod after all dumps were left");
	if (!rc)
		check(!run("insmod \"$SEEPAGE_KO\""), "insmod");
	kids_end(crowd, CROWD);
}

const struct test tests_dump[] = {
	{ "dump-filters", filters },
	{ "dump-many", many },
	{ "dump-slow", slow },
	{ "dump-churn-fork", churn_forks },
	{ "dump-churn-exec", churn_execs },
	{ "dump-exec", exec_once },
	{ "dump-abandon", abandon },
	{ NULL, NULL }
};
