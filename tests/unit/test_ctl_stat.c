// SPDX-License-Identifier: GPL-2.0
/* Hardware counters as stat prints and compares them */
#include "stat/stat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define SECOND	1000000000ULL

static char buf[SENTENCE_MAX];

/* ---- what is printed ---- */

static struct pmc_list list;
static struct stat_block block;

static void add(const char *name, u64 count, u64 percent)
{
	struct pmc_event *ev = &list.ev[list.n];

	memset(ev, 0, sizeof(*ev));
	snprintf(ev->name, sizeof(ev->name), "%s", name);
	block.v[list.n++] = (struct seepage_pmc_value){
		count, 2 * SECOND, 2 * SECOND * percent / 100 };
}

/* Half of the misses were counted, and nothing of other nodes. */
static void begin(void)
{
	memset(&list, 0, sizeof(list));
	memset(&block, 0, sizeof(block));
	add("cycles", 4000000000, 100);
	add("instructions", 2000000000, 100);
	add("llc_references", 10000000, 50);
	add("llc_misses", 6000000, 50);
	add("branch_misses", 0, 0);
	add("node_remote", 77, 100);
	list.ev[5].state = SEEPAGE_PMC_STATE_UNAVAILABLE;
	strcpy(list.ev[5].reason, "the driver has none");
	block.pid = 42;
	strcpy(block.comm, "a\"b");
	block.ns = 2 * SECOND;
	block.time_ns = 1795384860444013780ULL;
	block.share = 100;
}

/* What @show prints */
static char *printed(void (*show)(const struct pmc_list *list, const struct stat_block *b))
{
	FILE *terminal = stdout;
	char *text = NULL;
	size_t len;

	stdout = open_memstream(&text, &len);
	assert_non_null(stdout);
	show(&list, &block);
	fclose(stdout);
	stdout = terminal;
	return text;
}

static void numbers(void **state)
{
	(void)state;
	assert_string_equal(stat_number(buf, 1500, 3, 2), "1.50");
	assert_string_equal(stat_number(buf, 1995, 3, 2), "2.00");
	assert_string_equal(stat_number(buf, 4, 3, 3), "0.004");
	assert_string_equal(stat_number(buf, 12345, 4, 1), "1.2");
	assert_string_equal(stat_number(buf, 7, 0, 0), "7");
	assert_string_equal(stat_number(buf, SEEP_UNKNOWN, 3, 2), "-");
	assert_string_equal(stat_number(buf, SEEP_UNKNOWN - 1, 0, 0), "18446744073709551614");
}

static void text(void **state)
{
	char *out;

	(void)state;
	begin();
	out = printed(stat_text);
	assert_string_equal(out,
			    "pid 42 (a\"b), 2.000 s\n"
			    "  4,000,000,000  cycles\n"
			    "  2,000,000,000  instructions\n"
			    "     20,000,000  llc_references  (counted 50.0 % of the time, scaled)\n"
			    "     12,000,000  llc_misses      (counted 50.0 % of the time, scaled)\n"
			    "              -  branch_misses   (not counted in this time)\n"
			    "              -  node_remote     (the driver has none)\n"
			    "\n"
			    "       0.50  instructions per cycle\n"
			    "       6.00  last-level misses in 1000 instructions\n"
			    "      60.00  % of last-level references miss\n"
			    "  732.4 MiB  read from memory (estimate)\n"
			    "  366.2 MiB  read from memory in a second (estimate)\n"
			    "  memory bound: 6.0 last-level misses in 1000 instructions, 0.50 "
			    "instructions per cycle\n\n");
	free(out);
}

static struct stat_repeat runs;

static void means(const struct pmc_list *l, const struct stat_block *b)
{
	stat_repeat_text(&runs, l);
}

/* Of 1, 2 and 3 milliards of cycles the deviation is one milliard. */
static void several_runs(void **state)
{
	char *out;
	int i;

	(void)state;
	memset(&runs, 0, sizeof(runs));
	for (i = 1; i <= 3; i++) {
		begin();
		block.v[0].count = i * 1000000000ULL;
		block.v[1].count = 1000000000;
		block.command = true;
		block.ns = i * SECOND;
		block.status = i == 2 ? 7 << 8 : 0;
		stat_repeat_add(&runs, &list, &block);
	}
	out = printed(means);
	assert_string_equal(out,
			    "a\"b: 3 runs, 2.000 s +- 1.000 s (50.0 %), 1 of them failed\n"
			    "  2,000,000,000  +- 1,000,000,000  (50.0 %)  cycles\n"
			    "  1,000,000,000              +- 0   (0.0 %)  instructions\n"
			    "     20,000,000              +- 0   (0.0 %)  llc_references\n"
			    "     12,000,000              +- 0   (0.0 %)  llc_misses\n"
			    "              -                              branch_misses (not counted)\n"
			    "              -                              node_remote (the driver has "
			    "none)\n"
			    "           0.61           +- 0.35  (56.8 %)  instructions per cycle\n"
			    "          12.00           +- 0.00   (0.0 %)  last-level misses in 1000 "
			    "instructions\n"
			    "          60.00           +- 0.00   (0.0 %)  % of last-level references "
			    "miss\n"
			    "      732.4 MiB            +- 0 B   (0.0 %)  read from memory (estimate)\n"
			    "      447.6 MiB      +- 254.1 MiB  (56.8 %)  read from memory in a "
			    "second (estimate)\n"
			    "  memory bound: 12.0 last-level misses in 1000 instructions, 0.50 "
			    "instructions per cycle\n\n");
	free(out);
}

