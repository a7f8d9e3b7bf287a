/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types of the tables that gen-spec.awk generates from the uapi header. spec.c checks replies
 * with them, nlfuzz makes requests from them.
 */
#ifndef SPEC_TYPES_H
#define SPEC_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum type {
	T_NONE, T_PAD, T_U8, T_U32, T_U64, T_S64, T_STRING,
	T_ARRAY,	/* of elements of max bytes */
	T_NEST,		/* of the attributes of inner */
	T_LIST,		/* any number of attributes of type max */
	T_KEYED_U32,	/* types 1 to max, each a u32 */
	T_KEYED_U64,
};

struct nest;
struct spec {
	const char *name;
	enum type type;
	uint64_t max;
	bool optional;
	const struct nest *inner;
};

struct nest {
	const struct spec *spec;
	unsigned int n;
};

struct member {
	int attr;
	bool mandatory;
};

#endif
