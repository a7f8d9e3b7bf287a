// SPDX-License-Identifier: GPL-2.0
/* Dumpers, writers, listeners, and processes that start and exit, all at once. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nltest.h"

#define SECONDS		10	/* slowness() times */
#define DUMPERS		8
#define WRITERS		4
#define LISTENERS	2
#define CROWD		60

static struct conn c;
static pid_t crowd[CROWD];

/* Either may be called in a child of its own, and ends with it. */
static void dumper(unsigned int nr, uint64_t end)
{
	struct answer a;
	struct alerts l;
	struct seen *s;
	unsigned int i, n = 0;

	if (nr & 1)
		conn_open_small(&c);
	else
		conn_open(&c);
	while (now_ms() < end) {
		s = dump(&c, NULL, &a, NULL, NULL);
		check(!s->twice, "%u processes twice", s->twice);
		for (i = 0; i < CROWD; i++)
			check(s->n[crowd[i]] == 1, "process %d is there %u times", crowd[i],
			      s->n[crowd[i]]);
		get_alerts(&c, false, 0, &l);
		for (i = 1; i < l.n; i++)
			check(num(&l.m[i].p, SEEPAGE_A_SEQ) > num(&l.m[i - 1].p, SEEPAGE_A_SEQ),
			      "alerts out of order");
		free(l.m);
		n++;
	}
	check(n > 1, "no complete dump in %u s", SECONDS * slowness());
}

/* warning and critical are always written as a pair (n, n + 1). */
static void writer(unsigned int nr, uint64_t end)
{
	uint32_t n = 1000 * (nr + 1);
	struct copy m;
	int rc;

	conn_open(&c);
	while (now_ms() < end) {
		n++;
		rc = set_config(&c, SEEPAGE_CFG_FAULT_RATE_CRITICAL, n + 1,
				SEEPAGE_CFG_FAULT_RATE_WARNING, n,
				SEEPAGE_CFG_ALERT_CONFIDENCE, n % 50,
				SEEPAGE_CFG_POLICY, n / 8 % 2, 0);
		check(!rc, "SET_CONFIG: %s", strerror(-rc));
		/* the pair is refused unless it is looked at as a whole */
		rc = set_config(&c, SEEPAGE_CFG_FAULT_RATE_CRITICAL, n - 1,
				SEEPAGE_CFG_FAULT_RATE_WARNING, n, 0);
		check(rc == -EINVAL, "a contradiction: %s", rc ? strerror(-rc) : "taken");
		check(!reset(&c, 1 + n % 7, 0), "RESET");
		get_proc(&c, crowd[n % CROWD], &m);
		get_status(&c, &m);
	}
}

static void reader(unsigned int nr, uint64_t end)
{
	uint32_t v[__SEEPAGE_CFG_MAX], last = 0;
	unsigned int changes = 0;

	(void)nr;
	conn_open(&c);
	while (now_ms() < end) {
		get_config(&c, v);
		check(v[SEEPAGE_CFG_FAULT_RATE_WARNING] + 1 == v[SEEPAGE_CFG_FAULT_RATE_CRITICAL],
		      "half of a change: warning %u, critical %u",
		      v[SEEPAGE_CFG_FAULT_RATE_WARNING], v[SEEPAGE_CFG_FAULT_RATE_CRITICAL]);
		changes += v[SEEPAGE_CFG_FAULT_RATE_WARNING] != last;
		last = v[SEEPAGE_CFG_FAULT_RATE_WARNING];
	}
	note("%u changes of configuration seen", changes);
	check(changes > 10, "too little happened to tell");
}

/* Listeners are told of those that changed: without it there may be none. */
static void grower(unsigned int nr, uint64_t end)
{
	const size_t step = 64 << 10;
	char *more;

	(void)nr;
	while (now_ms() < end) {
		more = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		need(more != MAP_FAILED, "mmap");
		memset(more, 1, step);
		msleep(50);
	}
}

static bool ignore(const struct nlmsghdr *nlh, void *data)
{
	enum kind what = ((struct genlmsghdr *)mnl_nlmsg_get_payload(nlh))->cmd ==
			 SEEPAGE_CMD_ALERT ? AN_ALERT : PROC_SAMPLE;
	struct parsed p;

	parse(nlh, what, &p);
	++*(unsigned int *)data;
	return false;
}

/*
 * They join before the others begin: in 5.10 that waits for a moment in which nobody
 * at all has a request under way (genl_bind() writes cb_lock, which every request
 * reads, and readers overtake), and under this load none comes.
 */
static volatile bool *joined;		/* shared with them */

