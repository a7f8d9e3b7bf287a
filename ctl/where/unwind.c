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
#include "where/code.h"
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

struct unwinder {
	struct target *t;
	Dwfl *dwfl;
	struct loaded_file file[FILES_MAX];
	unsigned int files;
	struct loaded_room room;
	struct code *code;
	struct python *python;	/* or NULL */
	const struct seepage_where_sample *s;	/* the one at work */
	struct frame *f;
	unsigned int n;
	unsigned int natives;	/* frames that are not of python */
	bool from_caller;	/* without the frame of the function itself */
	struct python_frame callers[PYTHON_CALLERS];	/* of python, that are still to come */
	unsigned int callers_n;
};

/* Opens a file that was loaded at @m. Its code ends at @end. */
static void open_file(struct unwinder *u, const struct where_map *m, u64 end)
{
	int fd = u->files < FILES_MAX ? map_open(u->t, m) : -1;
	u64 begin = m->lo - (m->offset < m->lo ? m->offset : 0);

	if (fd >= 0)
		u->file[u->files++] = (struct loaded_file){ .fd = fd, .begin = begin, .end = end };
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

/* Opens each file with code once for each place at which it was loaded. */
static void open_files(struct unwinder *u)
{
	const struct target *t = u->t;
	u64 *end = must(calloc(t->maps + 1, sizeof(*end)));	/* of the code of a file */
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (t->map[i].file && t->map[i].exec)
			end[t->map[i].header] = t->map[i].hi;
	for (i = 0; i < t->maps; i++)
		if (end[i])
			open_file(u, &t->map[i], end[i]);
	free(end);
}

/* Prepares to unwind stacks of the process, as it is mapped now. NULL: not possible */
struct unwinder *unwinder_new(struct target *t)
{
	struct unwinder *u = must(calloc(1, sizeof(*u)));

	u->t = t;
	u->room = (struct loaded_room){ .tables = LOADED_TABLES, .lines = LOADED_LINES };
	open_files(u);
	u->dwfl = loaded_files(u->file, u->files, &u->room);
	if (u->dwfl) {
		u->code = code_new(t, u->dwfl, u->file, u->files);
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

/* Adds a frame to "stack", and in front of it what is inlined there; what is not known is null. */
void unwind_frame_add(struct unwinder *u, const struct frame *f, struct json_object *stack)
{
	if (f->python)
		json_object_array_add(stack, python_frame_json(u->python, f->python, f->pc));
	else
		code_add(u->code, f, stack);
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
	code_note(u->code, r);
}

void unwinder_free(struct unwinder *u)
{
	if (u) {
		python_free(u->python);
		code_free(u->code);
	}
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

void unwind_frame_add(struct unwinder *u, const struct frame *f, struct json_object *stack)
{
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
