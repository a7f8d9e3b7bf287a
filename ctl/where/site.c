// SPDX-License-Identifier: GPL-2.0
/*
 * Which of the sampled blocks stay, and the sites that allocated them. Nothing traps at free():
 * the blocks are read from outside, several times. A block counts as freed if
 *
 *	a later sample has the same address,
 *	its chunk has another size, or the header of the next chunk marks it as free,
 *	its second word is the key by which glibc marks blocks in a cache of a thread,
 *	of musl its header says so, of tcmalloc and mimalloc its first word is another pointer, or
 *	less than half of what it held, soon after it was sampled or at the first look, is still
 *	there.
 *
 * Example: of 100 blocks of a request handler 97 are freed within a second, and their places
 * serve the next requests. At one of the nine looks nearly each is free or has other content.
 */
#include <stdlib.h>
#include <string.h>
#include "where/callsite.h"

#define SITE_FRAMES	6U	/* frames that tell sites apart */
#define PYTHON_FRAMES	3U	/* of python, behind the native ones: these are alike */

/* How many frames of a stack tell it apart */
static unsigned int telling(const struct frame *f, unsigned int n)
{
	unsigned int k;

	for (k = 0; k < n && !f[k].python; k++)
		;
	k = k < n && k + PYTHON_FRAMES > SITE_FRAMES ? k + PYTHON_FRAMES : SITE_FRAMES;
	return k < n ? k : n;
}

static bool is_site(const struct site *s, const struct frame *f, unsigned int n)
{
	unsigned int a = telling(s->frame, s->frames), b = telling(f, n), k;

	for (k = 0; k < a && k < b; k++)
		if (f[k].pc != s->frame[k].pc || f[k].python != s->frame[k].python ||
		    f[k].cut != s->frame[k].cut || f[k].place != s->frame[k].place)
			return false;
	return a == b;
}

static unsigned int find_site(struct survivors *v, const struct frame *f, unsigned int n)
{
	size_t i;

	for (i = 0; i < v->sites; i++)
		if (is_site(&v->site[i], f, n))
			return (unsigned int)i;
	memcpy(v->site[v->sites].frame, f, n * sizeof(*f));
	v->site[v->sites].frames = n;
	return (unsigned int)v->sites++;
}

static unsigned int same_bytes(const struct early *a, const struct early *b)
{
	unsigned int i, same = 0;

	for (i = 0; i < a->bytes && i < b->bytes; i++)
		same += a->data[i] == b->data[i];
	return same;
}

/* Was it unmapped before it was read? realloc() moves a block of that kind to make it larger. */
static bool is_lost(const struct block *b)
{
	return b->resized && !b->early->bytes;
}

/*
 * Is the earlier block @a what realloc() made @b of, between two rounds? One that was lost is taken
 * for the same block. Taken for a freed one, it would speak against the site of a block that moves.
 */
static bool is_resized(const struct block *a, const struct block *b)
{
	if (!b->resized || a->site != b->site || a->size > b->size || a->again)
		return false;
	if (is_lost(a) || is_lost(b))
		return a->resized;
	return a->early->bytes && same_bytes(a->early, b->early) == a->early->bytes;
}

/*
 * Counts two samples of a block as one: the later one, unless only the earlier one was read. How
 * often one that was lost grew says nothing of the other.
 */
static void join(struct block *a, struct block *b)
{
	struct block *kept = is_lost(b) && !is_lost(a) ? a : b, *other = kept == a ? b : a;

	other->again = true;
	other->alive = false;
	if (is_lost(other))
		return;
	kept->first_size = other->first_size;
	kept->resized += other->resized + 1;
}

/* Is the sample of a probe at a call site, not of one at a function? */
static bool is_at_site(const struct burst *b, size_t i)
{
	return b->at && i >= b->functions;
}

static unsigned int site_of(struct survivors *v, const struct burst *b, size_t i)
{
	struct stack now, whole;
	const struct stack *stack = unwind_again(v->u, &b->s[i], b->stack ? &b->stack[i] : NULL,
						 &now);

	if (is_at_site(b, i)) {
		whole = *stack;
		whole.n = callsites_stack(&b->at->site[b->s[i].probe], whole.frame, whole.n);
		return find_site(v, whole.frame, whole.n);
	}
	/* The first frame is the function that allocates. */
	return find_site(v, stack->frame + 1, stack->n ? stack->n - 1 : 0);
}

