// SPDX-License-Identifier: GPL-2.0
/* seepage where: rounds of probes at call sites, what is kept of them, and what ends them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "where/siteprobe.c"
#include <cmocka.h>

/* What each round has: a hit of each probe */
static u64 head;		/* of the chunk of each block */
static u32 more_traps;		/* of the second probe */
static u32 reason;		/* of its end */
static int refusal;
static u64 now;			/* in ns */
static unsigned int rounds, probes;	/* that began; of the last one */
static bool alive, stopped, rated;	/* rated: rates are measured */

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_close(int fd);

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct seepage_where_sites *counts;
	va_list args;
	unsigned int i;

	va_start(args, request);
	if (request == SEEPAGE_WHERE_STATUS)
		*va_arg(args, struct seepage_where_status *) = (struct seepage_where_status){
			.reason = reason, .traps = probes, .matched = probes,
			.armed_ns = 1000000000, .error_probe = 1 };
	if (request == SEEPAGE_WHERE_SITES) {
		counts = va_arg(args, struct seepage_where_sites *);
		for (i = 0; i < probes; i++)
			counts->traps[i] = 1 + (i == 1 ? more_traps : 0);
	}
	va_end(args);
	return 0;
}

int __wrap_fcntl(int fd, int command, ...)
{
	return 0;
}

int __wrap_close(int fd)
{
	return 0;
}

u64 clock_ns(void)
{
	return now;
}

bool target_alive(const struct target *t)
{
	return alive;
}

u64 target_start_ticks(const struct target *t)
{
	return 77;
}

bool target_read(struct target *t, u64 addr, void *buf, size_t n)
{
	memcpy(buf, &head, n);
	return true;
}

bool block_read(struct target *t, const struct bins *bins, u64 addr, u64 size, u64 *chunk,
		struct early *e)
{
	return addr != 0x2000;
}

int burst_open(const char **why)
{
	return 5;
}

int burst_start(int fd, const struct seepage_where_start *how)
{
	u32 i;

	if (refusal)
		return refusal;
	rounds++;
	probes = how->probes;
	assert_int_equal(how->probe_traps, rated ? 5000 : 1000);
	assert_int_equal(how->start_ticks, 77);
	assert_true(how->ms && how->ms <= SEEPAGE_WHERE_MS && how->traps);
	for (i = 0; i < how->probes; i++)
		assert_int_equal(how->probe[i].kind, SEEPAGE_WHERE_SITE);
	return 0;
}

static unsigned int rivals, released;

void callsites_rivals(const struct survivors *v, struct callsites *c)
{
	for (c->n = 0; c->n < rivals; c->n++)
		c->site[c->n].site = 2 - c->n;
}

void callsites_close(struct callsites *c)
{
	released += c->n;
	c->n = 0;
}

void burst_free(struct burst *b)
{
	free(b->s);
}

void samples_read(int fd, const struct probes *p, size_t most, struct burst *b)
{
	u32 i;

	b->s = realloc(b->s, (b->n + 2 * p->n) * sizeof(*b->s));
	for (i = 0; i < p->n; i++)
		b->s[b->n++] = (struct seepage_where_sample){
			.addr = 0x1000 + 0x1000 * i, .probe = i, .ns = 7,
		};
	/* The same again, a second later */
	for (i = 0; rated && i < p->n; i++) {
		b->s[b->n] = b->s[i];
		b->s[b->n++].ns += 1000000000;
	}
}

void samples_read_blocks(struct target *t, const struct bins *bins, struct burst *b, size_t had)
{
}

void samples_unwind(struct burst *b, size_t had)
{
}

static bool wait_not(void *arg, u64 ms, int fd)
{
	now += ms * 1000000;
	return !stopped;
}

/* Takes samples of two sites in a class of 3993 to 4008 bytes. */
static void take(struct callsites *c, enum block_rule rule, struct burst *b)
{
	const struct burst_limits l = { .samples = 10, .traps = 100, .seconds = 10 };
	struct target t = { .pid = 1 };
	struct bins bins = { .rule = rule };

	*c = (struct callsites){ .n = 2, .lo = 3993, .hi = 4008 };
	*b = (struct burst){ .n = 0 };
	rounds = 0;
	alive = true;
	callsites_take(&t, &bins, c, &l, wait_not, NULL, b);
	assert_ptr_equal(b->at, c);
	assert_int_equal(b->sites_ns, rounds * 1000000000ULL);
}

