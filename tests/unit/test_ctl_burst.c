// SPDX-License-Identifier: GPL-2.0
/* seepage where: in which order a round reads what the process has */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "where/burst.c"
#include <cmocka.h>

static char order[64];

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_fcntl(int fd, int command, ...);

char *procfs_read(int dir, const char *name)
{
	return NULL;
}

int __wrap_open(const char *path, int flags, ...)
{
	assert_string_equal(path, DEVICE);
	return dup(0);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;

	va_start(args, request);
	if (request == SEEPAGE_WHERE_STATUS)
		*va_arg(args, struct seepage_where_status *) = (struct seepage_where_status){
			.reason = SEEPAGE_WHERE_BY_TRAPS, .traps = 1000, .armed_ns = 1 };
	va_end(args);
	return 0;
}

int __wrap_fcntl(int fd, int command, ...)
{
	return 0;
}

#undef fail
int fail(const struct ctx *ctx, const char *fmt, ...)
{
	return 1;
}

u64 clock_ns(void)
{
	static u64 now;

	return now += 1000;
}

bool target_alive(const struct target *t)
{
	return true;
}

u64 target_start_ticks(const struct target *t)
{
	return 1;
}

u64 samples_random(u64 n)
{
	return 0;
}

static void step(const char *name)
{
	strncat(order, name, sizeof(order) - strlen(order) - 1);
}

void samples_read(int fd, const struct probes *p, size_t most, struct burst *b)
{
	step("samples ");
}

void samples_read_blocks(struct target *t, const struct bins *bins, struct burst *b, size_t had)
{
	step("blocks ");
}

void samples_unwind(struct burst *b, size_t had)
{
	step("stacks ");
}

size_t samples_thin(struct target *t, const struct bins *bins, struct burst *b, size_t most)
{
	return 0;
}

static bool wait_not(void *arg, u64 ms, int fd)
{
	if (fd < 0 && ms > 10 && *order)
		step("wait ");
	return true;
}

/* Stacks of python take long: a block may be freed, and used again, meanwhile. */
static void blocks_are_read_before_stacks_are_unwound(void **state)
{
	const struct burst_limits l = { .samples = 10, .traps = 10, .seconds = 10 };
	struct probes p = { .n = 1 };
	struct target t = { .pid = 1 };
	struct bins bins = { .keys_n = 0 };
	struct burst b = { .n = 0 };

	assert_int_equal(burst_take(&t, &bins, &p, &l, wait_not, NULL, &b), 0);
	assert_string_equal(order, "samples wait blocks stacks ");
	burst_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_read_before_stacks_are_unwound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
