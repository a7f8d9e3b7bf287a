// SPDX-License-Identifier: GPL-2.0
/*
 * A process of python 3.11 that lies, for where/python.c and its helpers: functions, frames and
 * registers as they are, and then the input, which is words to put over them: two bytes where, in
 * units of four bytes, and eight bytes what. The rest of an input is a table of lines.
 */
#include <stdlib.h>
#include <string.h>
#include "where/python.h"
#include "fuzz.h"

#define BASE	0x7f1200000000ULL
#define SIZE	(32 * KIB)
#define REGS	4U
#define WORDS	16U
#define NATIVE	(SIZE - 8 * (REGS + WORDS))	/* where registers and words are */
#define EDIT	10U
#define EDITS	24U

static unsigned char memory[SIZE];
static u64 reads, used;

bool __wrap_target_read(struct target *t, u64 addr, void *buf, size_t n);
void __wrap_symbols_find(const struct target *t, const struct where_map *m, struct symbol *s,
			 size_t n);

bool __wrap_target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	reads++;
	if (!n || addr < BASE || addr - BASE > SIZE || n > SIZE - (addr - BASE))
		return false;
	memcpy(buf, memory + (addr - BASE), n);
	return true;
}

/* The version is at the beginning, and each type 256 bytes behind the one before. */
void __wrap_symbols_find(const struct target *t, const struct where_map *m, struct symbol *s,
			 size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		s[i].addr = BASE + 256 * i;
		s[i].size = 256;
	}
}

static void put64(u64 addr, u64 v)
{
	memcpy(memory + (addr - BASE), &v, sizeof(v));
}

static void put32(u64 addr, u32 v)
{
	memcpy(memory + (addr - BASE), &v, sizeof(v));
}

static u64 room(u64 n)
{
	u64 at = BASE + used;

	used += (n + 15) & ~15ULL;
	return at;
}

static u64 made_text(const char *s, unsigned int width)
{
	u64 at = room(72 + 64), n = strlen(s) / width;

	put64(at + 8, BASE + 256 * 3);
	put64(at + 16, n);
	put32(at + 32, width << 2 | 32);
	memcpy(memory + (at - BASE) + 72, s, n * width);
	return at;
}

static u64 made_code(unsigned int width)
{
	static const unsigned char table[] = { 0x87, 0, 0xdf, 1, 2, 0xe9, 0x42, 1, 0xf0, 1, 2, 3,
					       4 };
	u64 at = room(184 + 64), lines = room(64);

	put64(lines + 8, BASE + 256 * 4);
	put64(lines + 16, sizeof(table));
	memcpy(memory + (lines - BASE) + 32, table, sizeof(table));
	put64(at + 8, BASE + 256 * 2);
	put64(at + 16, 20);
	put32(at + 68, 3);
	put32(at + 72, 10);
	put32(at + 76, 1);
	put64(at + 112, made_text("/srv/app/server.py", width));
	put64(at + 128, made_text("Server.serve.<locals>.one", width));
	put64(at + 136, lines);
	return at;
}

/* Three functions, each the caller of the next one, and what a native frame has of the last */
static void make(void)
{
	u64 code = 0, at = 0, i, before;

	memset(memory, 0, sizeof(memory));
	used = 256 * 5;
	put64(BASE, 0x030b02f0);
	for (i = 0; i < 3; i++) {
		before = at;
		at = BASE + 16 * KIB + 8 * 13 * i;
		code = made_code(1U << i);
		put64(at + 32, code);
		put64(at + 48, before);
		put64(at + 56, code + 184 + 4 * i);
		put32(at + 64, i == 1 ? 256 : 0);
	}
	put64(BASE + NATIVE, at);
	put64(BASE + NATIVE + 8, code + 184 + 8);
	put64(BASE + NATIVE + 8 * REGS, code + 184);
	put64(BASE + NATIVE + 8 * REGS + 8, code + 184 + 10);
}

static void try_frames(struct python *p, bool intact)
{
	u64 reg[REGS], word[WORDS];
	struct python_native native = { reg, REGS, word, WORDS };
	struct python_frame f[PYTHON_CALLERS];
	unsigned int n, i;

	memcpy(reg, memory + NATIVE, sizeof(reg));
	memcpy(word, memory + NATIVE + sizeof(reg), sizeof(word));
	reads = 0;
	n = python_frames(p, &native, f);
	promise(n <= PYTHON_CALLERS, "%u frames", n);
	promise(!intact || n == 3, "%u frames where nothing is wrong", n);
	promise(reads < 1000, "%llu reads", reads);
	for (i = 0; i < n; i++) {
		struct json_object *o = python_frame_json(p, f[i].code, f[i].pc);
		const char *text = json_object_to_json_string(o);

		promise_json(text, strlen(text));
		json_object_put(o);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct where_map map = { .file = (char *)"/usr/bin/python3.11", .exec = true };
	struct target t = { .map = &map, .maps = 1 };
	struct python *p;
	char text[64];
	unsigned int i;
	u16 at;
	size_t n;

	make();
	p = python_new(&t);
	promise(p && python_is_known(p), "no interpreter");
	try_frames(p, true);
	for (i = 0; i < EDITS && size >= EDIT; i++, data += EDIT, size -= EDIT) {
		memcpy(&at, data, sizeof(at));
		memcpy(memory + 4ULL * at % (SIZE - 7), data + 2, 8);
	}
	/* Twice: what was remembered of the first time may lie as well. */
	try_frames(p, false);
	try_frames(p, false);
	python_free(p);
	for (i = 0; i < 40; i++) {
		int line = python_line(data, size, 10, i);

		promise(line >= 0 && line < 100000000, "line %d", line);
	}
	for (i = 1; i <= 4; i *= 2) {
		n = python_utf8(data, size / i, i, text, sizeof(text));
		promise(n < sizeof(text) && strlen(text) == n, "%zu bytes of %zu", strlen(text), n);
	}
	return 0;
}
