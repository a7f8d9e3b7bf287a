// SPDX-License-Identifier: GPL-2.0
/*
 * Two looks at the heap of a process, some time apart, and what they show: classes of blocks, or
 * pages where the allocator has no walk here, or the profile of Go.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "where/survey.h"

#define PAGE		4096U
#define SETTLE_S	10	/* most seconds between two reads of new pages */
#define LEAST_GROWTH	(64 << 10)	/* bytes; less is chance */
#define LEAST_OUTSIDE	(256 << 10)	/* the same of what is no heap: stacks, buffers */
#define BEHIND		10	/* a tenth of the growth is in chunks behind another library */
#define ALLOCATOR_STEPS	((s64)(4 * MIB))	/* two of an allocator that takes 2 MiB at a time */

/* Was there a signal that ends this tool? SIGCHLD comes when modprobe, a child of it, ends. */
static bool is_stopped(void *arg)
{
	struct survey *s = arg;
	struct signalfd_siginfo info;

	while (s->signals > 0 && read(s->signals, &info, sizeof(info)) == sizeof(info))
		s->stopped |= info.ssi_signo != SIGCHLD;
	return s->stopped;
}

/* Waits, or until @fd is readable if it is not -1. Returns false after a signal. */
bool survey_wait(void *arg, u64 ms, int fd)
{
	struct survey *s = arg;
	struct pollfd p[2] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	u64 end = clock_ns() + ms * 1000000, now;

	while (!s->stopped && (now = clock_ns()) < end) {
		if (poll(p, 2, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		is_stopped(s);
		if (p[1].revents)
			break;
	}
	return !s->stopped;
}

static bool wait_settle(void *arg)
{
	struct survey *s = arg;
	u64 n = s->want.seconds < SETTLE_S ? s->want.seconds : SETTLE_S;

	return s->stopped || survey_wait(s, n * 1000, -1);
}

/* An allocator that is known, or asked for, and has no blocks that are counted */
bool survey_is_other(const struct survey *s)
{
	return !allocator_has_chunks(s->object.kind) && !s->bins.mallocng &&
	       (s->object.kind != ALLOCATOR_UNKNOWN || s->want.object);
}

/* Were blocks counted, in both looks? */
static bool is_counted(const struct survey *s)
{
	return !survey_is_other(s) || (s->a.je == JE_COUNTED && s->b.je == JE_COUNTED);
}

/* Finds the object that allocates. Returns an exit status; none is no failure. */
int survey_object(struct survey *s)
{
	bool found = object_find(&s->t, s->want.object, &s->object);
	char prefix[OBJECT_PREFIX];

	if (!found && s->want.object)
		return fail(s->ctx, "--object: '%s': process %u has mapped no such file with a "
			    "function that allocates", s->want.object, s->t.pid);
	if (s->object.is_cut)
		result_note(&s->r, "files: not all were looked at for what allocates, because "
			    "they are more than %u, or their symbols more than %u MiB",
			    OBJECT_FILES, OBJECT_MIB);
	if (object_other(&s->object, prefix))
		result_note(&s->r, "files: a function %smalloc is there as well, of another "
			    "allocator; --object FILE:%s is for it", prefix, prefix);
	s->bins.rule = allocator_rule(s->object.kind);
	return 0;
}

/*
 * A library that is not known may pass calls on to the C library. Then there are chunks of glibc,
 * and its calls are sampled. If there is no such file, the library is what there is.
 */
static void look_behind(struct survey *s)
{
	struct object libc;

	if (s->want.object || s->object.kind != ALLOCATOR_UNKNOWN || !s->object.file ||
	    !object_find(&s->t, OBJECT_LIBC, &libc))
		return;
	object_drop(&s->object);
	s->object = libc;
	s->bins.rule = allocator_rule(s->object.kind);
}

/* Also a program without symbols, that is linked statically: the heap itself tells. */
static bool may_be_musl(const struct survey *s)
{
	return s->object.kind == ALLOCATOR_MUSL ||
	       (s->object.kind == ALLOCATOR_UNKNOWN && !s->want.object);
}

/*
 * Counts the blocks, for a limited time: the heap of a large process takes longer. If not all are
 * counted by then, pages are the answer, as two looks that end somewhere cannot be compared.
 */
static void count_blocks(struct survey *s, struct look *l)
{
	u64 bytes = s->t.read_bytes;

	target_bound(&s->t, LOOK_BYTES, LOOK_SECONDS, is_stopped, s);
	if (may_be_musl(s) && mallocng_look(&s->t, &s->bins, l)) {
		/* It is all that there is. */
	} else if (!survey_is_other(s)) {
		arena_look(&s->t, &s->bins, l);
		mmapped_look(&s->t, l);
	} else if (s->object.kind == ALLOCATOR_JEMALLOC) {
		jemalloc_look(&s->t, s->object.file, &s->bins.je, l);
		s->bins.rule = l->je == JE_COUNTED ? BLOCK_BITMAP : BLOCK_PLAIN;
	}
	pool_look(&s->t, l);
	if (target_over(&s->t)) {
		l->cut_ns = clock_ns() - l->ns;
		l->cut_bytes = s->t.read_bytes - bytes;
	}
	target_unbound(&s->t);
}

static bool is_cut(const struct survey *s)
{
	return s->a.cut_ns || s->b.cut_ns;
}

/* Reads the heap once. Returns an exit status. */
int survey_look(struct survey *s, struct look *l, bool remember, const struct seen *before)
{
	int err = target_maps(&s->t);

	if (err)
		return target_refused(&s->t, err);
	look_begin(l, remember, before);
	l->earlier = before ? &s->a : NULL;
	if (!s->a.cut_ns)
		count_blocks(s, l);
	if (!target_alive(&s->t))
		return fail(s->ctx, "process %u ended, or executed a program, while its heap was "
			    "read", s->t.pid);
	return 0;
}

/*
 * Counts the blocks once more; look_free() releases @l in any case. Returns false if not all could
 * be counted.
 */
bool survey_count(void *arg, struct look *l)
{
	struct survey *s = arg;

	look_begin(l, false, NULL);
	if (target_maps(&s->t))
		return false;
	count_blocks(s, l);
	return target_alive(&s->t) && !l->cut_ns && l->torn_bytes <= l->walked_bytes;
}

/* Data of files, which counts as anonymous memory once it is written. The most it can be */
static u64 file_data(const struct target *t)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < t->maps; i++)
		if (t->map[i].file && t->map[i].write)
			sum += t->map[i].hi - t->map[i].lo;
	return sum;
}

