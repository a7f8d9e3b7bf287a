// SPDX-License-Identifier: GPL-2.0
/* Policies: what a file may have, which processes fit, thresholds, limits */
#include "msg.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "policy/policy.h"
#include <cmocka.h>

#define MB	(1ULL << 20)

static struct policies rules(const char *policies)
{
	struct policies p = { 0 };
	char text[4096], err[CONF_ERR_MAX] = "";

	snprintf(text, sizeof(text), "{\"version\": 1, \"policies\": [%s]}", policies);
	p.o = policies_parse(text, strlen(text), err, sizeof(err));
	if (!p.o)
		fail_msg("%s", err);
	return p;
}

static void refused(const char *policies, const char *why)
{
	char text[4096], err[CONF_ERR_MAX] = "";

	snprintf(text, sizeof(text), "{\"version\": 1, \"policies\": [%s]}", policies);
	assert_null(policies_parse(text, strlen(text), err, sizeof(err)));
	assert_string_equal(err, why);
}

static u64 bytes_of(const struct policies *p, size_t i)
{
	return quiet_number(json_object_array_get_idx(p->o, i), "limit_bytes", 0);
}

static void sizes_are_numbers_or_words(void **state)
{
	struct policies p = rules("{\"name\": \"a\", \"limit_bytes\": \"2G\"},"
				  "{\"name\": \"b\", \"limit_bytes\": 1048576},"
				  "{\"name\": \"c\", \"growth_bytes_per_hour\": \"1024T\"}");

	assert_int_equal(bytes_of(&p, 0), 2048 * MB);
	assert_int_equal(bytes_of(&p, 1), MB);
	policies_free(&p);
	refused("{\"name\": \"a\", \"limit_bytes\": 1048575}",
		"policies[0]: limit_bytes: '1048575': "
		"allowed 1M to 1024T, as 500M, 2G or a number of bytes");
	refused("{\"name\": \"a\", \"limit_bytes\": -1}", "policies[0]: limit_bytes: '-1': "
		"allowed 1M to 1024T, as 500M, 2G or a number of bytes");
	refused("{\"name\": \"a\", \"limit_bytes\": 1e9}", "policies[0]: limit_bytes: '1e9': "
		"allowed 1M to 1024T, as 500M, 2G or a number of bytes");
}

static void an_error_has_no_control_characters(void **state)
{
	refused("{\"name\": \"a\\u001b[1m\", \"ignore\": true}", "policies[0]: name: 'a\\x1b[1m': "
		"allowed 1 to 255 bytes of UTF-8 without control characters");
	refused("{\"name\": \"a\\u0000b\", \"ignore\": true}", "policies[0]: name: 'a': "
		"allowed 1 to 255 bytes of UTF-8 without control characters");
}

static void a_unit_is_one_of_systemd_itself(void **state)
{
	struct policies p = rules("{\"unit\": \"shop.service\", \"ignore\": true},"
				  "{\"cgroup\": \"/a/b/\", \"ignore\": true},"
				  "{\"name\": \"py*\", \"ignore\": true}");
	struct quiet_subject s = { .unit = "shop.service", .unit_uid = -1 };

	assert_non_null(policies_ignoring(&p, &s));
	s.unit_uid = 1000;
	assert_null(policies_ignoring(&p, &s));
	s = (struct quiet_subject){ .cgroup = "/a/b" };
	assert_non_null(policies_ignoring(&p, &s));
	s.cgroup = "/a/b/c";
	assert_non_null(policies_ignoring(&p, &s));
	s.cgroup = "/a/bc";
	assert_null(policies_ignoring(&p, &s));
	s = (struct quiet_subject){ .comm = "python3" };
	assert_non_null(policies_ignoring(&p, &s));
	s.comm = "perl";
	assert_null(policies_ignoring(&p, &s));
	policies_free(&p);
	assert_null(policies_ignoring(&p, &s));
}

static const char *held(const struct policies *p, const struct policy_figures *f)
{
	static char why[1024];
	struct quiet_subject s = { .comm = "a" };

	return policies_holding(p, &s, f, why, sizeof(why)) ? why : NULL;
}

