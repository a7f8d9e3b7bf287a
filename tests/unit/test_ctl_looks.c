// SPDX-License-Identifier: GPL-2.0
/* seepage where: looks that end at their bounds, and what is the answer then */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "where/looks.c"
#include <cmocka.h>

static struct ctx ctx = { .cmd = "where" };
static unsigned int looks;	/* at the blocks */
static unsigned int cut;	/* the number of the look that does not end; 0: all end */
static u64 added;		/* blocks of 64 bytes that each look finds more */
static u64 fresh;		/* pages, in the second look */

/* Reads what can be read, and finds blocks. */
void arena_look(struct target *t, struct bins *b, struct look *l)
{
	u64 i, n = 1000 + added * looks;
	char byte;

	l->walked_bytes = target_anon_bytes(t);
	if (++looks == cut)
		t->bound.bytes = t->read_bytes + 10;
	for (i = 0; i < n && target_read(t, (u64)(uintptr_t)&ctx, &byte, 1); i++)
		look_add(l, class_of_chunk(64), 0x10000 + i * 64, 64);
	l->chunks = i;
}

void mmapped_look(struct target *t, struct look *l)
{
}

static bool is_musl;		/* the heap is one of musl */

bool mallocng_look(struct target *t, struct bins *b, struct look *l)
{
	if (is_musl)
		arena_look(t, b, l);
	b->mallocng = is_musl;
	return is_musl;
}

void pool_look(struct target *t, struct look *l)
{
}

int pages_look(struct target *t, struct page_look *p, struct seen *now, const struct seen *before)
{
	memset(p, 0, sizeof(*p));
	p->present = 1000 + (before ? fresh : 0);
	p->fresh = before ? fresh : 0;
	return 0;
}

unsigned int pages_content(struct target *t, struct page_look *p, bool text,
			   bool (*wait)(void *arg), void *arg, struct content *c)
{
	return 7;
}

int survey_profile(struct survey *s)
{
	return 0;
}

int survey_profile_again(struct survey *s)
{
	return 0;
}

void profile_free(struct profile *p)
{
}

bool object_find(struct target *t, const char *name, struct object *o)
{
	return false;
}

bool object_other(const struct object *o, char prefix[OBJECT_PREFIX])
{
	return false;
}

const char *object_missing(const struct object *o)
{
	return NULL;
}

void object_drop(struct object *o)
{
}

const char *allocator_name(enum allocator kind)
{
	return "none";
}

bool allocator_has_chunks(enum allocator kind)
{
	return kind == ALLOCATOR_GLIBC;
}

enum block_rule allocator_rule(enum allocator kind)
{
	return BLOCK_CHUNK;
}

void jemalloc_look(struct target *t, const char *file, struct jemalloc *je, struct look *l)
{
}

void jemalloc_note(struct result *r, const struct look *a, const struct look *b)
{
}

void runtime_notes(const struct target *t, struct result *r)
{
}

void drawing_drop(struct drawing *d)
{
}

void content_cell(const struct where_row *row, char *buf, size_t size)
{
}

const char *size_cell(const struct where_row *row, char *buf, size_t size)
{
	return buf;
}

/* A look at this process. Both looks are taken at once. */
static struct survey *survey_new(unsigned int cut_look)
{
	struct survey *s = calloc(1, sizeof(*s));

	looks = 0;
	cut = cut_look;
	added = 4000;
	fresh = 500;
	s->ctx = &ctx;
	s->r.t = &s->t;
	s->r.notes = json_object_new_array();
	s->r.sites = json_object_new_array();
	s->object.kind = ALLOCATOR_GLIBC;
	assert_int_equal(target_open(&ctx, (u32)getpid(), &s->t), 0);
	return s;
}

static bool has_note(const struct survey *s, const char *part)
{
	size_t i;

	for (i = 0; i < json_object_array_length(s->r.notes); i++)
		if (strstr(json_object_get_string(json_object_array_get_idx(s->r.notes, i)), part))
			return true;
	return false;
}

static void looks_that_end_count_blocks(void **state)
{
	struct survey *s = survey_new(0);

	assert_int_equal(survey_first(s), 0);
	assert_int_equal(survey_second(s), 0);
	s->looks_cpu = 429000000;
	s->looks_bytes = 1000;
	survey_notes(s);
	assert_true(has_note(s, "read 0.0 MiB with 429 ms of CPU"));
	assert_false(has_note(s, "ms per MiB"));
	s->looks_bytes = 2 << 20;
	survey_notes(s);
	assert_true(has_note(s, "read 2.0 MiB with 429 ms of CPU (214.50 ms per MiB)"));
	assert_string_equal(s->r.method, "census");
	assert_int_equal(s->r.growth, 4000 * 64);
	assert_int_equal(looks, 2);
	assert_false(has_note(s, "look ended after"));
	survey_free(s);
}

