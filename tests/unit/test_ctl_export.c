// SPDX-License-Identifier: GPL-2.0
/* The page for Prometheus, made from messages as the module sends them */
#include "msg.h"
#include "detect/pmu.h"
#include "export/export.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- format ---- */

static char *text;
static size_t len;

static struct prom begin(void)
{
	struct prom p = { .f = open_memstream(&text, &len) };

	assert_non_null(p.f);
	return p;
}

static void ends_as(struct prom *p, const char *want)
{
	fclose(p->f);
	assert_string_equal(text, want);
	free(text);
}

/* What Prometheus wants escaped, what is no UTF-8, and what a terminal would obey */
static void escaping(void **state)
{
	static const char name[] = "a\"b\\c\nd\r\033[m\xff\xc3\xbc\xc2\x9b\xe2\x80\xae\xc3";
	struct prom p = begin();

	(void)state;
	prom_family(&p, PROM_GAUGE, "x", "Help.");
	prom_begin(&p);
	prom_label(&p, "l", name, sizeof(name) - 1);
	prom_label(&p, "none", NULL, 0);
	prom_label(&p, "e", "", 0);
	prom_label_number(&p, "n", UINT64_MAX);
	prom_end(&p, 1, 0);
	ends_as(&p, "# HELP seepage_x Help.\n# TYPE seepage_x gauge\n"
		"seepage_x{l=\"a\\\"b\\\\c\\nd\\\\x0d\\\\x1b[m\\\\xff\xc3\xbc\\\\xc2\\\\x9b"
		"\\\\xe2\\\\x80\\\\xae\\\\xc3\",e=\"\",n=\"18446744073709551615\"} 1\n");
}

static void numbers(void **state)
{
	struct prom p = begin();

	(void)state;
	prom_family(&p, PROM_COUNTER, "a_total", "A.");
	prom_family(&p, PROM_COUNTER, "x_total", "X.");
	prom_begin(&p);
	prom_end(&p, UINT64_MAX, 0);
	prom_begin(&p);
	prom_end(&p, UINT64_MAX, 9);
	prom_begin(&p);
	prom_end(&p, 5, 3);
	prom_begin(&p);
	prom_end_signed(&p, -1.5);
	prom_begin(&p);
	prom_label(&p, "l", "v", 1);
	prom_end_signed(&p, 9223372036854775808.0 / 3600);
	ends_as(&p, "# HELP seepage_x_total X.\n# TYPE seepage_x_total counter\n"
		"seepage_x_total 18446744073709551615\n"
		"seepage_x_total 18446744073.709551615\n"
		"seepage_x_total 0.005\n"
		"seepage_x_total -1.500\n"
		"seepage_x_total{l=\"v\"} 2562047788015215.500\n");
}

/* ---- a page ---- */

static struct nl_msg *status_msg, *procs[3], *alert_msgs[2];
static struct message status, rec[3], alerts[2];
static struct conf conf;
static struct export_process list[3];
static struct export_data data;

static struct seepage_pmc_value value(u64 count, u64 percent)
{
	return (struct seepage_pmc_value){ count, 2000000000, percent * 20000000 };
}

static void put_event(struct nl_msg *m, const char *name, u8 state, struct seepage_pmc_value v)
{
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_PMC_EVENT);

	nla_put_string(m, SEEPAGE_PMC_A_NAME, name);
	nla_put_u8(m, SEEPAGE_PMC_A_STATE, state);
	nla_put(m, SEEPAGE_PMC_A_COUNT, sizeof(v), &v);
	nla_put(m, SEEPAGE_PMC_A_IDLE, sizeof(v), &v);
	nla_nest_end(m, nest);
}

