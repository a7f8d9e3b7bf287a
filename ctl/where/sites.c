// SPDX-License-Identifier: GPL-2.0
/*
 * From a class that grows to the sites that allocate it: a burst, then some looks at the blocks
 * that it sampled. A signal ends either step, and what is known by then is the answer.
 *
 * Where no census knows the classes, the first burst is on blocks of all sizes. If none of its
 * sites is named, ranges of sizes follow: those in which most of the bytes are that stayed.
 */
#include <stdlib.h>
#include "where/callsite.h"

#define CLASSES_MAX	3U	/* that are sampled, one after another */
#define WHY		"no function that begins pools was found in this python"
#define PAGE		4096
#define LEAST_WAIT	100U	/* ms; in shorter ones pages are not counted */
#define MIXED_MAX	2U	/* of a process that grows elsewhere, before blocks of all sizes */

/* Is there no class of blocks that was counted: the allocator is not one that has a census? */
static bool is_by_size(const struct result *r, const struct bins *bins)
{
	return r->pages || (bins->rule != BLOCK_CHUNK && bins->rule != BLOCK_BITMAP &&
			    !bins->mallocng);
}

/* All that is needed for one class after another */
struct search {
	struct target *t;
	const struct object *object;
	struct bins bins;
	struct sites_how *how;
	struct probes probes, pool_probes;
	bool used, pool_used;
	struct unwinder *u;
	struct result *r;
	struct page_series series;	/* while a burst and its looks are under way */
	bool counts_pages;
	bool mixed;		/* classes of a process that grows mostly elsewhere */
	u64 begun, ns;		/* when the last burst began; of all bursts */
	u64 cost_ns;		/* what their traps are taken to cost */
	struct size_range range[CLASSES_MAX];	/* that the first burst leads to */
	size_t ranges;
};

/*
 * Waits, and counts pages meanwhile. Not while a round is under way, of which the descriptor is:
 * its samples are to be read as soon as it ends, and its blocks soon after. Rounds may follow each
 * other at once: then there is no time to wait, and a count delays the next one.
 */
static bool wait_and_count(void *arg, u64 ms, int fd)
{
	struct search *s = arg;
	u64 end = clock_ns() + ms * 1000000, now, part;

	if (fd >= 0)
		return s->how->wait(s->how->arg, ms, fd);
	if (s->counts_pages && !ms)
		series_look(s->t, &s->series, false);
	while (s->counts_pages && clock_ns() + LEAST_WAIT * 1000000ULL < end) {
		series_look(s->t, &s->series, false);
		now = clock_ns();
		part = s->series.next > now ? (s->series.next - now) / 1000000 + 1 : LEAST_WAIT;
		if (now + part * 1000000 >= end)
			break;
		if (!s->how->wait(s->how->arg, part, -1))
			return false;
	}
	now = clock_ns();
	return s->how->wait(s->how->arg, end > now ? (end - now) / 1000000 : 0, -1);
}

/* The growth of the memory up to now, where there is no class that could be counted */
static void growth_of_pages(struct search *s, struct growth *g)
{
	const struct page_count *first = &s->how->first, *last;
	double rate, other;

	series_look(s->t, &s->series, true);
	g->trend = series_trend(&s->series);
	g->bytes = g->trend.bytes;
	if (!(g->trend.seconds > 0))
		return;
	rate = (double)g->trend.bytes / g->trend.seconds;
	last = &s->series.at[s->series.n - 1];
	if (s->how->recent && first->ns) {
		g->bytes = (s64)(last->pages - first->pages) * PAGE;
		other = (double)g->bytes * 1e9 / (double)(last->ns - first->ns);
		rate = other < rate ? other : rate;
	}
	g->bytes_per_hour = rate > 0 ? (s64)(rate * 3600) : 0;
	/* No more than that of the answer, which is of the time between the two looks */
	other = (double)result_per_hour(s->r, s->r->growth);
	if (s->r->pages && s->how->recent && other > 0 &&
	    (double)g->bytes_per_hour > other)
		g->bytes_per_hour = (s64)other;
}

