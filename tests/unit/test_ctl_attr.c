// SPDX-License-Identifier: GPL-2.0
/* The attribute table, and JSON made from messages */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct message rec;
static const struct place nowhere;

static const char *get(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v))
		fail_msg("key %s is missing", key);
	return json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* Every attribute has a key of its own and a heading, unless it is a request. */
static void table_is_complete(void **state)
{
	unsigned int i, j;

	(void)state;
	for (i = 0; i <= SEEPAGE_A_MAX; i++) {
		const struct attr_desc *d = &attr_table[i];

		if (!d->key || !d->text)
			fail_msg("attribute %u is not in the table", i);
		if (d->kind == KIND_REQUEST)
			continue;
		assert_true(*d->key && (*d->text || i <= SEEPAGE_A_PAD));
		for (j = 0; j < i; j++)
			assert_string_not_equal(d->key, attr_table[j].key);
	}
}

static void names_are_complete(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i <= SEEPAGE_STATE_MAX; i++) {
		assert_non_null(state_name(i));
		assert_int_equal(state_from_name(state_name(i), strlen(state_name(i))), i);
	}
	for (i = 0; i <= SEEPAGE_POLICY_MAX; i++)
		assert_non_null(policy_name(i));
	for (i = 1; i <= SEEPAGE_FACTOR_MAX; i++)
		assert_true(factor_name(i) && factor_unit(i));
	for (i = 1; i <= SEEPAGE_GATE_MAX; i++)
		assert_true(gate_name(i) && gate_unit(i));
	for (i = 1; i <= SEEPAGE_COUNTER_MAX; i++)
		assert_non_null(counter_name(i));
	assert_int_equal(reset_from_name("history"), SEEPAGE_RESET_HISTORY);
	assert_int_equal(reset_from_name("alerts"), SEEPAGE_RESET_ALERTS);
	assert_int_equal(reset_from_name("counters"), SEEPAGE_RESET_COUNTERS);
	assert_int_equal(reset_from_name("config"), SEEPAGE_RESET_CONFIG);
	assert_int_equal(reset_from_name("all"), SEEPAGE_RESET_ALL);
	assert_int_equal(reset_from_name("al"), 0);
	assert_null(state_name(SEEPAGE_STATE_MAX + 1));
	assert_null(factor_name(UINT32_MAX));
	assert_null(severity_name(3));
	assert_string_equal(severity_name(10), "critical");
}

static void sizes(void **state)
{
	struct nl_msg *m = msg_new();
	u64 u;
	s64 s;

	(void)state;
	nla_put_u8(m, SEEPAGE_A_STATE, 200);
	nla_put(m, SEEPAGE_A_RSS_BYTES, 3, "abc");
	nla_put(m, SEEPAGE_A_VSZ_BYTES, 0, "");
	nla_put_u32(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 5);
	nla_put_u16(m, SEEPAGE_A_AGE_SECONDS, 77);
	nla_put(m, SEEPAGE_A_COMM, 0, "");
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	assert_false(msg_u64(&rec, SEEPAGE_A_RSS_BYTES, &u));
	assert_false(msg_u64(&rec, SEEPAGE_A_VSZ_BYTES, &u));
	assert_false(msg_u64(&rec, SEEPAGE_A_SWAP_BYTES, &u));
	assert_false(msg_s64(&rec, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, &s));
	assert_true(msg_u64(&rec, SEEPAGE_A_AGE_SECONDS, &u));
	assert_int_equal(u, 77);
	assert_null(attr_json(SEEPAGE_A_STATE, rec.a[SEEPAGE_A_STATE]));
	nlmsg_free(m);
}

static void unknown_is_null(void **state)
{
	static const char *const keys[] = {
		"pid", "comm", "uid", "user", "cgroup", "exe", "cmdline",
		"state", "confidence", "policy",
		"rss_bytes", "anon_bytes", "file_bytes", "shmem_bytes", "swap_bytes", "vsz_bytes",
		"brk_bytes", "growth_bytes_per_hour", "tte_seconds", "faults_user",
		"faults_kernel", "faults_anon", "faults_file", "fault_rate", "age_seconds", "pmc",
		"pmc_signals", "pmc_baseline", "gates", "history",
	};
	struct nl_msg *m = msg_new();
	struct json_object *o;
	size_t i;

	(void)state;
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	o = json_process(&rec, &nowhere);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		assert_string_equal(get(o, keys[i]), "null");
	assert_string_equal(get(o, "score"), "{}");
	assert_string_equal(get(o, "factors"), "[]");
	json_object_put(o);
	nlmsg_free(m);
}

