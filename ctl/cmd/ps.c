// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "tools.h"

static const char *states, *user, *comm, *column_list, *sort;
static u64 min_confidence, limit;
static bool tree;

static const struct opt opts[] = {
	{ .name = "state", .kind = OPT_STRING, .dest = &states, .arg = "S[,S...]",
	  .help = "only processes in one of these states" },
	{ .name = "states", .kind = OPT_STRING, .dest = &states, .arg = "S[,S...]",
	  .help = "the same" },
	{ .name = "min-confidence", .kind = OPT_NUMBER, .dest = &min_confidence, .arg = "N",
	  .max = 100, .help = "only processes with at least this confidence" },
	{ .name = "uid", .kind = OPT_STRING, .dest = &user, .arg = "UID|NAME",
	  .help = "only processes of this user" },
	{ .name = "comm", .kind = OPT_STRING, .dest = &comm, .arg = "NAME",
	  .help = "only processes of exactly this name" },
	{ .name = "limit", .kind = OPT_NUMBER, .dest = &limit, .arg = "N", .min = 1,
	  .max = UINT32_MAX, .help = "only the first N (all)" },
	{ .name = "columns", .letter = 'o', .kind = OPT_STRING, .dest = &column_list,
	  .arg = "COL[,COL...]", .help = "these columns" },
	{ .name = "sort", .kind = OPT_STRING, .dest = &sort, .arg = "COL[,r]",
	  .help = "sort by this column; r: in reverse" },
	{ .name = "tree", .kind = OPT_FLAG, .dest = &tree, .help = "by unit, with sums" },
	{ .name = NULL }
};

static const u8 default_columns[] = {
	SEEPAGE_A_PID, SEEPAGE_A_COMM, COLUMN_USER, SEEPAGE_A_STATE, SEEPAGE_A_CONFIDENCE,
	SEEPAGE_A_RSS_BYTES, SEEPAGE_A_ANON_BYTES, SEEPAGE_A_SWAP_BYTES,
	SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_TTE_SECONDS, SEEPAGE_A_FAULT_RATE,
	SEEPAGE_A_AGE_SECONDS, COLUMN_UNIT,
};

struct filter {
	u32 states;
	u64 uid;
	bool has_uid;
};

struct view {
	u8 columns[LIST_COLUMNS];
	unsigned int cols;
	struct order order;
};

static int read_filter(struct ctx *ctx, struct filter *f)
{
	memset(f, 0, sizeof(*f));
	if (comm && (!*comm || strlen(comm) >= SEEPAGE_COMM_LEN))
		return usage(ctx, "--comm: '%s': allowed 1..%d bytes", comm,
			     SEEPAGE_COMM_LEN - 1);
	if (user && parse_user(ctx, "--uid", user, &f->uid))
		return EXIT_USAGE;
	f->has_uid = user;
	return states ? parse_states(ctx, states, SEEPAGE_STATE_OK, &f->states) : 0;
}

static int read_view(struct ctx *ctx, struct view *v)
{
	memset(v, 0, sizeof(*v));
	v->cols = ARRAY_SIZE(default_columns);
	memcpy(v->columns, default_columns, sizeof(default_columns));
	if (ctx->json && column_list)
		return usage(ctx, "-j: not allowed with -o, JSON has all keys");
	return (column_list ? columns_parse(ctx, column_list, v->columns, &v->cols) : 0) ?:
	       (sort ? order_parse(ctx, sort, &v->order) : 0);
}

static struct nl_msg *build(struct knl *k, void *arg)
{
	struct nl_msg *msg = knl_msg(k, SEEPAGE_CMD_GET_PROC, NLM_F_DUMP);
	const struct filter *f = arg;

