// SPDX-License-Identifier: GPL-2.0
/*
 * explain '#N': of what has ended since it speaks in the past tense, and names no command that
 * would act on the pid, which another process may have by now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "module.h"
#include "cold/cold.h"
#include "tools.h"
#include <cmocka.h>
#include "printed.h"

#define S	1000000000ULL
#define BEGIN	(1700000000 * S)

static char out[16384];

static int run_explain(struct ctx *ctx, const char *word)
{
	return explain_process(ctx, word, NULL);
}

static int run_show(struct ctx *ctx, const char *word)
{
	char *argv[] = { (char *)word, NULL };

	return cmd_show.run(ctx, 1, argv);
}

struct call {
	int (*run)(struct ctx *ctx, const char *word);
	const char *word;
	bool json;
};

static int call(void *arg)
{
	const struct call *c = arg;
	struct ctx ctx = { .cmd = "explain", .json = c->json };

	return c->run(&ctx, c->word);
}

/* Runs a command with @word. @out: what it printed */
static void command(int (*run)(struct ctx *ctx, const char *word), const char *word, bool json)
{
	struct call c = { run, word, json };

	assert_int_equal(printed(call, &c, PRINTED_OUT | PRINTED_ERR, out, sizeof(out)), 0);
}

static void explain(const char *word, bool json)
{
	command(run_explain, word, json);
}

static bool says(const char *text)
{
	return strstr(out, text);
}

static void assert_present(void)
{
	assert_true(says("It grows as a leak would"));
	assert_true(says("systemctl restart leaky.service"));
	assert_true(says("seepage where 2000000000"));
	assert_false(says("ended"));
}

static void assert_past(void)
{
	assert_true(says("It grew as a leak would"));
	assert_false(says("It grows"));
	assert_false(says("exhausted in"));
	assert_false(says("systemctl"));
	assert_false(says("seepage where 2000000000"));
	assert_true(says("seepage where --last 2000000000"));
}

/* What `seepage where` is to have kept of the process, in JSON; NULL: nothing */
static const char *kept;

struct json_object *__wrap_kept_of(const struct message *msg);
struct json_object *__wrap_kept_of(const struct message *msg)
{
	return kept ? json_tokener_parse(kept) : NULL;
}

static int begin(void **state)
{
	kept = NULL;
	module_alert(SEEPAGE_STATE_SUSPECTED, 100, BEGIN);
	module_alert(SEEPAGE_STATE_CONFIRMED, 200, BEGIN + 100 * S);
	return 0;
}

static int end(void **state)
{
	module_reset();
	return 0;
}

static void of_a_process_that_lives(void **state)
{
	module_process(SEEPAGE_STATE_CONFIRMED, 300);
	explain("#2", false);
	assert_present();
	explain("#2", true);
	assert_true(says("\"ended\":false") && says("\"exit\":null"));
}

static void of_one_whose_end_an_alert_tells(void **state)
{
	module_alert(SEEPAGE_STATE_EXITED, 300, BEGIN + 200 * S);
	/* also where another process of any age has the pid */
	for (int i = 0; i < 2; i++) {
		explain("#2", false);
		assert_past();
		assert_true(says("It ended at ") && says(", see #3. The alert said:\n"));
		assert_true(says("\nalert: #2 at ") && !says("last alert"));
		explain("#1", false);
		assert_past();
		explain("#2", true);
		assert_true(says("\"ended\":true") && says("\"exit\":{\"seq\":3,"));
		assert_false(says("systemctl"));
		if (!i)
			module_process(SEEPAGE_STATE_OK, 100000);
	}
	explain("#3", false);
	assert_false(says("The alert said"));
	assert_true(says("seepage where --last 2000000000"));
}

/* show '#N' as well: how it ended, and no time that is left */
static void shown_after_its_end(void **state)
{
	module_process(SEEPAGE_STATE_CONFIRMED, 300);
	command(run_show, "#1", false);
	assert_true(says("memory exhausted in") && !says("ended"));
	module_reset();
	begin(state);
	command(run_show, "#1", false);
	assert_true(says("It has ended.\n") && !says("exhausted in"));
	module_alert(SEEPAGE_STATE_EXITED, 300, BEGIN + 200 * S);
	command(run_show, "#1", false);
	assert_true(says("It ended at ") && says(", see #3. The alert said:\npid 2000000000"));
	assert_true(says("last growth") && !says("exhausted in"));
	command(run_show, "#3", false);
	assert_false(says("The alert said"));
	command(run_show, "#1", true);
	assert_true(says("\"seq\":1,") && !says("ended at"));
}

