// SPDX-License-Identifier: GPL-2.0
/*
 * JSON objects for a process and an alert. Every key is always present; an unknown
 * value is null.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ctl.h"

static struct json_object *text_or_null(const char *s)
{
	return s ? json_text(s, strlen(s)) : NULL;
}

void json_add(struct json_object *o, const struct message *msg, unsigned int id)
{
	json_object_object_add(o, attr_table[id].key, attr_json(id, msg->a[id]));
}

static void add_int(struct json_object *o, const char *key, bool known, s64 v)
{
	json_object_object_add(o, key, known ? json_object_new_int64(v) : NULL);
}

/* Begins a factor or a gate. An id of a newer module has no name: its number is used. */
static struct json_object *begin_reason(const char *kind, const char *name, unsigned int id)
{
	struct json_object *o = json_object_new_object();
	char number[16];

	snprintf(number, sizeof(number), "%u", id);
	json_add_text(o, kind, name ? name : number);
	return o;
}

static void end_reason(struct json_object *list, struct json_object *o, const char *unit,
		       const char *text)
{
	json_object_object_add(o, "unit", text_or_null(unit));
	json_add_text(o, "text", text);
	json_object_array_add(list, o);
}

static void add_factors(struct json_object *o, const struct message *msg)
{
	struct json_object *score = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f), i;
	char text[SENTENCE_MAX];

	for (i = 0; i < n; i++) {
		struct json_object *e = begin_reason("factor", factor_name(f[i].id), f[i].id);

		json_object_object_add(score,
				       json_object_get_string(json_object_object_get(e, "factor")),
				       json_object_new_int64(f[i].points));
		add_int(e, "points", true, f[i].points);
		add_int(e, "max_points", true, f[i].max);
		add_int(e, "value", f[i].has_value, f[i].value);
		add_int(e, "baseline", f[i].has_baseline, f[i].baseline);
		sentence_factor(&f[i], text, sizeof(text));
		end_reason(list, e, factor_unit(f[i].id), text);
	}
	json_object_object_add(o, "score", score);
	json_object_object_add(o, "factors", list);
}

/* "gates" is null if the kernel did not send them, as in the dump that ps reads. */
static void add_gates(struct json_object *o, const struct message *msg)
{
	struct json_object *list = msg->a[SEEPAGE_A_GATES] ? json_object_new_array() : NULL;
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g), i;
	char text[SENTENCE_MAX];

	for (i = 0; i < n; i++) {
		struct json_object *e = begin_reason("gate", gate_name(g[i].id), g[i].id);

		json_object_object_add(e, "passed", json_object_new_boolean(g[i].passed));
		add_int(e, "value", g[i].reached, g[i].value);
		add_int(e, "limit", g[i].reached, g[i].limit);
		sentence_gate(&g[i], text, sizeof(text));
		end_reason(list, e, gate_unit(g[i].id), text);
	}
	json_object_object_add(o, "gates", list);
}

/* Adds the keys score, factors and gates. */
void json_reasons(struct json_object *o, const struct message *msg)
{
	add_factors(o, msg);
	add_gates(o, msg);
}

static void add_history(struct json_object *o, const struct message *msg)
{
	struct json_object *list = msg->a[SEEPAGE_A_HISTORY] ? json_object_new_array() : NULL;
	struct level l[MSG_LIST_MAX];
	unsigned int n = msg_levels(msg, l), i, j;

	for (i = 0; i < n; i++) {
		struct json_object *e = json_object_new_object();
		struct json_object *minima = json_object_new_array();

		for (j = 0; j < l[i].n; j++)
			json_object_array_add(minima, json_object_new_uint64(l[i].minima[j]));
		json_add_number(e, "epoch_ms", l[i].epoch_ms);
		add_int(e, "age_ms", l[i].has_age, (s64)l[i].age_ms);
		json_object_object_add(e, "minima_bytes", minima);
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "history", list);
}

static struct json_object *name_or_null(const char *s)
{
	return text_or_null(*s ? s : NULL);
}

static void add_unit(struct json_object *o, const char *cgroup)
{
	struct unit_name u;

	unit_of(cgroup, &u);
	json_object_object_add(o, "unit", name_or_null(u.name));
	json_object_object_add(o, "unit_uid", u.of_user < 0 ? NULL :
			       json_object_new_int64(u.of_user));
	json_object_object_add(o, "runtime", text_or_null(u.runtime));
	json_object_object_add(o, "container", name_or_null(u.container));
	json_object_object_add(o, "pod", name_or_null(u.pod));
}

