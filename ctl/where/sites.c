// SPDX-License-Identifier: GPL-2.0
/*
 * From a class that grows to the sites that allocate it: a burst, then some looks at the blocks
 * that it sampled. A signal ends either step, and what is known by then is the answer.
 *
 * Where no census knows the classes, the first burst is on blocks of all sizes. If none of its
 * sites is named, ranges of sizes follow: those in which most of the bytes are that stayed.
 */
#include "where/burst.h"

#define CLASSES_MAX	3U	/* that are sampled, one after another */
#define WHY		"no function that begins pools was found in this python"
#define PAGE		4096
#define LEAST_WAIT	100U	/* ms; in shorter ones pages are not counted */
#define NEW_BLOCKS	3	/* that a class has to have, to come before those that have fewer */

/* May the answer show this class where --class says @class_bytes? */
static bool is_class(unsigned int id, u64 class_bytes)
{
	return id == class_of_request(class_bytes) ||
	       (class_is_pool(id) && class_bytes <= class_size(id) &&
		class_bytes >= class_least(id));
}

/*
 * The classes to sample: that of --class, or those that grew most. One that grew by one or two
 * blocks comes last: it may be a large buffer, beside many small blocks that leak. Those of
 * pymalloc are left out if @pools is false.
 */
static size_t rows_of(const struct result *r, u64 class_bytes, bool pools,
		      const struct where_row **row)
{
	unsigned int pass;
	size_t i, n = 0;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < r->rows && n < CLASSES_MAX; i++) {
			const struct where_row *w = &r->row[i];
			bool many = w->growth_blocks >= NEW_BLOCKS;

			if (!pools && class_is_pool(w->id))
				continue;
			if (class_bytes ? is_class(w->id, class_bytes) && !pass :
			    w->growth_bytes > 0 && many == !pass)
				row[n++] = w;
		}
	return n;
}

/* Is there no class of blocks that was counted: the allocator is not one that has a census? */
static bool is_by_size(const struct result *r, const struct bins *bins)
{
	return r->pages || bins->rule != BLOCK_CHUNK;
}

static void probe_note(const struct probes *p, struct result *r)
{
	char text[400] = "";
	size_t n = 0;
	u32 i;

	for (i = 0; i < p->n && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", i ? ", " : "",
				      p->name[i], p->emulated[i] ? "" : " (single-stepped)");
	result_note(r, "probes: %s", text);
}

static void burst_notes(const struct burst *b, const struct burst_limits *l, bool pool,
			struct result *r)
{
	char sizes[64] = "all sizes";

	if (pool)
		snprintf(sizes, sizeof(sizes), "up to %llu bytes", (l->lo + 1) * 16);
	else if (l->hi != UINT64_MAX)
		snprintf(sizes, sizeof(sizes), "%llu..%llu bytes", l->lo, l->hi);
	result_note(r, "burst on blocks of %s: %zu samples of %llu %s, "
		    "%llu traps in %u rounds, armed for %.2f s in all; last, ended by %s",
		    sizes, b->n, b->matched,
		    pool ? "new pools of pymalloc, 16 KiB each" : "calls", b->traps, b->rounds,
		    (double)b->armed_ns / 1e9, burst_reason(b->reason));
	if (b->inherited)
		result_note(r, "burst: %llu traps of children, which inherit breakpoints",
			    b->inherited);
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
	u64 begun, ns;		/* when the last burst began; of all bursts */
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

/* The looks at the blocks of a burst. Returns how many sites are named. */
static unsigned int look_and_name(struct search *s, const struct burst *b, struct growth *g)
{
	struct survivors *v = survivors_new(s->t, &s->bins, s->u, b);
	unsigned int named = 0;

	again_look(s->t, v, &s->how->again, wait_and_count, s);
	if (g->pages) {
		growth_of_pages(s, g);
		look_longer(s, v, g);
	}
	if (target_alive(s->t))
		named = survivors_sites(v, s->r, g, s->how->top);
	else
		result_note(s->r, "sites: not known, the process ended or executed a program");
	if (g->pages && !g->class_bytes && g->trend.bytes > g->trend.error)
		s->ranges = survivors_sizes(v, s->range, CLASSES_MAX - 1);
	survivors_free(v);
	return named;
}

/* What the growth of the class leads to expect: of pymalloc each pool that is new traps once. */
static struct growth growth_of(const struct search *s, unsigned int id, const struct where_row *row)
{
	struct growth g = {
		.class_bytes = class_size(id), .blocks = row ? row->growth_blocks : 0,
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
		r->traps += b.traps;
		r->samples += b.n;
		r->cost_permille = s->ns ? r->traps * TRAP_NS * 1000 / s->ns : 0;
		burst_notes(&b, l, pool, r);
		*done = look_and_name(s, &b, g) || !target_alive(s->t) ||
			!s->how->wait(s->how->arg, 0, -1);
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
	l->hi = pool ? l->lo : id < CLASS_EXACT ? class_size(id) : 4 * class_size(id);
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
	for (i = 0; i < s->ranges && !status && !done; i++) {
		l->lo = s->range[i].lo;
		l->hi = s->range[i].hi;
		g.class_bytes = l->hi;
		status = try_limits(s, &g, false, &done);
	}
	return status;
}

static int try_classes(struct search *s, u64 class_bytes, const struct where_row *const *row,
		       size_t n)
{
	bool done = false;
	int status = 0;
	size_t i;

	if (class_bytes)
		return try_class(s, n ? row[0]->id : class_of_request(class_bytes),
				 n ? row[0] : NULL, &done);
	for (i = 0; i < n && !status && !done; i++)
		status = try_class(s, row[i]->id, row[i], &done);
	return status;
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
		*n = rows_of(s->r, 0, false, row);
	if (class_bytes || !*n)
		return missing(s->t, "the class that grows is one of pymalloc, and " WHY
			       "; see --class");
	result_note(s->r, WHY ": its classes are not sampled");
	return 0;
}

/* Classes that grew, or sizes if no census knows them. Returns an exit status. */
static int try_all(struct search *s, u64 class_bytes, const struct where_row **row, size_t n)
{
	int status;

	if (!is_by_size(s->r, &s->bins) || (n && class_is_pool(row[0]->id))) {
		status = check_pools(s, class_bytes, row, &n);
		return status ? status : try_classes(s, class_bytes, row, n);
	}
	status = try_sizes(s, class_bytes);
	if (!status && allocator_note(s->bins.rule))
		result_note(s->r, "%s", allocator_note(s->bins.rule));
	return status;
}

static int find(struct search *s, u64 class_bytes)
{
	const struct where_row *row[CLASSES_MAX];
	size_t n = rows_of(s->r, class_bytes, true, row);
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
			probe_note(&s->probes, s->r);
		if (s->pool_used)
			probe_note(&s->pool_probes, s->r);
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
	const struct where_row *row[CLASSES_MAX];
	int status;

	if (!class_bytes && !is_by_size(r, bins) && !rows_of(r, 0, true, row)) {
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
