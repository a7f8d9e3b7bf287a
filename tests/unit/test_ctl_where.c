// SPDX-License-Identifier: GPL-2.0
/* seepage where: the walk of a heap, classes, the set of addresses, names of types, text */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cold/cold.h"
#include "where/where.h"
#include <cmocka.h>

#define BASE	0x555500000000ULL
#define KEY	0x1122334455667788ULL
#define USED	1U		/* the chunk before is in use */

/* A heap in a buffer; chunks are added at the end */
struct heap {
	unsigned char *data;
	size_t n, size;
	unsigned int reads, torn_reads;	/* the first @torn_reads have a bad head at @torn_at */
	size_t torn_at;
	u64 unreadable;			/* addresses from here on cannot be read; 0: all can */
	u64 seen[64], bytes[64];
	unsigned int used, calls;
	u64 last;
};

static void set(struct heap *h, size_t at, u64 v)
{
	memcpy(h->data + at, &v, sizeof(v));
}

static void heap_new(struct heap *h, size_t size)
{
	memset(h, 0, sizeof(*h));
	h->size = size;
	h->data = calloc(1, size);
}

/* @before_used: of the chunk in front */
static size_t chunk(struct heap *h, u64 size, bool before_used, unsigned int flags)
{
	size_t at = h->n;

	assert_true(at + 16 <= h->size);
	set(h, at + 8, size | before_used | flags);
	h->n += size;
	return at;
}

static bool read_heap(void *arg, u64 addr, void *buf, size_t n)
{
	struct heap *h = arg;
	u64 bad = 0x29;

	if (addr < BASE || addr + n > BASE + h->size || (h->unreadable && addr + n > h->unreadable))
		return false;
	memcpy(buf, h->data + (addr - BASE), n);
	if (h->reads++ < h->torn_reads && h->torn_at + 16 <= addr - BASE + n &&
	    h->torn_at >= addr - BASE)
		memcpy((char *)buf + (h->torn_at - (addr - BASE)) + 8, &bad, sizeof(bad));
	return true;
}

static void used(void *arg, u64 addr, u64 size)
{
	struct heap *h = arg;

	assert_true(addr > h->last || !h->calls);
	h->last = addr;
	h->calls++;
	if (h->used < 64) {
		h->seen[h->used] = addr - BASE;
		h->bytes[h->used++] = size;
	}
}

static enum heap_end walk(struct heap *h, struct heap_walk *w, bool main)
{
	static const u64 keys[] = { KEY };

	*w = (struct heap_walk){ .read = read_heap, .used = used, .arg = h, .lo = BASE,
		.hi = BASE + h->size, .main = main, .keys = keys, .keys_n = 1 };
	return heap_walk(w);
}

static void test_used_free_cached_and_top(void **state)
{
	struct heap_walk w;
	struct heap h;
	size_t at;

	heap_new(&h, 4096);
	chunk(&h, 0x30, true, 0);
	at = chunk(&h, 0x40, true, 0);		/* free: the next head says so */
	set(&h, at + 0x40, 0x40);
	chunk(&h, 0x20, false, 0);
	at = chunk(&h, 0x50, true, 0);		/* in the cache of a thread */
	set(&h, at + 24, KEY);
	chunk(&h, 4096 - h.n, true, 0);
	assert_int_equal(walk(&h, &w, true), HEAP_AT_TOP);
	assert_int_equal(h.used, 2);
	assert_int_equal(h.bytes[0], 0x30);
	assert_int_equal(h.bytes[1], 0x20);
	assert_int_equal(h.seen[1], 0x70);
	assert_int_equal(w.free_bytes, 0x40);
	assert_int_equal(w.cached_bytes, 0x50);
	assert_int_equal(w.top_addr, BASE + 0xe0);
	assert_int_equal(w.top_bytes, 4096 - 0xe0);
	assert_int_equal(w.doubts, 0);
	assert_int_equal(w.chunks, 4);
	free(h.data);
}

static void test_the_fence_of_an_older_heap(void **state)
{
	struct heap_walk w;
	struct heap h;

	heap_new(&h, 4096);
	chunk(&h, 4096 - 32, true, 4);
	chunk(&h, 16, true, 0);
	set(&h, h.n + 8, 1);
	assert_int_equal(walk(&h, &w, false), HEAP_AT_TOP);
	assert_int_equal(h.used, 1);
	assert_int_equal(w.top_addr, 0);
	free(h.data);
}