/* Whatever is known of the allocator: a stripped static program has no symbol that tells. */
static void a_heap_of_musl_is_counted(void **state)
{
	static const enum allocator kinds[] = { ALLOCATOR_MUSL, ALLOCATOR_UNKNOWN };
	struct survey *s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		is_musl = true;
		s = survey_new(0);
		s->object.kind = kinds[i];
		assert_int_equal(survey_first(s), 0);
		assert_int_equal(survey_second(s), 0);
		assert_string_equal(s->r.method, "census");
		assert_string_equal(s->r.allocator, "musl");
		assert_int_equal(s->r.growth, 4000 * 64);
		survey_free(s);
	}
	/* If it is none, as of an older musl, pages are counted. */
	is_musl = false;
	s = survey_new(0);
	s->object.kind = ALLOCATOR_MUSL;
	assert_int_equal(survey_first(s), 0);
	assert_int_equal(survey_second(s), 0);
	assert_string_equal(s->r.method, "pages");
	assert_int_equal(looks, 0);
	survey_free(s);
}

/* Not what is between two places where they ended. A second look at blocks is of no use. */
static void a_first_look_that_is_cut_counts_pages(void **state)
{
	struct survey *s = survey_new(1);

	assert_int_equal(survey_first(s), 0);
	assert_int_equal(s->a.chunks, 10);
	assert_true(s->a.cut_ns);
	assert_int_equal(s->a.cut_bytes, 10);
	assert_int_equal(survey_second(s), 0);
	survey_notes(s);
	assert_string_equal(s->r.method, "pages");
	assert_int_equal(s->r.growth, 500 * 4096);
	assert_int_equal(looks, 1);
	assert_true(has_note(s, "the first look ended after"));
	assert_false(has_note(s, "the second look ended after"));
	/* What is looked at later has no bound. */
	assert_false(target_over(&s->t));
	survey_free(s);
}

static void a_second_look_that_is_cut_counts_pages(void **state)
{
	struct survey *s = survey_new(2);

	assert_int_equal(survey_first(s), 0);
	assert_false(s->a.cut_ns);
	assert_int_equal(survey_second(s), 0);
	survey_notes(s);
	assert_string_equal(s->r.method, "pages");
	assert_true(has_note(s, "the second look ended after"));
	survey_free(s);
}

/* With --diff the first look is in a file, which has no pages. */
static void a_cut_look_cannot_be_compared_with_a_file(void **state)
{
	struct survey *s = survey_new(1);

	assert_int_equal(survey_second(s), 1);
	survey_free(s);
}

/*
 * Most of the memory is none of malloc(), as in a runtime with a heap of its own, and 100 blocks
 * are new. @gained: what the process gained in all
 */
static struct survey *mixed(enum allocator kind, s64 gained)
{
	struct survey *s = survey_new(0);

	added = 100;
	s->object.kind = kind;
	assert_int_equal(survey_first(s), 0);
	s->unknown = true;
	s->anon_a = (u64)((s64)target_anon_bytes(&s->t) - gained);
	assert_int_equal(survey_second(s), 0);
	return s;
}

static void blocks_are_known_beside_pages(void **state)
{
	struct survey *s = mixed(ALLOCATOR_GLIBC, 1000000);

	assert_string_equal(s->r.method, "pages");
	assert_int_equal(s->r.growth, 500 * 4096);
	assert_int_equal(s->r.blocks, 1);
	assert_int_equal(s->r.block->growth_blocks, 100);
	assert_int_equal(s->r.block->id, class_of_chunk(64));
	survey_free(s);
	/* Behind a library that is not known they are so if they are some of what was gained. */
	s = mixed(ALLOCATOR_UNKNOWN, -10000000);
	assert_int_equal(s->r.blocks, 1);
	survey_free(s);
	s = mixed(ALLOCATOR_UNKNOWN, 10000000);
	assert_int_equal(s->r.blocks, 0);
	survey_free(s);
}

static void signals_are_asked_for_while_a_look_reads(void **state)
{
	struct survey *s = survey_new(0);

	s->signals = child_signals();
	assert_false(is_stopped(s));
	raise(SIGCHLD);
	assert_false(is_stopped(s));
	raise(SIGINT);
	assert_true(is_stopped(s));
	assert_true(is_stopped(s));
	survey_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_that_end_count_blocks),
		cmocka_unit_test(a_heap_of_musl_is_counted),
		cmocka_unit_test(a_first_look_that_is_cut_counts_pages),
		cmocka_unit_test(a_second_look_that_is_cut_counts_pages),
		cmocka_unit_test(a_cut_look_cannot_be_compared_with_a_file),
		cmocka_unit_test(blocks_are_known_beside_pages),
		cmocka_unit_test(signals_are_asked_for_while_a_look_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
