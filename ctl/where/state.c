// SPDX-License-Identifier: GPL-2.0
/*
 * The heads of glibc's arenas. What follows the word with the top chunk has been the same since
 * glibc 2.26, so that a head is known by the address of that word:
 *
 *	+0	top, +0x08 what is left of the last chunk that was split
 *	+0x10	127 bins, each a first and a last chunk, or twice the address of this word + 16 * n
 *	+0x810	next arena, a ring
 *	+0x828	bytes from the system
 *
 * In front of it are a lock and flags, and the ten fast bins up to glibc 2.42. Where the head
 * begins is not taken from a version: the ring of arenas comes back to that address, and in an
 * arena of threads the head of its heap has it.
 */
#include <string.h>
#include "where/where.h"

#define STATE_BINS	0x10
#define STATE_NEXT	0x810
#define STATE_SYSTEM	0x828
#define STATE_END	0x838
#define BIN_PAIRS	127
#define EMPTY_MIN	8	/* of these, empty */
#define BUSY_MAX	2	/* that are changed while they are read */
#define WORDS		512U
#define AHEAD		64U	/* words behind a window that are read with it */
#define SEARCH_MAX	(8 * MIB)	/* of one mapping */
#define SEARCH_ALL	(256 * MIB)
#define TRIES_MAX	1000U	/* words that may be the top */
#define ARENAS_MAX	4096U

/* Where the top is in the head: glibc 2.27 to 2.42, from 2.43 on without fast bins, 2.26 */
static const u64 layouts[] = { 0x60, 0x08, 0x58 };

static bool is_within(u64 addr, u64 lo, u64 hi)
{
	return addr >= lo && addr < hi && !(addr & 15);
}

/*
 * Is the head of an arena around @at, with a top from @lo to @hi? The process may move the top
 * meanwhile.
 */
static bool is_state(struct target *t, u64 at, u64 lo, u64 hi)
{
	u64 v[STATE_END / 8], self = at;
	const u64 *bin = v + STATE_BINS / 8;
	unsigned int empty = 0, busy = 0, i;

	if (!used_read(t, at, v, sizeof(v)) || !is_within(v[0], lo, hi))
		return false;
	for (i = 0; i < BIN_PAIRS; i++, bin += 2, self += 16) {
		empty += bin[0] == self && bin[1] == self;
		busy += !bin[0] || !bin[1] || (bin[0] & 7) || (bin[1] & 7) ||
			(bin[0] == self) != (bin[1] == self);
	}
	return empty >= EMPTY_MIN && busy <= BUSY_MAX && v[STATE_SYSTEM / 8] >= 4096;
}

/* A top from @lo to @hi is looked for. */
struct search {
	u64 lo, hi;
	u64 left;		/* bytes that may be searched */
	unsigned int tries;	/* words that may be looked at */
};

/* May the word at @addr be the top of an arena? Then one of the next bins is empty. */
static bool is_top(const struct search *s, const u64 *word, u64 addr)
{
	unsigned int i;

	if (!is_within(*word, s->lo, s->hi))
		return false;
	for (i = 2; i + 1 < AHEAD; i += 2, addr += 16)
		if (word[i] == addr && word[i + 1] == addr)
			return true;
	return false;
}

/* Follows the ring of arenas, which comes back to the head of the main one at @main. */
static bool is_ring(struct target *t, u64 main, u64 layout)
{
	u64 at = main, next, head;
	unsigned int i;

	for (i = 0; i < ARENAS_MAX; i++, at = next) {
		if (!used_read(t, at + layout + STATE_NEXT, &next, sizeof(next)))
			return false;
		if (next == main)
			return true;
		head = next & (HEAP_ALIGN - 1);
		if (head != 0x20 && head != 0x30)
			return false;
	}
	return false;
}

/* Takes the head with the top at @top if it is in a ring, as a head is unless that changes now. */
static bool take_whole(struct target *t, struct bins *b, u64 top)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		if (is_ring(t, top - layouts[i], layouts[i])) {
			b->main_top = top;
			b->layout = layouts[i];
			return true;
		}
	return false;
}

/*
 * Searches a mapping. Arrays of a program may look like a head: empty entries of those of pymalloc
 * point to themselves in the same way. So only what has a ring is one.
 */
static bool search(struct target *t, struct bins *b, const struct where_map *m, struct search *s)
{
	u64 words[WORDS + AHEAD] = { 0 }, addr, n;
	unsigned int i;

	for (addr = m->lo; addr < m->hi && addr - m->lo < SEARCH_MAX && s->left;
	     addr += WORDS * 8) {
		s->left -= s->left < WORDS * 8 ? s->left : WORDS * 8;
		n = m->hi - addr < sizeof(words) ? m->hi - addr : sizeof(words);
		/* The head of an arena was written: a page of the file as such has none. */
		if (!used_has(t, addr) || !used_read(t, addr, words, n))
			continue;
		for (i = 0; i < WORDS && s->tries; i++) {
			if (!is_top(s, words + i, addr + 8 * i))
				continue;
			s->tries--;
			if (!is_state(t, addr + 8 * i, s->lo, s->hi))
				continue;
			if (take_whole(t, b, addr + 8 * i))
				return true;
		}
	}
	return false;
}

static bool is_of_libc(const char *file)
{
	const char *base = file ? strrchr(file, '/') : NULL;

	return base && strstr(base, "libc");
}

/**
 * state_find_main() - find the head of the main arena
 * @t: the process
 * @b: where it was, if that is known; out: where it is
 * @lo: the arena's top is from here
 * @hi: to here, or as far as it may have moved since the mappings were read
 *
 * It is static data of libc, or of the program if it is linked statically, in a writable mapping
 * of the file or the anonymous one behind it.
 */
void state_find_main(struct target *t, struct bins *b, u64 lo, u64 hi)
{
	struct search s = { .lo = lo, .hi = hi, .left = SEARCH_ALL, .tries = TRIES_MAX };
	const struct where_map *m, *before;
	bool libc;
	size_t i;
	int pass;

	if (b->main_top && is_state(t, b->main_top, lo, hi))
		return;
	b->main_top = 0;
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < t->maps; i++) {
			m = &t->map[i];
			before = i ? m - 1 : m;
			libc = is_of_libc(m->file) || (m->anon && is_of_libc(before->file));
			if (!m->write || libc == pass ||
			    (!m->file && !(before->file && before->hi == m->lo)))
				continue;
			if (search(t, b, m, &s))
				return;
		}
	}
}

/**
 * state_of_heap() - where the top is in the head of an arena of threads
 * @t: the process
 * @b: what is known of other arenas
 * @state: address of the head
 *
 * Return: the offset; that of the other arenas if the head does not tell, as it changes just now.
 */
u64 state_of_heap(struct target *t, struct bins *b, u64 state)
{
	size_t i;

	if (b->layout && is_state(t, state + b->layout, 0, UINT64_MAX))
		return b->layout;
	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		if (is_state(t, state + layouts[i], 0, UINT64_MAX)) {
			b->layout = layouts[i];
			return b->layout;
		}
	return b->layout ? b->layout : layouts[0];
}

/* Bytes of an arena's head that has its top there */
u64 state_bytes(u64 layout)
{
	return layout + STATE_END;
}

/* Bytes that the arena with the top word @top has from the system, 0: unknown */
u64 state_system_bytes(struct target *t, u64 top)
{
	u64 v;

	return used_read(t, top + STATE_SYSTEM, &v, sizeof(v)) ? v : 0;
}
