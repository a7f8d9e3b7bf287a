// SPDX-License-Identifier: GPL-2.0
/* The check whether anybody is told of alerts: the services, and the receivers of notify. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"

#define CONF	"/etc/seepage/notify.conf"

enum service_name { NOTIFY, EXPORT, WATCH, SERVICES };

static const char *const names[SERVICES] = { "notify", "export", "watch" };

struct service {
	bool enabled;
	bool runs;		/* systemd runs it */
	u64 pid;		/* of a tool that root has started otherwise, 0: none */
};

struct receivers {
	size_t n;		/* in the configuration of the service */
	char kinds[TEXT_MAX];	/* "alertmanager, journal" */
	char err[CONF_ERR_MAX];	/* why they are not known, or "" */
	bool missing;		/* there is no such file */
	bool hidden;		/* this user may not read it */
};

/*
 * The cgroup of a service is systemd's to give; a process cannot take it by its name. The whole
 * path counts: below a cgroup of its own a user may make "x:/system.slice/seepage-notify.service".
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

static bool is_of_root(const struct doctor *d, const char *pid)
{
	char *text = doctor_text(d, "/proc/%s/status", pid);
	const char *line = text ? strstr(text, "\nUid:") : NULL;
	u64 real = 1, effective = 1;

	if (line)
		sscanf(line, "\nUid: %llu %llu", &real, &effective);
	free(text);
	return !real && !effective;
}

/* notify with one of these words tells nobody of alerts to come. */
static bool is_trial(const struct doctor *d, const char *pid)
{
	static const char *const words[] = { "--dry-run", "--test", "--from", "--help" };
	char path[320];
	unsigned char *line;
	bool trial = false;
	size_t n, at, i;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	line = doctor_bytes(d, path, &n);
	if (!line)
		return false;
	for (at = 0; at < n; at += strlen((char *)line + at) + 1)
		for (i = 0; i < ARRAY_SIZE(words); i++)
			trial |= !strncmp((char *)line + at, words[i], strlen(words[i]));
	free(line);
	return trial;
}

static void look_at_process(const struct doctor *d, const char *pid, struct service *s)
{
	char *cgroup = doctor_text(d, "/proc/%s/cgroup", pid);
	char path[320], comm[32], tool[32];
	size_t i;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	doctor_line(d, path, comm, sizeof(comm));
	for (i = 0; i < SERVICES; i++) {
		snprintf(tool, sizeof(tool), "seepage-%s", names[i]);
		if (cgroup && is_in_service(cgroup, names[i]))
			s[i].runs = true;
		else if (!strcmp(comm, tool) && is_of_root(d, pid) && !is_trial(d, pid))
			s[i].pid = strtoull(pid, NULL, 10);
	}
	free(cgroup);
}

static void find_services(const struct doctor *d, struct service *s)
{
	char path[1024];
	struct dirent *e;
	size_t i;
	DIR *dir;

	for (i = 0; i < SERVICES; i++)
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

/* The number of receivers that a key of the configuration has; strings are not empty. */
static size_t count(struct json_object *v)
{
	size_t n = 0, i;

	if (json_object_is_type(v, json_type_string))
		return json_object_get_string_len(v) > 0;
	if (!json_object_is_type(v, json_type_array))
		return json_object_is_type(v, json_type_boolean) && json_object_get_boolean(v);
	for (i = 0; i < json_object_array_length(v); i++)
		n += json_object_get_string_len(json_object_array_get_idx(v, i)) > 0;
	return n;
}

/* Kinds and numbers only: URLs, keys and commands may be secrets. */
static void count_receivers(struct json_object *o, struct receivers *r)
{
	static const char *const keys[] = { "exec", "webhook", "alertmanager", "pagerduty_key",
					    "pagerduty_key_file", "journal", "syslog" };
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		n = count(json_object_object_get(o, keys[i]));
		if (n)
			sentence_append(r->kinds, sizeof(r->kinds), "%s%s", r->n ? ", " : "",
					keys[i]);
		r->n += n;
	}
}

static void find_receivers(const struct doctor *d, struct receivers *r)
{
	char *text = doctor_text(d, "%s", CONF);
	struct json_object *o;
	struct jsonc_bad bad;

	if (!text) {
		r->missing = errno == ENOENT;
		r->hidden = errno == EACCES;
		snprintf(r->err, sizeof(r->err), "%s", strerror(errno));
		return;
	}
	o = jsonc_parse(text, strlen(text), &bad, r->err, sizeof(r->err));
	free(text);
	if (o && json_object_is_type(o, json_type_object))
		count_receivers(o, r);
	else if (o)
		snprintf(r->err, sizeof(r->err), "not a JSON object");
	json_object_put(o);
}

static bool has_systemd(const struct doctor *d)
{
	return doctor_exists(d, "/run/systemd/system");
}

/*
 * "seepage-export is enabled, runs; seepage-watch is not enabled, does not run". Only systemd
 * enables services.
 */
