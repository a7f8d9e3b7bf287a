// SPDX-License-Identifier: GPL-2.0
/* seepage where: the heap profile of Go, which the process may have forged */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "where/go.c"
#include <cmocka.h>

#define AT	0x1000ULL	/* of the bucket */
#define RATE	524288ULL

static u64 list = AT, rate = RATE;
static u64 words[HEAD_WORDS + 4] = { 0, 0, KIND_MEMORY };	/* no frames, then the counts */

void *must(void *p)
{
	assert_non_null(p);
	return p;
}

bool symbol_find(struct target *t, const char *name, u64 *addr)
{
	*addr = (u64)(uintptr_t)(strcmp(name, "runtime.mbuckets") ? &rate : &list);
	return true;
}

bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	const char *from = (const char *)(uintptr_t)addr;

	if (addr >= AT && addr + n <= AT + sizeof(words))
		from = (const char *)words + (addr - AT);
	memcpy(buf, from, n);
	return true;
}

void profile_add(struct profile *p, const struct profile_site *s)
{
	p->site = must(realloc(p->site, (p->n + 1) * sizeof(*s)));
	p->site[p->n++] = *s;
	p->bytes += s->bytes;
}

const struct where_map *target_at(const struct target *t, u64 addr)
{
	return NULL;
}

/* The one bucket of the profile */
static struct profile_site look(u64 blocks, u64 bytes)
{
	struct profile p = { 0 };
	struct target t = { 0 };
	struct profile_site s;

	words[HEAD_WORDS] = blocks + 5;
	words[HEAD_WORDS + 1] = 5;
	words[HEAD_WORDS + 2] = bytes + 500;
	words[HEAD_WORDS + 3] = 500;
	assert_true(go_look(&t, &p));
	assert_int_equal(p.n, 1);
	assert_int_equal(p.bytes, p.site[0].bytes);
	s = p.site[0];
	free(p.site);
	return s;
}

static void samples_stand_for_all_blocks(void **state)
{
	struct profile_site s = look(10, 10 * 16 * RATE);

	assert_int_equal(s.samples, 10);
	assert_int_equal(s.blocks, 10);
	/* A block of 64 bytes is one of 8192 or so. */
	s = look(3, 3 * 64);
	assert_int_equal(s.samples, 3);
	assert_in_range(s.blocks, 3 * 8192, 3 * 8200);
	assert_in_range(s.bytes, 64 * s.blocks, 64 * (s.blocks + 1));
}

static void counts_that_cannot_be_are_none(void **state)
{
	static const u64 forged[][3] = {
		{ 1, 0, RATE }, { 1ULL << 47, 1, (1ULL << 40) - 1 }, { 1ULL << 40, 1, RATE },
	};
	struct profile_site s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forged); i++) {
		rate = forged[i][2];
		s = look(forged[i][0], forged[i][1]);
		assert_int_equal(s.samples, 0);
		assert_int_equal(s.blocks, 0);
		assert_int_equal(s.bytes, 0);
	}
	rate = RATE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_stand_for_all_blocks),
		cmocka_unit_test(counts_that_cannot_be_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
