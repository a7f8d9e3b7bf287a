// SPDX-License-Identifier: GPL-2.0
/* Tells receivers what nothing holds back any more, and what was acknowledged. */
#include "notify/notify.h"

/*
 * Tells of incidents that nothing holds back any more. What the options do not ask for is held
 * on: its figures may come to be wanted. Returns whether there was one.
 */
bool release_held(struct delivery *d)
{
	struct incidents *open = &d->spool->open;
	struct json_object *held;
	bool any = false;
	struct alert a;
	size_t i;

	now_refresh(d);
	for (i = 0; i < open->n; i++) {
		if (!open->v[i].held)
			continue;
		alert_of(open->v[i].held, &a);
		if (hold_verdict(d, &a, &open->v[i]) != HOLD_NOT || !deliver_wanted(d->set, &a))
			continue;
		note(d->ctx, "#%llu: nothing holds it back any more", a.seq);
		/* It may be known by now where it leaks. */
		if (!a.limit)
			alert_complete(&a, d->spool->boot, &open->v[i]);
		held = open->v[i].held;
		open->v[i].held = NULL;
		deliver_made(d, &a, &open->v[i]);
		json_object_put(held);
		any = true;
	}
	return any;
}

/*
 * Marks incidents that receivers were told of and that are silenced by now: they are told again
 * when the silence ends and the incident has not. Alertmanager and PagerDuty show that it goes on,
 * others had an alert before the silence only. Returns whether there was one.
 */
bool release_later(struct delivery *d)
{
	struct incidents *open = &d->spool->open;
	struct incident *one;
	bool any = false;
	struct alert a;

	for (one = open->v; one < open->v + open->n; one++) {
		if (one->held || !one->last || !one->labels)
			continue;
		alert_of(one->last, &a);
		if (hold_verdict(d, &a, one) != HOLD_SILENCED)
			continue;
		note(d->ctx, "#%llu: %s: told again when that ends", a.seq, d->why);
		one->held = json_object_get(one->last);
		any = true;
	}
	return any;
}

/*
 * Tells receivers that keep incidents which of them were acknowledged since the last call. Returns
 * whether there was one.
 */
bool release_acks(struct delivery *d)
{
	struct incidents *open = &d->spool->open;
	struct incident *one;
	bool any = false, acked;

	for (one = open->v; one < open->v + open->n; one++) {
		acked = hold_acked(d, one);
		if (acked && !one->acked && one->labels) {
			deliver_acked(d, one);
			any = true;
		}
		one->acked = acked;
	}
	return any;
}
