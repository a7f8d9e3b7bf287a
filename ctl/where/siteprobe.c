// SPDX-License-Identifier: GPL-2.0
/*
 * Takes samples at call sites, through /dev/seepage_where. A round ends soon after its first hit,
 * so that its blocks are read before others may take their places, and the next one begins. All
 * of it ends when enough blocks were seen, or after some times the seconds of a burst.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "where/callsite.h"

#define ROUNDS		64U
#define TIMES		5U	/* as long as a burst, at most */
#define ENOUGH		5U	/* blocks of a site: it can be judged */
#define TRAPS		1000U	/* of a site in a round; one with more is hot */
#define LATEST		64U	/* samples of a round that are kept by address */
#define ROUND_MS	1000U	/* of a round with a hit, at least */
#define TICK_MS		200U
#define FILL_MS		20	/* in which most blocks are filled in */
#define HEAD		16U
#define RATE_S		10U	/* in which the rates of sites are measured, at most; */
#define RATE_TRAPS	5000U
#define RATE_SAMPLES	1024U
#define GONE		"the end of the process, or its exec"

struct takes {
	struct target *t;
	const struct bins *bins;
	struct callsites *c;
	const struct burst_limits *l;
	bool (*wait)(void *arg, u64 ms, int fd);
	void *arg;
	struct probes p;	/* of a round */
	unsigned int of[CALLSITES];	/* the site of each */
	u64 end;		/* in ns */
	bool stop;		/* after a signal */
};

/*
 * What a program may have asked for of the block at @addr: a size of the class, or 0 if it is none
 * of it. The head of its chunk tells; glibc may give a chunk with 16 bytes more.
 */
static u64 size_of(const struct takes *k, u64 addr)
{
	u64 head, room;
	struct early now;

	if (k->bins->rule != BLOCK_CHUNK || k->bins->mallocng)
		return block_read(k->t, k->bins, addr, k->c->hi, &head, &now) ? k->c->hi : 0;
	if (addr < HEAD || addr % HEAD || !target_read(k->t, addr - 8, &head, sizeof(head)))
		return 0;
	room = (head & ~7ULL) - (head & 2 ? HEAD : 8);
	if (room < k->c->lo || room > k->c->hi + HEAD)
		return 0;
	return room < k->c->hi ? room : k->c->hi;
}

/* Keeps of the samples of a round those of the class, with their sizes and sites. */
static void keep_class(struct takes *k, struct burst *b, size_t had)
{
	size_t n = had, i;
	u64 size;

	for (i = had; i < b->n; i++) {
		size = size_of(k, b->s[i].addr);
		if (!size)
			continue;
		b->s[n] = b->s[i];
		b->s[n].size = size;
		b->s[n].first_size = size;
		b->s[n].probe = k->of[b->s[i].probe];
		k->c->site[b->s[n].probe].blocks++;
		n++;
	}
	k->c->blocks += n - had;
	b->n = n;
}

/* Waits for the end of the round, and for its status. */
static void wait_end(struct takes *k, int fd, u32 ms, struct seepage_where_status *s)
{
	u64 begin = clock_ns(), passed = 0;

	memset(s, 0, sizeof(*s));
	while (!k->stop && s->state != SEEPAGE_WHERE_ENDED && passed < ms + 1000ULL &&
	       !(s->matched && passed >= ROUND_MS)) {
		k->stop = !k->wait(k->arg, TICK_MS, fd);
		if (ioctl(fd, SEEPAGE_WHERE_STATUS, s))
			break;
		passed = (clock_ns() - begin) / 1000000;
	}
}

/* A site that is hot, as a helper that serves other sizes as well, has no probe from now on. */
static void leave_hot(struct takes *k, const struct seepage_where_sites *counts)
{
	u32 i;

	for (i = 0; i < k->p.n; i++) {
		if (counts->traps[i] <= TRAPS)
			continue;
		k->c->site[k->of[i]].done = true;
		k->c->hot++;
	}
}

static void refuse(struct takes *k, u32 probe)
{
	if (probe >= k->p.n)
		return;
	k->c->site[k->of[probe]].done = true;
	k->c->refused++;
}

/* Reads what a round has found. */
static void read_round(struct takes *k, int fd, const struct seepage_where_start *how,
		       struct burst *b)
{
	struct seepage_where_sites counts = { { 0 } };
	struct seepage_where_status s;
	size_t had = b->n;

