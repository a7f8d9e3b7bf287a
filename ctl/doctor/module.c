// SPDX-License-Identifier: GPL-2.0
/* Checks of the module itself: is it there, does it work, has it room, what does it accuse. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

/* How to begin the module anew. */
static const char *reload(const struct doctor *d)
{
	return d->built_in || d->loading != LOADS_MODULES ? "boot anew" :
	       "rmmod seepage && modprobe seepage";
}

static void loaded(struct doctor *d)
{
	char version[64] = "";

	snprintf(version, sizeof(version), "%s", d->live.version);
	if (!*version)
		doctor_line(d, "/sys/module/seepage/version", version, sizeof(version));
	if (!*version) {
		doctor_find(d, "module", DOCTOR_UNKNOWN, "loaded, its version is not known");
		doctor_remedy(d, "run doctor as root, in the first network namespace");
	} else if (!strcmp(version, SEEPAGE_CTL_VERSION)) {
		doctor_find(d, "module", DOCTOR_OK, "loaded, version %s as this program", version);
	} else {
		doctor_find(d, "module", DOCTOR_WARN, "loaded is version %s, this program is %s",
			    version, SEEPAGE_CTL_VERSION);
		if (d->built_in)
			doctor_remedy(d, "build this kernel with seepage %s", SEEPAGE_CTL_VERSION);
		else
			doctor_remedy(d, "install seepage-dkms %s, then %s", SEEPAGE_CTL_VERSION,
				      reload(d));
	}
}

/* Is vermagic one of the running kernel? Its first word is the release. */
static bool fits(const struct doctor *d, const struct doctor_object *o)
{
	size_t n = strlen(d->release);

	return !*o->vermagic || !*d->release ||
	       (!strncmp(o->vermagic, d->release, n) && o->vermagic[n] == ' ');
}

void doctor_module(struct doctor *d)
{
	struct doctor_object o;

	if (d->loaded) {
		loaded(d);
		return;
	}
	if (d->loading == LOADS_NONE) {
		doctor_find(d, "module", DOCTOR_BAD, "not a part of kernel %s, which cannot load "
			    "modules", d->release);
		doctor_get_module(d, d->release);
		return;
	}
	doctor_object(d, d->release, "seepage", &o);
	if (!*o.path) {
		doctor_find(d, "module", DOCTOR_BAD, "not loaded, and not there for kernel %s",
			    d->release);
		doctor_get_module(d, d->release);
	} else if (!fits(d, &o)) {
		doctor_find(d, "module", DOCTOR_BAD, "not loaded; %s is for kernel %.*s", o.path,
			    (int)strcspn(o.vermagic, " "), o.vermagic);
		doctor_remedy(d, "dkms install --force seepage/%s -k %s", SEEPAGE_CTL_VERSION,
			      d->release);
	} else if (*o.version && strcmp(o.version, SEEPAGE_CTL_VERSION)) {
		doctor_find(d, "module", DOCTOR_WARN,
			    "not loaded; %s is version %s, this program is %s", o.path, o.version,
			    SEEPAGE_CTL_VERSION);
		doctor_remedy(d, "install seepage-dkms %s, then modprobe seepage",
			      SEEPAGE_CTL_VERSION);
	} else if (doctor_no_load(d)) {
		doctor_find(d, "module", DOCTOR_WARN, "not loaded; %s is there", o.path);
		doctor_remedy(d, "%s", doctor_no_load(d));
	} else {
		doctor_find(d, "module", DOCTOR_WARN, "not loaded; %s is there", o.path);
		doctor_remedy(d, "%smodprobe seepage", o.indexed ? "" : "depmod -a && ");
	}
}

void doctor_work(struct doctor *d)
{
	const struct doctor_live *l = &d->live;

	if (!d->loaded) {
		doctor_find(d, "work", DOCTOR_WARN, "nothing is watched: the module is not loaded");
	} else if (*l->disabled) {
		doctor_find(d, "work", DOCTOR_BAD, "the module switched itself off: %s",
			    l->disabled);
		doctor_remedy(d, "report it with the kernel's log, then %s", reload(d));
	} else if (l->answered && l->stretched) {
		doctor_find(d, "work", DOCTOR_WARN, "%llu passes; the interval is stretched, "
			    "passes cost more than max_cpu_permille allows", l->ticks);
		doctor_remedy(d, "seepage set max_cpu_permille NUMBER, or sample_interval_ms");
	} else if (l->answered) {
		doctor_find(d, "work", DOCTOR_OK, "%llu sampling passes", l->ticks);
	} else if (l->err == EPERM || l->err == EACCES) {
		doctor_find(d, "work", DOCTOR_UNKNOWN,
			    "not known: this user may not ask the module");
		doctor_remedy(d, "run doctor as root");
	} else if (l->err == ENOENT || l->err == EPROTONOSUPPORT) {
		doctor_find(d, "work", DOCTOR_UNKNOWN,
			    "not known: not reachable from this network namespace");
		doctor_remedy(d, "run doctor in the first network namespace");
	} else {
		doctor_find(d, "work", DOCTOR_BAD, "no answer: %s", strerror(l->err));
	}
	if (!l->multicast_off)
		return;
	doctor_find(d, "work", DOCTOR_WARN, "multicast is off: its groups were joined before the "
		    "load, maybe by somebody who may not hear of others; watch asks once a second, "
		    "record does not begin");
	doctor_remedy(d, "end what joined them (Eth 16 in /proc/net/netlink), then %s", reload(d));
}

