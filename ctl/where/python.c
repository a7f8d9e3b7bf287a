// SPDX-License-Identifier: GPL-2.0
/*
 * The interpreter of python 3.11, seen from outside. A call of _PyEval_EvalFrameDefault() executes
 * one function, and those that this one calls, without a native frame for each. While it calls
 * something it has in registers or in its native frame:
 *
 *	the first instruction, 184 bytes behind the function's object
 *	this or the next instruction, and often, left from before, other ones of the function
 *	the frame of the function, which leads to its callers
 *
 * So the function is certain. Its line is that of an instruction in a register, best of one which
 * has its next one there as well; else that of the last instruction which is found.
 *
 * A frame is
 *
 *	+32	function; +48 frame of the caller; +56 instruction before the next one
 *	+68	1: the interpreter was called for it; +69 0: it is in the stack of the thread
 *
 * and lies just behind that of its caller, in memory that the next call of the caller uses again.
 * So callers are as they were when the sample was read, not when it was taken: they are believed
 * if the place still has a frame of the same function. If it has not, those count that were found
 * with the same function at the same place before. Which line a caller was at is not known: its
 * line is that of its head.
 */
#include <stdlib.h>
#include <string.h>
#include "where/python.h"

#define HEAD		184U	/* from a function's object to its first instruction */
#define NEAR		(16 * KIB)	/* within a piece of a thread's stack */
#define FILES_MAX	4U	/* that are looked at, whether they are the interpreter */
#define KNOWN		256U	/* callers that are remembered */

enum { VERSION, EVAL, CODE, TEXT, BYTES, SYMBOLS };

struct known {
	u64 at;
	unsigned int code, n;
	struct python_frame f[PYTHON_CALLERS];
};

struct python {
	u32 version;		/* 0x030b: 3.11; 0: older, which does not say it */
	u64 eval, eval_bytes;
	unsigned int frame_reg;	/* which register has a frame's address, from 1 on; 0: not seen */
	struct python_codes codes;
	struct known known[KNOWN];
};

struct interpreter_frame {
	u64 code, previous, instruction;
	bool entry, on_stack;
};

/* Returns false if the file that is mapped there is no interpreter. */
static bool find(struct target *t, const struct where_map *m, struct python *p)
{
	struct symbol s[SYMBOLS] = {
		[VERSION] = { .name = "Py_Version" },
		[EVAL] = { .name = "_PyEval_EvalFrameDefault" },
		[CODE] = { .name = "PyCode_Type" }, [TEXT] = { .name = "PyUnicode_Type" },
		[BYTES] = { .name = "PyBytes_Type" },
	};
	u64 version = 0;

	symbols_find(t, m, s, ARRAY_SIZE(s));
	if (!s[EVAL].addr || !s[CODE].addr || !s[TEXT].addr || !s[BYTES].addr)
		return false;
	if (s[VERSION].addr && target_read(t, s[VERSION].addr, &version, sizeof(version)))
		p->version = (u32)(version >> 16 & 0xffff);
	p->eval = s[EVAL].addr;
	p->eval_bytes = s[EVAL].size;
	p->codes.t = t;
	p->codes.type = (struct python_types){ s[CODE].addr, s[TEXT].addr, s[BYTES].addr };
	return true;
}

/* Files that may be the interpreter: first by their own name, then by that of a directory */
static bool is_candidate(const struct where_map *m, bool by_name)
{
	const char *name = m->file && m->exec ? strrchr(m->file, '/') : NULL;

	if (!name)
		return false;
	name += strncmp(name, "/lib", 4) ? 1 : 4;
	return strncmp(name, "python", 6) ? !by_name && strstr(m->file, "python") : by_name;
}

/* Finds the interpreter of the process, of whatever version. NULL: it has none */
struct python *python_new(struct target *t)
{
	struct python *p = must(calloc(1, sizeof(*p)));
	const char *seen[FILES_MAX];
	unsigned int n = 0, k, pass;
	size_t i;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < t->maps && n < FILES_MAX; i++) {
			if (!is_candidate(&t->map[i], !pass))
				continue;
			for (k = 0; k < n && strcmp(seen[k], t->map[i].file); k++)
				;
			if (k < n)
				continue;
			seen[n++] = t->map[i].file;
			if (find(t, &t->map[i], p))
				return p;
		}
	free(p);
	return NULL;
}

