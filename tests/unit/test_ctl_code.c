// SPDX-License-Identifier: GPL-2.0
/*
 * seepage where: names and lines of code, beside those of addr2line, which reads debug data with
 * another library
 */
#include "coded.h"

static bool is_known(const char *s)
{
	return strcmp(s, "??") && strncmp(s, "??:", 3) && !strstr(s, ":?");
}

/* Compares a frame with two lines of addr2line, the function and "FILE:LINE (discriminator 2)". */
static void compare_frame(struct json_object *stack, size_t i, const char *name, char *source)
{
	assert_true(i < json_object_array_length(stack));
	source[strcspn(source, " ")] = '\0';
	assert_string_equal(text(stack, i, "symbol"), is_known(name) ? name : "");
	assert_string_equal(text(stack, i, "source"), is_known(source) ? source : "");
	assert_true(is_inlined(stack, i) == (i + 1 < json_object_array_length(stack)));
}

/* Each byte of the function; returns the most frames at one of them. */
static size_t compare(const char *file, const char *function)
{
	struct process p;
	struct json_object *stack = NULL;
	char command[256], name[2048], source[2048];
	size_t i = 0, most = 0;
	u64 at, size;
	FILE *f;

	find(file, function, &at, &size);
	snprintf(command, sizeof(command),
		 "seq -f %%.0f %llu %llu | xargs printf '0x%%x\n' | addr2line -fai -e %s",
		 at, at + size - 1, file);
	f = popen(command, "r");
	assert_non_null(f);
	open_process(&p, &file, 1);
	while (fgets(name, sizeof(name), f)) {
		name[strcspn(name, "\n")] = '\0';
		if (!strncmp(name, "0x", 2)) {
			assert_true(!stack || i == json_object_array_length(stack));
			json_object_put(stack);
			stack = frames_at(&p, 0, strtoull(name, NULL, 16));
			i = 0;
			continue;
		}
		assert_non_null(fgets(source, sizeof(source), f));
		source[strcspn(source, "\n")] = '\0';
		compare_frame(stack, i++, name, source);
		most = i > most ? i : most;
	}
	assert_true(stack && i == json_object_array_length(stack));
	json_object_put(stack);
	pclose(f);
	close_process(&p);
	assert_string_equal(said, "");
	return most;
}

static const char c_source[] =
	"#include <stdlib.h>\n#include <string.h>\n"
	"#define INLINE static inline __attribute__((always_inline))\n"
	"INLINE char *inner(size_t n)\n{\n\tchar *p = malloc(n);\n\n\tif (p)\n\t\tmemset(p, 1, n);\n"
	"\treturn p;\n}\n"
	"INLINE char *middle(size_t n)\n{\n\tsize_t i;\n\tchar *p = NULL;\n\n"
	"\tfor (i = 0; i < n; i++) {\n\t\tchar *q = inner(i + n);\n\n\t\tif (q && *q == 2)\n"
	"\t\t\tp = inner(3);\n\t}\n\treturn p;\n}\n"
	"__attribute__((noinline)) char *keep(size_t n)\n{\n\treturn middle(n) + *middle(7);\n}\n"
	"int main(int argc, char **argv)\n{\n\treturn *keep(argc);\n}\n";

static void inlined_functions_of_c(void **state)
{
	static const char *const flags[] = {
		"-O2 -g", "-O2 -g -gdwarf-4", "-O2 -g -gz", "-O1 -g -ffunction-sections",
		"-O3 -g -fno-inline-small-functions",
	};
	char command[256];
	size_t i;

	put_file("c.c", c_source);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		snprintf(command, sizeof(command), "gcc %s -o c c.c", flags[i]);
		run_shell(command);
		assert_int_equal(compare("c", "keep"), 3);
	}
	if (system("command -v clang >/dev/null"))
		return;
	/* It writes no .debug_aranges. Its ranges of DWARF 5 are none to addr2line. */
	run_shell("clang -O2 -g -gdwarf-4 -o c c.c");
	assert_int_equal(compare("c", "keep"), 3);
}

