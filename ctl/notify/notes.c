// SPDX-License-Identifier: GPL-2.0
/* Makes notes of an alert: one for each receiver that is to know of it. */
#include <string.h>
#include "notify/notify.h"

static bool keeps_incidents(const struct receiver *to)
{
	return to->kind == TO_ALERTMANAGER || to->kind == TO_PAGERDUTY;
}

static bool wanted(const struct settings *s, const struct alert *a)
{
	int state = state_from_name(a->state, strlen(a->state));

	return (!s->state_mask || s->state_mask >> state & 1) &&
	       a->confidence >= s->min_confidence && a->severity >= s->min_severity;
}

static void print_note(const struct delivery *d, const struct receiver *to,
		       struct json_object *what)
{
	struct json_object *body = json_object_object_get(what, "body");

	if (to->kind == TO_PAGERDUTY)
		json_object_object_add(body, "routing_key", json_object_new_string("..."));
	if (d->ctx->json) {
		json_object_object_add(what, "receiver", json_object_new_string(to->label));
		out_json(d->ctx, json_object_get(what));
	} else {
		out_printf("%s\n", to->label);
		out_json(d->ctx, json_object_get(body));
	}
}

/* @what: dropped here */
static void put(struct delivery *d, struct receiver *to, const char *name,
		struct json_object *what)
{
	if (d->set->dry_run)
		print_note(d, to, what);
	else
		spool_put(d->spool, to, name, what);
	json_object_put(what);
}

/*
 * The module was loaded again, or the machine has been started: it will not say how older
 * incidents end.
 */
static void forget(struct delivery *d, u64 instance)
{
	struct incidents *open = &d->spool->open;
	struct receiver *to;
	struct json_object *what;
	char name[NOTIFY_NAME_MAX];
	size_t i;

	for (i = 0; i < open->n;) {
		if (open->v[i].instance == instance) {
			i++;
			continue;
		}
		snprintf(name, sizeof(name), "%012llu-%llx-end-%llu", d->spool->arrivals++,
			 open->v[i].instance, open->v[i].pid);
		for (to = d->set->to; to < d->set->to + d->set->n; to++) {
			what = payload_forgotten(to, &open->v[i]);
			if (what)
				put(d, to, name, what);
		}
		incident_drop(open, &open->v[i]);
	}
}

/* Makes the notes of @a, which is completed; state_write() has to follow. */
void deliver_alert(struct delivery *d, const struct alert *a)
{
	struct spool *s = d->spool;
	bool is_wanted = wanted(d->set, a);
	char name[NOTIFY_NAME_MAX];
	struct incident *one;
	struct receiver *to;

	if (a->instance == s->position.instance)
		forget(d, a->instance);
	one = incident_find(&s->open, a);
	if (!one && is_wanted && !a->ends)
		one = incident_open(&s->open, a, s->boot);
	if (one)
		incident_update(one, a);
	snprintf(name, sizeof(name), "%012llu-%llx-%llu", s->arrivals++, a->instance, a->seq);
	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		if (to->kind == TO_NOBODY)
			continue;
		/* an incident that they were told of ends, whatever the filter says */
		if (keeps_incidents(to) ? one && (is_wanted || a->ends) : is_wanted)
			put(d, to, name, payload_note(d->set, to, a, one));
	}
	if (one && a->ends) {
		incident_drop(&s->open, one);
	} else if (one && is_wanted) {
		json_object_put(one->labels);
		one->labels = payload_labels(a);
	}
}

/* Ends the incidents of an earlier boot: their processes are gone. */
void deliver_rebooted(struct delivery *d)
{
	if (!d->spool->rebooted || !d->spool->open.n)
		return;
	forget(d, 0);
	state_write(d->spool, d->set);
}
