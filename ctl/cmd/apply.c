// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ctl.h"

#define FILE_MAX	0x100000

static bool check;

static const struct opt opts[] = {
	{ .name = "check", .kind = OPT_FLAG, .dest = &check,
	  .help = "check FILE and change nothing" },
	{ .name = NULL }
};

/*
 * Reads at most FILE_MAX bytes. Returns the text, which the caller frees, or NULL
 * with errno set.
 */
static char *read_all(int fd, size_t *len)
{
	char *buf = must(malloc(FILE_MAX + 1));
	ssize_t n;

	*len = 0;
	do {
		n = read(fd, buf + *len, FILE_MAX + 1 - *len);
		if (n > 0)
			*len += (size_t)n;
	} while ((n > 0 && *len <= FILE_MAX) || (n < 0 && errno == EINTR));
	if (n >= 0 && *len <= FILE_MAX)
		return buf;
	if (n >= 0)
		errno = EFBIG;
	free(buf);
	return NULL;
}

static char *read_path(const char *path, size_t *len)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	char *text;
	int err;

	if (fd < 0)
		return NULL;
	text = read_all(fd, len);
	err = errno;
	if (fd != STDIN_FILENO)
		close(fd);
	errno = err;
	return text;
}

static void warn_of(void *arg, const char *key)
{
	note(arg, "warning: %s has no counterpart in seepage, ignored", key);
}

/*
 * Checks @c against the configuration in force, or against the defaults if the module
 * is not loaded or may not be asked. Returns false with the reason in @err.
 */
static bool consistent(const struct conf *c, char *err, size_t size)
{
	struct conf running;
	struct knl k;
	bool known = false;

	if (knl_open(&k) >= 0) {
		known = knl_resolve(&k) >= 0 && query_config(&k, &running) >= 0;
		knl_close(&k);
	}
	return conf_consistent(c, known ? &running : NULL, err, size);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	char err[CONF_ERR_MAX];
	struct conf c = { 0 };
	size_t len;
	char *text = read_path(argv[0], &len);
	bool ok;

	if (!text)
		return fail(ctx, "%s: %s", argv[0], strerror(errno));
	ok = conf_file(&c, text, len, warn_of, ctx, err, sizeof(err));
	free(text);
	if (ok && check)
		ok = consistent(&c, err, sizeof(err));
	if (!ok)
		return fail(ctx, "%s: %s", argv[0], err);
	if (check || (!c.has_events && !memchr(c.set, 1, sizeof(c.set))))
		return 0;
	return query_configure(ctx, &c);
}

const struct command cmd_apply = {
	.name = "apply", .args = "FILE",
	.help = "apply a JSON file, all of its keys or none",
	.more = "FILE - is standard input. Comments (// and /* */) are allowed.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
