// SPDX-License-Identifier: GPL-2.0
/* Configuration from words and from files */
#include "ctl.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct conf c;
static char err[CONF_ERR_MAX];
static char ignored_names[512];	/* names of keys */

static void note_ignored(void *arg, const char *key)
{
	size_t n = strlen(ignored_names);

	(void)arg;
	snprintf(ignored_names + n, sizeof(ignored_names) - n, "%s\n", key);
}

static bool file(const char *text)
{
	memset(&c, 0, sizeof(c));
	memset(err, 0, sizeof(err));
	ignored_names[0] = '\0';
	return conf_file(&c, text, strlen(text), note_ignored, NULL, err, sizeof(err));
}

static bool word(const char *key, const char *value)
{
	err[0] = '\0';
	return conf_add(&c, key, value, err, sizeof(err));
}

static void words(void **state)
{
	(void)state;
	memset(&c, 0, sizeof(c));
	assert_true(word("sample_interval_ms", "100"));
	assert_true(c.set[SEEPAGE_CFG_SAMPLE_INTERVAL_MS]);
	assert_int_equal(c.v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS], 100);
	assert_false(word("sample_interval_ms", "200"));
	assert_string_equal(err, "sample_interval_ms: given twice");
	assert_true(word("policy", "classic"));
	assert_int_equal(c.v[SEEPAGE_CFG_POLICY], SEEPAGE_POLICY_CLASSIC);
	assert_false(word("pmc", "yes"));
	assert_string_equal(err, "pmc: 'yes': allowed auto|off|hold|on|watched");
	assert_false(word("max_processes", "0"));
	assert_false(word("max_processes", "4294967312"));	/* 16 + 2^32 */
	assert_false(word("warmup_s", "-1"));
	assert_false(word("warmup_s", ""));
	assert_string_equal(err, "warmup_s: '': allowed 0..86400");
	assert_false(word("Warmup_s", "1"));
	assert_non_null(strstr(err, "unknown key 'Warmup_s'"));
}

/* What set is called with: wrong words are wrong usage, as everywhere else. */
static void word_status(void **state)
{
	static const char *const bad[][4] = {
		{ "frobnicate=1" }, { "frobnicate", "1" }, { "warmup_s=x" }, { "warmup_s", "-1" },
		{ "policy" }, { "=1" }, { "warmup_s=1", "warmup_s=2" },
		{ "pmc", "auto", "pmc", "no" },
	};
	static const char *const good[] = { "warmup_s=7", "policy", "classic" };
	struct ctx ctx = { .cmd = "set" };
	char *argv[8];
	int argc, i;

	(void)state;
	for (i = 0; i < (int)ARRAY_SIZE(bad); i++) {
		memset(&c, 0, sizeof(c));
		for (argc = 0; argc < 4 && bad[i][argc]; argc++)
			argv[argc] = (char *)bad[i][argc];
		assert_int_equal(conf_words(&ctx, &c, argc, argv), EXIT_USAGE);
	}
	memset(&c, 0, sizeof(c));
	memcpy(argv, good, sizeof(good));
	assert_int_equal(conf_words(&ctx, &c, ARRAY_SIZE(good), argv), 0);
	assert_int_equal(c.v[SEEPAGE_CFG_WARMUP_S], 7);
	assert_int_equal(c.v[SEEPAGE_CFG_POLICY], SEEPAGE_POLICY_CLASSIC);
}

/* Every key: both ends are taken, what lies beyond is not, and it is said. */
static void ranges(void **state)
{
	unsigned int key;

	(void)state;
	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		const struct cfg_key *k = &cfg_keys[key];
		char text[32], allowed[64];

		assert_non_null(k->name);
		assert_int_equal(cfg_from_name(k->name), key);
		assert_in_range(k->def, k->min, k->max);
		if (k->word)
			continue;
		memset(&c, 0, sizeof(c));
		snprintf(text, sizeof(text), "%u", k->max + 1);
		assert_false(word(k->name, text));
		cfg_allowed(key, allowed, sizeof(allowed));
		assert_non_null(strstr(err, allowed));
		assert_non_null(strstr(err, text));
		if (k->min) {
			snprintf(text, sizeof(text), "%u", k->min - 1);
			assert_false(word(k->name, text));
		}
		snprintf(text, sizeof(text), "%u", k->max);
		assert_true(word(k->name, text));
		c.set[key] = false;
		snprintf(text, sizeof(text), "%u", k->min);
		assert_true(word(k->name, text));
	}
}

