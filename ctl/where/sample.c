// SPDX-License-Identifier: GPL-2.0
/*
 * The samples of a burst, round by round. Each round brings a few random calls, which say how
 * many blocks of a site stay, and the latest calls by address, among which is what stays. Of the
 * latter those are dropped that are freed by the next round.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
#include "where/burst.h"

/* A random number below @n; 0 if that is 0 */
u64 samples_random(u64 n)
{
	u64 v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = clock_ns();
	return n ? v % n : 0;
}

static int by_time(const void *x, const void *y)
{
	const struct seepage_where_sample *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->set < b->set ? -1 : a->set > b->set;
}

/* The block that the call resized; 0: none, it is a new one */
static u64 old_block(const struct probes *p, const struct seepage_where_sample *s)
{
#ifdef __x86_64__
	const unsigned int argument = 5;
#else
	const unsigned int argument = 0;
#endif
	return p->p[s->probe].kind == SEEPAGE_WHERE_REALLOC ? s->regs[argument] : 0;
}

/* A call of both sets is kept once. What realloc() resized is no new block to draw lots for. */
static bool is_wanted(const struct probes *p, const struct seepage_where_sample *s,
		      const struct seepage_where_sample *before)
{
	if (!s->addr || s->stack_bytes > SEEPAGE_WHERE_STACK || s->probe >= p->n)
		return false;
	if (s->set)
		return !before || before->ns != s->ns || before->addr != s->addr;
	return !old_block(p, s);
}

/*
 * What python executes is read from the process, too, so that the stacks of its samples are
 * unwound soon. That takes longer than to read their blocks, which comes first: a block that is
 * freed before it was read may look as if it stays.
 */
void samples_unwind(struct burst *b, size_t had)
{
	size_t i;

	if (!unwinder_python(b->u))
		return;
	b->stack = must(realloc(b->stack, (b->n + 1) * sizeof(*b->stack)));
	for (i = had; i < b->n; i++)
		b->stack[i].n = unwind(b->u, &b->s[i], b->stack[i].frame);
}

/**
 * samples_read() - add the samples of a round
 * @fd: the device; the round has ended
 * @p: its probes
 * @most: number of samples, at most
 * @b: to add to
 */
void samples_read(int fd, const struct probes *p, size_t most, struct burst *b)
{
	size_t had = b->n, bytes = most * sizeof(*b->s), at = 0, i;
	ssize_t n;

	b->s = must(realloc(b->s, (had + most) * sizeof(*b->s)));
	b->early = must(realloc(b->early, (had + most) * sizeof(*b->early)));
	while (at < bytes && (n = read(fd, (char *)(b->s + had) + at, bytes - at)) > 0)
		at += (size_t)n;
	most = at / sizeof(*b->s);
	if (most)
		qsort(b->s + had, most, sizeof(*b->s), by_time);
	for (i = 0; i < most; i++)
		if (is_wanted(p, &b->s[had + i], b->n > had ? &b->s[b->n - 1] : NULL))
			b->s[b->n++] = b->s[had + i];
}

/*
 * Reads the blocks of a round. A leak that takes up places which others free takes them soon:
 * at the end of the burst all of them may hold blocks that stay.
 */
void samples_read_blocks(struct target *t, const struct bins *bins, struct burst *b, size_t had)
{
	size_t i;

	for (i = had; i < b->n; i++) {
		struct early *e = &b->early[i];

		e->round = b->rounds;
		/* The probe of pymalloc does not have the size. */
		if (bins->pool_block)
			b->s[i].size = bins->pool_block;
		e->bytes = (unsigned int)(b->s[i].size < BLOCK_KEEP ? b->s[i].size : BLOCK_KEEP);
		if (!target_read(t, b->s[i].addr, e->data, e->bytes))
			e->bytes = 0;
	}
}

static bool stays(struct target *t, const struct bins *bins, const struct burst *b, size_t i)
{
	struct early now;
	u64 head;

	return block_read(t, bins, b->s[i].addr, b->s[i].size, &head, &now) &&
	       !block_is_linked(bins, &b->early[i], &now) && block_is_same(&b->early[i], &now);
}

static void move(struct burst *b, size_t i, size_t *n)
{
	if (*n != i) {
		b->s[*n] = b->s[i];
		b->early[*n] = b->early[i];
		if (b->stack)
			b->stack[*n] = b->stack[i];
	}
	(*n)++;
}

/**
 * samples_thin() - drop the blocks of the second set that were freed, or are too many
 * @t: the process
 * @bins: keys of free blocks
 * @b: the samples
 * @most: how many of that set may stay; which ones is left to chance
 *
 * What realloc() resized is kept: it moves.
 *
 * Return: how many blocks of both sets stay so far.
 */
size_t samples_thin(struct target *t, const struct bins *bins, struct burst *b, size_t most)
{
	size_t n = 0, i, alive = 0, of = 0, left = 0;
	bool *keep = must(calloc(b->n + 1, sizeof(*keep)));

	for (i = 0; i < b->n; i++) {
		keep[i] = b->s[i].resized || stays(t, bins, b, i);
		alive += keep[i];
		of += keep[i] && b->s[i].set;
	}
	left = of < most ? of : most;
	for (i = 0; i < b->n; i++) {
		if (b->s[i].set && keep[i]) {
			/* left of the of that are still to come */
			keep[i] = samples_random(of) < left;
			left -= keep[i];
			of--;
		} else {
			keep[i] = !b->s[i].set;
		}
		if (keep[i])
			move(b, i, &n);
	}
	b->n = n;
	free(keep);
	return alive;
}
