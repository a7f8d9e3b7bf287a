// SPDX-License-Identifier: GPL-2.0
/*
 * The answer of `seepage where` as a table or as JSON.
 */
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

#define LINE_INLINED	3U	/* functions that are shown of those that are inlined into one */
#define OTHER_NAME	40	/* bytes that are shown of the name of a content but the first */

/*
 * What blocks hold, in words, "python list (28 %), dict (25 %)": a kind is named once. @buf has
 * CONTENT_CELL bytes.
 */
void content_cell(const struct where_row *row, char *buf, size_t size)
{
	const struct content *c = row->content;
	char name[CONTENT_NAME + 1];
	unsigned int i;

	snprintf(buf, size, "%s", c->kind == CONTENT_NONE ? "-" : "");
	for (i = 0; i < CONTENT_KINDS && c[i].kind != CONTENT_NONE; i++) {
		fmt_safe(name, i ? OTHER_NAME + 1 : sizeof(name), c[i].name, strlen(c[i].name));
		if (i)
			sentence_append(buf, size, ", ");
		if (!i || c[i].kind != c[i - 1].kind)
			sentence_append(buf, size, "%s%s", content_kind_name(c[i].kind),
					*name ? " " : "");
		sentence_append(buf, size, "%s (%u %%)", name, c[i].permille / 10);
	}
}

/* The requests that the class serves */
const char *size_cell(const struct where_row *row, char *buf, size_t size)
{
	char a[32], b[32];

	if (class_is_small(row->id))
		snprintf(buf, size, "%llu..%llu", class_least(row->id), class_size(row->id));
	else
		snprintf(buf, size, "%s..%s",
			 fmt_bytes_short(a, sizeof(a), class_above(row->id)),
			 fmt_bytes_short(b, sizeof(b), class_size(row->id)));
	return buf;
}

static void row_cells(struct table *t, const struct result *r, const struct where_row *row)
{
	char text[CONTENT_CELL];

	table_cell(t, size_cell(row, text, sizeof(text)));
	snprintf(text, sizeof(text), "%llu", row->blocks);
	table_cell(t, text);
	snprintf(text, sizeof(text), "%+lld", row->growth_blocks);
	table_cell(t, text);
	table_cell(t, fmt_growth_short(text, sizeof(text), row->growth_bytes));
	snprintf(text, sizeof(text), "%.1f %%", row->permille / 10.0);
	table_cell(t, text);
	table_cell(t, fmt_growth(text, sizeof(text), result_per_hour(r, row->growth_bytes)));
	content_cell(row, text, sizeof(text));
	table_cell(t, text);
}

static void head(const struct result *r)
{
	char heap[32], grew[32], text[SENTENCE_MAX];

	snprintf(text, sizeof(text), "process %u (%s): %s, %s in use, %s in %.1f s", r->t->pid,
		 r->t->comm, r->allocator, fmt_bytes(heap, sizeof(heap), r->heap_bytes),
		 fmt_growth(grew, sizeof(grew), result_per_hour(r, r->growth)), r->seconds);
	fold("", 2, text);
}

/* A part of a folded stack: what separates frames cannot be in it. */
static const char *folded(char *text)
{
	char *p;

	for (p = text; (p = strchr(p, ';')); p++)
		*p = ':';
	return text;
}

/* Sites as flame graph tools read them: the outermost frame first, then the bytes */
void show_folded(const struct result *r)
{
	struct json_object *site, *stack = NULL, *v = NULL;
	char name[4 * CONTENT_NAME];
	size_t i, n;

	for (i = 0; i < json_object_array_length(r->sites); i++) {
		site = json_object_array_get_idx(r->sites, i);
		json_object_object_get_ex(site, "stack", &stack);
		json_object_object_get_ex(site, "bytes", &v);
		snprintf(name, sizeof(name), "%s", r->t->comm);
		out_printf("%s", folded(name));
		for (n = json_object_array_length(stack); n; n--) {
			frame_name(json_object_array_get_idx(stack, n - 1), name, sizeof(name));
			out_printf(";%s", folded(name));
		}
		out_printf(" %llu\n", (unsigned long long)json_object_get_uint64(v));
	}
}

