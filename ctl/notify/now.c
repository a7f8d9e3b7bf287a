// SPDX-License-Identifier: GPL-2.0
/*
 * The figures of alerts that a policy holds back. The module tells of a change of state only: the
 * confidence and the growth of a process may reach a threshold without another alert.
 */
#include <stdlib.h>
#include "notify/notify.h"

#define NOW_MS		5000
#define START_SLACK_S	5
#define PIDS_MOST	16	/* of a group that are asked for, one after the other */

/*
 * Of a group, the process that was its oldest may have ended since the last answer: others of it
 * are asked for then.
 */
static int ask_group(struct knl *k, const struct incident *one, struct nlmsghdr **nlh)
{
	size_t n = one->pids ? json_object_array_length(one->pids) : 0, i;
	int err = query_group(k, (u32)quiet_number(one->held, "pid", one->pid), nlh);
	struct json_object *pid;

	for (i = 0; err < 0 && i < n && i < PIDS_MOST; i++) {
		pid = json_object_array_get_idx(one->pids, i);
		err = query_group(k, (u32)json_object_get_int64(pid), nlh);
	}
	return err;
}

static int ask(struct knl *k, const struct incident *one, struct nlmsghdr **nlh)
{
	return one->of_group ? ask_group(k, one, nlh) : query_process(k, (u32)one->pid, nlh);
}

/*
 * Is @now still about the process of the incident? A group has the age of its oldest process, and
 * the pid that was asked for may be of a process of another group by now.
 */
static bool is_same(const struct incident *one, const struct message *msg,
		    const struct json_object *now)
{
	s64 begun = (s64)(clock_real_ns() / QUIET_NS) - (s64)msg_get(msg, SEEPAGE_A_AGE_SECONDS, 0);

	if (one->of_group)
		return incident_is_of_group(one, now);
	return begun <= one->begun_s + 2 * START_SLACK_S &&
	       begun >= one->begun_s - 2 * START_SLACK_S;
}

/*
 * Copies figures into the alert that is held. A figure that the module no longer has becomes null,
 * as tte_seconds does without growth. The pid of a group is that of its oldest process.
 */
static void take_over(struct delivery *d, struct incident *one, const struct message *msg)
{
	static const char *const keys[] = { "confidence", "growth_bytes_per_hour", "rss_bytes",
					    "tte_seconds", "pid" };
	struct place p = { 0 };
	struct json_object *now = json_process(msg, &p), *v;
	bool same = is_same(one, msg, now);
	struct alert a;
	size_t i;

	for (i = 0; same && i < ARRAY_SIZE(keys); i++)
		if (json_object_object_get_ex(now, keys[i], &v))
			json_object_object_add(one->held, keys[i], json_object_get(v));
	if (same && one->of_group) {
		json_object_put(one->pids);
		one->pids = json_object_get(json_object_object_get(now, "pids"));
	}
	json_object_put(now);
	alert_of(one->held, &a);
	alert_complete(&a, d->spool->boot, one);
}

static bool asks_for(const struct incident *one)
{
	return one->held && !one->limit;
}

/* Asks the module for what is held back, unless that was done a moment ago. */
void now_refresh(struct delivery *d)
{
	struct incidents *open = &d->spool->open;
	struct nlmsghdr *nlh;
	struct message msg;
	struct knl k;
	size_t i;

	for (i = 0; i < open->n && !asks_for(&open->v[i]); i++)
		;
	if (!d->ask_module || i == open->n || clock_ms() < d->now_ms)
		return;
	d->now_ms = clock_ms() + NOW_MS;
	if (knl_open(&k) < 0)
		return;
	for (; knl_resolve(&k) >= 0 && i < open->n; i++) {
		nlh = NULL;
		if (asks_for(&open->v[i]) && ask(&k, &open->v[i], &nlh) >= 0 &&
		    !msg_parse(&msg, nlh))
			take_over(d, &open->v[i], &msg);
		free(nlh);
	}
	knl_close(&k);
}
