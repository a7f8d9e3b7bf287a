// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar: valid requests with values at the edges, and requests with one error.
 */
#include <string.h>
#include <unistd.h>
#include <seepage/names.h>
#include "nlfuzz.h"
#include "spec_types.h"

struct request {
	const char *name;
	uint8_t cmd;
	uint16_t flags;
	const int *takes;	/* ends with 0 */
};

static const struct nest nest_factor, nest_gate, nest_level, nest_pmc, nest_identity;
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#include "spec.h"
#include "requests.h"
static const struct nest nest_factor = { spec_factor, ARRAY_SIZE(spec_factor) };
static const struct nest nest_gate = { spec_gate, ARRAY_SIZE(spec_gate) };
static const struct nest nest_level = { spec_level, ARRAY_SIZE(spec_level) };
static const struct nest nest_pmc = { spec_pmc, ARRAY_SIZE(spec_pmc) };
static const struct nest nest_identity = { spec_identity, ARRAY_SIZE(spec_identity) };

#define NUMBER(ID, name, def, min, max, text)	[SEEPAGE_CFG_##ID] = { def, min, max },
#define WORD(ID, name, def, text)					\
	[SEEPAGE_CFG_##ID] = { SEEPAGE_##ID##_##def, 0, SEEPAGE_##ID##_MAX },
static const struct { uint32_t def, min, max; } keys[__SEEPAGE_CFG_MAX] = {
	SEEPAGE_CONFIG_NUMBERS(NUMBER)
	SEEPAGE_CONFIG_WORDS(WORD)
};

#undef NUMBER
#undef WORD

static uint64_t state = 1;

void rnd_seed(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15ULL + 1;
	rnd();
}

uint64_t rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

uint32_t below(uint32_t n)
{
	return n ? (rnd() >> 32) % n : 0;
}

bool one_in(uint32_t n)
{
	return !below(n);
}

bool room_for(const struct batch *b, size_t n)
{
	return b->len + NLMSG_ALIGN(n) <= BATCH_MAX;
}

static void put(struct batch *b, int attr, const void *data, size_t len)
{
	struct nlattr *a = (void *)(b->data + b->len);

	if (!room_for(b, sizeof(*a) + len))
		return;
	memset(a, 0, MNL_ALIGN(sizeof(*a) + len));
	a->nla_type = attr;
	a->nla_len = sizeof(*a) + len;
	memcpy(a + 1, data, len);
	b->len += MNL_ALIGN(a->nla_len);
}

/* ---- values ---- */

static uint64_t value(uint64_t max)
{
	switch (below(8)) {
	case 0:
		return 0;
	case 1:
		return max;
	case 2:
		return max + 1;
	case 3:
		return ~0ULL >> below(64);
	case 4:
		return 1ULL << below(64);
	case 5:
		return rnd();
	default:
		return max == ~0ULL ? below(200) : rnd() % (max + 1);
	}
}

static uint32_t pid(void)
{
	switch (below(8)) {
	case 0:
		return getpid();
	case 1:
		return 1;
	case 2:
		return 2;	/* a kernel thread */
	case 3:
		return value(0x7fffffff);
	default:
		return kids[below(KIDS)];
	}
}

static void put_string(struct batch *b, int attr)
{
	static const char *const names[] = { "nlfuzz", "nlfuzz-kid", "bash", "", "init" };
	char s[64];
	unsigned int len = below(24), i;

	if (!one_in(3)) {
		snprintf(s, sizeof(s), "%s", names[below(ARRAY_SIZE(names))]);
		put(b, attr, s, strlen(s) + !one_in(8));
		return;
	}
	for (i = 0; i < len; i++)
		s[i] = one_in(4) ? rnd() : 'a' + below(26);
	s[len] = '\0';
	put(b, attr, s, len + !one_in(4));
}

/* A key of the configuration: mostly what it may be, or just not any more. */
static uint32_t key_value(int key)
{
	switch (below(10)) {
	case 0:
		return keys[key].min;
	case 1:
		return keys[key].max;
	case 2:
		return keys[key].min - 1;
	case 3:
		return keys[key].max + 1;
	case 4:
		return value(~0U);
	case 5:
	case 6:
		return keys[key].def;
	default:
		return keys[key].min + below(keys[key].max - keys[key].min + 1);
	}
}

static void put_keyed(struct batch *b, const struct spec *s)
{
	unsigned int n = 1 + below(one_in(4) ? 20 : 3);
	uint64_t v;
	int key;

	while (n--) {
		key = 1 + below(s->max);
		if (one_in(20))
			key = below(2 * s->max);
		v = s->type == T_KEYED_U32 && key < __SEEPAGE_CFG_MAX ? key_value(key) : rnd();
		put(b, key, &v, one_in(20) ? below(9) : s->type == T_KEYED_U32 ? 4 : 8);
	}
}

static void put_spec(struct batch *b, int attr, const struct spec *s, unsigned int depth);

/* A nest of anything; its length is set when it is closed. */
static void put_nest(struct batch *b, int attr, const struct spec *s, unsigned int depth)
{
	unsigned int begin = b->len, n = below(4), type;

	put(b, attr | (one_in(10) ? 0 : NLA_F_NESTED), NULL, 0);
	if (b->len == begin)
		return;
	if (s->type == T_KEYED_U32 || s->type == T_KEYED_U64) {
		put_keyed(b, s);
	} else if (depth < 24) {
		while (n--) {
			type = s->inner ? below(s->inner->n) : below(__SEEPAGE_A_MAX);
			put_spec(b, type, s->inner ? &s->inner->spec[type] : &spec_attr[type],
				 depth + 1);
		}
	}
	if (one_in(12) && depth < 24)	/* deeper than anybody looks */
		put_nest(b, attr, s, depth + 1);
	((struct nlattr *)(b->data + begin))->nla_len = b->len - begin;
}

static void put_spec(struct batch *b, int attr, const struct spec *s, unsigned int depth)
{
	static const size_t size[] = { [T_U8] = 1, [T_U32] = 4, [T_U64] = 8, [T_S64] = 8 };
	uint64_t v[4] = { value(s->max), rnd(), rnd(), rnd() };

	if (s == &spec_attr[SEEPAGE_A_PID])
		v[0] = pid();
	if (s == &spec_attr[SEEPAGE_A_FILTER_STATES])
		v[0] = value((1U << __SEEPAGE_STATE_MAX) - 1);
	if (s == &spec_attr[SEEPAGE_A_RESET_WHAT])
		v[0] = value(SEEPAGE_RESET_ALL);
	if (s == &spec_attr[SEEPAGE_A_FILTER_UID] && one_in(2))
		v[0] = one_in(2) ? NOBODY : 0;
	if (s->type >= T_NEST)
		put_nest(b, attr, s, depth);
	else if (s->type == T_STRING)
		put_string(b, attr);
	else if (s->type == T_ARRAY)
		put(b, attr, v, below(5) * 8);
	else if (one_in(24))
		put(b, attr, v, below(sizeof(v)));
	else
		put(b, attr, v, s->type < ARRAY_SIZE(size) ? size[s->type] : 0);
}

void gen_attr(struct batch *b, int attr)
{
	if (attr >= 0 && attr < __SEEPAGE_A_MAX && spec_attr[attr].name)
		put_spec(b, attr, &spec_attr[attr], 0);
	else
		put(b, attr, &(uint64_t){ rnd() }, below(9));
}

/* ---- messages ---- */

static struct nlmsghdr *header(struct batch *b, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *nlh = (void *)(b->data + b->len);
	struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);

	memset(nlh, 0, sizeof(*nlh) + sizeof(*g));
	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	g->cmd = cmd;
	g->version = SEEPAGE_GENL_VERSION;
	b->len += sizeof(*nlh) + sizeof(*g);
	return nlh;
}

