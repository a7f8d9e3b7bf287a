// SPDX-License-Identifier: GPL-2.0
/* Call sites of two answers: new, gone, grown, shrunk, the same, not sampled; forged answers */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "where/where.h"
#include <cmocka.h>

#define FRAME(name, at)	"{\"module\":\"/bin/x\",\"offset\":" #at ",\"symbol\":\"" name "\"}"
#define SITE(rate, bytes, frames)	KNOWN(rate, 100, bytes, frames)
#define KNOWN(rate, error, bytes, frames) \
	"{\"bytes_per_hour\":" #rate ",\"error_bytes_per_hour\":" #error \
	",\"class_bytes\":" #bytes ",\"stack\":[" frames "]}"

/* Writes "WORD:CHANGE " for each change, "?" for null. @sampled: a list of classes */
static char *changes(const char *before, const char *now, const char *sampled)
{
	struct json_object *a = json_tokener_parse(before), *b = json_tokener_parse(now);
	struct json_object *s = json_tokener_parse(sampled), *list, *o;
	static char text[512];
	u64 classes[4];
	size_t n, i;

	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(s);
	n = json_object_array_length(s);
	for (i = 0; i < n; i++)
		classes[i] = json_object_get_uint64(json_object_array_get_idx(s, i));
	list = changes_find(a, b, classes, n);
	*text = '\0';
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *v;

		o = json_object_array_get_idx(list, i);
		v = json_object_object_get(o, "change_bytes_per_hour");
		sentence_append(text, sizeof(text), "%s%s:%s", i ? " " : "",
				json_object_get_string(json_object_object_get(o, "change")),
				v ? json_object_get_string(v) : "?");
	}
	json_object_put(list);
	json_object_put(a);
	json_object_put(b);
	json_object_put(s);
	return text;
}

static void sites_are_found_again_by_their_stacks(void **state)
{
	const char *before = "[" SITE(1000, 200, FRAME("keep", 5) "," FRAME("main", 9)) ","
			     SITE(4000, 200, FRAME("fade", 6) "," FRAME("main", 9)) ","
			     SITE(800, 200, FRAME("same", 7)) ","
			     SITE(500, 200, FRAME("old", 8)) ","
			     SITE(300, 56, FRAME("small", 3)) "]";
	const char *now = "[" SITE(9000, 200, FRAME("keep", 5) "," FRAME("main", 9)) ","
			  SITE(2000, 200, FRAME("fade", 6) "," FRAME("main", 9)) ","
			  SITE(900, 200, FRAME("same", 7)) "," SITE(700, 200, FRAME("add", 4)) "]";

	assert_string_equal(changes(before, now, "[200]"),
			    "grown:8000 shrunk:-2000 new:700 gone:-500 same:100 "
			    "not_sampled:?");
	/* Blocks of all sizes were sampled: it is gone as well. */
	assert_string_equal(changes(before, now, "[0]"),
			    "grown:8000 shrunk:-2000 new:700 gone:-500 gone:-300 "
			    "same:100");
	assert_string_equal(changes(before, "[]", "[]"),
			    "not_sampled:? not_sampled:? not_sampled:? not_sampled:? not_sampled:?");
	assert_string_equal(changes("[]", "[]", "[200]"), "");
}

#define ONE(rate)		"[" SITE(rate, 8, FRAME("f", 1)) "]"
#define GIVE(rate, error)	"[" KNOWN(rate, error, 8, FRAME("f", 1)) "]"

/* Both are estimates: 300 and 400 make an error of 500 for the difference. */
static void a_change_within_the_errors_is_none(void **state)
{
	assert_string_equal(changes(GIVE(2000, 300), GIVE(2500, 400), "[8]"), "same:500");
	assert_string_equal(changes(GIVE(2000, 300), GIVE(2501, 400), "[8]"), "grown:501");
	assert_string_equal(changes(GIVE(2500, 400), GIVE(2000, 300), "[8]"), "same:-500");
	assert_string_equal(changes(GIVE(2501, 400), GIVE(2000, 300), "[8]"), "shrunk:-501");
	/* On a machine with other work to do, and on a calm one */
	assert_string_equal(changes(GIVE(240, 120), GIVE(135, 60), "[8]"), "same:-105");
	assert_string_equal(changes(GIVE(240, 20), GIVE(135, 11), "[8]"), "shrunk:-105");
	assert_string_equal(changes(GIVE(0, 0), GIVE(1, 0), "[8]"), "grown:1");
	assert_string_equal(changes(GIVE(1, 0), GIVE(0, 0), "[8]"), "shrunk:-1");
	assert_string_equal(changes(GIVE(7, 0), GIVE(7, 0), "[8]"), "same:0");
}

/* An answer of an earlier version does not know its error: 1000 by 200, as 500 by 100. */
static void what_does_not_know_its_error_has_that_of_the_other(void **state)
{
#define OLD(rate) \
	"[{\"bytes_per_hour\":" #rate ",\"class_bytes\":8,\"stack\":[" FRAME("f", 1) "]}]"
	assert_string_equal(changes(OLD(1000), GIVE(777, 155), "[8]"), "same:-223");
	assert_string_equal(changes(OLD(1000), GIVE(500, 100), "[8]"), "shrunk:-500");
	assert_string_equal(changes(OLD(0), GIVE(500, 100), "[8]"), "grown:500");
}

