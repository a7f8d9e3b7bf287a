// SPDX-License-Identifier: GPL-2.0
/* Checks of what the kernel offers and refuses: faults, counters, lockdown, signatures, logs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "doctor/doctor.h"

#define LOST_MAX	16	/* times that the log may overtake its reader */

void doctor_hook(struct doctor *d)
{
	static const char *const tracing[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	size_t i;

	if (*d->live.hook) {
		bool cheap = !strcmp(d->live.hook, "tracepoint");

		doctor_find(d, "hook", cheap ? DOCTOR_OK : DOCTOR_WARN, "page faults come from %s",
			    cheap ? "the tracepoints" : "perf's software event, which costs more");
		if (!cheap && doctor_exists(d, "%s/events/exceptions/page_fault_user", tracing[0]))
			doctor_remedy(d, d->built_in ? "boot without seepage.hook=software" :
				      "load the module without hook=software");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(tracing); i++) {
		if (!doctor_exists(d, "%s/events", tracing[i]))
			continue;
		if (doctor_exists(d, "%s/events/exceptions/page_fault_user", tracing[i]))
			doctor_find(d, "hook", DOCTOR_OK, "this kernel has page-fault tracepoints");
		else
			doctor_find(d, "hook", DOCTOR_WARN, "this kernel has no page-fault "
				    "tracepoints: perf's software event serves, at a higher cost");
		return;
	}
	doctor_find(d, "hook", DOCTOR_UNKNOWN, "not known: the module was not asked, and tracefs "
		    "cannot be read");
	doctor_remedy(d, d->caps ? "mount -t tracefs none /sys/kernel/tracing" :
		      "run doctor as root");
}

static bool has_pmu(const struct doctor *d)
{
	static const char *const names[] = {
		"cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3", "cpum_cf",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (doctor_exists(d, "/sys/bus/event_source/devices/%s", names[i]))
			return true;
	return false;
}

/* The module names a hypervisor as CPUID does, and QEMU's emulator three times in a row. */
static void name_host(const char *pmc, char *buf, size_t size)
{
	static const char tcg[] = "TCGTCGTCGTCG";
	const char *at = strstr(pmc, tcg);

	if (at)
		snprintf(buf, size, "%.*sTCG (QEMU without KVM)%s", (int)(at - pmc), pmc,
			 at + sizeof(tcg) - 1);
	else
		snprintf(buf, size, "%s", pmc);
}

void doctor_pmu(struct doctor *d)
{
	char paranoid[32] = "-", pmc[sizeof(d->live.pmc) + 32];

	name_host(d->live.pmc, pmc, sizeof(pmc));
	doctor_line(d, "/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	if (!strncmp(pmc, "off", 3) && has_pmu(d)) {
		doctor_find(d, "pmu", DOCTOR_WARN, "hardware counters are %s", pmc);
		doctor_remedy(d, "seepage set pmc auto; verdicts do not need counters");
	} else if (has_pmu(d)) {
		doctor_find(d, "pmu", DOCTOR_OK, "hardware counters%s%s; perf_event_paranoid is %s,"
			    " which does not hold for the module", *pmc ? ": " : " are there", pmc,
			    paranoid);
	} else if (d->vm) {
		doctor_find(d, "pmu", DOCTOR_WARN,
			    "no hardware counters: a virtual machine without a PMU");
		doctor_remedy(d, "give it one (libvirt: <cpu mode='host-passthrough'/> and <pmu "
			      "state='on'/>); verdicts do not need counters");
	} else {
		doctor_find(d, "pmu", DOCTOR_WARN, "no hardware counters: the kernel has no driver "
			    "for those of this CPU, or firmware keeps them");
		doctor_remedy(d, "none is needed: verdicts do not need counters");
	}
}

/* Says how to find out whether the kernel is locked down. */
static void show_lockdown(struct doctor *d)
{
	if (doctor_exists(d, "/sys/kernel/security/lockdown"))
		doctor_remedy(d, "run doctor as root");
	else
		doctor_remedy(d, "as root, mount -t securityfs none /sys/kernel/security, and run "
			      "doctor again; or look for \"Kernel is locked down\" in the kernel's "
			      "log");
}

void doctor_lockdown(struct doctor *d)
{
	char line[TEXT_MAX];

	if (d->lockdown_hidden) {
		doctor_find(d, "lockdown", DOCTOR_UNKNOWN, "not known: %s",
			    doctor_exists(d, "/sys/kernel/security/lockdown") ?
			    "/sys/kernel/security/lockdown cannot be read" :
			    "securityfs is not mounted, or does not show it");
		show_lockdown(d);
	} else if (!doctor_line(d, "/sys/kernel/security/lockdown", line, sizeof(line))) {
		doctor_find(d, "lockdown", DOCTOR_OK, "none: this kernel has no lockdown");
	} else if (strstr(line, "[confidentiality]")) {
		doctor_find(d, "lockdown", DOCTOR_WARN, "confidentiality: all of seepage works but "
			    "its trace events, and the module has to be signed");
		doctor_remedy(d, "none is needed without trace events; else lockdown=integrity at "
			      "boot");
	} else if (strstr(line, "[integrity]")) {
		doctor_find(d, "lockdown", DOCTOR_OK,
			    "integrity: all of seepage works, the module has to be signed");
	} else {
		doctor_find(d, "lockdown", DOCTOR_OK, "none");
	}
}

/* A variable of the firmware: 4 bytes of attributes, then the value. */
void doctor_secure_boot(struct doctor *d)
{
	static const char name[] = "/sys/firmware/efi/efivars/"
				   "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
	unsigned char *v;
	size_t n = 0;

	if (!doctor_exists(d, "/sys/firmware/efi")) {
		doctor_find(d, "secure_boot", DOCTOR_OK, "none: not booted by UEFI");
		return;
	}
	v = doctor_bytes(d, name, &n);
	if (v && n == 5 && v[4] == 1)
		doctor_find(d, "secure_boot", DOCTOR_OK, "on%s", d->signed_only ?
			    ": only signed modules are loaded" : "");
	else if (v && n == 5)
		doctor_find(d, "secure_boot", DOCTOR_OK, "off");
	else if (v || doctor_mounted(d, "efivarfs"))
		doctor_find(d, "secure_boot", DOCTOR_OK, "off: the firmware does not say it is on");
	else
		doctor_find(d, "secure_boot", DOCTOR_UNKNOWN, "not known: efivarfs is not mounted");
	if (d->found[d->n - 1].level == DOCTOR_UNKNOWN)
		doctor_remedy(d, "as root, mount -t efivarfs none /sys/firmware/efi/efivars, and "
			      "run doctor again");
	free(v);
}

/* Is the key of DKMS among those that the owner of the machine enrolled? */
static bool key_enrolled(const struct doctor *d)
{
	static const char list[] = "/sys/firmware/efi/efivars/"
				   "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";
	size_t keys_n = 0, key_n = 0;
	unsigned char *keys = doctor_bytes(d, list, &keys_n);
	unsigned char *key = doctor_bytes(d, "/var/lib/dkms/mok.pub", &key_n);
	bool found = keys && key && key_n && memmem(keys, keys_n, key, key_n);

	free(keys);
	free(key);
	return found;
}

/* There is no file that could be looked at. */
static void no_file(struct doctor *d, const struct doctor_object *o)
{
	if (d->built_in) {
		doctor_find(d, "signature", DOCTOR_OK, "not needed: seepage is a part of this "
			    "kernel");
	} else if (d->loading == LOADS_NONE) {
		doctor_find(d, "signature", DOCTOR_OK, "not needed: this kernel loads no modules");
	} else if (*o->path) {
		doctor_find(d, "signature", DOCTOR_UNKNOWN, "not known: %s cannot be read",
			    o->path);
		doctor_remedy(d, "run doctor as root");
	} else {
		doctor_find(d, "signature", DOCTOR_UNKNOWN, "not known: no file of the module is "
			    "there for kernel %s", d->release);
		if (d->loaded)
			doctor_remedy(d, "modinfo -F signer FILE, which is the file that was "
				      "loaded");
		else
			doctor_get_module(d, d->release);
	}
}

void doctor_signature(struct doctor *d)
{
	const char *by = "an unknown name";
	struct doctor_object o;

	doctor_object(d, d->release, "seepage", &o);
	if (*o.signer)
		by = o.signer;
	if (!*o.path || !o.readable) {
		no_file(d, &o);
	} else if (!o.has_signature && d->signed_only) {
		doctor_find(d, "signature", DOCTOR_BAD,
			    "%s has none, and this kernel loads signed modules only", o.path);
		doctor_remedy(d, "install it through DKMS, which signs; enrol its key: mokutil "
			      "--import /var/lib/dkms/mok.pub, reboot, confirm");
	} else if (!o.has_signature && d->lockdown_hidden && !d->loaded) {
		doctor_find(d, "signature", DOCTOR_UNKNOWN,
			    "none; whether this kernel asks for one is not known");
		show_lockdown(d);
	} else if (!o.has_signature) {
		doctor_find(d, "signature", DOCTOR_OK, "none, and this kernel asks for none");
	} else if (d->signed_only && !d->loaded && !key_enrolled(d)) {
		doctor_find(d, "signature", DOCTOR_WARN,
			    "signed by %s; the key of DKMS is not enrolled", by);
		doctor_remedy(d, "mokutil --import /var/lib/dkms/mok.pub, reboot, confirm");
	} else {
		doctor_find(d, "signature", DOCTOR_OK, "signed by %s", by);
	}
}

void doctor_debugfs(struct doctor *d)
{
	char *mounts = doctor_text(d, "/proc/mounts");

	if (mounts && strstr(mounts, " /sys/kernel/debug debugfs ")) {
		doctor_find(d, "debugfs", DOCTOR_OK, "mounted: the files for cat are there");
	} else {
		doctor_find(d, "debugfs", DOCTOR_WARN, "not mounted: no files for cat; this "
			    "program needs none");
		doctor_remedy(d, "mount -t debugfs none /sys/kernel/debug");
	}
	free(mounts);
}

/* Counts lines "seepage: ... bug: ..." and keeps the first one. */
static u64 read_log(FILE *f, char *first, size_t size)
{
	unsigned int lost = 0;
	char *line = NULL;
	size_t capacity = 0;
	u64 n = 0;

	while (lost < LOST_MAX) {
		const char *text;

		errno = 0;
		if (getline(&line, &capacity, f) < 0) {
			if (errno != EPIPE)
				break;
			lost++;		/* records were overwritten before they were read */
			clearerr(f);
			continue;
		}
		text = strchr(line, ';');
		text = text ? text + 1 : line;
		if (strncmp(text, "seepage", 7) || !strstr(text, "bug: ") || n++)
			continue;
		snprintf(first, size, "%.*s", (int)strcspn(text, "\n"), text);
	}
	free(line);
	return n;
}

void doctor_kernel_log(struct doctor *d)
{
	char path[1024], first[TEXT_MAX] = "";
	FILE *f = NULL;
	int fd, err;
	u64 n;

	doctor_path(d, "/dev/kmsg", path, sizeof(path));
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	err = errno;
	if (fd >= 0)
		f = must(fdopen(fd, "r"));
	if (!f) {
		doctor_find(d, "kernel_log", DOCTOR_UNKNOWN, "not known: it cannot be read: %s",
			    strerror(err));
		doctor_remedy(d, err == ENOENT ? "mount a devtmpfs at /dev, or read journalctl -k" :
			      "run doctor as root");
		return;
	}
	setvbuf(f, NULL, _IOFBF, 1 << 16);	/* a record has to fit */
	n = read_log(f, first, sizeof(first));
	fclose(f);
	if (!n) {
		doctor_find(d, "kernel_log", DOCTOR_OK, "no bug of the module is reported");
		return;
	}
	doctor_find(d, "kernel_log", DOCTOR_BAD, "%llu reports of a bug of the module: %s", n,
		    first);
	doctor_remedy(d, "report it, with the output of dmesg");
}
