// SPDX-License-Identifier: GPL-2.0
/* What the checks have in common, which is found before the first of them. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

static void find_newest(struct doctor *d)
{
	char path[PATH_SIZE];
	struct dirent *e;
	DIR *dir;

	doctor_path(d, "/lib/modules", path, sizeof(path));
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		/* a directory of headers only is of no kernel that can run */
		if (*e->d_name != '.' &&
		    doctor_exists(d, "/lib/modules/%s/modules.order", e->d_name) &&
		    strverscmp(e->d_name, d->newest) > 0)
			snprintf(d->newest, sizeof(d->newest), "%.120s", e->d_name);
	if (dir)
		closedir(dir);
}

static void find_rights(struct doctor *d)
{
	char *text = doctor_text(d, "/proc/self/status");
	const char *line = text ? strstr(text, "\nCapEff:") : NULL;
	char *map = doctor_text(d, "/proc/self/uid_map");
	u64 first = 1, outside = 1, n = 0;

	if (map)
		sscanf(map, "%llu %llu %llu", &first, &outside, &n);
	/* Capabilities in another user namespace than the first are none here. */
	if (line && !first && !outside && n == UINT32_MAX)
		d->caps = strtoull(line + 8, NULL, 16);
	free(text);
	free(map);
}

/* /proc/modules is there with CONFIG_MODULES, initstate for a module that is not built in. */
static void find_loading(struct doctor *d)
{
	char line[32];

	d->loaded = doctor_exists(d, "/sys/module/seepage");
	if (!doctor_exists(d, "/proc/modules") && doctor_exists(d, "/proc/self/status"))
		d->loading = LOADS_NONE;
	else if (doctor_line(d, "/proc/sys/kernel/modules_disabled", line, sizeof(line)) &&
		 *line == '1')
		d->loading = LOADS_NO_MORE;
	d->built_in = d->loaded && (d->loading == LOADS_NONE ||
				    !doctor_exists(d, "/sys/module/seepage/initstate"));
}

/* Whether the kernel is locked down is known without the file if it cannot be. */
static void find_lockdown(struct doctor *d)
{
	char line[TEXT_MAX], from[TEXT_MAX], *config;

	if (doctor_line(d, "/sys/kernel/security/lockdown", line, sizeof(line))) {
		d->signed_only = strchr(line, '[') && !strstr(line, "[none]");
		return;
	}
	config = doctor_kernel_config(d, d->release, from, sizeof(from));
	if (doctor_exists(d, "/sys/kernel/security/lockdown"))
		d->lockdown_hidden = true;
	else if (config)
		d->lockdown_hidden = doctor_config_has(config, "SECURITY_LOCKDOWN_LSM");
	else
		d->lockdown_hidden = !doctor_mounted(d, "securityfs");
	free(config);
}

/* Fills what the checks have in common. d->root is set. */
void doctor_begin(struct doctor *d)
{
	char line[TEXT_MAX], *cpu = doctor_text(d, "/proc/cpuinfo");

	doctor_line(d, "/proc/sys/kernel/osrelease", d->release, sizeof(d->release));
	find_loading(d);
	d->vm = (cpu && strstr(cpu, " hypervisor")) || doctor_exists(d, "/sys/hypervisor/type");
	free(cpu);
	find_lockdown(d);
	if (doctor_line(d, "/sys/module/module/parameters/sig_enforce", line, sizeof(line)) &&
	    *line == 'Y')
		d->signed_only = true;
	find_newest(d);
	find_rights(d);
}