/* Are its frames known? */
bool python_is_known(const struct python *p)
{
	return p && p->version == PYTHON_KNOWN;
}

u64 python_address(const struct python *p)
{
	return p->eval;
}

bool python_is_interpreter(const struct python *p, u64 pc)
{
	return python_is_known(p) && pc >= p->eval && pc - p->eval < p->eval_bytes;
}

static bool read_frame(struct python *p, u64 addr, struct interpreter_frame *f)
{
	unsigned char data[72];

	if (!addr || addr & 7 || !target_read(p->codes.t, addr, data, sizeof(data)))
		return false;
	memcpy(&f->code, data + 32, sizeof(f->code));
	memcpy(&f->previous, data + 48, sizeof(f->previous));
	memcpy(&f->instruction, data + 56, sizeof(f->instruction));
	f->entry = data[68];
	f->on_stack = !data[69];
	return true;
}

static bool is_there(const struct python_native *native, u64 word)
{
	unsigned int i;

	for (i = 0; i < native->regs; i++)
		if (native->reg[i] == word)
			return true;
	for (i = 0; i < native->words; i++)
		if (native->word[i] == word)
			return true;
	return false;
}

/* The instruction of the function that is executed; 0: it is not this function that is executed */
static u64 instruction(const struct python *p, const struct python_native *native,
		       unsigned int code)
{
	const struct python_code *k = python_code_of(&p->codes, code);
	u64 found = 0, last = 0;
	unsigned int i;

	for (i = 0; k && i < native->regs; i++) {
		if (!python_code_has(&p->codes, code, native->reg[i]) || native->reg[i] == k->first)
			continue;
		found = native->reg[i];
		if (is_there(native, found + 2))
			return found;
	}
	for (i = 0; k && !found && i < native->words; i++)
		if (python_code_has(&p->codes, code, native->word[i]) && native->word[i] > last)
			last = native->word[i];
	return found ? found : k && last > k->first ? last - 2 : last;	/* the next one was kept */
}

static bool has_register(const struct python *p, const struct python_native *native,
			 unsigned int code)
{
	unsigned int i;

	for (i = 0; i < native->regs; i++)
		if (python_code_has(&p->codes, code, native->reg[i]))
			return true;
	return false;
}

/* The function that has its first instruction in the native frame; of several the one at work */
static unsigned int by_first(struct python *p, const struct python_native *native)
{
	unsigned int i, code = 0, other;

	for (i = 0; i < native->words; i++) {
		other = native->word[i] > HEAD ? python_code(&p->codes, native->word[i] - HEAD) : 0;
		if (other && (!code || (other != code && !has_register(p, native, code) &&
					has_register(p, native, other))))
			code = other;
	}
	return code;
}

/* The function of a frame that a register leads to, if that is still there */
static unsigned int by_frame(struct python *p, const struct python_native *native)
{
	struct interpreter_frame f;
	unsigned int i, code;

	for (i = 0; i < native->regs; i++) {
		code = read_frame(p, native->reg[i], &f) ? python_code(&p->codes, f.code) : 0;
		if (code && has_register(p, native, code))
			return code;
	}
	return 0;
}

/* Finds the function at work. *at: its frame, if that is still there, else 0 */
static bool find_leaf(struct python *p, const struct python_native *native,
		      struct python_frame *leaf, u64 *at)
{
	unsigned int code = by_first(p, native), i;
	struct interpreter_frame f;

	code = code ? code : by_frame(p, native);
	*leaf = (struct python_frame){ .pc = instruction(p, native, code), .code = code };
	*at = 0;
	for (i = 0; code && i < native->regs && !*at; i++)
		if (read_frame(p, native->reg[i], &f) && python_code(&p->codes, f.code) == code) {
			*at = native->reg[i];
			p->frame_reg = p->frame_reg && p->frame_reg < i + 1 ? p->frame_reg : i + 1;
		}
	if (p->frame_reg && p->frame_reg <= native->regs)
		leaf->place = native->reg[p->frame_reg - 1];
	return leaf->pc;
}

