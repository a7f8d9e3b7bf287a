// SPDX-License-Identifier: GPL-2.0
/*
 * explain --cold: two looks at one process, and what they say of each mapping.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cold.h"

#define SHOWN		12	/* mappings in the table */
#define WAIT_MS		3000	/* for the sample that takes note of it */
#define FRESH_S		3600	/* what a watch found is not replaced by two looks */

struct cold_report {
	u64 window_ms;
	struct cold_look look;		/* by unused memory, most first */
	u64 size, unused;
	s64 grown;			/* as the kernel has watched it; 0: not known */
	int permille;			/* -1: not known */
	u64 known_age_s;		/* of what the kernel knows already */
	bool known;
	bool handed;
	int refused;			/* errno of handing it on, 0: it was not tried */
	bool alone;			/* nobody else looks meanwhile */
};

static int by_unused(const void *a, const void *b)
{
	const struct cold_map *x = a, *y = b;
	u64 u = cold_unused(x), v = cold_unused(y);

	if (u == v) {
		u = x->size;
		v = y->size;
	}
	return u > v ? -1 : u < v;
}

/* What it gained since before its growth began, as the verdict has it */
static void growth_of(struct cold_report *r, const struct rec *rec)
{
	struct factor f[REC_LIST_MAX];
	unsigned int n = rec_factors(rec, f), i;

	for (i = 0; i < n; i++)
		if (f[i].id == SEEPAGE_FACTOR_FLOOR && f[i].has_value)
			r->grown = f[i].value;
	if (rec_get(rec, SEEPAGE_A_SERIES, SEEPAGE_SERIES_MAX) != SEEPAGE_SERIES_MEMORY)
		r->grown = 0;
	/* of the growth it is about: the kernel does not believe what is older */
	r->known = rec_cold_known(rec) &&
		   rec_u64(rec, SEEPAGE_A_COLD_AGE_SECONDS, &r->known_age_s);
}

/*
 * The kernel takes it up with the next sample. Where a watch looks, over longer
 * and with what grew mapping by mapping, these two looks are the lesser word.
 */
static void hand_on(struct cold_report *r, struct knl *k, u32 pid)
{
	struct cold_sum sum = { .grown = (u64)r->grown, .unused = r->unused };
	struct nlmsghdr *nlh;
	struct rec rec;
	u64 begin = clock_ms();
	bool taken;

	if (sum.unused > sum.grown)
		sum.unused = sum.grown;
	r->permille = r->grown > 0 ? cold_permille(&sum) : -1;
	if (r->permille < 0 || (r->known && r->known_age_s < FRESH_S))
		return;
	if (query_evidence(k, pid, r->permille, NULL, 0) < 0) {
		r->refused = k->err;
		return;
	}
	r->handed = true;
	while (clock_ms() - begin < WAIT_MS) {
		if (query_process(k, pid, &nlh) < 0)
			return;
		taken = !rec_parse(&rec, nlh) && rec_cold_known(&rec);
		free(nlh);
		if (taken)
			return;
		usleep(200000);
	}
}

static int two_looks(struct cold_report *r, int dir, u64 window_s)
{
	struct cold_look first;
	u64 begin, clear_ms;
	int err = cold_look(dir, &first, &clear_ms);

	if (err)
		return err;
	cold_free(&first);
	begin = clock_ms();
	sleep((unsigned int)window_s);
	r->window_ms = clock_ms() - begin;
	return cold_look(dir, &r->look, NULL);
}

/* 0 and *report, or the status to exit with: told */
int cold_report_make(struct ctx *ctx, struct knl *k, u32 pid, u64 window_s,
		     struct cold_report **report)
{
	struct cold_report *r;
	struct nlmsghdr *nlh;
	struct rec rec;
	int dir = procfs_open(pid, 0), lock, err;
	size_t i;

	*report = NULL;
	if (dir < 0)
		return fail(ctx, "pid %u: %s", pid, strerror(errno == ENOENT ? ESRCH : errno));
	r = must(calloc(1, sizeof(*r)));
	r->permille = -1;
	lock = cold_lock();
	r->alone = lock != -EWOULDBLOCK;
	err = two_looks(r, dir, window_s);
	if (lock >= 0)
		close(lock);
	close(dir);
	if (err) {
		cold_report_free(r);
		if (err == -E2BIG)
			return fail(ctx, "pid %u: it has more than %d mappings", pid,
				    COLD_MAPS_MAX);
		return fail(ctx, "pid %u: cannot look at what it uses: %s", pid, strerror(-err));
	}
	for (i = 0; i < r->look.n; i++) {
		r->size += r->look.v[i].size;
		r->unused += cold_unused(&r->look.v[i]);
	}
	if (r->look.n)
		qsort(r->look.v, r->look.n, sizeof(*r->look.v), by_unused);
	if (query_process(k, pid, &nlh) >= 0) {
		if (!rec_parse(&rec, nlh))
			growth_of(r, &rec);
		free(nlh);
		hand_on(r, k, pid);
	}
	*report = r;
	return 0;
}

