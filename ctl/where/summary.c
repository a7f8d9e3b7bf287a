// SPDX-License-Identifier: GPL-2.0
/*
 * An answer in a line for the class that grew most, and one for each of the first sites. The last
 * one says how the runtime is asked for a profile of its own.
 */
#include <string.h>
#include "where/keep.h"

#define FRAMES		5	/* of a stack that are named: all have to fit */
#define INLINED		1	/* of those that are inlined into one function */

/* "+4.2 MiB/h in blocks of 73..88 bytes: vtable Session (96 %), 41.3 % of the growth in 5m12s" */
void summary_class(const struct result *r, char *buf, size_t size)
{
	const struct where_row *row = r->rows && r->row[0].growth_bytes > 0 ? &r->row[0] : NULL;
	char grew[32], sizes[64], content[CONTENT_CELL], time[32];

	fmt_ms(time, sizeof(time), (u64)(r->seconds * 1000));
	if (!row) {
		snprintf(buf, size, "no class of blocks grew in %s", time);
		return;
	}
	fmt_growth(grew, sizeof(grew), result_per_hour(r, row->growth_bytes));
	content_cell(row, content, sizeof(content));
	if (r->pages)
		snprintf(buf, size, "%s in pages of %s: %s, in %s", grew,
			 strcmp(r->allocator, "unknown") ? r->allocator :
			 "an allocator that is not known", content, time);
	else
		snprintf(buf, size, "%s in blocks of %s bytes: %s, %.1f %% of the growth in %s",
			 grew, size_cell(row, sizes, sizeof(sizes)), content, row->permille / 10.0,
			 time);
}

/* "keep <- handle <- main, +2.5 MiB/h, 100.0 % stay" */
void summary_site(struct json_object *site, char *buf, size_t size)
{
	struct json_object *stack = NULL, *v = NULL, *frame[FRAMES];
	char name[4 * CONTENT_NAME], grew[32];
	size_t i, n;

	*buf = '\0';
	json_object_object_get_ex(site, "stack", &stack);
	n = frames_shown(stack, frame, FRAMES, INLINED);
	for (i = 0; i < n; i++)
		sentence_append(buf, size, "%s%.100s", i ? " <- " : "",
				frame_name(frame[i], name, sizeof(name)));
	json_object_object_get_ex(site, "bytes_per_hour", &v);
	fmt_growth(grew, sizeof(grew), json_object_get_int64(v));
	sentence_append(buf, size, ", %s", grew);
	if (json_object_object_get_ex(site, "survival_permille", &v) && v)
		sentence_append(buf, size, ", %.1f %% stay", json_object_get_int(v) / 10.0);
}

/* The lines, as a list; the caller puts it. */
struct json_object *summary(const struct result *r)
{
	struct json_object *list = json_object_new_array();
	char text[SUMMARY_MAX];
	size_t i;

	if (strcmp(r->method, "profile")) {
		summary_class(r, text, sizeof(text));
		json_object_array_add(list, json_text(text, strlen(text)));
	}
	for (i = 0; i < json_object_array_length(r->sites) && i < KEEP_TOP; i++) {
		summary_site(json_object_array_get_idx(r->sites, i), text, sizeof(text));
		json_object_array_add(list, json_text(text, strlen(text)));
	}
	if (r->profiler)
		json_object_array_add(list, json_text(r->profiler, strlen(r->profiler)));
	return list;
}
