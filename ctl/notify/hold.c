// SPDX-License-Identifier: GPL-2.0
/*
 * Silences, policies and acknowledgments. An alert that is held back stays with its incident, on
 * disk with the state: it is told when nothing holds it back any more and the incident has not
 * ended.
 */
#include <string.h>
#include "notify/notify.h"

static int rank(const struct json_object *o)
{
	const char *state = o ? quiet_string(o, "state") : NULL;

	return state ? state_from_name(state, strlen(state)) : -1;
}

static void subject_of(const struct json_object *o, struct quiet_subject *s)
{
	struct json_object *of_user = json_object_object_get(o, "unit_uid");

	memset(s, 0, sizeof(*s));
	s->comm = quiet_string(o, "comm");
	s->unit = quiet_string(o, "unit");
	s->cgroup = quiet_string(o, "cgroup");
	s->unit_uid = json_object_is_type(of_user, json_type_int) ?
		      json_object_get_int64(of_user) : -1;
	s->uid = quiet_number(o, "uid", UINT64_MAX);
	s->has_uid = s->uid != UINT64_MAX;
	s->cgroup_id = quiet_number(o, "cgroup_id", 0);
}

static void subject_of_alert(const struct alert *a, struct quiet_subject *s)
{
	subject_of(a->o, s);
	s->instance = a->instance;
	s->pid = a->pid;
	s->begun_s = a->begun_s;
	s->of_group = a->of_group;
	if (!a->limit)
		return;
	if (alert_of_name(a)) {
		s->unit = NULL;		/* of the largest process, another one next time */
		s->cgroup = NULL;
	} else {
		s->comm = NULL;		/* likewise */
	}
}

static void subject_of_incident(const struct incident *one, struct quiet_subject *s)
{
	subject_of(one->alert, s);
	s->instance = one->instance;
	s->pid = one->pid;
	s->begun_s = one->begun_s;
	s->of_group = one->of_group;
}

/* Reads the files again if they have changed, and says so if that fails. */
void hold_look(struct delivery *d)
{
	bool changed = quiet_look(&d->quiet);

	d->changed |= changed;
	if (changed && *d->quiet.err)
		note(d->ctx, "%s: nothing is held back", d->quiet.err);
	if (changed && *d->quiet.policies.err)
		note(d->ctx, "%s: no policy is followed", d->quiet.policies.err);
}

static bool was_told(const struct incident *one)
{
	return one && one->labels;
}

/* Adds what was said, and by which user. */
static void add_ack(struct json_object *o, const struct json_object *ack)
{
	json_object_object_add(o, "ack", json_object_get(json_object_object_get(ack, "text")));
	json_object_object_add(o, "ack_by", json_object_get(json_object_object_get(ack, "by")));
}

/* Is there a policy of which @a has not reached a threshold? Says so in d->why. */
static bool is_below_threshold(struct delivery *d, const struct alert *a,
			       const struct quiet_subject *s)
{
	struct json_object *growth = json_object_object_get(a->o, "growth_bytes_per_hour");
	struct policy_figures f = { .state = rank(a->o), .confidence = a->confidence };

	f.has_growth = json_object_is_type(growth, json_type_int);
	f.growth = json_object_get_int64(growth);
	return policies_holding(&d->quiet.policies, s, &f, d->why, sizeof(d->why));
}

/*
 * What is to become of @a? @one: its incident, or NULL. HOLD_ACKED: it is no worse than what was
 * acknowledged, and no worse than what receivers were told
 */
enum hold hold_verdict(struct delivery *d, const struct alert *a, const struct incident *one)
{
	struct json_object *silence, *ack;
	struct quiet_subject s;
	int known;

	subject_of_alert(a, &s);
	if (one)
		s.begun_s = one->begun_s;
	ack = quiet_ack(&d->quiet, &s);
	if (ack)
		add_ack(a->o, ack);
	silence = quiet_silence(&d->quiet, &s, clock_real_ns());
	/* "ignore its leaks, but tell of its limit" */
	if (silence && !(a->limit && silence == policies_ignoring(&d->quiet.policies, &s))) {
		snprintf(d->why, sizeof(d->why), "silenced ");
		quiet_silence_text(silence, d->why + strlen(d->why),
				   sizeof(d->why) - strlen(d->why));
		return HOLD_SILENCED;
	}
	if (!a->limit && !a->ends && !was_told(one) && is_below_threshold(d, a, &s))
		return HOLD_POLICY;
	if (!ack)
		return HOLD_NOT;
	known = rank(json_object_object_get(ack, "alert"));
	if (one && one->told > known)
		known = one->told;
	if (rank(a->o) > known)
		return HOLD_NOT;
	snprintf(d->why, sizeof(d->why), "acknowledged ");
	quiet_ack_text(ack, d->why + strlen(d->why), sizeof(d->why) - strlen(d->why));
	return HOLD_ACKED;
}

/*
 * Holds @a back, which goes on. Receivers that know of an acknowledged alert need not be told
 * again later.
 */
void hold_back(struct delivery *d, const struct alert *a, struct incident *one, enum hold why)
{
	note(d->ctx, "#%llu: held back, %s", a->seq, d->why);
	d->held++;
	incident_hold(one, a, why != HOLD_ACKED || !was_told(one));
}

/*
 * Looks for an acknowledgment of an incident and keeps what was said with it. Returns whether
 * there is one.
 */
bool hold_acked(const struct delivery *d, struct incident *one)
{
	struct json_object *ack;
	struct quiet_subject s;

	subject_of_incident(one, &s);
	ack = quiet_ack(&d->quiet, &s);
	if (ack) {
		add_ack(one->alert, ack);
	} else {
		json_object_object_del(one->alert, "ack");
		json_object_object_del(one->alert, "ack_by");
	}
	return ack;
}
