// SPDX-License-Identifier: GPL-2.0
/*
 * Names of C++ types as typeinfo has them: "7Session", "N3app7SessionE",
 * "St6vectorIiSaIiEE". Only what occurs in names of classes is known: nested names,
 * template arguments, builtin types, pointers, std and substitutions of std. Anything else
 * leaves the name as it is. The name comes from the process: depth and length are bounded.
 */
#include <ctype.h>
#include <string.h>
#include "where/where.h"

#define DEPTH_MAX	16

struct parse {
	const char *p;
	char *out;
	size_t n, size;
	unsigned int depth;
};

static const struct {
	char code;
	const char *name;
} builtins[] = {
	{ 'v', "void" }, { 'w', "wchar_t" }, { 'b', "bool" }, { 'c', "char" },
	{ 'a', "signed char" }, { 'h', "unsigned char" }, { 's', "short" },
	{ 't', "unsigned short" }, { 'i', "int" }, { 'j', "unsigned int" }, { 'l', "long" },
	{ 'm', "unsigned long" }, { 'x', "long long" }, { 'y', "unsigned long long" },
	{ 'f', "float" }, { 'd', "double" },
};

static const struct {
	char code;
	const char *name;
} standard[] = {
	{ 't', "std" }, { 'a', "std::allocator" }, { 'b', "std::basic_string" },
	{ 's', "std::string" }, { 'i', "std::istream" }, { 'o', "std::ostream" },
	{ 'd', "std::iostream" },
};

static bool type(struct parse *d);

static bool put(struct parse *d, const char *s, size_t n)
{
	if (n >= d->size - d->n)
		return false;
	memcpy(d->out + d->n, s, n);
	d->n += n;
	d->out[d->n] = '\0';
	return true;
}

static bool put_text(struct parse *d, const char *s)
{
	return put(d, s, strlen(s));
}

/* <length> <name> */
static bool source_name(struct parse *d)
{
	size_t n = 0;

	while (isdigit((unsigned char)*d->p) && n < 1000)
		n = n * 10 + (size_t)(*d->p++ - '0');
	if (!n || strnlen(d->p, n) < n)
		return false;
	if (!strncmp(d->p, "_GLOBAL__N", 10))
		put_text(d, "(anonymous namespace)");
	else if (!put(d, d->p, n))
		return false;
	d->p += n;
	return true;
}

/* L <type> <number> E */
static bool literal(struct parse *d)
{
	const char *end = strchr(d->p, 'E');

	d->p += 2;
	if (!end || end < d->p || strspn(d->p, "0123456789n") != (size_t)(end - d->p))
		return false;
	if (!put(d, d->p, (size_t)(end - d->p)))
		return false;
	d->p = end + 1;
	return true;
}

/* I <argument>... E, after a name */
static bool arguments(struct parse *d)
{
	bool first = true;

	if (*d->p != 'I')
		return true;
	if (!put_text(d, "<"))
		return false;
	for (d->p++; *d->p && *d->p != 'E'; first = false) {
		if (!first && !put_text(d, ", "))
			return false;
		if (*d->p == 'L' ? !literal(d) : !type(d))
			return false;
	}
	if (*d->p != 'E')
		return false;
	d->p++;
	return put_text(d, ">");
}

static bool standard_name(struct parse *d)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(standard); i++) {
		if (d->p[1] != standard[i].code)
			continue;
		d->p += 2;
		return put_text(d, standard[i].name);
	}
	return false;
}

/* A name without N..E: of the global namespace, or of std */
static bool plain_name(struct parse *d)
{
	bool std = d->p[0] == 'S' && d->p[1] == 't';

	if (*d->p == 'S' && !standard_name(d))
		return false;
	if (std && !put_text(d, "::"))
		return false;
	if ((std || *d->p != 'I') && isdigit((unsigned char)*d->p) && !source_name(d))
		return false;
	return arguments(d);
}

static bool nested_name(struct parse *d)
{
	bool first = true;

	for (d->p++; *d->p && *d->p != 'E'; first = false) {
		if (!first && *d->p != 'I' && !put_text(d, "::"))
			return false;
		if (*d->p == 'S' ? !standard_name(d) : *d->p == 'I' ? !arguments(d) :
		    !source_name(d))
			return false;
	}
	if (*d->p != 'E')
		return false;
	d->p++;
	return true;
}

static bool unnested_type(struct parse *d)
{
	size_t i;

	if (*d->p == 'P') {
		d->p++;
		return type(d) && put_text(d, "*");
	}
	if (*d->p == 'K') {
		d->p++;
		return put_text(d, "const ") && type(d);
	}
	if (*d->p == 'N')
		return nested_name(d);
	if (isdigit((unsigned char)*d->p) || *d->p == 'S')
		return plain_name(d);
	for (i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (*d->p != builtins[i].code)
			continue;
		d->p++;
		return put_text(d, builtins[i].name);
	}
	return false;
}

static bool type(struct parse *d)
{
	bool fine;

	if (d->depth == DEPTH_MAX)
		return false;
	d->depth++;
	fine = unnested_type(d);
	d->depth--;
	return fine;
}

/* Writes the name of the type @mangled to @buf, or @mangled itself if it is not known. */
void demangle_type(const char *mangled, char *buf, size_t size)
{
	struct parse d = { .p = mangled + (*mangled == '*'), .out = buf, .size = size };

	if (type(&d) && !*d.p)
		return;
	snprintf(buf, size, "%s", mangled);
}
