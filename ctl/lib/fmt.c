// SPDX-License-Identifier: GPL-2.0
/*
 * Figures as text. Sizes use powers of 1024. Text from outside (comm, paths, the
 * kernel) goes through fmt_safe() before it reaches the terminal.
 */
#include <string.h>
#include <time.h>
#include <wchar.h>
#include "ctl.h"

static const char prefixes[] = "KMGTPE";

/*
 * Divides @v, which is at least 1024, by 1024 until less than 1024 is left after
 * rounding to one decimal: 1048570 is "1.0M", not "1024.0K".
 */
static double scale(u64 v, char *prefix)
{
	double d = (double)v;
	int i = -1;

	do {
		d /= 1024;
		i++;
	} while (d >= 1023.95);
	*prefix = prefixes[i];
	return d;
}

static int size_text(char *buf, size_t size, u64 bytes, bool brief)
{
	char prefix;
	double d;

	if (bytes < 1024)
		return snprintf(buf, size, "%llu%s", bytes, brief ? "B" : " B");
	d = scale(bytes, &prefix);
	if (brief)
		return snprintf(buf, size, "%.1f%c", d, prefix);
	return snprintf(buf, size, "%.1f %ciB", d, prefix);
}

char *fmt_bytes(char *buf, size_t size, u64 bytes)
{
	size_text(buf, size, bytes, false);
	return buf;
}

char *fmt_bytes_short(char *buf, size_t size, u64 bytes)
{
	size_text(buf, size, bytes, true);
	return buf;
}

static char *growth(char *buf, size_t size, s64 v, bool brief)
{
	u64 abs = v < 0 ? 0 - (u64)v : (u64)v;
	char text[32];

	size_text(text, sizeof(text), abs, brief);
	snprintf(buf, size, "%s%s%s", v < 0 ? "-" : v > 0 ? "+" : "", text,
		 brief ? "" : "/h");
	return buf;
}

char *fmt_growth(char *buf, size_t size, s64 bytes_per_hour)
{
	return growth(buf, size, bytes_per_hour, false);
}

char *fmt_growth_short(char *buf, size_t size, s64 bytes_per_hour)
{
	return growth(buf, size, bytes_per_hour, true);
}

/* Prints the two largest units: 45s, 3m05s, 2h05m, 4d03h, 2y017d. */
char *fmt_seconds(char *buf, size_t size, u64 s)
{
	u64 m = s / 60, h = m / 60, d = h / 24, y = d / 365;

	if (y)
		snprintf(buf, size, "%lluy%03llud", y, d % 365);
	else if (d)
		snprintf(buf, size, "%llud%02lluh", d, h % 24);
	else if (h)
		snprintf(buf, size, "%lluh%02llum", h, m % 60);
	else if (m)
		snprintf(buf, size, "%llum%02llus", m, s % 60);
	else
		snprintf(buf, size, "%llus", s);
	return buf;
}

char *fmt_ns(char *buf, size_t size, u64 ns)
{
	if (ns < 1000)
		snprintf(buf, size, "%llu ns", ns);
	else if (ns < 1000000)
		snprintf(buf, size, "%.1f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(buf, size, "%.1f ms", (double)ns / 1e6);
	else if (ns < 60000000000)
		snprintf(buf, size, "%.1f s", (double)ns / 1e9);
	else
		fmt_seconds(buf, size, ns / 1000000000);
	return buf;
}

char *fmt_ms(char *buf, size_t size, u64 ms)
{
	return fmt_ns(buf, size, ms > UINT64_MAX / 1000000 ? UINT64_MAX : ms * 1000000);
}

/* Prints the local date and time of @ns, nanoseconds since 1970. */
char *fmt_time(char *buf, size_t size, u64 ns)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, size, "%llus", ns / 1000000000);
	return buf;
}

/* Returns the length of the UTF-8 character at @s, 0 if it is not valid UTF-8. */
size_t utf8_char(const char *s, size_t len, u32 *c)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	size_t n, i;

	if (!len)
		return 0;
	n = u[0] < 0x80 ? 1 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	if ((u[0] >= 0x80 && u[0] < 0xc2) || u[0] > 0xf4 || n > len)
		return 0;
	*c = n == 1 ? u[0] : u[0] & (0xffU >> (n + 1));
	for (i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (u[i] & 0x3f);
	}
	if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return 0;
	return n;
}

/*
 * Returns the bytes of the first character of @s, a text that is not empty, and in @columns those
 * of a terminal that it takes: Chinese characters take two, combining marks none.
 */
size_t utf8_columns(const char *s, size_t *columns)
{
	u32 c;
	size_t bytes = utf8_char(s, 4, &c);	/* looks at nothing behind the end of the text */
	int n = bytes ? wcwidth((wchar_t)c) : 1;

	*columns = n < 0 ? 1 : (size_t)n;
	return bytes ? bytes : 1;
}

/* Can @c move the cursor, change colours or change the direction of writing? */
bool is_control(u32 c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e ||
	       c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xfeff;
}

/* Copies @s. Bytes that are not printable UTF-8 become \xNN. */
char *fmt_safe(char *buf, size_t size, const char *s, size_t len)
{
	size_t n = 0, i, k;
	u32 c;

	while (len) {
		k = utf8_char(s, len, &c);
		if (k && !is_control(c)) {
			if (n + k >= size)
				break;
			memcpy(buf + n, s, k);
			n += k;
		} else {
			k = k ? k : 1;
			if (n + 4 * k >= size)
				break;
			for (i = 0; i < k; i++)
				n += (size_t)snprintf(buf + n, size - n, "\\x%02x",
						      (unsigned char)s[i]);
		}
		s += k;
		len -= k;
	}
	buf[n] = '\0';
	return buf;
}
