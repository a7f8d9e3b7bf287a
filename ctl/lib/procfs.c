// SPDX-License-Identifier: GPL-2.0
/*
 * What /proc shows of a process, if the pid has not been reused since the module
 * reported it. A process that reuses the pid is younger than the reported one must
 * be by now, so the age is compared. All files are read through one descriptor of
 * /proc/PID, which never refers to another process.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <netlink/attr.h>
#include "ctl.h"

#define PROC_PID_INIT_INO	0xeffffffcU	/* inode of the first pid namespace */
#define CLOCK_SLACK_MS		20

/*
 * Reads a file of up to 1 MB. Returns its text, which the caller frees, or NULL
 * with errno set.
 */
char *procfs_read(int dir, const char *name)
{
	size_t n = 0, capacity = 4096;
	char *buf = must(malloc(capacity));
	ssize_t got = 0;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		free(buf);
		return NULL;
	}
	while (capacity - n > 1 && (got = read(fd, buf + n, capacity - n - 1)) > 0) {
		n += (size_t)got;
		if (capacity - n == 1 && capacity < 1 << 20) {
			capacity *= 2;
			buf = must(realloc(buf, capacity));
		}
	}
	close(fd);
	buf[n] = '\0';
	if (got >= 0)
		return buf;
	free(buf);
	return NULL;
}

/*
 * Returns when the process of @dir, a descriptor of /proc/PID, started: clock ticks since
 * boot. 0: unknown
 */
u64 procfs_start(int dir)
{
	char *stat = procfs_read(dir, "stat"), *p = stat ? strrchr(stat, ')') : NULL;
	u64 start = 0;
	int field;

	/* comm may hold anything but the last ')' ends it; starttime is field 22 */
	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p + 1, NULL, 10);
	free(stat);
	return start;
}

/* @dir: descriptor of /proc/PID. Returns the age of the process in ms, -1: unknown. */
static s64 age_ms(int dir)
{
	long hz = sysconf(_SC_CLK_TCK);
	u64 start = procfs_start(dir);
	struct timespec now;

	if (!start || hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &now))
		return -1;
	return (s64)now.tv_sec * 1000 + now.tv_nsec / 1000000 - (s64)(start * 1000 / (u64)hz);
}

/* Returns the least age in ms that the process of @msg must have by now. */
static s64 least_age(const struct message *msg)
{
	s64 age = (s64)msg_age(msg) * 1000, ago;
	struct timespec now;
	u64 time_ns;

	if (msg_u64(msg, SEEPAGE_A_TIME_NS, &time_ns) && !clock_gettime(CLOCK_REALTIME, &now)) {
		ago = (s64)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
		      (s64)(time_ns / 1000000);
		if (ago > 0)
			age += ago;
	}
	return age;
}

/*
 * Returns the path in the unified hierarchy ("0::/path"), else in that of the memory
 * controller. The caller frees it. NULL: unknown.
 */
char *procfs_cgroup(int dir)
{
	char *text = procfs_read(dir, "cgroup"), *line, *save = NULL, *found = NULL;

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

/* Is this process in the initial pid namespace? Multicasts carry pids of that one. */
static bool initial_pids(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == PROC_PID_INIT_INO;
}

static bool uid_of(int dir, u32 *uid)
{
	char *text = procfs_read(dir, "status"), *line = text ? strstr(text, "\nUid:") : NULL;
	unsigned long v = line ? strtoul(line + 5, NULL, 10) : 0;

	free(text);
	*uid = (u32)v;
	return line;
}

/*
 * Fills @p for process @pid of the initial pid namespace, with its uid. Returns
 * false if there is no such process, or it is younger than @least_age_ms.
 * place_free() frees the strings.
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
		p->cgroup = procfs_cgroup(dir);
		p->exe = exe_path(dir);
		p->has_uid = uid_of(dir, &p->uid);
	}
	close(dir);
	return found;
}

/*
 * Opens /proc/PID in this pid namespace. Returns a descriptor that the caller closes,
 * or -1 if there is no such process, or it is younger than @least_age_ms.
 */
int procfs_open(u32 pid, s64 least_age_ms)
{
	char path[32];
	int dir;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || age_ms(dir) + CLOCK_SLACK_MS >= least_age_ms)
		return dir;
	close(dir);
	return -1;
}