static void make_status(void)
{
	struct nl_msg *m = status_msg = msg_new();
	struct nlattr *nest;
	int i;

	nla_put_string(m, SEEPAGE_A_VERSION, "1.2");
	nla_put_string(m, SEEPAGE_A_HOOK, "tracepoint");
	nla_put_u8(m, SEEPAGE_A_POLICY, SEEPAGE_POLICY_LADDER);
	nla_put_string(m, SEEPAGE_A_PMC, "on");
	nla_put_u64(m, SEEPAGE_A_INSTANCE, 77);
	nla_put_u32(m, SEEPAGE_A_PROCESSES, 300);
	nla_put_u64(m, SEEPAGE_A_TICKS, 12);
	nla_put_u64(m, SEEPAGE_A_TICK_COST_NS, 1234567);
	nla_put_u32(m, SEEPAGE_A_INTERVAL_MS, 2500);
	nla_put_u32(m, SEEPAGE_A_PMC_SET, 3);
	nest = nla_nest_start(m, SEEPAGE_A_PMC_EVENTS);
	put_event(m, "cycles", SEEPAGE_PMC_STATE_COUNTING, value(4000, 100));
	put_event(m, "instructions", SEEPAGE_PMC_STATE_COUNTING, value(9000, 50));
	put_event(m, "node_remote", SEEPAGE_PMC_STATE_UNAVAILABLE, value(0, 0));
	nla_nest_end(m, nest);
	nest = nla_nest_start(m, SEEPAGE_A_COUNTERS);
	for (i = 1; i <= SEEPAGE_COUNTER_MAX + 1; i++)		/* one that is newer */
		nla_put_u64(m, i, 1000 + (u64)i);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&status, nlmsg_hdr(m)), 0);
}

/* The first knows all that there is, the second only who it is, the third is of other events. */
static void make_processes(void)
{
	struct seepage_pmc_value v[3] = { value(2000, 100), value(500, 50), value(0, 0) };
	struct seepage_pmc_baseline usual;
	struct nlattr *nest;
	int i;

	memset(&usual, 0xff, sizeof(usual));
	usual.signals = 1U << SEEPAGE_PMC_SIGNAL_TLB_EFFICIENCY | 1U << 20;
	usual.read_mean = 3;
	for (i = 0; i < 3; i++) {
		procs[i] = msg_new();
		nla_put_u32(procs[i], SEEPAGE_A_PID, 40 + (u32)i);
		nla_put(procs[i], SEEPAGE_A_COMM, 16, i ? "b\0\0\0\0\0\0\0\0\0\0\0\0\0\0" :
			"a\"\n\0\0\0\0\0\0\0\0\0\0\0\0");
		nla_put_u32(procs[i], SEEPAGE_A_PMC_SET, i == 2 ? 4 : 3);
		if (i != 1)
			nla_put(procs[i], SEEPAGE_A_PMC_VALUES, sizeof(v), v);
	}
	nla_put_u32(procs[0], SEEPAGE_A_UID, 1000);
	nla_put_u8(procs[0], SEEPAGE_A_STATE, SEEPAGE_STATE_CONFIRMED);
	nla_put_u8(procs[0], SEEPAGE_A_CONFIDENCE, 90);
	nla_put_u64(procs[0], SEEPAGE_A_RSS_BYTES, 1 << 30);
	nla_put_u64(procs[0], SEEPAGE_A_SWAP_BYTES, 0);
	nla_put_u64(procs[0], SEEPAGE_A_TTE_SECONDS, 4000);
	nla_put_u32(procs[0], SEEPAGE_A_COLD_PERMILLE, 875);
	nla_put_u8(procs[0], SEEPAGE_A_LIMIT, SEEPAGE_LIMIT_CGROUP);
	nla_put_u8(procs[0], SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_MEMORY);
	put_s64(procs[0], SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 5400);
	nla_put(procs[0], SEEPAGE_A_PMC_BASELINE, sizeof(usual), &usual);
	nest = nla_nest_start(procs[0], SEEPAGE_A_FACTORS);
	put_factor(procs[0], SEEPAGE_FACTOR_FLOOR, 10, 25, 4096000, 100);
	put_factor(procs[0], SEEPAGE_FACTOR_PERSIST, 10, 25, 600, 500);
	nla_nest_end(procs[0], nest);
	put_s64(procs[2], SEEPAGE_A_GROWTH_BYTES_PER_HOUR, -7200);
	for (i = 0; i < 3; i++) {
		assert_int_equal(msg_parse(&rec[i], nlmsg_hdr(procs[i])), 0);
		list[i] = (struct export_process){ .msg = &rec[i] };
	}
	list[0].place.exe = (char *)"/bin/x\\y";
	list[0].place.cgroup = (char *)"/system.slice/shop.service";
	list[1].place.cgroup = (char *)"/system.slice/cron.service";
	list[2].place.cgroup = (char *)"/system.slice/shop.service/workers";
}

