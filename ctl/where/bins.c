// SPDX-License-Identifier: GPL-2.0
/*
 * Free chunks of glibc that have the head of a chunk in use: those in the cache of a thread
 * (tcache) and in the fast bins of an arena. The latter are ten words in front of the top, see
 * state.c. A cache is a chunk of its own:
 *
 *	0x250 bytes, before glibc 2.30: 64 counts of 1 byte, 64 pointers to blocks
 *	0x290 bytes, up to 2.41: 64 counts of 2 bytes, 64 pointers
 *	0x300 bytes: 76 numbers of places that are left, of 2 bytes, 76 pointers
 *
 * A cached block has a key in its second word: a random number of the process, or before
 * glibc 2.34 the address of the cache. From 2.32 on a link is stored as its value xor the
 * address of the link / 4096. Which it is, the sizes of the chunks tell: the wrong way ends soon.
 *
 * The process runs on: a block may be handed out before its second word is read, which is a word
 * of the program then. Blocks in use that hold the same word must not count as free ones, so that
 * a word is a key only if most blocks of a cache have it.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define CACHE_BINS	64	/* of blocks of one size each */
#define CACHE_BINS_MAX	76
#define CACHE_BYTES	0x308	/* up to the end of its last pointer */
#define CACHE_FOLLOW	16	/* blocks that are looked at in one bin of a cache */
#define FAST_BINS	10
#define FAST_MAX	65536U	/* chunks followed in one fast bin */
#define FAST_ALL	(1U << 20)	/* and in all of them, in one look */
#define HEAD		16	/* of a chunk, up to its block */

static const struct cache_layout {
	u64 size;		/* of its chunk */
	unsigned int bins, width;	/* of a count, in bytes */
	bool is_left;		/* counts are of places that are left */
} caches[] = {
	{ 0x250, 64, 1, false },
	{ 0x290, 64, 2, false },
	{ 0x300, CACHE_BINS_MAX, 2, true },
};

/* Is the word one that only free chunks have? */
bool bins_is_key(const struct bins *b, u64 word)
{
	unsigned int i;

	for (i = 0; i < b->keys_n; i++)
		if (b->keys[i] == word)
			return true;
	return false;
}

static void add_key(struct bins *b, u64 key)
{
	if (key && !bins_is_key(b, key) && b->keys_n < HEAP_KEYS)
		b->keys[b->keys_n++] = key;
}

/*
 * The chunk that the link @v at address @at leads to, which has @size bytes; 0: the end, or it is
 * none. Links lead to what is @skip bytes behind the begin of a chunk.
 */
static u64 follow(struct target *t, u64 v, u64 at, u64 skip, u64 size)
{
	u64 head;

	v ^= at >> 12;
	if (v <= skip || (v & 15) || !used_read(t, v - skip + 8, &head, sizeof(head)) ||
	    (head & ~7ULL) != size)
		return 0;
	return v - skip;
}

/* Reads the second words of up to @count blocks of a bin. Returns how many. */
static unsigned int words_of(struct target *t, u64 block, unsigned int count, u64 size,
			     bool is_mangled, u64 *word)
{
	unsigned int n = 0;
	u64 d[2];

	while (block && n < count && n < CACHE_FOLLOW && used_read(t, block, d, sizeof(d))) {
		word[n++] = d[1];
		block = follow(t, d[0], is_mangled ? block : 0, HEAD, size);
		block += block ? HEAD : 0;
	}
	return n;
}

/*
 * The same, whatever links are like: the wrong way ends at once. @entry has the address of the
 * first block. None if the bin has another first block by now
 */
static unsigned int words_of_bin(struct target *t, u64 entry, u64 block, unsigned int count,
				 u64 size, u64 *word)
{
	unsigned int plain = words_of(t, block, count, size, false, word), n;
	u64 now;

	n = words_of(t, block, count, size, true, word);
	if (n < plain)
		n = words_of(t, block, count, size, false, word);
	return used_read(t, entry, &now, sizeof(now)) && now == block ? n : 0;
}

/* The word that more than half of them are; 0: there is none (the vote of Boyer and Moore) */
static u64 most_of(const u64 *word, unsigned int n)
{
	unsigned int i, lead = 0, hits = 0;
	u64 best = 0;

	for (i = 0; i < n; i++) {
		if (!lead)
			best = word[i];
		lead += word[i] == best ? 1U : -1U;
	}
	for (i = 0; i < n; i++)
		hits += word[i] == best;
	return 2 * hits > n ? best : 0;
}

static const struct cache_layout *layout_of(u64 size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caches); i++)
		if (caches[i].size == size)
			return &caches[i];
	return NULL;
}

/* May a chunk of that size be the cache of a thread? */
bool bins_may_be_cache(u64 size)
{
	return layout_of(size);
}

struct cache {
	unsigned int count[CACHE_BINS_MAX];	/* blocks in each bin */
	u64 entry[CACHE_BINS_MAX];
	u64 entries;		/* offset of the first one in the chunk */
};