/* The data segment may end within a page, of which the rest is zeros. */
static void test_zeros_behind_the_top(void **state)
{
	struct heap_walk w;
	struct heap h;

	heap_new(&h, 8192);
	chunk(&h, 0x1000, true, 0);
	chunk(&h, 0x800, true, 0);
	assert_int_equal(walk(&h, &w, true), HEAP_AT_TOP);
	assert_int_equal(h.used, 1);
	assert_int_equal(w.top_addr, BASE + 0x1000);
	free(h.data);
}

static void test_heads_that_cannot_be(void **state)
{
	static const u64 heads[] = {
		0, 1, 0x10 | USED, 0x29, 0x2000 | USED, UINT64_MAX, UINT64_MAX - 14,
		1ULL << 63 | USED, 0x30 | USED | 2, 0x30 | USED | 4,
	};
	struct heap_walk w;
	struct heap h;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		heap_new(&h, 8192);
		chunk(&h, 0x30, true, 0);
		chunk(&h, 0x40, true, 0);
		set(&h, h.n + 8, heads[i]);
		assert_int_equal(walk(&h, &w, true), HEAP_TORN);
		assert_int_equal(w.end_addr, BASE + 0x70);
		assert_int_equal(w.again_addr, BASE + 0x30);
		assert_int_equal(h.used, 1);
		assert_int_equal(w.retries, 3);
		free(h.data);
	}
}

/* Chunks are counted once, whatever the number of windows and of reads. */
static void test_a_race_is_read_again(void **state)
{
	struct heap_walk w;
	struct heap h;
	u64 n = 3 * HEAP_WINDOW, i;

	heap_new(&h, n);
	for (i = 0; i < n / 0x60 - 1; i++)
		chunk(&h, 0x60, true, 0);
	chunk(&h, n - h.n, true, 0);
	h.torn_reads = 2;
	h.torn_at = 0x60 * 100;
	assert_int_equal(walk(&h, &w, true), HEAP_AT_TOP);
	assert_int_equal(w.retries, 2);
	assert_int_equal(h.calls, n / 0x60 - 1);
	free(h.data);
}

/* The head behind a window did not fit: the window before it is read again. */
static void test_a_race_between_two_windows(void **state)
{
	struct heap_walk w;
	struct heap h;

	heap_new(&h, 2 * HEAP_WINDOW);
	chunk(&h, HEAP_WINDOW - 0x40, true, 0);
	chunk(&h, 0x40, true, 0);
	h.torn_at = h.n;
	chunk(&h, 0x40, true, 0);
	chunk(&h, 2 * HEAP_WINDOW - h.n, true, 0);
	h.torn_reads = 2;
	assert_int_equal(walk(&h, &w, true), HEAP_AT_TOP);
	assert_int_equal(w.retries, 1);
	assert_int_equal(h.calls, 3);
	free(h.data);
}

static void test_a_large_chunk_is_not_read(void **state)
{
	struct heap_walk w;
	struct heap h;

	heap_new(&h, 64 * HEAP_WINDOW);
	chunk(&h, 62 * HEAP_WINDOW, true, 0);
	chunk(&h, 0x40, true, 0);
	chunk(&h, 64 * HEAP_WINDOW - h.n, true, 0);
	assert_int_equal(walk(&h, &w, true), HEAP_AT_TOP);
	assert_int_equal(h.calls, 2);
	assert_true(h.reads <= 3);
	free(h.data);
}

/* The chunk that the first walk could not settle is counted by the next one. */
static void test_a_walk_goes_on_with_the_last_chunk(void **state)
{
	struct heap_walk w;
	struct heap h;
	u64 n = 3 * HEAP_WINDOW, chunks = n / 0x60 - 1, i, bytes;

	heap_new(&h, n);
	for (i = 0; i < chunks; i++)
		chunk(&h, 0x60, true, 0);
	chunk(&h, n - h.n, true, 0);
	for (bytes = HEAP_WINDOW; bytes < 2 * HEAP_WINDOW; bytes += HEAP_WINDOW / 2) {
		h.calls = 0;
		h.unreadable = BASE + bytes;
		assert_int_not_equal(walk(&h, &w, true), HEAP_AT_TOP);
		h.unreadable = 0;
		w.lo = w.again_addr;
		assert_int_equal(heap_walk(&w), HEAP_AT_TOP);
		assert_int_equal(h.calls, chunks);
		assert_int_equal(w.again_addr, BASE + n);
	}
	free(h.data);
}