static char *page(void)
{
	int i;

	memset(&conf, 0, sizeof(conf));
	conf.set[SEEPAGE_CFG_MAX_PROCESSES] = true;
	conf.v[SEEPAGE_CFG_MAX_PROCESSES] = 8192;
	make_status();
	make_processes();
	for (i = 0; i < 2; i++) {
		alert_msgs[i] = msg_new();
		nla_put_u8(alert_msgs[i], SEEPAGE_A_STATE, SEEPAGE_STATE_SUSPECTED);
		if (i)
			nla_put_u8(alert_msgs[i], SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_GROUP);
		assert_int_equal(msg_parse(&alerts[i], nlmsg_hdr(alert_msgs[i])), 0);
	}
	memset(&data, 0, sizeof(data));
	data.now_s = 1000000;
	export_pressure_parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n"
			      "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
			      &data.pressure);
	data.status = &status;
	data.conf = &conf;
	data.alerts = alerts;
	data.n_alerts = 2;
	data.process = list;
	data.n = 3;
	data.left_out = 5;
	data.states[SEEPAGE_STATE_WATCH] = 7;
	pmc_list(&data.pmc, &status);
	export_silences_read(&data.silences);
	return export_text(&data, &len);
}

static void drop(void)
{
	int i;

	nlmsg_free(status_msg);
	for (i = 0; i < 3; i++)
		nlmsg_free(procs[i]);
	for (i = 0; i < 2; i++)
		nlmsg_free(alert_msgs[i]);
	free(text);
}

static void has(const char *line)
{
	char all[512];

	snprintf(all, sizeof(all), "\n%s\n", line);
	if (!strstr(text, all))
		fail_msg("'%s' is missing in:\n%s", line, text);
}

static void has_not(const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

static void figures(void **state)
{
	(void)state;
	text = page();
	has("seepage_up 1");
	has("seepage_build_info{version=\"0\"} 1");
	has("seepage_module_info{version=\"1.2\",hook=\"tracepoint\",policy=\"ladder\",pmc=\"on\","
	    "load=\"77\"} 1");
	has("seepage_disabled 0");
	has("seepage_processes 300");
	has("seepage_processes_max 8192");
	has("seepage_passes_total 12");
	has("seepage_pass_last_duration_seconds 0.001234567");
	has("seepage_sample_interval_seconds 2.500");
	has("seepage_table_full_total 1007");
	has("seepage_processes_in_state{state=\"watch\"} 7");
	has("seepage_processes_left_out 5");
	has("seepage_alerts_held{state=\"suspected\",subject=\"memory\"} 1");
	has("seepage_alerts_held{state=\"suspected\",subject=\"group\"} 1");
	has("seepage_alerts_held{state=\"exited\",subject=\"vsz\"} 0");
	has("seepage_pmc_event_available{event=\"node_remote\"} 0");
	has("seepage_pmc_events_total{event=\"instructions\"} 9000");
	has("seepage_pmc_enabled_seconds_total{event=\"instructions\"} 2.000000000");
	has("seepage_pmc_running_seconds_total{event=\"instructions\"} 1.000000000");
	has("seepage_pmc_part_events_total{event=\"cycles\",part=\"idle\"} 4000");
	has_not("seepage_memory_bytes");
	has_not("seepage_pmc_events_total{event=\"node_remote\"");
	drop();
}

static struct nl_msg *group_msgs[6];
static struct message group_alerts[6];

/* Alert @i about a group of the user @uid, of which @pid is the oldest process */
static void put_group(unsigned int i, u32 pid, const char *comm, u32 uid, u8 state)
{
	struct nl_msg *m = group_msgs[i] = msg_new();
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_IDENTITY);

	nla_put_string(m, SEEPAGE_IDENTITY_A_CGROUP, "/system.slice/shop.service");
	nla_nest_end(m, nest);
	nla_put_u64(m, SEEPAGE_A_SEQ, i + 1);
	nla_put_u32(m, SEEPAGE_A_PID, pid);
	nla_put_string(m, SEEPAGE_A_COMM, comm);
	nla_put_u32(m, SEEPAGE_A_UID, uid);
	nla_put_u8(m, SEEPAGE_A_STATE, state);
	nla_put_u8(m, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_GROUP);
	assert_int_equal(msg_parse(&group_alerts[i], nlmsg_hdr(m)), 0);
}