static void add_block(struct survivors *v, const struct seepage_where_sample *s,
		      const struct early *early, unsigned int site, bool at_site)
{
	struct block *b = &v->block[v->n++];
	size_t i;

	b->at_site = at_site;
	b->site = site;
	b->addr = s->addr;
	b->size = s->size;
	b->first_size = s->first_size;
	b->resized = s->resized;
	b->drawn = !s->set;
	b->alive = true;
	b->early = early;
	b->round = early->round;
	v->resized = v->resized || b->resized;
	for (i = 0; i + 1 < v->n; i++) {
		struct block *a = &v->block[i];

		if (!b->again && is_resized(a, b))
			join(a, b);
		else if (a->addr == b->addr)
			a->alive = false;
	}
}

/* Unwinds the stacks of all samples. */
struct survivors *survivors_new(struct target *t, const struct bins *bins, struct unwinder *u,
				const struct burst *b)
{
	struct survivors *v = must(calloc(1, sizeof(*v)));
	size_t i;

	v->t = t;
	v->bins = bins;
	v->u = u;
	v->block = must(calloc(b->n + 1, sizeof(*v->block)));
	v->site = must(calloc(b->n + 1, sizeof(*v->site)));
	for (i = 0; i < b->n; i++)
		add_block(v, &b->s[i], &b->early[i], site_of(v, b, i), is_at_site(b, i));
	memcpy(v->round, b->round, sizeof(v->round));
	v->rounds = b->rounds;
	v->armed = (double)b->armed_ns / 1e9;
	v->own = v->armed - (double)b->traps * TRAP_NS / 1e9;
	v->own = v->own > v->armed / 10 ? v->own : v->armed / 10;
	v->calls = b->armed_ns ? (double)b->matched / v->armed : 0;
	v->at_sites = (double)b->sites_ns / 1e9;
	return v;
}

/* A block that realloc() makes larger goes on to do so, and moves: it is where its content is. */
static bool is_moved(struct survivors *v, struct block *b)
{
	u64 addr = b->resized ? block_find(v->t, b->size, b->early) : 0;

	if (addr)
		b->addr = addr;
	return addr;
}

static void look_at(struct survivors *v, struct block *b)
{
	struct early now;
	u64 head;

	if (!b->alive)
		return;
	b->alive = block_read(v->t, v->bins, b->addr, b->size, &head, &now) &&
		   (!v->seen || head == b->head);
	b->unchanged = false;
	if (!b->alive) {
		b->alive = is_moved(v, b);
		b->unchanged = b->alive;
		b->head = 0;	/* changes as it grows in place; compare contents from now on */
		return;
	}
	if (block_is_linked(v->bins, v->seen ? &b->first : b->early, &now)) {
		b->alive = false;
		return;
	}
	if (!v->seen) {
		b->alive = block_is_same(b->early, &now);
		b->head = head;
		b->first = now;
	}
	b->alive = b->alive && 2 * same_bytes(&b->first, &now) >= now.bytes;
	b->unchanged = b->alive && same_bytes(&b->first, &now) == now.bytes;
}

/* Looks at each block that is not known to be freed. The first look is what later ones compare. */
void survivors_look(struct survivors *v)
{
	size_t i;

	if (v->resized)
		target_maps(v->t);
	for (i = 0; i < v->n; i++)
		look_at(v, &v->block[i]);
	v->seen = true;
}

/* Keeps what the last look found, as that of a time that was asked for. */
void survivors_mark(struct survivors *v, u64 seconds)
{
	unsigned int bit = 1U << v->marks.n;
	size_t i;

	for (i = 0; i < v->n; i++) {
		v->block[i].marks_alive |= v->block[i].alive ? bit : 0;
		v->block[i].marks_unchanged |= v->block[i].unchanged ? bit : 0;
	}
	v->marks.seconds[v->marks.n++] = seconds;
}

void survivors_free(struct survivors *v)
{
	if (!v)
		return;
	free(v->block);
	free(v->site);
	free(v);
}