	if (f->states)
		nla_put_u32(msg, SEEPAGE_A_FILTER_STATES, f->states);
	if (min_confidence)
		nla_put_u8(msg, SEEPAGE_A_FILTER_MIN_CONFIDENCE, (u8)min_confidence);
	if (f->has_uid)
		nla_put_u32(msg, SEEPAGE_A_FILTER_UID, (u32)f->uid);
	if (comm)
		nla_put_string(msg, SEEPAGE_A_FILTER_COMM, comm);
	return msg;
}

/* Prints one object at a time; all at once would take too much memory. */
static void print_json(const struct ctx *ctx, struct message *msg, size_t n,
		       const struct pmc_list *list)
{
	struct place place;
	size_t i;

	out_printf("[");
	for (i = 0; i < n; i++) {
		out_printf(i ? ",\n" : "\n");
		msg[i].pmc = list;
		place_find(&msg[i], false, &place);
		out_json(ctx, json_process(&msg[i], &place));
		place_free(&place);
	}
	out_line("]");
}

static void print(const struct ctx *ctx, const struct msgs *m, const struct pmc_list *list,
		  const struct view *v)
{
	size_t n, shown;
	struct message *msg = list_messages(m, &n);

	owner_container = ctx->json ? NULL : tools_container;
	owner_fill(msg, n);
	list_sort(msg, n, v->order);
	shown = limit && limit < n ? (size_t)limit : n;
	if (ctx->json) {
		print_json(ctx, msg, shown, list);
	} else {
		out_cut();
		list_print(v->columns, v->cols, msg, shown);
	}
	if (shown < n)
		note(ctx, "%zu more not shown (--limit)", n - shown);
	free(msg);
}

/*
 * Notes that the list has only the user's own processes; otherwise it could be taken
 * for that of an idle machine. The module decides: it refuses GET_STATUS in that case.
 */
static void note_own_only(const struct ctx *ctx, struct knl *k)
{
	struct nlmsghdr *nlh;

	if (query_one(k, knl_msg(k, SEEPAGE_CMD_GET_STATUS, 0), &nlh) == -EPERM)
		note(ctx, "only your own processes (others need " NEEDS_READ ")");
	free(nlh);
}

static void pass_on(const char **words, const char *option, const char *value)
{
	while (*words)
		words++;
	words[0] = value ? option : NULL;
	words[1] = value;
}

/* The tool top has the code for that. */
static int run_tree(struct ctx *ctx)
{
	static const char *words[11];
	char path[PATH_MAX];

	if (column_list || comm || min_confidence || limit)
		return usage(ctx, "--tree: allowed with --state --uid --sort");
	pass_on(words, "-t", "-b");
	pass_on(words, "-n", "1");
	pass_on(words, "--state", states);
	pass_on(words, "--user", user);
	pass_on(words, "--sort", sort);
	return tools_find("top", path, sizeof(path)) ?
	       tools_exec(ctx, "top", path, (char **)words) : tools_missing(ctx, "top");
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct pmc_list list = { 0 };
	struct msgs m = { 0 };
	struct filter f;
	struct view v;
	struct knl k;
	int err = read_filter(ctx, &f) ?: read_view(ctx, &v);

	if (err)
		return err;
	if (tree)
		return run_tree(ctx);
	if (query_open(ctx, &k))
		return 1;
	err = query_dump(&k, build, &f, &m);
	if (err < 0) {
		err = knl_fail(ctx, &k, NEEDS_READ);
	} else {
		if (err)
			note(ctx, "the list kept changing: it may not be consistent");
		if (ctx->json)
			query_pmc(&k, &list);
		print(ctx, &m, &list, &v);
		note_own_only(ctx, &k);
		err = 0;
	}
	msgs_free(&m);
	knl_close(&k);
	return err;
}

const struct command cmd_ps = {
	.name = "ps", .args = "", .help = "list processes, the most suspicious first",
	.more = "States: ok watch suspected confirmed runaway recovered exited.\n"
		"Without capabilities: only your own processes.",
	.opts = opts, .run = run,
};