/* Processes of a group may all be below an alert of their own: nothing else names the leak. */
static void a_group_is_in_the_state_of_its_newest_alert(void **state)
{
	struct export_data d = { .status = &status, .conf = &conf, .alerts = group_alerts,
				 .n_alerts = 6 };
	unsigned int i;

	(void)state;
	make_status();
	put_group(0, 50, "work", 7, SEEPAGE_STATE_SUSPECTED);
	put_group(1, 60, "work", 8, SEEPAGE_STATE_SUSPECTED);
	put_group(2, 51, "work", 7, SEEPAGE_STATE_CONFIRMED);	/* 50 has ended since */
	put_group(3, 60, "work", 8, SEEPAGE_STATE_RECOVERED);
	put_group(4, 70, "old", 7, SEEPAGE_STATE_RUNAWAY);
	put_group(5, 70, "new", 7, SEEPAGE_STATE_RUNAWAY);	/* the pid is that of another one */
	text = export_text(&d, &len);
	has("seepage_group_state{pid=\"51\",comm=\"work\",unit=\"shop.service\","
	    "state=\"confirmed\"} 1");
	has("seepage_group_state{pid=\"70\",comm=\"new\",unit=\"shop.service\","
	    "state=\"runaway\"} 1");
	has_not("group_state{pid=\"50\"");
	has_not("group_state{pid=\"60\"");
	has_not("comm=\"old\"");
	free(text);
	nlmsg_free(status_msg);
	for (i = 0; i < 6; i++)
		nlmsg_free(group_msgs[i]);
}

#define WHO	"{pid=\"40\",comm=\"a\\\"\\n\""

static void processes(void **state)
{
	(void)state;
	text = page();
	has("seepage_process_info" WHO ",uid=\"1000\",exe=\"/bin/x\\\\y\","
	    "cgroup=\"/system.slice/shop.service\",unit=\"shop.service\",subject=\"memory\","
	    "limit=\"cgroup\"} 1");
	has("seepage_process_info{pid=\"41\",comm=\"b\",cgroup=\"/system.slice/cron.service\","
	    "unit=\"cron.service\"} 1");
	has("seepage_process_state" WHO ",state=\"confirmed\"} 1");
	has("seepage_process_state" WHO ",state=\"ok\"} 0");
	has("seepage_process_state{pid=\"41\",comm=\"b\",state=\"ok\"} 0");
	has("seepage_process_confidence" WHO "} 90");
	has("seepage_process_rss_bytes" WHO "} 1073741824");
	has("seepage_process_swap_bytes" WHO "} 0");
	has("seepage_process_exhaustion_seconds" WHO "} 4000");
	has("seepage_process_unused_growth_ratio" WHO "} 0.875");
	has("seepage_process_growth_bytes_per_second" WHO "} 1.500");
	has("seepage_process_growth_bytes_per_second{pid=\"42\",comm=\"b\"} -2.000");
	has("seepage_process_growth_onset_timestamp_seconds" WHO "} 999400");
	has("seepage_process_growth_rise_bytes" WHO "} 4096000");
	has("seepage_process_pmc_events_total" WHO ",event=\"instructions\"} 500");
	has("seepage_process_instructions_per_cycle" WHO "} 0.500");
	has("seepage_process_read_bytes_per_second" WHO "} 3072");
	has("seepage_process_pmc_signal" WHO ",signal=\"tlb_efficiency\"} 1");
	has("seepage_process_pmc_signal" WHO ",signal=\"bandwidth\"} 0");
	/* not known is not there */
	has_not("seepage_process_rss_bytes{pid=\"41\"");
	has_not("seepage_process_pmc_events_total{pid=\"41\"");
	has_not("seepage_process_pmc_events_total{pid=\"42\"");
	has_not("seepage_process_pmc_signal{pid=\"41\"");
	has_not("seepage_process_llc_miss_ratio");
	has_not("event=\"node_remote\"}\n");
	drop();
}

/* One line a unit; what shrinks is not taken off what grows. */
static void units(void **state)
{
	(void)state;
	text = page();
	has("seepage_unit_processes{unit=\"shop.service\"} 2");
	has("seepage_unit_processes{unit=\"cron.service\"} 1");
	has("seepage_unit_processes_accused{unit=\"shop.service\"} 1");
	has("seepage_unit_processes_accused{unit=\"cron.service\"} 0");
	has("seepage_unit_rss_bytes{unit=\"shop.service\"} 1073741824");
	has("seepage_unit_growth_bytes_per_second{unit=\"shop.service\"} 1.500");
	has("seepage_unit_exhaustion_seconds{unit=\"shop.service\"} 4000");
	has_not("seepage_unit_exhaustion_seconds{unit=\"cron.service\"}");
	drop();
}

