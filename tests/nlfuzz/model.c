// SPDX-License-Identifier: GPL-2.0
/*
 * The expected results: dumps end, an unprivileged user changes nothing, and the configuration
 * is what the accepted requests set, key by key.
 */
#include <string.h>
#include <seepage/names.h>
#include "nlfuzz.h"

#define NUMBER(ID, name, def, min, max, text)	[SEEPAGE_CFG_##ID] = { #name, min, max },
#define WORD(ID, name, def, text)	[SEEPAGE_CFG_##ID] = { #name, 0, SEEPAGE_##ID##_MAX },
static const struct { const char *name; uint32_t min, max; } keys[__SEEPAGE_CFG_MAX] = {
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
};

#undef NUMBER
#undef WORD

static struct fuzz_sock model;
static uint32_t at_load[__SEEPAGE_CFG_MAX], now[__SEEPAGE_CFG_MAX];

/* A question of the model's own; the last reply is left in buf. */
static void ask_model(uint8_t cmd, struct batch *reply)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	char buf[64] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	ssize_t n;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nlh->nlmsg_seq = ~0U;
	g->cmd = cmd;
	g->version = SEEPAGE_GENL_VERSION;
	n = sendto(model.fd, nlh, nlh->nlmsg_len, 0, (void *)&kernel, sizeof(kernel));
	need(n == (ssize_t)nlh->nlmsg_len, "send");
	n = recv(model.fd, reply->data, sizeof(reply->data), 0);
	nlh = (void *)reply->data;
	need(n > (ssize_t)sizeof(*nlh) && nlh->nlmsg_seq == ~0U && nlh->nlmsg_type == family,
	     "no reply to command %u", cmd);
	datagram = (char *)reply->data;
}

static void read_config(uint32_t v[__SEEPAGE_CFG_MAX])
{
	static struct batch reply;
	struct parsed p;
	int key;

	ask_model(SEEPAGE_CMD_GET_CONFIG, &reply);
	parse((void *)reply.data, CONFIG, &p);
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++)
		v[key] = keyed(&p, SEEPAGE_A_CONFIG, key);
}

/* Its own rules: those of names.h, and the two that no single value shows. */
static void promise_sound(const uint32_t v[__SEEPAGE_CFG_MAX])
{
	int key;

	for (key = 1; key < __SEEPAGE_CFG_MAX; key++)
		promise(v[key] >= keys[key].min && v[key] <= keys[key].max, "%s is %u",
			keys[key].name, v[key]);
	promise(v[SEEPAGE_CFG_SUSPECT_INTERVAL_MS] <= v[SEEPAGE_CFG_SAMPLE_INTERVAL_MS],
		"suspect_interval_ms exceeds sample_interval_ms");
	promise(v[SEEPAGE_CFG_FAULT_RATE_WARNING] <= v[SEEPAGE_CFG_FAULT_RATE_CRITICAL],
		"fault_rate_warning exceeds fault_rate_critical");
}

/* The last attribute of a type counts, as for the kernel. */
static const struct nlattr *find(const struct nlmsghdr *nlh, int type)
{
	const struct nlattr *a, *found = NULL;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == type)
			found = a;
	return found;
}

static void apply_keys(const struct nlattr *nest)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest) {
		promise(mnl_attr_get_type(a) && mnl_attr_get_type(a) < __SEEPAGE_CFG_MAX &&
			mnl_attr_get_payload_len(a) == 4, "SET_CONFIG took key %u of %u bytes",
			mnl_attr_get_type(a), mnl_attr_get_payload_len(a));
		now[mnl_attr_get_type(a)] = mnl_attr_get_u32(a);
	}
}