/* What stayed at each of several looks */
static void again_text(FILE *f, struct json_object *site)
{
	struct json_object *list = NULL, *look, *seconds = NULL, *stays = NULL;
	size_t i, n;

	json_object_object_get_ex(site, "again", &list);
	n = list ? json_object_array_length(list) : 0;
	for (i = 0; n > 1 && i < n; i++) {
		look = json_object_array_get_idx(list, i);
		json_object_object_get_ex(look, "seconds", &seconds);
		json_object_object_get_ex(look, "survival_permille", &stays);
		fprintf(f, "%s%.1f %% after %llu s", i ? ", " : " (",
			json_object_get_int(stays) / 10.0,
			(unsigned long long)json_object_get_uint64(seconds));
	}
	if (n > 1)
		fputs(")", f);
}

/*
 * The function that allocated, and up to three of its callers, with what is inlined there:
 * "+2.5 MiB/h, 6.0 KiB sampled, 100.0 % stay: keep <- main". A burst has survival; its bytes are
 * those of sampled blocks that stay. Those of --faults and of Go's profile are estimates of all.
 */
static void site_text(FILE *f, struct json_object *site)
{
	struct json_object *stack = NULL, *v = NULL, *stay = NULL;
	struct json_object *frame[LINE_FUNCTIONS * (1 + LINE_INLINED)];
	char name[4 * CONTENT_NAME], bytes[32], grew[32];
	size_t i, n;
	s64 growth;

	json_object_object_get_ex(site, "survival_permille", &stay);
	json_object_object_get_ex(site, "bytes_per_hour", &v);
	growth = json_object_get_int64(v);
	json_object_object_get_ex(site, "bytes", &v);
	fprintf(f, "%s, %s%s", fmt_growth(grew, sizeof(grew), growth),
		fmt_bytes(bytes, sizeof(bytes), json_object_get_uint64(v)), stay ? " sampled" : "");
	if (json_object_object_get_ex(site, "grows", &v) && json_object_get_boolean(v))
		fputs(", a block that realloc() makes larger", f);
	if (stay)
		fprintf(f, ", %.1f %% stay", json_object_get_int(stay) / 10.0);
	again_text(f, site);
	fputs(":", f);
	json_object_object_get_ex(site, "stack", &stack);
	n = frames_shown(stack, frame, ARRAY_SIZE(frame), LINE_INLINED);
	for (i = 0; i < n; i++)
		fprintf(f, "%s %s", i ? " <-" : "", frame_name(frame[i], name, sizeof(name)));
}

static void text_line(struct json_object *o, void (*text_of)(FILE *f, struct json_object *o))
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = must(open_memstream(&text, &len));

	text_of(f, o);
	must(fclose(f) ? NULL : text);
	fold("", 2, text);
	free(text);
}

/* @top: most rows */
void show_table(const struct result *r, size_t top)
{
	static const char *const heads[] = {
		"SIZE", "BLOCKS", "MORE", "GROWTH", "SHARE", "PER HOUR", "CONTENT",
	};
	static const bool right[] = { true, true, true, true, true, true, false };
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	size_t i, shown = 0;

	out_fold();
	head(r);
	for (i = 0; i < r->rows && shown < top; i++) {
		if (r->row[i].growth_bytes <= 0)
			break;
		row_cells(t, r, &r->row[i]);
		shown++;
	}
	for (i = 0; i < json_object_array_length(r->sites); i++)
		text_line(json_object_array_get_idx(r->sites, i), site_text);
	for (i = 0; r->changes && i < json_object_array_length(r->changes); i++)
		text_line(json_object_array_get_idx(r->changes, i), changes_text);
	if (shown)
		table_print(t, "");
	else if (!json_object_array_length(r->sites))
		out_line(strcmp(r->method, "faults") ? "no class of blocks grew" :
						       "no page fault made it grow");
	table_free(t);
	for (i = 0; i < json_object_array_length(r->notes); i++)
		fold("note: ", 6,
		     json_object_get_string(json_object_array_get_idx(r->notes, i)));
}

