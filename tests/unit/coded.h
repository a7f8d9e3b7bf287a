/* SPDX-License-Identifier: GPL-2.0 */
/* A process that is made up, of files that the test makes: for what tests code.c */
#ifndef SEEPAGE_TEST_CODED_H
#define SEEPAGE_TEST_CODED_H

#define HAVE_LIBDW
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "where/code.c"
#include "where/debugfile.c"
#include "where/inlined.c"
#include "where/loaded.c"
#include <cmocka.h>
#include "said.h"

#define BASE	0x10000000ULL	/* of a program in the process that is made up */

static char work[] = "/tmp/test_ctl_code-XXXXXX";
static struct where_map map = { .lo = BASE, .hi = BASE + (1 << 30), .exec = true, .file = "p" };
static struct target target = { .map = &map, .maps = 1, .dir = -1 };

const struct where_map *target_at(const struct target *t, u64 addr)
{
	return &map;
}

u64 target_base(const struct target *t, const struct where_map *m)
{
	return m->lo;
}

struct cxx *target_cxx(struct target *t)
{
	return NULL;
}

bool cxx_name(struct cxx *c, const char *symbol, char *buf)
{
	return false;
}

static inline int begin(void **state)
{
	return !mkdtemp(work) || chmod(work, 0755) || chdir(work);
}

static inline int end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", work);
	return chdir("/") || system(command);
}

static inline void run_shell(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

static inline void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A process that has files mapped, one behind the other */
#define FILES	2U

struct process {
	struct loaded_file file[FILES];
	struct loaded_room room;
	unsigned int n;
	Dwfl *dwfl;
	struct code *c;
};

static inline void open_process(struct process *p, const char *const *name, unsigned int n)
{
	unsigned int i;

	*p = (struct process){ .n = n, .room = { .tables = LOADED_TABLES, .lines = LOADED_LINES } };
	for (i = 0; i < n; i++) {
		p->file[i] = (struct loaded_file){ .begin = BASE + (i << 24ULL),
						   .end = BASE + ((i + 1) << 24ULL),
						   .fd = elf_open(name[i]) };
		assert_true(p->file[i].fd >= 0);
	}
	p->dwfl = loaded_files(p->file, n, &p->room);
	assert_non_null(p->dwfl);
	p->c = code_new(&target, p->dwfl, p->file, n);
	*said = '\0';
}

static inline void close_process(struct process *p)
{
	unsigned int i;

	code_note(p->c, NULL);
	code_free(p->c);
	dwfl_end(p->dwfl);
	for (i = 0; i < p->n; i++)
		close(p->file[i].fd);
}

/* The frames at an offset of the file @i */
static inline struct json_object *frames_at(struct process *p, unsigned int i, u64 offset)
{
	struct frame f = { .pc = p->file[i].begin + offset, .activation = true };
	struct json_object *stack = json_object_new_array();

	code_add(p->c, &f, stack);
	assert_in_range(json_object_array_length(stack), 1, CODE_FRAMES);
	return stack;
}

static inline const char *text(struct json_object *stack, size_t i, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(json_object_array_get_idx(stack, i), key, &v);
	return v ? json_object_get_string(v) : "";
}

static inline bool is_inlined(struct json_object *stack, size_t i)
{
	return !strcmp(text(stack, i, "inlined"), "true");
}

/* Where a function is in a file */
static inline void find(const char *file, const char *name, u64 *at, u64 *size)
{
	char command[256], line[512];
	FILE *f;

	snprintf(command, sizeof(command), "nm -S %s", file);
	f = popen(command, "r");
	assert_non_null(f);
	*size = 0;
	while (fgets(line, sizeof(line), f)) {
		char kind, symbol[400];
		unsigned long long a, n;

		if (sscanf(line, "%llx %llx %c %399s", &a, &n, &kind, symbol) == 4 &&
		    strstr(symbol, name)) {
			*at = a;
			*size = n;
		}
	}
	pclose(f);
	assert_true(*size);
}

#endif /* SEEPAGE_TEST_CODED_H */
