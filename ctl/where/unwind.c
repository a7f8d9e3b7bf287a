// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of samples. Registers and the top of the stack are those of the sample, the tables are
 * .eh_frame of the files that the process has mapped. A frame above the copied part ends a stack.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "where/burst.h"

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>

#ifdef __x86_64__
#define REGS	17
#define SP	7
#else
#define REGS	32
#define SP	31
#define PC	32
#endif

struct unwinder {
	struct target *t;
	Dwfl *dwfl;
	const struct seepage_where_sample *s;	/* the one at work */
	struct frame *f;
	unsigned int n;
	bool begun;
};

static char *debug_path = (char *)":.debug:/usr/lib/debug";

static int no_file(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base, char **file,
		   Elf **elf)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = no_file,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_path,
};

/* Is this the first mapping of the file? */
static bool is_first(const struct target *t, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (t->map[k].file && !strcmp(t->map[k].file, t->map[i].file))
			return false;
	return true;
}

static bool has_code(const struct target *t, size_t i)
{
	size_t k;

	for (k = i; k < t->maps; k++)
		if (t->map[k].file && t->map[k].exec && !strcmp(t->map[k].file, t->map[i].file))
			return true;
	return false;
}

/* elfutils adds the addresses in the file: the base is what the loader added to them. */
static void report(struct unwinder *u, const struct where_map *m)
{
	int fd = map_open(u->t, m);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	bool fixed = false;
	GElf_Ehdr eh;

	if (elf && gelf_getehdr(elf, &eh))
		fixed = eh.e_type == ET_EXEC;
	elf_end(elf);
	/* It closes the descriptor if it takes it. */
	if (fd >= 0 && !dwfl_report_elf(u->dwfl, m->file, m->file, fd, fixed ? 0 : m->lo, true))
		close(fd);
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
	dwfl_thread_state_register_pc(thread, u->s->regs[PC]);
#endif
	return dwfl_thread_state_registers(thread, 0, REGS, regs);
}

static const Dwfl_Thread_Callbacks threads = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Prepares to unwind stacks of the process, as it is mapped now. NULL: not possible */
struct unwinder *unwinder_new(struct target *t)
{
	struct unwinder *u = must(calloc(1, sizeof(*u)));
	size_t i;

	/* No server is asked for debug files. */
	unsetenv("DEBUGINFOD_URLS");
	u->t = t;
	elf_version(EV_CURRENT);
	u->dwfl = dwfl_begin(&callbacks);
	if (u->dwfl) {
		dwfl_report_begin(u->dwfl);
		for (i = 0; i < t->maps; i++)
			if (t->map[i].file && is_first(t, i) && has_code(t, i))
				report(u, &t->map[i]);
		dwfl_report_end(u->dwfl, NULL, NULL);
		if (dwfl_attach_state(u->dwfl, NULL, (pid_t)t->pid, &threads, u))
			return u;
	}
	unwinder_free(u);
	return NULL;
}

static int take_frame(Dwfl_Frame *state, void *arg)
{
	struct unwinder *u = arg;
	Dwarf_Addr pc;
	bool activation;

	if (u->n == FRAMES_MAX || !dwfl_frame_pc(state, &pc, &activation) || !pc)
		return DWARF_CB_ABORT;
	u->f[u->n++] = (struct frame){ .pc = pc, .activation = activation };
	return DWARF_CB_OK;
}

/* Fills up to FRAMES_MAX frames, the function that allocates first. Returns how many. */
unsigned int unwind(struct unwinder *u, const struct seepage_where_sample *s, struct frame *f)
{
	u->s = s;
	u->f = f;
	u->n = 0;
	dwfl_getthread_frames(u->dwfl, 1, take_frame, u);
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
	Dwfl_Line *line = mod ? dwfl_module_getsrc(mod, pc) : NULL;
	const char *file;
	char text[512];
	int n;

	file = line ? dwfl_lineinfo(line, NULL, &n, NULL, NULL, NULL) : NULL;
	if (!file)
		return NULL;
	snprintf(text, sizeof(text), "%s:%d", file, n);
	return json_text(text, strlen(text));
}

/* A frame as an element of "stack"; what is not known is null */
struct json_object *unwind_frame_json(struct unwinder *u, const struct frame *f)
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
	return o;
}

void unwinder_free(struct unwinder *u)
{
	if (u && u->dwfl)
		dwfl_end(u->dwfl);
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

void unwinder_free(struct unwinder *u)
{
}

#endif
