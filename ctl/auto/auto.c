// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the tool `where` for the alerts of watch, one after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "auto/auto.h"
#include "tools.h"

#define JOBS	16	/* alerts that wait; there is no look for one more */

struct job {
	u64 seq, age_s;		/* of the alert */
	u32 pid;
	bool second;		/* confirmed: take the second look */
	bool shown;		/* the alert was printed, so its answer is */
	char key[KEPT_KEY];
};

struct asker {
	char path[PATH_MAX];	/* of the tool */
	bool burst;
	struct job job[JOBS];	/* the first one is that of the child */
	unsigned int n;
	pid_t child;		/* 0: none */
	int fd;			/* of a pipe, the other end of which the child has */
};

/* May @word be the value of --where? */
bool asker_word(const char *word)
{
	return !strcmp(word, "census") || !strcmp(word, "burst") || !strcmp(word, "off");
}

/*
 * @word: of --where; NULL: it was not given. Returns NULL if nothing is to be asked: the tool
 * is not installed, or the user is not root: only root may look at all processes.
 */
struct asker *asker_new(const char *word)
{
	struct asker *a;

	if (word && !strcmp(word, "off"))
		return NULL;
	a = must(calloc(1, sizeof(*a)));
	a->burst = word && !strcmp(word, "burst");
	a->fd = -1;
	if (!geteuid() && tools_find("where", a->path, sizeof(a->path)))
		return a;
	if (word)
		note(NULL, "watch: --where: %s", geteuid() ? "needs root" :
		     "the tool where is not installed, which is in the package " TOOLS_PACKAGE);
	free(a);
	return NULL;
}

/* Runs in the child. */
static void exec_tool(const struct asker *a, int out)
{
	const struct job *j = &a->job[0];
	int null = open("/dev/null", O_RDWR);
	sigset_t none;
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", j->pid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 &&
	    dup2(out, STDOUT_FILENO) >= 0)
		execl(a->path, a->path, "--keep", j->second ? "second" : "first", pid,
		      j->second && a->burst ? "--burst" : NULL, NULL);
	_exit(127);
}

/* Begins with the next alert that waits. One for which no child can be made is dropped. */
static void start(struct asker *a)
{
	int fds[2];

	while (!a->child && a->n) {
		if (!pipe2(fds, O_CLOEXEC)) {
			a->child = fork();
			if (!a->child)
				exec_tool(a, fds[1]);
			close(fds[1]);
			if (a->child > 0) {
				a->fd = fds[0];
				return;
			}
			close(fds[0]);
		}
		a->child = 0;
		memmove(a->job, a->job + 1, --a->n * sizeof(*a->job));
	}
}

/* Takes notice of an alert. @shown: it was printed. @multicast: see procfs_open_msg() */
void asker_alert(struct asker *a, const struct message *msg, bool multicast, bool shown)
{
	u64 state = msg_get(msg, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
	bool second = state == SEEPAGE_STATE_CONFIRMED || state == SEEPAGE_STATE_RUNAWAY;
	struct job *j;
	int dir;

	if (!a || a->n == JOBS || (!second && state != SEEPAGE_STATE_SUSPECTED))
		return;
	dir = procfs_open_msg(msg, multicast);
	if (dir < 0)
		return;
	j = &a->job[a->n];
	*j = (struct job){ .seq = msg_get(msg, SEEPAGE_A_SEQ, 0), .second = second, .shown = shown,
			   .age_s = msg_get(msg, SEEPAGE_A_AGE_SECONDS, 0),
			   .pid = (u32)msg_get(msg, SEEPAGE_A_PID, 0) };
	if (kept_key(dir, j->pid, j->key))
		a->n++;
	close(dir);
	start(a);
}

/* Becomes readable when the tool has ended; -1: it is not running. */
int asker_fd(const struct asker *a)
{
	return a ? a->fd : -1;
}

/* Waits for the end of the child. */
static void reap(struct asker *a)
{
	while (waitpid(a->child, NULL, 0) < 0 && errno == EINTR)
		;
	close(a->fd);
	a->fd = -1;
	a->child = 0;
}

/*
 * Call when asker_fd() is readable. Returns what is known about the process of alert @seq, which
 * the caller puts, or NULL if that is nothing, or nothing to print.
 */
struct json_object *asker_answer(struct asker *a, u64 *seq)
{
	struct job j = a->job[0];

	reap(a);
	memmove(a->job, a->job + 1, --a->n * sizeof(*a->job));
	start(a);
	*seq = j.seq;
	return j.second && j.shown ? kept_answer(j.key, j.age_s) : NULL;
}

/* Ends the tool. A burst ends with it. */
void asker_free(struct asker *a)
{
	if (a && a->child) {
		kill(a->child, SIGKILL);
		reap(a);
	}
	free(a);
}
