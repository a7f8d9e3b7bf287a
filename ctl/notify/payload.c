// SPDX-License-Identifier: GPL-2.0
/*
 * What each receiver gets. A webhook: the keys of the page-fault-tracing document, then
 * those of seepage. Alertmanager: API v2. PagerDuty: Events API v2, without the key, which is
 * added when it is sent and so is on no disk. All others: the alert, completed.
 */
#include <ctype.h>
#include <string.h>
#include <time.h>
#include "notify/notify.h"

#define LABEL_MAX	128	/* bytes of a label's value */
#define SUMMARY_MAX	1024	/* of PagerDuty */
#define CRITICAL	10
#define ERROR		8
#define WARNING		4

static void add_string(struct json_object *o, const char *key, const char *s)
{
	if (s && *s)
		json_object_object_add(o, key, json_object_new_string(s));
}

static void copy(struct json_object *to, const char *key, const struct json_object *from,
		 const char *from_key)
{
	json_object_object_add(to, key,
			       json_object_get(json_object_object_get(from, from_key)));
}

static void add_time(struct json_object *o, const char *key, u64 ns)
{
	time_t t = (time_t)(ns / 1000000000);
	char text[64];
	struct tm tm;
	size_t n;

	if (!gmtime_r(&t, &tm))
		return;
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%03lluZ", ns / 1000000 % 1000);
	json_object_object_add(o, key, json_object_new_string(text));
}

/* ---- webhook ---- */

/* The label of the document begins its words with capitals: Medium-High. */
static void add_severity_label(struct json_object *o, const struct json_object *alert)
{
	const char *s = quiet_string(alert, "severity_label");
	char text[32];
	size_t i;

	snprintf(text, sizeof(text), "%s", s ? s : "");
	for (i = 0; text[i]; i++)
		if (!i || text[i - 1] == '-')
			text[i] = (char)toupper((unsigned char)text[i]);
	json_object_object_add(o, "severity", json_object_new_string(text));
}

static void add_mb(struct json_object *o, const char *key, const struct json_object *alert,
		   const char *from)
{
	u64 bytes = quiet_number(alert, from, UINT64_MAX);

	json_object_object_add(o, key, bytes == UINT64_MAX ? NULL :
			       json_object_new_uint64(bytes >> 20));
}

static const char *type_of(const struct alert *a)
{
	if (a->limit)
		return a->ends ? "memory_limit_ended" : !strcmp(a->state, "limit_near") ?
		       "memory_limit_near" : "memory_limit_exceeded";
	return a->test ? "test" : a->ends ? "memory_leak_ended" : "memory_leak_detected";
}

static struct json_object *for_webhook(const struct settings *s, const struct alert *a)
{
	struct json_object *o = json_object_new_object(), *metrics = json_object_new_object();

	json_object_object_add(o, "type", json_object_new_string(type_of(a)));
	copy(o, "pid", a->o, "pid");
	copy(o, "process", a->o, "comm");
	add_severity_label(o, a->o);
	copy(o, "confidence", a->o, "confidence");
	add_mb(metrics, "rss_mb", a->o, "rss_bytes");
	add_mb(metrics, "vsz_mb", a->o, "vsz_bytes");
	copy(metrics, "fault_rate", a->o, "fault_rate");
	json_object_object_add(o, "metrics", metrics);
	json_object_object_add(o, "timestamp", json_object_new_double((double)a->time_ns / 1e9));
	copy(o, "id", a->o, "id");
	copy(o, "host", a->o, "host");
	copy(o, "state", a->o, "state");
	copy(o, "text", a->o, "text");
	copy(o, "where", a->o, "where");
	add_string(o, "url", s->url);
	json_object_object_add(o, "alert", json_object_get(a->o));
	return o;
}

/* ---- Alertmanager ---- */

/* Adds at most LABEL_MAX bytes of a string, no part of a character. Empty means no label. */
static void add_label(struct json_object *o, const char *label, const char *s)
{
	size_t len = s ? strlen(s) : 0, n = 0, k;
	u32 c;

	while (n < len) {
		k = utf8_char(s + n, len - n, &c);
		k = k ? k : 1;
		if (n + k > LABEL_MAX)
			break;
		n += k;
	}
	if (n)
		json_object_object_add(o, label, json_object_new_string_len(s, (int)n));
}