/*
 * Does the census know less than half of the memory, or heaps that do not add up? Data of files
 * is no heap. A process with less than 1 MiB may have most of it in stacks, but then it has chunks.
 */
bool survey_is_unknown(const struct survey *s, const struct look *l)
{
	u64 known = l->walked_bytes + l->mmapped_bytes, anon = target_anon_bytes(&s->t);
	u64 data = file_data(&s->t);

	anon -= data < anon ? data : anon;
	return l->torn_bytes > l->walked_bytes || ((anon > MIB || !l->chunks) && known < anon / 2);
}

/*
 * Is the growth that of chunks? Most of the memory may be of another kind, such as the heap of a
 * runtime or a cache of the program's own: what counts is the part of what was gained.
 */
static bool heap_grew(const struct survey *s, s64 anon)
{
	return is_counted(s) && !is_cut(s) && s->b.torn_bytes <= s->b.walked_bytes &&
	       s->r.growth >= LEAST_GROWTH && s->r.growth >= anon / 2;
}

/* By how much memory outside the heaps of malloc grew */
static s64 grew_outside(const struct survey *s, s64 anon)
{
	return anon + (s64)(s->a.walked_bytes + s->a.mmapped_bytes) -
	       (s64)(s->b.walked_bytes + s->b.mmapped_bytes);
}

