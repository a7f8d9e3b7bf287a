// SPDX-License-Identifier: GPL-2.0
/* Makes notes of an alert: one for each receiver that is to know of it. */
#include <string.h>
#include "notify/notify.h"

static bool keeps_incidents(const struct receiver *to)
{
	return to->kind == TO_ALERTMANAGER || to->kind == TO_PAGERDUTY;
}

/* Do the options ask for alerts of this kind? */
bool deliver_wanted(const struct settings *s, const struct alert *a)
{
	int state = state_from_name(a->state, strlen(a->state));

	if (a->limit)	/* no state of a leak, no confidence: the policy asks for it */
		return a->severity >= s->min_severity || a->ends;
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
 * A note that has the name of one that waits is dropped, whatever its arrival: an alert that is
 * read twice is told once. @number: with @instance it tells the note from all others
 */
static void name_note(struct delivery *d, char *name, u64 instance, const char *what, u64 number)
{
	snprintf(name, NOTIFY_NAME_MAX, "%012llu-%llx-%s%llu", d->spool->arrivals++, instance, what,
		 number);
}

static void name_incident(struct delivery *d, char *name, const struct incident *one,
			  const char *what)
{
	name_note(d, name, one->instance, what, incident_number(one));
}

/* A limit has nothing to do with a load of the module, only with a boot. */
static bool goes_on(const struct incident *one, u64 instance)
{
	return instance && (one->limit || one->instance == instance);
}

/* Ends an incident for those that keep it, as nobody will say how it ends. */
static void forget(struct delivery *d, struct incident *one)
{
	struct receiver *to;
	struct json_object *what;
	char name[NOTIFY_NAME_MAX];

	name_incident(d, name, one, "end-");
	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		what = payload_forgotten(to, one);
		if (what)
			put(d, to, name, what);
	}
	incident_drop(&d->spool->open, one);
}

/*
 * Makes room for one more incident. To those that keep incidents the one that is forgotten ends;
 * others hear of it again with its next alert.
 */
static void make_room(struct delivery *d)
{
	struct spool *s = d->spool;
	struct incident *one;
	const char *comm;

	while (s->open.n >= INCIDENTS_MAX) {
		one = incident_least_needed(&s->open);
		s->forgotten++;
		comm = quiet_string(one->alert, "comm");
		note(d->ctx, "more than %u incidents are open: forgot the oldest, pid %llu (%s)%s "
		     "(%llu so far)", INCIDENTS_MAX, one->pid, comm ? comm : "?",
		     one->held ? ", with an alert that was held back" : "", s->forgotten);
		forget(d, one);
	}
}

/*
 * The module was loaded again, or the machine has been started: it will not say how older
 * incidents end.
 */
static void end_older_incidents(struct delivery *d, u64 instance)
{
	struct incidents *open = &d->spool->open;
	size_t i;

	for (i = 0; i < open->n;) {
		if (goes_on(&open->v[i], instance))
			i++;
		else
			forget(d, &open->v[i]);
	}
}

/*
 * Writes a note of @a for each receiver that wants it. @one: its incident, or NULL. @quiet: only
 * receivers that keep incidents get one
 */
static void make_notes(struct delivery *d, const struct alert *a, struct incident *one, bool quiet)
{
	bool is_wanted = deliver_wanted(d->set, a);
	char name[NOTIFY_NAME_MAX];
	struct receiver *to;

	/* Events of limits have no number. */
	if (a->limit)
		name_note(d, name, a->instance, "limit-",
			  incident_hash(quiet_string(a->o, "id")));
	else
		name_note(d, name, a->instance, "", a->seq);
	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		if (to->kind == TO_NOBODY)
			continue;
		/* an incident that they were told of ends, whatever the filter says */
		if (keeps_incidents(to) ? one && (is_wanted || a->ends) : is_wanted && !quiet)
			put(d, to, name, payload_note(d->set, to, a, one));
	}
	if (one && is_wanted && !a->ends) {
		json_object_put(one->labels);
		one->labels = payload_labels(a);
		one->told = state_from_name(a->state, strlen(a->state));
	}
}

/* Writes no notes about the end of an incident if none were written about its beginning. */
static void deliver_end_of(struct delivery *d, const struct alert *a, struct incident *one,
			   enum hold why)
{
	bool silent = why == HOLD_SILENCED || (one && !one->labels);

	if (silent) {
		note(d->ctx, "#%llu: %s, %s", a->seq, a->state,
		     one && !one->labels ? "nobody was told of it" : d->why);
		d->held++;
	}
	if (one)
		incident_update(one, a);
	if (!silent || (one && one->labels))
		make_notes(d, a, one, silent);
	if (one)
		incident_drop(&d->spool->open, one);
}

/* Makes the notes of @a, which is completed; state_write() has to follow. */
void deliver_alert(struct delivery *d, const struct alert *a)
{
	struct spool *s = d->spool;
	struct incident *one;
	enum hold why;

	if (!a->limit && a->instance == s->position.instance)
		end_older_incidents(d, a->instance);
	hold_look(d);
	one = incident_find(&s->open, a);
	why = hold_verdict(d, a, one);
	if (a->ends) {
		deliver_end_of(d, a, one, why);
		return;
	}
	if (!one && deliver_wanted(d->set, a)) {
		make_room(d);
		one = incident_open(&s->open, a, s->boot);
	}
	if (one && why != HOLD_NOT && deliver_wanted(d->set, a)) {
		hold_back(d, a, one, why);
		return;
	}
	/* What the options do not ask for is held on: its figures may come to be wanted. */
	if (one && one->held && !deliver_wanted(d->set, a))
		incident_hold(one, a, true);
	else if (one)
		deliver_made(d, a, one);
	else
		make_notes(d, a, NULL, false);
}

/* Tells of an alert that goes on; what was held back before it is out of date. */
void deliver_made(struct delivery *d, const struct alert *a, struct incident *one)
{
	incident_hold(one, a, false);
	make_notes(d, a, one, false);
}

/* Tells those that have a word for it that somebody sees to an incident. */
void deliver_acked(struct delivery *d, struct incident *one)
{
	struct json_object *what;
	char name[NOTIFY_NAME_MAX];
	struct receiver *to;

	name_incident(d, name, one, "ack-");
	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		what = payload_acked(to, one);
		if (what)
			put(d, to, name, what);
	}
}

/* Ends the incidents of an earlier boot: their processes are gone. */
void deliver_rebooted(struct delivery *d)
{
	if (!d->spool->rebooted || !d->spool->open.n)
		return;
	end_older_incidents(d, 0);
	state_write(d->spool, d->set);
}
