// SPDX-License-Identifier: GPL-2.0
/* Checks of what the module is built from and with: DKMS, headers, options of the kernel. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

#define TREE	"/var/lib/dkms/seepage"

/* DKMS keeps kernel-RELEASE-ARCH for what is installed, VERSION/RELEASE for what is built. */
static bool has_entry(const struct doctor *d, const char *dir, const char *begins)
{
	char path[1024];
	struct dirent *e;
	bool found = false;
	DIR *list;

	doctor_path(d, dir, path, sizeof(path));
	list = opendir(path);
	while (list && !found && (e = readdir(list)))
		found = !strncmp(e->d_name, begins, strlen(begins));
	if (list)
		closedir(list);
	return found;
}

static void state_for(struct doctor *d, const char *release, const char *which)
{
	char begins[192], version[] = TREE "/" SEEPAGE_CTL_VERSION;
	struct doctor_object o;

	doctor_object(d, release, "seepage", &o);
	snprintf(begins, sizeof(begins), "kernel-%s-", release);
	if (!doctor_exists(d, TREE)) {
		doctor_find(d, "dkms", *o.path ? DOCTOR_OK : DOCTOR_WARN,
			    "not used; the %s kernel, %s, has %s module", which, release,
			    *o.path ? "a" : "no");
		if (!*o.path)
			doctor_get_module(d, release);
	} else if (has_entry(d, TREE, begins)) {
		doctor_find(d, "dkms", DOCTOR_OK, "installed for the %s kernel, %s", which,
			    release);
	} else if (doctor_exists(d, "%s/%s", version, release)) {
		doctor_find(d, "dkms", DOCTOR_WARN, "built for the %s kernel, %s, not installed",
			    which, release);
		doctor_remedy(d, "dkms install seepage/%s -k %s", SEEPAGE_CTL_VERSION, release);
	} else if (doctor_exists(d, "%s/build/make.log", version)) {
		doctor_find(d, "dkms", DOCTOR_BAD, "the last build failed: %s/build/make.log; no "
			    "module for the %s kernel, %s", version, which, release);
		doctor_remedy(d, "dkms install seepage/%s -k %s, once that is mended",
			      SEEPAGE_CTL_VERSION, release);
	} else {
		doctor_find(d, "dkms", DOCTOR_WARN, "not built for the %s kernel, %s", which,
			    release);
		doctor_remedy(d, "dkms install seepage/%s -k %s", SEEPAGE_CTL_VERSION, release);
	}
}

static bool has_newer(const struct doctor *d)
{
	return *d->newest && strcmp(d->newest, d->release);
}

/* Says that nothing has to be built for the running kernel, if that is so. */
static bool nothing_to_build(struct doctor *d, const char *check)
{
	if (d->built_in)
		doctor_find(d, check, DOCTOR_OK, "not needed: seepage is a part of the running "
			    "kernel, %s", d->release);
	else if (d->loading == LOADS_NONE)
		doctor_find(d, check, DOCTOR_OK, "of no use: the running kernel, %s, cannot load "
			    "modules", d->release);
	else
		return false;
	return true;
}

/* The running kernel, and the newest installed one, which the next boot may bring */
void doctor_dkms(struct doctor *d)
{
	if (!nothing_to_build(d, "dkms"))
		state_for(d, d->release, "running");
	if (has_newer(d))
		state_for(d, d->newest, "newest");
}

static void headers_for(struct doctor *d, const char *release, const char *which)
{
	if (doctor_exists(d, "/lib/modules/%s/build/Makefile", release)) {
		doctor_find(d, "headers", DOCTOR_OK, "there for the %s kernel, %s", which, release);
		return;
	}
	doctor_find(d, "headers", DOCTOR_WARN, "none for the %s kernel, %s: no module can be built "
		    "for it", which, release);
	doctor_get_headers(d, release);
}

void doctor_headers(struct doctor *d)
{
	if (!nothing_to_build(d, "headers"))
		headers_for(d, d->release, "running");
	if (has_newer(d))
		headers_for(d, d->newest, "newest");
}

/* ---- options of the kernel ---- */

static const struct option {
	const char *name, *lost;	/* what is lost without it; NULL: everything */
} options[] = {
	{ "MODULES", NULL }, { "NET", NULL }, { "PERF_EVENTS", NULL }, { "TRACEPOINTS", NULL },
	{ "DEBUG_FS", "the files for cat" },
	{ "CGROUPS", "the cgroup of a process" },
	{ "PROC_PAGE_MONITOR", "whether gained memory is used" },
	{ "CROSS_MEMORY_ATTACH", "seepage where" },
	{ "UPROBES", "seepage where --burst" },
};

void doctor_config(struct doctor *d)
{
	bool own = doctor_origin(d, d->release) == FROM_NOWHERE;
	char from[TEXT_MAX], needed[TEXT_MAX] = "", lost[2 * TEXT_MAX] = "", set[TEXT_MAX] = "";
	char *config = doctor_kernel_config(d, d->release, from, sizeof(from));
	size_t i;

	if (!config) {
		doctor_find(d, "config", DOCTOR_UNKNOWN, "not known: neither /proc/config.gz nor "
			    "/boot/config-%s can be read", d->release);
		if (own)
			doctor_remedy(d, "copy its .config to /boot/config-%s, or build it with "
				      "CONFIG_IKCONFIG_PROC=y", d->release);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (doctor_config_has(config, options[i].name) ||
		    (d->built_in && !strcmp(options[i].name, "MODULES")))
			continue;
		sentence_append(set, sizeof(set), " CONFIG_%s=y", options[i].name);
		if (options[i].lost)
			sentence_append(lost, sizeof(lost), "%sCONFIG_%s (%s)", *lost ? ", " : "",
					options[i].name, options[i].lost);
		else
			sentence_append(needed, sizeof(needed), "%sCONFIG_%s", *needed ? ", " : "",
					options[i].name);
	}
	free(config);
	if (*needed)
		doctor_find(d, "config", DOCTOR_BAD, "the kernel lacks %s: the module does not "
			    "build for it", needed);
	else if (*lost)
		doctor_find(d, "config", DOCTOR_WARN, "lost for want of an option: %s", lost);
	else
		doctor_find(d, "config", DOCTOR_OK, "all options that are needed are set (%s)",
			    from);
	if (*set && own)
		doctor_remedy(d, "build this kernel again from its configuration, %s, with%s", from,
			      set);
	else if (*set)
		doctor_remedy(d, "run a kernel with these options");
}
