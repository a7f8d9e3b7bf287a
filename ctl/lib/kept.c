// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what `seepage where --keep` keeps below /run: a file for each look and each answer.
 * A name holds pid, start time and boot id: a later process of the same pid has another.
 * The directory and its files belong to the user of this program, and nobody else may
 * read them.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ctl.h"

#define NS	1000000000ULL
#define HOUR_NS	(3600 * NS)

/* The directory. SEEPAGE_RUN takes the place of /run/seepage, for tests. */
bool kept_path(char *buf, size_t size)
{
	const char *run = secure_getenv("SEEPAGE_RUN");
	int n = snprintf(buf, size, "%s/where", run && *run ? run : "/run/seepage");

	return n > 0 && (size_t)n < size;
}

/* Returns a descriptor of the directory, -1 if it is not there or others may read it. */
int kept_dir(void)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!kept_path(path, sizeof(path)))
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077)))
		return fd;
	close(fd);
	return -1;
}

/*
 * Writes the key of the process of @dir, a descriptor of /proc/PID, of KEPT_KEY bytes.
 * Returns false if the process has exited.
 */
bool kept_key(int dir, u32 pid, char *key)
{
	char *boot = procfs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
	u64 start = procfs_start(dir);

	snprintf(key, KEPT_KEY, "%u-%llu-%.36s", pid, start, boot ? boot : "");
	free(boot);
	return start && boot;
}

/* Returns the object in the file KIND-KEY, NULL if there is none. */
struct json_object *kept_read(const char *kind, const char *key)
{
	int dir = kept_dir(), fd = -1;
	struct json_object *o = NULL;
	char name[KEPT_KEY + 16];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s%s", kind, *key ? "-" : "", key);
	if (dir >= 0) {
		fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		close(dir);
	}
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= KEPT_BYTES)
		o = json_object_from_fd(fd);
	close(fd);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return NULL;
}

static u64 number(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) ? json_object_get_uint64(v) : 0;
}

/*
 * Returns the answer about the program that the process executes since @age_s seconds, NULL if
 * there is none: one that is older is about the program before it.
 */
struct json_object *kept_answer(const char *key, u64 age_s)
{
	struct json_object *o = kept_read("answer", key);

	if (!o)
		return NULL;
	json_object_object_del(o, KEPT_OWN);
	if (number(o, "time_ns") + (age_s + 1) * NS >= clock_real_ns())
		return o;
	json_object_put(o);
	return NULL;
}

/* The same for a process that the module was asked about. */
struct json_object *kept_of(const struct message *msg)
{
	int dir = procfs_open_msg(msg, false);
	struct json_object *o = NULL;
	char key[KEPT_KEY];

	if (dir < 0)
		return NULL;
	if (kept_key(dir, (u32)msg_pid(msg), key))
		o = kept_answer(key, msg_age(msg));
	close(dir);
	return o;
}

/* How long ago an answer was found out */
char *kept_age(struct json_object *o, char *buf, size_t size)
{
	u64 now = clock_real_ns();
	u64 then = json_object_get_uint64(json_object_object_get(o, "time_ns"));

	return fmt_seconds(buf, size, now > then ? (now - then) / NS : 0);
}

/* Prints the sentences of an answer, each in a line that begins with @before. */
void kept_print(struct json_object *o, const char *before)
{
	struct json_object *list;
	char safe[1024];
	const char *s;
	size_t i;

	if (!json_object_object_get_ex(o, "text", &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	for (i = 0; i < json_object_array_length(list); i++) {
		s = json_object_get_string(json_object_array_get_idx(list, i));
		if (s)
			out_printf("%s%s\n", before, fmt_safe(safe, sizeof(safe), s, strlen(s)));
	}
}

/*
 * Returns what all looks that were kept cost: looks, bursts, left_out, cpu_permille and
 * limit_permille. NULL: there were none, or the user may not know
 *
 * The limit is that of an hour, so less time than that counts as one.
 */
struct json_object *kept_cost(void)
{
	struct json_object *o = kept_read("ledger", "");
	u64 now = clock_ns(), since = o ? number(o, "since_ns") : now;
	static const char *const names[] = { "looks", "bursts", "left_out", "limit_permille" };
	struct json_object *cost;
	size_t i;

	if (since >= now) {	/* also: of an earlier boot */
		json_object_put(o);
		return NULL;
	}
	cost = json_object_new_object();
	for (i = 0; i < ARRAY_SIZE(names); i++)
		json_add_number(cost, names[i], number(o, names[i]));
	json_add_number(cost, "cpu_ms", number(o, "cpu_ns") / 1000000);
	if (now - since < HOUR_NS)
		now = since + HOUR_NS;
	json_object_object_add(cost, "cpu_permille",
			       json_object_new_double((double)number(o, "cpu_ns") * 1000 /
						      (double)(now - since)));
	json_object_put(o);
	return cost;
}
