// SPDX-License-Identifier: GPL-2.0
/* The share of gained memory that is not used again: smaps, growth, share */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cold/cold.h"
#include <cmocka.h>

#define MB	(1ULL << 20)

static bool read_text(struct cold_look *look, const char *text)
{
	struct cold_reader r;
	char line[256];
	bool fine = true;
	int n;

	cold_begin(&r, look);
	for (; *text && fine; text += n) {
		n = (int)strcspn(text, "\n") + 1;
		snprintf(line, sizeof(line), "%.*s", n, text);
		fine = cold_line(&r, line);
	}
	if (fine)
		cold_end(&r);
	return fine;
}

/* A look with one mapping a line: start, end, size and used in MB */
struct m {
	u64 start, end, size, used;
};

static void look_of(struct cold_look *look, const struct m *m, size_t n)
{
	memset(look, 0, sizeof(*look));
	look->v = calloc(n, sizeof(*look->v));
	look->n = n;
	for (size_t i = 0; i < n; i++)
		look->v[i] = (struct cold_map){ .start = m[i].start * MB, .end = m[i].end * MB,
			.size = m[i].size * MB, .used = m[i].used * MB };
}

#define LOOK(look, ...)	do {						\
	const struct m maps_[] = { __VA_ARGS__ };			\
	look_of(look, maps_, sizeof(maps_) / sizeof(*maps_));		\
} while (0)

static const char text[] =
"559000000000-559000021000 r-xp 00002000 fd:00 1234       /usr/bin/some thing\n"
"Size:                132 kB\n"
"Rss:                 100 kB\n"
"Referenced:          100 kB\n"
"Anonymous:             0 kB\n"
"VmFlags: rd ex mr mw me dw sd\n"
"559000021000-559000031000 rw-p 00023000 fd:00 1234       /usr/bin/some thing\n"
"Rss:                  64 kB\n"
"Referenced:           40 kB\n"
"Anonymous:            24 kB\n"
"Swap:                  8 kB\n"
"55a000000000-55a000400000 rw-p 00000000 00:00 0          [heap]\n"
"Rss:                4000 kB\n"
"Pss:                4000 kB\n"
"Referenced:         1000 kB\n"
"Anonymous:          4000 kB\n"
"AnonHugePages:      2048 kB\n"
"Swap:                 96 kB\n"
"SwapPss:              96 kB\n"
"VmFlags: rd wr mr mw me ac sd\n"
"7f0000000000-7f0000100000 rw-s 00000000 00:01 77         /memfd:cache (deleted)\n"
"Rss:                1024 kB\n"
"Referenced:          512 kB\n"
"Anonymous:             0 kB\n"
"Swap:                  0 kB\n"
"7f0000200000-7f0000300000 rw-s 00000000 fd:00 78         /var/lib/data.mdb\n"
"Rss:                1024 kB\n"
"Referenced:            0 kB\n"
"7f0000400000-7f0000500000 ---p 00000000 00:00 0\n"
"Rss:                   0 kB\n"
"Referenced:            0 kB\n"
"7ffff0000000-7ffff0001000 r-xp 00000000 00:00 0          [vdso]\n"
"Rss:                   4 kB\n"
"Referenced:            0 kB\n";

static void smaps(void **state)
{
	struct cold_look l;

	(void)state;
	assert_true(read_text(&l, text));
	assert_int_equal(l.seen, 7);
	assert_int_equal(l.n, 3);
	/* of a private file what it wrote to: 24 kB and 8 in swap, the rest is the file's */
	assert_string_equal(l.v[0].name, "/usr/bin/some thing");
	assert_int_equal(l.v[0].size, 32 << 10);
	assert_int_equal(l.v[0].used, 0);
	assert_string_equal(l.v[1].name, "[heap]");
	assert_int_equal(l.v[1].start, 0x55a000000000);
	assert_int_equal(l.v[1].end, 0x55a000400000);
	assert_int_equal(l.v[1].size, 4096 << 10);
	assert_int_equal(l.v[1].used, 1000 << 10);
	assert_int_equal(cold_unused(&l.v[1]), 3096 << 10);
	assert_int_equal(l.v[2].size, MB);
	assert_int_equal(l.v[2].used, MB / 2);
	cold_free(&l);
}

