// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of allocators: their names, how their blocks are found to be freed, what is in
 * front of the names of their functions.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

static const struct {
	const char *name;
	bool chunks;
	enum block_rule rule;
} allocators[] = {
	[ALLOCATOR_UNKNOWN] = { "unknown", false, BLOCK_LINKED },
	[ALLOCATOR_GLIBC] = { "glibc", true, BLOCK_CHUNK },
	[ALLOCATOR_STATIC_GLIBC] = { "static glibc", true, BLOCK_CHUNK },
	[ALLOCATOR_MUSL] = { "musl", false, BLOCK_MUSL },
	[ALLOCATOR_JEMALLOC] = { "jemalloc", false, BLOCK_PLAIN },
	[ALLOCATOR_TCMALLOC] = { "tcmalloc", false, BLOCK_LINKED },
	[ALLOCATOR_MIMALLOC] = { "mimalloc", false, BLOCK_LINKED },
};

const char *allocator_name(enum allocator kind)
{
	return allocators[kind].name;
}

/* Are its blocks those that the census walks? */
bool allocator_has_chunks(enum allocator kind)
{
	return allocators[kind].chunks;
}

enum block_rule allocator_rule(enum allocator kind)
{
	return allocators[kind].rule;
}

/* How a block is found to be freed, and what is not seen */
const char *allocator_note(enum block_rule rule)
{
	switch (rule) {
	case BLOCK_CHUNK:
		return NULL;
	case BLOCK_MUSL:
		return "stays: not given out again, not marked as free by musl, content kept";
	case BLOCK_LINKED:
		return "stays: not given out again, no new pointer in the first word, content "
		       "kept; a block that was freed before it was first read, and not used again, "
		       "looks as if it stays";
	case BLOCK_BITMAP:
		return "stays: not given out again, in use by the bitmaps of jemalloc, content "
		       "kept; a freed block that a thread keeps for reuse looks as if it stays";
	case BLOCK_PLAIN:
		return "stays: not given out again, content kept; a freed block that is not used "
		       "again looks as if it stays";
	}
	return NULL;
}

/* The code of the object; the mappings may have been read anew. NULL: it is gone */
const struct where_map *object_map(const struct target *t, const struct object *o)
{
	size_t i;

	for (i = 0; o->file && i < t->maps; i++)
		if (t->map[i].file && t->map[i].exec && !strcmp(t->map[i].file, o->file))
			return &t->map[i];
	return NULL;
}

/* What is in front of the names of the functions */
const char *family_prefix(enum family family)
{
	static const char *const prefixes[FAMILIES] = {
		[FAMILY_PLAIN] = "", [FAMILY_RJEM] = "_rjem_", [FAMILY_JE] = "je_",
	};

	return prefixes[family];
}

/* Is there another allocator, beside the one that was found? */
bool object_other(const struct object *o, char prefix[OBJECT_PREFIX])
{
	snprintf(prefix, OBJECT_PREFIX, "%s", family_prefix(o->other));
	return o->file && o->other != FAMILY_PLAIN;
}

void object_drop(struct object *o)
{
	free(o->file);
	*o = (struct object){ 0 };
}
