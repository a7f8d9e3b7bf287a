// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netlink/attr.h>
#include "ctl.h"

static bool of_group;

static const struct opt opts[] = {
	{ .name = "group", .kind = OPT_FLAG, .dest = &of_group,
	  .help = "the group of the process: sums, and the pids of all" },
	{ .name = NULL }
};

static void row(const char *label, const char *value)
{
	out_printf("  %-15s%s\n", label, value);
}

static void print_place(const struct message *msg)
{
	char text[4 * TEXT_MAX];
	struct place p;

	place_find(msg, false, &p);
	row("CGROUP", p.cgroup ? fmt_safe(text, sizeof(text), p.cgroup, strlen(p.cgroup)) : "-");
	unit_show(p.cgroup, text, sizeof(text));
	if (*text)
		row("UNIT", text);
	row("EXE", p.exe ? fmt_safe(text, sizeof(text), p.exe, strlen(p.exe)) : "-");
	if (p.cmdline)
		row("CMDLINE", fmt_safe(text, sizeof(text), p.cmdline, strlen(p.cmdline)));
	if (p.ppid) {
		snprintf(text, sizeof(text), "%u ", p.ppid);
		if (p.parent)
			fmt_safe(text + strlen(text), sizeof(text) - strlen(text), p.parent,
				 strlen(p.parent));
		row("PARENT", text);
	}
	place_free(&p);
}

/* Prints what only an alert or a group has. */
static void print_subject(const struct message *msg)
{
	const struct nlattr *a = msg->a[SEEPAGE_A_PIDS];
	int n = a ? nla_len(a) / (int)sizeof(u32) : 0, i;
	char text[SENTENCE_MAX];
	u32 pid;

	if (msg->a[SEEPAGE_A_SEQ]) {
		msg_text(msg, SEEPAGE_A_TIME_NS, text);
		row("ALERT", text);
	}
	if (msg->a[SEEPAGE_A_MERGED_INTO]) {
		msg_text(msg, SEEPAGE_A_MERGED_INTO, text);
		row(attr_table[SEEPAGE_A_MERGED_INTO].text, text);
	}
	end_text(msg, text, sizeof(text));
	if (*text)
		row(msg->gone ? "END" : "LAST-END", text);
	*text = '\0';
	sentence_lives(msg, text, sizeof(text));
	if (*text)
		row("TIMES", text + 2);
	*text = '\0';
	for (i = 0; i < n; i++) {
		memcpy(&pid, (const char *)nla_data(a) + i * (int)sizeof(pid), sizeof(pid));
		sentence_append(text, sizeof(text), i ? " %u" : "%u", pid);
	}
	if (n)
		row("PIDS", text);
}

static void print_figures(const struct message *msg)
{
	static const u8 ids[] = {
		SEEPAGE_A_POLICY, SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES,
		SEEPAGE_A_FILE_BYTES, SEEPAGE_A_SHMEM_BYTES, SEEPAGE_A_SWAP_BYTES,
		SEEPAGE_A_VSZ_BYTES, SEEPAGE_A_BRK_BYTES, SEEPAGE_A_GROWTH_BYTES_PER_HOUR,
		SEEPAGE_A_TTE_SECONDS, SEEPAGE_A_FAULTS_USER, SEEPAGE_A_FAULTS_KERNEL,
		SEEPAGE_A_FAULTS_ANON, SEEPAGE_A_FAULTS_FILE, SEEPAGE_A_FAULT_RATE,
		SEEPAGE_A_AGE_SECONDS,
	};
	char text[TEXT_MAX];
	size_t i;

	msg_text(msg, SEEPAGE_A_UID, text);
	row(attr_table[SEEPAGE_A_UID].text, text);
	print_place(msg);
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		msg_text(msg, ids[i], text);
		row(attr_table[ids[i]].text, text);
	}
}

/* Prints the baseline of the hardware counters, and the signals that deviate from it. */
static void print_usual(const struct message *msg)
{
	struct seepage_pmc_baseline b;
	char text[SENTENCE_MAX];

	if (!pmc_baseline(msg, &b))
		return;
	sentence_baseline(&b, text, sizeof(text));
	row(attr_table[SEEPAGE_A_PMC_BASELINE].text, text);
	pmc_signals_print(&b, "UNUSUAL");
}

static void print_factors(const struct message *msg)
{
	struct factor f[MSG_LIST_MAX];
	unsigned int n = msg_factors(msg, f), i;
	char text[SENTENCE_MAX], points[FIGURE_MAX];

	if (n)
		out_line("factors (points of the maximum):");
	for (i = 0; i < n; i++) {
		sentence_factor(&f[i], text, sizeof(text));
		out_printf("  %-15s%-7s%s\n", factor_name(f[i].id) ?: "?",
			   sentence_points(&f[i], points), text);
	}
}

/* Prints a duration in a column, "-" if it is unknown. */
static void cell(bool known, u64 ms)
{
	char text[TEXT_MAX];

	out_printf("%-10s", known ? fmt_ms(text, sizeof(text), ms) : "-");
}