static void flat(void **state)
{
	(void)state;
	assert_true(file("{\"warmup_s\": 5, \"policy\": \"classic\"}"));
	assert_int_equal(c.v[SEEPAGE_CFG_WARMUP_S], 5);
	assert_int_equal(c.v[SEEPAGE_CFG_POLICY], SEEPAGE_POLICY_CLASSIC);
	assert_false(c.set[SEEPAGE_CFG_PMC]);
	assert_true(file("{}"));
	assert_true(file("\xef\xbb\xbf{\"warmup_s\": 6}"));
	assert_int_equal(c.v[SEEPAGE_CFG_WARMUP_S], 6);
	assert_false(file("\xef\xbb{\"warmup_s\": 6}"));
	assert_false(file("{\xef\xbb\xbf\"warmup_s\": 6}"));
	assert_true(file(" // only a comment\n{ /* and \" */ }\n// the end"));
}

static void older_shape(void **state)
{
	static const char text[] =
		"{ \"production_config\": {\n"
		"  \"thresholds\": { \"fault_rate_warning\": 300, // why\n"
		"    \"fault_rate_critical\": 800, \"rss_growth_percent\": 150,\n"
		"    \"monitoring_window_sec\": 120, \"min_process_size_mb\": 50 },\n"
		"  \"sampling\": { \"enabled\": false, \"rate\": 1000 },\n"
		"  \"stack_traces\": { \"enabled\": true, \"max_depth\": 16 },\n"
		"  \"alerting\": { \"confidence_threshold\": 80, \"rate_limit_seconds\": 600,\n"
		"    \"webhook_url\": \"http://x//y\", \"pagerduty_key\": null,\n"
		"    \"escalation_delay_minutes\": 10 },\n"
		"  \"performance\": { \"max_processes\": 4096, \"ring_buffer_size_mb\": 1,\n"
		"    \"cleanup_interval_sec\": 300 },\n"
		"  \"log_level\": \"INFO\" } }";

	static const char names[] =
		"sampling.enabled\n"
		"sampling.rate\n"
		"stack_traces.enabled\n"
		"stack_traces.max_depth\n"
		"alerting.webhook_url\n"
		"alerting.pagerduty_key\n"
		"alerting.escalation_delay_minutes\n"
		"performance.ring_buffer_size_mb\n"
		"performance.cleanup_interval_sec\n"
		"log_level\n";

	(void)state;
	assert_true(file(text));
	assert_int_equal(c.v[SEEPAGE_CFG_FAULT_RATE_WARNING], 300);
	assert_int_equal(c.v[SEEPAGE_CFG_FAULT_RATE_CRITICAL], 800);
	assert_int_equal(c.v[SEEPAGE_CFG_RSS_GROWTH_PERCENT], 150);
	assert_int_equal(c.v[SEEPAGE_CFG_MONITORING_WINDOW_S], 120);
	assert_int_equal(c.v[SEEPAGE_CFG_MIN_PROCESS_SIZE_MB], 50);
	assert_int_equal(c.v[SEEPAGE_CFG_ALERT_CONFIDENCE], 80);
	assert_int_equal(c.v[SEEPAGE_CFG_ALERT_INTERVAL_S], 600);
	assert_int_equal(c.v[SEEPAGE_CFG_MAX_PROCESSES], 4096);
	assert_string_equal(ignored_names, names);
}

#define WHOLE	", a whole number without quotes"