/* Looks on where that may tell more: for as long as it took from the burst up to now. */
static void look_longer(struct search *s, struct survivors *v, struct growth *g)
{
	const struct again *again = &s->how->again;
	u64 seconds = (clock_ns() - s->begun) / 1000000000 + 1;

	if (!s->how->longer || !series_has_burst(&s->series) || !target_alive(s->t) ||
	    !survivors_open(v, g) || !s->how->wait(s->how->arg, 0, -1))
		return;
	result_note(s->r, "sites: not clear after the looks, looked for %llu s more", seconds);
	again_longer(s->t, v, again->seconds[again->n - 1], seconds, wait_and_count, s);
	growth_of_pages(s, g);
}

/*
 * Probes at call sites of which too few blocks were seen, then the looks at all blocks anew.
 * Returns the survivors of these.
 */
static struct survivors *probe_sites(struct search *s, struct burst *b, const struct growth *g,
				     struct survivors *v, struct callsites *c)
{
	u64 start = clock_ns();

	if (!s->how->probes || s->bins.pool_block || !target_alive(s->t) || !survivors_few(v, g) ||
	    !s->how->wait(s->how->arg, 0, -1) || target_maps(s->t))
		return v;
	callsites_find(v, c);
	if (!c->n)
		return v;
	callsites_take(s->t, &s->bins, c, &s->how->limits, s->how->wait, s->how->arg, b);
	s->ns += clock_ns() - start;
	s->r->traps += c->traps;
	s->r->samples += b->n - b->functions;
	s->cost_ns += c->traps * SITE_TRAP_NS;
	callsites_note(c, b->sites_ns, s->r);
	survivors_free(v);
	v = survivors_new(s->t, &s->bins, s->u, b);
	again_look(s->t, v, &s->how->again, s->how->wait, s->how->arg);
	return v;
}

/* Counts the blocks now. Returns NULL if they cannot be; free_look() releases it. */
static struct look *look_now(const struct search *s)
{
	struct look *l = must(calloc(1, sizeof(*l)));

	if (s->how->count(s->how->arg, l))
		return l;
	look_free(l);
	free(l);
	return NULL;
}

static void free_look(struct look *l)
{
	if (l)
		look_free(l);
	free(l);
}

/*
 * Counts the class again, where what it grows by now decides which sites are named, or which of
 * them comes first; and measures meanwhile how often these allocate.
 */
static void count_again(struct search *s, struct survivors *v, struct growth *g)
{
	bool measure = s->how->probes && excess_may_be(v, g);
	struct look *before = NULL, *now;
	const struct look *from;
	u64 start, traps;

	if (!s->how->count || s->bins.pool_block || !survivors_rivals(v, g))
		return;
	if (measure && !target_maps(s->t))
		before = look_now(s);
	if (before) {
		start = clock_ns();
		traps = callsites_measure(s->t, &s->bins, &s->how->limits, s->how->wait,
					  s->how->arg, v, &g->measured);
		s->r->traps += traps;
		s->cost_ns += traps * SITE_TRAP_NS;
		s->ns += clock_ns() - start;
	}
	from = g->measured ? before : s->how->second;
	now = look_now(s);
	if (now) {
		g->later_blocks = class_gained(from, now, g->id);
		g->later_seconds = (double)(now->ns - from->ns) / 1e9;
	}
	free_look(now);
	free_look(before);
}

/* The looks at the blocks of a burst. Returns how many sites are named. */
static unsigned int look_and_name(struct search *s, struct burst *b, struct growth *g)
{
	struct callsites c = { .lo = s->how->limits.lo, .hi = s->how->limits.hi };
	struct survivors *v = survivors_new(s->t, &s->bins, s->u, b);
	unsigned int named = 0;

	again_look(s->t, v, &s->how->again, wait_and_count, s);
	if (g->pages) {
		growth_of_pages(s, g);
		look_longer(s, v, g);
	} else {
		v = probe_sites(s, b, g, v, &c);
		count_again(s, v, g);
	}
	if (target_alive(s->t))
		named = survivors_sites(v, s->r, g, s->how->top);
	else
		result_note(s->r, "sites: not known, the process ended or executed a program");
	if (g->pages && !g->class_bytes && g->trend.bytes > g->trend.error)
		s->ranges = survivors_sizes(v, s->range, CLASSES_MAX - 1);
	survivors_free(v);
	callsites_close(&c);
	return named;
}

