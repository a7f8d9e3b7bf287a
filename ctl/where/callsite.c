// SPDX-License-Identifier: GPL-2.0
/*
 * Which call sites get a probe: those of which the burst has seen too few blocks to judge, all of
 * which stay. The probe is at the return address of the call, which has the block in the register
 * of results. It traps only when that site allocates, so that it may be there for minutes.
 *
 * Example: site_seldom() calls malloc() once in 14 s, beside 20000 calls a second. The burst is at
 * malloc() for 5 of 60 s and sees one block of it. A probe behind the call sees each of them.
 *
 * Where the call is in a helper that others use as well, as xmalloc() is, the probe is behind the
 * call of the helper: that returns the block, too. If it does not, what it returned is no block of
 * the class, and such hits are dropped.
 */
#include <string.h>
#include <unistd.h>
#include "where/callsite.h"

static bool is_candidate(const struct site *s)
{
	return s->all.alive && s->all.alive == s->all.samples && !s->named && !s->grows;
}

/* Do other sites allocate through the call behind which @pc is? */
static bool is_shared(const struct survivors *v, u64 pc)
{
	unsigned int k;
	size_t i;

	for (i = 0; i < v->sites; i++)
		for (k = 0; k < CALLSITE_DEPTH && k < v->site[i].frames; k++)
			if (v->site[i].frame[k].pc == pc && !is_candidate(&v->site[i]))
				return true;
	return false;
}

static bool has_probe(const struct callsites *c, u64 pc)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (c->site[i].frame[c->site[i].at].pc == pc)
			return true;
	return false;
}

/* Opens the file that has the code at @pc. Only behind a call there may be a breakpoint. */
static bool place(const struct target *t, u64 pc, struct callsite *c)
{
	const struct where_map *m = target_at(t, pc);

	if (!m || !m->file || !m->exec)
		return false;
	c->offset = pc - m->lo + m->offset;
	c->fd = map_open(t, m);
	if (c->fd >= 0 && probe_follows_call(c->fd, c->offset))
		return true;
	if (c->fd >= 0)
		close(c->fd);
	return false;
}

static void add(const struct survivors *v, const struct site *s, struct callsites *c)
{
	struct callsite *new = &c->site[c->n];
	unsigned int k;

	for (k = 0; k < CALLSITE_DEPTH && k < s->frames; k++) {
		if (s->frame[k].python)
			return;
		if (is_shared(v, s->frame[k].pc))
			continue;
		*new = (struct callsite){ .at = k };
		memcpy(new->frame, s->frame, (k + 1) * sizeof(*s->frame));
		if (!has_probe(c, s->frame[k].pc) && place(v->t, s->frame[k].pc, new))
			c->n++;
		return;
	}
}

/**
 * callsites_find() - choose call sites that get a probe
 * @v: sites of a class that were judged, of which none is named; mappings are up to date
 * @c: out, its sizes set; callsites_close() releases it
 */
void callsites_find(const struct survivors *v, struct callsites *c)
{
	size_t i;

	for (i = 0; i < v->sites && c->n < CALLSITES; i++)
		if (is_candidate(&v->site[i]))
			add(v, &v->site[i], c);
}

/* Does the call behind which @pc is tell this site from all others? */
static bool is_of_one(const struct survivors *v, size_t site, u64 pc)
{
	unsigned int k;
	size_t i;

	for (i = 0; i < v->sites; i++)
		for (k = 0; i != site && k < CALLSITE_DEPTH && k < v->site[i].frames; k++)
			if (v->site[i].frame[k].pc == pc)
				return false;
	return true;
}

static void add_rival(const struct survivors *v, size_t site, struct callsites *c)
{
	const struct site *s = &v->site[site];
	struct callsite *new = &c->site[c->n];
	unsigned int k;

	for (k = 0; k < CALLSITE_DEPTH && k < s->frames && !s->frame[k].python; k++) {
		if (!is_of_one(v, site, s->frame[k].pc))
			continue;
		*new = (struct callsite){ .at = k, .site = site };
		c->n += place(v->t, s->frame[k].pc, new);
		return;
	}
}

/**
 * callsites_rivals() - choose the call sites of which rates are measured
 * @v: sites of a class, of which several are named; mappings are up to date
 * @c: out, its sizes set; callsites_close() releases it
 */
void callsites_rivals(const struct survivors *v, struct callsites *c)
{
	size_t i;

	for (i = 0; i < v->sites && c->n < CALLSITES; i++)
		if (v->site[i].named)
			add_rival(v, i, c);
}

/**
 * callsites_stack() - make the stack of a hit that of a call of the allocator
 * @c: the site
 * @f: frames of the hit, the one that trapped first; room for FRAMES_MAX
 * @n: how many
 *
 * What was between the site and the allocator has returned: it is taken from the burst.
 *
 * Return: how many frames these are with the caller of the allocator first.
 */
unsigned int callsites_stack(const struct callsite *c, struct frame *f, unsigned int n)
{
	n = n < FRAMES_MAX - c->at ? n : FRAMES_MAX - c->at;
	if (!n)
		return 0;
	memmove(f + c->at, f, n * sizeof(*f));
	memcpy(f, c->frame, c->at * sizeof(*f));
	f[c->at].activation = false;
	return n + c->at;
}

/* Says what the probes found. */
void callsites_note(const struct callsites *c, u64 armed_ns, struct result *r)
{
	result_note(r, "probes at %u call site%s for %.0f s: %llu blocks of the class, %llu traps; "
		    "ended by %s", c->n, c->n == 1 ? "" : "s", (double)armed_ns / 1e9, c->blocks,
		    c->traps, c->end);
	if (c->hot)
		result_note(r, "probes: %u of the call sites %s called too often, also for other "
			    "sizes", c->hot, c->hot == 1 ? "is" : "are");
	if (c->refused)
		result_note(r, "probes: %u of the call sites cannot have one", c->refused);
}

void callsites_close(struct callsites *c)
{
	while (c->n)
		close(c->site[--c->n].fd);
}
