// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the events of a command and its descendants. The module drops the counts of a
 * process when it exits. So each process is stopped by ptrace at its exit, while it
 * still has its mm, and its counts are read then. Not included are the rest of the
 * exit after that stop, and descendants that still run when the command has exited.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "stat/stat.h"

struct member {
	u32 pid;
	struct stat_block last;		/* last counts of the current program */
};

struct run {
	struct knl *k;
	const struct pmc_list *list;
	struct stat_block *sum;
	struct member *member;		/* processes of which a thread has exited */
	size_t n, capacity;
};

static volatile pid_t running;		/* the command; 0: none */
volatile sig_atomic_t stat_ending;

/* Passes SIGTERM on to the command. stat then prints the counts so far. */
static void pass_on(int sig)
{
	stat_ending = 1;
	if (running)
		kill(running, sig);
}

static int seize(pid_t child)
{
	unsigned long options = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
				PTRACE_O_TRACECLONE;

	return ptrace(PTRACE_SEIZE, child, NULL, (void *)options) ? errno : 0;
}

static struct member *member_of(struct run *r, u32 pid)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->member[i].pid == pid)
			return &r->member[i];
	if (r->n == r->capacity) {
		r->capacity = r->capacity ? 2 * r->capacity : 16;
		r->member = must(realloc(r->member, r->capacity * sizeof(*r->member)));
	}
	memset(&r->member[r->n], 0, sizeof(*r->member));
	r->member[r->n].pid = pid;
	r->sum->processes++;
	return &r->member[r->n++];
}

/* Reads the counts of the process that the thread @pid belongs to, which is exiting. */
static void look(struct run *r, pid_t pid)
{
	struct stat_block b;
	struct nlmsghdr *nlh;
	struct member *m;
	struct message msg;

	if (query_process(r->k, (u32)pid, &nlh) >= 0 && !msg_parse(&msg, nlh) &&
	    stat_process(&msg, r->list, &b) && b.pid) {
		m = member_of(r, b.pid);
		if (b.v[0].enabled_ns < m->last.v[0].enabled_ns)
			stat_plus(r->sum, &m->last);	/* exec began new counts */
		m->last = b;
	}
	free(nlh);
}

static void ended(struct run *r, u32 pid)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (r->member[i].pid != pid)
			continue;
		stat_plus(r->sum, &r->member[i].last);
		r->member[i] = r->member[--r->n];
		return;
	}
}

/* Continues a stopped process; delivers the signal if that was the reason of the stop. */
static void go_on(pid_t pid, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP && (sig == SIGSTOP || sig == SIGTSTP ||
					   sig == SIGTTIN || sig == SIGTTOU))
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(event ? 0 : sig));
}

/*
 * Traces until the command has exited. The kernel detaches descendants that still run
 * when this program exits.
 */
static void follow(struct run *r, pid_t child)
{
	int status = 0;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		if (WIFSTOPPED(status)) {
			if (status >> 16 == PTRACE_EVENT_EXIT)
				look(r, pid);
			go_on(pid, status);
			continue;
		}
		ended(r, (u32)pid);
		if (pid == child)
			break;
	}
	r->sum->status = status;
	r->sum->ns = clock_ns() - r->sum->ns;
}

/**
 * stat_run() - execute a command and count its events
 * @ctx: names the calling command in an error message
 * @k: open socket to the module
 * @list: the event list
 * @argv: words of the command, ended by NULL
 * @b: out, counts of the command and its descendants
 *
 * Return: 0, or an exit status after printing an error, see child_start().
 */
int stat_run(const struct ctx *ctx, struct knl *k, const struct pmc_list *list, char **argv,
	     struct stat_block *b)
{
	struct run r = { .k = k, .list = list, .sum = b };
	size_t i, n = 0;
	sigset_t term;
	pid_t child;
	int err;

	memset(b, 0, sizeof(*b));
	b->command = true;
	for (i = 0; argv[i] && n < sizeof(b->comm); i++) {
		fmt_safe(b->comm + n, sizeof(b->comm) - n, i ? " " : "", i ? 1 : 0);
		n += strlen(b->comm + n);
		fmt_safe(b->comm + n, sizeof(b->comm) - n, argv[i], strlen(argv[i]));
		n += strlen(b->comm + n);
	}
	b->ns = clock_ns();
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);	/* until pass_on() knows the child */
	err = child_start(ctx, argv, seize, &child);
	signal(SIGINT, SIG_IGN);	/* the terminal sends it to the command as well */
	signal(SIGQUIT, SIG_IGN);
	running = child;
	signal(SIGTERM, pass_on);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	if (!err)
		follow(&r, child);
	running = 0;
	for (i = 0; i < r.n; i++)
		stat_plus(b, &r.member[i].last);
	free(r.member);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	return err;
}