static struct json_object *labels_of(const struct alert *a)
{
	struct json_object *o = json_object_new_object();
	char number[24];

	add_label(o, "alertname", a->test ? "SeepageTest" : a->limit ? "SeepageLimit" :
		  "SeepageLeak");
	add_label(o, "job", "seepage");
	add_label(o, "instance", alert_host());
	snprintf(number, sizeof(number), "%llu", a->pid);
	if (a->limit)
		add_label(o, "limit_of", a->limit);
	else
		add_label(o, "pid", number);
	if (!a->limit)
		add_label(o, "comm", quiet_string(a->o, "comm"));
	if (!alert_of_name(a))
		add_label(o, "unit", quiet_string(a->o, "unit"));
	add_label(o, "container", quiet_string(a->o, "container"));
	add_label(o, "container_name", quiet_string(a->o, "container_name"));
	add_label(o, "pod", quiet_string(a->o, "pod"));
	add_label(o, "pod_name", quiet_string(a->o, "pod_name"));
	add_label(o, "pod_namespace", quiet_string(a->o, "pod_namespace"));
	/* With equal labels Alertmanager would not tell anybody that it is exceeded now. */
	add_label(o, "severity", a->severity >= (a->limit ? ERROR : CRITICAL) ? "critical" :
		  a->severity >= WARNING ? "warning" : "info");
	return o;
}

/* @ends_ns: 0: it goes on; Alertmanager then ends it by itself unless it is repeated */
static void add_alert(struct json_object *list, const struct settings *s,
		      struct json_object *labels, const struct json_object *alert, u64 starts_ns,
		      u64 ends_ns)
{
	struct json_object *o = json_object_new_object(), *notes = json_object_new_object();
	u64 seq = quiet_number(alert, "seq", 0);
	char url[512], end[SENTENCE_MAX];

	copy(notes, "summary", alert, "text");
	copy(notes, "state", alert, "state");
	copy(notes, "seepage_id", alert, "id");
	add_string(notes, "user", quiet_string(alert, "user"));
	add_string(notes, "cmdline", quiet_string(alert, "cmdline"));
	add_string(notes, "end", alert_end_text(alert, end, sizeof(end)));
	add_string(notes, "where", alert_where_text(json_object_object_get(alert, "where"), end,
						    sizeof(end)));
	add_string(notes, "ack", quiet_string(alert, "ack"));
	add_string(notes, "ack_by", quiet_string(alert, "ack_by"));
	if (seq)
		snprintf(url, sizeof(url), "seepage explain '#%llu'", seq);
	else
		snprintf(url, sizeof(url), "seepage policy");
	add_string(notes, "command", url);
	json_object_object_add(o, "labels", json_object_get(labels));
	json_object_object_add(o, "annotations", notes);
	add_time(o, "startsAt", starts_ns);
	if (ends_ns)
		add_time(o, "endsAt", ends_ns);
	snprintf(url, sizeof(url), "seepage://%s/%s/%llu", alert_host(), seq ? "alerts" : "limits",
		 seq);
	add_string(o, "generatorURL", s && s->url ? s->url : url);
	json_object_array_add(list, o);
}

/* Ends the alert with the labels that it had before where one of them has changed. */
static struct json_object *for_alertmanager(const struct settings *s, const struct alert *a,
					    struct incident *one)
{
	struct json_object *list = json_object_new_array(), *labels = labels_of(a);

	if (one->labels && a->ends) {
		json_object_put(labels);
		labels = json_object_get(one->labels);
	}
	if (one->labels && !json_object_equal(one->labels, labels))
		add_alert(list, s, one->labels, a->o, one->first_ns, a->time_ns);
	add_alert(list, s, labels, a->o, one->first_ns, a->ends ? a->time_ns : a->test ?
		  a->time_ns + 60000000000ULL : 0);
	json_object_put(labels);
	return list;
}

/* Repeats all that goes on. NULL: nothing does. */
struct json_object *payload_refresh(const struct settings *s, const struct incidents *open)
{
	struct json_object *list = NULL;
	const struct incident *one;