static void write_silences(const char *dir, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/silences.json", dir);
	unlink(path);
	if (!text)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(path, 0644);
}

#define SILENCE(what, until) "{\"id\":1," what ",\"until_ns\":" until "}"

/* Each once, by what it is about; what has ended and what is damaged counts for nothing. */
static void silences(void **state)
{
	static const char held[] = "{\"version\":1,\"next_id\":9,\"acks\":[],\"silences\":["
		SILENCE("\"unit\":\"a.service\"", "null") ","
		SILENCE("\"unit\":\"b.service\",\"name\":null", "null") ","
		SILENCE("\"unit\":\"c.service\"", "1") ","
		SILENCE("\"name\":\"x\",\"uid\":7", "9223372036854775807") ","
		SILENCE("\"uid\":0", "null") "," SILENCE("\"cgroup\":\"/a\"", "null") ","
		SILENCE("\"alert\":{\"seq\":1}", "null") ","
		SILENCE("\"name\":null", "null") ",7]}";
	char dir[] = "/tmp/silences-XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	setenv("SEEPAGE_STATE_DIR", dir, 1);
	text = page();
	has("seepage_silences{kind=\"unit\"} 0");
	has("seepage_silences{kind=\"several\"} 0");
	drop();
	write_silences(dir, held);
	text = page();
	has("# TYPE seepage_silences gauge");
	has("seepage_silences{kind=\"alert\"} 1");
	has("seepage_silences{kind=\"unit\"} 2");
	has("seepage_silences{kind=\"name\"} 0");
	has("seepage_silences{kind=\"cgroup\"} 1");
	has("seepage_silences{kind=\"uid\"} 1");
	has("seepage_silences{kind=\"several\"} 1");
	drop();
	write_silences(dir, "{");
	text = page();
	has_not("seepage_silences");
	drop();
	setenv("SEEPAGE_STATE_DIR", "/nowhere", 1);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void pressure(void **state)
{
	static const char *const texts[] = {
		"", "some", "some avg10=0.00 total=\nfull", "some avg10=0.00\nother total=3",
	};
	struct export_pressure p;
	size_t i;

	(void)state;
	text = page();
	has("seepage_memory_pressure_seconds_total{kind=\"some\"} 1.500000");
	has("seepage_memory_pressure_seconds_total{kind=\"full\"} 0.000007");
	drop();
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		export_pressure_parse(texts[i], &p);
		assert_true(p.some_us == UINT64_MAX && p.full_us == UINT64_MAX);
	}
	export_pressure_parse("full avg10=0.00 total=9", &p);
	assert_true(p.some_us == UINT64_MAX && p.full_us == 9);
}

/* The name that a sample or a comment is about, terminated */
static void name_at(const char *line, size_t skip, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)strcspn(line + skip, " {"), line + skip);
}

/* HELP, TYPE, samples, each family once; names as they may be; no series twice */
static void check_structure(void)
{
	static char names[256][96], series[2048][256];
	char name[96] = "", *line, *save = NULL;
	unsigned int n = 0, n_series = 0, i, samples = 1;
	bool typed = true, counter = false;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "# HELP ", 7)) {
			assert_true(typed && samples && n < ARRAY_SIZE(names));
			name_at(line, 7, name, sizeof(name));
			assert_true(strlen(line) > 8 + strlen(name));
			for (i = 0; i < n; i++)
				assert_string_not_equal(name, names[i]);
			strcpy(names[n++], name);
			assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
					 strlen(name));
			assert_int_equal(strncmp(name, "seepage_", 8), 0);
			typed = false;
			samples = 0;
		} else if (!strncmp(line, "# TYPE ", 7)) {
			assert_true(!typed && !samples);
			assert_int_equal(strncmp(line + 7, name, strlen(name)), 0);
			counter = !strcmp(line + 7 + strlen(name), " counter");
			assert_true(counter || !strcmp(line + 7 + strlen(name), " gauge"));
			/* a counter ends in _total, nothing else does */
			assert_int_equal(counter, strlen(name) > 6 &&
					 !strcmp(name + strlen(name) - 6, "_total"));
			typed = true;
		} else {
			char found[96];

			name_at(line, 0, found, sizeof(found));
			assert_true(typed && n_series < ARRAY_SIZE(series));
			assert_string_equal(found, name);
			snprintf(series[n_series], sizeof(series[0]), "%.*s",
				 (int)(strrchr(line, ' ') - line), line);
			for (i = 0; i < n_series; i++)
				assert_string_not_equal(series[i], series[n_series]);
			n_series++;
			samples++;
		}
	}
	assert_true(typed && samples);
}

