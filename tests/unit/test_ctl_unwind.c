// SPDX-License-Identifier: GPL-2.0
/*
 * seepage where: the caller of a function without tables, also where python is about; separate
 * debug files
 */
#define HAVE_LIBDW
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <string.h>

static unsigned long compares;

static int counted(const char *a, const char *b)
{
	compares++;
	return strcmp(a, b);
}

#define strcmp counted
#include "where/code.c"
#include "where/debugfile.c"
#include "where/inlined.c"
#include "where/loaded.c"
#include "where/unwind.c"
#undef strcmp
#include <cmocka.h>

static struct where_map map[64];
static char path[] = "/proc/self/exe";
static bool is_python;		/* the function without tables is one of the interpreter */

/* A function of which .eh_frame knows nothing */
void bare(void);
__asm__(".text\n.globl bare\n.type bare, %function\nbare:\n\tret\n.size bare, . - bare\n");

const struct where_map *target_at(const struct target *t, u64 addr)
{
	return NULL;
}

u64 target_base(const struct target *t, const struct where_map *m)
{
	return 0;
}

struct cxx *target_cxx(struct target *t)
{
	return NULL;
}

bool cxx_name(struct cxx *c, const char *symbol, char *buf)
{
	return false;
}

struct python *python_new(struct target *t)
{
	return (struct python *)path;
}

bool python_is_known(const struct python *p)
{
	return true;
}

u64 python_address(const struct python *p)
{
	return 0;
}

bool python_is_interpreter(const struct python *p, u64 pc)
{
	return is_python && pc == (u64)(uintptr_t)bare;
}

unsigned int python_frames(struct python *p, const struct python_native *native,
			   struct python_frame f[PYTHON_CALLERS])
{
	f[0] = (struct python_frame){ .pc = 0x42, .code = 1, .entry = true };
	return 1;
}

struct json_object *python_frame_json(const struct python *p, unsigned int code, u64 pc)
{
	return NULL;
}

void result_note(struct result *r, const char *fmt, ...)
{
}

void python_note(const struct python *p, struct result *r)
{
}

void python_free(struct python *p)
{
}

/* The mappings of this program */
static size_t read_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], perm[5], program[400] = "", file[400];
	uint64_t lo, hi;
	size_t n = 0;

	assert_non_null(f);
	while (n < ARRAY_SIZE(map) && fgets(line, sizeof(line), f)) {
		*file = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %399s", &lo, &hi, perm,
			   file) < 4 || *file != '/' || (*program && strcmp(file, program)))
			continue;
		strcpy(program, file);
		map[n++] = (struct where_map){ .lo = lo, .hi = hi, .exec = perm[2] == 'x',
					       .file = path };
	}
	fclose(f);
	return n;
}

/* A sample at the first instruction of bare(), which was called by the test */
static unsigned int frames_of(struct unwinder *u, struct frame *f, u64 caller)
{
	struct seepage_where_sample s = { .stack_bytes = 64 };
	u64 word[8] = { 0 };

	s.regs[SP] = 0x7f0000001000;
#ifdef PC
	s.regs[PC] = (u64)(uintptr_t)bare;
	s.regs[RA] = caller;
#else
	s.regs[RA] = (u64)(uintptr_t)bare;
	word[0] = caller;
#endif
	memcpy(s.stack, word, sizeof(word));
	return unwind(u, &s, f);
}

static void the_caller_of_a_function_without_tables(void **state)
{
	struct target t = { .map = map, .maps = read_maps(), .pid = (u32)getpid(),
			    .dir = open("/proc/self", O_RDONLY | O_DIRECTORY) };
	u64 caller = (u64)(uintptr_t)the_caller_of_a_function_without_tables + 8;
	struct frame f[FRAMES_MAX];
	struct unwinder *u = unwinder_new(&t);
	unsigned int n;

	assert_non_null(u);
	n = frames_of(u, f, caller);
	assert_true(n >= 2);
	assert_true(f[0].pc == (u64)(uintptr_t)bare && !f[0].python);
	assert_true(f[1].pc == caller && !f[1].python && !f[1].activation);
	/* A function of python is shown first: the caller is there all the same. */
	is_python = true;
	n = frames_of(u, f, caller);
	assert_true(n >= 3);
	assert_int_equal(f[0].python, 1);
	assert_true(f[1].pc == (u64)(uintptr_t)bare);
	assert_true(f[2].pc == caller && !f[2].python && !f[2].activation);
	unwinder_free(u);
	close(t.dir);
}

/* A process chooses how many files it maps: their names are not compared with one another. */
static void many_files_are_not_compared(void **state)
{
	struct target t = { .maps = 8000, .pid = (u32)getpid(),
			    .dir = open("/proc/self", O_RDONLY | O_DIRECTORY) };
	struct unwinder *u;
	char *name = NULL;
	size_t i;

	t.map = must(calloc(t.maps, sizeof(*t.map)));
	for (i = 0; i < t.maps; i++) {
		/* One of them has to be there. */
		assert_true(asprintf(&name, i ? "/none/%zu" : path, i) > 0);
		t.map[i] = (struct where_map){ .lo = (i + 1) << 20, .hi = (i + 2) << 20,
					       .exec = true, .file = name, .header = i };
	}
	compares = 0;
	u = unwinder_new(&t);
	assert_non_null(u);
	assert_in_range(compares, 0, t.maps);
	unwinder_free(u);
	for (i = 0; i < t.maps; i++)
		free(t.map[i].file);
	free(t.map);
	close(t.dir);
}

