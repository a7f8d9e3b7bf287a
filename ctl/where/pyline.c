// SPDX-License-Identifier: GPL-2.0
/*
 * The table of lines of a function of python 3.11, and its strings. An entry of the table begins
 * with a byte: bits 3 to 6 are its form, bits 0 to 2 the number of instructions less one.
 *
 *	0 to 9		the same line; a byte follows
 *	10 to 12	0 to 2 lines on; two bytes follow
 *	13		a number, lines on
 *	14		a number, lines on, and three numbers more
 *	15		no line
 *
 * Numbers have six bits in each byte, the lowest first; bit 6 says that another byte follows.
 * The lowest bit of lines on is their sign.
 */
#include "where/python.h"

#define LINE_MAX	100000000

struct table {
	const unsigned char *at, *end;
};

/* Returns false at the end of the table, and for more than 32 bits. */
static bool number(struct table *t, u32 *v)
{
	unsigned int shift;
	unsigned char byte;

	*v = 0;
	for (shift = 0; shift < 30 && t->at < t->end; shift += 6) {
		byte = *t->at++;
		*v |= (byte & 63U) << shift;
		if (!(byte & 64))
			return true;
	}
	return false;
}

/* Reads what follows the first byte. Returns false where that is not all there. */
static bool entry(struct table *t, unsigned int form, s64 *line)
{
	u32 v = 0, skip, i;

	if (form >= 13 && form <= 14 && !number(t, &v))
		return false;
	*line += form >= 13 ? (v & 1 ? -(s64)(v >> 1) : (s64)(v >> 1)) : 0;
	if (form < 13) {
		skip = form < 10 ? 1 : 2;
		*line += form < 10 ? 0 : form - 10;
		if ((size_t)(t->end - t->at) < skip)
			return false;
		t->at += skip;
	}
	for (i = 0; form == 14 && i < 3; i++)
		if (!number(t, &v))
			return false;
	return true;
}

/* The line of the instruction @unit of a function that begins at line @first; 0: not known */
int python_line(const unsigned char *table, size_t n, int first, u64 unit)
{
	struct table t = { .at = table, .end = n ? table + n : table };
	s64 line = first;
	u64 at = 0;

	while (t.at < t.end) {
		unsigned char head = *t.at++;
		unsigned int form = head >> 3 & 15;

		if (!(head & 128) || !entry(&t, form, &line))
			return 0;
		at += (head & 7U) + 1;
		if (unit < at)
			return form < 15 && line > 0 && line < LINE_MAX ? (int)line : 0;
	}
	return 0;
}

static size_t put(u32 c, char *buf)
{
	static const unsigned char head[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	for (i = n - 1; i; i--, c >>= 6)
		buf[i] = (char)(0x80 | (c & 63));
	buf[0] = (char)(n == 1 ? c : head[n] | c);
	return n;
}

/*
 * Writes a string of @n characters of @width bytes as UTF-8, as far as there is room, and a NUL
 * byte. A character that cannot be becomes '?'. Returns the length.
 */
size_t python_utf8(const unsigned char *data, size_t n, unsigned int width, char *buf, size_t size)
{
	size_t len = 0, i;

	for (i = 0; i < n && len + 5 <= size; i++, data += width) {
		u32 c = data[0];

		if (width > 1)
			c |= (u32)data[1] << 8;
		if (width > 2)
			c |= (u32)data[2] << 16 | (u32)data[3] << 24;
		if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = '?';
		len += put(c, buf + len);
	}
	buf[len] = '\0';
	return len;
}
