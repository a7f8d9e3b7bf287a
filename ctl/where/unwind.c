// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of samples. Registers and the top of the stack are those of the sample, the tables are
 * .eh_frame of the files that the process has mapped. A frame above the copied part ends a stack.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "where/burst.h"
#include "where/python.h"

#ifdef HAVE_LIBDW
#include <elfutils/version.h>
#include "where/debugfile.h"
#include "where/loaded.h"

#define FILES_MAX	512U	/* that are open at a time */
#define PYTHON_WORDS	40U	/* of a native frame of its interpreter: about as many as it has */

#ifdef __x86_64__
#define REGS	17
#define SP	7
#define RA	16
static const unsigned char kept[] = { 3, 6, 12, 13, 14, 15 };	/* by callees */
#else
#define REGS	32
#define SP	31
#define RA	30
#define PC	32
static const unsigned char kept[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29 };
#endif

struct file {
	struct unwinder *u;
	int fd;
};

struct unwinder {
	struct target *t;
	Dwfl *dwfl;
	struct file file[FILES_MAX];
	unsigned int files;
	struct loaded_room room;
	struct python *python;	/* or NULL */
	const struct seepage_where_sample *s;	/* the one at work */
	struct frame *f;
	unsigned int n;
	unsigned int natives;	/* frames that are not of python */
	bool from_caller;	/* without the frame of the function itself */
	struct python_frame callers[PYTHON_CALLERS];	/* of python, that are still to come */
	unsigned int callers_n;
};

/* Is called when the module is needed. The file itself is open already: the process may end. */
static int find_file(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
		     char **path, Elf **elf)
{
	struct file *f = *data;

	*elf = f ? loaded_elf(f->fd, &f->u->room) : NULL;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_file,
	.find_debuginfo = debug_find,
};

