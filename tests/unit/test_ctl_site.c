// SPDX-License-Identifier: GPL-2.0
/*
 * seepage where --burst: which sampled blocks stay. A burst over a device that is made up, of a
 * program that is a buffer here: one site leaks, and the blocks of another are freed, so that the
 * leak takes their places before the burst has ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "where/burst.h"
#include <cmocka.h>

#define CHUNK	80U
#define SIZE	64U
#define EACH	4U	/* blocks of each site in a round */
#define MOST	64U
#define CHURN	0x1000U	/* pc of a site */
#define LEAK	0x2000U

/* The device: a burst of a round ends at once. */
static struct seepage_where_sample sample[2 * EACH];
static size_t unread;
int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
ssize_t __wrap_read(int fd, void *buf, size_t n);

int __wrap_open(const char *path, int flags, ...)
{
	return dup(2);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct seepage_where_status *s;
	va_list ap;

	va_start(ap, request);
	s = va_arg(ap, void *);
	va_end(ap);
	if (request == SEEPAGE_WHERE_STATUS)
		*s = (struct seepage_where_status){ .reason = SEEPAGE_WHERE_BY_TIME };
	return 0;
}

ssize_t __wrap_read(int fd, void *buf, size_t n)
{
	size_t bytes = unread * sizeof(*sample);

	assert_true(bytes <= n);
	memcpy(buf, sample, bytes);
	unread = 0;
	return (ssize_t)bytes;
}

/* The program. */
static struct {
	unsigned char heap[(MOST + 1) * CHUNK];
	unsigned int chunks;		/* used so far */
	unsigned int churn[MOST], churns, taken;	/* chunks of the site; the first are taken */
	unsigned int leak[MOST], leaks;
	bool filling;			/* what was sampled last is to be filled in */
	bool keeps_churn;		/* the places of the site are not taken */
	bool as_tables;			/* what leaks is filled in much later, but for its head */
} program;

bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	u64 at = addr - (u64)(uintptr_t)program.heap;

	if (at > sizeof(program.heap) || n > sizeof(program.heap) - at)
		return false;
	memcpy(buf, program.heap + at, n);
	return true;
}

u64 target_start_ticks(const struct target *t)
{
	return 1;
}

unsigned int unwind(struct unwinder *u, const struct seepage_where_sample *s, struct frame *f)
{
	f[0] = (struct frame){ .pc = 1 };
	f[1] = (struct frame){ .pc = s->regs[0] };
	return 2;
}

struct json_object *unwind_frame_json(struct unwinder *u, const struct frame *f)
{
	return json_object_new_uint64(f->pc);
}

static unsigned char *block(unsigned int i)
{
	return program.heap + i * CHUNK + 16;
}

/* A block of a site is allocated and sampled: it holds nothing yet. */
static unsigned int allocate(u64 site)
{
	unsigned int i = program.chunks++;

	assert_true(i < MOST);
	sample[unread++] = (struct seepage_where_sample){
		.ns = i, .size = SIZE, .addr = (u64)(uintptr_t)block(i), .regs = { site },
	};
	return i;
}

static void fill(unsigned int i, bool leaks)
{
	memset(block(i), leaks ? 0x11 : 0x80 + (int)i, SIZE);
	if (leaks && program.as_tables)
		memset(block(i) + 8, 0, SIZE - 8);
}

/* The leak takes the places of blocks that were freed. */
static void take_places(void)
{
	for (; !program.keeps_churn && program.taken < program.churns; program.taken++)
		fill(program.churn[program.taken], true);
}

/* A round; some ms, in which blocks are filled in; the time between two rounds. */
static bool run(void *arg, u64 ms, int fd)
{
	unsigned int i;

	if (fd >= 0) {
		for (i = 0; i < EACH; i++) {
			program.churn[program.churns++] = allocate(CHURN);
			program.leak[program.leaks++] = allocate(LEAK);
		}
		program.filling = true;
	} else if (program.filling) {
		for (i = 1; i <= EACH; i++) {
			fill(program.churn[program.churns - i], false);
			fill(program.leak[program.leaks - i], true);
		}
		program.filling = false;
	} else {
		take_places();
	}
	return true;
}

static struct burst burst;

/* A burst of five rounds. */
static void sampled(bool keeps_churn, bool as_tables)
{
	static const struct probes probes = { .n = 1 };
	static const struct burst_limits limits = { .samples = 10 * EACH, .traps = 1000 };
	struct target t = { .pid = 1 };
	u64 head = CHUNK | 1;

	memset(&program, 0, sizeof(program));
	program.keeps_churn = keeps_churn;
	program.as_tables = as_tables;
	for (unsigned int i = 0; i <= MOST; i++)
		memcpy(program.heap + i * CHUNK + 8, &head, sizeof(head));
	assert_int_equal(burst_take(&t, &probes, &limits, run, NULL, &burst), 0);
	assert_int_equal(burst.n, 10 * EACH);
	take_places();
}

/* Two looks. Returns the sites that are named, by the pc of each. */
static unsigned int looked(u64 *pc, unsigned int most)
{
	static const struct bins bins;
	struct result r = { .sites = json_object_new_array() };
	struct target t = { .pid = 1 };
	struct survivors *v = survivors_new(&t, &bins, NULL, &burst);
	unsigned int n, i;

	survivors_look(v);
	if (program.as_tables)
		for (i = 0; i < program.leaks; i++)
			memset(block(program.leak[i]) + 8, 0x22, 16);
	survivors_look(v);
	survivors_sites(v, &r, 3600, 10);
	n = (unsigned int)json_object_array_length(r.sites);
	for (i = 0; i < n && i < most; i++) {
		struct json_object *site = json_object_array_get_idx(r.sites, i);

		pc[i] = json_object_get_uint64(json_object_array_get_idx(
			json_object_object_get(site, "stack"), 0));
	}
	survivors_free(v);
	json_object_put(r.sites);
	burst_free(&burst);
	return n;
}

static void test_places_that_a_leak_took(void **state)
{
	u64 pc[2];

	sampled(false, false);
	assert_int_equal(looked(pc, 2), 1);
	assert_int_equal(pc[0], LEAK);
}

static void test_blocks_are_read_soon(void **state)
{
	u64 pc[2];

	sampled(false, false);
	for (size_t i = 0; i < burst.n; i++) {
		unsigned int at = (unsigned int)burst.s[i].ns;

		assert_int_equal(burst.early[i].bytes, SIZE);
		assert_int_equal(burst.early[i].data[20],
				 burst.s[i].regs[0] == LEAK ? 0x11 : 0x80 + at);
	}
	looked(pc, 2);
}

static void test_both_stay(void **state)
{
	u64 pc[2];

	sampled(true, false);
	assert_int_equal(looked(pc, 2), 2);
}

static void test_tables_are_filled_in_later(void **state)
{
	u64 pc[2];

	sampled(true, true);
	assert_int_equal(looked(pc, 2), 2);
}

static void test_blocks_that_could_not_be_read_soon(void **state)
{
	u64 pc[2];

	sampled(true, false);
	for (size_t i = 0; i < burst.n; i++)
		burst.early[i].bytes = 0;
	assert_int_equal(looked(pc, 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_that_a_leak_took),
		cmocka_unit_test(test_blocks_are_read_soon),
		cmocka_unit_test(test_both_stay),
		cmocka_unit_test(test_tables_are_filled_in_later),
		cmocka_unit_test(test_blocks_that_could_not_be_read_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
