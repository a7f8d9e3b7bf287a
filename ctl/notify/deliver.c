// SPDX-License-Identifier: GPL-2.0
/*
 * Gets notes to their receivers. Each receiver has its own queue and
 * at most one delivery under way, so that its notes keep their order and another that hangs
 * does not delay it. After a failure it waits: a second, then twice as long each time up to
 * five minutes, less a random part, and as long as the receiver asks for.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "notify/notify.h"

#define BACKOFF_MS	1000
#define BACKOFF_MOST_MS	(300 * 1000)
#define REFRESH_MS	(60 * 1000)	/* Alertmanager ends what is not repeated in 5 minutes */
#define WAIT_MOST_MS	(60 * 1000)
#define OWN_FDS		4

static bool is_http(const struct receiver *to)
{
	return to->url;
}

/* ---- results ---- */

static u64 backoff_ms(unsigned int tries)
{
	u64 ms = BACKOFF_MS, random = 0;

	while (--tries && ms < BACKOFF_MOST_MS)
		ms *= 2;
	ms = ms < BACKOFF_MOST_MS ? ms : BACKOFF_MOST_MS;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = clock_ns();
	return ms / 2 + random % (ms / 2 + 1);
}

static bool is_too_old(const struct delivery *d, const struct note *n)
{
	return clock_real_ns() / 1000000 > n->born_ms + d->set->retry_s * 1000;
}

static void wait_a_while(struct delivery *d, struct receiver *to, const struct result *r)
{
	u64 ms = backoff_ms(++to->tries);

	ms = ms > r->retry_s * 1000 ? ms : r->retry_s * 1000;
	to->next_ms = clock_ms() + ms;
	if (!to->complained)
		note(d->ctx, "%s: %s; it is tried again, %llu waiting", to->label, r->text,
		     to->pending);
	to->complained = true;
	if (to->first && is_too_old(d, to->first)) {
		to->dropped++;
		to->failed = true;
		note(d->ctx, "%s: %s: given up after %llu s (%llu dropped so far): %s",
		     to->label, to->first->name, d->set->retry_s, to->dropped, r->text);
		spool_remove(d->spool, to, to->first);
	}
}

static void finish_refresh(struct delivery *d, struct receiver *to, const struct result *r)
{
	to->refreshing = false;
	to->refresh_ms = clock_ms() + REFRESH_MS;
	if (r->outcome != TAKEN)
		note(d->ctx, "%s: %s; what goes on is repeated in a minute", to->label, r->text);
}

/* Ends the delivery of the first note of @to. */
static void finish(struct delivery *d, struct receiver *to, const struct result *r)
{
	json_object_put(to->sent);
	to->sent = NULL;
	if (to->refreshing) {
		finish_refresh(d, to, r);
		return;
	}
	if (r->outcome == LATER) {
		wait_a_while(d, to, r);
		return;
	}
	if (r->outcome == TAKEN) {
		to->taken++;
		to->refresh_ms = clock_ms() + REFRESH_MS;
		if (to->complained)
			note(d->ctx, "%s: takes notifications again, %llu waiting", to->label,
			     to->pending - 1);
	} else {
		to->refused++;
		to->failed = true;
		note(d->ctx, "%s: %s: not sent again (%llu refused so far)", to->label, r->text,
		     to->refused);
	}
	to->complained = false;
	to->tries = 0;
	to->next_ms = 0;
	spool_remove(d->spool, to, to->first);
}

/* ---- deliveries ---- */

/*
 * Begins to deliver @what, which it keeps in @to->sent. Returns true if that has ended already;
 * then @r has how.
 */
static bool begin(struct delivery *d, struct receiver *to, struct json_object *what,
		  struct result *r)
{
	struct json_object *body = json_object_object_get(what, "body");

	to->sent = what;
	memset(r, 0, sizeof(*r));
	switch (to->kind) {
	case TO_EXEC:
		return !exec_begin(to, body, d->set->exec_s, r);
	case TO_PAGERDUTY:
		json_object_object_add(body, "routing_key", json_object_new_string(to->target));
		return !http_begin(d->http, to, body);
	case TO_WEBHOOK:
	case TO_ALERTMANAGER:
		return !http_begin(d->http, to, body);
	case TO_JOURNAL:
		journal_send(body, r);
		return true;
	case TO_SYSLOG:
		syslog_send(body, r);
		return true;
	case TO_NOBODY:
		break;
	}
	return true;
}

static bool done(struct delivery *d, struct receiver *to, struct result *r)
{
	if (is_http(to))
		return http_done(d->http, to, r);
	exec_step(to);
	return exec_done(to, r);
}

/*
 * Drops what is damaged or gone, and what nobody takes any more. Returns NULL if it did, and where
 * it cannot be read now, as without a free descriptor: that is tried again.
 */
static struct json_object *next_note(struct delivery *d, struct receiver *to)
{
	struct json_object *what = NULL, *body;
	struct result r = { .outcome = LATER };

	if (to->kind != TO_NOBODY)
		what = spool_get(d->spool, to, to->first);
	else if (!is_too_old(d, to->first))
		return NULL;
	if (!what && to->kind != TO_NOBODY && errno != ENOENT && errno != EBADMSG) {
		snprintf(r.text, sizeof(r.text), "the spool: %s", strerror(errno));
		wait_a_while(d, to, &r);
		return NULL;
	}
	body = json_object_object_get(what, "body");
	if (json_object_is_type(body, json_type_object) ||
	    json_object_is_type(body, json_type_array))
		return what;
	to->dropped++;
	to->failed = true;
	note(d->ctx, "%s: %s: %s", to->label, to->first->name,
	     to->kind == TO_NOBODY ? "given up" : "damaged, dropped");
	json_object_put(what);
	spool_remove(d->spool, to, to->first);
	return NULL;
}

