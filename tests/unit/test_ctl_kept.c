// SPDX-License-Identifier: GPL-2.0
/*
 * What seepage where --keep keeps: the key of a process, what may be read back, the limit of cost,
 * and an answer in sentences
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "where/keep.h"
#include <cmocka.h>

#define S	1000000000ULL

static char run[64];

static void write_at(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", run, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	chmod(path, 0600);
}

static int begin(void **state)
{
	char path[128];

	snprintf(run, sizeof(run), "/tmp/kept-XXXXXX");
	if (!mkdtemp(run))
		return -1;
	setenv("SEEPAGE_RUN", run, 1);
	snprintf(path, sizeof(path), "%s/where", run);
	return mkdir(path, 0700);
}

static int end(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", run);
	return system(command);
}

/* The key of a made-up process with this stat */
static bool key_of(const char *stat, char *key)
{
	int dir;
	bool ok;

	write_at("stat", stat);
	dir = open(run, O_PATH | O_DIRECTORY);
	ok = kept_key(dir, 77, key);
	close(dir);
	return ok;
}

static void a_key_is_pid_start_and_boot(void **state)
{
	const char *stat = "77 (a) b) S 1 1 1 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 %s 5 6\n";
	char key[KEPT_KEY], later[KEPT_KEY], text[256], *boot, *end_of_line;

	snprintf(text, sizeof(text), stat, "123456");
	assert_true(key_of(text, key));
	assert_memory_equal(key, "77-123456-", 10);
	boot = procfs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
	end_of_line = strchr(boot, '\n');
	*end_of_line = '\0';
	assert_string_equal(key + 10, boot);
	free(boot);
	snprintf(text, sizeof(text), stat, "123457");
	assert_true(key_of(text, later));
	assert_string_not_equal(key, later);
	/* a process that is gone, or one whose start is not known, has none */
	assert_false(key_of("", key));
	assert_false(key_of("77 (a) S 1 1\n", key));
	assert_false(key_of("77 (a S 1 1 1 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 5 5 6\n", key));
}

static void only_what_nobody_else_can_change_is_read(void **state)
{
	char path[128];
	struct json_object *o;

	write_at("where/answer-1-2-x", "{\"pid\":1}");
	o = kept_read("answer", "1-2-x");
	assert_non_null(o);
	json_object_put(o);
	assert_null(kept_read("answer", "1-3-x"));
	assert_null(kept_read("first", "1-2-x"));
	write_at("where/answer-1-2-y", "[1]");
	assert_null(kept_read("answer", "1-2-y"));
	write_at("where/answer-1-2-y", "{\"pid\":");
	assert_null(kept_read("answer", "1-2-y"));
	snprintf(path, sizeof(path), "%s/where/answer-1-2-z", run);
	assert_int_equal(symlink("answer-1-2-x", path), 0);
	assert_null(kept_read("answer", "1-2-z"));
	assert_int_equal(truncate(path, KEPT_BYTES + 1), 0);
	assert_null(kept_read("answer", "1-2-x"));
	write_at("where/answer-1-2-x", "{\"pid\":1}");
	snprintf(path, sizeof(path), "%s/where", run);
	assert_int_equal(chmod(path, 0750), 0);
	assert_null(kept_read("answer", "1-2-x"));
	assert_int_equal(chmod(path, 0700), 0);
}

/* An answer from before the program was executed is about another one. */
static void an_answer_is_about_this_program(void **state)
{
	struct json_object *o;
	char text[128];

	snprintf(text, sizeof(text), "{\"pid\":1,\"time_ns\":%llu,\"kept\":{\"start_brk\":5}}",
		 clock_real_ns() - 100 * S);
	write_at("where/answer-5-6-b", text);
	assert_null(kept_answer("5-6-b", 90));
	o = kept_answer("5-6-b", 110);
	assert_non_null(o);
	assert_null(json_object_object_get(o, KEPT_OWN));
	json_object_put(o);
	write_at("where/answer-5-6-b", "{\"pid\":1}");
	assert_null(kept_answer("5-6-b", 100000));
}

static void a_ledger_is_read_as_it_was_written(void **state)
{
	struct ledger l = { 3, 1, 2, 4 * S, 5, 6, 2 * S, 7, S, 9 }, again;
	struct json_object *o = ledger_json(&l);

	ledger_read(&again, o, 7);
	assert_memory_equal(&l, &again, sizeof(l));
	/* of an earlier boot: it begins now */
	ledger_read(&again, o, 5);
	assert_int_equal(again.looks + again.left_out + again.cpu_ns + again.hour_cpu_ns, 0);
	assert_int_equal(again.since_ns, 5);
	assert_int_equal(again.hour_ns, 5);
	json_object_put(o);
	ledger_read(&again, NULL, 9);
	assert_int_equal(again.since_ns, 9);
	o = json_tokener_parse("{\"looks\":\"x\",\"since_ns\":-4,\"hour_ns\":[]}");
	ledger_read(&again, o, 9);
	assert_true(again.hour_ns <= 9);
	json_object_put(o);
}

