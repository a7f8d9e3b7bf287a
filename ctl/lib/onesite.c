// SPDX-License-Identifier: GPL-2.0
/*
 * One call site that keeps all its blocks, in a process that otherwise frees what it allocates.
 * That is what a leak looks like, and few caches do. It is a fact beside the verdict, and decides
 * nothing.
 *
 * Example: the class of 200 bytes grows. The burst sampled 712 calls of one site, none of the
 * blocks was freed, and each other site frees some of its own. Meanwhile about 9000 calls asked for
 * other sizes, and the other classes grew by about 12 blocks.
 */
#include <string.h>
#include "quiet/file.h"

#define SURVIVES	990	/* permille */
#define SAMPLES		20U	/* of them; fewer may all stay by luck */
#define CALLS		100U	/* for other sizes; of fewer it is not known that they are freed */
#define KEEPS		10U	/* other classes keep less than a tenth of these */

static size_t length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/*
 * The only site that is listed, but for those that turn over and of which a free was seen; NULL if
 * there are several, or none
 */
static struct json_object *only_site(struct json_object *sites)
{
	struct json_object *only = NULL, *site;
	size_t i;

	for (i = 0; i < length(sites); i++) {
		site = json_object_array_get_idx(sites, i);
		if (json_object_get_boolean(json_object_object_get(site, "turns_over")) &&
		    quiet_number(site, "freed_blocks", 0))
			continue;
		if (only)
			return NULL;
		only = site;
	}
	return only;
}

/**
 * one_site_find() - see whether one call site keeps all while other classes turn over
 * @answer: of seepage where, with a burst or without; or NULL
 *
 * Return: an object that the caller owns; NULL: it is not so, or not known.
 */
struct json_object *one_site_find(struct json_object *answer)
{
	struct json_object *site = only_site(json_object_object_get(answer, "sites"));
	struct json_object *class = json_object_object_get(answer, "classes");
	struct json_object *others = json_object_object_get(answer, "others"), *o;
	u64 calls = quiet_number(others, "calls", 0);
	u64 kept = quiet_number(others, "growth_blocks", 0);

	class = length(class) ? json_object_array_get_idx(class, 0) : NULL;
	if (!site || !quiet_number(class, "growth_blocks", 0) ||
	    quiet_number(site, "class_bytes", 0) != quiet_number(class, "size_bytes", 0))
		return NULL;
	/* a number of freed blocks that is not known counts as one */
	if (quiet_number(site, "survival_permille", 0) < SURVIVES ||
	    quiet_number(site, "freed_blocks", 1) || calls < CALLS || kept >= calls / KEEPS ||
	    quiet_number(site, "samples", 0) < SAMPLES)
		return NULL;
	o = json_object_new_object();
	json_add_number(o, "class_bytes", quiet_number(site, "class_bytes", 0));
	json_add_number(o, "samples", quiet_number(site, "samples", 0));
	json_add_number(o, "survival_permille", quiet_number(site, "survival_permille", 0));
	json_add_number(o, "freed_blocks", 0);
	json_add_number(o, "other_calls", calls);
	json_add_number(o, "other_growth_blocks", kept);
	return o;
}

/**
 * one_site_text() - say that in a sentence
 * @o: of one_site_find(), or NULL
 * @buf: out, of @size bytes; empty without @o
 *
 * Return: @buf.
 */
const char *one_site_text(struct json_object *o, char *buf, size_t size)
{
	*buf = '\0';
	if (o)
		snprintf(buf, size, "one call site keeps all: of %llu samples of this class no "
			 "block was freed, and other sites free theirs; for other sizes there were "
			 "about %llu calls, and %llu blocks more", quiet_number(o, "samples", 0),
			 quiet_number(o, "other_calls", 0),
			 quiet_number(o, "other_growth_blocks", 0));
	return buf;
}
