// SPDX-License-Identifier: GPL-2.0
/* seepage where: the extents of jemalloc, of a process that is forged here */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "where/jemalloc.h"
#include <cmocka.h>

#define STATIC_LO	0x7f5500000000ULL
#define STATIC_BYTES	(JE_ROOT_BYTES + 64 * KIB)
#define ROOT		(STATIC_LO + 4096 + 24)	/* within the static data */
#define META_LO		0x7f4000200000ULL
#define META_BYTES	(4 * MIB)
#define LEAF		(META_LO + 64)
#define RECORDS		(META_LO + 3 * MIB)
#define HEAP_LO		0x7f4000800000ULL
#define HEAP_BYTES	(8 * MIB)
#define SLABS		40U	/* of blocks of 64 bytes, a page each */
#define LARGE		(HEAP_LO + 128 * JE_PAGE)
#define LARGE_BYTES	20480U
#define FREE		(HEAP_LO + 256 * JE_PAGE)

static struct where_map map[] = {
	{ .lo = META_LO, .hi = META_LO + META_BYTES, .write = true, .anon = true },
	{ .lo = HEAP_LO, .hi = HEAP_LO + HEAP_BYTES, .write = true, .anon = true },
	{ .lo = STATIC_LO, .hi = STATIC_LO + 4096, .write = true, .file = (char *)"libjemalloc" },
	{ .lo = STATIC_LO + 4096, .hi = STATIC_LO + STATIC_BYTES, .write = true, .anon = true },
};

static unsigned char *meta, *data;
static struct target target = { .map = map, .maps = ARRAY_SIZE(map) };
static enum je_layout layout;
static unsigned int quantum, records;
/* How often, once the walk has begun, the map of a record that is read alone is out of date */
static unsigned int changes, changing;

void *must(void *p)
{
	assert_non_null(p);
	return p;
}

u64 clock_ns(void)
{
	return 1;
}

bool target_over(struct target *t)
{
	return false;
}

const struct where_map *target_at(const struct target *t, u64 addr)
{
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (addr >= t->map[i].lo && addr < t->map[i].hi)
			return &t->map[i];
	return NULL;
}

static char said[200];

void result_note(struct result *r, const char *fmt, ...)
{
	snprintf(said, sizeof(said), "%s", fmt);
}

static void *at(u64 addr, size_t n)
{
	if (addr >= META_LO && addr + n <= META_LO + META_BYTES)
		return meta + (addr - META_LO);
	if (addr >= STATIC_LO && addr + n <= STATIC_LO + STATIC_BYTES)
		return data + (addr - STATIC_LO);
	return NULL;
}

bool used_read(struct target *t, u64 addr, void *buf, size_t n)
{
	const void *p = at(addr, n);

	if (!p)
		return false;
	memcpy(buf, p, n);
	if (n == JE_ROOT_BYTES)
		changing = changes;
	if (n == 8 * JE_RECORD && changing) {
		changing--;
		((u64 *)buf)[8] ^= 1;
	}
	return true;
}

static void put(u64 addr, u64 word)
{
	u64 *p = at(addr, sizeof(word));

	assert_non_null(p);
	memcpy(p, &word, sizeof(word));
}

/* The number of the class of @size bytes */
static unsigned int index_of(u64 size)
{
	unsigned int i;

	for (i = 0; class_je_size(quantum, i) != size; i++)
		assert_int_not_equal(class_je_size(quantum, i), 0);
	return i;
}

/* Adds the record of an extent, with the elements of its first page and its last one. */
static u64 add(u64 addr, u64 size, u64 block, bool slab, unsigned int state, u64 unused)
{
	static const unsigned int shifts[][3] = { { 16, 18, 26 }, { 17, 20, 28 } };
	const unsigned int *s = shifts[layout];
	u64 record = RECORDS + 128ULL * records++, page = addr & ~4095ULL, i, element;
	u64 index = block ? index_of(block) : quantum == 4 ? 232 : 235;

	put(record, 3 | (u64)slab << 12 | 1 << 13 | (u64)state << s[0] | index << s[1] |
	    (u64)__builtin_popcountll(unused) << s[2] | 5ULL << (s[2] + 10));
	put(record + 8, addr);
	put(record + 16, size | 77);	/* a serial number in the low bits */
	put(record + 64, unused);
	element = record | index << 48 | slab | (layout == JE_5_3 ? 2U | state << 2 : 0);
	for (i = 0; i < size / JE_PAGE; i++)
		if (slab || !i || i + 1 == size / JE_PAGE)
			put(LEAF + 8 * ((page + i * JE_PAGE) / JE_PAGE % JE_LEAF), element);
	return record;
}

