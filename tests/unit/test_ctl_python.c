// SPDX-License-Identifier: GPL-2.0
/* seepage where: functions of python's interpreter, in made-up memory; lines; strings; pymalloc */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "where/python.h"
#include <cmocka.h>

#define BASE	0x7f1200000000ULL
#define SIZE	(256 * KIB)
#define VERSION	BASE		/* where the version is */
#define CODE	(BASE + 0x100)	/* the types */
#define TEXT	(BASE + 0x200)
#define BYTES	(BASE + 0x300)
#define EVAL	0x500000ULL
#define STACK	(BASE + 0x20000)	/* of a thread */
#define SLOTS	(9U + 4)	/* of a frame of made_code() */

static unsigned char memory[SIZE];
static u64 used;
static char noted[200];
static unsigned int asked;	/* for symbols */
static const char *interpreter = "/usr/bin/python3.11";

bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	if (addr < BASE || addr - BASE > SIZE || n > SIZE - (addr - BASE))
		return false;
	memcpy(buf, memory + (addr - BASE), n);
	return true;
}

void symbols_find(const struct target *t, const struct where_map *m, struct symbol *s, size_t n)
{
	static const struct symbol known[] = {
		{ "Py_Version", VERSION, 8 }, { "PyCode_Type", CODE, 8 },
		{ "_PyEval_EvalFrameDefault", EVAL, 0x1000 }, { "PyUnicode_Type", TEXT, 8 },
		{ "PyBytes_Type", BYTES, 8 },
	};
	size_t i, k;

	asked++;
	if (strcmp(m->file, interpreter))
		return;
	for (i = 0; i < n; i++)
		for (k = 0; k < ARRAY_SIZE(known); k++)
			if (!strcmp(s[i].name, known[k].name))
				s[i] = known[k];
}

u64 target_anon_bytes(const struct target *t)
{
	return SIZE;
}

void result_note(struct result *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(noted, sizeof(noted), fmt, args);
	va_end(args);
}

static void put(u64 addr, const void *data, size_t n)
{
	assert_true(addr >= BASE && addr - BASE + n <= SIZE);
	memcpy(memory + (addr - BASE), data, n);
}

static void put64(u64 addr, u64 v)
{
	put(addr, &v, sizeof(v));
}

static void put32(u64 addr, u32 v)
{
	put(addr, &v, sizeof(v));
}

static u64 room(size_t n)
{
	u64 addr = BASE + used;

	used += (n + 15) & ~15ULL;
	assert_true(BASE + used <= STACK);
	return addr;
}

/* A string of @width bytes a character; state as python 3.11 has it */
static u64 made_text(const void *data, u64 n, unsigned int width, bool ascii)
{
	u64 at = room(72 + n * width);

	put64(at + 8, TEXT);
	put64(at + 16, n);
	put32(at + 32, width << 2 | 32 | (ascii ? 64 : 0));
	put(at + (ascii ? 48 : 72), data, n * width);
	return at;
}

static u64 ascii(const char *s)
{
	return made_text(s, strlen(s), 1, true);
}

/* A function of 20 instructions from line 10 on: four lines of five instructions each */
static u64 made_code(const char *name)
{
	static const unsigned char table[] = { 0x84, 0, 0x84 | 11 << 3, 0, 0, 0x84 | 11 << 3, 0, 0,
					       0x84 | 11 << 3, 0, 0 };
	u64 at = room(184 + 40), lines = room(32 + sizeof(table));

	put64(lines + 8, BYTES);
	put64(lines + 16, sizeof(table));
	put(lines + 32, table, sizeof(table));
	put64(at + 8, CODE);
	put64(at + 16, 20);
	put32(at + 68, 3);
	put32(at + 72, 10);
	put32(at + 76, 1);
	put64(at + 112, ascii("/srv/app/server.py"));
	put64(at + 128, ascii(name));
	put64(at + 136, lines);
	return at;
}

static u64 insn(u64 code, u64 unit)
{
	return code + 184 + 2 * unit;
}

/* The frame number @i from the bottom of the stack */
static u64 made_frame(unsigned int i, u64 code, u64 unit, bool entry)
{
	u64 at = STACK + 24 + 8ULL * SLOTS * i;

	put64(at + 32, code);
	put64(at + 48, i ? STACK + 24 + 8ULL * SLOTS * (i - 1) : 0);
	put64(at + 56, insn(code, unit));
	put32(at + 64, 0);
	memory[at + 68 - BASE] = entry;
	memory[at + 69 - BASE] = 0;
	return at;
}

static struct where_map map = { .lo = EVAL, .hi = EVAL + 0x1000, .exec = true,
				.file = (char *)"/usr/bin/python3.11" };
