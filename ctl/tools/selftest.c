// SPDX-License-Identifier: GPL-2.0
/*
 * seepage selftest: a leak and a cache, both started here. The leak has to come under alert, the
 * cache must not. The settings of the module are not changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "selftest/selftest.h"
#include "tools.h"

#define EXIT_NOT_RUNNABLE	77
#define TIMEOUT_S	170
#define FULL_S		(SELFTEST_CACHE / SELFTEST_STEP * SELFTEST_STEP_MS / 1000)
#define CACHE_S		(2 * FULL_S + 30)	/* the cache is watched for so long at least */
#define UNSEEN_S	30		/* a process that is not tracked by then is not at all */

static u64 timeout_s;

static const struct opt opts[] = {
	{ .name = "timeout", .kind = OPT_NUMBER, .dest = &timeout_s, .arg = "SECONDS",
	  .help = "give up after so many seconds (170)", .min = CACHE_S, .max = 3600 },
	{ .name = NULL }
};

enum { LEAK, CACHE, PROGRAMS };

struct seen {
	bool tracked;
	unsigned int state;
	u64 accused_ms;		/* after the start; 0: never */
	unsigned int accused;	/* the state then */
	char why[SENTENCE_MAX];	/* the gates that were closed last */
};

struct selftest {
	struct ctx *ctx;
	struct knl k;
	struct selftest_cgroup cgroup;
	struct selftest_program program[PROGRAMS];
	struct seen seen[PROGRAMS];
	u64 start_ms;
	int signals, ended;	/* ended: the program that is no more, or -1 */
	siginfo_t end;		/* of it */
	bool stopped;
};

static int not_runnable(const struct ctx *ctx, const char *what)
{
	fail(ctx, "cannot be run: %s", what);
	return EXIT_NOT_RUNNABLE;
}

static bool has_memory(void)
{
	char *text = procfs_read(AT_FDCWD, "/proc/meminfo");
	const char *line = text ? strstr(text, "\nMemAvailable:") : NULL;
	u64 kb = line ? strtoull(line + 14, NULL, 10) : 0;

	free(text);
	return kb << 10 > 2 * SELFTEST_MAX;
}

/* Opens the module. Returns an exit status; not 0 after printing why. */
static int begin(struct selftest *t)
{
	struct ctx *ctx = t->ctx;

	if (knl_open(&t->k) < 0 || knl_resolve(&t->k) < 0) {
		knl_fail(ctx, &t->k, NEEDS_READ);
		return EXIT_NOT_RUNNABLE;
	}
	if (!has_memory())
		return not_runnable(ctx, "less than 640 MiB of memory are available");
	t->signals = child_signals();
	if (!selftest_cgroup_make(&t->cgroup))
		note(ctx, "no cgroup with a memory limit: RLIMIT_DATA alone bounds the programs");
	t->start_ms = clock_ms();
	if (selftest_start(&t->program[LEAK], t->cgroup.procs) &&
	    selftest_start(&t->program[CACHE], t->cgroup.procs))
		return 0;
	return not_runnable(ctx, strerror(errno));
}

/* Waits a second, or until a signal or the end of a program. */
static void wait_second(struct selftest *t)
{
	struct pollfd p = { .fd = t->signals, .events = POLLIN };
	struct signalfd_siginfo info;

	if (poll(&p, 1, 1000) > 0)
		while (read(t->signals, &info, sizeof(info)) == sizeof(info))
			t->stopped |= info.ssi_signo != SIGCHLD;
}

static void closed_gates(const struct message *msg, char *buf, size_t size)
{
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g), i;
	char text[SENTENCE_MAX];

	*buf = '\0';
	for (i = 0; i < n; i++) {
		if (g[i].passed || !g[i].reached)
			continue;
		sentence_gate(&g[i], text, sizeof(text));
		sentence_append(buf, size, "%s%s: %s", *buf ? "; " : "", gate_name(g[i].id), text);
	}
}

