// SPDX-License-Identifier: GPL-2.0
/*
 * Processes under an alert that receivers were told of. Alertmanager and PagerDuty take
 * several messages for one incident: all of them must carry the key or the labels of the
 * first. An alert has the age of its process in whole seconds, so the start that follows
 * from it differs by a second from alert to alert; the first one is kept. That of an end
 * is too late: it is told up to a pass, ten seconds as a rule, behind the last sample, and has
 * the age of that.
 */
#include <stdlib.h>
#include <string.h>
#include "notify/notify.h"

#define START_SLACK_S	5
#define PASS_MOST_S	3600	/* sample_interval_ms is at most that */

/*
 * Is @o, an alert or the answer about a process, of the group of @one? Groups are compared by comm,
 * uid and cgroup. The pid is that of the oldest process and changes when it ends.
 */
bool incident_is_of_group(const struct incident *one, const struct json_object *o)
{
	static const char *const keys[] = { "comm", "uid", "cgroup_id" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!json_object_equal(json_object_object_get(one->alert, keys[i]),
				       json_object_object_get(o, keys[i])))
			return false;
	return true;
}

static bool same_process(const struct incident *one, const struct alert *a)
{
	return one->pid == a->pid && one->begun_s <= a->begun_s + START_SLACK_S &&
	       one->begun_s >= a->begun_s - START_SLACK_S - (a->ends ? PASS_MOST_S : 0);
}

/* Of several, the latest: others are of earlier processes of this pid. */
struct incident *incident_find(struct incidents *i, const struct alert *a)
{
	struct incident *one, *found = NULL;

	for (one = i->v; one < i->v + i->n; one++) {
		if (one->limit || a->limit) {
			if (one->limit && a->limit && !strcmp(one->limit, a->limit))
				return one;
			continue;
		}
		if (one->instance != a->instance || one->of_group != a->of_group)
			continue;
		if (!(one->of_group ? incident_is_of_group(one, a->o) : same_process(one, a)))
			continue;
		if (!found || one->begun_s > found->begun_s)
			found = one;
	}
	return found;
}

/*
 * The one to forget where there are too many: the oldest of which nothing is held back, else the
 * oldest. Others have an alert that nobody has been told of.
 */
struct incident *incident_least_needed(struct incidents *i)
{
	struct incident *one;

	for (one = i->v; one < i->v + i->n; one++)
		if (!one->held)
			return one;
	return i->v;
}

/* FNV-1a: what is in words is longer than a key */
u64 incident_hash(const char *s)
{
	u64 h = 14695981039346656037ULL;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 1099511628211ULL;
	return h;
}

/* A number for the names of notes; an alert that is read again gets the same. */
u64 incident_number(const struct incident *one)
{
	return incident_hash(one->key);
}

/* Returns a new incident. The caller has made room for it. */
struct incident *incident_open(struct incidents *i, const struct alert *a, const char *boot)
{
	struct incident *one;

	i->v = must(realloc(i->v, (i->n + 1) * sizeof(*i->v)));
	one = &i->v[i->n++];
	memset(one, 0, sizeof(*one));
	one->instance = a->instance;
	one->pid = a->pid;
	one->begun_s = a->begun_s;
	one->first_ns = a->time_ns;
	one->of_group = a->of_group;
	one->told = -1;
	if (a->limit) {
		one->limit = must(strdup(a->limit));
		snprintf(one->key, sizeof(one->key), "%s-limit-%016llx", boot,
			 incident_hash(quiet_string(a->o, "id")));
		return one;
	}
	snprintf(one->key, sizeof(one->key), "%s%s-%llu-%lld", a->test ? "test-" : "", boot, a->pid,
		 (long long)a->begun_s);
	return one;
}

/* Keeps of @a, which is completed, what later messages about the incident need. */
void incident_update(struct incident *one, const struct alert *a)
{
	static const char *const keys[] = {
		"id", "seq", "pid", "comm", "uid", "cgroup_id", "unit", "runtime", "container",
		"container_name", "pod", "pod_name", "pod_namespace", "state", "severity",
		"severity_label", "confidence", "text", "ack", "ack_by", "subject", "limit_of",
		"cgroup", "growth_bytes_per_hour", "user", "cmdline", "last_end", "where",
	};
	size_t i;

	json_object_put(one->alert);
	one->alert = json_object_new_object();
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_object_add(one->alert, keys[i],
				       json_object_get(json_object_object_get(a->o, keys[i])));
}

