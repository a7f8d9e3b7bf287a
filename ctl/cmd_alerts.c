// SPDX-License-Identifier: GPL-2.0
#include "ctl.h"

static u64 since;

static const struct opt opts[] = {
	{ .name = "since", .kind = OPT_NUMBER, .dest = &since, .arg = "SEQ", .max = UINT64_MAX,
	  .help = "from this sequence number on" },
	{ .name = NULL }
};

static const u8 columns[] = {
	SEEPAGE_A_SEQ, SEEPAGE_A_TIME_NS, SEEPAGE_A_PID, SEEPAGE_A_COMM, SEEPAGE_A_STATE,
	SEEPAGE_A_CONFIDENCE, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_TTE_SECONDS,
};

static void print_table(const struct msgs *m)
{
	static const bool right[] = { true, false, true, false, false, true, true, true, false };
	const char *heads[ARRAY_SIZE(columns) + 1];
	char text[SENTENCE_MAX];
	struct table *t;
	struct rec rec;
	size_t i, col;

	for (col = 0; col < ARRAY_SIZE(columns); col++)
		heads[col] = attr_table[columns[col]].text;
	heads[col] = "EVIDENCE";
	t = table_new(heads, right, ARRAY_SIZE(heads));
	for (i = 0; i < m->n; i++) {
		if (rec_parse(&rec, m->v[i]))
			continue;
		for (col = 0; col < ARRAY_SIZE(columns); col++) {
			attr_text(columns[col], rec.a[columns[col]], true, text, TEXT_MAX);
			table_cell(t, text);
		}
		sentence_evidence(&rec, text, sizeof(text));
		table_cell(t, text);
	}
	table_print(t, "");
	table_free(t);
}

static void print_json(const struct ctx *ctx, const struct msgs *m)
{
	struct place place;
	struct rec rec;
	size_t i;

	for (i = 0; i < m->n; i++) {
		if (rec_parse(&rec, m->v[i]))
			continue;
		place_find(&rec, false, &place);
		out_json(ctx, json_alert(&rec, &place));
		place_free(&place);
	}
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct msgs m = { 0 };
	struct knl k;
	int err;

	(void)argc;
	(void)argv;
	if (query_open(ctx, &k))
		return 1;
	err = query_alerts(&k, since, &m);
	if (err < 0) {
		err = knl_fail(ctx, &k, NEEDS_READ);
	} else {
		if (err)
			note(ctx, "the ring kept changing: the list may not be consistent");
		if (ctx->json)
			print_json(ctx, &m);
		else
			print_table(&m);
		err = 0;
	}
	msgs_free(&m);
	knl_close(&k);
	return err;
}

const struct command cmd_alerts = {
	.name = "alerts", .args = "", .help = "the alerts that the module still holds",
	.opts = opts, .run = run,
};