static struct target target = { .map = &map, .maps = 1 };

static struct python *begin(u64 version)
{
	memset(memory, 0, sizeof(memory));
	used = 0x1000;
	put64(VERSION, version);
	return python_new(&target);
}

static struct python *known(void)
{
	struct python *p = begin(0x030b02f0);

	assert_true(python_is_known(p));
	return p;
}

static void is_frame(struct python *p, const struct python_frame *f, const char *name, int line)
{
	struct json_object *o = python_frame_json(p, f->code, f->pc), *v = NULL;
	char source[64];

	snprintf(source, sizeof(source), "/srv/app/server.py:%d", line);
	assert_true(json_object_object_get_ex(o, "symbol", &v));
	assert_string_equal(json_object_get_string(v), name);
	assert_true(json_object_object_get_ex(o, "source", &v));
	assert_string_equal(json_object_get_string(v), source);
	assert_true(json_object_object_get_ex(o, "language", &v));
	assert_string_equal(json_object_get_string(v), "python");
	json_object_put(o);
}

static void the_version_is_that_of_the_process(void **state)
{
	struct python *p = known();

	assert_true(python_is_interpreter(p, EVAL + 5));
	assert_false(python_is_interpreter(p, EVAL + 0x1000));
	*noted = '\0';
	python_note(p, NULL);
	assert_string_equal(noted, "");
	python_free(p);
	p = begin(0x030d01f0);
	assert_false(python_is_interpreter(p, EVAL + 5));
	python_note(p, NULL);
	assert_string_equal(noted, "python 3.13: frames are known for 3.11 only");
	python_free(p);
	p = begin(0);
	python_note(p, NULL);
	assert_string_equal(noted, "python before 3.11: frames are known for 3.11 only");
	python_free(p);
}

static void finds(struct target *t, bool found, unsigned int files)
{
	struct python *p;

	asked = 0;
	p = python_new(t);
	assert_int_equal(!!p, found);
	assert_int_equal(asked, files);
	python_free(p);
}

/* Of the files that may be the interpreter few are looked at, and each once. */
static void files_that_are_looked_at(void **state)
{
	static char name[20][64];
	struct where_map m[20];
	struct target t = { .map = m, .maps = ARRAY_SIZE(m) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(m); i++) {
		snprintf(name[i], sizeof(*name), "/usr/lib/python3/lib-dynload/_%zu.so", i);
		m[i] = (struct where_map){ .exec = true, .file = name[i] };
	}
	finds(&t, false, 4);
	/* Modules of C are mapped below a shared library that has the interpreter. */
	interpreter = strcpy(name[19], "/opt/lib/libpython3.11.so.1.0");
	finds(&t, true, 1);
	interpreter = strcpy(name[19], "/opt/python/bin/app");
	finds(&t, false, 4);
	for (i = 0; i < ARRAY_SIZE(m) - 1; i++)
		strcpy(name[i], "/usr/lib/python3/lib-dynload/_1.so");
	finds(&t, true, 2);
	interpreter = "/usr/bin/python3.11";
}

static void functions_and_their_callers(void **state)
{
	struct python *p = known();
	u64 leak = made_code("Server.leak"), serve = made_code("Server.serve");
	u64 top = made_code("<module>"), at;
	struct python_frame f[PYTHON_CALLERS];
	u64 reg[3] = { 17, 0, 0 }, word[2] = { 0, 0 };
	struct python_native native = { reg, 3, word, 2 };

	made_frame(0, top, 3, true);
	made_frame(1, serve, 16, false);
	at = made_frame(2, leak, 1, false);
	reg[1] = at;
	reg[2] = insn(leak, 12);
	word[1] = insn(leak, 13);
	assert_int_equal(python_frames(p, &native, f), 3);
	is_frame(p, &f[0], "Server.leak", 12);
	/* Which line a caller was at is not known: the line of its head */
	is_frame(p, &f[1], "Server.serve", 10);
	is_frame(p, &f[2], "<module>", 10);
	assert_false(f[0].entry || f[1].entry);
	assert_true(f[2].entry);

	/* Another function has the place by now: the native frame says which one it was. */
	made_frame(2, serve, 3, false);
	word[0] = insn(leak, 0);
	assert_int_equal(python_frames(p, &native, f), 3);
	is_frame(p, &f[0], "Server.leak", 12);
	is_frame(p, &f[1], "Server.serve", 10);
	/* At a place where it was not seen its callers are not known. */
	reg[1] = at + 8;
	assert_int_equal(python_frames(p, &native, f), 1);
	is_frame(p, &f[0], "Server.leak", 12);
	/* No register, and no word, is in the function that the frame names: it is a later one. */
	reg[1] = at;
	reg[2] = 0;
	word[0] = 0;
	word[1] = 0;
	assert_int_equal(python_frames(p, &native, f), 0);
	python_free(p);
}

