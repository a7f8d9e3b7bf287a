// SPDX-License-Identifier: GPL-2.0
/*
 * seepage where: debug data that lies, symbols that are packed, and the child that reads both. The
 * data is written by hand: an entry of each kind, of which the test makes trees.
 */
#include "coded.h"

/* Entries: 1 unit, 2 function, 3 inlined, 4 block, 5 one that says where the next one is */
static const char head[] =
	".text\n.globl keep\n.type keep, @function\nkeep:\n\t.skip 64, 0x90\nend:\n"
	".size keep, . - keep\n.globl main\nmain:\n\tret\n"
	".section .debug_abbrev, \"\", @progbits\n"
	".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 6, 0, 0\n"
	".uleb128 2, 0x2e\n.byte 1\n.uleb128 3, 8, 0x11, 1, 0x12, 6, 0, 0\n"
	".uleb128 3, 0x1d\n.byte 1\n.uleb128 0x31, 0x13, 0x11, 1, 0x12, 6, 0x59, 0xb, 0, 0\n"
	".uleb128 4, 0x0b\n.byte 1\n.uleb128 0x11, 1, 0x12, 6, 0, 0\n"
	".uleb128 5, 0x34\n.byte 0\n.uleb128 1, 0x13, 0, 0\n"
	".uleb128 6, 0x39\n.byte 1\n.uleb128 0, 0\n.byte 0\n"
	".section .debug_info, \"\", @progbits\ninfo:\n\t.long done - from\nfrom:\n\t.value 4\n"
	"\t.long 0\n\t.byte 8\n\t.byte 1\n\t.quad keep\n\t.long end - keep\n";
static const char function[] =
	"\t.byte 2\n\t.asciz \"keep\"\n\t.quad keep\n\t.long end - keep\n";
static const char tail[] = "done:\n.section .note.GNU-stack, \"\", @progbits\n";

/* Makes the file "f" of entries that are children of the unit. */
static void forge(const char *entries)
{
	FILE *f = fopen("f.s", "w");

	assert_non_null(f);
	fprintf(f, "%s%s%s", head, entries, tail);
	assert_int_equal(fclose(f), 0);
	run_shell("gcc -o f f.s");
}

/* The frames of keep(), whatever is said of it, in less than the time that a child has */
static struct json_object *frames_of_keep(void)
{
	const char *file = "f";
	struct json_object *stack;
	struct process p;
	u64 at, size;

	find("f", "keep", &at, &size);
	open_process(&p, &file, 1);
	stack = frames_at(&p, 0, at + 4);
	assert_string_equal(text(stack, json_object_array_length(stack) - 1, "symbol"), "keep");
	close_process(&p);
	assert_string_equal(said, "");
	return stack;
}

static size_t levels(void)
{
	struct json_object *stack = frames_of_keep();
	size_t n = json_object_array_length(stack);

	json_object_put(stack);
	return n;
}

static const char inlined[] =
	"1:\t.byte 3\n\t.long %s\n\t.quad keep\n\t.long end - keep\n\t.byte 1\n";

static void entries_that_lead_in_a_circle(void **state)
{
	char text[4096], entry[512];

	/* What is inlined is its own origin: it has no name. */
	snprintf(entry, sizeof(entry), inlined, "1b - info");
	snprintf(text, sizeof(text), "%s%s\t.byte 0, 0, 0\n", function, entry);
	forge(text);
	assert_int_equal(levels(), 2);
	/* It is the function, which is no loop. */
	snprintf(entry, sizeof(entry), inlined, "2b - info");
	snprintf(text, sizeof(text), "2:%s%s\t.byte 0, 0, 0\n", function, entry);
	forge(text);
	assert_int_equal(levels(), 2);
	/* The next entry is an earlier one, the entry itself, and none. */
	forge("3:\t.byte 5\n\t.long 3b - info\n\t.byte 0\n");
	assert_int_equal(levels(), 1);
	forge("3:\t.byte 6, 0\n\t.byte 5\n\t.long 3b - info\n\t.byte 0\n");
	assert_int_equal(levels(), 1);
	forge("3:\t.byte 6, 0\n\t.byte 5\n\t.long 0xfffffff0\n\t.byte 0\n");
	assert_int_equal(levels(), 1);
}

