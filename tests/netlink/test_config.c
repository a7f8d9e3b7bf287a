// SPDX-License-Identifier: GPL-2.0
/* GET_CONFIG and SET_CONFIG. Names, defaults and bounds: seepage/names.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <seepage/names.h>
#include "nltest.h"

static const struct key {
	const char *name;
	uint32_t init, min, max;
	bool word;
} keys[] = {
#define NUMBER(ID, word, def, lo, hi, text)	[SEEPAGE_CFG_##ID] = { #word, def, lo, hi, 0 },
#define WORD(ID, word, def, text)	\
	[SEEPAGE_CFG_##ID] = { #word, SEEPAGE_##ID##_##def, 0, SEEPAGE_##ID##_MAX, 1 },
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
};

_Static_assert(ARRAY_SIZE(keys) == __SEEPAGE_CFG_MAX, "a key has no name");

static struct conn c;
static char buf[REQ_SIZE] __attribute__((aligned(8)));

static void same(const uint32_t want[__SEEPAGE_CFG_MAX], const char *when)
{
	uint32_t now[__SEEPAGE_CFG_MAX];
	int key;

	get_config(&c, now);
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++)
		check(now[key] == want[key], "%s: %s is %u, not %u", when, keys[key].name,
		      now[key], want[key]);
}

static void defaults_of(uint32_t v[__SEEPAGE_CFG_MAX])
{
	int key;

	v[0] = 0;
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++)
		v[key] = keys[key].init;
}

static void defaults(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];

	conn_open(&c);
	defaults_of(v);
	same(v, "after load");
}

static void set_one(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];

	conn_open(&c);
	fresh(&c);
	get_config(&c, v);
	v[SEEPAGE_CFG_WARMUP_S] = 17;
	check(!set_config(&c, SEEPAGE_CFG_WARMUP_S, 17, 0), "refused");
	same(v, "one key");
	check(!set_config(&c, SEEPAGE_CFG_WARMUP_S, 17, 0), "the same again refused");
	same(v, "the same again");
	fresh(&c);
}

static void set_many(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	struct answer a;
	int key;

	conn_open(&c);
	fresh(&c);
	get_config(&c, v);
	nlh = request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0);
	nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);
	for (key = __SEEPAGE_CFG_MAX - 1; key; key--) {	/* order does not matter */
		v[key] = keys[key].init == keys[key].min ? keys[key].init + 1 :
							     keys[key].init - 1;
		mnl_attr_put_u32(nlh, key, v[key]);
	}
	mnl_attr_nest_end(nlh, nest);
	check(!ask(&c, nlh, &a, NULL, NULL), "refused: %s", a.text);
	check(!a.messages, "a reply besides the ack");
	same(v, "all keys");
	need(!reset(&c, SEEPAGE_RESET_CONFIG, 0), "RESET refused");
	defaults_of(v);
	same(v, "after RESET");
}

static void set_nothing(void)
{
	uint32_t v[__SEEPAGE_CFG_MAX];

	conn_open(&c);
	fresh(&c);
	get_config(&c, v);
	check(!set_config(&c, 0), "an empty nest is refused");
	same(v, "an empty nest");
}