static void waits(const struct policies *p, const struct policy_figures *f, const char *why)
{
	const char *text = held(p, f);

	assert_non_null(text);
	assert_memory_equal(text, "by the policy of ", 17);
	assert_string_equal(text + 17, why);
}

static void all_thresholds_have_to_be_reached(void **state)
{
	struct policies p = rules("{\"name\": \"a\", \"state\": \"confirmed\", \"confidence\": 90},"
				  "{\"name\": \"*\", \"growth_bytes_per_hour\": \"20M\"}");
	struct policy_figures f = { SEEPAGE_STATE_SUSPECTED, 95, true, (s64)(20 * MB) };

	waits(&p, &f, "name a: state suspected, confirmed is wanted");
	f.state = SEEPAGE_STATE_CONFIRMED;
	assert_null(held(&p, &f));
	f.state = SEEPAGE_STATE_RUNAWAY;
	assert_null(held(&p, &f));
	f.confidence = 89;
	waits(&p, &f, "name a: confidence 89, 90 is wanted");
	f.confidence = 90;
	f.growth--;
	waits(&p, &f, "name *: growth +20.0 MiB/h, +20.0 MiB/h is wanted");
	f.has_growth = false;
	waits(&p, &f, "name *: growth not known, +20.0 MiB/h is wanted");
	f.state = -1;
	waits(&p, &f, "name a: state not known, confirmed is wanted");
	policies_free(&p);
}

static void time_until_a_limit(void **state)
{
	struct policy_use use = { .bytes = 80 * MB };

	assert_int_equal(policy_left_s(100 * MB, &use), UINT64_MAX);
	use.has_growth = true;
	assert_int_equal(policy_left_s(100 * MB, &use), UINT64_MAX);
	use.growth = -(s64)MB;
	assert_int_equal(policy_left_s(100 * MB, &use), UINT64_MAX);
	use.growth = (s64)(40 * MB);
	assert_int_equal(policy_left_s(100 * MB, &use), 1800);
	use.bytes = 100 * MB;
	assert_int_equal(policy_left_s(100 * MB, &use), 0);
	use.bytes = 0;
	use.growth = 1;
	assert_int_equal(policy_left_s(POLICY_SIZE_MAX, &use), POLICY_SIZE_MAX * 3600);
}

static enum policy_level at(u64 mb, enum policy_level before)
{
	struct policy_use use = { .bytes = mb * MB };

	return policy_level(100 * MB, &use, before);
}

static void a_level_that_swings_tells_once(void **state)
{
	assert_int_equal(at(89, LIMIT_BELOW), LIMIT_BELOW);
	assert_int_equal(at(90, LIMIT_BELOW), LIMIT_NEAR);
	assert_int_equal(at(81, LIMIT_NEAR), LIMIT_NEAR);
	assert_int_equal(at(79, LIMIT_NEAR), LIMIT_BELOW);
	assert_int_equal(at(100, LIMIT_NEAR), LIMIT_EXCEEDED);
	assert_int_equal(at(96, LIMIT_EXCEEDED), LIMIT_EXCEEDED);
	assert_int_equal(at(94, LIMIT_EXCEEDED), LIMIT_NEAR);
	assert_int_equal(at(0, LIMIT_EXCEEDED), LIMIT_BELOW);
}

static void an_hour_of_growth_is_near(void **state)
{
	struct policy_use use = { .bytes = 60 * MB, .has_growth = true, .growth = (s64)(40 * MB) };

	assert_int_equal(policy_level(100 * MB, &use, LIMIT_BELOW), LIMIT_NEAR);
	use.growth = (s64)(39 * MB);
	assert_int_equal(policy_level(100 * MB, &use, LIMIT_BELOW), LIMIT_BELOW);
	assert_int_equal(policy_level(100 * MB, &use, LIMIT_NEAR), LIMIT_NEAR);
	use.growth = (s64)(19 * MB);
	assert_int_equal(policy_level(100 * MB, &use, LIMIT_NEAR), LIMIT_BELOW);
	use.bytes = 49 * MB;
	use.growth = (s64)(999 * MB);
	assert_int_equal(policy_level(100 * MB, &use, LIMIT_BELOW), LIMIT_BELOW);
}

/* ---- what is measured ---- */

static bool is_measured;	/* the module knows the growth of this process */

