// SPDX-License-Identifier: GPL-2.0
/*
 * The sections of a live process or of an alert: what the module keeps of it. A module keeps
 * floors, the least of each epoch, on several levels; each level is a line of the chart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "quiet/quiet.h"
#include "report/report.h"

struct live {
	struct knl k;
	bool ended;		/* the process or group of the alert has ended */
	struct message exit;	/* the alert that says so; its number is 0: none is held */
	struct msgs alerts;	/* the whole ring; empty without the right to read it */
	struct nlmsghdr *now, *alert;	/* NULL: the process is gone, no alert was asked for */
	u64 pid;
};

/* The lines of a level: its epochs end one after the other, the last age_ms ago. */
static void floors(struct chart *c, const struct message *msg)
{
	static const char *const names[CHART_LINES] = {
		"floors, level 0", "level 1", "level 2", "level 3",
	};
	struct level l[MSG_LIST_MAX];
	unsigned int n = msg_levels(msg, l), i, j;

	for (i = 0; i < n && c->lines < CHART_LINES; i++) {
		struct chart_line *line = &c->line[c->lines];

		if (!l[i].n)
			continue;
		line->name = names[c->lines++];
		line->dots = true;
		for (j = 0; j < l[i].n; j++)
			chart_add(line, -(double)(l[i].age_ms + (l[i].n - 1 - j) * l[i].epoch_ms) /
				  1000, (double)l[i].minima[j]);
	}
}

/* Marks the alerts of the ring that are about the process. */
static void marks(struct chart *c, const struct live *v)
{
	struct message msg;
	char label[64];
	size_t i;

	for (i = 0; i < v->alerts.n; i++) {
		u64 now = clock_real_ns(), then;

		if (msg_parse(&msg, v->alerts.v[i]) || msg_get(&msg, SEEPAGE_A_PID, 0) != v->pid ||
		    !msg_u64(&msg, SEEPAGE_A_TIME_NS, &then) || then > now)
			continue;
		snprintf(label, sizeof(label), "#%llu %s", msg_get(&msg, SEEPAGE_A_SEQ, 0),
			 state_name((unsigned int)msg_get(&msg, SEEPAGE_A_STATE, 0)));
		chart_mark(c, -(double)(now - then) / 1e9,
			   (unsigned int)msg_get(&msg, SEEPAGE_A_STATE, 0), label);
	}
}

static void attribute(FILE *f, const struct message *msg, unsigned int id)
{
	char text[TEXT_MAX];

	if (!msg->a[id])
		return;
	attr_text(id, msg->a[id], false, text, sizeof(text));
	html_fact(f, attr_table[id].text, text);
}

static void figures(FILE *f, const struct message *msg)
{
	static const u8 ids[] = {
		SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES, SEEPAGE_A_FILE_BYTES,
		SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES, SEEPAGE_A_VSZ_BYTES,
		SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_TTE_SECONDS, SEEPAGE_A_LIMIT,
		SEEPAGE_A_FAULTS_USER, SEEPAGE_A_FAULTS_KERNEL, SEEPAGE_A_FAULTS_ANON,
		SEEPAGE_A_FAULTS_FILE, SEEPAGE_A_FAULT_RATE, SEEPAGE_A_AGE_SECONDS,
	};
	u64 cold = msg_get(msg, SEEPAGE_A_COLD_PERMILLE, UINT64_MAX);
	struct message with = *msg;
	char text[TEXT_MAX];
	struct place p;
	size_t i;

	place_find(msg, false, &p);
	place_find_parent(msg, &p);
	unit_show(p.cgroup, text, sizeof(text));
	fputs("<table>\n", f);
	html_fact(f, "unit", text);
	html_fact(f, "container", container_text(p.cgroup, text, sizeof(text)));
	owner_fill(&with, 1);
	html_fact(f, "user", with.user);
	html_fact(f, "executable", p.exe);
	html_fact(f, "command line", p.cmdline);
	html_fact(f, "parent", p.parent);
	html_fact(f, "cgroup", p.cgroup);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		attribute(f, msg, ids[i]);
	snprintf(text, sizeof(text), "%llu.%llu %% of what it gained", cold / 10, cold % 10);
	html_fact(f, "not used again", msg_cold_known(msg) && cold <= 1000 ? text :
		  "nobody looked");
	fputs("</table>\n", f);
	place_free(&p);
}

