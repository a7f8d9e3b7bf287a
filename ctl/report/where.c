// SPDX-License-Identifier: GPL-2.0
/* A section from the answer of where -j: which classes of blocks grow, and which sites. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "report/report.h"
#include "where/keep.h"

#define ROWS	20	/* of each table at most */

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

static const char *text_of(struct json_object *o, const char *key)
{
	const char *s = json_object_get_string(get(o, key));

	return s ? s : "";
}

static size_t length(struct json_object *list)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	return n < ROWS ? n : ROWS;
}

static void cell(FILE *f, const char *text)
{
	fputs("<td class=\"n\">", f);
	html_text(f, text);
	fputs("</td>", f);
}

/* A table of the objects in @list; none if that is empty. @row: writes the cells of one */
static void table(FILE *f, const char *head, struct json_object *list,
		  void (*row)(FILE *f, struct json_object *o))
{
	size_t n = length(list), i;

	if (!n)
		return;
	fputs(head, f);
	for (i = 0; i < n; i++) {
		fputs("<tr>", f);
		row(f, json_object_array_get_idx(list, i));
		fputs("</td></tr>\n", f);
	}
	fputs("</table>\n", f);
}

static void class_row(FILE *f, struct json_object *o)
{
	s64 grew = json_object_get_int64(get(o, "growth_bytes"));
	struct json_object *content = get(o, "content");
	char text[64];

	cell(f, text_of(o, "size_bytes"));
	cell(f, text_of(o, "blocks"));
	cell(f, text_of(o, "growth_blocks"));
	fmt_bytes(text, sizeof(text), (u64)(grew < 0 ? -grew : grew));
	fprintf(f, "<td class=\"n\">%s%s</td><td>", grew < 0 ? "-" : "+", text);
	html_text(f, text_of(content, "kind"));
	if (*text_of(content, "name")) {
		fputs(" ", f);
		html_text(f, text_of(content, "name"));
	}
}

static void stack(FILE *f, struct json_object *frames)
{
	size_t n = length(frames), i;

	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(frames, i);
		char text[FRAME_PLACE];

		html_text(f, frame_place(o, text, sizeof(text)));
		fputs(i + 1 < n ? "<br>" : "", f);
	}
}

static void site_row(FILE *f, struct json_object *o)
{
	char text[64];

	cell(f, fmt_bytes(text, sizeof(text), json_object_get_uint64(get(o, "bytes"))));
	cell(f, text_of(o, "blocks"));
	if (get(o, "survival_permille"))
		snprintf(text, sizeof(text), "%.1f %%",
			 json_object_get_int(get(o, "survival_permille")) / 10.0);
	else
		*text = '\0';
	cell(f, text);
	fputs("<td>", f);
	stack(f, get(o, "stack"));
}

static void classes(FILE *f, struct json_object *list)
{
	table(f, "<h3>Classes of blocks</h3>\n<table>\n<tr><th>size</th><th>blocks</th>"
	      "<th>more</th><th>growth</th><th>content</th></tr>\n", list, class_row);
}

/* @sampled: the bytes and blocks are those that a burst sampled */
static void sites(FILE *f, struct json_object *list, bool sampled)
{
	table(f, sampled ? "<h3>Call sites</h3>\n<table>\n<tr><th>sampled bytes that stay</th>"
			   "<th>sampled blocks</th><th>stay</th><th>stack</th></tr>\n" :
			   "<h3>Call sites</h3>\n<table>\n<tr><th>bytes</th><th>blocks</th>"
			   "<th>stay</th><th>stack</th></tr>\n", list, site_row);
}

static void section(struct json_object *o, const char *age, FILE *f)
{
	fputs("<section>\n<h2>Where: pid ", f);
	html_text(f, text_of(o, "pid"));
	fputs(", ", f);
	html_text(f, text_of(o, "comm"));
	fputs("</h2>\n<table>\n", f);
	html_fact(f, "allocator", text_of(o, "allocator"));
	html_fact(f, "method", text_of(o, "method"));
	html_fact(f, "seconds between the looks", text_of(o, "seconds"));
	if (age)
		html_fact(f, "looked at before this page was made", age);
	fputs("</table>\n", f);
	classes(f, get(o, "classes"));
	sites(f, get(o, "sites"), !strcmp(text_of(o, "method"), "burst"));
	fputs("</section>\n", f);
}

int report_where(const struct ctx *ctx, const char *path, FILE *f)
{
	char *text = procfs_read(AT_FDCWD, path);
	struct json_object *o;
	bool fine;

	if (!text)
		return fail(ctx, "--where: %s: %s", path, strerror(errno));
	o = json_tokener_parse(text);
	free(text);
	fine = json_object_is_type(get(o, "classes"), json_type_array);
	if (fine)
		section(o, NULL, f);
	json_object_put(o);
	return fine ? 0 :
	       fail(ctx, "--where: %s: allowed the output of seepage -j where", path);
}

/* Was the answer found out while the process lived? A second is lost where ages are rounded. */
static bool of_that_time(struct json_object *o, const struct report_of *of)
{
	u64 then = json_object_get_uint64(get(o, "time_ns"));

	return then + 1000000000 >= of->from_ns && then <= of->to_ns;
}

/* The last answer about a process that watch has kept, if there is one */
void report_kept(const struct report_of *of, FILE *f)
{
	bool ended = true;
	struct json_object *o = last_answer(of->pid, &ended);
	char age[32];

	if (o && ended == of->ended && (!ended || of_that_time(o, of)))
		section(o, kept_age(o, age, sizeof(age)), f);
	json_object_put(o);
}
