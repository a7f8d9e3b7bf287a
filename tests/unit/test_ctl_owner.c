// SPDX-License-Identifier: GPL-2.0
/* The names of users: a directory of users that hangs holds up one alert, not each. */
#include "msg.h"
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static u64 now_ms = 1000, takes_ms;
static unsigned int asked;

u64 __wrap_clock_ms(void);
struct passwd *__wrap_getpwuid(uid_t uid);

u64 __wrap_clock_ms(void)
{
	return now_ms;
}

/* A slow answer is that of a time-out: no such user. */
struct passwd *__wrap_getpwuid(uid_t uid)
{
	static char names[][4] = { "ann", "bob" };
	static struct passwd pw;

	asked++;
	now_ms += takes_ms;
	pw = (struct passwd){ .pw_name = names[uid % 2], .pw_uid = uid };
	return takes_ms ? NULL : &pw;
}

/* name_of(): as a line of an alert has it, after owner_forget() of the alert before */
static const char *name_of(u32 uid)
{
	struct nl_msg *m = msg_new();
	static char text[TEXT_MAX];
	struct message msg;

	nla_put_u32(m, SEEPAGE_A_UID, uid);
	assert_int_equal(msg_parse(&msg, nlmsg_hdr(m)), 0);
	snprintf(text, sizeof(text), "%s", owner_user(&msg));
	nlmsg_free(m);
	owner_forget();
	return text;
}

/* unit_in(): the unit of a process of cgroup 7, likewise */
static const char *unit_in(const char *cgroup)
{
	struct nl_msg *m = msg_new();
	static char text[TEXT_MAX];
	struct nlattr *identity;
	struct message msg;

	nla_put_u64(m, SEEPAGE_A_CGROUP_ID, 7);
	identity = nla_nest_start(m, SEEPAGE_A_IDENTITY);
	nla_put_string(m, SEEPAGE_IDENTITY_A_CGROUP, cgroup);
	nla_nest_end(m, identity);
	assert_int_equal(msg_parse(&msg, nlmsg_hdr(m)), 0);
	owner_fill(&msg, 1);
	snprintf(text, sizeof(text), "%s", msg.unit);
	nlmsg_free(m);
	owner_forget();
	return text;
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(name_of(1000), "ann");
	assert_string_equal(name_of(1001), "bob");
	assert_string_equal(name_of(1000), "ann");
	assert_int_equal(asked, 3);
}

static void a_directory_that_hangs(void **state)
{
	unsigned int i;

	(void)state;
	asked = 0;
	takes_ms = 30000;
	for (i = 0; i < 100; i++)
		assert_string_equal(name_of(1000), "1000");
	assert_string_equal(name_of(1001), "1001");
	assert_int_equal(asked, 1);
	assert_null(owner_passwd(1002));
	assert_int_equal(asked, 1);
	/* units are not asked of it */
	assert_string_equal(unit_in("/system.slice/a.service"), "a.service");
	assert_string_equal(unit_in("/system.slice/b.service"), "b.service");
	assert_string_equal(name_of(1000), "1000");
	assert_int_equal(asked, 1);
	/* it is asked again ten minutes later, and answers */
	takes_ms = 0;
	now_ms += 599999;
	assert_string_equal(name_of(1000), "1000");
	now_ms++;
	assert_string_equal(name_of(1002), "ann");
	assert_string_equal(name_of(1000), "ann");
	assert_int_equal(asked, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names), cmocka_unit_test(a_directory_that_hangs),
	};

	return cmocka_run_group_tests_name("ctl_owner", tests, NULL, NULL);
}
