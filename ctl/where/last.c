// SPDX-License-Identifier: GPL-2.0
/*
 * The last answer about a process that --keep has kept, which is also there after its end.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "where/keep.h"

/* Is @name an answer about a process of @pid in this boot? Writes its key then. */
static bool is_answer(const char *name, u32 pid, const char *boot, char *key)
{
	static const char kind[] = "answer-";
	char prefix[32];
	size_t n = sizeof(kind) - 1, boot_len = strlen(boot), len = strlen(name);

	snprintf(prefix, sizeof(prefix), "%s%u-", kind, pid);
	if (strncmp(name, prefix, strlen(prefix)) || len - n >= KEPT_KEY || len < boot_len ||
	    strcmp(name + len - boot_len, boot))
		return false;
	snprintf(key, KEPT_KEY, "%s", name + n);
	return true;
}

/* Finds the key of the newest answer. */
static bool newest(DIR *d, u32 pid, const char *boot, char *key)
{
	char one[KEPT_KEY];
	struct dirent *e;
	struct stat st;
	time_t best = 0;
	bool found = false;

	while ((e = readdir(d))) {
		if (!is_answer(e->d_name, pid, boot, one) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    (found && st.st_mtime < best))
			continue;
		best = st.st_mtime;
		found = true;
		memcpy(key, one, sizeof(one));
	}
	return found;
}

/*
 * Returns the last answer about a process of @pid, NULL if none is kept, or kept by another user.
 * @ended: out, that process is no more
 */
struct json_object *last_answer(u32 pid, bool *ended)
{
	char *boot = procfs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
	char key[KEPT_KEY], now[KEPT_KEY];
	int fd = kept_dir(), dir;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct json_object *o = NULL;

	if (boot)
		boot[strcspn(boot, "\n")] = '\0';
	if (d && boot && newest(d, pid, boot, key))
		o = kept_read("answer", key);
	if (o) {
		dir = procfs_open(pid, INT64_MIN);
		*ended = dir < 0 || !kept_key(dir, pid, now) || strcmp(now, key);
		if (dir >= 0)
			close(dir);
		json_object_object_del(o, KEPT_OWN);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	free(boot);
	return o;
}

static const char *member(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, name, &v) && v ? json_object_get_string(v) : "";
}

/* Prints it. Returns an exit status, after an error if there is none. */
int last_show(struct ctx *ctx, u32 pid)
{
	char comm[4 * 64], age[32], text[SENTENCE_MAX];
	struct json_object *o;
	bool ended = false;

	o = last_answer(pid, &ended);
	if (!o)
		return fail(ctx, "process %u: no answer about it is kept: watch --where and where "
			    "--keep keep them until the next boot", pid);
	if (ctx->json) {
		json_object_object_add(o, "ended", json_object_new_boolean(ended));
		return out_json(ctx, o);
	}
	fmt_safe(comm, sizeof(comm), member(o, "comm"), strlen(member(o, "comm")));
	snprintf(text, sizeof(text), "process %u (%s)%s, looked at %s ago:", pid, comm,
		 ended ? ", which has ended" : "", kept_age(o, age, sizeof(age)));
	fold("", 2, text);
	out_fold();
	kept_print(o, "  ");
	json_object_put(o);
	return 0;
}