int knl_open(struct knl *k)
{
	return 0;
}

int knl_resolve(struct knl *k)
{
	return 0;
}

void knl_close(struct knl *k)
{
}

struct nl_msg *knl_msg(struct knl *k, int cmd, int flags)
{
	return NULL;
}

int query_dump(struct knl *k, struct nl_msg *(*build)(struct knl *k, void *arg), void *arg,
	       struct msgs *m)
{
	struct nl_msg *msg = msg_new();

	nla_put_u32(msg, SEEPAGE_A_PID, (u32)getpid());
	if (is_measured)
		put_s64(msg, SEEPAGE_A_GROWTH_BYTES_PER_HOUR, 5 * (s64)MB);
	m->v = must(malloc(sizeof(*m->v)));
	m->v[0] = must(malloc(nlmsg_hdr(msg)->nlmsg_len));
	memcpy(m->v[0], nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	m->n = 1;
	nlmsg_free(msg);
	return 0;
}

void msgs_free(struct msgs *m)
{
	while (m->n)
		free(m->v[--m->n]);
	free(m->v);
}

/* Of all processes there are, the module has measured this one, or none. */
static void it_says_which_part_is_measured(void **state)
{
	struct policies p = rules("{\"cgroup\": \"/\", \"limit_bytes\": \"1G\"}");
	struct policy_rows rows;

	is_measured = true;
	assert_true(policy_measure(&p, true, &rows));
	assert_int_equal(rows.n, 1);
	assert_true(rows.v[0].use.has_growth);
	assert_int_equal(rows.v[0].use.growth, 5 * MB);
	assert_true(rows.v[0].use.measured > 0);
	assert_true(rows.v[0].use.processes > 1);
	assert_true(rows.v[0].use.measured < rows.v[0].use.bytes);
	policy_rows_free(&rows);

	is_measured = false;
	assert_true(policy_measure(&p, true, &rows));
	assert_int_equal(rows.n, 1);
	assert_false(rows.v[0].use.has_growth);
	assert_int_equal(rows.v[0].use.measured, 0);
	policy_rows_free(&rows);
	policies_free(&p);
}

static unsigned int good = UINT32_MAX;	/* entries that can be read before reading fails */

struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);

struct dirent *__wrap_readdir(DIR *d)
{
	if (good) {
		good--;
		return __real_readdir(d);
	}
	errno = ENOMEM;
	return NULL;
}

static void it_says_that_processes_may_be_missing(void **state)
{
	struct policies p = rules("{\"cgroup\": \"/\", \"limit_bytes\": \"1G\"}");
	struct policy_rows rows;

	good = 3;
	assert_false(policy_measure(&p, true, &rows));
	policy_rows_free(&rows);
	good = UINT32_MAX;
	assert_true(policy_measure(&p, true, &rows));
	policy_rows_free(&rows);
	policies_free(&p);
}

/* ---- the file ---- */

int __real_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
int __wrap_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);

static bool no_links;		/* as on vfat */

int __wrap_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (!no_links || faccessat(from_dir, from, F_OK, 0))
		return __real_linkat(from_dir, from, to_dir, to, flags);
	errno = EPERM;
	return -1;
}

/* Adds @arg, the name of a process that is ignored. */
static int ignore(const struct ctx *ctx, struct json_object *list, void *arg)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(arg));
	json_object_object_add(o, "ignore", json_object_new_boolean(true));
	return json_object_array_add(list, o);
}

static u64 clock_step;		/* ms that each look at the clock takes; 0: it is as it is */
static u64 clock_now;
u64 __real_clock_ms(void);
u64 __wrap_clock_ms(void);

u64 __wrap_clock_ms(void)
{
	return clock_step ? clock_now += clock_step : __real_clock_ms();
}

/* Returns what policy says on standard error; the caller frees it. */
static char *edit_policy(const char *name, int status)
{
	struct ctx ctx = { .cmd = "policy" };
	FILE *err = stderr;
	char *said = NULL;
	size_t len;

	stderr = open_memstream(&said, &len);
	assert_non_null(stderr);
	assert_int_equal(policy_edit(&ctx, ignore, (void *)name), status);
	fclose(stderr);
	stderr = err;
	return said;
}