/* Keeps @a as incident_update() does. @held: it is held back; else nothing is any more */
void incident_hold(struct incident *one, const struct alert *a, bool held)
{
	struct json_object *last = json_object_get(a->o);

	json_object_put(one->held);
	one->held = held ? json_object_get(last) : NULL;
	json_object_put(one->last);
	one->last = last;
	incident_update(one, a);
}

/* Keeps @a, which an earlier run has read, if it is the last one of its incident. */
void incident_remember(struct incidents *i, const struct alert *a)
{
	struct incident *one = incident_find(i, a);

	if (one && !one->last && quiet_number(one->alert, "seq", 0) == a->seq)
		one->last = json_object_get(a->o);
}

void incident_drop(struct incidents *i, struct incident *one)
{
	json_object_put(one->alert);
	json_object_put(one->labels);
	json_object_put(one->held);
	json_object_put(one->last);
	json_object_put(one->pids);
	free(one->limit);
	memmove(one, one + 1, (size_t)(i->v + i->n - one - 1) * sizeof(*one));
	i->n--;
}

/* Returns a list for the file of the state. */
struct json_object *incidents_json(const struct incidents *i)
{
	struct json_object *list = json_object_new_array(), *o;
	const struct incident *one;

	for (one = i->v; one < i->v + i->n; one++) {
		o = json_object_new_object();
		json_object_object_add(o, "key", json_object_new_string(one->key));
		json_object_object_add(o, "instance", json_object_new_uint64(one->instance));
		json_object_object_add(o, "pid", json_object_new_uint64(one->pid));
		json_object_object_add(o, "begun_s", json_object_new_int64(one->begun_s));
		json_object_object_add(o, "first_ns", json_object_new_uint64(one->first_ns));
		json_object_object_add(o, "of_group", json_object_new_boolean(one->of_group));
		json_object_object_add(o, "alert", json_object_get(one->alert));
		json_object_object_add(o, "labels", json_object_get(one->labels));
		json_object_object_add(o, "held", json_object_get(one->held));
		json_object_object_add(o, "told", one->told < 0 ? NULL :
				       json_object_new_string(state_name((unsigned int)one->told)));
		json_object_object_add(o, "acked", json_object_new_boolean(one->acked));
		json_object_object_add(o, "limit", one->limit ?
				       json_object_new_string(one->limit) : NULL);
		json_object_array_add(list, o);
	}
	return list;
}

/* Reads what incidents_json() made; what is not of that shape is left out. */
void incidents_read(struct incidents *i, struct json_object *list)
{
	bool is_list = json_object_is_type(list, json_type_array);
	size_t n = is_list ? json_object_array_length(list) : 0, k;

	for (k = 0; k < n; k++) {
		struct json_object *o = json_object_array_get_idx(list, k);
		struct json_object *alert = json_object_object_get(o, "alert");
		const char *key = quiet_string(o, "key"), *limit = quiet_string(o, "limit");
		const char *told = quiet_string(o, "told");
		struct json_object *held;
		struct incident *one;

		if (!key || !json_object_is_type(alert, json_type_object))
			continue;
		i->v = must(realloc(i->v, (i->n + 1) * sizeof(*i->v)));
		one = &i->v[i->n++];
		memset(one, 0, sizeof(*one));
		snprintf(one->key, sizeof(one->key), "%s", key);
		one->instance = quiet_number(o, "instance", 0);
		one->pid = quiet_number(o, "pid", 0);
		one->begun_s = (s64)quiet_number(o, "begun_s", 0);
		one->first_ns = quiet_number(o, "first_ns", 0);
		one->of_group = json_object_get_boolean(json_object_object_get(o, "of_group"));
		one->alert = json_object_get(alert);
		one->labels = json_object_get(json_object_object_get(o, "labels"));
		held = json_object_object_get(o, "held");
		one->held = json_object_is_type(held, json_type_object) ? json_object_get(held) :
			    NULL;
		one->told = told ? state_from_name(told, strlen(told)) : -1;
		one->limit = limit ? must(strdup(limit)) : NULL;
		one->acked = json_object_get_boolean(json_object_object_get(o, "acked"));
	}
}

void incidents_free(struct incidents *i)
{
	while (i->n)
		incident_drop(i, &i->v[i->n - 1]);
	free(i->v);
	memset(i, 0, sizeof(*i));
}