	samples_read(fd, &k->p, how->samples + how->latest, b);
	keep_class(k, b, had);
	if (b->n > had)
		k->wait(k->arg, FILL_MS, -1);
	samples_read_blocks(k->t, k->bins, b, had);
	samples_unwind(b, had);
	if (ioctl(fd, SEEPAGE_WHERE_STATUS, &s) || ioctl(fd, SEEPAGE_WHERE_SITES, &counts))
		return;
	k->c->traps += s.traps;
	b->inherited += s.inherited;
	b->sites_ns += s.armed_ns;
	leave_hot(k, &counts);
	if (s.reason == SEEPAGE_WHERE_BY_ERROR)
		refuse(k, s.error_probe);
}

/* One round. Returns NULL, or why it could not begin. */
static const char *take_round(struct takes *k, const struct seepage_where_start *how,
			      struct burst *b)
{
	struct seepage_where_status s;
	const char *why = NULL;
	int fd = burst_open(&why), err;

	if (fd < 0)
		return why;
	err = burst_start(fd, how);
	if (err) {
		close(fd);
		return err == EBUSY ? "another burst" : err == ESRCH ? GONE : strerror(err);
	}
	wait_end(k, fd, how->ms, &s);
	ioctl(fd, SEEPAGE_WHERE_STOP);
	fcntl(fd, F_SETFL, 0);
	read_round(k, fd, how, b);
	close(fd);
	return NULL;
}

/* Collects the sites that still get a probe. Returns how many have too few blocks. */
static unsigned int prepare(struct takes *k)
{
	unsigned int i, few = 0;

	k->p.n = 0;
	for (i = 0; i < k->c->n; i++) {
		const struct callsite *c = &k->c->site[i];

		if (c->done)
			continue;
		k->of[k->p.n] = i;
		k->p.name[k->p.n] = "a call site";
		k->p.p[k->p.n++] = (struct seepage_where_probe){
			.fd = c->fd, .kind = SEEPAGE_WHERE_SITE, .offset = c->offset,
		};
		few += c->blocks < ENOUGH;
	}
	return few;
}

static u32 ms_left(const struct takes *k)
{
	u64 now = clock_ns(), ms = now < k->end ? (k->end - now) / 1000000 : 0;

	return (u32)(ms < SEEPAGE_WHERE_MS ? ms : SEEPAGE_WHERE_MS - 1);
}

/* What ends it before the next round; NULL: nothing does */
static const char *ends(struct takes *k, unsigned int rounds)
{
	if (k->stop)
		return "a signal";
	if (!prepare(k))
		return k->p.n ? "five blocks of each" : "its number of traps";
	if (k->c->traps >= k->l->traps)
		return "its number of traps";
	if (rounds == ROUNDS)
		return "its number of rounds";
	if (!target_alive(k->t))
		return GONE;
	return ms_left(k) ? NULL : "its time";
}

/**
 * callsites_take() - take samples at call sites
 * @t: the process
 * @bins: keys of free blocks
 * @c: the sites
 * @l: limits, as of a burst; the time is several times as long
 * @wait: waits so many milliseconds, or until the descriptor is readable; false: stop
 * @arg: for @wait
 * @b: a burst; samples of the class are added, and @probe of these is the number of the site
 */
void callsites_take(struct target *t, const struct bins *bins, struct callsites *c,
		    const struct burst_limits *l, bool (*wait)(void *arg, u64 ms, int fd),
		    void *arg, struct burst *b)
{
	struct takes k = {
		.t = t, .bins = bins, .c = c, .l = l, .wait = wait, .arg = arg,
		.end = clock_ns() + TIMES * l->seconds * 1000000000,
	};
	struct seepage_where_start how = {
		.pid = (int)t->pid, .start_ticks = target_start_ticks(t), .hi = UINT64_MAX,
		.cost_permille = (u32)l->cost_permille, .trap_ns = SITE_TRAP_NS,
		.samples = (u32)l->samples, .latest = LATEST, .probe_traps = TRAPS,
	};
	unsigned int i;

	b->at = c;
	b->functions = b->n;
	for (i = 0; !(c->end = ends(&k, i)); i++) {
		how.ms = ms_left(&k) + 1;
		how.probes = k.p.n;
		how.traps = l->traps - c->traps;
		memcpy(how.probe, k.p.p, sizeof(how.probe));
		c->end = take_round(&k, &how, b);
		if (c->end)
			return;
	}
}

