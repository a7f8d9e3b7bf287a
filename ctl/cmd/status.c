// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include "ctl.h"

static void counters_json(struct json_object *o, const struct message *msg)
{
	struct json_object *list = json_object_new_object();
	struct nlattr *nest = msg->a[SEEPAGE_A_COUNTERS], *pos;
	int rem;

	if (nest) {
		nla_for_each_nested(pos, nest, rem) {
			const char *name = counter_name((unsigned int)nla_type(pos));
			u64 v;

			if (name && attr_u64(pos, &v))
				json_add_number(list, name, v);
		}
	}
	json_object_object_add(o, attr_table[SEEPAGE_A_COUNTERS].key, list);
}

static int print_json(const struct ctx *ctx, const struct message *msg, const struct conf *c)
{
	static const u8 ids[] = {
		SEEPAGE_A_INSTANCE, SEEPAGE_A_HOOK, SEEPAGE_A_PROCESSES, SEEPAGE_A_REC_BYTES,
		SEEPAGE_A_MEMORY_BYTES, SEEPAGE_A_TICKS, SEEPAGE_A_TICK_COST_NS,
		SEEPAGE_A_TICK_COST_MAX_NS, SEEPAGE_A_INTERVAL_MS, SEEPAGE_A_STRETCHED,
		SEEPAGE_A_PMC, SEEPAGE_A_DISABLED, SEEPAGE_A_MULTICAST_OFF,
	};
	static const u8 seqs[] = { SEEPAGE_A_SEQ_FIRST, SEEPAGE_A_SEQ_LAST };
	struct json_object *o = json_object_new_object();
	struct pmc_list list;
	const char *policy = c->set[SEEPAGE_CFG_POLICY] ?
			     policy_name(c->v[SEEPAGE_CFG_POLICY]) : NULL;
	size_t i;

	json_add_text(o, "version", SEEPAGE_CTL_VERSION);
	json_add(o, msg, SEEPAGE_A_VERSION);
	json_add_text(o, attr_table[SEEPAGE_A_POLICY].key, policy);
	json_object_object_add(o, cfg_keys[SEEPAGE_CFG_MAX_PROCESSES].name,
			       c->set[SEEPAGE_CFG_MAX_PROCESSES] ?
			       json_object_new_uint64(c->v[SEEPAGE_CFG_MAX_PROCESSES]) : NULL);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		json_add(o, msg, ids[i]);
	for (i = 0; i < ARRAY_SIZE(seqs); i++)	/* 0: the ring is empty */
		json_object_object_add(o, attr_table[seqs[i]].key, msg_get(msg, seqs[i], 0) ?
				       attr_json(seqs[i], msg->a[seqs[i]]) : NULL);
	pmc_list(&list, msg);
	json_object_object_add(o, attr_table[SEEPAGE_A_PMC_EVENTS].key,
			       list.n ? pmc_list_json(&list) : NULL);
	counters_json(o, msg);
	json_object_object_add(o, "where", kept_cost());
	return out_json(ctx, o);
}

static void print_counters(const struct message *msg)
{
	static const bool right[] = { false, true };
	struct table *t = table_new(NULL, right, 2);
	struct nlattr *pos;
	int rem;

	if (msg->a[SEEPAGE_A_COUNTERS]) {
		nla_for_each_nested(pos, msg->a[SEEPAGE_A_COUNTERS], rem) {
			const char *name = counter_name((unsigned int)nla_type(pos));
			char number[32];
			u64 v;

			if (!name || !attr_u64(pos, &v))
				continue;
			snprintf(number, sizeof(number), "%llu", v);
			table_cell(t, name);
			table_cell(t, number);
		}
	}
	out_line("counters:");
	table_print(t, "  ");
	table_free(t);
}

