// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of policies: measures what they are about, and makes an alert of its own kind of each
 * that comes near its limit, exceeds it or leaves it. Such an alert is no leak; it has an incident
 * like others, which is in the file of the state, so that a new run tells nothing twice.
 */
#include <string.h>
#include "notify/notify.h"

#define NEAR_SEVERITY		4
#define EXCEEDED_SEVERITY	8

static const char *const states[] = { "limit_ended", "limit_near", "limit_exceeded" };
static const u64 severities[] = { 1, NEAR_SEVERITY, EXCEEDED_SEVERITY };

static enum policy_level level_of(const struct incident *one)
{
	const char *state = one ? quiet_string(one->alert, "state") : NULL;

	return !state ? LIMIT_BELOW : !strcmp(state, states[LIMIT_EXCEEDED]) ? LIMIT_EXCEEDED :
	       LIMIT_NEAR;
}

static void add(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, s ? json_text(s, strlen(s)) : NULL);
}

static void add_number(struct json_object *o, const char *key, bool known, u64 v)
{
	json_object_object_add(o, key, known ? json_object_new_uint64(v) : NULL);
}

static void add_time(struct json_object *o, u64 now)
{
	add_number(o, "time_ns", true, now);
	json_add_utc_of(o, "time_ns");
}

/*
 * "unit nginx.service"; of a policy with a pattern "unit nginx.service (*.service)": another policy
 * with a limit of its own may fit the same unit. Of a name it is the policy's own, whatever
 * processes there are: else a user could make any number of them.
 */
static void key_of(const struct policy_row *row, char *buf, size_t size)
{
	const char *value, *kind = policy_subject(row->policy, &value);
	const char *name = row->start ? value : row->name;
	char safe[4 * QUIET_TEXT + 1];

	snprintf(buf, size, "%s %s", kind, fmt_safe(safe, sizeof(safe), name, strlen(name)));
	if (strcmp(name, value))
		sentence_append(buf, size, " (%s)",
				fmt_safe(safe, sizeof(safe), value, strlen(value)));
}

/* "unit nginx.service uses 90 MB of its limit of 100 MB" */
static void sentence(const struct policy_row *row, u64 limit, u64 left, char *buf, size_t size)
{
	const char *value, *kind = policy_subject(row->policy, &value);
	const struct policy_use *use = &row->use;
	char one[FIGURE_MAX], other[FIGURE_MAX];

	if (row->start)
		snprintf(buf, size, "pid %llu (%s)", use->pid, row->name);
	else
		snprintf(buf, size, "%s %s", kind, row->name);
	sentence_append(buf, size, " uses %s of its limit of %s",
			fmt_bytes(one, sizeof(one), use->bytes),
			fmt_bytes(other, sizeof(other), limit));
	if (use->has_growth)
		sentence_append(buf, size, ", %s", fmt_growth(one, sizeof(one), use->growth));
	if (left && left != UINT64_MAX)
		sentence_append(buf, size, ", %s left", fmt_seconds(one, sizeof(one), left));
	if (!row->start)
		sentence_append(buf, size, ", %llu processes, the largest is pid %llu (%s)",
				use->processes, use->pid, use->comm);
}

/*
 * An event has the same id when it is told again because a run was killed before it had written the
 * state: its note is dropped if the other still waits, and else a receiver can see what it is. A
 * look at limits tells of each of them once.
 */
static void add_id(const struct delivery *d, struct json_object *o, const char *key,
		   enum policy_level level)
{
	char id[128];

	snprintf(id, sizeof(id), "%s/limit/%llu/%016llx/%s", d->spool->boot, d->spool->limits,
		 incident_hash(key), states[level] + strlen("limit_"));
	add(o, "id", id);
}

static struct json_object *event(const struct delivery *d, const char *key,
				 enum policy_level level, enum policy_level before)
{
	struct json_object *o = json_object_new_object();

	add_id(d, o, key, level);
	add_number(o, "seq", true, 0);
	add_number(o, "instance", true, 0);
	add_time(o, clock_real_ns());
	add(o, "subject", "limit");
	add(o, "limit_of", key);
	add(o, "state", states[level]);
	add(o, "prev_state", before ? states[before] : NULL);
	add_number(o, "severity", true, severities[level]);
	return o;
}