static void alerts(FILE *f, const struct live *v)
{
	char text[SENTENCE_MAX], when[64];
	struct message msg;
	size_t i, n = 0;

	for (i = 0; i < v->alerts.n; i++) {
		unsigned int state;

		if (msg_parse(&msg, v->alerts.v[i]) || msg_get(&msg, SEEPAGE_A_PID, 0) != v->pid)
			continue;
		if (!n++)
			fputs("<h3>Alerts that the module holds for this pid</h3>\n<table>\n", f);
		state = (unsigned int)msg_get(&msg, SEEPAGE_A_STATE, 0);
		fmt_time(when, sizeof(when), msg_get(&msg, SEEPAGE_A_TIME_NS, 0));
		sentence_alert(&msg, NULL, text, sizeof(text));
		fprintf(f, "<tr><td class=\"n\">#%llu</td><td class=\"n\">%s</td><td><span "
			"class=\"s s%u\">%s</span></td><td>", msg_get(&msg, SEEPAGE_A_SEQ, 0), when,
			state, state_name(state));
		html_text(f, text);
		sentence_factors(&msg, text, sizeof(text));
		fputs("<br><span class=\"m\">", f);
		html_text(f, text);
		fputs("</span></td></tr>\n", f);
	}
	fputs(n ? "</table>\n" : "", f);
}

static void counters(FILE *f, struct knl *k)
{
	struct nlmsghdr *nlh = NULL;
	struct message msg;
	struct nlattr *pos;
	int rem;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 &&
	    !msg_parse(&msg, nlh) && msg.a[SEEPAGE_A_COUNTERS]) {
		fputs("<details><summary>Counters of the module</summary>\n<table>\n", f);
		nla_for_each_nested(pos, msg.a[SEEPAGE_A_COUNTERS], rem) {
			const char *name = counter_name((unsigned int)nla_type(pos));
			char text[32];
			u64 value;

			if (!name || !attr_u64(pos, &value))
				continue;
			snprintf(text, sizeof(text), "%llu", value);
			html_fact(f, name, text);
		}
		fputs("</table>\n</details>\n", f);
	}
	free(nlh);
}

/* The number of the module's load: only alerts carry it. */
static u64 load_of(struct knl *k)
{
	struct nlmsghdr *nlh = NULL;
	struct message msg;
	u64 load = 0;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) >= 0 && !msg_parse(&msg, nlh))
		load = msg_get(&msg, SEEPAGE_A_INSTANCE, 0);
	free(nlh);
	return load;
}

/* Is it silenced, was its alert acknowledged? */
static void quiet_facts(FILE *f, struct live *v, const struct message *msg)
{
	struct quiet q = { 0 };
	struct quiet_room room;
	struct quiet_subject s;
	struct json_object *o;
	char text[6 * QUIET_TEXT];
	struct place p;

	quiet_look(&q);
	place_find(msg, false, &p);
	quiet_of(msg, &p, load_of(&v->k), &room, &s);
	o = quiet_silence(&q, &s, clock_real_ns());
	if (o) {
		quiet_silence_text(o, text, sizeof(text));
		fputs("<p>Silenced ", f);
		html_text(f, text);
		fputs("</p>\n", f);
	}
	o = quiet_ack(&q, &s);
	if (o) {
		quiet_ack_text(o, text, sizeof(text));
		fputs("<p>Acknowledged ", f);
		html_text(f, text);
		fputs("</p>\n", f);
	}
	place_free(&p);
	quiet_free(&q);
}

static void write_sections(FILE *f, struct live *v, const struct message *msg)
{
	struct chart c = { .title = "floors of its memory", .x_name = "time before this report",
			   .zero_ns = clock_real_ns() };
	unsigned int state = (unsigned int)msg_get(msg, SEEPAGE_A_STATE, 0);
	char text[SENTENCE_MAX], comm[4 * SEEPAGE_COMM_LEN];

	msg_comm(msg, comm, sizeof(comm));
	fprintf(f, "<section>\n<h2>pid %llu: ", v->pid);
	html_text(f, comm);
	fprintf(f, " <span class=\"s s%u\">%s</span></h2>\n<p>", state, state_name(state));
	sentence_headline(msg, text, sizeof(text));
	html_text(f, text);
	fputs("<br>", f);
	sentence_verdict(msg, text, sizeof(text));
	html_text(f, text);
	fputs("</p>\n", f);
	quiet_facts(f, v, msg);
	if (v->now) {
		floors(&c, msg);
		marks(&c, v);
		chart_draw(f, &c);
		chart_free(&c);
	} else {
		fputs("<p class=\"m\">The process of the alert is gone: the module keeps its "
		      "floors no more.</p>\n", f);
	}
	figures(f, msg);
	alerts(f, v);
	html_reasons(f, msg);
	counters(f, &v->k);
	fputs("</section>\n", f);
}

/* The number of the last alert about a process of the pid, 0: none is held. */
static u64 last_alert(const struct live *v)
{
	struct message msg;
	u64 seq = 0;
	size_t i;

	for (i = 0; i < v->alerts.n; i++)
		if (!msg_parse(&msg, v->alerts.v[i]) && msg_get(&msg, SEEPAGE_A_PID, 0) == v->pid &&
		    msg_subject(&msg) != SEEPAGE_SUBJECT_GROUP &&
		    state_is_alert((unsigned int)msg_get(&msg, SEEPAGE_A_STATE, 0)))
			seq = msg_seq(&msg);
	return seq;
}

/*
 * What to use for an alert of an earlier boot, where there is a recording: numbers begin anew when
 * the module is loaded, and what is recorded has pids and times. Returns @buf, "" without one.
 */
