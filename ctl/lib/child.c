// SPDX-License-Identifier: GPL-2.0
/*
 * Executes the command that record or stat observes, finds its descendants, and
 * handles the signals that end the observation.
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

/* Runs in the child, between fork and exec. */
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

/* Runs in the parent. Returns 0 once the command executes, else an errno. */
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

/* Prints an error and returns the exit status that a shell would return. */
static int cannot(const struct ctx *ctx, const char *command, int err)
{
	fail(ctx, "%s: %s", command, strerror(err));
	return err == ENOENT ? 127 : 126;
}

/**
 * child_start() - execute a command
 * @ctx: names the calling command in an error message
 * @argv: words of the command, ended by NULL
 * @ready: called in the parent before exec, returns 0 or an errno; may be NULL
 * @child: out, pid of the command, 0 on failure
 *
 * No signal is blocked in the command.
 *
 * Return: 0, or after printing an error the exit status that a shell would give:
 * 127 if no such command exists, else 126.
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

/*
 * Blocks SIGINT, SIGTERM and SIGCHLD. Returns a signalfd for them, or -1. The
 * caller closes it.
 */
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

/*
 * Reaps all children that have exited. Returns whether @child is one of them; @status is then the
 * status that a shell gives it: its own, or 128 and the number of a signal.
 */
bool child_ended(pid_t child, int *status)
{
	bool ended = false;
	pid_t pid;
	int how;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		if (pid != child)
			continue;
		ended = true;
		*status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	}
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
	p = strrchr(text, ')');		/* ") S PPID" follows comm */
	return p && strlen(p) > 4 ? (pid_t)strtol(p + 4, NULL, 10) : 0;
}

/*
 * Is @pid a descendant of this process? Orphans of the command count too: this
 * process is their subreaper (PR_SET_CHILD_SUBREAPER) and becomes their parent.
 */
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
