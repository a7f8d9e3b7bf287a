// SPDX-License-Identifier: GPL-2.0
/* What /proc shows of a process, and when it must not be read: a reused pid */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static bool known(pid_t pid, int proc_state, u64 age_s, u64 ago_s)
{
	struct nl_msg *m = msg_new();
	struct timespec now;
	struct place p;
	struct message rec;
	bool found;

	clock_gettime(CLOCK_REALTIME, &now);
	nla_put_u32(m, SEEPAGE_A_PID, (u32)pid);
	nla_put_u8(m, SEEPAGE_A_STATE, (u8)proc_state);
	nla_put_u64(m, SEEPAGE_A_AGE_SECONDS, age_s);
	if (ago_s)
		nla_put_u64(m, SEEPAGE_A_TIME_NS, ((u64)now.tv_sec - ago_s) * 1000000000 +
			    (u64)now.tv_nsec);
	assert_int_equal(msg_parse(&rec, nlmsg_hdr(m)), 0);
	place_find(&rec, false, &p);
	found = p.exe && p.exe[0] == '/';
	if (found)
		assert_true(p.cgroup && p.cgroup[0] == '/');
	else
		assert_null(p.cgroup);
	/* the parent of a process that is no alert is read on demand */
	assert_int_equal(p.cmdline && strstr(p.cmdline, "test_ctl_place"), found);
	assert_int_equal(p.ppid, 0);
	assert_null(p.parent);
	place_find_parent(&rec, &p);
	assert_int_equal(p.ppid, found ? getppid() : 0);
	assert_int_equal(p.parent && *p.parent, found);
	place_free(&p);
	nlmsg_free(m);
	return found;
}

static void me(void **state)
{
	(void)state;
	assert_true(known(getpid(), SEEPAGE_STATE_OK, 0, 0));
	assert_false(known(getpid(), SEEPAGE_STATE_EXITED, 0, 0));
}

/* This process is younger than the one the message speaks of: the pid was reused. */
static void reused(void **state)
{
	(void)state;
	assert_false(known(getpid(), SEEPAGE_STATE_OK, 3600, 0));
	assert_false(known(getpid(), SEEPAGE_STATE_SUSPECTED, 0, 3600));
}

static void gone(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(known(pid, SEEPAGE_STATE_OK, 0, 0));
	assert_false(known(0, SEEPAGE_STATE_OK, 0, 0));
	assert_false(known(-1, SEEPAGE_STATE_OK, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(me), cmocka_unit_test(reused), cmocka_unit_test(gone),
	};

	return cmocka_run_group_tests_name("ctl_place", tests, NULL, NULL);
}
