// SPDX-License-Identifier: GPL-2.0
/* What status says of a module that multicasts nothing. */
#include "msg.h"
#include "../../ctl/cmd/status.c"	/* before cmocka.h, which has another fail() */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

int query_open(const struct ctx *ctx, struct knl *k)
{
	return 1;
}

int query_one(struct knl *k, struct nl_msg *msg, struct nlmsghdr **reply)
{
	return -1;
}

int query_config(struct knl *k, struct conf *c)
{
	return -1;
}

struct nl_msg *knl_msg(struct knl *k, int cmd, int flags)
{
	return NULL;
}

void knl_close(struct knl *k)
{
}

int knl_fail(const struct ctx *ctx, const struct knl *k, const char *needs)
{
	return 1;
}

struct json_object *kept_cost(void)
{
	return NULL;
}

/* Returns what status prints. */
static const char *printed(bool json, int off)
{
	static char text[16384];
	static const struct conf c;
	struct ctx ctx = { .json = json };
	struct nl_msg *m = msg_new();
	FILE *file = tmpfile();
	struct message msg;
	int before = dup(1);
	ssize_t n;

	if (off >= 0)
		nla_put_u8(m, SEEPAGE_A_MULTICAST_OFF, (u8)off);
	assert_int_equal(msg_parse(&msg, nlmsg_hdr(m)), 0);
	fflush(stdout);
	dup2(fileno(file), 1);
	if (json)
		print_json(&ctx, &msg, &c);
	else
		print_text(&msg, &c);
	fflush(stdout);
	dup2(before, 1);
	close(before);
	n = pread(fileno(file), text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	fclose(file);
	nlmsg_free(m);
	return text;
}

static void multicast_is_off(void **state)
{
	assert_non_null(strstr(printed(false, 1), "\nmulticast:  OFF\n"));
	assert_null(strstr(printed(false, 0), "multicast"));
	assert_null(strstr(printed(false, -1), "multicast"));
	assert_non_null(strstr(printed(true, 1), "\"multicast_off\":true"));
	assert_non_null(strstr(printed(true, 0), "\"multicast_off\":false"));
	assert_non_null(strstr(printed(true, -1), "\"multicast_off\":null"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(multicast_is_off) };

	return cmocka_run_group_tests_name("ctl_status", tests, NULL, NULL);
}
