// SPDX-License-Identifier: GPL-2.0
/*
 * Which of the sampled blocks stay, and the sites that allocated them. Nothing traps at free():
 * the blocks are read from outside, several times. A block counts as freed if
 *
 *	a later sample has the same address,
 *	its chunk has another size, or the header of the next chunk marks it as free,
 *	its second word is the key by which glibc marks blocks in a cache of a thread, or
 *	less than half of what it held, soon after it was sampled or at the first look, is still
 *	there.
 *
 * Example: of 100 blocks of a request handler 97 are freed within a second, and their places
 * serve the next requests. At one of the nine looks nearly each is free or has other content.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "where/burst.h"

#define SITE_FRAMES	6U	/* frames that tell sites apart */
#define LEAST		5U	/* survivors of a site that is named */
#define SURVIVE		900U	/* permille */
#define HEAD		16U

struct block {
	u64 addr, size, head;
	unsigned char data[BLOCK_KEEP];
	unsigned int bytes;	/* of data */
	const struct early *early;
	unsigned int site;
	bool alive, unchanged;
	unsigned int marks_alive, marks_unchanged;	/* a bit for each mark */
};

struct site {
	struct frame frame[FRAMES_MAX];
	unsigned int frames;
	unsigned int samples, alive, unchanged;
	u64 bytes, unchanged_bytes;	/* of those that are alive, with their heads */
	struct {
		unsigned int alive, unchanged;
	} mark[AGAIN_MAX];
};

struct survivors {
	struct target *t;
	const struct bins *bins;
	struct unwinder *u;
	struct block *block;
	struct site *site;
	size_t n, sites;
	bool seen;		/* after the first look */
	struct again marks;	/* the times of those that were asked for */
};

static unsigned int find_site(struct survivors *v, const struct frame *f, unsigned int n)
{
	size_t i;
	unsigned int k;

	for (i = 0; i < v->sites; i++) {
		const struct site *s = &v->site[i];
		unsigned int most = n > s->frames ? n : s->frames;

		for (k = 0; k < n && k < s->frames && k < SITE_FRAMES; k++)
			if (f[k].pc != s->frame[k].pc)
				break;
		if (k == (most < SITE_FRAMES ? most : SITE_FRAMES))
			return (unsigned int)i;
	}
	memcpy(v->site[v->sites].frame, f, n * sizeof(*f));
	v->site[v->sites].frames = n;
	return (unsigned int)v->sites++;
}

static void add_block(struct survivors *v, const struct seepage_where_sample *s,
		      const struct early *early)
{
	struct block *b = &v->block[v->n++];
	struct frame f[FRAMES_MAX];
	unsigned int n = unwind(v->u, s, f);
	size_t i;

	/* The first frame is the function that allocates. */
	n = n ? n - 1 : 0;
	b->site = find_site(v, f + 1, n);
	b->addr = s->addr;
	b->size = s->size;
	b->bytes = (unsigned int)(s->size < BLOCK_KEEP ? s->size : BLOCK_KEEP);
	b->alive = true;
	b->early = early;
	for (i = 0; i + 1 < v->n; i++)
		if (v->block[i].addr == b->addr)
			v->block[i].alive = false;
}

/* Unwinds the stacks of all samples. */
struct survivors *survivors_new(struct target *t, const struct bins *bins, struct unwinder *u,
				const struct burst *b)
{
	struct survivors *v = must(calloc(1, sizeof(*v)));
	size_t i;

	v->t = t;
	v->bins = bins;
	v->u = u;
	v->block = must(calloc(b->n + 1, sizeof(*v->block)));
	v->site = must(calloc(b->n + 1, sizeof(*v->site)));
	for (i = 0; i < b->n; i++)
		add_block(v, &b->s[i], &b->early[i]);
	return v;
}

