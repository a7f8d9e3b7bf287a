// SPDX-License-Identifier: GPL-2.0
/* Files that are whole or not there: written beside their place, synced and renamed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "notify/notify.h"

#define FILE_MAX	(64 << 20)

/* Says the first of a row of failures. */
void disk_complain(struct spool *s, const char *what, int err)
{
	if (!s->complained)
		fail(s->ctx, "%s: %s; it goes on, a restart may send what was sent", what,
		     strerror(err));
	s->complained = true;
}

/* Writes @name below @dir, synced; the caller syncs the directory. Returns 0 or an errno. */
int disk_write(int dir, const char *name, const char *text, size_t len)
{
	int fd = openat(dir, DISK_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	for (; len && !err; text += n, len -= (size_t)n) {
		n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			err = errno;
		n = n < 0 ? 0 : n;
	}
	if (!err && fsync(fd))
		err = errno;
	close(fd);
	if (!err && renameat(dir, DISK_NEW, dir, name))
		err = errno;
	if (err)
		unlinkat(dir, DISK_NEW, 0);
	return err;
}

/* Reads a JSON object. Returns NULL if there is none, or it is damaged. */
struct json_object *disk_read(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct json_object *o = NULL;
	struct stat st;
	char *text;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX) {
		text = must(calloc(1, (size_t)st.st_size + 1));
		if (read(fd, text, (size_t)st.st_size) == st.st_size)
			o = json_tokener_parse(text);
		free(text);
	}
	close(fd);
	if (o && !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	return o;
}

static void make_parents(const char *path)
{
	char *copy = must(strdup(path)), *slash;

	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0755);
		*slash = '/';
	}
	free(copy);
}

/* Returns an exit status. */
int disk_open(struct spool *s, const char *path)
{
	struct stat st;

	make_parents(path);
	if (mkdir(path, 0700) && errno != EEXIST)
		return fail(s->ctx, "--state-dir: '%s': %s", path, strerror(errno));
	s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0 || fstat(s->dir, &st))
		return fail(s->ctx, "--state-dir: '%s': %s", path, strerror(errno));
	if (st.st_uid != geteuid() || st.st_mode & 0022)
		return fail(s->ctx, "--state-dir: '%s': allowed a directory that is this user's "
			    "and that no other may write", path);
	s->lock = openat(s->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return fail(s->ctx, "--state-dir: '%s': %s", path, strerror(errno));
	if (flock(s->lock, LOCK_EX | LOCK_NB))
		return fail(s->ctx, "--state-dir: '%s': another seepage notify uses it", path);
	return 0;
}