static void bad_values(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "{\"warmup_s\": 86401}", "warmup_s: '86401': allowed 0..86400" },
		{ "{\"warmup_s\": -1}", "warmup_s: '-1': allowed 0..86400" },
		{ "{\"warmup_s\": 1.0}", "warmup_s: '1.0': allowed 0..86400" WHOLE },
		{ "{\"warmup_s\": 1e2}", "warmup_s: '1e2': allowed 0..86400" WHOLE },
		{ "{\"warmup_s\": \"5\"}", "warmup_s: '\"5\"': allowed 0..86400" WHOLE },
		{ "{\"warmup_s\": true}", "warmup_s: 'true': allowed 0..86400" WHOLE },
		{ "{\"warmup_s\": null}", "warmup_s: 'null': allowed 0..86400" WHOLE },
		{ "{\"warmup_s\": [1]}", "warmup_s: '[1]': allowed 0..86400" WHOLE },
		{ "{\"warmup_s\": 4294967301}", "warmup_s: '4294967301': allowed 0..86400" },
		{ "{\"warmup_s\": 9223372036854775807}",
		  "warmup_s: '9223372036854775807': allowed 0..86400" },
		{ "{\"warmup_s\": 9223372036854775808}",
		  "warmup_s: '9223372036854775808': allowed 0..86400" },
		{ "{\"warmup_s\": 18446744073709551621}",
		  "warmup_s: '18446744073709551621': allowed 0..86400" },
		{ "{\"warmup_s\": -99999999999999999999}",
		  "warmup_s: '-99999999999999999999': allowed 0..86400" },
		{ "{\"warmup_s\": 01}", "warmup_s: '01': allowed 0..86400" },
		{ "{\"policy\": 0}", "policy: '0': allowed ladder|classic, in double quotes" },
		{ "{\"policy\": \"Ladder\"}", "policy: '\"Ladder\"': allowed ladder|classic" },
		{ "{\"alerting\": {\"rate_limit_seconds\": 99999}}",
		  "alerting.rate_limit_seconds: '99999': allowed 0..86400" },
		{ "{\"pmc\": \"off\", \"pmc\": \"off\"}", "line 1: key 'pmc' twice" },
		{ "{\"warmup_s\": 1,\n \"a\": {\"x\": 1,\n \"x\": 2}}", "line 3: key 'x' twice" },
		{ "{\"monitoring_window_s\": 60, \"thresholds\": {\"monitoring_window_sec\": 60}}",
		  "thresholds.monitoring_window_sec: given twice" },
		{ "{\"warmup\\u005fs\": 1}", "line 1: unknown key 'warmup\\u005fs'" },
		{ "{\"thresholds\": {\"colour\": 3}}",
		  "unknown key 'thresholds.colour': allowed fault_rate_warning "
		  "fault_rate_critical rss_growth_percent monitoring_window_sec "
		  "min_process_size_mb" },
		{ "{\"alerting\": {\"alert_confidence\": 3}}",
		  "unknown key 'alerting.alert_confidence': allowed confidence_threshold "
		  "rate_limit_seconds webhook_url pagerduty_key escalation_delay_minutes" },
		{ "{\"thresholds\": 3}",
		  "thresholds: '3': an object is expected, {\"KEY\": VALUE, ...}" },
		{ "{\"production_config\": null}",
		  "production_config: 'null': an object is expected, {\"KEY\": VALUE, ...}" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(file(bad[i].text));
		assert_string_equal(err, bad[i].says);
	}
}

/* The error for a file that is not JSON says what is wrong, and where. */
static void no_json(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "", "line 1: not JSON: there is nothing in it" },
		{ "\n // nothing\n", "line 3: not JSON: there is nothing in it" },
		{ "policy=classic\n", "line 1: not JSON: unexpected character" },
		{ "policy classic\n", "line 1: not JSON: unexpected character" },
		{ "{\n\"policy\": classic\n}", "line 2: not JSON: unexpected character" },
		{ "{\n\"warmup_s\" = 5\n}", "line 2: not JSON: object property name separator" },
		{ "{\n'policy': 1 }", "line 2: not JSON: a string needs double quotes" },
		{ "{\n\"policy\": \"ladder\"\n", "line 3: not JSON: the text ends too early" },
		{ "\n[]", "line 2: not an object but of type array" },
		{ "\"policy\"", "line 1: not an object but of type string" },
		{ "null", "line 1: not an object but of type null" },
	};
	static const char expected[] = " ({\"KEY\": VALUE, ...} is expected)";
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(file(bad[i].text));
		if (strncmp(err, bad[i].says, strlen(bad[i].says)))
			fail_msg("'%s': '%s', wanted '%s'", bad[i].text, err, bad[i].says);
		assert_in_range(strlen(err), strlen(expected), sizeof(err));
		assert_string_equal(err + strlen(err) - strlen(expected), expected);
	}
	assert_false(conf_file(&c, "{}\n\0{", 5, note_ignored, NULL, err, sizeof(err)));
	assert_non_null(strstr(err, "line 2: not JSON: a NUL byte"));
}