/* In the stack of a thread a frame begins where that of its caller ends. */
static bool is_behind(const struct python *p, u64 at, const struct interpreter_frame *f, u64 below,
		      const struct interpreter_frame *caller, unsigned int code)
{
	u64 slots = python_code_of(&p->codes, code)->slots;

	return !f->on_stack || !caller->on_stack || at < below || at - below > NEAR ||
	       at - below == 8 * slots;
}

/* Adds the callers of f[0], which has its frame at @at. Returns how many frames there are. */
static unsigned int add_callers(struct python *p, u64 at, struct python_frame *f)
{
	struct interpreter_frame here, caller;
	unsigned int n = 1, code;

	if (!read_frame(p, at, &here))
		return 1;
	f[0].entry = here.entry;
	for (; n < PYTHON_CALLERS && here.previous; n++) {
		u64 below = here.previous;

		code = read_frame(p, below, &caller) ? python_code(&p->codes, caller.code) : 0;
		if (!python_code_has(&p->codes, code, caller.instruction) ||
		    !is_behind(p, at, &here, below, &caller, code))
			break;
		f[n] = (struct python_frame){ .pc = python_code_of(&p->codes, code)->first,
					      .code = code, .entry = caller.entry };
		at = below;
		here = caller;
	}
	return n;
}

static struct known *known_at(struct python *p, unsigned int code, u64 at)
{
	return &p->known[((at >> 3) * 31 + code) % KNOWN];
}

/* Callers of the same function at the same place */
static unsigned int recall(struct python *p, struct python_frame *f)
{
	const struct known *k = known_at(p, f[0].code, f[0].place);

	if (!k->n || !k->at || k->at != f[0].place || k->code != f[0].code)
		return 1;
	memcpy(f + 1, k->f + 1, (k->n - 1) * sizeof(*f));
	f[0].entry = k->f[0].entry;
	return k->n;
}

static void remember(struct python *p, u64 at, const struct python_frame *f, unsigned int n)
{
	struct known *k = known_at(p, f[0].code, at);

	k->at = at;
	k->code = f[0].code;
	k->n = n;
	memcpy(k->f, f, n * sizeof(*f));
}

/**
 * python_frames() - the functions that a native frame of the interpreter executes
 * @p: the interpreter
 * @native: what is known of that frame
 * @f: out, the function at work first, then its callers
 *
 * Return: their number; 0: not known, 1: without the callers.
 */
unsigned int python_frames(struct python *p, const struct python_native *native,
			   struct python_frame f[PYTHON_CALLERS])
{
	unsigned int n;
	u64 at;

	if (!python_is_known(p) || !find_leaf(p, native, f, &at))
		return 0;
	n = at ? add_callers(p, at, f) : 1;
	if (n > 1)
		remember(p, at, f, n);
	else
		n = recall(p, f);
	return n;
}

/* A frame as an element of "stack" */
struct json_object *python_frame_json(const struct python *p, unsigned int code, u64 pc)
{
	const struct python_code *k = python_code_of(&p->codes, code);
	struct json_object *o = json_object_new_object();
	char text[PYTHON_FILE + 16];
	int line = python_line(k->table, k->table_bytes, k->line, (pc - k->first) / 2);

	snprintf(text, sizeof(text), "%s:%d", k->file, line ? line : k->line);
	json_object_object_add(o, "address", NULL);
	json_object_object_add(o, "module", json_text(k->file, strlen(k->file)));
	json_object_object_add(o, "build_id", NULL);
	json_object_object_add(o, "offset", NULL);
	json_object_object_add(o, "symbol", json_text(k->name, strlen(k->name)));
	json_object_object_add(o, "demangled", NULL);
	json_object_object_add(o, "source", json_text(text, strlen(text)));
	json_object_object_add(o, "inlined", json_object_new_boolean(false));
	json_object_object_add(o, "language", json_object_new_string("python"));
	return o;
}

/* Says so if the frames of this version are not known. */
void python_note(const struct python *p, struct result *r)
{
	if (!p || python_is_known(p))
		return;
	if (p->version)
		result_note(r, "python %u.%u: frames are known for 3.11 only", p->version >> 8,
			    p->version & 0xff);
	else
		result_note(r, "python before 3.11: frames are known for 3.11 only");
}

void python_free(struct python *p)
{
	if (p)
		python_codes_free(&p->codes);
	free(p);
}
