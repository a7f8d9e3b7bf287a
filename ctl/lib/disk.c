// SPDX-License-Identifier: GPL-2.0
/* Files that are whole or not there: written beside their place, synced and renamed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ctl.h"

#define FILE_MAX	(64 << 20)
#define LOCK_S		10U	/* a writer takes less than a second */
#define LOCK_STEP_US	20000U

/*
 * Writes @name below @dir, synced; the caller syncs the directory. Only one writer at a time may
 * use a directory. Returns 0 or an errno.
 */
int disk_write(int dir, const char *name, const char *text, size_t len, mode_t mode)
{
	int fd, err = 0;
	ssize_t n;

	/* one that a writer has left may be another user's, which has it open still */
	unlinkat(dir, DISK_NEW, 0);
	fd = openat(dir, DISK_NEW, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return errno;
	if (fchmod(fd, mode))	/* whatever the umask is */
		err = errno;
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

/* Reads a JSON object. Returns NULL with an errno: ENOENT, EBADMSG if it is damaged, or another. */
struct json_object *disk_read(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), err = EBADMSG;
	struct json_object *o = NULL;
	struct stat st;
	ssize_t n;
	char *text;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX) {
		text = must(calloc(1, (size_t)st.st_size + 1));
		n = read(fd, text, (size_t)st.st_size);
		if (n < 0)
			err = errno;
		else if (n == st.st_size)
			o = json_tokener_parse(text);
		free(text);
	}
	close(fd);
	if (o && !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	errno = err;
	return o;
}

/*
 * Renames an older file at @path to PATH.old, as perf does, and says so. An empty file, a link and
 * what is no file (/dev/null, a pipe) stay. Of one file with both names, PATH is removed: rename()
 * would leave it. Returns an exit status.
 */
int disk_keep_older(const struct ctx *ctx, const char *path)
{
	char *old = NULL;
	struct stat st, kept;
	int err = 0;

	if (lstat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	if (asprintf(&old, "%s.old", path) < 0)
		old = NULL;
	if (!lstat(must(old), &kept) && kept.st_dev == st.st_dev && kept.st_ino == st.st_ino)
		err = unlink(path);
	else
		err = rename(path, old);
	if (err)
		err = fail(ctx, "%s: cannot be kept as %s: %s", path, old, strerror(errno));
	else
		note(ctx, "the older %s is now %s", path, old);
	free(old);
	return err;
}

/* Makes the directories above @path. Returns 0 or the errno of the first that cannot be made. */
int disk_parents(const char *path)
{
	char *copy = must(strdup(path)), *slash;
	int err = 0;

	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST && !err)
			err = errno;
		*slash = '/';
	}
	free(copy);
	return err;
}

/* Does the name still refer to the file that was locked? */
static bool is_there(int dir, int lock)
{
	struct stat own, now;

	return !fstat(lock, &own) && !fstatat(dir, DISK_LOCK, &now, AT_SYMLINK_NOFOLLOW) &&
	       own.st_dev == now.st_dev && own.st_ino == now.st_ino;
}

