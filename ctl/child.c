// SPDX-License-Identifier: GPL-2.0
/*
 * A command that is executed, and all that descends from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ctl.h"

#define ANCESTORS	64

/* In the child: only what is allowed between fork and exec */
static void exec_command(char **argv, int report)
{
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	err = errno;
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* @child: 0, out where it runs; returns 0, or 1: it could not be executed, told */
int child_start(const struct ctx *ctx, char **argv, pid_t *child)
{
	int report[2], err = 0;
	ssize_t n;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(report, O_CLOEXEC))
		return fail(ctx, "%s", strerror(errno));
	*child = fork();
	if (!*child)
		exec_command(argv, report[1]);
	err = errno;
	close(report[1]);
	if (*child < 0) {
		close(report[0]);
		*child = 0;
		return fail(ctx, "%s: %s", argv[0], strerror(err));
	}
	do {
		n = read(report[0], &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n != sizeof(err))
		return 0;
	waitpid(*child, NULL, 0);
	*child = 0;
	return fail(ctx, "%s: %s", argv[0], strerror(err));
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
