// SPDX-License-Identifier: GPL-2.0
/* seepage where: the caller of a function without tables, also where python is about */
#define HAVE_LIBDW
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include "where/unwind.c"
#include <cmocka.h>

static struct where_map map[64];
static char path[] = "/proc/self/exe";
static bool is_python;		/* the function without tables is one of the interpreter */

/* A function of which .eh_frame knows nothing */
void bare(void);
__asm__(".text\n.globl bare\n.type bare, %function\nbare:\n\tret\n.size bare, . - bare\n");

void *must(void *p)
{
	assert_non_null(p);
	return p;
}

int map_open(const struct target *t, const struct where_map *m)
{
	return open(m->file, O_RDONLY);
}

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

struct json_object *json_text(const char *text, size_t n)
{
	return NULL;
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
	struct target t = { .map = map, .maps = read_maps(), .pid = (u32)getpid() };
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_caller_of_a_function_without_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