/* Facts that was taken was such as may be. */
static void promise_facts(const struct fuzz_sock *s, const struct nlmsghdr *nlh)
{
	const struct nlattr *cold = find(nlh, SEEPAGE_A_COLD_PERMILLE);
	const struct nlattr *limit = find(nlh, SEEPAGE_A_LIMIT_BYTES);

	promise(may(s), "facts of a user was accepted");
	promise(find(nlh, SEEPAGE_A_PID), "facts were accepted without a PID");
	promise(cold || limit || find(nlh, SEEPAGE_A_IDENTITY) ||
		find(nlh, SEEPAGE_A_KNOWN_RISE_BYTES) || find(nlh, SEEPAGE_A_KNOWN_SPAN_SECONDS),
		"facts were accepted without any");
	promise(!cold || mnl_attr_get_u32(cold) <= 1000, "facts: %u permille were accepted",
		cold ? mnl_attr_get_u32(cold) : 0);
	promise(!limit || !mnl_attr_get_u64(limit) || find(nlh, SEEPAGE_A_CGROUP_USED_BYTES),
		"a limit was accepted without what is used");
	promise(limit || !find(nlh, SEEPAGE_A_CGROUP_ID), "a cgroup was accepted without a limit");
}

/* An accepted request that writes; returns whether it is about the configuration. */
static bool apply(const struct fuzz_sock *s, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *a;

	if (g->cmd == SEEPAGE_CMD_SET_FACTS)
		promise_facts(s, nlh);
	if (g->cmd != SEEPAGE_CMD_SET_CONFIG && g->cmd != SEEPAGE_CMD_RESET)
		return false;
	promise(may(s), "command %u of a user was accepted", g->cmd);
	a = find(nlh, g->cmd == SEEPAGE_CMD_RESET ? SEEPAGE_A_RESET_WHAT : SEEPAGE_A_CONFIG);
	promise(a || (g->cmd == SEEPAGE_CMD_SET_CONFIG && find(nlh, SEEPAGE_A_PMC_WANTED)),
		"command %u was accepted without its attribute", g->cmd);
	if (!a)				/* of hardware events only: no key */
		return false;
	if (g->cmd == SEEPAGE_CMD_SET_CONFIG)
		apply_keys(a);
	else if (mnl_attr_get_u32(a) & SEEPAGE_RESET_CONFIG)
		memcpy(now, at_load, sizeof(now));
	else
		return false;
	return true;
}

static void promise_at_work(void)
{
	static struct batch reply;
	struct parsed p;

	ask_model(SEEPAGE_CMD_GET_STATUS, &reply);
	parse((void *)reply.data, STATUS, &p);	/* DISABLED is none of an honest status */
	promise(!keyed(&p, SEEPAGE_A_COUNTERS, SEEPAGE_COUNTER_INVARIANTS_BROKEN),
		"an invariant is broken");
}

static bool about, unsure;	/* since the last comparison */

/* Exchanges in the order in which they were sent; then they are compared. */
void model_note(const struct fuzz_sock *s, const struct exchange *x)
{
	const struct sent *t;

	unsure |= x->lost;
	for (t = x->sent; t < x->sent + x->n; t++) {
		bool ours = t->whole && t->nlh->nlmsg_type == family &&
			    t->nlh->nlmsg_flags & NLM_F_REQUEST;
		bool dump = (t->nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

		if (!ours)
			continue;
		promise(x->lost || !dump || t->acked || t->done, "a dump without an end");
		if (!t->error && !dump && !x->lost)
			about |= apply(s, t->nlh);
	}
}

void model_compare(void)
{
	uint32_t is[__SEEPAGE_CFG_MAX];
	int key;

	if (totals.batches % 64 == 0)
		promise_at_work();
	if (!about && !unsure && totals.batches % 8)
		return;
	read_config(is);
	promise_sound(is);
	for (key = 1; key < __SEEPAGE_CFG_MAX && !unsure; key++)
		promise(is[key] == now[key], "%s is %u instead of %u", keys[key].name, is[key],
			now[key]);
	memcpy(now, is, sizeof(now));
	about = false;
	unsure = false;
}

void model_begin(void)
{
	sock_open(&model, ROOT, BATCH_MAX, 0);
	read_config(at_load);
	promise_sound(at_load);
	memcpy(now, at_load, sizeof(now));
}

void model_end(void)
{
	promise_at_work();
	sock_close(&model);
}