static void inlined_functions_of_cxx(void **state)
{
	put_file("x.cc",
		 "#include <map>\n#include <string>\n#include <vector>\nnamespace app {\n"
		 "struct Store {\n\tstd::map<int, std::vector<std::string>> all;\n"
		 "\tvoid put(int k, const char *s)\n\t{\n"
		 "\t\tauto add = [&](std::vector<std::string> &v) { v.emplace_back(s); };\n"
		 "\t\tadd(all[k]);\n\t}\n"
		 "\ttemplate <class T> __attribute__((noinline)) void keep(T k) { put(k, \"x\"); }\n"
		 "};\n}\nint main()\n{\n\tapp::Store s;\n\n\ts.keep<long>(3);\n\treturn s.all.size();\n"
		 "}\n");
	run_shell("g++ -O2 -g -o x x.cc");
	assert_true(compare("x", "Store4keepIlEEvT_") > 8);
	if (system("command -v dwz >/dev/null"))
		return;
	run_shell("dwz x");
	assert_true(compare("x", "Store4keepIlEEvT_") > 8);
}

/* 40 levels: as many as there is room for, from the function on, and the line of the call in it */
static void more_levels_than_are_listed(void **state)
{
	const char *file = "d";
	struct json_object *stack;
	struct process p;
	char name[16];
	u64 at, size;
	FILE *f = fopen("d.c", "w");
	size_t deep = 0, i;

	assert_non_null(f);
	fprintf(f, "volatile int v;\nstatic inline __attribute__((always_inline)) void f0(void)\n"
		"{\n\tv++;\n}\n");
	for (i = 1; i < 40; i++)
		fprintf(f, "static inline __attribute__((always_inline)) void f%zu(void)\n{\n"
			"\tf%zu();\n}\n", i, i - 1);
	fprintf(f, "__attribute__((noinline)) void keep(void)\n{\n\tf39();\n}\nint main(void)\n{\n"
		"\tkeep();\n}\n");
	assert_int_equal(fclose(f), 0);
	run_shell("gcc -O2 -g -o d d.c");
	find("d", "keep", &at, &size);
	open_process(&p, &file, 1);
	for (i = 0; i < size; i++) {
		stack = frames_at(&p, 0, at + i);
		if (json_object_array_length(stack) == CODE_FRAMES) {
			deep++;
			assert_string_equal(text(stack, CODE_FRAMES - 1, "symbol"), "keep");
			snprintf(name, sizeof(name), "f%u", 40 - INLINED_MAX);
			assert_string_equal(text(stack, 0, "symbol"), name);
			/* f0() begins at line 2; each has 4 lines: f24() calls in line 100. */
			assert_non_null(strstr(text(stack, 0, "source"), "/d.c:100"));
			assert_non_null(strstr(text(stack, CODE_FRAMES - 1, "source"), "/d.c:164"));
		}
		json_object_put(stack);
	}
	assert_true(deep);
	close_process(&p);
}

/* The file has a FIFO where its other half should be. */
static void split_debug_data_is_not_opened(void **state)
{
	const char *file = "s";
	struct json_object *stack;
	struct process p;
	u64 at, size, began = clock_ns();

	run_shell("gcc -O2 -g -gsplit-dwarf -o s c.c && rm s-c.dwo && mkfifo s-c.dwo");
	find("s", "keep", &at, &size);
	open_process(&p, &file, 1);
	stack = frames_at(&p, 0, at + 4);
	assert_string_equal(text(stack, 0, "symbol"), "keep");
	json_object_put(stack);
	close_process(&p);
	assert_string_equal(said, "");
	assert_true(clock_ns() - began < 15000000000ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_functions_of_c),
		cmocka_unit_test(inlined_functions_of_cxx),
		cmocka_unit_test(more_levels_than_are_listed),
		cmocka_unit_test(split_debug_data_is_not_opened),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
