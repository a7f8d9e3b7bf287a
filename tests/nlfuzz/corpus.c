// SPDX-License-Identifier: GPL-2.0
/*
 * Batches that showed something new, and what has been seen so far: code of
 * the module where the kernel tells, kinds of answers everywhere.
 */
#include <stdlib.h>
#include <string.h>
#include "nlfuzz.h"

#define CORPUS_MAX	4096
#define SEEN_BITS	16

static struct batch *corpus[CORPUS_MAX];
static unsigned int n_corpus;
static uint64_t seen[1 << SEEN_BITS];
static unsigned int n_seen;

void corpus_add(const struct batch *b)
{
	struct batch *copy = n_corpus < CORPUS_MAX ? malloc(sizeof(*copy)) : NULL;

	if (!copy)
		return;
	copy->len = b->len;
	memcpy(copy->data, b->data, b->len);
	corpus[n_corpus++] = copy;
}

const struct batch *corpus_pick(void)
{
	return n_corpus ? corpus[below(n_corpus)] : NULL;
}

unsigned int corpus_size(void)
{
	return n_corpus;
}

/* A table that is half full at most; beyond that nothing is new any more. */
bool seen_before(uint64_t what)
{
	uint32_t i = what * 0x9e3779b97f4a7c15ULL >> (64 - SEEN_BITS);

	while (what && seen[i] && seen[i] != what)
		i = (i + 1) % ARRAY_SIZE(seen);
	if (!what || seen[i] == what || n_seen >= ARRAY_SIZE(seen) / 2)
		return true;
	seen[i] = what;
	n_seen++;
	return false;
}
