// SPDX-License-Identifier: GPL-2.0
/*
 * A command that is executed to be looked at, all that descends from it, and the
 * signals that end the looking.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ctl.h"

#define ANCESTORS	64

/* In the child: only what is allowed between fork and exec */
static void exec_command(char **argv, int go, int report)
{
	sigset_t none;
	char c;
	int err;

	if (read(go, &c, sizeof(c)) != sizeof(c))
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	err = errno;
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* In the parent: errno of what did not work, 0: it executes */
static int let_go(pid_t child, int (*ready)(pid_t child), int go, int report)
{
	int err = ready ? ready(child) : 0;
	ssize_t n;

	if (!err && write(go, "", 1) != 1)
		err = errno;
	close(go);
	if (err)
		return err;
	do {
		n = read(report, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? err : 0;
}

/* Told; returns what a shell does */
static int cannot(const struct ctx *ctx, const char *command, int err)
{
	fail(ctx, "%s: %s", command, strerror(err));
	return err == ENOENT ? 127 : 126;
}

/**
 * child_start() - execute a command
 * @ctx: who says it when that fails
 * @argv: its words, ended by NULL
 * @ready: called before it executes, returns errno; or NULL
 * @child: its pid, 0: it failed
 *
 * Signals are not blocked in it. Return: 0, or what a shell says of a command that
 * cannot be executed, told: 127 if there is none of that name, else 126.
 */
int child_start(const struct ctx *ctx, char **argv, int (*ready)(pid_t child), pid_t *child)
{
	int go[2], report[2], err;

	*child = 0;
	if (pipe2(go, O_CLOEXEC))
		return cannot(ctx, argv[0], errno);
	if (pipe2(report, O_CLOEXEC)) {
		err = errno;
		close(go[0]);
		close(go[1]);
		return cannot(ctx, argv[0], err);
	}
	*child = fork();
	if (!*child) {
		close(go[1]);
		exec_command(argv, go[0], report[1]);
	}
	err = errno;
	close(go[0]);
	close(report[1]);
	if (*child > 0)
		err = let_go(*child, ready, go[1], report[0]);
	else
		close(go[1]);
	close(report[0]);
	if (*child > 0 && !err)
		return 0;
	if (*child > 0)
		while (waitpid(*child, NULL, __WALL) < 0 && errno == EINTR)
			;
	*child = 0;
	return cannot(ctx, argv[0], err);
}

/* What ends it, and SIGCHLD, as something to poll; < 0: it failed */
int child_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Has the command ended? What it left behind is reaped too. */
bool child_ended(pid_t child)
{
	bool ended = false;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		ended |= pid == child;
	return ended;
}

static pid_t parent_of(pid_t pid)
{
	char path[32], text[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');		/* then a blank, the state, a blank */
	return p && strlen(p) > 4 ? (pid_t)strtol(p + 4, NULL, 10) : 0;
}

/* We are the reaper of all that the command leaves behind: they stay our descendants. */
bool child_has(pid_t pid)
{
	pid_t self = getpid();
	int i;

	for (i = 0; i < ANCESTORS && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid == self)
			return true;
	}
	return false;
}
