// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include "cold.h"

static bool cold;
static u64 window_s;

static const struct opt opts[] = {
	{ .name = "cold", .kind = OPT_FLAG, .dest = &cold,
	  .help = "first look at which of its memory it uses; tells the module" },
	{ .name = "window", .kind = OPT_NUMBER, .dest = &window_s, .arg = "SECONDS", .min = 1,
	  .max = 86400, .help = "with --cold: for this long (10)" },
	{ .name = NULL }
};

struct answer {
	struct nlmsghdr *now, *last;	/* the process, its last alert; or NULL */
	struct nlmsghdr *before;	/* the last that accused it, if the last does not */
	u64 interval_ms;
	struct cold_report *cold;	/* NULL: not asked for */
};

static struct nlmsghdr *steal(struct msgs *m, size_t i)
{
	struct nlmsghdr *nlh = m->v[i];

	m->v[i] = NULL;
	return nlh;
}

/* What is over has no evidence left: that of the alert before it tells why. */
static int accusation(const struct msgs *m, const struct rec *last)
{
	struct rec *all;
	size_t n;
	int found;

	if (!last->past || rec_has_evidence(last))
		return -1;
	all = list_records(m, &n);
	found = n == m->n ? rec_accusation(last, all, n) : -1;
	free(all);
	return found;
}

/* The newest alert of this pid in the ring. Whoever may not read it gets none. */
static void last_alert(struct knl *k, u32 pid, struct answer *a)
{
	struct msgs m = { 0 };
	struct rec rec;
	int before;
	size_t i;

	if (query_alerts(k, 0, &m) < 0)
		return;
	for (i = m.n; i-- && !a->last;) {
		if (rec_parse(&rec, m.v[i]) || rec_get(&rec, SEEPAGE_A_PID, 0) != pid)
			continue;
		before = accusation(&m, &rec);
		if (before >= 0)
			a->before = steal(&m, (size_t)before);
		a->last = steal(&m, i);
	}
	msgs_free(&m);
}

/* Does the alert speak of the process that has this pid now? Not if that is younger. */
static bool same_process(const struct rec *now, const struct rec *alert)
{
	u64 then = rec_get(alert, SEEPAGE_A_AGE_SECONDS, 0);

	return rec_get(alert, SEEPAGE_A_STATE, 0) != SEEPAGE_STATE_EXITED &&
	       rec_get(now, SEEPAGE_A_AGE_SECONDS, 0) >= then;
}

static void print_alert(const struct rec *alert)
{
	u64 severity = rec_get(alert, SEEPAGE_A_SEVERITY, 0);
	const char *name = severity_name((unsigned int)severity);
	char when[TEXT_MAX], state[TEXT_MAX], group[TEXT_MAX] = "";

	attr_text(SEEPAGE_A_TIME_NS, alert->a[SEEPAGE_A_TIME_NS], false, when, sizeof(when));
	attr_text(SEEPAGE_A_STATE, alert->a[SEEPAGE_A_STATE], false, state, sizeof(state));
	sentence_group(alert, group, sizeof(group));
	out_printf("last alert: #%llu at %s: %s, severity %llu%s%s%s%s\n",
		   rec_get(alert, SEEPAGE_A_SEQ, 0), when, state, severity, name ? " (" : "",
		   name ? name : "", name ? ")" : "", group);
}

static void print_factor(const struct factor *f)
{
	const char *name = factor_name(f->id);
	char text[SENTENCE_MAX], points[FIGURE_MAX];

	sentence_factor(f, text, sizeof(text));
	out_printf("  %-12s%-12s%s\n", sentence_points(f, points), name ? name : "?", text);
}

static void print_before(const struct rec *before)
{
	struct factor f[REC_LIST_MAX];
	unsigned int n = rec_factors(before, f), i;
	char when[TEXT_MAX], text[TEXT_MAX];

	attr_text(SEEPAGE_A_TIME_NS, before->a[SEEPAGE_A_TIME_NS], false, when, sizeof(when));
	attr_text(SEEPAGE_A_STATE, before->a[SEEPAGE_A_STATE], false, text, sizeof(text));
	out_printf("\nbefore: #%llu %s at %s\n", rec_get(before, SEEPAGE_A_SEQ, 0), text, when);
	for (i = 0; i < n; i++)
		print_factor(&f[i]);
}

static void print_gates(const struct rec *rec)
{
	struct gate g[REC_LIST_MAX];
	unsigned int n = rec_gates(rec, g), i;
	char text[SENTENCE_MAX];

	if (!n)
		return;
	out_line("\nGates:");
	for (i = 0; i < n; i++) {
		sentence_gate(&g[i], text, sizeof(text));
		out_printf("  %-12s%-12s%s\n", g[i].passed ? "passed" : "held back",
			   gate_name(g[i].id) ? gate_name(g[i].id) : "?", text);
	}
}