static void print_level(const struct level *l, bool whole, unsigned int columns, bool utf8)
{
	u64 least = UINT64_MAX, most = 0;
	char text[TEXT_MAX], line[SPARK_MAX];
	unsigned int i;

	for (i = 0; i < l->n; i++) {
		least = l->minima[i] < least ? l->minima[i] : least;
		most = l->minima[i] > most ? l->minima[i] : most;
	}
	out_printf("  ");
	cell(whole, l->epoch_ms);
	cell(whole && l->has_age, l->age_ms + l->covers_ms);
	cell(l->has_age, l->age_ms);
	out_printf("%-9s", fmt_bytes_short(text, sizeof(text), least));
	out_printf("%-9s%s\n", fmt_bytes_short(text, sizeof(text), most),
		   spark(line, l->minima, l->n, columns, utf8));
}

#define LEFT_OF_FLOORS	50

static void print_history(const struct message *msg)
{
	unsigned int width = out_columns(), i, n;
	bool utf8 = spark_utf8(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"));
	struct level l[MSG_LIST_MAX];

	width = width > LEFT_OF_FLOORS + LEVEL_EPOCHS ? width - LEFT_OF_FLOORS : LEVEL_EPOCHS;
	n = msg_levels(msg, l);
	if (n)
		out_printf("floors: the minimum of %s\n"
			   "in each epoch, the oldest leftmost; SINCE and UNTIL are times ago:\n"
			   "  %-10s%-10s%-10s%-9s%-9s%s\n",
			   sentence_subject(SEEPAGE_SUBJECT_MEMORY), "EPOCH", "SINCE", "UNTIL",
			   "MIN", "MAX", "FLOORS");
	/* the first epoch ends with the first sample and has no full length */
	for (i = 0; i < n; i++)
		if (l[i].n)
			print_level(&l[i], i || l[i].n > 1, width, utf8);
}

static void print_text(const struct message *msg)
{
	char text[SENTENCE_MAX];

	sentence_headline(msg, text, sizeof(text));
	out_line(text);
	print_subject(msg);
	print_figures(msg);
	print_usual(msg);
	print_factors(msg);
	sentence_gates(msg, "gates:");
	print_history(msg);
}

/*
 * Says if what the alert @msg is about has ended, and which alert tells it. What a watch told
 * later of the process is shown with an alert that has none of it. @m: out, holds what @msg has
 */
static void find_end(struct knl *k, struct message *msg, struct msgs *m)
{
	struct message exit;

	if (!msg->a[SEEPAGE_A_SEQ] || msg->gone || query_alerts(k, 0, m) < 0 ||
	    !query_ended(k, m, msg, &exit))
		return;
	end_print(&exit);
	if (msg_seq(&exit) && !msg->a[SEEPAGE_A_IDENTITY])
		msg->a[SEEPAGE_A_IDENTITY] = exit.a[SEEPAGE_A_IDENTITY];
	msg_is_gone(msg);
}

static int print(const struct ctx *ctx, struct knl *k, struct nlmsghdr *nlh,
		 const struct pmc_list *list)
{
	struct msgs m = { 0 };
	struct place place;
	struct message msg;

	if (msg_parse(&msg, nlh))
		return fail(ctx, "the module sent an invalid message");
	if (!ctx->json) {
		out_fold();
		find_end(k, &msg, &m);
		print_text(&msg);
		msgs_free(&m);
		return 0;
	}
	msg.pmc = list;
	place_find(&msg, false, &place);
	out_json(ctx, msg.a[SEEPAGE_A_SEQ] ? json_alert(&msg, &place) : json_process(&msg, &place));
	place_free(&place);
	return 0;
}

/* Names the last alert of a process that is gone. */
static void note_alert(const struct ctx *ctx, struct knl *k, u32 pid)
{
	struct msgs m = { 0 };
	struct message msg;

	query_alerts(k, 0, &m);
	if (query_newest(&m, pid, &msg))
		note(ctx, "see seepage show '#%llu'", msg_seq(&msg));
	msgs_free(&m);
}

/* An alert that the module still holds is shown as it was. */
static int run(struct ctx *ctx, int argc, char **argv)
{
	struct pmc_list list = { 0 };
	struct nlmsghdr *nlh;
	struct knl k;
	bool alert;
	u64 seq;
	u32 pid;
	int err;

	alert = parse_alert(argv[0], &seq);
	if (alert && of_group)
		return usage(ctx, "--group: allowed with a PID only");
	err = alert ? query_open_alert(ctx, seq, &k, &nlh) :
		      query_open_pid(ctx, argv[0], &k, &pid);
	if (err)
		return err;
	if (!alert) {
		(of_group ? query_group : query_process)(&k, pid, &nlh);
		if (nlh && ctx->json)
			query_pmc(&k, &list);
	}
	if (nlh) {
		err = print(ctx, &k, nlh, &list);
	} else {
		err = knl_fail_pid(ctx, &k, pid, NEEDS_READ);
		note_alert(ctx, &k, pid);
	}
	free(nlh);
	knl_close(&k);
	return err;
}

const struct command cmd_show = {
	.name = "show", .args = "PID|'#N'", .help = "show all figures of one process or alert",
	.more = "Without capabilities: only your own processes.",
	.opts = opts, .min = 1, .max = 1, .run = run,
};
