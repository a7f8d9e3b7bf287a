// SPDX-License-Identifier: GPL-2.0
/*
 * The heap profile that a process keeps, of Go or of jemalloc: its sites, and what they gained
 * between two looks.
 */
#include <stdlib.h>
#include <string.h>
#include "where/profile.h"

#define FRAMES_SHOWN	8U
#define FRAMES_READ	32U	/* at most, with those of the allocator itself in front */

void profile_add(struct profile *p, const struct profile_site *s)
{
	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 256;
		p->site = must(realloc(p->site, p->room * sizeof(*s)));
	}
	p->site[p->n++] = *s;
	p->bytes += s->bytes;
}

static int by_id(const void *x, const void *y)
{
	const struct profile_site *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_growth(const void *x, const void *y)
{
	const struct profile_site *a = x, *b = y;

	if (a->growth != b->growth)
		return a->growth < b->growth ? 1 : -1;
	return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : by_id(x, y);
}

/* Fills growth from the earlier look @a, and sorts @b by it. */
void profile_compare(struct profile *a, struct profile *b)
{
	struct profile_site *old;
	size_t i;

	if (a->n)
		qsort(a->site, a->n, sizeof(*a->site), by_id);
	for (i = 0; i < b->n; i++) {
		old = a->n ? bsearch(&b->site[i], a->site, a->n, sizeof(*old), by_id) : NULL;
		b->site[i].growth = (s64)(b->site[i].bytes - (old ? old->bytes : 0));
	}
	if (b->n)
		qsort(b->site, b->n, sizeof(*b->site), by_growth);
}

static struct json_object *frame_json(struct target *t, u64 addr)
{
	struct json_object *o = json_object_new_object();
	const struct where_map *m = target_at(t, addr);
	char name[CONTENT_NAME];
	bool known = symbol_at(t, addr - 1, name, sizeof(name));

	json_object_object_add(o, "address", json_object_new_uint64(addr));
	json_object_object_add(o, "module", m && m->file ? json_text(m->file, strlen(m->file)) :
			       NULL);
	json_object_object_add(o, "build_id", NULL);
	json_object_object_add(o, "offset", m && m->file ?
			       json_object_new_uint64(addr - target_base(t, m)) : NULL);
	json_object_object_add(o, "symbol", known ? json_text(name, strlen(name)) : NULL);
	json_object_object_add(o, "demangled", NULL);
	json_object_object_add(o, "source", NULL);
	json_object_object_add(o, "inlined", json_object_new_boolean(false));
	json_object_object_add(o, "language", NULL);
	return o;
}

/* Is the code that of a library named libjemalloc? Frames of the allocator are skipped. */
static bool is_allocator(const struct target *t, u64 addr)
{
	const struct where_map *m = target_at(t, addr);
	const char *base = m && m->file ? strrchr(m->file, '/') : NULL;

	return base && !strncmp(base, "/libjemalloc", 12);
}

static void stack_add(struct target *t, struct unwinder *u, const struct profile_site *s,
		      struct json_object *stack)
{
	unsigned int n = s->frames < FRAMES_READ ? s->frames : FRAMES_READ, i, from = 0;
	struct frame f = { 0 };
	u64 pc[FRAMES_READ];

	if (!n || !target_read(t, s->stack, pc, 8 * n))
		return;
	while (from < n - 1 && is_allocator(t, pc[from]))
		from++;
	n = n - from < FRAMES_SHOWN ? n : from + FRAMES_SHOWN;
	for (i = from; i < n; i++) {
		f.pc = pc[i];
		if (u)
			unwind_frame_add(u, &f, stack);
		else
			json_object_array_add(stack, frame_json(t, pc[i]));
	}
}

/* The site as an element of "sites". What the profile does not know is null. */
static struct json_object *site_json(struct target *t, struct unwinder *u,
				     const struct profile_site *s, size_t rank,
				     s64 bytes_per_hour)
{
	struct json_object *o = json_object_new_object(), *stack = json_object_new_array();

	json_object_object_add(o, "rank", json_object_new_uint64(rank));
	json_object_object_add(o, "bytes_per_hour", json_object_new_int64(bytes_per_hour));
	json_object_object_add(o, "blocks", json_object_new_uint64(s->blocks));
	json_object_object_add(o, "bytes", json_object_new_uint64(s->bytes));
	json_object_object_add(o, "samples", json_object_new_uint64(s->samples));
	json_object_object_add(o, "survival_permille", NULL);
	json_object_object_add(o, "unchanged_permille", NULL);
	json_object_object_add(o, "ci95_permille", NULL);
	stack_add(t, u, s, stack);
	json_object_object_add(o, "stack", stack);
	return o;
}

/**
 * profile_sites() - add the sites of a profile to an answer
 * @t: the process; its mappings are up to date
 * @p: after profile_compare()
 * @most: number of sites
 * @native: stacks are those of native code, of which debug data knows lines; of Go symbols are
 *	enough
 * @r: its method, allocator and seconds are set
 */
void profile_sites(struct target *t, const struct profile *p, size_t most, bool native,
		   struct result *r)
{
	struct unwinder *u = native ? unwinder_new(t) : NULL;
	size_t i;

	for (i = 0; i < p->n && i < most && p->site[i].bytes; i++)
		json_object_array_add(r->sites,
				      site_json(t, u, &p->site[i], i + 1,
						result_per_hour(r, p->site[i].growth)));
	if (u)
		unwinder_note(u, r);
	unwinder_free(u);
}

void profile_free(struct profile *p)
{
	free(p->site);
	memset(p, 0, sizeof(*p));
}