static void print_work(const struct message *msg, const struct conf *c)
{
	char a[TEXT_MAX], b[TEXT_MAX], max[TEXT_MAX];

	cfg_value_text(SEEPAGE_CFG_MAX_PROCESSES, c->v[SEEPAGE_CFG_MAX_PROCESSES], max,
		       sizeof(max));
	msg_text(msg, SEEPAGE_A_PROCESSES, a);
	out_printf("%-12s%s of at most %s\n", "processes:", a,
		   c->set[SEEPAGE_CFG_MAX_PROCESSES] ? max : "-");
	msg_text(msg, SEEPAGE_A_INTERVAL_MS, a);
	out_printf("%-12s%s%s\n", "interval:", a, msg_get(msg, SEEPAGE_A_STRETCHED, 0) ?
		   ", stretched: sampling costs more than max_cpu_permille allows" : "");
	msg_text(msg, SEEPAGE_A_TICK_COST_NS, a);
	msg_text(msg, SEEPAGE_A_TICK_COST_MAX_NS, b);
	out_printf("%-12s%s the last, %s the longest of %llu\n", "passes:", a, b,
		   msg_get(msg, SEEPAGE_A_TICKS, 0));
	msg_text(msg, SEEPAGE_A_MEMORY_BYTES, a);
	msg_text(msg, SEEPAGE_A_REC_BYTES, b);
	out_printf("%-12s%s, %s a process\n", "memory:", a, b);
}

static const char *member(struct json_object *o, const char *name)
{
	return json_object_get_string(json_object_object_get(o, name));
}

/* What the looks of `seepage where --keep` cost */
static void print_where(void)
{
	struct json_object *o = kept_cost();

	if (!o)
		return;
	out_printf("%-12s%s looks, %s bursts, %s left out, %.2f permille of a CPU, "
		   "%s at most\n", "where:", member(o, "looks"), member(o, "bursts"),
		   member(o, "left_out"),
		   json_object_get_double(json_object_object_get(o, "cpu_permille")),
		   member(o, "limit_permille"));
	json_object_put(o);
}

static void print_text(const struct message *msg, const struct conf *c)
{
	u64 first = msg_get(msg, SEEPAGE_A_SEQ_FIRST, 0);
	const char *policy = c->set[SEEPAGE_CFG_POLICY] ?
			     policy_name(c->v[SEEPAGE_CFG_POLICY]) : NULL;
	u64 last = msg_get(msg, SEEPAGE_A_SEQ_LAST, 0);
	struct pmc_list list;
	char a[TEXT_MAX];

	out_fold();
	msg_text(msg, SEEPAGE_A_VERSION, a);
	out_printf("seepage %s, module %s\n", SEEPAGE_CTL_VERSION, a);
	if (msg->a[SEEPAGE_A_DISABLED]) {
		msg_text(msg, SEEPAGE_A_DISABLED, a);
		out_printf("%-12s%s\n", "DISABLED:", a);
	}
	if (msg_get(msg, SEEPAGE_A_MULTICAST_OFF, 0))
		out_line("multicast:  OFF");
	msg_text(msg, SEEPAGE_A_HOOK, a);
	out_printf("%-12s%s\n%-12s%s\n", "hook:", a, "policy:", policy ? policy : "-");
	print_work(msg, c);
	if (first && last > first)
		out_printf("%-12s%llu held, #%llu to #%llu\n", "alerts:", last - first + 1, first,
			   last);
	else if (first)
		out_printf("%-12s1 held, #%llu\n", "alerts:", first);
	else
		out_printf("%-12s%s\n", "alerts:", "none held");
	msg_text(msg, SEEPAGE_A_PMC, a);
	out_printf("%-12s%s\n", "pmc:", a);
	pmc_list(&list, msg);
	if (list.n)
		pmc_list_print(&list);
	print_where();
	print_counters(msg);
}

static int run(struct ctx *ctx, int argc, char **argv)
{
	struct nlmsghdr *nlh = NULL;
	struct conf c;
	struct message msg;
	struct knl k;
	int err;

	if (query_open(ctx, &k))
		return 1;
	err = query_one(&k, knl_msg(&k, SEEPAGE_CMD_GET_STATUS, 0), &nlh);
	if (err >= 0)
		err = query_config(&k, &c);
	if (err < 0)
		err = knl_fail(ctx, &k, NEEDS_READ);
	else if (msg_parse(&msg, nlh))
		err = fail(ctx, "the module sent an invalid message");
	else if (ctx->json)
		err = print_json(ctx, &msg, &c);
	else
		print_text(&msg, &c);
	free(nlh);
	knl_close(&k);
	return err;
}

const struct command cmd_status = {
	.name = "status", .args = "",
	.help = "show what the module does and what it costs",
	.run = run,
};