static void alert(void **state)
{
	static const u64 minima[] = { 1, UINT64_MAX };
	struct place place = { .cgroup = (char *)"/a b\n", .exe = (char *)"/bin/\xff",
				.cmdline = (char *)"a \xff", .parent = (char *)"sh", .ppid = 3 };
	struct nl_msg *m = msg_new();
	struct json_object *o;
	struct nlattr *nest;

	(void)state;
	nla_put_u64(m, SEEPAGE_A_SEQ, UINT64_MAX);
	nla_put_u64(m, SEEPAGE_A_TIME_NS, 1795241558770124670);
	nla_put_u8(m, SEEPAGE_A_PREV_STATE, SEEPAGE_STATE_WATCH);
	nla_put_u8(m, SEEPAGE_A_SEVERITY, 10);
	nla_put_u32(m, SEEPAGE_A_PID, 42);
	nla_put_u32(m, SEEPAGE_A_UID, 0);
	nla_put(m, SEEPAGE_A_COMM, 16, "a\"\\\033[31m\xff\xc3\xbc\0junk");
	nla_put_u8(m, SEEPAGE_A_STATE, SEEPAGE_STATE_CONFIRMED);
	nla_put_u8(m, SEEPAGE_A_POLICY, SEEPAGE_POLICY_CLASSIC);
	put_s64(m, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, INT64_MIN);
	nla_put_u64(m, SEEPAGE_A_SWAP_BYTES, 0);
	nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	put_factor(m, SEEPAGE_FACTOR_VSZ_RSS, 25, 25, 400, 300);
	put_factor(m, 99, 1, 2, 3, 4);
	nla_nest_end(m, nest);
	nest = nla_nest_start(m, SEEPAGE_A_GATES);
	put_gate(m, SEEPAGE_GATE_RISING, 0, false, 0, 0);
	nla_nest_end(m, nest);
	nest = nla_nest_start(m, SEEPAGE_A_HISTORY);
	put_level(m, 10000, minima, 2);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	o = json_alert(&rec, &place);
	assert_string_equal(get(o, "seq"), "18446744073709551615");
	assert_string_equal(get(o, "time_ns"), "1795241558770124670");
	assert_string_equal(get(o, "prev_state"), "\"watch\"");
	assert_string_equal(get(o, "comm"), "\"a\\\"\\\\\\u001b[31m\\\\xff\xc3\xbc\"");
	assert_string_equal(get(o, "state"), "\"confirmed\"");
	assert_string_equal(get(o, "policy"), "\"classic\"");
	assert_string_equal(get(o, "cgroup"), "\"/a b\\n\"");
	assert_string_equal(get(o, "exe"), "\"/bin/\\\\xff\"");
	assert_string_equal(get(o, "user"), "\"root\"");
	assert_string_equal(get(o, "cmdline"), "\"a \\\\xff\"");
	assert_string_equal(get(o, "ppid"), "3");
	assert_string_equal(get(o, "parent"), "\"sh\"");
	assert_string_equal(get(o, "growth_bytes_per_hour"), "-9223372036854775808");
	assert_string_equal(get(o, "swap_bytes"), "0");
	assert_string_equal(get(o, "rss_bytes"), "null");
	assert_string_equal(get(o, "score"), "{\"vsz_rss\":25,\"99\":1}");
	json_object_put(o);
	o = json_process(&rec, &nowhere);
	assert_string_equal(get(o, "history"),
			    "[{\"epoch_ms\":10000,\"age_ms\":2500,"
			    "\"minima_bytes\":[1,18446744073709551615]}]");
	assert_non_null(strstr(get(o, "gates"), "\"passed\":false,\"value\":null,\"limit\":null"));
	json_object_put(o);
	nlmsg_free(m);
}