/* Reports a file that was loaded at @m. Its code ends at @end. */
static void report(struct unwinder *u, const struct where_map *m, u64 end)
{
	struct file *f = &u->file[u->files];
	int fd = u->files < FILES_MAX ? map_open(u->t, m) : -1;
	u64 begin = m->lo - (m->offset < m->lo ? m->offset : 0);
	Dwfl_Module *mod;
	void **data;

	if (fd < 0)
		return;
	mod = dwfl_report_module(u->dwfl, m->file, begin, end);
	if (!mod || !dwfl_module_info(mod, &data, NULL, NULL, NULL, NULL, NULL, NULL)) {
		close(fd);
		return;
	}
	*f = (struct file){ .u = u, .fd = fd };
	*data = f;
	u->files++;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	*thread = *thread ? NULL : arg;
	return *thread ? 1 : 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	*thread = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	const struct unwinder *u = arg;
	u64 at = addr - u->s->regs[SP];

	if (at > u->s->stack_bytes || u->s->stack_bytes - at < sizeof(u64))
		return false;
	memcpy(word, u->s->stack + at, sizeof(u64));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *u = arg;
	Dwarf_Word regs[REGS];
	int i;

	for (i = 0; i < REGS; i++)
		regs[i] = u->s->regs[i];
#ifdef PC
	dwfl_thread_state_register_pc(thread, u->s->regs[u->from_caller ? RA : PC]);
#else
	/* The return address is on the stack. */
	if (u->from_caller) {
		memcpy(&regs[RA], u->s->stack, sizeof(u64));
		regs[SP] += sizeof(u64);
	}
#endif
	return dwfl_thread_state_registers(thread, 0, REGS, regs);
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Reports each file with code once for each place at which it was loaded. */
static void report_all(struct unwinder *u)
{
	const struct target *t = u->t;
	u64 *end = must(calloc(t->maps + 1, sizeof(*end)));	/* of the code of a file */
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (t->map[i].file && t->map[i].exec)
			end[t->map[i].header] = t->map[i].hi;
	for (i = 0; i < t->maps; i++)
		if (end[i])
			report(u, &t->map[i], end[i]);
	free(end);
}

/* Prepares to unwind stacks of the process, as it is mapped now. NULL: not possible */
struct unwinder *unwinder_new(struct target *t)
{
	struct unwinder *u = must(calloc(1, sizeof(*u)));

	u->t = t;
	u->room = (struct loaded_room){ .tables = LOADED_TABLES, .lines = LOADED_LINES };
	elf_version(EV_CURRENT);
	u->dwfl = dwfl_begin(&callbacks);
	if (u->dwfl) {
		dwfl_report_begin(u->dwfl);
		report_all(u);
		dwfl_report_end(u->dwfl, NULL, NULL);
		u->python = python_new(t);
		if (dwfl_attach_state(u->dwfl, NULL, (pid_t)t->pid, &threads, u))
			return u;
	}
	unwinder_free(u);
	return NULL;
}

/* Adds the functions of python that one call of the interpreter executes. */
static void add_python(struct unwinder *u, bool all)
{
	unsigned int i;

	for (i = 0; i < u->callers_n && u->n < FRAMES_MAX; i++) {
		u->f[u->n++] = (struct frame){ .pc = u->callers[i].pc,
					       .python = u->callers[i].code };
		if (u->callers[i].entry && !all) {
			i++;
			break;
		}
	}
	u->callers_n -= i;
	memmove(u->callers, u->callers + i, u->callers_n * sizeof(*u->callers));
}

#if _ELFUTILS_PREREQ(0, 188)
static void take_python(struct unwinder *u, Dwfl_Frame *state)
{
	struct python_frame f[PYTHON_CALLERS];
	u64 reg[ARRAY_SIZE(kept)], word[PYTHON_WORDS];
	struct python_native native = { .reg = reg, .word = word };
	Dwarf_Word v, w;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		if (!dwfl_frame_reg(state, kept[i], &v))
			reg[native.regs++] = v;
	if (!dwfl_frame_reg(state, SP, &v))
		for (i = 0; i < PYTHON_WORDS && read_memory(u->dwfl, v + 8 * i, &w, u); i++)
			word[native.words++] = w;
	i = python_frames(u->python, &native, f);
	if (i) {
		memcpy(u->callers, f, i * sizeof(*f));
		u->callers_n = i;
	}
	add_python(u, false);
	if (i == 1 && u->n) {
		u->f[u->n - 1].cut = true;
		u->f[u->n - 1].place = f[0].place;
	}
}
#else
static void take_python(struct unwinder *u, Dwfl_Frame *state)
{
}
#endif

static int take_frame(Dwfl_Frame *state, void *arg)
{
	struct unwinder *u = arg;
	Dwarf_Addr pc;
	bool activation;

	if (u->n == FRAMES_MAX || !dwfl_frame_pc(state, &pc, &activation) || !pc)
		return DWARF_CB_ABORT;
	if (python_is_interpreter(u->python, pc))
		take_python(u, state);
	if (u->n == FRAMES_MAX)
		return DWARF_CB_ABORT;
	/* The first frame of the caller is no place where it was interrupted. */
	activation = activation && !(u->from_caller && u->natives == 1);
	u->f[u->n++] = (struct frame){ .pc = pc, .activation = activation };
	u->natives++;
	return DWARF_CB_OK;
}

/*
 * The function that allocates has no tables, as all of musl: at its first instruction the caller
 * is known without.
 */
static void unwind_caller(struct unwinder *u)
{
	if (u->natives != 1 || u->s->stack_bytes < sizeof(u64))
		return;
	u->from_caller = true;
	dwfl_getthread_frames(u->dwfl, 1, take_frame, u);
	u->from_caller = false;
}

/* Fills up to FRAMES_MAX frames, the function that allocates first. Returns how many. */
unsigned int unwind(struct unwinder *u, const struct seepage_where_sample *s, struct frame *f)
{
	u->s = s;
	u->f = f;
	u->n = 0;
	u->natives = 0;
	u->callers_n = 0;
	dwfl_getthread_frames(u->dwfl, 1, take_frame, u);
	unwind_caller(u);
	/* The native callers were not copied. */
	add_python(u, true);
	return u->n;
}

static struct json_object *build_id(Dwfl_Module *mod)
{
	const unsigned char *bits;
	char text[2 * 64 + 1] = "";
	GElf_Addr addr;
	int n = mod ? dwfl_module_build_id(mod, &bits, &addr) : 0, i;

	for (i = 0; i < n && i < 64; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
	return n > 0 ? json_object_new_string(text) : NULL;
}

static struct json_object *source(Dwfl_Module *mod, u64 pc)
{
	Dwfl_Line *line = mod && debug_has_lines(mod) ? dwfl_module_getsrc(mod, pc) : NULL;
	const char *file;
	char text[512];
	int n;

	file = line ? dwfl_lineinfo(line, NULL, &n, NULL, NULL, NULL) : NULL;
	if (!file)
		return NULL;
	snprintf(text, sizeof(text), "%s:%d", file, n);
	return json_text(text, strlen(text));
}

static struct json_object *native_json(struct unwinder *u, const struct frame *f)
{
	u64 pc = f->pc - !f->activation;
	Dwfl_Module *mod = dwfl_addrmodule(u->dwfl, pc);
	const struct where_map *m = target_at(u->t, pc);
	struct json_object *o = json_object_new_object();
	const char *name = mod ? dwfl_module_addrname(mod, pc) : NULL;
	char cxx[CXX_NAME];
	bool known = name && cxx_name(target_cxx(u->t), name, cxx);

	json_object_object_add(o, "address", json_object_new_uint64(f->pc));
	json_object_object_add(o, "module", m && m->file ? json_text(m->file, strlen(m->file)) :
			       NULL);
	json_object_object_add(o, "build_id", build_id(mod));
	json_object_object_add(o, "offset", m && m->file ?
			       json_object_new_uint64(f->pc - target_base(u->t, m)) : NULL);
	json_object_object_add(o, "symbol", name ? json_text(name, strlen(name)) : NULL);
	json_object_object_add(o, "demangled", known ? json_text(cxx, strlen(cxx)) : NULL);
	json_object_object_add(o, "source", source(mod, pc));
	json_object_object_add(o, "inlined", json_object_new_boolean(false));
	json_object_object_add(o, "language", NULL);
	return o;
}

/* A frame as an element of "stack"; what is not known is null */
struct json_object *unwind_frame_json(struct unwinder *u, const struct frame *f)
{
	return f->python ? python_frame_json(u->python, f->python, f->pc) : native_json(u, f);
}

/* An address in the code of python; 0: there is none, or it is not known */
u64 unwinder_python(const struct unwinder *u)
{
	return u && python_is_known(u->python) ? python_address(u->python) : 0;
}

void unwinder_note(const struct unwinder *u, struct result *r)
{
	python_note(u->python, r);
	loaded_note(&u->room, r);
}

void unwinder_free(struct unwinder *u)
{
	if (u)
		python_free(u->python);
	if (u && u->dwfl)
		dwfl_end(u->dwfl);
	while (u && u->files)
		close(u->file[--u->files].fd);
	free(u);
}

#else

struct unwinder *unwinder_new(struct target *t)
{
	return NULL;
}

unsigned int unwind(struct unwinder *u, const struct seepage_where_sample *s, struct frame *f)
{
	return 0;
}

struct json_object *unwind_frame_json(struct unwinder *u, const struct frame *f)
{
	return NULL;
}

u64 unwinder_python(const struct unwinder *u)
{
	return 0;
}

void unwinder_note(const struct unwinder *u, struct result *r)
{
}

void unwinder_free(struct unwinder *u)
{
}

#endif

/*
 * The stack of a sample, which was unwound before, or NULL. If the callers of a function of python
 * were not known then, they may have been found with a later sample.
 */
const struct stack *unwind_again(struct unwinder *u, const struct seepage_where_sample *s,
				 const struct stack *before, struct stack *now)
{
	unsigned int k;

	for (k = 0; before && k < before->n && !before->frame[k].cut; k++)
		;
	if (before && k == before->n)
		return before;
	now->n = unwind(u, s, now->frame);
	return now;
}
