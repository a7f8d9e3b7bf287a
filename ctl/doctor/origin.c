// SPDX-License-Identifier: GPL-2.0
/*
 * Where a kernel comes from, on which its remedies depend: what a distribution has packages for
 * is installed, and what somebody built is built again.
 */
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

enum doctor_origin doctor_origin(const struct doctor *d, const char *release)
{
	/* each Debian package has a directory of its own there */
	static const char *const packages[] = {
		"linux-image-", "linux-image-unsigned-", "linux-modules-",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(packages); i++)
		if (doctor_exists(d, "/usr/share/doc/%s%s", packages[i], release))
			return FROM_DEB;
	/* an RPM has the kernel itself there; make modules_install has not */
	if (doctor_exists(d, "/lib/modules/%s/vmlinuz", release) &&
	    (doctor_exists(d, "/usr/lib/sysimage/rpm") || doctor_exists(d, "/var/lib/rpm")))
		return FROM_RPM;
	return FROM_NOWHERE;
}

/* The configuration of a kernel, NULL if there is none; /proc/config.gz is of the running one. */
char *doctor_kernel_config(const struct doctor *d, const char *release, char *from, size_t size)
{
	const char *const names[][3] = {
		{ "/proc/config.gz", "", "" },
		{ "/boot/config-", release, "" },
		{ "/lib/modules/", release, "/config" },
		{ "/lib/modules/", release, "/build/.config" },
	};
	size_t i = strcmp(release, d->release) ? 1 : 0, n;
	char *text = NULL;

	for (; !text && i < ARRAY_SIZE(names); i++) {
		snprintf(from, size, "%s%s%s", names[i][0], names[i][1], names[i][2]);
		text = (char *)doctor_bytes(d, from, &n);
	}
	return text;
}

bool doctor_config_has(const char *config, const char *option)
{
	char word[64];
	const char *at;

	snprintf(word, sizeof(word), "\nCONFIG_%s=", option);
	at = strstr(config, word);
	return at && (at[strlen(word)] == 'y' || at[strlen(word)] == 'm');
}

#define NO_MODULES	"this kernel cannot load modules: build it with CONFIG_MODULES=y, or " \
			"with seepage in it (docs/appliance.md)"

/* What stands in the way of loading a module into the running kernel, as a remedy, or NULL. */
const char *doctor_no_load(const struct doctor *d)
{
	switch (d->loading) {
	case LOADS_NONE:
		return NO_MODULES;
	case LOADS_NO_MORE:
		return "this kernel loads no module before the next boot "
		       "(kernel.modules_disabled is 1): let seepage be loaded before that is set";
	case LOADS_MODULES:
		break;
	}
	return NULL;
}

/* Says how to get the module for a kernel that has none. */
void doctor_get_module(struct doctor *d, const char *release)
{
	char from[TEXT_MAX], *config;

	if (d->loading == LOADS_NONE && !strcmp(release, d->release)) {
		doctor_remedy(d, NO_MODULES);
		return;
	}
	config = doctor_kernel_config(d, release, from, sizeof(from));
	switch (doctor_origin(d, release)) {
	case FROM_DEB:
		doctor_remedy(d, "apt install seepage-dkms, or make dkms-install in the source");
		break;
	case FROM_RPM:
		doctor_remedy(d, "install the RPM package seepage-dkms, or make dkms-install in "
			      "the source");
		break;
	case FROM_NOWHERE:
		if (config && !doctor_config_has(config, "MODULES"))
			doctor_remedy(d, NO_MODULES);
		else
			doctor_remedy(d, "in the source of seepage: make kmod KDIR=DIR, where DIR "
				      "is that in which this kernel was built; insmod "
				      "build/kmod/host/seepage.ko");
		break;
	}
	free(config);
}

/* Says how to get what a module for a kernel is built with. */
void doctor_get_headers(struct doctor *d, const char *release)
{
	char from[TEXT_MAX], *config;

	switch (doctor_origin(d, release)) {
	case FROM_DEB:
		doctor_remedy(d, "apt install linux-headers-%s", release);
		return;
	case FROM_RPM:
		doctor_remedy(d, "dnf install kernel-devel-%s", release);
		return;
	case FROM_NOWHERE:
		break;
	}
	config = doctor_kernel_config(d, release, from, sizeof(from));
	if (config)
		doctor_remedy(d, "no package has it: take its source, with %s as .config, and make "
			      "modules_prepare there; link /lib/modules/%s/build to it", from,
			      release);
	else
		doctor_remedy(d, "no package has it: take its source, with its .config, which is "
			      "not here, and make modules_prepare there; link "
			      "/lib/modules/%s/build to it", release);
	free(config);
}