static void write_line(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* What is in the file behind @fd, which is closed then. */
static void is_in(int fd, const char *wanted)
{
	char text[128] = "";

	assert_true(pread(fd, text, sizeof(text) - 1, 0) >= 0);
	assert_string_equal(text, wanted);
	close(fd);
}

/*
 * The report goes to the file, the descriptor, or standard error where there is a command; what
 * the command prints to standard output.
 */
static void output_of_a_command(void **state)
{
	const struct ctx ctx = { .cmd = "stat" };
	struct stat_sink sink;
	int terminal, errors, own, file, i;
	char path[32];

	(void)state;
	for (i = 0; i < 5; i++) {
		fflush(stdout);
		terminal = dup(STDOUT_FILENO);
		errors = dup(STDERR_FILENO);
		own = memfd_create("stdout", 0);
		file = memfd_create("report", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
		dup2(own, STDOUT_FILENO);
		dup2(file, STDERR_FILENO);
		assert_int_equal(stat_sink_open(&ctx, i == 0 ? path : i == 1 ? "-" : NULL,
						i == 2 ? (u64)file : 0, i != 4, &sink), 0);
		printf("one\n");
		stat_sink_lend(&sink);
		write_line(STDOUT_FILENO, "command\n");
		stat_sink_back(&sink);
		printf("two\n");
		fflush(stdout);
		dup2(terminal, STDOUT_FILENO);
		close(terminal);
		dup2(errors, STDERR_FILENO);
		close(errors);
		is_in(own, i == 1 || i == 4 ? "one\ncommand\ntwo\n" : "command\n");
		is_in(file, i == 1 || i == 4 ? "" : "one\ntwo\n");
	}
	assert_int_equal(stat_sink_open(&ctx, NULL, 999, true, &sink), 1);
	assert_int_equal(stat_sink_open(&ctx, "/nonexistent/x", 0, true, &sink), 1);
}

/* A reading is repeated if it took long, beside the time since the last one. */
static void stalls(void **state)
{
	struct stat_share s = { .since_ns = 1000000000, .before_ns = clock_ns() - 200000000 };

	(void)state;
	assert_true(stat_share_stalled(&s));
	s.since_ns = 600000000000;
	assert_false(stat_share_stalled(&s));
	s.since_ns = 0;			/* the first one */
	assert_true(stat_share_stalled(&s));
	s.since_ns = 600000000000;	/* no load of this machine makes it too long */
	s.before_ns = clock_ns();
	assert_false(stat_share_stalled(&s));
}

/* What is not known is null, and raw counts are not scaled. */
static void json(void **state)
{
	struct json_object *o, *pmc, *metrics, *misses;

	(void)state;
	begin();
	o = stat_json(&list, &block);
	pmc = json_object_object_get(o, "pmc");
	metrics = json_object_object_get(o, "metrics");
	misses = json_object_object_get(pmc, "llc_misses");
	assert_string_equal(json_object_to_json_string_ext(misses, JSON_C_TO_STRING_PLAIN),
			    "{\"count\":6000000,\"enabled_ns\":2000000000,\"running_ns\":1000000000}");
	assert_null(json_object_object_get(pmc, "node_remote"));
	assert_string_equal(json_object_to_json_string_ext(metrics, JSON_C_TO_STRING_PLAIN),
			    "{\"instructions_per_cycle\":0.500,"
			    "\"llc_misses_per_1000_instructions\":6.000,"
			    "\"llc_miss_percent\":60.0000,"
			    "\"dtlb_misses_per_1000_instructions\":null,"
			    "\"tlb_efficiency_percent\":null,\"page_walk_percent\":null,"
			    "\"remote_percent\":null,\"read_bytes\":768000000,"
			    "\"read_bytes_per_second\":384000000}");
	assert_string_equal(json_object_get_string(json_object_object_get(o, "time")),
			    "2026-11-22T22:01:00Z");
	assert_null(json_object_object_get(o, "elapsed"));
	json_object_put(o);
}

static void csv(void **state)
{
	char *out;

	(void)state;
	begin();
	list.n = 4;
	out = printed(stat_csv);
	assert_string_equal(out, "42,\"a\"\"b\",2000000000,4000000000,100.0,2000000000,100.0,"
				 "20000000,50.0,12000000,50.0,0.500,6.000,60.0000,,,,,"
				 "768000000,384000000,,1795384860444013780,100\n");
	free(out);
}

static const char *reading(u64 ipc, u64 mpmi, u64 walks)
{
	struct seep_pmu_figures f;

	memset(&f, 0xff, sizeof(f));
	f.ipc = ipc;
	f.llc_mpmi = mpmi;
	f.walk_share = walks;
	stat_reading(&f, buf, sizeof(buf));
	return buf;
}

static void begins(const char *s, const char *with)
{
	assert_memory_equal(s, with, strlen(with));
}

static void readings(void **state)
{
	(void)state;
	begins(reading(SEEP_UNKNOWN, 9000, 0), "no reading");
	begins(reading(400, 9000, 200000), "memory bound: 9.0 ");
	begins(reading(400, SEEP_UNKNOWN, 200000), "translation bound: 20.0 % of cycles");
	begins(reading(2500, 100, 0), "computes: 2.50 ");
	begins(reading(2500, SEEP_UNKNOWN, SEEP_UNKNOWN), "no bottleneck stands out");
	begins(reading(300, 100, 0), "waits, but hardly for memory");
	begins(reading(1200, 9000, 0), "no bottleneck stands out");
	begins(reading(300, 3000, 0), "waits, in part for memory: 0.30 ");
	begins(reading(30, SEEP_UNKNOWN, 0),
	       "waits: 0.03 instructions per cycle; it is not known for what");
}

/* ---- what is compared ---- */

static struct stat_limits limits;
static struct json_object *json_printed;	/* by compare() */

static void defaults(void)
{
	limits = (struct stat_limits){ 5, 15, 15, 15, 15, 5 };
}

static char *write_file(const char *name, const char *content)
{
	static char path[2][64];
	char *p = path[*name == 'b'];
	FILE *f;

	snprintf(p, sizeof(path[0]), "/tmp/seepage-stat-%d-%s", getpid(), name);
	f = fopen(p, "w");
	assert_non_null(f);
	fputs(content, f);
	assert_int_equal(fclose(f), 0);
	return p;
}

/* Compares two files; keeps the JSON in json_printed, and stderr in buf. */
static int compare(const char *base, const char *cand)
{
	struct ctx ctx = { .cmd = "stat", .json = true };
	const char *b = write_file("base", base), *c = write_file("cand", cand);
	FILE *out = stdout, *err = stderr;
	char *text = NULL, *said = NULL;
	size_t len, said_len;
	int status;

	stdout = open_memstream(&text, &len);
	stderr = open_memstream(&said, &said_len);
	status = stat_compare(&ctx, b, c, &limits);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	snprintf(buf, sizeof(buf), "%s", said);
	json_object_put(json_printed);
	json_printed = *text ? json_tokener_parse(text) : NULL;
	free(text);
	free(said);
	unlink(b);
	unlink(c);
	return status;
}

static struct json_object *figure(const char *name)
{
	struct json_object *figures = json_object_object_get(json_printed, "figures"), *e;
	size_t i;

	for (i = 0; i < json_object_array_length(figures); i++) {
		e = json_object_array_get_idx(figures, i);
		if (!strcmp(json_object_get_string(json_object_object_get(e, "figure")), name))
			return e;
	}
	fail_msg("no figure %s", name);
	return NULL;
}

static bool regressed(const char *name)
{
	return json_object_get_boolean(json_object_object_get(figure(name), "regressed"));
}

/* A repeat of 10^9 cycles and so many instructions and misses in a millisecond */
static const char *repeat(char *text, u64 instructions, u64 misses, const char *more)
{
	sprintf(text + strlen(text), "{\"elapsed_ns\":1000000,%s\"pmc\":{\"cycles\":"
		"{\"count\":1000000000,\"enabled_ns\":4,\"running_ns\":4},\"instructions\":"
		"{\"count\":%llu,\"enabled_ns\":4,\"running_ns\":4},\"llc_misses\":"
		"{\"count\":%llu,\"enabled_ns\":8,\"running_ns\":4},\"node_local\":null}}\n",
		more, instructions, misses);
	return text;
}

static void one_repeat(void **state)
{
	char a[4096] = "", b[4096] = "";

	(void)state;
	defaults();
	repeat(a, 1000000000, 1000000, "");
	assert_int_equal(compare(a, a), 0);
	assert_null(json_object_object_get(figure("remote_percent"), "regressed"));
	assert_null(json_object_object_get(figure("elapsed_seconds"), "base"));
	/* 5 % less and 15 % more are just allowed */
	repeat(b, 950000000, 1092500, "");
	assert_int_equal(compare(a, b), 0);
	*b = '\0';
	repeat(b, 949000000, 1000000, "");
	assert_int_equal(compare(a, b), EXIT_REGRESSED);
	assert_true(regressed("instructions_per_cycle"));
	assert_false(regressed("llc_misses_per_1000_instructions"));
	limits.ipc_drop = 6;
	assert_int_equal(compare(a, b), 0);
	/* better is no regression, however much */
	assert_int_equal(compare(b, a), 0);
	*b = '\0';
	repeat(b, 1000000000, 1160000, "");
	assert_int_equal(compare(a, b), EXIT_REGRESSED);
	assert_true(regressed("llc_misses_per_1000_instructions"));
}

/* Ten percent less, of repeats that agree and of repeats that do not */
static void spread(void **state)
{
	static const u64 close[] = { 995, 1000, 1005 }, wide[] = { 700, 1000, 1300 };
	char a[4096] = "", b[4096] = "", c[4096] = "";
	int i;

	(void)state;
	defaults();
	for (i = 0; i < 3; i++) {
		repeat(a, close[i] * 1000000, 1000000, "");
		repeat(b, (close[i] - 100) * 1000000, 1000000, "");
		repeat(c, (wide[i] - 100) * 1000000, 1000000, "");
	}
	assert_int_equal(compare(a, b), EXIT_REGRESSED);
	assert_int_equal(compare(a, c), 0);
	assert_int_equal(compare(c, a), 0);
}

static void of_a_command(void **state)
{
	char a[4096] = "", b[4096] = "";

	(void)state;
	defaults();
	strcpy(a, "{\"elapsed_ns\":1000000000,\"time_ns\":1795384860444013780,"
		  "\"command\":\"x\",\"pmc\":{}}\n");
	strcpy(b, "{\"elapsed_ns\":1060000000,\"command\":\"x\",\"pmc\":{}}\n");
	assert_int_equal(compare(a, b), EXIT_REGRESSED);
	assert_true(regressed("elapsed_seconds"));
	/* of a process it is the interval, and nothing else is known */
	strcpy(a, "{\"elapsed_ns\":1000000000,\"pmc\":{}}\n");
	assert_int_equal(compare(a, a), 1);
	assert_non_null(strstr(buf, "no figure is in both"));
}

static void bad_files(void **state)
{
	static const char *const bad[][2] = {
		{ "", "there is nothing in it" },
		{ " ", "there is nothing in it" },
		{ "[1]\n", "line 1: no elapsed_ns above 0" },
		{ "{\n", "line 1: not JSON: the text ends too early" },
		{ "{\"elapsed_ns\":0,\"pmc\":{}}", "line 1: no elapsed_ns above 0" },
		{ "{\"elapsed_ns\":-5,\"pmc\":{}}", "line 1: no elapsed_ns above 0" },
		{ "{\"elapsed_ns\":1}", "line 1: no object pmc" },
		{ "{\"elapsed_ns\":1,\"pmc\":{\"cycles\":5}}", "line 1: an event without count" },
		{ "{\"elapsed_ns\":1,\"pmc\":{\"cycles\":{\"count\":1,\"enabled_ns\":1}}}",
		  "line 1: an event without count" },
		{ "{\"elapsed_ns\":1,\"elapsed_ns\":2}", "line 1: key 'elapsed_ns' twice" },
	};
	char good[4096] = "";
	size_t i;

	(void)state;
	defaults();
	repeat(good, 1000, 1000, "");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(compare(good, bad[i][0]), 1);
		if (i == 2)		/* JSON, but no object: either reason will do */
			continue;
		if (!strstr(buf, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], buf);
		assert_non_null(strstr(buf, "-cand: "));
	}
}

static int drop_printed(void **state)
{
	(void)state;
	json_object_put(json_printed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(text),
		cmocka_unit_test(several_runs), cmocka_unit_test(output_of_a_command),
		cmocka_unit_test(stalls),
		cmocka_unit_test(json),
		cmocka_unit_test(csv), cmocka_unit_test(readings), cmocka_unit_test(one_repeat),
		cmocka_unit_test(spread), cmocka_unit_test(of_a_command),
		cmocka_unit_test(bad_files),
	};

	return cmocka_run_group_tests_name("ctl_stat", tests, NULL, drop_printed);
}
