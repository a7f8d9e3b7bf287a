// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools.h"

static u64 since;

static const struct opt opts[] = {
	{ .name = "since", .kind = OPT_NUMBER, .dest = &since, .arg = "SEQ", .max = UINT64_MAX,
	  .help = "only alerts from this sequence number on" },
	{ .name = NULL }
};

static const u8 columns[] = {
	SEEPAGE_A_SEQ, SEEPAGE_A_TIME_NS, SEEPAGE_A_STATE, SEEPAGE_A_PID, SEEPAGE_A_COMM,
	SEEPAGE_A_RSS_BYTES, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, SEEPAGE_A_TTE_SECONDS,
	SEEPAGE_A_CONFIDENCE, COLUMN_USER, COLUMN_UNIT,
};

static void print_text(struct message *msg, size_t n)
{
	char text[SENTENCE_MAX];
	struct place place;
	size_t i;

	for (i = 0; i < n; i++) {
		place_find(&msg[i], false, &place);
		owner_text(&msg[i], &place, text, sizeof(text));
		msg[i].note = *text ? must(strdup(text)) : NULL;
		place_free(&place);
	}
	owner_container = tools_container;
	owner_fill(msg, n);
	out_cut();
	list_print(columns, ARRAY_SIZE(columns), msg, n);
	for (i = 0; i < n; i++) {
		free(msg[i].note);
		if (msg[i].a[SEEPAGE_A_MERGED_INTO])
			printf("#%llu merged into #%llu, the alert of its group\n",
			       (unsigned long long)msg_seq(&msg[i]),
			       (unsigned long long)msg_get(&msg[i], SEEPAGE_A_MERGED_INTO, 0));
	}
}

static void print(const struct ctx *ctx, const struct msgs *m)
{
	struct place place;
	size_t i, n;
	struct message *msg = list_messages(m, &n);

	if (!ctx->json)
		print_text(msg, n);
	for (i = 0; ctx->json && i < n; i++) {
		place_find(&msg[i], false, &place);
		out_json(ctx, json_alert(&msg[i], &place));
		place_free(&place);
	}
	free(msg);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct msgs m = { 0 };
	struct knl k;
	int err;

	if (query_open(ctx, &k))
		return 1;
	err = query_alerts(&k, since, &m);
	if (err < 0) {
		err = knl_fail(ctx, &k, NEEDS_READ);
	} else {
		if (err)
			note(ctx, "the list kept changing: it may not be consistent");
		print(ctx, &m);
		err = 0;
	}
	msgs_free(&m);
	knl_close(&k);
	return err;
}

const struct command cmd_alerts = {
	.name = "alerts", .args = "", .help = "list the alerts that the module still holds",
	.opts = opts, .run = run,
};
