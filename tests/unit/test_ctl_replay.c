// SPDX-License-Identifier: GPL-2.0
/*
 * replay fails if the detector had no room for a gate or factor. Otherwise a comparison
 * with the recorded verdict would not show it. And what it feeds with --limit, which is a
 * limit of all processes in the file.
 */
#include "series/series.h"
#include "tools.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "printed.h"

/* Three full passes, then the process exits: four verdicts, one of them after its exit. */
#define RECORDING	"seepage-series 1\nproc 7 born_ns=0 begun_ns=0\n"	\
			"pass 1000 full 1000000\n7 a+100\n"			\
			"pass 1000000000 full 1000000\n7 a+100\n"		\
			"pass 1000000000 full 1000000\n7 a+100\n"		\
			"gone 7\n"

/* Of the verdicts that the detector makes: which ones overflow, and with what */
static struct {
	unsigned int feed, explain;	/* number of the call, from 1 on; 0: none */
	bool factors;
	unsigned int fed, explained;
	unsigned int show;		/* number of the call of which the sample is shown */
} fault;

static char said[1024];
static char printed_out[1 << 16];
static const char *recording = RECORDING;

void __real_seep_det_feed(struct seep_det *d, const struct seep_sample *s,
			  const struct seep_conf *c, struct seep_verdict *v);
void __real_seep_det_explain(const struct seep_det *d, const struct seep_sample *s,
			     const struct seep_conf *c, struct seep_verdict *v);
void __wrap_seep_det_feed(struct seep_det *d, const struct seep_sample *s,
			  const struct seep_conf *c, struct seep_verdict *v);
void __wrap_seep_det_explain(const struct seep_det *d, const struct seep_sample *s,
			     const struct seep_conf *c, struct seep_verdict *v);

/* Adds one more than there is room for, as a new gate without a new place would. */
static void overflow(struct seep_verdict *v)
{
	unsigned int i;

	for (i = 0; !fault.factors && i <= SEEP_MAX_GATES; i++)
		seep_add_gate(v, SEEPAGE_GATE_SIZE, true, 0, 0);
	for (i = 0; fault.factors && i <= SEEP_MAX_FACTORS; i++)
		seep_add_factor(v, SEEPAGE_FACTOR_KIND, 1, 1, 0, 0);
}

void __wrap_seep_det_feed(struct seep_det *d, const struct seep_sample *s,
			  const struct seep_conf *c, struct seep_verdict *v)
{
	__real_seep_det_feed(d, s, c, v);
	if (++fault.fed == fault.feed)
		overflow(v);
	if (fault.fed == fault.show)
		fprintf(stderr, "headroom %llu limit %u others %u rate %llu\n", s->headroom >> 20,
			s->limit, s->others, seep_bytes(s->others_rate) >> 20);
	if (fault.explain)		/* an alert, so that the exit is one as well */
		v->state = SEEPAGE_STATE_SUSPECTED;
}

void __wrap_seep_det_explain(const struct seep_det *d, const struct seep_sample *s,
			     const struct seep_conf *c, struct seep_verdict *v)
{
	__real_seep_det_explain(d, s, c, v);
	if (fault.explain && ++fault.explained == fault.explain)
		overflow(v);
}

static int run_replay(void *path)
{
	char *argv[] = { path, NULL };
	struct ctx ctx = { .cmd = "replay" };

	return cmd_replay.run(&ctx, 1, argv);
}

/* Replays the recording. Returns its status; @said: its stderr */
static int replay(void)
{
	int fd = memfd_create("recording", 0), status;
	char path[64];

	assert_int_equal(write(fd, recording, strlen(recording)), strlen(recording));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = printed(run_replay, path, PRINTED_ERR, said, sizeof(said));
	close(fd);
	return status;
}

static void a_complete_verdict_is_no_error(void **state)
{
	(void)state;
	memset(&fault, 0, sizeof(fault));
	assert_int_equal(replay(), 0);
	assert_non_null(strstr(said, "1 series, 3 samples"));
	/* the alert at the exit is a verdict too, and a series of complete ones */
	fault.explain = 1000;
	assert_int_equal(replay(), 0);
	assert_non_null(strstr(said, "1 series, 3 samples"));
}

static void a_dropped_gate_or_factor_is_an_error(void **state)
{
	(void)state;
	memset(&fault, 0, sizeof(fault));
	for (int i = 0; i < 2; i++) {
		fault.factors = i;
		fault.feed = 2;
		assert_int_equal(replay(), 1);
		assert_non_null(strstr(said, "line 6: series 7: the detector dropped a gate"));
		assert_null(strstr(said, "3 samples"));
	}
}

