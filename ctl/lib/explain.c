// SPDX-License-Identifier: GPL-2.0
/*
 * Says why a process is under alert, or why not: for the tools explain and cold.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cold/cold.h"

struct answer {
	struct nlmsghdr *now, *last;	/* the process and its last alert; may be NULL */
	struct nlmsghdr *before;	/* last alert with factors, if @last has none */
	u64 interval_ms;
	const struct explain_look *look;	/* taken before; NULL: none */
	bool number;			/* an alert was asked for, by its number */
	bool ended;			/* what that alert is about has ended since */
	struct message exit;		/* the alert that says so; its number is 0: none is held */
};

static struct nlmsghdr *steal(struct msgs *m, size_t i)
{
	struct nlmsghdr *nlh = m->v[i];

	m->v[i] = NULL;
	return nlh;
}

/*
 * Returns the index of the alert that has the factors if @last, recovered or exited,
 * has none; -1: not needed or not found.
 */
static int accusation(const struct msgs *m, const struct message *last)
{
	struct message *all;
	size_t n;
	int found;

	if (!last->past || msg_has_factors(last))
		return -1;
	all = list_messages(m, &n);
	found = n == m->n ? msg_accusation(last, all, n) : -1;
	free(all);
	return found;
}

/* Reads the newest alert of @pid from the ring. Without the right to read it: none. */
static void last_alert(struct knl *k, u32 pid, struct answer *a)
{
	struct msgs m = { 0 };
	struct message msg;
	int before;
	size_t i;

	if (query_alerts(k, 0, &m) < 0)
		return;
	i = query_newest(&m, pid, &msg);
	if (i) {
		before = accusation(&m, &msg);
		if (before >= 0)
			a->before = steal(&m, (size_t)before);
		a->last = steal(&m, i - 1);
	}
	msgs_free(&m);
}

/* Prints what the process of an alert is or was, and how it ended. */
static void print_identity(const struct message *alert)
{
	char text[4 * TEXT_MAX];
	struct place p;

	place_find(alert, false, &p);
	if (p.cmdline || p.exe) {
		const char *s = p.cmdline ? p.cmdline : p.exe;

		out_printf("program: %s\n", fmt_safe(text, sizeof(text), s, strlen(s)));
	}
	if (p.cgroup)
		out_printf("cgroup: %s\n", fmt_safe(text, sizeof(text), p.cgroup,
						    strlen(p.cgroup)));
	unit_show(p.cgroup, text, sizeof(text));
	if (owner_container && !strncmp(text, "container ", strlen("container ")))
		owner_container(p.cgroup, text);
	if (*text)
		out_printf("unit: %s\n", text);
	place_free(&p);
	end_text(alert, text, sizeof(text));
	if (*text)
		out_printf("end: %s\n", text);
}

/* @last: the newest of its process */
static void print_alert(const struct message *alert, bool last)
{
	u64 severity = msg_get(alert, SEEPAGE_A_SEVERITY, 0);
	const char *name = severity_name((unsigned int)severity);
	char when[TEXT_MAX], state[TEXT_MAX], group[TEXT_MAX] = "";

	msg_text(alert, SEEPAGE_A_TIME_NS, when);
	msg_text(alert, SEEPAGE_A_STATE, state);
	sentence_group(alert, group, sizeof(group));
	out_printf("%salert: #%llu at %s: %s, severity %llu%s%s%s%s\n",
		   last ? "last " : "", msg_seq(alert), when, state, severity, name ? " (" : "",
		   name ? name : "", name ? ")" : "", group);
	print_identity(alert);
}

static void print_factor(const struct factor *f)
{
	const char *name = factor_name(f->id);
	char text[SENTENCE_MAX], points[FIGURE_MAX];

	sentence_factor(f, text, sizeof(text));
	out_printf("  %-12s%-12s%s\n", sentence_points(f, points), name ? name : "?", text);
}

static void print_before(const struct message *before)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(before, f), i;
	char when[TEXT_MAX], text[TEXT_MAX];

	msg_text(before, SEEPAGE_A_TIME_NS, when);
	msg_text(before, SEEPAGE_A_STATE, text);
	out_printf("\nbefore: #%llu %s at %s\n", msg_seq(before), text, when);
	for (i = 0; i < n; i++)
		print_factor(&f[i]);
}

static void print_factors(const struct message *msg)
{
	struct factor f[MSG_LIST_MAX];
	s64 confidence = (s64)msg_get(msg, SEEPAGE_A_CONFIDENCE, 0), sum = 0;
	unsigned int n = msg_factors(msg, f), i;

	if (!n)
		return;
	out_line("\nFactors, points of the maximum:");
	for (i = 0; i < n; i++) {
		sum += f[i].points;
		print_factor(&f[i]);
	}
	if (sum > 100 && confidence == 100)
		out_printf("  %lld points, of which 100 count: the highest confidence\n", sum);
	else if (sum > confidence)
		out_printf("  %lld points, of which %lld count%s while a gate is closed\n", sum,
			   confidence, msg->past ? "ed" : "");
	else if (sum < confidence)
		out_printf("  %lld points %s; the confidence of an alert %s at its highest, %lld\n",
			   sum, msg->gone ? "at the end" : "now", msg->past ? "stayed" : "stays",
			   confidence);
}

