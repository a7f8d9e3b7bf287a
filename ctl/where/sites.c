// SPDX-License-Identifier: GPL-2.0
/*
 * From a class that grows to the sites that allocate it: a burst, then some looks at the blocks
 * that it sampled. A signal ends either step, and what is known by then is the answer.
 */
#include <string.h>
#include "where/burst.h"

/* The row of the class: that of --class, or the one that grew most; NULL: none grew */
static const struct where_row *row_of(const struct result *r, u64 class_bytes)
{
	unsigned int id = class_of_request(class_bytes);
	size_t i;

	if (!class_bytes)
		return r->rows && r->row[0].growth_bytes > 0 ? &r->row[0] : NULL;
	for (i = 0; i < r->rows; i++)
		if (r->row[i].id == id)
			return &r->row[i];
	return NULL;
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

static void burst_notes(const struct burst *b, struct result *r)
{
	result_note(r, "burst: %zu samples, %llu traps in %u rounds, armed for %.2f s in all; "
		    "the last one ended by %s",
		    b->n, b->traps, b->rounds, (double)b->armed_ns / 1e9, burst_reason(b->reason));
	if (b->foreign)
		result_note(r, "burst: %llu traps of children, which inherit breakpoints",
			    b->foreign);
}

static int find(struct target *t, const struct bins *bins, const struct sites_how *how,
		const struct probes *p, s64 bytes_per_hour, struct result *r)
{
	struct unwinder *u = unwinder_new(t);
	struct survivors *v;
	struct burst b;
	unsigned int others;
	u64 start = clock_ns(), ns;
	int status;

	if (!u)
		return fail(t->ctx, "--burst: this build cannot unwind stacks: it has no libdw");
	status = burst_take(t, p, &how->limits, how->wait, how->arg, &b);
	ns = clock_ns() - start;
	if (!status) {
		r->method = "burst";
		r->traps = b.traps;
		r->samples = b.n;
		r->cost_permille = ns ? b.traps * TRAP_NS * 1000 / ns : 0;
		probe_note(p, r);
		burst_notes(&b, r);
		v = survivors_new(t, bins, u, &b);
		again_look(t, v, &how->again, how->wait, how->arg);
		if (target_alive(t)) {
			others = survivors_sites(v, r, bytes_per_hour, how->top);
			if (others)
				result_note(r, "sites: %u more, of few blocks or none that stay",
					    others);
		} else {
			result_note(r, "sites: not known, the process ended");
		}
		survivors_free(v);
	}
	burst_free(&b);
	unwinder_free(u);
	return status;
}

/**
 * sites_find() - add the call sites of a class to the answer
 * @t: the process, with the mappings of the last look
 * @bins: keys of free blocks
 * @how: what is asked for
 * @class_bytes: of the class; 0: the one that grew most
 * @r: the answer of the census
 *
 * Return: 0, or an exit status after printing an error.
 */
int sites_find(struct target *t, const struct bins *bins, struct sites_how *how, u64 class_bytes,
	       struct result *r)
{
	const struct where_row *row = row_of(r, class_bytes);
	unsigned int id = row ? row->id : class_of_request(class_bytes);
	struct probes p;
	int status;
	s64 growth;

	if (!strcmp(r->method, "pages"))
		return fail(t->ctx, "--burst: process %u: its allocator is not known, "
			    "allowed is glibc", t->pid);
	if (!row && !class_bytes) {
		result_note(r, "burst: none, because no class of blocks grew");
		return 0;
	}
	if (class_is_pool(id))
		return fail(t->ctx, "--burst: process %u: the class that grows is one of pymalloc, "
			    "allowed are those of malloc; see --class", t->pid);
	how->limits.lo = class_least(id);
	how->limits.hi = class_size(id);
	growth = row && row->growth_bytes > 0 ? result_per_hour(r, row->growth_bytes) : 0;
	if (probes_find(t, &p))
		status = find(t, bins, how, &p, growth, r);
	else
		status = fail(t->ctx, "--burst: process %u: no function that allocates was found: "
			      "no symbols", t->pid);
	probes_close(&p);
	return status;
}