static void test_memory_that_went_away(void **state)
{
	struct heap_walk w;
	struct heap h;

	heap_new(&h, 4 * 4096);
	chunk(&h, 0x1000, true, 0);
	chunk(&h, 0x1000, true, 0);
	chunk(&h, 2 * 0x1000, true, 0);
	h.unreadable = BASE + 4096;
	assert_int_equal(walk(&h, &w, true), HEAP_TORN);
	h.unreadable = BASE;
	assert_int_equal(walk(&h, &w, true), HEAP_UNREADABLE);
	w.hi = w.lo - 16;
	assert_int_equal(heap_walk(&w), HEAP_UNREADABLE);
	free(h.data);
}

static void test_classes(void **state)
{
	unsigned int id, back;

	assert_int_equal(class_size(class_of_request(0)), 24);
	assert_int_equal(class_size(class_of_request(24)), 24);
	assert_int_equal(class_size(class_of_request(25)), 40);
	assert_int_equal(class_size(class_of_request(48)), 56);
	assert_int_equal(class_least(class_of_request(48)), 41);
	assert_int_equal(class_size(class_of_pool(512)), 512);
	assert_int_equal(class_size(class_of_chunk(1 << 20)), 2 << 20);
	assert_true(class_of_chunk(UINT64_MAX & ~15ULL) < CLASSES);
	for (id = 2; id < CLASSES; id++) {
		assert_true(class_from_size(class_size(id), id >= CLASS_OF_JE, &back));
		assert_int_equal(back, id);
	}
	assert_false(class_from_size(55, false, &back));
	assert_false(class_from_size(55, true, &back));
}

static void test_the_set_of_addresses(void **state)
{
	struct seen *s = seen_new();
	u64 i;

	for (i = 0; i < 5000; i++)
		seen_add(s, BASE + i * 0x7f0010);
	for (i = 0; i < 5000; i++) {
		assert_true(seen_has(s, BASE + i * 0x7f0010));
		assert_false(seen_has(s, BASE + i * 0x7f0010 + 16));
	}
	seen_remove(s, BASE);
	seen_remove(s, 0);
	assert_false(seen_has(s, BASE));
	assert_true(seen_has(s, BASE + 0x7f0010));
	seen_free(s);
}

static void test_samples_are_of_new_blocks(void **state)
{
	struct look *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	unsigned int id = class_of_chunk(64), i;

	look_begin(a, true, NULL);
	for (i = 0; i < 1000; i++)
		look_add(a, id, BASE + 64 * i, 64);
	look_begin(b, false, a->seen);
	for (i = 0; i < 3000; i++)
		look_add(b, id, BASE + 64 * i, 64);
	assert_int_equal(b->c[id].fresh, 2000);
	assert_int_equal(b->c[id].samples, CLASS_SAMPLES);
	for (i = 0; i < CLASS_SAMPLES; i++)
		assert_true(b->c[id].sample[i] >= BASE + 64 * 1000);
	look_remove(b, id, b->c[id].sample[0], 64);
	assert_int_equal(b->c[id].blocks, 2999);
	assert_int_equal(b->c[id].samples, CLASS_SAMPLES - 1);
	look_free(a);
	look_free(b);
	free(a);
	free(b);
}