/* Reads a cache out of its chunk. Returns false if it is none. */
static bool parse_cache(const unsigned char *d, struct cache *c)
{
	const struct cache_layout *l;
	unsigned int i, most = 0;
	u64 size;

	memcpy(&size, d + 8, sizeof(size));
	l = layout_of(size & ~7ULL);
	if (!l)
		return false;
	memset(c, 0, sizeof(*c));
	c->entries = HEAD + (u64)l->bins * l->width;
	for (i = 0; i < l->bins; i++) {
		memcpy(&c->count[i], d + HEAD + (size_t)i * l->width, l->width);
		memcpy(&c->entry[i], d + c->entries + 8 * (size_t)i, sizeof(c->entry[i]));
		most = c->count[i] > most ? c->count[i] : most;
	}
	for (i = 0; i < l->bins; i++) {
		if (l->is_left)
			c->count[i] = most - c->count[i];
		/* in a cache both are empty or neither is */
		if (!c->count[i] != !c->entry[i] || (c->entry[i] & 15))
			return false;
	}
	return true;
}

/*
 * Takes the key of a thread's cache, if the chunk at @chunk is one that holds any block. Returns
 * whether it is one.
 */
bool bins_thread_cache(struct target *t, struct bins *b, u64 chunk)
{
	u64 word[CACHE_BINS * CACHE_FOLLOW];
	unsigned char d[CACHE_BYTES];
	unsigned int n = 0, i;
	struct cache c;

	if (!used_read(t, chunk, d, sizeof(d)) || !parse_cache(d, &c))
		return false;
	for (i = 0; i < CACHE_BINS; i++)
		n += words_of_bin(t, chunk + c.entries + 8 * (u64)i, c.entry[i], c.count[i],
				  ((u64)i + 2) * 16, word + n);
	add_key(b, most_of(word, n));
	return true;
}

/* The chunks of a fast bin */
struct fast {
	u64 *list;
	unsigned int n, most;
	bool is_ring;
};

/*
 * Follows a fast bin, of chunks of @size bytes. None are in it if it is a ring, as chunks are taken
 * out of it and put into it meanwhile, or the program has made one of them. Adds to @read how many
 * were read.
 */
static void fast_list(struct target *t, u64 chunk, u64 size, bool is_mangled, struct fast *f,
		      u64 *read)
{
	unsigned int power = 1;
	u64 next, old = 0;

	for (f->n = 0; chunk && f->n < f->most && chunk != old; f->n++) {
		*read += f->n > 0;
		if (!used_read(t, chunk + HEAD, &next, sizeof(next)))
			return;
		/* A ring comes back to the chunk of the last power of two, which is in it. */
		if (f->n + 1 == power) {
			old = chunk;
			power *= 2;
		}
		f->list[f->n] = chunk;
		chunk = follow(t, next, is_mangled ? chunk + HEAD : 0, 0, size);
	}
	f->is_ring = f->is_ring || (chunk && chunk == old);
}

/* The same, whatever links are like: the wrong way ends soon. */
static void fast_longer(struct target *t, u64 chunk, u64 size, struct fast *f, u64 *read)
{
	unsigned int plain;

	f->is_ring = false;
	fast_list(t, chunk, size, false, f, read);
	plain = f->n;
	fast_list(t, chunk, size, true, f, read);
	if (f->n < plain)
		fast_list(t, chunk, size, false, f, read);
	if (f->is_ring)
		f->n = 0;
}

/**
 * bins_fast() - take the chunks in the fast bins of an arena out of the blocks in use
 * @t: the process
 * @top: address of the arena's word with its top
 * @layout: where that is in the head of the arena; 0: not known
 * @l: where they were counted
 */
void bins_fast(struct target *t, u64 top, u64 layout, struct look *l)
{
	u64 bin[FAST_BINS], size, most, first;
	struct fast f = { .n = 0 };
	unsigned int i, k;

	if (layout < sizeof(bin) || !used_read(t, top - sizeof(bin), bin, sizeof(bin)))
		return;
	f.list = must(calloc(FAST_MAX, sizeof(*f.list)));
	for (i = 0; i < FAST_BINS; i++) {
		size = (u64)(i + 2) * 16;
		if (!bin[i] || (bin[i] & 15))
			continue;
		if (l->fast_read >= FAST_ALL) {
			l->fast_cut = true;
			break;
		}
		most = FAST_ALL - l->fast_read < FAST_MAX ? FAST_ALL - l->fast_read : FAST_MAX;
		/* The link in the head of an arena is a plain one. */
		first = follow(t, bin[i], 0, 0, size);
		l->fast_read++;
		f.most = (unsigned int)most;
		fast_longer(t, first, size, &f, &l->fast_read);
		l->fast_cut |= f.n == f.most;
		for (k = 0; k < f.n; k++)
			look_remove(l, class_of_chunk(size), f.list[k] + HEAD, size);
	}
	free(f.list);
}