static void look(struct selftest *t, int i)
{
	struct nlmsghdr *nlh = NULL;
	struct seen *s = &t->seen[i];
	struct message msg;

	if (query_process(&t->k, (u32)t->program[i].pid, &nlh) >= 0 && !msg_parse(&msg, nlh)) {
		s->tracked = true;
		s->state = (unsigned int)msg_get(&msg, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
		closed_gates(&msg, s->why, sizeof(s->why));
		if (state_is_alert(s->state) && !s->accused_ms) {
			s->accused_ms = clock_ms() - t->start_ms;
			s->accused = s->state;
		}
	}
	free(nlh);
}

/* Finds a program that has ended. They run until selftest_end(), unless they are killed. */
static void note_end(struct selftest *t)
{
	int i;

	for (i = 0; i < PROGRAMS && t->ended < 0; i++) {
		t->end.si_pid = 0;
		if (!waitid(P_PID, (id_t)t->program[i].pid, &t->end,
			    WEXITED | WNOHANG | WNOWAIT) && t->end.si_pid)
			t->ended = i;
	}
}

static u64 elapsed_s(const struct selftest *t)
{
	return (clock_ms() - t->start_ms) / 1000;
}

/* Returns whether there is nothing more to see. */
static bool done(const struct selftest *t)
{
	u64 s = elapsed_s(t);

	return t->stopped || t->ended >= 0 || s >= timeout_s ||
	       (s >= UNSEEN_S && !t->seen[LEAK].tracked) ||
	       t->seen[CACHE].accused_ms || (t->seen[LEAK].accused_ms && s >= CACHE_S);
}

static bool is_right(const struct selftest *t, int i)
{
	const struct seen *s = &t->seen[i];

	return s->tracked && (i == LEAK) == !!s->accused_ms && elapsed_s(t) >= CACHE_S;
}

static void verdict(const struct selftest *t, int i, char *buf, size_t size)
{
	const struct seen *s = &t->seen[i];

	if (!s->tracked)
		snprintf(buf, size, "not tracked: the table may be full (seepage doctor)");
	else if (s->accused_ms)
		snprintf(buf, size, "%s after %llu s%s", state_name(s->accused),
			 s->accused_ms / 1000, i == LEAK ? "" : ", which is wrong");
	else
		snprintf(buf, size, "not accused in %llu s%s%s", elapsed_s(t),
			 i == LEAK ? ", which is wrong: " : "", i == LEAK ? s->why : "");
}

static const char *const names[PROGRAMS] = { "leak", "look-alike" };

static const char *sum_up(bool leak, bool cache)
{
	if (leak && cache)
		return "both verdicts are right";
	return leak ? "the verdict on the look-alike is wrong" :
	       cache ? "the verdict on the leak is wrong" : "both verdicts are wrong";
}

static int answer(const struct selftest *t)
{
	bool right = is_right(t, LEAK) && is_right(t, CACHE);
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	char text[SENTENCE_MAX + TEXT_MAX], head[64];
	int i;

	for (i = 0; i < PROGRAMS; i++) {
		struct json_object *e = json_object_new_object();
		const struct seen *s = &t->seen[i];

		verdict(t, i, text, sizeof(text));
		snprintf(head, sizeof(head), "%s (pid %d): ", names[i], t->program[i].pid);
		if (!t->ctx->json)
			fold(head, 2, text);
		json_object_object_add(e, "program", json_object_new_string(names[i]));
		json_object_object_add(e, "pid", json_object_new_int(t->program[i].pid));
		json_object_object_add(e, "state", s->tracked ?
				       json_object_new_string(state_name(s->state)) : NULL);
		json_object_object_add(e, "accused_seconds", s->accused_ms ?
				       json_object_new_double((double)s->accused_ms / 1000) : NULL);
		json_object_object_add(e, "right", json_object_new_boolean(is_right(t, i)));
		json_object_object_add(e, "text", json_object_new_string(text));
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "right", json_object_new_boolean(right));
	json_object_object_add(o, "programs", list);
	if (t->ctx->json) {
		out_json(t->ctx, o);
	} else {
		out_line(sum_up(is_right(t, LEAK), is_right(t, CACHE)));
		json_object_put(o);
	}
	return right ? 0 : 1;
}

/* How the program that has ended did so. Returns buf. */
static const char *early_end(const struct selftest *t, char *buf, size_t size)
{
	snprintf(buf, size, "the %s (pid %d) has %s %d after %llu s; no verdict",
		 names[t->ended], t->program[t->ended].pid,
		 t->end.si_code == CLD_EXITED ? "exited with code" : "been killed by signal",
		 t->end.si_status, elapsed_s(t));
	return buf;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct selftest t = {
		.ctx = ctx, .signals = -1, .ended = -1, .cgroup = { .procs = -1 },
		.program = { [LEAK] = { .comm = "selftest-leak", .grows = SELFTEST_LIMIT / 2 },
			     [CACHE] = { .comm = "selftest-cache", .grows = SELFTEST_CACHE,
					 .used = true } },
	};
	char text[TEXT_MAX];
	int status, i;

	timeout_s = timeout_s ? timeout_s : TIMEOUT_S;
	status = begin(&t);
	while (!status && !done(&t)) {
		wait_second(&t);
		for (i = 0; i < PROGRAMS; i++)
			look(&t, i);
		note_end(&t);
	}
	if (!status && t.stopped)
		status = fail(ctx, "stopped by a signal after %llu s", elapsed_s(&t));
	else if (!status && t.ended >= 0)
		status = not_runnable(ctx, early_end(&t, text, sizeof(text)));
	else if (!status)
		status = answer(&t);
	for (i = 0; i < PROGRAMS; i++)
		selftest_end(&t.program[i]);
	selftest_cgroup_remove(&t.cgroup);
	close(t.signals);
	knl_close(&t.k);
	return status;
}

const struct command cmd_selftest = {
	TOOL_SELFTEST,
	.more = "A program that leaks and one that fills a cache and uses it run for up to three\n"
		"minutes, in a cgroup of their own with a memory limit. Settings of the module\n"
		"are not changed. Status: 0 both verdicts are right, 1 not, 77 it cannot be run.",
	.opts = opts, .run = run,
};