/* The first look could not walk a part of the heap: what is there may be old. */
static void test_blocks_where_a_look_was_lost_are_no_growth(void **state)
{
	struct look *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	/* before the last range, which is not remembered */
	u64 between = BASE + LOST_RANGES * 0x10000 + 0x9000;
	unsigned int id = class_of_chunk(64), i;
	struct result r = { 0 };

	look_begin(a, true, NULL);
	look_add(a, id, BASE, 64);
	look_add(a, id, between, 64);
	for (i = 1; i <= LOST_RANGES + 1; i++)
		look_lose(a, BASE + i * 0x10000, BASE + i * 0x10000 + 0x8000);
	/* A free block that was not counted is not taken back. */
	look_remove(a, id, BASE + 0x10040, 64);
	assert_int_equal(a->c[id].blocks, 2);
	assert_int_equal(a->torn, LOST_RANGES + 1);
	assert_int_equal(a->torn_bytes, (LOST_RANGES + 1) * 0x8000);
	look_begin(b, false, a->seen);
	b->earlier = a;
	for (i = 0; i < 100; i++)
		look_add(b, id, BASE + 64 * i, 64);
	for (i = 1; i <= LOST_RANGES + 1; i++)
		look_add(b, id, BASE + i * 0x10000, 64);
	look_add(b, id, between, 64);
	look_add(b, id, BASE + 0x10000 + 0x8000, 64);
	look_add(b, id, BASE + 0x10000 + 0x40, 64);
	look_remove(b, id, BASE + 0x10000 + 0x40, 64);
	result_compare(&r, a, b);
	assert_int_equal(r.rows, 1);
	assert_int_equal(r.row[0].blocks, 100 + LOST_RANGES + 1 + 1 + 1);
	assert_int_equal(r.row[0].growth_blocks, 100 + 1);
	assert_int_equal(r.growth, (100 + 1) * 64);
	assert_int_equal(b->c[id].fresh, 100 + 1);
	free(r.row);
	look_free(a);
	look_free(b);
	free(a);
	free(b);
}

