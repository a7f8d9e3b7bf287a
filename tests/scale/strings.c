// SPDX-License-Identifier: GPL-2.0
/* The kernel's string functions, without its headers, which wrap them. Not counted. */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "scale.h"

int k_format(char *buf, unsigned long size, const char *fmt, va_list args);
void k_print(const char *fmt, va_list args);

size_t strlen(const char *s);
size_t strnlen(const char *s, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
size_t strcspn(const char *s, const char *reject);
void *memchr(const void *s, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
long strscpy(char *to, const char *from, size_t size);
char *strsep(char **s, const char *separators);
bool sysfs_streq(const char *a, const char *b);
int snprintf(char *buf, size_t size, const char *fmt, ...);
int scnprintf(char *buf, size_t size, const char *fmt, ...);
int _printk(const char *fmt, ...);

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

size_t strnlen(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; a++, b++, n--)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, ~0UL);
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

void *memchr(const void *s, int c, size_t n)
{
	for (const unsigned char *p = s; n; p++, n--)
		if (*p == (unsigned char)c)
			return (void *)p;
	return NULL;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; x++, y++, n--)
		if (*x != *y)
			return *x - *y;
	return 0;
}

long strscpy(char *to, const char *from, size_t size)
{
	size_t n = 0;

	if (!size)
		return -7;
	while (n < size - 1 && from[n]) {
		to[n] = from[n];
		n++;
	}
	to[n] = '\0';
	return from[n] ? -7 : (long)n;
}

char *strsep(char **s, const char *separators)
{
	char *begin = *s, *end = begin;

	if (!begin)
		return NULL;
	while (*end && !strchr(separators, *end))
		end++;
	*s = *end ? end + 1 : NULL;
	*end = '\0';
	return begin;
}

bool sysfs_streq(const char *a, const char *b)
{
	return !strcmp(a, b);
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = k_format(buf, size, fmt, args);
	va_end(args);
	return n;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = k_format(buf, size, fmt, args);
	va_end(args);
	return n < (int)size ? n : (int)size - 1;
}

int _printk(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	k_print(fmt, args);
	va_end(args);
	return 0;
}