/* A copy of this program without sections, which has no symbols, in a directory of its own */
static char work[] = "/tmp/test_ctl_unwind-XXXXXX";
static char program[64], debug[256];	/* debug: where its debug file is looked for */

static void run_shell(const char *command)
{
	assert_int_equal(chdir(work), 0);
	assert_int_equal(system(command), 0);
}

static int begin_files(void **state)
{
	Elf64_Ehdr eh;
	int fd;

	/* The child that reads debug files has no rights. */
	if (!mkdtemp(work) || chmod(work, 0755))
		return -1;
	snprintf(program, sizeof(program), "%s/program", work);
	snprintf(debug, sizeof(debug), "cp /proc/%d/exe program && mkdir .debug", getpid());
	run_shell(debug);
	fd = open(program, O_RDWR);
	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	eh.e_shoff = 0;
	eh.e_shnum = 0;
	eh.e_shstrndx = 0;
	assert_int_equal(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
	close(fd);
	root = work;
	return 0;
}

static int end_files(void **state)
{
	char command[64];

	root = "/usr/lib/debug";
	snprintf(command, sizeof(command), "rm -r %s", work);
	return chdir("/") || system(command);
}

static const char *member(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) && v ? json_object_get_string(v) : "";
}

/* The frame of a function in the program at @file, in a mapping of its own, as JSON */
static void look_up(const char *file, void (*check)(struct json_object *o))
{
	u64 lo = 0x10000000, at = (u64)(uintptr_t)read_maps;
	char name[64];
	struct where_map m = { .lo = lo, .hi = lo + (16 << 20), .exec = true, .file = name };
	struct target t = { .map = &m, .maps = 1, .pid = (u32)getpid(),
			    .dir = open("/proc/self", O_RDONLY | O_DIRECTORY) };
	struct unwinder *u;
	struct json_object *stack = json_object_new_array();
	struct frame f;

	snprintf(name, sizeof(name), "%s", file);
	read_maps();
	f = (struct frame){ .pc = at - map[0].lo + lo, .activation = true };
	u = unwinder_new(&t);
	assert_non_null(u);
	unwind_frame_add(u, &f, stack);
	assert_int_equal(json_object_array_length(stack), 1);
	check(json_object_array_get_idx(stack, 0));
	json_object_put(stack);
	unwinder_free(u);
	close(t.dir);
}

/* The same in a child, which is killed after some seconds: it waits for ever if it opens a FIFO. */
static void look_up_in_time(const char *file, void (*check)(struct json_object *o))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		alarm(20);
		look_up(file, check);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void has_no_name(struct json_object *o)
{
	if (*member(o, "symbol") || *member(o, "source"))
		_exit(1);
}

static void has_no_source(struct json_object *o)
{
	if (strcmp(member(o, "symbol"), "read_maps") || *member(o, "source"))
		_exit(1);
}

static void has_a_name(struct json_object *o)
{
	if (strcmp(member(o, "symbol"), "read_maps") || !strstr(member(o, "source"), "unwind.c:"))
		_exit(1);
}

static void find_build_id(struct json_object *o)
{
	const char *id = member(o, "build_id");

	assert_true(strlen(id) > 2);
	snprintf(debug, sizeof(debug), ".build-id/%.2s/%s.debug", id, id + 2);
}

static void debug_files_beside_a_program_are_not_opened(void **state)
{
	run_shell("mkfifo program.debug .debug/program.debug");
	look_up_in_time(program, has_no_name);
}

/* Only as a regular file */
static void debug_files_are_found_by_build_id(void **state)
{
	char command[1024];

	alarm(20);
	look_up(program, find_build_id);
	alarm(0);
	snprintf(command, sizeof(command), "mkdir -p %.12s && cp /proc/%d/exe %s", debug, getpid(),
		 debug);
	run_shell(command);
	look_up_in_time(program, has_a_name);
	snprintf(command, sizeof(command), "rm %s && mkfifo %s", debug, debug);
	run_shell(command);
	look_up_in_time(program, has_no_name);
}

/* Its debug data is whole but for some text in a file that it names, a FIFO. */
static void alternate_debug_files_of_a_program_are_not_opened(void **state)
{
	char command[1024];

	if (system("command -v dwz objcopy >/dev/null"))
		skip();
	snprintf(command, sizeof(command), "cp /proc/%d/exe one && cp one two && "
		 "dwz -m $PWD/common one two && rm common && mkfifo common", getpid());
	run_shell(command);
	snprintf(command, sizeof(command), "%s/one", work);
	look_up_in_time(command, has_no_source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_of_a_function_without_tables),
		cmocka_unit_test(many_files_are_not_compared),
		cmocka_unit_test(debug_files_beside_a_program_are_not_opened),
		cmocka_unit_test(debug_files_are_found_by_build_id),
		cmocka_unit_test(alternate_debug_files_of_a_program_are_not_opened),
	};

	return cmocka_run_group_tests(tests, begin_files, end_files);
}
