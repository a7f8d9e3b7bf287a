// SPDX-License-Identifier: GPL-2.0
/* The check whether anybody is told of alerts: the services, and the receivers of notify. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "doctor/doctor.h"
#include "notify/notify.h"

#define CONF	"/etc/seepage/notify.conf"

struct receivers {
	size_t n;		/* in the configuration of the service */
	char kinds[TEXT_MAX];	/* "alertmanager, journal" */
	char err[128];		/* why the file cannot be read, or "" */
	char refused[128];	/* why notify refuses it, or ""; no value of it, nor other text */
	bool missing;		/* there is no such file */
	bool hidden;		/* this user may not read it */
};

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

/*
 * Takes the kinds and numbers of receivers only: URLs, keys and commands may be secrets. The keys
 * that have words, or are flags, are those of receivers. Sets r->refused if notify refuses a key,
 * or a value.
 */
static void take_keys(struct json_object *o, struct receivers *r)
{
	struct json_object *bad;
	const struct opt *opt;
	char allowed[TEXT_MAX];
	size_t n;

	json_object_object_foreach(o, key, v) {
		opt = key_find(key);
		if (!opt)
			snprintf(r->refused, sizeof(r->refused), "an unknown key");
		else if (v && key_refuses(opt, v, &bad, allowed, sizeof(allowed)))
			snprintf(r->refused, sizeof(r->refused), "a wrong value of %s", key);
		n = opt && (opt->kind == OPT_WORDS || opt->kind == OPT_FLAG) ? count(v) : 0;
		if (n)
			sentence_append(r->kinds, sizeof(r->kinds), "%s%s", r->n ? ", " : "", key);
		r->n += n;
	}
}

static void find_receivers(const struct doctor *d, struct receivers *r)
{
	char *text = doctor_text(d, "%s", CONF), err[CONF_ERR_MAX];
	struct json_object *o;
	struct jsonc_bad bad;
	unsigned int line;

	if (!text) {
		r->missing = errno == ENOENT;
		r->hidden = errno == EACCES;
		snprintf(r->err, sizeof(r->err), "%s", strerror(errno));
		return;
	}
	o = jsonc_parse(text, strlen(text), &bad, err, sizeof(err));
	free(text);
	if (o && json_object_is_type(o, json_type_object)) {
		take_keys(o, r);
	} else if (!o && !*bad.key && sscanf(err, "line %u:", &line) == 1) {
		/* The rest of it quotes the file. */
		snprintf(r->refused, sizeof(r->refused), "it is not valid, line %u", line);
	} else {
		snprintf(r->refused, sizeof(r->refused), "it is not valid");
	}
	json_object_put(o);
}

static bool has_systemd(const struct doctor *d)
{
	return doctor_exists(d, "/run/systemd/system");
}

/* The first step of a remedy where the service is not installed, or "". */
static const char *unit_step(const struct doctor *d)
{
	return doctor_has_unit(d, "notify") || !has_systemd(d) ? "" :
	       "install seepage-tools, or make install-units; ";
}

/* The last step of a remedy. @systemctl: where there is systemd */
static const char *start_step(const struct doctor *d, const char *systemctl)
{
	return has_systemd(d) ? systemctl :
	       "have this machine's service manager run seepage notify --config " CONF " as root";
}

/* A receiver that needs no address: journald is part of systemd, syslog is there without it. */
static const char *easy_receiver(const struct doctor *d)
{
	return has_systemd(d) ? "{\"journal\": true}" : "{\"syslog\": true}";
}

static void say_receivers(const struct receivers *r, char *buf, size_t size)
{
	if (r->hidden)
		snprintf(buf, size, "receivers are not known: this user may not read %s", CONF);
	else if (r->n)
		snprintf(buf, size, "%zu receiver%s (%s)", r->n, r->n == 1 ? "" : "s", r->kinds);
	else
		snprintf(buf, size, "%s %s", CONF, r->missing ? "is missing" : "names none");
}

