/* SPDX-License-Identifier: GPL-2.0 */
/* code.c: names and lines of native frames. jit.c: names of code that no file has */
#ifndef SEEPAGE_WHERE_CODE_H
#define SEEPAGE_WHERE_CODE_H

#include "where/burst.h"

struct Dwfl;
struct loaded_file;

struct code;
struct code *code_new(struct target *t, struct Dwfl *dwfl, struct loaded_file *file,
		      unsigned int files);
void code_add(struct code *c, const struct frame *f, struct json_object *stack);
void code_note(const struct code *c, struct result *r);
void code_free(struct code *c);

struct jit;
struct jit *jit_new(const struct target *t);
const char *jit_name(struct jit *j, u64 pc, size_t *n);
void jit_note(const struct jit *j, struct result *r);
void jit_free(struct jit *j);

#endif /* SEEPAGE_WHERE_CODE_H */