	for (one = open->v; one < open->v + open->n; one++) {
		if (!one->labels)
			continue;
		list = list ? list : json_object_new_array();
		add_alert(list, s, one->labels, one->alert, one->first_ns, 0);
	}
	return list;
}

/* ---- PagerDuty ---- */

static const char *urgency(u64 severity)
{
	return severity >= CRITICAL ? "critical" : severity >= ERROR ? "error" :
	       severity >= WARNING ? "warning" : "info";
}

static struct json_object *for_pagerduty(const struct settings *s, const struct alert *a,
					 const struct incident *one)
{
	struct json_object *o = json_object_new_object(), *p = json_object_new_object();
	char summary[SUMMARY_MAX];

	json_object_object_add(o, "event_action",
			       json_object_new_string(a->ends ? "resolve" : "trigger"));
	json_object_object_add(o, "dedup_key", json_object_new_string(one->key));
	add_string(o, "client", "seepage");
	add_string(o, "client_url", s->url);
	snprintf(summary, sizeof(summary), "%s: %s", alert_host(), quiet_string(a->o, "text"));
	json_object_object_add(p, "summary", json_text(summary, strlen(summary)));
	json_object_object_add(p, "source", json_text(alert_host(), strlen(alert_host())));
	add_string(p, "severity", urgency(a->severity));
	add_time(p, "timestamp", a->time_ns);
	copy(p, "component", a->o, "comm");
	copy(p, "group", a->o, "unit");
	add_string(p, "class", a->limit ? "memory limit" : "memory leak");
	json_object_object_add(p, "custom_details", json_object_get(a->o));
	json_object_object_add(o, "payload", p);
	return o;
}

/* ---- any ---- */

/*
 * Returns what @to gets for @a, which is completed. @one: its incident, for Alertmanager and
 * PagerDuty
 */
struct json_object *payload_note(const struct settings *s, const struct receiver *to,
				 const struct alert *a, struct incident *one)
{
	struct json_object *o = json_object_new_object(), *body;

	if (to->kind == TO_WEBHOOK)
		body = for_webhook(s, a);
	else if (to->kind == TO_ALERTMANAGER)
		body = for_alertmanager(s, a, one);
	else if (to->kind == TO_PAGERDUTY)
		body = for_pagerduty(s, a, one);
	else
		body = json_object_get(a->o);
	copy(o, "id", a->o, "id");
	json_object_object_add(o, "body", body);
	return o;
}

/* The labels that payload_note() has used; the caller keeps them in the incident. */
struct json_object *payload_labels(const struct alert *a)
{
	return labels_of(a);
}

static struct json_object *pagerduty_event(const struct incident *one, const char *action)
{
	struct json_object *body = json_object_new_object();

	add_string(body, "event_action", action);
	add_string(body, "dedup_key", one->key);
	return body;
}

static struct json_object *wrap(const struct incident *one, struct json_object *body)
{
	struct json_object *o = json_object_new_object();

	copy(o, "id", one->alert, "id");
	json_object_object_add(o, "body", body);
	return o;
}

/*
 * Somebody sees to an incident. Alertmanager gets that as an annotation when it is repeated, all
 * others but PagerDuty with the next alert: NULL.
 */
struct json_object *payload_acked(const struct receiver *to, const struct incident *one)
{
	return to->kind == TO_PAGERDUTY ? wrap(one, pagerduty_event(one, "acknowledge")) : NULL;
}

/*
 * Ends an incident after the module was loaded again: nobody will say how it ended. Returns NULL
 * where the receiver keeps none, and where it was not told of it.
 */
struct json_object *payload_forgotten(const struct receiver *to, const struct incident *one)
{
	struct json_object *body;

	if (to->kind == TO_PAGERDUTY && one->labels) {
		body = pagerduty_event(one, "resolve");
	} else if (to->kind == TO_ALERTMANAGER && one->labels) {
		body = json_object_new_array();
		add_alert(body, NULL, one->labels, one->alert, one->first_ns, clock_real_ns());
	} else {
		return NULL;
	}
	return wrap(one, body);
}