/* One key, one value; it must be taken or refused in a way that helps. */
static void bound(int key, uint32_t value, bool ok)
{
	struct nlmsghdr *nlh = request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0);
	struct nlattr *nest, *bad;
	char text[64], what[96];
	struct answer a;

	nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);
	if (ok && key == SEEPAGE_CFG_SAMPLE_INTERVAL_MS)
		mnl_attr_put_u32(nlh, SEEPAGE_CFG_SUSPECT_INTERVAL_MS, 100);
	if (ok && key == SEEPAGE_CFG_SUSPECT_INTERVAL_MS)
		mnl_attr_put_u32(nlh, SEEPAGE_CFG_SAMPLE_INTERVAL_MS, 3600000);
	if (ok && key == SEEPAGE_CFG_FAULT_RATE_WARNING)
		mnl_attr_put_u32(nlh, SEEPAGE_CFG_FAULT_RATE_CRITICAL, 1000000000);
	if (ok && key == SEEPAGE_CFG_FAULT_RATE_CRITICAL)
		mnl_attr_put_u32(nlh, SEEPAGE_CFG_FAULT_RATE_WARNING, 1);
	bad = mnl_nlmsg_get_payload_tail(nlh);
	mnl_attr_put_u32(nlh, key, value);
	mnl_attr_nest_end(nlh, nest);
	snprintf(what, sizeof(what), "%s %u", keys[key].name, value);
	if (ok) {
		ask(&c, nlh, &a, NULL, NULL);
		check(!a.rc, "%s: %s", what, a.text);
		return;
	}
	refused(&c, nlh, -EINVAL, keys[key].name, bad, what);
	if (keys[key].word)
		return;
	snprintf(text, sizeof(text), "%u..%u", keys[key].min, keys[key].max);
	nlh->nlmsg_seq = ++c.seq;
	refused(&c, nlh, -EINVAL, text, bad, what);
}

static void bounds(void)
{
	int key;

	conn_open(&c);
	fresh(&c);
	for (key = 1; key < __SEEPAGE_CFG_MAX; key++) {
		bound(key, keys[key].min, true);
		bound(key, keys[key].max, true);
		if (keys[key].min)
			bound(key, keys[key].min - 1, false);
		bound(key, keys[key].max + 1, false);
		bound(key, 0xffffffff, false);
		fresh(&c);
	}
}

/* The text of a refused word says which words there are. */
static void words(void)
{
	struct nlmsghdr *nlh;
	struct nlattr *nest;

	conn_open(&c);
#define VALUE(KEY, WORD, word)							\
	nlh = request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0);			\
	nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);			\
	mnl_attr_put_u32(nlh, SEEPAGE_CFG_##KEY, SEEPAGE_##KEY##_MAX + 1);	\
	mnl_attr_nest_end(nlh, nest);						\
	refused(&c, nlh, -EINVAL, #word, NULL, #KEY);
	SEEPAGE_CONFIG_WORD_VALUES(VALUE)
#undef VALUE
}

/* One bad key among good ones, first, in the middle and last: nothing applies. */
static void atomic(void)
{
	uint32_t before[__SEEPAGE_CFG_MAX];
	struct nlattr *nest, *bad = NULL;
	struct nlmsghdr *nlh;
	int place, i;

	conn_open(&c);
	fresh(&c);
	get_config(&c, before);
	for (place = 0; place < 3; place++) {
		nlh = request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0);
		nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);
		for (i = 0; i < 3; i++) {
			if (i == place) {
				bad = mnl_nlmsg_get_payload_tail(nlh);
				mnl_attr_put_u32(nlh, SEEPAGE_CFG_ALERT_CONFIDENCE, 101);
			}
			mnl_attr_put_u32(nlh, i == 0 ? SEEPAGE_CFG_WARMUP_S :
					 i == 1 ? SEEPAGE_CFG_PMC :
					 SEEPAGE_CFG_MIN_PROCESS_SIZE_MB, 1);
		}
		mnl_attr_nest_end(nlh, nest);
		refused(&c, nlh, -EINVAL, "alert_confidence", bad, "a bad key among good ones");
		same(before, "after the refusal");
	}
}