static void one_in_the_verdict_of_an_exit_is_an_error(void **state)
{
	(void)state;
	memset(&fault, 0, sizeof(fault));
	/* one call for each of the three alerts printed before the exit */
	fault.explain = 4;
	assert_int_equal(replay(), 1);
	assert_non_null(strstr(said, "line 9: series 7: the detector dropped a gate"));
}

static void *dest(const char *name)
{
	const struct opt *o = cmd_replay.opts;

	while (strcmp(o->name, name))
		o++;
	return o->dest;
}

static void set_limit(u64 bytes)
{
	*(u64 *)dest("limit") = bytes;
}

/* Two that agree and are at rest, one of them from before the file, and one that differs. */
static void series_at_rest_are_counted(void **state)
{
	(void)state;
	memset(&fault, 0, sizeof(fault));
	recording = "seepage-series 1\nproc 7 comm=rest born_ns=0 begun_ns=0\n"
		    "proc 8 comm=older born_ns=0 begun_ns=0 history=before\nproc 9 comm=odd born_ns=0 begun_ns=0\n"
		    "pass 1000 full 1000000\n7 a+100 S0 C0\n8 a+100 S0 C0\n9 a+100 S2 C80\n";
	assert_int_equal(replay(), 1);
	assert_null(strstr(said, "(rest)"));
	assert_null(strstr(said, "(older)"));
	assert_non_null(strstr(said, "series 9, pid 0 (odd): 1 samples, 1 compared, 1 differing"));
	assert_non_null(strstr(said, "2 series end in state ok"));
	assert_non_null(strstr(said, "1 of them began before the file"));
	assert_non_null(strstr(said, "replay: 3 series, 3 samples, 2 compared, 1 differing\n"));
	*(bool *)dest("verbose") = true;
	assert_int_equal(replay(), 1);
	*(bool *)dest("verbose") = false;
	assert_non_null(strstr(said, "(rest): 1 samples, 1 compared, 0 differing, ok"));
	assert_non_null(strstr(said, "(older): 1 samples, 0 compared, 0 differing (it began"));
	assert_null(strstr(said, "end in state ok"));
	recording = RECORDING;
}

#define PASSES	80

/*
 * Writes a recording of @n processes that take 1 MiB in each pass and of the group of the
 * first two, which are named alike.
 */
static void service(unsigned int n, bool group, char *buf, size_t size)
{
	unsigned int i, pass;

	snprintf(buf, size, "seepage-series 1\n");
	for (i = 1; i <= n; i++)
		sentence_append(buf, size, "proc %u comm=%s born_ns=0 begun_ns=0\n", i,
				i <= 2 ? "alike" : "other");
	if (group)
		sentence_append(buf, size, "proc 9 kind=group comm=alike born_ns=0 begun_ns=0\n");
	for (pass = 0; pass < PASSES; pass++) {
		sentence_append(buf, size, "pass 10000000000 full 1000000\n");
		for (i = 1; i <= n; i++)
			sentence_append(buf, size, "%u a+256 s%s f+1 n+256 m+256\n", i,
					pass ? "+0" : "+25600");
		if (group)
			sentence_append(buf, size, "9 a+512\n");
	}
	recording = buf;
}

/* Of three that grow by 360 MiB an hour each, and hold 100 MiB of shared memory that is one. */
static void a_limit_is_shared_by_all_processes(void **state)
{
	static char buf[1 << 16];

	(void)state;
	memset(&fault, 0, sizeof(fault));
	set_limit(2048ULL << 20);
	service(3, false, buf, sizeof(buf));
	fault.show = 3 * PASSES;		/* the last process in the last pass */
	assert_int_equal(replay(), 0);
	assert_non_null(strstr(said, "headroom 1708 limit 3 others 2 rate 7"));
	service(3, true, buf, sizeof(buf));	/* beside the group of two there is one */
	fault.show = 4 * PASSES;
	assert_int_equal(replay(), 0);
	assert_non_null(strstr(said, "headroom 1708 limit 3 others 1 rate 3"));
	service(1, false, buf, sizeof(buf));	/* alone, as ever */
	fault.show = PASSES;
	assert_int_equal(replay(), 0);
	assert_non_null(strstr(said, "headroom 1868 limit 3 others 0 rate 0\n"));
	set_limit(0);
	recording = RECORDING;
}

