// SPDX-License-Identifier: GPL-2.0
/* What changes when the module is loaded again. Needs SEEPAGE_KO and root. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nltest.h"

#define MB	(1UL << 20)

static struct conn c;

static void load(const char *args)
{
	char cmd[512];

	need(getenv("SEEPAGE_KO"), "SEEPAGE_KO is not set");
	snprintf(cmd, sizeof(cmd), "insmod \"$SEEPAGE_KO\" %s", args);
	need(!run(cmd), "insmod %s", args);
	conn_open(&c);
}

static void unload(void)
{
	conn_close(&c);
	need(!run("rmmod seepage"), "rmmod");
}

static const char cheap[] =
	"suspect_interval_ms=100 sample_interval_ms=100 policy=classic warmup_s=0 "
	"min_process_size_mb=1 alert_confidence=20 max_cpu_permille=1000";

/* A new INSTANCE, alerts from 1 on. */
static void reload(void)
{
	uint64_t instance[3];
	struct alerts l;
	struct kid k;
	int i;

	conn_open(&c);
	unload();
	check(conn_try(&c, 0) == -ENOENT, "the family is there without the module");
	for (i = 0; i < 3; i++) {
		load(cheap);
		check(status_num(&c, SEEPAGE_A_INTERVAL_MS) < 10000, "INTERVAL_MS");
		kid_start(&k, 4 * MB, 100 * MB, "again", 0);
		wait_accused(&c, k.pid);
		instance[i] = status_num(&c, SEEPAGE_A_INSTANCE);
		get_alerts(&c, false, 0, &l);
		need(l.n, "no alerts");
		check(num(&l.m[0].p, SEEPAGE_A_SEQ) == 1, "the first alert has number %llu",
		      (unsigned long long)num(&l.m[0].p, SEEPAGE_A_SEQ));
		check(num(&l.m[0].p, SEEPAGE_A_INSTANCE) == instance[i], "INSTANCE");
		kid_end(&k);
		unload();
	}
	check(instance[0] != instance[1] && instance[1] != instance[2], "the same INSTANCE");
	load("");
}

/* Parameters are the defaults, and what RESET goes back to. */
static void parameters(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];

	conn_open(&c);
	unload();
	load("warmup_s=42 policy=classic pmc=off");
	get_config(&c, v);
	check(v[SEEPAGE_CFG_WARMUP_S] == 42 && v[SEEPAGE_CFG_PMC] == SEEPAGE_PMC_OFF &&
	      v[SEEPAGE_CFG_POLICY] == SEEPAGE_POLICY_CLASSIC, "parameters are not in force");
	check(!set_config(&c, SEEPAGE_CFG_WARMUP_S, 43, 0), "SET_CONFIG");
	check(!reset(&c, SEEPAGE_RESET_CONFIG, 0), "RESET");
	get_config(&c, v);
	check(v[SEEPAGE_CFG_WARMUP_S] == 42, "RESET went to %u", v[SEEPAGE_CFG_WARMUP_S]);
	unload();
	load("");
}

static void bad_parameters(void)
{
	static const char * const bad[] = {
		"alert_confidence=101", "sample_interval_ms=99", "sample_interval_ms=-1",
		"policy=magic", "policy=", "suspect_interval_ms=20000", "warmup_s=ten",
		"fault_rate_warning=1001", "max_processes=15", "monitoring_window_s=151",
	};
	char cmd[512];
	unsigned int i;

	conn_open(&c);
	unload();
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(cmd, sizeof(cmd), "insmod \"$SEEPAGE_KO\" %s 2>/dev/null", bad[i]);
		if (!run(cmd)) {
			fail("%s is taken", bad[i]);
			run("rmmod seepage");
		}
	}
	load("");
}

/* Members of the groups and open sockets do not keep the module. */
static void unload_joined(void)
{
	struct conn ear;

	conn_open(&c);
	conn_open(&ear);
	need(!conn_join(&ear, GROUP_ALERT) && !conn_join(&ear, GROUP_SAMPLE), "join");
	unload();
	load("");
	check(!set_config(&c, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100,
			  SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 100, 0), "SET_CONFIG");
	msleep(500);
	fresh(&c);
}

const struct test tests_load[] = {
	{ "load-again", reload },
	{ "load-parameters", parameters },
	{ "load-bad-parameters", bad_parameters },
	{ "load-joined", unload_joined },
	{ NULL, NULL }
};