/* What is no smaps says nothing; more cannot be referenced than there is. */
static void odd_text(void **state)
{
	struct cold_look l;

	(void)state;
	assert_true(read_text(&l, ""));
	assert_int_equal(l.n, 0);
	assert_true(read_text(&l, "Rss: 10 kB\nno such thing\nRss:\n\n-\n1-0 rw-p 0 0:0 0\n"));
	assert_int_equal(l.seen, 0);
	assert_true(read_text(&l, "1000-2000 rw-p 0 0:0 0\nRss: 4 kB\nReferenced: 8 kB\n"
			      "Rss: 99999999999999999999999 kB\nSwap: 4 kB\nSwap:\n"));
	assert_int_equal(l.n, 0);
	cold_free(&l);
	assert_true(read_text(&l, "1000-2000 rw-p 0 0:0 0\nRss: 4 kB\nReferenced: 8 kB\n"));
	assert_int_equal(l.v[0].used, 4096);
	cold_free(&l);
	/* falling addresses: nothing that compares can be believed */
	assert_false(read_text(&l, "2000-3000 rw-p 0 0:0 0\nRss: 4 kB\n1000-2000 rw-p 0 0:0 0\n"));
	cold_free(&l);
}

static void too_many(void **state)
{
	struct cold_reader r;
	struct cold_look l;
	char line[64];
	unsigned int i;

	(void)state;
	cold_begin(&r, &l);
	for (i = 0; i < COLD_MAPS_MAX; i++) {
		snprintf(line, sizeof(line), "%x000-%x000 rw-p 0 0:0 0\n", i, i + 1);
		assert_true(cold_line(&r, line));
		assert_true(cold_line(&r, "Rss: 4 kB\n"));
	}
	snprintf(line, sizeof(line), "%x000-%x000 rw-p 0 0:0 0\n", i, i + 1);
	assert_false(cold_line(&r, line));
	cold_free(&l);
}

/* A mapping that grew down and up, one that was split, one that is new */
static void overlap(void **state)
{
	struct cold_look was;
	struct cold_map m = { .start = 50 * MB, .end = 400 * MB };
	size_t from = 0;

	(void)state;
	LOOK(&was, { 0, 10, 10, 0 }, { 100, 200, 60, 0 }, { 200, 300, 40, 0 },
	     { 500, 600, 50, 0 });
	assert_int_equal(cold_overlap(&was, &m, &from), 100 * MB);
	m = (struct cold_map){ .start = 450 * MB, .end = 520 * MB };
	assert_int_equal(cold_overlap(&was, &m, &from), 10 * MB);
	m = (struct cold_map){ .start = 520 * MB, .end = 600 * MB };
	assert_int_equal(cold_overlap(&was, &m, &from), 40 * MB);
	m = (struct cold_map){ .start = 600 * MB, .end = 700 * MB };
	assert_int_equal(cold_overlap(&was, &m, &from), 0);
	cold_free(&was);
}

static int weigh(struct cold_look *first, struct cold_look *before, struct cold_look *now,
		 u64 grown, u64 unused)
{
	struct cold_sum s;

	cold_weigh(first, before, now, &s);
	assert_int_equal(s.grown, grown * MB);
	assert_int_equal(s.unused, unused * MB);
	cold_free(first);
	cold_free(before);
	cold_free(now);
	return cold_permille(&s);
}

static void leaks(void **state)
{
	struct cold_look f, b, n;

	(void)state;
	/* 20 MB before the last look, none of them used; 10 MB since, all just written */
	LOOK(&f, { 0, 100, 10, 10 });
	LOOK(&b, { 0, 100, 30, 0 });
	LOOK(&n, { 0, 100, 40, 20 });
	assert_int_equal(weigh(&f, &b, &n, 20, 20), 1000);
	/* a working set */
	LOOK(&f, { 0, 100, 10, 10 });
	LOOK(&b, { 0, 100, 30, 0 });
	LOOK(&n, { 0, 100, 40, 40 });
	assert_int_equal(weigh(&f, &b, &n, 20, 0), 0);
	/* half and half, in mappings that did not exist; others do not count */
	LOOK(&f, { 0, 100, 90, 0 });
	LOOK(&b, { 0, 100, 90, 0 }, { 200, 300, 10, 0 }, { 400, 500, 10, 0 });
	LOOK(&n, { 0, 100, 90, 0 }, { 200, 300, 10, 10 }, { 400, 500, 10, 0 });
	assert_int_equal(weigh(&f, &b, &n, 20, 10), 500);
}

