// SPDX-License-Identifier: GPL-2.0
/*
 * Changes silences and acknowledgments. A writer takes the lock, reads the file, changes the
 * object, and writes the file beside its place, syncs and renames it. A writer that is killed
 * leaves the file as it was, and a lock that the next one takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "quiet/quiet.h"

/* Reads them for a list. Returns an exit status. */
int quiet_read(const struct ctx *ctx, struct quiet *q)
{
	quiet_look(q);
	return *q->err ? fail(ctx, "%s", q->err) : 0;
}

static struct json_object *new_root(void)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "version", json_object_new_int(QUIET_VERSION));
	json_object_object_add(o, "next_id", json_object_new_int(1));
	json_object_object_add(o, "silences", json_object_new_array());
	json_object_object_add(o, "acks", json_object_new_array());
	return o;
}

/* Forgets what has ended, and of too many acknowledgments the oldest. */
static void prune(struct json_object *root)
{
	struct json_object *list = json_object_object_get(root, "silences");
	u64 now = clock_real_ns();
	size_t i;

	for (i = json_object_array_length(list); i--;)
		if (quiet_over(json_object_array_get_idx(list, i), now))
			json_object_array_del_idx(list, i, 1);
	list = json_object_object_get(root, "acks");
	i = json_object_array_length(list);
	if (i > QUIET_ACKS)
		json_object_array_del_idx(list, 0, i - QUIET_ACKS);
}

static int write_root(const struct ctx *ctx, const char *path, int dir, struct json_object *root)
{
	const char *text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE);
	int err = disk_write(dir, QUIET_FILE, text, strlen(text), 0644);

	if (!err && fsync(dir))
		err = errno;
	return err ? fail(ctx, "%s: %s", path, strerror(err)) : 0;
}

/*
 * Changes the file by @change, which gets its object and returns an exit status; only if that is
 * 0 the file is written. Returns an exit status.
 */
int quiet_edit(const struct ctx *ctx, quiet_change change, void *arg)
{
	struct disk_place place;
	struct quiet q = { 0 };
	char path[PATH_MAX];
	int status;

	if (!quiet_path(path, sizeof(path) - sizeof("/" QUIET_FILE)))
		return fail(ctx, "SEEPAGE_STATE_DIR: allowed is a shorter path");
	strcat(path, "/" QUIET_FILE);
	status = disk_lock(ctx, path, &place);
	if (status)
		return status;
	status = quiet_read(ctx, &q);
	if (!status) {
		q.o = q.o ? q.o : new_root();
		prune(q.o);
		status = change(ctx, q.o, arg);
	}
	if (!status) {
		prune(q.o);
		status = write_root(ctx, path, place.dir, q.o);
	}
	quiet_free(&q);
	disk_unlock(&place);
	return status;
}

int quiet_check_text(const struct ctx *ctx, const char *what, const char *s)
{
	if (!s || quiet_is_text(s))
		return 0;
	return usage(ctx, "%s: '%.80s': allowed 1 to %d bytes of UTF-8 without control characters",
		     what, s, QUIET_TEXT);
}

/* The user that has logged in, whoever that has become since; else that of the process */
void quiet_by(char *buf, size_t size)
{
	char *text = procfs_read(AT_FDCWD, "/proc/self/loginuid");
	u64 uid = text ? strtoull(text, NULL, 10) : UINT32_MAX;
	const struct passwd *pw;

	free(text);
	uid = uid == UINT32_MAX ? geteuid() : uid;
	pw = getpwuid((uid_t)uid);
	if (pw && quiet_is_text(pw->pw_name))
		snprintf(buf, size, "%s", pw->pw_name);
	else
		snprintf(buf, size, "%llu", uid);
}
