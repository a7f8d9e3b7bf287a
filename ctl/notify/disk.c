// SPDX-License-Identifier: GPL-2.0
/* The directory of the spool. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "notify/notify.h"

/* Says the first of a row of failures. */
void disk_complain(struct spool *s, const char *what, int err)
{
	if (!s->complained)
		fail(s->ctx, "%s: %s; it goes on, a restart may send what was sent", what,
		     strerror(err));
	s->complained = true;
}

static int refused(const struct spool *s, const char *path, int err)
{
	return fail(s->ctx, "--state-dir: '%s': %s%s", path, strerror(err),
		    err == EACCES ? ": run it as root, or name another" : "");
}

/* Returns an exit status. */
int disk_open(struct spool *s, const char *path)
{
	int err = disk_parents(path);
	struct stat st;

	if (mkdir(path, 0700) && errno != EEXIST)
		return refused(s, path, errno == ENOENT && err ? err : errno);
	s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0 || fstat(s->dir, &st))
		return refused(s, path, errno);
	if (st.st_uid != geteuid() || st.st_mode & 0022)
		return fail(s->ctx, "--state-dir: '%s': allowed a directory that is this user's "
			    "and that no other may write", path);
	s->lock = openat(s->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return refused(s, path, errno);
	if (flock(s->lock, LOCK_EX | LOCK_NB))
		return fail(s->ctx, "--state-dir: '%s': another seepage notify uses it", path);
	return 0;
}