/* What would make a wrong figure, and which side it errs on */
static void limits(void **state)
{
	struct cold_look f, b, n;

	(void)state;
	/* a cold table of 1000 MB in the heap that grew by 20, which is used: said unused */
	LOOK(&f, { 0, 2000, 1000, 0 });
	LOOK(&b, { 0, 2000, 1020, 0 });
	LOOK(&n, { 0, 2000, 1020, 20 });
	assert_int_equal(weigh(&f, &b, &n, 20, 20), 1000);
	/* what was given back since is none that is unused, nor growth */
	LOOK(&f, { 0, 100, 10, 0 });
	LOOK(&b, { 0, 100, 60, 0 });
	LOOK(&n, { 0, 100, 30, 10 });
	assert_int_equal(weigh(&f, &b, &n, 20, 20), 1000);
	LOOK(&f, { 0, 100, 10, 0 });
	LOOK(&b, { 0, 100, 60, 0 });
	LOOK(&n, { 200, 300, 30, 0 });
	assert_int_equal(weigh(&f, &b, &n, 0, 0), -1);
	/* a mapping that was there shrinks, another grows */
	LOOK(&f, { 0, 100, 60, 0 }, { 200, 300, 10, 0 });
	LOOK(&b, { 0, 100, 20, 0 }, { 200, 300, 30, 0 });
	LOOK(&n, { 0, 100, 20, 0 }, { 200, 300, 30, 15 });
	assert_int_equal(weigh(&f, &b, &n, 20, 15), 750);
	/* too little */
	LOOK(&f, { 0, 100, 10, 0 });
	LOOK(&b, { 0, 100, 13, 0 });
	LOOK(&n, { 0, 100, 50, 0 });
	assert_int_equal(weigh(&f, &b, &n, 3, 3), -1);
	/* the second look: nothing grew before the first */
	LOOK(&f, { 0, 100, 10, 10 });
	LOOK(&b, { 0, 100, 10, 10 });
	LOOK(&n, { 0, 100, 90, 80 });
	assert_int_equal(weigh(&f, &b, &n, 0, 0), -1);
}

/* A share that shrinks goes on to, what stays is dead. */
static void foreseen(void **state)
{
	int u, before;

	(void)state;
	assert_int_equal(cold_foresee(-1, 900), -1);
	assert_int_equal(cold_foresee(900, -1), 900);	/* the first one */
	assert_int_equal(cold_foresee(1000, 1000), 1000);
	assert_int_equal(cold_foresee(700, 700), 700);	/* of every page a third is live */
	assert_int_equal(cold_foresee(547, 770), 388);	/* walked through in twice the time */
	assert_int_equal(cold_foresee(900, 300), 900);	/* no more than is unused now */
	assert_int_equal(cold_foresee(0, 500), 0);
	for (u = 0; u <= 1000; u++)
		for (before = 1; before <= 1000; before += 37)
			assert_in_range(cold_foresee(u, before), 0, u);
}

/* Further apart each time, two hours at most; dear looks are rarer. */
static void schedule(void **state)
{
	static const u64 when[] = { 5000, 10000, 20000, 40000, 80000 };
	u64 t = 1000000, at = t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(when) / sizeof(*when); i++) {
		at = cold_next(t, at, 1);
		assert_int_equal(at, t + when[i]);
	}
	at = t + 100 * 3600000ULL;
	assert_int_equal(cold_next(t, at, 1), at + COLD_FAR_MS);
	assert_int_equal(cold_next(t, t + 10, 300), t + 10 + 30000);
	assert_int_equal(cold_next(t, at, 90000), at + 9000000);
}

