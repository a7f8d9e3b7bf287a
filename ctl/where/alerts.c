// SPDX-License-Identifier: GPL-2.0
/*
 * Follows the alerts of the module and looks at each process that they are about. `seepage watch`
 * starts this. Alerts come from a `seepage watch -j` of its own, so that none is lost across
 * overruns and reloads. Looks are programs of their own, `seepage where --keep`, one at a time.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "where/turns.h"

#define END_MS		10000	/* that a look has after a signal, and again after SIGKILL */
/*
 * That a look has in all. Two looks may read heaps for 300 s each, then three bursts and looks at
 * their blocks for 60 s each. One that takes as long as this sleeps in a call that does not end.
 */
#define LOOK_MS		(3600 * 1000)

struct alerts {
	const struct alerts_how *how;
	struct source in;
	struct turns turns;
	pid_t look;		/* 0: none is under way */
	struct turn turn;	/* of that */
	u64 end_ms;		/* of clock_ms(): when it is killed; 0: it was */
	int signals;
	bool ended;		/* by a signal */
};

static void take_line(struct alerts *s, const char *line, size_t len)
{
	char err[256];
	struct alert a;

	if (alert_parse(line, len, &a, err, sizeof(err)) != LINE_ALERT)
		return;
	turns_alert(&s->turns, &a);
	alert_free(&a);
}

/*
 * Is it still the process of the alert? A later one of the same pid has begun later. The times of
 * the alert and of now are cut to seconds, so that this age may be too large by a second.
 */
static bool is_there(const struct turn *t)
{
	s64 age_s = (s64)(clock_real_ns() / 1000000000) - t->begun_s;
	int dir = procfs_open((u32)t->pid, (age_s - 1) * 1000);

	if (dir >= 0)
		close(dir);
	return dir >= 0;
}

/* Runs in the child. */
static void run_look(const struct alerts_how *how, const struct turn *t)
{
	char pid[24], permille[24];
	char *words[9] = { (char *)"seepage-where", (char *)"--keep" };
	sigset_t none;
	size_t n = 2;

	snprintf(pid, sizeof(pid), "%llu", t->pid);
	words[n++] = (char *)(t->second ? "second" : "first");
	if (how->burst && t->second)
		words[n++] = (char *)"--burst";
	if (how->permille) {
		snprintf(permille, sizeof(permille), "%llu", how->permille);
		words[n++] = (char *)"--limit";
		words[n++] = permille;
	}
	words[n] = pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", words);
	_exit(127);
}

static void start_look(struct alerts *s)
{
	while (!s->look && turns_next(&s->turns, &s->turn)) {
		if (!is_there(&s->turn))
			continue;
		s->look = fork();
		if (!s->look)
			run_look(s->how, &s->turn);
		if (s->look < 0)	/* it is left out */
			s->look = 0;
		s->end_ms = clock_ms() + LOOK_MS;
	}
}

static u64 cpu_ns(const struct rusage *used)
{
	return (u64)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000000 +
	       (u64)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) * 1000;
}

/*
 * Takes notice of the end of a look. One that was killed has not said what it took. The next look
 * at that process would end like it: there is none.
 */
static void reap_look(struct alerts *s)
{
	struct rusage used;
	pid_t ended;
	int how;

	ended = s->look ? wait4(s->look, &how, WNOHANG, &used) : 0;
	if (!ended)
		return;
	if (ended == s->look && WIFSIGNALED(how)) {
		turns_leave_out(&s->turns, &s->turn);
		keep_settle(s->look, cpu_ns(&used));
	}
	s->look = 0;
}

/* Milliseconds that the look has left; -1: there is none, or it was killed */
static int left_ms(const struct alerts *s)
{
	u64 now = clock_ms();

	if (!s->look || !s->end_ms)
		return -1;
	return s->end_ms > now ? (int)(s->end_ms - now) : 0;
}

/* Only SIGKILL ends a read of memory that another process has to provide, and does not. */
static void kill_look(struct alerts *s)
{
	kill(s->look, SIGKILL);
	s->end_ms = 0;
}

static void read_signals(struct alerts *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		s->ended |= info.ssi_signo != SIGCHLD;
	reap_look(s);
	if (!left_ms(s))
		kill_look(s);
}

/* Reads what there is. Returns false at the end of the input. */
static bool read_alerts(struct alerts *s)
{
	char *line;
	size_t len;

	source_read(&s->in);
	while ((line = source_line(&s->in, &len))) {
		take_line(s, line, len);
		free(line);
	}
	return s->in.fd >= 0;
}

static void loop(struct alerts *s)
{
	struct pollfd p[2] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->in.fd, .events = POLLIN },
	};

	for (;;) {
		poll(p, 2, left_ms(s));
		read_signals(s);
		if (s->ended || (p[1].revents && !read_alerts(s)))
			return;
		/* Not while alerts are still coming: one of them may be the end of another. */
		p[1].revents = 0;
		if (!poll(&p[1], 1, 0))
			start_look(s);
	}
}

/* Waits for the end of the look, for END_MS at most. */
static void await_look(struct alerts *s)
{
	struct pollfd p = { .fd = s->signals, .events = POLLIN };
	u64 end = clock_ms() + END_MS, now;

	while (s->look && (now = clock_ms()) < end) {
		poll(&p, 1, (int)(end - now));
		read_signals(s);
	}
}

/* A look that is under way has an early answer after a signal. */
static void end_look(struct alerts *s)
{
	if (s->look)
		kill(s->look, SIGTERM);
	await_look(s);
	if (s->look)
		kill_look(s);
	await_look(s);
}

/*
 * From now on nothing is said, neither by this nor by its own watch, and the reader of the one that
 * started it need not wait for its end.
 */
static void be_silent(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

/* Returns an exit status, after a signal or when the program that started this has ended. */
int alerts_follow(struct ctx *ctx, const struct alerts_how *how)
{
	struct alerts s = { .how = how, .signals = child_signals() };
	pid_t parent = getppid();
	int status;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 0;
	be_silent();
	status = source_open(&s.in, ctx, NULL);
	if (!status) {
		loop(&s);
		end_look(&s);
	}
	source_close(&s.in);
	close(s.signals);
	return status;
}