static void refresh(struct delivery *d, struct receiver *to)
{
	struct json_object *list = payload_refresh(d->set, &d->spool->open), *what;
	struct result r;

	to->refresh_ms = clock_ms() + REFRESH_MS;
	if (!list)
		return;
	what = json_object_new_object();
	json_object_object_add(what, "body", list);
	to->refreshing = true;
	if (begin(d, to, what, &r))
		finish(d, to, &r);
}

/* Begins a delivery to each receiver that has a note and no delivery under way. */
void deliver_start(struct delivery *d)
{
	struct json_object *what;
	struct receiver *to;
	struct result r;

	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		while (to->first && !to->job && clock_ms() >= to->next_ms) {
			what = next_note(d, to);
			if (!what && to->kind == TO_NOBODY)
				break;
			if (what && begin(d, to, what, &r))
				finish(d, to, &r);
		}
		if (to->kind == TO_ALERTMANAGER && d->http && !to->first && !to->job &&
		    clock_ms() >= to->refresh_ms)
			refresh(d, to);
	}
}

/* Takes the results of those that have ended. */
void deliver_finish(struct delivery *d)
{
	struct receiver *to;
	struct result r;

	for (to = d->set->to; to < d->set->to + d->set->n; to++)
		if (to->job && done(d, to, &r))
			finish(d, to, &r);
}

static u64 next_event(const struct delivery *d)
{
	u64 next = clock_ms() + WAIT_MOST_MS, at;
	const struct receiver *to;

	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		at = UINT64_MAX;
		if (to->job && !is_http(to))
			at = exec_deadline_ms(to);
		else if (!to->job && to->first && to->kind != TO_NOBODY)
			at = to->next_ms;
		else if (!to->job && to->kind == TO_ALERTMANAGER && d->spool->open.n)
			at = to->refresh_ms;
		next = at < next ? at : next;
	}
	return next;
}

/* Sleeps until something happens to a delivery or to @own, at most @ms; negative: no limit. */
void deliver_wait(struct delivery *d, struct pollfd *own, unsigned int n, int ms)
{
	struct pollfd p[WORDS_MAX + OWN_FDS];
	u64 now = clock_ms(), at = next_event(d);
	const struct receiver *to;

	if (ms < 0 || at < now + (u64)ms)
		ms = at > now ? (int)(at - now) : 0;
	if (n)
		memcpy(p, own, n * sizeof(*p));
	for (to = d->set->to; to < d->set->to + d->set->n && n < ARRAY_SIZE(p); to++)
		if (to->kind == TO_EXEC && to->job && exec_fd(to) >= 0)
			p[n++] = (struct pollfd){ .fd = exec_fd(to), .events = POLLOUT };
	http_poll(d->http, p, n, ms);
}

/* Ends what is under way; its notes are still in the spool. */
void deliver_end(struct delivery *d)
{
	struct receiver *to;

	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		if (to->job && is_http(to))
			http_cancel(d->http, to);
		else if (to->job)
			exec_cancel(to);
		json_object_put(to->sent);
		to->sent = NULL;
	}
}

/* Has every receiver taken everything? */
bool deliver_idle(const struct delivery *d)
{
	const struct receiver *to;

	for (to = d->set->to; to < d->set->to + d->set->n; to++)
		if (to->kind != TO_NOBODY && (to->first || to->job))
			return false;
	return true;
}

/* ---- --test ---- */

static int print_result(const struct delivery *d, const struct receiver *to,
			const struct result *r)
{
	struct json_object *o;

	if (d->ctx->json) {
		o = json_object_new_object();
		json_object_object_add(o, "receiver", json_object_new_string(to->label));
		json_object_object_add(o, "delivered",
				       json_object_new_boolean(r->outcome == TAKEN));
		json_object_object_add(o, "text", json_text(r->text, strlen(r->text)));
		out_json(d->ctx, o);
	} else {
		out_printf("%s: %s (%s)\n", to->label,
			   r->outcome == TAKEN ? "delivered" : "failed", r->text);
	}
	return r->outcome != TAKEN;
}

/* Sends one notification to each receiver and says how that went. Returns an exit status. */
int deliver_test(struct delivery *d)
{
	struct incidents open = { 0 };
	struct receiver *to;
	struct incident *one;
	struct result r;
	struct alert a;
	size_t left = 0;
	int status = 0;

	alert_test(&a);
	alert_complete(&a, d->spool->boot, NULL);
	one = incident_open(&open, &a, d->spool->boot);
	for (to = d->set->to; to < d->set->to + d->set->n; to++) {
		if (begin(d, to, payload_note(d->set, to, &a, one), &r))
			status |= print_result(d, to, &r);
		else
			left++;
	}
	while (left) {
		deliver_wait(d, NULL, 0, 100);
		for (to = d->set->to; to < d->set->to + d->set->n; to++) {
			if (!to->job || !done(d, to, &r))
				continue;
			status |= print_result(d, to, &r);
			left--;
		}
	}
	deliver_end(d);
	incidents_free(&open);
	alert_free(&a);
	return status;
}