/* Is the answer that of pages: where chunks are not known, or most of the growth is outside? */
static bool pages_tell(struct survey *s)
{
	s64 anon = (s64)target_anon_bytes(&s->t) - (s64)s->anon_a, outside = grew_outside(s, anon);
	char size[32];

	if (!s->pages || heap_grew(s, anon))
		return false;
	if (s->unknown || s->a.je != s->b.je || is_cut(s) ||
	    (outside >= ALLOCATOR_STEPS && outside >= anon / 2))
		return true;
	if (outside >= LEAST_OUTSIDE)
		result_note(&s->r, "outside the heaps of malloc memory grew by %s, which may have "
			    "happened once: a longer look tells", fmt_bytes(size, sizeof(size),
									    (u64)outside));
	return false;
}

/*
 * Pages are the answer, because most of what the process gained is not of malloc(). Does the walk
 * of glibc's heap tell what is in use there all the same? Not where the library is not known and
 * gains much that is in no chunk: then it is likely to have blocks of its own.
 */
static bool heap_is_known(const struct survey *s)
{
	s64 anon = (s64)target_anon_bytes(&s->t) - (s64)s->anon_a;

	return is_counted(s) && !is_cut(s) && !s->bins.mallocng && s->bins.rule != BLOCK_BITMAP &&
	       s->a.chunks && s->b.chunks && s->a.torn_bytes <= s->a.walked_bytes &&
	       s->b.torn_bytes <= s->b.walked_bytes && s->r.growth > 0 &&
	       (s->object.kind != ALLOCATOR_UNKNOWN || s->r.growth * BEHIND >= anon);
}

static void pages_row(struct survey *s)
{
	struct result *r = &s->r;
	unsigned int kept;

	r->method = "pages";
	r->pages = true;
	r->allocator = survey_is_other(s) ? allocator_name(s->object.kind) :
		       s->bins.mallocng ? "musl" : "unknown";
	if (heap_is_known(s)) {
		look_behind(s);
		r->block = r->row;
		r->blocks = r->rows;
	} else {
		free(r->row);
	}
	r->row = must(calloc(1, sizeof(*r->row)));
	r->rows = 1;
	r->row[0] = (struct where_row){
		.id = class_of_request(PAGE), .blocks = s->new_pages.present,
		.growth_blocks = (s64)(s->new_pages.present - s->first.pages),
		.permille = 1000,
	};
	r->row[0].growth_bytes = r->row[0].growth_blocks * PAGE;
	r->growth = r->row[0].growth_bytes;
	r->heap_bytes = s->new_pages.present * PAGE;
	kept = pages_content(&s->t, &s->new_pages, s->want.text, wait_settle, s, r->row[0].content);
	result_note(r, "%s%s: the class is pages of memory, of which %llu are new",
		    survey_is_other(s) ? "" : "allocator ", r->allocator, s->new_pages.fresh);
	result_note(r, "%u of the new pages were not written again and were looked at", kept);
}

static void contents(struct survey *s)
{
	struct result *r = &s->r;
	size_t i, n = 0;

	for (i = 0; i < r->rows && n < (s->want.top ? s->want.top : TOP); i++) {
		struct where_class *c = &s->b.c[r->row[i].id];

		if (r->row[i].growth_bytes <= 0)
			break;
		n++;
		content_of(&s->t, c->sample, c->samples, class_room(r->row[i].id), s->want.text,
			   r->row[i].content);
	}
}

static const char *allocator(const struct survey *s, const struct look *l)
{
	if (s->bins.mallocng)
		return l->pools ? "musl and pymalloc" : "musl";
	if (l->pools && !survey_is_other(s))
		return "glibc and pymalloc";
	if (survey_is_other(s) || s->object.kind == ALLOCATOR_STATIC_GLIBC)
		return allocator_name(s->object.kind);
	return l->chunks ? "glibc" : "none";
}

