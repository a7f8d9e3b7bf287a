// SPDX-License-Identifier: GPL-2.0
/*
 * A recording of bounded size: FILE and, from before it, FILE.old.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "series/series.h"

#define BARE_MAX	8192

/* The name of @file with @ending. The caller frees it. */
static char *beside(const char *file, const char *ending)
{
	char *name = NULL;

	return must(asprintf(&name, "%s%s", file, ending) < 0 ? NULL : name);
}

/* Removes what an interrupted rotation left. */
static void clear(const char *file)
{
	char *new = beside(file, ".new"), *name = beside(file, ".lnk");

	unlink(new);
	unlink(name);
	free(new);
	free(name);
}

/* Gives @file the name @old too, or instead where a file has one name only. Returns 0 or -errno. */
static int keep_as(const char *file, const char *old)
{
	char *name = beside(file, ".lnk");
	int err = rename(link(file, name) ? file : name, old) ? -errno : 0;

	free(name);
	return err;
}

/* Is @file a small recording in which no series begins, or the start of its first line? */
static bool is_bare(const char *file)
{
	const char *magic = SERIES_MAGIC "\n", *series = "\nproc ";
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[BARE_MAX];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n <= 0 || n == sizeof(text))
		return false;
	if (memcmp(text, magic, (size_t)n < strlen(magic) ? (size_t)n : strlen(magic)))
		return false;
	return !memmem(text, (size_t)n, series, strlen(series));
}

/**
 * series_rotate_start() - make room for a new @file
 * @ctx: for messages
 * @file: its name; an older one becomes FILE.old, but not in place of more than it has itself
 *
 * Return: an exit status.
 */
int series_rotate_start(const struct ctx *ctx, const char *file)
{
	clear(file);
	if (is_bare(file) && !unlink(file))
		return 0;
	return disk_keep_older(ctx, file);
}

/**
 * series_rotate() - go on in a new file
 * @w: the writer, between two passes
 * @out: what it writes to; becomes the new file
 * @file: name of both; the old one becomes FILE.old
 *
 * There is a FILE at any time, if the file system has hard links: the old one until the new one,
 * which has its first line by then, takes its name. Return: 0 or -errno; what was written is then
 * in FILE, FILE.old or both as one file, and the writer cannot go on.
 */
int series_rotate(struct series_writer *w, FILE **out, const char *file)
{
	char *old = beside(file, ".old"), *new = beside(file, ".new");
	FILE *f = NULL, *before = *out;
	int fd, err;

	clear(file);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		f = must(fdopen(fd, "w"));
	err = f ? series_write_again(w, f) : -errno;
	if (!err)
		err = keep_as(file, old);
	if (!err && rename(new, file))
		err = -errno;
	if (f) {
		*out = f;
		if (fclose(before) && !err)
			err = -errno;
	}
	if (err)
		clear(file);
	free(old);
	free(new);
	return err;
}