static void print_factors(const struct rec *rec)
{
	struct factor f[REC_LIST_MAX];
	s64 confidence = (s64)rec_get(rec, SEEPAGE_A_CONFIDENCE, 0), sum = 0;
	unsigned int n = rec_factors(rec, f), i;

	if (!n)
		return;
	out_line("\nEvidence, points of at most:");
	for (i = 0; i < n; i++) {
		sum += f[i].points;
		print_factor(&f[i]);
	}
	if (sum > 100 && confidence == 100)
		out_printf("  %lld points, of which 100 count: there is no more confidence\n", sum);
	else if (sum > confidence)
		out_printf("  %lld points, of which %lld %s back\n", sum, confidence,
			   rec->past ? "counted while a gate held" : "count while a gate holds");
	else if (sum < confidence)
		out_printf("  %lld points %s; the confidence of an alert %s at its highest, %lld\n",
			   sum, rec->gone ? "at the end" : "now", rec->past ? "stayed" : "stays",
			   confidence);
}

static void print_text(const struct rec *rec, const struct rec *alert, const struct rec *before)
{
	char text[SENTENCE_MAX];

	sentence_headline(rec, text, sizeof(text));
	out_line(text);
	sentence_verdict(rec, text, sizeof(text));
	out_line(text);
	if (alert)
		print_alert(alert);
	print_gates(rec);
	print_factors(rec);
	if (before)
		print_before(before);
	if (rec->gone)
		return;
	sentence_change(rec, text, sizeof(text));
	out_printf("\nWhat would change the verdict: %s\n", text);
}

static int print_json(const struct ctx *ctx, const struct rec *rec, const struct rec *alert,
		      const struct rec *before, const struct cold_report *look)
{
	static const struct place nowhere;
	static const u8 ids[] = { SEEPAGE_A_SEQ, SEEPAGE_A_TIME_NS, SEEPAGE_A_STATE,
				       SEEPAGE_A_PREV_STATE, SEEPAGE_A_SEVERITY };
	struct json_object *o, *last = alert ? json_object_new_object() : NULL;
	char text[SENTENCE_MAX];
	struct place place;
	size_t i;

	place_find(rec, false, &place);
	o = json_process(rec, &place);
	place_free(&place);
	sentence_headline(rec, text, sizeof(text));
	json_object_object_add(o, "headline", json_object_new_string(text));
	sentence_verdict(rec, text, sizeof(text));
	json_object_object_add(o, "verdict", json_object_new_string(text));
	sentence_change(rec, text, sizeof(text));
	json_object_object_add(o, "would_change", json_object_new_string(text));
	for (i = 0; last && i < ARRAY_SIZE(ids); i++)
		json_object_object_add(last, attr_table[ids[i]].key,
				       attr_json(ids[i], alert->a[ids[i]]));
	json_object_object_add(o, "last_alert", last);
	json_object_object_add(o, "before", before ? json_alert(before, &nowhere) : NULL);
	json_object_object_add(o, "cold_look", cold_report_json(look));
	return out_json(ctx, o);
}

/* A process that is gone is explained by its last alert, as of then. */
static int print(const struct ctx *ctx, const struct answer *a)
{
	struct rec now, alert, before;
	bool has_alert = a->last && !rec_parse(&alert, a->last), has_before;

	if (!a->now && has_alert)
		rec_is_gone(&alert);
	if (a->now && rec_parse(&now, a->now))
		return fail(ctx, "the module sent something that is no message");
	if (a->now)
		now.interval_ms = a->interval_ms;
	if (a->now && has_alert && !same_process(&now, &alert))
		has_alert = false;
	/* a process that goes on may be under suspicion again: that is told above */
	has_before = has_alert && a->before && !rec_parse(&before, a->before) &&
		     (!a->now || !rec_has_evidence(&now));
	if (has_before) {
		before.past = true;
		before.gone = !a->now;
	}
	if (!a->now && !ctx->json)
		out_line("No process of that pid is tracked now. This is what its last alert "
			 "said:");
	if (ctx->json)
		return print_json(ctx, a->now ? &now : &alert, has_alert ? &alert : NULL,
				  has_before ? &before : NULL, a->cold);
	if (a->cold)
		cold_report_print(a->cold);
	print_text(a->now ? &now : &alert, has_alert ? &alert : NULL,
		   has_before ? &before : NULL);
	return 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct answer a = { 0 };
	struct knl k, second;
	u32 pid;
	int err;

	if (window_s && !cold)
		return usage(ctx, "--window goes with --cold");
	err = query_open_pid(ctx, argv[0], &k, &pid);
	if (err)
		return err;
	if (cold)
		err = cold_report_make(ctx, &k, pid, window_s ? window_s : 10, &a.cold);
	if (err) {
		knl_close(&k);
		return err;
	}
	err = query_process(&k, pid, &a.now);
	second = k;	/* its error is not of interest */
	if (err >= 0 || k.err == ESRCH || (k.err == ENOENT && *k.text))
		last_alert(&second, pid, &a);
	if (a.now)
		a.interval_ms = query_interval(&second);
	err = a.now || a.last ? print(ctx, &a) : knl_fail_pid(ctx, &k, pid, NEEDS_READ);
	free(a.now);
	free(a.last);
	free(a.before);
	cold_report_free(a.cold);
	knl_close(&k);
	return err;
}

const struct command cmd_explain = {
	.name = "explain", .args = "PID", .help = "why one process is under alert, or why not",
	.more = "Without capabilities: your own processes, without --cold.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