/* Reads the head of the chunk, without its lowest bit: that is the neighbour's. */
static bool in_use(struct survivors *v, const struct block *b, u64 *head)
{
	u64 next, chunk;

	if (b->addr < HEAD || !target_read(v->t, b->addr - 8, head, sizeof(*head)))
		return false;
	*head &= ~1ULL;
	chunk = *head & ~7ULL;
	if (*head & 2)		/* a mapping of its own */
		return true;
	if (chunk < b->size + 8 || chunk > b->size + 8 + 2 * HEAD ||
	    !target_read(v->t, b->addr - HEAD + chunk + 8, &next, sizeof(next)))
		return false;
	return next & 1;
}

static bool is_cached(const struct survivors *v, const struct block *b, const unsigned char *data)
{
	unsigned int i;
	u64 word;

	if (b->bytes < 16)
		return false;
	memcpy(&word, data + 8, sizeof(word));
	for (i = 0; i < v->bins->keys_n; i++)
		if (word == v->bins->keys[i])
			return true;
	return false;
}

static bool holds_most(const struct block *b, const unsigned char *data)
{
	unsigned int i, same = 0;

	for (i = 0; i < b->bytes; i++)
		same += data[i] == b->data[i];
	return 2 * same >= b->bytes;
}

/*
 * Does the block hold most of what it did soon after it was sampled? Zeros do not count: they
 * may have been filled in.
 */
static bool is_same_block(const struct early *e, const unsigned char *data)
{
	unsigned int i, same = 0, all = 0;

	for (i = 0; i < e->bytes; i++) {
		all += e->data[i] != 0;
		same += e->data[i] && data[i] == e->data[i];
	}
	return 2 * same >= all;
}

static void look_at(struct survivors *v, struct block *b)
{
	unsigned char data[BLOCK_KEEP];
	u64 head;

	if (!b->alive)
		return;
	b->alive = in_use(v, b, &head) && (!v->seen || head == b->head) &&
		   (!b->bytes || target_read(v->t, b->addr, data, b->bytes)) &&
		   !is_cached(v, b, data);
	b->unchanged = false;
	if (!b->alive)
		return;
	if (!v->seen) {
		if (!is_same_block(b->early, data)) {
			b->alive = false;
			return;
		}
		b->head = head;
		memcpy(b->data, data, b->bytes);
	}
	b->alive = holds_most(b, data);
	b->unchanged = !memcmp(b->data, data, b->bytes);
}

/* Looks at each block that is not known to be freed. The first look is what later ones compare. */
void survivors_look(struct survivors *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		look_at(v, &v->block[i]);
	v->seen = true;
}

/* Keeps what the last look found, as that of a time that was asked for. */
void survivors_mark(struct survivors *v, u64 seconds)
{
	unsigned int bit = 1U << v->marks.n;
	size_t i;

	for (i = 0; i < v->n; i++) {
		v->block[i].marks_alive |= v->block[i].alive ? bit : 0;
		v->block[i].marks_unchanged |= v->block[i].unchanged ? bit : 0;
	}
	v->marks.seconds[v->marks.n++] = seconds;
}

static int by_unchanged(const void *x, const void *y)
{
	const struct site *a = x, *b = y;

	if (a->unchanged_bytes != b->unchanged_bytes)
		return a->unchanged_bytes < b->unchanged_bytes ? 1 : -1;
	return a->samples < b->samples ? 1 : a->samples > b->samples ? -1 : 0;
}

static unsigned int permille(unsigned int part, unsigned int of)
{
	return of ? (part * 1000 + of / 2) / of : 0;
}

/* Wilson's interval of a share, for 95 % */
static struct json_object *interval(unsigned int part, unsigned int of)
{
	struct json_object *list = json_object_new_array();
	double z = 1.96, n = of, p = part / n, mid = p + z * z / (2 * n);
	double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)), all = 1 + z * z / n;
	double lo = 1000 * (mid - half) / all, hi = 1000 * (mid + half) / all;

	json_object_array_add(list, json_object_new_int((int)(lo > 0 ? lo : 0)));
	json_object_array_add(list, json_object_new_int((int)(hi < 1000 ? hi + 0.5 : 1000)));
	return list;
}