static void the_instruction_that_is_executed(void **state)
{
	struct python *p = known();
	u64 code = made_code("f"), at = made_frame(0, code, 1, true);
	struct python_frame f[PYTHON_CALLERS];
	u64 reg[3] = { at, 0, 0 }, word[3] = { insn(code, 0), 0, 0 };
	struct python_native native = { reg, 3, word, 3 };

	/* Of two in registers the one whose next one is there, too */
	reg[1] = insn(code, 19);
	reg[2] = insn(code, 6);
	word[1] = insn(code, 7);
	assert_int_equal(python_frames(p, &native, f), 1);
	is_frame(p, &f[0], "f", 11);
	/* None in a register: the one before the last that was kept */
	reg[1] = 0;
	reg[2] = 0;
	word[1] = insn(code, 3);
	word[2] = insn(code, 15);
	python_frames(p, &native, f);
	is_frame(p, &f[0], "f", 12);
	word[1] = 0;
	word[2] = 0;
	python_frames(p, &native, f);
	is_frame(p, &f[0], "f", 10);
	/* Behind the end it is none, and an odd address neither. */
	word[0] = insn(code, 21);
	assert_int_equal(python_frames(p, &native, f), 0);
	word[0] = insn(code, 3) + 1;
	assert_int_equal(python_frames(p, &native, f), 0);
	python_free(p);
}

static void callers_that_do_not_fit(void **state)
{
	struct python *p = known();
	u64 leak = made_code("leak"), serve = made_code("serve"), at, below;
	struct python_frame f[PYTHON_CALLERS];
	u64 reg[2], word[1] = { 0 };
	struct python_native native = { reg, 2, word, 1 };

	below = made_frame(1, serve, 16, false);
	at = made_frame(2, leak, 1, false);
	reg[0] = at;
	reg[1] = insn(leak, 12);
	/* The caller is not at an instruction of its own. */
	put64(below + 56, insn(leak, 3));
	assert_int_equal(python_frames(p, &native, f), 1);
	/* Its frame does not end where this one begins. */
	put64(below + 56, insn(serve, 3));
	put64(at + 48, below - 8);
	put64(below - 8 + 32, serve);
	put64(below - 8 + 56, insn(serve, 3));
	memory[below - 8 + 69 - BASE] = 0;
	assert_int_equal(python_frames(p, &native, f), 1);
	/* Elsewhere than in the stack of the thread it may: a generator. */
	memory[at + 69 - BASE] = 1;
	put64(below - 8 + 48, 0);
	assert_int_equal(python_frames(p, &native, f), 2);
	/* A circle has an end. */
	put64(at + 48, at);
	assert_int_equal(python_frames(p, &native, f), PYTHON_CALLERS);
	python_free(p);
}

/* Each of these words, anywhere in a function or in its strings, is one to distrust. */
static void a_function_that_is_forged(void **state)
{
	static const u64 evil[] = { 0, 1, 7, UINT64_MAX, 1ULL << 63, 1ULL << 40, BASE + SIZE - 8,
				    BASE, 0xffffffff, 0x8000000080000000 };
	u64 code, at, reg[2], word[1] = { 0 }, offset;
	struct python_frame f[PYTHON_CALLERS];
	struct python_native native = { reg, 2, word, 1 };
	struct python *p;
	unsigned int i, n, taken = 0;

	for (i = 0; i < ARRAY_SIZE(evil); i++) {
		for (offset = 0; offset < 1000; offset += 8) {
			p = known();
			code = made_code("forged");
			at = made_frame(1, code, 1, false);
			reg[0] = at;
			reg[1] = insn(code, 5);
			put64(code + offset, evil[i]);
			n = python_frames(p, &native, f);
			assert_true(n <= PYTHON_CALLERS);
			if (n)
				json_object_put(python_frame_json(p, f[0].code, f[0].pc));
			taken += n > 0;
			/* its type, its file and its name */
			if (offset == 8 || offset == 112 || offset == 128)
				assert_int_equal(n, 0);
			python_free(p);
		}
	}
	assert_true(taken > 100);
}

