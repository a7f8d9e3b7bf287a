// SPDX-License-Identifier: GPL-2.0
/*
 * Memory limit and usage of the cgroup of a process. Of all cgroups above the process
 * the one with the least headroom is reported. Page cache that can be dropped does
 * not count as used. Swap that the cgroup may still use counts as headroom.
 *
 * A cgroup of version 2 has two limits, and the lower one counts. At memory.max the OOM
 * killer acts. At memory.high nothing is killed: the kernel reclaims from the cgroup, and
 * makes its processes wait where that does not help, the longer the further they are above
 * it. What leaks is then slowed down until it hardly runs, and so is what shares the cgroup.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cold/cold.h"

#define NO_LIMIT	(1ULL << 60)	/* cgroup v1 shows no limit as a number above this */

struct hierarchy {
	char mount[4096];	/* mount point; "": not mounted */
	char root[4096];	/* path in the hierarchy of the mounted cgroup */
	bool v1;
};

/* Reads a number from a file. Returns @none for "max" and for a missing file. */
static u64 number(int dir, const char *name, u64 none)
{
	char *text = procfs_read(dir, name), *end;
	u64 v = none;

	if (text && *text >= '0' && *text <= '9') {
		v = strtoull(text, &end, 10);
		if (v > NO_LIMIT)
			v = none;
	}
	free(text);
	return v;
}

/* Returns the number after @key, a word at the start of a line; 0 if it is missing. */
static u64 value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (!strncmp(text, key, n) && (text[n] == ' ' || text[n] == ':'))
			return strtoull(text + n + 1, NULL, 10);
	return 0;
}

static u64 swap_free(void)
{
	char *text = procfs_read(AT_FDCWD, "/proc/meminfo");
	u64 v = value_of(text, "SwapFree") << 10;

	free(text);
	return v;
}

static u64 reclaimable(int dir, bool v1)
{
	char *text = procfs_read(dir, "memory.stat");
	u64 v = v1 ? value_of(text, "total_inactive_file") + value_of(text, "total_active_file") :
		value_of(text, "inactive_file") + value_of(text, "active_file") +
		value_of(text, "slab_reclaimable");

	free(text);
	return v;
}

static u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/*
 * Returns the id of the cgroup, from which the module sees which processes share a limit: the
 * inode number of its directory. Version 1 numbers its cgroups independently of version 2, so
 * bit 63 marks an id of version 1.
 */
static u64 id_of(int dir, bool v1)
{
	struct stat st;

	return fstat(dir, &st) ? 0 : (u64)st.st_ino | (u64)v1 << 63;
}

/*
 * Computes what one cgroup leaves, in bytes. Returns the file that has its limit, NULL if it
 * has none.
 */
static const char *headroom_of(int dir, bool v1, u64 *headroom, u64 *used)
{
	const char *file = v1 ? "memory.limit_in_bytes" : "memory.max";
	u64 limit = number(dir, file, NO_LIMIT);
	u64 high = v1 ? NO_LIMIT : number(dir, "memory.high", NO_LIMIT);
	u64 drop, swap, both;

	if (high < limit) {
		limit = high;
		file = "memory.high";
	}
	if (limit >= NO_LIMIT)
		return NULL;
	*used = number(dir, v1 ? "memory.usage_in_bytes" : "memory.current", 0);
	drop = reclaimable(dir, v1);
	swap = swap_free();
	if (!v1) {
		both = less(number(dir, "memory.swap.max", NO_LIMIT),
			    number(dir, "memory.swap.current", 0));
		swap = swap < both ? swap : both;
	}
	*used = less(*used, drop);
	*headroom = less(limit, *used) + swap;
	both = v1 ? number(dir, "memory.memsw.limit_in_bytes", NO_LIMIT) : NO_LIMIT;
	if (both < NO_LIMIT) {
		both = less(both, less(number(dir, "memory.memsw.usage_in_bytes", 0), drop));
		*headroom = *headroom < both ? *headroom : both;
	}
	return file;
}

/* "36 35 0:31 ROOT MOUNT options.. - TYPE SOURCE SUPER-OPTIONS" */
static void find_hierarchies(struct hierarchy *v2, struct hierarchy *v1)
{
	char *text = procfs_read(AT_FDCWD, "/proc/self/mountinfo"), *save = NULL, *line;
	char type[32], super[1024];

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *dash = strstr(line, " - ");
		struct hierarchy *h = NULL;

		if (!dash || sscanf(dash, " - %31s %*s %1023s", type, super) != 2)
			continue;
		if (!strcmp(type, "cgroup2"))
			h = v2;
		else if (!strcmp(type, "cgroup") && strstr(super, "memory"))
			h = v1;
		if (h && !*h->mount)
			sscanf(line, "%*u %*u %*s %4095s %4095s", h->root, h->mount);
	}
	free(text);
}

/*
 * Finds the least headroom of the cgroup of @path and those above it, up to the one that is
 * mounted. Truncates @path. @memory and @name are changed if it is less than @least.
 */
static void least_headroom(const struct hierarchy *h, char *path, u64 *least,
			   struct cgroup_memory *memory, char *name)
{
	size_t n = strcmp(h->root, "/") ? strlen(h->root) : 0;
	const char *file;
	char *slash;
	u64 r, u;

	if (strncmp(path, h->root, n) || strstr(path, "/.."))
		return;		/* not below the mounted cgroup */
	path += n;
	do {
		char whole[8192];
		int dir;

		snprintf(whole, sizeof(whole), "%.4095s%s", h->mount, path);
		dir = open(whole, O_PATH | O_DIRECTORY | O_CLOEXEC);
		file = dir < 0 ? NULL : headroom_of(dir, h->v1, &r, &u);
		if (file && r < *least) {
			*least = r;
			*memory = (struct cgroup_memory){ .limit = u + r, .used = u,
							  .id = id_of(dir, h->v1) };
			if (name)
				snprintf(name, CGROUP_LIMIT_NAME, "%s %s", file, path);
		}
		if (dir >= 0)
			close(dir);
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
}

/*
 * Returns the path in a line of /proc/PID/cgroup. Returns NULL if the line is not that of
 * the memory controller (@v1) or of cgroup v2.
 */
static char *path_in(char *line, bool v1)
{
	char *path = strstr(line, ":/");

	if (!path)
		return NULL;
	if (!v1)
		return strncmp(line, "0::", 3) ? NULL : path + 1;
	/* a word of "4:cpu,memory:/PATH", and not of "1:name=memory:/PATH" */
	return memmem(line, (size_t)(path - line), ":memory", 7) ||
	       memmem(line, (size_t)(path - line), ",memory", 7) ? path + 1 : NULL;
}

bool cgroup_limit(int dir, struct cgroup_memory *memory, char *name)
{
	struct hierarchy h[2] = { { .v1 = false }, { .v1 = true } };
	char *text = procfs_read(dir, "cgroup"), *save = NULL, *line, *path;
	u64 least = UINT64_MAX;
	int i;

	*memory = (struct cgroup_memory){ 0 };
	find_hierarchies(&h[0], &h[1]);
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		for (i = 0; i < 2; i++) {
			path = *h[i].mount ? path_in(line, h[i].v1) : NULL;
			if (path)
				least_headroom(&h[i], path, &least, memory, name);
		}
	}
	free(text);
	return least != UINT64_MAX;
}