/* What the growth of the class leads to expect: of pymalloc each pool that is new traps once. */
static struct growth growth_of(const struct search *s, unsigned int id, const struct where_row *row)
{
	struct growth g = {
		.id = id, .mixed = s->mixed, .class_bytes = class_size(id),
		.blocks = row ? row->growth_blocks : 0,
		.seconds = s->r->seconds, .recent = s->how->recent,
		.bytes_per_hour = row && row->growth_bytes > 0 ?
				  result_per_hour(s->r, row->growth_bytes) : 0,
	};

	if (class_is_pool(id))
		g.blocks = row ? row->growth_bytes / (s64)POOL_BYTES : 0;
	return g;
}

/* A burst within limits. Returns an exit status; *done: no other one is to follow. */
static int try_limits(struct search *s, struct growth *g, bool pool, bool *done)
{
	const struct burst_limits *l = &s->how->limits;
	struct result *r = s->r;
	struct burst b = { .u = s->u };
	u64 start = clock_ns();
	int status;

	s->used |= !pool;
	s->pool_used |= pool;
	s->counts_pages = g->pages;
	s->begun = start;
	series_begin(&s->series, l->seconds);
	if (g->pages)
		series_look(s->t, &s->series, true);
	status = burst_take(s->t, &s->bins, pool ? &s->pool_probes : &s->probes, l, wait_and_count,
			    s, &b);
	s->ns += clock_ns() - start;
	if (g->pages)
		series_look(s->t, &s->series, true);
	series_mark(&s->series, s->how->again.seconds[0]);
	if (!status) {
		r->method = "burst";
		burst_add(&b, g, r);
		s->cost_ns += b.traps * TRAP_NS;
		burst_notes(&b, l, pool, r);
		*done = look_and_name(s, &b, g) || !target_alive(s->t) ||
			!s->how->wait(s->how->arg, 0, -1);
		r->cost_permille = s->ns ? s->cost_ns * 1000 / s->ns : 0;
	}
	burst_free(&b);
	return status;
}

/* One class. Returns an exit status; *done: no other one is to follow. */
static int try_class(struct search *s, unsigned int id, const struct where_row *row, bool *done)
{
	struct growth g = growth_of(s, id, row);
	struct burst_limits *l = &s->how->limits;
	bool pool = class_is_pool(id);

	s->bins.pool_block = pool ? class_size(id) : 0;
	/* The function of pymalloc has the number of the class in place of a size. */
	l->lo = pool ? class_size(id) / 16 - 1 : class_least(id);
	/* A large block may leave its class while it is made larger. */
	l->hi = pool ? l->lo : class_is_small(id) ? class_size(id) : 4 * class_size(id);
	return try_limits(s, &g, pool, done);
}

/* Blocks of all sizes, or those that --class says, then of some ranges. Returns an exit status. */
static int try_sizes(struct search *s, u64 class_bytes)
{
	unsigned int id = class_of_request(class_bytes);
	struct growth g = { .pages = true, .class_bytes = class_bytes ? class_size(id) : 0 };
	struct burst_limits *l = &s->how->limits;
	bool done = false;
	int status;
	size_t i;

	l->lo = class_bytes ? class_least(id) : 0;
	l->hi = class_bytes ? class_size(id) : UINT64_MAX;
	l->even = true;
	status = try_limits(s, &g, false, &done);
	for (i = 0; i < s->ranges && !s->mixed && !status && !done; i++) {
		l->lo = s->range[i].lo;
		l->hi = s->range[i].hi;
		g.class_bytes = l->hi;
		status = try_limits(s, &g, false, &done);
	}
	return status;
}

/* The class of --class where the census found none of its blocks */
static unsigned int class_asked(const struct search *s, u64 class_bytes)
{
	return s->bins.rule == BLOCK_BITMAP ? class_of_je(class_bytes) :
	       class_of_request(class_bytes);
}

static int try_classes(struct search *s, u64 class_bytes, const struct where_row *const *row,
		       size_t n, bool *done)
{
	int status = 0;
	size_t i;

	if (class_bytes)
		return try_class(s, n ? row[0]->id : class_asked(s, class_bytes),
				 n ? row[0] : NULL, done);
	for (i = 0; i < n && !status && !*done; i++)
		status = try_class(s, row[i]->id, row[i], done);
	return status;
}

/*
 * A process that grows mostly outside of malloc(), as one with a heap of its own that is
 * collected. Classes of malloc() that grew come first: of these it is known what is in use, while
 * the pages grow and shrink by much more. Then blocks of all sizes. Returns an exit status.
 */
