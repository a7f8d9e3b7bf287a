// SPDX-License-Identifier: GPL-2.0
/*
 * Names of C++ functions and types as people write them, by __cxa_demangle() of libstdc++ if that
 * is installed. A name comes from the process, and a short one may stand for gigabytes or hours.
 * So a child does it, see apart.c. A name that ends the child stays as it is.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "where/apart.h"

#define CHILDREN	4U
#define CPU_S		1U
#define MEMORY		(64 * MIB)

struct cxx {
	struct apart apart;
};

typedef char *(*demangler)(const char *name, char *buf, size_t *size, int *status);

/* Rust's older names are C++ names with a hash at the end, ::h and 16 digits. */
static size_t without_hash(const char *s)
{
	size_t n = strlen(s);

	return n > 19 && !strncmp(s + n - 19, "::h", 3) &&
	       strspn(s + n - 16, "0123456789abcdef") == 16 ? n - 19 : n;
}

/* Answers each name with a mark and the name, or with the mark only. */
static void serve(int fd, void *arg)
{
	char in[CXX_NAME], answer[CXX_NAME + 1] = "=", *out;
	demangler f = NULL;
	void *lib;
	ssize_t n;
	size_t len;

	lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (lib)
		*(void **)&f = dlsym(lib, "__cxa_demangle");
	/* The first answer says that there is a library. */
	if (!f || send(fd, answer, 1, 0) < 0)
		return;
	while ((n = recv(fd, in, sizeof(in) - 1, 0)) > 0) {
		in[n] = '\0';
		out = f(in, NULL, NULL, NULL);
		len = out ? without_hash(out) : 0;
		len = len < CXX_NAME ? len : CXX_NAME - 1;
		memcpy(answer + 1, out ? out : "", len);
		free(out);
		if (send(fd, answer, len + 1, 0) < 0)
			break;
	}
}

static const struct apart_how how = {
	.serve = serve, .memory = MEMORY, .cpu_s = CPU_S, .children = CHILDREN,
};

struct cxx *cxx_new(void)
{
	struct cxx *c = must(calloc(1, sizeof(*c)));

	apart_new(&c->apart);
	return c;
}

/**
 * cxx_name() - write the name of a C++ function
 * @c: from cxx_new()
 * @symbol: as the file has it
 * @buf: of CXX_NAME bytes
 *
 * Return: false if it is no such name, or if it takes too much time or memory.
 */
bool cxx_name(struct cxx *c, const char *symbol, char *buf)
{
	size_t len = strlen(symbol);
	char answer[CXX_NAME + 1];
	ssize_t n;

	if (strncmp(symbol, "_Z", 2) || len >= CXX_NAME || !apart_begin(&c->apart, &how))
		return false;
	n = apart_ask(&c->apart, symbol, len, answer, CXX_NAME);
	if (!n)
		return false;
	memcpy(buf, answer + 1, (size_t)n - 1);
	buf[n - 1] = '\0';
	return n > 1;
}

/**
 * cxx_type() - write the name of a C++ type
 * @c: from cxx_new()
 * @type: as typeinfo has it, "N3app7SessionE"; a '*' in front says that addresses are compared
 * @buf: of CXX_NAME bytes
 *
 * Return: false as cxx_name().
 */
bool cxx_type(struct cxx *c, const char *type, char *buf)
{
	static const char says[] = "typeinfo name for ";
	char symbol[CXX_NAME];
	size_t n = sizeof(says) - 1;

	if (snprintf(symbol, sizeof(symbol), "_ZTS%s", type + (*type == '*')) >=
	    (int)sizeof(symbol) || !cxx_name(c, symbol, buf) || strncmp(buf, says, n))
		return false;
	memmove(buf, buf + n, strlen(buf + n) + 1);
	return true;
}

void cxx_free(struct cxx *c)
{
	if (c)
		apart_end(&c->apart);
	free(c);
}
