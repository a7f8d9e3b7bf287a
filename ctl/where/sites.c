// SPDX-License-Identifier: GPL-2.0
/*
 * From a class that grows to the sites that allocate it: a burst, then some looks at the blocks
 * that it sampled. A signal ends either step, and what is known by then is the answer.
 */
#include <string.h>
#include "where/burst.h"

#define CLASSES_MAX	3U	/* that are sampled, one after another */
#define NEW_BLOCKS	3	/* that a class has to have, to come before those that have fewer */

/*
 * The classes to sample: that of --class, or those that grew most. One that grew by one or two
 * blocks comes last: it may be a large buffer, beside many small blocks that leak.
 */
static size_t rows_of(const struct result *r, u64 class_bytes, const struct where_row **row)
{
	unsigned int id = class_of_request(class_bytes), pass;
	size_t i, n = 0;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < r->rows && n < CLASSES_MAX; i++) {
			const struct where_row *w = &r->row[i];
			bool many = w->growth_blocks >= NEW_BLOCKS;

			if (class_bytes ? w->id == id && !pass :
			    w->growth_bytes > 0 && many == !pass)
				row[n++] = w;
		}
	return n;
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

static void burst_notes(const struct burst *b, const struct growth *g, struct result *r)
{
	result_note(r, "burst on blocks of up to %llu bytes: %zu samples of %llu calls, "
		    "%llu traps in %u rounds, armed for %.2f s in all; last, ended by %s",
		    g->class_bytes, b->n, b->matched, b->traps, b->rounds,
		    (double)b->armed_ns / 1e9, burst_reason(b->reason));
	if (b->inherited)
		result_note(r, "burst: %llu traps of children, which inherit breakpoints",
			    b->inherited);
}

/* All that is needed for one class after another */
struct search {
	struct target *t;
	const struct bins *bins;
	struct sites_how *how;
	struct probes probes;
	struct unwinder *u;
	struct result *r;
	u64 ns;			/* of all bursts */
};

/* The looks at the blocks of a burst. Returns how many sites are named. */
static unsigned int look_and_name(struct search *s, const struct burst *b, const struct growth *g)
{
	struct survivors *v = survivors_new(s->t, s->bins, s->u, b);
	unsigned int named = 0;

	again_look(s->t, v, &s->how->again, s->how->wait, s->how->arg);
	if (target_alive(s->t))
		named = survivors_sites(v, s->r, g, s->how->top);
	else
		result_note(s->r, "sites: not known, the process ended or executed a program");
	survivors_free(v);
	return named;
}

/* One class. Returns an exit status; *done: no other one is to follow. */
static int try_class(struct search *s, unsigned int id, const struct where_row *row, bool *done)
{
	struct result *r = s->r;
	struct growth g = {
		.class_bytes = class_size(id), .blocks = row ? row->growth_blocks : 0,
		.seconds = r->seconds, .recent = s->how->recent,
		.bytes_per_hour = row && row->growth_bytes > 0 ?
				  result_per_hour(r, row->growth_bytes) : 0,
	};
	struct burst b;
	u64 start = clock_ns();
	int status;

	s->how->limits.lo = class_least(id);
	/* A large block may leave its class while it is made larger. */
	s->how->limits.hi = id < CLASS_EXACT ? class_size(id) : 4 * class_size(id);
	status = burst_take(s->t, s->bins, &s->probes, &s->how->limits, s->how->wait,
			    s->how->arg, &b);
	s->ns += clock_ns() - start;
	if (!status) {
		r->method = "burst";
		r->traps += b.traps;
		r->samples += b.n;
		r->cost_permille = s->ns ? r->traps * TRAP_NS * 1000 / s->ns : 0;
		burst_notes(&b, &g, r);
		*done = look_and_name(s, &b, &g) || !target_alive(s->t) ||
			!s->how->wait(s->how->arg, 0, -1);
	}
	burst_free(&b);
	return status;
}

static int try_classes(struct search *s, unsigned int id, u64 class_bytes)
{
	const struct where_row *row[CLASSES_MAX];
	size_t n = rows_of(s->r, class_bytes, row), i;
	bool done = false;
	int status = 0;

	if (class_bytes)
		return try_class(s, id, n ? row[0] : NULL, &done);
	for (i = 0; i < n && !status && !done; i++)
		if (!class_is_pool(row[i]->id))
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

static int find(struct search *s, unsigned int id, u64 class_bytes)
{
	int status;

	if (!probes_find(s->t, &s->probes))
		return missing(s->t, "no function that allocates was found: no symbols");
	s->u = unwinder_new(s->t);
	if (!s->u)
		return missing(s->t, "this build cannot unwind stacks: it has no libdw");
	status = try_classes(s, id, class_bytes);
	if (!status)
		probe_note(&s->probes, s->r);
	unwinder_free(s->u);
	return status;
}

/**
 * sites_find() - add the call sites of a class to the answer
 * @t: the process, with the mappings of the last look
 * @bins: keys of free blocks
 * @how: what is asked for
 * @class_bytes: of the class; 0: those that grew most, until one has a site that is named
 * @r: the answer of the census
 *
 * Return: 0, or an exit status after printing an error.
 */
int sites_find(struct target *t, const struct bins *bins, struct sites_how *how, u64 class_bytes,
	       struct result *r)
{
	struct search s = { .t = t, .bins = bins, .how = how, .r = r };
	const struct where_row *row[CLASSES_MAX];
	unsigned int id = class_of_request(class_bytes);
	int status;

	if (!strcmp(r->method, "pages"))
		return fail(t->ctx, "--burst: process %u: its allocator is not known, "
			    "allowed is glibc", t->pid);
	if (!class_bytes && !rows_of(r, 0, row)) {
		result_note(r, "burst: none, because no class of blocks grew");
		return 0;
	}
	if (class_is_pool(class_bytes ? id : row[0]->id))
		return fail(t->ctx, "--burst: process %u: the class that grows is one of pymalloc, "
			    "allowed are those of malloc; see --class", t->pid);
	status = find(&s, id, class_bytes);
	probes_close(&s.probes);
	return status;
}