static void of_one_that_no_process_is(void **state)
{
	explain("#2", false);
	assert_past();
	assert_true(says("It has ended.\n"));
}

static void of_one_whose_pid_is_in_use_again(void **state)
{
	module_process(SEEPAGE_STATE_OK, 150);
	explain("#2", false);
	assert_past();
	/* of that age it may be the process of the first */
	explain("#1", false);
	assert_present();
}

#define SITE(class, freed, turns)	SAMPLED(712, class, freed, turns)
#define SAMPLED(n, class, freed, turns) \
	"{\"class_bytes\":" #class ",\"samples\":" #n ",\"survival_permille\":1000," \
	"\"freed_blocks\":" #freed ",\"turns_over\":" #turns "}"
#define ANSWER(sites, calls, stayed) \
	"{\"text\":[\"it keeps\"],\"time_ns\":1,\"classes\":[{\"size_bytes\":200," \
	"\"growth_blocks\":700}],\"sites\":[" sites "],\"others\":{\"calls\":" #calls \
	",\"growth_blocks\":" #stayed "}}"

static bool is_one_site(const char *answer)
{
	static const char text[] = "  one call site keeps all: of 712 samples of this class no "
		"block was freed, and other sites free theirs; for other sizes there were about "
		"9000 calls, and 12 blocks more\n";
	bool one;

	kept = answer;
	explain("#2", false);
	one = says(text);
	assert_true(one || !says("one call site"));
	assert_true(says("What it keeps") && says("  it keeps\n"));
	explain("#2", true);
	assert_int_equal(one, says("\"one_site\":{\"class_bytes\":200,\"samples\":712,"
				   "\"survival_permille\":1000,\"freed_blocks\":0,"
				   "\"other_calls\":9000,\"other_growth_blocks\":12}"));
	assert_int_equal(one, !says("\"one_site\":null"));
	return one;
}

/* A fact beside the verdict: one site of the class keeps all, and the rest is freed. */
static void one_site_keeps_all(void **state)
{
	module_process(SEEPAGE_STATE_CONFIRMED, 300);
	assert_true(is_one_site(ANSWER(SITE(200, 0, false), 9000, 12)));
	assert_true(is_one_site(ANSWER(SITE(200, 0, false) "," SITE(200, 5, true), 9000, 12)));
	assert_false(is_one_site(ANSWER(SITE(200, 0, false) "," SITE(200, 0, true), 9000, 12)));
	/* several sites; some blocks were freed; another class; not known */
	assert_false(is_one_site(ANSWER(SITE(200, 0, false) "," SITE(200, 0, false), 9000, 12)));
	assert_false(is_one_site(ANSWER(SITE(200, 1, false), 9000, 12)));
	assert_false(is_one_site(ANSWER(SITE(56, 0, false), 9000, 12)));
	assert_false(is_one_site(ANSWER("{\"class_bytes\":200,\"samples\":712,"
					"\"survival_permille\":1000}", 9000, 12)));
	assert_false(is_one_site(ANSWER(SAMPLED(19, 200, 0, false), 9000, 12)));
	assert_false(is_one_site(ANSWER("", 9000, 12)));
	/* Other classes keep a tenth, or too few calls were seen to tell. */
	assert_false(is_one_site(ANSWER(SITE(200, 0, false), 9000, 900)));
	assert_false(is_one_site(ANSWER(SITE(200, 0, false), 99, 0)));
	/* A census alone, and a file that was edited */
	assert_false(is_one_site("{\"text\":[\"it keeps\"],\"sites\":[],\"others\":null}"));
	assert_false(is_one_site("{\"text\":[\"it keeps\"],\"sites\":7,\"classes\":{}}"));
	kept = NULL;
	explain("#2", true);
	assert_true(says("\"one_site\":null"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_a_process_that_lives, begin, end),
		cmocka_unit_test_setup_teardown(of_one_whose_end_an_alert_tells, begin, end),
		cmocka_unit_test_setup_teardown(shown_after_its_end, begin, end),
		cmocka_unit_test_setup_teardown(of_one_that_no_process_is, begin, end),
		cmocka_unit_test_setup_teardown(of_one_whose_pid_is_in_use_again, begin, end),
		cmocka_unit_test_setup_teardown(one_site_keeps_all, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
