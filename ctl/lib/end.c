// SPDX-License-Identifier: GPL-2.0
/*
 * How the process of an alert ended, and which cgroup the OOM killer acted for.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ctl.h"

#define KERNFS_ID	0xfe	/* type of a file handle: the id of a cgroup */

/*
 * Returns the path of a cgroup below the mount point @mount, or NULL: it is removed, or
 * this user may not ask. The caller frees it.
 */
static char *path_below(const char *mount, u64 id)
{
	struct {
		struct file_handle h;
		u64 id;
	} handle = { .h = { .handle_bytes = sizeof(id), .handle_type = KERNFS_ID } };
	char link[32], path[4096];
	ssize_t n = -1;
	int dir = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	if (dir < 0)
		return NULL;
	memcpy(handle.h.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(dir, &handle.h, O_PATH | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (n < 0 || strncmp(path, mount, strlen(mount)))
		return NULL;
	path[n] = '\0';
	return must(strdup(path[strlen(mount)] ? path + strlen(mount) : "/"));
}

/* Finds the path of a cgroup with memory limits. The caller frees it; NULL: not found. */
static char *cgroup_of(u64 id)
{
	char *text = procfs_read(AT_FDCWD, "/proc/self/mountinfo"), *save = NULL, *line;
	char *found = NULL;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		char mount[4096], type[32], super[1024];
		const char *dash = strstr(line, " - ");

		if (!dash || sscanf(line, "%*u %*u %*s %*s %4095s", mount) != 1 ||
		    sscanf(dash, " - %31s %*s %1023s", type, super) != 2)
			continue;
		if (!strcmp(type, "cgroup2") ||
		    (!strcmp(type, "cgroup") && strstr(super, "memory")))
			found = path_below(mount, id);
	}
	free(text);
	return found;
}

/* Returns the JSON object of the end of a process, or NULL: it is not known. */
struct json_object *end_json(const struct message *msg)
{
	u64 how = msg_get(msg, SEEPAGE_A_END, 0), id;
	int status = (int)(how & SEEPAGE_END_STATUS);
	bool known = how & SEEPAGE_END_EXIT, killed = known && WIFSIGNALED(status);
	struct json_object *o;
	char *path = NULL;

	if (!how)
		return NULL;
	o = json_object_new_object();
	json_add_text(o, "kind", how & SEEPAGE_END_EXEC ? "exec" : killed ? "signal" : "exit");
	json_object_object_add(o, "code", known && !killed ?
			       json_object_new_int64(WEXITSTATUS(status)) : NULL);
	json_object_object_add(o, "signal", killed ?
			       json_object_new_int64(WTERMSIG(status)) : NULL);
	json_object_object_add(o, "oom", json_object_new_boolean(how & SEEPAGE_END_OOM ? 1 : 0));
	if (msg_u64(msg, SEEPAGE_A_END_CGROUP_ID, &id))
		path = cgroup_of(id);
	json_object_object_add(o, "oom_cgroup", path ? json_text(path, strlen(path)) : NULL);
	json_object_object_add(o, "oom_cgroup_id",
			       attr_json(SEEPAGE_A_END_CGROUP_ID, msg->a[SEEPAGE_A_END_CGROUP_ID]));
	free(path);
	return o;
}

/* Writes how the process of an alert ended; nothing if that is not known. */
void end_text(const struct message *msg, char *buf, size_t size)
{
	u64 how = msg_get(msg, SEEPAGE_A_END, 0), id;
	int status = (int)(how & SEEPAGE_END_STATUS);
	char *path, safe[4 * TEXT_MAX];

	*buf = '\0';
	if (how & SEEPAGE_END_EXEC) {
		snprintf(buf, size, "it executed another program");
	} else if (how & SEEPAGE_END_OOM) {
		snprintf(buf, size, "the OOM killer ended it");
		if (!msg_u64(msg, SEEPAGE_A_END_CGROUP_ID, &id))
			return;
		path = cgroup_of(id);
		if (path)
			sentence_append(buf, size, ", for its cgroup %s",
					fmt_safe(safe, sizeof(safe), path, strlen(path)));
		else
			sentence_append(buf, size, ", for its cgroup (id %llu, removed)", id);
		free(path);
	} else if (how & SEEPAGE_END_EXIT && WIFSIGNALED(status)) {
		snprintf(buf, size, "signal %d (%s) ended it", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	} else if (how & SEEPAGE_END_EXIT) {
		snprintf(buf, size, "it exited with code %d", WEXITSTATUS(status));
	}
}

/*
 * "It ended at 2026-11-27 06:49:42, see #3. The alert said:"
 * @exit: the alert that says so; its number is 0 if there is none
 */
void end_print(const struct message *exit)
{
	u64 seq = msg_seq(exit);
	char when[TEXT_MAX];

	if (!seq) {
		out_line("It has ended.");
		return;
	}
	msg_text(exit, SEEPAGE_A_TIME_NS, when);
	out_printf("It ended at %s, see #%llu. The alert said:\n", when, seq);
}