static void an_hour_has_5_permille_of_a_cpu(void **state)
{
	struct ledger l = { .since_ns = 1, .hour_ns = 1, .limit_permille = KEPT_PERMILLE };
	u64 hour = 3600 * S;

	assert_true(ledger_allows(&l, 2, 18 * S));
	assert_false(ledger_allows(&l, 2, 18 * S + 1));
	ledger_add(&l, 10 * S);
	assert_true(ledger_allows(&l, 3, 8 * S));
	assert_false(ledger_allows(&l, 3, 9 * S));
	ledger_add(&l, 9 * S);		/* it took more than expected */
	assert_false(ledger_allows(&l, 3, 0));
	assert_int_equal(l.left_out, 3);
	assert_false(ledger_allows(&l, hour, 1));
	assert_true(ledger_allows(&l, hour + 1, 18 * S));
	assert_int_equal(l.hour_ns, hour + 1);
	assert_int_equal(l.cpu_ns, 19 * S);
	assert_false(ledger_allows(&l, hour + 2, UINT64_MAX));
	l.limit_permille = 6;
	assert_true(ledger_allows(&l, hour + 3, 18 * S + 1));
}

static void a_look_that_was_killed_costs_what_it_took(void **state)
{
	struct ledger l = { .since_ns = 1, .hour_ns = 1, .limit_permille = KEPT_PERMILLE };

	ledger_add(&l, 2 * S);
	ledger_charge(&l, 77, 60 * S);
	assert_false(ledger_allows(&l, 2, S));	/* while it is under way */
	assert_int_equal(l.cpu_ns, 2 * S);
	assert_false(ledger_settle(&l, 78, S));
	assert_int_equal(l.hour_cpu_ns, 62 * S);
	assert_true(ledger_settle(&l, 77, 3 * S));
	assert_int_equal(l.hour_cpu_ns, 5 * S);
	assert_int_equal(l.cpu_ns, 5 * S);
	assert_true(ledger_allows(&l, 3, S));
	assert_false(ledger_settle(&l, 77, S));	/* once */
	assert_false(ledger_settle(&l, 0, S));
	/* The next hour does not have the charge, and gets nothing back. */
	ledger_charge(&l, 79, 60 * S);
	assert_true(ledger_allows(&l, 2 * 3600 * S, S));
	ledger_add(&l, 4 * S);
	assert_true(ledger_settle(&l, 79, S));
	assert_int_equal(l.hour_cpu_ns, 5 * S);
}

static void status_has_the_cost_of_all(void **state)
{
	struct ledger l = { 3, 1, 2, 4 * S, 0, 0, 0, 9, 0, 0 };
	struct json_object *o;

	assert_null(kept_cost());
	l.since_ns = clock_ns() - 2 * S;	/* a machine of a test may not be up for long */
	l.hour_ns = l.since_ns;
	o = ledger_json(&l);
	write_at("where/ledger", json_object_to_json_string(o));
	json_object_put(o);
	o = kept_cost();
	assert_non_null(o);
	assert_int_equal(json_object_get_int(json_object_object_get(o, "looks")), 3);
	assert_int_equal(json_object_get_int(json_object_object_get(o, "left_out")), 2);
	assert_int_equal(json_object_get_int(json_object_object_get(o, "cpu_ms")), 4000);
	assert_int_equal(json_object_get_int(json_object_object_get(o, "limit_permille")), 9);
	/* 4 s of CPU time in less than an hour count as 4 s in one */
	assert_true(json_object_get_double(json_object_object_get(o, "cpu_permille")) > 1.11);
	assert_true(json_object_get_double(json_object_object_get(o, "cpu_permille")) < 1.12);
	json_object_put(o);
	l.since_ns = clock_ns() + 1000 * S;	/* an earlier boot */
	o = ledger_json(&l);
	write_at("where/ledger", json_object_to_json_string(o));
	json_object_put(o);
	assert_null(kept_cost());
}