static void oddities(struct nlmsghdr *nlh)
{
	struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);

	if (one_in(30))
		nlh->nlmsg_flags ^= 1 << below(16);
	if (one_in(30))
		nlh->nlmsg_flags ^= NLM_F_DUMP;
	if (one_in(40))
		g->cmd = rnd();
	if (one_in(60))
		g->version = rnd();
	if (one_in(60))
		g->reserved = rnd();
	if (one_in(60))
		nlh->nlmsg_type = rnd();
}

static void message_of(struct batch *b, const struct request *r)
{
	unsigned int begin = b->len, i;
	struct nlmsghdr *nlh;

	if (!room_for(b, 2048))
		return;
	nlh = header(b, r->cmd, r->flags);
	for (i = 0; r->takes[i]; i++) {
		if (one_in(r->flags || i ? 2 : 10))
			continue;
		gen_attr(b, r->takes[i]);
		if (one_in(16))			/* once more */
			gen_attr(b, r->takes[i]);
	}
	if (one_in(8))				/* one that it does not take */
		gen_attr(b, below(one_in(4) ? 0x4000 : __SEEPAGE_A_MAX + 2));
	oddities(nlh);
	nlh->nlmsg_len = b->len - begin;
	if (one_in(50))
		nlh->nlmsg_len += below(9) - 4;
	if (one_in(60))
		nlh->nlmsg_len = rnd();
}

void gen_message(struct batch *b)
{
	message_of(b, &requests[below(ARRAY_SIZE(requests))]);
}

/* A dump, with such filters as leave something to tell */
void gen_dump(struct batch *b)
{
	struct nlmsghdr *nlh = header(b, one_in(4) ? SEEPAGE_CMD_GET_ALERTS : SEEPAGE_CMD_GET_PROC,
				      NLM_F_DUMP);

	if (one_in(4))
		gen_attr(b, SEEPAGE_A_FILTER_STATES);
	nlh->nlmsg_len = b->len;
}
