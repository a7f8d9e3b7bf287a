// SPDX-License-Identifier: GPL-2.0
/* notify and the module: figures of what is held back, limits while growth is not known */
#include "msg.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include "notify/notify.h"
#include <cmocka.h>

#define MB	(1ULL << 20)
#define BOOT	"0a0b"

/* ---- the module, the receivers and the processes that limits are about ---- */

static struct nl_msg *answer;	/* of the module; NULL: it knows nothing */
static u32 asked[8];		/* pids */
static bool asked_group[8];
static unsigned int n_asked;
static u32 gone;		/* a pid that it does not know any more */
static bool is_loaded;
static char told[256];		/* states of limits, in order */
static struct policy_rows measured;

int knl_open(struct knl *k)
{
	return is_loaded ? 0 : -ENOENT;
}

int knl_resolve(struct knl *k)
{
	return is_loaded ? 0 : -ENOENT;
}

void knl_close(struct knl *k)
{
}

static int answer_to(u32 pid, bool group, struct nlmsghdr **reply)
{
	asked_group[n_asked] = group;
	asked[n_asked++] = pid;
	if (!answer || pid == gone)
		return -ENOENT;
	*reply = malloc(nlmsg_hdr(answer)->nlmsg_len);
	memcpy(*reply, nlmsg_hdr(answer), nlmsg_hdr(answer)->nlmsg_len);
	return 0;
}

int query_process(struct knl *k, u32 pid, struct nlmsghdr **reply)
{
	return answer_to(pid, false, reply);
}