/* Counts processes with memory of their own: kernel threads have a statm of zeros. */
static u64 count_processes(const struct doctor *d)
{
	char path[1024], line[64];
	struct dirent *e;
	u64 n = 0;
	DIR *dir;

	doctor_path(d, "/proc", path, sizeof(path));
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (*e->d_name < '1' || *e->d_name > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/statm", e->d_name);
		n += doctor_line(d, path, line, sizeof(line)) && strncmp(line, "0 ", 2);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* The room that a remedy asks for: twice what there is, in whole thousands of 1024. */
static u64 enough(u64 processes)
{
	u64 n = (2 * processes + 1023) / 1024 * 1024;
	u64 max = cfg_keys[SEEPAGE_CFG_MAX_PROCESSES].max;

	return n < max ? n : max;
}

/* Says how to make room for @n processes, for now and later. */
static void more_room(struct doctor *d, u64 n)
{
	if (d->built_in)
		doctor_remedy(d, "seepage set max_processes %llu; to keep it: "
			      "seepage.max_processes=%llu on the kernel's command line", n, n);
	else
		doctor_remedy(d, "seepage set max_processes %llu; to keep it: options seepage "
			      "max_processes=%llu in /etc/modprobe.d/seepage.conf", n, n);
}

/* The room that the module has, or that it would take: then *known is false. */
static u64 room(const struct doctor *d, bool *known)
{
	const char *key = "/sys/module/seepage/parameters/max_processes";
	u64 max = d->live.max_processes;
	char line[32];

	*known = max || (doctor_line(d, key, line, sizeof(line)) && parse_u64(line, &max));
	return *known ? max : cfg_keys[SEEPAGE_CFG_MAX_PROCESSES].def;
}

void doctor_table(struct doctor *d)
{
	bool known, hidden = doctor_proc_hides(d);
	u64 n = count_processes(d), max = room(d, &known);
	const struct doctor_live *l = &d->live;

	if (l->table_full || l->share_full)
		doctor_find(d, "table", DOCTOR_WARN, "room for %llu processes, %llu are here; "
			    "refused attempts: %llu as it was full, %llu as half of it was one "
			    "user's", max, n, l->table_full, l->share_full);
	else if (n > max / 5 * 4)
		doctor_find(d, "table", DOCTOR_WARN, "room for %llu processes%s, %llu are here",
			    max, known ? "" : " by default", n);
	else if (!known)
		doctor_find(d, "table", DOCTOR_UNKNOWN, "not known: the module %s; %llu processes "
			    "are here, it has room for %llu by default",
			    d->loaded ? "did not answer" : "is not loaded", n, max);
	else if (hidden)
		doctor_find(d, "table", DOCTOR_UNKNOWN, "not known: room for %llu processes, of "
			    "which /proc hides those of others", max);
	else
		doctor_find(d, "table", DOCTOR_OK, "room for %llu processes, %llu are here", max,
			    n);
	if (d->found[d->n - 1].level == DOCTOR_WARN)
		more_room(d, enough(n > max ? n : max));
	else if (!known && !d->loaded)
		doctor_remedy(d, "%s", doctor_no_load(d) ? doctor_no_load(d) :
			      "load the module, then run doctor again");
	else if (!known || hidden)
		doctor_remedy(d, "run doctor as root");
}

void doctor_alerts(struct doctor *d)
{
	const struct doctor_live *l = &d->live;
	const struct doctor_leak *first = l->leak;
	bool soon = l->leaks && first->state == SEEPAGE_STATE_RUNAWAY;
	char left[64] = "not known";

	if (!l->listed) {
		doctor_find(d, "alerts", DOCTOR_UNKNOWN, "not known: the module %s",
			    d->loaded ? "did not answer" : "is not loaded");
		return;
	}
	if (!l->leaks) {
		doctor_find(d, "alerts", DOCTOR_OK, "no process%s is under alert",
			    l->answered ? "" : " of this user");
		return;
	}
	if (first->has_tte)
		fmt_seconds(left, sizeof(left), first->tte_s);
	doctor_find(d, "alerts", soon ? DOCTOR_BAD : DOCTOR_WARN,
		    "%zu%s under alert; the first to exhaust its memory is pid %llu (%s), %s, "
		    "time left: %s", l->leaks, l->leaks == DOCTOR_LEAKS ? " or more" : "",
		    first->pid, first->comm, state_name(first->state), left);
	doctor_remedy(d, "seepage explain %llu", first->pid);
}
