// SPDX-License-Identifier: GPL-2.0
/* RESET: each kind alone, together, and what is refused. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "nltest.h"

#define MB	(1UL << 20)

static struct conn c;
static char buf[REQ_SIZE] __attribute__((aligned(8)));

static void fast(void)
{
	quick(&c, 100);
}

static void bad_mask(void)
{
	static const uint32_t mask[] = { 0, 16, 31, 0x80000000, 0xffffffff };
	uint32_t before[__SEEPAGE_CFG_MAX], after[__SEEPAGE_CFG_MAX];
	struct nlmsghdr *nlh;
	unsigned int i;
	char what[32];

	conn_open(&c);
	fast();
	get_config(&c, before);
	for (i = 0; i < ARRAY_SIZE(mask); i++) {
		nlh = request(&c, buf, SEEPAGE_CMD_RESET, 0);
		mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, mask[i]);
		snprintf(what, sizeof(what), "mask %x", mask[i]);
		refused(&c, nlh, -EINVAL, "RESET_WHAT", NULL, what);
	}
	for (i = 2; i <= SEEPAGE_RESET_ALL; i++) {	/* PID: with HISTORY (1) only */
		nlh = request(&c, buf, SEEPAGE_CMD_RESET, 0);
		mnl_attr_put_u32(nlh, SEEPAGE_A_RESET_WHAT, i);
		mnl_attr_put_u32(nlh, SEEPAGE_A_PID, getpid());
		snprintf(what, sizeof(what), "PID with mask %x", i);
		refused(&c, nlh, -EINVAL, "PID", NULL, what);
	}
	get_config(&c, after);
	check(!memcmp(before, after, sizeof(before)), "a refused RESET changed the configuration");
	fresh(&c);
}

static void no_process(void)
{
	int rc;

	conn_open(&c);
	rc = reset(&c, SEEPAGE_RESET_HISTORY, 4194303);
	check(rc == -ESRCH, "no such pid: %s", strerror(-rc));
	rc = reset(&c, SEEPAGE_RESET_HISTORY, 2);
	check(rc == -ESRCH, "a kernel thread: %s", strerror(-rc));
}

static unsigned int levels(pid_t pid)
{
	struct copy m;

	need(!get_proc(&c, pid, &m), "GET_PROC");
	return count_in(&m.p, SEEPAGE_A_HISTORY);
}

/* Are its first three levels those of an interval of 1000 ms? What they are is in @said. */
static bool is_regular(pid_t pid, char *said, size_t size)
{
	unsigned long long epoch, age;
	unsigned int i, n = levels(pid);
	struct copy m;

	snprintf(said, size, "%u levels after 6 samples", n);
	if (n < 3)
		return false;
	need(!get_proc(&c, pid, &m), "GET_PROC");
	for (i = 0; i < 3; i++) {	/* a level has epochs twice as long as the one below */
		epoch = level_ms(&m.p, i, SEEPAGE_LEVEL_A_EPOCH_MS);
		age = level_ms(&m.p, i, SEEPAGE_LEVEL_A_AGE_MS);
		snprintf(said, size, "level %u of 1000 ms: EPOCH_MS %llu, AGE_MS %llu", i, epoch,
			 age);
		if (epoch < 600U << i || epoch > 1600U << i || age > 1600U << i)
			return false;
	}
	return true;
}

static void of_one(void)
{
	struct kid one, other;
	char said[128];
	int tries;

	conn_open(&c);
	fast();
	/* few samples meanwhile; to change the interval would reset histories too */
	need(!set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 1000, 0), "SET_CONFIG refused");
	kid_start(&one, MB, 0, "one", 0);
	kid_start(&other, MB, 0, "other", 0);
	/* The passes of one of six times come when they are due, however busy the host is. */
	for (tries = 0; tries < 6; tries++) {
		need(!tries || !reset(&c, SEEPAGE_RESET_HISTORY, 0), "RESET refused");
		msleep(6500);
		if (is_regular(other.pid, said, sizeof(said)) && levels(one.pid) >= 3)
			break;
	}
	check(tries < 6, "%s, and %u levels of the other one", said, levels(one.pid));
	need(!reset(&c, SEEPAGE_RESET_HISTORY, one.pid), "RESET refused");
	check(levels(one.pid) <= 1, "%u levels after RESET", levels(one.pid));
	check(levels(other.pid) >= 3, "RESET of one process reset another");
	need(!reset(&c, SEEPAGE_RESET_HISTORY, 0), "RESET refused");
	check(levels(other.pid) <= 1, "%u levels after RESET of all", levels(other.pid));
	kid_end(&one);
	kid_end(&other);
	fresh(&c);
}