/* A user without a name has none. */
static void nameless(void **state)
{
	struct nl_msg *m = msg_new();
	struct json_object *o;

	(void)state;
	nla_put_u32(m, SEEPAGE_A_UID, 4000000001U);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	o = json_process(&rec, &nowhere);
	assert_string_equal(get(o, "uid"), "4000000001");
	assert_string_equal(get(o, "user"), "null");
	json_object_put(o);
	nlmsg_free(m);
}

/*
 * What the epochs of a level cover: those of one that is not full began when
 * the process was first seen, in the middle of the first of them.
 */
static void history(void **state)
{
	static const u64 minima[8] = { 0 };
	static const struct { u64 epoch, covers; unsigned int n; } want[] = {
		{ 10000, 80000, 8 }, { 20000, 95000, 5 }, { 40000, 75000, 2 }, { 75000, 75000, 1 },
	};
	struct nl_msg *m = msg_new();
	struct nlattr *nest = nla_nest_start(m, SEEPAGE_A_HISTORY);
	struct level l[MSG_LIST_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		put_level(m, want[i].epoch, minima, want[i].n);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	assert_int_equal(msg_levels(&rec, l), ARRAY_SIZE(want));
	for (i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(l[i].covers_ms, want[i].covers);
	nlmsg_free(m);
}

/* A kernel that is wrong, or newer, must not take us down. */
static void hostile(void **state)
{
	static u64 many[200];
	struct factor f[MSG_LIST_MAX];
	struct level l[MSG_LIST_MAX];
	struct gate g[MSG_LIST_MAX];
	struct nl_msg *m = msg_new();
	struct nlattr *nest;
	struct json_object *o;
	int i;

	(void)state;
	nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	for (i = 0; i < MSG_LIST_MAX + 5; i++)
		put_factor(m, 1, 1, 1, 1, 1);
	nla_put_u8(m, SEEPAGE_A_FACTOR, 1);
	nla_nest_end(m, nest);
	nla_put(m, SEEPAGE_A_GATES, 3, "\1\2\3");
	nest = nla_nest_start(m, SEEPAGE_A_HISTORY);
	put_level(m, 1, many, 200);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	assert_int_equal(msg_factors(&rec, f), MSG_LIST_MAX);
	assert_int_equal(msg_gates(&rec, g), 0);
	assert_int_equal(msg_levels(&rec, l), 1);
	assert_int_equal(l[0].n, MINIMA_MAX);
	o = json_process(&rec, &nowhere);
	json_object_put(o);
	nlmsg_free(m);
}

static void text(void **state)
{
	struct nl_msg *m = msg_new();
	char buf[TEXT_MAX];

	(void)state;
	nla_put_u64(m, SEEPAGE_A_RSS_BYTES, 1536);
	nla_put_u8(m, SEEPAGE_A_STATE, 200);
	nla_put_u32(m, SEEPAGE_A_FAULT_RATE, 5);
	nla_put_u32(m, SEEPAGE_A_INTERVAL_MS, 1500);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
#define TEXT(id, table, expect) do {						\
	attr_text(SEEPAGE_A_##id, rec.a[SEEPAGE_A_##id], table, buf, sizeof(buf));	\
	assert_string_equal(buf, expect);					\
} while (0)
	TEXT(RSS_BYTES, true, "1.5K");
	TEXT(RSS_BYTES, false, "1.5 KiB");
	TEXT(ANON_BYTES, true, "-");
	TEXT(COMM, true, "-");
	TEXT(GROWTH_BYTES_PER_HOUR, true, "-");
	TEXT(STATE, true, "#200");
	TEXT(FAULT_RATE, true, "5");
	TEXT(FAULT_RATE, false, "5/s");
	TEXT(INTERVAL_MS, false, "1.5 s");
	nlmsg_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_complete), cmocka_unit_test(names_are_complete),
		cmocka_unit_test(sizes), cmocka_unit_test(unknown_is_null),
		cmocka_unit_test(alert), cmocka_unit_test(nameless), cmocka_unit_test(history),
		cmocka_unit_test(hostile), cmocka_unit_test(text),
	};

	return cmocka_run_group_tests_name("ctl_attr", tests, NULL, NULL);
}
