// SPDX-License-Identifier: GPL-2.0
/*
 * The difference of two looks, or of a look and an earlier answer in JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "where/where.h"

#define FILE_MAX	(16 * MIB)

/* Adds a line to the notes. */
void result_note(struct result *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_object_array_add(r->notes, json_text(text, strlen(text)));
}

s64 result_per_hour(const struct result *r, s64 bytes)
{
	return r->seconds > 0 ? (s64)((double)bytes * 3600 / r->seconds) : 0;
}

static int by_growth(const void *x, const void *y)
{
	const struct where_row *a = x, *b = y;

	if (a->growth_bytes != b->growth_bytes)
		return a->growth_bytes < b->growth_bytes ? 1 : -1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/*
 * A large block that is made larger leaves one class and enters a higher one: what the lower
 * class lost is taken off the growth of the next one that grew.
 */
static void join_large(struct where_row *row, size_t n)
{
	s64 blocks = 0, bytes = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		struct where_row *r = &row[i];

		if (class_is_small(r->id))
			continue;
		if (r->growth_blocks < 0 && r->growth_bytes < 0) {
			blocks += r->growth_blocks;
			bytes += r->growth_bytes;
			r->growth_blocks = 0;
			r->growth_bytes = 0;
		} else if (r->growth_blocks > 0 && blocks && r->growth_bytes + bytes > 0) {
			r->growth_blocks += blocks;
			r->growth_bytes += bytes;
			blocks = 0;
			bytes = 0;
		}
	}
}

/*
 * Fills rows, growth and shares of @r from two looks at the same process. Blocks where the first
 * look could not look may be as old as it: they are no growth.
 */
void result_compare(struct result *r, const struct look *a, const struct look *b)
{
	s64 grown = 0;
	size_t i;

	r->row = must(calloc(CLASSES, sizeof(*r->row)));
	for (i = 0; i < CLASSES; i++) {
		const struct where_class *old = &a->c[i], *new = &b->c[i];
		s64 blocks = (s64)(new->blocks - new->old_blocks - old->blocks);
		s64 bytes = (s64)(new->bytes - new->old_bytes - old->bytes);

		if (!old->blocks && !new->blocks)
			continue;
		r->row[r->rows++] = (struct where_row){
			.id = (unsigned int)i, .blocks = new->blocks,
			.growth_blocks = blocks, .growth_bytes = bytes,
		};
		r->growth += bytes;
	}
	join_large(r->row, r->rows);
	for (i = 0; i < r->rows; i++)
		grown += r->row[i].growth_bytes > 0 ? r->row[i].growth_bytes : 0;
	for (i = 0; i < r->rows; i++)
		if (r->row[i].growth_bytes > 0)
			r->row[i].permille = (unsigned int)((double)r->row[i].growth_bytes *
							    1000 / (double)grown + 0.5);
	qsort(r->row, r->rows, sizeof(*r->row), by_growth);
	r->heap_bytes = b->heap_bytes;
}

static u64 get_u64(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_uint64(v) : 0;
}

/* Bytes that @blocks blocks take: they have the mean size that blocks of the class have now. */
static u64 bytes_of(unsigned int id, u64 blocks, const struct look *now)
{
	const struct where_class *c = &now->c[id];

	if (class_is_pool(id) || now->je == JE_COUNTED)
		return blocks * class_size(id);
	if (c->blocks)
		return blocks * (c->bytes / c->blocks);
	return blocks * (id < CLASS_EXACT ? id * 16ULL : class_size(id) / 2);
}

/* Reads the classes of an earlier answer. */
static bool read_classes(struct json_object *list, struct look *l, const struct look *now)
{
	struct json_object *o;
	unsigned int id;
	size_t i;
	u64 size, blocks;

	if (!json_object_is_type(list, json_type_array))
		return false;
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (!json_object_is_type(o, json_type_object))
			return false;
		size = get_u64(o, "size_bytes");
		blocks = get_u64(o, "blocks");
		if (!class_from_size(size, now->je == JE_COUNTED, &id) || blocks > 1ULL << 32)
			return false;
		l->c[id].blocks = blocks;
		l->c[id].bytes = get_u64(o, "bytes") ?: bytes_of(id, blocks, now);
	}
	return true;
}

static struct json_object *read_json(const struct ctx *ctx, const char *file, struct stat *st)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	struct json_object *o = NULL;

	err = fd < 0 ? errno : fstat(fd, st) ? errno : 0;
	if (err)
		fail(ctx, "--diff: '%s': %s", file, strerror(err));
	else if (!S_ISREG(st->st_mode) || (u64)st->st_size > FILE_MAX)
		fail(ctx, "--diff: '%s': allowed a regular file of up to 16 MiB", file);
	else
		o = json_object_from_fd(fd);
	if (!err && !o && S_ISREG(st->st_mode) && (u64)st->st_size <= FILE_MAX)
		fail(ctx, "--diff: '%s': allowed the output of seepage where -j", file);
	if (fd >= 0)
		close(fd);
	return o;
}

/* The sites of an answer, if it is one of a burst; the caller puts them. */
static struct json_object *sites_of_burst(struct json_object *o)
{
	struct json_object *method, *sites;

	if (!json_object_object_get_ex(o, "method", &method) ||
	    strcmp(json_object_get_string(method) ?: "", "burst") ||
	    !json_object_object_get_ex(o, "sites", &sites) ||
	    !json_object_is_type(sites, json_type_array))
		return NULL;
	return json_object_get(sites);
}

/**
 * result_earlier() - take an earlier answer for the first look
 * @ctx: names the command in messages
 * @file: output of seepage where -j, which says when its second look was; where it does not, as in
 *	one of an earlier version, that is when the file was written
 * @t: the process, which must be the same one
 * @now: the second look
 * @l: the first one, which was begun
 * @r: its seconds since that look are filled in, and the sites of a burst in the file
 *
 * Return: false after printing an error.
 */
bool result_earlier(const struct ctx *ctx, const char *file, const struct target *t,
		    const struct look *now, struct look *l, struct result *r)
{
	struct json_object *o, *list;
	double *seconds = &r->seconds, then;
	bool fine = false;
	struct stat st;

	o = read_json(ctx, file, &st);
	if (!o)
		return false;
	then = (double)get_u64(o, "look_time_ns") / 1e9;
	if (!(then > 0))
		then = (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / 1e9;
	*seconds = (double)r->look_time_ns / 1e9 - then;
	l->je = now->je;
	if (now->je == JE_COUNTED && now->pools)
		fail(ctx, "--diff: '%s': sizes may be those of jemalloc or of pymalloc, which this "
		     "process has both", file);
	else if (!json_object_object_get_ex(o, "classes", &list) || !read_classes(list, l, now))
		fail(ctx, "--diff: '%s': allowed the output of seepage where -j", file);
	else if (get_u64(o, "pid") != t->pid || then + 1 < (double)target_started(t))
		fail(ctx, "--diff: '%s': it is about another process than %u", file, t->pid);
	else if (*seconds <= 0)
		fail(ctx, "--diff: '%s': it is of the future", file);
	else
		fine = true;
	r->before = fine ? sites_of_burst(o) : NULL;
	json_object_put(o);
	return fine;
}
