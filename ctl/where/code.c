// SPDX-License-Identifier: GPL-2.0
/*
 * Names and lines of native frames. Symbols are looked up here. Debug data, and symbols that are
 * packed, are read by a child: see apart.c.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "where/code.h"

#ifdef HAVE_LIBDW
#include "where/apart.h"
#include "where/inlined.h"
#include "where/loaded.h"

#define CHILDREN	4U
#define CPU_S		5U
#define MEMORY		(512 * MIB)	/* twice LOADED_LINES */
#define CACHED		4096U	/* a power of two */
#define ID_BYTES	64	/* of a build id */

/* What the child answers; then frames follow, the name and the line of each, which end with NUL. */
struct head {
	u32 without_lines;	/* files, so far */
	u32 frames;
};

#define ANSWER_TEXT	(CODE_FRAMES * sizeof(struct code_frame))

struct answer {
	struct head head;
	char text[ANSWER_TEXT];
};

struct cached {
	u64 pc;			/* 0: none */
	char *text;		/* or NULL */
	size_t n;
	unsigned int frames;
};

struct code {
	struct target *t;
	Dwfl *dwfl;
	struct loaded_file *file;
	unsigned int files;
	struct jit *jit;
	struct apart apart;
	unsigned int without_lines, failed;	/* files */
	struct cached cache[CACHED];
};

/* The child */

static size_t put(char *buf, const char *s)
{
	size_t n = strlen(s) + 1;

	memcpy(buf, s, n);
	return n;
}

/* Fills @a for the address; returns its length. */
static size_t answer_to(Dwfl *dwfl, const struct loaded_room *room, u64 pc, struct answer *a)
{
	static struct code_frame frame[CODE_FRAMES];
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, pc);
	unsigned int n = mod ? inlined_at(mod, pc, frame) : 0, i;
	const char *name = mod ? dwfl_module_addrname(mod, pc) : NULL;
	size_t len = 0;

	if (name && !n) {
		n = 1;
		*frame[0].source = '\0';
	}
	/* The name of the function is that of its symbol, with debug data or without. */
	if (name && strlen(name) < CXX_NAME)
		strcpy(frame[n - 1].symbol, name);
	for (i = 0; i < n; i++) {
		len += put(a->text + len, frame[i].symbol);
		len += put(a->text + len, frame[i].source);
	}
	a->head = (struct head){ .frames = n, .without_lines = room->without_lines };
	return sizeof(a->head) + len;
}

static void serve(int fd, void *arg)
{
	struct loaded_room room = { .tables = LOADED_TABLES, .lines = LOADED_LINES,
				    .packed = true };
	static struct answer a;
	struct code *c = arg;
	Dwfl *dwfl = loaded_files(c->file, c->files, &room);
	u64 pc;

	if (!dwfl || send(fd, "", 1, 0) < 0)
		return;
	while (recv(fd, &pc, sizeof(pc), 0) == (ssize_t)sizeof(pc))
		if (send(fd, &a, answer_to(dwfl, &room, pc, &a), 0) < 0)
			break;
}

static bool is_file(const void *arg, int fd)
{
	const struct code *c = arg;
	unsigned int i;

	for (i = 0; i < c->files; i++)
		if (c->file[i].fd == fd)
			return true;
	return false;
}

/* The tool */

/* Takes the answer, of @n bytes, if it is whole. */
static void take(struct code *c, const struct answer *a, size_t n, struct cached *k)
{
	size_t len = n - sizeof(a->head), nuls = 0, i;

	if (n < sizeof(a->head) || a->head.frames > CODE_FRAMES)
		return;
	for (i = 0; i < len; i++)
		nuls += !a->text[i];
	if (nuls != 2UL * a->head.frames || (len && a->text[len - 1]))
		return;
	if (a->head.without_lines > c->without_lines)
		c->without_lines = a->head.without_lines;
	k->frames = a->head.frames;
	k->n = len;
	k->text = must(malloc(len + 1));
	memcpy(k->text, a->text, len);
}

/* What the child says of an address in @mod; each is asked for once. */
static const struct cached *ask(struct code *c, Dwfl_Module *mod, u64 pc)
{
	const struct apart_how how = { .serve = serve, .keeps = is_file, .arg = c,
				       .memory = MEMORY, .cpu_s = CPU_S, .children = CHILDREN };
	struct cached *k = &c->cache[(pc ^ pc >> 12) & (CACHED - 1)];
	struct loaded_file *file = loaded_file_of(mod);
	static struct answer a;
	ssize_t n;

	if (k->pc == pc)
		return k;
	free(k->text);
	*k = (struct cached){ .pc = pc };
	if (!file || file->failed || !apart_begin(&c->apart, &how))
		return k;
	n = apart_ask(&c->apart, &pc, sizeof(pc), &a, sizeof(a));
	if (n) {
		take(c, &a, (size_t)n, k);
	} else {
		file->failed = true;
		c->failed++;
	}
	return k;
}