/* A heap with SLABS slabs, of which each has 61 blocks of 64 bytes in use, and a large block */
static void forge(enum je_layout l, unsigned int quantum_bits)
{
	unsigned int i;

	layout = l;
	quantum = quantum_bits;
	records = 0;
	changes = 0;
	changing = 0;
	memset(meta, 0, META_BYTES);
	memset(data, 0, STATIC_BYTES);
	put(STATIC_LO + 64, HEAP_LO);	/* something else that leads to the heap */
	put(ROOT + 8 * (HEAP_LO >> JE_GIB_BITS), LEAF);
	for (i = 0; i < SLABS; i++)
		add(HEAP_LO + i * JE_PAGE, JE_PAGE, 64, true, 0, 0x8000000000000005ULL);
	add(LARGE + 192, LARGE_BYTES + JE_PAGE, LARGE_BYTES, false, 0, 0);
	add(FREE, 3 * JE_PAGE, 0, false, 1, 0);
	/* The element of the last page of a large block may be out of date. */
	put(LEAF + 8 * ((LARGE + LARGE_BYTES) / JE_PAGE % JE_LEAF),
	    (RECORDS + 128ULL * SLABS) | 232ULL << 48);
}

static struct jemalloc je;

static enum je_end look(struct look *l, const char *file)
{
	look_begin(l, true, NULL);
	jemalloc_look(&target, file, &je, l);
	return l->je;
}

static void blocks_of_each_layout(void **state)
{
	static struct look l;
	unsigned int i, q;

	for (i = 0; i < JE_LAYOUTS; i++) {
		for (q = 3; q <= 4; q++) {
			forge(i, q);
			assert_int_equal(look(&l, "libjemalloc"), JE_COUNTED);
			assert_int_equal(je.root, ROOT);
			assert_int_equal(je.layout, i);
			assert_int_equal(je.quantum_bits, q);
			assert_int_equal(l.c[class_of_je(64)].blocks, SLABS * 61);
			assert_int_equal(l.c[class_of_je(64)].bytes, SLABS * 61 * 64);
			assert_int_equal(l.c[class_of_je(LARGE_BYTES)].blocks, 1);
			assert_int_equal(l.heap_bytes, SLABS * 61 * 64 + LARGE_BYTES);
			assert_int_equal(l.chunks, SLABS * 61 + 1);
			assert_int_equal(l.walked_bytes,
					 SLABS * JE_PAGE + LARGE_BYTES + JE_PAGE + 3 * JE_PAGE);
			assert_true(seen_has(l.seen, LARGE + 192));
			assert_false(seen_has(l.seen, HEAP_LO));
			assert_true(seen_has(l.seen, HEAP_LO + 64));
			look_free(&l);
		}
	}
}

static void a_block_is_used_if_its_bit_says_so(void **state)
{
	static struct look l;

	forge(JE_5_3, 4);
	assert_int_equal(look(&l, "libjemalloc"), JE_COUNTED);
	look_free(&l);
	assert_false(jemalloc_is_used(&target, &je, HEAP_LO, 64));
	assert_true(jemalloc_is_used(&target, &je, HEAP_LO + 64, 64));
	assert_true(jemalloc_is_used(&target, &je, HEAP_LO + 64, 33));
	/* No block begins there, or it is too small. */
	assert_false(jemalloc_is_used(&target, &je, HEAP_LO + 72, 8));
	assert_false(jemalloc_is_used(&target, &je, HEAP_LO + 64, 65));
	assert_true(jemalloc_is_used(&target, &je, LARGE + 192, LARGE_BYTES));
	assert_false(jemalloc_is_used(&target, &je, LARGE, LARGE_BYTES));
	assert_false(jemalloc_is_used(&target, &je, FREE, 16));
	assert_false(jemalloc_is_used(&target, &je, HEAP_LO + 100 * JE_PAGE, 16));
	assert_false(jemalloc_is_used(&target, &je, 16, 16));
	assert_false(jemalloc_is_used(&target, &je, UINT64_MAX - 15, 16));
}