static char *add_policy(const char *name)
{
	return edit_policy(name, 0);
}

/* The lock of another writer that has stopped, and that of another user */
static void a_lock_that_cannot_be_had_is_named(void **state)
{
	char dir[] = "/tmp/policy-XXXXXX", path[64], wanted[256], *said;
	int fd;

	assert_non_null(mkdtemp(dir));
	setenv("SEEPAGE_CONF_DIR", dir, 1);
	snprintf(path, sizeof(path), "%s/" DISK_LOCK, dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	clock_step = 2000;
	said = edit_policy("a", 1);
	clock_step = 0;
	snprintf(wanted, sizeof(wanted), "seepage: policy: %s: another seepage has held it for "
		 "10 s: try again when that one has ended, which fuser -v names\n", path);
	assert_string_equal(said, wanted);
	free(said);
	snprintf(wanted, sizeof(wanted), "seepage: policy: %s: allowed a file of this user: remove "
		 "it if no seepage writes there\n", path);
	if (!fchown(fd, 4711, (gid_t)-1)) {
		said = edit_policy("a", 1);
		assert_string_equal(said, wanted);
		free(said);
	}
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	said = edit_policy("a", 1);
	assert_string_equal(said, wanted);
	free(said);
	assert_int_equal(unlink(path), 0);
	unsetenv("SEEPAGE_CONF_DIR");
	assert_int_equal(rmdir(dir), 0);
}

static void a_file_system_without_hard_links(void **state)
{
	char dir[] = "/tmp/policy-XXXXXX", path[64], command[128], *said, wanted[256];

	assert_non_null(mkdtemp(dir));
	setenv("SEEPAGE_CONF_DIR", dir, 1);
	no_links = true;
	snprintf(path, sizeof(path), "%s/" POLICY_FILE "~", dir);
	snprintf(wanted, sizeof(wanted), "seepage: policy: %s/" POLICY_FILE ": the earlier file is "
		 "not kept as " POLICY_FILE "~: Operation not permitted\n", dir);
	said = add_policy("a");
	assert_string_equal(said, "");	/* there was no earlier one */
	free(said);
	said = add_policy("b");
	assert_string_equal(said, wanted);
	free(said);
	assert_int_equal(access(path, F_OK), -1);

	no_links = false;
	said = add_policy("c");
	assert_string_equal(said, "");
	free(said);
	assert_int_equal(access(path, F_OK), 0);
	unsetenv("SEEPAGE_CONF_DIR");
	snprintf(command, sizeof(command), "test $(ls -A %s | wc -l) = 2 && rm -r %s", dir, dir);
	assert_int_equal(system(command), 0);
}

/* The directory is not there as the user may not make it. */
static void who_may_not_make_the_directory_is_told_so(void **state)
{
	char dir[] = "/tmp/policy-XXXXXX", path[64], wanted[256], *said;

	if (geteuid())
		skip();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(path, sizeof(path), "%s/a/b", dir);
	setenv("SEEPAGE_CONF_DIR", path, 1);
	assert_int_equal(seteuid(65534), 0);
	said = edit_policy("a", 1);
	assert_int_equal(seteuid(0), 0);
	snprintf(wanted, sizeof(wanted),
		 "seepage: policy: %s/" POLICY_FILE ": Permission denied: run it as root\n",
		 path);
	assert_string_equal(said, wanted);
	free(said);
	unsetenv("SEEPAGE_CONF_DIR");
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_numbers_or_words),
		cmocka_unit_test(an_error_has_no_control_characters),
		cmocka_unit_test(a_unit_is_one_of_systemd_itself),
		cmocka_unit_test(all_thresholds_have_to_be_reached),
		cmocka_unit_test(time_until_a_limit),
		cmocka_unit_test(a_level_that_swings_tells_once),
		cmocka_unit_test(an_hour_of_growth_is_near),
		cmocka_unit_test(it_says_which_part_is_measured),
		cmocka_unit_test(it_says_that_processes_may_be_missing),
		cmocka_unit_test(a_file_system_without_hard_links),
		cmocka_unit_test(a_lock_that_cannot_be_had_is_named),
		cmocka_unit_test(who_may_not_make_the_directory_is_told_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