static void structure(void **state)
{
	(void)state;
	text = page();
	assert_int_equal(len, strlen(text));
	assert_int_equal(text[len - 1], '\n');
	check_structure();
	drop();
}

static void no_module(void **state)
{
	(void)state;
	text = export_text(NULL, &len);
	has("seepage_up 0");
	has_not("seepage_processes");
	check_structure();
	free(text);
}

/* ---- how many series a page can have ---- */

#define EVENT_NAME(id, name)	#name,
static const char *const all_events[] = { SEEP_PMU_NAMES(EVENT_NAME) };

/* A process that has all that can be known of one */
static void fill_process(struct nl_msg *m, const char *cgroup)
{
	static const u8 u64s[] = {
		SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES, SEEPAGE_A_FILE_BYTES,
		SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES, SEEPAGE_A_VSZ_BYTES,
		SEEPAGE_A_TTE_SECONDS, SEEPAGE_A_AGE_SECONDS, SEEPAGE_A_FAULTS_USER,
		SEEPAGE_A_FAULTS_KERNEL,
	};
	struct seepage_pmc_value v[SEEPAGE_PMC_EVENTS_MAX];
	struct seepage_pmc_baseline usual = { .read_mean = 3 };
	struct nlattr *nest;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = value(1000, 100);
	nla_put_u32(m, SEEPAGE_A_PID, 40);
	nla_put_string(m, SEEPAGE_A_COMM, "all");
	nla_put_u32(m, SEEPAGE_A_UID, 1000);
	nla_put_u8(m, SEEPAGE_A_STATE, SEEPAGE_STATE_CONFIRMED);
	nla_put_u8(m, SEEPAGE_A_CONFIDENCE, 90);
	nla_put_u32(m, SEEPAGE_A_COLD_PERMILLE, 875);
	for (i = 0; i < ARRAY_SIZE(u64s); i++)
		nla_put_u64(m, u64s[i], 1000);
	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 5400);
	nla_put_u32(m, SEEPAGE_A_PMC_SET, 3);
	nla_put(m, SEEPAGE_A_PMC_VALUES, sizeof(v), v);
	nla_put(m, SEEPAGE_A_PMC_BASELINE, sizeof(usual), &usual);
	nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	put_factor(m, SEEPAGE_FACTOR_FLOOR, 10, 25, 4096000, 100);
	put_factor(m, SEEPAGE_FACTOR_PERSIST, 10, 25, 600, 500);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec[0], nlmsg_hdr(m)), 0);
	list[0] = (struct export_process){ .msg = &rec[0], .place.cgroup = (char *)cgroup };
}

static void fill_status(struct nl_msg *m)
{
	static const u8 u64s[] = {
		SEEPAGE_A_PROCESSES, SEEPAGE_A_MEMORY_BYTES, SEEPAGE_A_REC_BYTES, SEEPAGE_A_TICKS,
		SEEPAGE_A_TICK_COST_NS, SEEPAGE_A_TICK_COST_MAX_NS, SEEPAGE_A_INTERVAL_MS,
		SEEPAGE_A_STRETCHED, SEEPAGE_A_SEQ_LAST,
	};
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(u64s); i++)
		nla_put_u64(m, u64s[i], 1);
	nla_put_u32(m, SEEPAGE_A_PMC_SET, 3);
	nest = nla_nest_start(m, SEEPAGE_A_PMC_EVENTS);
	for (i = 0; i < ARRAY_SIZE(all_events); i++)
		put_event(m, all_events[i], SEEPAGE_PMC_STATE_COUNTING, value(4000, 100));
	nla_nest_end(m, nest);
	nest = nla_nest_start(m, SEEPAGE_A_COUNTERS);
	for (i = 1; i <= SEEPAGE_COUNTER_MAX; i++)
		nla_put_u64(m, (int)i, 1000);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&status, nlmsg_hdr(m)), 0);
}

static unsigned int count(const char *prefix)
{
	const char *line;
	unsigned int n = 0;

	for (line = text; *line; line = strchr(line, '\n') + 1)
		n += *line != '#' && !strncmp(line, prefix, strlen(prefix));
	return n;
}