static void what_changes_is_read_again(void **state)
{
	static struct look l;
	u64 record;

	forge(JE_5_3, 4);
	/* Far away from the others, so that it is read alone */
	records += 2000;
	record = add(HEAP_LO + 64 * JE_PAGE, JE_PAGE, 64, true, 0, 0);
	assert_int_equal(look(&l, "libjemalloc"), JE_COUNTED);
	assert_int_equal(l.c[class_of_je(64)].blocks, SLABS * 61 + 64);
	assert_int_equal(l.retries, 0);
	look_free(&l);
	changes = 3;
	assert_int_equal(look(&l, "libjemalloc"), JE_COUNTED);
	assert_int_equal(l.c[class_of_je(64)].blocks, SLABS * 61 + 64);
	assert_int_equal(l.retries, 3);
	assert_int_equal(l.torn, 0);
	look_free(&l);
	changes = 0;
	/* One of many that never agrees is lost, and said to be so. */
	put(record + 64, 1);
	assert_int_equal(look(&l, "libjemalloc"), JE_COUNTED);
	assert_int_equal(l.c[class_of_je(64)].blocks, SLABS * 61);
	assert_int_equal(l.torn, 1);
	assert_int_equal(l.torn_bytes, JE_PAGE);
	look_free(&l);
}

/* The leaf was read while the extents were others: a page is within one by now. */
static void pages_that_are_none_of_their_own(void **state)
{
	static struct look l;

	forge(JE_5_3, 4);
	put(LEAF + 8 * (LARGE / JE_PAGE % JE_LEAF), 0);
	assert_int_equal(look(&l, "libjemalloc"), JE_COUNTED);
	assert_int_equal(l.c[class_of_je(64)].blocks, SLABS * 61);
	assert_int_equal(l.c[class_of_je(LARGE_BYTES)].blocks, 0);
	assert_int_equal(l.torn, 0);
	assert_int_equal(l.retries, 1);
	look_free(&l);
}

static void extents_that_do_not_agree(void **state)
{
	static struct look l;
	unsigned int i;

	/* Half of the records say that another number of blocks is free. */
	forge(JE_5_3, 4);
	for (i = 0; i < SLABS; i += 2)
		put(RECORDS + 128 * i + 64, 1);
	assert_int_equal(look(&l, "libjemalloc"), JE_UNSOUND);
	assert_int_equal(l.heap_bytes, 0);
	assert_int_equal(l.chunks, 0);
	assert_int_equal(l.walked_bytes, 0);
	assert_int_equal(je.root, 0);
	assert_false(seen_has(l.seen, HEAP_LO + 64));
	jemalloc_note(NULL, &l, &l);
	assert_non_null(strstr(said, "do not agree"));
	look_free(&l);
}

static void a_tree_that_is_not_known(void **state)
{
	static struct look l;
	unsigned int i;

	forge(JE_5_3, 4);
	assert_int_equal(look(&l, "another"), JE_NOT_FOUND);
	look_free(&l);
	assert_int_equal(look(&l, NULL), JE_NOT_FOUND);
	look_free(&l);
	/* Records with fields at other places */
	for (i = 0; i < records; i++)
		put(RECORDS + 128 * i, 3 | 1 << 12 | 9ULL << 40);
	assert_int_equal(look(&l, "libjemalloc"), JE_NOT_FOUND);
	assert_int_equal(l.heap_bytes, 0);
	look_free(&l);
	/* A root without a leaf */
	forge(JE_5_3, 4);
	put(ROOT + 8 * (HEAP_LO >> JE_GIB_BITS), 0);
	assert_int_equal(look(&l, "libjemalloc"), JE_NOT_FOUND);
	jemalloc_note(NULL, &l, &l);
	assert_non_null(strstr(said, "was not found"));
	look_free(&l);
}

/* A process may forge anything: what is read of it leads to no address that is not checked. */
static void random_words(void **state)
{
	static struct look l;
	u64 v = 88172645463325252ULL, k;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		forge(i % JE_LAYOUTS, 3 + i / 2 % 2);
		for (k = 0; k < 60; k++) {
			v ^= v << 13;
			v ^= v >> 7;
			v ^= v << 17;
			put(k % 2 ? RECORDS + (v >> 8) % (128 * SLABS / 8) * 8 :
			    LEAF + 8 * (HEAP_LO / JE_PAGE % JE_LEAF + (v >> 8) % 64),
			    k % 3 ? v : RECORDS + v % (128 * SLABS));
		}
		look(&l, "libjemalloc");
		assert_true(l.je == JE_COUNTED || !l.heap_bytes);
		look_free(&l);
	}
}

