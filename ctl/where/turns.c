// SPDX-License-Identifier: GPL-2.0
/*
 * Which process is looked at next. Pure code: it opens no file and reads no clock.
 */
#include <string.h>
#include "where/turns.h"

#define SAME_S		3	/* times of one beginning differ by less */

/* Parses "census", "burst", or one of them with ",PERMILLE". */
bool alerts_parse(const char *text, struct alerts_how *how)
{
	return parse_looks(text, &how->burst, &how->permille);
}

static bool begun_like(const struct turn *t, u64 pid, s64 begun_s)
{
	s64 apart = t->begun_s - begun_s;

	return t->pid == pid && apart > -SAME_S && apart < SAME_S;
}

static bool is_same(const struct turn *t, const struct alert *a)
{
	return begun_like(t, a->pid, a->begun_s);
}

static void drop(struct turns *q, unsigned int i)
{
	q->n--;
	memmove(&q->t[i], &q->t[i + 1], (q->n - i) * sizeof(q->t[0]));
}

/* Makes room: a first look gives way to a second one. Returns false if there is none. */
static bool give_way(struct turns *q, bool second)
{
	unsigned int i = q->n;

	if (q->n < TURNS_MAX)
		return true;
	while (second && i--)
		if (!q->t[i].second) {
			drop(q, i);
			return true;
		}
	return false;
}

static bool is_left_out(const struct turns *q, const struct alert *a)
{
	unsigned int i;

	for (i = 0; i < TURNS_MAX && i < q->outs; i++)
		if (is_same(&q->out[i], a))
			return true;
	return false;
}

/*
 * From now on no alert asks for a look at the process of @t, nor has one: a look was killed, the
 * next would be.
 */
void turns_leave_out(struct turns *q, const struct turn *t)
{
	unsigned int i = q->n;

	q->out[q->outs++ % TURNS_MAX] = *t;
	while (i--)
		if (begun_like(&q->t[i], t->pid, t->begun_s))
			drop(q, i);
}

/*
 * Takes notice of an alert: suspected asks for the first look, confirmed and runaway for the
 * second one, and the end of an alert for none any more. What finds no room is left out.
 */
void turns_alert(struct turns *q, const struct alert *a)
{
	bool first = !strcmp(a->state, "suspected");
	bool second = !strcmp(a->state, "confirmed") || !strcmp(a->state, "runaway");
	unsigned int i = 0;

	while (i < q->n && !is_same(&q->t[i], a))
		i++;
	if (i < q->n) {
		if (a->ends)
			drop(q, i);
		else
			q->t[i].second |= second;
		return;
	}
	if ((first || second) && !is_left_out(q, a) && give_way(q, second))
		q->t[q->n++] = (struct turn){
			.pid = a->pid, .begun_s = a->begun_s, .second = second,
		};
}

/* Takes the next one out: second looks come before first ones. Returns false if there is none. */
bool turns_next(struct turns *q, struct turn *next)
{
	unsigned int i = 0;

	while (i < q->n && !q->t[i].second)
		i++;
	if (!q->n)
		return false;
	if (i == q->n)
		i = 0;
	*next = q->t[i];
	drop(q, i);
	return true;
}