/* Adds what was measured. */
static void add_use(struct json_object *o, const struct policy_row *row)
{
	u64 limit = quiet_number(row->policy, "limit_bytes", 0);
	u64 left = policy_left_s(limit, &row->use);
	const char *value, *kind = policy_subject(row->policy, &value);
	char text[SENTENCE_MAX];

	add_number(o, "pid", true, row->use.pid);
	add(o, "comm", row->use.comm);
	add(o, "unit", !strcmp(kind, "unit") ? row->name : row->unit);
	add(o, "cgroup", !strcmp(kind, "cgroup") ? row->name : row->cgroup);
	add_number(o, "limit_bytes", true, limit);
	add_number(o, "memory_bytes", true, row->use.bytes);
	add_number(o, "processes", true, row->use.processes);
	json_object_object_add(o, "growth_bytes_per_hour", row->use.has_growth ?
			       json_object_new_int64(row->use.growth) : NULL);
	add_number(o, "tte_seconds", left != UINT64_MAX, left);
	snprintf(text, sizeof(text), "%s: ", quiet_string(o, "state"));
	sentence(row, limit, left, text + strlen(text), sizeof(text) - strlen(text));
	add(o, "text", text);
}

/* @o: dropped here */
static void tell(struct delivery *d, struct json_object *o)
{
	struct alert a;

	alert_of(o, &a);
	alert_complete(&a, d->spool->boot, NULL);
	deliver_alert(d, &a);
	alert_free(&a);
}

static struct incident *find(struct incidents *i, const char *key)
{
	struct incident *one;

	for (one = i->v; one < i->v + i->n; one++)
		if (one->limit && !strcmp(one->limit, key))
			return one;
	return NULL;
}

/*
 * Does the growth tell of all? After a load the module measures one process after the other: until
 * those that it has measured have nine tenths of the memory, the sum is of a part. The rest may be
 * children that never live as long as a measurement takes.
 */
static bool is_whole(const struct policy_use *use)
{
	return use->has_growth && use->measured >= use->bytes - use->bytes / 10;
}

/* A limit that growth made near stays so while the growth is not known: after a new load. */
static bool is_near_still(const struct incident *one, const struct policy_row *row)
{
	struct json_object *growth = one ? json_object_object_get(one->alert,
								  "growth_bytes_per_hour") : NULL;

	return level_of(one) == LIMIT_NEAR && !is_whole(&row->use) &&
	       json_object_get_int64(growth) > 0 &&
	       row->use.bytes >= quiet_number(row->policy, "limit_bytes", 0) / 2;
}

static bool look_at(struct delivery *d, const struct policy_row *row)
{
	const struct incident *one;
	struct json_object *o;
	enum policy_level level, before;
	char key[LIMIT_KEY_MAX];

	key_of(row, key, sizeof(key));
	one = find(&d->spool->open, key);
	before = level_of(one);
	level = policy_level(quiet_number(row->policy, "limit_bytes", 0), &row->use, before);
	if (level == LIMIT_BELOW && is_near_still(one, row))
		level = before;
	/* one that is not wanted has no incident: it would be told anew at each look */
	if (level == before || (!one && severities[level] < d->set->min_severity))
		return false;
	o = event(d, key, level, before);
	add_use(o, row);
	tell(d, o);
	return true;
}

/* Its processes have ended, or the policy has. */
static bool is_over(const struct policy_rows *rows, const struct incident *one)
{
	char key[LIMIT_KEY_MAX];
	size_t i;

	for (i = 0; i < rows->n; i++) {
		key_of(&rows->v[i], key, sizeof(key));
		if (!strcmp(key, one->limit))
			return false;
	}
	return true;
}

static void end(struct delivery *d, const struct incident *one)
{
	struct json_object *o = event(d, one->limit, LIMIT_BELOW, level_of(one));
	static const char *const keys[] = { "pid", "comm", "unit", "cgroup" };
	char text[LIMIT_KEY_MAX + TEXT_MAX];
	struct json_object *v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		v = json_object_object_get(one->alert, keys[i]);
		json_object_object_add(o, keys[i], json_object_get(v));
	}
	snprintf(text, sizeof(text), "%s: %s: no process has this limit any more",
		 states[LIMIT_BELOW], one->limit);
	add(o, "text", text);
	tell(d, o);
}

/* Tells what has changed since the last call. Returns whether anything has. */
bool limits_look(struct delivery *d)
{
	struct incidents *open = &d->spool->open;
	struct policy_rows rows;
	bool any = false;
	size_t i;

	hold_look(d);
	if (*d->quiet.policies.err)
		return false;	/* a file that is being mended ends nothing */
	if (!policy_measure(&d->quiet.policies, d->ask_module, &rows)) {
		policy_rows_free(&rows);
		return false;	/* what is not seen has not ended */
	}
	for (i = open->n; i--;) {
		if (!open->v[i].limit || !is_over(&rows, &open->v[i]))
			continue;
		end(d, &open->v[i]);
		any = true;
	}
	for (i = 0; i < rows.n; i++)
		any |= look_at(d, &rows.v[i]);
	policy_rows_free(&rows);
	d->spool->limits += any;
	return any;
}
