// SPDX-License-Identifier: GPL-2.0
/*
 * watch beside a module that multicasts nothing: it asks for alerts. The functions of nl.c and
 * query.c that it needs are replaced; they answer as such a module does.
 */
#include "msg.h"
#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <cmocka.h>
#include "../../ctl/cmd/watch.c"
#include "printed.h"

static bool off, leak;		/* MULTICAST_OFF; an alert #1 is held */
static bool barred;		/* the group of alerts */
static int due;			/* when cold.c wants to look, ms */
static unsigned int rings, looks_taken;

int knl_open(struct knl *k)
{
	return 0;
}

void knl_close(struct knl *k)
{
}

int knl_listen(struct knl *k)
{
	return 0;
}

int knl_fd(const struct knl *k)
{
	return -1;
}

int knl_resolve(struct knl *k)
{
	k->group_alert = 1;
	return 0;
}

int knl_join(struct knl *k, int group)
{
	return barred ? -EPERM : 0;
}

int knl_fail(const struct ctx *ctx, const struct knl *k, const char *needs)
{
	fail_msg("watch gave up");
	return 1;
}

int knl_events(struct knl *k, knl_cb cb, void *arg)
{
	return 0;			/* nothing was multicast */
}

struct nl_msg *knl_msg(struct knl *k, int cmd, int flags)
{
	return msg_new();
}

/* The ring. */
int knl_call(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg)
{
	struct nl_msg *m = msg_new();
	struct nlattr *nest;

	nlmsg_free(msg);
	rings++;
	nla_put_u64(m, SEEPAGE_A_SEQ, 1);
	nla_put_u64(m, SEEPAGE_A_INSTANCE, 7);
	nla_put_u8(m, SEEPAGE_A_STATE, SEEPAGE_STATE_EXITED);
	nla_put_u32(m, SEEPAGE_A_UID, 0);
	nest = nla_nest_start(m, SEEPAGE_A_IDENTITY);
	nla_put(m, SEEPAGE_IDENTITY_A_CMDLINE, 5, "a b\nc");
	nla_nest_end(m, nest);
	if (leak)
		cb(nlmsg_hdr(m), arg);
	nlmsg_free(m);
	return 0;
}

/* The status. */
int query_one(struct knl *k, struct nl_msg *msg, struct nlmsghdr **reply)
{
	struct nl_msg *m = msg_new();

	nlmsg_free(msg);
	nla_put_u64(m, SEEPAGE_A_INSTANCE, 7);
	nla_put_u8(m, SEEPAGE_A_MULTICAST_OFF, off);
	*reply = must(malloc(nlmsg_hdr(m)->nlmsg_len));
	memcpy(*reply, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len);
	nlmsg_free(m);
	return 0;
}

void identity_send(struct knl *k, const struct message *msg, const struct place *p)
{
}

struct prober *prober_new(struct knl *k)
{
	return NULL;
}

int prober_wait(const struct prober *p)
{
	return due;
}

void prober_step(struct prober *p)
{
	looks_taken++;
}

void prober_drop_all(struct prober *p)
{
}

void prober_free(struct prober *p)
{
}

bool tools_find(const char *name, char *path, size_t size)
{
	return false;
}

int tools_missing(struct ctx *ctx, const char *name)
{
	return 1;
}

int tools_exec(struct ctx *ctx, const char *name, const char *path, char **argv)
{
	return 1;
}

static void begin_watch(struct watch *w, struct ctx *ctx)
{
	memset(w, 0, sizeof(*w));
	w->ctx = ctx;
	w->signals = -1;
	leak = false;
	due = -1;
	rings = 0;
	looks_taken = 0;
	looks = "off";
	assert_int_equal(connect_module(w), 0);
	assert_int_equal(rings, 1);
}

/* Nothing wakes it but the clock: an alert of which nothing is multicast is printed. */
static void asks(void **state)
{
	struct ctx ctx = { .json = true };
	struct watch w;

	off = true;
	begin_watch(&w, &ctx);
	assert_int_equal(patience(&w), POLL_MS);
	leak = true;
	assert_int_equal(step(&w), 0);
	assert_int_equal(rings, 2);
	assert_int_equal(w.printed, 1);
	assert_int_equal(looks_taken, 1);
	assert_int_equal(step(&w), 0);
	assert_int_equal(rings, 3);
	assert_int_equal(w.printed, 1);
	due = 60000;
	assert_int_equal(patience(&w), POLL_MS);
}

static int one_step(void *w)
{
	return step(w);
}

/* An alert of what has ended names its user and command, which the module keeps. */
static void names(void **state)
{
	struct ctx ctx = { 0 };
	char text[1024], *line;
	struct watch w;

	off = true;
	begin_watch(&w, &ctx);
	leak = true;
	assert_int_equal(printed(one_step, &w, PRINTED_OUT, text, sizeof(text)), 0);
	line = strchr(text, '\n');
	assert_non_null(line);
	assert_memory_equal(line, "\n    by root: a b\\x0ac\n    ", 27);
	line = strchr(line + 27, '\n');
	assert_non_null(line);
	assert_string_equal(line, "\n");
}

/* The module was loaded again, and multicasts: it asks no more. */
static void asks_no_more(void **state)
{
	struct ctx ctx = { .json = true };
	struct watch w;

	off = true;
	begin_watch(&w, &ctx);
	off = false;
	assert_int_equal(step(&w), 0);
	assert_int_equal(rings, 2);
	due = 1;
	assert_int_equal(step(&w), 0);
	assert_int_equal(rings, 2);
	assert_int_equal(looks_taken, 2);
	due = -1;
	assert_int_equal(patience(&w), -1);
}

/* With CAP_PERFMON the status can be asked for: no child, and no note, before it may listen. */
static void may_not_listen(void **state)
{
	struct ctx ctx = { .json = true };
	struct watch w = { .ctx = &ctx, .signals = -1 };

	(void)state;
	off = false;
	barred = true;
	rings = 0;
	assert_int_equal(connect_module(&w), -EPERM);
	assert_int_equal(w.ask.err, EPERM);
	assert_false(w.started);
	assert_int_equal(rings, 0);
	barred = false;
	assert_int_equal(connect_module(&w), 0);
	assert_true(w.started);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks), cmocka_unit_test(asks_no_more),
		cmocka_unit_test(may_not_listen), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("ctl_watch", tests, NULL, NULL);
}