/* Commands for an operator, each with what it does. */
static void print_next(const struct message *msg, u64 seq)
{
	static const bool right[] = { false, false };
	struct next_steps next;
	struct place place;
	struct table *t;
	unsigned int i;

	place_find(msg, false, &place);
	next_steps(msg, &place, seq, &next);
	place_free(&place);
	if (!next.n)
		return;
	out_line("\nWhat can be done:");
	t = table_new(NULL, right, ARRAY_SIZE(right));
	for (i = 0; i < next.n; i++) {
		table_cell(t, next.step[i].command);
		table_cell(t, next.step[i].why);
	}
	table_print(t, "  ");
	table_free(t);
}

static struct json_object *next_json(const struct message *msg, const struct place *place,
				     u64 seq)
{
	struct json_object *list = json_object_new_array(), *o;
	struct next_steps next;
	unsigned int i;

	next_steps(msg, place, seq, &next);
	for (i = 0; i < next.n; i++) {
		o = json_object_new_object();
		json_add_text(o, "command", next.step[i].command);
		json_add_text(o, "why", next.step[i].why);
		json_object_array_add(list, o);
	}
	return list;
}

/* What `seepage where --keep` found out about what the process keeps */
static void print_where(const struct message *msg)
{
	struct json_object *o = msg->gone ? NULL : kept_of(msg), *one;
	char age[FIGURE_MAX], text[SENTENCE_MAX];

	if (!o)
		return;
	out_printf("\nWhat it keeps (%s ago):\n", kept_age(o, age, sizeof(age)));
	kept_print(o, "  ");
	one = one_site_find(o);
	if (one)
		out_printf("  %s\n", one_site_text(one, text, sizeof(text)));
	json_object_put(one);
	json_object_put(o);
}

/* What the last look of `watch` at a suspect found out. Returns its age in s, -1: nothing */
static s64 use_of(const struct message *msg, struct cold_curve *c)
{
	u64 now = clock_ms(), age_ms = msg_age(msg) * 1000;
	struct cold_kept k;

	if (msg->gone || msg_state(msg) == SEEPAGE_STATE_OK ||
	    !cold_kept((u32)msg_pid(msg), now - age_ms, &k))
		return -1;
	*c = k.curve;
	return (s64)(now - k.time_ms) / 1000;
}

static void print_use(const struct message *msg)
{
	char text[TEXT_MAX], age[FIGURE_MAX];
	struct cold_curve c;
	s64 age_s = use_of(msg, &c);

	if (age_s < 0)
		return;
	cold_curve_text(&c, text, sizeof(text));
	out_printf("\nUse of its growth (%s ago):\n  not used: %s\n  %s\n",
		   fmt_seconds(age, sizeof(age), (u64)age_s), text, cold_rate_text(&c));
}

static struct json_object *use_json(const struct message *msg)
{
	struct json_object *o = NULL;
	struct cold_curve c;
	s64 age_s = use_of(msg, &c);

	if (age_s >= 0) {
		o = cold_curve_json(&c);
		json_object_object_add(o, "age_seconds", json_object_new_int64(age_s));
	}
	return o;
}

static void print_text(const struct message *msg, const struct message *alert,
		       const struct message *before, bool last)
{
	char text[SENTENCE_MAX];

	sentence_headline(msg, text, sizeof(text));
	out_line(text);
	sentence_verdict(msg, text, sizeof(text));
	out_line(text);
	if (alert)
		print_alert(alert, last);
	sentence_gates(msg, "\nGates:");
	print_factors(msg);
	if (before)
		print_before(before);
	print_use(msg);
	print_where(msg);
	if (!msg->gone) {
		sentence_change(msg, text, sizeof(text));
		out_printf("\nWhat would change the verdict: %s\n", text);
	}
	print_next(msg, alert ? msg_seq(alert) : 0);
}

/* An alert in a few keys, NULL without one */
static struct json_object *brief_json(const struct message *alert)
{
	static const u8 ids[] = { SEEPAGE_A_SEQ, SEEPAGE_A_TIME_NS, SEEPAGE_A_STATE,
				       SEEPAGE_A_PREV_STATE, SEEPAGE_A_SEVERITY };
	struct json_object *o = alert ? json_object_new_object() : NULL;
	size_t i;

	for (i = 0; o && i < ARRAY_SIZE(ids); i++)
		json_add(o, alert, ids[i]);
	return o;
}