static int try_mixed(struct search *s, u64 class_bytes)
{
	const struct where_row *row[MIXED_MAX];
	size_t n = order_classes(s->r->block, s->r->blocks, class_bytes, false, row,
				 MIXED_MAX);
	bool done = false;
	int status;

	s->mixed = n && s->bins.rule == BLOCK_CHUNK;
	if (!s->mixed)
		return try_sizes(s, class_bytes);
	status = try_classes(s, class_bytes, row, n, &done);
	return status || done || class_bytes ? status : try_sizes(s, 0);
}

/* What a burst needs is missing: @what, unless the process is gone, and its files with it. */
static int missing(const struct target *t, const char *what)
{
	if (!target_alive(t))
		return fail(t->ctx, "--burst: process %u ended, or executed a program, before the "
			    "burst", t->pid);
	return fail(t->ctx, "--burst: %s", what);
}

/*
 * Leaves out classes of pymalloc if there is no probe for them, and says so. That of --class is
 * not left out, nor are all: that is a failure. Returns an exit status.
 */
static int check_pools(struct search *s, u64 class_bytes, const struct where_row **row, size_t *n)
{
	size_t i;

	for (i = 0; i < *n && !class_is_pool(row[i]->id); i++)
		;
	if (i == *n || pool_probe_find(s->t, unwinder_python(s->u), &s->pool_probes) ||
	    (class_bytes && i))
		return 0;
	if (!class_bytes)
		*n = order_classes(s->r->row, s->r->rows, 0, false, row, CLASSES_MAX);
	if (class_bytes || !*n)
		return missing(s->t, "the class that grows is one of pymalloc, and " WHY
			       "; see --class");
	result_note(s->r, WHY ": its classes are not sampled");
	return 0;
}

/* Classes that grew, or sizes if no census knows them. Returns an exit status. */
static int try_all(struct search *s, u64 class_bytes, const struct where_row **row, size_t n)
{
	bool done = false;
	int status;

	if (!is_by_size(s->r, &s->bins) || (n && class_is_pool(row[0]->id))) {
		status = check_pools(s, class_bytes, row, &n) ?:
			 try_classes(s, class_bytes, row, n, &done);
	} else {
		status = try_mixed(s, class_bytes);
	}
	if (!status && s->used && allocator_note(s->bins.rule))
		result_note(s->r, "%s", allocator_note(s->bins.rule));
	return status;
}

static int find(struct search *s, u64 class_bytes)
{
	const struct where_row *row[CLASSES_MAX];
	size_t n = order_classes(s->r->row, s->r->rows, class_bytes, true, row, CLASSES_MAX);
	const char *why;
	int status;

	why = probes_find(s->t, s->object, &s->probes);
	if (why)
		return missing(s->t, why);
	s->u = unwinder_new(s->t);
	if (!s->u)
		return missing(s->t, "this build cannot unwind stacks: it has no libdw");
	status = try_all(s, class_bytes, row, n);
	if (!status) {
		if (s->used)
			burst_probe_note(&s->probes, s->r);
		if (s->pool_used)
			burst_probe_note(&s->pool_probes, s->r);
		unwinder_note(s->u, s->r);
	}
	unwinder_free(s->u);
	return status;
}

/**
 * sites_find() - add the call sites of a class to the answer
 * @t: the process, with the mappings of the last look
 * @o: the file that has its functions that allocate
 * @bins: keys of free blocks
 * @how: what is asked for
 * @class_bytes: of the class; 0: those that grew most, until one has a site that is named
 * @r: the answer of the census
 *
 * Return: 0, or an exit status after printing an error.
 */
int sites_find(struct target *t, const struct object *o, const struct bins *bins,
	       struct sites_how *how, u64 class_bytes, struct result *r)
{
	struct search s = { .t = t, .object = o, .bins = *bins, .how = how, .r = r };
	const struct where_row *row[1];
	int status;

	if (!class_bytes && !is_by_size(r, bins) &&
	    !order_classes(r->row, r->rows, 0, true, row, 1)) {
		result_note(r, "burst: none, because no class of blocks grew");
		return 0;
	}
	s.pool_probes.fd = -1;
	status = find(&s, class_bytes);
	series_free(&s.series);
	probes_close(&s.pool_probes);
	probes_close(&s.probes);
	return status;
}