/* A tree of a million levels: of blocks that have the address, then of namespaces */
static void trees_without_end(void **state)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s.rept 1000000\n\t.byte 4\n\t.quad keep\n\t.long 64\n"
		 ".endr\n", function);
	forge(text);
	assert_int_equal(levels(), 1);
	forge(".rept 1000000\n\t.byte 6\n.endr\n");
	assert_int_equal(levels(), 1);
	snprintf(text, sizeof(text), "%s.rept 100000\n\t.byte 3\n\t.long 0\n\t.quad keep\n"
		 "\t.long 64\n\t.byte 1\n.endr\n", function);
	forge(text);
	assert_int_equal(levels(), CODE_FRAMES);
}

/* Bytes of a file that are sections of debug data */
static void debug_range(const char *file, off_t *lo, off_t *hi)
{
	int fd = open(file, O_RDONLY);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	*lo = *hi = 0;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name || strncmp(name, ".debug_", 7))
			continue;
		*lo = *lo ? *lo : (off_t)sh.sh_offset;
		*hi = (off_t)(sh.sh_offset + sh.sh_size);
	}
	elf_end(elf);
	close(fd);
	assert_true(*hi - *lo > 1000);
}

/* A file with some bytes that are others, or with nothing from some byte on */
static void mutate(const char *file, off_t lo, off_t hi, unsigned int round)
{
	int fd = open(file, O_RDWR);
	unsigned int i;
	char byte;

	for (i = 0; i < 1 + round % 20; i++) {
		byte = (char)(random() % 3 ? random() : random() % 2 ? -1 : 0);
		assert_int_equal(pwrite(fd, &byte, 1, lo + random() % (hi - lo)), 1);
	}
	if (round % 10 == 9) {
		char zero[4096] = "";
		off_t from = lo + random() % (hi - lo);

		for (; from < hi; from += sizeof(zero))
			assert_true(pwrite(fd, zero, hi - from < (off_t)sizeof(zero) ?
					   (size_t)(hi - from) : sizeof(zero), from) > 0);
	}
	close(fd);
}

static void damaged_debug_data(void **state)
{
	const char *file = "m";
	struct json_object *stack;
	u64 at, size, pc;
	size_t inlined = 0;
	unsigned int i;
	struct process p;
	off_t lo, hi;

	run_shell("gcc -O2 -g -o c c.c");
	find("c", "keep", &at, &size);
	debug_range("c", &lo, &hi);
	srandom(1);
	for (i = 0; i < 60; i++) {
		run_shell("cp c m");
		mutate("m", lo, hi, i);
		open_process(&p, &file, 1);
		for (pc = at; pc < at + size; pc += 3) {
			stack = frames_at(&p, 0, pc);
			inlined += json_object_array_length(stack) - 1;
			assert_string_equal(text(stack, json_object_array_length(stack) - 1,
						 "symbol"), "keep");
			json_object_put(stack);
		}
		assert_in_range(p.c->apart.children, 1, CHILDREN);
		close_process(&p);
	}
	/* Some of it can still be read. */
	assert_true(inlined);
}

/* A file of which the child dies is not asked for again; others are. */
static void the_child_dies(void **state)
{
	const char *const files[] = { "c", "c" };
	struct json_object *stack;
	struct process p;
	u64 at, size, k;

	find("c", "keep", &at, &size);
	open_process(&p, files, 2);
	for (k = 0; k < 6; k++) {
		if (k == 2) {
			kill(p.c->apart.child, SIGKILL);
			waitid(P_PID, (id_t)p.c->apart.child, NULL, WEXITED | WNOWAIT);
		}
		stack = frames_at(&p, k == 5, at + k);
		assert_string_equal(text(stack, json_object_array_length(stack) - 1, "symbol"),
				    "keep");
		assert_int_equal(*text(stack, 0, "source") != '\0', k < 2 || k == 5);
		json_object_put(stack);
	}
	assert_int_equal(p.c->apart.children, 2);
	close_process(&p);
	assert_non_null(strstr(said, "1 files have no lines in stacks: their debug data"));
}

