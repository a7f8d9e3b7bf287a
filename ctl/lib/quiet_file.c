// SPDX-License-Identifier: GPL-2.0
/* The files of silences and of policies, and what both are about. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>
#include "quiet/file.h"

const char *quiet_string(const struct json_object *o, const char *key)
{
	struct json_object *v = json_object_object_get(o, key);

	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

u64 quiet_number(const struct json_object *o, const char *key, u64 otherwise)
{
	struct json_object *v = json_object_object_get(o, key);

	return json_object_is_type(v, json_type_int) ? json_object_get_uint64(v) : otherwise;
}

/* Returns true if @s ends in @end and is longer than it. */
bool quiet_ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n > k && !strcmp(s + n - k, end);
}

/* Is @s a name or a comment: UTF-8 without control characters? */
bool quiet_is_text(const char *s)
{
	size_t len = strlen(s), n = 0, k;
	u32 c;

	for (; n < len; n += k) {
		k = utf8_char(s + n, len - n, &c);
		if (!k || is_control(c))
			return false;
	}
	return len && len <= QUIET_TEXT;
}

/* ---- the file ---- */

/* Is the file another one than at the last call? */
static bool has_changed(struct quiet_file *f, const struct stat *st, int err)
{
	bool same = f->looked && err == f->open_err && st->st_ino == f->inode &&
		    st->st_ctim.tv_sec == f->changed.tv_sec &&
		    st->st_ctim.tv_nsec == f->changed.tv_nsec;

	f->looked = true;
	f->open_err = err;
	f->inode = st->st_ino;
	f->changed = st->st_ctim;
	return !same;
}

/*
 * Opens the file, unless it was read already. Returns whether there is something new. Then @fd is
 * the file, or -1: @why says why it must not be read, NULL: there is none
 */
bool quiet_file_open(struct quiet_file *f, const char *path, int *fd, const char **why)
{
	struct stat st = { 0 };
	int err = 0;

	*why = NULL;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0 || fstat(*fd, &st))
		err = errno;
	if (!err && (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) ||
		     st.st_mode & 0022))
		*why = "allowed is a file of root that no other may write";
	else if (err && err != ENOENT)
		*why = strerror(err);
	if (!has_changed(f, &st, err)) {
		if (*fd >= 0)
			close(*fd);
		return false;
	}
	if (*fd >= 0 && (err || *why)) {
		close(*fd);
		*fd = -1;
	}
	return true;
}

/* ---- does it fit? ---- */

/* A name as it is, or a pattern: a name may have characters that a pattern has too. */
static bool fits(const char *pattern, const char *name)
{
	return !pattern || (name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0)));
}

/* The cgroup itself, or one below it */
static bool is_below(const char *cgroup, const char *path)
{
	size_t n = cgroup ? strlen(cgroup) : 0;

	while (n && cgroup[n - 1] == '/')
		n--;
	return !cgroup || (path && !strncmp(cgroup, path, n) && (!path[n] || path[n] == '/'));
}

/*
 * Does all that @o names of unit, name, cgroup and uid fit @s? A unit is one of systemd itself: a
 * user may give any name to a unit of a user manager. With a uid it is one of that user as well.
 */
bool quiet_fits(const struct json_object *o, const struct quiet_subject *s)
{
	const char *unit = quiet_string(o, "unit");
	u64 uid = quiet_number(o, "uid", UINT64_MAX);

	if (uid != UINT64_MAX && !(s->has_uid && s->uid == uid))
		return false;
	if (unit && s->unit_uid >= 0 && (u64)s->unit_uid != uid)
		return false;
	return fits(unit, s->unit) && fits(quiet_string(o, "name"), s->comm) &&
	       is_below(quiet_string(o, "cgroup"), s->cgroup);
}
