// SPDX-License-Identifier: GPL-2.0
/* seepage where: which classes a burst is taken of */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "where/burst.h"
#include <cmocka.h>

static char said[400];		/* the last failure, or note about pools */
static u64 sampled;		/* lo of the last burst */
static unsigned int bursts;
static bool has_pool_probe;

#undef fail
int fail(const struct ctx *ctx, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	return 1;
}

void *must(void *p)
{
	return p;
}

void result_note(struct result *r, const char *fmt, ...)
{
	va_list args;
	char text[400];

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (strstr(text, "pools was found"))
		strcpy(said, text);
}

s64 result_per_hour(const struct result *r, s64 bytes)
{
	return bytes;
}

u64 clock_ns(void)
{
	return 1;
}

bool target_alive(const struct target *t)
{
	return true;
}

bool probes_find(struct target *t, struct probes *p)
{
	p->n = 0;
	return true;
}

bool pool_probe_find(struct target *t, u64 interpreter, struct probes *p)
{
	return has_pool_probe;
}

void probes_close(struct probes *p)
{
}

struct unwinder *unwinder_new(struct target *t)
{
	return (struct unwinder *)said;
}

u64 unwinder_python(const struct unwinder *u)
{
	return 0x1000;
}

void unwinder_note(const struct unwinder *u, struct result *r)
{
}

void unwinder_free(struct unwinder *u)
{
}

int burst_take(struct target *t, const struct bins *bins, const struct probes *p,
	       const struct burst_limits *l, bool (*wait)(void *arg, u64 ms, int fd), void *arg,
	       struct burst *b)
{
	bursts++;
	sampled = l->lo;
	return 0;
}

const char *burst_reason(u32 reason)
{
	return "";
}

void burst_free(struct burst *b)
{
}

struct survivors *survivors_new(struct target *t, const struct bins *bins, struct unwinder *u,
				const struct burst *b)
{
	return NULL;
}

void again_look(struct target *t, struct survivors *v, const struct again *again,
		bool (*wait)(void *arg, u64 ms, int fd), void *arg)
{
}

unsigned int survivors_sites(struct survivors *v, struct result *r, const struct growth *g,
			     size_t top)
{
	return 1;
}

void survivors_free(struct survivors *v)
{
}

/* Three classes of pymalloc grew most, then one of malloc, of which there are @n in all. */
static int sites(size_t n, u64 class_bytes)
{
	struct where_row row[4] = {
		{ .id = class_of_pool(48) }, { .id = class_of_pool(64) },
		{ .id = class_of_pool(96) }, { .id = class_of_request(1000) },
	};
	struct result r = { .method = "census", .row = row, .rows = n };
	struct target t = { 0 };
	struct bins bins = { 0 };
	struct sites_how how = { .top = 1 };
	size_t i;

	for (i = 0; i < n; i++) {
		row[i].growth_blocks = 1000;
		row[i].growth_bytes = 1000000 - (s64)i;
	}
	*said = '\0';
	bursts = 0;
	sampled = 0;
	return sites_find(&t, &bins, &how, class_bytes, &r);
}

static void classes_of_pymalloc_are_sampled_first(void **state)
{
	has_pool_probe = true;
	assert_int_equal(sites(4, 0), 0);
	assert_string_equal(said, "");
	assert_int_equal(bursts, 1);
	assert_int_equal(sampled, 48 / 16 - 1);
}

static void without_a_probe_for_them_others_are(void **state)
{
	has_pool_probe = false;
	assert_int_equal(sites(4, 0), 0);
	assert_string_equal(said, "no function that begins pools was found in this python: "
			    "its classes are not sampled");
	assert_int_equal(bursts, 1);
	assert_int_equal(sampled, class_least(class_of_request(1000)));
	assert_int_equal(sites(4, 1000), 0);
	assert_string_equal(said, "");
	assert_int_equal(bursts, 1);
}

static void no_class_that_can_be_sampled_is_a_failure(void **state)
{
	has_pool_probe = false;
	assert_int_equal(sites(3, 0), 1);
	assert_int_equal(bursts, 0);
	assert_non_null(strstr(said, "no function that begins pools was found in this python; see "
			       "--class"));
	assert_int_equal(sites(4, 48), 1);
	assert_int_equal(bursts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_pymalloc_are_sampled_first),
		cmocka_unit_test(without_a_probe_for_them_others_are),
		cmocka_unit_test(no_class_that_can_be_sampled_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
