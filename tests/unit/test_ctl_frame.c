// SPDX-License-Identifier: GPL-2.0
/* seepage where: frames of a stack as a line of text shows them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "where/frame.c"
#include <cmocka.h>

#define MOST	16U

/* "a <- b": what is shown of a stack. Names that begin with a capital letter are inlined. */
static void shown(const char *const *name, size_t most, size_t inlined, const char *expected)
{
	struct json_object *stack = json_object_new_array(), *frame[MOST], *o;
	char text[1024] = "", buf[64];
	size_t n, i;

	for (; *name; name++) {
		o = json_object_new_object();
		json_object_object_add(o, "symbol", json_object_new_string(*name));
		json_object_object_add(o, "module", json_object_new_string("/bin/p"));
		json_object_object_add(o, "inlined", json_object_new_boolean(**name < 'a'));
		json_object_array_add(stack, o);
	}
	n = frames_shown(stack, frame, most, inlined);
	assert_in_range(n, 0, most);
	for (i = 0; i < n; i++) {
		strcat(text, i ? " <- " : "");
		strcat(text, frame_name(frame[i], buf, sizeof(buf)));
	}
	assert_string_equal(text, expected);
	json_object_put(stack);
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void four_functions_are_shown(void **state)
{
	shown(NAMES("a", "b", "c", "d", "e"), MOST, 3, "a <- b <- c <- d");
	shown(NAMES("a", "b"), MOST, 3, "a <- b");
	shown(NAMES("a", "b", "c"), 2, 3, "a <- b");
}

static void the_outermost_that_are_inlined_are_shown(void **state)
{
	shown(NAMES("a", "B", "C", "d", "E", "f", "g", "h"), MOST, 3,
	      "a <- B (inlined) <- C (inlined) <- d <- E (inlined) <- f <- g");
	shown(NAMES("A", "B", "C", "D", "E", "f", "G", "H", "i"), MOST, 3,
	      "C (inlined) <- D (inlined) <- E (inlined) <- f <- G (inlined) <- H (inlined) <- i");
	shown(NAMES("A", "B", "c", "D", "E", "f"), MOST, 1,
	      "B (inlined) <- c <- E (inlined) <- f");
	shown(NAMES("A", "b", "C", "D", "e"), MOST, 0, "b <- e");
	shown(NAMES("a", "B", "C", "d"), 2, 3, "a <- B (inlined)");
}

static void names_that_have_no_room(void **state)
{
	struct json_object *o = json_tokener_parse("{\"symbol\":\"abcdefgh\",\"inlined\":true}");
	char buf[16];

	assert_string_equal(frame_name(o, buf, sizeof(buf)), "abcde (inlined)");
	assert_string_equal(frame_name(o, buf, 5), "abcd");
	json_object_put(o);
	/* Compiled code is in no file; its name has no version. */
	o = json_tokener_parse("{\"symbol\":\"JS:f @x.js\",\"module\":null,\"language\":\"jit\"}");
	assert_string_equal(frame_name(o, buf, sizeof(buf)), "JS:f @x.js");
	json_object_put(o);
	o = json_tokener_parse("{\"symbol\":\"f@@V_1\",\"module\":\"/lib/x.so\"}");
	assert_string_equal(frame_name(o, buf, sizeof(buf)), "f");
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_functions_are_shown),
		cmocka_unit_test(the_outermost_that_are_inlined_are_shown),
		cmocka_unit_test(names_that_have_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
