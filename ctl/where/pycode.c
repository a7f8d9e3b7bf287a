// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of python 3.11, objects of the type "code":
 *
 *	+8	type; +16 number of instructions
 *	+68	words of its stack; +72 line of its head; +76 number of its variables
 *	+112	file; +128 name with its class or function; +136 table of lines
 *	+184	instructions
 *
 * A string has +16 its length, +32 bits: 2 to 4 the bytes of a character, 5 whether the
 * characters are in it, 6 whether they are ASCII; these begin at +48, others at +72. Bytes have
 * +16 their number and begin at +32. All of it is untrusted.
 */
#include <stdlib.h>
#include <string.h>
#include "where/python.h"

#define HEAD		184U	/* bytes before the instructions */
#define CODES_MAX	4096U
#define UNITS_MAX	(1U << 22)
#define TABLE_MAX	(64 * KIB)
#define TABLES_MAX	(16 * MIB)
#define SLOTS_MAX	(1U << 20)
#define FRAME_WORDS	9U	/* of a frame, before variables and stack */

static u64 word_at(const unsigned char *head, unsigned int at)
{
	u64 v;

	memcpy(&v, head + at, sizeof(v));
	return v;
}

static int number_at(const unsigned char *head, unsigned int at)
{
	int v;

	memcpy(&v, head + at, sizeof(v));
	return v;
}

/* Reads a string as UTF-8, the first part of one that is longer than there is room. */
static bool read_text(const struct python_codes *c, u64 addr, char *buf, size_t size)
{
	unsigned char head[72], data[4 * PYTHON_FILE];
	unsigned int bits, width;
	u64 n;

	*buf = '\0';
	if (!target_read(c->t, addr, head, sizeof(head)) || word_at(head, 8) != c->type.text)
		return false;
	n = word_at(head, 16);
	bits = (unsigned int)number_at(head, 32);
	width = bits >> 2 & 7;
	if (!n || n > (1ULL << 40) || !(bits & 32) || (width != 1 && width != 2 && width != 4))
		return false;
	n = n < size ? n : size;
	if (!target_read(c->t, addr + (bits & 64 ? 48 : 72), data, n * width))
		return false;
	return python_utf8(data, n, width, buf, size);
}

static void read_table(struct python_codes *c, struct python_code *k)
{
	unsigned char head[32];
	u64 n;

	if (!target_read(c->t, k->table_at, head, sizeof(head)) ||
	    word_at(head, 8) != c->type.bytes)
		return;
	n = word_at(head, 16);
	if (!n || n > TABLE_MAX || c->table_bytes + n > TABLES_MAX)
		return;
	k->table = must(malloc(n));
	if (!target_read(c->t, k->table_at + 32, k->table, n)) {
		free(k->table);
		k->table = NULL;
		return;
	}
	k->table_bytes = n;
	c->table_bytes += n;
}

static bool read_head(const struct python_codes *c, u64 addr, struct python_code *k)
{
	unsigned char head[HEAD];

	if (addr < 65536 || addr & 7 || addr >> 56 ||
	    !target_read(c->t, addr, head, sizeof(head)) ||
	    word_at(head, 8) != c->type.code)
		return false;
	*k = (struct python_code){
		.addr = addr, .first = addr + HEAD, .units = word_at(head, 16),
		.line = number_at(head, 72), .qualname = word_at(head, 128),
		.table_at = word_at(head, 136),
		.slots = FRAME_WORDS + (u64)(u32)number_at(head, 68) + (u32)number_at(head, 76),
	};
	return k->units && k->units <= UNITS_MAX && k->line >= 0 && k->slots <= SLOTS_MAX &&
	       read_text(c, k->qualname, k->name, sizeof(k->name)) &&
	       read_text(c, word_at(head, 112), k->file, sizeof(k->file));
}

/* Returns a number for the function at @addr; 0: there is none, or there are too many */
unsigned int python_code(struct python_codes *c, u64 addr)
{
	struct python_code k;
	unsigned int i;

	if (!read_head(c, addr, &k))
		return 0;
	for (i = 0; i < c->n; i++)
		if (c->list[i].addr == addr && c->list[i].qualname == k.qualname &&
		    c->list[i].table_at == k.table_at && c->list[i].units == k.units &&
		    !strcmp(c->list[i].name, k.name))
			return i + 1;
	if (c->n == CODES_MAX)
		return 0;
	if (!(c->n & (c->n - 1)))
		c->list = must(realloc(c->list, (c->n ? 2 * c->n : 1) * sizeof(k)));
	read_table(c, &k);
	c->list[c->n] = k;
	return ++c->n;
}

const struct python_code *python_code_of(const struct python_codes *c, unsigned int id)
{
	return id && id <= c->n ? &c->list[id - 1] : NULL;
}

/* Is the instruction, or the end behind the last one, of the function @id? */
bool python_code_has(const struct python_codes *c, unsigned int id, u64 instruction)
{
	const struct python_code *k = python_code_of(c, id);

	return k && !(instruction & 1) && instruction >= k->first &&
	       instruction - k->first <= 2 * k->units;
}

void python_codes_free(struct python_codes *c)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		free(c->list[i].table);
	free(c->list);
	c->list = NULL;
	c->n = 0;
}
