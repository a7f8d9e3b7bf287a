// SPDX-License-Identifier: GPL-2.0
/* explain --cold: what is printed of a look at a process */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include "../../ctl/cold/explain.c"
#include <cmocka.h>
#include "printed.h"

static char out[8192];

static int print(void *r)
{
	report_print(r);
	return 0;
}

/* Prints @r. @out: what it printed */
static void report(struct cold_report *r)
{
	assert_int_equal(printed(print, r, PRINTED_OUT, out, sizeof(out)), 0);
}

/* The module's answer about a process of which it knows @floors floors and no growth */
static void learn(struct cold_report *r, unsigned int floors)
{
	struct nl_msg *m = msg_new();
	struct nlattr *nest;
	struct message msg;

	nla_put_u8(m, SEEPAGE_A_SUBJECT, SEEPAGE_SUBJECT_MEMORY);
	nest = nla_nest_start(m, SEEPAGE_A_FACTORS);
	put_factor(m, SEEPAGE_FACTOR_FLOOR, 0, 30, 0, 0);
	put_factor(m, SEEPAGE_FACTOR_PERSIST, 0, 48, 0, 0);
	nla_nest_end(m, nest);
	if (floors < LEVEL_EPOCHS)
		nla_put_u8(m, SEEPAGE_A_FLOORS, (u8)floors);
	assert_int_equal(msg_parse(&msg, nlmsg_hdr(m)), 0);
	*r = (struct cold_report){ .permille = -1, .floors = LEVEL_EPOCHS, .alone = true };
	growth_of(r, &msg);
	nlmsg_free(m);
}

/* A process seen for a short time may grow all the same. */
static void of_few_floors(void **state)
{
	struct cold_report r;

	(void)state;
	learn(&r, 3);
	report(&r);
	assert_non_null(strstr(out, "not known yet, after 3 of 8 floors"));
	assert_null(strstr(out, "has not seen it grow"));
	learn(&r, LEVEL_EPOCHS);
	report(&r);
	assert_null(strstr(out, "not known yet"));
	assert_non_null(strstr(out, "The module has not seen it grow by 4 MB"));
}

/* All of it unused is not "most". */
static void of_a_growth_that_nothing_uses(void **state)
{
	struct cold_report r = { .permille = 1000, .grown = 8 << 20, .floors = LEVEL_EPOCHS };
	u32 i;

	(void)state;
	for (i = 0; i < COLD_POINTS; i++)
		cold_add(&r.curve, 1000ULL << (2 * i), 1000);
	assert_int_equal(cold_rate(&r.curve), COLD_LATE);
	report(&r);
	assert_non_null(strstr(out, "100.0 % after 1.0"));
	assert_non_null(strstr(out, "Little or none was used soon."));
}

static void of_the_limit_of_a_cgroup(void **state)
{
	struct cold_report r = { .permille = -1, .floors = LEVEL_EPOCHS,
				 .cgroup = { .limit = 300 << 20, .used = 60 << 20 } };
	struct json_object *o;
	const char *text;

	(void)state;
	strcpy(r.limit, "memory.max /a b");
	report(&r);
	assert_non_null(strstr(out, "Of the limits of its cgroups memory.max of /a b leaves least, "
			       "240.0 MiB.\n"));
	assert_null(strstr(out, "MemoryHigh"));
	strcpy(r.limit, "memory.high /a\x1b");
	report(&r);
	assert_non_null(strstr(out, "memory.high of /a\\x1b leaves least, 240.0 MiB. Beyond it"));
	assert_non_null(strstr(out, "MemoryHigh=."));
	/* the topmost cgroup that is mounted */
	strcpy(r.limit, "memory.max ");
	o = report_json(&r);
	text = json_object_to_json_string_ext(json_object_object_get(o, "cgroup_limit"),
					      JSON_C_TO_STRING_PLAIN);
	assert_string_equal(text, "{\"file\":\"memory.max\",\"cgroup\":\"\\/\","
			    "\"left_bytes\":251658240}");
	json_object_put(o);
	r.cgroup.limit = 0;
	report(&r);
	assert_null(strstr(out, "cgroup"));
	o = report_json(&r);
	assert_null(json_object_object_get(o, "cgroup_limit"));
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_few_floors), cmocka_unit_test(of_a_growth_that_nothing_uses),
		cmocka_unit_test(of_the_limit_of_a_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