/* The service has receivers, or this user may not see whether it has. */
static void judge_service(struct doctor *d, const struct doctor_service *s,
			  const struct receivers *r, const char *states)
{
	const struct doctor_service *notify = &s[DOCTOR_NOTIFY];
	char what[2 * TEXT_MAX];

	say_receivers(r, what, sizeof(what));
	if (notify->runs && notify->enabled) {
		doctor_find(d, "told", r->hidden ? DOCTOR_UNKNOWN : DOCTOR_OK, "%s; %s", what,
			    states);
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

/* notify does not start with its configuration. */
static void judge_refused(struct doctor *d, const struct receivers *r, const char *states)
{
	if (*r->refused)
		doctor_find(d, "told", DOCTOR_WARN, "%s is refused by notify, which does not start "
			    "with it: %s; %s", CONF, r->refused, states);
	else
		doctor_find(d, "told", DOCTOR_WARN, "%s cannot be read, %s: notify does not start "
			    "with it; %s", CONF, r->err, states);
	doctor_remedy(d, "%sseepage notify --config " CONF " --from /dev/null --dry-run says "
		      "where; mend it, then %s", unit_step(d),
		      start_step(d, "systemctl restart seepage-notify"));
}

/* No receivers are in the configuration. */
static void judge_nothing(struct doctor *d, const struct doctor_service *s,
			  const struct receivers *r, const char *states)
{
	static const char restart[] =
		"systemctl enable seepage-notify && systemctl restart seepage-notify";
	const char *why = r->missing ? "is missing" : "names none";
	bool exports = s[DOCTOR_EXPORT].runs || s[DOCTOR_EXPORT].pid;

	if (s[DOCTOR_NOTIFY].runs) {
		/* Without a receiver it would have ended. */
		doctor_find(d, "told", DOCTOR_WARN, "notify runs with receivers from "
			    "elsewhere, as %s %s; %s", CONF, why, states);
		doctor_remedy(d, "look at systemctl cat seepage-notify; if it has no receivers, "
			      "put them into " CONF ", as %s, before the next boot",
			      easy_receiver(d));
		return;
	}
	if (exports)
		doctor_find(d, "told", DOCTOR_WARN, "notify has no receivers; metrics are there, "
			    "and whether Prometheus asks for them is not known here; %s", states);
	else
		doctor_find(d, "told", DOCTOR_WARN, "nobody is told: notify has no receivers, as "
			    "%s %s; %s", CONF, why, states);
	doctor_remedy(d, "%s%sput receivers into " CONF ", as %s, then %s",
		      exports ? "look at Prometheus' targets and rules; or " : "",
		      unit_step(d), easy_receiver(d), start_step(d, restart));
}

void doctor_told(struct doctor *d)
{
	struct doctor_service s[DOCTOR_SERVICES] = { 0 };
	const struct doctor_service *notify = &s[DOCTOR_NOTIFY];
	char states[2 * TEXT_MAX], what[2 * TEXT_MAX];
	struct receivers r = { 0 };

	doctor_find_services(d, s);
	find_receivers(d, &r);
	doctor_say_services(d, s, states, sizeof(states));
	if (notify->pid && !notify->runs) {
		/* Without a receiver it would have ended. */
		doctor_find(d, "told", DOCTOR_OK, "notify runs with receivers of its own; %s",
			    states);
	} else if (*r.refused || (*r.err && !r.missing && !r.hidden)) {
		judge_refused(d, &r, states);
	} else if (!notify->runs && doctor_proc_hides(d)) {
		say_receivers(&r, what, sizeof(what));
		doctor_find(d, "told", DOCTOR_UNKNOWN, "whether notify runs is not known, as /proc "
			    "hides processes of others: %s; %s", what, states);
		doctor_remedy(d, "run it as root");
	} else if (r.hidden || r.n) {
		judge_service(d, s, &r, states);
	} else {
		judge_nothing(d, s, &r, states);
	}
}