static void bad_shape(void **state)
{
	static const char *const bad[] = {
		"", " ", "[]", "3", "null", "\"x\"", "{", "}", "{\"warmup_s\": 1", "{\"warmup_s\"}",
		"{\"warmup_s\": 1,}", "{'warmup_s': 1}", "{warmup_s: 1}", "{\"warmup_s\": 1} x",
		"{\"warmup_s\": 1}{}", "{\"warmup_s\": NaN}", "{\"warmup_s\": 0x5}",
		"{\"unknown\": 1}", "{\"thresholds\": {\"unknown\": 1}}",
		"{\"thresholds\": {\"warmup_s\": 1}}", "{\"alerting\": {\"max_processes\": 64}}",
		"{\"fault_rate_warning_\": 1}",
		"{\"production_config\": {\"production_config\": {}}}",
		"{\"warmup_s\": 1 /* }", "{\"warmup_s\": 1 /*/}",
		"{\"pmc\": \"off}", "{\"pmc\": \"\\",
		"{\"pmc\": \"\xff\"}", "[[[[[[[[[[[[[[[[[[[[[[[[", "/", "//", "/*",
		"99999999999999999999999999",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (file(bad[i]))
			fail_msg("accepted: %s", bad[i]);
		assert_true(*err);
	}
	assert_false(conf_file(&c, "{}\0{", 4, note_ignored, NULL, err, sizeof(err)));
}

/* What get -j prints is what apply takes: every key, as it was. */
static void printed(void **state)
{
	struct conf in_force = { .has_events = true, .events = "a=r1f,b=cycles" };
	struct json_object *o;
	unsigned int key;
	int events;

	(void)state;
	for (key = 1; key <= SEEPAGE_CFG_MAX; key++) {
		in_force.set[key] = true;
		in_force.v[key] = cfg_keys[key].max;
	}
	for (events = 1; events >= 0; events--) {
		in_force.has_events = events;
		o = conf_json(&in_force, 0, false);
		assert_true(file(json_object_to_json_string(o)));
		assert_string_equal(ignored_names, "");
		json_object_put(o);
		assert_memory_equal(c.set, in_force.set, sizeof(c.set));
		assert_memory_equal(c.v, in_force.v, sizeof(c.v));
		assert_int_equal(c.has_events, events);
		assert_string_equal(c.events, events ? in_force.events : "");
	}
}

/* Each value is right by itself; beside what is in force they are not. */
static void pairs(void **state)
{
	struct conf running = { 0 };

	(void)state;
	assert_true(file("{\"sample_interval_ms\": 500}"));
	assert_false(conf_consistent(&c, NULL, err, sizeof(err)));
	assert_string_equal(err, "suspect_interval_ms must not exceed sample_interval_ms "
			    "(1000 by default, 500)");
	running.set[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] = true;
	running.v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] = 500;
	assert_true(conf_consistent(&c, &running, err, sizeof(err)));
	running.v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] = 501;
	assert_false(conf_consistent(&c, &running, err, sizeof(err)));
	assert_non_null(strstr(err, "(501 now, 500)"));
	assert_true(file("{\"sample_interval_ms\": 500, \"suspect_interval_ms\": 500}"));
	assert_true(conf_consistent(&c, &running, err, sizeof(err)));
	assert_true(file("{\"fault_rate_warning\": 6, \"fault_rate_critical\": 5}"));
	assert_false(conf_consistent(&c, NULL, err, sizeof(err)));
	assert_string_equal(err, "fault_rate_warning must not exceed fault_rate_critical (6, 5)");
	assert_true(file("{}"));
	assert_true(conf_consistent(&c, NULL, err, sizeof(err)));
}

/* No prefix of a right file is right, and none upsets the parser. */
static void prefixes(void **state)
{
	static const char text[] =
		"{\"thresholds\":{\"fault_rate_warning\":300/*c*/},\n"
		"\"policy\":\"la\\\"d\"}";
	char part[sizeof(text)];
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(text) - 1; n++) {
		memcpy(part, text, n);
		part[n] = '\0';
		assert_false(file(part));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words), cmocka_unit_test(word_status),
		cmocka_unit_test(ranges), cmocka_unit_test(flat),
		cmocka_unit_test(older_shape), cmocka_unit_test(bad_values),
		cmocka_unit_test(no_json), cmocka_unit_test(bad_shape),
		cmocka_unit_test(printed), cmocka_unit_test(pairs),
		cmocka_unit_test(prefixes),
	};

	return cmocka_run_group_tests_name("ctl_conf", tests, NULL, NULL);
}