static void until_five_blocks_of_each(void **state)
{
	struct callsites c;
	struct burst b;

	head = 4016 | 1;
	take(&c, BLOCK_CHUNK, &b);
	assert_int_equal(rounds, 5);
	assert_int_equal(c.blocks, 10);
	assert_int_equal(c.traps, 10);
	assert_int_equal(b.n, 10);
	assert_int_equal(b.s[1].probe, 1);
	assert_int_equal(b.s[0].size, 4008);
	assert_string_equal(c.end, "five blocks of each");
	free(b.s);
	/* A chunk that is 16 bytes larger than it has to be */
	head = 4032 | 1;
	take(&c, BLOCK_CHUNK, &b);
	assert_int_equal(b.s[0].size, 4008);
	free(b.s);
	/* Without heads of chunks: one of the two is no block. */
	take(&c, BLOCK_BITMAP, &b);
	assert_int_equal(c.site[0].blocks, c.blocks);
	assert_int_equal(c.site[1].blocks, 0);
	free(b.s);
}

static void other_classes_do_not_count(void **state)
{
	static const u64 heads[] = { 0, 4000 | 1, 4048 | 1, 8192 | 1 };
	struct callsites c;
	struct burst b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		head = heads[i];
		take(&c, BLOCK_CHUNK, &b);
		assert_int_equal(c.blocks, 0);
		assert_int_equal(b.n, 0);
		/* Five times ten seconds, a round of a second for each hit */
		assert_in_range(rounds, 45, 50);
		assert_string_equal(c.end, "its number of traps");
		free(b.s);
	}
}

static void one_that_is_hot_or_refused_has_no_probe(void **state)
{
	struct callsites c;
	struct burst b;

	head = 4016 | 1;
	more_traps = 1000;
	take(&c, BLOCK_CHUNK, &b);
	assert_true(c.site[1].done && !c.site[0].done);
	assert_int_equal(c.hot, 1);
	assert_int_equal(c.blocks, 6);
	assert_string_equal(c.end, "five blocks of each");
	free(b.s);
	more_traps = 0;
	reason = SEEPAGE_WHERE_BY_ERROR;
	take(&c, BLOCK_CHUNK, &b);
	assert_true(c.site[1].done);
	assert_int_equal(c.refused, 1);
	reason = 0;
	free(b.s);
}

static void what_ends_it(void **state)
{
	struct callsites c;
	struct burst b;

	head = 4016 | 1;
	refusal = EBUSY;
	take(&c, BLOCK_CHUNK, &b);
	assert_string_equal(c.end, "another burst");
	refusal = ESRCH;
	take(&c, BLOCK_CHUNK, &b);
	assert_string_equal(c.end, "the end of the process, or its exec");
	refusal = 0;
	stopped = true;
	take(&c, BLOCK_CHUNK, &b);
	assert_int_equal(rounds, 1);
	assert_string_equal(c.end, "a signal");
	stopped = false;
	free(b.s);
}

/* Of two of three sites; the second probe is behind a call that returns no block of the class. */
static void rates_are_measured_at_the_calls_alone(void **state)
{
	const struct burst_limits l = { .samples = 10, .traps = 1000, .seconds = 60,
					.lo = 3993, .hi = 4008 };
	struct target t = { .pid = 1 };
	struct bins bins = { .rule = BLOCK_BITMAP };
	struct site site[3] = { 0 };
	struct survivors v = { .site = site, .sites = 3 };
	bool is;

	alive = true;
	rounds = 0;
	rivals = 2;
	more_traps = 0;
	rated = true;
	assert_int_equal(callsites_measure(&t, &bins, &l, wait_not, NULL, &v, &is), 2);
	assert_true(is);
	assert_int_equal(rounds, 1);
	assert_int_equal(v.measured_rounds, BURST_ROUNDS);
	assert_true(v.measured_seconds[9] == 0.1);
	assert_true(site[2].is_measured && site[1].is_measured && !site[0].is_measured);
	/* Of two traps one in four drawn hits is in the first tenth, one in the last one. */
	assert_true(site[2].measured[0] == 0.5 && site[2].measured[9] == 0.5);
	assert_true(site[2].measured[5] == 0 && site[1].measured[0] == 0);
	assert_int_equal(released, 2);
	refusal = EBUSY;
	v = (struct survivors){ .site = site, .sites = 3 };
	assert_int_equal(callsites_measure(&t, &bins, &l, wait_not, NULL, &v, &is), 0);
	assert_false(is);
	refusal = 0;
	reason = SEEPAGE_WHERE_BY_ERROR;
	callsites_measure(&t, &bins, &l, wait_not, NULL, &v, &is);
	assert_false(is);
	reason = 0;
	rivals = 0;
	rounds = 0;
	assert_int_equal(callsites_measure(&t, &bins, &l, wait_not, NULL, &v, &is), 0);
	assert_int_equal(rounds, 0);
	rated = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(until_five_blocks_of_each),
		cmocka_unit_test(other_classes_do_not_count),
		cmocka_unit_test(one_that_is_hot_or_refused_has_no_probe),
		cmocka_unit_test(what_ends_it),
		cmocka_unit_test(rates_are_measured_at_the_calls_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