/* What comes after is a new story: states and verdicts too, and no odd figures. */
static void of_history(void)
{
	struct kid k;
	struct copy m;

	conn_open(&c);
	fast();
	need(!set_config(&c, SEEPAGE_CFG_POLICY, SEEPAGE_POLICY_CLASSIC, SEEPAGE_CFG_WARMUP_S, 0,
			 SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 8, SEEPAGE_CFG_ALERT_CONFIDENCE, 20, 0),
	     "SET_CONFIG refused");
	kid_start(&k, 20 * MB, 200 * MB, "suspect", 0);
	wait_accused(&c, k.pid);
	get_proc(&c, k.pid, &m);
	check(num(&m.p, SEEPAGE_A_STATE) == SEEPAGE_STATE_SUSPECTED, "state %llu",
	      (unsigned long long)num(&m.p, SEEPAGE_A_STATE));
	need(!set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000,
			 SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 3600000, 0), "SET_CONFIG refused");
	msleep(500);
	need(!reset(&c, SEEPAGE_RESET_HISTORY, 0), "RESET refused");
	get_proc(&c, k.pid, &m);
	check(num(&m.p, SEEPAGE_A_STATE) == SEEPAGE_STATE_OK, "state %llu after RESET",
	      (unsigned long long)num(&m.p, SEEPAGE_A_STATE));
	check(!num(&m.p, SEEPAGE_A_CONFIDENCE), "confidence %llu after RESET",
	      (unsigned long long)num(&m.p, SEEPAGE_A_CONFIDENCE));
	check(!has(&m.p, SEEPAGE_A_GROWTH_BYTES_PER_HOUR), "growth known after RESET");
	check(num(&m.p, SEEPAGE_A_FAULT_RATE) < 100, "%llu faults/s right after RESET",
	      (unsigned long long)num(&m.p, SEEPAGE_A_FAULT_RATE));
	check(num(&m.p, SEEPAGE_A_FAULTS_USER) + num(&m.p, SEEPAGE_A_FAULTS_KERNEL) >=
	      20 * 1048576ULL / (uint64_t)sysconf(_SC_PAGESIZE),
	      "RESET of histories reset fault counts");
	kid_end(&k);
	fresh(&c);
}

static void of_counters(void)
{
	struct copy before, after;
	uint64_t n;
	int id;

	conn_open(&c);
	fast();
	run("true; true");
	msleep(500);
	/* no pass while the costs are looked at */
	need(!set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000, 0), "SET_CONFIG refused");
	msleep(500);
	get_status(&c, &before);
	need(!reset(&c, SEEPAGE_RESET_COUNTERS, 0), "RESET refused");
	get_status(&c, &after);
	for (id = 1; id < __SEEPAGE_COUNTER_MAX; id++) {
		n = keyed(&after.p, SEEPAGE_A_COUNTERS, id);
		check(n < 20 && n <= keyed(&before.p, SEEPAGE_A_COUNTERS, id),
		      "counter %d: %llu after RESET, %llu before", id, (unsigned long long)n,
		      (unsigned long long)keyed(&before.p, SEEPAGE_A_COUNTERS, id));
	}
	check(keyed(&before.p, SEEPAGE_A_COUNTERS, SEEPAGE_COUNTER_SAMPLES) > 20, "no samples");
	check(!num(&after.p, SEEPAGE_A_TICK_COST_NS) && !num(&after.p, SEEPAGE_A_TICK_COST_MAX_NS),
	      "tick costs after RESET");
	check(num(&after.p, SEEPAGE_A_TICKS) >= num(&before.p, SEEPAGE_A_TICKS),
	      "TICKS are since load");
	check(num(&after.p, SEEPAGE_A_PROCESSES) > 1, "RESET of counters emptied the table");
	fresh(&c);
}

/* Each bit does its own work alone. */
static void alone(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];
	struct alerts l;
	struct kid k;

	conn_open(&c);
	fast();
	need(!set_config(&c, SEEPAGE_CFG_POLICY, SEEPAGE_POLICY_CLASSIC, SEEPAGE_CFG_WARMUP_S, 0,
			 SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 8, SEEPAGE_CFG_ALERT_CONFIDENCE, 20,
			 SEEPAGE_CFG_ALERTS_PER_MINUTE, 100000, 0), "SET_CONFIG refused");
	kid_start(&k, 20 * MB, 200 * MB, "suspect", 0);
	wait_accused(&c, k.pid);
	need(!set_config(&c, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000,
			 SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 3600000, 0), "SET_CONFIG refused");
	msleep(500);
	need(!reset(&c, SEEPAGE_RESET_COUNTERS, 0), "RESET refused");
	get_alerts(&c, false, 0, &l);
	check(l.n, "RESET of counters emptied the ring");
	need(!reset(&c, SEEPAGE_RESET_HISTORY, 0), "RESET refused");
	get_alerts(&c, false, 0, &l);
	check(l.n, "RESET of histories emptied the ring");
	get_config(&c, v);
	check(v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] == 3600000, "RESET changed the configuration");
	need(!reset(&c, SEEPAGE_RESET_ALERTS, 0), "RESET refused");
	get_config(&c, v);
	check(v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] == 3600000,
	      "RESET of alerts changed the configuration");
	need(!reset(&c, SEEPAGE_RESET_CONFIG, 0), "RESET refused");
	get_config(&c, v);
	check(v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS] == 10000, "RESET of the configuration did not");
	check(!reset(&c, SEEPAGE_RESET_ALL, 0), "RESET of all");
	kid_end(&k);
}

const struct test tests_reset[] = {
	{ "reset-bad-mask", bad_mask },
	{ "reset-no-process", no_process },
	{ "reset-of-one", of_one },
	{ "reset-history", of_history },
	{ "reset-counters", of_counters },
	{ "reset-alone", alone },
	{ NULL, NULL }
};
