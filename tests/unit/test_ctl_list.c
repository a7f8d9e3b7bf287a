// SPDX-License-Identifier: GPL-2.0
/* Columns, order and user names of processes, from messages as the module sends them */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static struct message msg[4];
static struct nl_msg *raw[4];

static void make(unsigned int i, u32 pid, const char *comm, u8 state, u8 conf, u64 rss)
{
	raw[i] = msg_new();
	nla_put_u32(raw[i], SEEPAGE_A_PID, pid);
	nla_put_string(raw[i], SEEPAGE_A_COMM, comm);
	nla_put_u8(raw[i], SEEPAGE_A_STATE, state);
	nla_put_u8(raw[i], SEEPAGE_A_CONFIDENCE, conf);
	nla_put_u64(raw[i], SEEPAGE_A_RSS_BYTES, rss);
}

static int setup(void **state)
{
	(void)state;
	memset(msg, 0, sizeof(msg));
	make(0, 10, "ok", SEEPAGE_STATE_OK, 0, 300);
	make(1, 20, "leak", SEEPAGE_STATE_RUNAWAY, 90, 200);
	nla_put_u64(raw[1], SEEPAGE_A_TTE_SECONDS, 500);
	put_s64(raw[1], SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 100);
	make(2, 30, "slow", SEEPAGE_STATE_SUSPECTED, 90, 400);
	nla_put_u64(raw[2], SEEPAGE_A_TTE_SECONDS, 5000);
	put_s64(raw[2], SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 200);
	make(3, 40, "was", SEEPAGE_STATE_RECOVERED, 20, 100);
	put_s64(raw[3], SEEPAGE_A_GROWTH_BYTES_PER_HOUR, -5);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(msg_parse(&msg[i], nlmsg_hdr(raw[i])), 0);
	msg[1].unit = "b.service";
	msg[2].unit = "a.service";
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		nlmsg_free(raw[i]);
	return 0;
}

static void sorted_by(u8 column, bool reverse, const char *pids)
{
	char got[64] = "";

	list_sort(msg, 4, (struct order){ column, reverse });
	for (unsigned int i = 0; i < 4; i++)
		sentence_append(got, sizeof(got), "%s%llu", i ? " " : "",
				msg_get(&msg[i], SEEPAGE_A_PID, 0));
	assert_string_equal(got, pids);
}

/* The default is by suspicion; what is not known is last in both directions. */
static void order(void **state)
{
	(void)state;
	sorted_by(0, false, "30 20 40 10");
	sorted_by(0, true, "10 40 20 30");
	sorted_by(SEEPAGE_A_RSS_BYTES, false, "30 10 20 40");
	sorted_by(SEEPAGE_A_RSS_BYTES, true, "40 20 10 30");
	sorted_by(SEEPAGE_A_GROWTH_BYTES_PER_HOUR, false, "30 20 40 10");
	sorted_by(SEEPAGE_A_GROWTH_BYTES_PER_HOUR, true, "40 20 30 10");
	sorted_by(SEEPAGE_A_PID, false, "10 20 30 40");
	sorted_by(SEEPAGE_A_PID, true, "40 30 20 10");
	sorted_by(SEEPAGE_A_TTE_SECONDS, false, "20 30 40 10");
	sorted_by(SEEPAGE_A_TTE_SECONDS, true, "30 20 40 10");
	sorted_by(SEEPAGE_A_COMM, false, "20 10 30 40");
	sorted_by(COLUMN_UNIT, false, "30 20 40 10");
	sorted_by(COLUMN_UNIT, true, "20 30 40 10");
	/* recovered is a higher number than runaway, but less of an alarm than ok */
	sorted_by(SEEPAGE_A_STATE, false, "20 30 10 40");
}

/* Runs order_parse() or columns_parse() without its error message on stderr. */
static int quiet(const char *columns, const char *sort, u8 *ids, unsigned int *n, struct order *o)
{
	struct ctx ctx = { .cmd = "ps" };
	int old = dup(STDERR_FILENO), status;

	assert_non_null(freopen("/dev/null", "w", stderr));
	status = columns ? columns_parse(&ctx, columns, ids, n) : order_parse(&ctx, sort, o);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	return status;
}

