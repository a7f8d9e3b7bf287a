/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Python 3.11: functions that its interpreter executes. python.c finds the interpreter and frames,
 * pycode.c reads functions, pyline.c the table of their lines.
 */
#ifndef SEEPAGE_WHERE_PYTHON_H
#define SEEPAGE_WHERE_PYTHON_H

#include "where/where.h"

#define PYTHON_KNOWN	0x030bU	/* the version of which frames are known */
#define PYTHON_CALLERS	16U	/* frames of one stack */
#define PYTHON_NAME	256U
#define PYTHON_FILE	512U

/* pyline.c */
int python_line(const unsigned char *table, size_t n, int first, u64 unit);
size_t python_utf8(const unsigned char *data, size_t n, unsigned int width, char *buf, size_t size);

/* pycode.c: functions. What was read once stays, whatever becomes of it in the process. */
struct python_code {
	u64 addr, first;	/* of the object, and of its first instruction */
	u64 units;		/* instructions, of two bytes each */
	u64 qualname, table_at;	/* which tell whether it is still the same one */
	int line;		/* of its head */
	u64 slots;		/* words of a frame of it */
	char name[PYTHON_NAME], file[PYTHON_FILE];
	unsigned char *table;	/* of lines */
	size_t table_bytes;
};

struct python_types {
	u64 code, text, bytes;	/* addresses of the types of python */
};

struct python_codes {
	struct target *t;
	struct python_types type;
	struct python_code *list;
	unsigned int n;
	size_t table_bytes;	/* of all */
};

unsigned int python_code(struct python_codes *c, u64 addr);
bool python_code_has(const struct python_codes *c, unsigned int id, u64 instruction);
const struct python_code *python_code_of(const struct python_codes *c, unsigned int id);
void python_codes_free(struct python_codes *c);

/* python.c */
struct python_frame {
	u64 pc;			/* address of the instruction */
	unsigned int code;	/* for python_code_of() */
	bool entry;		/* the interpreter was called for it: native frames follow */
	u64 place;		/* of the one at work: address of its frame; 0: not known */
};

/* What is known of a native frame of the interpreter */
struct python_native {
	const u64 *reg;		/* that its callees have to keep */
	unsigned int regs;
	const u64 *word;	/* the lower end of it, as far as it is known */
	unsigned int words;
};

struct python;
struct python *python_new(struct target *t);
bool python_is_known(const struct python *p);
u64 python_address(const struct python *p);
bool python_is_interpreter(const struct python *p, u64 pc);
unsigned int python_frames(struct python *p, const struct python_native *native,
			   struct python_frame f[PYTHON_CALLERS]);
struct json_object *python_frame_json(const struct python *p, unsigned int code, u64 pc);
void python_note(const struct python *p, struct result *r);
void python_free(struct python *p);

#endif /* SEEPAGE_WHERE_PYTHON_H */
