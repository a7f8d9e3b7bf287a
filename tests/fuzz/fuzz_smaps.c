// SPDX-License-Identifier: GPL-2.0
/*
 * The input is the text of smaps, up to three looks separated by NUL bytes, for cold.c.
 */
#include <stdlib.h>
#include <string.h>
#include "cold/cold.h"
#include "fuzz.h"

#define LOOKS	3

/* Line by line, as getline() has them; returns whether it was taken. */
static bool read_look(struct cold_look *look, const char *text, size_t len)
{
	struct cold_reader r;
	bool fine = true;

	cold_begin(&r, look);
	while (len && fine) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) + 1 : len;
		char *line = must(strndup(text, n));

		fine = cold_line(&r, line);
		free(line);
		text += n;
		len -= n;
	}
	if (fine)
		cold_end(&r);
	return fine;
}

static void promise_sound(const struct cold_look *look)
{
	size_t i;

	promise(look->n <= look->seen && look->seen <= COLD_MAPS_MAX, "%zu of %u mappings",
		look->n, look->seen);
	for (i = 0; i < look->n; i++) {
		const struct cold_map *m = &look->v[i];

		promise(m->start < m->end && (!i || m->start >= look->v[i - 1].end),
			"mapping %zu: %llx-%llx", i, m->start, m->end);
		promise(m->size && m->used <= m->size, "mapping %zu: %llu of %llu used", i,
			m->used, m->size);
		promise(memchr(m->name, '\0', sizeof(m->name)), "a name without an end");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cold_look look[LOOKS] = { 0 };
	const char *text = (const char *)data;
	struct cold_sum sum;
	bool fine = true;
	int i, permille;

	for (i = 0; i < LOOKS && fine; i++) {
		const char *end = size ? memchr(text, '\0', size) : NULL;
		size_t n = end ? (size_t)(end - text) : size;

		fine = read_look(&look[i], text, n);
		if (fine)
			promise_sound(&look[i]);
		n += n < size;
		text += n;
		size -= n;
	}
	if (fine) {
		cold_weigh(&look[0], &look[1], &look[2], &sum);
		permille = cold_permille(&sum);
		promise(sum.unused <= sum.grown, "%llu unused of %llu", sum.unused, sum.grown);
		promise(permille >= -1 && permille <= 1000, "%d permille", permille);
	}
	for (i = 0; i < LOOKS; i++)
		cold_free(&look[i]);
	return 0;
}