/* Reads the command line as one string, its words separated by blanks. */
static char *cmdline_of(int dir)
{
	char buf[IDENTITY_MAX + 1];
	int fd = openat(dir, "cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, IDENTITY_MAX), i;

	if (fd >= 0)
		close(fd);
	while (n > 0 && !buf[n - 1])
		n--;
	if (n <= 0)
		return NULL;
	for (i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	buf[n] = '\0';
	return must(strdup(buf));
}

/* Adds the parent of a process. @dir: its /proc/PID */
static void read_parent(int dir, struct place *p)
{
	char *status = procfs_read(dir, "status"), path[32];
	char *line = status ? strstr(status, "\nPPid:") : NULL;

	p->ppid = line ? (u32)strtoul(line + 6, NULL, 10) : 0;
	free(status);
	if (!p->ppid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/comm", p->ppid);
	p->parent = procfs_read(AT_FDCWD, path);
	if (p->parent)
		p->parent[strcspn(p->parent, "\n")] = '\0';
}

static char *string_of(const struct nlattr *a)
{
	return a ? must(strndup(nla_data(a), (size_t)nla_len(a))) : NULL;
}

/* Fills @p with the identity that an alert carries. Returns false if it has none. */
static bool identity_of(const struct message *msg, struct place *p)
{
	struct nlattr *a[__SEEPAGE_IDENTITY_A_MAX], *nest = msg->a[SEEPAGE_A_IDENTITY];
	u64 ppid = 0;

	if (!nest || nla_parse_nested(a, SEEPAGE_IDENTITY_A_MAX, nest, NULL) < 0)
		return false;
	p->exe = string_of(a[SEEPAGE_IDENTITY_A_EXE]);
	p->cmdline = string_of(a[SEEPAGE_IDENTITY_A_CMDLINE]);
	p->cgroup = string_of(a[SEEPAGE_IDENTITY_A_CGROUP]);
	p->parent = string_of(a[SEEPAGE_IDENTITY_A_PARENT]);
	attr_u64(a[SEEPAGE_IDENTITY_A_PPID], &ppid);
	p->ppid = (u32)ppid;
	return true;
}

/*
 * Opens /proc/PID of the process of an alert or an answer. @multicast: its pid is one of the
 * initial pid namespace. Returns a descriptor that the caller closes, or -1 if the process has
 * exited or its pid was reused.
 */
int procfs_open_msg(const struct message *msg, bool multicast)
{
	u64 pid, state = msg_state(msg);

	if (!msg_u64(msg, SEEPAGE_A_PID, &pid) || !pid || state == SEEPAGE_STATE_EXITED ||
	    (multicast && !initial_pids()))
		return -1;
	return procfs_open((u32)pid, least_age(msg));
}

/*
 * Fills @p, without uid, for the process of @msg. Members stay NULL if they are
 * unknown. An alert may carry them. @multicast: as for procfs_open_msg()
 */
void place_find(const struct message *msg, bool multicast, struct place *p)
{
	int dir;

	memset(p, 0, sizeof(*p));
	if (identity_of(msg, p))
		return;
	dir = procfs_open_msg(msg, multicast);
	if (dir < 0)
		return;
	p->cgroup = procfs_cgroup(dir);
	p->exe = exe_path(dir);
	p->cmdline = cmdline_of(dir);
	if (msg->a[SEEPAGE_A_SEQ])
		read_parent(dir, p);
	close(dir);
}

/*
 * Adds the parent where place_find() has left it out: it reads that of alerts only, as a list of
 * all processes has no use for it. @msg: about a process that may live
 */
void place_find_parent(const struct message *msg, struct place *p)
{
	int dir = p->ppid ? -1 : procfs_open_msg(msg, false);

	if (dir < 0)
		return;
	read_parent(dir, p);
	close(dir);
}

void place_free(struct place *p)
{
	free(p->cgroup);
	free(p->exe);
	free(p->cmdline);
	free(p->parent);
	memset(p, 0, sizeof(*p));
}