static void test_names_of_types(void **state)
{
	static const char *const names[][2] = {
		{ "St23_Sp_counted_ptr_inplaceI5OrderSaIvELN9__gnu_cxx12_Lock_policyE2EE",
		  "std::_Sp_counted_ptr_inplace<Order, std::allocator<void>, "
		  "(__gnu_cxx::_Lock_policy)2>" },
		{ "St4pairIN3app3KeyES1_E", "std::pair<app::Key, app::Key>" },
		{ "7Session", "Session" },
		{ "N3app7SessionE", "app::Session" },
		{ "*N3app7SessionE", "app::Session" },
		{ "N12_GLOBAL__N_14ImplE", "(anonymous namespace)::Impl" },
		{ "St6vectorIiSaIiEE", "std::vector<int, std::allocator<int> >" },
		{ "5CacheIPK3Key3ValLi16EE", "Cache<Key const*, Val, 16>" },
	};
	static const char *const others[] = {
		/* no name at all, or none of a type */
		"99x", "N3app", "", "18446744073709551616x", "_ZTS7Session",
	};
	struct cxx *c = cxx_new();
	char buf[CXX_NAME], much[CXX_NAME + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		assert_true(cxx_type(c, names[i][0], buf));
		assert_string_equal(buf, names[i][1]);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(cxx_type(c, others[i], buf));
	memset(much, 'P', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	assert_false(cxx_type(c, much, buf));
	cxx_free(c);
}

static void test_names_of_functions(void **state)
{
	static const char *const names[][2] = {
		{ "_ZN3app7Session4keepEv", "app::Session::keep()" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back(int const&)" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_ZN4core3fmt5write17h0123456789abcdegE",
		  "core::fmt::write::h0123456789abcdeg" },
	};
	static const char *const others[] = { "main", "", "_Z", "_Zx", "_ZN", "_RNvC1a1b" };
	struct cxx *c = cxx_new();
	char buf[CXX_NAME];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		assert_true(cxx_name(c, names[i][0], buf));
		assert_string_equal(buf, names[i][1]);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(cxx_name(c, others[i], buf));
	cxx_free(c);
}

static void test_names_go_on_when_mappings_are_read_anew(void **state)
{
	struct target t = { .dir = open("/proc/self", O_RDONLY | O_DIRECTORY), .mem = -1 };
	struct cxx *c = target_cxx(&t);
	char buf[CXX_NAME];

	assert_non_null(c);
	assert_int_equal(target_maps(&t), 0);
	assert_ptr_equal(target_cxx(&t), c);
	assert_true(cxx_type(target_cxx(&t), "7Session", buf));
	target_close(&t);
	assert_null(t.cxx);
}

/* Each argument has the one before it twice: 2^60 letters in 700. */
static void test_names_that_stand_for_too_much(void **state)
{
	static char bomb[2 * CXX_NAME] = "_Z1fSt4pairIiiE", deep[CXX_NAME];
	const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct cxx *c = cxx_new();
	char buf[CXX_NAME];
	size_t n = strlen(bomb), i;

	for (i = 0; i < 34; i++)
		n += (size_t)sprintf(bomb + n, "S_IS%c_S%c_E", digits[i], digits[i]);
	assert_false(cxx_name(c, bomb, buf));
	/* The next name has a child of its own. */
	assert_true(cxx_name(c, "_ZN3app4keepEv", buf));
	assert_string_equal(buf, "app::keep()");
	memset(deep, 'P', sizeof(deep) - 1);
	memcpy(deep, "_Z1f", 4);
	cxx_name(c, deep, buf);
	/* Longer ones are left alone. */
	memset(bomb, 'P', sizeof(bomb) - 1);
	memcpy(bomb, "_Z1f", 4);
	assert_false(cxx_name(c, bomb, buf));
	assert_true(cxx_name(c, "_ZN3app4keepEv", buf));
	cxx_free(c);
}

static void test_bombs_do_not_go_on(void **state)
{
	struct cxx *c = cxx_new();
	char bomb[CXX_NAME] = "_Z1fSt4pairIiiE", buf[CXX_NAME];
	const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = strlen(bomb), i;

	for (i = 0; i < 34; i++)
		n += (size_t)sprintf(bomb + n, "S_IS%c_S%c_E", digits[i], digits[i]);
	for (i = 0; i < 6; i++)
		assert_false(cxx_name(c, bomb, buf));
	/* So many children have ended that there are no more. */
	assert_false(cxx_name(c, "_ZN3app4keepEv", buf));
	cxx_free(c);
}

static void test_text_has_no_digits(void **state)
{
	static const unsigned char text[] = "card 1234-5678 is\nold";
	struct content c = { 0 };

	assert_true(content_text(text, sizeof(text), true, &c));
	assert_string_equal(c.name, "card #-# is old");
	assert_true(content_text(text, sizeof(text), false, &c));
	assert_string_equal(c.name, "");
	assert_int_equal(c.kind, CONTENT_TEXT);
	assert_false(content_text((const unsigned char *)"abc\0\0\0\0", 8, true, &c));
	assert_false(content_text((const unsigned char *)"abcdefg\x01", 8, true, &c));
}

/* The kind of what one block of this process holds, and its name with --text */
static enum content_kind content_at(const char *data, size_t n, char *name)
{
	struct target t = { .pid = (u32)getpid() };
	struct content c[CONTENT_KINDS];
	u64 at = (u64)(uintptr_t)data;

	content_of(&t, &at, 1, n, true, c);
	strcpy(name, c[0].name);
	return c[0].kind;
}

static void test_strings_of_redis(void **state)
{
	char name[CONTENT_NAME];

	/* Lengths in five bits, eight and sixteen, and behind the object of a value */
	assert_int_equal(content_at("\xa8session:user:00000077\0", 24, name), CONTENT_TEXT);
	assert_string_equal(name, "session:user:#");
	assert_int_equal(content_at("\x0a\x0c\x01session:77\0\x7f\x7f", 16, name), CONTENT_TEXT);
	assert_string_equal(name, "session:#");
	assert_int_equal(content_at("\x2c\x01\x2d\x01\x02session:77,user", 20, name), CONTENT_TEXT);
	assert_string_equal(name, "session:#,user");
	assert_int_equal(content_at("\x80\1\2\3\4\5\6\7\x08\7\6\5\4\3\2\1\x06\x06\1uvwxyz",
				    26, name), CONTENT_TEXT);
	assert_string_equal(name, "uvwxyz");
	/* Another length than that of the text, or no text, or no room for it */
	assert_int_equal(content_at("\xa0session:user:00000077\0", 24, name), CONTENT_BINARY);
	assert_int_equal(content_at("\xb0session:user:00000077\0", 24, name), CONTENT_BINARY);
	assert_int_equal(content_at("\x0a\x0c\x01sess\1on:77\0\x7f\x7f", 16, name), CONTENT_BINARY);
	assert_int_equal(content_at("\x0a\x0c\x01sess\1", 8, name), CONTENT_BINARY);
}

static bool stopped;
static unsigned int asked;

static bool ask(void *arg)
{
	asked++;
	return stopped;
}

/* By bytes, by time, and soon after a signal */
static void test_a_look_has_a_bound(void **state)
{
	struct target t = { .pid = (u32)getpid() };
	char byte = 1, copy;
	u64 at = (u64)(uintptr_t)&byte;

	(void)state;
	target_bound(&t, 3, 60, ask, NULL);
	assert_true(target_read(&t, at, &copy, 1));
	assert_true(target_read(&t, at, &copy, 1));
	assert_true(target_read(&t, at, &copy, 1));
	assert_false(target_read(&t, at, &copy, 1));
	assert_int_equal(t.err, ETIME);
	assert_true(target_over(&t));
	target_unbound(&t);
	assert_true(target_read(&t, at, &copy, 1));
	target_bound(&t, MIB, 0, ask, NULL);
	assert_false(target_read(&t, at, &copy, 1));
	/* A signal leaves it some seconds, and is asked for now and then. */
	target_bound(&t, MIB, 60, ask, NULL);
	asked = 0;
	assert_true(target_read(&t, at, &copy, 1));
	t.bound.ask_ns = 1;
	assert_true(target_read(&t, at, &copy, 1));
	assert_true(target_read(&t, at, &copy, 1));
	assert_int_equal(asked, 1);
	stopped = true;
	t.bound.ask_ns = 1;
	assert_true(target_read(&t, at, &copy, 1));
	assert_int_equal(asked, 2);
	assert_true(t.bound.end_ns < clock_ns() + 6000000000ULL);
	t.bound.end_ns = clock_ns();
	assert_false(target_read(&t, at, &copy, 1));
	stopped = false;
}

/* A window in which the memory was read has no result; what was read before it does not matter. */
static void test_marks_of_a_reader(void **state)
{
	struct target t = { .pid = (u32)getpid() };
	int lock = cold_open();
	u64 now = clock_ms(), was;
	char byte, copy;
	pid_t other;

	(void)state;
	if (lock < 0)		/* not root */
		skip();
	/* Any other pid may be that of a test that runs at the same time and marks itself. */
	other = fork();
	assert_true(other >= 0);
	if (!other) {
		pause();
		_exit(0);
	}
	assert_true(target_read(&t, (u64)(uintptr_t)&byte, &copy, 1));
	assert_true(t.mark_ms >= now);
	assert_true(cold_was_read(t.pid, now));
	assert_true(cold_was_read(t.pid, t.mark_ms + COLD_MARK_MS));
	assert_false(cold_was_read(t.pid, t.mark_ms + 2 * COLD_MARK_MS));
	assert_false(cold_was_read((u32)other, now));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);

	/* One that reads on marks again once the mark is old. */
	was = t.mark_ms;
	t.mark_ms = now - COLD_MARK_MS;
	target_mark(&t);
	assert_true(t.mark_ms >= was);

	/* A mark of another clock */
	now = clock_ms() + 1000000;
	assert_int_equal(pwrite(lock, &now, sizeof(now), (off_t)t.pid * 8), sizeof(now));
	assert_false(cold_was_read(t.pid, 0));
	close(lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used_free_cached_and_top),
		cmocka_unit_test(test_the_fence_of_an_older_heap),
		cmocka_unit_test(test_zeros_behind_the_top),
		cmocka_unit_test(test_heads_that_cannot_be),
		cmocka_unit_test(test_a_race_is_read_again),
		cmocka_unit_test(test_a_race_between_two_windows),
		cmocka_unit_test(test_a_large_chunk_is_not_read),
		cmocka_unit_test(test_a_walk_goes_on_with_the_last_chunk),
		cmocka_unit_test(test_memory_that_went_away),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_the_set_of_addresses),
		cmocka_unit_test(test_a_look_has_a_bound),
		cmocka_unit_test(test_marks_of_a_reader),
		cmocka_unit_test(test_samples_are_of_new_blocks),
		cmocka_unit_test(test_blocks_where_a_look_was_lost_are_no_growth),
		cmocka_unit_test(test_names_of_types),
		cmocka_unit_test(test_names_of_functions),
		cmocka_unit_test(test_names_go_on_when_mappings_are_read_anew),
		cmocka_unit_test(test_names_that_stand_for_too_much),
		cmocka_unit_test(test_bombs_do_not_go_on),
		cmocka_unit_test(test_text_has_no_digits),
		cmocka_unit_test(test_strings_of_redis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
