// SPDX-License-Identifier: GPL-2.0
/*
 * The heap profile that jemalloc 5.3 keeps where it was started with prof:true: samples, by stack.
 * The layout is that of its source at 5.3.0, src/prof_data.c and prof_structs.h, on 64 bits.
 *
 * A hash table in the static data leads to a record for each stack:
 *
 *	+8 number of entries, +16 log2 of the least buckets (u32), +20 of those now (u32),
 *	+24 and +32 functions, that hash and compare, +40 the table: four pairs for each bucket,
 *	the address of the stack within the record (0: the pair is free), that of the record
 *
 * A record: +16 the root of a tree of the threads that allocated there, +104 the stack: address
 * of the return addresses, which is +120 of the record, and their number (u32). A thread: +32
 * blocks in use, +48 their bytes, +56 bytes that they stand for, +96 its record, +112 and +120
 * the threads below it; bit 0 of the last one is a color.
 *
 * No symbol is needed: the table is what leads to records that point to themselves.
 */
#include <string.h>
#include "where/profile.h"

#define STATIC_MAX	(64 * MIB)	/* of static data that is searched */
#define WINDOW		8192U	/* words of it that are read at once */
#define TABLE_WORDS	6U
#define CELLS		4U	/* of a bucket */
#define BUCKETS_LOG2	18U	/* at most */
#define RECORD_WORDS	15U
#define RECORD_STACK	13U	/* its word that is the address of the return addresses */
#define FRAMES_MOST	128U	/* PROF_BT_MAX_LIMIT */
#define THREAD_WORDS	16U
#define DEPTH		64U	/* of the tree of threads */
#define THREADS		(1U << 20)	/* that are read in all: more is a forged tree */
#define CELLS_READ	(1U << 21)	/* of tables, in all: more are forged ones */
#define COUNT_MAX	(1ULL << 48)

struct reader {
	struct target *t;
	const char *file;	/* that has jemalloc */
	unsigned int threads;	/* that may still be read */
	u64 cells;		/* likewise */
};

static bool is_code(const struct reader *r, u64 addr)
{
	const struct where_map *m = target_at(r->t, addr);

	return m && m->exec && m->file && !strcmp(m->file, r->file);
}

static bool is_heap(const struct reader *r, u64 addr)
{
	const struct where_map *m = target_at(r->t, addr);

	return m && m->anon && m->write && !(addr & 7);
}

/* May these words be the table? */
static bool is_table(const struct reader *r, const u64 w[TABLE_WORDS])
{
	u64 least = w[2] & UINT32_MAX, now = w[2] >> 32;

	return w[1] && least && least <= now && now <= BUCKETS_LOG2 &&
	       w[1] <= (u64)CELLS << now && is_code(r, w[3]) && is_code(r, w[4]) &&
	       is_heap(r, w[5]);
}

/*
 * Adds what the threads have in use of a stack to @s. One that does not point back to the record
 * is one that changes meanwhile, or forged: it counts nothing.
 */
static void add_threads(struct reader *r, u64 root, u64 record, struct profile_site *s)
{
	u64 above[DEPTH] = { root }, w[THREAD_WORDS], addr;
	unsigned int n = 1;
	double blocks;

	while (n && r->threads) {
		addr = above[--n];
		r->threads--;
		if (!is_heap(r, addr) || !target_read(r->t, addr, w, sizeof(w)) || w[12] != record)
			continue;
		if (w[4] && w[6] && w[4] < COUNT_MAX && w[6] < COUNT_MAX && w[7] < COUNT_MAX) {
			blocks = (double)w[7] / (double)w[6] * (double)w[4];
			if (blocks < (double)COUNT_MAX && s->bytes + w[7] < COUNT_MAX) {
				s->samples += w[4];
				s->bytes += w[7];
				s->blocks += (u64)blocks;
			}
		}
		if (w[14] && n < DEPTH)
			above[n++] = w[14];
		if (w[15] & ~1ULL && n < DEPTH)
			above[n++] = w[15] & ~1ULL;
	}
}