static void names(void **state)
{
	static const char *const wrong[] = { "", "foo", "pid,", ",pid", "pid,,comm", "PID", "pi",
		"pid comm" };
	static const char *const wrong_order[] = { "", "foo", "rss,", "rss,x", "rss,rr", ",r" };
	u8 ids[LIST_COLUMNS];
	char many[8 * (LIST_COLUMNS + 1)] = "";
	struct order o;
	unsigned int n;
	size_t i;

	(void)state;
	assert_int_equal(quiet("pid,user,unit,growth,tte,severity", NULL, ids, &n, NULL), 0);
	assert_int_equal(n, 6);
	assert_int_equal(ids[0], SEEPAGE_A_PID);
	assert_int_equal(ids[1], COLUMN_USER);
	assert_int_equal(ids[2], COLUMN_UNIT);
	assert_int_equal(ids[3], SEEPAGE_A_GROWTH_BYTES_PER_HOUR);
	assert_int_equal(ids[4], SEEPAGE_A_TTE_SECONDS);
	assert_int_equal(ids[5], SEEPAGE_A_SEVERITY);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(quiet(wrong[i], NULL, ids, &n, NULL), EXIT_USAGE);
	for (i = 0; i < LIST_COLUMNS; i++)
		sentence_append(many, sizeof(many), "%spid", i ? "," : "");
	assert_int_equal(quiet(many, NULL, ids, &n, NULL), 0);
	sentence_append(many, sizeof(many), ",pid");
	assert_int_equal(quiet(many, NULL, ids, &n, NULL), EXIT_USAGE);

	assert_int_equal(quiet(NULL, "rss,r", NULL, NULL, &o), 0);
	assert_int_equal(o.column, SEEPAGE_A_RSS_BYTES);
	assert_true(o.reverse);
	assert_int_equal(quiet(NULL, "unit", NULL, NULL, &o), 0);
	assert_int_equal(o.column, COLUMN_UNIT);
	assert_false(o.reverse);
	for (i = 0; i < ARRAY_SIZE(wrong_order); i++)
		assert_int_equal(quiet(NULL, wrong_order[i], NULL, NULL, &o), EXIT_USAGE);
}

/* Names of columns are their headings in small letters, as far as a '/'. */
static void names_are_headings(void **state)
{
	static const char all[] = "pid,comm,user,unit,state,conf,rss,anon,file,shmem,swap,vsz,brk,"
				  "growth,tte,faults,age,uid,policy,severity";
	const char *at = all;
	u8 ids[LIST_COLUMNS];
	unsigned int n, i;

	(void)state;
	assert_int_equal(quiet(all, NULL, ids, &n, NULL), 0);
	assert_int_equal(n, LIST_COLUMNS);
	for (i = 0; i < n; i++) {
		size_t len = strcspn(at, ",");

		assert_int_equal(strcspn(column_head(ids[i]), "/"), len);
		assert_int_equal(strncasecmp(column_head(ids[i]), at, len), 0);
		at += len + 1;
	}
}

/* The user of a process by name, by number where there is no name; both only once */
static void users(void **state)
{
	struct nl_msg *m = msg_new(), *other = msg_new();
	struct message one[2];
	char text[TEXT_MAX];

	(void)state;
	nla_put_u32(m, SEEPAGE_A_UID, 0);
	nla_put_u32(other, SEEPAGE_A_UID, 4000000001U);
	assert_int_equal(msg_parse(&one[0], nlmsg_hdr(m)), 0);
	assert_int_equal(msg_parse(&one[1], nlmsg_hdr(other)), 0);
	column_text(&one[0], COLUMN_USER, text);
	assert_string_equal(text, "-");
	owner_fill(one, 2);
	column_text(&one[0], COLUMN_USER, text);
	assert_string_equal(text, "root");
	column_text(&one[1], COLUMN_USER, text);
	assert_string_equal(text, "4000000001");
	column_text(&one[1], COLUMN_UNIT, text);
	assert_string_equal(text, "-");
	owner_forget();
	nlmsg_free(m);
	nlmsg_free(other);
}

/*
 * A cgroup is looked up once: a second process of it, which does not exist, has the unit of
 * the first, which does.
 */
static void units(void **state)
{
	struct nl_msg *m = msg_new(), *other = msg_new();
	struct message one[2];

	(void)state;
	nla_put_u32(m, SEEPAGE_A_PID, (u32)getpid());
	nla_put_u64(m, SEEPAGE_A_CGROUP_ID, 77);
	nla_put_u32(other, SEEPAGE_A_PID, 0x7fffffff);
	nla_put_u64(other, SEEPAGE_A_CGROUP_ID, 77);
	assert_int_equal(msg_parse(&one[0], nlmsg_hdr(m)), 0);
	assert_int_equal(msg_parse(&one[1], nlmsg_hdr(other)), 0);
	owner_fill(&one[1], 1);
	assert_null(one[1].unit);
	owner_fill(one, 2);
	assert_non_null(one[0].unit);
	assert_ptr_equal(one[0].unit, one[1].unit);
	owner_forget();
	nlmsg_free(m);
	nlmsg_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(order, setup, teardown),
		cmocka_unit_test(names),
		cmocka_unit_test(names_are_headings),
		cmocka_unit_test(users),
		cmocka_unit_test(units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
