// SPDX-License-Identifier: GPL-2.0
/*
 * Small changes to earlier messages: to single bytes and to the structure.
 */
#include <string.h>
#include "nlfuzz.h"

#define PLACES	128

/* Where the attributes of the first message begin, those in its nests as well. */
static unsigned int places(const struct batch *b, unsigned int *at)
{
	unsigned int i = sizeof(struct nlmsghdr) + sizeof(struct genlmsghdr), n = 0;

	while (i + sizeof(struct nlattr) <= b->len && n < PLACES) {
		const struct nlattr *a = (const void *)(b->data + i);

		at[n++] = i;
		if (a->nla_type & NLA_F_NESTED || a->nla_len < sizeof(*a))
			i += sizeof(*a);	/* into the nest */
		else
			i += MNL_ALIGN(a->nla_len);
	}
	return n;
}

static unsigned int span(const struct batch *b, unsigned int at)
{
	unsigned int len = MNL_ALIGN(((const struct nlattr *)(b->data + at))->nla_len);

	return len < sizeof(struct nlattr) ? sizeof(struct nlattr) :
	       len > b->len - at ? b->len - at : len;
}

/* Puts n bytes between others; what encloses them does not learn of it. */
static void insert(struct batch *b, unsigned int at, const void *data, unsigned int n)
{
	if (!room_for(b, n) || at > b->len)
		return;
	memmove(b->data + at + n, b->data + at, b->len - at);
	memcpy(b->data + at, data, n);
	b->len += n;
}

static void cut(struct batch *b, unsigned int at, unsigned int n)
{
	memmove(b->data + at, b->data + at + n, b->len - at - n);
	b->len -= n;
}

/* The first message reaches to the end again, as an honest one does. */
static void set_length(struct batch *b)
{
	if (b->len >= sizeof(struct nlmsghdr))
		((struct nlmsghdr *)b->data)->nlmsg_len = b->len;
}

static void change_attr(struct batch *b, const struct batch *other)
{
	unsigned int at[PLACES], from[PLACES], n = places(b, at), m = places(other, from), i, j;
	unsigned char copy[BATCH_MAX];
	struct nlattr *a;

	if (!n)
		return;
	i = at[below(n)];
	a = (void *)(b->data + i);
	switch (below(7)) {
	case 0:
		a->nla_type ^= 1 << below(16);
		break;
	case 1:
		a->nla_type = (a->nla_type & NLA_F_NESTED) | below(__SEEPAGE_A_MAX + 1);
		break;
	case 2:
		a->nla_len = one_in(2) ? a->nla_len + below(9) - 4 : rnd();
		break;
	case 3:				/* twice */
		memcpy(copy, a, span(b, i));
		insert(b, i, copy, span(b, i));
		set_length(b);
		break;
	case 4:
		cut(b, i, span(b, i));
		set_length(b);
		break;
	case 5:				/* one of another message */
		if (!m)
			break;
		j = from[below(m)];
		insert(b, i, other->data + j, span(other, j));
		set_length(b);
		break;
	case 6:				/* another value */
		j = i + sizeof(*a) + below(8);
		if (j < b->len)
			b->data[j] = one_in(2) ? rnd() : b->data[j] + 1 - below(3);
	}
}

static void change_header(struct batch *b)
{
	struct nlmsghdr *nlh = (void *)b->data;
	struct genlmsghdr *g = mnl_nlmsg_get_payload(nlh);

	if (b->len < sizeof(*nlh) + sizeof(*g))
		return;
	switch (below(5)) {
	case 0:
		nlh->nlmsg_flags ^= 1 << below(16);
		break;
	case 1:
		g->cmd = 1 + below(SEEPAGE_CMD_MAX);
		break;
	case 2:
		nlh->nlmsg_len = one_in(4) ? rnd() : nlh->nlmsg_len + below(17) - 8;
		break;
	case 3:
		nlh->nlmsg_flags ^= NLM_F_DUMP;
		break;
	case 4:
		nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
		nlh->nlmsg_type = family;
		set_length(b);
	}
}

void mutate(struct batch *b, const struct batch *other)
{
	unsigned int n = 1 + below(4);

	while (n-- && b->len) {
		switch (below(8)) {
		case 0:
			b->data[below(b->len)] ^= 1 << below(8);
			break;
		case 1:
			if (one_in(4))
				b->len -= below(b->len);
			break;
		case 2:
			change_header(b);
			break;
		case 3:
			gen_attr(b, below(__SEEPAGE_A_MAX));
			set_length(b);
			break;
		default:
			change_attr(b, other);
		}
	}
}