/* Returns 0 or an errno: EPERM is for a file that another user made and may hold locked. */
static int open_lock(struct disk_place *p)
{
	struct stat st;
	int err;

	p->lock = openat(p->dir, DISK_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	err = p->lock < 0 ? errno : 0;
	if (!fstatat(p->dir, DISK_LOCK, &st, AT_SYMLINK_NOFOLLOW) && st.st_uid != geteuid())
		err = EPERM;
	if (err && p->lock >= 0)
		close(p->lock);
	return err;
}

/* Waits for a lock, for a while. Returns 0 or an errno: EWOULDBLOCK if another one still has it. */
static int wait_for_lock(int lock)
{
	u64 end = clock_ms() + LOCK_S * 1000;
	int err;

	for (;;) {
		err = flock(lock, LOCK_EX | LOCK_NB) ? errno : 0;
		if ((err != EINTR && err != EWOULDBLOCK) || clock_ms() >= end)
			return err;
		usleep(LOCK_STEP_US);
	}
}

/*
 * Takes the lock of a directory. flock() of the directory itself needs the right to read only: any
 * user could hold it. The lock is a file of mode 0600. Returns 0 or an errno.
 */
static int take_lock(struct disk_place *p)
{
	int err;

	for (;;) {
		err = open_lock(p);
		if (err)
			return err;
		err = wait_for_lock(p->lock);
		if (!err && is_there(p->dir, p->lock))
			return 0;
		close(p->lock);
		if (err)
			return err;
	}
}

static int open_and_lock(const char *path, struct disk_place *p)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	int err = EINVAL;

	p->path = path;
	p->name = slash ? slash + 1 : path;
	if (!*p->name || strlen(p->name) > NAME_MAX - 1 || strlen(path) >= PATH_MAX)
		return err;
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	err = disk_parents(path);
	p->dir = open(*parent ? parent : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)		/* not there: what counts is why it could not be made */
		return errno == ENOENT && err ? err : errno;
	err = take_lock(p);
	if (err)
		close(p->dir);
	return err;
}

/**
 * disk_lock() - lock the directory of a file against other writers
 * @ctx: names the command in messages
 * @path: of the file; directories above it are made
 * @p: out; disk_unlock() releases it
 *
 * Two writers would write the same file beside it. Waits for another one, at most LOCK_S.
 *
 * Return: 0, or an exit status after printing an error.
 */
int disk_lock(const struct ctx *ctx, const char *path, struct disk_place *p)
{
	const char *slash = strrchr(path, '/');
	int err = open_and_lock(path, p), dir = slash ? (int)(slash - path + 1) : 0;

	switch (err) {
	case 0:
		return 0;
	case EPERM:
	case ELOOP:
	case EISDIR:
		return fail(ctx, "%.*s" DISK_LOCK ": allowed a file of this user: remove it if no "
			    "seepage writes there", dir, path);
	case EWOULDBLOCK:
		return fail(ctx, "%.*s" DISK_LOCK ": another seepage has held it for %u s: try "
			    "again when that one has ended, which fuser -v names", dir, path,
			    LOCK_S);
	default:
		return fail(ctx, "%s: %s%s", path, strerror(err),
			    err == EACCES ? ": run it as root" : "");
	}
}

void disk_unlock(struct disk_place *p)
{
	if (is_there(p->dir, p->lock))
		unlinkat(p->dir, DISK_LOCK, 0);
	close(p->lock);
	close(p->dir);
}

/* Is there a file as disk_write() makes it: of this text, owner and mode? */
static bool is_the_same(int dir, const char *name, const char *text)
{
	struct stat st;
	char *now;
	bool same;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_mode != (S_IFREG | 0644) ||
	    st.st_uid != geteuid() || (size_t)st.st_size != strlen(text))
		return false;
	now = procfs_read(dir, name);
	same = now && !strcmp(now, text);
	free(now);
	return same;
}

/* A file system may have no hard links. The file is what counts: it is written in any case. */
static void keep_earlier(const struct ctx *ctx, const struct disk_place *p)
{
	char old[NAME_MAX + 2];
	struct stat st;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode))
		return;		/* the write to a directory fails, and that is said */
	snprintf(old, sizeof(old), "%s~", p->name);
	unlinkat(p->dir, old, 0);
	if (linkat(p->dir, p->name, p->dir, old, 0) && errno != ENOENT)
		note(ctx, "%s: the earlier file is not kept as %s: %s", p->path, old,
		     strerror(errno));
}

/* Makes @text the file of @p. The earlier one is kept as NAME~. Returns 0 or an errno. */
int disk_replace(const struct ctx *ctx, const struct disk_place *p, const char *text)
{
	int err;

	if (is_the_same(p->dir, p->name, text))
		return 0;
	keep_earlier(ctx, p);
	err = disk_write(p->dir, p->name, text, strlen(text), 0644);
	if (!err && fsync(p->dir))
		err = errno;
	return err;
}
