// SPDX-License-Identifier: GPL-2.0
/*
 * What is printed where: answers on stdout, one line a failure on stderr.
 * A reader that went away is no failure, a full disk is.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "ctl.h"

static bool stdout_closed;
static int write_error;		/* errno of the first write to stdout that failed */

/* Without the three standard descriptors a socket would become stdout. */
void out_init(void)
{
	int fd;

	stdout_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	signal(SIGPIPE, SIG_IGN);
}

/*
 * stdio keeps that a write failed, not why, and drops what it had: errno has
 * to be taken at once, so everything for stdout goes through here.
 */
static void wrote(bool ok)
{
	if (!ok && !write_error)
		write_error = errno ? errno : EIO;
}

/* /dev/null has the place of a closed one: what goes there is lost all the same. */
static void wrote_text(bool ok)
{
	if (stdout_closed)
		errno = EBADF;
	wrote(ok && !stdout_closed);
}

void out_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	errno = 0;
	wrote_text(vprintf(fmt, ap) >= 0);
	va_end(ap);
}

void out_line(const char *text)
{
	errno = 0;
	wrote_text(puts(text) >= 0);
}

/* Of the terminal; what is no terminal is as wide as those once were. */
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

/* Has a write failed? Flushes, so that the answer is about all so far. */
bool out_broken(void)
{
	flush();
	return write_error || stdout_closed;
}

/* Has the reader of a pipe gone, although nothing was written? */
bool out_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return stdout_closed || (poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP)));
}

/* The end of every command: its status, or that of a write that failed. */
int out_close(int status)
{
	flush();
	if (!write_error || write_error == EPIPE)
		return status;
	fprintf(stderr, "seepage: cannot write: %s\n", strerror(write_error));
	return 1;
}

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

int fail(const struct ctx *ctx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(ctx, fmt, ap);
	va_end(ap);
	return 1;
}

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
 * json-c escapes what JSON must not hold; a terminal obeys more than that. All
 * of it is inside strings, where the escape means the same. Line feeds are not:
 * they are those between the lines.
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

/* Prints an object in a line of its own and lets go of it. */
int out_json(const struct ctx *ctx, struct json_object *o)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (ctx->pretty)
		flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	out_json_text(json_object_to_json_string_ext(o, flags));
	json_object_put(o);
	return 0;
}

void *must(void *p)
{
	if (p)
		return p;
	fputs("seepage: out of memory\n", stderr);
	exit(1);
}
