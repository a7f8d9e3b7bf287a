// SPDX-License-Identifier: GPL-2.0
/* seepage where: the heap profile of jemalloc, which the process may have forged */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "where/jeprof.c"
#include <cmocka.h>

#define LIBRARY	"/lib/libjemalloc.so.2"
#define CODE	0x10000ULL
#define DATA	0x20000ULL	/* static data, 8 KiB; the table is in it */
#define HEAP	0x40000ULL
#define TABLE	(DATA + 0x1008)
#define CELLS_AT	HEAP		/* 4 buckets of 4 pairs */
#define RECORD(i)	(HEAP + 0x1000 + 0x100 * (u64)(i))
#define THREAD(i)	(HEAP + 0x2000 + 0x100 * (u64)(i))
#define RECORDS	3U

static struct where_map map[] = {
	{ .lo = CODE, .hi = CODE + 0x1000, .exec = true, .file = (char *)LIBRARY },
	{ .lo = DATA, .hi = DATA + 0x1000, .write = true, .file = (char *)LIBRARY },
	{ .lo = DATA + 0x1000, .hi = DATA + 0x2000, .write = true, .anon = true },
	{ .lo = HEAP, .hi = HEAP + 0x4000, .write = true, .anon = true },
};

static struct target target = { .map = map, .maps = ARRAY_SIZE(map) };
static u64 data[0x2000 / 8], heap[0x4000 / 8];
static unsigned int reads;

const struct where_map *target_at(const struct target *t, u64 addr)
{
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (addr >= map[i].lo && addr < map[i].hi)
			return &map[i];
	return NULL;
}

static u64 *word(u64 addr)
{
	return addr >= HEAP ? &heap[(addr - HEAP) / 8] : &data[(addr - DATA) / 8];
}

bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	reads++;
	if (addr < DATA || addr + n > HEAP + sizeof(heap))
		return false;
	memcpy(buf, word(addr), n);
	return true;
}

bool used_read(struct target *t, u64 addr, void *buf, size_t n)
{
	return target_read(t, addr, buf, n);
}

void profile_add(struct profile *p, const struct profile_site *s)
{
	p->site = realloc(p->site, (p->n + 1) * sizeof(*s));
	assert_non_null(p->site);
	p->site[p->n++] = *s;
	p->bytes += s->bytes;
}

void profile_free(struct profile *p)
{
	free(p->site);
	memset(p, 0, sizeof(*p));
}

static void put_thread(unsigned int i, unsigned int record, u64 blocks, u64 bytes, u64 all)
{
	u64 *w = word(THREAD(i));

	w[4] = blocks;
	w[6] = bytes;
	w[7] = all;
	w[12] = RECORD(record);
}

/* Three stacks of two frames; the first has three threads, the others one each. */
static int set_up(void **state)
{
	u64 *w = word(TABLE);
	unsigned int i;

	memset(data, 0, sizeof(data));
	memset(heap, 0, sizeof(heap));
	w[1] = RECORDS;
	w[2] = 2ULL << 32 | 2;
	w[3] = CODE + 8;
	w[4] = CODE + 16;
	w[5] = CELLS_AT;
	for (i = 0; i < RECORDS; i++) {
		*word(CELLS_AT + 16ULL * 5 * i) = RECORD(i) + 104;
		*word(CELLS_AT + 16ULL * 5 * i + 8) = RECORD(i);
		w = word(RECORD(i));
		w[2] = THREAD(i);
		w[13] = RECORD(i) + 120;
		w[14] = 0xf2f2f2f200000002ULL;
		w[15] = 0x1234 + i;
		w[16] = 0x5678;
		put_thread(i, i, 10, 1000, 8000);
	}
	put_thread(3, 0, 20, 2000, 16000);
	put_thread(4, 0, 1, 100, 800);
	word(THREAD(0))[14] = THREAD(3);
	word(THREAD(0))[15] = THREAD(4) | 1;
	return 0;
}