/* Looks without clearing, at about 1, 5, 30 and 120 s; dear ones later, and fewer. */
static void peeks(void **state)
{
	static const u64 when[] = { 1000, 5000, 30000, 120000, UINT64_MAX };
	u64 at = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(when) / sizeof(*when); i++) {
		assert_true(cold_peek(at, 1) == when[i]);
		at = when[i] + 3;	/* the timer is late */
	}
	assert_int_equal(cold_peek(0, 200), 2000);
	assert_int_equal(cold_peek(2000, 200), 5000);
	assert_int_equal(cold_peek(4000, 200), 6000);
	assert_int_equal(cold_peek(6000, 200), 30000);
	assert_true(cold_peek(120000, 200) == UINT64_MAX);
	assert_int_equal(cold_peek(0, 20000), 200000);
}

static enum cold_rate rate(const struct cold_curve *c)
{
	struct cold_curve more = *c;

	/* What comes later does not change how fast it fell. */
	if (more.n && more.at[more.n - 1].permille < COLD_HALF) {
		cold_add(&more, 7200000, 0);
		assert_int_equal(cold_rate(&more), cold_rate(c));
	}
	return cold_rate(c);
}

#define CURVE(...)	(&(struct cold_curve){				\
	.n = sizeof((struct cold_point[]){ __VA_ARGS__ }) / sizeof(struct cold_point),	\
	.at = { __VA_ARGS__ } })

/*
 * The shares after 5 and 120 s are those of a tree, a cache with 50 % hits and redis. The late
 * ones are all alike.
 */
static void rates(void **state)
{
	const struct cold_curve none = { 0 };

	(void)state;
	assert_int_equal(rate(&none), COLD_NONE);
	/* in use: the share falls by half within 5 s */
	assert_int_equal(rate(CURVE({ 1000, 400 }, { 5000, 10 }, { 120000, 10 })), COLD_FAST);
	assert_int_equal(rate(CURVE({ 1000, 760 }, { 5000, 260 }, { 120000, 10 })), COLD_FAST);
	assert_int_equal(rate(CURVE({ 1000, 720 }, { 5000, 190 }, { 120000, 10 })), COLD_FAST);
	/* a leak that shares pages */
	assert_int_equal(rate(CURVE({ 1000, 960 }, { 5000, 810 }, { 120000, 10 })), COLD_SLOW);
	assert_int_equal(rate(CURVE({ 1000, 970 }, { 5000, 860 }, { 120000, 10 })), COLD_SLOW);
	assert_int_equal(rate(CURVE({ 1000, 910 }, { 5000, 630 }, { 120000, 10 })), COLD_SLOW);
	/* its pages are shared with what is used all the time */
	assert_int_equal(rate(CURVE({ 1000, 10 }, { 5000, 0 })), COLD_AT_ONCE);
	assert_int_equal(rate(CURVE({ 1000, 11 }, { 5000, 0 })), COLD_FAST);
	/* a leak that does not, and a cache that is used every ten minutes */
	assert_int_equal(rate(CURVE({ 1000, 1000 }, { 5000, 1000 }, { 120000, 995 })), COLD_LATE);
	assert_int_equal(rate(CURVE({ 1000, 998 }, { 5000, 992 }, { 120000, 819 },
				    { 240000, 670 }, { 7200000, 0 })), COLD_LATE);
	/* looks that are late: what counts is their time */
	assert_int_equal(rate(CURVE({ 8000, 115 })), COLD_FAST);	/* a half at 4.5 s */
	assert_int_equal(rate(CURVE({ 20000, 115 })), COLD_SLOW);
	assert_int_equal(rate(CURVE({ 20000, 5 })), COLD_AT_ONCE);
	/* the limits */
	assert_int_equal(rate(CURVE({ 5000, 499 })), COLD_FAST);
	assert_int_equal(rate(CURVE({ 5000, 500 }, { 5001, 0 })), COLD_FAST);
	assert_int_equal(rate(CURVE({ 5000, 501 }, { 120000, 499 })), COLD_SLOW);
	assert_int_equal(rate(CURVE({ 1000, 1000 }, { 240000, 11 })), COLD_LATE);
}

