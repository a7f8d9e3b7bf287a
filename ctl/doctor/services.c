// SPDX-License-Identifier: GPL-2.0
/* Which services of seepage are enabled, and which run. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

static const char *const names[DOCTOR_SERVICES] = { "notify", "export" };

struct process {
	u64 uid;		/* effective */
	bool of_root;		/* real and effective */
	bool trial;		/* of notify: it tells nobody of alerts to come */
};

/*
 * Only systemd makes cgroups in /system.slice. The whole path is compared, as a user may make
 * "x:/system.slice/seepage-notify.service" below a cgroup of his own.
 */
static bool is_in_service(const char *cgroup, const char *name)
{
	const char *line, *path, *end;
	char wanted[64];
	size_t n;

	n = (size_t)snprintf(wanted, sizeof(wanted), "/system.slice/seepage-%s.service", name);
	for (line = cgroup; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		/* "ID:CONTROLLERS:PATH"; no controller has a / in its name */
		path = strstr(line, ":/");
		if (path && path + 1 + n == end && !strncmp(path + 1, wanted, n))
			return true;
	}
	return false;
}

/* Reads the words of the command line. Returns false if there are none, as of a zombie. */
static bool read_words(const struct doctor *d, const char *pid, struct process *p)
{
	static const char *const trials[] = { "--dry-run", "--test", "--from", "--help" };
	char path[320];
	unsigned char *line;
	size_t n = 0, at, i;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	line = doctor_bytes(d, path, &n);
	if (!line)
		return false;
	for (at = 0; at < n; at += strlen((char *)line + at) + 1)
		for (i = 0; i < ARRAY_SIZE(trials); i++)
			p->trial |= !strncmp((char *)line + at, trials[i], strlen(trials[i]));
	free(line);
	return n > 0;
}

/* Returns false if the process has ended, or does so meanwhile. */
static bool read_process(const struct doctor *d, const char *pid, struct process *p)
{
	char *text = doctor_text(d, "/proc/%s/status", pid);
	const char *uid = text ? strstr(text, "\nUid:") : NULL;
	bool ended = !text || strstr(text, "\nState:\tZ");
	u64 real = 1;

	p->uid = 1;
	if (uid)
		sscanf(uid, "\nUid: %llu %llu", &real, &p->uid);
	p->of_root = !real && !p->uid;
	free(text);
	return !ended && read_words(d, pid, p);
}

static void look_at_process(const struct doctor *d, const char *pid, struct doctor_service *s)
{
	char *cgroup = doctor_text(d, "/proc/%s/cgroup", pid);
	char path[320], comm[32], tool[32];
	struct process p = { 0 };
	bool within, named;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	doctor_line(d, path, comm, sizeof(comm));
	for (i = 0; i < DOCTOR_SERVICES; i++) {
		snprintf(tool, sizeof(tool), "seepage-%s", names[i]);
		within = cgroup && is_in_service(cgroup, names[i]);
		named = !strcmp(comm, tool);
		if ((!within && !named) || !read_process(d, pid, &p))
			continue;
		if (within) {
			s[i].runs = true;
		} else if (p.of_root ? !p.trial : i == DOCTOR_EXPORT && !s[i].pid) {
			/* Anybody may have this name: of other users it only adds a word. */
			s[i].pid = strtoull(pid, NULL, 10);
			s[i].uid = p.uid;
		}
	}
	free(cgroup);
}

/* @s: of DOCTOR_SERVICES members */
void doctor_find_services(const struct doctor *d, struct doctor_service *s)
{
	char path[1024];
	struct dirent *e;
	size_t i;
	DIR *dir;

	for (i = 0; i < DOCTOR_SERVICES; i++)
		s[i].enabled = doctor_exists(d, "/etc/systemd/system/multi-user.target.wants/"
					     "seepage-%s.service", names[i]);
	doctor_path(d, "/proc", path, sizeof(path));
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (*e->d_name >= '1' && *e->d_name <= '9')
			look_at_process(d, e->d_name, s);
	if (dir)
		closedir(dir);
}

/*
 * "seepage-notify is enabled, runs; seepage-export is not enabled, does not run". Only systemd
 * enables services.
 */
void doctor_say_services(const struct doctor *d, const struct doctor_service *s, char *buf,
			 size_t size)
{
	bool systemd = doctor_exists(d, "/run/systemd/system"), hides = doctor_proc_hides(d);
	size_t i;

	*buf = '\0';
	for (i = 0; i < DOCTOR_SERVICES; i++) {
		sentence_append(buf, size, "%sseepage-%s ", i ? "; " : "", names[i]);
		if (systemd)
			sentence_append(buf, size, "is %senabled, ", s[i].enabled ? "" : "not ");
		if (s[i].runs)
			sentence_append(buf, size, "runs");
		else if (s[i].pid)
			sentence_append(buf, size, "runs as pid %llu", s[i].pid);
		else
			sentence_append(buf, size, "%s", hides ? "may run" : "does not run");
		if (s[i].pid && !s[i].runs && s[i].uid)
			sentence_append(buf, size, " of uid %llu", s[i].uid);
	}
}