/* Replays with --alerts and a limit. Returns how often @text is in what it printed. */
static unsigned int alerts(const char *text)
{
	const char *at = printed_out;
	unsigned int n = 0;
	char path[64];
	int fd = memfd_create("recording", 0);

	memset(&fault, 0, sizeof(fault));
	*(bool *)dest("alerts") = true;
	assert_int_equal(write(fd, recording, strlen(recording)), strlen(recording));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(printed(run_replay, path, PRINTED_OUT, printed_out, sizeof(printed_out)),
			 0);
	close(fd);
	*(bool *)dest("alerts") = false;
	for (; (at = strstr(at, text)); at++)
		n++;
	return n;
}

/* The lines of @buf that say that series @id grows say that it does not. */
static void at_rest(char *buf, unsigned int id)
{
	char from[32];
	char *at;

	snprintf(from, sizeof(from), "\n%u a+256", id);
	for (at = buf; (at = strstr(at, from)); at++)
		memcpy(strstr(at, "a+256"), "a+000", 5);
	for (at = buf; (at = strstr(at, "\n9 a+512")); at++)
		memcpy(at, "\n9 a+256", 8);
}

#define ALL	"alert: pid 0 (alike), all"

/* Two members grow: one alert of the service. One alone: its own, and none of the service. */
static void a_service_is_one_subject(void **state)
{
	static char buf[1 << 16];

	(void)state;
	set_limit(512ULL << 20);
	service(2, true, buf, sizeof(buf));
	assert_int_equal(alerts(ALL " 2 processes of its name and cgroup (2 of them growing): "),
			 alerts("alert: "));
	assert_true(alerts("-> suspected") >= 1);
	assert_int_equal(alerts("-> suspected, growth") + alerts("-> confirmed, growth"), 2);
	at_rest(buf, 2);
	assert_int_equal(alerts(ALL), 0);
	assert_int_equal(alerts("alert: pid 0 (alike): "), 2);
	/* An alert ends with its process, that of the service with the last member. */
	service(2, true, buf, sizeof(buf));
	strcat(buf, "pass 10000000000 full 1000000\ngone 1\n");
	assert_int_equal(alerts("growing): confirmed -> exited"), 0);
	strcat(buf, "gone 2\ngone 9\n");
	assert_int_equal(alerts(ALL " 1 processes of its name and cgroup (0 of them growing): "
				"confirmed -> exited"), 1);
	set_limit(0);
	recording = RECORDING;
}

/*
 * A recording need not have cgroups. The sum of a group without one goes to the group that was
 * there; another group of the name is there when that sum ends.
 */
static void a_sum_ends_in_the_group_that_has_it(void **state)
{
	static const char end[] =
		"proc 3 comm=alike born_ns=0 begun_ns=0 cgroup=/b\n"
		"pass 10000000000 full 1000000\n3 a+256 s+25600 f+1 n+256 m+256\ngone 9\n"
		"gone 1\ngone 2\n"
		"pass 10000000000 full 1000000\n3 a+256 s+0 f+1 n+256 m+256\n"
		"proc 4 comm=alike born_ns=0 begun_ns=0 cgroup=/a\n"
		"pass 10000000000 full 1000000\n3 a+256 s+0 f+1 n+256 m+256\n";
	static char buf[1 << 16], with[1 << 16];
	const char *from;
	size_t n = 0;

	(void)state;
	set_limit(512ULL << 20);
	service(2, true, buf, sizeof(buf));
	for (from = buf; *from; from++) {	/* processes 1 and 2 are in /a */
		if (*from == '\n' && n && !strncmp(with + n - 10, "begun_ns=0", 10) &&
		    !strstr(with + n - 50, "kind=group"))
			n += (size_t)snprintf(with + n, sizeof(with) - n, " cgroup=/a");
		with[n++] = *from;
		with[n] = '\0';
	}
	strcat(with, end);
	recording = with;
	assert_int_equal(alerts("growing): confirmed -> exited"), 1);
	assert_true(alerts("(2 of them growing): ") >= 1);
	set_limit(0);
	recording = RECORDING;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_complete_verdict_is_no_error),
		cmocka_unit_test(a_dropped_gate_or_factor_is_an_error),
		cmocka_unit_test(one_in_the_verdict_of_an_exit_is_an_error),
		cmocka_unit_test(series_at_rest_are_counted),
		cmocka_unit_test(a_limit_is_shared_by_all_processes),
		cmocka_unit_test(a_service_is_one_subject),
		cmocka_unit_test(a_sum_ends_in_the_group_that_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