static void add_process(struct json_object *o, const struct message *msg, const struct place *p)
{
	static const u8 figures[] = {
		SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES, SEEPAGE_A_FILE_BYTES,
		SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES, SEEPAGE_A_VSZ_BYTES,
		SEEPAGE_A_BRK_BYTES, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_TTE_SECONDS,
		SEEPAGE_A_LIMIT, SEEPAGE_A_SHARES_WITH, SEEPAGE_A_SHARED_GROWTH_BYTES_PER_HOUR,
		SEEPAGE_A_SUBJECT, SEEPAGE_A_MEMBERS, SEEPAGE_A_GROWING, SEEPAGE_A_COLD_PERMILLE,
		SEEPAGE_A_COLD_AGE_SECONDS, SEEPAGE_A_KNOWN_RISE_BYTES,
		SEEPAGE_A_KNOWN_SPAN_SECONDS,
		SEEPAGE_A_FAULTS_USER, SEEPAGE_A_FAULTS_KERNEL, SEEPAGE_A_FAULTS_ANON,
		SEEPAGE_A_FAULTS_FILE, SEEPAGE_A_FAULT_RATE, SEEPAGE_A_AGE_SECONDS,
	};
	struct seepage_pmc_baseline usual;
	bool known;
	size_t i;

	json_add(o, msg, SEEPAGE_A_PID);
	json_add(o, msg, SEEPAGE_A_COMM);
	json_add(o, msg, SEEPAGE_A_UID);
	json_object_object_add(o, "user", text_or_null(owner_name(msg)));
	json_object_object_add(o, "cgroup", text_or_null(p->cgroup));
	json_add(o, msg, SEEPAGE_A_CGROUP_ID);
	add_unit(o, p->cgroup);
	json_object_object_add(o, "exe", text_or_null(p->exe));
	json_object_object_add(o, "cmdline", text_or_null(p->cmdline));
	json_add(o, msg, SEEPAGE_A_STATE);
	json_add(o, msg, SEEPAGE_A_CONFIDENCE);
	json_add(o, msg, SEEPAGE_A_POLICY);
	json_reasons(o, msg);
	for (i = 0; i < ARRAY_SIZE(figures); i++)
		json_add(o, msg, figures[i]);
	json_object_object_add(o, attr_table[SEEPAGE_A_PMC_VALUES].key, pmc_json(msg));
	known = pmc_baseline(msg, &usual);
	json_object_object_add(o, "pmc_signals", known ? pmc_signals_json(&usual) : NULL);
	json_object_object_add(o, attr_table[SEEPAGE_A_PMC_BASELINE].key,
			       known ? pmc_baseline_json(&usual) : NULL);
}

/* The pids of a group, null where they were not asked for. */
static void add_pids(struct json_object *o, const struct message *msg)
{
	const struct nlattr *a = msg->a[SEEPAGE_A_PIDS];
	struct json_object *list = a ? json_object_new_array() : NULL;
	int n = a ? nla_len(a) / (int)sizeof(u32) : 0, i;
	u32 pid;

	for (i = 0; i < n; i++) {
		memcpy(&pid, (const char *)nla_data(a) + i * (int)sizeof(pid), sizeof(pid));
		json_object_array_add(list, json_object_new_int64(pid));
	}
	json_object_object_add(o, attr_table[SEEPAGE_A_PIDS].key, list);
}

struct json_object *json_process(const struct message *msg, const struct place *p)
{
	struct json_object *o = json_object_new_object();

	add_process(o, msg, p);
	add_history(o, msg);
	add_pids(o, msg);
	return o;
}

/* The time of an alert for people: UTC, to the second, as ISO 8601 has it. */
static void add_time(struct json_object *o, const struct message *msg)
{
	time_t t = (time_t)(msg_get(msg, SEEPAGE_A_TIME_NS, 0) / 1000000000);
	char text[sizeof("2026-11-25T14:07:00Z") + 8];
	struct tm tm;

	if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		json_add_text(o, "time", text);
	else
		json_object_object_add(o, "time", NULL);
}

struct json_object *json_alert(const struct message *msg, const struct place *p)
{
	bool exited = msg_state(msg) == SEEPAGE_STATE_EXITED;
	struct json_object *o = json_object_new_object();

	json_add(o, msg, SEEPAGE_A_SEQ);
	json_add(o, msg, SEEPAGE_A_TIME_NS);
	add_time(o, msg);
	json_add(o, msg, SEEPAGE_A_INSTANCE);
	json_add(o, msg, SEEPAGE_A_PREV_STATE);
	json_add(o, msg, SEEPAGE_A_SEVERITY);
	add_process(o, msg, p);
	add_int(o, "ppid", p->ppid, p->ppid);
	json_object_object_add(o, "parent", text_or_null(p->parent));
	/* while a service leaks again, the end is that of its life before */
	json_object_object_add(o, attr_table[SEEPAGE_A_END].key, exited ? end_json(msg) : NULL);
	json_object_object_add(o, "last_end", exited ? NULL : end_json(msg));
	json_add(o, msg, SEEPAGE_A_TIMES);
	json_add(o, msg, SEEPAGE_A_FIRST_TIME_NS);
	json_add(o, msg, SEEPAGE_A_LIFE_SECONDS);
	json_add(o, msg, SEEPAGE_A_LIFE_GROWTH_BYTES_PER_HOUR);
	json_add(o, msg, SEEPAGE_A_MERGED_INTO);
	return o;
}