/* How many of the site's blocks stayed, look by look */
static struct json_object *marks_json(const struct survivors *v, const struct site *s)
{
	struct json_object *list = json_object_new_array(), *o;
	unsigned int i;

	for (i = 0; i < v->marks.n; i++) {
		o = json_object_new_object();
		json_object_object_add(o, "seconds", json_object_new_uint64(v->marks.seconds[i]));
		json_object_object_add(o, "blocks", json_object_new_uint64(s->mark[i].alive));
		json_object_object_add(o, "survival_permille",
				       json_object_new_int((int)permille(s->mark[i].alive,
									 s->samples)));
		json_object_object_add(o, "unchanged_permille",
				       json_object_new_int((int)permille(s->mark[i].unchanged,
									 s->samples)));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *site_json(struct survivors *v, const struct site *s, unsigned int rank,
				     s64 bytes_per_hour)
{
	struct json_object *o = json_object_new_object(), *stack = json_object_new_array();
	unsigned int i;

	json_object_object_add(o, "rank", json_object_new_uint64(rank));
	json_object_object_add(o, "bytes_per_hour", json_object_new_int64(bytes_per_hour));
	json_object_object_add(o, "blocks", json_object_new_uint64(s->alive));
	json_object_object_add(o, "bytes", json_object_new_uint64(s->bytes));
	json_object_object_add(o, "samples", json_object_new_uint64(s->samples));
	json_object_object_add(o, "survival_permille",
			       json_object_new_int((int)permille(s->alive, s->samples)));
	json_object_object_add(o, "unchanged_permille",
			       json_object_new_int((int)permille(s->unchanged, s->samples)));
	json_object_object_add(o, "ci95_permille", interval(s->alive, s->samples));
	json_object_object_add(o, "again", marks_json(v, s));
	for (i = 0; i < s->frames; i++)
		json_object_array_add(stack, unwind_frame_json(v->u, &s->frame[i]));
	json_object_object_add(o, "stack", stack);
	return o;
}

static void count_marks(const struct survivors *v, const struct block *b, struct site *s)
{
	unsigned int i;

	for (i = 0; i < v->marks.n; i++) {
		s->mark[i].alive += b->marks_alive >> i & 1;
		s->mark[i].unchanged += b->marks_unchanged >> i & 1;
	}
}

static void count(struct survivors *v)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		const struct block *b = &v->block[i];
		struct site *s = &v->site[b->site];
		u64 bytes = (b->size + 8 + 15) & ~15ULL;

		s->samples++;
		s->alive += b->alive;
		s->unchanged += b->unchanged;
		s->bytes += b->alive ? bytes : 0;
		s->unchanged_bytes += b->unchanged ? bytes : 0;
		count_marks(v, b, s);
	}
	if (v->sites)
		qsort(v->site, v->sites, sizeof(*v->site), by_unchanged);
}

static bool is_named(const struct site *s)
{
	return s->alive >= LEAST && permille(s->alive, s->samples) >= SURVIVE;
}

/**
 * survivors_sites() - add the sites of blocks that stay to the answer
 * @v: after its looks
 * @r: to add to
 * @bytes_per_hour: growth of the class, which they share by the bytes that stay
 * @top: most sites
 *
 * Return: number of sites of blocks that do not stay, or that have too few of them.
 */
unsigned int survivors_sites(struct survivors *v, struct result *r, s64 bytes_per_hour, size_t top)
{
	unsigned int named = 0;
	u64 all = 0;
	size_t i;

	count(v);
	for (i = 0; i < v->sites; i++)
		all += is_named(&v->site[i]) ? v->site[i].bytes : 0;
	for (i = 0; i < v->sites; i++) {
		const struct site *s = &v->site[i];

		if (!is_named(s))
			continue;
		if (++named <= top)
			json_object_array_add(r->sites,
					      site_json(v, s, named,
							(s64)((double)bytes_per_hour *
							      (double)s->bytes / (double)all)));
	}
	return (unsigned int)v->sites - named;
}

void survivors_free(struct survivors *v)
{
	if (!v)
		return;
	free(v->block);
	free(v->site);
	free(v);
}
