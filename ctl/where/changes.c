// SPDX-License-Identifier: GPL-2.0
/*
 * Call sites of an earlier answer and of this one, of the same process: which are new, gone, grown
 * or shrunk, by bytes per hour. Both are estimates of a burst, each with its error: see margin.c. A
 * change that is within them is none.
 *
 * Example: a site kept 240 MiB an hour before, give or take 120, and keeps 135 now, give or take
 * 60. The difference has an error of 134: it is the same. One of blocks of 200 bytes that is not
 * found again is gone if blocks of that class were sampled, else not sampled.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "where/where.h"

static const char *const words[] = { "new", "gone", "grown", "shrunk", "same", "not_sampled" };

enum change { SITE_NEW, SITE_GONE, SITE_GROWN, SITE_SHRUNK, SITE_SAME, SITE_NOT_SAMPLED };

static s64 number(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) && v ? json_object_get_int64(v) : 0;
}

static struct json_object *stack_of(struct json_object *site)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(site, "stack", &v);
	return json_object_is_type(v, json_type_array) ? v : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Code of files is known by its offset, other code by its name. Both are of the same process. */
static bool is_same_frame(struct json_object *a, struct json_object *b)
{
	return same_text(frame_file(a), frame_file(b)) && frame_offset(a) == frame_offset(b) &&
	       same_text(frame_symbol(a), frame_symbol(b)) &&
	       frame_is_inlined(a) == frame_is_inlined(b) &&
	       (!frame_is_python(a) || same_text(frame_source(a), frame_source(b)));
}

static bool is_same_stack(struct json_object *a, struct json_object *b)
{
	struct json_object *x = stack_of(a), *y = stack_of(b);
	size_t n = x && y ? json_object_array_length(x) : 0, i;

	if (!n || json_object_array_length(y) != n)
		return false;
	for (i = 0; i < n; i++)
		if (!is_same_frame(json_object_array_get_idx(x, i),
				   json_object_array_get_idx(y, i)))
			return false;
	return true;
}

/* Finds the site in @list that is not taken yet, of the same class or else of another one. */
static size_t find(struct json_object *list, const bool *taken, struct json_object *site)
{
	size_t n = json_object_array_length(list), found = n, i;

	for (i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (taken[i] || !is_same_stack(o, site))
			continue;
		if (number(o, "class_bytes") == number(site, "class_bytes"))
			return i;
		found = found == n ? i : found;
	}
	return found;
}

/* Did a burst sample the class of a site? @sampled: classes, 0 for blocks of all sizes */
static bool was_sampled(const u64 *sampled, size_t bursts, struct json_object *site)
{
	size_t i;

	for (i = 0; i < bursts && i < BURSTS_MAX; i++)
		if (!sampled[i] || sampled[i] == (u64)number(site, "class_bytes"))
			return true;
	return false;
}

/*
 * How wrong the growth of a site may be. An answer of an earlier version does not say it: then that
 * of the other answer, in proportion.
 */
static double error_of(struct json_object *site, struct json_object *other)
{
	double error = (double)number(site, "error_bytes_per_hour");
	double grows = (double)number(site, "bytes_per_hour");
	double others = (double)number(other, "bytes_per_hour");

	if (error > 0 || !(others > 0))
		return error > 0 ? error : 0;
	return fabs(grows / others * (double)number(other, "error_bytes_per_hour"));
}

/* Of the difference; either site may be NULL */
static double error_of_both(struct json_object *before, struct json_object *now)
{
	return hypot(error_of(before, now), error_of(now, before));
}

static enum change change_of(struct json_object *before, struct json_object *now)
{
	s64 from = number(before, "bytes_per_hour"), to = number(now, "bytes_per_hour");

	if (from == to || fabs((double)to - (double)from) <= error_of_both(before, now))
		return SITE_SAME;
	return to > from ? SITE_GROWN : SITE_SHRUNK;
}

/* What a file says may be any number. */
static s64 difference(s64 to, s64 from)
{
	s64 d;

	if (!__builtin_sub_overflow(to, from, &d))
		return d;
	return to > from ? INT64_MAX : INT64_MIN;
}

/* @before, @now: the site in the two answers; one of them may be NULL */
static void add(struct json_object *list, struct json_object *before, struct json_object *now,
		enum change c)
{
	struct json_object *o = json_object_new_object(), *site = now ? now : before;
	s64 from = number(before, "bytes_per_hour"), to = number(now, "bytes_per_hour");
	double error = error_of_both(before, now);