int query_group(struct knl *k, u32 pid, struct nlmsghdr **reply)
{
	return answer_to(pid, true, reply);
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

void hold_look(struct delivery *d)
{
}

/* What deliver_alert() does with an incident that nothing holds back */
void deliver_alert(struct delivery *d, const struct alert *a)
{
	struct incident *one = incident_find(&d->spool->open, a);

	sentence_append(told, sizeof(told), "%s%s", *told ? " " : "", a->state);
	if (!one)
		one = incident_open(&d->spool->open, a, d->spool->boot);
	incident_update(one, a);
	if (a->ends)
		incident_drop(&d->spool->open, one);
}

bool policy_measure(const struct policies *p, bool ask_module, struct policy_rows *rows)
{
	*rows = measured;
	return true;
}

void policy_rows_free(struct policy_rows *rows)
{
}

/* ---- a run of notify ---- */

static struct settings settings;
static struct spool spool;
static struct delivery d;
static struct policy_row row;

static int setup(void **state)
{
	memset(&spool, 0, sizeof(spool));
	memset(&d, 0, sizeof(d));
	strcpy(spool.boot, BOOT);
	d = (struct delivery){ .set = &settings, .spool = &spool, .ask_module = true };
	n_asked = 0;
	gone = 0;
	*told = '\0';
	is_loaded = true;
	answer = NULL;
	memset(&row, 0, sizeof(row));
	measured = (struct policy_rows){ .v = &row, .n = 1 };
	return 0;
}

static int teardown(void **state)
{
	incidents_free(&spool.open);
	json_object_put(row.policy);
	if (answer)
		nlmsg_free(answer);
	return 0;
}

/* ---- now.c ---- */

/* An alert of 600 s ago that is held back; @subject: "memory", "group" */
static struct incident *hold(const char *subject, u32 pid)
{
	struct json_object *o = json_object_new_object();
	struct incident *one;
	struct alert a;

	json_object_object_add(o, "seq", json_object_new_int(1));
	json_object_object_add(o, "instance", json_object_new_int(7));
	json_object_object_add(o, "time_ns", json_object_new_uint64(clock_real_ns()));
	json_object_object_add(o, "age_seconds", json_object_new_int(600));
	json_object_object_add(o, "pid", json_object_new_int64(pid));
	json_object_object_add(o, "comm", json_object_new_string("leaky"));
	json_object_object_add(o, "uid", json_object_new_int(33));
	json_object_object_add(o, "cgroup_id", json_object_new_int(77));
	json_object_object_add(o, "subject", json_object_new_string(subject));
	json_object_object_add(o, "state", json_object_new_string("suspected"));
	json_object_object_add(o, "confidence", json_object_new_int(80));
	json_object_object_add(o, "growth_bytes_per_hour", json_object_new_int64(5 * MB));
	json_object_object_add(o, "rss_bytes", json_object_new_int64(100 * MB));
	json_object_object_add(o, "tte_seconds", json_object_new_int(7200));
	alert_of(o, &a);
	one = incident_open(&spool.open, &a, BOOT);
	incident_update(one, &a);
	one->held = o;
	return one;
}

static void answers(u32 pid, const char *comm, u64 age_s)
{
	if (answer)
		nlmsg_free(answer);
	answer = msg_new();
	nla_put_u32(answer, SEEPAGE_A_PID, pid);
	nla_put_string(answer, SEEPAGE_A_COMM, comm);
	nla_put_u32(answer, SEEPAGE_A_UID, 33);
	nla_put_u64(answer, SEEPAGE_A_CGROUP_ID, 77);
	nla_put_u64(answer, SEEPAGE_A_AGE_SECONDS, age_s);
	nla_put_u8(answer, SEEPAGE_A_CONFIDENCE, 91);
	nla_put_u64(answer, SEEPAGE_A_RSS_BYTES, 120 * MB);
}

static u64 held(const struct incident *one, const char *key)
{
	return quiet_number(one->held, key, 12345);
}

static void what_a_silence_holds_back_has_figures_of_now_too(void **state)
{
	struct incident *one = hold("memory", 5);

	assert_null(d.quiet.policies.o);
	answers(5, "leaky", 600);
	put_s64(answer, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 9 * (s64)MB);
	now_refresh(&d);
	assert_int_equal(n_asked, 1);
	assert_int_equal(asked[0], 5);
	assert_false(asked_group[0]);
	assert_int_equal(held(one, "confidence"), 91);
	assert_int_equal(held(one, "growth_bytes_per_hour"), 9 * MB);
	/* not twice within five seconds, nor where nothing is held back */
	now_refresh(&d);
	assert_int_equal(n_asked, 1);
	d.now_ms = 0;
	json_object_put(one->held);
	one->held = NULL;
	now_refresh(&d);
	assert_int_equal(n_asked, 1);
}

static void a_group_is_asked_for_by_its_oldest_living_process(void **state)
{
	struct incident *one = hold("group", 5);

	/* 5 has ended since: 6 is the oldest */
	answers(6, "leaky", 300);
	now_refresh(&d);
	assert_int_equal(asked[0], 5);
	assert_true(asked_group[0]);
	assert_int_equal(held(one, "pid"), 6);
	answers(6, "leaky", 300);
	d.now_ms = 0;
	now_refresh(&d);
	assert_int_equal(asked[1], 6);
	assert_int_equal(held(one, "confidence"), 91);
	assert_int_equal(one->pid, 5);
	/* 6 is of another group by now: its figures are not those of this one */
	answers(6, "other", 300);
	json_object_object_add(one->held, "confidence", json_object_new_int(80));
	d.now_ms = 0;
	now_refresh(&d);
	assert_int_equal(n_asked, 3);
	assert_int_equal(held(one, "confidence"), 80);
	assert_int_equal(held(one, "pid"), 6);
}

static void a_group_is_asked_for_by_others_if_the_oldest_ended(void **state)
{
	static const u32 pids[] = { 5, 6, 7 };
	struct incident *one = hold("group", 5);

	answers(5, "leaky", 600);
	nla_put(answer, SEEPAGE_A_PIDS, sizeof(pids), pids);
	now_refresh(&d);
	assert_int_equal(n_asked, 1);
	/* 5 has ended since the answer */
	gone = 5;
	answers(6, "leaky", 300);
	nla_put(answer, SEEPAGE_A_PIDS, 2 * sizeof(*pids), pids + 1);
	json_object_object_add(one->held, "confidence", json_object_new_int(80));
	d.now_ms = 0;
	now_refresh(&d);
	assert_int_equal(asked[n_asked - 1], 6);
	assert_int_equal(held(one, "confidence"), 91);
	assert_int_equal(held(one, "pid"), 6);
	/* nobody else gets to know of them */
	assert_false(json_object_object_get_ex(one->held, "pids", NULL));
}

/* Also where it has been in the file of the state */
static void a_figure_that_the_module_has_no_more_is_not_known(void **state)
{
	struct incidents again = { 0 };
	struct incident *one = hold("memory", 5);
	struct json_object *list, *read, *v;

	assert_int_equal(held(one, "growth_bytes_per_hour"), 5 * MB);
	answers(5, "leaky", 600);
	now_refresh(&d);
	assert_true(json_object_object_get_ex(one->held, "growth_bytes_per_hour", &v));
	assert_null(v);
	assert_true(json_object_object_get_ex(one->held, "tte_seconds", &v));
	assert_null(v);
	assert_null(strstr(quiet_string(one->held, "text"), "/h"));
	assert_null(strstr(quiet_string(one->held, "text"), "left"));
	assert_int_equal(held(one, "rss_bytes"), 120 * MB);

	list = incidents_json(&spool.open);
	read = json_tokener_parse(json_object_to_json_string(list));
	incidents_read(&again, read);
	assert_int_equal(again.n, 1);
	assert_int_equal(held(again.v, "growth_bytes_per_hour"), 12345);
	assert_null(strstr(quiet_string(again.v->held, "text"), "/h"));
	incidents_free(&again);
	json_object_put(read);
	json_object_put(list);
}

/* ---- limit.c ---- */

/* A look while a unit with a limit of 100 MB has @mb in use */
static void uses(u64 mb, bool has_growth, s64 growth_mb)
{
	if (!row.policy) {
		row.policy = json_object_new_object();
		json_object_object_add(row.policy, "unit", json_object_new_string("a.service"));
		json_object_object_add(row.policy, "limit_bytes",
				       json_object_new_uint64(100 * MB));
		strcpy(row.name, "a.service");
		strcpy(row.use.comm, "a");
	}
	row.use.pid = 5;
	row.use.processes = 1;
	row.use.bytes = mb * MB;
	row.use.has_growth = has_growth;
	row.use.growth = growth_mb * (s64)MB;
	row.use.measured = has_growth ? row.use.bytes : 0;
	limits_look(&d);
}

/* The same while the growth is known of processes that have @measured_mb of it */
static void uses_in_part(u64 mb, u64 measured_mb, s64 growth_mb)
{
	row.use.processes = 3;
	row.use.bytes = mb * MB;
	row.use.has_growth = true;
	row.use.growth = growth_mb * (s64)MB;
	row.use.measured = measured_mb * MB;
	limits_look(&d);
}

static void a_limit_stays_near_while_the_module_is_loaded_again(void **state)
{
	uses(60, true, 50);
	assert_string_equal(told, "limit_near");
	/* no growth is known for a while */
	uses(61, false, 0);
	uses(65, false, 0);
	assert_string_equal(told, "limit_near");
	uses(66, true, 40);
	assert_string_equal(told, "limit_near");
	/* less than half of it is far from the limit at any growth */
	uses(49, false, 0);
	assert_string_equal(told, "limit_near limit_ended");
}

static void a_limit_that_nothing_grows_towards_is_near_no_more(void **state)
{
	uses(60, true, 50);
	uses(60, true, 1);
	assert_string_equal(told, "limit_near limit_ended");
}

/* After a load the processes of a unit are measured one after the other. */
static void a_sum_of_a_part_ends_no_limit(void **state)
{
	uses(60, true, 50);
	uses(61, false, 0);
	uses_in_part(62, 20, 1);
	uses_in_part(62, 50, -3);
	assert_string_equal(told, "limit_near");
	uses_in_part(62, 62, 40);
	assert_string_equal(told, "limit_near");
	/* children that end before they are measured have little of it */
	uses_in_part(62, 56, 1);
	assert_string_equal(told, "limit_near limit_ended");
	/* a part that leads to the limit is enough */
	uses_in_part(62, 20, 50);
	assert_string_equal(told, "limit_near limit_ended limit_near");
	uses_in_part(49, 20, 1);
	assert_string_equal(told, "limit_near limit_ended limit_near limit_ended");
}

/* It was near as there was much in use, which is less now. */
static void a_limit_that_was_near_without_growth_ends_without(void **state)
{
	uses(92, false, 0);
	uses(85, false, 0);
	assert_string_equal(told, "limit_near");
	uses(75, false, 0);
	assert_string_equal(told, "limit_near limit_ended");
	uses(92, true, -5);
	uses(75, false, 0);
	assert_string_equal(told, "limit_near limit_ended limit_near limit_ended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_silence_holds_back_has_figures_of_now_too,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_group_is_asked_for_by_its_oldest_living_process,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_group_is_asked_for_by_others_if_the_oldest_ended,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_figure_that_the_module_has_no_more_is_not_known,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_limit_stays_near_while_the_module_is_loaded_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_limit_that_nothing_grows_towards_is_near_no_more,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_sum_of_a_part_ends_no_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_limit_that_was_near_without_growth_ends_without,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
