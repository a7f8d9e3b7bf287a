// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware counters: the event list of the status, the counts of one process, and
 * the baseline of that process.
 */
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

static void value(const struct nlattr *a, struct seepage_pmc_value *v)
{
	memset(v, 0, sizeof(*v));
	if (a && nla_len(a) >= (int)sizeof(*v))
		memcpy(v, nla_data(a), sizeof(*v));
}

static void text(const struct nlattr *a, char *buf, size_t size)
{
	if (a)
		fmt_safe(buf, size, nla_data(a), strnlen(nla_data(a), (size_t)nla_len(a)));
	else
		*buf = '\0';
}

static void read_event(struct nlattr *nest, struct pmc_event *ev)
{
	struct nlattr *a[__SEEPAGE_PMC_A_MAX];
	u64 v;

	if (nla_parse_nested(a, SEEPAGE_PMC_A_MAX, nest, NULL) < 0)
		memset(a, 0, sizeof(a));
	memset(ev, 0, sizeof(*ev));
	text(a[SEEPAGE_PMC_A_NAME], ev->name, sizeof(ev->name));
	text(a[SEEPAGE_PMC_A_REASON], ev->reason, sizeof(ev->reason));
	ev->state = attr_u64(a[SEEPAGE_PMC_A_STATE], &v) ? (unsigned int)v : UINT32_MAX;
	attr_u64(a[SEEPAGE_PMC_A_TYPE], &ev->type);
	attr_u64(a[SEEPAGE_PMC_A_CONFIG], &ev->config);
	value(a[SEEPAGE_PMC_A_COUNT], &ev->count);
	value(a[SEEPAGE_PMC_A_KTHREADS], &ev->kthreads);
	value(a[SEEPAGE_PMC_A_IDLE], &ev->idle);
	value(a[SEEPAGE_PMC_A_OTHERS], &ev->others);
	value(a[SEEPAGE_PMC_A_ENDED], &ev->ended);
}

/* Can the event not be counted? ev->reason then says why. */
bool pmc_unavailable(const struct pmc_event *ev)
{
	return ev->state == SEEPAGE_PMC_STATE_UNAVAILABLE;
}

/* Reads the event list of a status message. l->n is 0 without counters. */
void pmc_list(struct pmc_list *l, const struct message *status)
{
	struct nlattr *pos;
	int rem;

	l->n = 0;
	l->set = msg_get(status, SEEPAGE_A_PMC_SET, 0);
	if (!l->set || !status->a[SEEPAGE_A_PMC_EVENTS])
		return;
	nla_for_each_nested(pos, status->a[SEEPAGE_A_PMC_EVENTS], rem)
		if (nla_type(pos) == SEEPAGE_A_PMC_EVENT && l->n < PMC_EVENTS)
			read_event(pos, &l->ev[l->n++]);
}

/*
 * Reads the counts of a process into @v, an array of PMC_EVENTS. Returns their
 * number, 0 if there are none or they belong to another event list.
 */
unsigned int pmc_values(const struct message *msg, struct seepage_pmc_value *v)
{
	const struct nlattr *a = msg->a[SEEPAGE_A_PMC_VALUES];
	const struct pmc_list *l = msg->pmc;
	unsigned int n;

	if (!l || !a || msg_get(msg, SEEPAGE_A_PMC_SET, 0) != l->set)
		return 0;
	n = (unsigned int)nla_len(a) / sizeof(*v);
	if (n > l->n)
		n = l->n;
	memcpy(v, nla_data(a), n * sizeof(*v));
	return n;
}

struct json_object *pmc_value_json(const struct seepage_pmc_value *v)
{
	struct json_object *o = json_object_new_object();

	json_add_number(o, "count", v->count);
	json_add_number(o, "enabled_ns", v->enabled_ns);
	json_add_number(o, "running_ns", v->running_ns);
	return o;
}

/* Returns an object with a key for each event, or NULL (null) if no counts are known. */
struct json_object *pmc_json(const struct message *msg)
{
	struct seepage_pmc_value v[PMC_EVENTS];
	unsigned int n = pmc_values(msg, v), i;
	struct json_object *o;

	if (!n)
		return NULL;
	o = json_object_new_object();
	for (i = 0; i < n; i++)
		json_object_object_add(o, msg->pmc->ev[i].name,
				       msg->pmc->ev[i].state != SEEPAGE_PMC_STATE_UNAVAILABLE ||
				       v[i].count ? pmc_value_json(&v[i]) : NULL);
	return o;
}

/* The counts of the whole machine, and the parts not charged to a tracked process. */
struct json_object *pmc_list_json(const struct pmc_list *l)
{
	struct json_object *list = json_object_new_object(), *o;
	const struct pmc_event *ev;
	const char *state;

