// SPDX-License-Identifier: GPL-2.0
/* notify: which notes an alert becomes, with more incidents than there is room for, and later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "notify/notify.h"
#include <cmocka.h>

#define BOOT	"0a0b"
#define LOAD	7

static const struct ctx ctx = { .cmd = "notify" };
static struct receiver to[] = {
	{ .kind = TO_EXEC }, { .kind = TO_WEBHOOK }, { .kind = TO_ALERTMANAGER },
	{ .kind = TO_PAGERDUTY }, { .kind = TO_JOURNAL }, { .kind = TO_SYSLOG },
};

static struct settings settings = { .to = to, .n = ARRAY_SIZE(to) };
static struct spool spool = { .ctx = &ctx, .boot = BOOT, .position.instance = LOAD };
static struct delivery d = { .ctx = &ctx, .set = &settings, .spool = &spool };
static unsigned int notes[ARRAY_SIZE(to)], ends[ARRAY_SIZE(to)];
static bool silenced;

void spool_put(struct spool *s, struct receiver *r, const char *name, struct json_object *what)
{
	notes[r - to]++;
	ends[r - to] += !!strstr(name, "-end-");
}

void state_write(struct spool *s, struct settings *set)
{
}

/* Nobody has looked where a process leaks: tests/notify/test_kept.py has those that were. */
int kept_dir(void)
{
	return -1;
}

struct json_object *kept_read(const char *kind, const char *key)
{
	return NULL;
}

void now_refresh(struct delivery *d)
{
}

void hold_look(struct delivery *d)
{
}

enum hold hold_verdict(struct delivery *d, const struct alert *a, const struct incident *one)
{
	return silenced ? HOLD_SILENCED : HOLD_NOT;
}

void hold_back(struct delivery *d, const struct alert *a, struct incident *one, enum hold why)
{
	incident_hold(one, a, true);
}

bool hold_acked(const struct delivery *d, struct incident *one)
{
	return false;
}

static int setup(void **state)
{
	memset(notes, 0, sizeof(notes));
	memset(ends, 0, sizeof(ends));
	spool.forgotten = 0;
	silenced = false;
	return 0;
}

static int teardown(void **state)
{
	incidents_free(&spool.open);
	return 0;
}

static void alert_line(u64 seq, u64 pid, const char *alert_state, struct alert *a)
{
	char line[400], err[200];
	int n;

	n = snprintf(line, sizeof(line), "{\"instance\":%d,\"seq\":%llu,\"pid\":%llu,\"state\":"
		     "\"%s\",\"comm\":\"leaky\",\"confidence\":90,\"severity\":5,"
		     "\"time_ns\":1700000000000000000,\"age_seconds\":600}", LOAD, seq, pid,
		     alert_state);
	assert_int_equal(alert_parse(line, (size_t)n, a, err, sizeof(err)), LINE_ALERT);
	alert_complete(a, BOOT, NULL);
}

static void tell(u64 seq, u64 pid, const char *alert_state)
{
	struct alert a;

	alert_line(seq, pid, alert_state, &a);
	deliver_alert(&d, &a);
	alert_free(&a);
}

static bool is_open(u64 pid)
{
	size_t i;

	for (i = 0; i < spool.open.n; i++)
		if (spool.open.v[i].pid == pid)
			return true;
	return false;
}

static void of_too_many_incidents_one_ends_and_is_counted(void **state)
{
	u64 i;

	/* The first one is held back: nobody has been told of it. */
	silenced = true;
	tell(1, 1, "suspected");
	silenced = false;
	for (i = 2; i <= INCIDENTS_MAX; i++)
		tell(i, i, "suspected");
	assert_int_equal(spool.forgotten, 0);
	for (i = 1; i <= 3; i++)
		tell(INCIDENTS_MAX + i, INCIDENTS_MAX + i, "suspected");
	assert_int_equal(spool.open.n, INCIDENTS_MAX);
	assert_int_equal(spool.forgotten, 3);
	assert_true(is_open(1));
	assert_false(is_open(2));
	assert_false(is_open(4));
	assert_true(is_open(5));
	/* Those that keep incidents are told that they end, others hear of each end itself. */
	assert_int_equal(ends[TO_ALERTMANAGER], 3);
	assert_int_equal(ends[TO_PAGERDUTY], 3);
	assert_int_equal(ends[TO_EXEC], 0);
	i = notes[TO_EXEC];
	tell(INCIDENTS_MAX + 4, 2, "exited");
	assert_int_equal(notes[TO_EXEC], i + 1);
}

/* Where all are held back the oldest goes, which is counted as well. */
static void of_too_many_held_back_the_oldest_is_forgotten(void **state)
{
	u64 i;

	silenced = true;
	for (i = 1; i <= INCIDENTS_MAX + 1; i++)
		tell(i, i, "suspected");
	assert_int_equal(spool.forgotten, 1);
	assert_false(is_open(1));
	assert_int_equal(spool.open.n, INCIDENTS_MAX);
	assert_int_equal(notes[TO_PAGERDUTY] + notes[TO_EXEC], 0);
}

/* An incident that is open when its silence ends: each kind of receiver hears of it, once. */
static void all_receivers_are_told_when_a_silence_ends(void **state)
{
	size_t i;

	silenced = true;
	tell(1, 5, "suspected");
	tell(2, 5, "confirmed");
	assert_false(release_held(&d));
	silenced = false;
	assert_true(release_held(&d));
	assert_false(release_held(&d));
	for (i = 0; i < ARRAY_SIZE(to); i++)
		assert_int_equal(notes[i], 1);
}

/* One that was told before the silence, and of which there was no news meanwhile, as well */
static void what_was_told_before_a_silence_is_told_again_once(void **state)
{
	size_t i;

	tell(1, 5, "suspected");
	assert_false(release_later(&d));
	silenced = true;
	assert_true(release_later(&d));
	assert_false(release_later(&d));
	assert_false(release_held(&d));
	for (i = 0; i < ARRAY_SIZE(to); i++)
		assert_int_equal(notes[i], 1);
	silenced = false;
	assert_true(release_held(&d));
	assert_false(release_held(&d));
	assert_false(release_later(&d));
	for (i = 0; i < ARRAY_SIZE(to); i++)
		assert_int_equal(notes[i], 2);
	/* Not what ends meanwhile: those that keep it are told of the end. */
	silenced = true;
	assert_true(release_later(&d));
	tell(2, 5, "exited");
	silenced = false;
	assert_false(release_held(&d));
	assert_int_equal(notes[TO_EXEC], 2);
	assert_int_equal(notes[TO_PAGERDUTY], 3);
}

/* notify was started anew: the alert is read again, but is not new. */
static void an_alert_of_an_earlier_run_is_remembered(void **state)
{
	struct json_object *list;
	struct alert a = { 0 };

	tell(1, 5, "suspected");
	list = incidents_json(&spool.open);
	incidents_free(&spool.open);
	incidents_read(&spool.open, list);
	json_object_put(list);
	silenced = true;
	assert_false(release_later(&d));
	alert_line(1, 5, "suspected", &a);
	incident_remember(&spool.open, &a);
	assert_true(release_later(&d));
	alert_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_too_many_incidents_one_ends_and_is_counted,
						setup, teardown),
		cmocka_unit_test_setup_teardown(of_too_many_held_back_the_oldest_is_forgotten,
						setup, teardown),
		cmocka_unit_test_setup_teardown(all_receivers_are_told_when_a_silence_ends, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_was_told_before_a_silence_is_told_again_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_alert_of_an_earlier_run_is_remembered, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