static void names_that_are_not_ascii(void **state)
{
	static const unsigned char latin[] = { 'n', 0xe4, 'x' }, two[] = { 0x1a, 0x04, 0x41, 0x00 };
	static const unsigned char four[] = { 0x00, 0xf6, 0x01, 0x00, 0xff, 0xff, 0xff, 0xff };
	static const unsigned char half[] = { 0x00, 0xd8, 0x00, 0x00 };
	char buf[16], tight[4];

	assert_int_equal(python_utf8(latin, 3, 1, buf, sizeof(buf)), 4);
	assert_string_equal(buf, "n\xc3\xa4x");
	assert_int_equal(python_utf8(two, 2, 2, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "\xd0\x9a\x41");
	assert_int_equal(python_utf8(four, 2, 4, buf, sizeof(buf)), 5);
	assert_string_equal(buf, "\xf0\x9f\x98\x80?");
	assert_int_equal(python_utf8(half, 2, 2, buf, sizeof(buf)), 2);
	assert_string_equal(buf, "??");
	assert_int_equal(python_utf8((const unsigned char *)"abcdefghijklmnopqrst", 20, 1, buf,
				     sizeof(buf)), 12);
	assert_int_equal(python_utf8(latin, 3, 1, tight, sizeof(tight)), 0);
	assert_string_equal(tight, "");
}

static void lines(void **state)
{
	/* An entry of each form, of a function at line 100 */
	static const unsigned char all[] = {
		0x80, 0x00,			/* 0: line 100 */
		0xd8, 0x09, 0x0a,		/* 1: form 11, a line on */
		0xea, 0x01,			/* 2..4: form 13, -0: the same */
		0xf1, 0x04, 0x03, 0x02, 0x01,	/* 5, 6: form 14, two lines on */
		0xf8,				/* 7: form 15, no line */
		0xe8, 0x05,			/* 8: two lines back */
		0xe8, 0x42, 0x01,		/* 9: 0x42: 6 bits more, 33 lines on */
	};
	static const int want[] = { 100, 101, 101, 101, 101, 103, 103, 0, 101, 134 };
	unsigned char byte[2];
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(python_line(all, sizeof(all), 100, i), want[i]);
	assert_int_equal(python_line(all, sizeof(all), 100, 10), 0);
	assert_int_equal(python_line(all, sizeof(all), 100, UINT64_MAX), 0);
	assert_int_equal(python_line(NULL, 0, 100, 0), 0);
	/* Wherever the table is cut off, what it does not say is not known. */
	for (n = 0; n < sizeof(all); n++)
		assert_int_equal(python_line(all, n, 100, 9), 0);
	for (i = 0; i < 65536; i++) {
		byte[0] = (unsigned char)i;
		byte[1] = (unsigned char)(i >> 8);
		assert_in_range(python_line(byte, 2, 1, i % 9), 0, 100000000);
	}
}

/* A pool of blocks of 48 bytes: 100 were used, of which the third and the fifth are free */
static u64 made_pool(void)
{
	u64 at = BASE + 2 * POOL_BYTES, block = at + 48;

	memset(memory, 0, sizeof(memory));
	put32(at, 98);
	put64(at + 8, block + 48 * 2);
	put64(at + 16, at);
	put64(at + 24, at);
	put32(at + 36, 2);
	put32(at + 40, 48 + 48 * 100);
	put32(at + 44, POOL_BYTES - 48);
	put64(block + 48 * 2, block + 48 * 4);
	return at;
}

static void blocks_of_pymalloc(void **state)
{
	u64 at = made_pool(), block = at + 48, i;

	for (i = 0; i < 400; i++)
		assert_int_equal(pool_is_used(&target, block + 48 * i, 48),
				 i < 100 && i != 2 && i != 4);
	/* Another class, no block's beginning, the head itself */
	assert_false(pool_is_used(&target, block, 64));
	assert_false(pool_is_used(&target, block + 16, 48));
	assert_false(pool_is_used(&target, at, 48));
	assert_false(pool_is_used(&target, BASE, 48));
	assert_false(pool_is_used(&target, BASE + SIZE, 48));
	assert_false(pool_is_used(&target, UINT64_MAX - 47, 48));
	/* A list that is changed just now says nothing of blocks that are not in it. */
	put64(block + 48 * 4, block + 48 * 2);
	assert_true(pool_is_used(&target, block, 48));
	/* A pool that is given back */
	put32(at, 0);
	assert_false(pool_is_used(&target, block, 48));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_version_is_that_of_the_process),
		cmocka_unit_test(files_that_are_looked_at),
		cmocka_unit_test(functions_and_their_callers),
		cmocka_unit_test(the_instruction_that_is_executed),
		cmocka_unit_test(callers_that_do_not_fit),
		cmocka_unit_test(a_function_that_is_forged),
		cmocka_unit_test(names_that_are_not_ascii),
		cmocka_unit_test(lines),
		cmocka_unit_test(blocks_of_pymalloc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
