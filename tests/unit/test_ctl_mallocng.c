// SPDX-License-Identifier: GPL-2.0
/* seepage where: the records of musl's mallocng, forged in the memory of this program */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include "where/where.h"
#include <cmocka.h>

#define PAGE		4096UL
#define RECORDS		101
#define CLASS_64	3UL	/* slots of 64 bytes */
#define CLASS_ONE	63UL	/* a block with pages of its own */
#define GROUP_PAGE	4
#define ROOM_PAGE	8
#define PAGES		40UL

struct record {
	u64 before, next, group;
	u32 available, freed;
	u64 kind;
};

static const struct ctx ctx = { .cmd = "where" };
static struct target target;
static unsigned char *room;	/* an area is the page behind the first one, which is not mapped */
static struct area {
	u64 secret, next;
	u32 records, pad;
	struct record r[RECORDS];
} *area;

u64 link_random(const struct target *t)
{
	return getauxval(AT_RANDOM);
}

static u64 at_of(const void *p)
{
	return (u64)(uintptr_t)p;
}

/* What an area begins with */
static struct area *fill_area(size_t page)
{
	struct area *a = (struct area *)(room + page * PAGE);

	memcpy(&a->secret, (const char *)getauxval(AT_RANDOM) + 8, sizeof(a->secret));
	a->records = RECORDS;
	return a;
}

/* A group of @slots slots at @group, with pages of its own or none */
static struct record *fill_record(struct area *a, size_t i, unsigned char *group, u64 kind,
				  unsigned int slots, u64 pages)
{
	u64 record = at_of(&a->r[i]);

	a->r[i] = (struct record){ .group = at_of(group), .kind = (slots - 1) | 1 << 5 | kind << 6 |
							 pages << 12 };
	memcpy(group, &record, sizeof(record));
	return &a->r[i];
}

/* A block of @size bytes in a slot, which begins @later units after it */
static unsigned char *fill_block(unsigned char *group, unsigned int slot, u64 stride, u64 size,
				 u16 later)
{
	unsigned char *start = group + 16 + slot * stride, *p = start + 16 * later;
	u32 left = (u32)(start + stride - 4 - p - size);
	u16 units = (u16)((p - group - 16) / 16);

	if (later) {
		start[-3] = 7 << 5;
		memcpy(start - 2, &later, sizeof(later));
	}
	p[-4] = 0;
	p[-3] = (unsigned char)(slot | (left < 5 ? left : 5) << 5);
	memcpy(p - 2, &units, sizeof(units));
	if (left >= 5)
		memcpy(start + stride - 8, &left, sizeof(left));
	return p;
}

static int setup(void **state)
{
	unsigned char *p = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	room = p + PAGE;
	assert_int_equal(mprotect(room, PAGES * PAGE, PROT_READ | PROT_WRITE), 0);
	area = fill_area(0);
	assert_int_equal(target_open(&ctx, (u32)getpid(), &target), 0);
	return 0;
}

static int teardown(void **state)
{
	used_free(&target);
	target_close(&target);
	assert_int_equal(munmap(room - PAGE, (PAGES + 2) * PAGE), 0);
	return 0;
}

static struct look *look(struct bins *b, bool is_heap)
{
	struct look *l = malloc(sizeof(*l));

	assert_int_equal(target_maps(&target), 0);
	look_begin(l, false, NULL);
	assert_int_equal(mallocng_look(&target, b, l), is_heap);
	return l;
}

static void end(struct look *l)
{
	look_free(l);
	free(l);
}

static u64 blocks_of(const struct look *l, u64 size)
{
	return l->c[class_of_request(size)].blocks;
}

static bool is_used(const struct bins *b, const unsigned char *p)
{
	return mallocng_is_used(&target, b, at_of(p));
}

static void slots_in_use_are_counted_by_what_was_asked_for(void **state)
{
	unsigned char *group = room + GROUP_PAGE * PAGE, *p[5];
	struct bins b = { 0 };
	struct record *r = fill_record(area, 0, group, CLASS_64, 31, 1);
	struct look *l;

	r->available = ~0x2fU & 0x7fffffff;
	p[0] = fill_block(group, 0, 64, 60, 0);
	p[1] = fill_block(group, 1, 64, 56, 0);
	p[2] = fill_block(group, 2, 64, 33, 0);
	p[3] = fill_block(group, 3, 64, 20, 2);
	p[4] = fill_block(group, 5, 64, 0, 0);
	l = look(&b, true);
	assert_int_equal(l->chunks, 5);
	assert_int_equal(blocks_of(l, 60), 1);
	assert_int_equal(blocks_of(l, 56), 1);
	assert_int_equal(blocks_of(l, 33), 1);
	assert_int_equal(blocks_of(l, 20), 2);
	assert_int_equal(l->heap_bytes, 5 * 64);
	assert_int_equal(l->free_bytes, 26 * 64);
	end(l);
	assert_true(is_used(&b, p[0]) && is_used(&b, p[3]) && is_used(&b, p[4]));
	assert_false(is_used(&b, p[0] + 64 * 4));
	assert_false(is_used(&b, p[0] + 16));
	/* Its bit, or the bytes in front of it, say that it is free. */
	r->freed = 1;
	assert_false(is_used(&b, p[0]));
	p[1][-3] = 255;
	p[1][-2] = 0;
	assert_false(is_used(&b, p[1]));
	l = look(&b, true);
	assert_int_equal(l->chunks, 3);
	end(l);
}