/* A hash of address and stack: the memory of a record may be used again for another stack. */
static u64 id_of(u64 record, const u64 *pc, unsigned int frames)
{
	u64 h = record;
	unsigned int i;

	for (i = 0; i < frames; i++)
		h = (h ^ pc[i]) * 0x100000001b3ULL;
	return h;
}

/* Adds the site of a record. Returns false if it is none. */
static bool add_record(struct reader *r, u64 key, u64 addr, struct profile *p)
{
	u64 w[RECORD_WORDS], pc[FRAMES_MOST];
	struct profile_site s = { .stack = addr + 8 * RECORD_WORDS };
	u32 frames;

	if (key != addr + 8ULL * RECORD_STACK || !is_heap(r, addr) ||
	    !target_read(r->t, addr, w, sizeof(w)) || w[RECORD_STACK] != s.stack)
		return false;
	frames = (u32)w[14];	/* The other half is what the memory held before. */
	if (!frames || frames > FRAMES_MOST || !target_read(r->t, s.stack, pc, 8ULL * frames))
		return false;
	s.frames = frames;
	s.id = id_of(addr, pc, s.frames);
	if (w[2])
		add_threads(r, w[2], addr, &s);
	if (s.samples)
		profile_add(p, &s);
	return true;
}

/* Reads the table. Returns false if half of what it has, or more, is no record. */
static bool read_table(struct reader *r, const u64 w[TABLE_WORDS], struct profile *p)
{
	u64 cells = (u64)CELLS << (w[2] >> 32), at, n, good = 0, bad = 0, cell[512];
	unsigned int i;

	if (cells > r->cells)
		return false;
	r->cells -= cells;
	for (at = 0; at < cells; at += n) {
		n = cells - at < ARRAY_SIZE(cell) / 2 ? cells - at : ARRAY_SIZE(cell) / 2;
		if (!target_read(r->t, w[5] + 16 * at, cell, 16 * n))
			break;
		for (i = 0; i < n; i++) {
			if (!cell[2 * i])
				continue;
			if (add_record(r, cell[2 * i], cell[2 * i + 1], p))
				good++;
			else
				bad++;
		}
	}
	return good > bad;
}

static bool search(struct reader *r, u64 lo, u64 hi, struct profile *p)
{
	static u64 word[WINDOW];
	u64 at, n;
	size_t i;

	/* The windows overlap: a table may begin in one and end in the next. */
	for (at = lo; at + 8 * TABLE_WORDS <= hi; at += 8 * (n - TABLE_WORDS + 1)) {
		n = (hi - at) / 8 < WINDOW ? (hi - at) / 8 : WINDOW;
		if (!used_read(r->t, at, word, n * 8))
			return false;
		for (i = 0; i + TABLE_WORDS <= n; i++) {
			if (!word[i + 5] || !is_table(r, word + i))
				continue;
			if (read_table(r, word + i, p))
				return true;
			profile_free(p);
		}
	}
	return false;
}

/**
 * jeprof_look() - read the profile of jemalloc
 * @t: the process; its mappings are up to date
 * @file: that has jemalloc, as the mappings have it; its data that may be written is searched, and
 *	the memory behind that
 * @p: out, zeroed
 *
 * Return: false if there is none, it has no block in use, or it is that of another version.
 */
bool jeprof_look(struct target *t, const char *file, struct profile *p)
{
	struct reader r = { .t = t, .file = file, .threads = THREADS,
			    .cells = CELLS_READ };
	const struct where_map *m, *next;
	size_t i;
	u64 hi;

	for (i = 0; file && i < t->maps && !p->n; i++) {
		m = &t->map[i];
		if (!m->file || !m->write || strcmp(m->file, file))
			continue;
		next = i + 1 < t->maps ? m + 1 : m;
		hi = next->lo == m->hi && next->anon && next->write ? next->hi : m->hi;
		hi = hi - m->lo < STATIC_MAX ? hi : m->lo + STATIC_MAX;
		if (search(&r, m->lo, hi, p))
			break;
	}
	return p->n;
}
