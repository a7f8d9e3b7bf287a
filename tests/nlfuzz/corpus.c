// SPDX-License-Identifier: GPL-2.0
/*
 * Batches that reached something new. New is code of the module, where kcov is available, and
 * a new kind of answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nlfuzz.h"

#define CORPUS_MAX	4096
#define SEEN_BITS	16

static struct batch *corpus[CORPUS_MAX];
static bool ran_new_code[CORPUS_MAX];
static unsigned int n_corpus;
static uint64_t seen[1 << SEEN_BITS];
static unsigned int n_seen;

void corpus_add(const struct batch *b, bool new_code)
{
	struct batch *copy = n_corpus < CORPUS_MAX ? malloc(sizeof(*copy)) : NULL;

	if (!copy)
		return;
	copy->len = b->len;
	memcpy(copy->data, b->data, b->len);
	ran_new_code[n_corpus] = new_code;
	corpus[n_corpus++] = copy;
}

void batch_write(FILE *f, const struct batch *b)
{
	unsigned int i;

	for (i = 0; i < b->len; i++)
		fprintf(f, "%02x", b->data[i]);
	fputc('\n', f);
}

/* The rest of a line; false: it holds no batch. */
bool batch_read(FILE *f, struct batch *b)
{
	static char line[2 * BATCH_MAX + 2];
	unsigned int byte;
	const char *c;

	b->len = 0;
	if (!fgets(line, sizeof(line), f))
		return false;
	for (c = line; sscanf(c, "%2x", &byte) == 1 && b->len < BATCH_MAX; c += 2)
		b->data[b->len++] = byte;
	return b->len;
}

/* Those that ran new code, for the runs to come; comments begin with #. */
void corpus_save(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned int i;

	need(f, "%s: cannot be written", path);
	for (i = 0; i < n_corpus; i++)
		if (ran_new_code[i])
			batch_write(f, corpus[i]);
	need(!fclose(f), "%s: cannot be written", path);
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