static void a_group_in_a_slot_is_no_block(void **state)
{
	unsigned char *outer = room + GROUP_PAGE * PAGE, *inner = outer + 16 + 2032;
	struct bins b = { 0 };
	struct look *l;

	/* class 23: 127 units */
	fill_record(area, 0, outer, 23, 2, 1)->freed = 0;
	fill_block(outer, 0, 2032, 2000, 0);
	fill_block(outer, 1, 2032, 2028, 0);
	inner[-3] = 1 | 6 << 5;
	fill_record(area, 1, inner, CLASS_64, 2, 0)->available = 2;
	fill_block(inner, 0, 64, 50, 0);
	l = look(&b, true);
	assert_int_equal(l->chunks, 2);
	assert_int_equal(blocks_of(l, 2000), 1);
	assert_int_equal(blocks_of(l, 50), 1);
	/* Pages of the area and of the outer group; the inner one has none of its own. */
	assert_int_equal(l->walked_bytes, 2 * PAGE);
	end(l);
}

static void a_block_with_its_own_pages_is_counted(void **state)
{
	unsigned char *group = room + GROUP_PAGE * PAGE, *p;
	struct bins b = { 0 };
	struct look *l;

	fill_record(area, 0, group, CLASS_ONE, 1, 32);
	p = fill_block(group, 0, 32 * PAGE - 16, 130000, 7);
	l = look(&b, true);
	assert_int_equal(blocks_of(l, 130000), 1);
	assert_int_equal(l->heap_bytes, 32 * PAGE - 16);
	end(l);
	assert_true(is_used(&b, p));
}

/* A list of areas that is a ring, and leads to what is none */
static void areas_are_looked_at_once(void **state)
{
	struct area *second = fill_area(2);
	struct bins b = { 0 };
	struct look *l;

	fill_record(area, 0, room + GROUP_PAGE * PAGE, CLASS_64, 1, 0);
	fill_block(room + GROUP_PAGE * PAGE, 0, 64, 60, 0);
	fill_record(second, 5, room + ROOM_PAGE * PAGE, CLASS_64, 1, 0);
	fill_block(room + ROOM_PAGE * PAGE, 0, 64, 60, 0);
	area->next = at_of(second);
	second->next = at_of(area);
	l = look(&b, true);
	assert_int_equal(l->chunks, 2);
	end(l);
	second->next = at_of(second) + 8;
	l = look(&b, true);
	assert_int_equal(l->chunks, 2);
	end(l);
	second->records = RECORDS + 1;
	l = look(&b, true);
	assert_int_equal(l->chunks, 1);
	end(l);
}

/* Records that are forged lead nowhere, and are no heap if they are many. */
static void what_does_not_lead_back_is_no_heap(void **state)
{
	static const u64 kinds[] = { 48, 62, 63, 47 };
	struct bins b = { .mallocng = 1 };
	struct look *l;
	size_t i;

	fill_record(area, 0, room + GROUP_PAGE * PAGE, CLASS_64, 1, 0);
	fill_block(room + GROUP_PAGE * PAGE, 0, 64, 60, 0);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		area->r[10 + i] = (struct record){ .group = UINT64_MAX - 15,
						   .kind = 31 | kinds[i] << 6 | UINT64_MAX << 12 };
	l = look(&b, true);
	assert_int_equal(l->chunks, 1);
	assert_int_equal(l->torn, 0);
	end(l);
	for (i = 0; i < 20; i++)
		area->r[20 + i] = (struct record){ .group = at_of(room) + 16, .kind = 3 << 6 };
	l = look(&b, false);
	assert_int_equal(b.mallocng, 0);
	assert_int_equal(l->torn, 1);
	assert_true(l->torn_bytes > l->walked_bytes);
	end(l);
}

static void another_secret_is_no_heap(void **state)
{
	struct bins b = { 0 };
	struct look *l;

	fill_record(area, 0, room + GROUP_PAGE * PAGE, CLASS_64, 1, 0);
	area->secret ^= 1;
	l = look(&b, false);
	assert_int_equal(l->chunks, 0);
	assert_int_equal(l->torn, 0);
	end(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(slots_in_use_are_counted_by_what_was_asked_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_group_in_a_slot_is_no_block, setup, teardown),
		cmocka_unit_test_setup_teardown(a_block_with_its_own_pages_is_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(areas_are_looked_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(what_does_not_lead_back_is_no_heap, setup,
						teardown),
		cmocka_unit_test_setup_teardown(another_secret_is_no_heap, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
