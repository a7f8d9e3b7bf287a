// SPDX-License-Identifier: GPL-2.0
/*
 * What /proc knows of a process, if the process of that pid is still the one
 * the kernel module spoke of. A pid may have been given to another one since:
 * that one is younger than the one we look for must be by now. Everything is
 * read through one descriptor of /proc/PID, which stays with its process.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "ctl.h"

#define PROC_PID_INIT_INO	0xeffffffcU	/* inode of the first pid namespace */
#define CLOCK_SLACK_MS		20

static char *read_file(int dir, const char *name)
{
	size_t n = 0, room = 4096;
	char *buf = must(malloc(room));
	ssize_t got = 0;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		free(buf);
		return NULL;
	}
	while (room - n > 1 && (got = read(fd, buf + n, room - n - 1)) > 0) {
		n += (size_t)got;
		if (room - n == 1 && room < 1 << 20) {
			room *= 2;
			buf = must(realloc(buf, room));
		}
	}
	close(fd);
	buf[n] = '\0';
	if (got >= 0)
		return buf;
	free(buf);
	return NULL;
}

/* Age of the process of /proc/PID in ms, -1: not known */
static s64 age_ms(int dir)
{
	char *stat = read_file(dir, "stat"), *p = stat ? strrchr(stat, ')') : NULL;
	long hz = sysconf(_SC_CLK_TCK);
	s64 age = -1;
	struct timespec now;
	u64 start;
	int field;

	/* comm may hold anything but the last ')' ends it; starttime is field 22 */
	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p && hz > 0 && !clock_gettime(CLOCK_BOOTTIME, &now)) {
		start = strtoull(p + 1, NULL, 10);
		age = (s64)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
		      (s64)(start * 1000 / (u64)hz);
	}
	free(stat);
	return age;
}

/* How old the process must be by now, in ms */
static s64 least_age(const struct rec *rec)
{
	s64 age = (s64)rec_get(rec, SEEPAGE_A_AGE_SECONDS, 0) * 1000, ago;
	struct timespec now;
	u64 then;

	if (rec_u64(rec, SEEPAGE_A_TIME_NS, &then) && !clock_gettime(CLOCK_REALTIME, &now)) {
		ago = (s64)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
		      (s64)(then / 1000000);
		if (ago > 0)
			age += ago;
	}
	return age;
}

/* "0::/path" is the unified hierarchy, else that of the memory controller. */
static char *cgroup_path(int dir)
{
	char *text = read_file(dir, "cgroup"), *line, *save = NULL, *found = NULL;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *path = strstr(line, ":/");

		if (!path)
			continue;
		if (!strncmp(line, "0::", 3)) {
			free(found);
			found = must(strdup(path + 1));
			break;
		}
		if (memmem(line, (size_t)(path - line + 1), ":memory:", 8))
			found = must(strdup(path + 1));
	}
	free(text);
	return found;
}

static char *exe_path(int dir)
{
	char buf[PATH_MAX + 16];
	ssize_t n = readlinkat(dir, "exe", buf, sizeof(buf) - 1);

	if (n <= 0)
		return NULL;
	buf[n] = '\0';
	return must(strdup(buf));
}

/* A multicast carries pids of the initial namespace: do we live in it? */
static bool initial_pids(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == PROC_PID_INIT_INO;
}

static bool uid_of(int dir, u32 *uid)
{
	char *text = read_file(dir, "status"), *line = text ? strstr(text, "\nUid:") : NULL;
	unsigned long v = line ? strtoul(line + 5, NULL, 10) : 0;

	free(text);
	*uid = (u32)v;
	return line;
}

/*
 * What /proc knows of process @pid of the initial namespace, with its uid, if
 * it is at least so old. False: nothing.
 */
bool place_of(u32 pid, s64 least_age_ms, struct place *p)
{
	char path[32];
	bool found;
	int dir;

	memset(p, 0, sizeof(*p));
	snprintf(path, sizeof(path), "/proc/%u", pid);
	dir = initial_pids() ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir < 0)
		return false;
	found = age_ms(dir) + CLOCK_SLACK_MS >= least_age_ms;
	if (found) {
		p->cgroup = cgroup_path(dir);
		p->exe = exe_path(dir);
		p->has_uid = uid_of(dir, &p->uid);
	}
	close(dir);
	return found;
}

void place_find(const struct rec *rec, bool multicast, struct place *p)
{
	u64 pid, state = rec_get(rec, SEEPAGE_A_STATE, SEEPAGE_STATE_OK);
	char path[32];
	int dir;

	memset(p, 0, sizeof(*p));
	if (!rec_u64(rec, SEEPAGE_A_PID, &pid) || !pid || state == SEEPAGE_STATE_EXITED ||
	    (multicast && !initial_pids()))
		return;
	snprintf(path, sizeof(path), "/proc/%llu", (unsigned long long)pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	if (age_ms(dir) + CLOCK_SLACK_MS >= least_age(rec)) {
		p->cgroup = cgroup_path(dir);
		p->exe = exe_path(dir);
	}
	close(dir);
}

void place_free(struct place *p)
{
	free(p->cgroup);
	free(p->exe);
	memset(p, 0, sizeof(*p));
}
