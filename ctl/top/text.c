// SPDX-License-Identifier: GPL-2.0
/*
 * Text of a given width in columns of the terminal.
 */
#include <string.h>
#include <wchar.h>
#include "top/top.h"

/*
 * Copies at most @columns columns of @s, which is valid UTF-8 (see fmt_safe()). Where the
 * terminal takes ASCII only, '?' stands for each other character. Returns the columns used.
 */
size_t text_cut(char *buf, size_t size, const char *s, size_t columns, bool utf8)
{
	size_t len = strlen(s), used = 0, n = 0, bytes, wide;
	int w;
	u32 c;

	for (; len; s += bytes, len -= bytes) {
		bytes = utf8_char(s, len, &c);
		w = bytes && utf8 ? wcwidth((wchar_t)c) : 1;
		wide = w < 0 ? 1 : (size_t)w;
		if (used + wide > columns || n + (bytes ? bytes : 1) >= size)
			break;
		if (bytes && !is_control(c) && (bytes == 1 || utf8)) {
			memcpy(buf + n, s, bytes);
			n += bytes;
		} else {
			buf[n++] = '?';
		}
		bytes = bytes ? bytes : 1;
		used += wide;
	}
	buf[n] = '\0';
	return used;
}

/* Adds a cell of exactly @columns columns to the text in @buf. What does not fit is cut. */
void text_cell(char *buf, size_t size, const char *s, size_t columns, bool right, bool utf8)
{
	char text[SCREEN_TEXT];
	size_t used = text_cut(text, sizeof(text), s, columns, utf8);
	int pad = (int)(columns - used);

	sentence_append(buf, size, "%*s%s%*s", right ? pad : 0, "", text, right ? 0 : pad, "");
}