static void the_class_in_a_sentence(void **state)
{
	struct where_row row = { .id = class_of_request(80), .blocks = 9, .growth_blocks = 5,
				 .growth_bytes = 480, .permille = 413,
				 .content = { { CONTENT_VTABLE, "Session", 966 } } };
	struct result r = { .method = "census", .seconds = 312, .row = &row, .rows = 1 };
	char text[SUMMARY_MAX];

	summary_class(&r, text, sizeof(text));
	assert_string_equal(text, "+5.4 KiB/h in blocks of 73..88 bytes: vtable Session (96 %), "
			    "41.3 % of the growth in 5m12s");
	row.content[1] = (struct content){ CONTENT_VTABLE, "Login", 20 };
	row.content[2] = (struct content){ CONTENT_TEXT, "", 10 };
	summary_class(&r, text, sizeof(text));
	assert_string_equal(text, "+5.4 KiB/h in blocks of 73..88 bytes: vtable Session (96 %), "
			    "Login (2 %), text (1 %), 41.3 % of the growth in 5m12s");
	memset(&row.content[1], 0, 2 * sizeof(row.content[1]));
	row.growth_bytes = 0;
	summary_class(&r, text, sizeof(text));
	assert_string_equal(text, "no class of blocks grew in 5m12s");
	row.growth_bytes = 480;
	r.pages = true;
	r.allocator = "unknown";
	summary_class(&r, text, sizeof(text));
	assert_string_equal(text, "+5.4 KiB/h in pages of an allocator that is not known: "
			    "vtable Session (96 %), in 5m12s");
	r.allocator = "jemalloc";
	summary_class(&r, text, sizeof(text));
	assert_string_equal(text, "+5.4 KiB/h in pages of jemalloc: vtable Session (96 %), "
			    "in 5m12s");
}

static void sites_in_sentences(void **state)
{
	static const char listed[] =
		"[{\"bytes_per_hour\":2621440,\"survival_permille\":1000,\"stack\":["
		"{\"symbol\":\"wrapped\"},{\"symbol\":\"keep\"},{\"symbol\":\"main\"},"
		"{\"symbol\":\"start\"},{\"symbol\":\"not_shown\"}]},"
		"{\"bytes_per_hour\":1,\"survival_permille\":null,\"stack\":[]},"
		"{\"bytes_per_hour\":1},{\"bytes_per_hour\":1}]";
	struct json_object *sites = json_tokener_parse(listed);
	struct result r = { .method = "burst", .seconds = 60, .sites = sites };
	struct json_object *list;
	char text[SUMMARY_MAX];

	summary_site(json_object_array_get_idx(sites, 0), text, sizeof(text));
	assert_string_equal(text, "wrapped <- keep <- main <- start, +2.5 MiB/h, 100.0 % stay");
	list = summary(&r);
	assert_int_equal(json_object_array_length(list), 1 + KEEP_TOP);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(list, 1)), text);
	json_object_put(list);
	r.profiler = "node: so";	/* after all sites */
	list = summary(&r);
	assert_int_equal(json_object_array_length(list), 2 + KEEP_TOP);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(list, 1 + KEEP_TOP)),
			    r.profiler);
	json_object_put(list);
	r.profiler = NULL;
	r.method = "profile";		/* it has no classes */
	list = summary(&r);
	assert_int_equal(json_object_array_length(list), KEEP_TOP);
	json_object_put(list);
	json_object_put(sites);
}

/* What @show prints on a terminal of so many columns, 0: to a pipe. The lines end in \n. */
static void printed(void (*show)(const struct result *r), const struct result *r,
		    unsigned short columns, char *buf, size_t size)
{
	struct winsize w = { .ws_row = 24, .ws_col = columns };
	int from = posix_openpt(O_RDWR | O_NOCTTY), to, ends[2], status;
	size_t n = 0;
	ssize_t got;
	char *cr;
	pid_t pid;

	assert_true(from >= 0 && !grantpt(from) && !unlockpt(from));
	to = open(ptsname(from), O_RDWR | O_NOCTTY);
	assert_true(to >= 0);
	assert_int_equal(ioctl(to, TIOCSWINSZ, &w), 0);
	if (!columns) {
		assert_int_equal(pipe(ends), 0);
		dup2(ends[0], from);
		dup2(ends[1], to);
		close(ends[0]);
		close(ends[1]);
	}
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(to, STDOUT_FILENO);
		show(r);
		fflush(stdout);
		_exit(0);
	}
	close(to);
	while (n < size - 1 && (got = read(from, buf + n, size - 1 - n)) > 0)
		n += (size_t)got;
	buf[n] = '\0';
	close(from);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	while ((cr = strstr(buf, "\r\n")))
		memmove(cr, cr + 1, strlen(cr));
}

static void show_all(const struct result *r)
{
	show_table(r, 10);
}

static void shown(const struct result *r, unsigned short columns, char *buf, size_t size)
{
	printed(show_all, r, columns, buf, size);
}

