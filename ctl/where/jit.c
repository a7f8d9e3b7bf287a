// SPDX-License-Identifier: GPL-2.0
/*
 * Names of code that a runtime compiles, from the map that it may write for perf: a line for each
 * function in /tmp/perf-PID.map, its address, its size and its name. Runtimes only add to it. A
 * function takes the place of one that is gone, so that the last line of an address is the one.
 */
#include <ctype.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "where/code.h"

#define BYTES_MAX	(64 * MIB)
#define LINES_MAX	(1U << 20)
#define COVER_MAX	4096U	/* lines that begin before an address and are looked at */

struct line {
	u64 begin, end;
	u64 reach;		/* the last end of this one and of all that begin before it */
	u32 name, name_n;	/* where it is in the text: in the order of lines */
};

struct jit {
	const struct target *t;
	int fd;			/* -1: there was none yet */
	bool is_read, is_cut;
	char *text;
	struct line *line;	/* by address */
	size_t lines;
};

static const char *status_line(const char *status, const char *key)
{
	const char *p = status ? strstr(status, key) : NULL;

	return p ? p + strlen(key) : NULL;
}

/* Its pid as it sees itself, the last one of "\nNSpid:\t4242\t7\n", and its effective user */
static bool identity(const struct target *t, unsigned int *pid, unsigned int *user)
{
	char *status = procfs_read(t->dir, "status"), *end;
	const char *p = status_line(status, "\nNSpid:"), *uid = status_line(status, "\nUid:");
	bool known = p && uid && sscanf(uid, "%*u %u", user) == 1;

	for (*pid = 0; known && *p == '\t'; p = end)
		*pid = (unsigned int)strtoul(p + 1, &end, 10);
	free(status);
	return *pid;
}

/* Links of the process lead nowhere but into its own root directory. */
static int open_inside(const struct target *t, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int root = openat(t->dir, "root", O_PATH | O_CLOEXEC);
	int fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (root >= 0)
		close(root);
	return fd;
}

/* The map, if it is a regular file of the process's user or of root; -1: none */
static int open_map(const struct target *t)
{
	unsigned int pid, user;
	int fd = -1, own = -1;
	char name[40];
	struct stat st;

	if (!identity(t, &pid, &user))
		return -1;
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", pid);
	fd = open_inside(t, name);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    (st.st_uid == user || !st.st_uid)) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		own = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd >= 0)
		close(fd);
	return own;
}

/* Returns the length, of whole lines only. */
static size_t read_text(struct jit *j)
{
	size_t n = 0, room = 0;
	ssize_t got = 1;

	while (got > 0 && n < BYTES_MAX) {
		if (n == room) {
			room = room ? 2 * room : 64 * KIB;
			j->text = must(realloc(j->text, room));
		}
		got = pread(j->fd, j->text + n, room - n, (off_t)n);
		n += got > 0 ? (size_t)got : 0;
	}
	j->is_cut = n >= BYTES_MAX;
	while (n && j->text[n - 1] != '\n')
		n--;
	return n;
}

/* "7f12a0 40 name"; @line ends with NUL */
static bool parse(const struct jit *j, char *line, struct line *l)
{
	char *p, *name;
	u64 bytes;

	if (!isxdigit((unsigned char)*line))
		return false;
	l->begin = strtoull(line, &p, 16);
	if (*p != ' ' || !isxdigit((unsigned char)p[1]))
		return false;
	bytes = strtoull(p + 1, &name, 16);
	if (*name != ' ' || !name[1] || !bytes || l->begin + bytes < l->begin)
		return false;
	l->end = l->begin + bytes;
	l->name = (u32)(name + 1 - j->text);
	l->name_n = (u32)strlen(name + 1);
	return true;
}

static int by_address(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void read_map(struct jit *j)
{
	size_t room = 0, n, i;
	char *p, *end, *stop;

	j->is_read = true;
	if (j->fd < 0)
		j->fd = open_map(j->t);
	if (j->fd < 0)
		return;
	n = read_text(j);
	stop = j->text + n;
	for (p = j->text; p < stop && j->lines < LINES_MAX; p = end + 1) {
		end = memchr(p, '\n', (size_t)(stop - p));
		*end = '\0';
		if (j->lines == room) {
			room = room ? 2 * room : 1024;
			j->line = must(realloc(j->line, room * sizeof(*j->line)));
		}
		j->lines += parse(j, p, &j->line[j->lines]);
	}
	j->is_cut = j->is_cut || p < stop;
	if (j->lines)
		qsort(j->line, j->lines, sizeof(*j->line), by_address);
	for (i = 0; i < j->lines; i++) {
		j->line[i].reach = j->line[i].end;
		if (i && j->line[i - 1].reach > j->line[i].reach)
			j->line[i].reach = j->line[i - 1].reach;
	}
}

/* Begins to name code of the process. The map is opened here, as the process may end. */
struct jit *jit_new(const struct target *t)
{
	struct jit *j = must(calloc(1, sizeof(*j)));

	j->t = t;
	j->fd = open_map(t);
	return j;
}

/**
 * jit_name() - find the function at an address, in the map as it is at the first call
 * @j: from jit_new()
 * @pc: the address
 * @n: out, length of the name
 *
 * Return: the name, which the process chose; NULL: not known.
 */
const char *jit_name(struct jit *j, u64 pc, size_t *n)
{
	const struct line *found = NULL, *l;
	size_t lo = 0, hi, least;

	if (!j->is_read)
		read_map(j);
	for (hi = j->lines; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (j->line[mid].begin <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* One line may reach over all that begin behind it. */
	least = lo > COVER_MAX ? lo - COVER_MAX : 0;
	for (; lo > least && j->line[lo - 1].reach > pc; lo--) {
		l = &j->line[lo - 1];
		if (l->end > pc && (!found || l->name > found->name))
			found = l;
	}
	*n = found ? found->name_n : 0;
	return found ? j->text + found->name : NULL;
}

void jit_note(const struct jit *j, struct result *r)
{
	if (j->is_cut)
		result_note(r, "the map of compiled code, /tmp/perf-PID.map, is read up to %llu MiB"
			    " and %u lines: names may be missing", BYTES_MAX / MIB, LINES_MAX);
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		close(j->fd);
	free(j->text);
	free(j->line);
	free(j);
}