/* Words that were read of a process with version 5.3.0, and of one with 5.2.1 */
static void words_of_real_processes(void **state)
{
	static const u64 large[JE_RECORD] = { 0x10000250a000, 0x7f77f9600680, 0x6000 };
	struct je_element e;
	struct je_record r;

	je_element(JE_5_3, 0x257f77faa23182, &e);
	assert_int_equal(e.record, 0x7f77faa23180);
	assert_int_equal(e.index, 37);
	assert_false(e.slab);
	je_record(JE_5_3, large, &r);
	assert_int_equal(r.addr, 0x7f77f9600680);
	assert_int_equal(r.size, 0x6000);
	assert_int_equal(r.index, 37);
	assert_true(r.active);
	assert_false(r.slab);
	assert_int_equal(class_je_size(4, 37), LARGE_BYTES);
	assert_true(je_is_usual(&r, 4));
	assert_false(je_is_usual(&r, 3));
	assert_true(je_is_sound(&r, 4));
}

static void sizes_of_classes(void **state)
{
	static const u64 first[] = { 8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 };
	static const u64 fine[] = { 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160 };
	unsigned int i, q, id, last;

	for (i = 0; i < ARRAY_SIZE(first); i++)
		assert_int_equal(class_je_size(4, i), first[i]);
	for (i = 0; i < ARRAY_SIZE(fine); i++)
		assert_int_equal(class_je_size(3, i), fine[i]);
	/* The largest one with a slab, the smallest one without, and the last one of all */
	assert_int_equal(class_je_size(4, 35), 14336);
	assert_int_equal(class_je_size(4, 36), 16384);
	assert_int_equal(class_je_size(4, 231), 7ULL << 60);
	assert_int_equal(class_je_size(4, 232), 0);
	assert_int_equal(class_je_size(3, 234), 7ULL << 60);
	assert_int_equal(class_je_size(3, 235), 0);
	assert_int_equal(class_je_size(4, 255), 0);
	for (q = 3; q <= 4; q++) {
		for (i = 0, last = 0; class_je_size(q, i) <= 1ULL << 47; i++) {
			id = class_of_je(class_je_size(q, i));
			assert_true(id > last && id < CLASSES);
			assert_int_equal(class_size(id), class_je_size(q, i));
			assert_int_equal(class_room(id), class_je_size(q, i));
			assert_true(class_serves(id, class_size(id)));
			assert_false(class_serves(id, class_size(id) + 1));
			assert_int_equal(class_of_je(class_least(id)) > id, 0);
			last = id;
		}
	}
	assert_int_equal(class_of_je(UINT64_MAX), CLASSES - 1);
	assert_int_equal(class_least(class_of_je(64)), 49);
	assert_int_equal(class_least(class_of_je(80)), 65);
	assert_int_equal(class_least(class_of_je(16)), 9);
	assert_true(class_serves(class_of_je(8), 0));
	assert_true(class_is_small(class_of_je(57344)));
	assert_false(class_is_small(class_of_je(65536)));
}

static void slabs_are_filled_wholly(void **state)
{
	assert_int_equal(je_slab_bytes(8), 4096);
	assert_int_equal(je_slab_bytes(48), 12288);
	assert_int_equal(je_slab_bytes(112), 28672);
	assert_int_equal(je_slab_bytes(14336), 28672);
	assert_int_equal(je_slab_bytes(16384), 0);
	assert_int_equal(je_slab_bytes(7ULL << 60), 0);
	assert_int_equal(je_slab_bytes(0), 0);
}

static int begin(void **state)
{
	meta = calloc(1, META_BYTES);
	data = calloc(1, STATIC_BYTES);
	return !meta || !data;
}

static int end(void **state)
{
	free(meta);
	free(data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_classes),
		cmocka_unit_test(slabs_are_filled_wholly),
		cmocka_unit_test(words_of_real_processes),
		cmocka_unit_test(blocks_of_each_layout),
		cmocka_unit_test(a_block_is_used_if_its_bit_says_so),
		cmocka_unit_test(what_changes_is_read_again),
		cmocka_unit_test(pages_that_are_none_of_their_own),
		cmocka_unit_test(extents_that_do_not_agree),
		cmocka_unit_test(a_tree_that_is_not_known),
		cmocka_unit_test(random_words),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
