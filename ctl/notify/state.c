// SPDX-License-Identifier: GPL-2.0
/* The file state.json: position, open incidents, counts. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "notify/notify.h"

#define STATE		"state.json"

static bool in_memory(const struct settings *set)
{
	const struct receiver *to;
	const struct note *n;

	for (to = set->to; to < set->to + set->n; to++)
		for (n = to->first; n; n = n->next)
			if (n->text)
				return true;
	return false;
}

static struct load *find_load(struct spool *s, u64 instance)
{
	size_t i;

	if (s->position.instance == instance)
		return &s->position;
	for (i = 0; i < s->n_past; i++)
		if (s->past[i].instance == instance)
			return &s->past[i];
	return NULL;
}

static void add_past(struct spool *s, u64 instance, u64 next)
{
	if (!instance)
		return;
	if (s->n_past == LOADS_MAX)
		memmove(s->past, s->past + 1, --s->n_past * sizeof(*s->past));
	s->past[s->n_past++] = (struct load){ .instance = instance, .next = next };
}

/*
 * Is the alert new? Alerts of a load before may still come after the first one of a new load, and a
 * file may have those of several loads. Marks it as read.
 */
bool state_take(struct spool *s, const struct alert *a)
{
	struct load *load = find_load(s, a->instance);

	if (!load) {
		add_past(s, s->position.instance, s->position.next);
		s->position = (struct load){ .instance = a->instance, .next = 1 };
		load = &s->position;
	}
	if (a->seq < load->next)
		return false;
	load->next = a->seq + 1;
	return true;
}

static struct json_object *past_json(const struct spool *s)
{
	struct json_object *list = json_object_new_array(), *o;
	size_t i;

	for (i = 0; i < s->n_past; i++) {
		o = json_object_new_object();
		json_object_object_add(o, "instance", json_object_new_uint64(s->past[i].instance));
		json_object_object_add(o, "next", json_object_new_uint64(s->past[i].next));
		json_object_array_add(list, o);
	}
	return list;
}

/*
 * Writes the position, the incidents and the counts. Notes come before: spool_put(). While
 * one of them is in memory only, the file stays as it is.
 */
void state_write(struct spool *s, struct settings *set)
{
	struct json_object *o, *counts;
	const struct receiver *to;
	const char *text;
	int err;

	if (in_memory(set))
		return;
	o = json_object_new_object();
	counts = json_object_new_object();
	json_object_object_add(o, "boot_id", json_object_new_string(s->boot));
	json_object_object_add(o, "instance", json_object_new_uint64(s->position.instance));
	json_object_object_add(o, "next", json_object_new_uint64(s->position.next));
	json_object_object_add(o, "past", past_json(s));
	json_object_object_add(o, "arrivals", json_object_new_uint64(s->arrivals));
	json_object_object_add(o, "limits", json_object_new_uint64(s->limits));
	json_object_object_add(o, "lost", json_object_new_uint64(s->lost));
	json_object_object_add(o, "forgotten", json_object_new_uint64(s->forgotten));
	for (to = set->to; to < set->to + set->n; to++) {
		struct json_object *c = json_object_new_object();

		json_object_object_add(c, "receiver", json_object_new_string(to->label));
		json_object_object_add(c, "taken", json_object_new_uint64(to->taken));
		json_object_object_add(c, "refused", json_object_new_uint64(to->refused));
		json_object_object_add(c, "dropped", json_object_new_uint64(to->dropped));
		json_object_object_add(counts, to->dir, c);
	}
	json_object_object_add(o, "receivers", counts);
	json_object_object_add(o, "open", incidents_json(&s->open));
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE);
	err = disk_write(s->dir, STATE, text, strlen(text), 0600);
	if (!err && fsync(s->dir))
		err = errno;
	if (err)
		disk_complain(s, STATE, err);
	else
		s->complained = false;
	json_object_put(o);
}

static void read_counts(struct json_object *counts, struct settings *set)
{
	struct receiver *to;

	for (to = set->to; to < set->to + set->n; to++) {
		struct json_object *c = json_object_object_get(counts, to->dir);

		to->taken = quiet_number(c, "taken", 0);
		to->refused = quiet_number(c, "refused", 0);
		to->dropped = quiet_number(c, "dropped", 0);
	}
}

static void read_past(struct spool *s, struct json_object *list)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	struct json_object *o;
	size_t i;

	for (i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		add_past(s, quiet_number(o, "instance", 0), quiet_number(o, "next", 1));
	}
}

/*
 * Reads what the last run has left. Nothing is no error, nor is what is damaged. What cannot be
 * read now is one: to begin anew would send everything again. Returns an exit status.
 */
int state_read(struct spool *s, struct settings *set)
{
	struct json_object *o = disk_read(s->dir, STATE);
	const char *boot;

	if (!o && errno != EBADMSG)
		return errno == ENOENT ? 0 : fail(s->ctx, "%s/" STATE ": %s", set->state_dir,
						  strerror(errno));
	if (!o) {
		note(s->ctx, "%s/" STATE ": damaged, begun anew", set->state_dir);
		s->limits = clock_real_ns();	/* no number that there was before */
		return 0;
	}
	boot = quiet_string(o, "boot_id");
	s->rebooted = boot && strcmp(boot, s->boot);
	s->arrivals = quiet_number(o, "arrivals", 0);
	s->limits = quiet_number(o, "limits", clock_real_ns());
	s->lost = quiet_number(o, "lost", 0);
	s->forgotten = quiet_number(o, "forgotten", 0);
	s->position.instance = quiet_number(o, "instance", 0);
	s->position.next = quiet_number(o, "next", 0);
	read_past(s, json_object_object_get(o, "past"));
	read_counts(json_object_object_get(o, "receivers"), set);
	incidents_read(&s->open, json_object_object_get(o, "open"));
	json_object_put(o);
	return 0;
}