static const char *earlier(char *buf, size_t size)
{
	const char *name = recorded_name();

	*buf = '\0';
	if (!access(name, R_OK))
		snprintf(buf, size, "of an earlier boot: seepage report PID, and seepage replay of "
			 "%s or %s.old has the pids", name, name);
	return buf;
}

static int not_held(const struct ctx *ctx, u64 seq)
{
	char text[TEXT_MAX];

	earlier(text, sizeof(text));
	return fail(ctx, "alert #%llu is not held (see seepage alerts%s%s)", seq, *text ? "; " : "",
		    text);
}

/* Returns 0, an exit status after printing an error, or -ESRCH: nothing is known of the pid. */
static int find(struct ctx *ctx, const char *word, struct live *v)
{
	struct message msg, now;
	u64 seq;
	int err;

	if (!parse_alert(word, &seq)) {
		err = query_process(&v->k, (u32)v->pid, &v->now);
		if (err >= 0)
			return 0;
		if (v->k.err != ESRCH)
			return knl_fail_pid(ctx, &v->k, (u32)v->pid, NEEDS_READ);
		free(v->now);
		v->now = NULL;
		seq = last_alert(v);
		if (!seq)
			return -ESRCH;
	}
	err = query_alert(&v->k, seq, &v->alert);
	if (err == -ENOENT)
		return not_held(ctx, seq);
	if (err < 0 || msg_parse(&msg, v->alert))
		return knl_fail(ctx, &v->k, NEEDS_READ);
	v->pid = msg_get(&msg, SEEPAGE_A_PID, 0);
	v->ended = query_ended(&v->k, &v->alerts, &msg, &v->exit);
	if (v->ended || query_process(&v->k, (u32)v->pid, &v->now) < 0)
		return 0;
	/* a group may live without the process that it is shown by, and its pid be reused */
	if (msg_parse(&now, v->now) || !msg_same_process(&now, &msg)) {
		free(v->now);
		v->now = NULL;
	}
	return 0;
}

/* Says what the page is about, for what is kept elsewhere. */
static void say_of(const struct live *v, const struct message *msg, struct report_of *of)
{
	u64 time_ns = msg_get(msg, SEEPAGE_A_TIME_NS, 0);
	u64 age_ns = msg_get(msg, SEEPAGE_A_AGE_SECONDS, 0) * 1000000000;
	const char *comm;
	size_t len = msg_string(msg, SEEPAGE_A_COMM, &comm);

	of->pid = (u32)v->pid;
	of->group = msg_subject(msg) == SEEPAGE_SUBJECT_GROUP;
	of->ended = v->ended;
	of->from_ns = time_ns - (age_ns < time_ns ? age_ns : time_ns);
	of->to_ns = UINT64_MAX;
	if (msg_seq(&v->exit))
		of->to_ns = msg_get(&v->exit, SEEPAGE_A_TIME_NS, UINT64_MAX);
	/* it is told from others by its birth: a name can change */
	if (v->now)
		of->born_ns = clock_ns() - msg_age(msg) * 1000000000;
	else
		snprintf(of->comm, sizeof(of->comm), "%.*s", (int)len, comm ? comm : "");
}

static struct report_of of_recordings(u32 pid)
{
	return (struct report_of){ .pid = pid, .recorded_only = true, .to_ns = UINT64_MAX };
}

/* @word: a pid or the number of an alert; @of: out, what it stands for */
int report_live(struct ctx *ctx, const char *word, FILE *f, struct report_of *of)
{
	struct live v = { 0 };
	struct message msg;
	char text[TEXT_MAX];
	u32 pid = 0;
	u64 seq;
	int status = parse_alert(word, &seq) ? 0 : parse_pid_not_alert(ctx, word, &pid);

	if (status)
		return status;
	if (knl_open(&v.k) >= 0 && knl_resolve(&v.k) == -ENOENT && pid) {
		knl_close(&v.k);
		*of = of_recordings(pid);
		return 0;
	}
	if (v.k.err) {
		status = knl_fail(ctx, &v.k, NEEDS_READ);
		if (v.k.err == ENOENT && *earlier(text, sizeof(text)))
			note(ctx, "%s", text);
		knl_close(&v.k);
		return status;
	}
	v.pid = pid;
	if (query_alerts(&v.k, 0, &v.alerts) < 0)
		msgs_free(&v.alerts);
	status = find(ctx, word, &v);
	if (status == -ESRCH) {
		*of = of_recordings(pid);
		status = 0;
	} else if (!status && msg_parse(&msg, v.now ? v.now : v.alert)) {
		status = fail(ctx, "the module sent an invalid message");
	} else if (!status) {
		say_of(&v, &msg, of);
		if (v.ended)
			msg_is_gone(&msg);
		write_sections(f, &v, &msg);
	}
	free(v.now);
	free(v.alert);
	msgs_free(&v.alerts);
	knl_close(&v.k);
	return status;
}
