// SPDX-License-Identifier: GPL-2.0
/* seepage where: which call sites get a probe, and the stacks of their hits */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "where/callsite.h"
#include <cmocka.h>

static char said[400];
static struct where_map map = { .lo = 0x1000, .hi = 0x9000, .offset = 0x500, .exec = true };
static bool behind_call = true;
static int opened;

void result_note(struct result *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
}

const struct where_map *target_at(const struct target *t, u64 addr)
{
	return addr >= map.lo && addr < map.hi ? &map : NULL;
}

int map_open(const struct target *t, const struct where_map *m)
{
	opened++;
	return dup(0);
}

bool probe_follows_call(int fd, u64 offset)
{
	return behind_call;
}

static struct site sites[8];
static struct survivors v = { .site = sites };

/* A site of which @alive of @seen blocks stay, with up to four frames */
static struct site *site(unsigned int alive, unsigned int seen, u64 a, u64 b, u64 c, u64 d)
{
	struct site *s = &sites[v.sites++];

	*s = (struct site){
		.all = { .samples = seen, .alive = alive },
		.frame = { { .pc = a }, { .pc = b }, { .pc = c }, { .pc = d }, { .pc = 0x8000 } },
		.frames = 5,
	};
	return s;
}

static void begin(void)
{
	v.sites = 0;
	behind_call = true;
	map.file = (char *)"/program";
	map.exec = true;
}

static void those_whose_few_blocks_all_stay(void **state)
{
	struct callsites c = { .n = 0 };

	begin();
	site(0, 300, 0x1100, 0x1200, 0x1300, 0x1400);
	site(1, 1, 0x2100, 0x2200, 0x2300, 0x2400);
	site(1, 2, 0x3100, 0x3200, 0x3300, 0x3400);
	site(5, 5, 0x4100, 0x4200, 0x4300, 0x4400)->named = true;
	site(1, 1, 0x5100, 0x5200, 0x5300, 0x5400)->grows = true;
	callsites_find(&v, &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.site[0].at, 0);
	assert_int_equal(c.site[0].offset, 0x2100 - 0x1000 + 0x500);
	callsites_close(&c);
	assert_int_equal(c.n, 0);
}

static void behind_the_call_of_a_helper_that_others_use(void **state)
{
	struct frame f[FRAMES_MAX] = { { .pc = 0x2200, .activation = true }, { .pc = 0x8000 } };
	struct callsites c = { .n = 0 };

	begin();
	site(0, 300, 0x2100, 0x3200, 0x3300, 0x3400);
	site(1, 1, 0x2100, 0x2200, 0x2300, 0x2400);
	callsites_find(&v, &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.site[0].at, 1);
	assert_int_equal(c.site[0].offset, 0x2200 - 0x1000 + 0x500);
	assert_int_equal(callsites_stack(&c.site[0], f, 2), 3);
	assert_true(f[0].pc == 0x2100 && f[1].pc == 0x2200 && f[2].pc == 0x8000);
	assert_false(f[1].activation);
	assert_int_equal(callsites_stack(&c.site[0], f, 0), 0);
	assert_int_equal(callsites_stack(&c.site[0], f, FRAMES_MAX), FRAMES_MAX);
	callsites_close(&c);
	/* All of what is near is shared. */
	begin();
	site(0, 300, 0x2100, 0x2200, 0x2300, 0x2400);
	site(1, 1, 0x2100, 0x2200, 0x2300, 0x2400);
	callsites_find(&v, &c);
	assert_int_equal(c.n, 0);
	/* Two of them share one probe, and there are four at most. */
	begin();
	site(1, 1, 0x2100, 0x2200, 0x2300, 0x2400);
	site(1, 1, 0x2100, 0x3200, 0x3300, 0x3400);
	callsites_find(&v, &c);
	assert_int_equal(c.n, 1);
	callsites_close(&c);
	site(1, 1, 0x4100, 0x3200, 0x3300, 0x3400);
	site(1, 1, 0x4200, 0x3200, 0x3300, 0x3400);
	site(1, 1, 0x4300, 0x3200, 0x3300, 0x3400);
	site(1, 1, 0x4400, 0x3200, 0x3300, 0x3400);
	callsites_find(&v, &c);
	assert_int_equal(c.n, CALLSITES);
	callsites_close(&c);
}

static void only_in_the_code_of_files_behind_a_call(void **state)
{
	struct callsites c = { .n = 0 };
	struct site *s;

	begin();
	s = site(1, 1, 0x2100, 0x2200, 0x2300, 0x2400);
	behind_call = false;
	callsites_find(&v, &c);
	assert_int_equal(c.n, 0);
	behind_call = true;
	map.exec = false;
	callsites_find(&v, &c);
	assert_int_equal(c.n, 0);
	map.exec = true;
	map.file = NULL;
	opened = 0;
	callsites_find(&v, &c);
	assert_int_equal(c.n + (unsigned int)opened, 0);
	map.file = (char *)"/program";
	s->frame[0].pc = 0x9000;
	callsites_find(&v, &c);
	assert_int_equal(c.n, 0);
	s->frame[0].pc = 0x2100;
	s->frame[0].python = 1;
	callsites_find(&v, &c);
	assert_int_equal(c.n, 0);
}

/* Each at a call that is its own; one that shares all of what is near is not measured. */
static void rivals_are_told_from_all_others(void **state)
{
	struct callsites c = { .n = 0 };

	begin();
	site(0, 300, 0x1100, 0x1200, 0x1300, 0x1400);
	site(9, 9, 0x2100, 0x2200, 0x2300, 0x2400)->named = true;
	site(9, 9, 0x1100, 0x3200, 0x3300, 0x3400)->named = true;
	site(9, 9, 0x4100, 0x4200, 0x4300, 0x4400);
	callsites_rivals(&v, &c);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.site[0].site, 1);
	assert_int_equal(c.site[0].offset, 0x2100 - 0x1000 + 0x500);
	assert_int_equal(c.site[1].site, 2);
	assert_int_equal(c.site[1].at, 1);
	callsites_close(&c);
	begin();
	site(0, 300, 0x1100, 0x1200, 0x1300, 0x1400);
	site(9, 9, 0x1100, 0x1200, 0x1300, 0x1400)->named = true;
	callsites_rivals(&v, &c);
	assert_int_equal(c.n, 0);
	begin();
	site(9, 9, 0x1100, 0x1200, 0x1300, 0x1400)->named = true;
	sites[0].frame[0].python = 1;
	callsites_rivals(&v, &c);
	assert_int_equal(c.n, 0);
}

static void what_it_says(void **state)
{
	struct callsites c = { .n = 2, .blocks = 11, .traps = 12, .end = "its time" };

	callsites_note(&c, 40000000000, NULL);
	assert_string_equal(said, "probes at 2 call sites for 40 s: 11 blocks of the class, "
			    "12 traps; ended by its time");
	c.end = "five blocks of each";
	c.n = 1;
	callsites_note(&c, 40000000000, NULL);
	assert_string_equal(said, "probes at 1 call site for 40 s: 11 blocks of the class, "
			    "12 traps; ended by five blocks of each");
	c.hot = 1;
	callsites_note(&c, 40000000000, NULL);
	assert_string_equal(said, "probes: 1 of the call sites is called too often, also for other "
			    "sizes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_whose_few_blocks_all_stay),
		cmocka_unit_test(behind_the_call_of_a_helper_that_others_use),
		cmocka_unit_test(only_in_the_code_of_files_behind_a_call),
		cmocka_unit_test(rivals_are_told_from_all_others),
		cmocka_unit_test(what_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