	for (ev = l->ev; ev < l->ev + l->n; ev++) {
		o = pmc_value_json(&ev->count);
		state = pmc_state_name(ev->state);
		json_add_number(o, "type", ev->type);
		json_add_number(o, "config", ev->config);
		json_add_text(o, "state", state);
		json_object_object_add(o, "reason", *ev->reason ?
				       json_text(ev->reason, strlen(ev->reason)) : NULL);
		json_object_object_add(o, "kthreads", pmc_value_json(&ev->kthreads));
		json_object_object_add(o, "idle", pmc_value_json(&ev->idle));
		json_object_object_add(o, "others", pmc_value_json(&ev->others));
		json_object_object_add(o, "ended", pmc_value_json(&ev->ended));
		json_object_object_add(list, ev->name, o);
	}
	return list;
}

/* Prints a row for each event: name, code, count, share of time counted, state. */
void pmc_list_print(const struct pmc_list *l)
{
	static const char *const heads[] = { "EVENT", "CODE", "COUNT", "OF THE TIME", "STATE" };
	static const bool right[] = { false, true, true, true, false };
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	const struct pmc_event *ev;
	char buf[TEXT_MAX];

	for (ev = l->ev; ev < l->ev + l->n; ev++) {
		const char *state = pmc_state_name(ev->state);

		table_cell(t, ev->name);
		snprintf(buf, sizeof(buf), "%llu:%#llx", ev->type, ev->config);
		table_cell(t, buf);
		snprintf(buf, sizeof(buf), "%llu", ev->count.count);
		table_cell(t, buf);
		if (ev->count.enabled_ns)
			snprintf(buf, sizeof(buf), "%.1f %%", 100.0 *
				 (double)ev->count.running_ns / (double)ev->count.enabled_ns);
		else
			snprintf(buf, sizeof(buf), "-");
		table_cell(t, buf);
		snprintf(buf, sizeof(buf), "%s%s%s", state ? state : "?",
			 *ev->reason ? ": " : "", ev->reason);
		table_cell(t, buf);
	}
	table_print(t, "  ");
	table_free(t);
}

/* ---- baseline ---- */

/*
 * Reads the learned baseline of a process. Returns false if there is none: without
 * hardware counters, or while the process has not run for long enough.
 */
bool pmc_baseline(const struct message *msg, struct seepage_pmc_baseline *b)
{
	const struct nlattr *a = msg->a[SEEPAGE_A_PMC_BASELINE];

	if (!a || nla_len(a) < (int)sizeof(*b))
		return false;
	memcpy(b, nla_data(a), sizeof(*b));
	return true;
}

/* "?" for a signal of a newer module */
static const char *signal_word(unsigned int id)
{
	const char *name = pmc_signal_name(id);

	return name ? name : "?";
}

struct json_object *pmc_signals_json(const struct seepage_pmc_baseline *b)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < PMC_SIGNALS; i++)
		if (b->signals >> i & 1)
			json_object_array_add(list, json_object_new_string(signal_word(i)));
	return list;
}

struct json_object *pmc_baseline_json(const struct seepage_pmc_baseline *b)
{
#define FIGURE(field, key)	{ key, offsetof(struct seepage_pmc_baseline, field) }
	static const struct { const char *key; size_t at; } figures[] = {
		FIGURE(llc_samples, "llc_samples"),
		FIGURE(llc_mean, "llc_miss_ppm"),
		FIGURE(llc_older, "llc_miss_older_ppm"),
		FIGURE(llc_newer, "llc_miss_newer_ppm"),
		FIGURE(dtlb_samples, "dtlb_samples"),
		FIGURE(dtlb_mean, "dtlb_misses_per_million_instructions"),
		FIGURE(dtlb_now, "dtlb_misses_now_per_million_instructions"),
		FIGURE(read_mean, "read_kib_per_second"),
	};
	struct json_object *o = json_object_new_object();
	size_t i;
	u32 v;

	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		memcpy(&v, (const char *)b + figures[i].at, sizeof(v));
		json_object_object_add(o, figures[i].key, v == SEEPAGE_PMC_UNKNOWN ? NULL :
				       json_object_new_uint64(v));
	}
	return o;
}

/* Writes the names of the signals, with @sep between them. */
void pmc_signals_text(const struct seepage_pmc_baseline *b, char sep, char *buf, size_t size)
{
	unsigned int i;
	size_t len = 0;

	*buf = '\0';
	for (i = 0; i < PMC_SIGNALS; i++) {
		if (!(b->signals >> i & 1) || len + 1 >= size)
			continue;
		if (len)
			buf[len++] = sep;
		snprintf(buf + len, size - len, "%s", signal_word(i));
		len += strlen(buf + len);
	}
}

/* Prints a line for each signal: @head, its name and a sentence. */
void pmc_signals_print(const struct seepage_pmc_baseline *b, const char *head)
{
	char text[SENTENCE_MAX];
	unsigned int i;

	for (i = 0; i < PMC_SIGNALS; i++) {
		if (!(b->signals >> i & 1))
			continue;
		sentence_signal(i, b, text, sizeof(text));
		out_printf("  %-15s%s: %s\n", head, signal_word(i), text);
	}
}
