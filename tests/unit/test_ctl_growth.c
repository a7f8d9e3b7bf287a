// SPDX-License-Identifier: GPL-2.0
/* seepage where: what the memory of a process grows by, and how wrong that may be */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "where/pages.c"
#undef PAGE
#include "where/growth.c"
#include <cmocka.h>

#define HUGE_BYTES	(HUGE * 4096UL)

static struct target target;
static unsigned char *area;	/* three huge pages, as far as their size goes */
static u64 now;

void *must(void *p)
{
	assert_non_null(p);
	return p;
}

u64 clock_ns(void)
{
	return now += 1000000;
}

bool content_word(struct target *t, u64 word, struct content *c)
{
	return false;
}

bool content_text(const unsigned char *data, size_t n, bool show, struct content *c)
{
	return false;
}

unsigned int content_add(struct content_count *list, unsigned int n, unsigned int max,
			 const struct content *c)
{
	return n;
}

static bool no_huge, no_rollup;	/* what /proc says about the process */

char *procfs_read(int dir, const char *name)
{
	assert_string_equal(name, "smaps_rollup");
	return no_rollup ? NULL : strdup(no_huge ? "x\nAnonHugePages:         0 kB\n" :
					 "x\nAnonHugePages:      2048 kB\n");
}

static u64 bytes_of_target;	/* that were read */

/* The process is this one. */
bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	memcpy(buf, (const void *)(uintptr_t)addr, n);
	bytes_of_target += n;
	return true;
}

int target_maps(struct target *t)
{
	t->map = must(calloc(1, sizeof(*t->map)));
	t->maps = 1;
	*t->map = (struct where_map){ .lo = (u64)(uintptr_t)area, .anon = true, .write = true,
				      .hi = (u64)(uintptr_t)area + 3 * HUGE_BYTES };
	return 0;
}

void target_free_maps(struct target *t)
{
	free(t->map);
	t->map = NULL;
	t->maps = 0;
}

static bool no_pagemap;
int __real_there_open(const struct target *t);
int __wrap_there_open(const struct target *t);

int __wrap_there_open(const struct target *t)
{
	return no_pagemap ? -1 : __real_there_open(t);
}

/* The page map has one source. */
static void without_a_page_map_there_is_no_look(void **state)
{
	struct page_look p;

	target_maps(&target);
	no_pagemap = true;
	assert_int_equal(pages_look(&target, &p, NULL, NULL), -1);
	no_pagemap = false;
	assert_int_equal(pages_look(&target, &p, NULL, NULL), 0);
	target_free_maps(&target);
}

static void a_part_of_a_huge_page_is_used(void **state)
{
	struct seen *first = seen_new(), *second = seen_new();
	struct page_look p;

	target_maps(&target);
	/* All pages of the first two are there, as those of a huge page are. */
	memset(area, 0, 2 * HUGE_BYTES);
	area[0] = 1;
	area[5 * 4096 + 4095] = 1;
	area[2 * HUGE_BYTES] = 0;	/* one page, of its own */
	assert_int_equal(pages_look(&target, &p, first, NULL), 0);
	assert_int_equal(p.present, 3);
	assert_int_equal(bytes_of_target, 2 * HUGE_BYTES);
	/* What was used stays used, as long as it is there, and is not read again with its like. */
	area[5 * 4096 + 4095] = 0;
	memset(area + HUGE_BYTES, 1, HUGE_BYTES);
	assert_int_equal(pages_look(&target, &p, second, first), 0);
	assert_int_equal(p.present, 3 + HUGE);
	assert_int_equal(p.fresh, HUGE);
	bytes_of_target = 0;
	assert_int_equal(pages_look(&target, &p, NULL, second), 0);
	assert_int_equal(p.present, 3 + HUGE);
	assert_int_equal(bytes_of_target, HUGE_BYTES);
	assert_int_equal(madvise(area, HUGE_BYTES, MADV_DONTNEED), 0);
	assert_int_equal(pages_look(&target, &p, NULL, second), 0);
	assert_int_equal(p.present, 1 + HUGE);
	seen_free(first);
	seen_free(second);
	target_free_maps(&target);
}

/* Pages that are small are used, whatever they hold. Where that is not known they are read. */
static void small_pages_are_not_read(void **state)
{
	struct page_look p;

	target_maps(&target);
	memset(area, 0, 2 * HUGE_BYTES);
	bytes_of_target = 0;
	target.huge = false;
	no_huge = true;
	assert_int_equal(pages_look(&target, &p, NULL, NULL), 0);
	assert_in_range(p.present, 2 * HUGE, 3 * HUGE);
	assert_int_equal(bytes_of_target, 0);
	no_rollup = true;
	assert_int_equal(pages_look(&target, &p, NULL, NULL), 0);
	assert_in_range(p.present, 0, HUGE);
	assert_in_range(bytes_of_target, 2 * HUGE_BYTES, 3 * HUGE_BYTES);
	/* From then on zeros are left out. */
	no_rollup = false;
	assert_int_equal(pages_look(&target, &p, NULL, NULL), 0);
	assert_in_range(p.present, 0, HUGE);
	no_huge = false;
	target_free_maps(&target);
}

