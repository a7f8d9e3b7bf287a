// SPDX-License-Identifier: GPL-2.0
/*
 * Floors of processes. Only the answer for a single process has them, so they are kept.
 */
#include <stdlib.h>
#include "top/top.h"

#define ENOUGH	4U	/* floors that make a picture */

struct floors {
	struct floors *next;
	u32 pid;
	u64 asked_ms;
	unsigned int n;
	u64 minima[MINIMA_MAX];
};

static struct floors *find(const struct floors *f, u32 pid)
{
	while (f && f->pid != pid)
		f = f->next;
	return (struct floors *)f;
}

/* The level that covers the longest time, if it has enough floors */
static const struct level *choose(const struct level *l, unsigned int n)
{
	while (n > 1 && l[n - 1].n < ENOUGH)
		n--;
	return n ? &l[n - 1] : NULL;
}

/* @msg: NULL: it was asked for in vain */
void floors_put(struct floors **f, u32 pid, const struct message *msg, u64 now_ms)
{
	struct floors *one = find(*f, pid);
	struct level l[MSG_LIST_MAX];
	unsigned int n = msg ? msg_levels(msg, l) : 0, i;
	const struct level *best = choose(l, n);

	if (!one) {
		one = must(calloc(1, sizeof(*one)));
		one->pid = pid;
		one->next = *f;
		*f = one;
	}
	one->asked_ms = now_ms;
	one->n = best ? best->n : 0;
	for (i = 0; i < one->n; i++)
		one->minima[i] = best->minima[i];
}

/* Are the floors of @pid unknown, or older than @again_ms? */
bool floors_wanted(const struct floors *f, u32 pid, u64 now_ms, u64 again_ms)
{
	const struct floors *one = find(f, pid);

	return !one || now_ms - one->asked_ms >= again_ms;
}

/* @buf: out, SPARK_MAX bytes; empty if the floors are not known */
char *floors_spark(const struct floors *f, u32 pid, unsigned int columns, bool utf8, char *buf)
{
	const struct floors *one = find(f, pid);

	*buf = '\0';
	/* one column for each floor, so that equal lengths mean equal times */
	if (one && one->n)
		spark(buf, one->minima, one->n, columns < one->n ? columns : one->n, utf8);
	return buf;
}

/* Forgets floors that were last asked for before @before_ms; UINT64_MAX: all. */
void floors_forget(struct floors **f, u64 before_ms)
{
	struct floors *one;

	while ((one = *f)) {
		if (one->asked_ms >= before_ms) {
			f = &one->next;
			continue;
		}
		*f = one->next;
		free(one);
	}
}