static struct json_object *content_json(const struct content *c)
{
	struct json_object *o;

	if (c->kind == CONTENT_NONE)
		return NULL;
	o = json_object_new_object();
	json_object_object_add(o, "kind", json_object_new_string(content_kind_name(c->kind)));
	json_object_object_add(o, "name", *c->name ? json_text(c->name, strlen(c->name)) : NULL);
	json_object_object_add(o, "share_permille", json_object_new_int((int)c->permille));
	return o;
}

static struct json_object *row_json(const struct where_row *row)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	unsigned int i;

	json_object_object_add(o, "size_bytes", json_object_new_uint64(class_size(row->id)));
	json_object_object_add(o, "blocks", json_object_new_uint64(row->blocks));
	json_object_object_add(o, "growth_blocks", json_object_new_int64(row->growth_blocks));
	json_object_object_add(o, "growth_bytes", json_object_new_int64(row->growth_bytes));
	json_object_object_add(o, "share_permille", json_object_new_int((int)row->permille));
	json_object_object_add(o, "content", content_json(&row->content[0]));
	for (i = 0; i < CONTENT_KINDS && row->content[i].kind != CONTENT_NONE; i++)
		json_object_array_add(list, content_json(&row->content[i]));
	json_object_object_add(o, "contents", list);
	return o;
}

/* What the process does beside the class that was sampled: does it free that? */
static struct json_object *others_json(const struct result *r)
{
	struct json_object *o = r->has_others ? json_object_new_object() : NULL;

	if (!o)
		return NULL;
	json_object_object_add(o, "calls", json_object_new_uint64(r->other_calls));
	json_object_object_add(o, "growth_blocks", json_object_new_uint64(r->other_blocks));
	return o;
}

/* The answer with at most @top classes and @sites sites; the caller puts it. */
struct json_object *result_json(const struct result *r, size_t top, size_t sites)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	size_t i;

	json_object_object_add(o, "pid", json_object_new_int64(r->t->pid));
	json_object_object_add(o, "comm", json_text(r->t->comm, strlen(r->t->comm)));
	json_object_object_add(o, "method", json_object_new_string(r->method));
	json_object_object_add(o, "allocator", json_object_new_string(r->allocator));
	json_object_object_add(o, "heap_bytes", json_object_new_uint64(r->heap_bytes));
	json_object_object_add(o, "growth_bytes_per_hour",
			       json_object_new_int64(result_per_hour(r, r->growth)));
	json_object_object_add(o, "seconds", json_object_new_double(r->seconds));
	json_object_object_add(o, "look_time_ns", r->look_time_ns ?
			       json_object_new_uint64(r->look_time_ns) : NULL);
	json_object_object_add(o, "traps", json_object_new_uint64(r->traps));
	json_object_object_add(o, "samples", json_object_new_uint64(r->samples));
	json_object_object_add(o, "cost_permille",
			       json_object_new_uint64(r->cost_permille));
	json_object_object_add(o, "others", others_json(r));
	json_object_object_add(o, "notes", json_object_get(r->notes));
	for (i = 0; i < r->rows && i < top; i++)
		json_object_array_add(list, row_json(&r->row[i]));
	json_object_object_add(o, "classes", list);
	list = json_object_new_array();
	for (i = 0; i < json_object_array_length(r->sites) && i < sites; i++)
		json_object_array_add(list,
				      json_object_get(json_object_array_get_idx(r->sites, i)));
	json_object_object_add(o, "sites", list);
	if (r->changes)
		json_object_object_add(o, "site_changes", json_object_get(r->changes));
	return o;
}
