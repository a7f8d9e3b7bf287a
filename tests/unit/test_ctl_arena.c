// SPDX-License-Identifier: GPL-2.0
/* seepage where: chunks of glibc that have a mapping of their own, and caches of threads */
#include <errno.h>
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

static u64 only;	/* if not 0: mappings of other addresses than these are dropped */
static u64 only_bytes = 128UL << 20;

int __wrap_target_maps(struct target *t)
{
	int err = __real_target_maps(t);
	size_t i, n = 0;

	reads++;
	for (i = 0; only && i < t->maps; i++) {
		if (t->map[i].lo >= only && t->map[i].lo < only + only_bytes)
			t->map[n++] = t->map[i];
		else
			free(t->map[i].file);
	}
	t->maps = only ? n : t->maps;
	return err;
}

static void look_at_blocks(struct target *t, struct bins *b, struct look *l)
{
	arena_look(t, b, l);
	mmapped_look(t, l);
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

static unsigned char *swapped;	/* NULL, or from where on pages that are present seem swapped out */
static size_t swapped_pages;

size_t __real_there_read(int pagemap, u64 page, u64 *v, size_t n);
size_t __wrap_there_read(int pagemap, u64 page, u64 *v, size_t n);

size_t __wrap_there_read(int pagemap, u64 page, u64 *v, size_t n)
{
	size_t got = __real_there_read(pagemap, page, v, n), i;
	u64 lo = (u64)(uintptr_t)swapped / PAGE;

	for (i = 0; swapped && i < got; i++)
		if (page + i >= lo && page + i < lo + swapped_pages && (v[i] & PAGE_PRESENT))
			v[i] = PAGE_SWAPPED;
	return got;
}

static void find(void)
{
	struct look *l = malloc(sizeof(*l));

	found_n = 0;
	look_begin(l, false, NULL);
	mmapped_find(&target, l, take, NULL);
	look_free(l);
	free(l);
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
	used_free(&target);
	target_close(&target);
	assert_int_equal(munmap(area, AREA), 0);
	return 0;
}

/* From glibc 2.43 on the size leaves the head of the chunk out. */
static void a_size_without_the_head_is_one(void **state)
{
	chunk(1, 4 * PAGE);
	chunk(5, 2 * PAGE);
	set_head(area + PAGE, 4 * PAGE - 16);
	set_head(area + 5 * PAGE, 2 * PAGE - 16);
	assert_int_equal(target_maps(&target), 0);
	find();
	assert_int_equal(found_n, 2);
	assert_ptr_equal(found[1].addr, area + 5 * PAGE + 16);
	assert_int_equal(found[0].size, 4 * PAGE);
	assert_int_equal(found[1].size, 2 * PAGE);
	set_head(area + 5 * PAGE, 2 * PAGE - 32);
	find();
	assert_int_equal(found_n, 1);
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

/* Memory of another kind, which the kernel has joined with the chunks above it */
static void chunks_above_something_else_are_found(void **state)
{
	unsigned char *low = mmap(area + PAGE, 3 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	memset(low, 1, PAGE);
	memset(low + 2 * PAGE, 1, PAGE);
	chunk(4, 4 * PAGE);
	/* Within a block nothing is one. */
	set_head(area + 5 * PAGE, PAGE);
	assert_true(mmap(area + 8 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	chunk(10, 2 * PAGE);
	set_head(chunk(12, PAGE), 40 * PAGE);
	assert_int_equal(target_maps(&target), 0);
	find();
	assert_int_equal(found_n, 2);
	assert_ptr_equal(found[0].addr, area + 4 * PAGE + 16);
	assert_int_equal(found[0].size, 4 * PAGE);
	assert_ptr_equal(found[1].addr, area + 10 * PAGE + 16);
	assert_int_equal(found[1].size, 2 * PAGE);
}

/* The first page of the block is swapped out, the second one looks like the first of a block. */
static void one_that_is_swapped_out_is_found(void **state)
{
	unsigned char *low = mmap(area + PAGE, 3 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	memset(low, 1, PAGE);
	swapped = chunk(4, 4 * PAGE);
	swapped_pages = 1;
	set_head(area + 5 * PAGE, PAGE);
	assert_int_equal(target_maps(&target), 0);
	find();
	swapped = NULL;
	assert_int_equal(found_n, 1);
	assert_ptr_equal(found[0].addr, area + 4 * PAGE + 16);
	assert_int_equal(found[0].size, 4 * PAGE);
}

#define BEHIND_PAGES	1100UL

/* Not all of what is swapped out is read. What is found there later is not new for that. */
static void what_is_swapped_out_is_no_growth_later(void **state)
{
	struct look *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	unsigned int id = class_of_chunk(0x7000000);
	unsigned char *room = mmap(NULL, 128UL << 20, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned char *at = room + BEHIND_PAGES * PAGE;

	madvise(room, 128UL << 20, MADV_NOHUGEPAGE);
	assert_int_equal(mprotect(room, BEHIND_PAGES * PAGE + 0x7000000, PROT_READ | PROT_WRITE),
			 0);
	memset(room, 1, BEHIND_PAGES * PAGE);
	set_head(at, 0x7000000);
	only = (u64)(uintptr_t)room;
	assert_int_equal(target_maps(&target), 0);
	swapped = room;
	swapped_pages = BEHIND_PAGES + 1;
	look_begin(a, true, NULL);
	look_at_blocks(&target, &(struct bins){ 0 }, a);
	swapped = NULL;
	look_begin(b, false, a->seen);
	b->earlier = a;
	look_at_blocks(&target, &(struct bins){ 0 }, b);
	only = 0;
	assert_int_equal(a->c[id].blocks, 0);
	assert_int_equal(a->skipped_bytes, (BEHIND_PAGES - 1024 + 1) * PAGE);
	assert_int_equal(b->c[id].blocks, 1);
	assert_int_equal(b->c[id].old_blocks, 1);
	assert_int_equal(b->skipped_bytes, 0);
	look_free(a);
	look_free(b);
	free(a);
	free(b);
	assert_int_equal(munmap(room, 128UL << 20), 0);
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

/* What provides its pages may be another program, which is not waited for. */
static void what_was_never_used_is_not_read(void **state)
{
	unsigned char *p = mmap(area + PAGE, 4 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	unsigned char data[3 * PAGE], zero[3 * PAGE] = { 0 }, there[4];
	u64 at = (u64)(uintptr_t)p;

	assert_int_equal(target_maps(&target), 0);
	find();
	assert_int_equal(found_n, 0);
	memset(data, 7, sizeof(data));
	assert_true(used_read(&target, at, data, sizeof(data)));
	assert_memory_equal(data, zero, sizeof(data));
	assert_int_equal(mincore(p, 4 * PAGE, there), 0);
	assert_int_equal((there[0] | there[1] | there[2] | there[3]) & 1, 0);
	/* What is used later is read. */
	p[PAGE + 5] = 9;
	assert_true(used_read(&target, at + 1, data, sizeof(data)));
	zero[PAGE + 4] = 9;
	assert_memory_equal(data, zero, sizeof(data));
	assert_true(used_has(&target, at + PAGE));
	assert_false(used_has(&target, at + 2 * PAGE));
	p[2 * PAGE] = 8;
	assert_true(used_has(&target, at + 2 * PAGE));
	assert_int_equal(mincore(p, 4 * PAGE, there), 0);
	assert_int_equal((there[0] | there[3]) & 1, 0);
	/* What is gone is zeros, what is there and may not be read is an error. */
	assert_int_equal(munmap(p, PAGE), 0);
	assert_true(used_read(&target, at, data, 8));
	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_NONE), 0);
	assert_false(used_read(&target, at + PAGE, data, 8));
	assert_int_equal(target.err, EFAULT);
}

#define CACHE_BLOCKS	8
#define KEY		0x1234567890abcdefULL
#define WORD		0x700010002000ULL	/* of the program */

/* The cache of a thread, with blocks in its bins, one below another */
struct cache {
	unsigned char chunk[CACHE_SIZE];
	struct {
		u64 before, size, word[2];
	} block[CACHE_BLOCKS];
} __attribute__((aligned(16)));

static void set_bin(struct cache *c, int bin, u16 count, u64 *block)
{
	u64 p = (u64)(uintptr_t)block;

	memcpy(c->chunk + CACHE_COUNTS + 2 * bin, &count, sizeof(count));
	memcpy(c->chunk + CACHE_ENTRIES + 8 * bin, &p, sizeof(p));
}

/* A link of glibc 2.32 and newer; NULL: the end */
static void set_link(u64 *block, const u64 *next)
{
	block[0] = (u64)(uintptr_t)next ^ (u64)(uintptr_t)block >> 12;
}

/* @n bins with a block each; the key is in all of them. */
static void fill_cache(struct cache *c, int n)
{
	u64 size = CACHE_SIZE | 1;
	int i;

	memset(c, 0, sizeof(*c));
	memcpy(c->chunk + 8, &size, sizeof(size));
	for (i = 0; i < n; i++) {
		c->block[i].size = 0x21 + 16 * (u64)i;
		set_bin(c, i, 1, c->block[i].word);
		set_link(c->block[i].word, NULL);
		c->block[i].word[1] = KEY;
	}
}

static bool look_at_cache(struct bins *b, const struct cache *c)
{
	return bins_thread_cache(&target, b, (u64)(uintptr_t)c->chunk);
}

static void keys_of_a_cache_are_taken_once(void **state)
{
	struct bins b = { 0 };
	struct cache c;

	fill_cache(&c, 2);
	assert_true(look_at_cache(&b, &c));
	assert_true(look_at_cache(&b, &c));
	assert_int_equal(b.keys_n, 1);
	assert_true(b.keys[0] == KEY);
	/* Before glibc 2.34 the next cache has another one. */
	c.block[0].word[1] = KEY + 1;
	c.block[1].word[1] = KEY + 1;
	assert_true(look_at_cache(&b, &c));
	assert_int_equal(b.keys_n, 2);
	assert_true(b.keys[1] == KEY + 1);
}

/* Its first bins are those of a cache, the last one is not: it has a count and no block. */
static void keys_of_what_is_no_cache_are_not_taken(void **state)
{
	struct bins b = { 0 };
	struct cache c;
	u16 one = 1;

	fill_cache(&c, 2);
	memcpy(c.chunk + CACHE_COUNTS + 2 * 63, &one, sizeof(one));
	assert_false(look_at_cache(&b, &c));
	assert_int_equal(b.keys_n, 0);
}

/* Blocks that were handed out while the cache was read: blocks in use may hold the same word. */
static void a_word_of_few_blocks_is_no_key(void **state)
{
	struct bins b = { 0 };
	struct cache c;
	int i;

	fill_cache(&c, 8);
	for (i = 0; i < 3; i++)
		c.block[2 * i].word[1] = WORD;
	assert_true(look_at_cache(&b, &c));
	assert_int_equal(b.keys_n, 1);
	assert_true(b.keys[0] == KEY);
}

static void no_key_is_taken_where_words_differ(void **state)
{
	struct bins b = { 0 };
	struct cache c;
	int i;

	fill_cache(&c, 8);
	for (i = 0; i < 4; i++)
		c.block[i].word[1] = WORD + 16 * (u64)(i / 2);
	assert_true(look_at_cache(&b, &c));
	assert_int_equal(b.keys_n, 0);
}

/* A bin with four blocks, of which the first one holds another word than the key */
static void fill_chain(struct cache *c)
{
	int i;

	fill_cache(c, 1);
	set_bin(c, 0, 4, c->block[0].word);
	for (i = 0; i < 4; i++) {
		c->block[i].size = 0x21;
		set_link(c->block[i].word, i < 3 ? c->block[i + 1].word : NULL);
		c->block[i].word[1] = i ? KEY : WORD;
	}
}

/* All blocks of a bin count, not only the first one. */
static void blocks_behind_the_first_one_count(void **state)
{
	struct bins b = { 0 };
	struct cache c;

	fill_chain(&c);
	/* A bin with a ring is followed no further than it is long. */
	c.block[4].size = 0x31;
	set_bin(&c, 1, UINT16_MAX, c.block[4].word);
	set_link(c.block[4].word, c.block[4].word);
	c.block[4].word[1] = KEY;
	assert_true(look_at_cache(&b, &c));
	assert_int_equal(b.keys_n, 1);
	assert_true(b.keys[0] == KEY);
}

/* Up to glibc 2.31 links are plain. Of a heap of chunks of one size the wrong way may find one. */
static void links_that_are_plain_are_followed(void **state)
{
	struct bins b = { 0 };
	struct cache c;
	int i;

	fill_chain(&c);
	for (i = 0; i < 4; i++)
		c.block[i].word[0] = i < 3 ? (u64)(uintptr_t)c.block[i + 1].word : 0;
	assert_true(look_at_cache(&b, &c));
	assert_int_equal(b.keys_n, 1);
	assert_true(b.keys[0] == KEY);
}

/* From glibc 2.42 on there are 76 bins, and numbers of places that are left. */
static void a_cache_that_counts_what_is_left_is_one(void **state)
{
	struct {
		u64 before, size;
		u16 left[76];
		u64 *entry[76];
		u64 size_of_block, word[2];
	} __attribute__((aligned(16))) c = { .size = 0x301 };
	struct bins b = { 0 };
	int i;

	assert_int_equal(offsetof(typeof(c), size_of_block), 0x308);
	for (i = 0; i < 76; i++)
		c.left[i] = 16;
	assert_true(bins_thread_cache(&target, &b, (u64)(uintptr_t)&c));
	assert_int_equal(b.keys_n, 0);
	c.left[3]--;
	c.entry[3] = c.word;
	c.word[1] = KEY;
	assert_true(bins_thread_cache(&target, &b, (u64)(uintptr_t)&c));
	assert_int_equal(b.keys_n, 1);
	/* a bin that has a block, and all of its places */
	c.entry[4] = c.word;
	assert_false(bins_thread_cache(&target, &b, (u64)(uintptr_t)&c));
	assert_false(bins_may_be_cache(0x2a0));
	assert_true(bins_may_be_cache(0x250) && bins_may_be_cache(0x290));
}

static struct cache *handed_out;	/* before its first block is read */

/* The only block of the cache is handed out between two reads. */
static void a_block_that_is_handed_out_has_no_key(void **state)
{
	struct bins b = { 0 };
	struct cache c;

	fill_cache(&c, 1);
	handed_out = &c;
	assert_true(look_at_cache(&b, &c));
	assert_null(handed_out);
	assert_int_equal(b.keys_n, 0);
}

#define STATE_WORDS	(0x898 / 8)
#define STATE_TOP	(0x60 / 8)
#define STATE_BINS	(0x70 / 8)
#define STATE_SYSTEM	(0x888 / 8)
#define STATE_NEXT	(0x870 / 8)
#define FAST		(0x58 / 8)	/* words that are not there from glibc 2.43 on */

/* In the data of this program: an array, and behind it the head of an arena */
static struct {
	u64 array[STATE_WORDS + 1], head[STATE_WORDS];
} data __attribute__((aligned(16))) = { .array = { 1 } };
#define state_words	data.head

/* A head; its bins are empty, and no other arena is in the ring. */
static void fill_head(u64 *words, u64 top)
{
	u64 at = (u64)(uintptr_t)&words[STATE_BINS - 2];
	unsigned int i;

	words[STATE_TOP] = top;
	for (i = 0; i < 254; i++)
		words[STATE_BINS + i] = at + i / 2 * 16;
	words[STATE_SYSTEM] = AREA;
	words[STATE_NEXT] = (u64)(uintptr_t)words;
}

static void fill_state(u64 top)
{
	fill_head(state_words, top);
}

static bool find_state(void)
{
	u64 lo = (u64)(uintptr_t)area;
	struct bins b = { 0 };

	state_find_main(&target, &b, lo, lo + AREA);
	return b.main_top == (u64)(uintptr_t)&state_words[STATE_TOP] && b.layout == 8 * STATE_TOP;
}

/* Wherever its top is by now, within the heap */
static void the_main_arena_is_found_while_its_top_moves(void **state)
{
	u64 lo = (u64)(uintptr_t)area;

	fill_state(lo + AREA / 2);
	assert_true(find_state());
	fill_state(lo + AREA - 32);
	assert_true(find_state());
	/* A chunk is being put into one of its bins. */
	state_words[STATE_BINS] = lo + 32;
	assert_true(find_state());
	/* Not where it cannot be, nor where the bins are none */
	fill_state(lo + AREA);
	assert_false(find_state());
	fill_state(lo + 8);
	assert_false(find_state());
	fill_state(lo + AREA / 2);
	memset(&state_words[STATE_BINS], 0, 254 * 8);
	assert_false(find_state());
	fill_state(0);
}

/* The ring of arenas says where a head begins, and so whether it has fast bins. */
static void the_ring_tells_the_layout(void **state)
{
	u64 lo = (u64)(uintptr_t)area, begin = (u64)(uintptr_t)state_words;
	struct bins b = { 0 };

	fill_state(lo + AREA / 2);
	state_words[STATE_NEXT] = begin + 8 * FAST;
	state_find_main(&target, &b, lo, lo + AREA);
	assert_int_equal(b.layout, 0x08);
	b = (struct bins){ 0 };
	state_words[STATE_NEXT] = begin + 8;
	state_find_main(&target, &b, lo, lo + AREA);
	assert_int_equal(b.layout, 0x58);
	/* None of them: it is an array of the program, or the ring is being changed. */
	b = (struct bins){ 0 };
	state_words[STATE_NEXT] = begin + 16;
	state_find_main(&target, &b, lo, lo + AREA);
	assert_int_equal(b.main_top, 0);
	assert_int_equal(b.layout, 0);
	/* It is found as soon as the ring is whole. */
	state_words[STATE_NEXT] = begin;
	state_find_main(&target, &b, lo, lo + AREA);
	assert_int_equal(b.layout, 0x60);
	fill_state(0);
}

/* As that of the pools of pymalloc: an empty entry points to itself. */
static void an_array_that_looks_like_a_head_is_none(void **state)
{
	u64 lo = (u64)(uintptr_t)area;

	fill_head(data.array, lo + AREA / 2);
	fill_state(lo + AREA / 2);
	assert_false(find_state());
	data.array[STATE_NEXT] = lo;
	assert_true(find_state());
	data.array[STATE_NEXT] = 0;
	assert_true(find_state());
	fill_head(data.array, 0);
	fill_state(0);
}

#define SEGMENT		(16 * PAGE)

/* The process makes its data segment longer after the mappings were read. */
static void the_top_may_be_behind_what_was_mapped(void **state)
{
	u64 lo = (u64)(uintptr_t)area;
	struct look *l = malloc(sizeof(*l));
	struct bins b = { 0 };

	assert_int_equal(mprotect(area, SEGMENT, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(munmap(area + SEGMENT, AREA - SEGMENT), 0);
	memset(area, 0, SEGMENT);
	*(u64 *)(uintptr_t)(area + 8) = SEGMENT | 1;
	target.start_brk = lo;
	assert_int_equal(target_maps(&target), 0);
	fill_state(lo + SEGMENT + 64);
	look_begin(l, false, NULL);
	arena_look(&target, &b, l);
	assert_true(b.main_top == (u64)(uintptr_t)&state_words[STATE_TOP]);
	assert_false(l->no_fastbins);
	/* What it has from the system beyond that is elsewhere. */
	state_words[STATE_SYSTEM] = SEGMENT + 3 * MIB;
	look_restart(l);
	arena_look(&target, &b, l);
	assert_int_equal(l->outside_bytes, 3 * MIB);
	fill_state(0);
	look_free(l);
	free(l);
}

#define ARENA_ALIGN	(64UL << 20)
#define ARENA_PAGES	1024UL
#define ARENA_LEFT	600UL		/* pages, after it was trimmed */
#define ARENA_CHUNK	0x1230UL	/* a class that nothing else has */

static void set_word(unsigned char *at, u64 v)
{
	memcpy(at, &v, sizeof(v));
}

static unsigned char *trimmed;		/* a heap, before its second half is read */

/* The heap of an arena of a thread: chunks of one size, and a top as large as is left */
static u64 fill_heap(unsigned char *heap, u64 bytes)
{
	unsigned char *at = heap + 0x20 + 0x8a0;
	u64 n = 0;

	set_word(heap, (u64)(uintptr_t)heap + 0x20);
	set_word(heap + 16, bytes);
	set_word(heap + 24, bytes);
	for (; (u64)(at - heap) + ARENA_CHUNK + 4 * PAGE < bytes; at += ARENA_CHUNK, n++)
		set_word(at + 8, ARENA_CHUNK | 5);
	set_word(at + 8, ((u64)(heap + bytes - at)) | 5);
	return n;
}

bool __real_target_read(struct target *t, u64 addr, void *buf, size_t n);
bool __wrap_target_read(struct target *t, u64 addr, void *buf, size_t n);

bool __wrap_target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	if (handed_out && addr == (u64)(uintptr_t)handed_out->block[0].word) {
		set_bin(handed_out, 0, 0, NULL);
		handed_out->block[0].word[1] = WORD;
		handed_out = NULL;
	}
	if (trimmed && addr > (u64)(uintptr_t)trimmed + ARENA_LEFT / 2 * PAGE &&
	    addr < (u64)(uintptr_t)trimmed + ARENA_PAGES * PAGE) {
		fill_heap(trimmed, ARENA_LEFT * PAGE);
		madvise(trimmed + ARENA_LEFT * PAGE, (ARENA_PAGES - ARENA_LEFT) * PAGE,
			MADV_DONTNEED);
		mprotect(trimmed + ARENA_LEFT * PAGE, (ARENA_PAGES - ARENA_LEFT) * PAGE, PROT_NONE);
		trimmed = NULL;
	}
	return __real_target_read(t, addr, buf, n);
}

static void a_heap_that_is_trimmed_is_walked_to_its_end(void **state)
{
	unsigned char *room = mmap(NULL, 2 * ARENA_ALIGN, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *heap;
	struct look *l = malloc(sizeof(*l));
	unsigned int torn;
	struct bins b = { 0 };

	heap = (unsigned char *)(((uintptr_t)room + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1));
	assert_int_equal(mprotect(heap, ARENA_PAGES * PAGE, PROT_READ | PROT_WRITE), 0);
	fill_heap(heap, ARENA_PAGES * PAGE);
	only = (u64)(uintptr_t)room;
	assert_int_equal(target_maps(&target), 0);
	trimmed = heap;
	look_begin(l, false, NULL);
	look_at_blocks(&target, &b, l);
	only = 0;
	assert_null(trimmed);
	torn = l->torn;
	assert_int_equal(l->c[class_of_chunk(ARENA_CHUNK)].blocks,
			 fill_heap(heap, ARENA_LEFT * PAGE));
	assert_int_equal(torn, 0);
	look_free(l);
	free(l);
	assert_int_equal(munmap(room, 2 * ARENA_ALIGN), 0);
}

static bool no_signal(void *arg)
{
	return false;
}

/* Many heaps, with as many bytes to read as half of them have */
static void a_look_ends_at_its_bound(void **state)
{
	u64 heaps = 8, i, per_heap = 0;
	unsigned char *room = mmap(NULL, (heaps + 1) * ARENA_ALIGN, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *heap;
	unsigned int id = class_of_chunk(ARENA_CHUNK);
	struct look *l = malloc(sizeof(*l));
	struct bins b = { 0 };

	heap = (unsigned char *)(((uintptr_t)room + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1));
	for (i = 0; i < heaps; i++) {
		assert_int_equal(mprotect(heap + i * ARENA_ALIGN, ARENA_PAGES * PAGE,
					  PROT_READ | PROT_WRITE), 0);
		per_heap = fill_heap(heap + i * ARENA_ALIGN, ARENA_PAGES * PAGE);
	}
	only = (u64)(uintptr_t)room;
	only_bytes = (heaps + 1) * ARENA_ALIGN;
	assert_int_equal(target_maps(&target), 0);
	look_begin(l, false, NULL);
	target_bound(&target, heaps / 2 * ARENA_PAGES * PAGE, 60, no_signal, NULL);
	reads = 0;
	look_at_blocks(&target, &b, l);
	assert_true(target_over(&target));
	/* It is no heap that does not add up, and nothing is read again for it. */
	assert_int_equal(l->torn, 0);
	assert_int_equal(reads, 0);
	assert_in_range(l->c[id].blocks, (heaps / 2 - 1) * per_heap, (heaps / 2 + 1) * per_heap);
	target_unbound(&target);
	look_free(l);
	look_begin(l, false, NULL);
	look_at_blocks(&target, &b, l);
	assert_int_equal(l->c[id].blocks, heaps * per_heap);
	only = 0;
	only_bytes = 128UL << 20;
	look_free(l);
	free(l);
	assert_int_equal(munmap(room, (heaps + 1) * ARENA_ALIGN), 0);
}

/* The head of an arena with one fast bin, of chunks of 32 bytes in the area */
static u64 count_after_fast_bin(unsigned int n, unsigned int ring)
{
	struct look *l = malloc(sizeof(*l));
	unsigned int id = class_of_chunk(32), i;
	u64 blocks, *c;

	assert_int_equal(mprotect(area, AREA, PROT_READ | PROT_WRITE), 0);
	memset(state_words, 0, sizeof(state_words));
	state_words[2] = (u64)(uintptr_t)area;
	for (i = 0; i < n; i++) {
		c = (u64 *)(uintptr_t)(area + 32UL * i);
		c[1] = 0x21;
		set_link(c + 2, i + 1 < n ? c + 4 : NULL);
		/* The link of a fast bin leads to a chunk. */
		if (i + 1 == n && ring)
			set_link(c + 2, (u64 *)(uintptr_t)(area + 32UL * (n - ring)));
	}
	look_begin(l, false, NULL);
	for (i = 0; i < 1000; i++)
		look_add(l, id, (u64)(uintptr_t)area + 32UL * i + 16, 32);
	bins_fast(&target, (u64)(uintptr_t)&state_words[STATE_TOP], 0x60, l);
	blocks = l->c[id].blocks;
	assert_int_equal(l->c[id].bytes, 32 * blocks);
	look_free(l);
	free(l);
	return blocks;
}

/* Blocks in use would vanish with each turn. */
static void a_ring_in_a_fast_bin_takes_nothing_away(void **state)
{
	unsigned int ring;

	assert_int_equal(count_after_fast_bin(7, 0), 1000 - 7);
	assert_int_equal(count_after_fast_bin(1, 0), 1000 - 1);
	for (ring = 1; ring <= 7; ring++)
		assert_int_equal(count_after_fast_bin(7, ring), 1000);
	fill_state(0);
}

/* Many threads may have such bins. Only the first chunk of each is read. */
static void bins_without_a_chunk_cost_what_was_read(void **state)
{
	struct look *l = malloc(sizeof(*l));
	unsigned int id = class_of_chunk(32), i;
	u64 *c = (u64 *)(uintptr_t)area;

	assert_int_equal(mprotect(area, AREA, PROT_READ | PROT_WRITE), 0);
	memset(state_words, 0, sizeof(state_words));
	look_begin(l, false, NULL);
	look_add(l, id, (u64)(uintptr_t)area + 16, 32);
	/* The first chunk of these bins has another size by now. */
	for (i = 0; i < 10; i++)
		state_words[2 + i] = (u64)(uintptr_t)area + PAGE;
	for (i = 0; i < 4; i++)
		bins_fast(&target, (u64)(uintptr_t)&state_words[STATE_TOP], 0x60, l);
	assert_int_equal(l->fast_read, 40);
	assert_int_equal(l->c[id].blocks, 1);
	memset(state_words, 0, sizeof(state_words));
	state_words[2] = (u64)(uintptr_t)area;
	c[1] = 0x21;
	set_link(c + 2, NULL);
	bins_fast(&target, (u64)(uintptr_t)&state_words[STATE_TOP], 0x60, l);
	assert_int_equal(l->fast_read, 41);
	assert_int_equal(l->c[id].blocks, 0);
	look_free(l);
	free(l);
	fill_state(0);
}

/* Addresses where a heap might begin, of memory that the process never used */
static void what_was_never_used_stays_so(void **state)
{
	unsigned char *room = mmap(NULL, 2 * ARENA_ALIGN, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *heap;
	struct look *l = malloc(sizeof(*l));
	struct bins b = { 0 };
	int pagemap;

	heap = (unsigned char *)(((uintptr_t)room + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1));
	madvise(room, 2 * ARENA_ALIGN, MADV_NOHUGEPAGE);
	only = (u64)(uintptr_t)room;
	assert_int_equal(target_maps(&target), 0);
	look_begin(l, false, NULL);
	look_at_blocks(&target, &b, l);
	only = 0;
	pagemap = there_open(&target);
	assert_true(pagemap >= 0);
	if (heap > room)	/* its first page is looked at, as that of any mapping */
		assert_false(there_has(pagemap, (u64)(uintptr_t)heap,
				       (u64)(uintptr_t)heap + ARENA_ALIGN / 2));
	heap[PAGE * 600] = 1;
	assert_true(there_has(pagemap, (u64)(uintptr_t)heap, (u64)(uintptr_t)heap + 601 * PAGE));
	assert_false(there_has(pagemap, (u64)(uintptr_t)heap + PAGE,
			       (u64)(uintptr_t)heap + 600 * PAGE));
	assert_true(there_has(-1, (u64)(uintptr_t)heap, (u64)(uintptr_t)heap + 1));
	close(pagemap);
	look_free(l);
	free(l);
	assert_int_equal(munmap(room, 2 * ARENA_ALIGN), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_size_without_the_head_is_one, setup, teardown),
		cmocka_unit_test_setup_teardown(neighbours_are_found_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_grew_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_moved_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(chunks_above_something_else_are_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_that_is_swapped_out_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_swapped_out_is_no_growth_later, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_no_chunk_is_not_found, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_never_used_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(a_heap_that_is_trimmed_is_walked_to_its_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_look_ends_at_its_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(a_ring_in_a_fast_bin_takes_nothing_away, setup,
						teardown),
		cmocka_unit_test_setup_teardown(bins_without_a_chunk_cost_what_was_read, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_was_never_used_stays_so, setup, teardown),
		cmocka_unit_test_setup_teardown(links_that_are_plain_are_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cache_that_counts_what_is_left_is_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_ring_tells_the_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(the_top_may_be_behind_what_was_mapped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_array_that_looks_like_a_head_is_none, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_main_arena_is_found_while_its_top_moves, setup,
						teardown),
		cmocka_unit_test_setup_teardown(keys_of_a_cache_are_taken_once, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_of_what_is_no_cache_are_not_taken, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_word_of_few_blocks_is_no_key, setup, teardown),
		cmocka_unit_test_setup_teardown(no_key_is_taken_where_words_differ, setup,
						teardown),
		cmocka_unit_test_setup_teardown(blocks_behind_the_first_one_count, setup, teardown),
		cmocka_unit_test_setup_teardown(a_block_that_is_handed_out_has_no_key, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
