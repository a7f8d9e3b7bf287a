// SPDX-License-Identifier: GPL-2.0
/* Columns, order and user names of processes, from messages as the module sends them */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "printed.h"

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

static void put_text(struct nl_msg *m, int attr, const char *s)
{
	if (s)
		nla_put(m, attr, (int)strlen(s), s);
}

/*
 * The line of an alert of which the module keeps @exe, @cmdline and @parent. Its pid is that of
 * this process, of another user and program.
 */
static void line(u32 uid, const char *exe, const char *cmdline, u32 ppid, const char *parent,
		 char *buf)
{
	struct nl_msg *m = msg_new();
	struct nlattr *nest;
	struct message rec;
	struct place p;

	nla_put_u64(m, SEEPAGE_A_SEQ, 1);
	nla_put_u32(m, SEEPAGE_A_PID, (u32)getpid());
	nla_put_u32(m, SEEPAGE_A_UID, uid);
	nla_put_u8(m, SEEPAGE_A_STATE, exe || cmdline ? SEEPAGE_STATE_RUNAWAY :
							SEEPAGE_STATE_EXITED);
	nest = nla_nest_start(m, SEEPAGE_A_IDENTITY);
	put_text(m, SEEPAGE_IDENTITY_A_EXE, exe);
	put_text(m, SEEPAGE_IDENTITY_A_CMDLINE, cmdline);
	put_text(m, SEEPAGE_IDENTITY_A_PARENT, parent);
	if (ppid)
		nla_put_u32(m, SEEPAGE_IDENTITY_A_PPID, ppid);
	nla_nest_end(m, nest);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	place_find(&rec, false, &p);
	owner_text(&rec, &p, buf, 4 * TEXT_MAX);
	place_free(&p);
	owner_forget();
	nlmsg_free(m);
}

/* User, parent and command are those that were kept, not those of a later process. */
static void lines(void **state)
{
	char text[4 * TEXT_MAX], many[IDENTITY_MAX + 1], name[64];
	size_t n;

	(void)state;
	line(0, "/usr/bin/python3.11", "/usr/bin/python3 app.py --x", 812, "gunicorn", text);
	assert_string_equal(text, "by root, parent gunicorn (812): /usr/bin/python3 app.py --x");
	line(4000000001U, "/bin/a\n", NULL, 1, NULL, text);
	assert_string_equal(text, "by 4000000001, parent 1: /bin/a\\x0a");
	line(0, NULL, "x\033[2J\xff\nby alice", 7, "a\tb", text);
	assert_string_equal(text, "by root, parent a\\x09b (7): x\\x1b[2J\\xff\\x0aby alice");
	line(0, NULL, NULL, 0, NULL, text);
	assert_string_equal(text, "by root");

	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	line(0, NULL, many, 812, "gunicorn", text);
	assert_int_equal(strlen(text), 96);
	assert_string_equal(text + 93, "...");
	/* what fits exactly is whole */
	n = 96 - strlen("by root, parent gunicorn (812): ");
	many[n] = '\0';
	line(0, NULL, many, 812, "gunicorn", text);
	assert_string_equal(text + 96 - n, many);
	/* a parent of a long name leaves some of the command */
	memset(name, '\n', sizeof(name));
	name[15] = '\0';
	memset(many, '\n', IDENTITY_MAX);
	line(0, NULL, many, 812, name, text);
	assert_non_null(strstr(text, "parent \\x0a\\x0a\\x0a\\x0a\\x0a... (812): \\x0a"));
	assert_int_equal(strlen(text), 94);
	assert_string_equal(text + strlen(text) - 7, "\\x0a...");
}

static int list(void *arg)
{
	static const u8 columns[] = { SEEPAGE_A_PID, COLUMN_UNIT };

	list_print(columns, 2, msg, 4);
	return 0;
}

static void notes(void **state)
{
	char text[512];

	(void)state;
	msg[1].note = "by root: leak";
	assert_int_equal(printed(list, NULL, PRINTED_OUT, text, sizeof(text)), 0);
	assert_string_equal(text, "PID  UNIT\n 10  -\n 20  b.service\n    by root: leak\n"
				  " 30  a.service\n 40  -\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(order, setup, teardown),
		cmocka_unit_test(names),
		cmocka_unit_test(names_are_headings),
		cmocka_unit_test(users),
		cmocka_unit_test(units),
		cmocka_unit_test(lines),
		cmocka_unit_test_setup_teardown(notes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