/* Each value is allowed, both together are not; also against the value in force. */
static void contradiction(void)
{
	static const struct {
		int low, high;
	} pair[] = {
		{ SEEPAGE_CFG_SUSPECT_INTERVAL_MS, SEEPAGE_CFG_SAMPLE_INTERVAL_MS },
		{ SEEPAGE_CFG_FAULT_RATE_WARNING, SEEPAGE_CFG_FAULT_RATE_CRITICAL },
	};
	uint32_t v[__SEEPAGE_CFG_MAX];
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	unsigned int i, j;

	conn_open(&c);
	fresh(&c);
	get_config(&c, v);
	for (i = 0; i < ARRAY_SIZE(pair); i++) {
		for (j = 0; j < 3; j++) {
			nlh = request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0);
			nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);
			mnl_attr_put_u32(nlh, SEEPAGE_CFG_WARMUP_S, 5);
			if (j != 1)
				mnl_attr_put_u32(nlh, pair[i].low,
						 j == 2 ? v[pair[i].high] + 1 : 3001);
			if (j != 2)
				mnl_attr_put_u32(nlh, pair[i].high,
						 j == 1 ? v[pair[i].low] - 1 : 3000);
			mnl_attr_nest_end(nlh, nest);
			refused(&c, nlh, -EINVAL, keys[pair[i].low].name, NULL, "contradiction");
			nlh->nlmsg_seq = ++c.seq;
			refused(&c, nlh, -EINVAL, keys[pair[i].high].name, NULL,
				"contradiction");
			same(v, "after a contradiction");
		}
		check(!set_config(&c, pair[i].low, 3000, pair[i].high, 3000, 0),
		      "%s equal to %s is refused", keys[pair[i].low].name,
		      keys[pair[i].high].name);
		fresh(&c);
	}
}

/* What the nest must not hold. */
static void bad_nest(void)
{
	static const char * const what[] = {
		"key 0", "key MAX + 1", "key 1000", "u8", "u64", "no value",
		"a nest", "a key without NLA_F_NESTED around", "garbage behind the keys",
		"a key twice",
	};
	uint32_t v[__SEEPAGE_CFG_MAX];
	struct nlattr *nest, *bad;
	struct nlmsghdr *nlh;
	unsigned int i;

	conn_open(&c);
	fresh(&c);
	get_config(&c, v);
	for (i = 0; i < ARRAY_SIZE(what); i++) {
		nlh = request(&c, buf, SEEPAGE_CMD_SET_CONFIG, 0);
		nest = mnl_attr_nest_start(nlh, SEEPAGE_A_CONFIG);
		mnl_attr_put_u32(nlh, SEEPAGE_CFG_WARMUP_S, 5);
		bad = mnl_nlmsg_get_payload_tail(nlh);
		if (i < 3)
			mnl_attr_put_u32(nlh, i == 0 ? 0 : i == 1 ? __SEEPAGE_CFG_MAX : 1000, 1);
		else if (i == 3)
			mnl_attr_put_u8(nlh, SEEPAGE_CFG_PMC, 1);
		else if (i == 4)
			mnl_attr_put_u64(nlh, SEEPAGE_CFG_PMC, 1);
		else if (i == 5)
			mnl_attr_put(nlh, SEEPAGE_CFG_PMC, 0, NULL);
		else if (i == 6)
			mnl_attr_put_u32(nlh, SEEPAGE_CFG_PMC | NLA_F_NESTED, 1);
		else if (i == 9)
			mnl_attr_put_u32(nlh, SEEPAGE_CFG_WARMUP_S, 5);
		if (i == 9)
			bad = mnl_attr_get_payload(nest);	/* either would do */
		mnl_attr_nest_end(nlh, nest);
		if (i == 7) {
			nest->nla_type &= ~NLA_F_NESTED;
			bad = nest;
		}
		if (i == 8) {
			memset(mnl_nlmsg_get_payload_tail(nlh), 0xff, 8);
			nlh->nlmsg_len += 4;
			nest->nla_len += 4;
			bad = NULL;
		}
		refused(&c, nlh, -EINVAL, NULL, bad, what[i]);
		same(v, what[i]);
	}
}

const struct test tests_config[] = {
	{ "config-defaults", defaults },
	{ "config-set-one", set_one },
	{ "config-set-many", set_many },
	{ "config-set-nothing", set_nothing },
	{ "config-bounds", bounds },
	{ "config-words", words },
	{ "config-atomic", atomic },
	{ "config-contradiction", contradiction },
	{ "config-bad-nest", bad_nest },
	{ NULL, NULL }
};
