// SPDX-License-Identifier: GPL-2.0
/*
 * watch --where: which alerts the tool is run for, with which words, and whose answer is
 * printed. A script that takes the place of the tool writes its words to a file.
 */
#include "msg.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "auto/auto.h"
#include <cmocka.h>

#define PATIENCE_MS	60000

static char run[64], key[KEPT_KEY];

static void write_at(const char *name, const char *text, mode_t mode)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", run, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int begin(void **state)
{
	char text[512];
	int dir = procfs_open((u32)getpid(), 0);
	bool ok;

	snprintf(run, sizeof(run), "/tmp/auto-XXXXXX");
	if (!mkdtemp(run))
		return -1;
	ok = kept_key(dir, (u32)getpid(), key);
	close(dir);
	setenv("SEEPAGE_RUN", run, 1);
	setenv("SEEPAGE_LIBEXEC", run, 1);
	snprintf(text, sizeof(text), "%s/where", run);
	if (!ok || mkdir(text, 0700))
		return -1;
	snprintf(text, sizeof(text), "#!/bin/sh\necho \"$@\" >>%s/words\n", run);
	write_at("seepage-where", text, 0755);
	return 0;
}

static int end(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", run);
	return system(command);
}

static void keep(const char *whose, u64 ago_s)
{
	char name[KEPT_KEY + 32], text[128];

	snprintf(name, sizeof(name), "where/answer-%s", whose);
	snprintf(text, sizeof(text), "{\"pid\":1,\"time_ns\":%llu}",
		 clock_real_ns() - ago_s * 1000000000);
	write_at(name, text, 0600);
}

static void alert(struct asker *a, int proc_state, u64 seq, u64 age_s, bool shown)
{
	struct nl_msg *m = msg_new();
	struct message msg;

	nla_put_u32(m, SEEPAGE_A_PID, (u32)getpid());
	nla_put_u8(m, SEEPAGE_A_STATE, (u8)proc_state);
	nla_put_u64(m, SEEPAGE_A_SEQ, seq);
	nla_put_u64(m, SEEPAGE_A_AGE_SECONDS, age_s);
	assert_int_equal(msg_parse(&msg, nlmsg_hdr(m)), 0);
	asker_alert(a, &msg, false, shown);
	nlmsg_free(m);
}

/* Waits for the tool. Returns whether there is something to print. */
static bool answered(struct asker *a, u64 *seq)
{
	struct pollfd p = { .fd = asker_fd(a), .events = POLLIN };
	struct json_object *o;

	assert_true(p.fd >= 0);
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	o = asker_answer(a, seq);
	json_object_put(o);
	return o;
}

/* The words of all runs so far; they are forgotten */
static char *words(void)
{
	char path[80], *text;

	snprintf(path, sizeof(path), "%s/words", run);
	text = procfs_read(AT_FDCWD, path);
	unlink(path);
	return text;
}

static void assert_words(const char *format)
{
	char *got = words(), want[128];

	snprintf(want, sizeof(want), format, getpid(), getpid());
	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void first_and_second_one_after_the_other(void **state)
{
	struct asker *a = asker_new(NULL);
	u64 seq;

	assert_non_null(a);
	assert_int_equal(asker_fd(a), -1);
	alert(a, SEEPAGE_STATE_WATCH, 1, 0, true);
	alert(a, SEEPAGE_STATE_RECOVERED, 2, 0, true);
	alert(a, SEEPAGE_STATE_EXITED, 3, 0, true);
	assert_int_equal(asker_fd(a), -1);
	keep(key, 0);
	alert(a, SEEPAGE_STATE_SUSPECTED, 4, 0, true);
	alert(a, SEEPAGE_STATE_CONFIRMED, 5, 0, true);
	assert_false(answered(a, &seq));	/* a first look has no answer */
	assert_int_equal(seq, 4);
	assert_words("--keep first %d\n");
	assert_true(answered(a, &seq));
	assert_int_equal(seq, 5);
	assert_words("--keep second %d\n");
	assert_int_equal(asker_fd(a), -1);
	alert(a, SEEPAGE_STATE_RUNAWAY, 6, 0, false);	/* not printed: nor is its answer */
	assert_false(answered(a, &seq));
	asker_free(a);
	free(words());
}

static void a_burst_only_for_the_second_look(void **state)
{
	struct asker *a = asker_new("burst");
	u64 seq;

	alert(a, SEEPAGE_STATE_SUSPECTED, 1, 0, true);
	alert(a, SEEPAGE_STATE_CONFIRMED, 2, 0, true);
	answered(a, &seq);
	answered(a, &seq);
	assert_words("--keep first %d\n--keep second %d --burst\n");
	asker_free(a);
}

/* The pid was reused since, or the answer is of an earlier process of it. */
static void nothing_of_another_process(void **state)
{
	struct asker *a = asker_new("census");
	char other[KEPT_KEY + 8], name[2 * KEPT_KEY];
	u64 seq;

	alert(a, SEEPAGE_STATE_CONFIRMED, 1, 1000000, true);	/* it is younger than that */
	assert_int_equal(asker_fd(a), -1);
	snprintf(name, sizeof(name), "%s/where/answer-%s", run, key);
	unlink(name);
	snprintf(other, sizeof(other), "%d-1-%s", getpid(), strrchr(key, '-'));
	keep(other, 0);
	alert(a, SEEPAGE_STATE_CONFIRMED, 2, 0, true);
	assert_false(answered(a, &seq));
	keep(key, 100);			/* from before an exec */
	alert(a, SEEPAGE_STATE_CONFIRMED, 3, 0, true);
	assert_false(answered(a, &seq));
	asker_free(a);
	free(words());
}

static void a_tool_that_does_not_end_ends_with_watch(void **state)
{
	struct asker *a;
	u64 begin_ms = clock_ms();

	write_at("seepage-where", "#!/bin/sh\nexec sleep 1000\n", 0755);
	a = asker_new(NULL);
	alert(a, SEEPAGE_STATE_CONFIRMED, 1, 0, true);
	for (int i = 0; i < 100; i++)	/* no more than it has room for */
		alert(a, SEEPAGE_STATE_CONFIRMED, 2, 0, true);
	assert_true(asker_fd(a) >= 0);
	asker_free(a);
	assert_true(clock_ms() - begin_ms < PATIENCE_MS);
}

static void nobody_is_asked(void **state)
{
	assert_null(asker_new("off"));
	assert_true(asker_word("census") && asker_word("burst") && asker_word("off"));
	assert_false(asker_word("") || asker_word("on"));
	alert(NULL, SEEPAGE_STATE_CONFIRMED, 1, 0, true);
	assert_int_equal(asker_fd(NULL), -1);
	asker_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_and_second_one_after_the_other),
		cmocka_unit_test(a_burst_only_for_the_second_look),
		cmocka_unit_test(nothing_of_another_process),
		cmocka_unit_test(a_tool_that_does_not_end_ends_with_watch),
		cmocka_unit_test(nobody_is_asked),
	};

	if (geteuid()) {
		puts("skipped: only root is asked for");
		return 0;
	}
	return cmocka_run_group_tests(tests, begin, end);
}
