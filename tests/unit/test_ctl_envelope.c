// SPDX-License-Identifier: GPL-2.0
/* The envelope of services: entries, their bounds, the file, what is learned and handed back */
#include "msg.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "envelope/envelope.h"
#include "tools.h"
#include <cmocka.h>

#define MB	(1ULL << 20)
#define DAY_NS	(24 * 3600000000000ULL)
#define NOW	(100 * 365 * DAY_NS)	/* a time to come, as nothing here is older */

/* ---- stand-ins for the module ---- */

static u64 load = 1, load_after;	/* instance; another one after the dump */
static u64 known_rise, known_span, age_s;
static const char *comm = "leaky";
static u32 uid = 33;
static int refusal;		/* of SET_FACTS */
static unsigned int told;	/* SET_FACTS that were sent */
static u64 told_pid, told_rise, told_span;

static void copy_of(struct nl_msg *msg, struct nlmsghdr **to)
{
	*to = must(malloc(nlmsg_hdr(msg)->nlmsg_len));
	memcpy(*to, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

struct nl_msg *knl_msg(struct knl *k, int cmd, int flags)
{
	return msg_new();
}

int knl_call(struct knl *k, struct nl_msg *msg, knl_cb cb, void *arg)
{
	struct message m;

	assert_int_equal(msg_parse(&m, nlmsg_hdr(msg)), 0);
	told_pid = msg_get(&m, SEEPAGE_A_PID, 0);
	told_rise = msg_get(&m, SEEPAGE_A_KNOWN_RISE_BYTES, 0);
	told_span = msg_get(&m, SEEPAGE_A_KNOWN_SPAN_SECONDS, 0);
	told++;
	nlmsg_free(msg);
	return refusal;
}

void knl_close(struct knl *k)
{
}

int knl_fail(const struct ctx *ctx, const struct knl *k, const char *needs)
{
	return (fail)(ctx, "%s", *k->text ? k->text : needs);
}

bool knl_module_seen(void)
{
	return true;
}

int query_open(const struct ctx *ctx, struct knl *k)
{
	memset(k, 0, sizeof(*k));
	return 0;
}

int query_one(struct knl *k, struct nl_msg *msg, struct nlmsghdr **reply)
{
	nla_put_u64(msg, SEEPAGE_A_INSTANCE, load);
	copy_of(msg, reply);
	return 0;
}

/* This process, as the module sees it */
int query_dump(struct knl *k, struct nl_msg *(*build)(struct knl *k, void *arg), void *arg,
	       struct msgs *m)
{
	struct nl_msg *msg = build(k, arg);

	nla_put_u32(msg, SEEPAGE_A_PID, (u32)getpid());
	nla_put_string(msg, SEEPAGE_A_COMM, comm);
	nla_put_u32(msg, SEEPAGE_A_UID, uid);
	nla_put_u64(msg, SEEPAGE_A_AGE_SECONDS, age_s);
	if (known_rise) {
		nla_put_u64(msg, SEEPAGE_A_KNOWN_RISE_BYTES, known_rise);
		nla_put_u64(msg, SEEPAGE_A_KNOWN_SPAN_SECONDS, known_span);
	}
	msgs_free(m);
	m->v = must(malloc(sizeof(*m->v)));
	copy_of(msg, &m->v[0]);
	m->n = 1;
	load = load_after ? load_after : load;
	return 0;
}

void msgs_free(struct msgs *m)
{
	while (m->n)
		free(m->v[--m->n]);
	free(m->v);
	memset(m, 0, sizeof(*m));
}

static const char *path = "/system.slice/leaky.service";
static bool is_reused;		/* the pid becomes another process after it was looked at */

char *__wrap_procfs_cgroup(int dir);
u64 __real_procfs_start(int dir);
u64 __wrap_procfs_start(int dir);

char *__wrap_procfs_cgroup(int dir)
{
	return path ? must(strdup(path)) : NULL;
}

u64 __wrap_procfs_start(int dir)
{
	static unsigned int calls;

	return __real_procfs_start(dir) + (is_reused ? calls++ % 2 : 0);
}

static int reset(void **state)
{
	load = 1;
	load_after = 0;
	known_rise = 0;
	known_span = 0;
	age_s = 0;
	comm = "leaky";
	uid = 33;
	refusal = 0;
	told = 0;
	told_pid = 0;
	told_rise = 0;
	told_span = 0;
	path = "/system.slice/leaky.service";
	is_reused = false;
	return 0;
}

/* ---- entries ---- */

static struct envelope_entry entry_of(const char *unit, u32 user, u64 rise, u64 when)
{
	struct envelope_entry e = { .key = { .uid = user, .owner = user }, .rise = rise,
				    .span_s = 60, .instance = 1, .learned_ns = when,
				    .confirmed_ns = when };

	snprintf(e.key.unit, sizeof(e.key.unit), "%s", unit);
	snprintf(e.key.comm, sizeof(e.key.comm), "leaky");
	return e;
}

static void each_figure_only_rises(void **state)
{
	struct envelope e = { 0 };
	struct envelope_entry seen = entry_of("a.service", 33, 50 * MB, NOW);

	assert_true(envelope_take(&e, &seen));
	assert_int_equal(e.n, 1);
	seen.instance = 2;
	seen.confirmed_ns = NOW + 10;
	seen.rise = 40 * MB;
	assert_false(envelope_take(&e, &seen));
	assert_int_equal(e.v[0].rise, 50 * MB);
	assert_int_equal(e.v[0].instance, 1);

	seen.span_s = 90;
	assert_true(envelope_take(&e, &seen));
	assert_int_equal(e.n, 1);
	assert_int_equal(e.v[0].rise, 50 * MB);
	assert_int_equal(e.v[0].span_s, 90);
	assert_int_equal(e.v[0].instance, 2);
	assert_int_equal(e.v[0].learned_ns, NOW + 10);

	seen = entry_of("a.service", 33, 70 * MB, NOW + 20);
	assert_true(envelope_take(&e, &seen));
	assert_int_equal(e.v[0].rise, 70 * MB);
	assert_int_equal(e.v[0].span_s, 90);
	envelope_free(&e);
}

static void a_load_that_was_told_has_learned_nothing(void **state)
{
	struct envelope e = { 0 };
	struct envelope_entry seen = entry_of("a.service", 33, 50 * MB, NOW);

	envelope_take(&e, &seen);
	seen.instance = 2;
	seen.confirmed_ns = NOW + DAY_NS;
	assert_true(envelope_take(&e, &seen));
	assert_int_equal(e.v[0].instance, 1);
	assert_int_equal(e.v[0].learned_ns, NOW);
	assert_int_equal(e.v[0].confirmed_ns, NOW + DAY_NS);
	seen.confirmed_ns = NOW;	/* a clock that is not set yet */
	assert_false(envelope_take(&e, &seen));
	assert_int_equal(e.v[0].confirmed_ns, NOW + DAY_NS);
	envelope_free(&e);
}

static void figures_have_bounds(void **state)
{
	struct envelope e = { 0 };
	struct envelope_entry seen = entry_of("a.service", 33, UINT64_MAX, NOW);

	seen.span_s = UINT64_MAX;
	envelope_take(&e, &seen);
	assert_int_equal(e.v[0].rise, ENVELOPE_RISE_MAX);
	assert_int_equal(e.v[0].span_s, ENVELOPE_SPAN_MAX);
	seen = entry_of("b.service", 33, 0, NOW);
	assert_false(envelope_take(&e, &seen));
	assert_int_equal(e.n, 1);
	envelope_free(&e);
}

static void take_many(struct envelope *e, u32 user, unsigned int n, u64 when)
{
	struct envelope_entry seen;
	char unit[32];
	unsigned int i;

	for (i = 0; i < n; i++) {
		snprintf(unit, sizeof(unit), "%u-%u.service", user, i);
		seen = entry_of(unit, user, MB, when + i);
		envelope_take(e, &seen);
	}
}

static size_t count(const struct envelope *e, u32 user)
{
	size_t i, n = 0;

	for (i = 0; i < e->n; i++)
		n += e->v[i].key.owner == user;
	return n;
}

static bool has(const struct envelope *e, const char *unit, u32 user)
{
	struct envelope_entry wanted = entry_of(unit, user, 0, 0);

	return envelope_find(e, &wanted.key);
}

static void a_user_pushes_out_entries_of_its_own(void **state)
{
	struct envelope e = { 0 };

	take_many(&e, 0, 200, NOW);
	take_many(&e, 33, 3, NOW);
	take_many(&e, 1000, ENVELOPE_OF_USER, NOW + 1000);
	assert_false(envelope_trim(&e, NOW + 2000));
	take_many(&e, 1000, 5000, NOW + 1000);
	assert_true(envelope_trim(&e, NOW + 9000));
	assert_int_equal(count(&e, 0), 200);
	assert_int_equal(count(&e, 33), 3);
	assert_int_equal(count(&e, 1000), ENVELOPE_OF_USER);
	assert_true(has(&e, "1000-4999.service", 1000));
	assert_true(has(&e, "1000-4936.service", 1000));
	assert_false(has(&e, "1000-4935.service", 1000));
	envelope_free(&e);
}

/* Users that have one entry keep it while others have many; those of root stay. */
static void many_users_share_what_root_leaves(void **state)
{
	struct envelope e = { 0 };
	u32 user;

	take_many(&e, 0, 500, NOW);
	take_many(&e, 33, 1, NOW);
	for (user = 1000; user < 1050; user++)
		take_many(&e, user, ENVELOPE_OF_USER, NOW + 1000);
	assert_true(envelope_trim(&e, NOW + 2000));
	assert_int_equal(e.n, ENVELOPE_MOST);
	assert_int_equal(count(&e, 0), 500);
	assert_int_equal(count(&e, 33), 1);
	for (user = 1000; user < 1050; user++)
		assert_in_range(count(&e, user), 10, 11);
	take_many(&e, 0, ENVELOPE_MOST + 10, NOW + 1000);
	envelope_trim(&e, NOW + 3000);
	assert_int_equal(count(&e, 0), ENVELOPE_MOST);
	assert_false(has(&e, "0-9.service", 0));
	assert_true(has(&e, "0-10.service", 0));
	envelope_free(&e);
}

static void an_entry_is_dropped_after_90_days(void **state)
{
	struct envelope e = { 0 };
	struct envelope_entry seen = entry_of("a.service", 0, MB, NOW);

	envelope_take(&e, &seen);
	assert_false(envelope_trim(&e, NOW + 90 * DAY_NS));
	seen.confirmed_ns = NOW + 89 * DAY_NS;
	envelope_take(&e, &seen);
	assert_false(envelope_trim(&e, NOW + 179 * DAY_NS));
	assert_false(envelope_trim(&e, 1));	/* a clock that is not set yet */
	assert_int_equal(e.n, 1);
	assert_true(envelope_trim(&e, NOW + 179 * DAY_NS + 1));
	assert_int_equal(e.n, 0);
	envelope_free(&e);
}

/* ---- which service? ---- */

static struct nl_msg *request(struct knl *k, void *arg)
{
	return msg_new();
}

/* The unit and the owner of this process in @cgroup, "-" if it is of no service */
static const char *service(const char *cgroup)
{
	static char text[sizeof(((struct envelope_key *)0)->unit) + 16];
	struct envelope_key key;
	struct msgs m = { 0 };
	struct message msg;
	struct knl k;

	query_dump(&k, request, NULL, &m);
	assert_int_equal(msg_parse(&msg, m.v[0]), 0);
	if (envelope_key(&msg, cgroup, &key))
		snprintf(text, sizeof(text), "%s %u", key.unit, key.owner);
	else
		snprintf(text, sizeof(text), "-");
	msgs_free(&m);
	return text;
}

static void a_service_is_what_can_begin_again(void **state)
{
#define MANAGER	"/user.slice/user-1000.slice/user@1000.service"
#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	assert_string_equal(service("/system.slice/shop.service"), "shop.service 33");
	assert_string_equal(service("/system.slice/docker-" ID ".scope"),
			    "container 0123456789ab (docker) 33");
	assert_string_equal(service("/init.scope"), "init.scope 33");
	assert_string_equal(service("/"), "/ 33");
	assert_string_equal(service("/openrc.shop"), "/openrc.shop 33");
	/* the user of the manager has to answer for all that runs below it, whatever its uid */
	assert_string_equal(service(MANAGER "/app.slice/shop.service"),
			    "shop.service of user 1000 1000");
	assert_string_equal(service(MANAGER "/app.slice/app-shop-4711.scope"), "-");
	assert_string_equal(service("/user.slice/user-1000.slice/session-3.scope"), "-");
	assert_string_equal(service("/system.slice/run-u12.service"), "-");
	assert_string_equal(service("/system.slice/run-p12-i13.service"), "-");
	assert_string_equal(service("/system.slice/run-r0123456789abcdef.service"), "-");
	assert_string_equal(service("/system.slice/run-report.service"), "run-report.service 33");
	assert_string_equal(service("/system.slice/shop.service (deleted)"), "-");
	assert_string_equal(service("/a\nb"), "-");
	assert_string_equal(service(NULL), "-");
	uid = UINT32_MAX;
	assert_string_equal(service("/system.slice/shop.service"), "-");
}

/* ---- the file ---- */

#define ENTRY	"{\"unit\": \"a.service\", \"comm\": \"a\", \"uid\": 33, \"owner\": 33, "	\
		"\"rise_bytes\": 1048576, \"span_seconds\": 60, \"instance\": \"7\", "		\
		"\"learned_ns\": 5, \"confirmed_ns\": 6}"
#define FILE_OF(entries)	"{\"version\": 1, \"entries\": [" entries "]}"

static void refused(const char *text, const char *why)
{
	char err[CONF_ERR_MAX] = "";
	struct envelope e;

	assert_false(envelope_parse(text, strlen(text), &e, err, sizeof(err)));
	assert_string_equal(err, why);
	assert_int_equal(e.n, 0);
	assert_null(e.v);
}

/* Replaces the first @from in the text of a file with one good entry. */
static void refused_with(const char *from, const char *to, const char *why)
{
	static const char good[] = FILE_OF(ENTRY ", " ENTRY);
	const char *at = strstr(good, "}, {");
	char text[sizeof(good) + 512];

	at = strstr(at + 2, from);
	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
	refused(text, why);
}

static void a_file_is_taken_whole_or_not_at_all(void **state)
{
	struct envelope e;
	char err[CONF_ERR_MAX] = "";

	assert_true(envelope_parse(FILE_OF(ENTRY), strlen(FILE_OF(ENTRY)), &e, err, sizeof(err)));
	assert_int_equal(e.n, 1);
	assert_int_equal(e.v[0].instance, 7);
	envelope_free(&e);
	refused("{\"version\": 2, \"entries\": []}", "version: '2': allowed 1");
	refused("{\"entries\": []}", "version: 'null': allowed 1");
	refused("{\"version\": 1}", "entries: 'null': allowed an array");
	refused("{\"version\": 1, \"entries\": [3]}",
		"entries[0]: allowed an object, {\"KEY\": VALUE, ...}");
	refused_with("a.service", "a.service", "entries[1]: a.service: an entry before it has the "
		     "same unit, comm and uid");
	refused_with("1048576", "0", "entries[1]: rise_bytes: '0': allowed 1 to 70368744161280");
	refused_with("1048576", "-1", "entries[1]: rise_bytes: '-1': allowed 1 to 70368744161280");
	refused_with("1048576", "70368744161281",
		     "entries[1]: rise_bytes: '70368744161281': allowed 1 to 70368744161280");
	refused_with("1048576", "\"9\"",
		     "entries[1]: rise_bytes: '9': allowed 1 to 70368744161280");
	refused_with(": 60", ": 31536001",
		     "entries[1]: span_seconds: '31536001': allowed 0 to 31536000");
	refused_with("33", "4294967295", "entries[1]: uid: '4294967295': allowed 0 to 4294967294");
	refused_with("\"a\"", "\"\"", "entries[1]: comm: '': allowed 1 to 60 bytes of text");
	refused_with("\"a\"", "\"a\\u0000b\"",
		     "entries[1]: comm: 'a': allowed 1 to 60 bytes of text");
	refused_with("\"uid\": 33, ", "", "entries[1]: uid: 'null': allowed 0 to 4294967294");
	refused_with("\"uid\"", "\"more\": 1, \"uid\"", "entries[1]: '10' keys: allowed are unit, "
		     "comm, uid, owner, rise_bytes, span_seconds, learned_ns, confirmed_ns, "
		     "instance");
	refused_with("\"7\"", "7", "entries[1]: instance: '7': allowed 0 to "
		     "18446744073709551615, in double quotes");
	refused_with("\"7\"", "\"18446744073709551616\"", "entries[1]: instance: "
		     "'18446744073709551616': allowed 0 to 18446744073709551615, in double quotes");
}

static void a_file_that_is_cut_off_is_refused(void **state)
{
	static const char good[] = FILE_OF(ENTRY);
	char text[sizeof(good)], err[CONF_ERR_MAX];
	struct envelope e;
	size_t len;

	for (len = 0; len < sizeof(good) - 1; len++) {
		snprintf(text, sizeof(text), "%.*s", (int)len, good);
		assert_false(envelope_parse(text, len, &e, err, sizeof(err)));
	}
}

/* Whatever is taken is within the bounds. */
static void a_wrong_byte_does_no_harm(void **state)
{
	static const char good[] = FILE_OF(ENTRY);
	static const char wrong[] = "\"\\{}[],:-e90\xff\n";
	char text[sizeof(good)], err[CONF_ERR_MAX];
	struct envelope e;
	size_t i, k;

	for (i = 0; i < sizeof(good) - 1; i++) {
		for (k = 0; k < sizeof(wrong); k++) {	/* NUL as well */
			memcpy(text, good, sizeof(good));
			text[i] = wrong[k];
			if (!envelope_parse(text, sizeof(good) - 1, &e, err, sizeof(err)))
				continue;
			assert_in_range(e.n, 0, 1);
			assert_true(!e.n || (e.v[0].rise && e.v[0].rise <= ENVELOPE_RISE_MAX &&
					     e.v[0].span_s <= ENVELOPE_SPAN_MAX));
			envelope_free(&e);
		}
	}
}

/* What is written can be read again, however much there is. */
static void a_full_file_is_read(void **state)
{
	char *text = must(malloc(ENVELOPE_BYTES)), err[CONF_ERR_MAX];
	struct envelope_entry entry = {
		.rise = MB, .span_s = 60, .learned_ns = 1, .confirmed_ns = 1,
	};
	struct envelope e;
	struct json_object *o;
	size_t i, n = (size_t)sprintf(text, "{\"version\": 1, \"entries\": [");

	snprintf(entry.key.comm, sizeof(entry.key.comm), "a");
	for (i = 0; i < ENVELOPE_MOST; i++) {
		snprintf(entry.key.unit, sizeof(entry.key.unit), "u%zu.service", i);
		o = envelope_json(&entry);
		n += (size_t)sprintf(text + n, "%s%s", i ? ", " : "",
				     json_object_to_json_string(o));
		json_object_put(o);
	}
	n += (size_t)sprintf(text + n, "]}");
	*err = '\0';
	if (!envelope_parse(text, n, &e, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(e.n, ENVELOPE_MOST);
	envelope_free(&e);
	refused("{\"version\": 1, \"entries\": [], \"x\": 1}",
		"unknown key 'x': allowed version, entries");
	free(text);
}

static void a_file_has_no_more_entries_than_are_kept(void **state)
{
	char *text = must(malloc(ENVELOPE_BYTES)), why[128];
	size_t i, n = 0;

	n += (size_t)sprintf(text, "{\"version\": 1, \"entries\": [0");
	for (i = 0; i < ENVELOPE_MOST; i++)
		n += (size_t)sprintf(text + n, ", 0");
	sprintf(text + n, "]}");
	snprintf(why, sizeof(why), "entries: '%d' of them: allowed are %d", ENVELOPE_MOST + 1,
		 ENVELOPE_MOST);
	refused(text, why);
	free(text);
}

/* ---- the tool ---- */

static char dir[32], file[64];

static int make_dir(void **state)
{
	reset(state);
	snprintf(dir, sizeof(dir), "/tmp/envelope-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/" ENVELOPE_FILE, dir);
	setenv("SEEPAGE_STATE_DIR", dir, 1);
	return 0;
}

static int remove_dir(void **state)
{
	unlink(file);
	unsetenv("SEEPAGE_STATE_DIR");
	return rmdir(dir);	/* nothing else is left in it */
}

static char said[8192];		/* all that the tool has printed */
static bool is_service;		/* it runs until it is told to end */

static int run_tool(int argc, char **argv)
{
	FILE *was_out = stdout, *was_err = stderr;
	char *out = NULL, *err = NULL;
	struct ctx ctx = { 0 };
	size_t n_out, n_err;
	int status;

	stdout = open_memstream(&out, &n_out);
	stderr = open_memstream(&err, &n_err);
	status = command_run(&ctx, &cmd_envelope, argc, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = was_out;
	stderr = was_err;
	snprintf(said, sizeof(said), "%s%s", out, err);
	free(out);
	free(err);
	return status;
}

/* Does the process wait for SIGTERM in another way than by its end? */
static bool has_blocked(pid_t pid)
{
	char path_of[32], *status, *line;
	bool blocked;

	snprintf(path_of, sizeof(path_of), "/proc/%d/status", pid);
	status = procfs_read(-1, path_of);
	line = status ? strstr(status, "\nSigBlk:") : NULL;
	blocked = line && strtoull(line + 8, NULL, 16) >> (SIGTERM - 1) & 1;
	free(status);
	return blocked;
}

/* The same in a process of its own: options are kept until its end. A service is ended. */
static int run_apart(int argc, char **argv)
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		status = run_tool(argc, argv);
		n = write(ends[1], said, strlen(said));
		_exit(n < 0 ? 99 : status);
	}
	close(ends[1]);
	if (is_service) {
		while (!has_blocked(pid) && !waitpid(pid, NULL, WNOHANG))
			usleep(1000);
		kill(pid, SIGTERM);
	}
	n = read(ends[0], said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static int tool(const char *first, ...)
{
	char *argv[8] = { NULL };
	bool options = false;
	const char *word;
	va_list words;
	int argc = 0;

	va_start(words, first);
	for (word = first; word; word = va_arg(words, const char *)) {
		options |= *word == '-';
		argv[argc++] = (char *)word;
	}
	va_end(words);
	return options ? run_apart(argc, argv) : run_tool(argc, argv);
}

static void write_file(const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(file, 0600), 0);
}

static const char *content(void)
{
	static char text[65536];
	FILE *f = fopen(file, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* Runs the verb with this file; returns its status. */
static int with_file(const char *text, const char *verb)
{
	write_file(text);
	return tool(verb, NULL);
}

static void save_writes_what_the_module_knows(void **state)
{
	struct envelope e;
	struct ctx ctx = { 0 };
	struct stat st;

	assert_int_equal(tool("save", NULL), 0);
	assert_int_equal(access(file, F_OK), -1);	/* it knows nothing */
	known_rise = 50 * MB;
	known_span = 90;
	load = UINT64_MAX;	/* loads are random numbers */
	comm = "a\x01\xff";
	assert_int_equal(tool("save", NULL), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(envelope_read(&ctx, &e), 0);
	assert_int_equal(e.n, 1);
	assert_string_equal(e.v[0].key.unit, "leaky.service");
	assert_string_equal(e.v[0].key.comm, "a\x01\\xff");
	assert_int_equal(e.v[0].rise, 50 * MB);
	assert_int_equal(e.v[0].span_s, 90);
	assert_int_equal(e.v[0].instance, UINT64_MAX);
	assert_int_equal(e.v[0].key.uid, 33);
	envelope_free(&e);
	known_rise = 20 * MB;
	assert_int_equal(tool("save", NULL), 0);
	assert_int_equal(tool("list", NULL), 0);
	assert_non_null(strstr(said, "a\\x01"));
	assert_non_null(strstr(said, "50.0 MiB"));
}

static void a_file_that_is_refused_stays_as_it_is(void **state)
{
	static const char *const texts[] = { "{\"version\": 2, \"entries\": []}", "", "{\"vers",
					     FILE_OF("1") };
	static const char *const verbs[] = { "save", "restore", "list", "run" };
	char *lf;
	size_t i, k;

	known_rise = 50 * MB;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		for (k = 0; k < ARRAY_SIZE(verbs); k++) {
			assert_int_equal(with_file(texts[i], verbs[k]), 1);
			assert_non_null(strstr(said, file));
			lf = strchr(said, '\n');
			assert_true(lf && !lf[1]);
			assert_string_equal(content(), texts[i]);
		}
		assert_int_equal(tool("forget", "--all", NULL), 1);
		assert_string_equal(content(), texts[i]);
	}
	assert_int_equal(told, 0);
	assert_int_equal(with_file(FILE_OF(ENTRY), "list"), 0);
	assert_int_equal(chmod(file, 0622), 0);
	assert_int_equal(tool("save", NULL), 1);
	assert_string_equal(content(), FILE_OF(ENTRY));
}

/* ---- handing back ---- */

/* A file of an earlier load: this service, learned at @when */
static void write_learned(u64 instance, u64 when)
{
	char text[1024];

	snprintf(text, sizeof(text), FILE_OF("{\"unit\": \"leaky.service\", \"comm\": \"leaky\", "
		 "\"uid\": 33, \"owner\": 33, \"rise_bytes\": 52428800, \"span_seconds\": 90, "
		 "\"instance\": \"%llu\", \"learned_ns\": %llu, \"confirmed_ns\": %llu}"), instance,
		 when, when);
	write_file(text);
}

static void restored(unsigned int wanted)
{
	told = 0;
	assert_int_equal(tool("restore", NULL), 0);
	assert_int_equal(told, wanted);
}

static void a_younger_process_is_told(void **state)
{
	load = 2;
	write_learned(1, 5);
	restored(1);
	assert_string_equal(said, "1 process\n");
	assert_int_equal(told_pid, getpid());
	assert_int_equal(told_rise, 50 * MB);
	assert_int_equal(told_span, 90);
	known_rise = 50 * MB;
	known_span = 89;
	restored(1);
	known_span = 90;
	restored(0);		/* it knows as much */
}

static void what_a_load_reported_does_not_come_back_to_it(void **state)
{
	load = 1;
	write_learned(1, 5);
	restored(0);
	load = 2;
	restored(1);
}

static void an_older_process_is_not_told(void **state)
{
	load = 2;
	write_learned(1, clock_real_ns());
	restored(0);
	write_learned(1, NOW);
	restored(0);
	write_learned(1, 5);
	restored(1);
}

static void another_process_of_the_pid_is_not_told(void **state)
{
	load = 2;
	write_learned(1, 5);
	age_s = 1000000000;	/* that of the dump was older than this one can be */
	restored(0);
	age_s = 0;
	is_reused = true;
	restored(0);
	is_reused = false;
	restored(1);
}

static void another_service_is_not_told(void **state)
{
	load = 2;
	write_learned(1, 5);
	comm = "leakyy";
	restored(0);
	comm = "leaky";
	uid = 34;
	restored(0);
	uid = 33;
	path = "/system.slice/other.service";
	restored(0);
	path = NULL;
	restored(0);
	path = "/system.slice/leaky.service";
	restored(1);
}

static void a_process_that_has_gone_is_no_error(void **state)
{
	load = 2;
	write_learned(1, 5);
	refusal = -ESRCH;
	restored(1);
	assert_string_equal(said, "0 processes\n");
	refusal = -EPERM;
	assert_int_equal(tool("restore", NULL), 1);
}

static void a_module_that_is_loaded_again_meanwhile(void **state)
{
	load = 1;
	load_after = 2;
	write_learned(9, 5);
	restored(1);		/* the second try */
	load = 0;
	load_after = 0;
	assert_int_equal(tool("restore", NULL), 1);
}

/* Through a file, as after a reboot: the next load is told, and a third one as well. */
static void knowledge_survives_loads(void **state)
{
	struct ctx ctx = { 0 };
	struct envelope e;

	known_rise = 50 * MB;
	known_span = 90;
	assert_int_equal(tool("save", NULL), 0);
	assert_int_equal(envelope_read(&ctx, &e), 0);
	assert_true(e.v[0].learned_ns <= clock_real_ns());
	envelope_free(&e);
	write_learned(1, 5);
	load = 2;
	assert_int_equal(tool("save", NULL), 0);	/* it was told, and knows as much */
	restored(0);
	load = 3;
	known_rise = 0;
	known_span = 0;
	restored(1);
}

/* It hands back at its start, and saves at its end. */
static void a_service_saves_at_its_end(void **state)
{
	struct ctx ctx = { 0 };
	struct envelope e;

	load = 2;
	write_learned(1, 5);
	known_rise = 10 * MB;
	known_span = 1000;
	is_service = true;
	assert_int_equal(tool("run", "--every", "86400", NULL), 0);
	is_service = false;
	assert_string_equal(said, "seepage: envelope: handed back to 1 process\n");
	assert_int_equal(envelope_read(&ctx, &e), 0);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.v[0].rise, 50 * MB);
	assert_int_equal(e.v[0].span_s, 1000);
	assert_int_equal(e.v[0].instance, 2);
	envelope_free(&e);
}

/* ---- forget ---- */

#define OF(unit, comm, uid)	"{\"unit\": \"" unit "\", \"comm\": \"" comm "\", "		\
				"\"uid\": " uid ", \"owner\": 33, \"rise_bytes\": 1, "	\
				"\"span_seconds\": 60, \"instance\": \"7\", \"learned_ns\": 5, \"confirmed_ns\": 6}"
#define THREE	FILE_OF(OF("a.service", "one", "33") ", " OF("b.service", "two", "0") ", "	\
			OF("/c", "one", "4711"))

/* What is left of three after these words; each letter is a unit. */
static const char *left(const char *word, const char *other)
{
	static char text[8];
	struct ctx ctx = { 0 };
	struct envelope e;
	size_t i;

	write_file(THREE);
	if (tool("forget", word, other, NULL))
		return "-";
	assert_int_equal(envelope_read(&ctx, &e), 0);
	for (i = 0; i < e.n; i++)
		text[i] = *e.v[i].key.unit;
	text[e.n] = '\0';
	envelope_free(&e);
	return text;
}

static void forgets_by_unit_name_and_user(void **state)
{
	assert_string_equal(left("a.service", NULL), "b/");
	assert_non_null(strstr(said, "a.service"));
	assert_null(strstr(said, "b.service"));
	assert_string_equal(left("a", NULL), "b/");
	assert_string_equal(left("/c", NULL), "ab");
	assert_string_equal(left("one", NULL), "b");
	assert_string_equal(left("4711", NULL), "ab");
	assert_string_equal(left("root", NULL), "a/");
	assert_string_equal(left("a", "two"), "/");
	assert_string_equal(left("--all", NULL), "");
	assert_non_null(strstr(said, "a.service"));
	assert_non_null(strstr(said, "b.service"));
}

static void a_word_that_fits_nothing_is_an_error(void **state)
{
	assert_string_equal(left("nothing", NULL), "-");
	assert_string_equal(said, "seepage: envelope: forget: 'nothing': no entry has it: allowed "
			    "a unit, a name or a user of seepage envelope list\n");
	assert_string_equal(content(), THREE);
	assert_string_equal(left("a", "nothing"), "-");
	assert_string_equal(content(), THREE);
}

static void wrong_words_are_named(void **state)
{
	assert_int_equal(tool("keep", NULL), EXIT_USAGE);
	assert_string_equal(said, "seepage: envelope: 'keep': allowed list, run, save, restore, "
			    "forget (seepage envelope --help)\n");
	assert_int_equal(tool("save", "now", NULL), EXIT_USAGE);
	assert_string_equal(said, "seepage: envelope: save: 'now': allowed no other word "
			    "(seepage envelope --help)\n");
	assert_int_equal(tool("forget", NULL), EXIT_USAGE);
	assert_string_equal(said, "seepage: envelope: forget: WHAT is missing: allowed a unit, a "
			    "name or a user, or --all (seepage envelope --help)\n");
	assert_int_equal(tool("forget", "a", "--all", NULL), EXIT_USAGE);
	assert_string_equal(said, "seepage: envelope: forget: 'a': not allowed with --all "
			    "(seepage envelope --help)\n");
	assert_int_equal(tool("list", "--all", NULL), EXIT_USAGE);
	assert_int_equal(tool("save", "--every", "9", NULL), EXIT_USAGE);
	assert_string_equal(said, "seepage: envelope: --every: '9': allowed with run only "
			    "(seepage envelope --help)\n");
	assert_int_equal(tool("run", "--every", "0", NULL), EXIT_USAGE);
	assert_string_equal(said, "seepage: envelope: --every: '0': allowed 1..86400 seconds "
			    "(seepage envelope --help)\n");
	assert_int_equal(tool("run", "-j", NULL), EXIT_USAGE);
}

#define IN_DIR(test)	cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
#define ALONE(test)	cmocka_unit_test_setup(test, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(each_figure_only_rises),
		ALONE(a_load_that_was_told_has_learned_nothing),
		ALONE(figures_have_bounds),
		ALONE(a_user_pushes_out_entries_of_its_own),
		ALONE(many_users_share_what_root_leaves),
		ALONE(an_entry_is_dropped_after_90_days),
		ALONE(a_service_is_what_can_begin_again),
		ALONE(a_file_is_taken_whole_or_not_at_all),
		ALONE(a_file_that_is_cut_off_is_refused),
		ALONE(a_wrong_byte_does_no_harm),
		ALONE(a_full_file_is_read),
		ALONE(a_file_has_no_more_entries_than_are_kept),
		IN_DIR(save_writes_what_the_module_knows),
		IN_DIR(a_file_that_is_refused_stays_as_it_is),
		IN_DIR(a_younger_process_is_told),
		IN_DIR(what_a_load_reported_does_not_come_back_to_it),
		IN_DIR(an_older_process_is_not_told),
		IN_DIR(another_process_of_the_pid_is_not_told),
		IN_DIR(another_service_is_not_told),
		IN_DIR(a_process_that_has_gone_is_no_error),
		IN_DIR(a_module_that_is_loaded_again_meanwhile),
		IN_DIR(knowledge_survives_loads),
		IN_DIR(a_service_saves_at_its_end),
		IN_DIR(forgets_by_unit_name_and_user),
		IN_DIR(a_word_that_fits_nothing_is_an_error),
		IN_DIR(wrong_words_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