/*
 * Counts what the probes have seen. Some hits are drawn: these tell the sizes, and how many were in
 * each part of the time.
 */
static void count_rates(struct takes *k, int fd, struct survivors *v)
{
	double drawn[CALLSITES][BURST_ROUNDS] = { { 0 } };
	struct burst b = { .u = v->u };
	struct seepage_where_status s;
	unsigned int i, r;
	size_t n, all;
	u64 part;

	samples_read(fd, &k->p, RATE_SAMPLES, &b);
	all = b.n;
	if (ioctl(fd, SEEPAGE_WHERE_STATUS, &s) || s.reason == SEEPAGE_WHERE_BY_ERROR || !all)
		s.armed_ns = 0;
	part = s.armed_ns / BURST_ROUNDS;
	for (n = 0; part && n < all; n++) {
		u64 at = (b.s[n].ns - b.s[0].ns) / part;

		r = at < BURST_ROUNDS ? (unsigned int)at : BURST_ROUNDS - 1;
		drawn[k->of[b.s[n].probe]][r] += size_of(k, b.s[n].addr) > 0;
	}
	burst_free(&b);
	if (!part)
		return;
	k->c->traps = s.traps;
	v->measured_rounds = BURST_ROUNDS;
	v->measured_traps = (double)s.traps;
	v->measured_drawn = (double)all;
	for (r = 0; r < BURST_ROUNDS; r++) {
		v->measured_seconds[r] = (double)part / 1e9;
		for (i = 0; i < k->c->n; i++)
			v->site[k->c->site[i].site].measured[r] =
				drawn[i][r] * (double)s.traps / (double)all;
	}
	for (i = 0; i < k->c->n; i++)
		v->site[k->c->site[i].site].is_measured = true;
}

/**
 * callsites_measure() - how often sites allocate, by probes at their calls alone
 * @t: the process
 * @bins: keys of free blocks
 * @l: limits, as of a burst; the time is ten seconds at most
 * @wait: waits so many milliseconds, or until the descriptor is readable; false: stop
 * @arg: for @wait
 * @v: several of its sites are named; mappings are up to date. Of these @measured is set, by parts
 *     of the time, in calls for sizes of the class
 * @measured: out, some were
 *
 * A burst traps at all calls, which makes the process slower. These probes trap at few, and all of
 * the time: what the class grows by meanwhile is of a process that is as slow.
 *
 * Return: traps.
 */
u64 callsites_measure(struct target *t, const struct bins *bins, const struct burst_limits *l,
		      bool (*wait)(void *arg, u64 ms, int fd), void *arg, struct survivors *v,
		      bool *measured)
{
	u64 seconds = l->seconds < RATE_S ? l->seconds : RATE_S;
	struct callsites c = { .lo = l->lo, .hi = l->hi };
	struct takes k = { .t = t, .bins = bins, .c = &c, .l = l, .wait = wait, .arg = arg };
	struct seepage_where_start how = {
		.pid = (int)t->pid, .start_ticks = target_start_ticks(t), .hi = UINT64_MAX,
		.cost_permille = (u32)l->cost_permille, .trap_ns = SITE_TRAP_NS,
		.samples = RATE_SAMPLES, .probe_traps = RATE_TRAPS,
		.traps = l->traps < RATE_TRAPS ? l->traps : RATE_TRAPS,
		.ms = (u32)(seconds * 1000),
	};
	const char *why = NULL;
	int fd;

	callsites_rivals(v, &c);
	prepare(&k);
	how.probes = k.p.n;
	memcpy(how.probe, k.p.p, sizeof(how.probe));
	fd = c.n ? burst_open(&why) : -1;
	if (fd >= 0 && !burst_start(fd, &how)) {
		wait(arg, how.ms + 1000, fd);
		ioctl(fd, SEEPAGE_WHERE_STOP);
		fcntl(fd, F_SETFL, 0);
		count_rates(&k, fd, v);
	}
	if (fd >= 0)
		close(fd);
	*measured = v->measured_rounds > 0;
	callsites_close(&c);
	return c.traps;
}
