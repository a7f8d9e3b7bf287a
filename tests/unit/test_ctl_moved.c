// SPDX-License-Identifier: GPL-2.0
/* seepage where: samples of one block, which realloc() makes larger and moves, count as one */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "where/site.c"
#include <cmocka.h>

/* No block of these tests comes from a probe at a call site. */
unsigned int callsites_stack(const struct callsite *c, struct frame *f, unsigned int n)
{
	(void)c;
	(void)f;
	fail();
	return n;
}

#define MOST	8U

static u64 at;		/* where the block is by now that begins as @begins */
static unsigned char begins;

void *must(void *p)
{
	assert_non_null(p);
	return p;
}

int target_maps(struct target *t)
{
	return 0;
}

/* All samples have the stack of one site. */
const struct stack *unwind_again(struct unwinder *u, const struct seepage_where_sample *s,
				 const struct stack *before, struct stack *now)
{
	*now = (struct stack){ .frame = { { .pc = 1 }, { .pc = 2 } }, .n = 2 };
	return now;
}

/* Nothing is where it was sampled. */
bool block_read(struct target *t, const struct bins *bins, u64 addr, u64 size, u64 *head,
		struct early *now)
{
	return false;
}

bool block_is_linked(const struct bins *bins, const struct early *before, const struct early *now)
{
	return false;
}

bool block_is_same(const struct early *e, const struct early *now)
{
	return true;
}

u64 block_find(struct target *t, u64 size, const struct early *e)
{
	return e->bytes && e->data[0] == begins ? at : 0;
}

/* A sample of a block: what it begins with, 0: it was not read; its size; how often resized */
struct taken {
	unsigned char byte;
	u64 size;
	unsigned int resized;
};

/* Returns samples and blocks that count, and of these the ones that stay and their growth. */
struct outcome {
	unsigned int samples, alive, resized;
	u64 grown;
};

static struct outcome look_at_all(const struct taken *taken, unsigned int n)
{
	static struct seepage_where_sample s[MOST];
	static struct early early[MOST];
	struct burst b = { .s = s, .early = early, .n = n };
	struct outcome o = { 0 };
	struct survivors *v;
	unsigned int i;

	assert_in_range(n, 1, MOST);
	memset(s, 0, sizeof(s));
	memset(early, 0, sizeof(early));
	for (i = 0; i < n; i++) {
		s[i].addr = 0x10000 * (i + 1);
		s[i].size = taken[i].size;
		s[i].first_size = taken[i].size - taken[i].resized;
		s[i].resized = taken[i].resized;
		s[i].set = 1;
		early[i].bytes = taken[i].byte ? 1 : 0;
		early[i].data[0] = taken[i].byte;
	}
	at = 0x7f0000000010;
	begins = 7;
	v = survivors_new(NULL, NULL, NULL, &b);
	survivors_look(v);
	survivors_look(v);
	for (i = 0; i < v->n; i++) {
		o.samples += !v->block[i].again;
		o.alive += v->block[i].alive;
		if (v->block[i].alive) {
			assert_false(v->block[i].again);
			o.resized = v->block[i].resized;
			o.grown = v->block[i].size - v->block[i].first_size;
		}
	}
	survivors_free(v);
	return o;
}

#define LOOK(...) look_at_all((const struct taken[]){ __VA_ARGS__ }, \
			      sizeof((const struct taken[]){ __VA_ARGS__ }) / sizeof(struct taken))

static void a_block_that_grows_is_one(void **state)
{
	struct outcome o = LOOK({ 7, 1000, 5 }, { 7, 2000, 6 }, { 7, 3000, 7 });

	assert_int_equal(o.samples, 1);
	assert_int_equal(o.alive, 1);
	assert_int_equal(o.resized, 5 + 6 + 7 + 2);
	assert_int_equal(o.grown, 3000 - (1000 - 5));
}

/* It had moved before its content was read: first, last, in between, twice. */
static void one_that_was_lost_is_no_other(void **state)
{
	struct outcome o = LOOK({ 0, 1000, 5 }, { 7, 2000, 6 }, { 7, 3000, 7 });

	assert_int_equal(o.samples, 1);
	assert_int_equal(o.alive, 1);
	assert_int_equal(o.resized, 6 + 7 + 1);
	assert_int_equal(o.grown, 3000 - (2000 - 6));

	o = LOOK({ 7, 1000, 5 }, { 7, 2000, 6 }, { 0, 3000, 7 });
	assert_int_equal(o.samples, 1);
	assert_int_equal(o.alive, 1);
	assert_int_equal(o.resized, 5 + 6 + 1);
	assert_int_equal(o.grown, 2000 - (1000 - 5));

	o = LOOK({ 7, 1000, 5 }, { 0, 2000, 6 }, { 7, 3000, 7 });
	assert_int_equal(o.samples, 1);
	assert_int_equal(o.alive, 1);
	assert_int_equal(o.grown, 3000 - (1000 - 5));

	o = LOOK({ 0, 1000, 5 }, { 0, 2000, 6 }, { 7, 3000, 7 }, { 0, 4000, 7 });
	assert_int_equal(o.samples, 1);
	assert_int_equal(o.alive, 1);
	assert_int_equal(o.resized, 7);
	assert_int_equal(o.grown, 7);

	/* One that grew twice does not grow often by those that were lost. */
	o = LOOK({ 7, 1000, 2 }, { 0, 2000, 6 }, { 0, 3000, 6 });
	assert_int_equal(o.samples, 1);
	assert_int_equal(o.resized, 2);
}

/* Blocks of other content, smaller ones, and those that nothing resized are others. */
static void others_are_others(void **state)
{
	struct outcome o = LOOK({ 8, 1000, 5 }, { 7, 2000, 6 });

	assert_int_equal(o.samples, 2);
	assert_int_equal(o.alive, 1);
	o = LOOK({ 7, 2000, 5 }, { 0, 1000, 6 });
	assert_int_equal(o.samples, 2);
	assert_int_equal(o.alive, 1);
	o = LOOK({ 0, 1000, 0 }, { 7, 2000, 6 });
	assert_int_equal(o.samples, 2);
	assert_int_equal(o.alive, 1);
	o = LOOK({ 7, 1000, 0 }, { 0, 2000, 6 }, { 0, 2000, 6 });
	assert_int_equal(o.samples, 2);
	o = LOOK({ 7, 1000, 5 }, { 0, 2000, 0 });
	assert_int_equal(o.samples, 2);
	assert_int_equal(o.alive, 1);
}

static void all_that_were_lost_stay_nowhere(void **state)
{
	struct outcome o = LOOK({ 0, 1000, 5 }, { 0, 2000, 6 }, { 0, 3000, 7 });

	assert_int_equal(o.samples, 1);
	assert_int_equal(o.alive, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_that_grows_is_one),
		cmocka_unit_test(one_that_was_lost_is_no_other),
		cmocka_unit_test(others_are_others),
		cmocka_unit_test(all_that_were_lost_stay_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
