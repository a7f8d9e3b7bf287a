// SPDX-License-Identifier: GPL-2.0
/*
 * selftest with a made-up module, which tracks no process, on a machine with $FIXTURE_KB KiB of
 * memory available. It makes no cgroup: the programs are real.
 */
#include <stdlib.h>
#include "../unit/module.h"
#include "selftest/selftest.h"

char *__real_procfs_read(int dir, const char *path);
char *__wrap_procfs_read(int dir, const char *path);
bool __wrap_selftest_cgroup_make(struct selftest_cgroup *c);

char *__wrap_procfs_read(int dir, const char *path)
{
	const char *kb = getenv("FIXTURE_KB");
	char text[128];

	if (!kb || strcmp(path, "/proc/meminfo"))
		return __real_procfs_read(dir, path);
	snprintf(text, sizeof(text), "MemTotal:       8000000 kB\nMemFree:        7000000 kB\n"
		 "MemAvailable:   %s kB\n", kb);
	return strdup(text);
}

bool __wrap_selftest_cgroup_make(struct selftest_cgroup *c)
{
	c->path[0] = '\0';
	c->procs = -1;
	return false;
}
