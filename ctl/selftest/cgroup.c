// SPDX-License-Identifier: GPL-2.0
/*
 * A cgroup of version 2 with memory.max, at the top of the hierarchy. No controller is switched
 * on for it: where there is no memory controller, the limits of the programs are all there is.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "selftest/selftest.h"

/* Finds where the hierarchy is mounted. Returns false if it is not. */
static bool find_mount(char *path, size_t size)
{
	char *text = procfs_read(AT_FDCWD, "/proc/self/mountinfo"), *save = NULL, *line;
	bool found = false;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *dash = strstr(line, " - ");
		char mount[2048], type[32];

		if (!dash || sscanf(line, "%*u %*u %*s %*s %2047s", mount) != 1 ||
		    sscanf(dash, " - %31s", type) != 1 || strcmp(type, "cgroup2"))
			continue;
		snprintf(path, size, "%s", mount);
		found = true;
	}
	free(text);
	return found;
}

/* Removes those of earlier runs that were killed; one that is in use stays. */
static void remove_old(const char *mount)
{
	char path[4096];
	struct dirent *e;
	DIR *dir = opendir(mount);

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, SELFTEST_NAME "-", sizeof(SELFTEST_NAME)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", mount, e->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

static bool set(const char *dir, const char *name, const char *value)
{
	char path[4200];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = write(fd, value, strlen(value));
		close(fd);
	}
	return n >= 0;
}

/* Returns false if there is none; then nothing is left of it. */
bool selftest_cgroup_make(struct selftest_cgroup *c)
{
	char mount[2048], value[32], procs[4200];

	c->path[0] = '\0';
	c->procs = -1;
	if (!find_mount(mount, sizeof(mount)))
		return false;
	remove_old(mount);
	snprintf(c->path, sizeof(c->path), "%s/" SELFTEST_NAME "-%d", mount, getpid());
	if (mkdir(c->path, 0755)) {
		c->path[0] = '\0';
		return false;
	}
	snprintf(value, sizeof(value), "%llu", SELFTEST_MAX);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", c->path);
	if (set(c->path, "memory.max", value))
		c->procs = open(procs, O_WRONLY | O_CLOEXEC);
	if (c->procs < 0)
		selftest_cgroup_remove(c);
	return c->procs >= 0;
}

/* The processes in it have ended, but may not be gone yet. */
void selftest_cgroup_remove(struct selftest_cgroup *c)
{
	unsigned int tries;

	if (c->procs >= 0)
		close(c->procs);
	c->procs = -1;
	for (tries = 0; *c->path && rmdir(c->path) && tries < 100; tries++)
		usleep(20000);
	c->path[0] = '\0';
}