/* Says seepage-metrics(7) this sentence? */
static void manual_says(const char *manual, const char *format, unsigned int n)
{
	char sentence[96];

	snprintf(sentence, sizeof(sentence), format, n);
	if (!strstr(manual, sentence))
		fail_msg("docs/man/seepage-metrics.7: '%s' is missing", sentence);
}

static void the_manual_has_the_bounds(void **state)
{
	unsigned int all, process, unit, group;
	static char manual[1 << 16];
	FILE *f = fopen(MANUAL, "re");

	(void)state;
	assert_non_null(f);
	manual[fread(manual, 1, sizeof(manual) - 1, f)] = '\0';
	fclose(f);
	assert_int_equal(ARRAY_SIZE(all_events), SEEPAGE_PMC_EVENTS_MAX);
	status_msg = msg_new();
	procs[0] = msg_new();
	fill_status(status_msg);
	fill_process(procs[0], "/system.slice/shop.service");
	put_group(0, 50, "work", 7, SEEPAGE_STATE_SUSPECTED);
	conf.set[SEEPAGE_CFG_MAX_PROCESSES] = true;
	data = (struct export_data){
		.now_s = 1000000, .status = &status, .conf = &conf, .alerts = group_alerts,
		.n_alerts = 1, .process = list, .n = 1, .pressure = { 1, 1 },
		.silences = { .known = true },
	};
	pmc_list(&data.pmc, &status);
	text = export_text(&data, &len);
	all = count("seepage_");
	process = count("seepage_process_");
	unit = count("seepage_unit_");
	group = count("seepage_group_");
	/* the page is as full as it can be: one of each figure, state, event and signal */
	assert_int_equal(process, 23 + __SEEPAGE_STATE_MAX + 3 * SEEPAGE_PMC_EVENTS_MAX + 1 +
			 __SEEPAGE_PMC_SIGNAL_MAX);
	manual_says(manual, "A process has at most %u series,", process);
	manual_says(manual, "a unit %u,", unit);
	manual_says(manual, "a group under alert %u.", group);
	manual_says(manual, "The machine has at most %u.", all - process - unit - group);
	manual_says(manual, "at most %u series", 100 * (process + unit) + all - process - unit -
		    group);
	free(text);
	nlmsg_free(status_msg);
	nlmsg_free(procs[0]);
	nlmsg_free(group_msgs[0]);
}

/* ---- where to listen ---- */

static void addresses(void **state)
{
	static const struct { const char *word, *host; u16 port; bool ipv6; } good[] = {
		{ "9100", "127.0.0.1", 9100, false }, { "0.0.0.0:1", "0.0.0.0", 1, false },
		{ "10.1.2.3:65535", "10.1.2.3", 65535, false }, { "[::]:80", "::", 80, true },
		{ "[fe80::1]:80", "fe80::1", 80, true },
	};
	static const char *const bad[] = {
		"", ":", ":80", "80:", "0", "65536", "-1", "+80", " 80", "80 ", "1.2.3:80",
		"localhost:80", "::1:80", "[::1]", "[::1]80", "[::1:80", "[]:80", "[127.0.0.1]:80",
		"1.2.3.4:80:90", "1.2.3.4 :80", "127.0.0.1:0x50",
		"[0000000000000000000000000000000000000000000000000000000000000000000000]:80",
	};
	struct export_address a;
	struct ctx ctx = { .cmd = "export" };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(export_address(&ctx, good[i].word, &a), 0);
		assert_string_equal(a.host, good[i].host);
		assert_int_equal(a.port, good[i].port);
		assert_int_equal(a.ipv6, good[i].ipv6);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (export_address(&ctx, bad[i], &a) != EXIT_USAGE)
			fail_msg("'%s' was taken", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escaping), cmocka_unit_test(numbers),
		cmocka_unit_test(figures),
		cmocka_unit_test(a_group_is_in_the_state_of_its_newest_alert),
		cmocka_unit_test(processes), cmocka_unit_test(units),
		cmocka_unit_test(pressure), cmocka_unit_test(silences),
		cmocka_unit_test(structure), cmocka_unit_test(no_module),
		cmocka_unit_test(addresses), cmocka_unit_test(the_manual_has_the_bounds),
	};

	setenv("SEEPAGE_STATE_DIR", "/nowhere", 1);	/* not what this machine has */
	return cmocka_run_group_tests_name("ctl_export", tests, NULL, NULL);
}
