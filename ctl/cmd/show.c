// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include "ctl.h"

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
	row("EXE", p.exe ? fmt_safe(text, sizeof(text), p.exe, strlen(p.exe)) : "-");
	place_free(&p);
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

	attr_text(SEEPAGE_A_UID, msg->a[SEEPAGE_A_UID], false, text, sizeof(text));
	row(attr_table[SEEPAGE_A_UID].text, text);
	print_place(msg);
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		attr_text(ids[i], msg->a[ids[i]], false, text, sizeof(text));
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
		out_line("factors (points of at most):");
	for (i = 0; i < n; i++) {
		sentence_factor(&f[i], text, sizeof(text));
		out_printf("  %-15s%-7s%s\n", factor_name(f[i].id) ? factor_name(f[i].id) : "?",
			   sentence_points(&f[i], points), text);
	}
}

static void print_gates(const struct message *msg)
{
	struct gate g[MSG_LIST_MAX];
	unsigned int n = msg_gates(msg, g), i;
	char text[SENTENCE_MAX];

	if (n)
		out_line("gates:");
	for (i = 0; i < n; i++) {
		sentence_gate(&g[i], text, sizeof(text));
		out_printf("  %-15s%-11s%s\n", gate_name(g[i].id) ? gate_name(g[i].id) : "?",
			   g[i].passed ? "passed" : "held back", text);
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
	print_figures(msg);
	print_usual(msg);
	print_factors(msg);
	print_gates(msg);
	print_history(msg);
}

static int print(const struct ctx *ctx, struct nlmsghdr *nlh, const struct pmc_list *list)
{
	struct place place;
	struct message msg;

	if (msg_parse(&msg, nlh))
		return fail(ctx, "the module sent an invalid message");
	if (!ctx->json) {
		print_text(&msg);
		return 0;
	}
	msg.pmc = list;
	place_find(&msg, false, &place);
	out_json(ctx, json_process(&msg, &place));
	place_free(&place);
	return 0;
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct pmc_list list = { 0 };
	struct nlmsghdr *nlh;
	struct knl k;
	u32 pid;
	int err = query_open_pid(ctx, argv[0], &k, &pid);

	if (err)
		return err;
	err = query_process(&k, pid, &nlh);
	if (err >= 0 && ctx->json)
		query_pmc(&k, &list);
	err = err < 0 ? knl_fail_pid(ctx, &k, pid, NEEDS_READ) : print(ctx, nlh, &list);
	free(nlh);
	knl_close(&k);
	return err;
}

const struct command cmd_show = {
	.name = "show", .args = "PID", .help = "show all figures of one process",
	.more = "Without capabilities: only your own processes.",
	.min = 1, .max = 1, .run = run,
};