static size_t longest(const char *text)
{
	size_t most = 0, n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (n > most)
			most = n;
	}
	return most;
}

#define LONG_NAME	"std::vector<application::server::Connection*>::push_back(Connection*)"

#define LONG_NOTE	"a note that goes on until it is longer than any line of a terminal " \
			"may be, and then a little"

/* The same words in the same order, whatever lines they are in */
static void assert_same_words(char *a, char *b)
{
	char *sa, *sb, *wa = strtok_r(a, "\n ", &sa), *wb = strtok_r(b, "\n ", &sb);

	for (; wa && wb; wa = strtok_r(NULL, "\n ", &sa), wb = strtok_r(NULL, "\n ", &sb))
		assert_string_equal(wa, wb);
	assert_null(wa);
	assert_null(wb);
}

static void what_was_sampled_in_lines_of_a_terminal(void **state)
{
	static const char listed[] =
		"[{\"bytes_per_hour\":2621440,\"bytes\":6144,\"survival_permille\":1000,"
		"\"again\":[{\"seconds\":1,\"survival_permille\":1000},"
		"{\"seconds\":2,\"survival_permille\":995}],\"stack\":["
		"{\"symbol\":\"wrapped\"},{\"symbol\":\"" LONG_NAME "\"},"
		"{\"symbol\":\"main\"}]},"
		"{\"bytes_per_hour\":1048576,\"bytes\":4096,\"survival_permille\":null,"
		"\"stack\":[{\"symbol\":\"keep\"}]}]";
	struct json_object *sites = json_tokener_parse(listed), *notes = json_object_new_array();
	struct where_row row = { .id = 7, .blocks = 1234567, .growth_blocks = 9876,
				 .growth_bytes = 1 << 30, .permille = 981 };
	struct target t = { .pid = 4194303, .comm = "a-name-of-15-by" };
	struct result r = { .t = &t, .method = "burst", .allocator = "glibc and pymalloc",
			    .seconds = 60, .sites = sites, .notes = notes, .row = &row,
			    .rows = 1, .heap_bytes = 1ULL << 33, .growth = 1 << 30 };
	char text[4096], piped[4096];

	(void)state;
	row.content[0].kind = CONTENT_VTABLE;
	row.content[0].permille = 960;
	snprintf(row.content[0].name, sizeof(row.content[0].name), "app::Session");
	json_object_array_add(notes, json_object_new_string(LONG_NOTE));
	shown(&r, 0, piped, sizeof(piped));
	assert_non_null(strstr(piped, "\n+2.5 MiB/h, 6.0 KiB sampled, 100.0 % stay (100.0 % after "
			       "1 s, 99.5 % after 2 s): wrapped <- " LONG_NAME " <- main\n"));
	/* of faults and of Go's profile it is an estimate of all */
	assert_non_null(strstr(piped, "\n+1.0 MiB/h, 4.0 KiB: keep\n"));
	assert_true(longest(piped) > 80);
	shown(&r, 80, text, sizeof(text));
	assert_true(longest(text) <= 80);
	assert_non_null(strstr(text, "\n+2.5 MiB/h, 6.0 KiB sampled, 100.0 % stay ("));
	assert_same_words(text, piped);
	json_object_put(sites);
	json_object_put(notes);
}

/* A process chooses its name, and the names of its functions. */
static void no_name_makes_frames_of_a_folded_stack(void **state)
{
	static const char listed[] = "[{\"bytes\":4096,\"stack\":[{\"symbol\":\"keep;x\"},"
				     "{\"symbol\":\"main\"}]}]";
	struct target t = { .pid = 1, .comm = "a;forged;b" };
	struct result r = { .t = &t, .sites = json_tokener_parse(listed) };
	char text[256];

	printed(show_folded, &r, 0, text, sizeof(text));
	assert_string_equal(text, "a:forged:b;main;keep:x 4096\n");
	json_object_put(r.sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_pid_start_and_boot),
		cmocka_unit_test(only_what_nobody_else_can_change_is_read),
		cmocka_unit_test(an_answer_is_about_this_program),
		cmocka_unit_test(a_ledger_is_read_as_it_was_written),
		cmocka_unit_test(an_hour_has_5_permille_of_a_cpu),
		cmocka_unit_test(a_look_that_was_killed_costs_what_it_took),
		cmocka_unit_test(status_has_the_cost_of_all),
		cmocka_unit_test(the_class_in_a_sentence),
		cmocka_unit_test(sites_in_sentences),
		cmocka_unit_test(what_was_sampled_in_lines_of_a_terminal),
		cmocka_unit_test(no_name_makes_frames_of_a_folded_stack),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