static struct json_object *build_id(Dwfl_Module *mod)
{
	const unsigned char *bits;
	char text[2 * ID_BYTES + 1] = "";
	GElf_Addr addr;
	int n = mod ? dwfl_module_build_id(mod, &bits, &addr) : 0, i;

	for (i = 0; i < n && i < ID_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
	return n > 0 ? json_object_new_string(text) : NULL;
}

static struct json_object *text_or_null(const char *s)
{
	return s && *s ? json_text(s, strlen(s)) : NULL;
}

static struct json_object *frame_json(struct code *c, const struct frame *f, Dwfl_Module *mod,
				      const char *symbol, const char *source)
{
	const struct where_map *m = target_at(c->t, f->pc - !f->activation);
	struct json_object *o = json_object_new_object();
	char cxx[CXX_NAME];
	bool known = symbol && cxx_name(target_cxx(c->t), symbol, cxx);

	json_object_object_add(o, "address", json_object_new_uint64(f->pc));
	json_object_object_add(o, "module", m && m->file ? json_text(m->file, strlen(m->file)) :
			       NULL);
	json_object_object_add(o, "build_id", build_id(mod));
	json_object_object_add(o, "offset", m && m->file ?
			       json_object_new_uint64(f->pc - target_base(c->t, m)) : NULL);
	json_object_object_add(o, "symbol", text_or_null(symbol));
	json_object_object_add(o, "demangled", known ? json_text(cxx, strlen(cxx)) : NULL);
	json_object_object_add(o, "source", text_or_null(source));
	json_object_object_add(o, "inlined", json_object_new_boolean(false));
	json_object_object_add(o, "language", NULL);
	return o;
}

/* Code that no file has, as a compiler of a runtime makes it */
static void add_jit(struct code *c, const struct frame *f, struct json_object *stack)
{
	u64 pc = f->pc - !f->activation;
	const struct where_map *m = target_at(c->t, pc);
	struct json_object *o = frame_json(c, f, NULL, NULL, NULL);
	size_t n = 0;
	const char *name = m && m->exec ? jit_name(c->jit, pc, &n) : NULL;

	if (name) {
		json_object_object_add(o, "symbol", json_text(name, n));
		json_object_object_add(o, "language", json_object_new_string("jit"));
	}
	json_object_array_add(stack, o);
}

/**
 * code_add() - add a native frame to "stack", and in front of it what is inlined there
 * @c: from code_new()
 * @f: the frame
 * @stack: out, an element for each; what is not known is null
 */
void code_add(struct code *c, const struct frame *f, struct json_object *stack)
{
	u64 pc = f->pc - !f->activation;
	Dwfl_Module *mod = dwfl_addrmodule(c->dwfl, pc);
	const struct cached *k = mod ? ask(c, mod, pc) : NULL;
	const char *name = mod ? dwfl_module_addrname(mod, pc) : NULL, *symbol, *source;
	const char *p = k ? k->text : NULL;
	struct json_object *o;
	unsigned int i;

	if (!mod) {
		add_jit(c, f, stack);
		return;
	}
	for (i = 0; i + 1 < k->frames; i++) {
		symbol = p;
		source = symbol + strlen(symbol) + 1;
		p = source + strlen(source) + 1;
		o = frame_json(c, f, mod, symbol, source);
		json_object_object_add(o, "inlined", json_object_new_boolean(true));
		json_object_array_add(stack, o);
	}
	source = k->frames ? p + strlen(p) + 1 : NULL;
	o = frame_json(c, f, mod, name || !k->frames ? name : p, source);
	json_object_array_add(stack, o);
}

/* Prepares to name frames of the process. @dwfl and @file have to stay as long. */
struct code *code_new(struct target *t, Dwfl *dwfl, struct loaded_file *file, unsigned int files)
{
	struct code *c = must(calloc(1, sizeof(*c)));

	c->t = t;
	c->dwfl = dwfl;
	c->file = file;
	c->files = files;
	c->jit = jit_new(t);
	apart_new(&c->apart);
	return c;
}

void code_note(const struct code *c, struct result *r)
{
	if (c->without_lines)
		result_note(r, "%u files have no lines in stacks: these would take more than "
			    "%llu MiB", c->without_lines, LOADED_LINES / MIB);
	if (c->failed)
		result_note(r, "%u files have no lines in stacks: their debug data cannot be read, "
			    "or takes too much time or memory", c->failed);
	jit_note(c->jit, r);
}

void code_free(struct code *c)
{
	unsigned int i;

	if (!c)
		return;
	apart_end(&c->apart);
	for (i = 0; i < CACHED; i++)
		free(c->cache[i].text);
	jit_free(c->jit);
	free(c);
}

#endif
