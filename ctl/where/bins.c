// SPDX-License-Identifier: GPL-2.0
/*
 * Free chunks of glibc that have the head of a chunk in use: those in the cache of a thread
 * (tcache) and in the fast bins of an arena. The heads of both lists have fixed layouts:
 *
 *	tcache_perthread_struct, in a chunk of 0x290 bytes (0x250 before glibc 2.30):
 *		64 counts of 2 bytes (of 1 byte), 64 pointers to blocks
 *	malloc_state, 0x898 bytes: +0x10 10 fast bins, +0x60 top, +0x70 bins, +0x888 bytes
 *		from the system
 *
 * A cached block has a key in its second word: a random number of the process, or before
 * glibc 2.34 the address of the cache. From 2.32 on a link is stored as its value xor the
 * address of the link / 4096.
 *
 * The process runs on: a block may be handed out before its second word is read, which is a word
 * of the program then. Blocks in use that hold the same word must not count as free ones, so that
 * a word is a key only if most blocks of a cache have it.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define CACHE_BINS	64
#define CACHE_FOLLOW	16	/* blocks that are looked at in one bin of a cache */
#define FAST_BINS	10
#define FAST_MAX	65536U	/* chunks followed in one fast bin */
#define FAST_ALL	(1U << 20)	/* and in all of them, in one look */
#define STATE_FAST	0x10
#define STATE_TOP	0x60
#define STATE_BINS	0x70
#define STATE_SYSTEM	0x888
#define STATE_SIZE	0x898
#define SEARCH_MAX	(8 * MIB)	/* of one mapping */
#define SEARCH_ALL	(256 * MIB)
#define TRIES_MAX	1000	/* words that may be the top */
#define STATE_BIN_PAIRS	127
#define EMPTY_MIN	8	/* of these, empty */
#define BUSY_MAX	2	/* that are changed while they are read */

static void add_key(struct bins *b, u64 key)
{
	unsigned int i;

	for (i = 0; i < b->keys_n; i++)
		if (b->keys[i] == key)
			return;
	if (key && b->keys_n < HEAP_KEYS)
		b->keys[b->keys_n++] = key;
}

/* What the link @v at address @at leads to: a chunk, or a block of a cache; 0: the end */
static u64 follow(u64 v, u64 at)
{
	u64 plain = v ^ (at >> 12);

	if (!v || !plain)
		return 0;
	return plain & 15 ? v & 15 ? 0 : v : plain;
}

/*
 * Reads the second words of up to @count blocks of a bin; @entry has the address of the first one.
 * Returns how many: none if the bin has another first block by now.
 */
