// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of `seepage watch -j`. The program itself reads the module: it loses nothing across
 * overruns and reloads that the module still holds, and says what is lost. It runs as a
 * child, or somebody else has run it and gives its output.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "notify/notify.h"

#ifndef SEEPAGE_BINDIR
#define SEEPAGE_BINDIR	"/usr/local/bin"
#endif

#define CHUNK		65536
#define LINE_MAX_LEN	(1 << 20)

/*
 * Finds the program: beside the directory of the tools in a build, where it is installed, or
 * in ../../bin from libexec/seepage of an installation that was moved.
 */
static bool find_program(char *path, size_t size)
{
	static const char *const places[] = { "/../seepage", "/../../bin/seepage" };
	char self[PATH_MAX - 32], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct stat st;
	size_t i;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (i = 0; slash && i < ARRAY_SIZE(places); i++) {
		snprintf(path, size, "%s%s", self, places[i]);
		if (!stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK))
			return true;
	}
	snprintf(path, size, "%s/seepage", SEEPAGE_BINDIR);
	return !access(path, X_OK);
}

/* Runs in the child. @out: the pipe */
static void run_watch(const char *path, int out)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(out, STDOUT_FILENO);
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl(path, "seepage", "-j", "watch", "--wait", "--no-cold", "--where",
	      "off", "--since", "0", NULL);
	_exit(127);
}

/* Starts the program. It prints all that the module holds; what is known already is left out. */
static int start_watch(struct source *s)
{
	char path[PATH_MAX];
	int out[2];

	if (!find_program(path, sizeof(path)))
		return fail(s->ctx, "%s: not found", path);
	if (pipe2(out, O_CLOEXEC))
		return fail(s->ctx, "pipe: %s", strerror(errno));
	s->child = fork();
	if (!s->child)
		run_watch(path, out[1]);
	close(out[1]);
	s->fd = out[0];
	if (s->child < 0)
		return fail(s->ctx, "fork: %s", strerror(errno));
	return 0;
}

/* @from: a file, "-" for standard input, NULL for the module. Returns an exit status. */
int source_open(struct source *s, const struct ctx *ctx, const char *from)
{
	struct stat st;

	memset(s, 0, sizeof(*s));
	s->ctx = ctx;
	s->fd = -1;
	if (!from)
		return start_watch(s);
	s->name = strcmp(from, "-") ? from : NULL;
	s->fd = s->name ? open(from, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (s->fd < 0 || fstat(s->fd, &st))
		return fail(ctx, "--from: '%s': %s", from, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail(ctx, "--from: '%s': allowed a file of what watch -j printed, or -",
			    from);
	s->is_file = S_ISREG(st.st_mode);
	return 0;
}

/* Says how watch ended. Returns an exit status. */
static int ended(struct source *s)
{
	int status = 0;

	close(s->fd);
	s->fd = -1;
	if (!s->child)
		return 0;
	waitpid(s->child, &status, 0);
	s->child = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		return 1;	/* it has said why */
	if (WIFSIGNALED(status))
		return fail(s->ctx, "watch ended: signal %d", WTERMSIG(status));
	return fail(s->ctx, "watch ended: status %d", WEXITSTATUS(status));
}

/*
 * Reads once, without waiting. At the end of the input s->fd is -1. Returns an exit status:
 * not 0 if it could not be read, or if watch has failed.
 */
int source_read(struct source *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	ssize_t n;

	if (!s->is_file && poll(&p, 1, 0) <= 0)
		return 0;
	if (s->len >= LINE_MAX_LEN) {
		fail(s->ctx, "%s%sline %llu: longer than %d bytes", s->name ?: "",
		     s->name ? ": " : "", s->lines + 1, LINE_MAX_LEN);
		s->len = 0;
		return ended(s) ?: 1;
	}
	if (s->capacity - s->len < CHUNK) {
		s->capacity += CHUNK;
		s->buf = must(realloc(s->buf, s->capacity + 1));
	}
	n = read(s->fd, s->buf + s->len, CHUNK);
	if (n > 0)
		s->len += (size_t)n;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	if (n < 0)
		return fail(s->ctx, "cannot read: %s", strerror(errno)) | ended(s);
	return ended(s);
}

/*
 * Returns the next line, which the caller frees, or NULL: there is none yet. What follows the
 * last line feed is a line at the end only.
 */
char *source_line(struct source *s, size_t *len)
{
	char *end = s->len ? memchr(s->buf, '\n', s->len) : NULL, *line;
	size_t used;

	if (!end && (s->fd >= 0 || !s->len))
		return NULL;
	*len = end ? (size_t)(end - s->buf) : s->len;
	used = end ? *len + 1 : *len;
	line = must(malloc(*len + 1));
	memcpy(line, s->buf, *len);
	line[*len] = '\0';
	memmove(s->buf, s->buf + used, s->len - used);
	s->len -= used;
	s->lines++;
	return line;
}

void source_close(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->child > 0) {
		kill(s->child, SIGTERM);
		waitpid(s->child, NULL, 0);
	}
	free(s->buf);
	s->buf = NULL;
}
