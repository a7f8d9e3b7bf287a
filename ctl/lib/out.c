// SPDX-License-Identifier: GPL-2.0
/*
 * Output: answers go to stdout, errors and notes to stderr, one line each. A failed
 * write to stdout, as on a full disk, is an error; EPIPE is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "ctl.h"

void (*out_filter)(char *text);	/* prints what out_printf() gets; set by out_fold() */

static bool stdout_closed;
static int write_error;		/* errno of the first write to stdout that failed */
static void (*sigpipe)(int);	/* the handler before out_init() */

/*
 * Opens /dev/null in place of closed standard descriptors. Otherwise the netlink
 * socket could become stdout. Names are UTF-8 whatever the user's locale is; wcwidth()
 * has to know it.
 */
void out_init(void)
{
	int fd;

	stdout_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	sigpipe = signal(SIGPIPE, SIG_IGN);
	setlocale(LC_CTYPE, "C.UTF-8");
}

/*
 * Undoes what another program must not inherit, before exec: the open descriptor in
 * place of a closed standard output, and the ignored SIGPIPE.
 */
void out_undo(void)
{
	if (stdout_closed)
		close(STDOUT_FILENO);
	signal(SIGPIPE, sigpipe);
}

/*
 * Saves errno of the first failed write. stdio remembers that a write failed but
 * not why, and drops its buffer. So every write to stdout is followed by this call.
 */
static void wrote(bool ok)
{
	if (!ok && !write_error)
		write_error = errno ? errno : EIO;
}

/* If stdout was closed at the start, it is /dev/null now: a write to it counts as failed. */
static void wrote_text(bool ok)
{
	if (stdout_closed)
		errno = EBADF;
	wrote(ok && !stdout_closed);
}

/* Prints @text as it is. */
void out_raw(const char *text)
{
	errno = 0;
	wrote_text(fputs(text, stdout) >= 0);
}

void out_printf(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	errno = 0;
	if (!out_filter)
		wrote_text(vprintf(fmt, ap) >= 0);
	else
		out_filter(must(vasprintf(&text, fmt, ap) < 0 ? NULL : text));
	va_end(ap);
	free(text);
}

void out_line(const char *text)
{
	out_printf("%s\n", text);
}

/* Returns the width of the terminal, 80 if stdout is not one. */
unsigned int out_columns(void)
{
	struct winsize w;

	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : 80;
}

static void flush(void)
{
	errno = 0;
	wrote(!fflush(stdout));
}

/* Flushes stdout and returns whether any write to it has failed so far. */
bool out_broken(void)
{
	flush();
	return write_error || stdout_closed;
}

/*
 * Returns whether stdout is a pipe without a reader, or was closed. Nothing needs to be
 * written to find that out.
 */
bool out_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return stdout_closed || (poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP)));
}

/* Ends every command. Returns @status, or 1 after printing why stdout failed. */
int out_close(int status)
{
	flush();
	if (!write_error || write_error == EPIPE)
		return status;
	fprintf(stderr, "seepage: cannot write: %s\n", strerror(write_error));
	return 1;
}

/* Prints a line on stderr, after what stdout has buffered. */
static void line(const struct ctx *ctx, const char *fmt, va_list ap)
{
	char raw[1024], safe[2048];

	vsnprintf(raw, sizeof(raw), fmt, ap);
	fmt_safe(safe, sizeof(safe), raw, strlen(raw));
	flush();
	if (ctx && ctx->cmd)
		fprintf(stderr, "seepage: %s: %s\n", ctx->cmd, safe);
	else
		fprintf(stderr, "seepage: %s\n", safe);
}

/* Prints an error. Returns the exit status 1. */
int fail(const struct ctx *ctx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(ctx, fmt, ap);
	va_end(ap);
	return 1;
}

/* Prints an error and names the help. Returns EXIT_USAGE. */
int usage(const struct ctx *ctx, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fail(ctx, "%s (seepage %s%s--help)", text, ctx->cmd ? ctx->cmd : "",
	     ctx->cmd ? " " : "");
	return EXIT_USAGE;
}

void note(const struct ctx *ctx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(ctx, fmt, ap);
	va_end(ap);
}

/*
 * Escapes control characters that json-c leaves alone (C1, text direction) but a
 * terminal obeys. They can only stand inside JSON strings, where \uXXXX means the
 * same character. A line feed in @text separates lines and is kept.
 */
static void out_json_text(const char *text)
{
	size_t len = strlen(text), n = 0, k;
	u32 c;

	for (; n < len; n += k) {
		k = utf8_char(text + n, len - n, &c);
		if (k && c != '\n' && is_control(c)) {
			out_printf("%.*s\\u%04x", (int)n, text, c);
			text += n + k;
			len -= n + k;
			n = 0;
			k = 0;
		} else if (!k) {
			k = 1;
		}
	}
	out_line(text);
}

/* Prints @o in a line of its own and drops the reference to it. Returns 0. */
int out_json(const struct ctx *ctx, struct json_object *o)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (ctx->pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	out_json_text(json_object_to_json_string_ext(o, flags));
	json_object_put(o);
	return 0;
}

/* Returns @p. If it is NULL, the program exits with an error. */
void *must(void *p)
{
	if (p)
		return p;
	fputs("seepage: out of memory\n", stderr);
	exit(1);
}