static void say_services(const struct doctor *d, const struct service *s, char *buf, size_t size)
{
	bool systemd = has_systemd(d);
	size_t i;

	*buf = '\0';
	for (i = 0; i < SERVICES; i++) {
		sentence_append(buf, size, "%sseepage-%s ", i ? "; " : "", names[i]);
		if (systemd)
			sentence_append(buf, size, "is %senabled, ", s[i].enabled ? "" : "not ");
		if (s[i].pid && !s[i].runs)
			sentence_append(buf, size, "runs as pid %llu", s[i].pid);
		else
			sentence_append(buf, size, "%s", s[i].runs ? "runs" : "does not run");
	}
}

/* The first step of a remedy where the service is not installed, or "". */
static const char *unit_step(const struct doctor *d)
{
	return doctor_has_unit(d, names[NOTIFY]) || !has_systemd(d) ? "" :
	       "install seepage-tools, or make install-units; ";
}

/* The last step of a remedy. @systemctl: where there is systemd */
static const char *start_step(const struct doctor *d, const char *systemctl)
{
	return has_systemd(d) ? systemctl :
	       "have this machine's service manager run seepage notify --config " CONF " as root";
}

/* Each is there wherever its daemon is. */
static const char *easy_receiver(const struct doctor *d)
{
	return has_systemd(d) ? "{\"journal\": true}" : "{\"syslog\": true}";
}

/* The service has receivers, or this user may not see whether it has. */
static void judge_service(struct doctor *d, const struct service *s, const struct receivers *r,
			  const char *states)
{
	const struct service *notify = &s[NOTIFY];
	char what[2 * TEXT_MAX];

	if (r->hidden)
		snprintf(what, sizeof(what), "receivers are not known: this user may not read %s",
			 CONF);
	else
		snprintf(what, sizeof(what), "%zu receiver%s (%s)", r->n, r->n == 1 ? "" : "s",
			 r->kinds);
	if (notify->runs && notify->enabled) {
		doctor_find(d, "told", r->hidden ? DOCTOR_WARN : DOCTOR_OK, "%s; %s", what, states);
		if (r->hidden)
			doctor_remedy(d, "run it as root");
	} else if (notify->runs) {
		doctor_find(d, "told", DOCTOR_WARN, "%s, until the next boot; %s", what, states);
		doctor_remedy(d, "systemctl enable seepage-notify");
	} else {
		doctor_find(d, "told", DOCTOR_WARN, "nobody is told by notify, which does not run: "
			    "%s; %s", what, states);
		doctor_remedy(d, "%s%s", unit_step(d),
			      start_step(d, notify->enabled ? "systemctl status seepage-notify" :
					 "systemctl enable --now seepage-notify"));
	}
}

/* No receivers are in the configuration. */
static void judge_nothing(struct doctor *d, const struct service *s, const struct receivers *r,
			  const char *states)
{
	static const char restart[] =
		"systemctl enable seepage-notify && systemctl restart seepage-notify";
	const char *why = r->missing ? "is missing" : "names none";

	if (s[NOTIFY].runs) {
		/* Without a receiver it would have ended. */
		doctor_find(d, "told", DOCTOR_WARN, "notify runs with receivers from "
			    "elsewhere, as %s %s; %s", CONF, why, states);
		doctor_remedy(d, "look at systemctl cat seepage-notify; if it has no receivers, "
			      "put them into " CONF ", as %s, before the next boot",
			      easy_receiver(d));
		return;
	}
	if (s[EXPORT].runs || s[EXPORT].pid)
		doctor_find(d, "told", DOCTOR_WARN, "notify has no receivers; metrics are there, "
			    "and whether Prometheus asks for them is not known here; %s", states);
	else
		doctor_find(d, "told", DOCTOR_WARN, "nobody is told: notify has no receivers, as "
			    "%s %s; %s", CONF, why, states);
	doctor_remedy(d, "%s%sput receivers into " CONF ", as %s, then %s",
		      s[EXPORT].runs || s[EXPORT].pid ? "look at Prometheus' targets and rules; or "
		      : "", unit_step(d), easy_receiver(d), start_step(d, restart));
}

void doctor_told(struct doctor *d)
{
	struct service s[SERVICES] = { 0 };
	char states[2 * TEXT_MAX];
	struct receivers r = { 0 };

	find_services(d, s);
	find_receivers(d, &r);
	say_services(d, s, states, sizeof(states));
	if (s[NOTIFY].pid && !s[NOTIFY].runs) {
		/* Without a receiver it would have ended. */
		doctor_find(d, "told", DOCTOR_OK, "notify runs with receivers of its own; %s",
			    states);
	} else if (r.hidden || r.n) {
		judge_service(d, s, &r, states);
	} else if (r.missing || !*r.err) {
		judge_nothing(d, s, &r, states);
	} else {
		doctor_find(d, "told", DOCTOR_WARN, "%s cannot be read, %.200s: notify does not "
			    "start with it; %s", CONF, r.err, states);
		doctor_remedy(d, "%smend " CONF ", then %s", unit_step(d),
			      start_step(d, "systemctl restart seepage-notify"));
	}
}
