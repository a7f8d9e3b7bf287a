// SPDX-License-Identifier: GPL-2.0
/* seepage where: chunks of glibc that have a mapping of their own, and caches of threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "where/where.h"
#include <cmocka.h>

#define PAGE		4096UL
#define AREA		(64 * PAGE)	/* of addresses, which nothing else uses */
#define MMAPPED		2UL
#define CACHE_SIZE	0x290UL
#define CACHE_COUNTS	16
#define CACHE_ENTRIES	(16 + 64 * 2)

static const struct ctx ctx = { .cmd = "where" };
static struct target target;
static unsigned char *area;

/* What was found within the area */
static struct {
	unsigned char *addr;
	u64 size;
} found[8];
static size_t found_n;

static unsigned int reads;	/* of the mappings */

int __real_target_maps(struct target *t);
int __wrap_target_maps(struct target *t);

int __wrap_target_maps(struct target *t)
{
	reads++;
	return __real_target_maps(t);
}

static void take(void *arg, u64 addr, u64 size)
{
	unsigned char *p = (unsigned char *)(uintptr_t)addr;

	if (p < area || p >= area + AREA)
		return;
	assert_in_range(found_n, 0, ARRAY_SIZE(found) - 1);
	found[found_n].addr = p;
	found[found_n++].size = size;
}

static void find(void)
{
	found_n = 0;
	arena_mmapped(&target, take, NULL);
}

static void set_head(unsigned char *at, u64 size)
{
	size |= MMAPPED;
	memcpy(at + 8, &size, sizeof(size));
}

/* A chunk at a page of the area */
static unsigned char *chunk(size_t page, u64 size)
{
	unsigned char *at = mmap(area + page * PAGE, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	assert_ptr_equal(at, area + page * PAGE);
	set_head(at, size);
	return at;
}

/* A target of this process. No mapping of it touches the area. */
static int setup(void **state)
{
	area = mmap(NULL, AREA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(area != MAP_FAILED);
	assert_int_equal(target_open(&ctx, (u32)getpid(), &target), 0);
	return 0;
}

static int teardown(void **state)
{
	target_close(&target);
	assert_int_equal(munmap(area, AREA), 0);
	return 0;
}

static void neighbours_are_found_one_by_one(void **state)
{
	chunk(1, 4 * PAGE);
	chunk(5, 2 * PAGE);
	chunk(9, 3 * PAGE);
	assert_int_equal(target_maps(&target), 0);
	find();
	assert_int_equal(found_n, 3);
	assert_ptr_equal(found[0].addr, area + PAGE + 16);
	assert_ptr_equal(found[1].addr, area + 5 * PAGE + 16);
	assert_ptr_equal(found[2].addr, area + 9 * PAGE + 16);
	assert_int_equal(found[0].size, 4 * PAGE);
	assert_int_equal(found[1].size, 2 * PAGE);
	assert_int_equal(found[2].size, 3 * PAGE);
}

/* realloc() has made the first one longer since the mappings were read. The other is found once. */
static void one_that_grew_is_found(void **state)
{
	unsigned char *at = chunk(1, 4 * PAGE);

	chunk(20, 2 * PAGE);
	assert_int_equal(target_maps(&target), 0);
	assert_int_equal(munmap(area + 5 * PAGE, PAGE), 0);
	assert_ptr_equal(mremap(at, 4 * PAGE, 5 * PAGE, 0), at);
	set_head(at, 5 * PAGE);
	find();
	assert_int_equal(found_n, 2);
	assert_ptr_equal(found[0].addr, at + 16);
	assert_int_equal(found[0].size, 5 * PAGE);
	assert_ptr_equal(found[1].addr, area + 20 * PAGE + 16);
}

static void one_that_moved_is_found(void **state)
{
	unsigned char *at = chunk(9, 4 * PAGE), *to = area + 2 * PAGE;

	assert_int_equal(target_maps(&target), 0);
	assert_ptr_equal(mremap(at, 4 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to), to);
	set_head(to, 5 * PAGE);
	find();
	assert_int_equal(found_n, 1);
	assert_ptr_equal(found[0].addr, to + 16);
	assert_int_equal(found[0].size, 5 * PAGE);
}

/*
 * Not what is gone, nor data that looks like the head of a chunk and has no room for it. The
 * mappings are read once more, as one is gone, and once again, which changes nothing.
 */
static void what_is_no_chunk_is_not_found(void **state)
{
	unsigned char *gone = chunk(1, 4 * PAGE);

	set_head(chunk(9, PAGE), 40 * PAGE);
	set_head(chunk(20, PAGE), PAGE + 16);
	assert_int_equal(target_maps(&target), 0);
	assert_int_equal(munmap(gone, 4 * PAGE), 0);
	reads = 0;
	find();
	assert_int_equal(found_n, 0);
	assert_int_equal(reads, 2);
}

/* The cache of a thread, with two blocks in it, and what counts as their keys */
struct cache {
	unsigned char chunk[CACHE_SIZE];
	u64 block[2][2];
} __attribute__((aligned(16)));

static void fill_cache(struct cache *c)
{
	u64 size = CACHE_SIZE | 1, p;
	u16 one = 1;
	int i;

	memset(c, 0, sizeof(*c));
	memcpy(c->chunk + 8, &size, sizeof(size));
	for (i = 0; i < 2; i++) {
		p = (u64)(uintptr_t)c->block[i];
		memcpy(c->chunk + CACHE_COUNTS + 2 * i, &one, sizeof(one));
		memcpy(c->chunk + CACHE_ENTRIES + 8 * i, &p, sizeof(p));
		c->block[i][1] = 0x1234500 + (u64)i;
	}
}

static void keys_of_a_cache_are_taken_once(void **state)
{
	struct bins b = { 0 };
	struct cache c;

	fill_cache(&c);
	assert_true(bins_thread_cache(&target, &b, (u64)(uintptr_t)c.chunk));
	assert_true(bins_thread_cache(&target, &b, (u64)(uintptr_t)c.chunk));
	assert_int_equal(b.keys_n, 2);
	assert_int_equal(b.keys[0], 0x1234500);
	assert_int_equal(b.keys[1], 0x1234501);
}

/* Its first bins are those of a cache, the last one is not: it has a count and no block. */
static void keys_of_what_is_no_cache_are_not_taken(void **state)
{
	struct bins b = { 0 };
	struct cache c;
	u16 one = 1;

	fill_cache(&c);
	memcpy(c.chunk + CACHE_COUNTS + 2 * 63, &one, sizeof(one));
	assert_false(bins_thread_cache(&target, &b, (u64)(uintptr_t)c.chunk));
	assert_int_equal(b.keys_n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(neighbours_are_found_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_grew_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_moved_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_chunk_is_not_found, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_of_a_cache_are_taken_once, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_of_what_is_no_cache_are_not_taken, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