void cold_report_free(struct cold_report *r)
{
	if (r)
		cold_free(&r->look);
	free(r);
}

static void print_table(const struct cold_report *r)
{
	static const char *const heads[] = { "ADDRESSES", "NAME", "SIZE", "USED", "UNUSED" };
	static const bool right[] = { false, false, true, true, true };
	struct table *t = table_new(heads, right, ARRAY_SIZE(heads));
	char text[64];
	size_t i;

	for (i = 0; i < r->look.n && i < SHOWN; i++) {
		const struct cold_map *m = &r->look.v[i];

		snprintf(text, sizeof(text), "%llx-%llx", m->start, m->end);
		table_cell(t, text);
		fmt_safe(text, sizeof(text), m->name, strlen(m->name));
		table_cell(t, *text ? text : "-");
		table_cell(t, fmt_bytes_short(text, sizeof(text), m->size));
		table_cell(t, fmt_bytes_short(text, sizeof(text), m->used));
		table_cell(t, fmt_bytes_short(text, sizeof(text), cold_unused(m)));
	}
	table_print(t, "  ");
	table_free(t);
	if (r->look.n > SHOWN)
		out_printf("  and %zu smaller ones\n", r->look.n - SHOWN);
}

void cold_report_print(const struct cold_report *r)
{
	bool barred = r->refused == EPERM || r->refused == EACCES;
	char window[32], size[32], unused[32], grown[32];

	fmt_ms(window, sizeof(window), r->window_ms);
	out_printf("In %s it used %s of %s of its own memory; %s it did not:\n", window,
		   fmt_bytes(grown, sizeof(grown), r->size - r->unused),
		   fmt_bytes(size, sizeof(size), r->size),
		   fmt_bytes(unused, sizeof(unused), r->unused));
	print_table(r);
	if (!r->alone)
		out_line("A watch looks at the same: its looks and these disturb each other.");
	if (r->permille < 0)
		out_line("The module has not seen it grow by 4 MB: of its growth that says "
			 "nothing.");
	else
		out_printf("Of the %s it grew by, %d.%d %% may be unused; the module %s%s.\n",
			   fmt_bytes(grown, sizeof(grown), (u64)r->grown), r->permille / 10,
			   r->permille % 10, r->handed ? "was told" :
			   !r->refused ? "knows it from a watch, which looked longer" :
			   "was not told: ", r->handed || !r->refused ? "" :
			   barred ? "that needs " NEEDS_ADMIN : strerror(r->refused));
	out_line("");
}

struct json_object *cold_report_json(const struct cold_report *r)
{
	struct json_object *o, *list;
	size_t i;

	if (!r)
		return NULL;
	o = json_object_new_object();
	list = json_object_new_array();
	json_object_object_add(o, "window_ms", json_object_new_uint64(r->window_ms));
	json_object_object_add(o, "size_bytes", json_object_new_uint64(r->size));
	json_object_object_add(o, "unused_bytes", json_object_new_uint64(r->unused));
	json_object_object_add(o, "grown_bytes", r->grown > 0 ? json_object_new_int64(r->grown) :
								NULL);
	json_object_object_add(o, "cold_permille", r->permille < 0 ? NULL :
			       json_object_new_int(r->permille));
	json_object_object_add(o, "told", json_object_new_boolean(r->handed));
	for (i = 0; i < r->look.n; i++) {
		const struct cold_map *m = &r->look.v[i];
		struct json_object *e = json_object_new_object();
		char text[64];

		snprintf(text, sizeof(text), "%llx-%llx", m->start, m->end);
		json_object_object_add(e, "addresses", json_object_new_string(text));
		json_object_object_add(e, "name", json_text(m->name, strlen(m->name)));
		json_object_object_add(e, "size_bytes", json_object_new_uint64(m->size));
		json_object_object_add(e, "unused_bytes", json_object_new_uint64(cold_unused(m)));
		json_object_array_add(list, e);
	}
	json_object_object_add(o, "mappings", list);
	return o;
}