static int print_json(const struct ctx *ctx, const struct answer *a, const struct message *msg,
		      const struct message *alert, const struct message *before)
{
	static const struct place nowhere;
	u64 seq = alert ? msg_seq(alert) : 0;
	const struct explain_look *look = a->look;
	struct json_object *o, *where;
	char text[SENTENCE_MAX];
	struct place place;

	place_find(msg, false, &place);
	o = json_process(msg, &place);
	json_object_object_add(o, "next", next_json(msg, &place, seq));
	place_free(&place);
	sentence_headline(msg, text, sizeof(text));
	json_add_text(o, "headline", text);
	sentence_verdict(msg, text, sizeof(text));
	json_add_text(o, "verdict", text);
	sentence_change(msg, text, sizeof(text));
	json_add_text(o, "would_change", text);
	json_object_object_add(o, "last_alert", brief_json(alert));
	json_object_object_add(o, "ended", json_object_new_boolean(msg->gone));
	json_object_object_add(o, "exit", brief_json(msg_seq(&a->exit) ? &a->exit : NULL));
	json_object_object_add(o, "before", before ? json_alert(before, &nowhere) : NULL);
	json_object_object_add(o, "cold_look", look ? look->json(look->report) : NULL);
	json_object_object_add(o, "use", use_json(msg));
	where = msg->gone ? NULL : kept_of(msg);
	json_object_object_add(o, "where", where);
	json_object_object_add(o, "one_site", one_site_find(where));
	return out_json(ctx, o);
}

/* A process that has exited is explained by its last alert. */
static int print(const struct ctx *ctx, const struct answer *a)
{
	struct message now, last, earlier, *msg = &now, *alert = NULL, *before = NULL;

	if (a->last && !msg_parse(&last, a->last))
		alert = &last;
	if (a->now ? msg_parse(&now, a->now) : !alert)
		return fail(ctx, "the module sent an invalid message");
	if (!a->now) {
		msg = &last;
		if (a->ended || !a->number)
			msg_is_gone(&last);
	} else {
		now.interval_ms = a->interval_ms;
		if (alert && !msg_same_process(&now, alert)) {
			note(ctx, "#%llu is of an earlier process", msg_seq(alert));
			alert = NULL;
		}
	}
	/* a running process with factors of its own does not need those of @before */
	if (alert && a->before && !msg_parse(&earlier, a->before) &&
	    (!a->now || !msg_has_factors(&now))) {
		before = &earlier;
		before->past = true;
		before->gone = !a->now && alert->gone;
	}
	if (ctx->json)
		return print_json(ctx, a, msg, alert, before);
	out_fold();
	if (a->ended)
		end_print(&a->exit);
	else if (!a->now && !a->number)
		out_line("No process with this pid is tracked now. Its last alert said:");
	if (a->look)
		a->look->print(a->look->report);
	print_text(msg, alert, before, !a->number);
	return 0;
}

/* Explains the alert with number @seq; its process may exist no more. */
static int explain_alert(struct ctx *ctx, u64 seq)
{
	struct answer a = { .number = true };
	struct msgs m = { 0 };
	struct message msg;
	struct knl k;
	int err, before;

	if (query_open_alert(ctx, seq, &k, &a.last))
		return 1;
	if (!msg_parse(&msg, a.last) && query_alerts(&k, 0, &m) >= 0) {
		before = accusation(&m, &msg);
		a.ended = !msg.gone && query_ended(&k, &m, &msg, &a.exit);
		if (before >= 0)
			a.before = steal(&m, (size_t)before);
	}
	err = print(ctx, &a);
	msgs_free(&m);
	free(a.before);
	free(a.last);
	knl_close(&k);
	return err;
}

/**
 * explain_process() - print all that is known of the verdict on a process
 * @word: its pid, or '#N' for an alert
 * @look: to take before, with a pid; NULL: none. Its report is made and freed here
 *
 * Return: an exit status, after printing an error if it is not 0.
 */
int explain_process(struct ctx *ctx, const char *word, struct explain_look *look)
{
	struct answer a = { .look = look };
	struct knl k, second;
	u64 seq;
	u32 pid;
	int err;

	if (!look && parse_alert(word, &seq))
		return explain_alert(ctx, seq);
	err = query_open_pid(ctx, word, &k, &pid);
	if (err)
		return err;
	if (look)
		err = look->make(ctx, &k, pid, look->window_s, &look->report);
	if (err) {
		knl_close(&k);
		return err;
	}
	err = query_process(&k, pid, &a.now);
	second = k;	/* later requests must not replace the error in k, printed below */
	if (err >= 0 || k.err == ESRCH || (k.err == ENOENT && *k.text))
		last_alert(&second, pid, &a);
	if (a.now)
		a.interval_ms = query_interval(&second);
	err = a.now || a.last ? print(ctx, &a) : knl_fail_pid(ctx, &k, pid, NEEDS_READ);
	free(a.now);
	free(a.last);
	free(a.before);
	if (look)
		look->free(look->report);
	knl_close(&k);
	return err;
}