/* Drops all rows but that of --class. */
static void choose_class(struct result *r, u64 bytes)
{
	size_t i, n = 0;

	for (i = 0; bytes && i < r->rows; i++)
		if (class_serves(r->row[i].id, bytes))
			r->row[n++] = r->row[i];
	if (bytes)
		r->rows = n;
}

/* Remembers the pages, which tell where growth is. Only chunks do without. */
static bool first_pages(struct survey *s)
{
	struct page_look p;

	s->unknown = survey_is_unknown(s, &s->a) || is_cut(s);
	s->anon_a = target_anon_bytes(&s->t);
	s->pages = seen_new();
	if (!pages_look(&s->t, &p, s->pages, NULL)) {
		s->first = (struct page_count){ .pages = p.present, .ns = clock_ns() };
		return true;
	}
	seen_free(s->pages);
	s->pages = NULL;
	return !s->unknown;
}

/* The first look, then the time between the two. Returns an exit status. */
int survey_first(struct survey *s)
{
	u64 start = clock_ns();
	int status;

	target_bound(&s->t, LOOK_BYTES, LOOK_SECONDS, is_stopped, s);
	status = survey_profile(s);
	target_unbound(&s->t);
	if (!status && !s->profile)
		status = survey_look(s, &s->a, true, NULL);
	if (status)
		return status;
	s->a.ns = s->profile ? start : s->a.ns;
	if (!s->profile && !first_pages(s))
		return fail(s->ctx, "process %u: its page map cannot be read", s->t.pid);
	if (clock_ns() - start < s->want.seconds * 1000000000)
		survey_wait(s, s->want.seconds * 1000, -1);
	if (!target_alive(&s->t))
		return fail(s->ctx, "process %u ended, or executed a program, between the two "
			    "looks", s->t.pid);
	return 0;
}

/* The second look, which fills in the answer. Returns an exit status. */
int survey_second(struct survey *s)
{
	int status;

	if (s->profile) {
		target_bound(&s->t, LOOK_BYTES, LOOK_SECONDS, is_stopped, s);
		status = survey_profile_again(s);
		target_unbound(&s->t);
	} else {
		status = survey_look(s, &s->b, false, s->a.seen);
	}
	if (status || s->profile)
		return status;
	s->r.seconds = (double)(s->b.ns - s->a.ns) / 1e9;
	s->r.look_time_ns = clock_real_ns() - (clock_ns() - s->b.ns);
	if (s->want.diff &&
	    !result_earlier(s->ctx, s->want.diff, &s->t, &s->b, &s->a, &s->r))
		return 1;
	result_compare(&s->r, &s->a, &s->b);
	choose_class(&s->r, s->want.class_bytes);
	s->r.method = "census";
	s->r.allocator = allocator(s, &s->b);
	if (pages_tell(s) && !pages_look(&s->t, &s->new_pages, NULL, s->pages)) {
		pages_row(s);
	} else if (is_cut(s)) {
		return fail(s->ctx, "process %u: not all of its heap could be read within %u s and "
			    "%llu GiB, and there is no first look at its pages", s->t.pid,
			    LOOK_SECONDS, LOOK_BYTES / (1024 * MIB));
	} else {
		if (heap_grew(s, 0) || !survey_is_unknown(s, &s->b))
			look_behind(s);
		contents(s);
	}
	return 0;
}

void survey_free(struct survey *s)
{
	if (s->signals > 0)
		close(s->signals);
	drawing_drop(&s->drawing);
	json_object_put(s->r.notes);
	json_object_put(s->r.sites);
	json_object_put(s->r.before);
	json_object_put(s->r.changes);
	profile_free(&s->profile_a);
	profile_free(&s->profile_b);
	free(s->r.row);
	free(s->r.block);
	look_free(&s->a);
	look_free(&s->b);
	seen_free(s->pages);
	used_free(&s->t);
	target_close(&s->t);
	object_drop(&s->object);
	free(s);
}
