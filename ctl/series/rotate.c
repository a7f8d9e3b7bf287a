// SPDX-License-Identifier: GPL-2.0
/*
 * A recording of bounded size: FILE and, from before it, FILE.old.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "series/series.h"

/* The name of @file with @ending. The caller frees it. */
static char *beside(const char *file, const char *ending)
{
	char *name = NULL;

	return must(asprintf(&name, "%s%s", file, ending) < 0 ? NULL : name);
}

/**
 * series_rotate() - go on in a new file
 * @w: the writer, between two passes
 * @out: what it writes to; becomes the new file
 * @file: name of both; the old one becomes FILE.old
 *
 * There is a FILE at any time: the old one until the new one, which has its first line by then,
 * takes its name. Return: 0 or -errno; the files are as they were then, and @out may be either.
 */
int series_rotate(struct series_writer *w, FILE **out, const char *file)
{
	char *old = beside(file, ".old"), *new = beside(file, ".new"), *name = beside(file, ".lnk");
	FILE *f = NULL, *before = *out;
	int fd, err;

	unlink(new);
	unlink(name);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		f = must(fdopen(fd, "w"));
	err = f ? series_write_again(w, f) : -errno;
	if (!err && (link(file, name) || rename(name, old) || rename(new, file)))
		err = -errno;
	if (f) {
		*out = f;
		if (fclose(before) && !err)
			err = -errno;
	}
	free(old);
	free(new);
	free(name);
	return err;
}