static void pages_are_counted_again_and_again(void **state)
{
	struct page_series s = { .n = 0 };
	struct trend t;
	unsigned int i;

	memset(area, 0, HUGE_BYTES);
	memset(area + HUGE_BYTES, 0, HUGE_BYTES);
	madvise(area + 2 * HUGE_BYTES, HUGE_BYTES, MADV_DONTNEED);
	series_begin(&s, 8000);
	for (i = 0; i < 90; i++) {
		area[4096UL * i] = 1;
		series_look(&target, &s, true);
		if (i == 40)
			series_mark(&s, 8000);
	}
	/* 41 of the burst are 21 when it ends, and 49 follow: 43 up to the limit, then 22 and 6 */
	assert_int_equal(s.n, 21 + 22 + 6);
	assert_true(s.step > STEP_NS);
	t = series_trend(&s);
	assert_int_equal(t.bytes, 89 * 4096);
	assert_in_range(t.error, 0, t.bytes / 20);
	/* The last one was a moment ago. */
	i = s.n;
	series_look(&target, &s, false);
	assert_int_equal(s.n, i);
	now += 1000000000000;
	series_look(&target, &s, false);
	assert_int_equal(s.n, i + 1);
	assert_int_equal(s.at[i].pages, 90);
	/* The huge pages are split. Their zeros are no growth. */
	no_huge = true;
	series_look(&target, &s, true);
	no_huge = false;
	assert_int_equal(s.at[s.n - 1].pages, 90);
	/* However long a count takes, there are enough of them. */
	series_begin(&s, 8);
	series_look(&target, &s, true);
	assert_in_range(s.next - now, 1, 1000000000);
	assert_null(target.map);
	series_free(&s);
}

/* @n counts, ten seconds apart; in the middle is the end of the burst */
static struct trend trend_of(const u64 *pages, unsigned int n)
{
	struct page_series s = { .n = n };
	unsigned int i;

	for (i = 0; i < n; i++)
		s.at[i] = (struct page_count){ .pages = pages[i], .ns = 10000000000ULL * (i + 1) };
	s.mark = 10000000000ULL * (n / 2 + 1);
	return series_trend(&s);
}

#define TREND(...) \
	trend_of((const u64[]){ __VA_ARGS__ }, sizeof((const u64[]){ __VA_ARGS__ }) / sizeof(u64))

/* A burst of 40 counts, then looks for an hour */
static void long_looks_do_not_forget_the_burst(void **state)
{
	struct page_series s = { .n = 0 };
	unsigned int i;

	memset(area, 0, 2 * HUGE_BYTES);
	series_begin(&s, 6);
	for (i = 0; i < 40; i++) {
		area[4096UL * i] = 1;
		series_look(&target, &s, true);
	}
	series_mark(&s, 3600);
	for (i = 0; i < 3600; i++) {
		area[4096UL * (40 + i / 8)] = 1;
		now += 1000000000;
		series_look(&target, &s, false);
	}
	assert_in_range(s.n, 20 + 6, SERIES);
	assert_true(series_trend(&s).seconds > 3000);
	assert_int_equal(series_trend(&s).burst, 39 * 4096);
	series_free(&s);
}

static void what_growth_is_for_sure(void **state)
{
	struct trend t;

	/* A leak, with the steps of its allocator */
	t = TREND(1000, 1016, 1032, 1048, 1080, 1096, 1112, 1128, 1144);
	assert_int_equal(t.bytes, 144 * 4096);
	assert_int_equal(t.burst, 80 * 4096);
	assert_true(t.error < t.bytes / 2);
	assert_int_equal(t.seconds, 80);
	assert_int_equal(t.burst_seconds, 40);
	/* One that grows ten times as fast when the burst has ended */
	t = TREND(1000, 1010, 1021, 1030, 1040, 1050, 1060, 1160, 1260, 1361, 1460, 1560, 1660);
	assert_true(t.error < t.bytes / 20);
	/* One step, as of a huge page, or of a buffer that became larger */
	t = TREND(1000, 1000, 1512, 1512, 1512, 1512, 1512, 1512, 1512);
	assert_int_equal(t.bytes, 512 * 4096);
	assert_true(t.error > t.bytes);
	t = TREND(1000, 1000, 1000, 1000, 1000, 1000, 1000, 1512, 1512);
	assert_true(t.error > t.bytes);
	/* Up and down */
	t = TREND(1000, 1300, 1010, 1290, 1020, 1310, 1010, 1300, 1200);
	assert_true(t.error > t.bytes);
	/* Warm after a while */
	t = TREND(1000, 1800, 1950, 1990, 2000, 2001, 2001, 2002, 2002);
	assert_true(t.error > t.bytes);
	t = TREND(1000, 1000, 1000, 1000, 1000, 1000, 1000);
	assert_int_equal(t.bytes, 0);
	assert_int_equal(t.error, 0);
	t = TREND(1000, 900, 800, 700, 600, 500, 400);
	assert_int_equal(t.bytes, -600 * 4096);
	/* Too few to know */
	t = TREND(1000, 1100, 1200);
	assert_true(t.seconds == 0);
	t = trend_of(NULL, 0);
	assert_true(t.seconds == 0);
}

static int begin_all(void **state)
{
	unsigned char *p = mmap(NULL, 4 * HUGE_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	area = (unsigned char *)(((uintptr_t)p + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
	madvise(p, 4 * HUGE_BYTES, MADV_NOHUGEPAGE);
	target.dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
	return p == MAP_FAILED || target.dir < 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_page_map_there_is_no_look),
		cmocka_unit_test(a_part_of_a_huge_page_is_used),
		cmocka_unit_test(small_pages_are_not_read),
		cmocka_unit_test(pages_are_counted_again_and_again),
		cmocka_unit_test(long_looks_do_not_forget_the_burst),
		cmocka_unit_test(what_growth_is_for_sure),
	};

	return cmocka_run_group_tests(tests, begin_all, NULL);
}
