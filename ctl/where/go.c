// SPDX-License-Identifier: GPL-2.0
/*
 * The heap profile that the runtime of Go keeps: a list of buckets, one for each stack that
 * allocated. It begins at the variable runtime.mbuckets, and a bucket is
 *
 *	+0 next in the hash table, +8 next in the list, +16 kind (1: memory), +24 hash,
 *	+32 size of the blocks, +40 number of frames, +48 frames (return addresses),
 *	then blocks allocated, blocks freed, bytes allocated, bytes freed
 *
 * as of the last collection but one. Samples are scaled as pprof scales them: a block of s
 * bytes is taken with the chance 1 - exp(-s / rate).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "where/go.h"

#define GO_ARENA	0xc000000000ULL	/* where the heap begins on 64-bit machines */
#define KIND_MEMORY	1
#define BUCKETS_MAX	200000U
#define FRAMES_MAX	128U
#define FRAMES_SHOWN	8U
#define HEAD_WORDS	6U
#define COUNT_MAX	(1ULL << 48)

/* Does the process have the heap of Go? */
bool go_is(const struct target *t)
{
	const struct where_map *m = target_at(t, GO_ARENA);

	return m && m->lo == GO_ARENA && m->anon;
}

/* What a bucket of a forged profile stands for may be infinite, or no number: it counts nothing. */
static void scale(struct go_site *s, u64 blocks, u64 bytes, u64 rate)
{
	double chance = 1, all_blocks, all_bytes;

	if (rate > 1 && blocks)
		chance = 1 - exp(-(double)bytes / (double)blocks / (double)rate);
	all_blocks = (double)blocks / chance;
	all_bytes = (double)bytes / chance;
	if (!(all_blocks < COUNT_MAX && all_bytes < COUNT_MAX))
		return;
	s->samples = blocks;
	s->blocks = (u64)all_blocks;
	s->bytes = (u64)all_bytes;
}

/* Reads the bucket at @addr. Returns the address of the next one, 0: none, or no bucket. */
static u64 bucket(struct target *t, u64 addr, u64 rate, struct go_site *s)
{
	u64 h[HEAD_WORDS], count[4];

	memset(s, 0, sizeof(*s));
	if (!target_read(t, addr, h, sizeof(h)) || h[2] != KIND_MEMORY || h[5] > FRAMES_MAX ||
	    !target_read(t, addr + sizeof(h) + 8 * h[5], count, sizeof(count)))
		return 0;
	s->bucket = addr;
	s->frames = (unsigned int)h[5];
	if (count[0] >= count[1] && count[2] >= count[3] && count[0] < COUNT_MAX &&
	    count[2] < COUNT_MAX)
		scale(s, count[0] - count[1], count[2] - count[3], rate);
	return h[1];
}

static int by_address(const void *x, const void *y)
{
	const struct go_site *a = x, *b = y;

	return a->bucket < b->bucket ? -1 : a->bucket > b->bucket;
}

/**
 * go_look() - read the profile
 * @t: the process; its mappings are up to date
 * @p: out, sites by address; go_free() frees them
 *
 * Return: false if the program has no symbols, or does not profile.
 */
bool go_look(struct target *t, struct go_profile *p)
{
	u64 list, rate, addr, at;
	struct go_site s;
	size_t capacity = 0;

	memset(p, 0, sizeof(*p));
	if (!symbol_find(t, "runtime.mbuckets", &list) ||
	    !symbol_find(t, "runtime.MemProfileRate", &at) ||
	    !target_read(t, list, &addr, sizeof(addr)) ||
	    !target_read(t, at, &rate, sizeof(rate)) || !rate || rate >> 40)
		return false;
	while (addr && p->n < BUCKETS_MAX) {
		addr = bucket(t, addr, rate, &s);
		if (!s.bucket)
			break;
		if (p->n == capacity) {
			capacity = capacity ? 2 * capacity : 256;
			p->site = must(realloc(p->site, capacity * sizeof(s)));
		}
		p->site[p->n++] = s;
		p->bytes += s.bytes;
	}
	if (p->n)
		qsort(p->site, p->n, sizeof(*p->site), by_address);
	return p->n;
}

static int by_growth(const void *x, const void *y)
{
	const struct go_site *a = x, *b = y;

	if (a->growth != b->growth)
		return a->growth < b->growth ? 1 : -1;
	return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : by_address(x, y);
}

/* Fills growth from the earlier look @a, and sorts @b by it. A bucket stays where it is. */
void go_compare(const struct go_profile *a, struct go_profile *b)
{
	struct go_site *old;
	size_t i;

	for (i = 0; i < b->n; i++) {
		old = a->n ? bsearch(&b->site[i], a->site, a->n, sizeof(*old), by_address) : NULL;
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

/* The site as an element of "sites". What the profile does not know is null. */
struct json_object *go_site_json(struct target *t, const struct go_site *s, size_t rank,
				 s64 bytes_per_hour)
{
	struct json_object *o = json_object_new_object(), *stack = json_object_new_array();
	u64 frame[FRAMES_SHOWN];
	unsigned int n = s->frames < FRAMES_SHOWN ? s->frames : FRAMES_SHOWN, i;

	json_object_object_add(o, "rank", json_object_new_uint64(rank));
	json_object_object_add(o, "bytes_per_hour", json_object_new_int64(bytes_per_hour));
	json_object_object_add(o, "blocks", json_object_new_uint64(s->blocks));
	json_object_object_add(o, "bytes", json_object_new_uint64(s->bytes));
	json_object_object_add(o, "samples", json_object_new_uint64(s->samples));
	json_object_object_add(o, "survival_permille", NULL);
	json_object_object_add(o, "unchanged_permille", NULL);
	json_object_object_add(o, "ci95_permille", NULL);
	if (n && target_read(t, s->bucket + 8 * HEAD_WORDS, frame, 8 * n))
		for (i = 0; i < n; i++)
			json_object_array_add(stack, frame_json(t, frame[i]));
	json_object_object_add(o, "stack", stack);
	return o;
}

void go_free(struct go_profile *p)
{
	free(p->site);
	memset(p, 0, sizeof(*p));
}