	json_object_object_add(o, "change", json_object_new_string(words[c]));
	json_object_object_add(o, "bytes_per_hour", now ? json_object_new_int64(to) : NULL);
	json_object_object_add(o, "before_bytes_per_hour",
			       before ? json_object_new_int64(from) : NULL);
	json_object_object_add(o, "error_bytes_per_hour", c == SITE_NOT_SAMPLED ? NULL :
			       json_object_new_int64(error < (double)INT64_MAX ? (s64)error :
						     INT64_MAX));
	json_object_object_add(o, "change_bytes_per_hour", c == SITE_NOT_SAMPLED ? NULL :
			       json_object_new_int64(difference(to, from)));
	json_object_object_add(o, "class_bytes",
			       json_object_new_int64(number(site, "class_bytes")));
	json_object_object_add(o, "stack", json_object_get(stack_of(site)));
	json_object_array_add(list, o);
}

static u64 magnitude(s64 v)
{
	return v < 0 ? -(u64)v : (u64)v;
}

static int by_change(const void *x, const void *y)
{
	u64 a = magnitude(number(*(struct json_object *const *)x, "change_bytes_per_hour"));
	u64 b = magnitude(number(*(struct json_object *const *)y, "change_bytes_per_hour"));

	return a < b ? 1 : -(a > b);
}

/**
 * changes_find() - compare the sites of an earlier answer with those of this one
 * @before: sites of the earlier answer in JSON; elements of other types are left out
 * @now: those of this answer
 * @sampled: what class_bytes the bursts of this answer were about; 0: blocks of all sizes
 * @bursts: how many there were
 *
 * Return: a list for the key "site_changes" that the caller owns, the largest change first.
 */
struct json_object *changes_find(struct json_object *before, struct json_object *now,
				 const u64 *sampled, size_t bursts)
{
	struct json_object *list = json_object_new_array();
	size_t n = json_object_array_length(before), i, at;
	bool *taken = must(calloc(n + 1, sizeof(*taken)));

	for (i = 0; i < json_object_array_length(now); i++) {
		struct json_object *site = json_object_array_get_idx(now, i), *old;

		at = find(before, taken, site);
		old = at < n ? json_object_array_get_idx(before, at) : NULL;
		taken[at] = true;
		add(list, old, site, old ? change_of(old, site) : SITE_NEW);
	}
	for (i = 0; i < n; i++) {
		struct json_object *old = json_object_array_get_idx(before, i);

		if (!taken[i] && stack_of(old))
			add(list, old, NULL, was_sampled(sampled, bursts, old) ? SITE_GONE :
			    SITE_NOT_SAMPLED);
	}
	free(taken);
	json_object_array_sort(list, by_change);
	return list;
}

/* "grown, +400.0 KiB/h before, +900.0 KiB/h now, give or take 90.0 KiB/h: keep <- main" */
void changes_text(FILE *f, struct json_object *change)
{
	struct json_object *frame[LINE_FUNCTIONS], *v = NULL;
	bool both;
	char name[4 * CONTENT_NAME], grew[32];
	const char *word;
	size_t n, i;

	json_object_object_get_ex(change, "change", &v);
	word = json_object_get_string(v);
	fputs(strcmp(word, words[SITE_NOT_SAMPLED]) ? word : "not sampled", f);
	both = json_object_object_get_ex(change, "before_bytes_per_hour", &v) && v;
	if (both)
		fprintf(f, ", %s before", fmt_growth(grew, sizeof(grew), json_object_get_int64(v)));
	both = json_object_object_get_ex(change, "bytes_per_hour", &v) && v && both;
	if (v)
		fprintf(f, ", %s now", fmt_growth(grew, sizeof(grew), json_object_get_int64(v)));
	if (both && number(change, "error_bytes_per_hour"))
		fprintf(f, ", give or take %s",
			fmt_growth(grew, sizeof(grew), number(change, "error_bytes_per_hour")) + 1);
	fputs(":", f);
	n = frames_shown(stack_of(change), frame, LINE_FUNCTIONS, 0);
	for (i = 0; i < n; i++)
		fprintf(f, "%s %s", i ? " <-" : "", frame_name(frame[i], name, sizeof(name)));
}
