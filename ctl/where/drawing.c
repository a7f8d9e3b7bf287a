// SPDX-License-Identifier: GPL-2.0
/*
 * The file of --svg. It is opened before the work, so that a name that will not do is told at
 * once, and emptied after it, so that an earlier picture stays until there is another.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "where/where.h"

/* @path: NULL: no file is asked for. Returns an exit status. */
int drawing_open(const struct ctx *ctx, const char *path, struct drawing *d)
{
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	d->is_new = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(ctx, "--svg: '%s': %s", path, strerror(errno));
	d->path = path;
	d->f = must(fdopen(fd, "w"));
	return 0;
}

/* Returns an exit status. */
int drawing_write(const struct ctx *ctx, struct drawing *d, const struct result *r)
{
	struct stat st;
	int err = 0;

	if (!d->f)
		return 0;
	if (!fstat(fileno(d->f), &st) && S_ISREG(st.st_mode) && ftruncate(fileno(d->f), 0))
		err = errno;
	if (!err)
		show_svg(r, d->f);
	if (!err && ferror(d->f))
		err = EIO;
	if (fclose(d->f) && !err)
		err = errno;
	d->f = NULL;
	return err ? fail(ctx, "--svg: '%s': %s", d->path, strerror(err)) : 0;
}

/* Closes the file if there was no answer to draw. */
void drawing_drop(struct drawing *d)
{
	if (!d->f)
		return;
	if (d->is_new)
		unlink(d->path);
	fclose(d->f);
	d->f = NULL;
}