/* A file may say anything. */
static void numbers_at_the_ends_are_no_overflow(void **state)
{
#define LEAST	-9223372036854775808
#define MOST	9223372036854775807
	assert_string_equal(changes(GIVE(LEAST, LEAST), GIVE(5, 1), "[8]"),
			    "grown:9223372036854775807");
	assert_string_equal(changes(GIVE(MOST, 1), GIVE(LEAST, 1), "[8]"),
			    "shrunk:-9223372036854775808");
	assert_string_equal(changes(GIVE(MOST, MOST), GIVE(LEAST, MOST), "[8]"),
			    "shrunk:-9223372036854775808");
	/* The largest change is first, also the one that has no number of the other sign. */
	assert_string_equal(changes("[" SITE(9, 8, FRAME("g", 2)) ","
				    SITE(LEAST, 8, FRAME("f", 1)) "]", "[]", "[8]"),
			    "gone:9223372036854775807 gone:-9");
	assert_string_equal(changes("[" SITE(9, 8, FRAME("g", 2)) "]", GIVE(LEAST, 1), "[8]"),
			    "new:-9223372036854775808 gone:-9");
}

static void another_place_or_depth_is_another_site(void **state)
{
	static const char other_place[] = "[" SITE(10, 8, FRAME("f", 3) "," FRAME("main", 2)) "]";
	static const char one[] = "[" SITE(10, 8, FRAME("f", 1) "," FRAME("main", 2)) "]";
	static const char small[] = SITE(10, 8, FRAME("f", 1));
	static const char large[] = KNOWN(90, 20, 24, FRAME("f", 1));
	char a[512], b[512];

	assert_string_equal(changes(one, other_place, "[8]"), "new:10 gone:-10");
	assert_string_equal(changes(one, ONE(10), "[8]"), "new:10 gone:-10");
	/* the same one with blocks of two classes, in another order */
	snprintf(a, sizeof(a), "[%s,%s]", small, large);
	snprintf(b, sizeof(b), "[%s,%s]", large, small);
	assert_string_equal(changes(a, b, "[8,24]"), "same:0 same:0");
	/* of another class, where none is of this one */
	snprintf(b, sizeof(b), "[%s]", large);
	assert_string_equal(changes(GIVE(10, 2), b, "[24]"), "grown:80");
}

static void functions_of_python_differ_by_their_lines(void **state)
{
#define PYTHON(line) \
	"[{\"bytes_per_hour\":10,\"stack\":[{\"language\":\"python\",\"symbol\":\"f\"," \
	"\"source\":\"/a.py:" #line "\"}]}]"
	assert_string_equal(changes(PYTHON(1), PYTHON(1), "[0]"), "same:0");
	assert_string_equal(changes(PYTHON(1), PYTHON(2), "[0]"), "new:10 gone:-10");
}

/* The earlier answer is a file that may have been edited. */
static void what_is_no_site_is_left_out(void **state)
{
	static const char now[] = "[" SITE(5, 8, FRAME("f", 1)) "]";
	static const char types[] = "[1,null,\"x\",{},[],{\"stack\":5},{\"stack\":[]}]";
	static const char frames[] = "[{\"stack\":[null,7,\"x\"],\"bytes_per_hour\":\"y\"}]";

	assert_string_equal(changes(types, "[]", "[0]"), "gone:0");
	assert_string_equal(changes(frames, now, "[8]"), "new:5 not_sampled:?");
}

static void in_words(void **state)
{
	static const char before[] = "[" SITE(1048576, 8, FRAME("f\\u001b", 1)) ","
				     KNOWN(3145728, 524288, 8, FRAME("g", 3)) "]";
	static const char now[] = "[" SITE(4194304, 8, FRAME("f\\u001b", 1) ","
					  FRAME("main", 2)) ","
				  KNOWN(1048576, 1, 8, FRAME("g", 3)) "]";
	struct json_object *a = json_tokener_parse(before), *b = json_tokener_parse(now);
	const u64 sampled = 8;
	struct json_object *list = changes_find(a, b, &sampled, 1);
	char *text = NULL;
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	for (i = 0; i < json_object_array_length(list); i++) {
		changes_text(f, json_object_array_get_idx(list, i));
		fputc('\n', f);
	}
	fclose(f);
	assert_string_equal(text, "new, +4.0 MiB/h now: f\\x1b <- main\n"
			    "shrunk, +3.0 MiB/h before, +1.0 MiB/h now, give or take 512.0 KiB/h: g\n"
			    "gone, +1.0 MiB/h before: f\\x1b\n");
	free(text);
	json_object_put(list);
	json_object_put(a);
	json_object_put(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_are_found_again_by_their_stacks),
		cmocka_unit_test(a_change_within_the_errors_is_none),
		cmocka_unit_test(what_does_not_know_its_error_has_that_of_the_other),
		cmocka_unit_test(numbers_at_the_ends_are_no_overflow),
		cmocka_unit_test(another_place_or_depth_is_another_site),
		cmocka_unit_test(functions_of_python_differ_by_their_lines),
		cmocka_unit_test(what_is_no_site_is_left_out),
		cmocka_unit_test(in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