static void listener(unsigned int nr, uint64_t end)
{
	unsigned int n = 0;
	int size = 4 << 20;

	conn_open(&c);
	setsockopt(mnl_socket_get_fd(c.nl), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	check(!conn_join(&c, GROUP_ALERT) && !conn_join(&c, GROUP_SAMPLE), "join");
	joined[nr] = true;
	conn_listen(&c, end - now_ms(), ignore, &n);
	check(n, "heard nothing");
}

static pid_t start(void (*f)(unsigned int nr, uint64_t end), unsigned int nr, uint64_t end)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		f(nr, end);
		_exit(failures() ? 1 : 0);
	}
	return pid;
}

static void stress(void)
{
	uint64_t end = now_ms() + SECONDS * slowness() * 1000;
	pid_t worker[DUMPERS + WRITERS + LISTENERS + 2], group;
	unsigned int i, n = 0;
	int status;

	joined = mmap(NULL, LISTENERS * sizeof(*joined), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(joined != MAP_FAILED, "mmap");
	conn_open(&c);
	fresh(&c);
	need(!set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100,
			 SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100,
			 SEEPAGE_CFG_MAX_CPU_PERMILLE, 1000, SEEPAGE_CFG_WARMUP_S, 0,
			 SEEPAGE_CFG_FAULT_RATE_WARNING, 1, SEEPAGE_CFG_FAULT_RATE_CRITICAL, 2,
			 SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 0, SEEPAGE_CFG_ALERT_INTERVAL_S, 0, 0),
	     "SET_CONFIG refused");
	kids_start(crowd, CROWD);
	group = churn_start(CHURN_FORK, 2);
	for (i = 0; i < LISTENERS; i++)
		worker[n++] = start(listener, i, end);
	for (i = 0; i < LISTENERS; i++)
		while (!joined[i] && now_ms() < end)
			msleep(10);
	for (i = 0; i < DUMPERS; i++)
		worker[n++] = start(dumper, i, end);
	for (i = 0; i < WRITERS; i++)
		worker[n++] = start(writer, i, end);
	worker[n++] = start(reader, 0, end);
	worker[n++] = start(grower, 0, end);
	for (i = 0; i < n; i++) {
		waitpid(worker[i], &status, 0);
		check(WIFEXITED(status) && !WEXITSTATUS(status), "worker %u failed", i);
	}
	churn_end(group);
	kids_end(crowd, CROWD);
	fresh(&c);
	check(!counter(&c, SEEPAGE_COUNTER_INVARIANTS_BROKEN), "an invariant is broken");
}

/* The module is unloaded under all of that, and comes back. */
static volatile bool *over;		/* shared with the victims */

static void victim(unsigned int nr, uint64_t end)
{
	char buf[REQ_SIZE] __attribute__((aligned(8)));
	struct answer a;
	uint64_t begun;

	while (now_ms() < end && !*over) {
		begun = now_ms();
		if (conn_try(&c, 0)) {
			msleep(10);
			continue;
		}
		ask(&c, request(&c, buf, nr & 1 ? SEEPAGE_CMD_GET_PROC : SEEPAGE_CMD_GET_STATUS,
				nr & 1 ? NLM_F_DUMP : 0), &a, NULL, NULL);
		if (nr & 2)
			conn_join(&c, GROUP_SAMPLE);
		conn_close(&c);
		/* on a slow machine a dump would be on whenever the module is to go */
		msleep(10 + now_ms() - begun);
	}
}

static void under_load(void)
{
	uint64_t end = now_ms() + 2 * SECONDS * 1000, late = end + 60000 * slowness();
	unsigned int i, rounds = 0, refusals = 0;
	pid_t worker[4], group;
	int status;

	over = mmap(NULL, sizeof(*over), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(over != MAP_FAILED, "mmap");
	group = churn_start(CHURN_FORK, 1);
	for (i = 0; i < ARRAY_SIZE(worker); i++)
		worker[i] = start(victim, i, late);
	/* longer on a busy machine, where an unload takes seconds */
	while (now_ms() < end || (rounds <= 2 && now_ms() < late)) {
		if (run("rmmod seepage 2>/dev/null")) {
			refusals++;		/* a dump is on */
			msleep(20);
			continue;
		}
		need(!run("insmod \"$SEEPAGE_KO\" sample_interval_ms=100 suspect_interval_ms=100"),
		     "insmod");
		msleep(100);
		rounds++;
	}
	*over = true;
	for (i = 0; i < ARRAY_SIZE(worker); i++) {
		waitpid(worker[i], &status, 0);
		check(WIFEXITED(status) && !WEXITSTATUS(status), "worker %u failed", i);
	}
	churn_end(group);
	note("%u times unloaded and loaded, %u times busy", rounds, refusals);
	check(rounds > 2, "the module could not be unloaded");
	need(!run("rmmod seepage") && !run("insmod \"$SEEPAGE_KO\""), "reload");
}

const struct test tests_stress[] = {
	{ "stress", stress },
	{ "stress-unload", under_load },
	{ NULL, NULL }
};