static unsigned int words_of_bin(struct target *t, u64 entry, u64 block, unsigned int count,
				 u64 *word)
{
	u64 first = block, d[2], now;
	unsigned int n = 0;

	while (block && n < count && n < CACHE_FOLLOW && used_read(t, block, d, sizeof(d))) {
		word[n++] = d[1];
		block = follow(d[0], block);
	}
	return used_read(t, entry, &now, sizeof(now)) && now == first ? n : 0;
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

/*
 * Takes the key of a thread's cache, if the chunk at @chunk is one that holds any block. Returns
 * whether it is one.
 */
bool bins_thread_cache(struct target *t, struct bins *b, u64 chunk)
{
	u64 size, entry[CACHE_BINS], word[CACHE_BINS * CACHE_FOLLOW], entries;
	unsigned int count[CACHE_BINS], n = 0, i;
	unsigned char d[0x290];
	bool wide;

	if (!used_read(t, chunk, d, sizeof(d)))
		return false;
	memcpy(&size, d + 8, sizeof(size));
	size &= ~7ULL;
	wide = size == 0x290;
	if (!wide && size != 0x250)
		return false;
	entries = 16 + CACHE_BINS * (wide ? 2 : 1);
	for (i = 0; i < CACHE_BINS; i++) {
		memcpy(&entry[i], d + entries + 8 * i, sizeof(entry[i]));
		count[i] = wide ? d[16 + 2 * i] | (unsigned int)d[17 + 2 * i] << 8 : d[16 + i];
		/* in a cache both are empty or neither is */
		if (!count[i] != !entry[i] || (entry[i] & 15))
			return false;
	}
	for (i = 0; i < CACHE_BINS; i++)
		n += words_of_bin(t, chunk + entries + 8 * i, entry[i], count[i], word + n);
	add_key(b, most_of(word, n));
	return true;
}

static bool is_within(u64 addr, u64 lo, u64 hi)
{
	return addr >= lo && addr < hi && !(addr & 15);
}

/*
 * Is the head of an arena at @state, with a top from @lo to @hi? The process may move the top
 * meanwhile. An empty bin points to itself, twice.
 */
static bool is_state(struct target *t, u64 state, u64 lo, u64 hi)
{
	u64 v[STATE_SIZE / 8], at = state + STATE_BINS - 16;
	const u64 *bin = v + STATE_BINS / 8;
	unsigned int empty = 0, busy = 0, i;

	if (!used_read(t, state, v, sizeof(v)) || !is_within(v[STATE_TOP / 8], lo, hi))
		return false;
	for (i = 0; i < STATE_BIN_PAIRS; i++, bin += 2, at += 16) {
		empty += bin[0] == at && bin[1] == at;
		busy += !bin[0] || !bin[1] || (bin[0] & 15) || (bin[1] & 15) ||
			(bin[0] == at) != (bin[1] == at);
	}
	return empty >= EMPTY_MIN && busy <= BUSY_MAX && v[STATE_SYSTEM / 8] >= 4096;
}

/* A top from @lo to @hi is looked for. */
struct search {
	u64 lo, hi;
	u64 left;		/* bytes that may be searched */
	unsigned int tries;	/* words that may be looked at */
};

/* May the word be the top of an arena, as far as the words behind it tell? */
static bool is_top(const struct search *s, const u64 *word, unsigned int words)
{
	return is_within(*word, s->lo, s->hi) &&
	       (words < 4 || (word[2] && word[3] && !((word[2] | word[3]) & 15)));
}

static bool search(struct target *t, struct bins *b, const struct where_map *m, struct search *s)
{
	u64 words[512], addr, lo = m->lo, hi = m->hi;
	unsigned int i;

	for (addr = lo; addr < hi && addr - lo < SEARCH_MAX && s->left; addr += sizeof(words)) {
		s->left -= s->left < sizeof(words) ? s->left : sizeof(words);
		/* The head of an arena was written: a page of the file as such has none. */
		if (!used_has(t, addr) || !used_read(t, addr, words, sizeof(words)))
			continue;
		for (i = 0; i < 512; i++) {
			if (!s->tries || !is_top(s, words + i, 512 - i))
				continue;
			s->tries--;
			if (!is_state(t, addr + 8 * i - STATE_TOP, s->lo, s->hi))
				continue;
			b->main_arena = addr + 8 * i - STATE_TOP;
			return true;
		}
	}
	return false;
}

/*
 * Finds the head of the main arena: static data of libc, or of the program if it is linked
 * statically, in a writable mapping of the file or the anonymous one behind it. The arena's top is
 * from @lo to @hi.
 */
void bins_find_main(struct target *t, struct bins *b, u64 lo, u64 hi)
{
	struct search s = { .lo = lo, .hi = hi, .left = SEARCH_ALL, .tries = TRIES_MAX };
	const struct where_map *m, *before;
	bool libc;
	size_t i;
	int pass;

	if (b->main_arena && is_state(t, b->main_arena, lo, hi))
		return;
	b->main_arena = 0;
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < t->maps; i++) {
			m = &t->map[i];
			before = i ? m - 1 : m;
			libc = (m->file && strstr(m->file, "libc")) ||
			       (m->anon && before->file && strstr(before->file, "libc"));
			if (!m->write || libc == pass ||
			    (!m->file && !(before->file && before->hi == m->lo)))
				continue;
			if (search(t, b, m, &s))
				return;
		}
	}
}

/* Bytes that the arena has from the system, 0: unknown */
u64 bins_system_bytes(struct target *t, u64 arena)
{
	u64 v;

	return used_read(t, arena + STATE_SYSTEM, &v, sizeof(v)) ? v : 0;
}

/*
 * Follows a fast bin, of chunks of @size bytes. Returns how many are in it: none if it is a ring,
 * as chunks are taken out of it and put into it meanwhile, or the program has made one of them.
 * Adds to @read how many were read.
 */
static unsigned int fast_list(struct target *t, u64 chunk, u64 size, u64 *list, unsigned int most,
			      u64 *read)
{
	unsigned int n, power = 1;
	u64 d[3], old = 0;

	for (n = 0; chunk && n < most && chunk != old; n++) {
		++*read;
		if (!used_read(t, chunk, d, sizeof(d)) || (d[1] & ~7ULL) != size)
			return n;
		/* A ring comes back to the chunk of the last power of two, which is in it. */
		if (n + 1 == power) {
			old = chunk;
			power *= 2;
		}
		list[n] = chunk;
		chunk = follow(d[2], chunk + 16);
	}
	return chunk && chunk == old ? 0 : n;
}

/* Takes the chunks in the fast bins of an arena out of the blocks in use. */
void bins_fast(struct target *t, u64 arena, struct look *l)
{
	u64 bin[FAST_BINS], *list, size, most;
	unsigned int i, k, n;

	if (!used_read(t, arena + STATE_FAST, bin, sizeof(bin)))
		return;
	list = must(calloc(FAST_MAX, sizeof(*list)));
	for (i = 0; i < FAST_BINS; i++) {
		size = (u64)(i + 2) * 16;
		if (!bin[i] || (bin[i] & 15))
			continue;
		if (l->fast_read >= FAST_ALL) {
			l->fast_cut = true;
			break;
		}
		most = FAST_ALL - l->fast_read < FAST_MAX ? FAST_ALL - l->fast_read : FAST_MAX;
		n = fast_list(t, bin[i], size, list, (unsigned int)most, &l->fast_read);
		l->fast_cut |= n == most;
		for (k = 0; k < n; k++)
			look_remove(l, class_of_chunk(size), list[k] + 16, size);
	}
	free(list);
}