static bool look(struct profile *p)
{
	memset(p, 0, sizeof(*p));
	reads = 0;
	return jeprof_look(&target, LIBRARY, p);
}

static void blocks_are_those_of_all_threads_and_stand_for_more(void **state)
{
	struct profile p;

	assert_true(look(&p));
	assert_int_equal(p.n, RECORDS);
	assert_int_equal(p.site[0].samples, 31);
	assert_int_equal(p.site[0].blocks, 248);
	assert_int_equal(p.site[0].bytes, 24800);
	assert_int_equal(p.site[0].frames, 2);
	assert_int_equal(p.site[0].stack, RECORD(0) + 120);
	assert_int_equal(p.site[2].bytes, 8000);
	assert_int_equal(p.bytes, 24800 + 8000 + 8000);
	profile_free(&p);
}

static void another_stack_at_the_same_address_is_another_site(void **state)
{
	struct profile a, b;

	assert_true(look(&a));
	word(RECORD(1))[16]++;
	assert_true(look(&b));
	assert_int_equal(a.site[0].id, b.site[0].id);
	assert_int_not_equal(a.site[1].id, b.site[1].id);
	profile_free(&a);
	profile_free(&b);
}

/* Breaks one word of a good profile, of which then @n sites are left. */
static void left(u64 addr, u64 value, size_t n)
{
	struct profile p;

	set_up(NULL);
	*word(addr) = value;
	assert_int_equal(look(&p), n > 0);
	assert_int_equal(p.n, n);
	profile_free(&p);
}

static void what_is_no_table_is_none(void **state)
{
	left(TABLE + 8, 0, 0);			/* empty: nothing is profiled */
	left(TABLE + 8, 17, 0);			/* more than the table has room for */
	left(TABLE + 16, 19ULL << 32 | 2, 0);	/* too large */
	left(TABLE + 16, 2ULL << 32 | 3, 0);	/* below the least */
	left(TABLE + 24, HEAP, 0);		/* functions in the heap */
	left(TABLE + 32, 0, 0);
	left(TABLE + 40, DATA, 0);		/* not in the heap */
}

static void a_record_that_does_not_point_to_itself_is_none(void **state)
{
	left(RECORD(1) + 104, RECORD(2) + 120, 2);
	left(RECORD(1) + 112, 0, 2);
	left(RECORD(1) + 112, FRAMES_MOST + 1, 2);
	left(CELLS_AT, RECORD(0) + 96, 2);
	left(CELLS_AT + 8, 7, 2);
}

static void a_thread_of_another_record_counts_nothing(void **state)
{
	struct profile p;

	word(THREAD(3))[12] = RECORD(1);
	assert_true(look(&p));
	assert_int_equal(p.site[0].bytes, 8800);
	profile_free(&p);
	left(THREAD(1) + 96, RECORD(0), 2);
	left(THREAD(1) + 32, 1ULL << 48, 2);
	left(THREAD(1) + 48, 0, 2);
	left(THREAD(1) + 56, ~0ULL, 2);
	left(RECORD(1) + 16, 12345, 2);
}

static void a_tree_that_is_a_ring_ends(void **state)
{
	struct profile p;

	word(THREAD(3))[14] = THREAD(0);
	word(THREAD(4))[15] = THREAD(0);
	look(&p);
	assert_in_range(reads, 1, THREADS + 1000);
	profile_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(blocks_are_those_of_all_threads_and_stand_for_more, set_up),
		cmocka_unit_test_setup(another_stack_at_the_same_address_is_another_site, set_up),
		cmocka_unit_test_setup(what_is_no_table_is_none, set_up),
		cmocka_unit_test_setup(a_record_that_does_not_point_to_itself_is_none, set_up),
		cmocka_unit_test_setup(a_thread_of_another_record_counts_nothing, set_up),
		cmocka_unit_test_setup(a_tree_that_is_a_ring_ends, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
