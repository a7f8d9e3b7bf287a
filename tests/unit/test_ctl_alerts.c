// SPDX-License-Identifier: GPL-2.0
/* seepage where --follow: looks that end by themselves, and looks that do not */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Looks are children that wait for a signal, and time passes as the test says. */
static int no_exec(const char *path, char *const *words);
static int no_wait(struct pollfd *p, nfds_t n, int ms);
#define execv	no_exec
#define poll	no_wait
#include "where/alerts.c"
#undef poll
#include <cmocka.h>

static const struct alerts_how how;
static struct alerts s;
static u64 now_ms;
static pid_t settled;
static bool is_deaf;		/* to SIGTERM */

u64 clock_ms(void)
{
	return now_ms;
}

u64 clock_real_ns(void)
{
	return 0;
}

int procfs_open(u32 pid, s64 least_age_ms)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

enum alert_line alert_parse(const char *line, size_t len, struct alert *a, char *err, size_t size)
{
	return LINE_BAD;
}

void alert_free(struct alert *a)
{
}

int source_open(struct source *in, const struct ctx *ctx, const char *from)
{
	return 1;
}

int source_read(struct source *in)
{
	return 0;
}

char *source_line(struct source *in, size_t *len)
{
	return NULL;
}

void source_close(struct source *in)
{
}

void keep_settle(pid_t look, u64 cpu_ns)
{
	settled = look;
	/* It did nothing but wait. */
	assert_in_range(cpu_ns, 0, 5000000000ULL);
}

static int no_exec(const char *path, char *const *words)
{
	if (is_deaf)
		signal(SIGTERM, SIG_IGN);
	while (pause() < 0)
		;
	return 0;
}

/* What was asked for passes at once, unless a signal comes within a second of real time. */
static int no_wait(struct pollfd *p, nfds_t n, int ms)
{
	int got = poll(p, n, ms > 0 && ms < 1000 ? ms : 1000);

	if (!got)
		now_ms += ms < 0 ? 1000000 : (u64)ms;
	return got;
}

static void alert_of_pid(u64 pid, const char *state)
{
	struct alert a = { .pid = pid, .begun_s = 100, .state = state };

	turns_alert(&s.turns, &a);
}

static int setup(void **state)
{
	memset(&s, 0, sizeof(s));
	s.how = &how;
	s.signals = child_signals();
	now_ms = 1000;
	settled = 0;
	is_deaf = false;
	return s.signals < 0;
}

static int teardown(void **state)
{
	close(s.signals);
	return 0;
}

/* One turn of the loop without alerts */
static void turn(void)
{
	struct pollfd p = { .fd = s.signals, .events = POLLIN };

	no_wait(&p, 1, left_ms(&s));
	read_signals(&s);
}

static void a_look_that_does_not_end_is_killed(void **state)
{
	pid_t look;

	assert_int_equal(left_ms(&s), -1);
	alert_of_pid(1, "suspected");
	start_look(&s);
	look = s.look;
	assert_in_range(look, 1, INT_MAX);
	assert_int_equal(left_ms(&s), LOOK_MS);
	now_ms += LOOK_MS - 1;
	read_signals(&s);
	assert_int_equal(left_ms(&s), 1);
	assert_int_equal(kill(look, 0), 0);
	turn();			/* its time passes, and it is killed */
	turn();			/* its end comes */
	assert_int_equal(s.look, 0);
	assert_int_equal(settled, look);
	assert_int_equal(kill(look, 0), -1);
	/* The next process has its look, the same one does not. */
	alert_of_pid(1, "confirmed");
	alert_of_pid(2, "suspected");
	start_look(&s);
	assert_in_range(s.look, 1, INT_MAX);
	assert_int_equal(s.turn.pid, 2);
	assert_int_equal(s.turns.n, 0);
	end_look(&s);
	assert_int_equal(s.look, 0);
}

static void one_that_is_deaf_is_killed_at_the_end(void **state)
{
	struct pollfd none = { .fd = -1 };
	u64 begin;
	pid_t look;

	is_deaf = true;
	alert_of_pid(1, "suspected");
	start_look(&s);
	look = s.look;
	poll(&none, 1, 200);	/* until it is deaf */
	begin = now_ms;
	end_look(&s);
	assert_int_equal(s.look, 0);
	assert_int_equal(settled, look);
	assert_in_range(now_ms - begin, END_MS, 2 * END_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_look_that_does_not_end_is_killed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_that_is_deaf_is_killed_at_the_end, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