/* The same address is asked for once. */
static void an_answer_is_kept(void **state)
{
	const char *file = "c";
	struct json_object *a, *b;
	struct process p;
	u64 at, size;

	find("c", "keep", &at, &size);
	open_process(&p, &file, 1);
	a = frames_at(&p, 0, at + size / 2);
	apart_end(&p.c->apart);
	b = frames_at(&p, 0, at + size / 2);
	assert_true(p.c->apart.fd < 0);
	assert_string_equal(json_object_to_json_string(a), json_object_to_json_string(b));
	assert_true(json_object_array_length(a) > 1);
	json_object_put(a);
	json_object_put(b);
	close_process(&p);
}

/* As Fedora does: symbols of functions, packed */
static void packed_symbols(void **state)
{
	const char *file = "packed";
	struct json_object *stack;
	struct process p;
	u64 at, size;

	run_shell("gcc -O2 -o packed c.c && objcopy -S --keep-symbol=keep packed mini && "
		  "strip packed -o bare");
	find("packed", "keep", &at, &size);
	run_shell("objcopy --only-keep-debug packed only && "
		  "objcopy -S --keep-symbol=keep only mini && xz -f mini && "
		  "objcopy --add-section .gnu_debugdata=mini.xz bare packed");
	open_process(&p, &file, 1);
	/* It is not unpacked in the tool itself. */
	assert_null(dwfl_module_addrname(dwfl_addrmodule(p.dwfl, BASE + at), BASE + at));
	stack = frames_at(&p, 0, at);
	assert_string_equal(text(stack, 0, "symbol"), "keep");
	json_object_put(stack);
	close_process(&p);
	assert_string_equal(said, "");
}

/* Some 90 KB become more than there is memory for. */
static void packed_symbols_that_are_too_many(void **state)
{
	const char *const files[] = { "bomb", "c" };
	struct rusage used;
	struct json_object *stack;
	struct process p;
	u64 at, size;

	run_shell("head -c 600M /dev/zero | xz -0 >zeros.xz && "
		  "objcopy --add-section .gnu_debugdata=zeros.xz bare bomb");
	find("c", "keep", &at, &size);
	open_process(&p, files, 2);
	stack = frames_at(&p, 0, at);
	assert_string_equal(text(stack, 0, "symbol"), "");
	json_object_put(stack);
	stack = frames_at(&p, 1, at);
	assert_string_equal(text(stack, json_object_array_length(stack) - 1, "symbol"), "keep");
	assert_true(*text(stack, 0, "source"));
	json_object_put(stack);
	close_process(&p);
	assert_int_equal(getrusage(RUSAGE_CHILDREN, &used), 0);
	assert_true((u64)used.ru_maxrss * KIB < MEMORY + 256 * MIB);
	assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
	assert_true((u64)used.ru_maxrss * KIB < 256 * MIB);
}

static int begin_with_a_program(void **state)
{
	if (begin(state))
		return -1;
	put_file("c.c", "#include <stdlib.h>\n"
		 "static inline __attribute__((always_inline)) char *inner(size_t n)\n{\n"
		 "\tchar *p = malloc(n);\n\n\tif (p)\n\t\t*p = (char)n;\n\treturn p;\n}\n"
		 "__attribute__((noinline)) char *keep(size_t n)\n{\n"
		 "\treturn inner(n) + *inner(7);\n}\n"
		 "int main(int argc, char **argv)\n{\n\treturn *keep(argc);\n}\n");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_that_lead_in_a_circle),
		cmocka_unit_test(trees_without_end),
		cmocka_unit_test(damaged_debug_data),
		cmocka_unit_test(the_child_dies),
		cmocka_unit_test(an_answer_is_kept),
		cmocka_unit_test(packed_symbols),
		cmocka_unit_test(packed_symbols_that_are_too_many),
	};

	return cmocka_run_group_tests(tests, begin_with_a_program, end);
}