/* A fifth look is the last that is kept. */
static void full_curve(void **state)
{
	struct cold_curve c = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 7; i++)
		cold_add(&c, 1000ULL * (u64)i, 1000 - i);
	assert_int_equal(c.n, COLD_POINTS);
	assert_int_equal(c.at[COLD_POINTS - 1].permille, 996);
}

/* A directory of /proc with these files in it, for the next look */
static int place(char *dir, const char *smaps, bool clear_refs)
{
	int at, fd;

	strcpy(dir, "/tmp/seepage-look-XXXXXX");
	assert_non_null(mkdtemp(dir));
	at = open(dir, O_PATH | O_DIRECTORY);
	assert_true(at >= 0);
	if (smaps) {
		fd = openat(at, "smaps", O_CREAT | O_WRONLY, 0600);
		assert_int_equal(write(fd, smaps, strlen(smaps)), strlen(smaps));
		close(fd);
	}
	if (clear_refs)
		close(openat(at, "clear_refs", O_CREAT | O_WRONLY, 0600));
	return at;
}

static void displace(int at, const char *dir)
{
	unlinkat(at, "smaps", 0);
	unlinkat(at, "clear_refs", 0);
	close(at);
	assert_int_equal(rmdir(dir), 0);
}

/* A look that cannot be had frees nothing that is not its own: @look is not set. */
static void failed_looks(void **state)
{
	static const struct {
		const char *smaps;
		bool clear_refs;
		int err;
	} cases[] = {
		{ NULL, true, -ENOENT },	/* the process has ended */
		{ "", true, -ESRCH },		/* it has no memory any more */
		{ text, false, -ENOENT },
		{ text, true, 0 },
	};
	struct cold_look look;
	char dir[32];
	u64 ms;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int at = place(dir, cases[i].smaps, cases[i].clear_refs);

		memset(&look, 0xa5, sizeof(look));
		assert_int_equal(cold_look(at, &look, &ms), cases[i].err);
		assert_int_equal(!look.v, cases[i].err != 0);
		assert_int_equal(!look.n, cases[i].err != 0);
		cold_free(&look);
		displace(at, dir);
	}
}

/* The curve of a process that is older than the curve, and of no other pid */
static void kept(void **state)
{
	static const struct cold_curve c = { .n = 1, .at = { { 1000, 500 } } };
	const u32 pid = (1U << 22) - 1;		/* the last one that there may be */
	u64 now = clock_ms(), mark = 0;
	struct cold_kept k;
	int fd = cold_open();

	(void)state;
	if (fd < 0)	/* not root */
		skip();
	assert_int_equal(pwrite(fd, &now, sizeof(now), (off_t)pid * 8), sizeof(now));
	cold_keep(pid, now, &c);
	assert_true(cold_kept(pid, now, &k));
	assert_int_equal(k.time_ms, now);
	assert_memory_equal(&k.curve, &c, sizeof(c));
	assert_false(cold_kept(pid, now + 1, &k));	/* that of an earlier process */
	assert_false(cold_kept(pid - 4096, now, &k));	/* the same place */
	assert_false(cold_kept(pid - 1, now, &k));
	cold_keep(pid, now + 3600000, &c);	/* another clock */
	assert_false(cold_kept(pid, 0, &k));
	cold_keep(pid, now, &(struct cold_curve){ .n = COLD_POINTS + 1 });	/* damaged */
	assert_false(cold_kept(pid, 0, &k));
	/* the mark before it is as it was */
	assert_int_equal(pread(fd, &mark, sizeof(mark), (off_t)pid * 8), sizeof(mark));
	assert_int_equal(mark, now);
	mark = 0;
	assert_int_equal(pwrite(fd, &mark, sizeof(mark), (off_t)pid * 8), sizeof(mark));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smaps), cmocka_unit_test(odd_text),
		cmocka_unit_test(too_many), cmocka_unit_test(overlap),
		cmocka_unit_test(leaks), cmocka_unit_test(limits), cmocka_unit_test(schedule),
		cmocka_unit_test(foreseen), cmocka_unit_test(peeks), cmocka_unit_test(rates),
		cmocka_unit_test(kept), cmocka_unit_test(full_curve),
		cmocka_unit_test(failed_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
